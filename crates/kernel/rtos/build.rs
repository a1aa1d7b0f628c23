//! Gives the images the linker script of their board; the tests on a host need none.

fn main() {
    println!("cargo::rerun-if-changed=boards");
    println!("cargo::rerun-if-env-changed=VESTAL_BOARD");
    println!(r#"cargo::rustc-check-cfg=cfg(board, values("mps2-an385", "lm3s6965evb", "virt"))"#);
    let variable = |name| std::env::var(name).unwrap_or_default();
    let target = variable("TARGET");
    let board = match (target.split_once('-'), &*variable("VESTAL_BOARD")) {
        (Some((cpu, _)), _) if cpu.starts_with("riscv32") => "virt",
        (Some((cpu, _)), "lm3s6965evb") if cpu.starts_with("thumb") => "lm3s6965evb",
        (Some((cpu, _)), "" | "mps2-an385") if cpu.starts_with("thumb") => "mps2-an385",
        (_, "") => return,
        (_, other) => panic!("the board {other} is not known, or no board of {target}"),
    };
    let here = variable("CARGO_MANIFEST_DIR");
    println!(r#"cargo::rustc-cfg=board="{board}""#);
    println!("cargo::rustc-link-arg-bins=-L{here}/boards");
    println!("cargo::rustc-link-arg-bins=-T{board}.x");
}

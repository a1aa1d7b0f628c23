//! Gives the image its linker script; the host's programs need none.

fn main() {
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rerun-if-env-changed=VESTAL_RECORDING");
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    if std::env::var("TARGET").is_ok_and(|target| target.starts_with("thumb")) {
        println!("cargo::rustc-link-arg-bins=-T{here}/memory.x");
    }
}

//! Gives the image its linker script.

fn main() {
    println!("cargo::rerun-if-changed=memory.x");
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    if std::env::var("TARGET").is_ok_and(|target| target.starts_with("thumb")) {
        println!("cargo::rustc-link-arg-bins=-T{here}/memory.x");
    }
}

//! The program `vestal`: all of it is in the library, so that others can add to it.

fn main() -> std::process::ExitCode {
    vestal::main_with(Ok(vestal_policy::Registry::default()))
}

//! Vestal with the policies and the test of this example.

fn main() -> std::process::ExitCode {
    vestal::main_with(vestal_example_own_policy::registry())
}

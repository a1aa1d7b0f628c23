//! The command line of Vestal.
fn main() {}

//! The command line of Vestal.

mod app;
mod args;
mod clock;
mod commands;
mod comparison;
mod failure;
mod input;
mod markdown;
mod names;
mod ordered;
mod output;
mod parameters;
mod problem;
mod progress;
mod quantity;
mod real;
mod report;
mod session;
mod table;

fn main() -> std::process::ExitCode {
    app::main()
}

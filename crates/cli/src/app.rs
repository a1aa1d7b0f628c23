//! From the process' arguments to its exit code.

use crate::args::{Cli, Command, Format};
use crate::commands;
use crate::failure::{Exit, Failure, Outcome};
use crate::names;
use crate::output::{self, Output};
use crate::registry;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use vestal_policy::{Refusal, Registry};

/// The whole program, with the policies and tests of this registry. To be called once,
/// from `main`: it reads the process' arguments, prints, and handles panics.
///
/// Returns the exit code of the command; 2 if the registry was refused, with a message that says why.
#[must_use]
pub fn main_with(registry: Result<Registry, Refusal>) -> ExitCode {
    panic::set_hook(Box::new(|info| output::panic_message(&info.to_string())));
    guarded(|| {
        if let Err(failure) = registry::install(registry) {
            Output::new(Format::Human).failure(&failure);
            return failure.exit;
        }
        let arguments: Vec<OsString> = std::env::args_os().collect();
        match Cli::try_parse_from(&arguments) {
            Ok(cli) => execute(&cli),
            Err(error) => refuse(&error, &arguments),
        }
    })
    .into()
}

/// A panic is a bug of Vestal, and the exit code says so. Its message has been printed by the hook.
fn guarded(program: impl FnOnce() -> Exit) -> Exit {
    panic::catch_unwind(AssertUnwindSafe(program)).unwrap_or(Exit::Bug)
}

/// What clap did not accept, or `--help` and `--version`, which it answers itself.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> Exit {
    output::print_clap(error);
    if !error.use_stderr() {
        return Exit::Holds;
    }
    // A program that asked for JSON gets its one document even if the rest made no sense.
    if wants_json(arguments) {
        let text = error.to_string();
        let why = text.split("\n\nUsage").next().unwrap_or_default();
        let why = why.strip_prefix("error: ").unwrap_or(why).trim_end();
        Output::new(Format::Json)
            .failure_document(&Failure::input("understand the command line", why));
    }
    Exit::BadInput
}

fn wants_json(arguments: &[OsString]) -> bool {
    let pair =
        |pair: &[OsString]| matches!(pair, [flag, value] if flag == "--format" && value == "json");
    arguments.iter().any(|argument| argument == "--format=json") || arguments.windows(2).any(pair)
}

fn execute(cli: &Cli) -> Exit {
    // What follows a command that does not exist was not parsed, the wish for JSON included.
    let format = if let Command::Other(words) = &cli.command
        && wants_json(words)
    {
        Format::Json
    } else {
        cli.format
    };
    let output = Output::new(format);
    let exit = dispatch(&cli.command, &output).unwrap_or_else(|failure| {
        output.failure(&failure);
        failure.exit
    });
    // What could not be read was not done.
    if output.is_broken() {
        Exit::Machine
    } else {
        exit
    }
}

fn dispatch(command: &Command, output: &Output) -> Outcome {
    match command {
        Command::Check(args) => commands::check::check(args, output),
        Command::Analyze(args) => commands::analyze::analyze(args, output),
        Command::Advise(args) => commands::advise::advise(args, output),
        Command::Simulate(args) => commands::simulate::simulate(args, output),
        Command::Run(args) => commands::run::run(args, output),
        Command::Replay(args) => commands::replay::replay(args, output),
        Command::Report(args) => commands::report::report(args, output),
        Command::Explain(args) => commands::explain::explain(args, output),
        Command::Generate(args) => commands::generate::generate(args, output),
        Command::Sweep(args) => commands::sweep::sweep(args, output),
        Command::Plot(args) => commands::plot::plot(args, output),
        Command::Regenerate(args) => commands::sweep::regenerate(args, output),
        Command::Reproduce(args) => commands::reproduce::reproduce(args, output),
        Command::Bench(args) => commands::bench::bench(args, output),
        Command::Doctor(args) => commands::doctor::doctor(args, output),
        Command::Demo(args) => commands::demo::demo(args, output),
        Command::Completions(args) => commands::completions::completions(args, output),
        Command::Manpages(args) => commands::manpages::manpages(args, output),
        Command::Other(words) => Err(unknown_command(words)),
    }
}

/// A command of a later version, or none at all.
fn unknown_command(words: &[OsString]) -> Failure {
    let word = words
        .first()
        .map(|word| word.to_string_lossy().into_owned())
        .unwrap_or_default();
    if names::PLANNED_COMMANDS.contains(&word.as_str()) {
        return Failure::not_in_this_version(&format!("the command `{word}`"));
    }
    let cli = Cli::command();
    let known = cli.get_subcommands().filter(|known| !known.is_hide_set());
    let what = format!("run the command `{word}`");
    names::unknown(&what, "command", &word, known.map(clap::Command::get_name))
        .with_help("`vestal --help` says what each does")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_as_a_bug_of_ours() {
        let exit = guarded(|| panic!("this message is part of the test"));
        assert_eq!(exit.code(), 4);
        assert_eq!(guarded(|| Exit::DoesNotHold).code(), 1);
    }

    #[test]
    fn the_wish_for_json_is_seen_in_a_command_line_that_makes_no_sense() {
        let words = |text: &str| -> Vec<OsString> { text.split(' ').map(OsString::from).collect() };
        assert!(wants_json(&words("vestal check --format json --nonsense")));
        assert!(wants_json(&words("vestal --format=json")));
        assert!(!wants_json(&words("vestal check --format human json")));
    }
}

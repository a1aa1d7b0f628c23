//! `vestal completions SHELL`: a completion script on standard output.

use crate::args::{Cli, CompletionsArgs};
use crate::failure::{Exit, Outcome};
use crate::output::Output;
use clap::CommandFactory;

pub(crate) fn completions(args: &CompletionsArgs, output: &Output) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "vestal", &mut script);
    output.raw(&String::from_utf8_lossy(&script));
    Ok(Exit::Holds)
}

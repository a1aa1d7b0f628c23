//! `vestal manpages DIR`: `vestal.1` and a page for each command.

use crate::args::{Cli, ManpagesArgs};
use crate::failure::{Exit, Failure, Outcome};
use crate::output::Output;
use clap::CommandFactory;

pub(crate) fn manpages(args: &ManpagesArgs, output: &Output) -> Outcome {
    let directory = &args.directory;
    let failed = |error: std::io::Error| {
        Failure::input(
            format!("write manual pages to {}", directory.display()),
            error.to_string(),
        )
        .with_help("name a directory that can be written")
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    // Pages about `help` would say what the others say.
    let command = Cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, directory).map_err(failed)?;
    output.note(&format!("wrote manual pages to {}", directory.display()));
    Ok(Exit::Holds)
}

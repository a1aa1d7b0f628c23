//! The command line: what `--help` shows, and what the parser accepts.
//!
//! Whatever the interface names and this version lacks is accepted but hidden, so that the answer
//! can be "not in this version" and not a guess at a misspelling.

use crate::names::VERSION;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Human,
    /// One JSON document on standard output, messages on standard error.
    Json,
}

/// Mixed-criticality real-time scheduling: prove a task set schedulable, simulate it, run it for
/// real, and see what happened.
#[derive(Debug, Parser)]
#[command(
    name = "vestal",
    version = VERSION,
    propagate_version = false,
    arg_required_else_help = true,
    allow_external_subcommands = true,
    after_help = "\
Exit codes: 0 it holds, 1 it does not hold, 2 wrong usage or input, 3 this machine cannot do it, \
4 a bug of ours.
Shell completions: vestal completions bash|elvish|fish|powershell|zsh. Manual pages: vestal manpages DIR."
)]
pub(crate) struct Cli {
    /// Print for people or for programs
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Is the file a valid task set?
    Check(CheckArgs),
    /// Is the task set schedulable? Response times, and why
    Analyze(AnalyzeArgs),
    /// Run the task set in exact simulated time
    Simulate(SimulateArgs),
    /// Run the task set on this machine's CPUs, for real
    Run(RunArgs),
    /// Explain a policy, a test or a diagnostic code
    Explain(ExplainArgs),
    /// What this machine's mechanisms cost
    Bench(BenchArgs),
    /// All of it on the flight management system, in under a minute
    Demo(DemoArgs),
    /// Print a completion script for a shell
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Write a manual page for each command into a directory
    #[command(hide = true, alias = "man")]
    Manpages(ManpagesArgs),
    /// Anything else: planned commands and mistakes.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// A task-set file, TOML or JSON; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArgs {
    /// A task-set file, TOML or JSON; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Run this test (and others named so); `vestal explain` lists them
    #[arg(long = "test", value_name = "TEST[:VARIANT]")]
    pub(crate) tests: Vec<String>,
    /// Run every test, also those whose yes proves nothing
    #[arg(long)]
    pub(crate) all: bool,
    /// Write what the first successful test chose, for --parameters
    #[arg(long, value_name = "FILE")]
    pub(crate) emit: Option<PathBuf>,
    /// Use and check these parameters instead of computing them
    #[arg(long, value_name = "FILE")]
    pub(crate) parameters: Option<PathBuf>,
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) overheads: Option<PathBuf>,
}

/// What simulated and real runs have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorldArgs {
    /// A task-set file, TOML or JSON; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How to schedule; `vestal explain` lists the policies
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: String,
    /// How long, for instance 10s or 500ms [default: two hyperperiods plus the largest offset, at
    /// most 10s]
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// What jobs really execute: lo, hi, overrun=P, beta=MEAN,P or a CSV or TOML file [default: lo]
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) scenario: Option<String>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Set an option of the policy, for instance exhaustion=abort
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,
    /// Use and check these parameters instead of computing them
    #[arg(long, value_name = "FILE")]
    pub(crate) parameters: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Write the schedule; the extension names the format: .txt draws a Gantt chart
    #[arg(long = "trace", value_name = "FILE")]
    pub(crate) traces: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Who orders the threads: native leaves it to the kernel's SCHED_FIFO, managed has a manager
    /// carry out the scheduler's plans
    #[arg(
        long,
        value_name = "native|managed",
        default_value = "native",
        hide_default_value = true
    )]
    pub(crate) dispatch: String,
    /// What notices a used-up budget: perf counts the thread's execution, manager sets a wall timer
    /// and reads the thread's clock, heartbeat reads it every millisecond, posix-timer waits for the
    /// kernel's tick [default: perf; managed: manager]
    #[arg(long, value_name = "perf|manager|heartbeat|posix-timer")]
    pub(crate) monitor: Option<String>,
    /// When a withdrawn job, whose priority drops at once, ends: immediate at its next cancellation
    /// point, deferred not before the CPU is idle
    #[arg(long, value_name = "immediate|deferred")]
    pub(crate) termination: Option<String>,
    /// The CPU to use, for instance 1 [default: the last one that is allowed]
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// The range of SCHED_FIFO priorities to use, for instance 10-80
    #[arg(long, value_name = "LOW-HIGH")]
    pub(crate) rt_priority: Option<String>,
    /// Only measure: no budget is enforced, the mode never changes
    #[arg(long)]
    pub(crate) observe: bool,
    #[arg(long, hide = true)]
    pub(crate) watch: bool,
    #[arg(long = "trace", hide = true)]
    pub(crate) traces: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A policy (amc), a test (amc-rtb) or a diagnostic code (V0123); without it, all are listed
    #[arg(value_name = "POLICY|TEST|CODE")]
    pub(crate) topic: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What to measure: primitives are the system calls and wake-ups of real runs
    #[arg(value_name = "primitives")]
    pub(crate) what: String,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManpagesArgs {
    /// The directory; it is created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}

//! The command line: what `--help` shows, and what the parser accepts.
//!
//! Whatever the interface names and this version lacks is accepted but hidden, so that the answer
//! can be "not in this version" and not a guess at a misspelling.

use crate::names::VERSION;
use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
4 a bug of Vestal, 5 not decided, because time was stolen from a run.
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
    /// Which policies and mechanisms keep the task set schedulable on this machine, with what margin?
    Advise(AdviseArgs),
    /// Run the task set in exact simulated time
    Simulate(SimulateArgs),
    /// Run the task set on this machine's CPUs, for real
    Run(RunArgs),
    /// Decide a recorded run again: the same plans? Or check a recording of perf or ftrace
    Replay(ReplayArgs),
    /// Make one HTML page of results and traces
    Report(ReportArgs),
    /// Explain a policy, a test, a recipe or a diagnostic code
    Explain(ExplainArgs),
    /// Random task sets by the recipes of the papers, as files
    Generate(GenerateArgs),
    /// Ask tests and simulations about many random task sets
    Sweep(SweepArgs),
    /// A chart of a sweep, at the terminal, as SVG or as PGF
    Plot(PlotArgs),
    /// One set of a sweep back, as a file
    Regenerate(RegenerateArgs),
    /// A figure of a paper: data, plot, and what became of the paper's claims
    Reproduce(ReproduceArgs),
    /// What this machine's mechanisms cost
    Bench(BenchArgs),
    /// Is this machine fit for real-time runs, and what should change?
    Doctor(DoctorArgs),
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
    /// Say what this policy has against the file, and of each field that it gives what the policy does with it
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArgs {
    /// A task-set file, TOML or JSON; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Run this test, or these with commas between them; `vestal explain` lists all
    #[arg(long = "test", value_name = "TEST[:VARIANT]", value_delimiter = ',')]
    pub(crate) tests: Vec<String>,
    /// Run every test, also those whose yes proves nothing
    #[arg(long)]
    pub(crate) all: bool,
    /// Show in full what every test says, and not only the strongest proof
    #[arg(long)]
    pub(crate) details: bool,
    /// Write what the first successful test chose, for --parameters
    #[arg(long, value_name = "FILE")]
    pub(crate) emit: Option<PathBuf>,
    /// Use and check these parameters instead of computing them
    #[arg(long, value_name = "FILE")]
    pub(crate) parameters: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overheads: OverheadArgs,
}

impl AnalyzeArgs {
    /// Whether tests were asked for by name, and none but those.
    pub(crate) fn names_tests(&self) -> bool {
        !self.all && !self.tests.is_empty()
    }
}

/// What carrying a policy out costs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OverheadArgs {
    /// Take overheads into account: what bench primitives or bench overhead printed with --format json; in a simulation
    /// they take time of the CPUs
    #[arg(long, value_name = "FILE")]
    pub(crate) overheads: Option<PathBuf>,
    /// Which figure of each overhead: mean, p99 or max, none of which is a bound; a simulation also takes drawn ones, each
    /// time another [default: max]
    #[arg(long, value_name = "FIGURE")]
    pub(crate) statistic: Option<String>,
    /// The mechanism whose overheads count, of those in the file [default: the first one that carries the policy out]
    #[arg(long, value_name = "NAME")]
    pub(crate) mechanism: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AdviseArgs {
    /// A task-set file, TOML or JSON; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overheads: OverheadArgs,
    /// Measure for less than half as long: what is rare is found less often, so that p99 and max are smaller
    #[arg(long, conflicts_with = "overheads")]
    pub(crate) quick: bool,
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
    /// What jobs really execute: lo, hi, level=NAME, overrun=P, beta=MEAN,P or a CSV or TOML file [default: lo]
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

impl WorldArgs {
    /// The files that are read.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Path> + Clone {
        let scenario = self.scenario.as_deref().map(Path::new);
        let others = [scenario, self.parameters.as_deref()];
        std::iter::once(self.file.as_path()).chain(others.into_iter().flatten())
    }
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    #[command(flatten)]
    pub(crate) overheads: OverheadArgs,
    /// Who orders the jobs in the simulated world: managed has the scheduler pick each one, native
    /// imitates fixed priorities of an operating system, with enforcement beside them
    #[arg(long, value_name = "native|managed")]
    pub(crate) dispatch: Option<String>,
    /// Write what happened, in the format that the extension names: .vtrace or .csv (complete, for
    /// `replay`), .txt, .svg or .tex (Gantt charts), .pftrace (Perfetto), .vcd; may be repeated
    #[arg(long = "trace", value_name = "FILE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Simulate more than 1000000000 jobs without asking back
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Who orders the threads: native leaves it to the kernel's SCHED_FIFO, managed has a manager
    /// carry out the scheduler's plans [default: native where fixed priorities can keep the policy's order]
    #[arg(long, value_name = "native|managed")]
    pub(crate) dispatch: Option<String>,
    /// Which threads handle what: vestal has tasks release and end their jobs themselves and wakes the
    /// manager for exceptions only, huang2014 is what Huang, Gill and Lu (2014) built, sigrist2015 what Sigrist et al.
    /// (2015) built for edf-vd, pedf-vd and ftts, for comparison [default: vestal]
    #[arg(long, value_name = "vestal|huang2014|sigrist2015")]
    pub(crate) mechanism: Option<String>,
    /// What notices a used-up budget: perf counts the thread's execution, manager sets a wall timer and reads the
    /// thread's clock, again after TIME at the earliest [30us], remainder sets it anew after preemptions, when it stood still, heartbeat
    /// reads clocks every TIME [1ms], posix-timer waits for the kernel's tick [default: manager if managed, or if
    /// a trial finds it clearly cheaper to arm, else perf]
    #[arg(
        long,
        value_name = "perf|manager[=TIME]|remainder[=TIME]|heartbeat[=TIME]|posix-timer"
    )]
    pub(crate) monitor: Option<String>,
    /// When a demoted job, whose priority drops at once, ends: immediate at its next cancellation
    /// point, deferred not before the CPU is idle [default: immediate; with sigrist2015: deferred]
    #[arg(long, value_name = "immediate|deferred")]
    pub(crate) termination: Option<String>,
    /// Where the CPUs of a frame table wait for each other: spin looks at a word for some microseconds and then waits as
    /// futex does, pthread is the barrier of that library [default: spin]
    #[arg(long, value_name = "pthread|futex|spin")]
    pub(crate) barrier: Option<String>,
    /// What threads of a frame table read to measure how long something takes, and while they spin: monotonic is
    /// clock_gettime, tsc the time stamp counter; nothing is decided by it [default: monotonic]
    #[arg(long, value_name = "monotonic|tsc")]
    pub(crate) clock: Option<String>,
    /// The CPUs to use, one for each of the set, for instance 1, 0-3 or 0,1,0,1 [default: the last ones that are allowed]
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// The range of SCHED_FIFO priorities to use, for instance 10-80
    #[arg(long, value_name = "LOW-HIGH")]
    pub(crate) rt_priority: Option<String>,
    /// What a device of the file is here: a pipe of packets, a pseudo-terminal, datagrams between two network namespaces, or a TUN device (the last two need rights). Its events come as the file says, with storm as
    /// fast as they can be sent, or RATE a second; may be repeated
    #[arg(long = "device", value_name = "NAME=pipe|pty|udp|tun[,storm[=RATE]]")]
    pub(crate) devices: Vec<String>,
    /// Only measure: no budget is enforced, the mode never changes
    #[arg(long)]
    pub(crate) observe: bool,
    /// Exit with 0 also where only time that others took from the run explains a missed guaranteed
    /// deadline, or a job of a frame table that was dropped for nothing; without this that is 5
    #[arg(long)]
    pub(crate) tolerate_stolen_time: bool,
    /// Write each beginning and end of a job, and each mode change, into the kernel's own trace
    /// (/sys/kernel/tracing/trace_marker): some microseconds a job
    #[arg(long)]
    pub(crate) trace_marker: bool,
    /// Show what happens while it happens, at a terminal; needs a build with the feature `watch`
    #[arg(long)]
    pub(crate) watch: bool,
    /// Record what happens, in the format that the extension names: .vtrace or .csv (complete, for
    /// `replay`), .txt, .svg or .tex (Gantt charts), .pftrace (Perfetto), .vcd; may be repeated
    #[arg(long = "trace", value_name = "FILE")]
    pub(crate) traces: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A trace that holds every record (.vtrace or .csv), or scheduling events as text of perf script,
    /// trace-cmd report or ftrace
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// Another task set to decide with, instead of the recorded one; for events of perf or ftrace the
    /// one whose tasks are called as the threads
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Events of perf or ftrace: the policy whose priorities should have been kept [default: the
    /// priorities of FILE]
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
    /// Events of perf or ftrace: what is at most so long is no fault of order or execution [default:
    /// 100us]
    #[arg(long, value_name = "TIME")]
    pub(crate) tolerance: Option<String>,
    /// Events of perf or ftrace: use these parameters of the policy instead of computing them
    #[arg(long, value_name = "FILE", requires = "policy")]
    pub(crate) parameters: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Results that analyze, simulate, run or demo printed with --format json, .vtrace or .csv traces,
    /// and scheduling events as text of perf script, trace-cmd report or ftrace, all of one task set; `-`
    /// reads standard input
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// The page
    #[arg(long, short, value_name = "PAGE", default_value = "report.html")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A policy (amc), a test (amc-rtb) or a diagnostic code (V0123); without it, all are listed
    #[arg(value_name = "POLICY|TEST|CODE")]
    pub(crate) topic: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// How sets are drawn, for instance huang2014
    #[arg(long, value_name = "RECIPE")]
    pub(crate) recipe: String,
    /// Number of tasks
    #[arg(long, value_name = "N")]
    pub(crate) tasks: Option<String>,
    /// Sum of the utilizations
    #[arg(long, value_name = "U")]
    pub(crate) utilization: Option<String>,
    /// Number of criticality levels
    #[arg(long, value_name = "L")]
    pub(crate) levels: Option<String>,
    /// How much longer a job may take at its task's own level than at the lowest
    #[arg(long, value_name = "F")]
    pub(crate) criticality_factor: Option<String>,
    /// Set another parameter of the recipe, for instance inflate_level0=true
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,
    /// How many sets
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) count: u64,
    /// The same seed gives the same sets, on every machine
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The directory for the files; it is created if it does not exist
    #[arg(short = 'o', value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// An experiment file
    #[arg(value_name = "EXPERIMENT.toml")]
    pub(crate) file: PathBuf,
    /// The directory of the result; it is created if it does not exist
    #[arg(short = 'o', value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// How many threads [default: one for each CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..).map(usize::from))]
    pub(crate) jobs: Option<usize>,
    /// Compute only part i of n, for instance 3/16; all parts write into the same directory, at once or one after the other
    #[arg(long, value_name = "i/n")]
    pub(crate) shard: Option<String>,
    /// Go on with what the directory holds, as every part does
    #[arg(long)]
    pub(crate) resume: bool,
    #[arg(long, value_name = "ADDR", hide = true)]
    pub(crate) cluster: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RegenerateArgs {
    /// The directory that a sweep wrote
    #[arg(value_name = "RESULT")]
    pub(crate) result: PathBuf,
    /// The number of the point, as in summary.csv
    #[arg(long, value_name = "P")]
    pub(crate) point: usize,
    /// The number of the set within the point
    #[arg(long, value_name = "I")]
    pub(crate) index: u32,
    /// Another value for a parameter of the recipe, as in the name of a question: io=sporadic
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,
    /// The file to write, as JSON where its name ends in .json; `-` is standard output
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// The directory that a sweep wrote
    #[arg(value_name = "RESULT")]
    pub(crate) result: PathBuf,
    /// The parameter on the horizontal axis
    #[arg(long, value_name = "KEY")]
    pub(crate) x: String,
    /// What is on the vertical axis: fraction (of sets accepted), weighted, or a measure [default: what there is]
    #[arg(long, value_name = "WHAT")]
    pub(crate) y: Option<String>,
    /// The questions that have a curve, with commas between them [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) tests: Vec<String>,
    /// Of a measure: the jobs of this level, or all [default: a curve for each]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Option<String>,
    /// The value of another parameter; those without one have a curve for each value
    #[arg(long = "where", value_name = "KEY=VALUE")]
    pub(crate) fixed: Vec<String>,
    /// Another name for a curve
    #[arg(long, value_name = "NAME=OTHER")]
    pub(crate) names: Vec<String>,
    /// The ends of the horizontal axis
    #[arg(long, value_name = "LOW:HIGH", allow_hyphen_values = true)]
    pub(crate) range: Option<String>,
    /// The ends of the vertical axis
    #[arg(long, value_name = "LOW:HIGH", allow_hyphen_values = true)]
    pub(crate) y_range: Option<String>,
    /// The line above the chart [default: the name of the experiment]
    #[arg(long, value_name = "TEXT", conflicts_with = "no_title")]
    pub(crate) title: Option<String>,
    /// No line above the chart
    #[arg(long)]
    pub(crate) no_title: bool,
    /// What the horizontal axis counts [default: its parameter]
    #[arg(long, value_name = "TEXT")]
    pub(crate) x_label: Option<String>,
    /// What the vertical axis counts
    #[arg(long, value_name = "TEXT")]
    pub(crate) y_label: Option<String>,
    /// A file to write, FILE.svg or FILE.pgf (for TeX); may be repeated [default: the chart is shown]
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// A figure such as huang2014/fig1, or all of a paper such as huang2014
    #[arg(value_name = "PAPER/FIGURE", conflicts_with_all = ["list", "all"])]
    pub(crate) figure: Option<String>,
    /// List the figures
    #[arg(long, conflicts_with = "all")]
    pub(crate) list: bool,
    /// Every figure
    #[arg(long)]
    pub(crate) all: bool,
    /// 100 sets at each point instead of the figure's number, or a fifth of that where it is less
    #[arg(long)]
    pub(crate) quick: bool,
    /// How many threads [default: one for each CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..).map(usize::from))]
    pub(crate) jobs: Option<usize>,
    /// The directory of the results, one below for each figure; what is there already is used
    #[arg(short = 'o', value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What to measure: primitives are the system calls and wake-ups of real runs, barriers what it takes two CPUs to
    /// meet, sleeps how long a thread sleeps that asks for so much, overhead is what policies and mechanisms cost, as in
    /// the paper that --paper names, zero-slack-trace is who runs when under zero slack, and where no task does
    #[arg(value_name = "primitives|barriers|sleeps|overhead|zero-slack-trace")]
    pub(crate) what: String,
    /// overhead: the paper whose experiment is repeated
    #[arg(long, value_name = "huang2014|missimer|sigrist2015")]
    pub(crate) paper: Option<String>,
    /// overhead: few tasks and repetitions, in less than a minute instead of twelve or twenty; shows that it works
    #[arg(long)]
    pub(crate) quick: bool,
    /// overhead: how often busy periods are repeated, and hyperperiods two times for five of these [default: 40; with
    /// --quick 3]; sigrist2015: how many sets are run of each kind, missimer: how
    /// often everything is run [default: 12; with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repetitions: Option<u32>,
    /// overhead: the CPU to use, for instance 1 [default: the last one that is allowed]; sigrist2015: those to use, the one for
    /// sets of one CPU first, for instance 1,0
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// overhead of sigrist2015: with sets of which those of one number have tasks in common at each utilization and on each
    /// number of CPUs, run by the paper's mechanisms [default of --repetitions then: 22; with --quick 2]
    #[arg(long)]
    pub(crate) paired: bool,
    /// overhead of sigrist2015: how what frame tables take grows, with three times as many such sets and the ends of both axes alone
    /// [default of --repetitions then: 66; with --quick 2]
    #[arg(long, conflicts_with = "paired")]
    pub(crate) growth: bool,
    /// overhead of sigrist2015: every mechanism that `run` offers for both policies, at one utilization
    #[arg(long, conflicts_with_all = ["paired", "growth"])]
    pub(crate) alternatives: bool,
    /// overhead of missimer: what cameras are [default: pipe]
    #[arg(long, value_name = "pipe|pty|udp")]
    pub(crate) device: Option<String>,
    /// overhead: the directory for data, plots and a page about the paper's claims
    #[arg(short = 'o', value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The CPU that real-time jobs are to have, for instance 1 [default: the last one that is allowed]
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// Only read: no thread is started, nothing is measured
    #[arg(long)]
    pub(crate) no_probes: bool,
    /// Judge the copy of another machine's /proc and /sys in this directory; only reads
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The directory for the page and the traces; it is created if it does not exist
    #[arg(long, short, value_name = "DIR", default_value = "vestal-demo")]
    pub(crate) output: PathBuf,
}

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

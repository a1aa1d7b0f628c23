//! `vestal sweep EXPERIMENT.toml -o DIR`, and one of its sets back: `vestal regenerate`.

use crate::args::{RegenerateArgs, SweepArgs};
use crate::commands::generate;
use crate::curves;
use crate::failure::{Exit, Failure, Outcome, is_full};
use crate::input;
use crate::interrupt;
use crate::names::VERSION;
use crate::output::Output;
use crate::progress::Progress;
use crate::quantity::count;
use crate::registry::{no_test, registry};
use crate::whole;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use vestal_experiment::charts;
use vestal_experiment::checksum;
use vestal_experiment::costs::Costs;
use vestal_experiment::stored;
use vestal_experiment::sweep::{examined_seed, sweep as compute};
use vestal_experiment::wanted::usual_x;
use vestal_experiment::{
    Damage, Experiment, Manifest, Program, Question, QuestionError, Report, Running, Seen, Shard,
    Store, StoreError, Summary, SweepError,
};
use vestal_result::Format;
use vestal_result::files::{Regenerated, Swept};
use vestal_workload::Source;

pub(crate) fn sweep(args: &SweepArgs, output: &Output) -> Outcome {
    if args.cluster.is_some() {
        return Err(Failure::not_in_this_version("`--cluster`")
            .with_help("--shard i/n splits a sweep over machines that share the directory"));
    }
    let shard = match &args.shard {
        None => Shard::ALL,
        Some(text) => Shard::parse(text).ok_or_else(|| {
            let why = format!("--shard {text} is not i/n with 1 <= i <= n");
            Failure::input("share out a sweep", why).with_help("write for instance --shard 3/16")
        })?,
    };
    let source = input::source(&args.file)?;
    let what = format!("use the experiment {}", input::shown(&args.file));
    let experiment =
        Experiment::parse(&source).map_err(|found| Failure::diagnosed(what.clone(), found))?;
    let questions = questions(&experiment, &args.file, &what)?;
    let asked = Asked {
        experiment: &experiment,
        questions: &questions,
        seen: Arc::default(),
    };
    // A shard goes on with what others have begun; that is what the directory is shared for.
    let resume = args.resume || shard != Shard::ALL;
    let store = asked.open(&args.directory, resume)?;
    let bounded = interrupt::bounded(asked.last_words(args, shard, output));
    let report = asked.run(&store, shard, args.jobs.unwrap_or(0), output)?;
    let exit = Exit::holds(!report.stopped);
    let _told = bounded.told(output);
    output.human(&page(&report, &experiment, args, shard));
    if report.complete && !report.stopped {
        output.human(&shown(&store, output));
    }
    output.json(&swept(&experiment.name, &args.directory, &report))?;
    Ok(exit)
}

fn swept(experiment: &str, directory: &Path, report: &Report) -> Swept {
    Swept {
        format: Format::V1,
        experiment: experiment.to_owned(),
        directory: directory.display().to_string(),
        computed: report.computed,
        chunks: report.chunks.0,
        chunks_total: report.chunks.1,
        complete: report.complete,
        stopped: report.stopped,
        mended: report.mended.iter().map(file_of).collect(),
    }
}

fn file_of(damage: &Damage) -> String {
    damage.path.display().to_string()
}

/// An experiment with what it asks.
pub(crate) struct Asked<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) questions: &'a [Question<'a>],
    /// What was done until now.
    pub(crate) seen: Arc<Seen>,
}

impl Asked<'_> {
    /// The result directory.
    pub(crate) fn open(&self, directory: &std::path::Path, resume: bool) -> Result<Store, Failure> {
        let program = Program {
            version: VERSION.to_owned(),
            checksum: program_checksum(self.questions)?,
        };
        let asked: Vec<_> = self.questions.iter().map(Question::asked).collect();
        let manifest = Manifest::new(program, self.experiment, &asked);
        let text = &self.experiment.source.text;
        Store::open(directory, manifest, text, resume).map_err(store_failure)
    }

    /// What there is to say of a sweep that is ended in the middle of a set, when no chunk is being written any more.
    fn last_words(
        &self,
        args: &SweepArgs,
        shard: Shard,
        output: &Output,
    ) -> impl FnOnce() -> Exit + Send + use<> {
        let (name, directory) = (self.experiment.name.clone(), args.directory.clone());
        let chunks_total =
            self.experiment.points().len() as u64 * u64::from(self.experiment.chunks_per_point());
        let (seen, output) = (Arc::clone(&self.seen), output.again());
        move || {
            let report = seen.report(chunks_total);
            let output = output();
            warn_of(&report, &output);
            output.human(&rest(&report, &name, shard));
            let _said = output.json(&swept(&name, &directory, &report));
            Exit::DoesNotHold
        }
    }

    /// Computes until it is done or is interrupted.
    pub(crate) fn run(
        &self,
        store: &Store,
        shard: Shard,
        jobs: usize,
        output: &Output,
    ) -> Result<Report, Failure> {
        let stop = interrupt::watch()?;
        let axes = self.experiment.axes.iter();
        let points: usize = axes.map(|axis| axis.values.len()).product();
        let total = points as u64 * u64::from(self.experiment.sets) / shard.count;
        let progress = Progress::new(output, "sweeping", total);
        let report = compute(
            self.experiment,
            self.questions,
            store,
            &Running {
                shard,
                jobs,
                stop,
                writing: whole::writing(),
                seen: &self.seen,
                progress: &|done| progress.at(done),
            },
        );
        drop(progress);
        let report = report.map_err(sweep_failure)?;
        warn_of(&report, output);
        Ok(report)
    }
}

/// Says what was damaged.
fn warn_of(report: &Report, output: &Output) {
    for damage in &report.mended {
        output.warning(&format!("{damage}; it was made anew"));
    }
    for damage in &report.damaged {
        output.warning(&format!(
            "{damage}; --resume makes it anew in its shard, or without --shard"
        ));
    }
}

/// Whether a test or a policy of the program's own answers it.
fn is_own(question: &Question<'_>) -> bool {
    match question {
        Question::Test(question) => registry().is_own(question.test.name),
        Question::Check(check) => {
            let policy = check.policy().about().name;
            registry().is_own(check.test().name) || registry().is_own(policy)
        }
        Question::Simulation(simulation) => registry().is_own(simulation.policy().about().name),
        Question::Measure(measurement) => {
            registry().is_own(measurement.simulation().policy().about().name)
        }
        Question::Redrawn(redrawn) => is_own(redrawn.question()),
    }
}

/// The checksum of the program that runs, if it answers with tests or policies of its own: another one of the
/// same version may have others under their names.
fn program_checksum(questions: &[Question<'_>]) -> Result<Option<String>, Failure> {
    if !questions.iter().any(is_own) {
        return Ok(None);
    }
    // On Linux the file that runs, even if another one has its name by now.
    let path = match cfg!(target_os = "linux") {
        true => Ok("/proc/self/exe".into()),
        false => std::env::current_exe(),
    };
    let found = path.and_then(File::open).and_then(checksum::of_all);
    found
        .map(Some)
        .map_err(|error| Failure::machine("read the program itself", error.to_string()))
}

/// Everything that an experiment asks, or why some of it cannot be asked.
fn questions(
    experiment: &Experiment,
    file: &Path,
    what: &str,
) -> Result<Vec<Question<'static>>, Failure> {
    // Relative to the experiment.
    let beside = file.parent().unwrap_or(Path::new(""));
    let costs = experiment.overheads.as_ref().map(|named| {
        Costs::read(&beside.join(named))
            .map_err(|error| Failure::input("read the overheads", error.why).with_help(error.help))
    });
    let costs = costs.transpose()?;
    let questions = vestal_experiment::questions(registry(), experiment, costs.as_ref());
    let questions = questions.into_iter();
    questions
        .map(|question| question.map_err(|error| question_failure(error, what)))
        .collect()
}

fn question_failure(error: QuestionError, what: &str) -> Failure {
    match error {
        QuestionError::Unknown { found, .. } | QuestionError::Refused(found) => {
            Failure::diagnosed(what, *found)
        }
        QuestionError::UnknownTest { name, .. } => no_test(&name, what),
        QuestionError::NoPolicy(_) => Failure::input(what, error.to_string()),
        QuestionError::Overheads(error) => Failure::input(what, error.why).with_help(error.help),
    }
}

fn page(report: &Report, experiment: &Experiment, args: &SweepArgs, shard: Shard) -> String {
    if !report.complete {
        return rest(report, &experiment.name, shard);
    }
    let all = report.chunks.1;
    let mut text = format!("{}: {} sets computed, ", experiment.name, report.computed);
    text.push_str(&format!("all {all} chunks are there\n"));
    let more = [
        (experiment.weight_by.is_some(), ", weighted.csv"),
        (!experiment.measures.is_empty(), ", measures.csv"),
        (experiment.plot.is_some(), ", plot*.svg"),
    ];
    let more = more.iter().filter(|(is_there, _)| *is_there);
    let more: String = more.map(|(_, name)| *name).collect();
    let directory = args.directory.display();
    text.push_str(&format!(
        "results in {directory}: results.parquet, summary.csv, pairs.csv{more}\n"
    ));
    text
}

/// What a sweep came to, at a glance: a chart over the parameter of `plot`, or the first one that is numbers. Empty without any.
fn shown(store: &Store, output: &Output) -> String {
    if output.is_json() {
        return String::new();
    }
    let (experiment, summary) = match stored::read(store) {
        Ok(read) => read,
        Err(error) => {
            // The results are there; only their picture is not.
            output.warning(&format!("what was found is not shown: {error}"));
            return String::new();
        }
    };
    let Some(x) = usual_x(experiment.plot.as_deref(), &summary) else {
        return String::new();
    };
    let mut charts = charts::of_sweep(&experiment.name, &x, &summary).into_iter();
    let Some((_, chart)) = charts.next() else {
        return String::new();
    };
    let title = chart.title.clone().unwrap_or_default();
    let mut text = format!("\n{title}\n\n{}", curves::page(&chart, output));
    if charts.len() > 0 {
        let more = count(charts.len(), "more chart");
        let other = another(store, &x, &summary);
        text.push_str(&format!("\n{more}, for instance: {other}\n"));
    }
    text
}

/// A command for another chart: of the last value of each other parameter, and of what is measured, if anything is.
fn another(store: &Store, x: &str, summary: &Summary) -> String {
    let directory = store.path("").display().to_string();
    let directory = directory.trim_end_matches('/');
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "/._-".contains(sign);
    let mut command = match directory.chars().all(is_plain) {
        true => format!("vestal plot {directory} --x {x}"),
        false => format!("vestal plot '{directory}' --x {x}"),
    };
    let last = summary.points.last().into_iter().flatten();
    let weight = summary.weighted_axes();
    let others = summary.axes.iter().zip(last);
    let others = others.filter(|(axis, _)| *axis != x && weight.contains(axis));
    for (axis, value) in others {
        command.push_str(&format!(" --where '{axis}={value}'"));
    }
    if let Some(part) = summary.measures.last() {
        command.push_str(&format!(" --y {}", part.measure.name));
    }
    command
}

/// Of a sweep that has no results yet: what there is, and how it goes on.
fn rest(report: &Report, name: &str, shard: Shard) -> String {
    let (there, all) = report.chunks;
    let next = if report.stopped {
        "interrupted; nothing is lost: the same command with --resume goes on"
    } else {
        "the rest is for other shards; whoever is last writes the results"
    };
    format!(
        "{name}: {} sets computed, {there} of {all} chunks are there\n{next} (shard {}/{})\n",
        report.computed, shard.number, shard.count
    )
}

pub(crate) fn store_failure(error: StoreError) -> Failure {
    let what = "use the result directory";
    let why = error.to_string();
    match error {
        StoreError::Io { error, .. } if is_full(&error) => Failure::machine(what, why).with_help(
            "make room on the disk, then go on with --resume; nothing that was written is lost",
        ),
        StoreError::Io { .. } => Failure::input(what, why)
            .with_help("name a directory that can be written; nothing that was written is lost"),
        StoreError::Foreign { .. } => Failure::input(what, why)
            .with_help("name another directory: results of two experiments or versions never mix")
            .with_help("vestal explain V0701"),
        StoreError::Exists { .. } => Failure::input(what, why)
            .with_help("--resume goes on with it; another directory begins anew"),
        StoreError::Damaged(damage) => Failure::input(what, why)
            .with_help(if damage.path.ends_with("manifest.json") {
                "remove that file and run the sweep again with --resume: what is whole is kept"
            } else {
                "run the sweep again with --resume: what is damaged is made anew, and the rest kept"
            })
            .with_help("vestal explain V0702"),
    }
}

fn sweep_failure(error: SweepError) -> Failure {
    match error {
        SweepError::Store(error) => store_failure(error),
        SweepError::Set { .. } => Failure::input("draw and examine a set", error.to_string()),
        SweepError::Internal(why) => Failure::bug("sweep", why),
    }
}

pub(crate) fn regenerate(args: &RegenerateArgs, output: &Output) -> Outcome {
    let what = format!("regenerate a set of {}", args.result.display());
    let store = Store::existing(&args.result, VERSION).map_err(store_failure)?;
    let name = store.path("experiment.toml").display().to_string();
    let experiment = Experiment::parse(&Source::new(&name, &store.text))
        .map_err(|found| Failure::diagnosed(what.clone(), found))?
        .with_sets(store.manifest.sets);
    let points = experiment.points();
    let range = |kind: &str, last: u64| {
        Failure::input(what.clone(), format!("the result has no such {kind}")).with_help(format!(
            "--{kind} is a number from 0 to {last}; summary.csv lists the points"
        ))
    };
    let point = points
        .get(args.point)
        .ok_or_else(|| range("point", points.len() as u64 - 1))?;
    if args.index >= experiment.sets {
        return Err(range("index", u64::from(experiment.sets) - 1));
    }
    let seed = examined_seed(&experiment, &store, args.point, args.index).map_err(store_failure)?;
    let mut recipe = point.recipe.clone();
    generate::set(&mut recipe, &args.options, &what)?;
    let set = recipe
        .draw(seed)
        .map_err(|error| Failure::input(what.clone(), error.to_string()))?;
    if args.file.as_os_str() == "-" {
        output.raw(&set.to_toml());
        return Ok(Exit::Holds);
    }
    let extension = args.file.extension();
    let text = match extension.is_some_and(|is| is.eq_ignore_ascii_case("json")) {
        true => set.to_json(),
        false => set.to_toml(),
    };
    generate::write_new(&args.file, &text)?;
    let file = args.file.display().to_string();
    output.human(&format!(
        "set {} of point {} (seed {seed}) in {file}\n",
        args.index, args.point
    ));
    output.json(&Regenerated {
        format: Format::V1,
        experiment: experiment.name,
        point: args.point,
        index: args.index,
        seed,
        file,
    })?;
    Ok(Exit::Holds)
}

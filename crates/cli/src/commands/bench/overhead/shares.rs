//! `vestal bench overhead --paper sigrist2015`: which share of their time CPUs spend on carrying frame tables and partitioned EDF-VD
//! out.
//!
//! Every variant runs the same sets, one after the other and in another order each time, so that what drifts slowly meets all alike.
//! With a directory each run is written down when it is complete, and a measurement that was stopped goes on from there.

mod output;
mod series;

use super::super::costs;
use crate::args::{BenchArgs, Cli, Command, RunArgs};
use crate::commands::run;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::names::VERSION;
use crate::output::Output;
use crate::progress::Progress;
use crate::real::{self, Settings};
use crate::registry::{find_policy, registry};
use crate::session::Session;
use clap::Parser as _;
use series::Series;
use std::time::Duration;
use vestal_experiment::overhead::journal::{
    ALTERNATIVES_SHARES, GROWTH_SHARES, Head, PAIRED_SHARES, SHARES,
};
use vestal_experiment::overhead::sigrist2015::alternatives::{Asked, alternatives};
use vestal_experiment::overhead::sigrist2015::extrapolate::{Rates, events, flight};
use vestal_experiment::overhead::sigrist2015::plan::{
    ALTERNATIVES, ALTERNATIVES_QUICK, FULL, GROWTH, GROWTH_QUICK, PAIRED, PAIRED_QUICK, Plan, QUICK,
};
use vestal_experiment::overhead::sigrist2015::set::{Judge, Use, sets};
use vestal_experiment::overhead::sigrist2015::table::Table;
use vestal_experiment::overhead::sigrist2015::variant::{Kind, VARIANTS, Variant};
use vestal_result::bench::{Dispatch, Mechanism};
use vestal_result::shares::{Alternative, ShareCell};
use vestal_workload::TaskSet;

/// What a job of `pedf-vd` may exceed a limit by. Calibrating anew for each run would take longer than some of them.
const TOLERANCE_NS: u64 = 200_000;

pub(super) fn shares(args: &BenchArgs, output: &Output) -> Outcome {
    let (full, quick, format) = match (args.paired, args.growth, args.alternatives) {
        (true, _, _) => (PAIRED, PAIRED_QUICK, PAIRED_SHARES),
        (_, true, _) => (GROWTH, GROWTH_QUICK, GROWTH_SHARES),
        (_, _, true) => (ALTERNATIVES, ALTERNATIVES_QUICK, ALTERNATIVES_SHARES),
        (false, false, false) => (FULL, QUICK, SHARES),
    };
    let plan = if args.quick { quick } else { full };
    let plan = plan.repeated(args.repetitions);
    let cpus = cpus(args)?;
    interrupt::watch()?;
    let intervals = [plan.interval, plan.flight_interval].map(nanos);
    let head = Head::new(format, VERSION, real::machine(), (cpus.clone(), intervals));
    let mut series = Series::new(args.directory.as_deref(), &head, (plan, cpus.clone()))?;
    series.run(output)?;
    let table = Table::of(std::mem::take(&mut series.runs));
    let extrapolated = extrapolated(&table, plan, output)?;
    let flight = match interrupt::asked() {
        true => Ok(Vec::new()),
        false => flight(registry(), &table, &plan),
    };
    let flight = flight.map_err(|why| Failure::bug("extrapolate Table II", why))?;
    let (mechanisms, alternatives) = asked(&table, (plan, &cpus, args.quick), output)?;
    let interrupted = interrupt::asked();
    let found = output::Found {
        table,
        extrapolated,
        flight,
        alternatives,
        mechanisms,
        not_run: series.not_run,
        plan,
        interrupted,
    };
    output::show(found, args, output)?;
    if interrupted {
        let again = match args.directory {
            Some(_) => "; the same command goes on from there",
            None => "",
        };
        output.warning(&format!(
            "interrupted; what was complete until then is shown{again}"
        ));
    }
    Ok(Exit::holds(!interrupted))
}

pub(super) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// The CPUs that may be used, those of small sets first.
fn cpus(args: &BenchArgs) -> Result<Vec<usize>, Failure> {
    let Some(text) = args.cpus.as_deref() else {
        // Where there is one, it is whichever the run takes.
        return Ok(real::two_processors(None).unwrap_or_default());
    };
    let cpus = run::cpus(text)?;
    let mut distinct = cpus.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < cpus.len() {
        let why = "a CPU is named twice, and shares are those of CPUs that nobody shares";
        return Err(Failure::input(format!("use --cpus {text}"), why)
            .with_help("name each CPU once, for instance --cpus 0,1"));
    }
    Ok(cpus)
}

/// What a variant runs: the session of a set, and the settings of the machine.
fn prepared(
    variant: &Variant,
    (set, name): (&TaskSet, &str),
    (scenario, seed, span): (&str, u64, Duration),
    cpus: &[usize],
    output: &Output,
) -> Result<(Session, Settings), Failure> {
    let run = line(variant, name, (scenario, seed, span), cpus)?;
    let policy = find_policy(&run.world.policy, "measure overheads")?;
    let mut settings = run::settings(&run, policy)?;
    if variant.kind == Kind::Deadlines {
        settings.tolerance_ns = Some(TOLERANCE_NS);
    }
    let session = Session::with_set(&run.world, set.clone(), output)?;
    run::check_mechanism(&session, &settings)?;
    real::check(&session, &settings)?;
    Ok((session, settings))
}

/// The command that does the same.
fn line(
    variant: &Variant,
    name: &str,
    (scenario, seed, span): (&str, u64, Duration),
    cpus: &[usize],
) -> Result<RunArgs, Failure> {
    let (span, seed) = (format!("{}ns", span.as_nanos()), seed.to_string());
    let policy = variant.kind.policy();
    let mut words = vec!["vestal", "run", name, "--policy", policy];
    words.extend(["--scenario", scenario, "--seed", &seed, "--for", &span]);
    words.extend(variant.options);
    let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
    let list = list.join(",");
    if !cpus.is_empty() {
        words.extend(["--cpus", &list]);
    }
    let parsed = Cli::try_parse_from(&words).map(|cli| cli.command);
    match parsed {
        Ok(Command::Run(run)) => Ok(run),
        // A row of the table is wrong.
        Ok(_) | Err(_) => Err(Failure::bug("read a row of variants", words.join(" "))),
    }
}

/// Shares on more CPUs, of every variant that was measured; none if a stop was requested meanwhile.
fn extrapolated(table: &Table, plan: Plan, output: &Output) -> Result<Vec<ShareCell>, Failure> {
    let rates = VARIANTS.iter().filter_map(|variant| {
        let rates = Rates::of(table, variant)?;
        Some((variant, rates))
    });
    let rates: Vec<(&Variant, Rates)> = rates.collect();
    let progress = Progress::new(output, "extrapolating", plan.reckoned().count() as u64);
    // A simulation among these may take long.
    let found = interrupt::unless_stopped(move || reckoned(&rates, &plan, &progress))?;
    let cells = found.unwrap_or_else(|| Ok(Vec::new()));
    cells.map_err(|why| Failure::bug("extrapolate shares", why))
}

/// The shares that follow from rates.
fn reckoned(
    rates: &[(&Variant, Rates)],
    plan: &Plan,
    progress: &Progress,
) -> Result<Vec<ShareCell>, String> {
    let mut judge = Judge::new(registry());
    let places: Vec<_> = plan.reckoned().collect();
    let mut cells = Vec::new();
    for (done, &place) in (1..).zip(&places) {
        let mut goes_on = || !interrupt::asked();
        let wanted = (plan.extrapolated_sets, Use::Simulations);
        let sets = sets(&mut judge, place, wanted, &mut goes_on)?;
        for kind in Kind::ALL {
            let mut counted = Vec::new();
            for (seed, set) in (1..).zip(&sets) {
                if interrupt::asked() {
                    return Ok(cells);
                }
                let found = events(registry(), kind, set, (seed, plan.interval));
                counted.extend(found?);
            }
            if counted.is_empty() {
                // No set of these is schedulable, or somebody stopped the search for one.
                continue;
            }
            let of_kind = rates.iter().filter(|(variant, _)| variant.kind == kind);
            cells.extend(
                of_kind.map(|(_, rates)| rates.cell(place, &counted, nanos(plan.interval))),
            );
        }
        progress.at(done);
    }
    Ok(cells)
}

/// What each alternative costs as tests take it, and how many sets they accept with that.
fn asked(
    table: &Table,
    (plan, cpus, is_quick): (Plan, &[usize], bool),
    output: &Output,
) -> Result<(Vec<Mechanism>, Vec<Alternative>), Failure> {
    if interrupt::asked() || plan.asked.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let primitives = real::primitives(is_quick, output)?;
    let count = plan.asked_variants().count() as u64;
    let progress = Progress::new(output, "mechanisms", count);
    let (mut mechanisms, mut rows) = (Vec::new(), Vec::new());
    for (done, variant) in (1..).zip(plan.asked_variants()) {
        let Some(found) = cost(variant, &primitives, (&plan, cpus), output)? else {
            break;
        };
        match Asked::new(variant, &found) {
            Ok(row) => rows.push(row),
            Err(why) => output.warning(&format!("tests do not take its costs: {why}")),
        }
        mechanisms.push(found);
        progress.at(done);
    }
    let total = plan.asked.len() as u64 * u64::from(plan.asked_sets);
    let progress = Progress::new(output, "asking tests", total);
    let table = table.clone();
    let answered = interrupt::unless_stopped(move || {
        let mut done = 0;
        let mut goes_on = || {
            done += 1;
            progress.at(done);
            !interrupt::asked()
        };
        let mut judge = Judge::new(registry());
        alternatives(&mut judge, (&rows, &table), &plan, &mut goes_on)
    })?;
    let answered = answered.unwrap_or_else(|| Ok(Vec::new()));
    let answered = answered.map_err(|why| Failure::bug("ask tests with overheads", why))?;
    Ok((mechanisms, answered))
}

/// What an alternative costs, in a run of a small set in which jobs overrun; `None`: a signal ended it.
fn cost(
    variant: &Variant,
    primitives: &[vestal_result::bench::Primitive],
    (plan, cpus): (&Plan, &[usize]),
    output: &Output,
) -> Result<Option<Mechanism>, Failure> {
    if interrupt::asked() {
        return Ok(None);
    }
    let has_frames = variant.kind == Kind::Frames;
    let set = costs::set(has_frames)?;
    let mut mechanism = Mechanism {
        name: variant.name.to_owned(),
        what: variant.what.to_owned(),
        dispatch: match has_frames {
            true => Dispatch::Frames,
            false => Dispatch::Managed,
        },
        not_run: None,
        heartbeat_ns: variant.heartbeat_ns,
        monitor: None,
        costs: Vec::new(),
    };
    let wanted = usize::from(set.platform.cpus + variant.more_cpus);
    let cpus = cpus.get(..wanted.min(cpus.len())).unwrap_or_default();
    if wanted > 1 && cpus.len() < wanted {
        let there_are = cpus.len().max(1);
        let why = format!("it needs {wanted} CPUs of the machine, and {there_are} may be used");
        mechanism.not_run = Some(why);
        return Ok(Some(mechanism));
    }
    let by = (costs::OVERRUNS, 1, plan.costs);
    match prepared(variant, (&set, "mechanisms.toml"), by, cpus, output) {
        Ok((session, mut settings)) => {
            // What is exceeded before that is noticed is one of the costs.
            settings.tolerance_ns = None;
            costs::measured(mechanism, (&session, &settings), primitives)
        }
        Err(failure) if failure.exit == Exit::Bug => Err(failure),
        Err(failure) => {
            mechanism.not_run = Some(failure.why);
            Ok(Some(mechanism))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format;
    use vestal_experiment::overhead::sigrist2015::variant::{
        ALTERNATIVES as ALTERNATIVES_OF, FLIGHT,
    };

    /// Each row is options of `run`; what this version does not carry out is refused with words, and is no bug.
    #[test]
    fn every_row_of_variants_is_a_command() {
        let output = Output::new(Format::Json);
        for variant in VARIANTS.iter().chain(ALTERNATIVES_OF).chain(FLIGHT) {
            let set =
                costs::set(variant.kind == Kind::Frames).unwrap_or_else(|f| panic!("{}", f.why));
            let by = ("lo", 1, Duration::from_millis(1));
            match prepared(variant, (&set, "set.toml"), by, &[], &output) {
                Ok((session, _)) => assert!(session.system.proved_by().is_some()),
                Err(failure) => {
                    assert!(variant.is_of_paper, "{}: {}", variant.name, failure.why);
                    assert_ne!(failure.exit, Exit::Bug, "{}", failure.why);
                }
            }
        }
    }
}

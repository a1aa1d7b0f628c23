//! What the page's script reads: one JSON object.

use crate::columns::Columns;
use crate::group::{Tasks, pair};
use crate::recording::{Recording, Row};
use crate::report::{Origin, Report};
use crate::tally::Distribution;
use serde::Serialize;
use serde_json::Value;
use vestal_core::{Level, TaskId};
use vestal_result::Ordered;
use vestal_result::analysis::{Analysis, Kind, Verdict};
use vestal_result::run::{Cost, CpuRow, Jobs, Machine, ModeChange, Proof, Run, TaskRow};
use vestal_trace::World;

/// Keys with values, as the script reads them: its objects would sort keys that look like numbers.
type Pairs<'a, T> = &'a [(String, T)];

#[derive(Serialize)]
pub(crate) struct Model<'a> {
    title: &'a str,
    file: Option<&'a str>,
    generator: &'a str,
    levels: &'a [String],
    tasks: Vec<Task<'a>>,
    analyses: Vec<Test<'a>>,
    runs: Vec<Shown<'a>>,
    sources: &'a [String],
}

#[derive(Serialize)]
struct Task<'a> {
    name: &'a str,
    /// The index in `levels`.
    level: Option<usize>,
    period: Option<u64>,
    deadline: Option<u64>,
}

#[derive(Serialize)]
struct Test<'a> {
    source: &'a str,
    test: &'a str,
    variant: Option<&'a str>,
    /// The policy whose response times it bounds.
    policy: Option<String>,
    verdict: Verdict,
    kind: Kind,
    claim: Option<Verdict>,
    why: Option<&'a str>,
    elapsed_us: u64,
    /// By task, in the order of the page's tasks; null for a task it does not speak of.
    tasks: Vec<Option<Bounds<'a>>>,
}

#[derive(Serialize)]
struct Bounds<'a> {
    priority: Option<u32>,
    cpu: Option<u32>,
    response: Pairs<'a, Option<u64>>,
}

#[derive(Serialize)]
struct Shown<'a> {
    world: &'a str,
    policy: &'a str,
    duration: u64,
    seed: u64,
    /// Null where a trace stands alone, which does not say it.
    scenario: Option<&'a str>,
    options: Vec<String>,
    dispatch: Option<&'a str>,
    /// The test that proves what the run guarantees.
    proof: Option<&'a str>,
    /// Nothing proves anything, so that no miss breaks a guarantee.
    unproved: bool,
    /// The indices of the analyses that speak of this policy as it ran: no others are compared with it.
    bounded_by: Vec<usize>,
    sources: Vec<&'a str>,
    /// The counts come from the trace alone, which cannot tell which misses were guaranteed not to be.
    from_trace: bool,
    jobs: &'a Jobs,
    /// How many jobs of a real run were dropped with their sub-frames although no job had needed more.
    unprovoked: u64,
    guarantee: Guarantee,
    changes: &'a [ModeChange],
    tasks: Vec<Option<&'a TaskRow>>,
    cpus: &'a [CpuRow],
    overhead: Vec<(&'a str, Cost)>,
    /// As it is, in the order of the result.
    machine: Option<Vec<(String, Value)>>,
    trace: Option<Drawing<'a>>,
}

/// What became of what was guaranteed, if anything was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Guarantee {
    Kept,
    /// Only time that others took from the run explains what did not come.
    Undecided,
    Broken,
}

/// A recording as the script draws it. Times in the columns are multiples of `tick` ns after `start`.
#[derive(Serialize)]
struct Drawing<'a> {
    dispatch: &'a str,
    start: u64,
    tick: u64,
    end: u64,
    cut: Option<u64>,
    lost: u64,
    cpus: u16,
    rows: Vec<Columnar<'a>>,
    /// By domain.
    modes: Vec<Modes>,
    gaps: Column,
}

/// The mode of a domain over time.
#[derive(Serialize)]
struct Modes {
    /// Null if there is only one.
    name: Option<String>,
    changes: Column,
}

#[derive(Serialize)]
struct Columnar<'a> {
    /// The first job's number; the others are relative to it.
    sequence: u64,
    deadline: u64,
    /// The index in `modes`.
    domain: u16,
    jobs: Column,
    slices: Column,
    ghosts: Column,
    marks: Column,
    responses: &'a Distribution,
}

#[derive(Serialize)]
struct Column {
    count: usize,
    data: String,
}

impl Column {
    /// What `write` makes of each item.
    fn of<T>(items: &[T], mut write: impl FnMut(&mut Columns, &T)) -> Self {
        let mut bytes = Columns::default();
        items.iter().for_each(|item| write(&mut bytes, item));
        let (count, data) = (items.len(), bytes.base64());
        Self { count, data }
    }
}

impl<'a> Model<'a> {
    pub(crate) fn new(report: &'a Report, tasks: &'a Tasks, origin: &dyn Origin) -> Self {
        let shown = tasks.list.iter().map(|task| Task {
            name: &task.name,
            level: tasks.level(task),
            period: task.period,
            deadline: task.deadline,
        });
        let analyses = report
            .analyses
            .iter()
            .map(|(source, analysis)| test(source, analysis, tasks, origin));
        Self {
            title: report.title(),
            file: report.file.as_deref(),
            generator: &report.generator,
            levels: &tasks.levels,
            tasks: shown.collect(),
            analyses: analyses.collect(),
            runs: runs(report, tasks, origin),
            sources: &report.sources,
        }
    }
}

fn test<'a>(
    source: &'a str,
    analysis: &'a Analysis,
    tasks: &Tasks,
    origin: &dyn Origin,
) -> Test<'a> {
    let mut bounds: Vec<Option<Bounds>> = tasks.list.iter().map(|_| None).collect();
    for (index, task) in analysis.tasks.iter().enumerate() {
        if let Some(index) = tasks.index(index, &task.name) {
            bounds[index] = Some(Bounds {
                priority: task.priority,
                cpu: task.cpu,
                response: &task.response_ns.0,
            });
        }
    }
    Test {
        source,
        test: &analysis.test,
        variant: analysis.variant.as_deref(),
        policy: origin.policy_of_test(&analysis.test),
        verdict: analysis.verdict,
        kind: analysis.kind,
        claim: analysis.claim,
        why: analysis.why.as_deref(),
        elapsed_us: analysis.elapsed_us,
        tasks: bounds,
    }
}

fn runs<'a>(report: &'a Report, tasks: &Tasks, origin: &dyn Origin) -> Vec<Shown<'a>> {
    let results: Vec<&Run> = report.runs.iter().map(|(_, run)| run).collect();
    let recordings: Vec<&Recording> = report.recordings.iter().map(|(_, found)| found).collect();
    let (pairs, free) = pair(&results, &recordings);
    let mut shown = Vec::new();
    for ((source, run), trace) in report.runs.iter().zip(pairs) {
        let trace = trace.and_then(|index| report.recordings.get(index));
        let mut sources = vec![source.as_str()];
        sources.extend(trace.iter().map(|(source, _)| source.as_str()));
        shown.push(Shown {
            world: &run.world,
            policy: &run.policy,
            duration: run.duration_ns,
            seed: run.seed,
            scenario: said(&run.scenario),
            options: options(&run.options),
            dispatch: said(&run.dispatch),
            proof: proof_of(run),
            unproved: run.proof == Some(None),
            bounded_by: bounded_by(report, origin, &run.policy, run.proof.as_ref()),
            sources,
            from_trace: false,
            jobs: &run.jobs,
            unprovoked: unprovoked(run).0,
            guarantee: guarantee(run),
            changes: &run.modes,
            tasks: in_order(&run.tasks, tasks),
            cpus: &run.cpus,
            overhead: costs(&run.overhead),
            machine: Some(facts(&run.machine)),
            trace: trace.map(|(_, recording)| drawing(recording, tasks)),
        });
    }
    for index in free {
        let Some((source, recording)) = report.recordings.get(index) else {
            continue;
        };
        shown.push(Shown {
            world: recording.header.world.word(),
            policy: &recording.header.policy,
            duration: recording.last - recording.first,
            seed: recording.header.seed,
            scenario: None,
            options: options(
                recording
                    .header
                    .options
                    .iter()
                    .map(|(key, value)| (key, value)),
            ),
            dispatch: Some(recording.header.dispatch.word()),
            proof: None,
            unproved: false,
            bounded_by: bounded_by(report, origin, &recording.header.policy, None),
            sources: vec![source],
            from_trace: true,
            jobs: &recording.jobs,
            unprovoked: 0,
            guarantee: Guarantee::Kept,
            changes: &recording.changes,
            tasks: in_order(recording.rows.iter().map(|row| &row.figures), tasks),
            cpus: &recording.cpus,
            overhead: costs(recording.overhead.iter().map(|(name, cost)| (name, cost))),
            machine: None,
            trace: Some(drawing(recording, tasks)),
        });
    }
    shown
}

/// How many jobs were dropped for nothing, and of how many only stolen time explains it. In simulations the costs of frames drop
/// jobs, of which no proof speaks that knows no costs.
fn unprovoked(run: &Run) -> (u64, u64) {
    if run.world == World::Simulator.word() {
        return (0, 0);
    }
    (run.frames.unprovoked, run.frames.unprovoked_undecided)
}

fn guarantee(run: &Run) -> Guarantee {
    let missed = run.jobs.missed_guaranteed;
    let (dropped, undecided) = unprovoked(run);
    // A simulated run has exact time, and says of no miss that the machine is to blame.
    let is_excused = run.world != World::Simulator.word() && run.machine.missed_outside_gaps == 0;
    match (missed, dropped) {
        (0, 0) => Guarantee::Kept,
        _ if dropped > undecided || (missed > 0 && !is_excused) => Guarantee::Broken,
        _ => Guarantee::Undecided,
    }
}

/// What a result of an older version does not say is empty.
fn said(word: &str) -> Option<&str> {
    (!word.is_empty()).then_some(word)
}

/// In whole nanoseconds.
fn costs<'a>(overhead: impl IntoIterator<Item = (&'a String, &'a Cost)>) -> Vec<(&'a str, Cost)> {
    let whole = |cost: &Cost| Cost {
        mean: cost.mean.map(f64::round),
        ..*cost
    };
    let costs = overhead.into_iter();
    costs
        .map(|(name, cost)| (name.as_str(), whole(cost)))
        .collect()
}

fn facts(machine: &Machine) -> Vec<(String, Value)> {
    // Plain data always become text, and come back from it.
    let text = serde_json::to_string(machine).unwrap_or_default();
    serde_json::from_str(&text).map_or_else(|_| Vec::new(), |Ordered(facts)| facts)
}

fn options<'a>(options: impl IntoIterator<Item = (&'a String, &'a String)>) -> Vec<String> {
    options
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

fn proof_of(run: &Run) -> Option<&str> {
    let proof = run.proof.as_ref()?.as_ref()?;
    Some(&proof.test)
}

/// The analyses whose bounds hold for a run of `policy`, as far as the inputs tell.
///
/// A test of a program that this one does not know is one of the run's policy if the run names it as its
/// proof. A run that says that nothing proves it did not do what the tests speak of: its limits were not
/// enforced, say. Two tests of one policy may have chosen different priorities; those of the run are the
/// ones of its proof.
fn bounded_by(
    report: &Report,
    origin: &dyn Origin,
    policy: &str,
    proof: Option<&Option<Proof>>,
) -> Vec<usize> {
    if proof == Some(&None) {
        return Vec::new();
    }
    let proof = proof.and_then(Option::as_ref).map(|proof| &proof.test);
    let analyses = || report.analyses.iter().map(|(_, analysis)| analysis);
    let proving = proof.and_then(|proof| analyses().find(|found| found.name() == *proof));
    let speaks_of_it = |analysis: &Analysis| match origin.policy_of_test(&analysis.test) {
        Some(known) => known == policy,
        None => proof.is_some_and(|proof| *proof == analysis.name()),
    };
    let same_order = |analysis: &Analysis| {
        let orders = proving.and_then(Analysis::order).zip(analysis.order());
        orders.is_none_or(|(proving, other)| proving == other)
    };
    let indices = analyses().enumerate();
    indices
        .filter(|(_, analysis)| speaks_of_it(analysis) && same_order(analysis))
        .map(|(index, _)| index)
        .collect()
}

/// A run's tasks in the order of the page.
fn in_order<'a>(
    found: impl IntoIterator<Item = &'a TaskRow>,
    tasks: &Tasks,
) -> Vec<Option<&'a TaskRow>> {
    let mut shown = vec![None; tasks.list.len()];
    for (index, task) in found.into_iter().enumerate() {
        if let Some(index) = tasks.index(index, &task.name) {
            shown[index] = Some(task);
        }
    }
    shown
}

/// How instants become whole ticks after the start.
struct Ticks {
    start: u64,
    tick: u64,
}

impl Ticks {
    /// So many ticks that the script's numbers hold them exactly, with room for sums.
    const MAX: u64 = 1 << 52;

    fn new(recording: &Recording) -> Self {
        let span = recording.last - recording.first;
        Self {
            start: recording.first,
            tick: span.div_ceil(Self::MAX).max(1).next_power_of_two(),
        }
    }

    fn at(&self, nanos: u64) -> u64 {
        nanos.saturating_sub(self.start) / self.tick
    }
}

fn drawing<'a>(recording: &'a Recording, tasks: &Tasks) -> Drawing<'a> {
    let ticks = Ticks::new(recording);
    let mut rows: Vec<(usize, &Row)> = recording.rows.iter().enumerate().collect();
    // In the order of the page; a trace has all of its tasks.
    rows.sort_by_key(|(index, row)| tasks.index(*index, &row.figures.name));
    let header = &recording.header;
    let rows = rows.into_iter().map(|(index, row)| {
        let task = header.tasks.get(index);
        let id = TaskId(u16::try_from(index).unwrap_or(u16::MAX));
        let deadline = task.map_or(0, |task| task.deadline.as_nanos());
        Columnar {
            sequence: row.jobs.first().map_or(0, |job| job.sequence),
            deadline,
            domain: header.domain_of(id).0,
            jobs: jobs(row, &ticks),
            slices: slices(row, &ticks),
            ghosts: ghosts(row, &ticks),
            marks: marks(row, &ticks),
            responses: &row.responses,
        }
    });
    let several = header.domain_count() > 1;
    let lanes = header.domain_ids().zip(&recording.modes);
    let lanes = lanes.map(|(domain, changes)| Modes {
        name: several.then(|| header.domain_name(domain)),
        changes: modes(changes, &ticks),
    });
    let cpus = recording
        .cpus
        .iter()
        .map(|cpu| cpu.cpu.saturating_add(1))
        .max();
    Drawing {
        dispatch: header.dispatch.word(),
        start: ticks.start,
        tick: ticks.tick,
        end: ticks.at(recording.last),
        cut: recording.cut.map(|at| ticks.at(at)),
        lost: recording.lost,
        cpus: header.cpus.max(cpus.unwrap_or(1)),
        rows: rows.collect(),
        modes: lanes.collect(),
        gaps: gaps(recording, &ticks),
    }
}

/// For each job: release after the one before; flags, with 8 if its number is not the next one; that
/// number's distance; response + 1, or 0 if it did not complete.
fn jobs(row: &Row, ticks: &Ticks) -> Column {
    const JUMP: u8 = 8;
    const DISTANCE_MAX: u64 = 1 << 40;
    let (mut last, mut next) = (0, row.jobs.first().map_or(0, |job| job.sequence));
    Column::of(&row.jobs, |bytes, job| {
        bytes.after(&mut last, ticks.at(job.release));
        let distance = job.sequence.saturating_sub(next).min(DISTANCE_MAX);
        bytes.number(u64::from(job.flags | if distance > 0 { JUMP } else { 0 }));
        if distance > 0 {
            bytes.number(distance);
        }
        next = job.sequence.saturating_add(1);
        bytes.number(job.response.map_or(0, |response| response / ticks.tick + 1));
    })
}

/// For each slice: begin after the end of the one before, which may be later; length; why it ends;
/// CPU; the index of its job as a difference to the one before, where -1 is no job.
fn slices(row: &Row, ticks: &Ticks) -> Column {
    let (mut last, mut job) = (0_u64, 0_i64);
    Column::of(&row.slices, |bytes, slice| {
        let (from, to) = (ticks.at(slice.from), ticks.at(slice.to));
        bytes.signed(from.cast_signed() - last.cast_signed());
        bytes.number(to - from);
        last = to;
        bytes.number(u64::from(slice.why));
        bytes.number(u64::from(slice.cpu));
        job = step(bytes, job, slice.job);
    })
}

/// For each ghost: begin after the end of the one before; length; CPU.
fn ghosts(row: &Row, ticks: &Ticks) -> Column {
    let mut last = 0;
    Column::of(&row.ghosts, |bytes, ghost| {
        bytes.after(&mut last, ticks.at(ghost.from));
        bytes.after(&mut last, ticks.at(ghost.to));
        bytes.number(u64::from(ghost.cpu));
    })
}

/// For each mark: after the one before; its kind; its job as in slices.
fn marks(row: &Row, ticks: &Ticks) -> Column {
    let (mut last, mut job) = (0, 0);
    Column::of(&row.marks, |bytes, mark| {
        bytes.after(&mut last, ticks.at(mark.at));
        bytes.number(u64::from(mark.kind));
        job = step(bytes, job, mark.job);
    })
}

fn step(bytes: &mut Columns, last: i64, job: Option<u32>) -> i64 {
    let job = job.map_or(-1, i64::from);
    bytes.signed(job - last);
    job
}

/// For each change: after the one before; the mode from then on.
fn modes(modes: &[(u64, Level)], ticks: &Ticks) -> Column {
    let mut last = 0;
    Column::of(modes, |bytes, (at, level)| {
        bytes.after(&mut last, ticks.at(*at));
        bytes.number(u64::from(level.0));
    })
}

/// For each gap: its end after the end of the one before; its length; its CPU.
fn gaps(recording: &Recording, ticks: &Ticks) -> Column {
    let mut last = 0;
    Column::of(&recording.gaps, |bytes, gap| {
        bytes.after(&mut last, ticks.at(gap.to));
        bytes.number(gap.length / ticks.tick);
        bytes.number(u64::from(gap.cpu));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_mechanisms_cost_is_shown_in_whole_nanoseconds() {
        let cost = Cost {
            count: 3,
            mean: Some(16_894.5),
            share: Some(0.25),
            ..Cost::default()
        };
        let overhead = [("arm".to_owned(), cost)];
        let shown = costs(overhead.iter().map(|(name, cost)| (name, cost)));
        assert_eq!(shown.len(), 1);
        assert_eq!((shown[0].0, shown[0].1.mean), ("arm", Some(16_895.0)));
        assert_eq!(shown[0].1.share, Some(0.25));
    }

    #[test]
    fn what_the_machine_did_is_shown_in_the_order_of_the_result() {
        let machine = Machine {
            lost_ns: 7,
            ..Machine::default()
        };
        let facts = facts(&machine);
        let keys: Vec<&str> = facts.iter().map(|(key, _)| key.as_str()).collect();
        let expected = [
            "gaps",
            "longest_gap_ns",
            "lost_ns",
            "missed_outside_gaps",
            "stolen",
            "interrupts",
        ];
        assert_eq!(keys, expected);
        assert_eq!(facts[2].1, 7);
    }

    #[test]
    fn what_an_older_result_does_not_say_is_not_shown() {
        assert_eq!((said(""), said("native")), (None, Some("native")));
    }
}

//! Traces of simulated sets of MC²: each budget is used up once, by jobs and ghost together, and nobody is delayed by a lower level.

use crate::levels_judged::{END, Fault, Set, set};
use vestal_core::store::Boxed;
use vestal_core::*;
use vestal_sim::{Backlog, Demand, JobState, Observer, Releases, Segment, Setting, simulate};
use vestal_testkit::Random;
use vestal_testkit::short::{at, ns};
use vestal_trace::{Edge, Recorder, What};

/// From when until when.
type Piece = (u64, u64);

/// What is drawn of a run.
#[derive(Clone, Debug, Default)]
struct Run {
    /// By task, when its jobs execute.
    executed: Vec<Vec<Piece>>,
    /// By task, when its ghost uses up its budget.
    ghosts: Vec<Vec<Piece>>,
    /// By task, its releases with their deadlines.
    released: Vec<Vec<Piece>>,
    /// By task, what the engine says that ghosts used up.
    counted: Vec<u64>,
}

impl Observer for Run {
    fn released(&mut self, at: Instant, job: &JobState) {
        let piece = (at.as_nanos(), job.deadline.as_nanos());
        self.released[job.id.task.index()].push(piece);
    }
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let pieces = &mut self.executed[job.id.task.index()];
        let (start, end) = (segment.start.as_nanos(), segment.end.as_nanos());
        match pieces.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            Some(_) | None => pieces.push((start, end)),
        }
    }
}

/// A run of a set whose jobs come, and need, as these say.
fn run(set: &Set, releases: &impl Releases, demand: &impl Demand) -> Run {
    let count = set.tasks.len();
    let mut seen = Run {
        executed: vec![Vec::new(); count],
        ghosts: vec![Vec::new(); count],
        released: vec![Vec::new(); count],
        counted: Vec::new(),
    };
    let tasks: Vec<Task> = set.tasks.iter().map(|entry| entry.task).collect();
    let setting = Setting {
        tasks: &tasks,
        cpus: set.cpus.len() as u16,
        end: at(END),
        backlog: Backlog::UNLIMITED,
    };
    let mut whole = set.configured(|all| {
        let cpus = (0..all.tables.len() as u16).map(CpuId);
        let locals = cpus.map(|cpu| LocalDomain::<Boxed>::with_store(all, cpu).unwrap());
        let locals = locals.map(|local| Recorder::with_ghosts(local, Vec::new(), count));
        let shared = SharedDomain::<Boxed>::with_store(all).unwrap();
        let shared = Recorder::with_ghosts(shared, Vec::new(), count);
        Levelled::with_domains(all, locals, shared).unwrap()
    });
    simulate(&mut whole, &setting, releases, demand, &mut seen).unwrap();
    whole.decide(at(END)).unwrap();
    while whole.take_notice().is_some() {}
    let counted = (0..count as u16).map(|task| whole.ghost_time(TaskId(task)));
    seen.counted = counted
        .map(|used| used.unwrap_or_default().as_nanos())
        .collect();
    let (locals, shared) = whole.into_domains();
    let locals = locals.into_iter().map(|local| local.finish(at(END)).1);
    for record in locals.chain([shared.finish(at(END)).1]).flatten() {
        let What::Ghost { task, edge, .. } = record.what else {
            continue;
        };
        let (pieces, now) = (&mut seen.ghosts[task.index()], record.at.as_nanos());
        match edge {
            Edge::Begin => pieces.push((now, END)),
            Edge::End => pieces.last_mut().unwrap().1 = now,
        }
    }
    seen
}

/// How much of the pieces lies within a window.
fn within(pieces: &[Piece], (from, to): Piece) -> u64 {
    let inside = |&(start, end): &Piece| end.min(to).saturating_sub(start.max(from));
    pieces.iter().map(inside).sum()
}

/// What jobs and ghost of a task used up within a window.
fn used(run: &Run, task: usize, window: Piece) -> u64 {
    within(&run.executed[task], window) + within(&run.ghosts[task], window)
}

/// Whether each budget is used up once in the window that it is for. At level C, where windows overlap: by the end of the window as
/// much as all budgets until then have, and never more than was released.
fn check(set: &Set, run: &Run, windows: &mut u64) -> Result<(), String> {
    for (task, entry) in set.tasks.iter().enumerate() {
        let own = entry.task.own_wcet().as_nanos();
        let period = entry.task.period.as_nanos();
        let released = &run.released[task];
        let is_wrong = match entry.container {
            Container::Table(_) => {
                let mut cycles = (0..END / period).map(|job| (job * period, (job + 1) * period));
                cycles.find(|&cycle| used(run, task, cycle) != own)
            }
            Container::Local(_) => {
                let mut due = released.iter().copied().filter(|&(_, due)| due <= END);
                due.find(|&window| used(run, task, window) != own)
            }
            Container::Global => {
                let late = set.tardiness[task].unwrap().as_nanos();
                let ends = released.iter().map(|&(release, due)| (release, due + late));
                let mut numbered = ends.zip(1..).filter(|((_, end), _)| *end <= END);
                let wrong = numbered.find(|&((release, end), number)| {
                    // Before this release there were budgets for the ones before it only.
                    used(run, task, (0, end)) < number * own
                        || used(run, task, (0, release)) > (number - 1) * own
                });
                wrong.map(|(window, _)| window)
            }
            Container::BestEffort => None,
        };
        *windows += released.len() as u64;
        if let Some(window) = is_wrong {
            let used = used(run, task, window);
            return Err(format!("task {task} has {used} of {own} in {window:?}"));
        }
        if within(&run.ghosts[task], (0, END)) != run.counted[task] {
            return Err(format!("task {task}: {} were counted", run.counted[task]));
        }
    }
    Ok(())
}

/// Sets in which no job needs more than at level C.
fn calm(random: &mut Random) -> Set {
    loop {
        if let Some(mut drawn) = set(random, Fault::None) {
            (drawn.wild, drawn.budgets) = (0, Budgets::Enforced);
            return drawn;
        }
    }
}

#[test]
fn each_budget_is_used_up_once_by_jobs_and_ghost_together() {
    let mut random = Random::new(61);
    let (mut windows, mut ghosts, mut refuted) = (0, 0, 0);
    for _ in 0..150 {
        let set = calm(&mut random);
        let mut seen = run(&set, &set, &set);
        check(&set, &seen, &mut windows).unwrap_or_else(|why| panic!("{why}: {set:?}"));
        ghosts += seen.counted.iter().sum::<u64>();
        // A ghost that is forgotten is missed.
        let Some(haunted) = seen.ghosts.iter().position(|pieces| pieces.len() > 2) else {
            continue;
        };
        let (start, end) = seen.ghosts[haunted].remove(0);
        seen.counted[haunted] -= end - start;
        refuted += u64::from(check(&set, &seen, &mut 0).is_err());
    }
    assert!(
        windows > 20_000 && ghosts > 20_000 && refuted > 100,
        "{windows} {ghosts} {refuted}"
    );
}

/// The set, but for jobs of lower levels: those come later, or not at all, and need anything.
struct Other<'a> {
    set: &'a Set,
    least: Level,
    seed: u64,
}

impl Other<'_> {
    fn drawn(&self, task: TaskId, sequence: u64) -> Option<Random> {
        let is_lower = self.set.tasks[task.index()].task.criticality < self.least;
        let seed = self.seed ^ (u64::from(task.0) << 32) ^ sequence;
        is_lower.then(|| Random::new(vestal_testkit::random::mix(seed)))
    }
}

impl Releases for Other<'_> {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        let same = self.set.release(task, sequence, previous)?;
        let later = self
            .drawn(task, sequence)
            .map_or(0, |mut random| random.below(9));
        Some(at(same.as_nanos() + later))
    }
}

impl Demand for Other<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        match self.drawn(task, sequence) {
            Some(mut random) => ns(random.between(1, 30)),
            None => self.set.execution(task, sequence),
        }
    }
}

#[test]
fn no_level_is_delayed_by_a_lower_one() {
    let mut random = Random::new(62);
    let mut differ = [0; 3];
    for _ in 0..100 {
        let mut set = calm(&mut random);
        set.wild = random.one_of(&[0, 2, 8]);
        set.budgets = random.one_of(&[Budgets::Enforced, Budgets::Ignored]);
        // Of level D there is one task, that is always there.
        let best_effort = vestal_testkit::short::task(0, 20, &[7]);
        set.tasks.push(LevelledTask {
            task: best_effort,
            container: Container::BestEffort,
        });
        set.tardiness.push(None);
        let plain = run(&set, &set, &set);
        for least in [1, 2, 3] {
            let other = Other {
                set: &set,
                least: Level(least),
                seed: random.next(),
            };
            let changed = run(&set, &other, &other);
            for (task, entry) in set.tasks.iter().enumerate() {
                let is_same = plain.executed[task] == changed.executed[task];
                if entry.task.criticality >= Level(least) {
                    assert!(
                        is_same,
                        "task {task} of {entry:?} by those below {least}: {set:?}"
                    );
                } else {
                    differ[usize::from(least) - 1] += u64::from(!is_same);
                }
            }
        }
    }
    assert!(differ.iter().all(|&differ| differ > 50), "{differ:?}");
}

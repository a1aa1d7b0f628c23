//! Frame tables as they are given: a policy of the test's own has them without a test, and what is simulated is what the
//! tick world draws of the same table.

use std::cell::RefCell;
use std::collections::BTreeSet;
use vestal_analysis::parameters::{FrameBarriers, FrameMap};
use vestal_analysis::{Parameter, Parameters};
use vestal_core::{
    CpuId, DropReason, Duration, Event, Instant, JobId, Level, LevelSet, Notice, Rank, Scheduler,
    Service, Task, TaskId,
};
use vestal_policy::{
    About, Analysis, Cluster, Configuration, Engine, Fields, FrameLists, Guarantee, Native,
    Options, Policy, Precision, Refusal, Registry, Setup, System, Terms, Use, Visitor, assemble,
    parameters,
};
use vestal_sim::workload::Periodic;
use vestal_sim::{
    Backlog, Demand, FrameCounter, FrameStatistics, JobState, Observer, Segment, Setting, simulate,
};
use vestal_testkit::Random;
use vestal_testkit::frames::{Table, draw, random_table};
use vestal_testkit::short::job;
use vestal_testkit::world::Report;
use vestal_workload::{Source, TaskSet};

static ABOUT: About = About {
    name: "framed",
    summary: "the frames of --parameters",
    page: "",
    parameters: &[Parameter::Frames, Parameter::Barriers],
    options: &[],
    tests: &[],
    native: Native::Yes,
};

struct Framed;

impl Policy for Framed {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            cpus: Use::Reads,
            ..Fields::ONE_CPU
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let given = setup.given.all();
        let (Some(map), Some(barriers)) = (&given.frames, &given.barriers) else {
            return Err(Refusal::input("no frames"));
        };
        let cpus = setup.set.platform.cpus;
        let tasks = setup.with_priorities(&[]);
        let lists = FrameLists::new(tasks, setup.levels, cpus, (map, barriers));
        let lists = lists.map_err(|fault| fault.refusal(setup.set))?;
        let guarantee = Guarantee::new(Terms::Nothing, setup.proof.clone());
        Ok(System {
            policy: ABOUT.name.to_owned(),
            options: setup.options.clone(),
            parameters: lists.parameters(),
            cpus,
            clusters: vec![Cluster::whole(
                Configuration::Frames(lists),
                cpus,
                guarantee,
            )],
            origin: "the frames of --parameters".to_owned(),
        })
    }
}

pub(crate) fn assembled(
    set: &TaskSet,
    given: &Parameters,
    analysis: Analysis,
) -> Result<System, Box<Refusal>> {
    let registry = Registry::default();
    let by: (&dyn Policy, _) = (&Framed, &Options::default());
    assemble(&registry, by, set, given, analysis).map_err(Box::new)
}

pub(crate) fn set(text: &str) -> TaskSet {
    TaskSet::from_source(&Source::new("set.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// Tasks as a file, in nanoseconds, with levels `L0` and so on.
fn file(tasks: &[Task], levels: usize, cpus: usize) -> TaskSet {
    let names: Vec<String> = (0..levels).map(|level| format!("L{level}")).collect();
    let mut text =
        format!("format = \"vestal/1\"\nlevels = {names:?}\n[platform]\ncpus = {cpus}\n");
    for (index, task) in tasks.iter().enumerate() {
        let wcet = task.criticality.up_to_self().map(|level| {
            let value = task.wcet.at(level).as_nanos();
            format!("L{} = \"{value}ns\"", level.0)
        });
        let wcet: Vec<String> = wcet.collect();
        text.push_str(&format!(
            "[[task]]\nname = \"t{index}\"\ncriticality = \"L{}\"\nperiod = \"{}ns\"\nwcet = {{ {} }}\n",
            task.criticality.0,
            task.period.as_nanos(),
            wcet.join(", ")
        ));
    }
    set(&text)
}

/// A table as parameters have it.
pub(crate) fn given(table: &Table) -> Parameters {
    let levels = LevelSet::new(table.lists[0].len()).unwrap();
    let cpus = table.lists[0][0].len() as u16;
    let lists = table.lists.iter().flatten().flatten();
    let lists = lists.map(|list| list.iter().copied().map(TaskId).collect());
    let length = Duration::from_nanos(table.frame);
    let times = table.barriers.iter().flatten().flatten();
    let times = times.map(|&time| Duration::from_nanos(time)).collect();
    Parameters {
        frames: FrameMap::new(length, levels, cpus, lists.collect()),
        barriers: FrameBarriers::new(levels, times),
        ..Parameters::default()
    }
}

// What is simulated, and what the tick world draws.

/// Who ran in each tick on each CPU, as the drawings of the tick world show it; which jobs began; and what the
/// scheduler said.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) rows: Vec<String>,
    began: BTreeSet<(u16, u64)>,
    said: Vec<(u64, Event)>,
}

struct Watch {
    rows: Vec<Vec<u8>>,
    seen: Seen,
}

impl Watch {
    fn said(&mut self, at: Instant, what: Event) {
        self.seen.said.push((at.as_nanos(), what));
    }
}

impl Observer for Watch {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let row = &mut self.rows[segment.cpu.index()];
        let ticks = segment.start.as_nanos() as usize..segment.end.as_nanos() as usize;
        row[ticks].fill(b'0' + job.id.task.0 as u8);
        self.seen.began.insert((job.id.task.0, job.id.sequence));
    }
    fn dropped(&mut self, at: Instant, state: &JobState, why: DropReason) {
        let job = state.id;
        self.said(at, Event::Dropped { job, why });
    }
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, cause: Option<JobId>) {
        self.said(at, Event::ModeChanged { from, to, cause });
    }
    fn frame_overran(&mut self, at: Instant, frame: u64) {
        self.said(at, Event::FrameOverrun { frame });
    }
    fn frames_skipped(&mut self, at: Instant, first: u64, count: u64) {
        self.said(at, Event::FramesSkipped { first, count });
    }
}

struct Needs<'a>(&'a dyn Fn(JobId) -> u64);

impl Demand for Needs<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        Service::from_nanos((self.0)(JobId { task, sequence }))
    }
}

struct Run<'a> {
    setting: &'a Setting<'a>,
    needs: Needs<'a>,
    counter: FrameCounter,
}

impl Visitor for Run<'_> {
    type Output = (Seen, FrameStatistics);

    fn visit<S: Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> Self::Output {
        let ticks = self.setting.end.as_nanos() as usize;
        let watch = Watch {
            rows: vec![vec![b'.'; ticks]; usize::from(self.setting.cpus)],
            seen: Seen::default(),
        };
        let mut observers = (watch, self.counter);
        let releases = Periodic::synchronous(self.setting.tasks);
        let needs = &self.needs;
        simulate(scheduler, self.setting, &releases, needs, &mut observers).unwrap();
        let (watch, counter) = observers;
        let rows = watch.rows.into_iter();
        let rows = rows.map(|row| String::from_utf8(row).unwrap()).collect();
        (Seen { rows, ..watch.seen }, counter.figures())
    }
}

fn lists(system: &System) -> &FrameLists {
    system.clusters[0].configuration.frames().unwrap()
}

pub(crate) fn simulated(
    system: &System,
    ticks: u64,
    need: &dyn Fn(JobId) -> u64,
) -> (Seen, FrameStatistics) {
    let lists = lists(system);
    let tasks: Vec<Task> = lists.tasks().iter().map(|entry| entry.task).collect();
    let setting = Setting {
        tasks: &tasks,
        cpus: system.cpus,
        end: Instant::from_nanos(ticks),
        backlog: Backlog::UNLIMITED,
    };
    let mut engine = system.clusters[0]
        .configuration
        .engine(Precision::EXACT)
        .unwrap();
    assert!(matches!(engine, Engine::Frames(_)));
    engine.visit(Run {
        setting: &setting,
        needs: Needs(need),
        counter: FrameCounter::new(lists.map().length(), tasks.to_vec()),
    })
}

fn drawn(
    (tasks, table): (&[Task], &Table),
    ticks: u64,
    report: Report,
    need: &dyn Fn(JobId) -> u64,
) -> Seen {
    let began = RefCell::new(BTreeSet::new());
    let asked = |job: JobId| {
        began.borrow_mut().insert((job.task.0, job.sequence));
        need(job)
    };
    let cpus = table.lists[0][0].len() as u16;
    let mut engine = table.build(tasks, cpus).unwrap();
    let rows = draw(&mut engine, tasks, ticks, report, &asked);
    assert_eq!(engine.lost_notices(), 0);
    let notices = std::iter::from_fn(|| engine.take_notice());
    let said = notices.map(|Notice { at, what }| (at.as_nanos(), what));
    Seen {
        rows,
        said: said.collect(),
        began: began.into_inner(),
    }
}

/// By what the scheduler says, one after the other.
fn counted(said: &[(u64, Event)]) -> FrameStatistics {
    let mut found = FrameStatistics::default();
    for (_, event) in said {
        if let Event::FrameOverrun { .. } = event {
            found.overrun += 1;
        }
        if let Event::FramesSkipped { count, .. } = event {
            found.skipped += count;
        }
        if matches!(event, Event::ModeChanged { from, .. } if from.0 == 0) {
            found.lowest_skipped += 1;
        }
    }
    found
}

#[test]
fn random_tables_are_simulated_as_the_tick_world_draws_them() {
    let mut random = Random::new(41);
    let mut all = FrameStatistics::default();
    let mut began = 0;
    for round in 0..1200 {
        let (levels, cpus) = (1 + random.below(3) as usize, 1 + random.below(3) as usize);
        let (tasks, table) = random_table(&mut random, levels, cpus);
        let salt = random.below(1 << 20);
        // In every third round some jobs need more than anyone thought, up to frames that are skipped.
        let wild = round % 3 == 0;
        let need = |job: JobId| {
            let own = tasks[job.task.index()].own_wcet().as_nanos();
            let mut random = Random::new(salt + 97 * u64::from(job.task.0) + 31 * job.sequence);
            match wild && random.below(6) == 0 {
                true => own + 1 + random.below(2 * table.frame),
                false => 1 + random.below(own),
            }
        };
        let (frames, ticks) = (8, 8 * table.frame);
        let set = file(&tasks, levels, cpus);
        let system = assembled(&set, &given(&table), Analysis::Ask).unwrap();
        let (mut found, figures) = simulated(&system, ticks, &need);
        let by_events = counted(&found.said);
        // The simulator decides at the end of the run as well, when the drawing is over.
        found.said.retain(|&(at, _)| at < ticks);
        let report = [Report::Completions, Report::Barriers][round % 2];
        let expected = drawn((&tasks, &table), ticks, report, &need);
        assert_eq!(found, expected, "{tasks:?} {:?}", table.lists);
        let expected = FrameStatistics {
            total: frames,
            ..by_events
        };
        assert_eq!(figures, expected);
        assert!(wild || figures.overrun + figures.skipped == 0);
        all = all.and(&figures);
        began += found.began.len();
    }
    // Positive controls: all that is counted happened.
    assert!(began > 10_000, "{began}");
    let FrameStatistics {
        skipped,
        lowest_skipped,
        overrun,
        ..
    } = all;
    assert!(
        skipped > 100 && lowest_skipped > 500 && overrun > 100,
        "{all:?}"
    );
}

// Drawn by hand.

pub(crate) const TWO_CPUS: &str = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ns\"\n\
[platform]\ncpus = 2\n\
[[task]]\nname = \"a\"\ncriticality = \"HI\"\nperiod = 10\nwcet = { LO = 2, HI = 5 }\n\
[[task]]\nname = \"b\"\ncriticality = \"HI\"\nperiod = 20\nwcet = { LO = 3, HI = 4 }\n\
[[task]]\nname = \"c\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 3 }\n\
[[task]]\nname = \"d\"\ncriticality = \"LO\"\nperiod = 20\nwcet = { LO = 4 }\n";

/// In frame 0 `a` and `b`, then `c`; in frame 1 `a` alone, then `c` and `d`.
pub(crate) const FRAMES: &str = "{ \"frames\": { \"length\": \"10ns\", \"frames\": [\
{ \"HI\": [[\"a\"], [\"b\"]], \"LO\": [[\"c\"], []] },\
{ \"HI\": [[\"a\"], []], \"LO\": [[\"c\"], [\"d\"]] } ] },\
\"barriers\": [\
{ \"HI\": { \"HI\": \"5ns\", \"LO\": \"3ns\" }, \"LO\": { \"LO\": \"3ns\" } },\
{ \"HI\": { \"HI\": \"5ns\", \"LO\": \"2ns\" }, \"LO\": { \"LO\": \"4ns\" } } ] }";

pub(crate) fn read(set: &TaskSet, text: &str) -> Parameters {
    parameters::read(&Source::new("given.json", text), set)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The system of the two frames, and what becomes of it if the first job of `a` needs so much.
fn with_first(first: u64, ticks: u64) -> (Seen, FrameStatistics) {
    let set = set(TWO_CPUS);
    let system = assembled(&set, &read(&set, FRAMES), Analysis::Ask).unwrap();
    let need = |job: JobId| match (job.task.0, job.sequence) {
        (0, 0) => first,
        (task, _) => [2, 3, 3, 4][usize::from(task)],
    };
    simulated(&system, ticks, &need)
}

#[test]
fn a_frame_in_time_runs_its_lo_jobs_and_a_late_one_drops_them() {
    let (seen, figures) = with_first(2, 20);
    assert_eq!(seen.rows, ["00.222....00222.....", "111.........3333...."]);
    assert!(seen.said.is_empty(), "{seen:?}");
    let all = FrameStatistics {
        total: 2,
        ..FrameStatistics::default()
    };
    assert_eq!(figures, all);
    // a takes 4 in frame 0, and barrier(0,HI,LO) is 3: c's job of this frame is dropped.
    let (seen, figures) = with_first(4, 20);
    assert_eq!(seen.rows, ["0000......00222.....", "111.........3333...."]);
    let lost = FrameStatistics {
        lowest_skipped: 1,
        ..all
    };
    assert_eq!(figures, lost);
    let dropped = Event::Dropped {
        job: job(2, 0),
        why: DropReason::Mode,
    };
    assert!(seen.said.contains(&(4, dropped)), "{seen:?}");
}

#[test]
fn a_frame_that_is_overrun_pushes_the_next_one_back_or_out() {
    // Frame 1 begins at 12; at 14 it is 4 old, and barrier(1,HI,LO) is 2.
    let (seen, figures) = with_first(12, 20);
    assert_eq!(seen.rows, ["00000000000000......", "111................."]);
    let expected = FrameStatistics {
        total: 2,
        skipped: 0,
        lowest_skipped: 2,
        overrun: 1,
        unprovoked: 0,
    };
    assert_eq!(figures, expected);
    // Frame 1 is over at 23: its job of a gives way to the one of frame 2, which has b again.
    let (seen, figures) = with_first(23, 30);
    assert_eq!(
        seen.rows,
        [
            "0000000000000000000000000.....",
            "111....................111...."
        ]
    );
    let expected = FrameStatistics {
        total: 3,
        skipped: 1,
        lowest_skipped: 2,
        overrun: 1,
        unprovoked: 0,
    };
    assert_eq!(figures, expected);
    let superseded = Event::Dropped {
        job: job(0, 1),
        why: DropReason::Superseded,
    };
    assert!(seen.said.contains(&(20, superseded)), "{seen:?}");
    // While it has not ended, nothing is known of those that pass.
    let (_, figures) = with_first(30, 29);
    assert_eq!((figures.total, figures.skipped), (3, 0));
}

// What is built.

#[test]
fn a_table_is_one_cluster_in_one_domain() {
    let set = set(TWO_CPUS);
    let system = assembled(&set, &read(&set, FRAMES), Analysis::Ask).unwrap();
    let [cluster] = system.clusters.as_slice() else {
        panic!("{:?}", system.clusters)
    };
    let [domain] = cluster.domains.as_slice() else {
        panic!("{cluster:?}")
    };
    assert_eq!(domain.cpus, [CpuId(0), CpuId(1)]);
    assert_eq!(domain.tasks, [0, 1, 2, 3].map(TaskId));
    let homes = [0, 1, 2, 3].map(|task| system.cpu_of(TaskId(task)));
    assert_eq!(homes, [0, 1, 0, 1].map(|cpu| Some(CpuId(cpu))));
    assert_eq!(system.cpu_of(TaskId(4)), None);
    let configuration = &cluster.configuration;
    let ranks = [0, 1, 2, 3, 4].map(|task| configuration.rank(task));
    let expected = [1, 1, 0, 0].map(|rank| Some(Rank::Priority(rank)));
    assert_eq!(ranks[..4], expected);
    assert!(ranks[4].is_none());
    assert!(!configuration.holds_unenforced() && !configuration.is_own());
    assert!(configuration.fixed_priorities().is_none());
    let Err(refused) = configuration.guard(Precision::EXACT) else {
        panic!("fixed priorities keep frames")
    };
    assert!(refused.why.contains("frames"), "{refused}");
    assert!(system.only_simulated().is_none());
}

#[test]
fn what_a_world_cannot_do_better_is_to_spare_in_each_frame() {
    let set = set(TWO_CPUS);
    let system = assembled(&set, &read(&set, FRAMES), Analysis::Ask).unwrap();
    let frames = system.clusters[0].configuration.frames().unwrap();
    let engine = |granularity| {
        frames.engine(Precision {
            granularity,
            wake_granularity: Duration::ZERO,
        })
    };
    let exact = engine(Service::ZERO).unwrap();
    assert_eq!(exact, frames.engine(Precision::EXACT).unwrap());
    let spared = engine(Service::from_nanos(1)).unwrap();
    assert_ne!(spared, exact);
    let same = frames.clone().with_overhead(Duration::from_nanos(1));
    assert_eq!(spared, same.unwrap().engine(Precision::EXACT).unwrap());
    let refused = engine(Service::from_millis(100)).unwrap_err();
    assert!(refused.why.contains("shorter"), "{refused}");
}

#[test]
fn assembled_again_from_its_own_parameters_a_system_is_equal() {
    let mut random = Random::new(43);
    for round in 0..100 {
        let (levels, cpus) = (1 + random.below(3) as usize, 1 + random.below(3) as usize);
        let (tasks, table) = random_table(&mut random, levels, cpus);
        let set = file(&tasks, levels, cpus);
        let system = assembled(&set, &given(&table), Analysis::Skip).unwrap();
        // As a recording has them.
        let text = parameters::to_file(&system.parameters, &set);
        let again = assembled(&set, &read(&set, &text), Analysis::Skip).unwrap();
        assert_eq!(again, system, "round {round}: {text}");
        // What is written is what it runs by: another table is another system.
        let (mut other, longer) = (given(&table), 2 * table.frame);
        let map = other.frames.take().unwrap();
        let all = map.lists().map(|(_, _, _, list)| list.to_vec()).collect();
        let length = Duration::from_nanos(longer);
        other.frames = FrameMap::new(length, map.levels(), map.cpus(), all);
        let double = tasks.iter().map(|task| Task {
            period: task.period.saturating_mul(2),
            deadline: task.deadline.saturating_mul(2),
            ..*task
        });
        let double = file(&double.collect::<Vec<_>>(), levels, cpus);
        let other = assembled(&double, &other, Analysis::Skip).unwrap();
        assert_ne!(lists(&other), lists(&system));
    }
}

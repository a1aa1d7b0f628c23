//! Task sets, and a look at the scheduling classes of threads.

use std::any::Any;
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use vestal_core::model::LevelSet;
use vestal_core::{
    Configuration, ConfigurationError, Duration, Enforcement, Exhaustion, Guard, Level, Service,
    Task, TaskConfiguration, Uniprocessor, Wcet,
};
use vestal_linux::fault::affinity;
use vestal_linux::report::{Duty, Reaction};
use vestal_linux::{
    BoxedScheduler, Config, CpuSpec, Executive, Monitor, Recording, Report, TaskSpec,
};
use vestal_testkit::machine::is_real_time;
use vestal_testkit::machine::stolen_of_all;
pub(crate) use vestal_testkit::machine::{alone, await_calm, real_time_threads, stolen};
use vestal_trace::{Record, What};

pub(crate) const LO: Level = Level(0);
pub(crate) const HI: Level = Level(1);

/// A task with an implicit deadline, times in milliseconds.
pub(crate) fn spec(
    name: &str,
    criticality: Level,
    priority: u32,
    period: u64,
    wcet: &[u64],
) -> TaskSpec {
    let period = Duration::from_millis(period);
    let wcet: Vec<_> = wcet.iter().copied().map(Service::from_millis).collect();
    let task = Task::new(criticality, period, period, Wcet::new(&wcet).unwrap()).unwrap();
    TaskSpec {
        name: name.to_owned(),
        configuration: TaskConfiguration::new(task, priority),
        offset: Duration::ZERO,
        demand_max: None,
    }
}

pub(crate) fn config(monitor: Monitor) -> Config {
    Config {
        monitor,
        calibrate: false,
        ..Config::new()
    }
}

/// So many levels under this rule of limits; a job that used up its own goes on in the background.
pub(crate) fn configuration(
    tasks: &[TaskConfiguration],
    levels: usize,
    enforcement: Enforcement,
    granularity: Service,
) -> Configuration<'_> {
    Configuration {
        tasks,
        levels: LevelSet::new(levels).unwrap(),
        enforcement,
        exhaustion: Exhaustion::Background,
        granularity,
        wake_granularity: Duration::ZERO,
    }
}

/// A CPU with a guard for two levels.
pub(crate) fn native(enforcement: Enforcement) -> CpuSpec {
    native_of(2, enforcement)
}

/// The same for so many levels.
pub(crate) fn native_of(levels: usize, enforcement: Enforcement) -> CpuSpec {
    CpuSpec::native(move |tasks, granularity| {
        Guard::new(&configuration(tasks, levels, enforcement, granularity))
    })
}

/// A CPU with the scheduler that `make` makes for two levels.
pub(crate) fn dispatched(
    enforcement: Enforcement,
    make: impl Fn(&Configuration<'_>) -> Result<BoxedScheduler, ConfigurationError> + Send + 'static,
) -> CpuSpec {
    CpuSpec::managed(move |tasks, granularity| {
        make(&configuration(tasks, 2, enforcement, granularity))
    })
}

/// A CPU with the scheduler of fixed priorities for two levels.
pub(crate) fn by_priorities(enforcement: Enforcement) -> CpuSpec {
    dispatched(enforcement, |configuration| {
        Ok(Box::new(Uniprocessor::new(configuration)?))
    })
}

pub(crate) const fn ms(value: u64) -> Service {
    Service::from_millis(value)
}

/// Runs that a strict assertion was to be made about, and those of which it was not.
static JUDGED: AtomicU64 = AtomicU64::new(0);
static SKIPPED: AtomicU64 = AtomicU64::new(0);
/// Runs that were made once more.
static REPEATED: AtomicU64 = AtomicU64::new(0);

/// Whether the machine put less than `room` of what it took on any job's account: beyond that a job
/// exceeds its limit although it did not, and a strict assertion says nothing. Counted, see [`skipped`].
#[expect(
    clippy::print_stderr,
    reason = "a run that said nothing is worth a line"
)]
pub(crate) fn is_calm(report: &Report, room: Service) -> bool {
    JUDGED.fetch_add(1, Ordering::SeqCst);
    let charged = report.cpus[0].machine.longest_charged;
    let calm = charged < room;
    if !calm {
        SKIPPED.fetch_add(1, Ordering::SeqCst);
        eprintln!("{charged:?} were taken on a job's account: this run says nothing");
    }
    calm
}

/// How many runs were to be judged strictly so far, how many of them were not, and how many more there
/// were that others took the place of.
pub(crate) fn skipped() -> [u64; 3] {
    [&JUDGED, &SKIPPED, &REPEATED].map(|count| count.load(Ordering::SeqCst))
}

/// Tests that said nothing because there are no two processors.
static LACKING: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The first two processors that the process may use; none if there are no two, which is counted, see [`lacking`].
pub(crate) fn two_processors() -> Option<[usize; 2]> {
    let both = affinity().unwrap().first_chunk().copied();
    if both.is_none() {
        note(&LACKING);
    }
    both
}

/// How many tests wanted two processors, of which there are none.
pub(crate) fn lacking() -> usize {
    LACKING.lock().unwrap_or_else(PoisonError::into_inner).len()
}

/// Runs of which every thread has to do its duties in time; to be called inside [`alone_and_well`].
pub(crate) trait RunWell {
    /// Runs, and finds no thread of the run that took longer than [`REACTION_MAX`] for one of its duties.
    fn run_well(self, span: Duration) -> Report;

    /// The same when a fault takes `own` in each `duty`.
    fn run_well_but_for(self, duty: Duty, own: Duration, span: Duration) -> Report;
}

impl RunWell for Executive {
    fn run_well(self, span: Duration) -> Report {
        self.run_well_but_for(Duty::Manager, Duration::ZERO, span)
    }

    fn run_well_but_for(self, duty: Duty, own: Duration, span: Duration) -> Report {
        let report = self.run(span).unwrap();
        let allowed = |of| {
            if of == duty {
                REACTION_MAX.saturating_add(own)
            } else {
                REACTION_MAX
            }
        };
        let cpus = report.cpus.iter();
        let mut reactions = cpus.flat_map(|cpu| &cpu.threads.reactions);
        match reactions.find(|reaction| reaction.longest > allowed(reaction.duty)) {
            None => report,
            Some(&slow) => {
                let report = Box::new(report);
                resume_unwind(Box::new(Slow { slow, report }))
            }
        }
    }
}

/// A run with a slow thread.
pub(crate) struct Slow {
    pub(crate) slow: Reaction,
    pub(crate) report: Box<Report>,
}

/// The names of tests that were made, and of those that were made again, as a whole or in part: a test of many
/// parts is one.
static TESTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static AGAIN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn note(tests: &Mutex<BTreeSet<String>>) {
    // The thread of a test is called as the test.
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default().to_owned();
    tests
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(name);
}

/// How often a test is made before it is believed that it fails.
const ATTEMPTS: u64 = 3;

/// A test during which no other runs, in which all threads do their duties in time.
///
/// A hypervisor may take the CPU from under a run. Where it reports that, a failure may be due to it; where it
/// does not, its time is on the account of the thread that had the CPU, which seems slow, and no witness within
/// the system tells the two apart. So a test with a slow thread, or that fails while the hypervisor takes the
/// CPU, is made again. A mistake in Vestal would be there each time; if it only is so now and then, the last test
/// finds that.
pub(crate) fn alone_and_well(test: impl FnMut()) {
    let _alone = alone();
    well(test);
}

/// The same for a part of a test during which no other runs.
pub(crate) fn well<T>(part: impl FnMut() -> T) -> T {
    well_by(stolen, part)
}

/// The same where several CPUs wait for each other, whichever of them is taken.
pub(crate) fn well_on_all<T>(part: impl FnMut() -> T) -> T {
    well_by(stolen_of_all, part)
}

fn well_by<T>(stolen: impl Fn() -> u64, mut part: impl FnMut() -> T) -> T {
    note(&TESTS);
    let mut result = None;
    match attempts(|| result = Some(part()), stolen, await_calm) {
        Ok(0) => {}
        Ok(_) => note(&AGAIN),
        Err(panic) => match panic.downcast::<Slow>() {
            Ok(slow) => panic!("slow in {ATTEMPTS} attempts: {:#?}", slow.report),
            Err(other) => resume_unwind(other),
        },
    }
    result.unwrap()
}

/// Makes a test until it passes, and waits before each further attempt; how often it had to be made again, or how it
/// failed in the end.
#[expect(clippy::print_stderr, reason = "a repetition is worth a line")]
pub(crate) fn attempts(
    mut test: impl FnMut(),
    stolen: impl Fn() -> u64,
    wait: impl Fn(),
) -> Result<u64, Box<dyn Any + Send>> {
    for attempt in 1.. {
        let before = stolen();
        let Err(panic) = catch_unwind(AssertUnwindSafe(&mut test)) else {
            return Ok(attempt - 1);
        };
        match (panic.downcast_ref::<Slow>(), stolen() - before) {
            (Some(Slow { slow, .. }), _) => {
                eprintln!("attempt {attempt} of {ATTEMPTS} had a slow thread: {slow:?}");
            }
            (None, 0) => return Err(panic),
            (None, ticks) => {
                eprintln!("attempt {attempt} of {ATTEMPTS} failed, and {ticks}0 ms were stolen");
            }
        }
        if attempt == ATTEMPTS {
            return Err(panic);
        }
        wait();
    }
    unreachable!("it returns in the last attempt")
}

/// How many tests with [`RunWell`] were made so far, and how many of them were made again.
pub(crate) fn repeated_tests() -> [usize; 2] {
    [&TESTS, &AGAIN].map(|tests| tests.lock().unwrap_or_else(PoisonError::into_inner).len())
}

/// A run in which the machine put no more than `room` of what it took on any job's account. What else the
/// run shows plays no part in the choice. The last attempt is judged in any case.
#[expect(
    clippy::print_stderr,
    reason = "a run that said nothing is worth a line"
)]
pub(crate) fn undisturbed<T>(
    room: Service,
    mut run: impl FnMut() -> T,
    report: impl Fn(&T) -> &Report,
) -> T {
    const ATTEMPTS: usize = 8;
    for _ in 1..ATTEMPTS {
        let shown = run();
        let charged = report(&shown).cpus[0].machine.longest_charged;
        if charged < room {
            JUDGED.fetch_add(1, Ordering::SeqCst);
            return shown;
        }
        REPEATED.fetch_add(1, Ordering::SeqCst);
        eprintln!("{charged:?} were taken on a job's account: once more");
        await_calm();
    }
    let shown = run();
    is_calm(report(&shown), room);
    shown
}

/// Intervals of stolen time, each from and to, in nanoseconds since the run began.
pub(crate) type Intervals = Arc<Mutex<Vec<(u64, u64)>>>;

/// The stolen time that a record tells of.
pub(crate) fn stolen_interval(record: &Record) -> Option<(u64, u64)> {
    let What::Gap { length, .. } = record.what else {
        return None;
    };
    let to = record.at.as_nanos();
    Some((to.saturating_sub(length.as_nanos()), to))
}

/// A recording that keeps the intervals of stolen time of one CPU.
pub(crate) fn stolen_intervals() -> (Recording, Intervals) {
    let found = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&found);
    let recording = Recording::new(move |_| {
        Ok(Box::new(move |records| {
            let intervals = records.iter().filter_map(stolen_interval);
            seen.lock().unwrap().extend(intervals);
        }))
    });
    (recording, found)
}

/// Waits until `condition` holds, for five seconds at most; says whether it came to hold.
pub(crate) fn eventually(mut condition: impl FnMut() -> bool) -> bool {
    for _ in 0..500 {
        if condition() {
            return true;
        }
        pause(10);
    }
    false
}

pub(crate) fn pause(milliseconds: u64) {
    sleep_micros(1000 * milliseconds);
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests wait for others, who go by their own clocks"
)]
pub(crate) fn sleep_micros(microseconds: u64) {
    std::thread::sleep(std::time::Duration::from_micros(microseconds));
}

/// What bodies do against their own enforcement, at the beginning of each job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hostility {
    None,
    BlocksSignals,
    /// Starts a child process that burns the CPU for two milliseconds.
    Forks,
    /// Tries to get the highest priority, which must be refused.
    Rises,
}

static CHILDREN: Mutex<Vec<i32>> = Mutex::new(Vec::new());

impl Hostility {
    /// Waits for the child processes, after the run.
    pub(crate) fn clean_up() {
        for child in CHILDREN.lock().unwrap().drain(..) {
            vestal_linux::fault::reap(child).unwrap();
        }
    }

    pub(crate) fn show(self) {
        match self {
            Self::None => {}
            Self::BlocksSignals => vestal_linux::fault::block_all_signals().unwrap(),
            Self::Forks => {
                let child = vestal_linux::fault::fork_burner(2).unwrap();
                let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap();
                assert!(!is_real_time(&stat), "{stat}");
                CHILDREN.lock().unwrap().push(child);
            }
            Self::Rises => {
                let refused = vestal_linux::fault::set_own_priority(99).unwrap_err();
                assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
            }
        }
    }
}

/// Longer than this no thread of the run may take for a duty; they take some ten microseconds.
pub(crate) const REACTION_MAX: Duration = Duration::from_millis(2);

/// What the threads of the run took at most for `duty`.
pub(crate) fn reaction(report: &Report, duty: Duty) -> Duration {
    let cpus = report.cpus.iter();
    let mut reactions = cpus.flat_map(|cpu| &cpu.threads.reactions);
    let of_duty = reactions.find(|reaction| reaction.duty == duty);
    of_duty.map_or(Duration::ZERO, |reaction| reaction.longest)
}

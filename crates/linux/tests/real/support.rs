//! Task sets, and a look at the scheduling classes of threads.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use vestal_core::model::LevelSet;
use vestal_core::{Duration, Enforcement, Level, OnMiss, Service, Task, TaskConfiguration, Wcet};
use vestal_linux::report::Duty;
use vestal_linux::{Config, Executive, Monitor, Report, TaskSpec};

pub(crate) const LO: Level = Level(0);
pub(crate) const HI: Level = Level(1);

/// Only one run at a time in a process, also when somebody forgets `--test-threads=1`.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

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
        configuration: TaskConfiguration {
            task,
            priority,
            on_miss: OnMiss::Continue,
            zero_slack: None,
        },
        offset: Duration::ZERO,
        demand_max: None,
    }
}

pub(crate) fn config(enforcement: Enforcement, monitor: Monitor) -> Config {
    let mut config = Config::new(LevelSet::new(2).unwrap(), enforcement);
    config.monitor = monitor;
    config.calibrate = false;
    config
}

pub(crate) const fn ms(value: u64) -> Service {
    Service::from_millis(value)
}

/// Runs that a strict assertion was to be made about, and those of which it was not.
static JUDGED: AtomicU64 = AtomicU64::new(0);
static SKIPPED: AtomicU64 = AtomicU64::new(0);

/// Whether the machine put less than `room` of what it took on any job's account: beyond that a job
/// exceeds its limit although it did not, and a strict assertion says nothing. Counted, see [`skipped`].
#[expect(
    clippy::print_stderr,
    reason = "a run that said nothing is worth a line"
)]
pub(crate) fn is_calm(report: &Report, room: Service) -> bool {
    JUDGED.fetch_add(1, Ordering::SeqCst);
    let charged = report.machine.longest_charged;
    let calm = charged < room;
    if !calm {
        SKIPPED.fetch_add(1, Ordering::SeqCst);
        eprintln!("{charged:?} were taken on a job's account: this run says nothing");
    }
    calm
}

/// How many runs were to be judged strictly so far, and how many of them were not.
pub(crate) fn skipped() -> (u64, u64) {
    (
        JUDGED.load(Ordering::SeqCst),
        SKIPPED.load(Ordering::SeqCst),
    )
}

/// Runs of which every thread has to do its duties in time.
pub(crate) trait RunWell {
    /// Runs, and finds no thread of the run that took longer than [`REACTION_MAX`] for one of its duties.
    fn run_well(self, span: Duration) -> Report;
}

impl RunWell for Executive {
    fn run_well(self, span: Duration) -> Report {
        let report = self.run(span).unwrap();
        let mut reactions = report.own.reactions.iter();
        let slow = reactions.find(|reaction| reaction.longest > REACTION_MAX);
        assert_eq!(slow, None, "{report:#?}");
        report
    }
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
        let charged = report(&shown).machine.longest_charged;
        if charged < room {
            JUDGED.fetch_add(1, Ordering::SeqCst);
            return shown;
        }
        eprintln!("{charged:?} were taken on a job's account: once more");
    }
    let shown = run();
    is_calm(report(&shown), room);
    shown
}

/// The names of all threads of process `pid` that are in a real-time class; none if it is gone.
pub(crate) fn real_time_threads(pid: u32) -> Vec<String> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok())
        .filter(|stat| is_real_time(stat))
        .collect()
}

/// Field 41 of a thread's `stat` is its class: 1 SCHED_FIFO, 2 SCHED_RR, 6 SCHED_DEADLINE. The name in
/// field 2 may contain spaces, so counting starts behind it.
fn is_real_time(stat: &str) -> bool {
    let Some((_, rest)) = stat.rsplit_once(')') else {
        return false;
    };
    let class = rest.split_whitespace().nth(41 - 3);
    matches!(class, Some("1" | "2" | "6"))
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

#[expect(clippy::disallowed_methods, reason = "tests wait for other processes")]
pub(crate) fn pause(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
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
    let mut reactions = report.own.reactions.iter();
    let of_duty = reactions.find(|reaction| reaction.duty == duty);
    of_duty.map_or(Duration::ZERO, |reaction| reaction.longest)
}

//! Managers of levels of two CPUs with their workers, without a run's recording and judge ([`vestal_linux::trial`]).

use crate::support::{alone, real_time_threads, well_on_all};
use rustix::thread::sched_getcpu;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use vestal_core::{
    Budgets, Container, CpuId, CpuTable, Duration, Level, LevelB, LevelledConfiguration,
    LevelledTask, Service, TableSlot, Task, TaskId, Wcet,
};
use vestal_linux::trial::{Division, Outcome, Work, run};
use vestal_linux::{JobContext, Processor};
use vestal_sys::clock::{monotonic_nanos, own_cpu_nanos};
use vestal_sys::sched::pin_to;

const MS: u64 = 1_000_000;
/// The cycle of both tables.
const CYCLE: u64 = 4 * MS;
/// A job of level A that begins later than that after its slot was kept by somebody.
const LATE: u64 = 300_000;

/// What jobs of one task were seen to do.
#[derive(Debug, Default)]
struct Seen {
    jobs: AtomicU64,
    late: AtomicU64,
    /// Later than by two milliseconds.
    kept: AtomicU64,
    latest: AtomicU64,
    /// How often one went on on another CPU.
    moved: AtomicU64,
    /// What they executed, whole sixteenths of a job, in nanoseconds.
    executed: AtomicU64,
}

impl Seen {
    fn jobs(&self) -> u64 {
        self.jobs.load(Ordering::Relaxed)
    }

    /// A job begins whose slot is so long after its release.
    fn begins(&self, job: &JobContext<'_>, slot: u64) {
        let since = job.now().saturating_since(job.release()).as_nanos();
        let late = since.saturating_sub(slot);
        self.late
            .fetch_add(u64::from(late > LATE), Ordering::Relaxed);
        self.kept
            .fetch_add(u64::from(late > 2 * MS), Ordering::Relaxed);
        self.latest.fetch_max(late, Ordering::Relaxed);
    }
}

fn task(level: u8, period: u64, own: u64, container: Container) -> LevelledTask {
    let wcet = Wcet::new(&[Service::from_nanos(own)]).unwrap();
    let period = Duration::from_nanos(period);
    LevelledTask {
        task: Task::new(Level(level), period, period, wcet).unwrap(),
        container,
    }
}

/// A job of 1 ms of level A on each CPU, CPU 1's 2 ms after CPU 0's, one of level B, and three of level C for both, which execute so
/// much, or panic at the third. What came of a run, and what jobs of each task were seen to do.
fn two_cpus(
    processors: &[Processor],
    (division, budgets): (Division, Budgets),
    of_c: Option<u64>,
    span: Duration,
) -> (Outcome, Vec<Arc<Seen>>) {
    let (first, second) = (CpuId(0), CpuId(1));
    let tasks = [
        task(3, CYCLE, MS, Container::Table(first)),
        task(3, CYCLE, MS, Container::Table(second)),
        task(2, 10 * MS, MS, Container::Local(first)),
        task(2, 10 * MS, MS, Container::Local(second)),
        task(1, 20 * MS, 4 * MS, Container::Global),
        task(1, 20 * MS, 4 * MS, Container::Global),
        task(1, 20 * MS, 4 * MS, Container::Global),
    ];
    let slots = [0, 2].map(|start| {
        let (start, length) = (Duration::from_millis(start), Duration::from_millis(1));
        let task = TaskId(u16::from(!start.is_zero()));
        [TableSlot {
            start,
            length,
            task,
        }]
    });
    let tables = slots.each_ref().map(|slots| CpuTable {
        cycle: Duration::from_nanos(CYCLE),
        slots,
    });
    let seen: Vec<Arc<Seen>> = tasks.iter().map(|_| Arc::default()).collect();
    let c = of_c.unwrap_or(MS);
    let demands = [300_000, 300_000, 400_000, 400_000, c, c, c];
    let work = seen.iter().zip(demands).enumerate();
    let work = work.map(|(index, (seen, demand))| {
        let seen = Arc::clone(seen);
        let slot = [0, 2 * MS].get(index).copied();
        let panics = of_c.is_none() && index == 4;
        Work {
            demand: Service::from_nanos(demand),
            body: Box::new(move |job| {
                if let Some(slot) = slot {
                    seen.begins(job, slot);
                }
                assert!(!panics || job.id().sequence < 2, "as it is told");
                let mut places = [sched_getcpu(); 2];
                let part = Service::from_nanos(job.demand().as_nanos().div_ceil(16));
                for _ in 0..16 {
                    job.burn(part)?;
                    seen.executed.fetch_add(part.as_nanos(), Ordering::Relaxed);
                    places[1] = sched_getcpu();
                    if places[0] != places[1] {
                        seen.moved.fetch_add(1, Ordering::Relaxed);
                        places[0] = places[1];
                    }
                }
                seen.jobs.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }),
        }
    });
    let configuration = LevelledConfiguration {
        tasks: &tasks,
        tables: &tables,
        backlog: 4,
        budgets,
        level_b: LevelB::EarliestDeadline,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let outcome = run(&configuration, (processors, division), work.collect(), span);
    // Whatever came of it, nobody stays raised.
    let raised = real_time_threads(std::process::id());
    assert!(raised.is_empty(), "{raised:?}");
    (outcome.unwrap(), seen)
}

fn two_processors() -> Option<[Processor; 2]> {
    let both = crate::support::two_processors();
    both.map(|both| both.map(Processor))
}

/// However managers divide their work: with timers of their own, with a master that has all, that decides for who is taken back too,
/// and with one lock around all.
#[test]
fn managers_of_two_cpus_keep_levels_apart_and_lose_no_job() {
    let Some(processors) = two_processors() else {
        println!("not run: the process may use one CPU");
        return;
    };
    let alone_cpus = Division::default();
    let mastered = Division {
        merges: true,
        master: Some(CpuId(0)),
        ..alone_cpus
    };
    let redistributed = Division {
        redistributes: true,
        ..mastered
    };
    let one_lock = Division {
        one_lock: true,
        ..alone_cpus
    };
    let _alone = alone();
    for division in [alone_cpus, mastered, redistributed, one_lock] {
        well_on_all(|| {
            let span = Duration::from_millis(1_000);
            let ways = (division, Budgets::Enforced);
            let (outcome, seen) = two_cpus(&processors, ways, Some(3 * MS), span);
            println!("{division:?}: {outcome:?}");
            for seen in &seen {
                println!("  {seen:?}");
            }
            assert!(
                outcome.finished && outcome.refused.is_empty(),
                "{outcome:?}"
            );
            // The last ones may be met by the end.
            for (seen, least) in seen.iter().zip([248, 248, 98, 98, 47, 47, 47]) {
                assert!(seen.jobs() >= least, "{seen:?} of {least}");
            }
            for of_a in &seen[..2] {
                assert!(of_a.late.load(Ordering::Relaxed) <= 12, "{of_a:?}");
            }
            let moved = seen[4..].iter();
            let moved: u64 = moved.map(|seen| seen.moved.load(Ordering::Relaxed)).sum();
            assert!(moved > 20, "{moved}");
            let (held, ineffective): (u64, u64) =
                (outcome.held.iter().sum(), outcome.ineffective.iter().sum());
            assert!(held > 100 && ineffective * 20 < held, "{outcome:?}");
        });
    }
}

/// An ordinary thread on each processor that wants all of it.
struct Ordinary {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<[u64; 2]>>>,
}

impl Ordinary {
    fn start(processors: &[Processor]) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let start = |processor: &Processor| {
            let (processor, is_over) = (processor.0, Arc::clone(&is_over));
            std::thread::spawn(move || {
                pin_to(processor).unwrap();
                let mut clocks = vec![[monotonic_nanos(), own_cpu_nanos()]];
                while !is_over.load(Ordering::Relaxed) {
                    let now = monotonic_nanos();
                    if now > clocks.last().unwrap()[0] + MS {
                        clocks.push([now, own_cpu_nanos()]);
                    }
                }
                clocks
            })
        };
        let threads = processors.iter().map(start).collect();
        Self { is_over, threads }
    }

    /// By processor what the thread had of it between two clock readings, in thousandths.
    fn stop(self, from: u64, to: u64) -> Vec<u64> {
        self.is_over.store(true, Ordering::Relaxed);
        let threads = self.threads.into_iter();
        let shares = threads.map(|thread| {
            let clocks = thread.join().unwrap();
            let at = |instant| clocks.iter().rfind(|clock| clock[0] <= instant).unwrap()[1];
            (at(to) - at(from)) * 1_000 / (to - from)
        });
        shares.collect()
    }
}

/// Jobs of level C that never end, whose budgets hold or are ignored, and an ordinary thread that wants each CPU: for so long. What that
/// had of the CPU is printed in thousandths, and no more: other ordinary threads may want it as well.
#[expect(clippy::print_stdout, reason = "what was seen is worth a line")]
fn greedy(
    processors: &[Processor],
    budgets: Budgets,
    throttling: Option<(u64, u64)>,
    millis: u64,
) -> (Outcome, Vec<Arc<Seen>>) {
    let division = Division {
        throttling,
        ..Division::default()
    };
    let ordinary = Ordinary::start(processors);
    let begun = monotonic_nanos();
    let span = Duration::from_millis(millis);
    let (outcome, seen) = two_cpus(processors, (division, budgets), Some(500 * MS), span);
    // Threads are started first, which takes some time.
    let shares = ordinary.stop(begun + 300 * MS, begun + millis * MS);
    println!("{budgets:?} {throttling:?}: {outcome:?} {shares:?}");
    for of_a in &seen[..2] {
        println!("  {of_a:?}");
    }
    assert!(
        outcome.finished && outcome.refused.is_empty(),
        "{outcome:?}"
    );
    (outcome, seen)
}

/// Level C leaves ordinary threads what the kernel would take from all real-time threads for them otherwise: 50 ms and a margin of each half
/// second. So levels A and B lose nothing. Without a limit, for less than a second, they leave nothing.
#[test]
fn jobs_of_level_c_that_never_end_keep_none_of_level_a_and_leave_ordinary_threads_their_share() {
    let Some(processors) = two_processors() else {
        println!("not run: the process may use one CPU");
        return;
    };
    let _alone = alone();
    let limit = Some((950 * MS, 1_000 * MS));
    for budgets in [Budgets::Enforced, Budgets::Ignored] {
        well_on_all(|| {
            let (outcome, seen) = greedy(&processors, budgets, limit, 1_500);
            for of_a in &seen[..2] {
                assert!(of_a.jobs() >= 373, "{of_a:?}");
                // The kernel's 50 ms a second would make some 18 late.
                assert!(of_a.late.load(Ordering::Relaxed) <= 7, "{of_a:?}");
            }
            let of_c = seen[4..].iter();
            let of_c: u64 = of_c.map(|seen| seen.executed.load(Ordering::Relaxed)).sum();
            match budgets {
                Budgets::Enforced => assert!(of_c > 500 * MS, "{of_c}"),
                Budgets::Ignored => {
                    assert!(of_c > 1_200 * MS, "{of_c}");
                    // Three half seconds, of each of which they leave 70 ms.
                    let mut yielded = outcome.yielded_nanos.iter();
                    assert!(yielded.all(|nanos| *nanos > 180 * MS), "{outcome:?}");
                }
            }
        });
    }
    well_on_all(|| {
        let (outcome, _) = greedy(&processors, Budgets::Ignored, None, 800);
        let mut yields = outcome.yields.iter();
        assert!(yields.all(|yields| *yields == 0), "{outcome:?}");
    });
}

/// One CPU keeps the turn for 10 ms, ten times a second. No job of level A of the other one waits for that; with one lock around
/// everything they do.
#[test]
fn nobody_waits_for_who_has_the_turn() {
    let Some(processors) = two_processors() else {
        println!("not run: the process may use one CPU");
        return;
    };
    let _alone = alone();
    for one_lock in [false, true] {
        well_on_all(|| {
            let division = Division {
                one_lock,
                keeps: Some((CpuId(1), 10 * MS)),
                ..Division::default()
            };
            let span = Duration::from_millis(1_000);
            let ways = (division, Budgets::Enforced);
            let (outcome, seen) = two_cpus(&processors, ways, Some(3 * MS), span);
            println!("{one_lock}: {outcome:?} {:?} {:?}", seen[0], seen[1]);
            assert!(
                outcome.finished && outcome.refused.is_empty(),
                "{outcome:?}"
            );
            let kept = [0, 1].map(|cpu| seen[cpu].kept.load(Ordering::Relaxed));
            assert!(kept[1] >= 5, "it keeps its own CPU: {kept:?}");
            match one_lock {
                true => assert!(kept[0] >= 5, "{kept:?}"),
                false => assert_eq!(kept[0], 0),
            }
        });
    }
}

/// Guests end with the first CPU that does, while their managers are there still.
#[test]
fn a_body_of_level_c_that_panics_ends_all_cpus_and_nobody_stays_raised() {
    let Some(processors) = two_processors() else {
        println!("not run: the process may use one CPU");
        return;
    };
    let _alone = alone();
    let ways = (Division::default(), Budgets::Enforced);
    let span = Duration::from_millis(2_000);
    let (outcome, seen) = two_cpus(&processors, ways, None, span);
    assert!(
        !outcome.finished && outcome.refused.is_empty(),
        "{outcome:?}"
    );
    assert_eq!(seen[4].jobs(), 2);
    assert!(seen[0].jobs() < 250, "it ends at once: {:?}", seen[0]);
}

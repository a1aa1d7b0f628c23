//! What goes wrong while a frame table runs: bodies, schedulers, other processes, and the walkers themselves.

use super::{
    BARRIERS, FRAME_MS, Log, NOBODY, common, counts, jobs, run, scheduler, settings,
    two_processors, usual, with_tasks,
};
use crate::support::{alone, eventually, ms, pause, real_time_threads, well_on_all};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use vestal_core::{
    ContractViolation, CpuId, Duration, Fact, Instant, Notice, Permit, Plan, Scheduler,
    TaskConfiguration, TaskId,
};
use vestal_linux::fault::{
    Delay, Fault, How, Point, fork_thief, monotonic_nanos, reap, set_affinity,
};
use vestal_linux::report::{Cause, CpuReport, Duty, FrameCounts, Report};
use vestal_linux::{Barrier, BoxedScheduler, CpuSpec, Executive, Frames, RunError};

#[test]
fn a_body_that_never_returns_keeps_no_run_from_ending_and_its_release_is_accounted_for() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for barrier in BARRIERS {
        let returns = Arc::new(AtomicBool::new(false));
        let may_return = Arc::clone(&returns);
        let demand = move |place| {
            while place == (1, 1, 3) && !may_return.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
            usual(place)
        };
        let begun = monotonic_nanos();
        let ran = run(&places, barrier, demand);
        let took = Duration::from_nanos(monotonic_nanos() - begun);
        // The run, patience, and what it takes to begin.
        assert!(took < Duration::from_millis(400 + 200 + 500), "{took:?}");
        assert_eq!(ran.report.stuck, ["second-1"], "{barrier:?}");
        assert_eq!(counts(&ran.report).overrun, 1, "{barrier:?}");
        for task in jobs(&ran.report).iter().flatten() {
            let accounted = task.completed + task.dropped + task.unfinished;
            assert_eq!((task.released, accounted), (10, 10), "{task:?}");
        }
        assert_eq!(real_time_threads(std::process::id()), NOBODY);
        returns.store(true, Ordering::SeqCst);
        let walkers = || threads_called("-walker");
        assert!(eventually(|| walkers() == 0), "{barrier:?} keeps a walker");
    }
}

/// How many threads of this process are called so.
fn threads_called(part: &str) -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let names = threads.filter_map(|thread| {
        let path = thread.ok()?.path().join("comm");
        std::fs::read_to_string(path).ok()
    });
    names.filter(|name| name.contains(part)).count()
}

#[test]
fn a_body_that_panics_ends_the_run_and_is_never_called_again() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for barrier in BARRIERS {
        let log = Log::default();
        let set = Executive::new(settings()).frames(common(2, barrier));
        let demand = |place| {
            assert!(place != (1, 0, 2), "the third is too much");
            usual(place)
        };
        let set = with_tasks(set, &places, CpuSpec::common, demand, &log);
        let begun = monotonic_nanos();
        let error = set.run(Duration::from_millis(20_000)).unwrap_err();
        assert!(monotonic_nanos() - begun < 2_000_000_000);
        let RunError::BodyPanicked { task, message } = error else {
            panic!("{error}");
        };
        assert_eq!(
            (task.as_str(), message.as_str()),
            ("first-1", "the third is too much")
        );
        let log = log.lock().unwrap();
        let after = log
            .iter()
            .filter(|((cpu, task, job), _, _)| (*cpu, *task) == (1, 0) && *job >= 2);
        assert_eq!(after.count(), 0);
        assert_eq!(real_time_threads(std::process::id()), NOBODY);
    }
}

/// A thread of another process above all of the run takes 9 ms of each 45 ms from CPU 0: in some of the frames more than
/// may be spared, and the LO jobs of CPU 1 go as well. No job needed more: it is not decided whether they would have run.
#[test]
fn time_that_is_stolen_from_one_cpu_is_named_there_and_excuses_what_is_dropped_on_all() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    well_on_all(|| {
        let thief = fork_thief(places[0], 99, (9, 45, 1_000)).unwrap();
        pause(20);
        let ran = run(&places, Barrier::Spin, |_| ms(2));
        reap(thief).unwrap();
        let [zero, one] = &ran.report.cpus[..] else {
            panic!("{:?}", ran.report);
        };
        let by_thief = |cpu: &CpuReport| {
            let stolen = cpu.machine.stolen.iter();
            let by = stolen.filter(|stolen| match &stolen.cause {
                Cause::RealTimeThread(names) => names.contains(&format!("pid {thief}")),
                Cause::Hypervisor | Cause::Unknown => false,
            });
            by.map(|stolen| stolen.time.as_nanos()).sum::<u64>()
        };
        assert!(by_thief(zero) >= 5_000_000, "{:#?}", zero.machine);
        assert_eq!(by_thief(one), 0, "{:#?}", one.machine);
        let skipped = counts(&ran.report).lowest_skipped;
        assert!(skipped >= 1, "{:#?}", ran.report);
        let dropped = jobs(&ran.report).into_iter().map(|[.., low]| low.dropped);
        assert!(dropped.into_iter().all(|dropped| dropped >= skipped));
        let FrameCounts {
            unprovoked,
            unprovoked_undecided,
            ..
        } = counts(&ran.report);
        assert!(unprovoked >= 2 * skipped, "{:#?}", ran.report);
        assert_eq!(unprovoked_undecided, unprovoked, "{:#?}", ran.report);
        assert_eq!(ran.report.jobs.missed_outside_gaps, 0);
    });
}

/// A thread of another process has CPU 1 from the middle of the last job until long after the run, which the watchdog ends from
/// CPU 0: nobody notes anything on CPU 1 before that job comes to its end.
#[test]
fn time_that_is_stolen_while_the_run_ends_excuses_the_job_that_the_end_met() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    // A process that is slow to be forked comes when the job is done.
    let met = (0..5).find_map(|_| {
        let report = stolen_at_the_end(&places);
        let low = &jobs(&report)[1][2];
        let found = (low.unfinished, low.missed);
        assert!([(1, 1), (0, 0)].contains(&found), "{report:#?}");
        (found == (1, 1)).then_some(report)
    });
    let report = met.expect("the thief was late each time");
    assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
}

fn stolen_at_the_end(places: &[usize]) -> Report {
    let (says, is_there) = std::sync::mpsc::channel();
    let processors = places.to_vec();
    // It gets CPU 0 when that waits for the other one.
    let forks = std::thread::spawn(move || {
        set_affinity(&processors[..1]).unwrap();
        is_there.recv().unwrap();
        fork_thief(processors[1], 99, (60, 60, 1)).unwrap()
    });
    let demand = move |place| match place {
        (1, 2, 9) => {
            says.send(()).unwrap();
            ms(5)
        }
        (0, 2, 9) => ms(0),
        place => usual(place),
    };
    let log = Log::default();
    let set = Executive::new(settings()).frames(common(2, Barrier::Pthread));
    let set = with_tasks(set, places, CpuSpec::common, demand, &log);
    let report = set.run(Duration::from_millis(10 * FRAME_MS)).unwrap();
    reap(forks.join().unwrap()).unwrap();
    report
}

/// A walker that takes 9 ms to begin a job is late by itself: that is nobody else's time, and excuses no job that is dropped
/// for it.
#[test]
fn a_slow_walker_is_late_by_itself_and_jobs_that_are_dropped_for_it_were_guaranteed() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for how in [How::Burn, How::Sleep] {
        well_on_all(|| {
            let log = Log::default();
            let fault = Fault::Delay(Delay {
                point: Point::JobStart,
                how,
                milliseconds: 9,
                every: 10,
            });
            let set = Executive::new(settings()).frames(common(2, Barrier::Spin));
            let set = with_tasks(set, &places, CpuSpec::common, usual, &log);
            let set = set.with_fault_on(CpuId(0), fault);
            let report = set.run(Duration::from_millis(10 * FRAME_MS)).unwrap();
            let [zero, one] = &report.cpus[..] else {
                panic!("{report:?}");
            };
            let longest = |cpu: &CpuReport| {
                let reactions = cpu.threads.reactions.iter();
                let mut own = reactions.filter(|found| found.duty == Duty::JobStart);
                own.next().unwrap().longest
            };
            let delay = Duration::from_millis(9);
            assert!(longest(zero) >= delay, "{how:?}: {:?}", zero.threads);
            assert!(longest(one) < delay, "{how:?}: {:?}", one.threads);
            assert!(zero.machine.lost < delay, "{how:?}: {:?}", zero.machine);
            // The tenth job of CPU 0 is the first HI job of the fourth frame.
            let counts = counts(&report);
            assert!(counts.lowest_skipped >= 1, "{how:?}: {report:?}");
            // The LO jobs of both CPUs, which would have lacked 5 ms at least.
            let accused = counts.unprovoked - counts.unprovoked_undecided;
            assert!(accused >= 2, "{how:?}: {report:#?}");
        });
    }
}

/// A scheduler that is wrong about its own table.
#[derive(Debug)]
struct Wrong<S>(S, u32);

impl<S: Scheduler> Scheduler for Wrong<S> {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.0.apply(at, fact)
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.1 += 1;
        if self.1 == 7 {
            return Err(ContractViolation::NotOfThisPolicy);
        }
        assert!(self.1 < 7, "nobody asks again");
        self.0.decide(now)
    }

    fn permit(&self, task: TaskId) -> Permit {
        self.0.permit(task)
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.0.take_notice()
    }

    fn lost_notices(&self) -> u64 {
        self.0.lost_notices()
    }
}

#[test]
fn a_scheduler_that_refuses_to_decide_ends_the_run_for_all_walkers() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for barrier in BARRIERS {
        let make = |_: &[TaskConfiguration], overhead| {
            let wrong: BoxedScheduler = Box::new(Wrong(scheduler(2, overhead), 0));
            Ok(wrong)
        };
        let table = Frames {
            make: Box::new(make),
            ..common(2, barrier)
        };
        let set = Executive::new(settings()).frames(table);
        let set = with_tasks(set, &places, CpuSpec::common, usual, &Log::default());
        let begun = monotonic_nanos();
        let error = set.run(Duration::from_millis(20_000)).unwrap_err();
        assert!(monotonic_nanos() - begun < 2_000_000_000);
        let RunError::ManagerPanicked { message } = error else {
            panic!("{error}");
        };
        assert!(message.contains("contract violated"), "{message}");
        assert_eq!(real_time_threads(std::process::id()), NOBODY);
        assert!(eventually(|| threads_called("-walker") == 0));
    }
}

//! A replay looks at the lists of sporadic servers after each decision (S1).

use vestal_core::{
    CpuId, Duration, Fact, Hierarchy, Instant, JobId, Level, Listed, Notice, Permit, Plan,
    Scheduler, ServerId, Service, StopReason, TaskId,
};
use vestal_testkit::hierarchies::{self, configuration, server, sporadic};
use vestal_trace::replay::{Failure, Mismatch, Summary, replay};
use vestal_trace::{Header, Record, Recorder, TaskInfo, What};

const CPU: CpuId = CpuId(0);

/// One sporadic server of 4 in 10 with a task.
fn engine() -> Hierarchy {
    let servers = [server(sporadic(4, 10, 4), 1)];
    let tasks = [hierarchies::task(0, 1, 10)];
    Hierarchy::new(&configuration(&servers, &tasks, &[])).unwrap()
}

fn header() -> Header {
    let task = TaskInfo {
        name: "task".to_owned(),
        criticality: Level::LOWEST,
        period: Duration::from_nanos(10),
        deadline: Duration::from_nanos(10),
    };
    Header {
        cpus: 1,
        levels: vec!["LO".to_owned()],
        tasks: vec![task],
        servers: vec!["server".to_owned()],
        ..Header::new("io-amc")
    }
}

/// A job of 3 that is preempted after each of them, so that its server's list has several parts.
fn recorded() -> Vec<Record> {
    let mut recorder = Recorder::with_permits(engine(), Vec::new(), 0);
    let at = Instant::from_nanos;
    let job = JobId {
        task: TaskId(0),
        sequence: 0,
    };
    let mut tell = |now: u64, facts: &[Fact]| {
        for &fact in facts {
            recorder.apply(at(now), fact).unwrap();
        }
        recorder.decide(at(now)).unwrap();
    };
    let charged = Fact::Charged {
        cpu: CPU,
        job,
        amount: Service::from_nanos(1),
    };
    let started = Fact::Started { cpu: CPU, job };
    let why = StopReason::Blocked;
    let stopped = Fact::Stopped { cpu: CPU, job, why };
    let woken = Fact::Woken {
        task: job.task,
        on_behalf_of: None,
    };
    tell(0, &[Fact::Released { job }]);
    tell(0, &[started]);
    for now in [1, 3] {
        tell(now, &[charged, stopped]);
        tell(now + 1, &[woken]);
        tell(now + 1, &[started]);
    }
    tell(5, &[charged, Fact::Completed { cpu: CPU, job }]);
    recorder.finish(at(6)).1
}

fn replayed(scheduler: &mut dyn Scheduler) -> Result<Summary, Mismatch> {
    let records = recorded().into_iter().map(Ok::<_, ()>);
    replay(&header(), records, scheduler).map_err(|failure| match failure {
        Failure::Differs(difference) => {
            let decided = difference.recorded.map(|record| record.what);
            assert!(matches!(decided, Some(What::Decided { .. })));
            difference.why
        }
        Failure::Unreadable(()) => unreachable!("records in memory"),
    })
}

/// It decides as the engine does, and of its list something is missing once there is so much on its way back.
struct Leaks {
    engine: Hierarchy,
    longest: u16,
}

impl Scheduler for Leaks {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), vestal_core::ContractViolation> {
        self.engine.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, vestal_core::ContractViolation> {
        self.engine.decide(now)
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.engine.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.engine.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.engine.lost_notices()
    }
    fn listed(&self, server: ServerId) -> Option<Listed> {
        let listed = self.engine.listed(server)?;
        let leaks = self.engine.longest_list(server) >= Some(self.longest);
        let sum = listed.sum.saturating_sub(Service::from_nanos(leaks.into()));
        Some(Listed { sum, ..listed })
    }
}

#[test]
fn a_list_that_loses_a_part_of_its_budget_is_found_though_every_plan_is_the_same() {
    let mut sound = engine();
    let summary = replayed(&mut sound).unwrap();
    assert_eq!((summary.lists, summary.decisions), (9, 9));
    assert_eq!(sound.longest_list(ServerId(0)), Some(4));
    let whole = Service::from_nanos(4);
    let expected = Listed {
        sum: whole,
        capacity: whole,
    };
    assert_eq!(sound.listed(ServerId(0)), Some(expected));
    assert_eq!(sound.listed(ServerId(1)), None);
    let leaks = |longest| {
        let engine = engine();
        replayed(&mut Leaks { engine, longest })
    };
    let rule = "S1: the list of a sporadic server does not sum up to its budget";
    assert_eq!(leaks(4), Err(Mismatch::Inconsistent(rule)));
    assert_eq!(
        leaks(5).map(|summary| summary.lists),
        Ok(9),
        "never so long"
    );
}

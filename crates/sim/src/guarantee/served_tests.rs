//! What of servers was guaranteed, by what happened to them.

use super::*;
use crate::guarantee::{Ending, Guarantee, Verdict};
use crate::observer::Observer;
use vestal_core::{
    DeviceConfiguration, DeviceId, DropReason, JobId, LevelSet, LocalOrder, ServerConfiguration,
    ServerId, WhenFull,
};
use vestal_testkit::short::{CPU, at, job, ns, span};

const MISSED: Verdict = Verdict::Missed { guaranteed: true };
const EXCUSED: Verdict = Verdict::Missed { guaranteed: false };
const DEVICE: DeviceId = DeviceId(0);
const LO: Level = Level(0);
const HI: Level = Level(1);
/// The tasks of [`System::new`], in this order.
const DROPPED: u16 = 0;
const HIGH: u16 = 1;
const DEGRADED: u16 = 2;

fn sporadic(period: u64, capacity: [u64; 2]) -> ServerKind {
    ServerKind::Sporadic {
        period: span(period),
        capacity: ByLevel::new(&capacity.map(ns)).unwrap(),
        replenishments: 8,
        full: WhenFull::MergeTail,
    }
}

struct System {
    servers: Vec<ServerConfiguration>,
    tasks: Vec<ServedTask>,
    devices: Vec<DeviceConfiguration>,
    modes: Modes,
}

impl System {
    fn add(&mut self, level: Level, kind: ServerKind, period: u64, wcet: &[u64]) {
        let wcet: Vec<Service> = wcet.iter().copied().map(ns).collect();
        let wcet = vestal_core::Wcet::new(&wcet).unwrap();
        let server = ServerId(self.servers.len() as u16);
        self.servers.push(ServerConfiguration {
            kind,
            priority: 1,
            criticality: level,
            order: LocalOrder::FixedPriority,
        });
        self.tasks.push(ServedTask {
            task: Task::new(level, span(period), span(period), wcet).unwrap(),
            server,
            priority: 1,
            on_behalf_of: None,
        });
    }

    /// LO T 10 C 2/0, HI T 20 C 3/6, LO T 10 C 3/1.
    fn new() -> Self {
        let mut system = Self {
            servers: Vec::new(),
            tasks: Vec::new(),
            devices: Vec::new(),
            modes: Modes::Adaptive { pibs_raise: false },
        };
        system.add(LO, sporadic(10, [2, 0]), 10, &[2]);
        system.add(HI, sporadic(20, [3, 6]), 20, &[3, 6]);
        system.add(LO, sporadic(10, [3, 1]), 10, &[3]);
        system
    }

    fn run(&self) -> Run {
        Run(Guarantee::of_servers(&HierarchyConfiguration {
            servers: &self.servers,
            tasks: &self.tasks,
            devices: &self.devices,
            levels: LevelSet::new(2).unwrap(),
            modes: self.modes,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        }))
    }
}

/// What happens to the tasks of a system, in the order in which a world says so.
struct Run(Guarantee);

/// A job of `task` that was released then and is due a period later.
fn state(task: u16, sequence: u64, released: u64, executed: u64, demand: u64) -> JobState {
    let period = if task == HIGH { 20 } else { 10 };
    JobState {
        executed: ns(executed),
        ..JobState::arriving(job(task, sequence), at(released), span(period), ns(demand))
    }
}

impl Run {
    fn released(&mut self, task: u16, sequence: u64, now: u64) -> &mut Self {
        self.0.released(at(now), &state(task, sequence, now, 0, 1));
        self
    }
    /// `job` has executed what it says at `to`.
    fn ran(&mut self, job: &JobState, from: u64, to: u64) -> &mut Self {
        let segment = Segment {
            cpu: CPU,
            start: at(from),
            end: at(to),
        };
        self.0.executed(segment, job);
        self
    }
    fn completed(&mut self, task: u16, sequence: u64, now: u64) -> &mut Self {
        self.0.completed(at(now), &state(task, sequence, 0, 1, 1));
        self
    }
    fn dropped(&mut self, task: u16, sequence: u64, now: u64) -> &mut Self {
        let job = state(task, sequence, 0, 0, 1);
        self.0.dropped(at(now), &job, DropReason::Mode);
        self
    }
    fn blocked(&mut self, task: u16, sequence: u64, now: u64) -> &mut Self {
        let job = state(task, sequence, 0, 1, 2);
        self.0.blocked(at(now), CPU, &job, DEVICE);
        self
    }
    fn woken(&mut self, task: u16, sequence: u64, now: u64) -> &mut Self {
        self.0.woken(at(now), &state(task, sequence, 0, 1, 2));
        self
    }
    /// Why the first job, released at 0, was not guaranteed its deadline.
    fn why(&self, task: u16) -> Option<Excuse> {
        self.0.excuse(&state(task, 0, 0, 1, 1))
    }
    fn mode(&mut self, from: Level, to: Level, now: u64) -> &mut Self {
        let cause: Option<JobId> = None;
        self.0.mode_changed(at(now), from, to, cause);
        self
    }
    /// What is said of a job that was released then and is done only after its deadline.
    fn late(&self, task: u16, sequence: u64, released: u64) -> Verdict {
        let job = state(task, sequence, released, 1, 1);
        let end = at(job.deadline.as_nanos() + 1);
        self.0.judge(&job, end, Ending::Completed).unwrap()
    }
    /// The same of the first job, released at 0.
    fn first_late(&self, task: u16) -> Verdict {
        self.late(task, 0, 0)
    }
}

/// The LO job of [0, 10): a rise at 9 excuses its miss, one at 10 or later comes too late for that.
#[test]
fn a_rise_before_the_deadline_excuses_a_lo_job_and_no_hi_job() {
    for (rise, verdict) in [(0, EXCUSED), (9, EXCUSED), (10, MISSED), (11, MISSED)] {
        for task in [DROPPED, DEGRADED] {
            let mut run = System::new().run();
            run.released(task, 0, 0).mode(LO, HI, rise);
            assert_eq!(run.first_late(task), verdict, "{task} at {rise}");
            // Whatever comes later.
            run.mode(HI, LO, rise + 3);
            assert_eq!(run.first_late(task), verdict, "{task} at {rise}");
        }
        let mut run = System::new().run();
        run.released(HIGH, 0, 0).mode(LO, HI, rise);
        assert_eq!(run.first_late(HIGH), MISSED);
    }
    // Nothing happened at all; and a job of which nothing is known.
    let mut run = System::new().run();
    run.released(DROPPED, 0, 0);
    assert_eq!(run.first_late(DROPPED), MISSED);
    assert_eq!(run.late(DROPPED, 1, 0), EXCUSED);
    assert_eq!(run.late(7, 0, 0), EXCUSED);
}

/// A world reports a release before the change of mode of the same decision.
#[test]
fn a_job_that_comes_with_the_return_was_never_in_the_raised_mode() {
    let returned = |release: u64, back: u64| {
        let mut run = System::new().run();
        run.released(DROPPED, 0, 0).mode(LO, HI, 4);
        run.dropped(DROPPED, 0, 4).released(DROPPED, 1, release);
        run.mode(HI, LO, back);
        run.late(DROPPED, 1, release)
    };
    assert_eq!(returned(12, 12), MISSED);
    assert_eq!(returned(12, 13), EXCUSED);
    // A server that lost its jobs stays as it was, and clean if it was.
    let mut run = System::new().run();
    run.released(DROPPED, 0, 0)
        .ran(&state(DROPPED, 0, 0, 1, 2), 2, 3);
    run.mode(LO, HI, 4).dropped(DROPPED, 0, 4).mode(HI, LO, 9);
    run.released(DROPPED, 1, 11);
    assert_eq!(run.late(DROPPED, 1, 11), MISSED);
    // With a rise it was.
    let mut run = System::new().run();
    run.released(DROPPED, 0, 5).mode(LO, HI, 5);
    assert_eq!(run.late(DROPPED, 0, 5), EXCUSED);
}

/// l, T = 10, C = 2, wants more than that, or waits for a device, before the mode rises and it is dropped: what it used comes
/// back piece by piece after the return too, and until it has rested for a period nothing is guaranteed.
#[test]
fn a_server_whose_budget_was_in_parts_is_not_clean_because_the_mode_rose_and_returned() {
    let after = |spoil: fn(&mut Run), release: u64| {
        let mut run = System::new().run();
        run.released(DROPPED, 0, 0);
        spoil(&mut run);
        run.mode(LO, HI, 6).dropped(DROPPED, 0, 6).mode(HI, LO, 8);
        run.released(DROPPED, 1, release);
        run.late(DROPPED, 1, release)
    };
    let overrun = |run: &mut Run| {
        run.ran(&state(DROPPED, 0, 0, 3, 4), 2, 5);
    };
    let waits = |run: &mut Run| {
        run.ran(&state(DROPPED, 0, 0, 1, 2), 2, 3);
        run.blocked(DROPPED, 0, 3);
    };
    assert_eq!((after(overrun, 10), after(overrun, 15)), (EXCUSED, MISSED));
    assert_eq!((after(waits, 10), after(waits, 13)), (EXCUSED, MISSED));
}

/// It may have used more than it has now; a period without executing brings everything back.
#[test]
fn a_server_that_went_on_with_less_is_clean_again_after_a_period_of_rest() {
    let next = |release: u64| {
        let mut run = System::new().run();
        run.released(DEGRADED, 0, 0);
        run.ran(&state(DEGRADED, 0, 0, 3, 3), 2, 5);
        run.completed(DEGRADED, 0, 5);
        run.mode(LO, HI, 6).mode(HI, LO, 8);
        run.released(DEGRADED, 1, release);
        run.late(DEGRADED, 1, release)
    };
    assert_eq!(next(14), EXCUSED);
    assert_eq!(next(15), MISSED);
    // A rest before the return is no rest: what it executes then comes back in parts. Found by a campaign.
    let after = |first: u64, back: u64, release: u64| {
        let mut run = System::new().run();
        run.mode(LO, HI, 20).released(DEGRADED, 0, first);
        run.mode(HI, LO, back);
        run.ran(&state(DEGRADED, 0, first, 3, 3), 21, 29);
        run.completed(DEGRADED, 0, 29)
            .released(DEGRADED, 1, release);
        run.late(DEGRADED, 1, release)
    };
    assert_eq!(after(21, 26, 33), EXCUSED);
    assert_eq!(after(21, 21, 33), MISSED, "released with the return");
    assert_eq!(after(21, 26, 39), MISSED);
    // With the return, too: it is not that of a server that had nothing.
    let mut run = System::new().run();
    run.released(DEGRADED, 0, 0);
    run.ran(&state(DEGRADED, 0, 0, 3, 3), 2, 5);
    run.completed(DEGRADED, 0, 5).mode(LO, HI, 6);
    run.released(DEGRADED, 1, 10).mode(HI, LO, 10);
    assert_eq!(run.late(DEGRADED, 1, 10), EXCUSED);
    // A HI server is what it was.
    let mut run = System::new().run();
    run.released(HIGH, 0, 0).mode(LO, HI, 3);
    run.ran(&state(HIGH, 0, 0, 6, 6), 0, 6);
    run.completed(HIGH, 0, 6).mode(HI, LO, 6);
    run.released(HIGH, 1, 20);
    assert_eq!(run.late(HIGH, 1, 20), MISSED);
}

#[test]
fn a_job_that_blocks_is_guaranteed_nothing_from_then_on_and_the_next_ones_need_a_rest_of_the_server()
 {
    for (block, verdict) in [(19, EXCUSED), (20, EXCUSED), (21, MISSED)] {
        let mut run = System::new().run();
        run.released(HIGH, 0, 0).blocked(HIGH, 0, block);
        assert_eq!(run.first_late(HIGH), verdict, "{block}");
    }
    let next = |last: u64, release: u64| {
        let mut run = System::new().run();
        run.released(HIGH, 0, 0).blocked(HIGH, 0, 1);
        run.ran(&state(HIGH, 0, 0, 2, 2), last - 1, last);
        run.completed(HIGH, 0, last);
        run.released(HIGH, 1, release);
        run.late(HIGH, 1, release)
    };
    assert_eq!(next(5, 24), EXCUSED);
    assert_eq!(next(5, 25), MISSED);
    assert_eq!(next(9, 25), EXCUSED);
}

/// HIGH, T = D = 20: where its bound is 9, a job woken at 11 has the rest by its deadline, one woken at 12 need not.
#[test]
fn a_job_that_was_woken_is_guaranteed_what_the_bound_of_its_server_leaves() {
    let woken = |bounds: [u64; 2], wakes: &[(u64, u64)]| {
        let mut run = System::new().run();
        let known = bounds.map(|bound| Some(span(bound))).to_vec();
        run.0 = run.0.within(&[Vec::new(), known]);
        run.released(HIGH, 0, 0);
        for (block, wake) in wakes {
            run.blocked(HIGH, 0, *block).woken(HIGH, 0, *wake);
        }
        (run.first_late(HIGH), run.why(HIGH))
    };
    assert_eq!(woken([5, 9], &[(3, 11)]), (MISSED, None));
    assert_eq!(woken([5, 9], &[(3, 12)]), (EXCUSED, Some(Excuse::Waits)));
    // The larger of its bounds counts; and the last wake-up.
    assert_eq!(woken([9, 5], &[(3, 12)]), (EXCUSED, Some(Excuse::Waits)));
    assert_eq!(woken([5, 9], &[(3, 6), (7, 12)]).0, EXCUSED);
    assert_eq!(woken([5, 9], &[(3, 12), (13, 13)]).0, EXCUSED);
    assert_eq!(woken([5, 9], &[(3, 6), (7, 11)]).0, MISSED);
    // What it does after its deadline is no excuse.
    assert_eq!(woken([5, 9], &[(3, 11), (21, 30)]).0, MISSED);
    // It waits at its deadline.
    assert_eq!(woken([5, 9], &[(3, 11), (20, 30)]).0, EXCUSED);
    assert_eq!(woken([5, 9], &[(3, 21)]).0, EXCUSED);
    // A bound that is not known; and who was woken at its release.
    let mut run = System::new().run();
    run.released(HIGH, 0, 0)
        .blocked(HIGH, 0, 3)
        .woken(HIGH, 0, 4);
    assert_eq!(run.first_late(HIGH), EXCUSED);
    assert_eq!(woken([20, 20], &[(0, 0)]).0, MISSED);
}

/// Of a LO server in mode 0.
#[test]
fn a_woken_job_of_a_lo_server_has_the_bound_of_mode_0() {
    let woken = |wake: u64, rise: Option<u64>| {
        let mut run = System::new().run();
        let bounds = vec![Some(span(4)), Some(span(9))];
        run.0 = run.0.within(&[Vec::new(), Vec::new(), bounds]);
        run.released(DEGRADED, 0, 0);
        run.0
            .blocked(at(1), CPU, &state(DEGRADED, 0, 0, 1, 2), DEVICE);
        run.0.woken(at(wake), &state(DEGRADED, 0, 0, 1, 2));
        if let Some(rise) = rise {
            run.mode(LO, HI, rise);
        }
        (run.first_late(DEGRADED), run.why(DEGRADED))
    };
    assert_eq!(woken(6, None), (MISSED, None));
    assert_eq!(woken(7, None), (EXCUSED, Some(Excuse::Waits)));
    assert_eq!(woken(6, Some(9)), (EXCUSED, Some(Excuse::Mode)));
}

/// The rest of the budget is not at hand after the wait.
#[test]
fn a_list_without_room_excuses_who_has_waited() {
    let of = |waits: bool| {
        let mut run = System::new().run();
        run.0 = run.0.within(&[Vec::new(), vec![Some(span(5)); 2]]);
        run.released(HIGH, 0, 0);
        if waits {
            run.blocked(HIGH, 0, 3).woken(HIGH, 0, 4);
        }
        run.0.postponed(at(3), ServerId(HIGH), ns(1));
        run.why(HIGH)
    };
    assert_eq!((of(false), of(true)), (None, Some(Excuse::NoBudget)));
}

/// C = 3 or 6: it has used up what its server has in the mode in which it waits. Found by a campaign: with nothing more to
/// execute, too, it waits for the next replenishment.
#[test]
fn who_has_used_up_the_capacity_before_a_wait_is_excused() {
    let of = |mode: Level, executed: u64| {
        let mut run = System::new().run();
        run.0 = run.0.within(&[Vec::new(), vec![Some(span(5)); 2]]);
        run.released(HIGH, 0, 0);
        if mode == HI {
            run.mode(LO, HI, 1);
        }
        let job = state(HIGH, 0, 0, executed, 6);
        run.0.blocked(at(8), CPU, &job, DEVICE);
        run.woken(HIGH, 0, 9).why(HIGH)
    };
    assert_eq!((of(LO, 2), of(LO, 3)), (None, Some(Excuse::NoBudget)));
    assert_eq!((of(HI, 5), of(HI, 6)), (None, Some(Excuse::NoBudget)));
}

#[test]
fn it_says_why_a_job_was_not_guaranteed_its_deadline() {
    let mut run = System::new().run();
    assert_eq!(run.why(7), Some(Excuse::NoServer));
    run.released(HIGH, 0, 0).released(HIGH, 1, 20);
    let second = state(HIGH, 1, 20, 0, 1);
    assert_eq!(run.0.excuse(&second), Some(Excuse::Backlog));
    run.released(DROPPED, 0, 0).mode(LO, HI, 3);
    assert_eq!(run.why(DROPPED), Some(Excuse::Mode));
    run.ran(&state(HIGH, 0, 0, 6, 9), 1, 7);
    assert_eq!(run.why(HIGH), Some(Excuse::UsedUp));
    let mut run = System::new().run();
    run.released(HIGH, 0, 0)
        .blocked(HIGH, 0, 1)
        .completed(HIGH, 0, 2);
    run.ran(&state(HIGH, 0, 0, 1, 1), 1, 2)
        .released(HIGH, 1, 20);
    assert_eq!(run.0.excuse(&second), Some(Excuse::Unclean));
}

#[test]
fn a_job_beyond_its_own_execution_time_was_guaranteed_no_more() {
    // It stands at C(HI) = 6 and wants more: by its deadline, or after that.
    for (end, verdict) in [(19, EXCUSED), (20, EXCUSED), (21, MISSED)] {
        let mut run = System::new().run();
        run.released(HIGH, 0, 0);
        run.ran(&state(HIGH, 0, 0, 6, 9), end - 6, end);
        assert_eq!(run.first_late(HIGH), verdict, "{end}");
    }
    // It goes past that in one piece; who is done with it does not.
    let mut run = System::new().run();
    run.released(HIGH, 0, 0)
        .ran(&state(HIGH, 0, 0, 8, 9), 13, 21);
    assert_eq!(run.first_late(HIGH), EXCUSED, "at 19");
    let mut run = System::new().run();
    run.released(HIGH, 0, 0)
        .ran(&state(HIGH, 0, 0, 6, 6), 14, 20);
    assert_eq!(run.first_late(HIGH), MISSED);
    // The next one has what is left of the budget.
    let next = |executed: u64| {
        let mut run = System::new().run();
        run.released(HIGH, 0, 0);
        run.ran(&state(HIGH, 0, 0, executed, executed), 1, 1 + executed);
        run.completed(HIGH, 0, 1 + executed).released(HIGH, 1, 20);
        run.late(HIGH, 1, 20)
    };
    assert_eq!(next(6), MISSED);
    assert_eq!(next(7), EXCUSED);
}

#[test]
fn a_job_that_waits_for_the_one_before_it_was_guaranteed_nothing() {
    let mut run = System::new().run();
    run.released(HIGH, 0, 0).released(HIGH, 1, 20);
    assert_eq!(run.first_late(HIGH), MISSED);
    assert_eq!(run.late(HIGH, 1, 20), EXCUSED);
    // The third finds the task without one.
    run.completed(HIGH, 0, 22).completed(HIGH, 1, 30);
    run.released(HIGH, 2, 40);
    assert_eq!(run.late(HIGH, 2, 40), MISSED);
    // A server that executes all the while has not rested, and its present segment is not known yet.
    let mut run = System::new().run();
    run.released(HIGH, 0, 0).blocked(HIGH, 0, 0);
    run.released(HIGH, 1, 30)
        .ran(&state(HIGH, 0, 0, 6, 6), 26, 32);
    run.completed(HIGH, 0, 32).completed(HIGH, 1, 33);
    run.released(HIGH, 2, 51);
    assert_eq!(run.late(HIGH, 2, 51), EXCUSED);
}

/// What the bounds speak of: a task, a sporadic server, and a budget for it.
#[test]
fn other_tasks_and_servers_are_guaranteed_nothing() {
    let first = |change: &dyn Fn(&mut System)| {
        let mut system = System::new();
        change(&mut system);
        let mut run = system.run();
        run.released(HIGH, 0, 0);
        run.first_late(HIGH)
    };
    assert_eq!(first(&|_| ()), MISSED);
    let excused: [&dyn Fn(&mut System); 6] = [
        &|system| system.modes = Modes::Requested,
        &|system| system.tasks[0].server = ServerId(HIGH),
        &|system| {
            system.devices.push(DeviceConfiguration {
                bottom_half: vestal_core::TaskId(HIGH),
            });
        },
        &|system| system.servers[1].kind = sporadic(20, [2, 6]),
        &|system| system.servers[1].kind = sporadic(21, [3, 6]),
        &|system| {
            system.servers[1].kind = ServerKind::Deferrable {
                period: span(20),
                capacity: ByLevel::constant(ns(6)),
            };
        },
    ];
    for (number, change) in excused.into_iter().enumerate() {
        assert_eq!(first(change), EXCUSED, "{number}");
    }
}

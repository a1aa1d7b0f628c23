//! The contract C1 to C8 as tests, over random runs of every one-CPU policy; C9, and C5 for several CPUs,
//! in `contract_domains.rs`, the domains of MC² one by one in `contract_recorded_domains.rs`. For each
//! rule something breaks it, a world or a scheduler, and is found.
#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers drawn here are small"
)]

mod rules;

use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::short::CPU;
use vestal_testkit::systems::{Setup, Step, run};

const RUNS: u64 = 400;
const TICKS: u64 = 200;

fn for_each_run(mut check: impl FnMut(u64, &Setup)) {
    for seed in 0..RUNS {
        let setup = Setup::random(&mut Random::new(seed));
        check(seed, &setup);
    }
}

fn plain(seed: u64, setup: &Setup) -> (Vec<Step>, Uniprocessor) {
    let mut engine = setup.engine();
    let steps = run(setup, &mut engine, &mut Random::new(!seed), TICKS, |_| {});
    (steps, engine)
}

fn without_facts(steps: &[Step]) -> Vec<(u64, Option<Slot>, Option<Wake>, Level)> {
    steps
        .iter()
        .map(|step| (step.at, step.slot, step.next, step.mode))
        .collect()
}

#[test]
fn the_runs_of_this_file_exercise_what_they_claim_to() {
    let (mut raised, mut aborted, mut background, mut edf, mut lists) = (0, 0, 0, 0, 0);
    let (mut sliced, mut suspended, mut recomputed) = (0, 0, 0);
    let (mut early, mut late) = (0, 0);
    for_each_run(|seed, setup| {
        let (steps, _) = plain(seed, setup);
        if setup.enforcement == Enforcement::ZeroSlack {
            let whys = steps.iter().filter_map(|step| Some(step.next?.why));
            let has = |wanted: fn(WakeReason) -> bool| u32::from(whys.clone().any(wanted));
            early += has(|why| matches!(why, WakeReason::ZeroSlack(_)));
            late += has(|why| matches!(why, WakeReason::Deadline(_)));
            return;
        }
        raised += u32::from(steps.iter().any(|step| step.mode > Level(0)));
        aborted += u32::from(steps.iter().any(|step| step.next.is_some()));
        background += u32::from(steps.iter().any(|step| {
            step.slot.is_some_and(|slot| slot.budget.is_none())
                && setup.exhaustion == Exhaustion::Background
        }));
        lists += u32::from(setup.lists.is_some());
        recomputed += u32::from(setup.recomputed);
        edf += u32::from(setup.virtual_deadlines.is_some());
        sliced += u32::from(setup.enforcement == Enforcement::Slices);
        suspended += u32::from(steps.iter().any(|step| {
            let replenished = |wake: Wake| wake.why == WakeReason::Replenishment;
            step.next.is_some_and(replenished)
        }));
    });
    assert!(sliced > 60 && suspended > 40, "{sliced} {suspended}");
    assert!(raised > 80 && aborted > 80 && background > 40 && edf > 60 && lists > 40);
    assert!(recomputed > 20 && lists > recomputed + 20, "{recomputed}");
    assert!(early > 60 && late > 60, "{early} {late}");
}

#[test]
fn c1_the_clock_never_goes_back() {
    for_each_run(|seed, setup| {
        let (_, mut engine) = plain(seed, setup);
        let before = engine.clone();
        assert!(matches!(
            engine.decide(Instant::from_nanos(TICKS - 2)),
            Err(ContractViolation::ClockWentBack { .. })
        ));
        assert_eq!(engine, before);
    });
}

#[test]
fn c3_no_permutation_of_the_facts_of_one_instant_changes_a_plan() {
    let mut permuted = 0_u32;
    for_each_run(|seed, setup| {
        let (steps, _) = plain(seed, setup);
        for round in 0..4 {
            let mut engine = setup.engine();
            let mut order = Random::new(seed * 4 + round);
            let shuffled = run(
                setup,
                &mut engine,
                &mut Random::new(!seed),
                TICKS,
                |facts| {
                    permuted += u32::from(facts.len() > 1);
                    order.shuffle(facts);
                },
            );
            assert_eq!(
                without_facts(&steps),
                without_facts(&shuffled),
                "seed {seed}"
            );
        }
    });
    assert!(permuted > 10_000);
}

/// The control of the test above: a scheduler that draws consequences as soon as a fact is reported.
struct Eager(Uniprocessor);

impl Scheduler for Eager {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.0.apply(at, fact)?;
        self.0.decide(at).map(|_| ())
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
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
fn c3_consequences_drawn_while_facts_are_told_would_be_found() {
    let mut found = 0_u32;
    for_each_run(|seed, setup| {
        let (steps, _) = plain(seed, setup);
        let mut engine = Eager(setup.engine());
        let told_last_first = run(
            setup,
            &mut engine,
            &mut Random::new(!seed),
            TICKS,
            |facts| {
                facts.sort_by_key(|fact| !matches!(fact, Fact::Released { .. }));
            },
        );
        found += u32::from(without_facts(&steps) != without_facts(&told_last_first));
    });
    assert!(found > 20, "{found}");
}

#[test]
fn c4_a_plan_may_be_asked_for_twice() {
    for_each_run(|seed, setup| {
        let (steps, mut engine) = plain(seed, setup);
        let last = steps.last().unwrap();
        let again = engine.decide(Instant::from_nanos(last.at)).unwrap();
        assert_eq!(
            (again.slot(CPU), again.mode),
            (last.slot, last.mode),
            "seed {seed}"
        );
    });
}

#[test]
fn c6_early_and_spurious_wake_ups_change_nothing() {
    for_each_run(|seed, setup| {
        let (steps, _) = plain(seed, setup);
        let mut engine = setup.engine();
        let mut spurious = Random::new(seed ^ 0xabcd);
        let disturbed = run(
            setup,
            &mut engine,
            &mut Random::new(!seed),
            TICKS,
            |facts| {
                for _ in 0..spurious.below(3) {
                    facts.push([Fact::Timer, Fact::Idle { cpu: CPU }][spurious.below(2) as usize]);
                }
            },
        );
        assert_eq!(
            without_facts(&steps),
            without_facts(&disturbed),
            "seed {seed}"
        );
    });
}

#[test]
fn c6_a_late_wake_up_is_noticed() {
    let span = Duration::from_nanos(10);
    let wcet = Wcet::constant(Service::from_nanos(4));
    let task = Task::new(Level(0), span, span, wcet).unwrap();
    let tasks = [TaskConfiguration {
        on_miss: OnMiss::Abort,
        ..TaskConfiguration::new(task, 1)
    }];
    let mut setup = Setup::random(&mut Random::new(0));
    setup.tasks = tasks.to_vec();
    setup.virtual_deadlines = None;
    setup.lists = None;
    setup.enforcement = Enforcement::Static;
    let mut engine = setup.engine();
    let job = JobId {
        task: TaskId(0),
        sequence: 0,
    };
    engine
        .apply(Instant::EPOCH, Fact::Released { job })
        .unwrap();
    let wake = engine.decide(Instant::EPOCH).unwrap().next.unwrap();
    assert_eq!(
        (wake.at, wake.why),
        (Instant::from_nanos(10), WakeReason::Deadline(job))
    );
    assert_eq!(
        engine.decide(Instant::from_nanos(13)).unwrap().slot(CPU),
        None
    );
    let events: Vec<_> = std::iter::from_fn(|| engine.take_notice())
        .map(|n| n.what)
        .collect();
    assert_eq!(
        events,
        [
            Event::Late {
                by: Duration::from_nanos(3)
            },
            Event::Dropped {
                job,
                why: DropReason::Deadline
            }
        ]
    );
}

#[test]
fn c7_invariants_hold_after_every_decision_and_state_stays_bounded() {
    for_each_run(|seed, setup| {
        let mut engine = Checked(setup.engine());
        run(setup, &mut engine, &mut Random::new(!seed), TICKS, |_| {});
    });
}

/// Checks the engine's invariants after every decision.
struct Checked(Uniprocessor);

impl Scheduler for Checked {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.0.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.0.decide(now)?;
        assert!(self.0.check_invariants());
        // A second decision at the same instant gives the same plan (C4), borrowed this time.
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
fn c8_recorded_facts_replayed_give_the_same_plans_and_the_same_state() {
    for_each_run(|seed, setup| {
        let mut recorder = Recorder {
            inner: setup.engine(),
            reported: Vec::new(),
        };
        let steps = run(setup, &mut recorder, &mut Random::new(!seed), TICKS, |_| {});
        let mut replayed = setup.engine();
        let mut plans = Vec::new();
        for call in &recorder.reported {
            match *call {
                Call::Apply(at, fact) => replayed.apply(at, fact).unwrap(),
                Call::Decide(now) => {
                    let plan = replayed.decide(now).unwrap();
                    plans.push((now.as_nanos(), plan.slot(CPU), plan.next, plan.mode));
                }
            }
        }
        assert_eq!(without_facts(&steps), plans, "seed {seed}");
        assert_eq!(recorder.inner, replayed, "seed {seed}");
    });
}

enum Call {
    Apply(Instant, Fact),
    Decide(Instant),
}

struct Recorder {
    inner: Uniprocessor,
    reported: Vec<Call>,
}

impl Scheduler for Recorder {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.reported.push(Call::Apply(at, fact));
        self.inner.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.reported.push(Call::Decide(now));
        self.inner.decide(now)
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.inner.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.inner.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.inner.lost_notices()
    }
}

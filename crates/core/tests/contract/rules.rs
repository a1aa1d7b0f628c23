//! The rules that random runs alone do not show: C2 and C5, and for the others a world or a scheduler
//! that breaks them and is found.

use crate::{RUNS, TICKS, for_each_run, plain, without_facts};
use std::sync::atomic::{AtomicU64, Ordering};
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::short::CPU;
use vestal_testkit::systems::{Setup, Step, run};

/// A scheduler between the world and the engine that sees, and may change, what passes.
struct Between<E> {
    inner: Uniprocessor,
    /// Who runs, as the world confirmed it.
    running: Option<JobId>,
    slots: Vec<Option<Slot>>,
    each: E,
}

/// What is done before a call is passed on.
trait Each {
    fn fact(
        &mut self,
        _at: &mut Instant,
        _fact: &mut Fact,
        _inner: &mut Uniprocessor,
        _running: Option<JobId>,
    ) {
    }
    fn now(&mut self, _now: &mut Instant) {}
    fn slots(&mut self, _slots: &mut Vec<Option<Slot>>, _inner: &mut Uniprocessor, _now: Instant) {}
}

impl<E> Between<E> {
    fn new(setup: &Setup, each: E) -> Self {
        Self {
            inner: setup.engine(),
            running: None,
            slots: Vec::new(),
            each,
        }
    }
}

impl<E: Each> Scheduler for Between<E> {
    fn apply(&mut self, mut at: Instant, mut fact: Fact) -> Result<(), ContractViolation> {
        let running = self.running;
        self.each.fact(&mut at, &mut fact, &mut self.inner, running);
        self.inner.apply(at, fact)?;
        if let Fact::Started { job, .. } = fact {
            self.running = Some(job);
        } else if matches!(fact, Fact::Stopped { .. } | Fact::Completed { .. }) {
            self.running = None;
        }
        Ok(())
    }
    fn decide(&mut self, mut now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.each.now(&mut now);
        let plan = self.inner.decide(now)?;
        self.slots = plan.slots.to_vec();
        let (next, mode) = (plan.next, plan.mode);
        self.each.slots(&mut self.slots, &mut self.inner, now);
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences::NONE,
            next,
            mode,
        })
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

fn steps_of<E: Each>(seed: u64, setup: &Setup, each: E) -> Vec<Step> {
    let mut between = Between::new(setup, each);
    run(setup, &mut between, &mut Random::new(!seed), TICKS, |_| {})
}

/// Slots and modes, without instants.
fn decisions(steps: &[Step]) -> Vec<(Option<Slot>, Level)> {
    steps.iter().map(|step| (step.slot, step.mode)).collect()
}

/// A world whose clock shows `factor` times as much; if `wall`, it takes that for execution.
struct Slow {
    factor: u64,
    wall: bool,
}

impl Each for Slow {
    fn fact(&mut self, at: &mut Instant, fact: &mut Fact, _: &mut Uniprocessor, _: Option<JobId>) {
        self.now(at);
        if let Fact::Charged { amount, .. } = fact
            && self.wall
        {
            *amount = Service::from_nanos(amount.as_nanos() * self.factor);
        }
    }
    fn now(&mut self, now: &mut Instant) {
        *now = Instant::from_nanos(now.as_nanos() * self.factor);
    }
}

/// Where no deadline and no slice is an instant of the clock, execution alone decides.
fn is_timeless(setup: &Setup) -> bool {
    setup.virtual_deadlines.is_none()
        && setup.enforcement != Enforcement::Slices
        && setup.enforcement != Enforcement::ZeroSlack
        && setup
            .tasks
            .iter()
            .all(|task| task.on_miss == OnMiss::Continue)
}

#[test]
fn c2_limits_count_what_was_charged_whatever_the_clock_says() {
    let (mut runs, mut found) = (0, 0);
    for_each_run(|seed, setup| {
        if !is_timeless(setup) {
            return;
        }
        runs += 1;
        let (steps, _) = plain(seed, setup);
        let slow = |wall| decisions(&steps_of(seed, setup, Slow { factor: 3, wall }));
        assert_eq!(slow(false), decisions(&steps), "seed {seed}");
        // The control: who takes wall time for execution uses limits up too early.
        found += u32::from(slow(true) != decisions(&steps));
    });
    assert!(runs > 30 && found * 2 > runs, "{found} of {runs}");
}

/// A world that, beside what is true, says something that is not, and expects a refusal.
struct Liar {
    refused: [u32; 3],
}

impl Each for &mut Liar {
    fn fact(
        &mut self,
        at: &mut Instant,
        fact: &mut Fact,
        inner: &mut Uniprocessor,
        running: Option<JobId>,
    ) {
        let (Fact::Charged { job, .. } | Fact::Started { job, .. } | Fact::Stopped { job, .. }) =
            *fact
        else {
            return;
        };
        let before = inner.clone();
        let other = JobId {
            task: TaskId((job.task.0 + 1) % 2),
            ..job
        };
        let mut refuse = |position: usize, lie: Fact, expected: ContractViolation| {
            assert_eq!(inner.apply(*at, lie), Err(expected), "{lie:?}");
            assert_eq!(*inner, before, "{lie:?}");
            self.refused[position] += 1;
        };
        if let Some(running) = running {
            let amount = Service::from_nanos(1);
            let (job, cpu) = (other, CPU);
            // C2: only who runs executes.
            let charged = Fact::Charged { cpu, job, amount };
            refuse(0, charged, ContractViolation::ChargedWhileNotRunning(job));
            // C5: no job starts where one runs, not even who runs there.
            let busy = ContractViolation::CpuBusy { cpu, running };
            for job in [other, running] {
                refuse(1, Fact::Started { cpu, job }, busy);
            }
        } else {
            let why = StopReason::Preempted;
            let stopped = Fact::Stopped { cpu: CPU, job, why };
            refuse(2, stopped, ContractViolation::UnknownJob(job));
        }
    }
}

#[test]
fn c2_and_c5_what_did_not_happen_is_refused_and_changes_nothing() {
    let mut liar = Liar { refused: [0; 3] };
    for_each_run(|seed, setup| {
        let steps = steps_of(seed, setup, &mut liar);
        assert_eq!(steps, plain(seed, setup).0, "seed {seed}");
    });
    assert!(
        liar.refused.iter().all(|count| *count > 1000),
        "{:?}",
        liar.refused
    );
}

/// A world that is slow: what a plan wants it enacts only now and then, and who ran meanwhile is charged.
/// How often it charged a job that the plan did not want any more, or the first refusal.
fn enact_late(
    seed: u64,
    setup: &Setup,
    scheduler: &mut dyn Scheduler,
) -> Result<u32, ContractViolation> {
    let mut random = Random::new(seed ^ 0x5ca1e);
    let (mut running, mut wanted, mut beside): (Option<JobId>, Option<JobId>, u32) =
        (None, None, 0);
    for tick in 0..TICKS {
        let at = Instant::from_nanos(tick);
        if let Some(job) = running {
            let amount = Service::from_nanos(1);
            scheduler.apply(
                at,
                Fact::Charged {
                    cpu: CPU,
                    job,
                    amount,
                },
            )?;
            beside += u32::from(wanted != running);
            if random.below(4) == 0 {
                scheduler.apply(at, Fact::Completed { cpu: CPU, job })?;
                running = None;
            }
        }
        for (task, entry) in (0..).map(TaskId).zip(&setup.tasks) {
            let period = entry.task.period.as_nanos();
            if tick % period == 0 {
                let sequence = tick / period;
                scheduler.apply(
                    at,
                    Fact::Released {
                        job: JobId { task, sequence },
                    },
                )?;
            }
        }
        wanted = scheduler.decide(at)?.slot(CPU).map(|slot| slot.job);
        if wanted != running && random.below(3) == 0 {
            if let Some(job) = running {
                let why = StopReason::Preempted;
                scheduler.apply(at, Fact::Stopped { cpu: CPU, job, why })?;
            }
            running = wanted;
            if let Some(job) = running {
                scheduler.apply(at, Fact::Started { cpu: CPU, job })?;
            }
        }
    }
    Ok(beside)
}

/// The control: takes its plan for what happened.
struct Believer {
    planned: Option<JobId>,
}

impl Each for Believer {
    fn slots(&mut self, slots: &mut Vec<Option<Slot>>, inner: &mut Uniprocessor, now: Instant) {
        let wanted = slots.first().copied().flatten().map(|slot| slot.job);
        if self.planned == wanted {
            return;
        }
        // Where the world said otherwise meanwhile, that holds.
        if let Some(job) = std::mem::replace(&mut self.planned, wanted) {
            let why = StopReason::Preempted;
            let _ = inner.apply(now, Fact::Stopped { cpu: CPU, job, why });
        }
        if let Some(job) = wanted {
            let _ = inner.apply(now, Fact::Started { cpu: CPU, job });
        }
    }
}

#[test]
fn c5_until_the_world_confirms_it_a_plan_has_not_happened() {
    let (mut beside, mut found) = (0, 0);
    for_each_run(|seed, setup| {
        let late = enact_late(seed, setup, &mut setup.engine());
        beside += late.unwrap_or_else(|refusal| panic!("seed {seed}: {refusal}"));
        let mut believer = Between::new(setup, Believer { planned: None });
        found += u64::from(enact_late(seed, setup, &mut believer).is_err());
    });
    assert!(beside > 5000, "{beside}");
    assert!(found * 10 > RUNS * 9, "{found} of {RUNS}");
}

/// Gives a plan as the difference to the last one.
#[derive(Default)]
struct Differences {
    last: Vec<Option<Slot>>,
}

impl Each for Differences {
    fn slots(&mut self, slots: &mut Vec<Option<Slot>>, _: &mut Uniprocessor, _: Instant) {
        let whole = slots.clone();
        if whole == self.last {
            slots.fill(None);
        }
        self.last = whole;
    }
}

#[test]
fn c4_a_plan_that_is_a_difference_would_be_found() {
    let mut found = 0;
    for_each_run(|seed, setup| {
        let mut between = Between::new(setup, Differences::default());
        let steps = run(setup, &mut between, &mut Random::new(!seed), TICKS, |_| {});
        let last = steps.last().unwrap();
        let again = between.decide(Instant::from_nanos(last.at)).unwrap();
        found += u64::from(again.slot(CPU) != last.slot);
    });
    assert!(found * 2 > RUNS, "{found}");
}

/// Takes each wake-up for a unit of execution.
struct Quanta;

impl Each for Quanta {
    fn fact(
        &mut self,
        at: &mut Instant,
        fact: &mut Fact,
        inner: &mut Uniprocessor,
        running: Option<JobId>,
    ) {
        if let (Fact::Timer, Some(job)) = (*fact, running) {
            let amount = Service::from_nanos(1);
            // It may be reported behind the job's completion.
            let _ = inner.apply(
                *at,
                Fact::Charged {
                    cpu: CPU,
                    job,
                    amount,
                },
            );
        }
    }
}

#[test]
fn c6_wake_ups_that_are_taken_for_execution_would_be_found() {
    let mut found = 0;
    for_each_run(|seed, setup| {
        let mut between = Between::new(setup, Quanta);
        let reported = |facts: &mut Vec<Fact>| facts.insert(0, Fact::Timer);
        let steps = run(
            setup,
            &mut between,
            &mut Random::new(!seed),
            TICKS,
            reported,
        );
        found += u64::from(without_facts(&steps) != without_facts(&plain(seed, setup).0));
    });
    assert!(found * 2 > RUNS, "{found}");
}

#[test]
fn c7_releases_without_end_are_dropped_and_counted() {
    const REPORTED: u64 = 1000;
    for_each_run(|seed, setup| {
        let mut engine = setup.engine();
        let task = TaskId(0);
        for sequence in 0..REPORTED {
            let at = Instant::from_nanos(sequence);
            let job = JobId { task, sequence };
            engine.apply(at, Fact::Released { job }).unwrap();
            engine.decide(at).unwrap();
            assert!(engine.check_invariants(), "seed {seed}");
        }
        let notices = std::iter::from_fn(|| engine.take_notice()).map(|notice| notice.what);
        let dropped = notices
            .filter(|what| matches!(what, Event::Dropped { .. }))
            .count() as u64;
        let counted = dropped + engine.lost_notices();
        assert!(counted > REPORTED / 2, "seed {seed}: {counted}");
        assert!(
            dropped < REPORTED / 2,
            "seed {seed}: as many notices as there were releases"
        );
    });
}

/// Decides by something that is neither configuration nor a fact.
struct Moody;

static MOOD: AtomicU64 = AtomicU64::new(0);

impl Each for Moody {
    fn slots(&mut self, slots: &mut Vec<Option<Slot>>, _: &mut Uniprocessor, _: Instant) {
        if MOOD.fetch_add(1, Ordering::Relaxed) % 7 == 3 {
            slots.fill(None);
        }
    }
}

#[test]
fn c8_decisions_by_something_that_is_no_fact_would_be_found() {
    let mut found = 0;
    for_each_run(|seed, setup| {
        let twice = [(); 2].map(|()| without_facts(&steps_of(seed, setup, Moody)));
        found += u64::from(twice[0] != twice[1]);
    });
    assert!(found * 2 > RUNS, "{found}");
}

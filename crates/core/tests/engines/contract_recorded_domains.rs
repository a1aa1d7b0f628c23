//! Each domain of MC² as a scheduler of its own: it is recorded in a run of the whole and called again,
//! as it was, and as the contract allows otherwise (C1, C3, C4, C6, C7, C8). For each rule something
//! breaks it and is found.

use crate::recorded_domains::{
    Domain, RUNS, Recorded, Run, Step, TICKS, for_each_domain, replayed, turns,
};
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::short::{at, job, span};

#[test]
fn the_whole_of_recorded_domains_is_the_whole_of_plain_ones() {
    for seed in 0..RUNS {
        let run = Run::new(seed);
        let (rows, mut plain) = run.drawn(run.whole());
        let (recorded_rows, mut engine) = run.drawn(run.around(Recorded::new));
        assert_eq!(recorded_rows, rows, "seed {seed}");
        let heard = |engine: &mut dyn Scheduler| -> Vec<Notice> {
            std::iter::from_fn(|| engine.take_notice()).collect()
        };
        assert_eq!(heard(&mut engine), heard(&mut plain));
        assert_eq!(engine.lost_notices(), plain.lost_notices());
        for task in (0..run.tasks.len() as u16).map(TaskId) {
            assert_eq!(engine.permit(task), plain.permit(task), "{task:?}");
        }
        let (locals, shared) = engine.into_domains();
        let (plain_locals, plain_shared) = plain.clone().into_domains();
        for (number, (recorded, plain)) in locals.iter().zip(&plain_locals).enumerate() {
            assert_eq!(recorded.domain, Domain::Local(plain.clone()));
            assert_eq!(recorded.domain.backlog(), usize::MAX);
            // Slots up to its own CPU, and for no other one.
            for step in &recorded.steps {
                let (slots, _) = step.answer.as_ref().unwrap();
                assert_eq!(slots.len(), number + 1);
                assert!(slots[..number].iter().all(Option::is_none));
            }
        }
        assert_eq!(shared.domain, Domain::Shared(plain_shared.clone()));
        assert_eq!(shared.domain.backlog(), usize::MAX);
        // The domains go on in another whole.
        let again =
            run.with(|known| Levelled::with_domains(known, plain_locals.clone(), plain_shared));
        let later = at(TICKS + 5);
        let slots = again.unwrap().decide(later).unwrap().slots.to_vec();
        assert_eq!(slots, plain.decide(later).unwrap().slots);
    }
}

#[test]
fn a_whole_has_a_domain_for_each_cpu() {
    let run = Run::new(1);
    let (expected, list) = (run.slots.len(), "domains");
    for found in [expected - 1, expected + 1] {
        let mut domains = run.fresh().into_iter().cycle();
        let shared = domains.next().unwrap();
        let domains = domains.take(found);
        let wrong = run.with(|known| Levelled::with_domains(known, domains, shared));
        let error = TableError::Length {
            list,
            expected,
            found,
        };
        assert_eq!(wrong.err(), Some(error.into()));
    }
}

#[test]
fn c1_no_domains_clock_goes_back_or_beyond_the_horizon() {
    let beyond = Instant::from_nanos(Instant::HORIZON.as_nanos() + 1);
    for_each_domain(|recorded, _, seed| {
        let mut domain = recorded.domain.clone();
        let earlier = domain.decide(at(TICKS - 1)).map(|_| ());
        let (last, now) = (at(TICKS), at(TICKS - 1));
        let back = ContractViolation::ClockWentBack { last, now };
        assert_eq!(earlier, Err(back), "seed {seed}");
        let (cpu, open) = (CpuId(0), true);
        for fact in [Fact::Timer, Fact::CpuOpen { cpu, open }] {
            assert!(domain.apply(beyond, fact).is_err());
        }
        assert!(domain.decide(beyond).is_err());
        // A publication belongs to the shared domain alone, and is of a CPU that there is.
        let foreign = domain.apply(last, Fact::CpuOpen { cpu, open });
        if domain.is_shared() {
            assert_eq!(foreign, Ok(()));
            domain = recorded.domain.clone();
            let cpu = CpuId(3);
            let unknown = domain.apply(last, Fact::CpuOpen { cpu, open });
            assert_eq!(unknown, Err(ContractViolation::UnknownCpu(cpu)));
        } else {
            assert_eq!(foreign, Err(ContractViolation::NotOfThisPolicy));
        }
        assert_eq!(domain, recorded.domain);
    });
    // And none is told to the whole, whose own domains say so.
    let mut whole = Run::new(0).whole();
    let (cpu, open) = (CpuId(0), true);
    let foreign = whole.apply(at(0), Fact::CpuOpen { cpu, open });
    assert_eq!(foreign, Err(ContractViolation::NotOfThisPolicy));
    assert_eq!(whole, Run::new(0).whole());
}

#[test]
fn c8_each_domain_is_replayed_from_its_own_facts() {
    let (mut decided, mut published) = (0, 0);
    for_each_domain(|recorded, fresh, seed| {
        let (different, domain) = replayed(fresh, &recorded.steps);
        assert_eq!(different, None, "seed {seed}");
        assert_eq!(domain, recorded.domain, "seed {seed}");
        decided += recorded.steps.len();
        published += turns(&recorded.steps).len();
    });
    assert!(
        decided > 30_000 && published > 5_000,
        "{decided} {published}"
    );
}

/// Whether a replay finds what `spoil` makes of a recording, for each turn of a CPU.
fn found(spoil: impl Fn(&mut Vec<Step>, usize, usize) -> bool) -> (u32, u32) {
    let (mut found, mut tried) = (0, 0);
    for_each_domain(|recorded, fresh, seed| {
        let turns = turns(&recorded.steps);
        if turns.is_empty() {
            return;
        }
        let (number, place) = turns[Random::new(seed).index(turns.len())];
        let mut steps = recorded.steps.clone();
        if spoil(&mut steps, number, place) {
            tried += 1;
            let (different, domain) = replayed(fresh, &steps);
            found += u32::from(different.is_some() || domain != recorded.domain);
        }
    });
    (found, tried)
}

/// The control of the test above. Not every CPU that opens or closes makes a difference: there may be
/// nothing to run there.
#[test]
fn c8_a_publication_that_is_lost_or_told_a_step_too_early_or_too_late_is_found() {
    let lost = found(|steps, number, place| {
        steps[number].facts.remove(place);
        true
    });
    let early = found(|steps, number, place| {
        let fact = steps[number].facts.remove(place);
        number > 0 && {
            steps[number - 1].facts.push(fact);
            true
        }
    });
    let late = found(|steps, number, place| {
        let fact = steps[number].facts.remove(place);
        number + 1 < steps.len() && {
            steps[number + 1].facts.insert(0, fact);
            true
        }
    });
    for (found, tried) in [lost, early, late] {
        assert!(
            tried > 150 && found * 2 > tried,
            "{lost:?} {early:?} {late:?}"
        );
    }
}

#[test]
fn c2_and_c5_what_did_not_happen_is_refused_by_each_domain_and_changes_nothing() {
    let mut refused = [0, 0];
    for_each_domain(|recorded, fresh, seed| {
        let mut domain = fresh.clone();
        for step in &recorded.steps {
            for (at, fact) in &step.facts {
                domain.apply(*at, *fact).unwrap();
            }
            let slots = domain.decide(step.now).unwrap().slots.to_vec();
            let before = domain.clone();
            let (amount, why) = (Service::from_nanos(1), StopReason::Preempted);
            for (cpu, slot) in (0..).map(CpuId).zip(slots) {
                let Some(Slot { job, .. }) = slot else {
                    continue;
                };
                let sequence = job.sequence + 1_000_000;
                let other = JobId { sequence, ..job };
                let unknown = ContractViolation::UnknownJob(other);
                let not_running = ContractViolation::ChargedWhileNotRunning(other);
                let job = other;
                for (lie, expected) in [
                    (Fact::Charged { cpu, job, amount }, not_running),
                    (Fact::Stopped { cpu, job, why }, unknown),
                    (Fact::Completed { cpu, job }, unknown),
                ] {
                    assert_eq!(domain.apply(step.now, lie), Err(expected), "seed {seed}");
                    refused[usize::from(domain.is_shared())] += 1;
                }
                let started = domain.apply(step.now, Fact::Started { cpu, job });
                assert!(started.is_err(), "seed {seed}");
                assert_eq!(domain, before);
            }
        }
    });
    assert!(refused.iter().all(|count| *count > 10_000), "{refused:?}");
}

/// The controls: a world that takes time on a busy machine for execution, and a domain that takes its
/// plan for what happened.
#[test]
fn c2_and_c5_other_charges_and_starts_that_nobody_confirmed_are_found() {
    let (mut domains, mut charged, mut believed) = (0, 0, 0);
    for_each_domain(|recorded, fresh, _| {
        let is_start = |step: &Step| {
            let start = |(_, fact): &(Instant, Fact)| matches!(fact, Fact::Started { .. });
            step.facts.iter().any(start)
        };
        if !recorded.steps.iter().any(is_start) {
            return;
        }
        domains += 1;
        let mut steps = recorded.steps.clone();
        for (_, fact) in steps.iter_mut().flat_map(|step| &mut step.facts) {
            if let Fact::Charged { amount, .. } = fact {
                *amount = amount.saturating_add(Service::from_nanos(1));
            }
        }
        charged += u32::from(replayed(fresh, &steps).0.is_some());
        let mut steps = recorded.steps.clone();
        for (step, last) in steps.iter_mut().skip(1).zip(&recorded.steps) {
            let (slots, _) = last.answer.clone().unwrap();
            for (cpu, slot) in (0..).map(CpuId).zip(slots) {
                let started = slot.map(|Slot { job, .. }| Fact::Started { cpu, job });
                let started = started.map(|started| (last.now, started));
                step.facts.splice(0..0, started);
            }
        }
        believed += u32::from(replayed(fresh, &steps).0.is_some());
    });
    assert!(
        domains > 400 && charged * 2 > domains && believed * 10 > domains * 9,
        "{charged} {believed} of {domains}"
    );
}

/// Any order of a step's facts in which what a CPU executed comes before what ended there, and that
/// before what started.
fn shuffle(facts: &mut [(Instant, Fact)], random: &mut Random) {
    let has_order = |fact: &Fact| {
        !matches!(
            fact,
            Fact::Released { .. } | Fact::CpuOpen { .. } | Fact::Timer | Fact::Idle { .. }
        )
    };
    let told = facts.to_vec();
    let mut in_order = told.iter().filter(|(_, fact)| has_order(fact));
    random.shuffle(facts);
    for entry in facts.iter_mut().filter(|(_, fact)| has_order(fact)) {
        *entry = *in_order.next().unwrap();
    }
}

#[test]
fn c3_no_order_of_the_facts_of_one_instant_changes_a_plan_of_a_domain() {
    let (mut permuted, mut several) = (0, 0);
    for_each_domain(|recorded, fresh, seed| {
        for round in 0..3 {
            let mut random = Random::new(seed * 3 + round);
            let mut steps = recorded.steps.clone();
            for step in &mut steps {
                for (at, fact) in step.facts.clone() {
                    // What is said twice, and what is contradicted in the same breath.
                    if let Fact::CpuOpen { cpu, open } = fact {
                        step.facts.push((at, fact));
                        let contrary = Fact::CpuOpen { cpu, open: true };
                        step.facts.extend((!open).then_some((at, contrary)));
                        several += u32::from(!open);
                    }
                }
                let before = step.facts.clone();
                shuffle(&mut step.facts, &mut random);
                permuted += u32::from(step.facts != before);
            }
            let (different, domain) = replayed(fresh, &steps);
            assert_eq!(different, None, "seed {seed}");
            assert_eq!(domain, recorded.domain, "seed {seed}");
        }
    });
    assert!(
        permuted > 50_000 && several > 20_000,
        "{permuted} {several}"
    );
}

/// The control: a domain that decides as soon as it is told something.
#[test]
fn c3_consequences_drawn_while_a_domain_is_told_facts_would_be_found() {
    let (mut found, mut tried) = (0, 0);
    for_each_domain(|recorded, fresh, seed| {
        let mut random = Random::new(seed);
        let mut steps = Vec::new();
        for step in &recorded.steps {
            let mut facts = step.facts.clone();
            shuffle(&mut facts, &mut random);
            let eager = facts.into_iter().map(|fact| Step {
                facts: vec![fact],
                now: step.now,
                answer: None,
            });
            steps.extend(eager);
            let facts = Vec::new();
            steps.push(Step {
                facts,
                ..step.clone()
            });
        }
        tried += 1;
        found += u32::from(replayed(fresh, &steps).0.is_some());
    });
    assert!(found > 50, "{found} of {tried}");
}

/// CPUs take their steps one by one, in any order; who decides last sees what all have published.
#[test]
fn c9_publications_may_come_at_once_or_with_decisions_in_between() {
    let mut between = 0;
    for_each_domain(|recorded, fresh, seed| {
        let mut random = Random::new(seed);
        let mut steps = Vec::new();
        for step in &recorded.steps {
            let is_publication = |fact: &(Instant, Fact)| matches!(fact.1, Fact::CpuOpen { .. });
            let (mut open, facts): (Vec<_>, Vec<_>) =
                step.facts.iter().copied().partition(is_publication);
            random.shuffle(&mut open);
            let (now, answer) = (step.now, None);
            steps.push(Step { facts, now, answer });
            for fact in open {
                let (facts, answer) = (vec![fact], None);
                steps.push(Step { facts, now, answer });
                between += 1;
            }
            let answer = step.answer.clone();
            steps.last_mut().unwrap().answer = answer;
        }
        let (different, domain) = replayed(fresh, &steps);
        assert_eq!(different, None, "seed {seed}");
        assert_eq!(domain, recorded.domain, "seed {seed}");
    });
    assert!(between > 20_000, "{between}");
}

/// Calls that nobody asked for: at some instants between two decisions, and after each once more.
fn disturbed(recorded: &Recorded, seed: u64) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut steps: Vec<Step> = Vec::new();
    let mut known = Vec::new();
    for step in &recorded.steps {
        let last = steps.last().map_or(0, |step| step.now.as_nanos());
        for now in (last..=step.now.as_nanos()).map(at) {
            // Facts of the instant of the decision are told in one (C3).
            if now < step.now && random.below(2) == 0 {
                let cpu = CpuId(recorded.steps[0].answer.as_ref().unwrap().0.len() as u16 - 1);
                let mut facts = vec![(now, Fact::Timer), (now, Fact::Idle { cpu })];
                // A CPU that is what it was.
                facts.extend(known.iter().map(|fact| (now, *fact)));
                let answer = None;
                steps.push(Step { facts, now, answer });
            }
        }
        for (_, fact) in &step.facts {
            if let Fact::CpuOpen { cpu, .. } = fact {
                known.retain(
                    |known| !matches!(known, Fact::CpuOpen { cpu: other, .. } if other == cpu),
                );
                known.push(*fact);
            }
        }
        let again = Step {
            facts: vec![(step.now, Fact::Timer)],
            ..step.clone()
        };
        steps.extend([step.clone(), again]);
    }
    steps
}

#[test]
fn c4_and_c6_calls_that_nobody_asked_for_change_nothing_in_a_domain() {
    let mut spurious = 0;
    for_each_domain(|recorded, fresh, seed| {
        let steps = disturbed(recorded, seed);
        spurious += steps.len() - 2 * recorded.steps.len();
        let (different, domain) = replayed(fresh, &steps);
        assert_eq!(different, None, "seed {seed}");
        assert_eq!(domain, recorded.domain, "seed {seed}");
    });
    assert!(spurious > 3_000, "{spurious}");
}

/// A domain that takes each call for a unit of time, as the control.
#[test]
fn c6_calls_that_are_taken_for_time_would_be_found() {
    let mut found = 0;
    for_each_domain(|recorded, fresh, seed| {
        let mut ahead = 0;
        let steps: Vec<Step> = disturbed(recorded, seed)
            .into_iter()
            .map(|step| {
                ahead += u64::from(step.answer.is_none());
                let now = at(step.now.as_nanos() + ahead);
                Step { now, ..step }
            })
            .collect();
        found += u64::from(replayed(fresh, &steps).0.is_some());
    });
    assert!(found > RUNS, "{found}");
}

/// How late a domain was called after each of its steps that wanted a call, and saw what one called in
/// time saw.
fn called_late(recorded: &Recorded, fresh: &Domain, by: Duration) -> u32 {
    let (mut domain, mut checked) = (fresh.clone(), 0);
    for step in &recorded.steps {
        for (at, fact) in &step.facts {
            domain.apply(*at, *fact).unwrap();
        }
        let wake = domain.decide(step.now).unwrap().next;
        while domain.take_notice().is_some() {}
        let Some(wake) = wake else { continue };
        let (mut in_time, mut late) = (domain.clone(), domain.clone());
        in_time.decide(wake.at).unwrap();
        assert_eq!(in_time.take_notice(), None);
        let now = wake.at.saturating_add(by);
        late.decide(now).unwrap();
        let what = Event::Late { by };
        assert_eq!(late.take_notice(), Some(Notice { at: now, what }));
        // A table knows where it is; a ghost that should have begun or stopped then is elsewhere now.
        let in_step = !domain.has_ghost() || wake.why == WakeReason::Consumption;
        if in_step && !in_time.has_ghost() {
            let slots = in_time.decide(now).unwrap().slots.to_vec();
            assert_eq!(late.decide(now).unwrap().slots, slots, "{step:?}");
            checked += 1;
        }
    }
    checked
}

#[test]
fn c6_a_late_call_gives_the_plan_of_the_true_time_and_a_notice() {
    let mut late = [0, 0];
    for_each_domain(|recorded, fresh, seed| {
        let by = span(1 + seed % 3);
        late[usize::from(fresh.is_shared())] += called_late(recorded, fresh, by);
    });
    assert!(late.iter().all(|count| *count > 500), "{late:?}");
}

#[test]
fn c7_what_a_domain_is_told_without_end_is_dropped_and_counted_or_forgotten() {
    const TOLD: u64 = 1000;
    let mut checked = [0, 0];
    for_each_domain(|_, fresh, seed| {
        let mut domain = fresh.clone();
        let task = (0..20).find(|task| {
            let released = Fact::Released { job: job(*task, 0) };
            domain.clone().apply(at(0), released).is_ok()
        });
        let Some(task) = task else { return };
        for sequence in 0..TOLD {
            let now = at(sequence);
            let released = Fact::Released {
                job: job(task, sequence),
            };
            domain.apply(now, released).unwrap();
            if domain.is_shared() {
                // As often as a CPU likes, before anything is decided.
                for time in 0..4 {
                    let (cpu, open) = (CpuId(0), (sequence + time) % 3 == 0);
                    domain.apply(now, Fact::CpuOpen { cpu, open }).unwrap();
                }
            }
            domain.decide(now).unwrap();
            assert!(domain.is_sound(), "seed {seed}");
        }
        let notices = std::iter::from_fn(|| domain.take_notice()).map(|notice| notice.what);
        let dropped = notices.filter(|what| matches!(what, Event::Dropped { .. }));
        let counted = dropped.count() as u64 + domain.lost_notices();
        assert!(counted > TOLD / 2, "seed {seed}: {counted}");
        checked[usize::from(domain.is_shared())] += 1;
    });
    assert!(checked.iter().all(|count| *count > 100), "{checked:?}");
}

/// How what one domain publishes reaches the other, if all is not well.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Some of it never does.
    Lost,
    /// As if it had been said at the last decision.
    Early,
    /// Behind the decision.
    Late,
}

/// A domain behind a faulty way.
struct Faulty {
    domain: Domain,
    fault: Option<Fault>,
    random: Random,
    last: Instant,
    behind: Vec<(Instant, Fact)>,
    slots: Vec<Option<Slot>>,
}

impl Scheduler for Faulty {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        let is_publication = matches!(fact, Fact::CpuOpen { .. });
        match self.fault.filter(|_| is_publication) {
            Some(Fault::Lost) if self.random.once_in(3) => Ok(()),
            Some(Fault::Early) => self.domain.apply(self.last, fact),
            Some(Fault::Late) => {
                self.behind.push((at, fact));
                Ok(())
            }
            Some(Fault::Lost) | None => self.domain.apply(at, fact),
        }
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        let plan = self.domain.decide(now)?;
        let (next, mode) = (plan.next, plan.mode);
        self.slots = plan.slots.to_vec();
        self.last = now;
        for (at, fact) in std::mem::take(&mut self.behind) {
            self.domain.apply(at, fact)?;
        }
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences::NONE,
            next,
            mode,
        })
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.domain.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.domain.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.domain.lost_notices()
    }
}

/// The control of every comparison of schedules: a faulty way between the domains is seen in who runs.
#[test]
fn a_publication_that_does_not_arrive_as_it_was_said_changes_the_schedule() {
    let faults = [
        None,
        Some(Fault::Lost),
        Some(Fault::Early),
        Some(Fault::Late),
    ];
    let (mut found, mut tried) = ([0; 4], 0);
    // On several CPUs such a world may never reach what it plans.
    let runs = (0..3 * RUNS).map(|seed| (seed, Run::new(seed)));
    for (seed, run) in runs.filter(|(_, run)| run.slots.len() == 1) {
        let (rows, _) = run.drawn(run.whole());
        tried += 1;
        for (fault, found) in faults.into_iter().zip(&mut found) {
            let faulty = |domain| Faulty {
                domain,
                fault,
                random: Random::new(seed),
                last: Instant::EPOCH,
                behind: Vec::new(),
                slots: Vec::new(),
            };
            *found += u64::from(run.drawn(run.around(faulty)).0 != rows);
        }
    }
    assert_eq!(found[0], 0);
    assert!(
        found[1..].iter().all(|count| count * 4 > tried),
        "{found:?} of {tried}"
    );
}

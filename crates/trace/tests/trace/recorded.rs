//! A recorded run replays to the same plans.

use crate::common::recording;
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::short::CPU;
use vestal_trace::replay::{Failure, Mismatch};
use vestal_trace::{Dispatch, Header, Record, Recorder, What, replay};

fn sure(records: &[Record]) -> impl Iterator<Item = Result<Record, ()>> {
    records.iter().map(|record| Ok(*record))
}

#[test]
fn every_recorded_run_replays_without_a_difference() {
    let (mut raised, mut missed, mut dropped) = (0, 0, 0);
    for seed in 0..300 {
        let (setup, header, records) = recording(seed, 200, seed % 3 == 0);
        let summary = replay(&header, sure(&records), &mut setup.engine())
            .unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"));
        assert_eq!(summary.records, records.len() as u64);
        assert_eq!(summary.decisions, 200);
        assert!(summary.facts > 50 && (seed % 3 != 0 || summary.permits > 0));
        let has = |test: fn(&What) -> bool| records.iter().any(|record| test(&record.what));
        raised += u32::from(has(|what| {
            matches!(what, What::Notice(Event::ModeChanged { .. }))
        }));
        missed += u32::from(has(|what| matches!(what, What::Miss { .. })));
        dropped += u32::from(has(|what| {
            matches!(what, What::Notice(Event::Dropped { .. }))
        }));
    }
    assert!(
        raised > 60 && missed > 60 && dropped > 60,
        "{raised} {missed} {dropped}"
    );
}

#[test]
fn another_configuration_gives_a_difference_with_the_records_around_it() {
    let mut different = 0;
    for seed in 0..100 {
        let (mut setup, header, records) = recording(seed, 200, false);
        setup.enforcement = match setup.enforcement {
            Enforcement::Static => Enforcement::Adaptive,
            _ => Enforcement::Static,
        };
        if let Err(Failure::Differs(difference)) =
            replay(&header, sure(&records), &mut setup.engine())
        {
            different += 1;
            let number = difference.number as usize;
            assert_eq!(difference.recorded, Some(records[number]));
            let first = number.saturating_sub(8);
            assert_eq!(difference.before, records[first..number]);
            assert!(records[number + 1..].starts_with(&difference.after));
            let text = difference.to_string();
            assert!(text.contains(&records[number].to_string()), "{text}");
        }
    }
    assert!(different > 80, "{different}");
}

/// Facts that break the contract are recorded with the refusal, and refused again.
#[test]
fn a_recorded_guard_says_of_its_limits_what_the_guard_says() {
    let span = Duration::from_nanos(20);
    let task = Task::new(Level(0), span, span, Wcet::constant(Service::from_nanos(4))).unwrap();
    let guard = |enforcement, exhaustion| {
        let guard = Guard::new(&Configuration {
            tasks: &[TaskConfiguration::new(task, 1)],
            levels: LevelSet::new(2).unwrap(),
            enforcement,
            exhaustion,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        });
        Recorder::new(guard.unwrap(), Vec::<Record>::new())
    };
    let sliced = guard(Enforcement::Slices, Exhaustion::Continue);
    let limit = Some(Service::from_nanos(4));
    assert_eq!(sliced.limit_at(TaskId(0), Level(0)), limit);
    assert!(!sliced.stops_at_own_limit());
    assert!(sliced.suspends_until_instants() && !sliced.has_modes());
    assert!(!sliced.budgets_outlive_jobs());
    assert!(guard(Enforcement::Adaptive, Exhaustion::Abort).has_modes());
}

#[test]
fn refused_calls_are_recorded_and_replayed() {
    let (setup, header, _) = recording(1, 2, false);
    let mut recorder = Recorder::new(setup.engine(), Vec::new());
    let at = Instant::from_nanos;
    let stranger = JobId {
        task: TaskId(99),
        sequence: 0,
    };
    recorder.decide(at(5)).unwrap();
    recorder
        .apply(at(6), Fact::Released { job: stranger })
        .unwrap_err();
    recorder.decide(at(3)).unwrap_err();
    recorder
        .apply(Instant::from_nanos(u64::MAX), Fact::Timer)
        .unwrap_err();
    recorder.decide(at(7)).unwrap();
    let (_, records) = recorder.finish(at(9));
    let refused = records
        .iter()
        .filter(|record| matches!(record.what, What::Refused(_) | What::DecisionRefused { .. }));
    assert_eq!(refused.count(), 3);
    let summary = replay(&header, sure(&records), &mut setup.engine()).unwrap();
    assert_eq!((summary.facts, summary.decisions), (2, 2));
}

/// What a native world tells the guard: exhaustion, completion after it, idle; and what it sees.
pub(crate) fn native_recording(seed: u64) -> (Header, vestal_testkit::systems::Setup, Vec<Record>) {
    let (setup, mut header, _) = recording(seed, 1, false);
    header.dispatch = Dispatch::Native;
    header.records_permits = true;
    let random = &mut Random::new(seed ^ 77);
    let guard = Guard::new(&setup.configuration()).unwrap();
    let mut recorder = Recorder::with_permits(guard, Vec::new(), setup.tasks.len());
    let mut sequences = vec![0_u64; setup.tasks.len()];
    let mut now = 0;
    for _ in 0..40 {
        now += 1 + random.below(5);
        let at = Instant::from_nanos(now);
        let task = random.below(setup.tasks.len() as u64) as usize;
        let job = JobId {
            task: TaskId(task as u16),
            sequence: sequences[task],
        };
        sequences[task] += 1;
        for fact in [Fact::Released { job }, Fact::Started { cpu: CPU, job }] {
            let what = What::Observed(fact);
            recorder.put(Record { at, what });
        }
        if let Some(sequence) = job.sequence.checked_sub(1)
            && setup.enforcement == Enforcement::ZeroSlack
        {
            // The guard keeps a job that stands for something until its end is reported.
            let (cpu, job) = (CPU, JobId { sequence, ..job });
            recorder.apply(at, Fact::Completed { cpu, job }).unwrap();
            recorder.decide(at).unwrap();
        }
        recorder.apply(at, Fact::Released { job }).unwrap();
        let amount = Service::from_nanos(1 + random.below(9));
        recorder
            .apply(
                at,
                Fact::Charged {
                    cpu: CPU,
                    job,
                    amount,
                },
            )
            .unwrap();
        recorder.decide(at).unwrap();
        while recorder.take_notice().is_some() {}
        let what = What::Observed(Fact::Completed { cpu: CPU, job });
        recorder.put(Record { at, what });
        if random.below(4) == 0 {
            recorder.apply(at, Fact::Idle { cpu: CPU }).unwrap();
            recorder.decide(at).unwrap();
        }
    }
    let (_, records) = recorder.finish(Instant::from_nanos(now + 1));
    (header, setup, records)
}

#[test]
fn a_native_run_replays_to_equal_permits() {
    let mut permits = 0;
    for seed in 0..100 {
        let (header, setup, records) = native_recording(seed);
        let mut guard = Guard::new(&setup.configuration()).unwrap();
        let summary = replay(&header, sure(&records), &mut guard)
            .unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"));
        permits += summary.permits;
    }
    assert!(permits > 600, "{permits}");
}

#[test]
fn a_recording_with_lost_records_is_not_replayed_past_them() {
    let (setup, header, mut records) = recording(4, 100, false);
    let at = records[60].at;
    let index = records
        .iter()
        .position(|record| record.at > at && matches!(record.what, What::Fact(_)))
        .unwrap();
    let what = What::Lost { count: 3 };
    records.insert(index, Record { at, what });
    let failure = replay(&header, sure(&records), &mut setup.engine()).unwrap_err();
    let Failure::Differs(difference) = failure else {
        panic!("{failure:?}");
    };
    assert_eq!(difference.why, Mismatch::Lost { count: 3 });
    assert_eq!(difference.number, index as u64);
}

/// The hash over a plan is a number written in files: it may not change with compilers or platforms.
#[test]
fn the_hash_of_a_plan_is_pinned() {
    let job = JobId {
        task: TaskId(1),
        sequence: 2,
    };
    let slot = Slot {
        job,
        budget: Some(Budget {
            remaining: Service::from_nanos(3),
            owner: BudgetOwner::Job,
            on_exhaustion: OnExhaustion::RaiseMode(Level(1)),
        }),
    };
    let plan = Plan {
        slots: &[Some(slot), None],
        sequences: Sequences::NONE,
        next: Some(Wake {
            at: Instant::from_nanos(9),
            why: WakeReason::Deadline(job),
        }),
        mode: Level(0),
    };
    let hash = PlanHash::of(Instant::from_nanos(5), &plan).value();
    assert_eq!(
        hash,
        fnv(&[5, 0, 2, 1, 1, 2, 1, 3, 0, 17, 0, 1, 9, 0, 1, 2])
    );
}

fn fnv(numbers: &[u64]) -> u64 {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// A task of T = D = 10 and C = 9 whose sixth job is seen when it arrives and reported when the first is
/// complete: the scheduler has no room for it before.
fn reported_late(seen: u64, reported: u64, number: u64) -> (Header, Vec<Record>) {
    let task = TaskId(0);
    let job = |sequence| JobId { task, sequence };
    let mut recorder = Recorder::new(one_task(), Vec::new());
    let apply = |recorder: &mut Recorder<Uniprocessor, Vec<Record>>, now, fact| {
        recorder.apply(Instant::from_nanos(now), fact).unwrap();
    };
    for sequence in 0..5 {
        apply(
            &mut recorder,
            sequence,
            Fact::Released { job: job(sequence) },
        );
        recorder.decide(Instant::from_nanos(sequence)).unwrap();
    }
    let started = Fact::Started {
        cpu: CPU,
        job: job(0),
    };
    apply(&mut recorder, 4, started);
    let released = Fact::Released { job: job(5) };
    recorder.put(Record {
        at: Instant::from_nanos(seen),
        what: What::Observed(released),
    });
    let completed = Fact::Completed {
        cpu: CPU,
        job: job(0),
    };
    apply(&mut recorder, 8, completed);
    let released = Fact::Released { job: job(number) };
    apply(&mut recorder, reported, released);
    recorder.decide(Instant::from_nanos(8)).unwrap();
    let (_, records) = recorder.finish(Instant::from_nanos(9));
    let header = Header {
        tasks: vec![vestal_trace::TaskInfo {
            name: "late".to_owned(),
            criticality: Level(0),
            period: Duration::from_nanos(10),
            deadline: Duration::from_nanos(10),
        }],
        ..Header::new("edf")
    };
    (header, records)
}

fn one_task() -> Uniprocessor {
    let span = Duration::from_nanos(10);
    let task = Task::new(Level(0), span, span, Wcet::constant(Service::from_nanos(9))).unwrap();
    let tasks = [TaskConfiguration::new(task, 1)];
    let configuration = vestal_testkit::short::configuration(&tasks, 1, Enforcement::Static);
    let order = TaskOrder::EarliestDeadline {
        virtual_deadlines: vec![span].into(),
        queues: DeadlineQueues::One,
    };
    Uniprocessor::with_order(&configuration, &order).unwrap()
}

#[test]
fn a_release_is_told_late_only_as_it_was_seen() {
    let outcome =
        |(header, records): (Header, Vec<Record>)| replay(&header, sure(&records), &mut one_task());
    let summary = outcome(reported_late(5, 5, 5)).unwrap();
    // Seen and reported it is one job.
    assert_eq!((summary.counts.released, summary.counts.completed), (6, 1));
    let rule = |records| match outcome(records) {
        Err(Failure::Differs(difference)) => difference.why.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(
        rule(reported_late(5, 6, 5)).starts_with("W8"),
        "another instant"
    );
    assert!(
        rule(reported_late(5, 5, 6)).starts_with("W8"),
        "another job"
    );
    // It was not seen before: then it is reported out of the order of time.
    let (header, mut records) = reported_late(5, 5, 5);
    records.retain(|record| !matches!(record.what, What::Observed(_)));
    let why = rule((header, records));
    assert!(why.contains("before"), "{why}");
}

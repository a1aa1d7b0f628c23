//! What `vestal replay` asks of traces of MC² ([`vestal_trace::replay::levels`]), of simulated ones: nothing is wrong in any, on 1 to 8 CPUs,
//! whether the set can be scheduled or not; and what was changed in a trace is found.

use std::cell::RefCell;
use std::convert::Infallible;
use vestal_core::store::Boxed;
use vestal_core::*;
use vestal_sim::{Backlog, Demand, Observer, Releases, Setting, simulate};
use vestal_testkit::Random;
use vestal_testkit::levels::Levels;
use vestal_testkit::short::at;
use vestal_trace::replay::levels::{Fault, Found, check};
use vestal_trace::{DomainId, Domains, Edge, InDomain, Record, Recorder, Scope, What};

const END: u64 = 200;

struct Drawn<'a>(&'a Levels);

impl Releases for Drawn<'_> {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        Some(self.0.release(task, sequence, previous))
    }
}

impl Demand for Drawn<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        self.0.execution(task, sequence)
    }
}

struct Nobody;

impl Observer for Nobody {
    fn executed(&mut self, _: vestal_sim::Segment, _: &vestal_sim::JobState) {}
}

/// The records of a run, of all domains in one stream.
fn recorded(set: &Levels) -> Vec<Record> {
    let cpus = set.tables.len() as u16;
    let count = set.tasks.len();
    let names: Vec<TaskId> = (0..count as u16).map(TaskId).collect();
    let all: Vec<CpuId> = (0..cpus).map(CpuId).collect();
    let scopes = (0..=cpus).map(|number| Scope::new(DomainId(number), &names, &all));
    let scopes: Vec<Scope> = scopes.collect();
    let stream = RefCell::new(Domains::new(Vec::new()));
    let sinks: Vec<_> = scopes
        .iter()
        .map(|scope| InDomain::new(&stream, scope))
        .collect();
    let mut whole = set.configured(|levels| {
        let local = |cpu| LocalDomain::<Boxed>::with_store(levels, cpu).unwrap();
        let locals = all.iter().zip(&sinks);
        let locals = locals.map(|(cpu, sink)| Recorder::with_ghosts(local(*cpu), *sink, count));
        let shared = SharedDomain::<Boxed>::with_store(levels).unwrap();
        let shared = Recorder::with_ghosts(shared, sinks[usize::from(cpus)], count);
        Levelled::with_domains(levels, locals.collect::<Vec<_>>(), shared).unwrap()
    });
    let tasks: Vec<Task> = set.tasks.iter().map(|entry| entry.task).collect();
    let setting = Setting {
        tasks: &tasks,
        cpus,
        end: at(END),
        backlog: Backlog::UNLIMITED,
    };
    let drawn = Drawn(set);
    simulate(&mut whole, &setting, &drawn, &drawn, &mut Nobody).unwrap();
    let (locals, shared) = whole.into_domains();
    for local in locals {
        local.finish(at(END));
    }
    shared.finish(at(END));
    stream.into_inner().into_inner()
}

fn found(set: &Levels, records: &[Record]) -> Found {
    let sure = records.iter().map(|record| Ok::<_, Infallible>(*record));
    let Ok(found) = set.configured(|levels| check(sure, levels, Duration::ZERO));
    found
}

fn is_found(set: &Levels, records: &[Record]) -> bool {
    found(set, records).count > 0
}

#[test]
fn nothing_is_wrong_in_what_the_simulator_records() {
    let mut random = Random::new(71);
    let (mut spans, mut budgets, mut dropped) = (0, 0, 0);
    let mut ran = [0_u64; 4];
    let mut ghosts = [0_u64; 3];
    for round in 0..16 {
        for cpus in 1..=8 {
            let set = Levels::draw(&mut random, cpus);
            let records = recorded(&set);
            let found = found(&set, &records);
            assert_eq!(found.broken.first(), None, "round {round}: {set:?}");
            spans += found.spans;
            budgets += found.budgets;
            ghosts[2] += found.ghosts.as_nanos();
            for supply in &found.supply {
                assert_eq!(supply.total().as_nanos(), END);
                for (sum, ran) in ran.iter_mut().zip(supply.ran) {
                    *sum += ran.as_nanos();
                }
                for (sum, ghost) in ghosts.iter_mut().zip(supply.ghosts) {
                    *sum += ghost.as_nanos();
                }
            }
            let is_drop =
                |record: &&Record| matches!(record.what, What::Notice(Event::Dropped { .. }));
            dropped += records.iter().filter(is_drop).count();
        }
    }
    println!("{spans} spans, {budgets} budgets, {dropped} dropped, ran {ran:?}, ghosts {ghosts:?}");
    assert!(spans > 30_000 && budgets > 30_000 && dropped > 800);
    assert!(ran.iter().all(|ran| *ran > 3000), "{ran:?}");
    assert!(ghosts.iter().all(|ghost| *ghost > 400), "{ghosts:?}");
}

/// A change of a trace, if it is one at this record.
type Change = fn(&[Record], usize) -> Option<Vec<Record>>;

fn moved(records: &[Record], place: usize, to: Instant) -> Option<Vec<Record>> {
    let mut changed = records.to_vec();
    changed[place].at = to;
    Some(changed)
}

/// A stop one unit later.
fn later_stop(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let record = records[place];
    let is_stop = matches!(record.what, What::Fact(Fact::Stopped { .. }));
    is_stop.then(|| moved(records, place, at(record.at.as_nanos() + 1)))?
}

/// A stop one unit earlier.
fn earlier_stop(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let record = records[place];
    let is_stop = matches!(record.what, What::Fact(Fact::Stopped { .. }));
    is_stop.then(|| moved(records, place, at(record.at.as_nanos() - 1)))?
}

/// What a CPU was said to be before a record, and when the next word about it follows.
fn around(records: &[Record], place: usize, of: CpuId) -> (bool, u64) {
    let said = |record: &Record| {
        let What::Fact(Fact::CpuOpen { cpu, open }) = record.what else {
            return None;
        };
        (cpu == of).then_some((record.at.as_nanos(), open))
    };
    let before = records[..place].iter().rev().find_map(said);
    let next = records[place + 1..].iter().find_map(said);
    (
        before.is_some_and(|(_, open)| open),
        next.map_or(END, |(at, _)| at),
    )
}

/// A publication is missing that was news for some time.
fn lost_publication(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let What::Fact(Fact::CpuOpen { cpu, open }) = records[place].what else {
        return None;
    };
    let (before, next) = around(records, place, cpu);
    if before == open || next == records[place].at.as_nanos() {
        return None;
    }
    let mut changed = records.to_vec();
    changed.remove(place);
    Some(changed)
}

/// A publication is missing that said again what was known.
fn lost_repetition(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let What::Fact(Fact::CpuOpen { cpu, open }) = records[place].what else {
        return None;
    };
    let mut changed = records.to_vec();
    changed.remove(place);
    (around(records, place, cpu).0 == open).then_some(changed)
}

/// A claim is given to the next CPU as well.
fn doubled_claim(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let Record {
        at,
        what: What::Fact(Fact::Started { cpu, job }),
    } = records[place]
    else {
        return None;
    };
    let cpu = CpuId(cpu.0 ^ 1);
    let mut changed = records.to_vec();
    changed.insert(place + 1, Record::fact(at, Fact::Started { cpu, job }));
    Some(changed)
}

fn doubled_charge(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let is_charge = matches!(records[place].what, What::Fact(Fact::Charged { .. }));
    let mut changed = records.to_vec();
    changed.insert(place, records[place]);
    is_charge.then_some(changed)
}

/// A charge on another CPU.
fn charge_elsewhere(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let mut changed = records.to_vec();
    let What::Fact(Fact::Charged { cpu, .. }) = &mut changed[place].what else {
        return None;
    };
    cpu.0 ^= 1;
    Some(changed)
}

/// A ghost begins one unit late, if it is there for longer.
fn later_ghost(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let begins = |record: &Record| {
        let What::Ghost { task, edge, .. } = record.what else {
            return None;
        };
        Some((task, edge))
    };
    let (task, Edge::Begin) = begins(&records[place])? else {
        return None;
    };
    let now = records[place].at.as_nanos();
    let ends = records[place..]
        .iter()
        .find(|other| begins(other) == Some((task, Edge::End)));
    let ends = ends.map_or(END, |record| record.at.as_nanos());
    (ends > now).then(|| moved(records, place, at(now + 1)))?
}

/// What the scheduler gave was one more than there was.
fn larger_budget(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let mut changed = records.to_vec();
    let What::Slot {
        slot: Some(slot), ..
    } = &mut changed[place].what
    else {
        return None;
    };
    let budget = slot.budget.as_mut()?;
    budget.remaining = budget.remaining.saturating_add(Service::from_nanos(1));
    Some(changed)
}

/// A job is said to have found no room at the end of the instant of its release, and was not dropped.
fn false_drop(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let Record {
        at,
        what: What::Fact(Fact::Released { job }),
    } = records[place]
    else {
        return None;
    };
    let is_dropped = |record: &Record| matches!(record.what, What::Notice(Event::Dropped { job: other, .. }) if other == job);
    if records.iter().any(is_dropped) {
        return None;
    }
    let later = records.iter().position(|record| record.at > at)?;
    let why = DropReason::BacklogFull;
    let what = What::Notice(Event::Dropped { job, why });
    let mut changed = records.to_vec();
    changed.insert(later, Record { at, what });
    Some(changed)
}

/// The same without its execution: nobody but the room says that it is wrong.
fn false_drop_of_one_that_never_ran(records: &[Record], place: usize) -> Option<Vec<Record>> {
    let What::Fact(Fact::Released { job }) = records[place].what else {
        return None;
    };
    let starts = |record: &Record| matches!(record.what, What::Fact(Fact::Started { job: other, .. }) if other == job);
    match records.iter().any(starts) {
        true => None,
        false => false_drop(records, place),
    }
}

/// Every change of this kind, at places all over the traces, is found; a table's slot is no budget of the account.
fn all_are_found(change: Change, least: u64, seed: u64, excused: fn(&Levels, &Record) -> bool) {
    let mut random = Random::new(seed);
    let mut tried = 0;
    for _ in 0..12 {
        for cpus in [2, 3, 5, 8] {
            let set = Levels::draw(&mut random, cpus);
            let records = recorded(&set);
            let first = random.below(7) as usize;
            let places = (first..records.len()).step_by(7);
            let changed = places.filter(|place| !excused(&set, &records[*place]));
            let changed = changed.filter_map(|place| Some((place, change(&records, place)?)));
            for (place, changed) in changed.take(12) {
                tried += 1;
                assert!(is_found(&set, &changed), "{:?} in {set:?}", records[place]);
            }
        }
    }
    assert!(tried > least, "{tried}");
}

fn none(_: &Levels, _: &Record) -> bool {
    false
}

#[test]
fn a_stop_that_moved_is_found() {
    all_are_found(later_stop, 100, 72, none);
    all_are_found(earlier_stop, 100, 73, none);
}

#[test]
fn a_publication_that_is_missing_is_found_if_it_was_news() {
    all_are_found(lost_publication, 100, 74, none);
    let mut random = Random::new(75);
    let set = Levels::draw(&mut random, 4);
    let records = recorded(&set);
    let places = 0..records.len();
    let repetitions = places.filter_map(|place| lost_repetition(&records, place));
    let repetitions: Vec<Vec<Record>> = repetitions.take(50).collect();
    assert_eq!(repetitions.len(), 50);
    assert!(repetitions.iter().all(|changed| !is_found(&set, changed)));
}

#[test]
fn a_claim_given_twice_is_found() {
    all_are_found(doubled_claim, 100, 76, none);
}

#[test]
fn a_charge_that_is_doubled_or_elsewhere_is_found() {
    all_are_found(doubled_charge, 100, 77, none);
    all_are_found(charge_elsewhere, 100, 78, none);
}

#[test]
fn a_ghost_or_a_budget_that_is_another_one_is_found() {
    all_are_found(later_ghost, 100, 79, none);
    all_are_found(larger_budget, 100, 80, |set, record| {
        // What is given at level A is what is left of a slot.
        let What::Slot {
            slot: Some(slot), ..
        } = record.what
        else {
            return false;
        };
        let container = set.tasks[slot.job.task.index()].container;
        matches!(container, Container::Table(_))
    });
}

#[test]
fn a_drop_of_a_job_that_had_room_is_found() {
    all_are_found(false_drop, 100, 82, none);
    all_are_found(false_drop_of_one_that_never_ran, 20, 83, none);
}

/// Not one of them is left in the trace, though the account has some.
#[test]
fn a_trace_without_its_ghosts_is_found() {
    let mut random = Random::new(84);
    let mut tried = 0;
    for cpus in [1, 2, 3, 5] {
        for _ in 0..8 {
            let set = Levels::draw(&mut random, cpus);
            let mut records = recorded(&set);
            let whole = found(&set, &records);
            let local = whole.supply.iter().flat_map(|supply| supply.ghosts);
            let has_ghosts = local.chain([whole.ghosts]).any(|time| !time.is_zero());
            records.retain(|record| !matches!(record.what, What::Ghost { .. }));
            assert_eq!(is_found(&set, &records), has_ghosts, "{set:?}");
            tried += u32::from(has_ghosts);
        }
    }
    assert!(tried > 20, "{tried}");
}

/// Traces of one configuration looked at by another: who goes first at level B, whether budgets hold, and when slots begin.
#[test]
fn traces_of_another_configuration_are_found() {
    let mut random = Random::new(81);
    let changes: [fn(&mut Levels); 3] = [
        |set| {
            set.level_b = match set.level_b {
                LevelB::EarliestDeadline => LevelB::RateMonotonic,
                LevelB::RateMonotonic => LevelB::EarliestDeadline,
            };
        },
        |set| {
            set.budgets = match set.budgets {
                Budgets::Enforced => Budgets::Ignored,
                Budgets::Ignored => Budgets::Enforced,
            };
        },
        |set| {
            // Not the same slots, though the jobs have as much in all.
            for (cycle, slots) in &mut set.tables {
                let end = |slot: &TableSlot| slot.start.saturating_add(slot.length);
                let is_short = slots.last().is_some_and(|slot| end(slot) < *cycle);
                if let Some(last) = slots.last_mut().filter(|_| is_short) {
                    last.start = last.start.saturating_add(Duration::from_nanos(1));
                }
            }
        },
    ];
    let mut refuted = [0; 3];
    for _ in 0..60 {
        let set = Levels::draw(&mut random, 2);
        let records = recorded(&set);
        for (change, refuted) in changes.iter().zip(&mut refuted) {
            let mut other = set.clone();
            change(&mut other);
            *refuted += u64::from(is_found(&other, &records));
        }
    }
    println!("{refuted:?} of 60");
    assert!(
        refuted[0] > 5 && refuted[1] > 50 && refuted[2] > 15,
        "{refuted:?}"
    );
}

#[test]
fn the_first_thing_that_is_wrong_says_what() {
    let mut random = Random::new(82);
    let set = Levels::draw(&mut random, 3);
    let records = recorded(&set);
    let place = records.iter().position(|record| {
        matches!(record.what, What::Fact(Fact::Started { job, .. })
            if set.tasks[job.task.index()].container == Container::Global)
    });
    let place = place.unwrap();
    let changed = doubled_claim(&records, place).unwrap();
    let first = found(&set, &changed).broken[0];
    let What::Fact(Fact::Started { cpu, job }) = records[place].what else {
        unreachable!("it is a start");
    };
    assert_eq!(first.what, Fault::Twice { job, other: cpu });
    assert_eq!((first.from, first.what.rule()), (records[place].at, "L2"));
}

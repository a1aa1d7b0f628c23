//! Recordings that were changed: each kind of change to each kind of record is found by the
//! replay, or is one of those that [`harmless`] lists with the reason.

use crate::common::recording;
use crate::recorded::native_recording;
use std::collections::BTreeMap;
use vestal_core::*;
use vestal_testkit::systems::Setup;
use vestal_trace::{Header, Record, What, replay};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    Dropped,
    Duplicated,
    Swapped,
    JobChanged,
    MovedPast,
}

const CHANGES: [Change; 5] = [
    Change::Dropped,
    Change::Duplicated,
    Change::Swapped,
    Change::JobChanged,
    Change::MovedPast,
];

/// The recording with one change; `None` if this record cannot be changed so.
pub(crate) fn tampered(records: &[Record], index: usize, change: Change) -> Option<Vec<Record>> {
    let mut changed = records.to_vec();
    match change {
        Change::Dropped => {
            changed.remove(index);
        }
        Change::Duplicated => changed.insert(index, records[index]),
        Change::Swapped => {
            if records.get(index + 1)? == &records[index] {
                return None;
            }
            changed.swap(index, index + 1);
        }
        Change::JobChanged => {
            let job = job_of(&mut changed[index].what)?;
            job.sequence += 1;
        }
        Change::MovedPast => {
            // Past the next record of a later instant, or before the one before if there is none.
            let at = records[index].at;
            let later = records[index..].iter().find(|record| record.at > at);
            changed[index].at = match later {
                Some(record) => record.at.saturating_add(Duration::from_nanos(1)),
                None => Instant::from_nanos(records[index - 1].at.as_nanos().checked_sub(1)?),
            };
            if matches!(records[index].what, What::End { .. }) {
                changed[index].at = Instant::EPOCH;
            }
        }
    }
    Some(changed)
}

fn job_of(what: &mut What) -> Option<&mut JobId> {
    match what {
        What::Fact(fact) | What::Observed(fact) => match fact {
            Fact::Released { job }
            | Fact::Completed { job, .. }
            | Fact::Charged { job, .. }
            | Fact::Started { job, .. }
            | Fact::Stopped { job, .. } => Some(job),
            _ => None,
        },
        What::Slot {
            slot: Some(slot), ..
        } => Some(&mut slot.job),
        What::Wake(Wake {
            why: WakeReason::Deadline(job),
            ..
        }) => Some(job),
        What::Notice(
            Event::Overrun { job, .. }
            | Event::Dropped { job, .. }
            | Event::ModeChanged {
                cause: Some(job), ..
            },
        ) => Some(job),
        What::Miss { job, .. } | What::Budget { job, .. } => Some(job),
        _ => None,
    }
}

fn is_of_the_world(what: &What) -> bool {
    matches!(
        what,
        What::Gap { .. }
            | What::Miss { .. }
            | What::Overhead { .. }
            | What::Budget { .. }
            | What::Observed(_)
    )
}

/// A recording may begin and end anywhere.
fn at_an_end(records: &[Record], index: usize, fact: &Fact) -> Option<&'static str> {
    let task = |mut what: What| job_of(&mut what).map(|job| job.task);
    let word = |fact: &Fact| What::Fact(*fact).word();
    let same = |other: &Record| {
        let What::Observed(of) = &other.what else {
            return false;
        };
        word(of) == word(fact) && task(other.what) == task(records[index].what)
    };
    let first = !records[..index].iter().any(same);
    let last = !records[index + 1..].iter().any(same);
    match fact {
        Fact::Released { .. } | Fact::Started { .. } if first => {
            Some("a recording may begin after it")
        }
        Fact::Completed { .. } if last => Some("a recording may end before it"),
        _ => None,
    }
}

/// Why it does not matter that two neighbours were exchanged.
fn harmless_swap(first: &Record, second: &Record) -> Option<&'static str> {
    let pair = [first, second];
    let has = |test: fn(&What) -> bool| pair.iter().any(|record| test(&record.what));
    let all = |test: fn(&What) -> bool| pair.iter().all(|record| test(&record.what));
    if has(|what| matches!(what, What::Notice(_)))
        && all(|what| {
            matches!(what, What::Notice(_) | What::Fact(_) | What::Decided { .. })
                || is_of_the_world(what)
        })
        && !all(|what| matches!(what, What::Notice(_)))
    {
        return Some("a world may take a notice earlier or later");
    }
    if first.at != second.at {
        return None;
    }
    if all(|what| matches!(what, What::Fact(_))) {
        return Some("C3: the order of the facts of one instant means nothing");
    }
    (has(is_of_the_world)
        && all(|what| {
            is_of_the_world(what) || matches!(what, What::Fact(_) | What::Decided { .. })
        }))
    .then_some("the order in time is the same")
}

/// Why a change that was not found does not matter; `None` if it should have been found.
pub(crate) fn harmless(
    records: &[Record],
    index: usize,
    change: Change,
    native: bool,
) -> Option<&'static str> {
    let what = &records[index].what;
    let is_fact = matches!(what, What::Fact(_));
    let last_decision = records
        .iter()
        .rposition(|record| matches!(record.what, What::Decided { .. }));
    if is_fact && change == Change::JobChanged && last_decision.is_none_or(|last| index > last) {
        return Some("no decision follows the fact");
    }
    match change {
        Change::Dropped | Change::Duplicated => match what {
            What::Observed(fact) if change == Change::Dropped => at_an_end(records, index, fact),
            What::Gap { .. } => Some("a gap explains the drawing only"),
            What::Budget { .. } => Some("a budget sample is drawn only"),
            _ => None,
        },
        Change::Swapped => harmless_swap(&records[index], &records[index + 1]),
        Change::JobChanged => match what {
            What::Budget { .. } => Some("a budget sample is drawn only"),
            What::Fact(Fact::Released { job }) => {
                let named_again = records[index + 1..].iter().any(|record| {
                    let mut what = record.what;
                    job_of(&mut what).is_some_and(|other| other == job)
                });
                (native || !named_again)
                    .then_some("nothing else of the job follows, or no permit depends on it")
            }
            What::Fact(_) if native => Some("no later permit depends on it"),
            What::Observed(Fact::Released { job }) => {
                let mut later = records[index + 1..].iter();
                let named = later.any(|record| {
                    matches!(record.what, What::Observed(Fact::Released { job: other })
                        | What::Observed(Fact::Completed { job: other, .. }) if other.task == job.task)
                });
                (!named).then_some("nothing else of the task follows")
            }
            _ => None,
        },
        Change::MovedPast => None,
    }
}

type Outcomes = BTreeMap<(&'static str, Change), (u32, u32)>;

fn tamper_with(
    header: &Header,
    records: &[Record],
    outcomes: &mut Outcomes,
    mut fresh: impl FnMut() -> Box<dyn Scheduler>,
    name: &str,
) {
    let native = header.dispatch == vestal_trace::Dispatch::Native;
    for index in 0..records.len() {
        for change in CHANGES {
            let Some(changed) = tampered(records, index, change) else {
                continue;
            };
            let outcome = replay::<(), _>(
                header,
                changed.iter().map(|record| Ok(*record)),
                fresh().as_mut(),
            );
            let (found, not_found) = outcomes.entry((records[index].word(), change)).or_default();
            if outcome.is_err() {
                *found += 1;
                continue;
            }
            *not_found += 1;
            let around = &records[index.saturating_sub(2)..(index + 3).min(records.len())];
            assert!(
                harmless(records, index, change, native).is_some(),
                "{name}: record {index} {change:?} was not found: {} in\n{}",
                records[index],
                around
                    .iter()
                    .map(|record| format!("  {record}\n"))
                    .collect::<String>()
            );
        }
    }
}

fn boxed(setup: &Setup) -> Box<dyn Scheduler> {
    Box::new(setup.engine())
}

#[test]
fn changes_to_managed_recordings_are_found_or_harmless() {
    let mut outcomes = Outcomes::new();
    for seed in 0..40 {
        let (setup, header, records) = recording(seed, 40, seed % 2 == 0);
        let name = format!("seed {seed}");
        tamper_with(&header, &records, &mut outcomes, || boxed(&setup), &name);
    }
    let kinds: std::collections::BTreeSet<_> = outcomes.keys().map(|(word, _)| *word).collect();
    let expected = [
        "charge",
        "complete",
        "decide",
        "drop",
        "end",
        "gap",
        "miss",
        "mode",
        "overhead-begin",
        "overhead-end",
        "overrun",
        "permit",
        "release",
        "slot",
        "start",
        "stop",
        "wake-at",
    ];
    for word in expected {
        assert!(kinds.contains(word), "{word} is not among {kinds:?}");
    }
    // What replay exists for is found without exception.
    for word in [
        "slot", "wake-at", "permit", "overrun", "miss", "decide", "end",
    ] {
        for change in [Change::Dropped, Change::Duplicated, Change::MovedPast] {
            if let Some((found, not_found)) = outcomes.get(&(word, change)) {
                assert!(*found > 0 && *not_found == 0, "{word} {change:?}");
            }
        }
    }
}

#[test]
fn changes_to_native_recordings_are_found_or_harmless() {
    let mut outcomes = Outcomes::new();
    for seed in 0..20 {
        let (header, setup, records) = native_recording(seed);
        let fresh =
            || -> Box<dyn Scheduler> { Box::new(Guard::new(&setup.configuration()).unwrap()) };
        tamper_with(
            &header,
            &records,
            &mut outcomes,
            fresh,
            &format!("native {seed}"),
        );
    }
    let (found, _) = outcomes[&("permit", Change::Dropped)];
    assert!(found > 100);
}

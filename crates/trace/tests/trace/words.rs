//! The law of tampering, domain by domain, and the rules of who has the word.

use crate::domains::{COUNT, Case, difference, homes, of_domain, recording};
use crate::tampering::{Change, harmless, tampered};
use std::collections::BTreeMap;
use vestal_core::*;
use vestal_trace::replay::Mismatch;
use vestal_trace::{DomainId, Record, What};

/// What is done to a record of a domain, beside what is done to recordings of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    /// As in any recording.
    Plain(Change),
    /// It stands in another domain.
    Moved,
    /// Of a plan: another hash.
    PlanChanged,
    /// Of a record that gives the word: it is missing, doubled, or gives it to another domain.
    WordDropped,
    WordDoubled,
    WordAltered,
    WordMoved,
}

const DAMAGES: [Damage; 10] = [
    Damage::Plain(Change::Dropped),
    Damage::Plain(Change::Duplicated),
    Damage::Plain(Change::JobChanged),
    Damage::Plain(Change::MovedPast),
    Damage::Moved,
    Damage::PlanChanged,
    Damage::WordDropped,
    Damage::WordDoubled,
    Damage::WordAltered,
    Damage::WordMoved,
];

/// The stream with its damage; `None` if that cannot be done to this record.
fn damaged(case: &Case, index: usize, damage: Damage) -> Option<Vec<Record>> {
    let homes = homes(&case.records);
    let (record, home) = (case.records[index], homes[index]);
    let mut changed = case.records.clone();
    let other = DomainId((home.0 + 1) % COUNT);
    let word = |domain: DomainId| Record {
        at: record.at,
        what: What::Domain { domain },
    };
    let gives = matches!(record.what, What::Domain { .. });
    match damage {
        Damage::Plain(change) if !gives => {
            // Past the next record of its own domain, as if it were alone.
            let own = of_domain(&case.records, home);
            let place = own.iter().position(|(place, _)| *place == index)?;
            let alone: Vec<Record> = own.iter().map(|(_, record)| *record).collect();
            let after = tampered(&alone, place, change)?;
            match change {
                Change::Dropped => {
                    changed.remove(index);
                    // A word of which nothing follows would be found by itself.
                    let empty = index > 0
                        && matches!(changed[index - 1].what, What::Domain { .. })
                        && homes.get(index + 1) != Some(&home);
                    if empty {
                        return None;
                    }
                }
                Change::Duplicated => changed.insert(index, record),
                Change::JobChanged | Change::MovedPast => {
                    changed[index] = after[place];
                    // Who gives the word does so at the instant of what follows.
                    if index > 0 && matches!(changed[index - 1].what, What::Domain { .. }) {
                        changed[index - 1].at = changed[index].at;
                    }
                }
                Change::Swapped => return None,
            }
        }
        Damage::Moved if !gives => {
            changed.splice(index..=index, [word(other), record, word(home)]);
        }
        Damage::PlanChanged => match &mut changed[index].what {
            What::Decided { hash, .. } => *hash ^= 1,
            _ => return None,
        },
        Damage::WordDropped if gives => {
            changed.remove(index);
        }
        Damage::WordDoubled if gives => changed.insert(index, record),
        Damage::WordAltered if gives => changed[index] = word(other),
        Damage::WordMoved if gives => {
            changed.swap(index, index + 1);
        }
        _ => return None,
    }
    (changed != case.records).then_some(changed)
}

/// Why a change that was not found does not matter: the reasons of recordings of one domain.
fn is_harmless(case: &Case, index: usize, damage: Damage) -> bool {
    let Damage::Plain(change) = damage else {
        return false;
    };
    let own = of_domain(&case.records, homes(&case.records)[index]);
    let Some(place) = own.iter().position(|(place, _)| *place == index) else {
        return false;
    };
    let alone: Vec<Record> = own.iter().map(|(_, record)| *record).collect();
    harmless(&alone, place, change, false).is_some()
}

#[test]
fn whatever_is_changed_in_a_domain_is_found_there() {
    let mut outcomes: BTreeMap<Damage, (u32, u32)> = BTreeMap::new();
    for seed in 0..12 {
        let case = recording(seed, 14, seed % 2 == 0);
        let homes = homes(&case.records);
        for (index, damage) in (0..case.records.len()).flat_map(|i| DAMAGES.map(|d| (i, d))) {
            let Some(changed) = damaged(&case, index, damage) else {
                continue;
            };
            let name = format!(
                "seed {seed}: record {index} {damage:?}: {}",
                case.records[index]
            );
            let (found, not_found) = outcomes.entry(damage).or_default();
            let Some(difference) = difference(&case, &changed) else {
                *not_found += 1;
                assert!(is_harmless(&case, index, damage), "{name} was not found");
                continue;
            };
            *found += 1;
            let domain = difference.domain.expect("the domains have names");
            let home = homes[index];
            // A record that stands in another domain is found in that one, or where it is missing.
            let before = index
                .checked_sub(1)
                .map_or(DomainId::FIRST, |before| homes[before]);
            let other = DomainId((home.0 + 1) % COUNT);
            let expected = match damage {
                Damage::Plain(_) | Damage::PlanChanged | Damage::WordDoubled => vec![home],
                Damage::Moved | Damage::WordAltered => vec![other, home, before],
                Damage::WordDropped | Damage::WordMoved => vec![before, home],
            };
            assert!(
                expected.contains(&domain),
                "{name}: in {domain:?}: {difference}"
            );
        }
    }
    for damage in DAMAGES {
        let (found, not_found) = outcomes[&damage];
        assert!(found > 100, "{damage:?}: {found} {not_found}");
        if !matches!(damage, Damage::Plain(_)) {
            assert_eq!(not_found, 0, "{damage:?}");
        }
    }
}

#[test]
fn an_end_that_is_missing_is_named_with_its_domain() {
    let case = recording(7, 30, true);
    let homes = homes(&case.records);
    let is_end = |place: &usize| matches!(case.records[*place].what, What::End { .. });
    let ends: Vec<usize> = (0..case.records.len()).filter(is_end).collect();
    assert_eq!(ends.len(), usize::from(COUNT));
    for end in ends {
        let mut records = case.records.clone();
        records.remove(end);
        let found = difference(&case, &records).unwrap();
        // Where nothing else of the domain stood behind the word, that is found first.
        let empty = matches!(case.records[end - 1].what, What::Domain { .. });
        assert_eq!(found.why == Mismatch::NoEnd, !empty, "{found}");
        assert_eq!(found.domain, Some(homes[end]));
        // And what follows an end is no part of the recording.
        let mut records = case.records.clone();
        records.insert(end + 1, case.records[end]);
        let found = difference(&case, &records).unwrap();
        assert_eq!(
            (found.why, found.domain),
            (Mismatch::AfterEnd, Some(homes[end]))
        );
        assert_eq!(found.number, end as u64 + 1);
    }
}

/// Each rule of the stream by itself, in an otherwise sound recording.
#[test]
fn the_rules_of_the_word_are_named() {
    let case = recording(2, 30, false);
    let is_word = |record: &Record| matches!(record.what, What::Domain { .. });
    let words = (0..case.records.len()).filter(|place| is_word(&case.records[*place]));
    let words: Vec<usize> = words.collect();
    let place = words[words.len() / 2];
    let changed = |change: &dyn Fn(&mut Vec<Record>)| {
        let mut records = case.records.clone();
        change(&mut records);
        difference(&case, &records).unwrap()
    };
    let doubled = changed(&|records| records.insert(place, records[place]));
    assert!(doubled.to_string().contains("D1"), "{doubled}");
    let other = changed(&|records| {
        let What::Domain { domain } = records[place].what else {
            return;
        };
        let mut again = records[place];
        let domain = DomainId((domain.0 + 1) % COUNT);
        again.what = What::Domain { domain };
        records.insert(place + 1, again);
    });
    assert!(other.to_string().contains("D2"), "{other}");
    let last = changed(&|records| {
        let at = Instant::from_nanos(30);
        let domain = DomainId((homes(records).last().unwrap().0 + 1) % COUNT);
        let what = What::Domain { domain };
        records.push(Record { at, what });
    });
    assert!(last.to_string().contains("D2") && last.recorded.is_none());
    let late = changed(&|records| {
        records[place].at = records[place].at.saturating_add(Duration::from_nanos(1));
    });
    assert!(late.to_string().contains("D3"), "{late}");
    assert_eq!(late.number, place as u64 + 1);
    let foreign = changed(&|records| {
        let own = homes(records)[place];
        let cpu = records[place..]
            .iter()
            .find_map(|record| match record.what {
                What::Slot { cpu, .. } => Some(cpu),
                _ => None,
            });
        let cpu = CpuId((cpu.unwrap().0 + 1) % COUNT);
        let length = Duration::ZERO;
        let (at, what) = (records[place].at, What::Gap { cpu, length });
        records.insert(place + 1, Record { at, what });
        assert_eq!(homes(records)[place + 1], own);
    });
    assert!(foreign.to_string().contains("D4"), "{foreign}");
    let unknown = changed(&|records| {
        let domain = DomainId(COUNT);
        records[place].what = What::Domain { domain };
    });
    assert_eq!(unknown.why, Mismatch::UnknownDomain(DomainId(COUNT)));
    assert_eq!(unknown.number, place as u64);
}

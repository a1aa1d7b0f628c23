//! Perfetto traces, decoded again: balanced slices, times in order, counts equal to the records'.
//!
//! `scripts/check-perfetto.sh` decodes the same files with Perfetto's own schema.

use crate::common::{random_record, recording, written};
use crate::example;
use std::collections::BTreeMap;
use vestal_core::*;
use vestal_testkit::Random;
use vestal_trace::timeline::{Item, Timeline};
use vestal_trace::write::Options;
use vestal_trace::write::proto::{Decoder, Value};
use vestal_trace::{ClockBase, Format, Header, Origin, Record, ThreadInfo};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) begins: u32,
    pub(crate) ends: u32,
    pub(crate) instants: BTreeMap<String, u32>,
    counters: u32,
    switches: u32,
}

/// The fields of a message by number; every test message has each field once, but for repeated ones.
fn fields(bytes: &[u8]) -> Vec<(u32, Value<'_>)> {
    Decoder::new(bytes).map(Result::unwrap).collect()
}

fn number(fields: &[(u32, Value<'_>)], wanted: u32) -> Option<u64> {
    fields.iter().find_map(|(field, value)| match value {
        Value::Number(number) if *field == wanted => Some(*number),
        _ => None,
    })
}

fn bytes<'a>(fields: &[(u32, Value<'a>)], wanted: u32) -> Option<&'a [u8]> {
    fields.iter().find_map(|(field, value)| match value {
        Value::Bytes(bytes) if *field == wanted => Some(*bytes),
        _ => None,
    })
}

/// Decodes a trace and checks what holds for every one.
pub(crate) fn decode(trace: &[u8]) -> Counts {
    let mut counts = Counts::default();
    let mut described = Vec::new();
    let mut depth: BTreeMap<u64, i32> = BTreeMap::new();
    let mut running: BTreeMap<u64, u64> = BTreeMap::new();
    let mut clock = 0;
    for (field, packet) in fields(trace) {
        assert_eq!(field, 1);
        let Value::Bytes(packet) = packet else {
            panic!("a packet is a message");
        };
        let packet = fields(packet);
        assert_eq!(number(&packet, 10), Some(1));
        if let Some(descriptor) = bytes(&packet, 60) {
            described.push(number(&fields(descriptor), 1).unwrap());
        }
        if let Some(event) = bytes(&packet, 11) {
            let at = number(&packet, 8).unwrap();
            assert!(at >= clock, "{at} after {clock}");
            clock = at;
            let event = fields(event);
            let track = number(&event, 11).unwrap();
            assert!(described.contains(&track), "track {track} is not described");
            let depth = depth.entry(track).or_default();
            match number(&event, 9).unwrap() {
                1 => {
                    counts.begins += 1;
                    *depth += 1;
                }
                2 => {
                    counts.ends += 1;
                    *depth -= 1;
                    assert!(*depth >= 0, "track {track} ends what never began");
                }
                3 => {
                    let name = String::from_utf8(bytes(&event, 23).unwrap().to_vec());
                    *counts.instants.entry(name.unwrap()).or_default() += 1;
                }
                4 => counts.counters += 1,
                kind => panic!("{kind}"),
            }
        }
        if let Some(bundle) = bytes(&packet, 1) {
            let bundle = fields(bundle);
            let cpu = number(&bundle, 1).unwrap();
            let event = fields(bytes(&bundle, 2).unwrap());
            let at = number(&event, 1).unwrap();
            assert!(at >= clock, "switch at {at} after {clock}");
            clock = at;
            let switch = fields(bytes(&event, 4).unwrap());
            let (prev, next) = (number(&switch, 2).unwrap(), number(&switch, 6).unwrap());
            assert_eq!(running.insert(cpu, next).unwrap_or(0), prev);
            assert_ne!(prev, next);
            counts.switches += 1;
        }
    }
    assert!(depth.values().all(|depth| *depth == 0), "{depth:?}");
    assert!(running.values().all(|thread| *thread == 0), "{running:?}");
    counts
}

/// Leaves a trace where `VESTAL_KEEP` says, for the check with Perfetto's own schema.
fn keep(name: &str, header: &Header, records: &[Record]) {
    let Some(directory) = std::env::var_os("VESTAL_KEEP") else {
        return;
    };
    for format in [Format::Csv, Format::Perfetto] {
        let path = std::path::Path::new(&directory)
            .join(name)
            .with_extension(format.extension());
        let bytes = written(format, header, Options::default(), records);
        std::fs::write(path, bytes).unwrap();
    }
}

fn items(header: &Header, records: &[Record]) -> Vec<Item> {
    let mut timeline = Timeline::new(header);
    let mut items: Vec<_> = records
        .iter()
        .flat_map(|record| timeline.feed(record))
        .collect();
    items.extend(timeline.end());
    items.into_iter().map(|(_, item)| item).collect()
}

#[test]
fn traces_of_runs_are_balanced_ordered_and_complete() {
    for seed in 0..60 {
        let (_, header, records) = recording(seed, 200, false);
        keep(&format!("run-{seed}"), &header, &records);
        let counts = decode(&written(
            Format::Perfetto,
            &header,
            Options::default(),
            &records,
        ));
        let items = items(&header, &records);
        let count = |test: fn(&Item) -> bool| items.iter().filter(|item| test(item)).count() as u32;
        let named = |name: &str| counts.instants.get(name).copied().unwrap_or(0);
        assert_eq!(counts.begins, counts.ends);
        assert_eq!(
            named("release"),
            count(|item| matches!(item, Item::Release { .. }))
        );
        assert_eq!(
            named("deadline"),
            count(|item| matches!(item, Item::Deadline { .. }))
        );
        assert_eq!(
            named("deadline missed"),
            count(|item| matches!(item, Item::Miss { .. }))
        );
        assert_eq!(
            counts.counters,
            count(|item| matches!(item, Item::Budget { .. }))
        );
        // The records themselves say how many releases and starts there were.
        let facts = |test: fn(&Fact) -> bool| {
            let reported = records.iter().filter(
                |record| matches!(&record.what, vestal_trace::What::Fact(fact) if test(fact)),
            );
            reported.count() as u32
        };
        assert_eq!(
            named("release"),
            facts(|fact| matches!(fact, Fact::Released { .. }))
        );
        let slices = count(|item| matches!(item, Item::Begin { .. }));
        assert_eq!(slices, facts(|fact| matches!(fact, Fact::Started { .. })));
        assert!(counts.switches > 0 && counts.switches <= 2 * slices);
    }
}

/// Whatever stands in the records, the trace stays well-formed.
#[test]
fn traces_of_nonsense_are_balanced_and_ordered_too() {
    for seed in 0..200 {
        let (_, header, _) = recording(seed, 1, false);
        let mut random = Random::new(seed);
        let records: Vec<Record> = (0..200)
            .map(|_| {
                let mut record = random_record(&mut random);
                record.at = Instant::from_nanos(record.at.as_nanos() >> 2);
                record
            })
            .collect();
        for format in Format::ALL {
            let bytes = written(format, &header, Options::default(), &records);
            if format == Format::Perfetto {
                decode(&bytes);
            }
        }
    }
}

#[test]
fn the_examples_trace_has_what_its_drawing_shows() {
    let bytes = written(
        Format::Perfetto,
        &example::header(),
        Options::default(),
        &example::records(),
    );
    let counts = decode(&bytes);
    keep("example", &example::header(), &example::records());
    let instants: Vec<(&str, u32)> = counts
        .instants
        .iter()
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    assert_eq!(
        instants,
        [
            ("HI to LO", 1),
            ("LO to HI", 1),
            ("deadline", 7),
            ("deadline missed", 1),
            ("dropped: mode", 1),
            ("overrun of C(LO)", 1),
            ("release", 7),
        ]
    );
    // Six slices of execution, six of overhead, one of the raised mode.
    assert_eq!((counts.begins, counts.ends), (13, 13));
}

/// A ghost is a slice of a track of its own, which is described once and called by its task.
#[test]
fn ghosts_have_tracks_of_their_own() {
    let ghost = |now, edge| {
        let (cpu, task) = (CpuId(0), TaskId(1));
        let what = vestal_trace::What::Ghost { cpu, task, edge };
        let at = Instant::from_nanos(now);
        Record { at, what }
    };
    let (begin, end) = (vestal_trace::Edge::Begin, vestal_trace::Edge::End);
    let records = [
        ghost(10, begin),
        ghost(20, end),
        ghost(30, begin),
        // It lasts until the recording ends.
        Record {
            at: Instant::from_nanos(40),
            what: vestal_trace::What::End { facts: 0 },
        },
    ];
    let header = example::header();
    let trace = written(Format::Perfetto, &header, Options::default(), &records);
    let counts = decode(&trace);
    assert_eq!((counts.begins, counts.ends), (2, 2));
    let name = format!("ghost {}", header.tasks[1].name);
    let named = trace
        .windows(name.len())
        .filter(|part| *part == name.as_bytes());
    assert_eq!(named.count(), 1);
}

/// The instants of all events of a trace, and the numbers of the process and of all threads that are described.
fn placed(trace: &[u8]) -> (Vec<u64>, Vec<u64>) {
    let (mut instants, mut threads) = (Vec::new(), Vec::new());
    for (_, packet) in fields(trace) {
        let Value::Bytes(packet) = packet else {
            panic!("a packet is a message");
        };
        let packet = fields(packet);
        if bytes(&packet, 11).is_some() {
            instants.push(number(&packet, 8).unwrap());
        }
        if let Some(descriptor) = bytes(&packet, 60) {
            let descriptor = fields(descriptor);
            let process = bytes(&descriptor, 3).map(|process| number(&fields(process), 1).unwrap());
            let thread = bytes(&descriptor, 4).map(|thread| number(&fields(thread), 2).unwrap());
            threads.extend(process.into_iter().chain(thread));
        }
    }
    (instants, threads)
}

/// A kernel's trace of the same machine lies beside it: by the same clock, with the same numbers of threads.
#[test]
fn a_recording_of_a_machine_has_its_clocks_and_threads() {
    const BOOT: u64 = 5_000_000_000_000;
    let plain = example::header();
    let named = ThreadInfo {
        tid: 4_711,
        name: "hi".to_owned(),
        task: Some(TaskId(0)),
    };
    let manager = ThreadInfo {
        tid: 4_712,
        name: "vestal-manager".to_owned(),
        task: None,
    };
    let header = Header {
        origin: Some(Origin {
            process: 4_700,
            clock: ClockBase {
                monotonic: BOOT - 7,
                realtime: 9 * BOOT,
                boottime: BOOT,
            },
            threads: vec![manager, named],
        }),
        ..plain.clone()
    };
    let records = example::records();
    keep("example-of-a-machine", &header, &records);
    let written = |header| written(Format::Perfetto, header, Options::default(), &records);
    let (before, after) = (written(&plain), written(&header));
    let (all, tracks) = (decode(&before), decode(&after));
    // Switches of real threads are the kernel's to tell.
    assert!(all.switches > 0);
    let switches = 0;
    assert_eq!(tracks, Counts { switches, ..all });
    let ((instants, threads), (moved, numbers)) = (placed(&before), placed(&after));
    let expected: Vec<u64> = instants.iter().map(|at| at + BOOT).collect();
    assert!(instants.len() > 20);
    assert_eq!(moved, expected);
    assert_eq!((threads[0], threads[1]), (1_000, 1_001));
    assert_eq!((numbers[0], numbers[1]), (4_700, 4_711));
    // No thread that is known executes the other tasks: their numbers are no thread's.
    assert!(numbers[2..].iter().all(|&number| number >= 1 << 22));
    let clocks = fields(&after).into_iter().filter_map(|(_, packet)| {
        let Value::Bytes(packet) = packet else {
            return None;
        };
        bytes(&fields(packet), 6).map(fields)
    });
    let clocks: Vec<_> = clocks.collect();
    let [snapshot] = clocks.as_slice() else {
        panic!("{} snapshots", clocks.len());
    };
    let readings = snapshot.iter().filter_map(|(field, value)| match value {
        Value::Bytes(clock) if *field == 1 => {
            let clock = fields(clock);
            Some((number(&clock, 1).unwrap(), number(&clock, 2).unwrap()))
        }
        _ => None,
    });
    // BOOTTIME, MONOTONIC and REALTIME of perfetto/trace/clock_snapshot.proto.
    let readings: Vec<(u64, u64)> = readings.collect();
    assert_eq!(readings, [(6, BOOT), (3, BOOT - 7), (1, 9 * BOOT)]);
    assert_eq!(number(snapshot, 2), Some(6));
}

/// In both complete formats; files of the first version are read as ever.
#[test]
fn where_a_recording_lies_is_read_back() {
    let header = Header {
        origin: Some(Origin {
            process: 1,
            clock: ClockBase::default(),
            threads: Vec::new(),
        }),
        ..example::header()
    };
    for header in [header, example::header()] {
        for format in [Format::Vtrace, Format::Csv] {
            let bytes = written(format, &header, Options::default(), &example::records());
            let trace = match format == Format::Vtrace {
                true => vestal_trace::Trace::vtrace(bytes.as_slice()).unwrap(),
                false => vestal_trace::Trace::csv(bytes.as_slice()).unwrap(),
            };
            assert_eq!(trace.header(), &header);
        }
    }
}

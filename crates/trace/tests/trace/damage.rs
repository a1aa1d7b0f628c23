//! Files that were cut, changed or are something else: a diagnostic with its place, never a panic.

use crate::common::{random_record, recording, written};
use vestal_testkit::Random;
use vestal_trace::write::Options;
use vestal_trace::{Format, Place, Problem, Record, Trace, TraceError};

fn sample(format: Format) -> (Vec<u8>, Vec<Record>) {
    let (_, header, mut records) = recording(3, 40, true);
    let mut random = Random::new(5);
    records.extend((0..1200).map(|_| random_record(&mut random)));
    let bytes = written(format, &header, Options::default(), &records);
    (bytes, records)
}

/// Reads to the end, or to the first error; what was read before it.
fn read(format: Format, bytes: &[u8]) -> (Vec<Record>, Result<(), TraceError>) {
    let mut trace = match Trace::open(format, bytes).unwrap() {
        Ok(trace) => trace,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let mut records = Vec::new();
    for record in trace.by_ref() {
        match record {
            Ok(record) => records.push(record),
            Err(error) => {
                assert!(trace.next().is_none(), "nothing follows an error");
                return (records, Err(error));
            }
        }
    }
    (records, Ok(()))
}

fn place_is_inside(error: &TraceError, bytes: &[u8]) -> bool {
    match error.place {
        Place::Byte(byte) => byte <= bytes.len() as u64,
        Place::Line { line, .. } => {
            line <= bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
        }
    }
}

#[test]
fn a_file_that_ends_early_is_never_taken_for_complete() {
    for format in [Format::Vtrace, Format::Csv] {
        let (bytes, _) = sample(format);
        let step = (bytes.len() / 1500).max(1);
        let last = if format == Format::Csv {
            // Without its last line end a text file is the same text.
            bytes.len() - 1
        } else {
            bytes.len()
        };
        for length in (0..last).step_by(step).chain(last - 200..last) {
            let (_, outcome) = read(format, &bytes[..length]);
            let error = outcome.expect_err("a part of a file is not the file");
            assert!(place_is_inside(&error, &bytes), "{error}");
        }
    }
}

#[test]
fn any_changed_byte_of_a_binary_trace_is_found() {
    let (bytes, _) = sample(Format::Vtrace);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut damaged = bytes.clone();
        let place = random.below(bytes.len() as u64) as usize;
        damaged[place] ^= 1 << random.below(8);
        let (_, outcome) = read(Format::Vtrace, &damaged);
        let error = outcome.expect_err("one changed bit");
        assert!(place_is_inside(&error, &damaged), "{error}");
    }
}

#[test]
fn whatever_is_done_to_a_file_nothing_panics_and_errors_have_a_place() {
    for format in [Format::Vtrace, Format::Csv] {
        let (bytes, _) = sample(format);
        let (mut refused, mut read_anyway) = (0, 0);
        for seed in 0..4000 {
            let damaged = mutate(&bytes, &mut Random::new(seed));
            match read(format, &damaged).1 {
                Ok(()) => read_anyway += 1,
                Err(error) => {
                    refused += 1;
                    assert!(place_is_inside(&error, &damaged), "{error}");
                    assert!(error.to_string().starts_with("V08"));
                }
            }
        }
        assert!(refused > 2000, "{refused} refused, {read_anyway} read");
    }
}

/// Some bytes changed, inserted, removed, repeated, or all of them random.
fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    if random.below(20) == 0 {
        return (0..random.below(300))
            .map(|_| random.next() as u8)
            .collect();
    }
    for _ in 0..=random.below(4) {
        let place = random.below(damaged.len() as u64) as usize;
        let other = random.below(damaged.len() as u64) as usize;
        let (from, to) = (
            place.min(other),
            place.max(other).min(place.min(other) + 300),
        );
        match random.below(6) {
            0 => damaged[place] = random.next() as u8,
            1 => damaged.insert(place, b"0,\n#\t\xff"[random.below(6) as usize]),
            2 => drop(damaged.drain(from..to)),
            3 => {
                let part = damaged[from..to].to_vec();
                damaged.splice(place..place, part);
            }
            4 => damaged[from..to].reverse(),
            _ => damaged.truncate(place.max(1)),
        }
        if damaged.is_empty() {
            break;
        }
    }
    damaged
}

#[test]
fn a_length_of_four_gigabytes_costs_no_memory() {
    let (bytes, _) = sample(Format::Vtrace);
    let mut damaged = bytes;
    damaged[9..13].copy_from_slice(&u32::MAX.to_le_bytes());
    let (_, outcome) = read(Format::Vtrace, &damaged);
    assert!(matches!(
        outcome.unwrap_err().problem,
        Problem::Frame { .. }
    ));
}

#[test]
fn foreign_files_are_called_foreign() {
    let files: [&[u8]; 6] = [
        b"",
        b"\x7fELF\x02\x01\x01",
        b"at,kind\n1,2\n",
        b"{}",
        b"\n\n\n",
        b"VTRACE2\n",
    ];
    for bytes in files {
        for format in [Format::Vtrace, Format::Csv] {
            let error = read(format, bytes).1.unwrap_err();
            assert!(matches!(error.problem, Problem::Foreign { .. }), "{error}");
        }
    }
}

#[test]
fn an_exchanged_or_repeated_frame_is_found_though_its_checksum_is_right() {
    let (_, header, _) = recording(0, 2, false);
    let mut random = Random::new(9);
    let records: Vec<Record> = (0..3 * 1024).map(|_| random_record(&mut random)).collect();
    let bytes = written(Format::Vtrace, &header, Options::default(), &records);
    let header_length = u32::from_le_bytes(bytes[9..13].try_into().unwrap()) as usize;
    let first = 8 + 5 + header_length + 4;
    let frame = 5 + 8 + 1024 * 40 + 4;
    let frames: Vec<&[u8]> = (0..3)
        .map(|n| &bytes[first + n * frame..first + (n + 1) * frame])
        .collect();
    let rest = &bytes[first + 3 * frame..];
    for order in [vec![0, 2, 1], vec![0, 1, 1, 2], vec![0, 2], vec![0, 1]] {
        let mut other = bytes[..first].to_vec();
        order.iter().for_each(|&n| other.extend(frames[n]));
        other.extend(rest);
        let error = read(Format::Vtrace, &other).1.unwrap_err();
        assert!(matches!(error.problem, Problem::Frame { .. }), "{error}");
    }
}

#[test]
fn a_wrong_cell_is_named_by_line_and_column() {
    let (bytes, _) = sample(Format::Csv);
    let text = String::from_utf8(bytes).unwrap();
    let line = text
        .lines()
        .position(|line| line.contains(",release,"))
        .unwrap();
    let damaged = text.replacen(",release,", ",relaese,", 1);
    let error = read(Format::Csv, damaged.as_bytes()).1.unwrap_err();
    assert_eq!(
        error.place,
        Place::Line {
            line: line as u64 + 1,
            column: 2
        }
    );
    assert!(error.to_string().contains("relaese"), "{error}");
}

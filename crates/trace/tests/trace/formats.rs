//! What was written comes back.

use crate::common::{random_record, recording, written};
use std::path::Path;
use vestal_testkit::Random;
use vestal_trace::write::Options;
use vestal_trace::{Format, Header, Record, Trace};

const COMPLETE: [Format; 2] = [Format::Vtrace, Format::Csv];

fn read_back(format: Format, bytes: &[u8]) -> (Header, Vec<Record>) {
    let mut trace = Trace::open(format, bytes).unwrap().unwrap();
    let header = trace.header().clone();
    let records = trace.by_ref().map(Result::unwrap).collect();
    assert!(trace.next().is_none());
    (header, records)
}

#[test]
fn every_kind_of_record_is_equal_after_bytes_and_after_text() {
    let mut random = Random::new(1);
    let mut words = std::collections::BTreeSet::new();
    for _ in 0..50_000 {
        let record = random_record(&mut random);
        assert_eq!(Record::from_bytes(&record.to_bytes()), Ok(record));
        let line = record.to_string();
        assert_eq!(line.parse(), Ok(record), "{line}");
        words.insert(record.word());
    }
    assert_eq!(words.len(), 37, "{words:?}");
}

#[test]
fn complete_formats_give_header_and_records_back() {
    for seed in 0..20 {
        let (_, header, mut records) = recording(seed, 150, seed % 2 == 0);
        let mut random = Random::new(seed);
        records.extend((0..300).map(|_| random_record(&mut random)));
        for format in COMPLETE {
            let bytes = written(format, &header, Options::default(), &records);
            assert_eq!(read_back(format, &bytes), (header.clone(), records.clone()));
        }
    }
}

#[test]
fn a_trace_without_records_and_one_at_the_edge_of_a_frame_are_traces() {
    let (_, header, _) = recording(0, 2, false);
    let mut random = Random::new(3);
    let many: Vec<Record> = (0..2049).map(|_| random_record(&mut random)).collect();
    for format in COMPLETE {
        for count in [0, 1, 1023, 1024, 1025, 2048, 2049] {
            let bytes = written(format, &header, Options::default(), &many[..count]);
            assert_eq!(read_back(format, &bytes).1, many[..count]);
        }
    }
}

#[test]
fn the_format_follows_from_the_extension() {
    for format in Format::ALL {
        let name = format!("a.b/x.{}", format.extension());
        assert_eq!(Format::from_path(Path::new(&name)), Ok(format));
    }
    assert_eq!(Format::from_path(Path::new("X.SVG")), Ok(Format::Svg));
    let error = Format::from_path(Path::new("x.png")).unwrap_err();
    assert!(error.to_string().contains(".vtrace"), "{error}");
    assert!(Format::from_path(Path::new("vtrace")).is_err());
}

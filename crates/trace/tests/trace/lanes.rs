//! Drawings of several domains: modes and ends of their own, and a lane for each CPU.

use crate::common::{header_of, random_record, written};
use crate::domains::{Case, of_domain, recording};
use crate::example::golden;
use crate::perfetto::decode;
use std::collections::BTreeSet;
use vestal_core::*;
use vestal_testkit::Random;
use vestal_trace::chart::{Chart, Collector, Window};
use vestal_trace::timeline::{Ending, Item, Timeline};
use vestal_trace::write::Options;
use vestal_trace::{DomainId, Format, Header, Record, Scope, What};

pub(crate) fn chart(header: &Header, records: &[Record]) -> Chart {
    let mut collector = Collector::new(header, Window::ALL, usize::MAX);
    records.iter().for_each(|record| collector.feed(record));
    collector.finish()
}

/// The slow twin: each domain drawn by itself, from its own records with its own numbers.
#[test]
fn what_is_drawn_of_a_domain_is_what_its_own_records_show() {
    let (mut bands, mut slices) = (0, 0);
    for seed in 0..40 {
        let case = recording(seed, 80, seed % 2 == 0);
        let whole = chart(&case.header, &case.records);
        assert!(whole.has_domains());
        assert_eq!(whole.cpus(), [CpuId(0), CpuId(1), CpuId(2)]);
        for domain in case.header.domain_ids() {
            let own = &case.header.domains[domain.index()];
            let scope = Scope::of(&case.header, domain).unwrap();
            let alone = of_domain(&case.records, domain).into_iter();
            let alone: Vec<Record> = alone.map(|(_, record)| scope.to_cluster(record)).collect();
            let alone = chart(&header_of(&case.setups[domain.index()]), &alone);
            for (row, task) in alone.rows.iter().zip(&own.tasks) {
                let drawn = &whole.rows[task.index()];
                assert_eq!(drawn.marks, row.marks, "seed {seed}: {task:?}");
                let expected = row.slices.iter().map(|slice| {
                    let job = JobId {
                        task: *task,
                        ..slice.job
                    };
                    let cpu = own.cpus[0];
                    vestal_trace::chart::Slice { job, cpu, ..*slice }
                });
                let expected: Vec<_> = expected.collect();
                assert_eq!(drawn.slices, expected, "seed {seed}: {task:?}");
                slices += expected.len();
            }
            let drawn = whole.bands.iter().filter(|band| band.domain == domain);
            let drawn: Vec<_> = drawn.map(|band| (band.from, band.to, band.mode)).collect();
            let expected = alone.bands.iter();
            let expected: Vec<_> = expected
                .map(|band| (band.from, band.to, band.mode))
                .collect();
            assert_eq!(drawn, expected, "seed {seed}: {domain:?}");
            bands += drawn.len();
            // A lane has the slices of its CPU.
            let lane = whole.lane(own.cpus[0]).count();
            let rows = own
                .tasks
                .iter()
                .map(|task| whole.rows[task.index()].slices.len());
            assert_eq!(lane, rows.sum::<usize>());
        }
    }
    assert!(bands > 100 && slices > 1000, "{bands} {slices}");
}

/// The jobs of a domain that has ended run no more; those of the others do.
#[test]
fn a_domain_ends_by_itself() {
    let case = recording(3, 40, false);
    let mut timeline = Timeline::new(&case.header);
    let (mut ended, mut running) = (BTreeSet::new(), BTreeSet::new());
    let mut present = DomainId::FIRST;
    for record in &case.records {
        if let What::Domain { domain } = record.what {
            present = domain;
        }
        let items = timeline.feed(record);
        for (_, item) in &items {
            match item {
                Item::Begin { job, .. } => {
                    running.insert(job.task);
                }
                Item::Finish { job, why, .. } => {
                    running.remove(&job.task);
                    let by_end = matches!(record.what, What::End { .. });
                    assert_eq!(*why == Ending::Recording, by_end);
                    assert!(!by_end || case.header.domain_of(job.task) == present);
                }
                _ => {}
            }
        }
        if let What::End { .. } = record.what {
            ended.insert(present);
            let last = ended.len() == case.header.domain_count();
            assert_eq!(items.iter().any(|(_, item)| *item == Item::End), last);
        }
        let homes = running.iter().map(|task| case.header.domain_of(*task));
        assert!(homes.into_iter().all(|home| !ended.contains(&home)));
    }
    assert_eq!(ended.len(), case.header.domain_count());
    assert!(timeline.end().is_empty());
}

/// Thirty ticks in which modes rise in one domain and not in another.
fn shown() -> Case {
    recording(11, 30, false)
}

fn drawn(format: Format) -> String {
    let case = shown();
    let bytes = written(format, &case.header, Options::default(), &case.records);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_text_chart_of_domains_is_the_golden_one() {
    golden("domains.txt", &drawn(Format::Text));
}

#[test]
fn the_svg_chart_of_domains_is_the_golden_one() {
    let svg = drawn(Format::Svg);
    golden("domains.svg", &svg);
    for name in [
        "mode CPU 0",
        "mode CPU 1",
        "mode CPU 2",
        "CPU 0",
        "CPU 1",
        "CPU 2",
    ] {
        assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 1, "{name}");
    }
}

#[test]
fn the_latex_drawing_of_domains_is_the_golden_one() {
    golden("domains.tex", &drawn(Format::Tex));
}

#[test]
fn the_value_change_dump_of_domains_is_the_golden_one() {
    golden("domains.vcd", &drawn(Format::Vcd));
}

#[test]
fn the_csv_of_domains_is_the_golden_one() {
    golden("domains.csv", &drawn(Format::Csv));
}

/// In a dump a task runs on the CPU that its own signal says, and the CPU's signal says the task.
#[test]
fn a_dump_says_both_ways_who_runs_where() {
    let case = recording(8, 120, false);
    let bytes = written(Format::Vcd, &case.header, Options::default(), &case.records);
    let text = String::from_utf8(bytes).unwrap();
    let mut names = std::collections::BTreeMap::new();
    let mut scope = String::new();
    for line in text.lines().take_while(|line| !line.starts_with("$enddef")) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["$scope", "module", name, _] => (*name).clone_into(&mut scope),
            ["$var", _, _, id, name, _] => {
                let known = names.insert((*id).to_owned(), format!("{scope}.{name}"));
                assert_eq!(known, None, "{id} is two signals");
            }
            _ => {}
        }
    }
    let modes = names.values().filter(|name| name.contains(".mode_CPU_"));
    assert_eq!(modes.count(), 3);
    let tasks = case.header.tasks.iter().map(|task| task.name.clone());
    let tasks: Vec<String> = tasks.collect();
    let (mut on, mut of) = (vec![None; tasks.len()], [None; 3]);
    let mut checked = 0;
    let mut check = |on: &[Option<usize>], of: &[Option<usize>]| {
        for (task, cpu) in on.iter().enumerate() {
            if let Some(cpu) = cpu {
                assert_eq!(of[*cpu], Some(task));
                checked += 1;
            }
        }
        assert_eq!(on.iter().flatten().count(), of.iter().flatten().count());
    };
    for line in text.lines() {
        if line.starts_with('#') {
            check(&on, &of);
        }
        let Some((value, id)) = line.strip_prefix('b').and_then(|line| line.split_once(' ')) else {
            continue;
        };
        let value = usize::from_str_radix(value, 2).ok();
        let name = &names[id];
        if let Some(cpu) = name.strip_prefix("pedf-vd.cpu") {
            of[cpu.parse::<usize>().unwrap()] = value;
        } else if let Some(task) = name.strip_suffix(".cpu") {
            let place = tasks
                .iter()
                .position(|name| task.starts_with(&format!("{name}_")));
            on[place.unwrap()] = value;
        }
    }
    assert!(checked > 100, "{checked}");
}

/// Each domain has a track for its mode, and all slices end.
#[test]
fn perfetto_traces_of_domains_are_balanced_and_have_their_modes() {
    for seed in 0..30 {
        let case = recording(seed, 80, false);
        let format = Format::Perfetto;
        let bytes = written(format, &case.header, Options::default(), &case.records);
        let counts = decode(&bytes);
        assert_eq!(counts.begins, counts.ends);
        let mut timeline = Timeline::new(&case.header);
        let items: Vec<Item> = case
            .records
            .iter()
            .flat_map(|record| timeline.feed(record))
            .map(|(_, item)| item)
            .collect();
        let changes = items
            .iter()
            .filter(|item| matches!(item, Item::Mode { .. }));
        let named = counts
            .instants
            .iter()
            .filter(|(name, _)| name.contains(" to "));
        let named: u32 = named.map(|(_, count)| *count).sum();
        assert_eq!(named as usize, changes.count(), "seed {seed}");
    }
}

#[test]
fn nonsense_of_several_domains_can_be_drawn_in_every_format() {
    for seed in 0..100 {
        let header = recording(seed, 1, false).header;
        let mut random = Random::new(seed);
        let records = (0..200).map(|_| {
            let mut record = random_record(&mut random);
            record.at = Instant::from_nanos(record.at.as_nanos() >> 2);
            if random.below(4) == 0 {
                let domain = DomainId(random.below(5) as u16);
                record.what = What::Domain { domain };
            }
            record
        });
        let records: Vec<Record> = records.collect();
        for format in Format::ALL {
            let bytes = written(format, &header, Options::default(), &records);
            if format == Format::Perfetto {
                decode(&bytes);
            }
        }
    }
}

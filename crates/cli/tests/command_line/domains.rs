//! Traces of several CPUs that decide by themselves: written, replayed CPU by CPU, drawn.

use crate::support::traces::read;
use crate::support::{Done, Scratch, vestal};
use crate::traces::simulate;
use std::fs;
use std::path::{Path, PathBuf};
use vestal_trace::{DomainId, Header, Record, What};

const TWO: &str = "examples/two-cpus.toml";

/// A trace of the example under `pedf-vd`, and the result of the run.
fn recorded(scratch: &Scratch, scenario: &str, name: &str) -> (PathBuf, serde_json::Value) {
    let path = scratch.0.join(name);
    let file = path.to_str().unwrap();
    let json = ["--for", "2s", "--format", "json", "--trace", file];
    let arguments = [&["--scenario", scenario], &json[..]].concat();
    let done = simulate(TWO, ("pedf-vd", "managed"), &arguments);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    (path, done.json())
}

fn replay(path: &Path, arguments: &[&str]) -> Done {
    vestal(&[&["replay", path.to_str().unwrap()], arguments].concat())
}

#[test]
fn each_cpu_replays_clean_with_the_figures_of_the_result() {
    let scratch = Scratch::new("domains-clean");
    for (scenario, name) in [
        ("lo", "x.csv"),
        ("hi", "x.vtrace"),
        ("overrun=0.3", "y.vtrace"),
    ] {
        let (path, result) = recorded(&scratch, scenario, name);
        let done = replay(&path, &["--format", "json"]);
        let found = done.json();
        assert_eq!((done.exit, &found["equal"]), (0, &true.into()), "{found:#}");
        let domains = found["domains"].as_array().unwrap();
        let names: Vec<&str> = domains
            .iter()
            .map(|own| own["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["CPU 0", "CPU 1"]);
        let sum = |key: &str| {
            domains
                .iter()
                .map(|own| own[key].as_u64().unwrap())
                .sum::<u64>()
        };
        for key in ["facts", "decisions", "notices", "modes"] {
            assert_eq!(sum(key), found[key].as_u64().unwrap(), "{scenario}: {key}");
        }
        assert_eq!(
            sum("modes"),
            result["modes"].as_array().unwrap().len() as u64
        );
        for key in ["released", "completed", "dropped", "missed"] {
            let own = domains.iter().map(|own| own["jobs"][key].as_u64().unwrap());
            assert_eq!(
                own.sum::<u64>(),
                result["jobs"][key].as_u64().unwrap(),
                "{key}"
            );
        }
        // By CPU, the modes of the result are those of the domain.
        for (cpu, own) in domains.iter().enumerate() {
            let changes = result["modes"].as_array().unwrap().iter();
            let changes = changes.filter(|change| change["cpu"] == cpu);
            assert_eq!(own["modes"], changes.count() as u64, "{scenario}");
        }
        let page = replay(&path, &[]).stdout;
        assert!(
            page.contains("\nCPU 0: ") && page.contains("\nCPU 1: "),
            "{page}"
        );
    }
    // A trace of one domain says nothing of domains.
    let path = scratch.0.join("one.csv");
    let arguments = ["--for", "1s", "--trace", path.to_str().unwrap()];
    assert_eq!(simulate(crate::FMS, ("amc", "managed"), &arguments).exit, 0);
    assert!(!fs::read_to_string(&path).unwrap().contains("domain"));
    let found = replay(&path, &["--format", "json"]).json();
    assert_eq!(found.get("domains"), None);
}

/// Who has the word at each record.
fn homes(records: &[Record]) -> Vec<DomainId> {
    let mut present = DomainId::FIRST;
    let home = |record: &Record| {
        if let What::Domain { domain } = record.what {
            present = domain;
        }
        present
    };
    records.iter().map(home).collect()
}

/// Writes a trace as text.
fn write(path: &Path, header: &Header, records: &[Record]) {
    let mut text = String::new();
    for line in header.to_text().lines() {
        text += &format!("# {line}\n");
    }
    text += &format!("{}\n", vestal_trace::record::COLUMNS);
    for record in records {
        text += &format!("{record}\n");
    }
    text += &format!("# records {}\n", records.len());
    fs::write(path, text).unwrap();
}

#[test]
fn a_change_is_found_in_the_cpu_that_it_is_about() {
    let scratch = Scratch::new("domains-changed");
    let (path, _) = recorded(&scratch, "hi", "x.vtrace");
    let (header, records) = read(&path);
    let homes = homes(&records);
    let changed = scratch.0.join("changed.csv");
    write(&changed, &header, &records);
    assert_eq!(replay(&changed, &[]).exit, 0);
    let found = |records: &[Record]| {
        write(&changed, &header, records);
        let done = replay(&changed, &["--format", "json"]);
        assert_eq!(done.exit, 1, "{}{}", done.stdout, done.stderr);
        let found = done.json();
        let difference = &found["difference"];
        let text = replay(&changed, &[]).stdout;
        let domain = difference["domain"].as_str().unwrap().to_owned();
        assert!(
            text.contains(&format!(", in the domain {domain}.")),
            "{text}"
        );
        (domain, difference["number"].as_u64().unwrap())
    };
    for domain in header.domain_ids() {
        let name = header.domain_name(domain);
        // Each kind of record once, from the middle on.
        let mut words = std::collections::BTreeSet::new();
        for index in records.len() / 2..records.len() {
            let what = records[index].what;
            let gives = matches!(what, What::Domain { .. });
            if homes[index] != domain || gives || !words.insert(what.word()) {
                continue;
            }
            let mut without = records.clone();
            without.remove(index);
            let (found_in, number) = found(&without);
            assert_eq!(found_in, name, "without {}", records[index]);
            assert!(number >= index as u64);
        }
        for word in [
            "release", "charge", "start", "complete", "decide", "slot", "end",
        ] {
            assert!(words.contains(word), "{word} is not among {words:?}");
        }
    }
    // The word is missing: what follows would be of the other CPU, which knows no such task.
    let is_word = |index: &usize| matches!(records[*index].what, What::Domain { .. });
    let word = (records.len() / 2..records.len()).find(is_word).unwrap();
    let mut without = records.clone();
    without.remove(word);
    let (found_in, _) = found(&without);
    assert_eq!(found_in, header.domain_name(homes[word - 1]));
}

#[test]
fn another_set_is_compared_cpu_by_cpu() {
    let scratch = Scratch::new("domains-other");
    let (path, _) = recorded(&scratch, "lo", "x.csv");
    let text = fs::read_to_string(crate::support::repository().join(TWO)).unwrap();
    let other = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        scratch.file("other.toml", &changed)
    };
    let same = scratch.file("same.toml", &text);
    assert_eq!(replay(&path, &[same.to_str().unwrap()]).exit, 0);
    for (from, to, cpu) in [
        ("LO = 18", "LO = 17", "CPU 1"),
        ("LO = 3, HI = 7", "LO = 2, HI = 7", "CPU 0"),
    ] {
        let file = other(from, to);
        let done = replay(&path, &[file.to_str().unwrap(), "--format", "json"]);
        assert_eq!(done.exit, 1, "{}{}", done.stdout, done.stderr);
        assert_eq!(done.json()["difference"]["domain"], cpu);
    }
}

#[test]
fn a_header_with_other_domains_than_its_policy_is_refused() {
    let scratch = Scratch::new("domains-header");
    let (path, _) = recorded(&scratch, "lo", "x.csv");
    let text = fs::read_to_string(&path).unwrap();
    let cases = [
        // The CPUs exchanged, a task in another domain, the domains left out.
        (
            "# domain\tCPU 0\t0\t0\t",
            "# domain\tCPU 0\t0\t1\t",
            "V0805: header line",
        ),
        ("\t0,1,2\n", "\t0,1\n", "V0805: header line"),
        (
            "# domain\tCPU 0",
            "# domain\tfirst",
            "V0805: its domains are not those",
        ),
        ("\t0,1,2\n", "\t1,0,2\n", "V0805: its domains are not those"),
    ];
    for (from, to, why) in cases {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        let changed = scratch.file("changed.csv", &text.replacen(from, to, 1));
        let done = replay(&changed, &[]);
        assert_eq!(done.exit, 2, "{to}: {}{}", done.stdout, done.stderr);
        assert!(
            done.stderr.contains("V0805") && done.stderr.contains(&why[7..]),
            "{to}: {}",
            done.stderr
        );
    }
}

#[test]
fn every_format_of_two_cpus_is_written_and_says_which_cpu() {
    let scratch = Scratch::new("domains-formats");
    let names = ["x.txt", "x.svg", "x.tex", "x.vcd", "x.pftrace"];
    let paths = names.map(|name| scratch.0.join(name).to_str().unwrap().to_owned());
    let mut arguments = vec!["--for", "60ms", "--scenario", "hi"];
    for path in &paths {
        arguments.extend(["--trace", path.as_str()]);
    }
    let done = simulate(TWO, ("pedf-vd", "managed"), &arguments);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let text =
        |place: usize| String::from_utf8_lossy(&fs::read(&paths[place]).unwrap()).into_owned();
    for (place, words) in [
        (0, ["mode CPU 0 ", "\nCPU 1 "]),
        (1, [">mode CPU 0</text>", ">CPU 1</text>"]),
        (2, ["{mode CPU 0}", "{CPU 1}"]),
        (3, [" mode_CPU_0 ", " cpu1 "]),
        (4, ["mode CPU 0", "mode CPU 1"]),
    ] {
        for word in words {
            assert!(text(place).contains(word), "{}: {word}", names[place]);
        }
    }
}

//! The examples of Sigrist et al. (RTAS 2015), Table III among them, on as many simulated CPUs as the paper has.

use crate::support::{repository, vestal};
use std::fs;
use vestal_workload::TaskSet;

const FOLDER: &str = "examples/sigrist2015";

/// Each file, the policy that runs it, and a file with the same tasks.
const EXAMPLES: [(&str, &str, Option<&str>); 7] = [
    ("fig1.toml", "edf-vd", None),
    ("fig2.toml", "edf-vd", None),
    ("fig4.toml", "edf-vd", None),
    ("table-3-i5-two-cpus.toml", "ftts", Some("fms-core-i5.toml")),
    ("table-3-i5.toml", "ftts", Some("fms-core-i5.toml")),
    ("table-3-phi-two-cpus.toml", "ftts", Some("fms.toml")),
    ("table-3-phi.toml", "ftts", Some("fms.toml")),
];

fn task_set(path: &str) -> TaskSet {
    let text = fs::read_to_string(repository().join(path)).unwrap();
    TaskSet::parse(path, &text).unwrap()
}

#[test]
fn every_example_is_proved_simulated_and_on_the_page() {
    let page = fs::read_to_string(repository().join(FOLDER).join("README.md")).unwrap();
    for (name, policy, _) in EXAMPLES {
        let file = format!("{FOLDER}/{name}");
        let analyzed = vestal(&["analyze", &file, "--test", policy]);
        assert_eq!(analyzed.exit, 0, "{name}: {}", analyzed.stdout);
        let arguments = ["simulate", &file, "--policy", policy, "--scenario"];
        let more = ["overrun=0.5", "--for", "20s", "--format", "json"];
        let done = vestal(&[arguments, more].concat());
        assert_eq!(done.exit, 0, "{name}: {}", done.stderr);
        let jobs = &done.json()["jobs"];
        assert_eq!(jobs["missed_guaranteed"], 0, "{name}");
        // What HI jobs take more is taken from LO jobs.
        assert!(jobs["dropped"].as_u64().unwrap() > 0, "{name}");
        assert!(page.contains(name), "{name} is not in the README");
    }
    let files = fs::read_dir(repository().join(FOLDER)).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    assert_eq!(names, EXAMPLES.map(|(name, _, _)| name));
}

#[test]
fn table_3_is_the_flight_management_system_with_what_its_jobs_allocate() {
    for (name, _, twin) in EXAMPLES {
        let Some(twin) = twin else { continue };
        let mut set = task_set(&format!("{FOLDER}/{name}"));
        let cpus = if name.contains("two-cpus") { 2 } else { 4 };
        assert_eq!(set.platform.cpus, cpus, "{name}");
        for task in &mut set.tasks {
            let work = task.work.take().map(|work| work.to_string());
            let is_high = task.criticality.0 == 1;
            let expected = is_high.then(|| "alloc:10x1MiB@0.5".to_owned());
            assert_eq!(work, expected, "{name}: {}", task.name);
        }
        assert_eq!(set.tasks, task_set(&format!("examples/{twin}")).tasks);
    }
}

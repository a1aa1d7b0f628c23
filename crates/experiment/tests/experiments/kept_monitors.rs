//! What the documentation says of the monitors that runs pick follows from what each run cost, `docs/overhead/monitors/monitors.json`.
//! `scripts/keep-overhead.sh DIR` keeps others; it calls this test with `VESTAL_BLESS=1`.

use crate::kept::{docs, expect_files, expect_part};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

pub(crate) const BEGIN: &str = "<!-- begin: monitors, written by scripts/keep-overhead.sh -->\n";
const NOTHING: &str = "No measurement is kept in this version.\n";
const FILE: &str = "monitors.json";

/// Beyond so much, in percent, a monitor that was picked is not the cheaper one.
const LIMIT_PERCENT: u64 = 10;

/// Twice the median, so that it is whole.
fn twice_the_median(costs: &[u64]) -> u64 {
    let mut sorted = costs.to_vec();
    sorted.sort_unstable();
    let (low, high) = ((sorted.len() - 1) / 2, sorted.len() / 2);
    sorted[low] + sorted[high]
}

/// What an example's runs came to.
struct Judged {
    /// By monitor twice the median of what runs cost that were asked for it, in nanoseconds.
    costs: BTreeMap<String, u64>,
    /// What was picked where nobody asked.
    picked: BTreeSet<String>,
}

impl Judged {
    fn of(example: &Value) -> Self {
        let mut asked: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut picked = BTreeSet::new();
        let mut rounds = 0;
        for run in example["runs"].as_array().unwrap() {
            let monitor = run["monitor"].as_str().unwrap().to_owned();
            match run["asked"].as_str() {
                None => {
                    picked.insert(monitor);
                    rounds += 1;
                }
                Some(name) => {
                    assert_eq!(name, monitor, "another one ran in its place");
                    let cost = run["cpu_ns"].as_u64().unwrap();
                    asked.entry(monitor).or_default().push(cost);
                }
            }
        }
        assert!(asked.values().all(|costs| costs.len() == rounds));
        let costs = asked.into_iter();
        let costs = costs.map(|(name, costs)| (name, twice_the_median(&costs)));
        Self {
            costs: costs.collect(),
            picked,
        }
    }

    /// The least cost of a monitor.
    fn least(&self) -> u64 {
        self.costs.values().copied().min().unwrap()
    }

    /// Whether whatever was picked in any round is within the limit of the cheapest one.
    fn holds(&self) -> bool {
        let most = self.least() * (100 + LIMIT_PERCENT);
        self.picked
            .iter()
            .all(|name| self.costs[name] * 100 <= most)
    }
}

fn is_not_run(example: &Value) -> bool {
    example.get("not_run").is_some()
}

fn table(document: &Value) -> String {
    let examples = document["examples"].as_array().unwrap();
    // One that could not be run is not decided, so that the claim about all of them is not confirmed.
    let judge = |example| (!is_not_run(example)).then(|| Judged::of(example));
    let judged: Vec<Option<Judged>> = examples.iter().map(judge).collect();
    let held = judged.iter().flatten().filter(|one| one.holds()).count();
    let run = judged.iter().flatten().count();
    let verdict = match (held == judged.len(), held == run) {
        (true, _) => "**confirmed**",
        (false, true) => "**not decided**",
        (false, false) => "**refuted**",
    };
    let mut text = format!(
        "{}; {} rounds of {} each, {}. One machine, one measurement: another one will give other numbers.\n\n\
         For the examples the monitor that `run` picks by itself costs at most {LIMIT_PERCENT} % more than the cheapest one, in the medians of interleaved runs: \
         {verdict}, {held} of {}.\n\n\
         | example | policy | `perf`, us | `manager`, us | `remainder`, us | picked | within {LIMIT_PERCENT} % |\n|---|---|---|---|---|---|---|\n",
        document["machine"].as_str().unwrap(),
        document["rounds"],
        document["seconds"].as_str().unwrap(),
        document["version"].as_str().unwrap(),
        judged.len(),
    );
    for (example, one) in examples.iter().zip(&judged) {
        let (file, policy) = (&example["example"], &example["policy"]);
        let (file, policy) = (file.as_str().unwrap(), policy.as_str().unwrap());
        let Some(one) = one else {
            let why = example["not_run"].as_str().unwrap();
            let _ = writeln!(
                text,
                "| `{file}` | `{policy}` | - | - | - | - | not run: {why} |"
            );
            continue;
        };
        let cost = |name: &str| {
            let twice = one.costs.get(name);
            twice.map_or_else(|| "-".to_owned(), |twice| (twice / 2_000).to_string())
        };
        let picked: Vec<&str> = one.picked.iter().map(String::as_str).collect();
        let _ = writeln!(
            text,
            "| `{}` | `{}` | {} | {} | {} | {} | {} |",
            file,
            policy,
            cost("perf"),
            cost("manager"),
            cost("remainder"),
            picked.join(" or "),
            if one.holds() { "yes" } else { "**no**" },
        );
    }
    text
}

#[test]
fn what_the_documentation_says_of_monitors_follows_from_their_runs() {
    let folder = docs().join("overhead/monitors");
    let block = match fs::read_to_string(folder.join(FILE)) {
        Ok(text) => {
            expect_files(&folder, vec![FILE.to_owned()]);
            format!("\n{}\n", table(&serde_json::from_str(&text).unwrap()))
        }
        Err(_) => format!("\n{NOTHING}\n"),
    };
    expect_part(&docs().join("overhead.md"), BEGIN, &block);
}

/// As a measurement that was made up would be judged: the limit is that of the claim, and what was picked once counts.
#[test]
fn a_monitor_that_was_picked_once_and_costs_more_is_not_the_cheaper_one() {
    let runs = |perf: u64, manager: u64, picked: [&str; 2]| {
        let run = |asked: Option<&str>, monitor: &str, cpu_ns: u64| serde_json::json!({ "asked": asked, "monitor": monitor, "cpu_ns": cpu_ns });
        let mut runs = Vec::new();
        for name in picked {
            runs.push(run(None, name, 1));
            runs.push(run(Some("perf"), "perf", perf));
            runs.push(run(Some("manager"), "manager", manager));
        }
        Judged::of(&serde_json::json!({ "runs": runs }))
    };
    assert!(runs(1_000, 1_100, ["manager"; 2]).holds());
    assert!(!runs(1_000, 1_101, ["manager"; 2]).holds());
    assert!(!runs(1_000, 1_101, ["perf", "manager"]).holds());
    assert!(runs(1_000, 1_101, ["perf"; 2]).holds());
    assert_eq!(twice_the_median(&[7, 1, 4]), 8);
    assert_eq!(twice_the_median(&[7, 1, 4, 5]), 9);
}

/// What could not be measured confirms nothing, and hides nothing that was refuted.
#[test]
fn an_example_that_was_not_run_is_not_confirmed() {
    let run = |asked: Option<&str>, monitor: &str, cpu_ns: u64| serde_json::json!({ "asked": asked, "monitor": monitor, "cpu_ns": cpu_ns });
    let example = |perf: u64| {
        let runs = [
            run(None, "perf", 1),
            run(Some("perf"), "perf", perf),
            run(Some("manager"), "manager", 1_000),
        ];
        serde_json::json!({ "example": "a.toml", "policy": "amc", "runs": runs })
    };
    let refused = || serde_json::json!({ "example": "b.toml", "policy": "smc", "not_run": "perf is refused" });
    let of = |examples: &[Value]| {
        let document = serde_json::json!({
            "machine": "a machine", "rounds": 1, "seconds": "2s", "version": "vestal 0", "examples": examples,
        });
        table(&document)
    };
    assert!(of(&[example(1_000)]).contains("**confirmed**, 1 of 1"));
    let undecided = of(&[example(1_000), refused()]);
    assert!(undecided.contains("**not decided**, 1 of 2"), "{undecided}");
    assert!(
        undecided.contains("not run: perf is refused"),
        "{undecided}"
    );
    assert!(of(&[example(2_000), refused()]).contains("**refuted**, 0 of 2"));
}

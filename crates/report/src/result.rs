//! The result files of the commands, as far as the page shows them.
//!
//! Their shapes are the contract of `docs/interfaces.md`. Fields that the page does not show are not
//! asked for, so that a file of a later version with more of them can be shown too. Times are whole
//! nanoseconds up to 2^64 - 1.

use crate::error::ReportError;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// The format that this crate reads.
pub const FORMAT: &str = "vestal-result/1";

/// The largest integer that a number of the page's script holds exactly is 2^53 - 1.
const SAFE_MAX: u64 = (1 << 53) - 1;

/// A count or a time in nanoseconds. Travels to the page as a number, or as a string of digits where
/// the script's numbers would round it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exact(pub u64);

impl<'de> Deserialize<'de> for Exact {
    /// Means may have a fraction, which is rounded away.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Exact;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number that is not negative")
            }
            fn visit_u64<E>(self, value: u64) -> Result<Exact, E> {
                Ok(Exact(value))
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Exact, E> {
                // Beyond 2^64 a conversion would give the largest number instead.
                if (0.0..18_446_744_073_709_551_616.0).contains(&value) {
                    Ok(Exact(value.round() as u64))
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Float(value), &self))
                }
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 > SAFE_MAX {
            serializer.collect_str(&self.0)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

/// An object whose keys keep their order: levels from the lowest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Ordered<T> {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value)
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Pairs: objects of the script would sort keys that look like numbers.
        serializer.collect_seq(self.0.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

/// What one test said.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Analysis {
    /// The test.
    pub test: String,
    /// Its variant.
    #[serde(default)]
    pub variant: Option<String>,
    /// `schedulable`, `unschedulable` or `not-proven`.
    pub verdict: String,
    /// `exact`, `sufficient`, `necessary` or `unsafe`.
    pub kind: String,
    /// What an unsafe test claims.
    #[serde(default)]
    pub claim: Option<String>,
    /// The reason for a `not-proven`.
    #[serde(default)]
    pub why: Option<String>,
    /// By task.
    #[serde(default)]
    pub tasks: Vec<AnalysedTask>,
    /// How long it took, in microseconds.
    #[serde(default)]
    pub elapsed_us: Exact,
}

impl Analysis {
    /// The test's name with its variant.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}:{variant}", self.test),
            None => self.test.clone(),
        }
    }

    /// The names of the tasks by priority, the most urgent first; none if the test has no priorities.
    #[must_use]
    pub fn order(&self) -> Option<Vec<&str>> {
        let mut order: Vec<(u64, &str)> = Vec::new();
        for task in &self.tasks {
            order.push((task.priority?.0, &task.name));
        }
        order.sort_unstable_by(|a, b| b.cmp(a));
        Some(order.into_iter().map(|(_, name)| name).collect())
    }
}

/// What a test said about one task.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct AnalysedTask {
    /// Its name.
    pub name: String,
    /// Its criticality.
    pub criticality: String,
    /// Larger is more urgent.
    #[serde(default)]
    pub priority: Option<Exact>,
    /// Its CPU.
    #[serde(default)]
    pub cpu: Option<u32>,
    /// Its relative deadline.
    pub deadline_ns: Exact,
    /// A bound for each level.
    #[serde(default)]
    pub response_ns: Ordered<Option<Exact>>,
}

/// What a simulated or a real run gave.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Run {
    /// The task-set file.
    pub file: String,
    /// The policy.
    pub policy: String,
    /// `simulator` or `linux`.
    pub world: String,
    /// How long.
    pub duration_ns: Exact,
    /// The seed.
    #[serde(default)]
    pub seed: Exact,
    /// How long jobs execute; as this and what follows, results of older versions do not say it.
    #[serde(default)]
    pub scenario: Option<String>,
    /// The options of the policy.
    #[serde(default)]
    pub options: Option<BTreeMap<String, String>>,
    /// `native` or `managed`.
    #[serde(default)]
    pub dispatch: Option<String>,
    /// What proves that no guaranteed deadline is missed. `Some(None)`: nothing does, and none is
    /// guaranteed.
    #[serde(default, deserialize_with = "said")]
    pub proof: Option<Option<Proof>>,
    /// All jobs.
    pub jobs: Jobs,
    /// Mode changes.
    #[serde(default)]
    pub modes: Vec<ModeChange>,
    /// By task.
    pub tasks: Vec<RunTask>,
    /// By CPU.
    #[serde(default)]
    pub cpus: Vec<Cpu>,
    /// By mechanism.
    #[serde(default)]
    pub overhead: Ordered<Cost>,
    /// What the machine did; shown as it is.
    #[serde(default)]
    pub machine: Ordered<serde_json::Value>,
}

/// A test that accepts the set of a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Proof {
    /// Its name, with its variant behind a colon.
    pub test: String,
}

/// A value that may be null, and is told apart from one that is not there.
fn said<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Counts of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Jobs {
    /// Arrived.
    pub released: Exact,
    /// Finished.
    pub completed: Exact,
    /// Dropped.
    pub dropped: Exact,
    /// Late.
    pub missed: Exact,
    /// Late against a guarantee.
    #[serde(default)]
    pub missed_guaranteed: Exact,
}

/// A change of mode.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ModeChange {
    /// When.
    pub at_ns: Exact,
    /// The level before.
    pub from: String,
    /// The level after.
    pub to: String,
    /// The task that caused it.
    #[serde(default)]
    pub cause: Option<String>,
}

/// One task of a run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct RunTask {
    /// Its name.
    pub name: String,
    /// Jobs that arrived.
    pub released: Exact,
    /// Jobs that finished.
    pub completed: Exact,
    /// Jobs that were late.
    pub missed: Exact,
    /// Jobs that were dropped.
    pub dropped: Exact,
    /// Jobs that used up a limit.
    #[serde(default)]
    pub overruns: Exact,
    /// How often a pending job lost a CPU.
    #[serde(default)]
    pub preemptions: Exact,
    /// Of the completed jobs.
    #[serde(default)]
    pub response_ns: Spread,
    /// Of the completed jobs.
    #[serde(default)]
    pub execution_ns: Spread,
}

/// The figures of a distribution; null where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Spread {
    /// The least.
    #[serde(default)]
    pub min: Option<Exact>,
    /// The mean.
    #[serde(default)]
    pub mean: Option<Exact>,
    /// The 99th percentile.
    #[serde(default)]
    pub p99: Option<Exact>,
    /// The largest.
    #[serde(default)]
    pub max: Option<Exact>,
}

/// One CPU of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Cpu {
    /// Its number.
    pub cpu: u32,
    /// How long it executed jobs.
    #[serde(default)]
    pub busy_ns: Exact,
    /// How often a job got it.
    #[serde(default)]
    pub switches: Exact,
    /// How often a pending job lost it.
    #[serde(default)]
    pub preemptions: Exact,
    /// How often a job got it that had last run elsewhere.
    #[serde(default)]
    pub migrations: Exact,
}

/// What a mechanism cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Cost {
    /// How often it was measured.
    pub count: Exact,
    /// In nanoseconds.
    #[serde(default)]
    pub mean: Option<Exact>,
    /// In nanoseconds.
    #[serde(default)]
    pub p99: Option<Exact>,
    /// In nanoseconds.
    #[serde(default)]
    pub max: Option<Exact>,
    /// Its share of the interval.
    #[serde(default)]
    pub share: Option<f64>,
}

/// What stands in one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The task-set file, where the result names it.
    pub file: Option<String>,
    /// Of `analyze` and `demo`.
    pub analyses: Vec<Analysis>,
    /// Of `simulate`, `run` and `demo`.
    pub runs: Vec<Run>,
}

/// The keys that tell the commands apart.
#[derive(Deserialize)]
struct Keys {
    format: Option<String>,
    file: Option<String>,
    results: Option<Vec<Analysis>>,
    analysis: Option<Analysis>,
    simulation: Option<Run>,
    run: Option<Run>,
    world: Option<serde::de::IgnoredAny>,
    valid: Option<serde::de::IgnoredAny>,
    error: Option<serde::de::IgnoredAny>,
}

impl Document {
    /// Reads a result.
    ///
    /// # Errors
    /// [`ReportError`] if the text is no result, or not one that the page shows.
    pub fn parse(text: &str) -> Result<Self, ReportError> {
        let not = |error: serde_json::Error| ReportError::NotAResult {
            what: error.to_string(),
        };
        let keys: Keys = serde_json::from_str(text).map_err(not)?;
        let Some(format) = keys.format else {
            let what = "it has no key `format`".to_owned();
            return Err(ReportError::NotAResult { what });
        };
        if format != FORMAT {
            return Err(ReportError::OtherFormat { found: format });
        }
        let file = keys.file;
        let refused = |what| Err(ReportError::NotShown { what });
        if keys.error.is_some() {
            return refused("the error of a command that failed");
        }
        if keys.valid.is_some() {
            return refused("a result of `check`");
        }
        if keys.world.is_some() {
            let run: Run = serde_json::from_str(text).map_err(not)?;
            let (analyses, runs) = (Vec::new(), vec![run]);
            return Ok(Self {
                file,
                analyses,
                runs,
            });
        }
        let mut analyses = keys.results.unwrap_or_default();
        analyses.extend(keys.analysis);
        let runs: Vec<Run> = keys.simulation.into_iter().chain(keys.run).collect();
        if analyses.is_empty() && runs.is_empty() {
            return refused("no result of analyze, simulate, run or demo");
        }
        Ok(Self {
            file,
            analyses,
            runs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"format":"vestal-result/1","file":"x.toml","policy":"amc",
        "world":"simulator","duration_ns":18446744073709551615,"seed":1,
        "jobs":{"released":1,"completed":0,"dropped":0,"missed":1,"missed_guaranteed":0},
        "tasks":[{"name":"a","released":1,"completed":0,"missed":1,"dropped":0,
                  "response_ns":{"min":null,"mean":null,"p99":null,"max":null}}],
        "later":{"unknown":true}}"#;

    #[test]
    fn a_run_is_read_with_exact_times_nulls_and_unknown_fields() {
        let document = Document::parse(RUN).unwrap();
        let run = &document.runs[0];
        assert_eq!(run.duration_ns, Exact(u64::MAX));
        assert_eq!(run.tasks[0].response_ns, Spread::default());
        let shown = serde_json::to_string(&run.duration_ns).unwrap();
        assert_eq!(shown, "\"18446744073709551615\"");
        assert_eq!(
            serde_json::to_string(&Exact(SAFE_MAX)).unwrap(),
            "9007199254740991"
        );
        assert_eq!(
            serde_json::to_string(&Exact(SAFE_MAX + 1)).unwrap(),
            "\"9007199254740992\""
        );
    }

    #[test]
    fn means_are_rounded_and_nothing_negative_is_a_number() {
        let read = |text: &str| serde_json::from_str::<Exact>(text).ok();
        assert_eq!(read("16894.5"), Some(Exact(16_895)));
        assert_eq!(read("0.0"), Some(Exact(0)));
        for text in [
            "-1",
            "-0.5",
            "1e30",
            "\"1\"",
            "null",
            "18446744073709551616",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn the_levels_of_a_response_keep_their_order() {
        let text = r#"{"format":"vestal-result/1","file":"x","results":[{"test":"t","verdict":"schedulable",
            "kind":"exact","tasks":[{"name":"a","criticality":"A","deadline_ns":5,
            "response_ns":{"D":1,"C":2,"B":null,"A":4}}]}]}"#;
        let document = Document::parse(text).unwrap();
        let levels = &document.analyses[0].tasks[0].response_ns;
        let names: Vec<&str> = levels.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["D", "C", "B", "A"]);
        assert_eq!(levels.get("B"), Some(&None));
        assert_eq!(levels.get("A"), Some(&Some(Exact(4))));
    }

    #[test]
    fn what_is_no_result_is_refused_by_code() {
        let code = |text: &str| Document::parse(text).unwrap_err().code();
        assert_eq!(code(""), "V0820");
        assert_eq!(code("[]"), "V0820");
        assert_eq!(code("{}"), "V0820");
        assert_eq!(code(&RUN[..200]), "V0820");
        assert_eq!(code(&RUN.replace("\"jobs\"", "\"sboj\"")), "V0820");
        assert_eq!(code(&RUN.replace("result/1", "result/2")), "V0821");
        assert_eq!(
            code(r#"{"format":"vestal-result/1","valid":true}"#),
            "V0822"
        );
        assert_eq!(code(r#"{"format":"vestal-result/1","error":{}}"#), "V0822");
        assert_eq!(code(r#"{"format":"vestal-result/1"}"#), "V0822");
    }
}

//! Scenarios: how long each job runs, and when it comes.
//!
//! | scenario | execution time of a job |
//! |---|---|
//! | `lo` | C(0), the value of the lowest level |
//! | `hi` | the value of its task's own level |
//! | `level=NAME` | the value of the level of this name; of its task's own level where that is lower |
//! | `overrun=P` | of a task above level 0: its own level's value with probability P, else C(0) |
//! | `beta=MEAN,P` | with probability P a beta-distributed share of the highest level's value, else C(0) (Herman et al. 2012, section 4) |
//! | a file | what its rows say, else C(0) |
//!
//! With `+adversarial` behind a name, events of devices do not come as `arrival` says, but when they cost their server most.

mod adversary;
mod csv;
mod draw;
mod file;

pub use draw::Workload;
pub use file::{DeviceEvents, JobRow, ModeRequest, ScenarioFile};

use crate::codes;
use crate::diagnostic::{Diagnostics, Sink, did_you_mean, quote};
use crate::model::TaskSet;
use crate::number::{Decimal, Ratio};
use crate::source::{Source, Span};
use std::path::Path;
use std::sync::Arc;
use vestal_core::Level;

/// How long each job runs, and when it comes.
#[derive(Clone, Debug)]
pub enum Scenario {
    /// Every job runs C(0).
    Lo,
    /// Every job runs its own level's WCET.
    Hi,
    /// Every job runs the WCET of this level, or of its own one if that is lower.
    Level(Level),
    /// Each job of a task above level 0 runs its own level's WCET with this probability.
    Overrun {
        /// P.
        probability: Ratio,
    },
    /// With probability P a job draws from a beta distribution.
    Beta {
        /// The mean of the distribution, as a share of the WCET at the highest level.
        mean: Ratio,
        /// P.
        probability: Ratio,
    },
    /// What the rows of a file say.
    File(ScenarioFile),
    /// Executions are those of this scenario; events of devices come when they cost their server most, whatever their
    /// arrival is. Events that jobs ask for come when they do.
    Adversarial(Box<Scenario>),
}

/// What `--scenario` was given.
#[derive(Clone, Debug)]
pub enum ScenarioSpec {
    /// A scenario by name.
    Named(Scenario),
    /// The name of a level, which only a task set knows: for [`Scenario::at_level`].
    Level(String),
    /// The path of a file, to be read and given to [`Scenario::from_source`].
    File(String),
}

/// Behind the name of a scenario: [`Scenario::Adversarial`].
const ADVERSARIAL: &str = "+adversarial";

const NAMES: [&str; 5] = ["lo", "hi", "level", "overrun", "beta"];

impl Scenario {
    /// Reads what `--scenario` was given. A name that ends in `.csv`, `.toml` or `.json` is a file.
    ///
    /// # Errors
    /// `V0500` for an unknown name, `V0501` and `V0502` for wrong numbers.
    pub fn parse(spec: &str) -> Result<ScenarioSpec, Diagnostics> {
        let Some(name) = spec.strip_suffix(ADVERSARIAL) else {
            return Self::parse_plain(spec);
        };
        match Self::parse_plain(name)? {
            ScenarioSpec::Named(scenario) => {
                Ok(ScenarioSpec::Named(Self::Adversarial(Box::new(scenario))))
            }
            ScenarioSpec::Level(_) => Ok(ScenarioSpec::Level(spec["level=".len()..].to_owned())),
            ScenarioSpec::File(_) => {
                let source = Source::new("--scenario", spec);
                let mut sink = Sink::new(Arc::clone(&source));
                let span = Span::new(name.len(), spec.len());
                let help = "leave it out: the rows of the file say when devices interrupt";
                let expected = "a file alone";
                sink.error(
                    codes::UNKNOWN_SCENARIO,
                    span,
                    "",
                    quote(ADVERSARIAL),
                    expected,
                    help,
                );
                let rest = sink.into_result()?;
                Err(Diagnostics::from_list(source, rest))
            }
        }
    }

    fn parse_plain(spec: &str) -> Result<ScenarioSpec, Diagnostics> {
        let source = Source::new("--scenario", spec);
        let mut sink = Sink::new(source);
        let (name, arguments) = match spec.split_once('=') {
            Some((name, arguments)) => (name, Some(arguments)),
            None => (spec, None),
        };
        let scenario = match (name, arguments) {
            ("lo", None) => Some(Self::Lo),
            ("hi", None) => Some(Self::Hi),
            ("level", Some(level)) => return Ok(ScenarioSpec::Level(level.trim().to_owned())),
            ("overrun", Some(text)) => {
                let span = Span::new(name.len() + 1, spec.len());
                probability(text, span, &mut sink).map(|probability| Self::Overrun { probability })
            }
            ("beta", Some(text)) => beta(text, name.len() + 1, &mut sink),
            _ if is_file(spec) => return Ok(ScenarioSpec::File(spec.to_owned())),
            _ => {
                let whole = Span::new(0, spec.len());
                let expected = "`lo`, `hi`, `level=NAME`, `overrun=P`, `beta=MEAN,P`, also with `+adversarial`, or a .csv, .toml or .json file";
                let otherwise = "give one of these, for instance `overrun=0.3`";
                let help = match (nearest_exact(name), arguments) {
                    (Some("lo" | "hi"), Some(_)) => "this scenario takes no argument".to_owned(),
                    (Some(name @ ("level" | "overrun" | "beta")), None) => {
                        let example = match name {
                            "level" => "HI",
                            "beta" => "0.05,0.1",
                            _ => "0.3",
                        };
                        format!("add its argument: `{name}={example}`")
                    }
                    (Some(_) | None, Some(_) | None) => did_you_mean(name, NAMES, otherwise),
                };
                sink.error(
                    codes::UNKNOWN_SCENARIO,
                    whole,
                    "",
                    quote(spec),
                    expected,
                    help,
                );
                None
            }
        };
        let source_name = Source::new("--scenario", spec);
        let rest = sink.into_result()?;
        match scenario {
            Some(scenario) => Ok(ScenarioSpec::Named(scenario)),
            // No scenario without an error above.
            None => Err(Diagnostics::from_list(source_name, rest)),
        }
    }

    /// The scenario `level=NAME` for `set`: every job runs what its task needs at that level.
    ///
    /// # Errors
    /// `V0503` if the set has no such level.
    pub fn at_level(name: &str, set: &TaskSet) -> Result<Self, Diagnostics> {
        if let Some(name) = name.strip_suffix(ADVERSARIAL) {
            let level = Self::at_level(name.trim(), set)?;
            return Ok(Self::Adversarial(Box::new(level)));
        }
        const BEFORE: usize = "level=".len();
        if let Some(level) = set.level(name) {
            return Ok(Self::Level(level));
        }
        let source = Source::new("--scenario", &format!("level={name}"));
        let mut sink = Sink::new(Arc::clone(&source));
        let names: Vec<&str> = set.levels.iter().map(String::as_str).collect();
        let expected = format!("one of the levels of the set: {}", names.join(", "));
        let help = did_you_mean(name, names, "write it as the task set does");
        let span = Span::new(BEFORE, BEFORE + name.len());
        sink.error(codes::NO_SUCH_LEVEL, span, "", quote(name), expected, help);
        let rest = sink.into_result()?;
        Err(Diagnostics::from_list(source, rest))
    }

    /// Reads a scenario file for `set`: CSV by default, TOML or JSON by the ending of its name.
    ///
    /// # Errors
    /// All that is wrong with the file.
    pub fn from_source(source: &Arc<Source>, set: &TaskSet) -> Result<Self, Diagnostics> {
        file::read(source, set).map(Self::File)
    }
}

fn nearest_exact(name: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|known| *known == name)
}

fn is_file(spec: &str) -> bool {
    let extension = Path::new(spec)
        .extension()
        .map(|ext| ext.to_ascii_lowercase());
    extension.is_some_and(|ext| ["csv", "toml", "json"].iter().any(|known| ext == *known))
}

fn decimal(text: &str) -> Option<Ratio> {
    Decimal::parse(text.trim())
        .ok()
        .filter(|d| !d.negative || d.is_zero())?
        .ratio()
}

fn probability(text: &str, span: Span, sink: &mut Sink) -> Option<Ratio> {
    let ratio = decimal(text).filter(|ratio| ratio.is_at_most_one());
    if ratio.is_none() {
        let help = "write a decimal such as 0.3, without a percent sign";
        sink.error(
            codes::BAD_PROBABILITY,
            span,
            "",
            quote(text),
            "a decimal from 0 to 1",
            help,
        );
    }
    ratio
}

fn beta(text: &str, start: usize, sink: &mut Sink) -> Option<Scenario> {
    let Some((mean, chance)) = text.split_once(',') else {
        let span = Span::new(start, start + text.len());
        let help = "give both, for instance `beta=0.05,0.1`";
        sink.error(
            codes::BAD_MEAN,
            span,
            "",
            quote(text),
            "a mean and a probability",
            help,
        );
        return None;
    };
    let comma = start + mean.len();
    let mean_span = Span::new(start, comma);
    let mean_ratio = decimal(mean).filter(|ratio| ratio.numerator() > 0 && ratio.is_at_most_one());
    if mean_ratio.is_none() {
        let help = "the mean is a share of the WCET at the highest level, for instance 0.05";
        sink.error(
            codes::BAD_MEAN,
            mean_span,
            "",
            quote(mean),
            "a decimal above 0 and at most 1",
            help,
        );
    }
    let chance_span = Span::new(comma + 1, comma + 1 + chance.len());
    let probability = probability(chance, chance_span, sink);
    Some(Scenario::Beta {
        mean: mean_ratio?,
        probability: probability?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(spec: &str) -> codes::Code {
        Scenario::parse(spec).unwrap_err().list()[0].code
    }

    #[test]
    fn the_named_scenarios() {
        assert!(matches!(
            Scenario::parse("lo"),
            Ok(ScenarioSpec::Named(Scenario::Lo))
        ));
        assert!(matches!(
            Scenario::parse("hi"),
            Ok(ScenarioSpec::Named(Scenario::Hi))
        ));
        let Ok(ScenarioSpec::Named(Scenario::Overrun { probability })) =
            Scenario::parse("overrun=0.30")
        else {
            panic!("not an overrun scenario");
        };
        assert_eq!(Some(probability), Ratio::new(3, 10));
        let Ok(ScenarioSpec::Named(Scenario::Beta { mean, probability })) =
            Scenario::parse("beta=0.05,1")
        else {
            panic!("not a beta scenario");
        };
        assert_eq!(
            (Some(mean), Some(probability)),
            (Ratio::new(1, 20), Ratio::new(1, 1))
        );
        assert!(matches!(
            Scenario::parse("dir/a.CSV"),
            Ok(ScenarioSpec::File(_))
        ));
    }

    #[test]
    fn wrong_scenarios_say_what_was_meant() {
        let text = |spec: &str| Scenario::parse(spec).unwrap_err().to_string();
        assert!(
            text("overun=0.3").contains("did you mean `overrun`?"),
            "{}",
            text("overun=0.3")
        );
        assert!(text("overrun").contains("overrun=0.3"));
        assert!(text("hi=1").contains("no argument"));
        assert_eq!(code(""), codes::UNKNOWN_SCENARIO);
        for spec in [
            "overrun=",
            "overrun=nan",
            "overrun=-0.1",
            "overrun=1.0000001",
            "overrun=1e99",
            "beta=0.5,2",
        ] {
            assert_eq!(code(spec), codes::BAD_PROBABILITY, "{spec}");
        }
        for spec in ["beta=0.5", "beta=0,0.5", "beta=1.1,0.5", "beta=,0"] {
            assert_eq!(code(spec), codes::BAD_MEAN, "{spec}");
        }
        let both = Scenario::parse("beta=x,y").unwrap_err();
        assert_eq!(both.list().len(), 2);
        assert_eq!(both.list()[1].column, 8);
    }
}

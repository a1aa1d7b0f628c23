//! The codes of all diagnostics, what each means, and an example of wrong and right.
//!
//! Codes are stable: a number is never given a second meaning, and a code that is no longer
//! produced stays in the table as retired.

mod experiment;
mod report;
mod task_set;
mod trace;
mod use_of;

use serde::{Serialize, Serializer};
use std::fmt;
use std::fmt::Write as _;

/// The stable code of a diagnostic: `V` and four digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u16);

/// What there is to say about a code.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// The rule in one sentence without full stop.
    pub title: &'static str,
    /// A paragraph: what the rule is, and why.
    pub text: &'static str,
    /// Something that breaks the rule.
    pub wrong: Sample,
    /// The same thing as it should be.
    pub right: Sample,
}

/// An example, with what it takes to try it.
#[derive(Clone, Copy, Debug)]
pub enum Sample {
    /// Nothing that could be written down, such as a file that is not there.
    None,
    /// A complete task-set file.
    File(&'static str),
    /// The part of a task-set file after [`PRELUDE`].
    Part(&'static str),
    /// As [`Sample::Part`], and then used by the test `amc-rtb`.
    Used(&'static str),
    /// What `--scenario` is given.
    Spec(&'static str),
    /// A scenario file in CSV, for the task set [`SCENARIO_SET`].
    Scenario(&'static str),
    /// A parameters file, for the task set [`SCENARIO_SET`].
    Parameters(&'static str),
}

/// What stands before every [`Sample::Part`].
pub const PRELUDE: &str = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n";

/// The task set that scenario and parameter samples are about.
pub const SCENARIO_SET: &str = r#"format = "vestal/1"
levels = ["LO", "HI"]
unit = "ms"

[[task]]
name = "control"
criticality = "HI"
period = 10
wcet = { LO = 2, HI = 4 }

[[task]]
name = "display"
criticality = "LO"
period = 20
wcet = { LO = 5 }
"#;

impl Code {
    pub(crate) const fn new(number: u16) -> Self {
        Self(number)
    }
    /// The number after the `V`.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
    /// The code written as `V0123`, in either case.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(['V', 'v'])?;
        let fine = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit());
        let code = Self(fine.then(|| digits.parse().ok())??);
        code.info().map(|info| info.code)
    }
    /// What there is to say about it.
    #[must_use]
    pub fn info(self) -> Option<&'static CodeInfo> {
        all().find(|info| info.code == self)
    }
    pub(crate) fn title(self) -> &'static str {
        self.info().map_or("", |info| info.title)
    }
}

/// All codes in the order of their numbers.
pub fn all() -> impl Iterator<Item = &'static CodeInfo> {
    let files = task_set::TABLE.iter().chain(use_of::TABLE);
    let results = trace::TABLE.iter().chain(report::TABLE);
    files.chain(experiment::TABLE).chain(results)
}

/// What `vestal explain CODE` prints: the rule, a paragraph, wrong and right. `None` for a code
/// that does not exist.
#[must_use]
pub fn explain(code: &str) -> Option<String> {
    let info = Code::from_text(code)?.info()?;
    let mut text = format!("{}: {}\n\n{}\n", info.code, info.title, info.text);
    for (label, sample) in [("Wrong", info.wrong), ("Right", info.right)] {
        if let Some((_, body)) = sample.shown() {
            let _ = write!(text, "\n{label}:\n\n");
            for line in body.trim_end().lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    Some(text)
}

impl Sample {
    /// The language for a fenced block, and the text; `None` if there is nothing to show.
    #[must_use]
    pub fn shown(self) -> Option<(&'static str, String)> {
        match self {
            Self::None => None,
            Self::File(text) => Some((
                if text.trim_start().starts_with('{') {
                    "json"
                } else {
                    "toml"
                },
                text.to_owned(),
            )),
            Self::Part(text) | Self::Used(text) => Some(("toml", text.to_owned())),
            Self::Spec(text) => Some(("sh", format!("--scenario {text}"))),
            Self::Scenario(text) => Some(("csv", text.to_owned())),
            Self::Parameters(text) => Some(("json", text.to_owned())),
        }
    }
}

/// The page `docs/diagnostics.md`, generated from the table.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Diagnostics\n\nEvery diagnostic about a task-set, scenario, parameters, experiment or trace file carries one of these codes; \
         `vestal explain CODE` prints the same text. Codes are stable. The examples leave out the \
         lines `format`, `levels` and `unit` at the top of a file where they do not matter.\n\n\
         This page is generated from the table of codes.\n",
    );
    for info in all() {
        let _ = write!(
            page,
            "\n## {}: {}\n\n{}\n",
            info.code, info.title, info.text
        );
        for (label, sample) in [("Wrong", info.wrong), ("Right", info.right)] {
            if let Some((language, body)) = sample.shown() {
                let _ = write!(
                    page,
                    "\n{label}:\n\n```{language}\n{}\n```\n",
                    body.trim_end()
                );
            }
        }
    }
    page
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{:04}", self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Declares the codes of a table: a constant for the code to use, an entry for the code to explain.
macro_rules! codes {
    ($($name:ident = $number:literal, $title:literal, $text:literal, $wrong:expr => $right:expr;)*) => {
        $(#[doc = $title] pub const $name: $crate::codes::Code = $crate::codes::Code::new($number);)*
        pub(super) const TABLE: &[$crate::codes::CodeInfo] = &[$($crate::codes::CodeInfo {
            code: $name,
            title: $title,
            text: $text,
            wrong: $wrong,
            right: $right,
        }),*];
    };
}
use codes;

pub use experiment::*;
pub use report::*;
pub use task_set::*;
pub use trace::*;
pub use use_of::*;

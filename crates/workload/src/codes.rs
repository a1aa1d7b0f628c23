//! The codes of all diagnostics.
//!
//! Codes are stable: a number is never given a second meaning, and a code that is no longer
//! produced stays in the table as retired. What each means, with an example of wrong and right, is in
//! `docs/diagnostics.md`, of which `vestal explain CODE` prints a section.

use std::fmt;
use std::fmt::Write as _;

const PAGE: &str = include_str!("../../../docs/diagnostics.md");

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
        (!code.title().is_empty()).then_some(code)
    }
    pub(crate) fn title(self) -> &'static str {
        let known = TABLE.iter().find(|(code, _)| *code == self);
        known.map_or("", |(_, title)| title)
    }
    /// What the page says below its heading.
    fn section(self) -> Option<&'static str> {
        let heading = format!("\n## {self}: {}\n\n", self.title());
        let (_, rest) = PAGE.split_once(&heading)?;
        Some(rest.split("\n## ").next()?.trim_end())
    }
    fn sample(self, label: &str) -> Option<Sample> {
        let (_, rest) = self.section()?.split_once(&format!("\n{label}:\n\n```"))?;
        let (kind, rest) = rest.split_once('\n')?;
        let text = rest.get(..rest.find("```")?)?;
        Some(match kind {
            "toml whole" => Sample::File(text),
            "toml" => Sample::Part(text),
            "sh" => Sample::Spec(text.strip_prefix("--scenario ")?.trim_end()),
            "csv" => Sample::Scenario(text),
            "json" => Sample::Parameters(text),
            _ => return None,
        })
    }
}

/// All codes in the order of their numbers. O(size of the page) for each.
pub fn all() -> impl Iterator<Item = CodeInfo> {
    TABLE.iter().map(|&(code, title)| CodeInfo {
        code,
        title,
        wrong: code.sample("Wrong").unwrap_or(Sample::None),
        right: code.sample("Right").unwrap_or(Sample::None),
    })
}

/// What `vestal explain CODE` prints: the rule, a paragraph, wrong and right. `None` for a code
/// that does not exist.
#[must_use]
pub fn explain(code: &str) -> Option<String> {
    let code = Code::from_text(code)?;
    let mut text = format!("{code}: {}\n\n", code.title());
    let mut indent = "";
    for line in code.section()?.lines() {
        if line.starts_with("```") {
            indent = if indent.is_empty() { "    " } else { "" };
        } else {
            let _ = writeln!(text, "{indent}{line}");
        }
    }
    Some(text)
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

/// Declares the codes: a constant for the code to use, and its title.
macro_rules! codes {
    ($($name:ident = $number:literal, $title:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code($number);)*
        const TABLE: &[(Code, &str)] = &[$(($name, $title)),*];
    };
}

codes! {
// Codes about files as such and about task sets: V0001 to V0399.
UNREADABLE = 1, "the file cannot be read";
NOT_UTF8 = 2, "the file is not UTF-8 text";
EMPTY = 3, "the file is empty";
FILE_TOO_LARGE = 4, "the file is too large";
SYNTAX = 5, "the text is not valid TOML or JSON";
TOO_DEEP = 6, "tables or lists are nested too deeply";
DUPLICATE_KEY = 7, "a key is given twice";
WRONG_FORMAT = 8, "the file does not say that it is `vestal/1`";
UNKNOWN_KEY = 100, "no such key";
MISSING_KEY = 101, "a key is missing";
WRONG_TYPE = 102, "a value of the wrong kind";
UNKNOWN_WORD = 103, "not one of the words that this key knows";
NOT_A_NUMBER = 104, "not a finite number";
NOT_WHOLE = 105, "a time is not a whole number of nanoseconds";
TIME_TOO_LARGE = 106, "a time is beyond the horizon";
NOT_POSITIVE = 107, "a time must be above zero";
NO_UNIT = 108, "a number without a unit";
OUT_OF_RANGE = 109, "a number outside its range";
BAD_FRACTION = 110, "not a fraction from 0 to 1";
BAD_NAME = 111, "a name is empty, padded, too long, or has characters that are not seen";
CONFLICT = 112, "keys that exclude each other";
BAD_TIME = 113, "not a time";
NEGATIVE_TIME = 114, "a time is negative";
LEVEL_COUNT = 200, "the number of levels is not supported";
UNKNOWN_LEVEL = 201, "no such level";
FALLS_WITH_LEVEL = 202, "a value falls with the level";
DEADLINE_AFTER_PERIOD = 203, "the deadline is after the period";
DUPLICATE_NAME = 204, "a name is used twice";
NOTHING_TO_SCHEDULE = 205, "the file has neither tasks nor jobs";
TOO_MANY = 206, "too many entries";
NO_SUCH_CPU = 207, "the platform has no such CPU";
DEADLINE_BEFORE_RELEASE = 208, "a job is due before it is released";
DEGRADED_WITHOUT_EFFECT = 209, "a degraded budget that can never take effect";
IO_ORDER = 210, "an I/O operation is out of order or after the end of the job";
BAD_WORK = 211, "not a kind of work";
UNKNOWN_TASK = 300, "no such task";
UNKNOWN_SERVER = 301, "no such server";
UNKNOWN_DEVICE = 302, "no such device";
TASK_IN_TWO_SERVERS = 303, "a task is in two servers";
CAPACITY_ABOVE_PERIOD = 304, "a server's capacity is above its period";
SERVES_PIBS = 305, "a PIBS serves another PIBS";
DEGRADED_ABOVE_CAPACITY = 306, "a server's degraded budget is above its capacity";

// Codes about using a task set: policies (V04xx), scenarios (V05xx), parameters (V06xx).
WCET_MISSING = 400, "an execution time that the test or policy needs is missing";
NEEDS_TASKS = 401, "the test or policy needs tasks, and the file has jobs";
DEGRADED_NOT_UNIFORM = 402, "degraded budgets that differ between modes are not in this version";
PRIORITIES_PARTIAL = 403, "only some tasks have a priority";
NEEDS_JOBS = 404, "the test needs a finite job set, and the file has tasks";
ONE_CPU = 405, "the platform has several CPUs, and the policy is for one";
CAPACITY_MISSING = 410, "a server has no capacity or utilisation at a level";
TASK_WITHOUT_SERVER = 411, "a task is in no server";
PIBS_OF_ITS_OWN = 412, "a PIBS has a priority or a capacity of its own";
NOTHING_TO_INHERIT = 413, "a PIBS has nothing to inherit";
WAITS_FOR_OTHERS_PIBS = 414, "a task waits for a device whose PIBS does not serve its server";
SERVER_KIND = 415, "the policy has no servers of this kind";
SERVER_LEVEL = 416, "a server is not of the level of its tasks";
UTILIZATION_BY_LEVEL = 417, "a PIBS's utilisation falls up to its own level, or is more above it";
WAITS_FOR_NOTHING = 418, "a task waits for a device that is not served at one of the task's levels";
WAITS_LONG = 419, "a task waits longer than until the next replenishment of its server";
LEVELS_OF_MC2 = 420, "the levels are not those of MC²";
LEVEL_NEEDS_CPU = 421, "a task of a level that stays on one CPU has none";
LEVEL_HAS_NO_CPU = 422, "a task of a level that all CPUs serve has one of its own";
TABLES_MISSING = 423, "there are tasks of level A and no dispatch tables";
TABLE_MISFIT = 424, "a dispatch table does not fit the tasks";
TASK_ABOVE_SERVER = 425, "a task takes longer than its server's capacity at a level below its own";
UNKNOWN_SCENARIO = 500, "no such scenario";
BAD_PROBABILITY = 501, "not a probability";
BAD_MEAN = 502, "not a mean of the beta distribution";
NO_SUCH_LEVEL = 503, "the set has no such level";
UNKNOWN_ROW = 510, "no such kind of row";
ROW_LENGTH = 511, "a row with the wrong number of columns";
BAD_CELL = 512, "a cell whose quotation marks do not match";
ROW_TWICE = 513, "a row says what another row said already";
TOO_EARLY = 514, "a job is released before the model allows it";
RUNS_AWAY = 515, "a job runs longer than its task's own level allows";
SCENARIO_UNKNOWN_TASK = 516, "a row about something the task set does not have";
PARAMETER_UNKNOWN_TASK = 600, "parameters for a task that the set does not have";
PARAMETER_TASK_MISSING = 601, "parameters leave a task out";
PRIORITY_TWICE = 602, "two tasks have the same priority";
PARAMETER_NOT_IN_VERSION = 603, "a parameter that this version does not use";
VIRTUAL_DEADLINE_TOO_LONG = 604, "a virtual deadline after the real one";
FACTOR_DISAGREES = 605, "the factor and the virtual deadlines disagree";
ZERO_SLACK_TOO_LATE = 606, "a zero-slack instant after the deadline";
PARAMETER_PART = 607, "a part of the parameters does not fit together";
JOB_PRIORITIES_DO_NOT_FALL = 620, "job priorities that do not fall";
JOB_PRIORITY_TWICE = 621, "two jobs have the same priority";
PATTERN_DISAGREES = 622, "a pattern that cannot be that of the task";
BUSY_PERIODS_FALL = 623, "busy periods that fall with the level or leave one out";

// Codes about experiments (V07xx). Produced by `vestal-experiment`; explained here with the rest.
EXPERIMENT = 700, "an experiment says what is drawn and asked";
SWEEP_FOREIGN = 701, "the directory holds another result";
SWEEP_DAMAGED = 702, "a file of a result is damaged";

// Codes about traces (V08xx). Produced by `vestal-trace` and the command line; explained here with the rest.
TRACE_UNREADABLE = 800, "a trace file cannot be read";
TRACE_FOREIGN = 801, "the file is no trace of this format";
TRACE_TRUNCATED = 802, "the trace ends early";
TRACE_CHECKSUM = 803, "a checksum of the trace is wrong";
TRACE_FRAME = 804, "a frame of the trace is out of place or of a wrong length";
TRACE_HEADER = 805, "the header of the trace is not one";
TRACE_RECORD = 806, "a record of a binary trace is not one";
TRACE_LINE = 807, "a line of a text trace is no record";
TRACE_NOT_TEXT = 808, "a line of a text trace is too long or no text";
TRACE_EVENT = 809, "an event in the text of perf or ftrace is not as its tools print it";
TRACE_AFTER_END = 810, "something follows the end of the trace";
TRACE_EXTENSION = 811, "the extension names no trace format";
TRACE_UNWRITABLE = 812, "a trace cannot be written";

// Codes about report pages (V0820 to V0829). Produced by `vestal-report` and the command line; explained here with the rest.
RESULT_FOREIGN = 820, "the file is no result of a command";
RESULT_FORMAT = 821, "the result is of another format";
RESULT_NOT_SHOWN = 822, "the page does not show results of this kind";
RESULT_OTHER_TASKS = 823, "the inputs are of different task sets";
REPORT_EMPTY = 824, "there is nothing to show";
REPORT_UNWRITABLE = 825, "a page cannot be written";
}

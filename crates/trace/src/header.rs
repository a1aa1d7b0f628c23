//! What has to be known beside the records to run them again or to draw them.
//!
//! The header has a text form, the same in every file: one line for each value, `key TAB value`
//! (several values for lists), with `\t`, `\n`, `\r` and `\\` written as escapes. Unknown keys are
//! refused, missing ones too: a header is complete or it is none.

mod domains;
mod origin;

pub use domains::DomainInfo;
pub use origin::{ClockBase, Origin, ThreadInfo};

use crate::record::{SCHEMA, SCHEMA_WITH_ORIGIN};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use vestal_core::{Duration, Level, Service};

/// What made the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum World {
    /// The simulator.
    Simulator,
    /// Linux user space.
    Linux,
    /// The bare-metal kernel.
    Kernel,
    /// A recording that others made.
    Foreign,
}

/// Who dispatched the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dispatch {
    /// The world enacted the scheduler's slots.
    Managed,
    /// The world enacted permits and left the order to the operating system.
    Native,
}

const WORLDS: [(World, &str); 4] = [
    (World::Simulator, "simulator"),
    (World::Linux, "linux"),
    (World::Kernel, "kernel"),
    (World::Foreign, "foreign"),
];
const DISPATCHES: [(Dispatch, &str); 2] =
    [(Dispatch::Managed, "managed"), (Dispatch::Native, "native")];

impl World {
    /// What the world is called.
    #[must_use]
    pub fn word(self) -> &'static str {
        word_of(&WORLDS, self)
    }
}

impl Dispatch {
    /// What the dispatch is called.
    #[must_use]
    pub fn word(self) -> &'static str {
        word_of(&DISPATCHES, self)
    }
}

fn word_of<T: Copy + PartialEq>(words: &[(T, &'static str)], value: T) -> &'static str {
    words
        .iter()
        .find(|(known, _)| *known == value)
        .map_or("unknown", |(_, word)| word)
}

/// What a drawing and a check need to know of a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskInfo {
    /// Its name.
    pub name: String,
    /// Its criticality.
    pub criticality: Level,
    /// Its period or minimum inter-arrival time; zero if unknown.
    pub period: Duration,
    /// Its relative deadline; zero if unknown.
    pub deadline: Duration,
}

/// Everything about a recording but its records.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// What made it.
    pub world: World,
    /// Who dispatched.
    pub dispatch: Dispatch,
    /// The policy's name.
    pub policy: String,
    /// Options of the policy, as `key=value` was given for each.
    pub options: Vec<(String, String)>,
    /// What an analysis chose (priorities, partition, ...), as the text of a parameter file; empty if
    /// nothing was chosen.
    pub parameters: String,
    /// The smallest budget the world could enforce.
    pub granularity: Service,
    /// How late the world could wake the scheduler before that was worth a notice.
    pub wake_granularity: Duration,
    /// The seed of the run.
    pub seed: u64,
    /// How many CPUs there are.
    pub cpus: u16,
    /// The names of the levels, lowest first.
    pub levels: Vec<String>,
    /// The task-set file, in full.
    pub task_set: String,
    /// The tasks; a [`vestal_core::TaskId`] is the place in this list.
    pub tasks: Vec<TaskInfo>,
    /// The names of the servers; a [`vestal_core::ServerId`] is the place in this list.
    pub servers: Vec<String>,
    /// The scheduling domains, cluster by cluster; a [`crate::DomainId`] is the place in this list. Empty if there is
    /// one that has every task and every CPU.
    pub domains: Vec<DomainInfo>,
    /// The records stand in the order of their instants, apart from what a native world tells its
    /// guard after the fact. False for recordings of CPUs with differing clocks, and for managers that
    /// look at what happened since they looked last.
    pub ordered: bool,
    /// Each job that completed after its deadline has a [`crate::What::Miss`].
    pub judges_misses: bool,
    /// Permits are recorded ([`crate::Recorder::with_permits`]).
    pub records_permits: bool,
    /// Where in the time of a machine it lies. A header with it has the second version of the format.
    pub origin: Option<Origin>,
}

/// Text that is no header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("header line {line}: {what}")]
pub struct HeaderError {
    /// The line, counted from 1; 0 where a line is missing.
    pub line: usize,
    /// What is wrong with it, and what was expected.
    pub what: String,
}

/// The most tasks, servers, domains, levels or options a header may have.
const LIST_MAX: usize = 65_535;

impl Header {
    /// A header of a simulated, managed run without tasks, to be filled in.
    #[must_use]
    pub fn new(policy: &str) -> Self {
        Self {
            world: World::Simulator,
            dispatch: Dispatch::Managed,
            policy: policy.to_owned(),
            options: Vec::new(),
            parameters: String::new(),
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
            seed: 0,
            cpus: 1,
            levels: Vec::new(),
            task_set: String::new(),
            tasks: Vec::new(),
            servers: Vec::new(),
            domains: Vec::new(),
            ordered: true,
            judges_misses: false,
            records_permits: false,
            origin: None,
        }
    }

    /// What a level is called; its number where it has no name.
    #[must_use]
    pub fn level_name(&self, level: Level) -> String {
        self.levels
            .get(level.index())
            .cloned()
            .unwrap_or_else(|| level.0.to_string())
    }

    /// The header as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |fields: &[&str]| {
            for (place, field) in fields.iter().enumerate() {
                if place > 0 {
                    text.push('\t');
                }
                escape_into(&mut text, field);
            }
            text.push('\n');
        };
        line(&["format", self.schema()]);
        line(&["world", self.world.word()]);
        line(&["dispatch", self.dispatch.word()]);
        line(&["policy", &self.policy]);
        for (key, value) in &self.options {
            line(&["option", key, value]);
        }
        line(&["parameters", &self.parameters]);
        line(&["granularity_ns", &self.granularity.as_nanos().to_string()]);
        line(&[
            "wake_granularity_ns",
            &self.wake_granularity.as_nanos().to_string(),
        ]);
        line(&["seed", &self.seed.to_string()]);
        line(&["cpus", &self.cpus.to_string()]);
        for level in &self.levels {
            line(&["level", level]);
        }
        for task in &self.tasks {
            line(&[
                "task",
                &task.name,
                &task.criticality.0.to_string(),
                &task.period.as_nanos().to_string(),
                &task.deadline.as_nanos().to_string(),
            ]);
        }
        for server in &self.servers {
            line(&["server", server]);
        }
        for domain in &self.domains {
            let [cluster, cpus, tasks] = domains::fields(domain);
            line(&["domain", &domain.name, &cluster, &cpus, &tasks]);
        }
        line(&["ordered", yes_no(self.ordered)]);
        line(&["judges_misses", yes_no(self.judges_misses)]);
        line(&["records_permits", yes_no(self.records_permits)]);
        for fields in self.origin.iter().flat_map(origin::lines) {
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            line(&fields);
        }
        line(&["task_set", &self.task_set]);
        text
    }

    /// The version of the format that says all that this header says: the oldest.
    #[must_use]
    pub const fn schema(&self) -> &'static str {
        match self.origin {
            Some(_) => SCHEMA_WITH_ORIGIN,
            None => SCHEMA,
        }
    }

    /// The header that is written as this text.
    ///
    /// # Errors
    /// [`HeaderError`] with the first line that is not as [`Header::to_text`] writes it.
    pub fn from_text(text: &str) -> Result<Self, HeaderError> {
        let mut header = Self::new("");
        let mut seen = Vec::new();
        // Where the domains stand: whether they fit is known when every line is.
        let mut domain_lines = Vec::new();
        for (place, line) in text.lines().enumerate() {
            let number = place.saturating_add(1);
            let at = |what| HeaderError { line: number, what };
            let fields: Vec<String> = line
                .split('\t')
                .map(unescape)
                .collect::<Result<_, _>>()
                .map_err(at)?;
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            if let Some(single) = header.take(&fields, place == 0).map_err(at)? {
                if seen.contains(&single) {
                    return Err(at(format!("`{single}` stands there twice")));
                }
                seen.push(single);
            }
            if fields.first() == Some(&"domain") {
                domain_lines.push(number);
            }
        }
        let of_origin = header.origin.iter().flat_map(|_| origin::SINGLES);
        let mut wanted = SINGLES.into_iter().chain(of_origin);
        let whole = |what| HeaderError { line: 0, what };
        if let Some(missing) = wanted.find(|key| !seen.contains(key)) {
            return Err(whole(format!("`{missing}` is missing")));
        }
        let threads = header.origin.as_ref();
        let threads = threads.and_then(|origin| origin::misfit(origin, header.tasks.len()));
        match threads {
            Some(what) => Err(whole(what)),
            None => header.check_domains(&domain_lines).map(|()| header),
        }
    }

    /// Takes in one line; the key, if it may occur only once.
    fn take(&mut self, fields: &[&str], first: bool) -> Result<Option<&'static str>, String> {
        if first && fields == ["format", SCHEMA_WITH_ORIGIN] {
            self.origin = Some(Origin::default());
        } else if first && fields != ["format", SCHEMA] {
            return Err(format!(
                "expected `format {SCHEMA}` or `format {SCHEMA_WITH_ORIGIN}`"
            ));
        }
        match fields {
            ["format", _] if first => {}
            other if self.take_of_origin(other)? => {}
            ["world", word] => self.world = one_of(&WORLDS, word)?,
            ["dispatch", word] => self.dispatch = one_of(&DISPATCHES, word)?,
            ["policy", name] => self.policy = (*name).to_owned(),
            ["parameters", text] => self.parameters = (*text).to_owned(),
            ["granularity_ns", value] => self.granularity = Service::from_nanos(number(value)?),
            ["wake_granularity_ns", value] => {
                self.wake_granularity = Duration::from_nanos(number(value)?);
            }
            ["seed", value] => self.seed = number(value)?,
            ["cpus", value] => self.cpus = number(value)?,
            ["ordered", value] => self.ordered = truth(value)?,
            ["judges_misses", value] => self.judges_misses = truth(value)?,
            ["records_permits", value] => self.records_permits = truth(value)?,
            ["task_set", text] => self.task_set = (*text).to_owned(),
            ["option", key, value] => {
                push(&mut self.options, ((*key).to_owned(), (*value).to_owned()))?;
            }
            ["level", name] => push(&mut self.levels, (*name).to_owned())?,
            ["server", name] => push(&mut self.servers, (*name).to_owned())?,
            ["domain", name, cluster, cpus, tasks] => {
                let domain = domains::of_fields([name, cluster, cpus, tasks])?;
                push(&mut self.domains, domain)?;
            }
            ["task", name, criticality, period, deadline] => push(
                &mut self.tasks,
                TaskInfo {
                    name: (*name).to_owned(),
                    criticality: Level(number(criticality)?),
                    period: Duration::from_nanos(number(period)?),
                    deadline: Duration::from_nanos(number(deadline)?),
                },
            )?,
            [key, ..] => {
                return Err(format!(
                    "`{}` with {} values is not in the schema",
                    key.escape_debug(),
                    fields.len().saturating_sub(1)
                ));
            }
            [] => return Err("the line is empty".to_owned()),
        }
        let key = fields.first().copied().unwrap_or_default();
        let mut singles = SINGLES.into_iter().chain(origin::SINGLES);
        Ok(singles.find(|single| *single == key))
    }

    /// Takes in one line of the origin; false: it is none, or this version of the format has none.
    fn take_of_origin(&mut self, fields: &[&str]) -> Result<bool, String> {
        match &mut self.origin {
            Some(origin) => origin::take(origin, fields),
            None => Ok(false),
        }
    }
}

/// The keys that stand in a header exactly once.
const SINGLES: [&str; 13] = [
    "format",
    "world",
    "dispatch",
    "policy",
    "parameters",
    "granularity_ns",
    "wake_granularity_ns",
    "seed",
    "cpus",
    "ordered",
    "judges_misses",
    "records_permits",
    "task_set",
];

fn push<T>(list: &mut Vec<T>, item: T) -> Result<(), String> {
    if list.len() >= LIST_MAX {
        return Err(format!("more than {LIST_MAX} entries"));
    }
    list.push(item);
    Ok(())
}

fn one_of<T: Copy>(words: &[(T, &'static str)], found: &str) -> Result<T, String> {
    words
        .iter()
        .find(|(_, word)| *word == found)
        .map(|(value, _)| *value)
        .ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
            format!(
                "found `{}`, expected one of {}",
                found.escape_debug(),
                known.join(", ")
            )
        })
}

fn number<T: core::str::FromStr + ToString>(text: &str) -> Result<T, String> {
    text.parse::<T>()
        .ok()
        // Signs and leading zeros would give a number a second spelling.
        .filter(|value| value.to_string() == text)
        .ok_or_else(|| format!("found `{}`, expected a whole number", text.escape_debug()))
}

fn truth(text: &str) -> Result<bool, String> {
    one_of(&[(true, "yes"), (false, "no")], text)
}

const fn yes_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn escape_into(text: &mut String, field: &str) {
    for letter in field.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            other => text.push(other),
        }
    }
}

fn unescape(field: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut letters = field.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('\\') => text.push('\\'),
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some(_) | None => {
                return Err("a backslash is followed by none of \\ t n r".to_owned());
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Header {
        Header {
            world: World::Linux,
            dispatch: Dispatch::Native,
            options: alloc::vec![("exhaustion".to_owned(), "abort".to_owned())],
            parameters: "{ \"a\": [1,\n\t2] }\\".to_owned(),
            granularity: Service::from_nanos(5),
            seed: u64::MAX,
            levels: alloc::vec!["LO".to_owned(), "HI\tGH".to_owned()],
            tasks: alloc::vec![TaskInfo {
                name: "a \\ b\r".to_owned(),
                criticality: Level(1),
                period: Duration::from_nanos(10),
                deadline: Duration::from_nanos(9),
            }],
            servers: alloc::vec!["app".to_owned()],
            task_set: "format = \"vestal/1\"\nname = \"x\"\n".to_owned(),
            ..Header::new("amc")
        }
    }

    #[test]
    fn a_header_comes_back_as_it_was_written() {
        assert_eq!(Header::from_text(&full().to_text()), Ok(full()));
    }

    fn of_a_machine() -> Header {
        let thread = |tid, name: &str, task| ThreadInfo {
            tid,
            name: name.to_owned(),
            task,
        };
        Header {
            origin: Some(Origin {
                process: 41,
                clock: ClockBase {
                    monotonic: 1_000,
                    realtime: u64::MAX,
                    boottime: 2_000,
                },
                threads: alloc::vec![
                    thread(42, "vestal-manager", None),
                    thread(43, "a\tb", Some(vestal_core::TaskId(0))),
                ],
            }),
            ..full()
        }
    }

    #[test]
    fn where_in_a_machine_s_time_it_was_comes_back_in_the_second_version_of_the_format() {
        let header = of_a_machine();
        let text = header.to_text();
        assert!(text.starts_with("format\tvestal-trace/2\n"), "{text}");
        assert!(text.contains("\nclock\t1000\t18446744073709551615\t2000\n"));
        assert!(text.contains("\nthread\t43\ta\\tb\t0\n"), "{text}");
        assert_eq!(Header::from_text(&text), Ok(header));
        // What was written before is what is written now.
        assert!(full().to_text().starts_with("format\tvestal-trace/1\n"));
    }

    #[test]
    fn an_origin_is_whole_and_of_its_version_and_its_tasks() {
        let text = of_a_machine().to_text();
        let what = |text: &str| Header::from_text(text).unwrap_err().what;
        for (line, words) in [
            ("process\t41\n", "`process` is missing"),
            (
                "clock\t1000\t18446744073709551615\t2000\n",
                "`clock` is missing",
            ),
        ] {
            assert!(text.contains(line), "{text}");
            assert_eq!(what(&text.replace(line, "")), words);
            assert!(what(&text.replace(line, &line.repeat(2))).contains("twice"));
        }
        let first = text.replace("vestal-trace/2", "vestal-trace/1");
        assert_eq!(what(&first), "`process` with 1 values is not in the schema");
        let beyond = text
            .replace("\t0\nthread", "\nthread")
            .replace("a\\tb\t0", "a\\tb\t1");
        assert_eq!(
            what(&beyond),
            "thread 43 executes a task that is not among the 1"
        );
        let cut = text.replace("clock\t1000", "clock\t01000");
        assert!(what(&cut).contains("whole number"), "{}", what(&cut));
    }

    #[test]
    fn what_is_unknown_twice_or_missing_is_named_with_its_line() {
        let text = full().to_text();
        let extra = text.replace("seed\t", "sede\t");
        let error = Header::from_text(&extra).unwrap_err();
        assert!(error.line > 1 && error.what.contains("sede"), "{error}");
        let twice = format!("{text}seed\t1\n");
        assert!(
            Header::from_text(&twice)
                .unwrap_err()
                .what
                .contains("twice")
        );
        let cut = text.replace("ordered\tyes\n", "");
        assert!(
            Header::from_text(&cut)
                .unwrap_err()
                .what
                .contains("missing")
        );
        assert!(Header::from_text("").is_err());
        assert!(Header::from_text("format\tvestal-trace/3\n").is_err());
        assert!(Header::from_text("format\tvestal-trace/2\n").is_err());
    }
}

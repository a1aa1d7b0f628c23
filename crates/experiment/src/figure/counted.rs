//! Figures of instructions that were counted: what the hooks of `vestal-hsf` take in QEMU.
//!
//! Counting needs an emulator and a toolchain for microcontrollers, which a program of a user has not; what was counted is kept as text
//! ([`Counts`]), which `scripts/bench-kernel.sh --keep` writes and compares with what it counts. A figure is computed from it: a claim is true of these
//! numbers or it is not, on each board, and *not decided* where a board has no numbers of what the claim speaks of. Rules for sentences stand in
//! `counted_rules.rs`.

use super::{Checked, Finding, Outcome, fits};
use crate::plot::Chart;
use std::fmt::Write as _;

/// A figure of counted instructions.
#[derive(Debug)]
pub struct Counted {
    /// `PAPER/FIGURE`.
    pub name: &'static str,
    /// What it shows.
    pub caption: &'static str,
    /// What was counted.
    pub counts: &'static str,
    /// What is drawn of a board: charts with the names of their files.
    pub charts: fn(&Board) -> Vec<(&'static str, Chart)>,
    /// What the paper says of it.
    pub claims: &'static [CountedClaim],
}

/// A claim about counted instructions.
#[derive(Debug)]
pub struct CountedClaim {
    /// The claim in a sentence.
    pub text: &'static str,
    /// What the numbers say of it.
    pub check: fn(&Counts) -> Checked,
}

/// All that was counted, and with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The compiler, as it names itself.
    pub rustc: String,
    /// The emulator, as it names itself.
    pub qemu: String,
    /// Bytes of an image for a Cortex-M3 that is the crate with all its calls, and little else.
    pub code: Option<u64>,
    /// What a tick takes in that image at which nothing is due.
    pub code_idle: Option<u64>,
    /// Bytes of a system of six servers with six tasks each.
    pub ram: Option<u64>,
    /// What is promised of each call, event and passed node at most, by name.
    pub constants: Vec<(String, u64)>,
    /// What was counted on each board.
    pub boards: Vec<Board>,
}

/// What was counted on a board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// Its name in QEMU.
    pub name: String,
    /// A row for each run.
    pub rows: Vec<Row>,
    /// Single calls.
    pub parts: Vec<Part>,
    /// Of how many systems each call was compared with what is promised.
    pub systems: Option<u64>,
    /// What came of that, by kind of calls.
    pub calls: Vec<Bounded>,
    /// What one server took from another.
    pub losses: Vec<Loss>,
}

/// What calls of a kind took, compared with what is promised of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounded {
    /// Which kind.
    pub what: String,
    /// How many there were.
    pub number: u64,
    /// The most that one took.
    pub most: u64,
    /// The most of those without events, detours and second switches, but for the nodes they passed.
    pub plain: u64,
    /// What the fullest took of what it may take, in percent, rounded up.
    pub fullest: u64,
    /// Instructions of that one, and its events, switches, passed nodes and detours.
    pub full: [u64; 5],
}

/// What a server lost by a more urgent one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What that one did.
    pub what: String,
    /// Instructions that it lost.
    pub lost: u64,
    /// How many it may lose by what is promised.
    pub may: u64,
    /// How many ticks with an event, events, picks, switches, interrupts and calls there were more.
    pub more: [u64; 6],
}

/// What the calls of one run took, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Which scheduler ran.
    pub scheduler: String,
    /// How many servers; without servers its tasks are the same number.
    pub servers: u64,
    /// How many tasks each.
    pub tasks: u64,
    /// Ticks at which nothing was due.
    pub idle: Count,
    /// Ticks at which something was.
    pub due: Count,
    /// Picks of who executes next.
    pub pick: Count,
    /// Ends of jobs.
    pub change: Count,
}

/// How often, and how many instructions each time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How often.
    pub number: u64,
    /// The least.
    pub least: u64,
    /// The mean, rounded down.
    pub mean: u64,
    /// The most.
    pub most: u64,
}

/// What one call took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which.
    pub what: String,
    /// How many events it had to do with.
    pub events: u64,
    /// How many instructions.
    pub instructions: u64,
}

/// What became of a figure.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The plots with the names of their files, of the first board.
    pub plots: Vec<(String, Chart)>,
    /// What the figure came to.
    pub outcome: Outcome,
}

/// Under which name what was counted stands beside a figure.
pub const DATA: &str = "counts.txt";

/// The first line of what was counted.
pub const HEAD: &str = "vestal-kernel-counts/1";

impl Count {
    /// In all, to the nearest [`Count::number`] below.
    #[must_use]
    pub const fn all(self) -> u64 {
        self.number.saturating_mul(self.mean)
    }
}

impl Row {
    /// What all calls of the run took.
    #[must_use]
    pub fn all(&self) -> u64 {
        let calls = [self.idle, self.due, self.pick, self.change];
        calls.into_iter().map(Count::all).sum()
    }

    /// What all ticks of the run took.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.idle.all().saturating_add(self.due.all())
    }

    /// The least and the most that a tick took; `None` if there was none.
    #[must_use]
    pub fn tick(&self) -> Option<(u64, u64)> {
        let kinds = [self.idle, self.due].into_iter();
        let kinds: Vec<Count> = kinds.filter(|count| count.number > 0).collect();
        let least = kinds.iter().map(|count| count.least).min()?;
        let most = kinds.iter().map(|count| count.most).max()?;
        Some((least, most))
    }

    /// So many instructions of a run for a second of 1000 ticks.
    #[must_use]
    pub const fn a_second(&self, instructions: u64) -> u64 {
        let ticks = self.idle.number.saturating_add(self.due.number);
        let all = instructions.saturating_mul(1000);
        match all.checked_div(ticks) {
            Some(each) => each,
            None => 0,
        }
    }
}

impl Board {
    /// The row of a scheduler for a size.
    #[must_use]
    pub fn row(&self, scheduler: &str, servers: u64, tasks: u64) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| (row.servers, row.tasks) == (servers, tasks) && row.scheduler == scheduler)
    }

    /// `systems 96`, or `pick 14380 2924 390 ...`.
    fn read_bound(&mut self, line: &str) -> Option<()> {
        if let Some(number) = line.strip_prefix("systems ") {
            self.systems = Some(number.parse().ok()?);
            return Some(());
        }
        let (what, [number, most, plain, fullest, full @ ..]) = named_numbers::<9>(line)?;
        self.calls.push(Bounded {
            what,
            number,
            most,
            plain,
            fullest,
            full,
        });
        Some(())
    }

    /// What calls of a kind took, by how many events they had to do with.
    #[must_use]
    pub fn parts(&self, what: &str) -> Vec<(u64, u64)> {
        let parts = self.parts.iter().filter(|part| part.what == what);
        parts.map(|part| (part.events, part.instructions)).collect()
    }
}

impl Counts {
    /// Reads what `scripts/bench-kernel.sh --keep` has written.
    ///
    /// # Errors
    /// The line that is none of it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err(format!("the first line is not `{HEAD}`"));
        }
        let mut counts = Self::default();
        for line in lines {
            let read = counts.read(line);
            read.ok_or_else(|| format!("this is nothing that is counted: `{line}`"))?;
        }
        Ok(counts)
    }

    fn read(&mut self, line: &str) -> Option<()> {
        let (first, rest) = line.split_once(' ')?;
        match first {
            "rustc" => self.rustc = rest.to_owned(),
            "qemu" => self.qemu = rest.to_owned(),
            "code" => self.code = Some(rest.parse().ok()?),
            "code-idle" => self.code_idle = Some(rest.parse().ok()?),
            "board" => self.boards.push(Board {
                name: rest.to_owned(),
                ..Board::default()
            }),
            "ram" => {
                // Each board says it, and it is the same on all.
                let ram = rest.parse().ok()?;
                if *self.ram.get_or_insert(ram) != ram {
                    return None;
                }
            }
            "constant" => {
                // These, too.
                let (name, most) = rest.split_once(' ')?;
                let most = most.parse().ok()?;
                let known = self.constants.iter().find(|(other, _)| other == name);
                match known {
                    Some(&(_, other)) if other != most => return None,
                    Some(_) => {}
                    None => self.constants.push((name.to_owned(), most)),
                }
            }
            "bound" => self.boards.last_mut()?.read_bound(rest)?,
            "loss" => {
                let (what, [lost, may, more @ ..]) = named_numbers::<8>(rest)?;
                let losses = &mut self.boards.last_mut()?.losses;
                losses.push(Loss {
                    what,
                    lost,
                    may,
                    more,
                });
            }
            "part" => {
                let words: Vec<&str> = rest.split(' ').collect();
                let &[what, events, instructions] = words.as_slice() else {
                    return None;
                };
                self.boards.last_mut()?.parts.push(Part {
                    what: what.to_owned(),
                    events: events.parse().ok()?,
                    instructions: instructions.parse().ok()?,
                });
            }
            _ => self.boards.last_mut()?.rows.push(row(line)?),
        }
        Some(())
    }
}

/// `what 1 2 3`, as many numbers as there have to be.
fn named_numbers<const N: usize>(line: &str) -> Option<(String, [u64; N])> {
    let (what, numbers) = line.split_once(' ')?;
    let numbers = numbers.split(' ').map(str::parse);
    let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
    Some((what.to_owned(), numbers.try_into().ok()?))
}

/// `deferrable 6 6 idle 297 49 49 50 due 2 ... pick ... change ...`
fn row(line: &str) -> Option<Row> {
    let mut words = line.split(' ');
    let scheduler = words.next()?.to_owned();
    let mut number = |name: Option<&str>| -> Option<[u64; 4]> {
        if let Some(name) = name
            && words.next()? != name
        {
            return None;
        }
        let mut numbers = [0; 4];
        let wanted = if name.is_some() { 4 } else { 2 };
        for place in numbers.iter_mut().take(wanted) {
            *place = words.next()?.parse().ok()?;
        }
        Some(numbers)
    };
    let [servers, tasks, ..] = number(None)?;
    let mut count = |name| -> Option<Count> {
        let [number, least, mean, most] = number(Some(name))?;
        Some(Count {
            number,
            least,
            mean,
            most,
        })
    };
    let row = Row {
        scheduler,
        servers,
        tasks,
        idle: count("idle")?,
        due: count("due")?,
        pick: count("pick")?,
        change: count("change")?,
    };
    words.next().is_none().then_some(row)
}

/// The figures that a name means, as [`super::named`] finds those of sweeps.
#[must_use]
pub fn named(name: &str) -> Vec<&'static Counted> {
    counted()
        .filter(|counted| fits(counted.name, name))
        .collect()
}

/// All figures of counted instructions, in the order of the papers.
pub fn counted() -> impl Iterator<Item = &'static Counted> {
    super::holenderski2010::FIGURES.iter()
}

impl Counted {
    /// Computes it. `command` is the command that reproduces it, `version` the program's.
    ///
    /// # Errors
    /// What is wrong with what was counted.
    pub fn draw(&self, command: &str, version: &str) -> Result<Drawn, String> {
        let counts = Counts::parse(self.counts)?;
        let mut findings = Vec::new();
        let mut details = String::new();
        for (number, claim) in (1..).zip(self.claims) {
            let Checked { verdict, numbers } = (claim.check)(&counts);
            findings.push((claim.text, Finding::of(&[verdict])));
            let _ = write!(
                details,
                "\n{number}. **{}**\n   - {verdict}. {numbers}.\n",
                claim.text
            );
        }
        let plots: Vec<(String, Chart)> = counts
            .boards
            .first()
            .map_or_else(Vec::new, self.charts)
            .into_iter()
            .map(|(name, chart)| (name.to_owned(), chart))
            .collect();
        let mut page = format!(
            "# {}\n\n{}.\n\nMade by `{command}`, vestal {version}. Counted with {}, {}.\n\n{COUNTED}",
            self.name, self.caption, counts.rustc, counts.qemu
        );
        page.push_str(&table(&findings));
        page.push_str("\n## By which numbers\n");
        page.push_str(&details);
        page.push_str("\n## Plots\n\n");
        for (name, chart) in &plots {
            let _ = writeln!(
                page,
                "![{}]({name})\n",
                chart.title.as_deref().unwrap_or_default()
            );
        }
        page.push_str(COLUMNS);
        Ok(Drawn {
            outcome: Outcome {
                figure: self.name,
                caption: self.caption,
                sets: 1,
                missing: Vec::new(),
                stand_ins: Vec::new(),
                findings,
                plots: plots.iter().map(|(name, _)| name.clone()).collect(),
                page,
            },
            plots,
        })
    }
}

/// Not every sentence is the paper's.
fn table(findings: &[(&'static str, Finding)]) -> String {
    super::page::claims_table(findings).replacen("the paper says", "the sentence", 1)
}

const COUNTED: &str = "`make kernel-bench` counts instructions of `vestal-hsf` in QEMU, where a processor has neither caches nor wait states, on a Cortex-M3\n\
(mps2-an385) and on riscv32 (virt). All periods are 100 ticks, jobs take 1, capacities are 7, all arrive together; a second has 1000 ticks. The paper measures a\n\
board with uC/OS-II; its numbers are not repeated, but what it says of them. A claim is looked at on each board, and holds if it does on\n\
both. Wake-ups, counters, jitter, growth, 8 KB and 5 KB are the paper's sentences; that a part is linear or the same, 60 instructions, 10 % and the worst of both apart are ours. All is\n\
of builds that are optimised for size. Plots are of the first. Without servers there is one task after the other by fixed priorities: `scan` has counters of all tasks, which every tick looks at, `queue` one\n\
relative timed event queue.\n\n";

const COLUMNS: &str = "## Data\n\n\
`counts.txt` is what was counted. `constant`, `bound` and `loss` are of docs/porting.md. A row has the scheduler, servers, tasks each, and for ticks at which nothing is due (`idle`), other\n\
ticks (`due`), picks (`pick`) and ends of jobs (`change`) how many there were, and the least, the mean and the most instructions. `part` is one call:\n\
which, with how many events it had to do, instructions. The page follows from it; another compiler gives other numbers.\n";

#[cfg(test)]
#[path = "counted_tests.rs"]
mod tests;

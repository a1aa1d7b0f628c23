//! Figures of one task set: what a test says of it over what monitoring and termination cost.
//!
//! A figure is a task-set file and values of T_M, C_M and C_K; all combinations are its cells. Of each cell the test `edf-vd` says
//! whether the set is schedulable with a monitor among its tasks ([`Heartbeat::is_scheduled`]), and the two sums of Lemma
//! IV.1 of Sigrist et al. (RTAS 2015, equation 6) say by how much. Nothing is drawn but in the population beside it: the
//! same cells of other sets, for which the claims are counted.

use super::grid_rules::{self, Numbers};
use super::{Checked, Finding, Outcome, fits};
use crate::number::as_f64;
use crate::plot::{Chart, Curve, YAxis};
use crate::summary::Share;
use std::fmt::Write as _;
use vestal_analysis::{Heartbeat, Overheads, Problem, Scratch, Test};
use vestal_core::{Duration, Level, Task};
use vestal_policy::{Given, Refusal, Registry, problem};
use vestal_result::claim::Verdict;
use vestal_workload::TaskSet;
use vestal_workload::generate::{Recipe, derived_seed};

/// A figure of one task set.
#[derive(Debug)]
pub struct Grid {
    /// `PAPER/FIGURE`.
    pub name: &'static str,
    /// What it shows.
    pub caption: &'static str,
    /// The task-set file.
    pub set: Set,
    /// T_M.
    pub periods: Values,
    /// C_M.
    pub costs: Values,
    /// C_K, for all tasks of the lower level together.
    pub terminations: Values,
    /// Other sets for which claims are counted; none: they are not.
    pub population: Option<&'static Population>,
    /// What the paper says of it.
    pub claims: &'static [GridClaim],
}

/// The task set of a figure.
#[derive(Debug)]
pub struct Set {
    /// Where its file is.
    pub path: &'static str,
    /// The file.
    pub text: &'static str,
    /// Where the set is from, in a sentence.
    pub origin: &'static str,
}

/// Values of a parameter in ns, with equal steps.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    /// The first.
    pub from: u64,
    /// The last, or beyond it.
    pub to: u64,
    /// The step, above 0.
    pub step: u64,
}

/// Random sets.
#[derive(Debug)]
pub struct Population {
    /// The recipe.
    pub recipe: &'static str,
    /// Its parameters.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The seed, as `vestal generate` takes it.
    pub seed: u64,
    /// How many sets are drawn; those without tasks of both levels are left out.
    pub sets: u32,
}

/// A claim of a paper about the cells of one set.
#[derive(Debug)]
pub struct GridClaim {
    /// The claim in a sentence.
    pub text: &'static str,
    /// What the cells say of it.
    pub check: fn(&[Cell]) -> Checked,
}

/// What is asked about a set, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// T_M.
    pub period: u64,
    /// C_M.
    pub cost: u64,
    /// C_K.
    pub termination: u64,
}

/// What is said of a set with some costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The costs.
    pub at: Costs,
    /// Whether the test accepts the set.
    pub holds: bool,
    /// The two sums of equation 6, of which neither may exceed 1; the second is infinite where U_LO(LO) leaves nothing.
    pub sums: [f64; 2],
}

impl Set {
    /// The task set.
    ///
    /// # Errors
    /// What is wrong with its file.
    pub fn read(&self) -> Result<TaskSet, Refusal> {
        TaskSet::parse(self.path, self.text).map_err(Refusal::diagnosed)
    }
}

impl Cell {
    /// The left side of equation 6.
    #[must_use]
    pub fn left(&self) -> f64 {
        self.sums[0].max(self.sums[1])
    }
}

impl Values {
    /// One value.
    pub(super) const fn one(value: u64) -> Self {
        Self {
            from: value,
            to: value,
            step: 1,
        }
    }

    /// All of them.
    pub fn each(self) -> impl Iterator<Item = u64> {
        let count = self.to.saturating_sub(self.from) / self.step.max(1);
        (0..=count).map(move |at| self.from + at * self.step)
    }

    fn varies(self) -> bool {
        self.each().count() > 1
    }
}

/// The figures of one set that a name means, as [`super::named`] finds those of sweeps.
#[must_use]
pub fn named(name: &str) -> Vec<&'static Grid> {
    grids().filter(|grid| fits(grid.name, name)).collect()
}

/// All figures of one set, in the order of the papers.
pub fn grids() -> impl Iterator<Item = &'static Grid> {
    super::sigrist2015_fig_2::FIGURES.iter()
}

/// What became of a figure: data, a plot, findings.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// `grid.csv`: a row for each cell.
    pub data: String,
    /// `plot.svg`.
    pub plot: Chart,
    /// What the figure came to.
    pub outcome: Outcome,
}

/// The name of a figure's plot.
pub const PLOT: &str = "plot.svg";
/// The name of a figure's data.
pub const DATA: &str = "grid.csv";

impl Grid {
    /// Computes it. `command` is the command that reproduces it, `version` the program's.
    ///
    /// # Errors
    /// What is wrong with the figure's set or population; a bug of Vestal.
    pub fn draw(
        &self,
        registry: &Registry,
        command: &str,
        version: &str,
    ) -> Result<Drawn, Refusal> {
        let set = self.set.read()?;
        let cells = self.cells(registry, &set)?;
        let others = match self.population {
            None => Vec::new(),
            Some(population) => self.others(registry, population)?,
        };
        let (findings, page) = self.page(&cells, &others, command, version);
        Ok(Drawn {
            data: csv(&cells),
            plot: self.chart(&cells),
            outcome: Outcome {
                figure: self.name,
                caption: self.caption,
                sets: 1,
                missing: Vec::new(),
                stand_ins: Vec::new(),
                findings,
                plots: vec![PLOT.to_owned()],
                page,
            },
        })
    }

    /// What is said of a set, in the order of C_K, C_M and T_M, of which the last varies fastest.
    ///
    /// # Errors
    /// That the test cannot be asked about the set.
    pub fn cells(&self, registry: &Registry, set: &TaskSet) -> Result<Vec<Cell>, Refusal> {
        let test = registry
            .test(TEST)
            .ok_or_else(|| Refusal::bug(format!("there is no test {TEST}")))?;
        let problem = problem(set, test, &Given::default())?;
        let mut scratch = Scratch::default();
        let mut cells = Vec::new();
        for termination in self.terminations.each() {
            for cost in self.costs.each() {
                for period in self.periods.each() {
                    let at = Costs {
                        period,
                        cost,
                        termination,
                    };
                    cells.push(cell(test, &problem, at, &mut scratch));
                }
            }
        }
        Ok(cells)
    }

    /// The cells of each set of the population that has tasks of both levels.
    fn others(
        &self,
        registry: &Registry,
        population: &Population,
    ) -> Result<Vec<Vec<Cell>>, Refusal> {
        let sets = population.draw()?;
        sets.iter().map(|set| self.cells(registry, set)).collect()
    }

    fn chart(&self, cells: &[Cell]) -> Chart {
        let (x_label, y_label, y_axis, curves) = if self.costs.varies() {
            let borders = self.terminations.each().map(|termination| Curve {
                name: format!("C_K = {} ms", millis(termination)),
                points: grid_rules::border(cells, termination)
                    .into_iter()
                    .map(|(period, cost)| exactly(millis(cost) * 1000.0).at(millis(period)))
                    .collect(),
            });
            let y = "largest schedulable C_M [us]";
            ("T_M [ms]", y, YAxis::Numbers, borders.collect())
        } else {
            let along = self.along();
            let sums = cells.iter().map(|cell| (along(cell), cell.left()));
            let sums = sums.filter(|(_, left)| left.is_finite());
            let ends = [cells.first(), cells.last()].into_iter().flatten();
            let curve = |name: &str, points| Curve {
                name: name.to_owned(),
                points,
            };
            let curves = vec![
                curve(
                    "equation 6",
                    sums.map(|(x, left)| exactly(left).at(x)).collect(),
                ),
                curve(
                    "limit",
                    ends.map(|cell| exactly(1.0).at(along(cell))).collect(),
                ),
            ];
            let x = match self.periods.varies() {
                true => "T_M [ms]",
                false => "C_K [ms]",
            };
            (x, "left side of equation 6", YAxis::Near, curves)
        };
        Chart::new(self.name, (x_label, y_label), y_axis, curves)
    }

    /// What varies where one parameter does, in ms.
    fn along(&self) -> fn(&Cell) -> f64 {
        match self.periods.varies() {
            true => |cell| millis(cell.at.period),
            false => |cell| millis(cell.at.termination),
        }
    }

    fn page(
        &self,
        cells: &[Cell],
        others: &[Vec<Cell>],
        command: &str,
        version: &str,
    ) -> (Vec<(&'static str, Finding)>, String) {
        let mut findings = Vec::new();
        let mut details = String::new();
        for (number, claim) in (1..).zip(self.claims) {
            let checked = (claim.check)(cells);
            findings.push((claim.text, Finding::of(&[checked.verdict])));
            let _ = write!(
                details,
                "\n{number}. **{}**\n   - {}. {}.\n",
                claim.text, checked.verdict, checked.numbers
            );
            if let Some(population) = self.population {
                let _ = writeln!(details, "   - {}.", counted(claim, others, population));
            }
        }
        let mut page = format!(
            "# {}\n\n{}.\n\nMade by `{command}`, vestal {version}. The set is `{}`: {}\n\n{ASKED}",
            self.name, self.caption, self.set.path, self.set.origin
        );
        page.push_str(&super::page::claims_table(&findings));
        page.push_str("\n## By which numbers\n");
        page.push_str(&details);
        let _ = write!(page, "\n## Plots\n\n![{}]({PLOT})\n\n{COLUMNS}", self.name);
        (findings, page)
    }
}

/// The test that is asked.
const TEST: &str = "edf-vd";

const ASKED: &str = "Asked is the test `edf-vd` with a monitor that is scheduled as one more task of the higher level, each T_M for C_M; every\n\
execution time grows by 2 T_M + C_K (Lemma IV.1). It is a computation: the set is schedulable or it is not, and findings\n\
hold for it and for the values of T_M, C_M and C_K that were looked at.\n\n";

const COLUMNS: &str = "## Data\n\n\
`grid.csv` has a row for each combination: T_M, C_M and C_K in us, the two sums of equation 6 (mode LO, mode HI; empty where the\n\
LO tasks leave nothing), and what the test says.\n";

fn cell(test: &Test, problem: &Problem, at: Costs, scratch: &mut Scratch) -> Cell {
    let tasks = problem.tasks();
    let with = problem.clone().with_overheads(overheads(tasks, at));
    Cell {
        at,
        holds: test.accepts(&with, scratch),
        sums: sums(tasks, at),
    }
}

/// C_K is spread over the tasks that a change of mode terminates, rounded up.
fn overheads(tasks: &[Task], at: Costs) -> Overheads {
    let terminated = tasks.iter().filter(|task| task.criticality == Level(0));
    let each = at.termination.div_ceil(terminated.count().max(1) as u64);
    Overheads {
        termination: Duration::from_nanos(each),
        heartbeat: Some(Heartbeat {
            period: Duration::from_nanos(at.period),
            cost: Duration::from_nanos(at.cost),
            is_scheduled: true,
        }),
        ..Overheads::default()
    }
}

/// Equation 6 as it is printed.
fn sums(tasks: &[Task], at: Costs) -> [f64; 2] {
    let added = 2.0 * as_f64(at.period) + as_f64(at.termination);
    let sum = |criticality: Level, level: Level| -> f64 {
        let of_level = tasks.iter().filter(|task| task.criticality == criticality);
        let shares = of_level.map(|task| {
            (as_f64(task.wcet.at(level).as_nanos()) + added) / as_f64(task.period.as_nanos())
        });
        shares.sum()
    };
    let (low, high) = (Level(0), Level(1));
    let (a, b, c) = (sum(low, low), sum(high, low), sum(high, high));
    let monitor = as_f64(at.cost) / as_f64(at.period);
    let second = match a < 1.0 {
        true => c + monitor + (b + monitor) / (1.0 - a) * a,
        false => f64::INFINITY,
    };
    [a + b + monitor, second]
}

impl Population {
    /// The sets with tasks of both levels.
    ///
    /// # Errors
    /// What is wrong with it; a bug of Vestal.
    pub fn draw(&self) -> Result<Vec<TaskSet>, Refusal> {
        let mut recipe = Recipe::named(self.recipe)
            .ok_or_else(|| Refusal::bug(format!("there is no recipe {}", self.recipe)))?;
        for (name, value) in self.parameters {
            let set = recipe.set(name, value);
            set.map_err(|error| Refusal::bug(error.to_string()))?;
        }
        let sets = (0..u64::from(self.sets)).map(|index| {
            let drawn = recipe.draw(derived_seed(self.seed, &[0, index]));
            drawn.map_err(|error| Refusal::bug(error.to_string()))
        });
        let has = |set: &TaskSet, level: Level| {
            let mut tasks = set.tasks.iter();
            tasks.any(|task| task.criticality == level)
        };
        let both = |set: &TaskSet| has(set, Level(0)) && has(set, Level(1));
        let sets: Result<Vec<TaskSet>, Refusal> = sets.collect();
        Ok(sets?.into_iter().filter(both).collect())
    }
}

/// How many sets of the population say what of a claim.
fn counted(claim: &GridClaim, others: &[Vec<Cell>], population: &Population) -> String {
    let verdicts: Vec<Verdict> = others
        .iter()
        .map(|cells| (claim.check)(cells).verdict)
        .collect();
    let count = |verdict| verdicts.iter().filter(|found| **found == verdict).count();
    let parameters = population.parameters.iter();
    let parameters: Vec<String> = parameters
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!(
        "of the {} sets with tasks of both levels among {} that are drawn (recipe {}, {}, seed {}) {} confirm it, {} refute it, and {} \
         leave it open",
        others.len(),
        population.sets,
        population.recipe,
        parameters.join(", "),
        population.seed,
        count(Verdict::Confirmed),
        count(Verdict::Refuted),
        count(Verdict::NotDecided),
    )
}

fn csv(cells: &[Cell]) -> String {
    let mut text =
        "monitor_period_us,monitor_cost_us,termination_us,mode_lo,mode_hi,schedulable\n".to_owned();
    for cell in cells {
        let micros = |nanos: u64| Numbers(millis(nanos) * 1000.0);
        let sum = |value: f64| match value.is_finite() {
            true => format!("{value:.6}"),
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "{},{},{},{},{},{}",
            micros(cell.at.period),
            micros(cell.at.cost),
            micros(cell.at.termination),
            sum(cell.sums[0]),
            sum(cell.sums[1]),
            u8::from(cell.holds)
        );
    }
    text
}

pub(super) fn millis(nanos: u64) -> f64 {
    as_f64(nanos) / 1e6
}

/// A value without an interval.
const fn exactly(value: f64) -> Share {
    Share {
        value,
        low: value,
        high: value,
    }
}

//! What was measured, and what is made of it.

use super::paper::{Paper, PaperCell};
use crate::number::as_f64;
use serde::{Deserialize, Serialize};
use vestal_result::bench::{Cell, Invocations, Times};
use vestal_statistics::Quartiles;

/// Whether a busy period can be compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It can.
    Clean,
    /// The machine took the CPU away meanwhile.
    Gap,
    /// It is not the busy period of the set: other jobs than expected, an overrun, a mode change, or the
    /// end of the run came first.
    Other,
}

/// One busy period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The number of the repetition; runs of one repetition are neighbours in time.
    pub repetition: u32,
    /// How many tasks.
    pub size: usize,
    /// The index among the paper's variants.
    pub variant: usize,
    /// Whether it counts.
    pub state: State,
    /// From the release to idle; 0 if there was no end.
    pub busy_ns: u64,
    /// Switches of our threads on the CPU.
    pub switches: u64,
    /// CPU time of the run's own threads: manager, idle detector, watchdog.
    pub own_cpu_ns: u64,
    /// CPU time of workers outside the bodies of jobs.
    pub workers_cpu_ns: u64,
    /// How often jobs woke the manager.
    pub wakeups: u64,
    /// What the machine took, in all.
    pub lost_ns: u64,
    /// The most that it took at once.
    pub longest_gap_ns: u64,
    /// Invocations of the manager.
    pub manager: Invocations,
}

/// A run in a file: a list in the order of its fields, with the name of the variant; the manager's invocations are a list
/// too.
#[derive(Serialize, Deserialize)]
pub(super) struct Row(
    u32,
    usize,
    String,
    State,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    (u64, f64, u64, u64),
);

impl Row {
    pub(super) fn of(run: &Run, paper: &Paper) -> Self {
        let Invocations {
            count,
            mean_ns,
            median_ns,
            max_ns,
        } = run.manager;
        Self(
            run.repetition,
            run.size,
            paper.name_at(run.variant).to_owned(),
            run.state,
            run.busy_ns,
            run.switches,
            run.own_cpu_ns,
            run.workers_cpu_ns,
            run.wakeups,
            run.lost_ns,
            run.longest_gap_ns,
            (count, mean_ns, median_ns, max_ns),
        )
    }

    /// The run, if the paper has such a variant.
    pub(super) fn run(self, paper: &Paper) -> Result<Run, String> {
        let (count, mean_ns, median_ns, max_ns) = self.11;
        Ok(Run {
            repetition: self.0,
            size: self.1,
            variant: index_of(paper, &self.2)?,
            state: self.3,
            busy_ns: self.4,
            switches: self.5,
            own_cpu_ns: self.6,
            workers_cpu_ns: self.7,
            wakeups: self.8,
            lost_ns: self.9,
            longest_gap_ns: self.10,
            manager: Invocations {
                count,
                mean_ns,
                median_ns,
                max_ns,
            },
        })
    }
}

/// The index of the variant of this name.
pub(super) fn index_of(paper: &Paper, name: &str) -> Result<usize, String> {
    let index = paper.variant(name).map(|(index, _)| index);
    index.ok_or_else(|| format!("there is no variant `{name}`"))
}

/// A cell beside the paper's number.
#[derive(Clone, Debug)]
pub struct PrintedCell {
    /// What was measured.
    pub cell: Cell,
    /// What the paper printed for the same number of tasks.
    pub printed: Option<PaperCell>,
}

/// A run with the name of its variant.
#[derive(Clone, Copy, Debug)]
pub struct NamedRun {
    /// The run.
    pub run: Run,
    /// The variant's name.
    pub variant: &'static str,
}

/// All runs, by number of tasks and variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Whose measurement it repeats.
    pub paper: &'static Paper,
    runs: Vec<Run>,
    /// Those that were measured, ascending.
    pub sizes: Vec<usize>,
    /// Indices of the variants that were measured.
    pub variants: Vec<usize>,
    /// By size, then by variant.
    pub cells: Vec<Cell>,
}

impl Table {
    /// What these runs come to; O(n log n).
    #[must_use]
    pub fn of(paper: &'static Paper, runs: Vec<Run>) -> Self {
        let mut sizes: Vec<usize> = runs.iter().map(|run| run.size).collect();
        let mut variants: Vec<usize> = runs.iter().map(|run| run.variant).collect();
        for list in [&mut sizes, &mut variants] {
            list.sort_unstable();
            list.dedup();
        }
        let mut table = Self {
            paper,
            runs,
            sizes,
            variants,
            cells: Vec::new(),
        };
        let indices = table.sizes.iter().flat_map(|&size| {
            let variants = table.variants.iter();
            variants.map(move |&variant| (size, variant))
        });
        table.cells = indices
            .filter_map(|(size, variant)| table.summed(size, variant))
            .collect();
        table
    }

    /// Every run, in the order of time.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The same with the names of variants.
    #[must_use]
    pub fn named_runs(&self) -> Vec<NamedRun> {
        let runs = self.runs.iter();
        let named = runs.map(|run| NamedRun {
            run: *run,
            variant: self.paper.name_at(run.variant),
        });
        named.collect()
    }

    /// Every cell beside the paper's number.
    #[must_use]
    pub fn printed(&self) -> Vec<PrintedCell> {
        let cells = self.cells.iter();
        let printed = cells.map(|cell| PrintedCell {
            cell: cell.clone(),
            printed: self.paper.cell(cell.size, &cell.variant),
        });
        printed.collect()
    }

    fn of_place(&self, size: usize, variant: usize) -> impl Iterator<Item = &Run> {
        let is_there = move |run: &&Run| run.size == size && run.variant == variant;
        self.runs.iter().filter(is_there)
    }

    fn summed(&self, size: usize, variant: usize) -> Option<Cell> {
        let name = self.paper.variants.get(variant)?.name;
        let counted = |state| {
            let runs = self.of_place(size, variant);
            runs.filter(|run| run.state == state).count()
        };
        let clean = |value: fn(&Run) -> u64| {
            let runs = self.of_place(size, variant);
            let runs = runs.filter(|run| run.state == State::Clean);
            Quartiles::of(runs.map(|run| as_f64(value(run))).collect())
        };
        let busy = |run: &Run| run.busy_ns;
        Some(Cell {
            size,
            variant: name.to_owned(),
            runs: self.of_place(size, variant).count(),
            gaps: counted(State::Gap),
            others: counted(State::Other),
            busy_ns: clean(busy),
            busy_with_gaps_ns: Quartiles::of(
                self.of_place(size, variant)
                    .filter(|run| run.state != State::Other)
                    .map(|run| as_f64(run.busy_ns))
                    .collect(),
            ),
            extra_ns: Quartiles::of(self.differences(size, self.paper.baseline, variant, busy)),
            overhead_percent: Quartiles::of(self.overheads_percent(size, variant)),
            switches: clean(|run| run.switches),
            own_cpu_ns: clean(|run| run.own_cpu_ns),
            own_cpu_extra_ns: Quartiles::of(self.differences(
                size,
                self.paper.baseline,
                variant,
                |run| run.own_cpu_ns,
            )),
            workers_cpu_ns: clean(|run| run.workers_cpu_ns),
            wakeups: clean(|run| run.wakeups),
        })
    }

    /// The clean runs of two variants that belong to the same repetition.
    pub(super) fn pairs(
        &self,
        size: usize,
        first: usize,
        second: usize,
    ) -> impl Iterator<Item = (&Run, &Run)> {
        let seconds = self.of_place(size, second);
        seconds.filter_map(move |run| {
            let mut firsts = self.of_place(size, first);
            let base = firsts.find(|base| base.repetition == run.repetition)?;
            let clean = base.state == State::Clean && run.state == State::Clean;
            clean.then_some((base, run))
        })
    }

    /// `second` minus `first` in each repetition in which both are clean.
    #[must_use]
    pub fn differences(
        &self,
        size: usize,
        first: usize,
        second: usize,
        value: fn(&Run) -> u64,
    ) -> Vec<f64> {
        self.pairs(size, first, second)
            .map(|(a, b)| as_f64(value(b)) - as_f64(value(a)))
            .collect()
    }

    /// How much longer the busy periods of a variant are than the baseline's, in percent of these.
    #[must_use]
    pub fn overheads_percent(&self, size: usize, variant: usize) -> Vec<f64> {
        let shares = self
            .pairs(size, self.paper.baseline, variant)
            .map(|(base, run)| {
                let (base, own) = (as_f64(base.busy_ns), as_f64(run.busy_ns));
                (own / base - 1.0) * 100.0
            });
        shares.collect()
    }

    /// The cell of a variant.
    #[must_use]
    pub fn cell(&self, size: usize, variant: usize) -> Option<&Cell> {
        let name = self.paper.variants.get(variant)?.name;
        let mut cells = self.cells.iter();
        cells.find(|cell| cell.size == size && cell.variant == name)
    }

    /// What stands for a column of the paper: its own mechanism if that was measured, else the first of
    /// ours. FTP-SMC is the baseline.
    #[must_use]
    pub fn stands_for(&self, column: &str) -> Option<usize> {
        let of_column = || {
            let known = self.variants.iter().copied();
            known.filter(move |&index| {
                self.paper
                    .variants
                    .get(index)
                    .is_some_and(|v| v.column == column)
            })
        };
        let of_paper = |index: &usize| self.paper.variants.get(*index).is_some_and(|v| v.of_paper);
        of_column().find(of_paper).or_else(|| of_column().next())
    }

    /// Table III: invocations of every variant's manager in all runs without a gap. The median is the
    /// median of the runs' medians.
    #[must_use]
    pub fn invocations(&self) -> Vec<Times> {
        let rows = self.variants.iter().filter_map(|&index| {
            let variant = self.paper.variants.get(index)?;
            let runs = self.runs.iter().filter(|run| {
                run.variant == index && run.state == State::Clean && run.manager.count > 0
            });
            let all: Vec<&Invocations> = runs.map(|run| &run.manager).collect();
            let count = all.iter().map(|one| one.count).sum::<u64>();
            let sum: f64 = all.iter().map(|one| one.mean_ns * as_f64(one.count)).sum();
            let medians = all.iter().map(|one| as_f64(one.median_ns)).collect();
            let median = Quartiles::of(medians)?.median;
            let paper = (self.paper.printed.invocation)(variant.column);
            Some(Times {
                variant: variant.name.to_owned(),
                invocations: Invocations {
                    count,
                    mean_ns: sum / as_f64(count),
                    median_ns: whole(median),
                    max_ns: all.iter().map(|one| one.max_ns).max().unwrap_or(0),
                },
                paper_mean_ns: paper.map(|paper| paper.mean_ns),
                paper_max_ns: paper.map(|paper| paper.max_ns),
            })
        });
        rows.collect()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time in nanoseconds"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::overhead::HUANG2014;

    /// A run of `busy` microseconds.
    pub(in crate::overhead) fn run(repetition: u32, size: usize, name: &str, busy: u64) -> Run {
        let (variant, _) = HUANG2014.variant(name).unwrap();
        Run {
            repetition,
            size,
            variant,
            state: State::Clean,
            busy_ns: busy * 1000,
            switches: busy / 10,
            own_cpu_ns: busy,
            workers_cpu_ns: 0,
            wakeups: 1,
            lost_ns: 0,
            longest_gap_ns: 0,
            manager: Invocations {
                count: 2,
                mean_ns: 3000.0,
                median_ns: 2000,
                max_ns: 9000,
            },
        }
    }

    #[test]
    fn overheads_are_paired_by_repetition_and_disturbed_runs_stay_out() {
        let mut runs = Vec::new();
        for repetition in 0..10 {
            // The machine drifts; the difference does not.
            let base = 1000 * (1 + u64::from(repetition));
            runs.push(run(repetition, 4, "smc/none", base));
            runs.push(run(repetition, 4, "amc/perf", base + 10));
        }
        runs.push(run(10, 4, "smc/none", 1000));
        for state in [State::Gap, State::Other] {
            runs.push(Run {
                state,
                ..run(10, 4, "amc/perf", 99_999)
            });
        }
        let table = Table::of(&HUANG2014, runs);
        assert_eq!(
            (table.sizes.as_slice(), table.variants.len()),
            (&[4][..], 2)
        );
        let (amc, _) = HUANG2014.variant("amc/perf").unwrap();
        let cell = table.cell(4, amc).unwrap();
        assert_eq!((cell.runs, cell.gaps, cell.others), (12, 1, 1));
        let extra = cell.extra_ns.unwrap();
        assert_eq!(
            (extra.low, extra.high, extra.count),
            (10_000.0, 10_000.0, 10)
        );
        assert!((cell.overhead_percent.unwrap().high - 0.5).abs() < 0.3);
        assert_eq!(HUANG2014.cell(4, &cell.variant).unwrap().switches, 7);
    }

    #[test]
    fn the_papers_mechanism_stands_for_its_column_where_it_was_measured() {
        let ours = || vec![run(0, 4, "smc/none", 10), run(0, 4, "amc/perf", 11)];
        let stands = |runs| {
            let table = Table::of(&HUANG2014, runs);
            let index = table.stands_for("FTP-AMC");
            index.map(|index| HUANG2014.variants[index].name)
        };
        assert_eq!(stands(ours()), Some("amc/perf"));
        let mut both = ours();
        both.push(run(0, 4, "amc/huang2014", 12));
        assert_eq!(stands(both), Some("amc/huang2014"));
        assert_eq!(Table::of(&HUANG2014, ours()).stands_for("PT"), None);
    }

    #[test]
    fn invocations_are_put_together_over_runs() {
        let runs = vec![run(0, 4, "amc/perf", 10), run(0, 8, "amc/perf", 11)];
        let rows = Table::of(&HUANG2014, runs).invocations();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].invocations.count, 4);
        assert_eq!(
            (rows[0].invocations.median_ns, rows[0].invocations.max_ns),
            (2000, 9000)
        );
        assert!((rows[0].invocations.mean_ns - 3000.0).abs() < 1e-9);
        assert_eq!(rows[0].paper_mean_ns, Some(6_310));
    }
}

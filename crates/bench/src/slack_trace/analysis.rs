//! What execution intervals say: who ran in which order, and where none did.

use vestal_statistics::median;

/// An uninterrupted interval of execution of one task; nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The index of the task.
    pub task: usize,
    /// The first reading of the clock in it.
    pub start_nanos: u64,
    /// The last one.
    pub end_nanos: u64,
}

/// An interval within a job in which no thread of the run ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When it began, since the start of the run.
    pub start_nanos: u64,
    /// From the last reading of the clock to the next.
    pub length_nanos: u64,
}

/// A task has the CPU until another one has, gaps included; nanoseconds since the start of its hyperperiod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The index of the task.
    pub task: usize,
    /// When it begins.
    pub start_nanos: u64,
    /// When it ends.
    pub end_nanos: u64,
}

/// How a schedule was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// How many whole hyperperiods were looked at.
    pub hyperperiods: u64,
    /// In how many the tasks had the CPU in the expected order, and no other thread.
    pub in_order: u64,
    /// Over those, the medians of the instants of each expected run.
    pub medians: Vec<Run>,
}

/// What is said of many gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// The median of their lengths.
    pub median_length_nanos: u64,
    /// The longest.
    pub longest_nanos: u64,
    /// The median distance from the beginning of one to that of the next.
    pub median_distance_nanos: u64,
}

/// The intervals between two slices of one task, one following the other, in which no thread of the run wrote
/// anything down: `ours` are the instants of all its records. Both lists are in the order of time. O(n log n).
#[must_use]
pub fn gaps_between(slices: &[Slice], ours: &[u64]) -> Vec<Gap> {
    let pairs = slices.iter().zip(slices.iter().skip(1));
    pairs
        .filter(|(before, after)| before.task == after.task)
        .filter(|(before, after)| {
            let next = ours.partition_point(|&at| at < before.end_nanos);
            ours.get(next).is_none_or(|&at| at > after.start_nanos)
        })
        .map(|(before, after)| Gap {
            start_nanos: before.end_nanos,
            length_nanos: after.start_nanos.saturating_sub(before.end_nanos),
        })
        .collect()
}

impl Gaps {
    /// What these gaps, in the order of time, have in common.
    #[must_use]
    pub fn of(gaps: &[Gap]) -> Self {
        let lengths: Vec<u64> = gaps.iter().map(|gap| gap.length_nanos).collect();
        let next = gaps.iter().skip(1).map(|gap| gap.start_nanos);
        let distances = gaps.iter().zip(next);
        Self {
            count: gaps.len() as u64,
            longest_nanos: lengths.iter().copied().max().unwrap_or(0),
            median_length_nanos: median(lengths),
            median_distance_nanos: median(
                distances
                    .map(|(gap, next)| next.saturating_sub(gap.start_nanos))
                    .collect(),
            ),
        }
    }
}

/// The gaps that keep to one phase of a period of `tick_nanos`: those in the window of a fortieth of the
/// period that has most of them. Gaps of any phase would be there by 2.5 % and little more. O(n log n).
#[must_use]
pub fn at_the_tick(gaps: &[Gap], tick_nanos: u64) -> Vec<Gap> {
    let Some(width) = tick_nanos.checked_div(40).filter(|width| *width > 0) else {
        return Vec::new();
    };
    let phase = |gap: &Gap| gap.start_nanos % tick_nanos;
    let mut phases: Vec<u64> = gaps.iter().map(phase).collect();
    phases.sort_unstable();
    // Once round and on, for the window over the end of the period.
    let wrapped: Vec<u64> = phases.iter().map(|phase| phase + tick_nanos).collect();
    let turns = [phases.as_slice(), wrapped.as_slice()].concat();
    let within = |from: u64| turns.partition_point(|&phase| phase < from + width);
    let most = phases
        .iter()
        .enumerate()
        .max_by_key(|(index, from)| within(**from).saturating_sub(*index));
    let Some((_, &from)) = most else {
        return Vec::new();
    };
    let inside = |gap: &&Gap| (phase(gap) + tick_nanos - from) % tick_nanos < width;
    gaps.iter().filter(inside).copied().collect()
}

/// Who had the CPU in each whole hyperperiod up to `span_nanos`.
#[must_use]
pub fn runs_by_hyperperiod(
    slices: &[Slice],
    hyperperiod_nanos: u64,
    span_nanos: u64,
) -> Vec<Vec<Run>> {
    let whole = span_nanos.checked_div(hyperperiod_nanos).unwrap_or(0);
    let mut all = vec![Vec::<Run>::new(); usize::try_from(whole).unwrap_or(0)];
    for slice in slices {
        let number = slice.start_nanos / hyperperiod_nanos;
        let begin = number * hyperperiod_nanos;
        let Some(runs) = usize::try_from(number)
            .ok()
            .and_then(|number| all.get_mut(number))
        else {
            continue;
        };
        let end_nanos = slice.end_nanos - begin;
        match runs.last_mut().filter(|run| run.task == slice.task) {
            Some(run) => run.end_nanos = end_nanos,
            None => runs.push(Run {
                task: slice.task,
                start_nanos: slice.start_nanos - begin,
                end_nanos,
            }),
        }
    }
    all
}

impl Followed {
    /// How the hyperperiods followed `expected`.
    #[must_use]
    pub fn of(hyperperiods: &[Vec<Run>], expected: &[Run]) -> Self {
        let tasks = |runs: &[Run]| -> Vec<usize> { runs.iter().map(|run| run.task).collect() };
        let wanted = tasks(expected);
        let followed: Vec<&Vec<Run>> = hyperperiods
            .iter()
            .filter(|runs| tasks(runs) == wanted)
            .collect();
        let instant = |index: usize, of: fn(&Run) -> u64| {
            median(
                followed
                    .iter()
                    .filter_map(|runs| runs.get(index))
                    .map(of)
                    .collect(),
            )
        };
        let medians = expected.iter().enumerate().map(|(index, run)| Run {
            task: run.task,
            start_nanos: instant(index, |run| run.start_nanos),
            end_nanos: instant(index, |run| run.end_nanos),
        });
        Self {
            hyperperiods: hyperperiods.len() as u64,
            in_order: followed.len() as u64,
            medians: if followed.is_empty() {
                Vec::new()
            } else {
                medians.collect()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(task: usize, start_nanos: u64, end_nanos: u64) -> Slice {
        Slice {
            task,
            start_nanos,
            end_nanos,
        }
    }

    #[test]
    fn a_gap_is_within_one_task_and_nobody_of_ours_was_there() {
        let slices = [
            slice(0, 0, 10),
            slice(0, 13, 20),
            // The other task was there.
            slice(1, 25, 40),
            slice(0, 45, 60),
            // The manager was there.
            slice(0, 70, 80),
            slice(0, 84, 90),
        ];
        let gaps = gaps_between(&slices, &[64, 66, 95]);
        let expected = [(10, 3), (80, 4)].map(|(start_nanos, length_nanos)| Gap {
            start_nanos,
            length_nanos,
        });
        assert_eq!(gaps, expected);
        let common = Gaps::of(&gaps);
        assert_eq!((common.count, common.longest_nanos), (2, 4));
        assert_eq!(common.median_distance_nanos, 70);
        assert_eq!(Gaps::of(&[]), Gaps::default());
    }

    /// Gaps at `instants`, 3 long.
    fn gaps(instants: impl Iterator<Item = u64>) -> Vec<Gap> {
        let gap = |start_nanos| Gap {
            start_nanos,
            length_nanos: 3,
        };
        instants.map(gap).collect()
    }

    #[test]
    fn gaps_of_one_phase_are_at_the_tick_and_gaps_of_any_phase_are_not() {
        // Of one phase, over the end of the period, and some others.
        let ticks = (1..200).map(|k| k * 4_000 - 20 + k % 50);
        let others = (0..50).map(|k| k * 16_000 + k * 80 + 200);
        let mut all: Vec<u64> = ticks.chain(others).collect();
        all.sort_unstable();
        let found = at_the_tick(&gaps(all.into_iter()), 4_000);
        assert!((199..=203).contains(&found.len()), "{}", found.len());
        assert_eq!(Gaps::of(&found).median_distance_nanos / 10, 400);
        // Another period than that of the gaps: the phases are everywhere.
        let strange = gaps((1..400).map(|k| k * 3_010));
        let found = at_the_tick(&strange, 4_000);
        assert!(found.len() < 30, "{}", found.len());
        assert_eq!(at_the_tick(&[], 4_000), []);
    }

    #[test]
    fn a_schedule_is_followed_or_not_in_each_hyperperiod() {
        let slices = [
            slice(0, 0, 2),
            slice(1, 3, 4),
            slice(1, 5, 6),
            slice(0, 100, 102),
            slice(1, 105, 107),
            slice(0, 200, 203),
        ];
        let all = runs_by_hyperperiod(&slices, 100, 300);
        let run = |task, start_nanos, end_nanos| Run {
            task,
            start_nanos,
            end_nanos,
        };
        assert_eq!(all[0], [run(0, 0, 2), run(1, 3, 6)]);
        let followed = Followed::of(&all, &[run(0, 0, 2), run(1, 2, 5)]);
        assert_eq!((followed.hyperperiods, followed.in_order), (3, 2));
        assert_eq!(followed.medians, [run(0, 0, 2), run(1, 5, 7)]);
        let other = Followed::of(&all, &[run(1, 0, 2), run(0, 2, 5)]);
        assert_eq!((other.in_order, other.medians), (0, Vec::new()));
    }
}

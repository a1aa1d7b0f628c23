//! What a study of today would draw (Emberson, Stafford and Davis, WATERS 2010; Griffin, Bate and
//! Davis, RTSS 2020): utilisations uniformly distributed over all that are possible, periods whose
//! logarithm is, and deadlines up to the periods if wished. One CPU, levels LO and HI.
//!
//! Without `utilization_high`, C(HI) = CF C(LO) for HI tasks, at most the period. With it, the HI
//! tasks' utilisations at HI are drawn with that sum, and then the utilisations at LO of all tasks with
//! the sum `utilization`, those of HI tasks bounded by what was drawn before. A set of HI tasks only has
//! no such utilisations where `utilization_high` is the smaller sum; then the levels are drawn again.
//!
//! A set draws the levels of all tasks, the utilisations at HI, those at LO, and then for each task its
//! period and its deadline.

use super::parameter::{Given, Parameter, ParameterError, recipe, scaled_floor};
use super::periods::Periods;
use super::set::{nanos_of, task, task_set};
use super::utilization::{BoundedSum, RandFixedSum};
use super::{DrawError, Random};
use crate::model::TaskSet;
use crate::number::Ratio;
use crate::quantity::parse_time;
use vestal_core::Task;

recipe! { Standard, "RandFixedSum or bounded sums, log-uniform periods, two levels";
    tasks: usize = "20", "number of tasks", tasks();
    utilization: Ratio = "0.5", "sum of C(LO)/T", positive_ratio(1);
    utilization_high: Ratio = "0", "sum of C(HI)/T of HI tasks; 0: by the factor", ratio(0, 1);
    criticality_factor: Ratio = "2", "C(HI)/C(LO) of HI tasks", ratio(1, 1000);
    share_high: Ratio = "0.5", "probability that a task is of level HI", ratio(0, 1);
    periods: PeriodRule = "log-uniform",
        "log-uniform, uniform, harmonic (the shortest, doubled) or a list such as 10ms,20ms,50ms", period_rule();
    period_min: u64 = "10ms", "the shortest period", time();
    period_max: u64 = "1s", "the longest period", time();
    granularity: u64 = "1us", "periods are multiples of it", time();
    deadlines: Deadlines = "implicit", "implicit: D = T; constrained: uniform from C(own level) to T", deadlines();
}

/// Where deadlines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadlines {
    /// At the periods' ends.
    Implicit,
    /// Uniform from the own level's execution time to the period.
    Constrained,
}

/// Which periods are drawn between the ends of the range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeriodRule {
    /// Uniform in the logarithm.
    LogUniform,
    /// Uniform.
    Uniform,
    /// The shortest, doubled as often as the longest allows.
    Harmonic,
    /// One of these, in ns.
    List(Vec<u64>),
}

/// LO and HI.
pub(super) const LEVELS: usize = 2;
/// How often levels are drawn before it is said that they do not come out.
const TRIES: u32 = 10_000;
/// Times of recipes are below 104 days, so that floating-point numbers have them exactly.
const TIME_NANOS_MAX: u64 = 1 << 53;

impl Standard {
    /// The next set.
    ///
    /// # Errors
    /// [`DrawError`] if the range of periods is empty, or the sums cannot be met.
    pub fn draw(&self, random: &mut Random) -> Result<TaskSet, DrawError> {
        let name = format!("standard, U = {}, {} tasks", self.utilization, self.tasks);
        Ok(task_set(name, LEVELS, &self.tasks(random)?))
    }

    /// The tasks of the next set.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn tasks(&self, random: &mut Random) -> Result<Vec<Task>, DrawError> {
        let periods = self.drawn_periods()?;
        let is_high = self.levels(random)?;
        let (low, high) = self.shares(&is_high, random)?;
        let draw = |at: usize| {
            let period = periods.draw(random);
            let normal = nanos_of(period, low[at]).max(1);
            let raised = match (&high, is_high[at]) {
                (_, false) => return self.task(period, &[normal], random),
                (Some(high), true) => nanos_of(period, high[at]).max(normal),
                (None, true) => scaled_floor(normal, self.criticality_factor).min(period),
            };
            self.task(period, &[normal, raised], random)
        };
        Ok((0..self.tasks).map(draw).collect())
    }

    fn drawn_periods(&self) -> Result<Periods, DrawError> {
        let (least, most, step) = (self.period_min, self.period_max, self.granularity);
        if least > most || most / step < least.div_ceil(step) {
            return Err(DrawError(
                "no multiple of `granularity` lies between `period_min` and `period_max`"
                    .to_owned(),
            ));
        }
        Ok(match &self.periods {
            PeriodRule::LogUniform => Periods::LogUniform {
                least: least.next_multiple_of(step),
                most: most / step * step,
                step,
            },
            PeriodRule::Uniform => Periods::Uniform { least, most, step },
            PeriodRule::Harmonic => Periods::Harmonic {
                base: least,
                doublings: (most / least).ilog2(),
            },
            PeriodRule::List(list) => Periods::List(list.clone()),
        })
    }

    /// Which tasks are HI; never all of them where they could not use `utilization` at LO.
    fn levels(&self, random: &mut Random) -> Result<Vec<bool>, DrawError> {
        let [low, high] =
            [self.utilization, self.utilization_high].map(|ratio| ratio.approximate());
        let wants_low = 0.0 < high && high < low;
        (0..TRIES)
            .map(|_| {
                let tasks = 0..self.tasks;
                let share = self.share_high.approximate();
                tasks.map(|_| random.unit() < share).collect()
            })
            .find(|drawn: &Vec<bool>| !(wants_low && drawn.iter().all(|&is_high| is_high)))
            .ok_or_else(|| {
                let why = "with `utilization` above `utilization_high` some tasks have to be LO: \
                           lower `share_high` or `utilization`";
                DrawError(why.to_owned())
            })
    }

    /// Utilisations at LO, and at HI where they are drawn.
    fn shares(
        &self,
        is_high: &[bool],
        random: &mut Random,
    ) -> Result<(Vec<f64>, Option<Vec<f64>>), DrawError> {
        let low = self.utilization.approximate();
        let cannot = |what: &str| {
            DrawError(format!(
                "the tasks cannot use `{what}` together: raise `tasks`"
            ))
        };
        if self.utilization_high.numerator() == 0 {
            let sampler =
                RandFixedSum::new(self.tasks, low).ok_or_else(|| cannot("utilization"))?;
            return Ok((sampler.draw(random), None));
        }
        let count = is_high.iter().filter(|&&is_high| is_high).count();
        let total = self.utilization_high.approximate();
        // A set that drew no HI task has nothing to use at HI.
        let mut drawn = match count {
            0 => Vec::new(),
            _ => RandFixedSum::new(count, total)
                .ok_or_else(|| cannot("utilization_high"))?
                .draw(random),
        }
        .into_iter();
        let high: Vec<f64> = is_high
            .iter()
            .map(|&is_high| {
                if is_high {
                    drawn.next().unwrap_or(0.0)
                } else {
                    1.0
                }
            })
            .collect();
        let sampler = BoundedSum::new(&vec![0.0; self.tasks], &high, low)
            .ok_or_else(|| cannot("utilization"))?;
        Ok((sampler.draw(random), Some(high)))
    }

    fn task(&self, period: u64, values: &[u64], random: &mut Random) -> Task {
        let own = values.last().copied().unwrap_or(1);
        let deadline = if self.deadlines == Deadlines::Constrained {
            own.min(period) + random.below(period - own.min(period) + 1)
        } else {
            period
        };
        task(period, deadline, values)
    }
}

fn time(text: &str) -> Option<u64> {
    parse_time(text).filter(|time| (1..TIME_NANOS_MAX).contains(time))
}

impl Given<'_> {
    fn time(&self) -> Result<u64, ParameterError> {
        let expected = "a time with its unit such as 10ms, at most 100 days";
        time(self.text).ok_or_else(|| self.wrong(expected))
    }

    fn period_rule(&self) -> Result<PeriodRule, ParameterError> {
        let rule = match self.text {
            "log-uniform" => Some(PeriodRule::LogUniform),
            "uniform" => Some(PeriodRule::Uniform),
            "harmonic" => Some(PeriodRule::Harmonic),
            list => {
                let times: Option<_> = list.split(',').map(|text| time(text.trim())).collect();
                times.map(PeriodRule::List)
            }
        };
        let expected = "log-uniform, uniform, harmonic or times such as 10ms,20ms,50ms";
        rule.ok_or_else(|| self.wrong(expected))
    }

    fn deadlines(&self) -> Result<Deadlines, ParameterError> {
        match self.text {
            "implicit" => Ok(Deadlines::Implicit),
            "constrained" => Ok(Deadlines::Constrained),
            _ => Err(self.wrong("implicit or constrained")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::Level;

    fn drawn(settings: &[(&str, &str)]) -> Result<Vec<TaskSet>, DrawError> {
        let mut recipe = Standard::new().unwrap();
        for (name, value) in settings {
            recipe.set(name, value).unwrap();
        }
        let mut random = Random::new(6);
        (0..100).map(|_| recipe.draw(&mut random)).collect()
    }

    fn share(set: &TaskSet, level: usize) -> f64 {
        let of_level = set
            .tasks
            .iter()
            .filter(|task| task.criticality.index() >= level);
        of_level
            .map(|task| task.wcet[level].unwrap().as_nanos() as f64 / task.period.as_nanos() as f64)
            .sum()
    }

    #[test]
    fn sums_are_met_and_execution_times_grow_with_the_level() {
        let by_factor = drawn(&[("utilization", "0.9")]).unwrap();
        assert!(
            by_factor
                .iter()
                .all(|set| (share(set, 0) - 0.9).abs() < 1e-5)
        );
        let drawn_high = drawn(&[("utilization", "0.6"), ("utilization_high", "0.7")]).unwrap();
        for set in &drawn_high {
            assert!((share(set, 0) - 0.6).abs() < 1e-5 && (share(set, 1) - 0.7).abs() < 1e-5);
            assert_eq!(&TaskSet::parse("x.toml", &set.to_toml()).unwrap(), set);
        }
    }

    #[test]
    fn constrained_deadlines_leave_room_for_the_execution_time() {
        let sets = drawn(&[("deadlines", "constrained"), ("periods", "5ms, 20ms")]).unwrap();
        for task in sets.iter().flat_map(|set| &set.tasks) {
            assert!(task.deadline <= task.period);
            let own = task.wcet.iter().flatten().last().unwrap();
            assert!(own.as_nanos() <= task.deadline.as_nanos());
        }
    }

    #[test]
    fn a_set_whose_tasks_all_came_out_hi_is_drawn_again_where_they_could_not_use_the_sum() {
        let sums = [
            ("utilization", "0.6"),
            ("utilization_high", "0.5"),
            ("tasks", "2"),
        ];
        for set in drawn(&sums).unwrap() {
            assert!(set.tasks.iter().any(|task| task.criticality == Level(0)));
            assert!((share(&set, 0) - 0.6).abs() < 1e-5);
        }
        // Where they can use it, such sets stay.
        let sums = [
            ("utilization", "0.5"),
            ("utilization_high", "0.5"),
            ("tasks", "2"),
        ];
        let all_high = |set: &&TaskSet| set.tasks.iter().all(|task| task.criticality == Level(1));
        assert!(drawn(&sums).unwrap().iter().filter(all_high).count() > 10);
    }

    #[test]
    fn what_cannot_be_drawn_says_why() {
        let error = drawn(&[("period_min", "2s")]).unwrap_err();
        assert!(error.0.contains("period_min"), "{error}");
        let error = drawn(&[("utilization_high", "0.4"), ("share_high", "1")]).unwrap_err();
        assert!(error.0.contains("share_high"), "{error}");
        let mut recipe = Standard::new().unwrap();
        assert!(recipe.set("periods", "10").is_err() && recipe.set("period_min", "0ms").is_err());
    }
}

//! What a campaign found.

use crate::busy::BusyPeriods;
use crate::reference::{Lists, System};
use crate::sets::Sets;
use crate::subject::{Subject, is_by_deadline, takes};
use crate::trial::{Broken, Observation};
use std::fmt::{self, Write};
use vestal_analysis::Parameter;
use vestal_core::Enforcement;
use vestal_core::model::LEVELS_MAX;

/// What a campaign found.
pub(crate) struct Summary {
    name: String,
    pub(crate) drawn: u64,
    accepted: u64,
    /// How many CPUs of accepted sets have tasks.
    cpus: u64,
    /// Whether the sets have several CPUs.
    several_cpus: bool,
    /// By the number of levels, how many of the accepted sets have so many.
    by_levels: [u64; LEVELS_MAX + 1],
    /// How many of the accepted sets have jobs in slices; `None` if that is not what the test is about.
    in_slices: Option<u64>,
    runs: u64,
    raised: u64,
    /// In how many runs jobs with a degraded budget executed above their level; `None` if the sets have none.
    degraded: Option<u64>,
    pub(crate) busy: BusyPeriods,
    /// How many eventful busy periods the campaign goes on for.
    periods_wanted: u64,
    /// Whether the test bounds response times.
    has_bounds: bool,
    /// How near to their bounds tasks have to come on average.
    mean_expected: f64,
    /// The largest response time over its bound.
    tightest: f64,
    /// The sum over the tasks of accepted sets of each one's largest ratio, and how many they are.
    tightness_sum: f64,
    tasks: u64,
    pub(crate) broken: Option<Broken>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: u64, whole: u64| part as f64 * 100.0 / whole.max(1) as f64;
        let tightness = if self.has_bounds {
            let mean = self.tightness_sum / self.tasks.max(1) as f64;
            format!(
                "tightest ratio {:.3}, mean over tasks {mean:.3}",
                self.tightest
            )
        } else {
            "no bounds to compare with".to_owned()
        };
        let mut sets = String::new();
        for (levels, &count) in self.by_levels.iter().enumerate().filter(|(_, n)| **n > 0) {
            let _ = write!(sets, ", {count} of {levels} levels");
        }
        if self.several_cpus {
            let _ = write!(sets, ", {} CPUs", self.cpus);
        }
        if let Some(count) = self.in_slices {
            let _ = write!(sets, ", {count} in slices");
        }
        if let Some(count) = self.degraded {
            let _ = write!(sets, ", {count} runs with degraded jobs");
        }
        write!(
            f,
            "{}: {} sets drawn, {} accepted ({:.1} %{sets}), {} busy periods, {} with three jobs or a \
             raised mode ({:.1} %), {} runs, {} with raised mode ({:.1} %), {tightness}, {}",
            self.name,
            self.drawn,
            self.accepted,
            percent(self.accepted, self.drawn),
            self.busy.all,
            self.busy.eventful,
            percent(self.busy.eventful, self.busy.all),
            self.runs,
            self.raised,
            percent(self.raised, self.runs),
            if self.broken.is_some() {
                "BROKEN"
            } else {
                "no guarantee broken"
            },
        )?;
        match &self.broken {
            Some(broken) => write!(f, "\n{broken}"),
            None => Ok(()),
        }
    }
}

impl Summary {
    /// Nothing so far.
    pub(crate) fn new(subject: &Subject, periods_wanted: u64) -> Self {
        let test = subject.test;
        Self {
            name: subject.test.to_string(),
            drawn: 0,
            accepted: 0,
            cpus: 0,
            several_cpus: test.is_for_several_cpus,
            by_levels: [0; LEVELS_MAX + 1],
            in_slices: takes(test, Parameter::Slices).then_some(0),
            runs: 0,
            raised: 0,
            degraded: (subject.sets == Sets::Degraded).then_some(0),
            busy: BusyPeriods::default(),
            periods_wanted,
            has_bounds: !is_by_deadline(test),
            // The plain form of zero-slack scheduling has a job of every task under way at once, which only
            // some tasks can meet. Of a deadline, which some tasks always stay far below, half is much.
            mean_expected: match test.limits {
                _ if subject.lists != Lists::No => 0.5,
                Some(Enforcement::ZeroSlack) if test.variant == Some("form") => 0.7,
                Some(Enforcement::ZeroSlack) => 0.9,
                Some(_) | None => 0.8,
            },
            tightest: 0.0,
            tightness_sum: 0.0,
            tasks: 0,
            broken: None,
        }
    }

    /// A set was accepted, and this is what it runs as, CPU by CPU.
    pub(super) fn count_set(&mut self, systems: &[System]) {
        self.accepted += 1;
        self.cpus += systems.len() as u64;
        self.by_levels[systems[0].levels] += 1;
        if let Some(count) = &mut self.in_slices {
            let mut tasks = systems.iter().flat_map(|system| &system.tasks);
            *count += u64::from(tasks.any(|entry| entry.slices > 1));
        }
    }

    pub(super) fn count_run(&mut self, seen: &Observation) {
        self.runs += 1;
        self.raised += u64::from(seen.raised);
        if let Some(count) = &mut self.degraded {
            *count += u64::from(seen.degraded);
        }
        self.busy.all += seen.busy.all;
        self.busy.eventful += seen.busy.eventful;
    }

    /// By task, the largest ratio of a response time to its bound, over all runs of a set.
    pub(super) fn count_ratios(&mut self, ratios: &[f64]) {
        for &ratio in ratios {
            self.tightest = self.tightest.max(ratio);
            self.tightness_sum += ratio;
            self.tasks += 1;
        }
    }

    /// Whether there were as many eventful busy periods as the campaign goes on for.
    pub(super) fn has_seen_enough(&self) -> bool {
        self.busy.eventful >= self.periods_wanted
    }

    /// A campaign without refutation means something only if it tried.
    pub(crate) fn check_that_it_says_something(&self) {
        assert!(self.drawn > 0, "the campaign ends before it begins: {self}");
        if self.drawn < crate::campaign::SETS_SMOKE {
            return;
        }
        let accepted = self.accepted * 100 / self.drawn;
        assert!((5..=95).contains(&accepted), "{self}");
        assert!(self.has_seen_enough(), "{self}");
        assert!(self.busy.eventful * 10 >= self.busy.all, "{self}");
        let in_slices = self.in_slices.unwrap_or(self.accepted);
        assert!(in_slices * 4 >= self.accepted * 3, "{self}");
        assert!(self.raised * 5 >= self.runs, "{self}");
        let degraded = self.degraded.unwrap_or(self.runs);
        assert!(degraded * 10 >= self.runs, "{self}");
        assert!(
            !self.several_cpus || self.cpus * 2 > self.accepted * 3,
            "{self}"
        );
        let mean = self.tightness_sum / self.tasks.max(1) as f64;
        let tight = self.tightest > 0.99 && mean > self.mean_expected;
        assert!(tight || !self.has_bounds, "{self}");
    }
}

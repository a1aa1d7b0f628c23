//! Who runs when under zero slack, read from inside the jobs: the measurement of Huang, Gill and Lu (2014),
//! section 5.4, on the two tasks of their Table I.
//!
//! As there, a job is a loop that reads the clock and compares each reading with the one before. A step
//! beyond a threshold means that another thread had the CPU. Steps in which neither the other task nor the
//! enforcement thread did anything are *gaps*: no thread of the run ran. The paper finds one of about 3 us every
//! 1000 us, the period of its kernel's tick.
//!
//! Both tasks run their normal execution times, 4 of 10 ms and 2 of 5 ms: 80 % of the CPU, so that RT
//! throttling does not interfere although their overload times add up to more than there is. What a loop
//! executes is the sum of its steps below the threshold; gaps come on top of that.

mod analysis;

pub use analysis::{
    Followed, Gap, Gaps, Run, Slice, at_the_tick, gaps_between, runs_by_hyperperiod,
};

use std::sync::{Arc, Mutex, PoisonError};
use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Fact, Guard, Level, LevelSet, Service, Task,
    TaskConfiguration, Wcet,
};
use vestal_linux::{
    Cancelled, Config, CpuSpec, Executive, JobContext, Monitor, Processor, Recording, RunError,
    TaskSpec,
};
use vestal_sys::clock::tick_nanos;
use vestal_trace::{Record, What};

/// A longer step between two readings is another thread's. The paper has 700 cycles at 3.3 GHz, 212 ns;
/// where a hypervisor shares the processor, readings of the clock alone are that far apart now and then,
/// up to some 700 ns, and no interrupt is over within a microsecond.
pub const THRESHOLD_NANOS: u64 = 1_000;

/// How many uninterrupted intervals of execution are kept for each task.
const SLICES_MAX: usize = 1 << 16;

/// One of the two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedTask {
    /// Its name.
    pub name: &'static str,
    /// The task with its priority and its zero-slack instant.
    pub configuration: TaskConfiguration,
    /// What each of its jobs executes.
    pub execution: Service,
}

/// What a run showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlackTrace {
    /// The CPU of the run.
    pub cpu: usize,
    /// How long it took.
    pub duration: Duration,
    /// The period of the kernel's tick, 1/HZ.
    pub tick: Duration,
    /// The typical step from one reading of the clock to the next, in nanoseconds.
    pub step_nanos: u64,
    /// The uninterrupted intervals of both tasks, in the order of time.
    pub slices: Vec<Slice>,
    /// The intervals in which no thread of the run ran.
    pub gaps: Vec<Gap>,
    /// Intervals that found no room.
    pub lost: u64,
}

impl SlackTrace {
    /// How many ticks are due while the tasks have the CPU, gaps included.
    #[must_use]
    pub fn ticks_due(&self) -> u64 {
        let executed: u64 = self
            .slices
            .iter()
            .map(|slice| slice.end_nanos.saturating_sub(slice.start_nanos))
            .sum();
        let gaps: u64 = self.gaps.iter().map(|gap| gap.length_nanos).sum();
        let tick = self.tick.as_nanos();
        executed.saturating_add(gaps).checked_div(tick).unwrap_or(0)
    }
}

/// Table I: a task of low criticality and high priority, and one of high criticality and low priority
/// with Z = 6 ms.
#[must_use]
pub fn table_one() -> Option<[TracedTask; 2]> {
    let task = |criticality, period, wcet: &[u64]| {
        let wcet: Vec<Service> = wcet.iter().copied().map(Service::from_millis).collect();
        let period = Duration::from_millis(period);
        Task::new(criticality, period, period, Wcet::new(&wcet).ok()?).ok()
    };
    let traced = |name, task, priority, zero_slack, execution| TracedTask {
        name,
        configuration: TaskConfiguration {
            zero_slack,
            ..TaskConfiguration::new(task, priority)
        },
        execution: Service::from_millis(execution),
    };
    let low = task(Level(0), 5, &[3])?;
    let high = task(Level(1), 10, &[4, 6])?;
    Some([
        traced("low", low, 2, None, 2),
        traced("high", high, 1, Some(Duration::from_millis(6)), 4),
    ])
}

/// What the jobs of one task noted down.
#[derive(Debug, Default)]
struct Notes {
    slices: Vec<Slice>,
    lost: u64,
    /// Steps below the threshold, and their sum.
    steps: u64,
    stepped_nanos: u64,
}

impl Notes {
    fn push(&mut self, slice: Slice) {
        // Nothing is allocated while the run goes on.
        if self.slices.len() < self.slices.capacity() {
            self.slices.push(slice);
        } else {
            self.lost += 1;
        }
    }
}

/// Runs the two tasks under `enforcement` for `span` and says who ran when.
///
/// Under [`Enforcement::Static`] no job is suspended: the order is that of the priorities alone.
///
/// # Errors
/// [`RunError`], as of [`Executive::run`].
pub fn measure(
    tasks: &[TracedTask],
    enforcement: Enforcement,
    span: Duration,
    cpu: Option<usize>,
) -> Result<SlackTrace, RunError> {
    let levels = LevelSet::new(2).ok_or_else(|| RunError::Unsupported("two levels".to_owned()))?;
    let mut config = Config::new();
    config.calibrate = false;
    config.monitor = Monitor::Perf;
    let ours = Arc::new(Mutex::new(Vec::new()));
    let reported = Arc::clone(&ours);
    let recording = Recording::new(move |_| {
        Ok(Box::new(move |records: &[Record]| {
            let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
            let seen = records.iter().filter(|record| shows_us(&record.what));
            reported.extend(seen.map(|record| record.at.as_nanos()));
        }))
    });
    let decider = CpuSpec::native(move |tasks, granularity| {
        Guard::new(&Configuration {
            tasks,
            levels,
            enforcement,
            exhaustion: Exhaustion::Background,
            granularity,
            wake_granularity: Duration::ZERO,
        })
    });
    let executive = Executive::new(config).recorded(recording);
    let mut executive = executive.cpu(decider.on(cpu.map(Processor)));
    let mut notes = Vec::new();
    for (index, traced) in tasks.iter().enumerate() {
        let kept = Arc::new(Mutex::new(Notes {
            slices: Vec::with_capacity(SLICES_MAX),
            ..Notes::default()
        }));
        notes.push(Arc::clone(&kept));
        let spec = TaskSpec {
            name: traced.name.to_owned(),
            configuration: traced.configuration,
            offset: Duration::ZERO,
            demand_max: Some(traced.execution),
        };
        let execution = traced.execution.as_nanos();
        executive = executive.task(spec, move |job| {
            // No other thread wants it while the run goes on.
            let mut notes = kept.lock().unwrap_or_else(PoisonError::into_inner);
            read_the_clock(job, index, execution, &mut notes)
        });
    }
    let report = executive.run(span)?;
    let mut ours = std::mem::take(&mut *ours.lock().unwrap_or_else(PoisonError::into_inner));
    ours.sort_unstable();
    let (mut slices, mut lost, mut steps, mut stepped) = (Vec::new(), 0, 0_u64, 0_u64);
    for kept in notes {
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        slices.extend_from_slice(&kept.slices);
        lost += kept.lost;
        steps += kept.steps;
        stepped += kept.stepped_nanos;
    }
    slices.sort_unstable_by_key(|slice: &Slice| slice.start_nanos);
    Ok(SlackTrace {
        cpu: report.cpus[0].processor.0,
        duration: report.duration,
        tick: Duration::from_nanos(tick_nanos()),
        step_nanos: stepped.checked_div(steps).unwrap_or(0),
        gaps: gaps_between(&slices, &ours),
        slices,
        lost: lost + report.recorded.map_or(0, |recorded| recorded.lost),
    })
}

/// Whether a record was written by a thread of the run on the CPU of the run, at its instant: releases are
/// computed, and gaps are not caused by the run.
fn shows_us(what: &What) -> bool {
    !matches!(
        what,
        What::Observed(Fact::Released { .. }) | What::Gap { .. } | What::Lost { .. }
    )
}

/// The loop of a job.
fn read_the_clock(
    job: &mut JobContext<'_>,
    task: usize,
    execution: u64,
    notes: &mut Notes,
) -> Result<(), Cancelled> {
    let mut executed = 0_u64;
    let mut last = job.now().as_nanos();
    let mut start_nanos = last;
    while executed < execution {
        let now = job.now().as_nanos();
        let step = now.saturating_sub(last);
        if step <= THRESHOLD_NANOS {
            executed += step;
            notes.steps += 1;
        } else {
            notes.push(Slice {
                task,
                start_nanos,
                end_nanos: last,
            });
            start_nanos = now;
            // Whoever loses its priority was interrupted.
            job.checkpoint()?;
        }
        last = now;
    }
    notes.stepped_nanos += executed;
    notes.push(Slice {
        task,
        start_nanos,
        end_nanos: last,
    });
    Ok(())
}

//! Jobs that are complete when they are reported to a decision (C2): judged once, by the mode in which that
//! decision begins, by the engine and by the guard alike.

use vestal_core::*;
use vestal_testkit::Random;

const CPU: CpuId = CpuId(0);

fn task(criticality: u8, wcet: &[u64], degraded: Option<u64>, priority: u32) -> TaskConfiguration {
    let mut task = vestal_testkit::short::task(criticality, 1_000, wcet);
    task.degraded = degraded.map(Service::from_nanos);
    TaskConfiguration::new(task, priority)
}

fn adaptive(tasks: &[TaskConfiguration], granularity: u64) -> Configuration<'_> {
    Configuration {
        tasks,
        levels: LevelSet::new(4).unwrap(),
        enforcement: Enforcement::Adaptive,
        exhaustion: Exhaustion::Background,
        granularity: Service::from_nanos(granularity),
        wake_granularity: Duration::ZERO,
    }
}

fn first_job(task: usize) -> JobId {
    JobId {
        task: TaskId(task as u16),
        sequence: 0,
    }
}

/// What is reported of one job: it ran for so long, and is complete or had to stop.
#[derive(Clone, Copy, Debug)]
struct Ran {
    task: usize,
    amount: u64,
    completes: bool,
}

fn report(scheduler: &mut dyn Scheduler, at: u64, runs: &[Ran]) {
    let cpu = CPU;
    for one in runs {
        let job = first_job(one.task);
        let amount = Service::from_nanos(one.amount);
        let end = if one.completes {
            Fact::Completed { cpu, job }
        } else {
            let why = StopReason::Preempted;
            Fact::Stopped { cpu, job, why }
        };
        for fact in [
            Fact::Started { cpu, job },
            Fact::Charged { cpu, job, amount },
            end,
        ] {
            scheduler.apply(Instant::from_nanos(at), fact).unwrap();
        }
    }
}

/// A job of each task at 0.
fn release(scheduler: &mut dyn Scheduler, tasks: usize) {
    for task in 0..tasks {
        let job = first_job(task);
        scheduler
            .apply(Instant::EPOCH, Fact::Released { job })
            .unwrap();
    }
    scheduler.decide(Instant::EPOCH).unwrap();
}

/// Who overran the limit of which mode, as reported since the last call.
fn overruns(scheduler: &mut dyn Scheduler) -> Vec<(usize, u8)> {
    std::iter::from_fn(|| scheduler.take_notice())
        .filter_map(|notice| {
            let Event::Overrun { job, level, .. } = notice.what else {
                return None;
            };
            Some((job.task.index(), level.0))
        })
        .collect()
}

const fn ran(task: usize, amount: u64, completes: bool) -> Ran {
    Ran {
        task,
        amount,
        completes,
    }
}

#[test]
fn a_guard_judges_no_job_again_that_was_complete_at_an_earlier_decision() {
    let tasks = [task(0, &[5], Some(3), 2), task(1, &[4, 9], None, 1)];
    let mut guard = Guard::new(&adaptive(&tasks, 0)).unwrap();
    release(&mut guard, 2);
    report(&mut guard, 5, &[ran(0, 5, true)]);
    guard.decide(Instant::from_nanos(5)).unwrap();
    assert_eq!(overruns(&mut guard), [], "5 of 5 is no overrun");
    report(&mut guard, 9, &[ran(1, 4, false)]);
    assert_eq!(guard.decide(Instant::from_nanos(9)).unwrap().mode, Level(1));
    assert_eq!(
        overruns(&mut guard),
        [(1, 0)],
        "the degraded budget of 3 holds for jobs to come"
    );
    let late = guard.apply(
        Instant::from_nanos(9),
        Fact::Charged {
            cpu: CPU,
            job: first_job(0),
            amount: Service::from_nanos(1),
        },
    );
    assert_eq!(
        late,
        Err(ContractViolation::ChargedWhileNotRunning(first_job(0)))
    );
}

/// Both schedulers, both numberings: the job that stays within what it had, and the one that does not.
fn one_of_two_overran(innocent: TaskConfiguration, amount: u64, granularity: u64) {
    for (hi, lo) in [(0, 1), (1, 0)] {
        let mut tasks = [innocent; 2];
        tasks[hi] = task(1, &[4, 9], None, 1);
        let configuration = adaptive(&tasks, granularity);
        let mut engine = Uniprocessor::new(&configuration).unwrap();
        let mut guard = Guard::new(&configuration).unwrap();
        let both: [&mut dyn Scheduler; 2] = [&mut engine, &mut guard];
        for scheduler in both {
            release(scheduler, 2);
            report(scheduler, 12, &[ran(lo, amount, true), ran(hi, 7, true)]);
            scheduler.decide(Instant::from_nanos(12)).unwrap();
            assert_eq!(overruns(scheduler), [(hi, 0)], "{hi}");
        }
    }
}

#[test]
fn a_job_within_its_budget_has_not_overrun_if_the_same_decision_raises_the_mode() {
    one_of_two_overran(task(0, &[5], Some(3), 2), 5, 0);
}

#[test]
fn a_job_within_the_granularity_has_not_overrun_if_the_same_decision_raises_the_mode() {
    one_of_two_overran(task(0, &[5], None, 2), 6, 1);
}

/// How a job stands in the twin.
#[derive(Clone, Copy, PartialEq)]
enum Stand {
    Pending,
    Over,
    Background,
}

/// The twin: looks at every job in every mode, by the rules as they are written in C2 and C3.
struct Twin<'a> {
    configuration: Configuration<'a>,
    stands: Vec<Stand>,
    executed: Vec<u64>,
    mode: u8,
}

/// What the twin says of a decision.
#[derive(Debug, PartialEq)]
struct Reported {
    /// Of completed jobs, in task order, and then of the others.
    overruns: Vec<(usize, u8)>,
    completed: usize,
    mode: u8,
    idle: bool,
}

impl<'a> Twin<'a> {
    fn new(configuration: Configuration<'a>) -> Self {
        let count = configuration.tasks.len();
        Self {
            configuration,
            stands: vec![Stand::Pending; count],
            executed: vec![0; count],
            mode: 0,
        }
    }

    /// What a job of a task may execute in a mode: nothing if the task is not admitted there.
    fn limit(&self, task: usize, mode: u8) -> u64 {
        let model = &self.configuration.tasks[task].task;
        if model.criticality.0 >= mode {
            model.wcet.at(Level(mode)).as_nanos()
        } else {
            model.degraded.map_or(0, Service::as_nanos)
        }
    }

    fn criticality(&self, task: usize) -> u8 {
        self.configuration.tasks[task].task.criticality.0
    }

    fn decide(&mut self, runs: &[Ran]) -> Reported {
        let granularity = self.configuration.granularity.as_nanos();
        let began_in = self.mode;
        let mut done = vec![false; self.stands.len()];
        for one in runs {
            self.executed[one.task] += one.amount;
            done[one.task] = one.completes;
        }
        let mut overruns = Vec::new();
        for (task, _) in done.iter().enumerate().filter(|(_, done)| **done) {
            let judged = self.stands[task] == Stand::Pending;
            self.stands[task] = Stand::Over;
            for mode in began_in..=began_in.max(self.criticality(task)) {
                if !judged || self.executed[task] <= self.limit(task, mode) + granularity {
                    break;
                }
                overruns.push((task, mode));
                let raises = mode < self.criticality(task);
                self.mode = self.mode.max(mode + u8::from(raises));
            }
        }
        let completed = overruns.len();
        self.drop_below_mode();
        // In task order; again from the first, as a rise may leave a degraded task with too little.
        while (0..done.len()).any(|task| self.is_beyond(task)) {
            for task in 0..done.len() {
                while self.is_beyond(task) {
                    overruns.push((task, self.mode));
                    if self.mode < self.criticality(task) {
                        self.mode += 1;
                        self.drop_below_mode();
                    } else {
                        self.stands[task] = Stand::Background;
                    }
                }
            }
        }
        let mode = self.mode;
        let idle = !self.stands.contains(&Stand::Pending);
        if idle {
            self.mode = 0;
        }
        Reported {
            overruns,
            completed,
            mode,
            idle,
        }
    }

    /// Whether a pending job has used its limit up.
    fn is_beyond(&self, task: usize) -> bool {
        let granularity = self.configuration.granularity.as_nanos();
        let left = self
            .limit(task, self.mode)
            .saturating_sub(self.executed[task]);
        self.stands[task] == Stand::Pending && (left == 0 || left < granularity)
    }

    fn drop_below_mode(&mut self) {
        for task in 0..self.stands.len() {
            let model = &self.configuration.tasks[task].task;
            if model.criticality.0 < self.mode && model.degraded.is_none() {
                self.stands[task] = Stand::Over;
            }
        }
    }
}

fn random_task(random: &mut Random, priority: u32) -> TaskConfiguration {
    let criticality = random.below(4) as u8;
    // More than any granularity drawn: a limit below it is used up before the job has run.
    let mut value = 3 + random.below(4);
    let mut wcet = Vec::new();
    for _ in 0..=criticality {
        wcet.push(value);
        value += random.below(4);
    }
    let degraded = 3 + random.below(wcet[usize::from(criticality)] - 2);
    let degrades = random.below(2) == 0;
    task(criticality, &wcet, degrades.then_some(degraded), priority)
}

/// What is reported before the next decision: of some jobs that may still run, each at most once.
fn random_runs(random: &mut Random, twin: &Twin<'_>) -> Vec<Ran> {
    (0..twin.stands.len())
        .filter_map(|task| {
            let reported = twin.stands[task] != Stand::Over && random.below(4) > 0;
            reported.then(|| ran(task, 1 + random.below(10), random.below(3) > 0))
        })
        .collect()
}

/// What was reported of completed jobs, sorted, and the mode.
type OfCompleted = (Vec<(usize, u8)>, u8);

/// Runs engine, guard and twin through `rounds`; panics where they differ.
fn run(seed: u64, configuration: &Configuration<'_>, rounds: &[Vec<Ran>]) -> Vec<OfCompleted> {
    let mut engine = Uniprocessor::new(configuration).unwrap();
    let mut guard = Guard::new(configuration).unwrap();
    let mut twin = Twin::new(*configuration);
    let count = configuration.tasks.len();
    release(&mut engine, count);
    release(&mut guard, count);
    let mut outcomes = Vec::new();
    for (round, runs) in rounds.iter().enumerate() {
        let at = Instant::from_nanos(100 * (round as u64 + 1));
        let reported = twin.decide(runs);
        report(&mut engine, at.as_nanos(), runs);
        report(&mut guard, at.as_nanos(), runs);
        engine.decide(at).unwrap();
        assert!(engine.check_invariants());
        guard.decide(at).unwrap();
        assert_eq!(guard.mode().0, reported.mode, "seed {seed}");
        if reported.idle {
            guard.apply(at, Fact::Idle { cpu: CPU }).unwrap();
            guard.decide(at).unwrap();
        }
        assert_eq!(engine.mode().0, twin.mode, "seed {seed}");
        assert_eq!(overruns(&mut engine), reported.overruns, "seed {seed}");
        assert_eq!(overruns(&mut guard), reported.overruns, "seed {seed}");
        let completed = reported.overruns[..reported.completed].to_vec();
        outcomes.push((completed, reported.mode));
    }
    outcomes
}

#[test]
fn engine_and_guard_tell_what_a_twin_tells_whatever_the_numbers_of_the_tasks() {
    let (mut of_completed, mut several, mut degraded) = (0, 0, 0);
    for seed in 0..20_000 {
        let random = &mut Random::new(seed);
        let count = 2 + random.below(4) as usize;
        let tasks: Vec<_> = (0..count as u32)
            .map(|priority| random_task(random, priority))
            .collect();
        let configuration = adaptive(&tasks, random.below(3));
        let mut twin = Twin::new(configuration);
        let rounds: Vec<_> = (0..3)
            .map(|_| {
                let runs = random_runs(random, &twin);
                twin.decide(&runs);
                runs
            })
            .collect();
        let outcomes = run(seed, &configuration, &rounds);
        for (completed, mode) in &outcomes {
            of_completed += completed.len();
            several += usize::from(completed.len() > 1);
            degraded += usize::from(*mode > 0 && tasks.iter().any(|e| e.task.degraded.is_some()));
        }
        // The same with the numbers reversed.
        let reversed: Vec<_> = tasks.iter().rev().copied().collect();
        let configuration = Configuration {
            tasks: &reversed,
            ..configuration
        };
        let other = |task: usize| count - 1 - task;
        let rename = |one: &Ran| Ran {
            task: other(one.task),
            ..*one
        };
        let renamed: Vec<Vec<_>> = rounds
            .iter()
            .map(|runs| runs.iter().map(rename).collect())
            .collect();
        let back = run(seed, &configuration, &renamed)
            .into_iter()
            .map(|(completed, mode)| {
                let mut completed: Vec<_> = completed
                    .into_iter()
                    .map(|(task, level)| (other(task), level))
                    .collect();
                completed.sort_unstable();
                (completed, mode)
            });
        assert!(back.eq(outcomes), "seed {seed}");
    }
    assert!(of_completed > 10_000 && several > 1_000 && degraded > 1_000);
}

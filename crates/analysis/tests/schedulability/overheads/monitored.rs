//! In which activation a heartbeat finds an overrun, in exact time: the first that ends after it, which above all tasks comes
//! within T_M, and scheduled among them is the second at the latest of those from the period of the overrun on, within
//! 2 T_M (Sigrist et al., RTAS 2015, section IV-A and Fig. 1).

use crate::common::{Random, task};
use vestal_core::{Level, Task};

/// How a heartbeat is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Above all tasks.
    Above,
    /// Among them by its deadline, which is its period. A task goes first where both are equally urgent.
    Among,
    /// Below all of them.
    Below,
}

/// A monitor that looks at all clocks once in each activation.
#[derive(Clone, Copy, Debug)]
struct Beat {
    place: Place,
    /// T_M and C_M.
    period: u64,
    cost: u64,
    /// In each of so many activations it looks; 1: in all.
    looks_once_in: u64,
}

struct Job {
    task: usize,
    deadline: u64,
    executed: u64,
    demand: u64,
    /// When it had used up its C at the lowest level, and was not complete.
    overran: Option<u64>,
    /// Activations that have ended since.
    passed: u64,
}

/// The present activation of the monitor.
struct Activation {
    number: u64,
    release: u64,
    executed: u64,
    /// After so much it looks.
    looks_at: u64,
}

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    /// By the first activation that ended after the overrun, by the second, by later ones.
    after_overrun: [u64; 3],
    /// By the activation of the period in which it was, of the next one, of later ones.
    from_period: [u64; 3],
    longest: u64,
    /// The monitor was not done when its next period began.
    is_late: bool,
}

struct Cpu<'a> {
    tasks: &'a [Task],
    beat: Beat,
    jobs: Vec<Job>,
    activation: Option<Activation>,
    found: Found,
}

impl Cpu<'_> {
    fn limit(&self, job: &Job) -> u64 {
        self.tasks[job.task].wcet.at(Level::LOWEST).as_nanos()
    }

    /// One tick from `now` on.
    fn execute(&mut self, now: u64) {
        let jobs = self.jobs.iter().enumerate();
        let first = jobs.min_by_key(|(_, job)| (job.deadline, job.task));
        let first = first.map(|(position, job)| (position, job.deadline));
        let is_monitor_first = match (&self.activation, first) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(activation), Some((_, deadline))) => match self.beat.place {
                Place::Above => true,
                Place::Among => activation.release + self.beat.period < deadline,
                Place::Below => false,
            },
        };
        if is_monitor_first {
            self.monitor(now);
        } else if let Some((position, _)) = first {
            self.work(position, now);
        }
    }

    fn work(&mut self, position: usize, now: u64) {
        let limit = self.limit(&self.jobs[position]);
        let job = &mut self.jobs[position];
        job.executed += 1;
        if job.executed == job.demand {
            self.jobs.remove(position);
        } else if job.executed == limit {
            job.overran = Some(now + 1);
        }
    }

    fn monitor(&mut self, now: u64) {
        let Some(mut activation) = self.activation.take() else {
            return;
        };
        let looks = activation.number.is_multiple_of(self.beat.looks_once_in);
        if looks && activation.executed == activation.looks_at {
            self.look(now, activation.release);
        }
        activation.executed += 1;
        if activation.executed < self.beat.cost {
            self.activation = Some(activation);
            return;
        }
        for job in self.jobs.iter_mut().filter(|job| job.overran.is_some()) {
            job.passed += 1;
        }
    }

    /// All jobs that have overrun are found, and end.
    fn look(&mut self, now: u64, release: u64) {
        let (found, period) = (&mut self.found, self.beat.period);
        self.jobs.retain(|job| {
            if let Some(overran) = job.overran {
                let periods = release.saturating_sub(overran).div_ceil(period);
                found.after_overrun[job.passed.min(2) as usize] += 1;
                found.from_period[periods.min(2) as usize] += 1;
                found.longest = found.longest.max(now - overran);
            }
            job.overran.is_none()
        });
    }
}

/// A random legal run of `length` ticks.
fn run(tasks: &[Task], beat: Beat, (length, random): (u64, &mut Random)) -> Found {
    let mut next: Vec<u64> = tasks.iter().map(|_| random.between(0, 9)).collect();
    let phase = random.between(0, beat.period - 1);
    let mut cpu = Cpu {
        tasks,
        beat,
        jobs: Vec::new(),
        activation: None,
        found: Found::default(),
    };
    for now in 0..length {
        for (index, task) in tasks.iter().enumerate() {
            if next[index] != now {
                continue;
            }
            next[index] = now + task.period.as_nanos() + random.between(0, 2);
            let overruns = random.once_in(3);
            let level = if overruns {
                task.criticality
            } else {
                Level::LOWEST
            };
            cpu.jobs.push(Job {
                task: index,
                deadline: now + task.deadline.as_nanos(),
                executed: 0,
                demand: task.wcet.at(level).as_nanos(),
                overran: None,
                passed: 0,
            });
        }
        if now % beat.period == phase {
            cpu.found.is_late |= cpu.activation.is_some();
            cpu.activation = Some(Activation {
                number: now / beat.period,
                release: now,
                executed: 0,
                looks_at: random.between(0, beat.cost - 1),
            });
        }
        cpu.execute(now);
    }
    cpu.found
}

/// Tasks that overrun, and a monitor, whose demands fit the CPU also then: by deadlines none is late.
fn drawn(random: &mut Random) -> (Vec<Task>, u64, u64) {
    loop {
        let tasks: Vec<Task> = (0..random.between(1, 3))
            .map(|_| {
                let period = random.between(6, 60);
                let low = random.between(1, period / 2);
                task(
                    1,
                    period,
                    period,
                    &[low, low + random.between(1, period / 2)],
                )
            })
            .collect();
        let (period, cost) = (random.between(5, 30), random.between(1, 3));
        let parts = |execution: u64, period: u64| (execution * 1_000_000).div_ceil(period);
        let of = |task: &Task| parts(task.own_wcet().as_nanos(), task.period.as_nanos());
        if tasks.iter().map(of).sum::<u64>() + parts(cost, period) <= 1_000_000 {
            return (tasks, period, cost);
        }
    }
}

/// What 3000 monitored runs found, in all; and how many times a detection took longer than so many periods, at most.
fn found(place: Place, looks_once_in: u64, periods: u64) -> (Found, u64) {
    let mut random = Random::new(5);
    let (mut all, mut too_late) = (Found::default(), 0);
    for _ in 0..3_000 {
        let (tasks, period, cost) = drawn(&mut random);
        let beat = Beat {
            place,
            period,
            cost,
            looks_once_in,
        };
        let found = run(&tasks, beat, (600, &mut random));
        for (sums, counts) in [
            (&mut all.after_overrun, found.after_overrun),
            (&mut all.from_period, found.from_period),
        ] {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        all.longest = all.longest.max(found.longest);
        all.is_late |= found.is_late;
        too_late += u64::from(found.longest > periods * period);
    }
    (all, too_late)
}

#[test]
fn above_all_tasks_a_heartbeat_finds_an_overrun_the_first_time_and_within_its_period() {
    let (found, too_late) = found(Place::Above, 1, 1);
    let [first, second, later] = found.after_overrun;
    assert!(first > 4_000 && second == 0 && later == 0, "{found:?}");
    assert!(!found.is_late && too_late == 0, "{found:?} {too_late}");
}

/// Also there the first activation that ends after the overrun finds it: what runs while an activation is preempted is more
/// urgent, and complete before that ends. But it may belong to the next period, and come at its end.
#[test]
fn among_the_tasks_the_activation_of_that_period_or_the_second_one_finds_it_within_two_periods() {
    let (found, too_late) = found(Place::Among, 1, 2);
    let [first, second, later] = found.after_overrun;
    assert!(first > 4_000 && second == 0 && later == 0, "{found:?}");
    let [same, next, later] = found.from_period;
    assert!(same > 100 && next > 100 && later == 0, "{found:?}");
    assert!(!found.is_late && too_late == 0, "{found:?} {too_late}");
}

/// One period is not enough there: that is why the lemma has two.
#[test]
fn refuted_within_one_period_among_the_tasks() {
    let (found, too_late) = found(Place::Among, 1, 1);
    assert!(too_late > 0, "{found:?}");
}

#[test]
fn refuted_where_it_looks_seldom_or_comes_last() {
    let (seldom, too_late) = found(Place::Among, 4, 2);
    let is_found = seldom.after_overrun[1] > 0 && seldom.from_period[2] > 0;
    assert!(is_found && too_late > 0, "{seldom:?}");
    let (above, _) = found(Place::Above, 4, 1);
    assert!(above.after_overrun[1] > 0, "{above:?}");
    // It gets the CPU when all jobs are complete.
    let (last, _) = found(Place::Below, 1, 2);
    assert!(last.is_late && last.after_overrun == [0; 3], "{last:?}");
}

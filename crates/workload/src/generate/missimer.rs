//! Missimer, Missimer and West: Mixed-Criticality Scheduling with I/O, Table I.
//!
//! 15 main tasks, each in a sporadic server of its own, and 5 PIBS for I/O. UUniFast shares out U
//! without the I/O utilisation over the main tasks, and the I/O utilisation over the PIBS. Periods
//! are log-uniform in 1..100 (milliseconds here, drawn in nanoseconds). HI with probability 0.5, and then
//! C(HI) = CF C(LO); LO servers have no capacity in mode HI. Every PIBS serves one server of its own
//! level, drawn among those; if there is none, any.
//!
//! A set draws the utilisations of the main tasks, for each of them its period and its level, then the
//! utilisations of the PIBS, and for each of them its level and whom it serves.

use super::parameter::{Given, Parameter, ParameterError, recipe};
use super::periods::Periods;
use super::set::{nanos_of, task, task_set};
use super::{DrawError, Random, utilization::uunifast};
use crate::generate::parameter::scaled_floor;
use crate::model::{LocalScheduler, PerLevel, ServerKind, ServerRule, ServerSpec, TaskSet};
use crate::number::Ratio;
use crate::source::Place;
use vestal_core::{Level, Service, Task};

recipe! { Missimer, "Missimer et al., Table I: sporadic servers and PIBS";
    tasks: usize = "15", "number of main tasks", tasks();
    io_tasks: usize = "5", "number of PIBS", count(0, super::parameter::DRAWN_TASKS_MAX);
    utilization: Ratio = "0.5", "sum of C(LO)/T, I/O included", positive_ratio(1);
    io_utilization: Ratio = "0.05", "the part of it that is I/O", ratio(0, 1);
    criticality_factor: Ratio = "2", "C(HI)/C(LO) of HI tasks", ratio(1, 1000);
    share_high: Ratio = "0.5", "probability that a task is of level HI", ratio(0, 1);
}

const MS_NANOS: u64 = 1_000_000;
/// Utilisations of PIBS are written exactly, in billionths.
const BILLION: u64 = 1_000_000_000;

impl Missimer {
    /// The next set.
    ///
    /// # Errors
    /// None.
    pub fn draw(&self, random: &mut Random) -> Result<TaskSet, DrawError> {
        let io = if self.io_tasks == 0 {
            0.0
        } else {
            self.io_utilization.approximate()
        };
        let main = (self.utilization.approximate() - io).max(0.0);
        let periods = Periods::LogUniform {
            least: MS_NANOS,
            most: 100 * MS_NANOS,
            step: 1,
        };
        let tasks: Vec<Task> = uunifast(self.tasks, main, random)
            .into_iter()
            .map(|share| {
                let period = periods.draw(random);
                self.task(period, share, random)
            })
            .collect();
        let name = format!(
            "missimer, U = {}, CF = {}",
            self.utilization, self.criticality_factor
        );
        let mut set = task_set(name, 2, &tasks);
        for (at, task) in tasks.iter().enumerate() {
            set.servers.push(sporadic(at, task));
        }
        for (number, share) in (1..).zip(uunifast(self.io_tasks, io, random)) {
            let server = self.pibs(number, share, &tasks, random);
            set.servers.push(server);
        }
        Ok(set)
    }

    fn is_high(&self, random: &mut Random) -> bool {
        random.unit() < self.share_high.approximate()
    }

    fn task(&self, period: u64, share: f64, random: &mut Random) -> Task {
        let low = nanos_of(period, share).max(1);
        let high = scaled_floor(low, self.criticality_factor).min(period);
        let levels = if self.is_high(random) { 2 } else { 1 };
        task(period, period, &[low, high][..levels])
    }

    fn pibs(&self, number: usize, share: f64, tasks: &[Task], random: &mut Random) -> ServerSpec {
        let low = nanos_of(BILLION, share).max(1);
        let high = scaled_floor(low, self.criticality_factor).min(BILLION);
        let is_high = self.is_high(random);
        let criticality = Level(u8::from(is_high));
        let same: Vec<usize> = (0..tasks.len())
            .filter(|&at| tasks[at].criticality == criticality)
            .collect();
        let among = if same.is_empty() {
            (0..tasks.len()).collect()
        } else {
            same
        };
        let chosen = usize::try_from(random.below(among.len() as u64)).unwrap_or(0);
        let utilization = vec![
            Ratio::new(low, BILLION),
            if is_high {
                Ratio::new(high, BILLION)
            } else {
                None
            },
        ];
        let kind = ServerKind::Pibs {
            utilization,
            serves: among.get(chosen).map(|&at| vec![at]).unwrap_or_default(),
        };
        server(format!("io{number}"), kind, criticality, Vec::new())
    }
}

/// The server of a main task. A capacity above the period could not be written down; a task that
/// needs it is refused by every analysis all the same.
fn sporadic(at: usize, task: &Task) -> ServerSpec {
    let capacity: PerLevel<Service> = (0..2)
        .map(Level)
        .map(|level| (level <= task.criticality).then(|| task.wcet.at(level)))
        .collect();
    let kind = ServerKind::Periodic {
        rule: ServerRule::Sporadic {
            replenishments: None,
            full: None,
        },
        period: task.period,
        capacity,
    };
    server(format!("s{}", at + 1), kind, task.criticality, vec![at])
}

fn server(name: String, kind: ServerKind, criticality: Level, tasks: Vec<usize>) -> ServerSpec {
    ServerSpec {
        name,
        kind,
        criticality,
        priority: None,
        cpu: None,
        degraded: vec![None; 2],
        scheduler: LocalScheduler::FixedPriority,
        tasks,
        place: Place::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_carry_the_tasks_and_pibs_serve_their_own_level() {
        let mut random = Random::new(4);
        let recipe = Missimer::new().unwrap();
        for _ in 0..100 {
            let set = recipe.draw(&mut random).unwrap();
            assert_eq!((set.tasks.len(), set.servers.len()), (15, 20));
            let mut used = 0.0;
            for (at, server) in set.servers.iter().enumerate() {
                match &server.kind {
                    ServerKind::Periodic {
                        period, capacity, ..
                    } => {
                        assert_eq!(server.tasks, [at]);
                        assert!((1..=100).contains(&(period.as_nanos() / MS_NANOS)));
                        used += capacity[0].unwrap().as_nanos() as f64 / period.as_nanos() as f64;
                        assert_eq!(capacity[1].is_some(), server.criticality == Level(1));
                    }
                    ServerKind::Pibs {
                        utilization,
                        serves,
                    } => {
                        used += utilization[0].unwrap().approximate();
                        let [served] = serves[..] else {
                            panic!("one server")
                        };
                        assert_eq!(set.servers[served].criticality, server.criticality);
                    }
                }
            }
            assert!((used - 0.5).abs() < 1e-4, "{used}");
            assert_eq!(TaskSet::parse("x.toml", &set.to_toml()).unwrap(), set);
        }
    }
}

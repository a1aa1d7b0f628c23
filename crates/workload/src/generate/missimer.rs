//! Missimer, Missimer and West: Mixed-Criticality Scheduling with I/O, Table I.
//!
//! 15 main tasks, each in a sporadic server of its own, and 5 PIBS for I/O. UUniFast shares out U
//! without the I/O utilisation over the main tasks, and the I/O utilisation over the PIBS. Periods
//! are log-uniform in 1..100 (milliseconds here, drawn in nanoseconds). HI with probability 0.5, and then
//! C(HI) = CF C(LO); LO servers have no capacity in mode HI. Every PIBS serves one server of its own
//! level, drawn among those; if there is none, any.
//!
//! The paper's evaluation assigns each PIBS to one server, and its analysis is that of one of which that is not known: `map`
//! has both. Its systems of sporadic servers only have one for each PIBS, "of equivalent utilization and period": `io`. Whether
//! the utilisation of a set has the I/O in it is open: `total`. Devices with events are ours (`events`); the paper's
//! simulations have none. None of the four changes what is drawn. Systems of one mode have `levels` = 1: each level that is drawn
//! is the lower one then. Table I has a PIBS for each three main tasks, which `io_tasks` = `third` keeps for other numbers.
//!
//! A set draws the utilisations of the main tasks, for each of them its period and its level, then the
//! utilisations of the PIBS, and for each of them its level and whom it serves.

use super::parameter::{DRAWN_TASKS_MAX, Given, Parameter, ParameterError, recipe};
use super::periods::Periods;
use super::set::{nanos_of, spec, task, task_set};
use super::{DrawError, Random, utilization::uunifast};
use crate::generate::parameter::scaled_floor;
use crate::model::{
    DeviceArrival, DeviceSpec, LocalScheduler, PerLevel, ServerKind, ServerPlaces, ServerRule,
    ServerSpec, TaskSet,
};
use crate::number::Ratio;
use crate::source::Place;
use vestal_core::{Duration, Level, Service, Task};

recipe! { Missimer, "Missimer et al., Table I: sporadic servers and PIBS";
    tasks: usize = "15", "number of main tasks", tasks();
    io_tasks: IoTasks = "5", "number of PIBS, or third: one for each three main tasks, rounded down", io_tasks();
    utilization: Ratio = "0.5", "sum of C(LO)/T, I/O included", positive_ratio(1);
    io_utilization: Ratio = "0.05", "the part of it that is I/O", ratio(0, 1);
    criticality_factor: Ratio = "2", "C(HI)/C(LO) of HI tasks", ratio(1, 1000);
    share_high: Ratio = "0.5", "probability that a task is of level HI", ratio(0, 1);
    levels: usize = "2", "number of levels; 1: all is of the lower one", count(1, 2);
    io: Io = "pibs", "pibs, or sporadic: a sporadic server with the period of whom it serves in place of each PIBS", io();
    map: Map = "known", "known: each PIBS names the server that it serves; any: it may serve any", map();
    events: Events = "none", "devices of the I/O: none, sporadic (a whole budget a period), or burst (that in four)", events();
    total: Total = "all", "all: the I/O is in utilization; main: it comes on top", total();
}

/// How many PIBS there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoTasks {
    /// So many.
    Count(usize),
    /// One for each three main tasks, rounded down.
    Third,
}

impl IoTasks {
    const fn beside(self, tasks: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Third => tasks / 3,
        }
    }
}

/// In what bottom halves run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    /// In PIBS.
    Pibs,
    /// Each in a sporadic server: with a task, if there are no devices.
    Sporadic,
}

/// Whom a PIBS serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// The one server that was drawn.
    Known,
    /// Any: the file does not say whom.
    Any,
}

/// What happens at the devices, of which each server for I/O has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Events {
    /// There are none.
    None,
    /// At most one a period of whom it serves, which takes the whole budget C(LO).
    Sporadic,
    /// Four at once every period, a quarter of the budget each.
    Burst,
}

/// What the utilisation of a set is the sum of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// Main tasks and I/O.
    All,
    /// Main tasks.
    Main,
}

impl Given<'_> {
    fn io_tasks(&self) -> Result<IoTasks, ParameterError> {
        match self.text {
            "third" => Ok(IoTasks::Third),
            _ => self
                .count(0, DRAWN_TASKS_MAX)
                .map(IoTasks::Count)
                .map_err(|_| {
                    self.wrong(format!(
                        "a whole number from 0 to {DRAWN_TASKS_MAX}, or third"
                    ))
                }),
        }
    }

    fn io(&self) -> Result<Io, ParameterError> {
        match self.text {
            "pibs" => Ok(Io::Pibs),
            "sporadic" => Ok(Io::Sporadic),
            _ => Err(self.wrong("pibs or sporadic")),
        }
    }

    fn map(&self) -> Result<Map, ParameterError> {
        match self.text {
            "known" => Ok(Map::Known),
            "any" => Ok(Map::Any),
            _ => Err(self.wrong("known or any")),
        }
    }

    fn events(&self) -> Result<Events, ParameterError> {
        match self.text {
            "none" => Ok(Events::None),
            "sporadic" => Ok(Events::Sporadic),
            "burst" => Ok(Events::Burst),
            _ => Err(self.wrong("none, sporadic or burst")),
        }
    }

    fn total(&self) -> Result<Total, ParameterError> {
        match self.text {
            "all" => Ok(Total::All),
            "main" => Ok(Total::Main),
            _ => Err(self.wrong("all or main")),
        }
    }
}

/// What was drawn of one PIBS.
struct Drawn {
    number: usize,
    criticality: Level,
    /// At LO and at HI.
    utilization: [Option<Ratio>; 2],
    /// The main task whose server it serves.
    serves: usize,
}

const MS_NANOS: u64 = 1_000_000;
/// Utilisations of PIBS are written exactly, in billionths.
const BILLION: u64 = 1_000_000_000;
/// The least of them: 1 ns in the shortest period, below which a PIBS has no budget to run with.
const LEAST: u64 = BILLION / MS_NANOS;

impl Missimer {
    /// The next set.
    ///
    /// # Errors
    /// None.
    pub fn draw(&self, random: &mut Random) -> Result<TaskSet, DrawError> {
        let io_tasks = self.io_tasks.beside(self.tasks);
        let io = if io_tasks == 0 {
            0.0
        } else {
            self.io_utilization.approximate()
        };
        let main = match self.total {
            Total::All => (self.utilization.approximate() - io).max(0.0),
            Total::Main => self.utilization.approximate(),
        };
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
        let mut set = task_set(name, self.levels, &tasks);
        for (at, task) in tasks.iter().enumerate() {
            set.servers.push(sporadic(at, task, self.levels));
        }
        for (number, share) in (1..).zip(uunifast(io_tasks, io, random)) {
            let drawn = self.draw_io(number, share, &tasks, random);
            self.add_io(&drawn, &tasks, &mut set);
        }
        Ok(set)
    }

    fn is_high(&self, random: &mut Random) -> bool {
        let is_drawn = random.unit() < self.share_high.approximate();
        is_drawn && self.levels > 1
    }

    fn task(&self, period: u64, share: f64, random: &mut Random) -> Task {
        let low = nanos_of(period, share).max(1);
        let high = scaled_floor(low, self.criticality_factor).min(period);
        let levels = if self.is_high(random) { 2 } else { 1 };
        task(period, period, &[low, high][..levels])
    }

    fn draw_io(&self, number: usize, share: f64, tasks: &[Task], random: &mut Random) -> Drawn {
        let low = nanos_of(BILLION, share).max(LEAST);
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
        let high = if is_high {
            Ratio::new(high, BILLION)
        } else {
            None
        };
        Drawn {
            number,
            criticality,
            utilization: [Ratio::new(low, BILLION), high],
            serves: among.get(chosen).copied().unwrap_or(0),
        }
    }

    /// The server of an I/O task, and what runs there.
    fn add_io(&self, drawn: &Drawn, tasks: &[Task], set: &mut TaskSet) {
        let Some(period) = tasks.get(drawn.serves).map(|task| task.period.as_nanos()) else {
            return;
        };
        let budget = |share: Ratio| scaled_floor(period, share).max(1);
        let budgets = drawn.utilization.into_iter().flatten().map(budget);
        let budgets: Vec<u64> = budgets.collect();
        let (name, place) = (format!("io{}", drawn.number), set.servers.len());
        let new = match self.io {
            Io::Pibs => {
                let kind = ServerKind::Pibs {
                    utilization: drawn.utilization[..self.levels.min(2)].to_vec(),
                    serves: match self.map {
                        Map::Known => vec![drawn.serves],
                        Map::Any => Vec::new(),
                    },
                };
                server(name, kind, (drawn.criticality, self.levels), Vec::new())
            }
            Io::Sporadic => {
                let own = task(period, period, &budgets);
                let mut new = sporadic(set.tasks.len(), &own, self.levels);
                new.name.clone_from(&name);
                match self.events {
                    Events::None => set.tasks.push(spec(name, &own, self.levels)),
                    Events::Sporadic | Events::Burst => new.tasks.clear(),
                }
                new
            }
        };
        set.servers.push(new);
        let low = budgets.first().copied().unwrap_or(1);
        let period = Duration::from_nanos(period);
        let (arrival, cost) = match self.events {
            Events::None => return,
            Events::Sporadic => (DeviceArrival::Sporadic { period }, low),
            Events::Burst => (DeviceArrival::Burst { period, burst: 4 }, (low / 4).max(1)),
        };
        set.devices.push(DeviceSpec {
            name: format!("d{}", drawn.number),
            server: place,
            cost: Service::from_nanos(cost),
            arrival,
            real: None,
            place: Place::default(),
        });
    }
}

/// The server of a main task. A capacity above the period could not be written down; a task that
/// needs it is refused by every analysis all the same.
fn sporadic(at: usize, task: &Task, levels: usize) -> ServerSpec {
    let capacity: PerLevel<Service> = (0..)
        .map(Level)
        .take(levels)
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
    let level = (task.criticality, levels);
    server(format!("s{}", at + 1), kind, level, vec![at])
}

/// Of this level, of so many.
fn server(
    name: String,
    kind: ServerKind,
    (criticality, levels): (Level, usize),
    tasks: Vec<usize>,
) -> ServerSpec {
    ServerSpec {
        name,
        kind,
        criticality,
        priority: None,
        cpu: None,
        degraded: vec![None; levels],
        scheduler: LocalScheduler::FixedPriority,
        tasks,
        place: Place::default(),
        places: ServerPlaces::default(),
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

    fn sets(parameters: &[(&str, &str)]) -> Vec<TaskSet> {
        let mut recipe = Missimer::new().unwrap();
        for (name, value) in parameters {
            recipe.set(name, value).unwrap();
        }
        (0..50)
            .map(|seed| recipe.draw(&mut Random::new(seed)).unwrap())
            .collect()
    }

    /// Whom a PIBS serves.
    fn serves(server: &ServerSpec) -> &[usize] {
        match &server.kind {
            ServerKind::Pibs { serves, .. } => serves,
            ServerKind::Periodic { .. } => panic!("a PIBS"),
        }
    }

    #[test]
    fn readings_change_the_set_and_not_what_is_drawn() {
        let known = sets(&[]);
        for (parameters, total) in [
            (vec![("map", "any")], 0.5),
            (vec![("io", "sporadic")], 0.5),
            (vec![("io", "sporadic"), ("events", "burst")], 0.5),
            (vec![("events", "sporadic")], 0.5),
            (vec![("total", "main"), ("utilization", "0.45")], 0.5),
        ] {
            let other = sets(&parameters);
            assert_ne!(known, other, "{parameters:?}");
            assert_eq!(other, sets(&parameters), "{parameters:?}");
            for (known, other) in known.iter().zip(&other) {
                assert_eq!(known.servers.len(), other.servers.len());
                assert!(known.tasks[..] == other.tasks[..15], "{parameters:?}");
                let mut used = 0.0;
                for (known, other) in known.servers.iter().zip(&other.servers) {
                    assert_eq!(known.criticality, other.criticality);
                    used += match &other.kind {
                        ServerKind::Pibs { utilization, .. } => {
                            utilization[0].unwrap().approximate()
                        }
                        ServerKind::Periodic {
                            period, capacity, ..
                        } => capacity[0].unwrap().as_nanos() as f64 / period.as_nanos() as f64,
                    };
                }
                assert!((used - total).abs() < 1e-4, "{parameters:?}: {used}");
                let text = other.to_toml();
                assert_eq!(&TaskSet::parse("x.toml", &text).unwrap(), other);
            }
        }
    }

    #[test]
    fn in_place_of_each_pibs_stands_a_server_with_the_period_of_whom_it_serves() {
        let [known, plain, devices] = [
            sets(&[]),
            sets(&[("io", "sporadic")]),
            sets(&[("io", "sporadic"), ("events", "sporadic")]),
        ];
        for ((known, plain), devices) in known.iter().zip(&plain).zip(&devices) {
            assert_eq!((plain.tasks.len(), devices.tasks.len()), (20, 15));
            for at in 15..20 {
                let [served] = serves(&known.servers[at])[..] else {
                    panic!("one server")
                };
                let ServerKind::Pibs { utilization, .. } = &known.servers[at].kind else {
                    panic!("a PIBS")
                };
                let ServerKind::Periodic {
                    period, capacity, ..
                } = &plain.servers[at].kind
                else {
                    panic!("a sporadic server")
                };
                assert_eq!(*period, known.tasks[served].period);
                let low = scaled_floor(period.as_nanos(), utilization[0].unwrap());
                assert_eq!(capacity[0].unwrap().as_nanos(), low.max(1));
                let is_high = plain.servers[at].criticality == Level(1);
                assert_eq!(capacity[1].is_some(), is_high);
                assert_eq!(plain.servers[at].tasks, [at]);
                assert_eq!(plain.tasks[at].wcet[0], capacity[0]);
                assert!(devices.servers[at].tasks.is_empty());
                let device = &devices.devices[at - 15];
                assert_eq!((device.server, Some(device.cost)), (at, capacity[0]));
            }
        }
    }

    #[test]
    fn one_level_has_the_execution_times_of_the_lower_one() {
        for (one, two) in sets(&[("levels", "1")]).iter().zip(&sets(&[])) {
            assert_eq!(one.levels.len(), 1);
            assert_eq!((one.tasks.len(), one.servers.len()), (15, 20));
            for (one, two) in one.tasks.iter().zip(&two.tasks) {
                assert_eq!((one.criticality, one.period), (Level(0), two.period));
                assert_eq!(one.wcet, two.wcet[..1]);
            }
            for (one, two) in one.servers[15..].iter().zip(&two.servers[15..]) {
                let (
                    ServerKind::Pibs { utilization, .. },
                    ServerKind::Pibs {
                        utilization: both, ..
                    },
                ) = (&one.kind, &two.kind)
                else {
                    panic!("PIBS")
                };
                assert_eq!(utilization[..], both[..1]);
                assert_eq!(serves(one).len(), 1);
            }
            assert_eq!(&TaskSet::parse("x.toml", &one.to_toml()).unwrap(), one);
        }
        for set in sets(&[("levels", "1"), ("io", "sporadic")]) {
            assert_eq!((set.tasks.len(), set.servers.len()), (20, 20));
            assert_eq!(TaskSet::parse("x.toml", &set.to_toml()).unwrap(), set);
        }
    }

    /// Five of a millionth of the CPU together: without a least share no policy would run them, and a sweep would end.
    #[test]
    fn a_pibs_has_at_least_a_nanosecond_in_any_period() {
        for set in sets(&[("io_utilization", "0.000001"), ("map", "any")]) {
            let mut periods = set.tasks.iter().map(|task| task.period.as_nanos());
            let least = periods.by_ref().min().unwrap();
            for server in &set.servers[15..] {
                let ServerKind::Pibs { utilization, .. } = &server.kind else {
                    panic!("a PIBS")
                };
                assert!(scaled_floor(least, utilization[0].unwrap()) >= 1);
            }
        }
    }

    #[test]
    fn the_number_of_pibs_follows_that_of_tasks_where_it_is_asked_to() {
        assert_eq!(sets(&[("io_tasks", "third")]), sets(&[]));
        for (tasks, servers) in [("14", 18), ("75", 100)] {
            let drawn = sets(&[("tasks", tasks), ("io_tasks", "third")]);
            assert!(drawn.iter().all(|set| set.servers.len() == servers));
        }
        let mut recipe = Missimer::new().unwrap();
        assert!(recipe.set("io_tasks", "half").is_err());
        assert!(recipe.set("levels", "3").is_err());
    }

    #[test]
    fn a_pibs_that_may_serve_any_names_none_and_bursts_come_in_quarters() {
        for set in sets(&[("map", "any"), ("events", "burst")]) {
            for (server, device) in set.servers[15..].iter().zip(&set.devices) {
                assert!(serves(server).is_empty());
                let ServerKind::Pibs { utilization, .. } = &server.kind else {
                    panic!("a PIBS")
                };
                let DeviceArrival::Burst { period, burst: 4 } = device.arrival else {
                    panic!("four at once")
                };
                let low = scaled_floor(period.as_nanos(), utilization[0].unwrap());
                assert_eq!(device.cost.as_nanos(), (low.max(1) / 4).max(1));
            }
        }
        let mut recipe = Missimer::new().unwrap();
        for name in ["io", "map", "events", "total"] {
            assert!(recipe.set(name, "nothing").is_err());
        }
    }
}

//! A host of whole ticks: it executes what the scheduler picks, and calls it as tasks and interrupts would.

use crate::system::{Arrivals, Log, System, TaskSpec, Waits, wait};
use vestal_hsf::relteq::{Entry, Item};
use vestal_hsf::{
    Change, Features, Hooks, Hsf, LocalOrder, Pick, ServerId, TaskId, TaskState, Tick, nodes,
};
use vestal_testkit::Random;

pub(crate) const SERVERS: usize = 4;
pub(crate) const TASKS: usize = 8;
pub(crate) type Scheduler<F> = Hsf<F, SERVERS, TASKS, { nodes(SERVERS, TASKS) }>;

/// A scheduler that a host can call, and that tests can look into.
pub(crate) trait Target: Hooks {
    fn create(system: &System) -> Self;
    /// Whether it has no job, as far as is known.
    fn waits(&self, task: TaskId) -> bool;
    fn is_delayed(&self, task: TaskId) -> bool;
    fn pending(&self, task: TaskId) -> u32;
    /// The active server.
    fn active(&self) -> Option<usize>;
    /// The stopwatch: a server, or nothing for dummies, how many nodes of the paper's that is, and its time.
    fn stopwatch(&self) -> Vec<(Option<usize>, u64, u64)>;
}

impl<F: Features> Target for Scheduler<F> {
    fn create(system: &System) -> Self {
        let mut hsf = Self::new();
        let create = |spec| hsf.create_server(spec).unwrap();
        let servers: Vec<_> = system.servers.iter().map(create).collect();
        for spec in &system.tasks {
            let server = servers[usize::from(spec.server)];
            let task = hsf.add_task(server, spec.priority, spec.deadline).unwrap();
            if let Arrivals::Periodic { offset, period } = spec.arrivals {
                hsf.make_periodic(task, offset, period).unwrap();
            }
        }
        hsf
    }

    fn waits(&self, task: TaskId) -> bool {
        self.task_state(task) == Some(TaskState::Waits)
    }

    fn is_delayed(&self, task: TaskId) -> bool {
        self.task_state(task) == Some(TaskState::Delayed)
    }

    fn pending(&self, task: TaskId) -> u32 {
        self.pending(task)
    }

    fn active(&self) -> Option<usize> {
        self.current().map(ServerId::index)
    }

    fn stopwatch(&self) -> Vec<(Option<usize>, u64, u64)> {
        let shown = |item: Item<ServerId>| match item.entry {
            Entry::Event(server) => (Some(server.index()), 1, item.time.into()),
            Entry::Dummies { more } => {
                let rest = u64::from(more) * u64::from(F::Tick::MAX);
                (None, u64::from(more) + 1, u64::from(item.time) + rest)
            }
        };
        self.stopwatch().map(shown).collect()
    }
}

/// How the host keeps the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Clock {
    /// It calls at every tick.
    Tick,
    /// It calls when a timer fires that it set to the next event, and before it calls for any other reason.
    Timer,
}

#[derive(Clone, Default)]
struct Progress {
    part: usize,
    done: u64,
    waits: u64,
    wakes_at: Option<u64>,
    next_arrival: u64,
}

pub(crate) struct Host<'a, S> {
    pub(crate) hsf: S,
    system: &'a System,
    clock: Clock,
    pub(crate) now: u64,
    owed: u32,
    pub(crate) pick: Pick,
    tasks: Vec<Progress>,
    random: Random,
    /// Who executed in each tick: a task's digit, an idling server's letter, or a dot.
    pub(crate) row: String,
    pub(crate) log: Log,
    /// What happens outside at an instant is called before the task that executes ends, not after.
    pub(crate) outside_first: bool,
    /// By task, its last delay in its server's own time: when it began, and how long it is.
    pub(crate) virtual_delays: Vec<Option<(u64, u64)>>,
    /// By task, how many of its jobs have ended.
    pub(crate) completed: Vec<u64>,
}

impl<'a, S: Target> Host<'a, S> {
    pub(crate) fn new(system: &'a System, clock: Clock) -> Self {
        Self::with(S::create(system), system, clock)
    }

    pub(crate) fn with(hsf: S, system: &'a System, clock: Clock) -> Self {
        let mut random = Random::new(!system.seed);
        let progress = |spec: &TaskSpec| Progress {
            next_arrival: match spec.arrivals {
                Arrivals::Periodic { .. } => 0,
                Arrivals::Sporadic { gap } => random.below(2 * gap),
            },
            ..Progress::default()
        };
        let tasks = system.tasks.iter().map(progress).collect();
        Self {
            hsf,
            system,
            clock,
            now: 0,
            owed: 0,
            pick: Pick::Idle,
            tasks,
            random,
            row: String::new(),
            log: Log::new(),
            outside_first: false,
            virtual_delays: vec![None; system.tasks.len()],
            completed: vec![0; system.tasks.len()],
        }
    }

    /// The present instant, and the tick that begins with it.
    pub(crate) fn step(&mut self) {
        let mut changed = self.now == 0;
        if self.now > 0 {
            self.owed += 1;
            if self.clock == Clock::Tick || self.owed == self.hsf.next_timer() || self.is_busy() {
                changed |= self.hsf.timer(std::mem::take(&mut self.owed));
            }
        }
        let ends = match self.pick {
            Pick::Task(task) => Some(task.index()).filter(|&task| self.is_through(task)),
            Pick::Idling(_) | Pick::Idle => None,
        };
        let is_last =
            |&task: &usize| self.tasks[task].part + 1 == self.system.tasks[task].parts.len();
        let ends_job = ends.filter(is_last);
        if self.outside_first {
            changed |= self.outside(ends_job);
        }
        changed |= self.end_part(ends);
        if !self.outside_first {
            changed |= self.outside(ends_job);
        }
        if changed {
            self.pick = self.hsf.pick();
        }
        self.row.push(match self.pick {
            Pick::Task(task) => char::from_digit(task.index() as u32, 10).unwrap(),
            Pick::Idling(server) => char::from(b'a' + server.index() as u8),
            Pick::Idle => '.',
        });
        if let Pick::Task(task) = self.pick {
            self.tasks[task.index()].done += 1;
        }
        self.now += 1;
    }

    /// Whether anything but time will call the scheduler at this instant.
    fn is_busy(&self) -> bool {
        let ends = match self.pick {
            Pick::Task(task) => self.is_through(task.index()),
            Pick::Idling(_) | Pick::Idle => false,
        };
        let outside = self
            .tasks
            .iter()
            .zip(&self.system.tasks)
            .any(|(task, spec)| {
                let arrives = matches!(spec.arrivals, Arrivals::Sporadic { .. });
                task.wakes_at == Some(self.now) || (arrives && task.next_arrival == self.now)
            });
        ends || outside
    }

    fn is_through(&self, task: usize) -> bool {
        let progress = &self.tasks[task];
        self.system.tasks[task].parts[progress.part] == progress.done
    }

    /// Who executed may have come to the end of a part, or of its job.
    fn end_part(&mut self, ends: Option<usize>) -> bool {
        let Some(index) = ends else {
            return false;
        };
        let task = TaskId::new(index as u8);
        let spec = &self.system.tasks[index];
        let progress = &mut self.tasks[index];
        progress.done = 0;
        progress.part += 1;
        if progress.part == spec.parts.len() {
            progress.part = 0;
            self.hsf.task(task, Change::EndOfJob).unwrap();
            self.completed[index] += 1;
            return true;
        }
        let ticks = wait(self.system, index, progress.waits);
        progress.waits += 1;
        match spec.waits {
            Waits::Delay => self.hsf.task(task, Change::Delayed(ticks as u32)).unwrap(),
            Waits::Virtual => {
                let change = Change::DelayedVirtual(ticks as u32);
                self.hsf.task(task, change).unwrap();
                self.virtual_delays[index] = Some((self.now, ticks));
            }
            Waits::Block => {
                self.hsf.task(task, Change::Blocked).unwrap();
                if ticks == 0 {
                    self.hsf.task(task, Change::Ready).unwrap();
                } else {
                    progress.wakes_at = Some(self.now + ticks);
                }
            }
        }
        true
    }

    /// Wake-ups and arrivals; the job of `ends` ends at this instant.
    fn outside(&mut self, ends: Option<usize>) -> bool {
        let mut changed = false;
        for (index, spec) in self.system.tasks.iter().enumerate() {
            let task = TaskId::new(index as u8);
            let progress = &mut self.tasks[index];
            if progress.wakes_at == Some(self.now) {
                progress.wakes_at = None;
                self.hsf.task(task, Change::Ready).unwrap();
                changed = true;
            }
            let Arrivals::Sporadic { gap } = spec.arrivals else {
                continue;
            };
            if progress.next_arrival != self.now {
                continue;
            }
            progress.next_arrival = self.now + 1 + self.random.below(2 * gap);
            // Arrivals that wait are counted, not dated, which only matters to deadlines.
            let server = self.system.servers[usize::from(spec.server)];
            let waits = self.hsf.waits(task) || ends == Some(index);
            if waits || server.order == LocalOrder::FixedPriority {
                self.hsf.task(task, Change::Released).unwrap();
                self.log.push((self.now, index));
                changed = true;
            }
        }
        changed
    }
}

//! A host of whole ticks: it executes what the scheduler picks, and calls it as tasks and interrupts would.

use crate::system::{Arrivals, Log, System, Waits, wait};
use vestal_hsf::{Features, Hsf, LocalOrder, Pick, TaskId, TaskState, nodes};
use vestal_testkit::Random;

pub(crate) const SERVERS: usize = 4;
pub(crate) const TASKS: usize = 8;
pub(crate) type Scheduler<F> = Hsf<F, SERVERS, TASKS, { nodes(SERVERS, TASKS) }>;

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

pub(crate) struct Host<'a, F: Features> {
    pub(crate) hsf: Scheduler<F>,
    system: &'a System,
    clock: Clock,
    now: u64,
    owed: u32,
    pick: Pick,
    tasks: Vec<Progress>,
    random: Random,
    /// Who executed in each tick: a task's digit, an idling server's letter, or nobody.
    pub(crate) row: String,
    pub(crate) log: Log,
    /// How often the scheduler was called for the time.
    pub(crate) calls: u64,
}

impl<'a, F: Features> Host<'a, F> {
    pub(crate) fn new(system: &'a System, clock: Clock) -> Self {
        let mut hsf = Scheduler::<F>::new();
        let servers: Vec<_> = system
            .servers
            .iter()
            .map(|spec| hsf.create_server(spec).unwrap())
            .collect();
        let mut random = Random::new(!system.seed);
        let mut tasks = Vec::new();
        for spec in &system.tasks {
            let server = servers[usize::from(spec.server)];
            let task = hsf.add_task(server, spec.priority, spec.deadline).unwrap();
            let mut progress = Progress::default();
            match spec.arrivals {
                Arrivals::Periodic { offset, period } => {
                    hsf.make_periodic(task, offset, period).unwrap();
                }
                Arrivals::Sporadic { gap } => progress.next_arrival = random.below(2 * gap),
            }
            tasks.push(progress);
        }
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
            calls: 0,
        }
    }

    /// The present instant, and the tick that begins with it.
    pub(crate) fn step(&mut self) {
        let mut changed = self.now == 0;
        if self.now > 0 {
            self.owed += 1;
            if self.clock == Clock::Tick || self.owed == self.hsf.next_event() || self.is_busy() {
                self.calls += 1;
                changed |= self.hsf.advance(std::mem::take(&mut self.owed));
            }
        }
        changed |= self.end_part();
        changed |= self.outside();
        if changed {
            self.pick = self.hsf.schedule();
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
    fn end_part(&mut self) -> bool {
        let Pick::Task(task) = self.pick else {
            return false;
        };
        let index = task.index();
        if !self.is_through(index) {
            return false;
        }
        let spec = &self.system.tasks[index];
        let progress = &mut self.tasks[index];
        progress.done = 0;
        progress.part += 1;
        if progress.part == spec.parts.len() {
            progress.part = 0;
            self.hsf.wait_period(task).unwrap();
            return true;
        }
        let ticks = wait(self.system, index, progress.waits);
        progress.waits += 1;
        match spec.waits {
            Waits::Delay => self.hsf.delay(task, ticks as u32).unwrap(),
            Waits::Block => {
                self.hsf.block(task).unwrap();
                progress.wakes_at = Some(self.now + ticks);
            }
        }
        true
    }

    fn outside(&mut self) -> bool {
        let mut changed = false;
        for (index, spec) in self.system.tasks.iter().enumerate() {
            let task = TaskId::new(index as u8);
            let progress = &mut self.tasks[index];
            if progress.wakes_at == Some(self.now) {
                progress.wakes_at = None;
                self.hsf.ready(task).unwrap();
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
            let waits = self.hsf.task_state(task) == Some(TaskState::Waits);
            if waits || server.order == LocalOrder::FixedPriority {
                self.hsf.release(task).unwrap();
                self.log.push((self.now, index));
                changed = true;
            }
        }
        changed
    }
}

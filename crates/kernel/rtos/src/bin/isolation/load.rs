//! The systems of which each call is compared: servers and tasks whose periods all differ, so that events do not come again in the order in which they came;
//! tasks that wait for time, for budget, for semaphores and for others.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use vestal_hsf::{Error, Features, Hooks, Hsf, Kind, LocalOrder, Pick, ServerSpec, TaskId};
use vestal_kernel::{Kernel, Run, TASKS, World, run, task};

pub(crate) const SERVERS: usize = 6;
pub(crate) const TICKS: u32 = 300;
const CAPACITY: u32 = 7;
const DEADLINE: u32 = 100;
/// A semaphore that interrupts give, and one that tasks do.
const OUTSIDE: u8 = 0;
const INSIDE: u8 = 1;

/// Which tasks wait for somebody to have them go on.
static BLOCKED: [AtomicBool; TASKS] = [const { AtomicBool::new(false) }; TASKS];

/// One of the systems.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// All servers of one kind, or one of each after the other.
    kind: Option<Kind>,
    servers: u8,
    /// Of each server.
    tasks: u8,
    order: LocalOrder,
    program: fn(TaskId),
}

const KINDS: [Option<Kind>; 4] = [
    Some(Kind::Deferrable),
    Some(Kind::Polling),
    Some(Kind::Idling),
    None,
];
const SIZES: [(u8, u8); 7] = [(1, 2), (2, 2), (2, 6), (3, 3), (6, 1), (6, 2), (6, 6)];
const ORDERS: [LocalOrder; 2] = [LocalOrder::FixedPriority, LocalOrder::EarliestDeadline];
const PROGRAMS: [fn(TaskId); 2] = [delays, waits];

/// All of them.
pub(crate) fn systems() -> impl Iterator<Item = Load> {
    let kinds = KINDS.into_iter();
    let sizes = kinds.flat_map(|kind| SIZES.into_iter().map(move |size| (kind, size)));
    let orders = sizes.flat_map(|system| ORDERS.into_iter().map(move |order| (system, order)));
    orders.flat_map(|((kind, (servers, tasks)), order)| {
        PROGRAMS.into_iter().map(move |program| Load {
            kind,
            servers,
            tasks,
            order,
            program,
        })
    })
}

/// Works for a tick, waits for some, and ends.
fn delays(task: TaskId) {
    loop {
        task::work(1);
        let ticks = task.index().wrapping_mul(7) % 12;
        task::delay(u32::try_from(ticks).unwrap_or(0));
        task::wait_period();
    }
}

/// The same, for something else each.
fn waits(task: TaskId) {
    loop {
        task::work(1);
        match task.index() % 6 {
            0 => task::delay_virtual(2),
            1 => task::take(OUTSIDE),
            2 => task::give(INSIDE),
            3 => task::take(INSIDE),
            4 => {
                if let Some(blocked) = BLOCKED.get(task.index()) {
                    blocked.store(true, Relaxed);
                }
                task::block();
            }
            _ => task::delay(3),
        }
        task::wait_period();
    }
}

impl Load {
    fn kind(&self, server: u8) -> Kind {
        self.kind.unwrap_or(match server % 3 {
            0 => Kind::Deferrable,
            1 => Kind::Polling,
            _ => Kind::Idling,
        })
    }

    fn period(server: u8) -> u32 {
        40_u32.saturating_sub(u32::from(server).saturating_mul(5))
    }

    /// The period of a server's task by its place; the last one is released by interrupts.
    fn task_period(&self, place: u8) -> Option<u32> {
        let periodic = place.saturating_add(1) < self.tasks;
        periodic.then(|| 60_u32.saturating_sub(u32::from(place).saturating_mul(7)))
    }

    /// Makes the servers and tasks in a system that has none.
    pub(crate) fn build<F: Features, const S: usize, const T: usize, const N: usize>(
        &self,
        hsf: &mut Hsf<F, S, T, N>,
    ) -> Result<(), Error> {
        for priority in 0..self.servers {
            let server = hsf.create_server(&ServerSpec {
                kind: self.kind(priority),
                priority,
                order: self.order,
                period: Self::period(priority),
                capacity: CAPACITY,
            })?;
            for place in 0..self.tasks {
                let task = hsf.add_task(server, place, DEADLINE)?;
                if let Some(period) = self.task_period(place) {
                    hsf.make_periodic(task, priority.into(), period)?;
                }
            }
        }
        Ok(())
    }

    /// Runs it; whether without a fault.
    pub(crate) fn run(&self, hooks: &mut dyn Hooks) -> bool {
        for blocked in &BLOCKED {
            blocked.store(false, Relaxed);
        }
        let all = usize::from(self.servers).saturating_mul(self.tasks.into());
        let programs = [self.program; TASKS];
        let what = Run {
            ticks: TICKS,
            micros: 8000,
            told_when_due: false,
            exact: true,
            programs: programs.get(..all).unwrap_or(&programs),
        };
        let mut world = *self;
        run(hooks, &mut world, &what).is_ok()
    }

    /// How often polling servers are asked for work up to an instant: when each is created, and when its budget comes back.
    pub(crate) fn polls(&self, until: u32) -> u32 {
        (0..self.servers)
            .filter(|&server| self.kind(server) == Kind::Polling)
            .filter_map(|server| until.checked_div(Self::period(server)))
            .fold(0, |sum, again| sum.saturating_add(again.saturating_add(1)))
    }

    /// Replenishments and arrivals up to an instant.
    pub(crate) fn timed_events(&self, until: u32) -> u32 {
        let mut sum = 0_u32;
        for server in 0..self.servers {
            let replenishments = until.checked_div(Self::period(server));
            sum = sum.saturating_add(replenishments.unwrap_or(0));
            let since = until.saturating_sub(server.into());
            for period in (0..self.tasks).filter_map(|place| self.task_period(place)) {
                // The first one at 0 is no event.
                let arrivals = since.checked_div(period).unwrap_or(0);
                sum = sum.saturating_add(arrivals.saturating_add((server > 0).into()));
            }
        }
        sum
    }
}

/// Interrupts: every so often one releases the last task of each server, gives a semaphore, and has somebody go on.
impl World for Load {
    fn ran(&mut self, _: u32, _: Pick) {}

    fn instant(&mut self, now: u32, kernel: &mut Kernel) {
        for server in 0..self.servers {
            let every = 11_u32.saturating_add(u32::from(server).saturating_mul(6));
            if now.is_multiple_of(every) {
                let last = server.saturating_add(1).saturating_mul(self.tasks);
                kernel.release(TaskId::new(last.saturating_sub(1)));
            }
        }
        if now.is_multiple_of(5) {
            kernel.give(OUTSIDE);
        }
        for (number, blocked) in (0..).zip(&BLOCKED) {
            if now.is_multiple_of(3) && blocked.swap(false, Relaxed) {
                kernel.ready(TaskId::new(number));
                break;
            }
        }
    }
}

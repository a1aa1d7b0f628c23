//! Each single call of the scheduler against what [`vestal_kernel::bounds`] says.

use crate::{EVENTS, Observed, SWITCHES};
use core::sync::atomic::Ordering::Relaxed;
use vestal_hsf::{
    Change, Error, Hooks, Hsf, Kind, LocalOrder, Pick, ServerId, ServerSpec, TaskId, nodes,
};
use vestal_kernel::bounds::{Counts, IDLE};
use vestal_kernel::instructions::{Scale, counted};
use vestal_kernel::{Kernel, Run, TASKS, World, console, run, task};

const SERVERS: usize = 6;
const TICKS: u32 = 300;
const CAPACITY: u32 = 7;

type System = Hsf<Observed, SERVERS, TASKS, { nodes(SERVERS, TASKS) }>;

/// One of the kinds of calls: how many, the most that one took, and the fullest, in percent of its bound.
#[derive(Clone, Copy, Default)]
struct Kept {
    number: u32,
    /// Of those without an event and with at most one switch.
    plain: u32,
    most: u32,
    fullest: u32,
    /// Of the fullest: instructions, events, switches, nodes passed.
    full: [u32; 4],
}

impl Kept {
    fn add(&mut self, instructions: u32, counts: &Counts, bound: u64) {
        self.number = self.number.saturating_add(1);
        if counts.events == 0 && counts.switches <= 1 {
            self.plain = self.plain.max(instructions);
        }
        self.most = self.most.max(instructions);
        let percent = u64::from(instructions).saturating_mul(100);
        let percent = percent.div_ceil(bound.max(1));
        let percent = u32::try_from(percent).unwrap_or(u32::MAX);
        if percent > self.fullest {
            self.fullest = percent;
            self.full = [instructions, counts.events, counts.switches, counts.steps];
        }
    }

    fn show(self, name: &str) -> bool {
        console::write(name);
        let numbers = [self.number, self.plain, self.most, self.fullest];
        for number in numbers.into_iter().chain(self.full) {
            console::write(" ");
            console::write_number(number);
        }
        console::write("\n");
        self.number > 0 && self.fullest <= 100
    }
}

/// Kinds of calls.
const NAMES: [&str; 5] = [
    "bound idle",
    "bound tick",
    "bound pick",
    "bound switch",
    "bound call",
];

/// A scheduler of which each call is compared with its bound.
struct Compared {
    hsf: System,
    scale: Scale,
    kept: [Kept; NAMES.len()],
    /// Nodes of a queue at most.
    longest: u32,
    /// Periods of polling servers, and how many of them got their budget since the last pick.
    polling: [u32; SERVERS],
    polled: u32,
}

impl Compared {
    /// `looks`: how often a queue is searched, besides once for each event that comes again.
    fn keep(&mut self, kind: usize, units: u32, (bound, looks): (Counts, u32)) {
        let events = EVENTS.swap(0, Relaxed);
        let searches = events.saturating_add(looks);
        let bound = Counts {
            events,
            steps: searches.saturating_mul(self.longest),
            ..bound
        };
        let most = if kind == 0 { IDLE.into() } else { bound.most() };
        if let Some(kept) = self.kept.get_mut(kind) {
            kept.add(self.scale.instructions(units), &bound, most);
        }
    }
}

impl Hooks for Compared {
    fn timer(&mut self, ticks: u32) -> bool {
        let hooks: &mut dyn Hooks = &mut self.hsf;
        let (units, due) = counted(|| hooks.timer(ticks));
        let ticks = Counts {
            ticks: 1,
            ..Counts::default()
        };
        self.keep(usize::from(due), units, (ticks, 0));
        let now = self.hsf.now();
        let polled = self.polling.iter().filter(|&&period| {
            let since = now.checked_rem(period.into());
            due && since == Some(0)
        });
        self.polled = polled.fold(self.polled, |sum, _| sum.saturating_add(1));
        due
    }

    fn next_timer(&self) -> u32 {
        self.hsf.next_timer()
    }

    fn pick(&mut self) -> Pick {
        SWITCHES.store(0, Relaxed);
        let before = self.hsf.current();
        let hooks: &mut dyn Hooks = &mut self.hsf;
        let (units, pick) = counted(|| hooks.pick());
        // One that is switched out for none is a switch, too.
        let switched_in = SWITCHES.load(Relaxed);
        let leaves = self.hsf.current().is_none() && (before.is_some() || switched_in > 0);
        let switches = switched_in.saturating_add(leaves.into());
        let picks = Counts {
            picks: 1,
            switches: switches.saturating_add(core::mem::take(&mut self.polled)),
            ..Counts::default()
        };
        // Each switch searches the stopwatch, and for the place of a wake-up.
        let looks = picks.switches.saturating_mul(2);
        self.keep(if switches > 0 { 3 } else { 2 }, units, (picks, looks));
        pick
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        let hooks: &mut dyn Hooks = &mut self.hsf;
        let (units, result) = counted(|| hooks.task(task, change));
        let calls = Counts {
            calls: 1,
            ..Counts::default()
        };
        // An arrival may have a wake-up taken out; a delay may move one.
        let looks = match change {
            Change::Released => 1,
            Change::Delayed(_) => 2,
            Change::EndOfJob | Change::Ready | Change::Blocked | Change::DelayedVirtual(_) => 0,
        };
        self.keep(4, units, (calls, looks));
        result
    }
}

/// Interrupts release the last task of each server, every so often.
struct Releases {
    servers: u8,
    tasks: u8,
}

impl World for Releases {
    fn ran(&mut self, _: u32, _: Pick) {}

    fn instant(&mut self, now: u32, kernel: &mut Kernel) {
        for server in 0..self.servers {
            let every = 11_u32.saturating_add(u32::from(server).saturating_mul(6));
            if now.is_multiple_of(every) {
                let last = server.saturating_add(1).saturating_mul(self.tasks);
                kernel.release(TaskId::new(last.saturating_sub(1)));
            }
        }
    }
}

/// Works for a tick, waits for some, and ends.
fn waits(task: TaskId) {
    loop {
        task::work(1);
        let ticks = task.index().wrapping_mul(7) % 12;
        task::delay(u32::try_from(ticks).unwrap_or(0));
        task::wait_period();
    }
}

/// The kind of a server: all the same, or one of each after the other.
fn kind_of(kind: Option<Kind>, server: u8) -> Kind {
    kind.unwrap_or(match server % 3 {
        0 => Kind::Deferrable,
        1 => Kind::Polling,
        _ => Kind::Idling,
    })
}

fn period_of(server: u8) -> u32 {
    40_u32.saturating_sub(u32::from(server).saturating_mul(5))
}

/// Servers and tasks whose periods all differ, so that events do not come again in the order in which they came.
fn mixed(kind: Option<Kind>, (servers, tasks): (u8, u8)) -> Result<System, Error> {
    let mut hsf = System::new();
    for priority in 0..servers {
        hsf.create_server(&ServerSpec {
            kind: kind_of(kind, priority),
            priority,
            order: LocalOrder::FixedPriority,
            period: period_of(priority),
            capacity: CAPACITY,
        })?;
        for place in 0..tasks {
            let task = hsf.add_task(ServerId::new(priority), place, 100)?;
            // The last one is released by interrupts.
            if place.saturating_add(1) < tasks {
                let period = 60_u32.saturating_sub(u32::from(place).saturating_mul(7));
                hsf.make_periodic(task, priority.into(), period)?;
            }
        }
    }
    Ok(hsf)
}

/// Systems of one kind, or of all in one; each call is compared with its bound.
#[inline(never)]
fn compare(
    kind: Option<Kind>,
    size: (u8, u8),
    kept: &mut [Kept; NAMES.len()],
    scale: Scale,
) -> bool {
    let Ok(hsf) = mixed(kind, size) else {
        return false;
    };
    let (servers, tasks) = (u32::from(size.0), u32::from(size.1));
    // Each has a budget when it is created.
    let (mut polling, mut polled) = ([0; SERVERS], 0_u32);
    for (number, entry) in (0..size.0).zip(&mut polling) {
        if kind_of(kind, number) == Kind::Polling {
            *entry = period_of(number);
            polled = polled.saturating_add(1);
        }
    }
    let mut compared = Compared {
        hsf,
        scale,
        kept: *kept,
        // Of the system queue, and of a server's own.
        longest: servers.max(tasks).saturating_mul(2),
        polling,
        polled,
    };
    let all = usize::from(size.0).saturating_mul(size.1.into());
    let programs: [fn(TaskId); TASKS] = [waits; TASKS];
    let what = Run {
        ticks: TICKS,
        micros: 8000,
        told_when_due: false,
        exact: true,
        programs: programs.get(..all).unwrap_or(&programs),
    };
    let mut world = Releases {
        servers: size.0,
        tasks: size.1,
    };
    EVENTS.store(0, Relaxed);
    let ran = run(&mut compared, &mut world, &what).is_ok();
    *kept = compared.kept;
    ran
}

/// For each kind of calls: how many there were, the most that one took without an event and with at most one switch, the most at all, and in percent of its bound the
/// fullest, with its instructions, events, switches and nodes that may have been passed.
pub(crate) fn each_call(scale: Scale) -> bool {
    let mut kept = [Kept::default(); NAMES.len()];
    let kinds = [
        Some(Kind::Deferrable),
        Some(Kind::Polling),
        Some(Kind::Idling),
        None,
    ];
    let mut right = true;
    for kind in kinds {
        for size in [(1, 2), (2, 2), (2, 6), (3, 3), (6, 2), (6, 6)] {
            right &= compare(kind, size, &mut kept, scale);
        }
    }
    for (kept, name) in kept.into_iter().zip(NAMES) {
        right &= kept.show(name);
    }
    right
}

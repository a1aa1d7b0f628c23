//! Counts the instructions of the hooks: so many servers with so many tasks each, by several schedulers. Periods are 100 ticks, jobs
//! take 1 tick, capacities are 7 (section 9 of Holenderski et al. 2010). And those of single calls, by the events that they have to do with. The
//! argument says which table.
#![no_std]
#![no_main]

use core::hint::black_box;
use vestal_hsf::{
    Change, Error, Everything, Features, Hooks, Hsf, Kind, LocalOrder, Pick, ServerId, ServerSpec,
    TaskId, nodes,
};
use vestal_kernel::bounds;
use vestal_kernel::flat::{Alarms, Flat, Queue, Scan};
use vestal_kernel::instructions::{Scale, counted};
use vestal_kernel::{Kernel, Run, TASKS, World, console, run, task, unused_handler_stack};

vestal_kernel::image!(main);

const SERVERS: usize = 6;
/// Servers, and tasks of each, at most.
const MOST: u8 = 6;
const TICKS: u32 = 300;
const PERIOD: u32 = 100;
const CAPACITY: u32 = 7;

type System<F> = Hsf<F, SERVERS, TASKS, { nodes(SERVERS, TASKS) }>;

/// Queues of deferrable servers never rest: the paper's alternative in section 8.3.
#[derive(Debug)]
struct NoWakeUps;

impl Features for NoWakeUps {
    type Tick = u16;
    const WAKE_UPS: bool = false;
}

/// How often, how much at least, in all and at most, in units of the counter.
#[derive(Clone, Copy, Default)]
struct Counts {
    number: u32,
    least: u32,
    sum: u32,
    most: u32,
}

impl Counts {
    fn add(&mut self, units: u32) {
        self.least = match self.number {
            0 => units,
            _ => self.least.min(units),
        };
        self.number = self.number.saturating_add(1);
        self.sum = self.sum.saturating_add(units);
        self.most = self.most.max(units);
    }

    fn show(self, name: &str, scale: Scale) {
        console::write(name);
        console::write(" ");
        console::write_number(self.number);
        let mean = self.sum.checked_div(self.number).unwrap_or(0);
        for units in [self.least, mean, self.most] {
            console::write(" ");
            console::write_number(scale.instructions(units));
        }
    }
}

/// A scheduler whose calls are counted.
struct Counted<'a> {
    hooks: &'a mut dyn Hooks,
    idle: Counts,
    due: Counts,
    pick: Counts,
    change: Counts,
}

impl Hooks for Counted<'_> {
    fn timer(&mut self, ticks: u32) -> bool {
        let (units, due) = counted(|| self.hooks.timer(ticks));
        if due {
            self.due.add(units);
        } else {
            self.idle.add(units);
        }
        due
    }

    fn next_timer(&self) -> u32 {
        self.hooks.next_timer()
    }

    fn pick(&mut self) -> Pick {
        let (units, pick) = counted(|| self.hooks.pick());
        self.pick.add(units);
        pick
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        let (units, result) = counted(|| self.hooks.task(task, change));
        self.change.add(units);
        result
    }
}

struct Nothing;

impl World for Nothing {
    fn ran(&mut self, _: u32, _: Pick) {}
    fn instant(&mut self, _: u32, _: &mut Kernel) {}
}

fn body(_: TaskId) {
    loop {
        task::work(1);
        task::wait_period();
    }
}

fn servers<F: Features>(kind: Kind, servers: u8, tasks: u8) -> Result<System<F>, Error> {
    let mut hsf = System::new();
    for priority in 0..servers {
        let server = hsf.create_server(&ServerSpec {
            kind,
            priority,
            order: LocalOrder::FixedPriority,
            period: PERIOD,
            capacity: CAPACITY,
        })?;
        for priority in 0..tasks {
            let task = hsf.add_task(server, priority, PERIOD)?;
            hsf.make_periodic(task, 0, PERIOD)?;
        }
    }
    Ok(hsf)
}

fn flat<A: Alarms>(tasks: u8) -> Result<Flat<A>, Error> {
    let mut flat = Flat::new();
    for priority in 0..tasks {
        let task = flat.add_task(priority)?;
        flat.make_periodic(task, 0, PERIOD)?;
    }
    Ok(flat)
}

/// One row: a name, how many servers and tasks each; then for idle ticks, ticks at which something is due, picks and changes how
/// often, and the mean and the most instructions.
fn row(
    name: &str,
    (servers, tasks): (u8, u8),
    hooks: Result<&mut dyn Hooks, Error>,
    scale: Scale,
) -> bool {
    let Ok(hooks) = hooks else {
        return false;
    };
    let mut counted = Counted {
        hooks,
        idle: Counts::default(),
        due: Counts::default(),
        pick: Counts::default(),
        change: Counts::default(),
    };
    let all = usize::from(servers).saturating_mul(tasks.into());
    let programs: [fn(TaskId); TASKS] = [body; TASKS];
    let what = Run {
        ticks: TICKS,
        micros: 4000,
        told_when_due: false,
        exact: true,
        programs: programs.get(..all).unwrap_or(&programs),
    };
    let ran = run(&mut counted, &mut Nothing, &what).is_ok();
    console::write(name);
    for number in [servers, tasks] {
        console::write(" ");
        console::write_number(number.into());
    }
    for (counts, name) in [
        (counted.idle, " idle"),
        (counted.due, " due"),
        (counted.pick, " pick"),
        (counted.change, " change"),
    ] {
        counts.show(name, scale);
    }
    console::write("\n");
    ran
}

fn as_hooks<H: Hooks>(hooks: &mut Result<H, Error>) -> Result<&mut dyn Hooks, Error> {
    match hooks {
        Ok(hooks) => Ok(hooks),
        Err(error) => Err(*error),
    }
}

/// All schedulers for one size; two kinds of servers only where one of both numbers is the largest.
#[inline(never)]
fn rows(size: (u8, u8), scale: Scale) -> bool {
    let mut right = true;
    let is_large = size.0 == MOST || size.1 == MOST;
    for (name, kind, is_wanted) in [
        ("polling", Kind::Polling, is_large),
        ("idling", Kind::Idling, is_large),
        ("deferrable", Kind::Deferrable, true),
    ] {
        if !is_wanted {
            continue;
        }
        let mut hsf = servers::<Everything<u16>>(kind, size.0, size.1);
        right &= row(name, size, as_hooks(&mut hsf), scale);
    }
    let mut hsf = servers::<NoWakeUps>(Kind::Deferrable, size.0, size.1);
    right &= row("no-wake-ups", size, as_hooks(&mut hsf), scale);
    let all = size.0.saturating_mul(size.1);
    let mut scan = flat::<Scan>(all);
    right &= row("scan", size, as_hooks(&mut scan), scale);
    let mut queue = flat::<Queue>(all);
    right & row("queue", size, as_hooks(&mut queue), scale)
}

/// Numbers of events that single calls have to do with.
const EVENTS: [u8; 7] = [0, 1, 2, 4, 8, 16, 32];
/// Longer than single calls are looked at.
const LONG: u32 = 10_000;

/// A system in which a server has so many tasks, the rest is another's, which is more urgent. Both always have budget.
fn large(tasks: u8) -> Result<System<Everything<u16>>, Error> {
    let mut hsf = System::new();
    for priority in 0..2 {
        hsf.create_server(&ServerSpec {
            kind: Kind::Deferrable,
            priority,
            order: LocalOrder::FixedPriority,
            period: LONG,
            capacity: LONG,
        })?;
    }
    for (server, tasks) in [(0, 1), (1, tasks)] {
        for priority in 0..tasks {
            hsf.add_task(ServerId::new(server), priority, LONG)?;
        }
    }
    Ok(hsf)
}

/// The task of the urgent server, and those of the other.
const URGENT: TaskId = TaskId::new(0);
fn others(tasks: u8) -> impl Iterator<Item = TaskId> {
    (1..=tasks).map(TaskId::new)
}

// Each has its own frame, so that the stack of the smallest board holds whoever is asked.

/// What a tick takes at which nothing is due, with so many tasks that are inactive and have arrivals before them.
#[inline(never)]
fn idle_tick(events: u8) -> Result<u32, Error> {
    let mut hsf = large(events)?;
    for task in others(events) {
        hsf.make_periodic(task, 50, PERIOD)?;
    }
    hsf.task(URGENT, Change::Released)?;
    hsf.pick();
    let hooks: &mut dyn Hooks = black_box(&mut hsf);
    let (units, due) = counted(|| hooks.timer(1));
    if due {
        Err(Error::WrongState)
    } else {
        Ok(units)
    }
}

/// What a tick takes at which so many jobs of the active server's tasks arrive.
#[inline(never)]
fn burst(events: u8) -> Result<u32, Error> {
    // One more, which executes.
    let running = TaskId::new(events.saturating_add(1));
    let mut hsf = large(events.saturating_add(1))?;
    hsf.task(running, Change::Released)?;
    hsf.pick();
    for task in others(events) {
        hsf.make_periodic(task, 50, PERIOD)?;
    }
    let due_before = hsf.timer(49);
    let hooks: &mut dyn Hooks = black_box(&mut hsf);
    let (units, due) = counted(|| hooks.timer(1));
    if due_before || due != (events > 0) {
        Err(Error::WrongState)
    } else {
        Ok(units)
    }
}

/// What a delay takes that ends after so many others of its server.
#[inline(never)]
fn insert(events: u8) -> Result<u32, Error> {
    let all = events.saturating_add(1);
    let mut hsf = large(all)?;
    for task in others(all) {
        hsf.task(task, Change::Released)?;
    }
    hsf.pick();
    for task in others(events) {
        hsf.task(task, Change::Delayed(50))?;
    }
    let hooks: &mut dyn Hooks = black_box(&mut hsf);
    let (units, result) = counted(|| hooks.task(TaskId::new(all), Change::Delayed(50)));
    result.map(|()| units)
}

/// What a pick takes that switches from one server to another of which so many jobs have arrived meanwhile, besides one that it had.
#[inline(never)]
fn switch_in(events: u8) -> Result<u32, Error> {
    let waiting = TaskId::new(events.saturating_add(1));
    let mut hsf = large(events.saturating_add(1))?;
    for task in others(events) {
        hsf.make_periodic(task, 50, PERIOD)?;
    }
    for task in [URGENT, waiting] {
        hsf.task(task, Change::Released)?;
    }
    hsf.pick();
    let due = hsf.timer(60);
    hsf.task(URGENT, Change::EndOfJob)?;
    let hooks: &mut dyn Hooks = black_box(&mut hsf);
    let (units, pick) = counted(|| hooks.pick());
    let expected = TaskId::new(1);
    if due || pick != Pick::Task(expected) {
        Err(Error::WrongState)
    } else {
        Ok(units)
    }
}

/// A call, by the events that it has to do with.
type Single = fn(u8) -> Result<u32, Error>;

/// Single calls, each by all numbers of events.
#[inline(never)]
fn parts(scale: Scale) -> bool {
    let calls: [(&str, Single); 4] = [
        ("idle", idle_tick),
        ("burst", burst),
        ("insert", insert),
        ("switch-in", switch_in),
    ];
    let mut right = true;
    for (name, call) in calls {
        for events in EVENTS {
            let Ok(units) = call(events) else {
                right = false;
                continue;
            };
            console::write("part ");
            console::write(name);
            for number in [events.into(), scale.instructions(units)] {
                console::write(" ");
                console::write_number(number);
            }
            console::write("\n");
        }
    }
    right
}

/// What is promised of calls.
fn constants() {
    for (name, most) in bounds::ALL {
        console::write("constant ");
        console::write(name);
        console::write(" ");
        console::write_number(most);
        console::write("\n");
    }
}

/// So many bytes has a system of six servers with six tasks each.
fn ram() {
    console::write("ram ");
    let bytes = size_of::<System<Everything<u16>>>();
    console::write_number(u32::try_from(bytes).unwrap_or(u32::MAX));
    console::write("\n");
}

fn main() -> u32 {
    let Some(scale) = Scale::measured() else {
        return 2;
    };
    let mut arguments = [0; 32];
    let right = match console::arguments(&mut arguments) {
        b"grid" => (1..=MOST).all(|servers| (1..=MOST).all(|tasks| rows((servers, tasks), scale))),
        b"parts" => {
            ram();
            constants();
            parts(scale)
        }
        _ => false,
    };
    // With 36 tasks, whatever the scheduler, handlers use far less than their stack.
    let (unused, all) = unused_handler_stack();
    u32::from(!right || all.saturating_sub(unused) > all / 4)
}

//! Counts the instructions of the hooks: so many servers with so many tasks each, by several schedulers. Periods are 100 ticks, jobs
//! take 1 tick, capacities are 7 (section 9 of Holenderski et al. 2010). The argument says which table.
#![no_std]
#![no_main]

use vestal_hsf::{
    Change, Error, Everything, Features, Hooks, Hsf, Kind, LocalOrder, Pick, ServerSpec, TaskId,
    nodes,
};
use vestal_kernel::flat::{Alarms, Flat, Queue, Scan};
use vestal_kernel::{Kernel, Run, TASKS, World, console, counter, run, task, unused_handler_stack};

vestal_kernel::image!(main);

const SERVERS: usize = 6;
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

/// How often, how much in all, and how much at most, in units of the counter.
#[derive(Clone, Copy, Default)]
struct Counts {
    number: u32,
    sum: u32,
    most: u32,
}

impl Counts {
    fn add(&mut self, units: u32) {
        self.number = self.number.saturating_add(1);
        self.sum = self.sum.saturating_add(units);
        self.most = self.most.max(units);
    }

    fn show(self, name: &str, scale: Scale) {
        console::write(name);
        console::write(" ");
        console::write_number(self.number);
        for units in [self.sum.checked_div(self.number).unwrap_or(0), self.most] {
            console::write(" ");
            console::write_number(scale.instructions(units));
        }
    }
}

/// What the counter counts.
#[derive(Clone, Copy)]
struct Scale {
    /// For nothing between two readings.
    nothing: u32,
    /// For 1000 instructions more.
    thousand: u32,
}

impl Scale {
    fn measured() -> Self {
        let between = |what: fn()| {
            let before = counter::read();
            what();
            counter::between(before, counter::read())
        };
        let nothing = between(|| {});
        Self {
            nothing,
            thousand: between(counter::thousand_instructions).saturating_sub(nothing),
        }
    }

    fn instructions(self, units: u32) -> u32 {
        let units = u64::from(units.saturating_sub(self.nothing));
        let all = units
            .saturating_mul(1000)
            .saturating_add(u64::from(self.thousand) / 2);
        let instructions = all.checked_div(self.thousand.into());
        instructions
            .and_then(|all| u32::try_from(all).ok())
            .unwrap_or(0)
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

impl Counted<'_> {
    fn between(before: u32) -> u32 {
        counter::between(before, counter::read())
    }
}

impl Hooks for Counted<'_> {
    fn timer(&mut self, ticks: u32) -> bool {
        let before = counter::read();
        let due = self.hooks.timer(ticks);
        let units = Self::between(before);
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
        let before = counter::read();
        let pick = self.hooks.pick();
        self.pick.add(Self::between(before));
        pick
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        let before = counter::read();
        let result = self.hooks.task(task, change);
        self.change.add(Self::between(before));
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

/// All schedulers for one size.
fn rows(size: (u8, u8), scale: Scale) -> bool {
    let mut right = true;
    for (name, kind) in [
        ("polling", Kind::Polling),
        ("idling", Kind::Idling),
        ("deferrable", Kind::Deferrable),
    ] {
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

fn main() -> u32 {
    let scale = Scale::measured();
    if scale.thousand == 0 {
        return 2;
    }
    let mut arguments = [0; 32];
    let right = match console::arguments(&mut arguments) {
        // Servers with six tasks each, and six servers with tasks each.
        b"servers" => (1..=6).all(|servers| rows((servers, 6), scale)),
        b"tasks" => (1..=6).all(|tasks| rows((6, tasks), scale)),
        _ => false,
    };
    // With 36 tasks, whatever the scheduler, handlers use far less than their stack.
    let (unused, all) = unused_handler_stack();
    u32::from(!right || all.saturating_sub(unused) > all / 4)
}

//! What a server takes from a less urgent one: a task that never yields, or interrupts in 1, 10 and 50 of 100 ticks, each of which
//! releases a short job. Printed is how many instructions the victim lost against a run without them, what it may lose, and how many picks, events
//! of the timer and interrupts there were.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use vestal_hsf::{
    Change, Error, Everything, Hooks, Hsf, Kind, LocalOrder, Pick, ServerId, ServerSpec, TaskId,
    nodes,
};
use vestal_kernel::{Kernel, Run, World, console, counter, run, task};

vestal_kernel::image!(main);

const TICKS: u32 = 400;
const MICROS: u32 = 4000;
/// QEMU executes an instruction in 128 ns (`-icount shift=7`).
const PER_TICK: u32 = MICROS * 1000 / 128;
const PERIOD: u32 = 20;
const CAPACITY: u32 = 5;
/// So much for each pick, each tick with an event and each interrupt, in instructions, each with the kernel's part of it, the calls of the tasks that lead to it and the job
/// that an interrupt releases. Only their sum is compared: in these runs there is no tick with an event that is not in the run of the victim alone, too, but for a server's depletions.
const PICK: u32 = 400;
const DUE: u32 = 400;
const INTERRUPT: u32 = 400;

/// No share of ticks.
const AT_FIRST: u32 = u32::MAX;

type System = Hsf<Everything<u16>, 2, 2, { nodes(2, 2) }>;

static ROUNDS: AtomicU32 = AtomicU32::new(0);

/// The victim.
fn computes(_: TaskId) {
    loop {
        counter::thousand_instructions();
        ROUNDS.store(ROUNDS.load(Relaxed).saturating_add(1), Relaxed);
    }
}

fn never_yields(_: TaskId) {
    loop {
        core::hint::black_box(());
    }
}

fn is_short(_: TaskId) {
    loop {
        task::wait_period();
    }
}

/// Counts what it is called for.
struct Counted {
    hsf: System,
    picks: u32,
    due: u32,
}

impl Hooks for Counted {
    fn timer(&mut self, ticks: u32) -> bool {
        let due = self.hsf.timer(ticks);
        self.due = self.due.saturating_add(u32::from(due));
        due
    }

    fn next_timer(&self) -> u32 {
        self.hsf.next_timer()
    }

    fn pick(&mut self) -> Pick {
        self.picks = self.picks.saturating_add(1);
        self.hsf.pick()
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        self.hsf.task(task, change)
    }
}

/// In so many of 100 ticks an interrupt; with [`AT_FIRST`] at instant 0 alone.
struct Device {
    share: u32,
    interrupts: u32,
}

impl World for Device {
    fn ran(&mut self, _: u32, _: Pick) {}

    fn instant(&mut self, now: u32, kernel: &mut Kernel) {
        if now == 0 {
            kernel.release(TaskId::new(1));
        }
        let before = now.saturating_mul(self.share) / 100;
        let after = now.saturating_add(1).saturating_mul(self.share) / 100;
        let at_first = self.share == AT_FIRST;
        let is_due = if at_first { now == 0 } else { after > before };
        if is_due {
            self.interrupts = self.interrupts.saturating_add(1);
            kernel.release(TaskId::new(0));
        }
    }
}

/// What there was in a run: rounds of the victim, and what of the urgent server's.
struct Counts {
    rounds: u32,
    picks: u32,
    due: u32,
    interrupts: u32,
}

fn system(capacity: u32) -> Result<System, Error> {
    let mut hsf = System::new();
    for (priority, period, capacity) in [(0, PERIOD, capacity), (1, 1000, 1000)] {
        hsf.create_server(&ServerSpec {
            kind: Kind::Deferrable,
            priority,
            order: LocalOrder::FixedPriority,
            period,
            capacity,
        })?;
        hsf.add_task(ServerId::new(priority), 0, period)?;
    }
    Ok(hsf)
}

fn counts(capacity: u32, share: u32, urgent: fn(TaskId)) -> Option<Counts> {
    ROUNDS.store(0, Relaxed);
    let mut counted = Counted {
        hsf: system(capacity).ok()?,
        picks: 0,
        due: 0,
    };
    let mut device = Device {
        share,
        interrupts: 0,
    };
    let what = Run {
        ticks: TICKS,
        micros: MICROS,
        told_when_due: false,
        exact: false,
        programs: &[urgent, computes],
    };
    run(&mut counted, &mut device, &what).ok()?;
    Some(Counts {
        rounds: ROUNDS.load(Relaxed),
        picks: counted.picks,
        due: counted.due,
        interrupts: device.interrupts,
    })
}

/// A row; whether the victim lost no more than it may, with `budget` ticks of the urgent server in each of its periods.
fn is_bounded(name: &str, alone: &Counts, counts: &Counts, budget: u32) -> bool {
    let all = u64::from(TICKS).saturating_mul(PER_TICK.into());
    let fewer = u64::from(alone.rounds.saturating_sub(counts.rounds));
    // The victim has all of the time but a little when it is alone, so that this is a little more than it lost.
    let lost = fewer.saturating_mul(all).checked_div(alone.rounds.into());
    let ticks = (TICKS / PERIOD).saturating_mul(budget);
    let parts = [
        (ticks, PER_TICK),
        (counts.picks.saturating_sub(alone.picks), PICK),
        (counts.due.saturating_sub(alone.due), DUE),
        (counts.interrupts, INTERRUPT),
    ];
    let may = parts.iter().fold(0_u64, |sum, &(number, each)| {
        sum.saturating_add(u64::from(number).saturating_mul(each.into()))
    });
    let lost = lost.unwrap_or(u64::MAX);
    console::write(name);
    for number in [
        lost,
        may,
        counts.picks.into(),
        counts.due.into(),
        counts.interrupts.into(),
    ] {
        console::write(" ");
        console::write_number(u32::try_from(number).unwrap_or(u32::MAX));
    }
    console::write("\n");
    lost <= may
}

fn main() -> u32 {
    let Some(alone) = counts(CAPACITY, 0, is_short) else {
        return 2;
    };
    let mut right = alone.rounds > 0;
    for (name, share) in [
        ("interrupts-1", 1),
        ("interrupts-10", 10),
        ("interrupts-50", 50),
    ] {
        // They come and go between ticks: no budget is charged for them.
        let counts = counts(CAPACITY, share, is_short);
        right &= counts.is_some_and(|counts| is_bounded(name, &alone, &counts, 0));
    }
    let greedy = counts(CAPACITY, AT_FIRST, never_yields);
    right &= greedy.is_some_and(|counts| is_bounded("never-yields", &alone, &counts, CAPACITY));
    // With a tick of budget more than it is said to have it takes more than it may.
    let more = counts(CAPACITY.saturating_add(1), AT_FIRST, never_yields);
    right &= more.is_some_and(|counts| !is_bounded("a-tick-more", &alone, &counts, CAPACITY));
    u32::from(!right)
}

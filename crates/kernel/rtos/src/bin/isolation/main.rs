//! `losses`: what a server takes from a less urgent one: a task that never yields, tasks of which some arrive at every tenth tick, or interrupts in 1, 10 and 50
//! of 100 ticks, each of which releases a short job. Printed is how many instructions the victim lost against a run without them, what it may lose by
//! [`vestal_kernel::bounds`], and how many ticks with an event, events, picks, switches, interrupts and calls there were more, which have to be those that the load makes
//! necessary. `calls` compares each single call of the scheduler with those bounds, and each pick and all events with what there is a reason for.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use vestal_hsf::{
    Change, Error, Everything, Features, Hooks, Hsf, Kind, LocalOrder, Pick, ServerId, ServerSpec,
    State, TaskId, nodes,
};
use vestal_kernel::bounds::{Counts, switches};
use vestal_kernel::instructions::Scale;
use vestal_kernel::{Kernel, Run, World, console, counter, run, task};

mod calls;
mod load;

vestal_kernel::image!(main);

const TICKS: u32 = 400;
const MICROS: u32 = 4000;
/// QEMU executes an instruction in 128 ns (`-icount shift=7`).
const PER_TICK: u32 = MICROS * 1000 / 128;
const PERIOD: u32 = 20;
const CAPACITY: u32 = 5;
/// Tasks of the urgent server, and then the victim's.
const URGENT: u8 = 4;
const VICTIM: TaskId = TaskId::new(URGENT);

type System<F> = Hsf<F, 2, 5, { nodes(2, 5) }>;

static ROUNDS: AtomicU32 = AtomicU32::new(0);
static EVENTS: AtomicU32 = AtomicU32::new(0);
static SWITCHES: AtomicU32 = AtomicU32::new(0);

fn increase(number: &AtomicU32) {
    number.store(number.load(Relaxed).saturating_add(1), Relaxed);
}

/// Counts events and servers that are switched in.
#[derive(Debug)]
struct Observed;

impl Features for Observed {
    type Tick = u16;

    fn on_event() {
        increase(&EVENTS);
    }

    fn on_transition(_: ServerId, _: State, to: State) {
        if to == State::Running {
            increase(&SWITCHES);
        }
    }
}

/// The victim.
fn computes(_: TaskId) {
    loop {
        counter::thousand_instructions();
        increase(&ROUNDS);
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
    hsf: System<Observed>,
    counts: Counts,
}

impl Hooks for Counted {
    fn timer(&mut self, ticks: u32) -> bool {
        let due = self.hsf.timer(ticks);
        self.counts.ticks = self.counts.ticks.saturating_add(u32::from(due));
        due
    }

    fn next_timer(&self) -> u32 {
        self.hsf.next_timer()
    }

    fn pick(&mut self) -> Pick {
        let before = self.hsf.current();
        let switched_before = SWITCHES.load(Relaxed);
        let pick = self.hsf.pick();
        let switched_in = SWITCHES.load(Relaxed).saturating_sub(switched_before);
        let counts = Counts::of_pick(switches(before, switched_in, self.hsf.current()));
        self.counts.picks = self.counts.picks.saturating_add(counts.picks);
        self.counts.switches = self.counts.switches.saturating_add(counts.switches);
        pick
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        let is_call = u32::from(change == Change::EndOfJob);
        self.counts.calls = self.counts.calls.saturating_add(is_call);
        self.hsf.task(task, change)
    }
}

/// In so many of 100 ticks an interrupt; with [`AT_FIRST`] at instant 0 alone.
struct Device {
    share: u32,
    interrupts: u32,
}

/// No share of ticks.
const AT_FIRST: u32 = u32::MAX;

impl World for Device {
    fn ran(&mut self, _: u32, _: Pick) {}

    fn instant(&mut self, now: u32, kernel: &mut Kernel) {
        if now == 0 {
            kernel.release(VICTIM);
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

/// What the urgent server does.
#[derive(Clone, Copy)]
struct Load {
    capacity: u32,
    /// Interrupts, in so many of 100 ticks.
    share: u32,
    /// Whether its other tasks have jobs, which end at once.
    periodic: bool,
    /// What the task does that interrupts release.
    program: fn(TaskId),
}

/// None.
const ALONE: Load = Load {
    capacity: CAPACITY,
    share: 0,
    periodic: false,
    program: is_short,
};

fn system<F: Features>(load: Load) -> Result<System<F>, Error> {
    let mut hsf = System::new();
    for (priority, period, capacity) in [(0, PERIOD, load.capacity), (1, 1000, 1000)] {
        hsf.create_server(&ServerSpec {
            kind: Kind::Deferrable,
            priority,
            order: LocalOrder::FixedPriority,
            period,
            capacity,
        })?;
    }
    for priority in 0..URGENT {
        let task = hsf.add_task(ServerId::new(0), priority, PERIOD)?;
        if load.periodic && priority > 0 {
            hsf.make_periodic(task, 5, 10)?;
        }
    }
    hsf.add_task(ServerId::new(1), 0, PERIOD)?;
    Ok(hsf)
}

/// Runs it: how many interrupts there were.
fn execute(hooks: &mut dyn Hooks, load: Load) -> Option<u32> {
    let mut device = Device {
        share: load.share,
        interrupts: 0,
    };
    let what = Run {
        ticks: TICKS,
        micros: MICROS,
        told_when_due: false,
        exact: false,
        programs: &[load.program, is_short, is_short, is_short, computes],
    };
    for number in [&ROUNDS, &EVENTS, &SWITCHES] {
        number.store(0, Relaxed);
    }
    run(hooks, &mut device, &what).ok()?;
    Some(device.interrupts)
}

/// Rounds of the victim, whose time nobody takes to count anything.
#[inline(never)]
fn rounds(load: Load) -> Option<u32> {
    let mut hsf = system::<Everything<u16>>(load).ok()?;
    execute(&mut hsf, load)?;
    Some(ROUNDS.load(Relaxed))
}

/// What there is, counted in another run of the same load.
#[inline(never)]
fn counts(load: Load) -> Option<Counts> {
    let mut counted = Counted {
        hsf: system(load).ok()?,
        counts: Counts::default(),
    };
    let interrupts = execute(&mut counted, load)?;
    Some(Counts {
        events: EVENTS.load(Relaxed),
        interrupts,
        ..counted.counts
    })
}

/// What the victim lost, what it may lose with [`CAPACITY`] ticks in each period if the urgent server consumes its budget, and what there was more than in a
/// run of the victim alone. A tick that has an event in one of both runs alone counts as a whole one.
struct Loss {
    lost: u64,
    budget: u64,
    more: Counts,
}

impl Loss {
    fn of(load: Load, alone: &(u32, Counts), consumes: bool) -> Option<Self> {
        let (rounds, counts) = (rounds(load)?, counts(load)?);
        let all = u64::from(TICKS).saturating_mul(PER_TICK.into());
        let fewer = u64::from(alone.0.saturating_sub(rounds));
        // The victim has all of the time but a little when it is alone, so that this is a little more than it lost.
        let lost = fewer.saturating_mul(all).checked_div(alone.0.into())?;
        let ticks = if consumes {
            (TICKS / PERIOD).saturating_mul(CAPACITY)
        } else {
            0
        };
        Some(Self {
            lost,
            budget: u64::from(ticks).saturating_mul(PER_TICK.into()),
            more: counts.beyond(&alone.1),
        })
    }

    /// A row; whether it is no more than it may be.
    fn is_bounded(&self, name: &str) -> bool {
        let may = self.budget.saturating_add(self.more.most());
        console::write("loss ");
        console::write(name);
        let more = &self.more;
        for number in [
            self.lost,
            may,
            more.ticks.into(),
            more.events.into(),
            more.picks.into(),
            more.switches.into(),
            more.interrupts.into(),
            more.calls.into(),
        ] {
            console::write(" ");
            console::write_number(u32::try_from(number).unwrap_or(u32::MAX));
        }
        console::write("\n");
        self.lost <= may
    }
}

fn main() -> u32 {
    let Some(scale) = Scale::measured() else {
        return 2;
    };
    let mut arguments = [0; 32];
    let right = match console::arguments(&mut arguments) {
        b"calls" => calls::each_call(scale),
        b"losses" => losses(),
        _ => false,
    };
    u32::from(!right)
}

/// What a load makes necessary: so many ticks with an event, events, interrupts and calls, and picks and switches at most.
fn of_interrupts(share: u32) -> Counts {
    let interrupts = TICKS.saturating_mul(share) / 100;
    let twice = interrupts.saturating_mul(2);
    Counts {
        ticks: 0,
        // Its server has no work any more.
        events: interrupts,
        picks: 0,
        // One when it comes, and one when its job ends.
        switches: twice,
        interrupts,
        calls: interrupts,
        steps: 0,
        detours: 0,
    }
}

/// Three jobs that arrive at each tenth tick, the wake-up for them, and that its server has no work any more.
const OF_PERIODS: Counts = {
    let times = TICKS / 10;
    Counts {
        ticks: times,
        events: 5 * times,
        // When they arrive and when the last one ends there is a switch, and a pick without when each of the others does.
        picks: 2 * times,
        switches: 2 * times,
        interrupts: 0,
        calls: 3 * times,
        steps: 0,
        detours: 0,
    }
};

/// Both. Interrupts come with those jobs, and between them four times as often, when they take back a wake-up and leave another.
fn of_both() -> Counts {
    let interrupts = of_interrupts(50);
    let between = interrupts.interrupts.saturating_sub(OF_PERIODS.ticks);
    Counts {
        events: OF_PERIODS.events.saturating_add(between.saturating_mul(2)),
        // One more ends where they come together.
        picks: OF_PERIODS.picks.saturating_add(OF_PERIODS.ticks),
        switches: OF_PERIODS.switches.saturating_add(interrupts.switches),
        interrupts: interrupts.interrupts,
        calls: OF_PERIODS.calls.saturating_add(interrupts.calls),
        ..OF_PERIODS
    }
}

/// One interrupt, and in each period a budget that is used up; that it comes back is in a run without it, too.
const OF_BUDGETS: Counts = {
    let times = TICKS / PERIOD;
    Counts {
        ticks: times,
        // A victim that is alone has one, too: the urgent server has no work at the start.
        events: times - 1,
        picks: 0,
        switches: 2 * times,
        interrupts: 1,
        calls: 0,
        steps: 0,
        detours: 0,
    }
};

/// Whether there was what has to be, and no more: a kernel that picks twice, or a queue that hands an event out twice, would pay for it otherwise.
fn is_necessary(found: &Counts, necessary: &Counts) -> bool {
    let exact = |it: &Counts| [it.ticks, it.events, it.interrupts, it.calls];
    let holds = exact(found) == exact(necessary)
        && found.picks <= necessary.picks
        && found.switches <= necessary.switches;
    if !holds {
        console::write("not what the load makes necessary\n");
    }
    holds
}

/// What the victim loses, and what it may.
fn losses() -> bool {
    let (Some(alone), Some(counted)) = (rounds(ALONE), counts(ALONE)) else {
        return false;
    };
    let alone = (alone, counted);
    let interrupts = |share| Load { share, ..ALONE };
    let periodic = Load {
        periodic: true,
        ..ALONE
    };
    let greedy = |capacity| Load {
        capacity,
        share: AT_FIRST,
        program: never_yields,
        ..ALONE
    };
    let both = Load {
        periodic: true,
        ..interrupts(50)
    };
    let mut right = alone.0 > 0;
    // What comes and goes between ticks has no budget charged for it.
    for (name, load, consumes, necessary) in [
        ("interrupts-1", interrupts(1), false, of_interrupts(1)),
        ("interrupts-10", interrupts(10), false, of_interrupts(10)),
        ("interrupts-50", interrupts(50), false, of_interrupts(50)),
        ("periodic", periodic, false, OF_PERIODS),
        ("periodic-50", both, false, of_both()),
        ("never-yields", greedy(CAPACITY), true, OF_BUDGETS),
    ] {
        let loss = Loss::of(load, &alone, consumes);
        right &=
            loss.is_some_and(|loss| loss.is_bounded(name) & is_necessary(&loss.more, &necessary));
    }
    // With a tick of budget more than it is said to have it takes more than it may; and so does who has events that are not counted.
    let more = Loss::of(greedy(CAPACITY.saturating_add(1)), &alone, true);
    right &= more.is_some_and(|loss| !loss.is_bounded("a-tick-more"));
    let uncounted = Loss::of(periodic, &alone, false).map(|loss| Loss {
        more: Counts {
            picks: loss.more.picks,
            ..Counts::default()
        },
        ..loss
    });
    right & uncounted.is_some_and(|loss| !loss.is_bounded("only-picks-counted"))
}

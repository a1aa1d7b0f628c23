//! Each single call of the scheduler against what [`vestal_kernel::bounds`] says.
//!
//! Each system runs twice: with the scheduler as it is, of whose calls the instructions are counted, and with one that counts events, switches and nodes that
//! are passed. Both make the same calls one after the other.

use crate::increase;
use crate::load::{Load, SERVERS, TICKS, systems};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use vestal_hsf::{
    Change, Error, Everything, Features, Hooks, Hsf, Pick, ServerId, State, TaskId, Tick, nodes,
};
use vestal_kernel::bounds::{Counts, IDLE, STEP, switches};
use vestal_kernel::instructions::{Scale, counted};
use vestal_kernel::{TASKS, console};

type System<F> = Hsf<F, SERVERS, TASKS, { nodes(SERVERS, TASKS) }>;

/// What the calls of the first run took, and of which kind each was: in the upper eight bits.
static LOG: [AtomicU32; 2560] = [const { AtomicU32::new(0) }; 2560];

static EVENTS: AtomicU32 = AtomicU32::new(0);
static STEPS: AtomicU32 = AtomicU32::new(0);
static DETOURS: AtomicU32 = AtomicU32::new(0);
static SWITCHES: AtomicU32 = AtomicU32::new(0);
/// How often servers were depleted, began to wait, and ceased to.
static DEPLETED: AtomicU32 = AtomicU32::new(0);
static WAITS: AtomicU32 = AtomicU32::new(0);
static WOKEN: AtomicU32 = AtomicU32::new(0);

/// 16 bits that count the nodes that are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Passed(u16);

impl Tick for Passed {
    const ZERO: Self = Self(0);
    const MAX: u32 = u16::MAX as u32;

    fn get(self) -> u32 {
        self.0.into()
    }

    fn of(ticks: u32) -> Self {
        Self(u16::of(ticks))
    }

    fn on_pass() {
        increase(&STEPS);
    }

    fn on_detour() {
        increase(&DETOURS);
    }
}

/// Counts all of it.
#[derive(Debug)]
struct Explained;

impl Features for Explained {
    type Tick = Passed;

    fn on_event() {
        increase(&EVENTS);
    }

    fn on_transition(_: ServerId, from: State, to: State) {
        match (from, to) {
            (_, State::Running) => increase(&SWITCHES),
            (State::Ready | State::Running | State::Waiting, State::Depleted) => {
                increase(&DEPLETED);
            }
            (_, State::Waiting) => increase(&WAITS),
            (State::Waiting, State::Ready) => increase(&WOKEN),
            (_, State::Ready | State::Depleted) => {}
        }
    }
}

/// Kinds of calls. A pick is one of two, of which the first run does not know which.
const IDLE_TICK: usize = 0;
const DUE_TICK: usize = 1;
const PICK: usize = 2;
const SWITCH: usize = 3;
const CALL: usize = 4;
const NAMES: [&str; 5] = [
    "bound idle",
    "bound tick",
    "bound pick",
    "bound switch",
    "bound call",
];

/// One of the kinds of calls: how many, what one took at most, and the fullest, in percent of its bound.
#[derive(Clone, Copy, Default)]
struct Kept {
    number: u32,
    most: u32,
    /// The most of those without an event, a detour or a second switch, but for the nodes they passed.
    plain: u32,
    fullest: u32,
    /// Of the fullest: instructions, events, switches, nodes passed, detours.
    full: [u32; 5],
}

impl Kept {
    fn add(&mut self, instructions: u32, counts: &Counts, bound: u64) {
        self.number = self.number.saturating_add(1);
        self.most = self.most.max(instructions);
        if counts.events == 0 && counts.detours == 0 && counts.switches <= 1 {
            let passed = counts.steps.saturating_mul(STEP);
            self.plain = self.plain.max(instructions.saturating_sub(passed));
        }
        let percent = u64::from(instructions).saturating_mul(100);
        let percent = percent.div_ceil(bound.max(1));
        let percent = u32::try_from(percent).unwrap_or(u32::MAX);
        if percent > self.fullest {
            self.fullest = percent;
            self.full = [
                instructions,
                counts.events,
                counts.switches,
                counts.steps,
                counts.detours,
            ];
        }
    }

    fn show(self, name: &str) -> bool {
        console::write(name);
        let numbers = [self.number, self.most, self.plain, self.fullest];
        for number in numbers.into_iter().chain(self.full) {
            console::write(" ");
            console::write_number(number);
        }
        console::write("\n");
        self.number > 0 && self.fullest <= 100
    }
}

/// The first run.
struct Timed {
    hsf: System<Everything<u16>>,
    scale: Scale,
    calls: usize,
}

impl Timed {
    fn log(&mut self, kind: usize, units: u32) {
        if let (Some(entry), Ok(kind)) = (LOG.get(self.calls), u32::try_from(kind)) {
            let instructions = self.scale.instructions(units).min(0x00ff_ffff);
            entry.store(kind.wrapping_shl(24) | instructions, Relaxed);
        }
        self.calls = self.calls.saturating_add(1);
    }
}

impl Hooks for Timed {
    fn timer(&mut self, ticks: u32) -> bool {
        let hooks: &mut dyn Hooks = &mut self.hsf;
        let (units, due) = counted(|| hooks.timer(ticks));
        self.log(if due { DUE_TICK } else { IDLE_TICK }, units);
        due
    }

    fn next_timer(&self) -> u32 {
        self.hsf.next_timer()
    }

    fn pick(&mut self) -> Pick {
        let hooks: &mut dyn Hooks = &mut self.hsf;
        let (units, pick) = counted(|| hooks.pick());
        self.log(PICK, units);
        pick
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        let hooks: &mut dyn Hooks = &mut self.hsf;
        let (units, result) = counted(|| hooks.task(task, change));
        self.log(CALL, units);
        result
    }
}

/// The second one.
struct Compared {
    hsf: System<Explained>,
    kept: [Kept; NAMES.len()],
    calls: usize,
    /// Events up to now, and calls that have a task wait for some time.
    events: u32,
    delays: u32,
    /// Whether something has happened since the last pick.
    changed: bool,
    /// Whether all calls were those of the first run, and each pick had a reason.
    right: bool,
}

impl Compared {
    fn begin(&self) {
        for number in [&EVENTS, &STEPS, &DETOURS, &SWITCHES] {
            number.store(0, Relaxed);
        }
    }

    /// Compares a call that has been explained with what it took.
    fn keep(&mut self, kind: usize, counts: Counts) {
        let counts = Counts {
            events: EVENTS.load(Relaxed),
            steps: STEPS.load(Relaxed),
            detours: DETOURS.load(Relaxed),
            ..counts
        };
        self.events = self.events.saturating_add(counts.events);
        let logged = LOG.get(self.calls).map_or(0, |entry| entry.load(Relaxed));
        self.calls = self.calls.saturating_add(1);
        let of_kind = usize::try_from(logged.wrapping_shr(24));
        let asked = if kind == SWITCH { PICK } else { kind };
        self.right &= of_kind == Ok(asked) && self.calls <= LOG.len();
        let bound = match kind {
            IDLE_TICK => IDLE.into(),
            _ => counts.most(),
        };
        if let Some(kept) = self.kept.get_mut(kind) {
            kept.add(logged & 0x00ff_ffff, &counts, bound);
        }
    }
}

impl Hooks for Compared {
    fn timer(&mut self, ticks: u32) -> bool {
        self.begin();
        let due = self.hsf.timer(ticks);
        self.changed |= due;
        let ticks = Counts {
            ticks: 1,
            ..Counts::default()
        };
        self.keep(if due { DUE_TICK } else { IDLE_TICK }, ticks);
        due
    }

    fn next_timer(&self) -> u32 {
        self.hsf.next_timer()
    }

    fn pick(&mut self) -> Pick {
        self.right &= core::mem::take(&mut self.changed);
        let before = self.hsf.current();
        self.begin();
        let pick = self.hsf.pick();
        let switches = switches(before, SWITCHES.load(Relaxed), self.hsf.current());
        let kind = if switches > 0 { SWITCH } else { PICK };
        self.keep(kind, Counts::of_pick(switches));
        pick
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        self.changed = true;
        let delays = matches!(change, Change::Delayed(_) | Change::DelayedVirtual(_));
        self.delays = self.delays.saturating_add(delays.into());
        self.begin();
        let result = self.hsf.task(task, change);
        let calls = Counts {
            calls: 1,
            ..Counts::default()
        };
        self.keep(CALL, calls);
        result
    }
}

/// Says what is wrong.
fn is_right(holds: bool, wrong: &str) -> bool {
    if !holds {
        console::write(wrong);
    }
    holds
}

/// The first run of a load: how many calls there were.
#[inline(never)]
fn time(load: &Load, scale: Scale) -> Option<usize> {
    let mut timed = Timed {
        hsf: System::new(),
        scale,
        calls: 0,
    };
    load.build(&mut timed.hsf).ok()?;
    load.run(&mut timed).then_some(timed.calls)
}

/// The second one; whether it made the same calls, and had no more events than the load has.
#[inline(never)]
fn compare(load: &Load, calls: usize, kept: &mut [Kept; NAMES.len()]) -> bool {
    let of_servers = [&DEPLETED, &WAITS, &WOKEN];
    for number in of_servers {
        number.store(0, Relaxed);
    }
    let mut compared = Compared {
        hsf: System::new(),
        kept: *kept,
        calls: 0,
        events: 0,
        delays: 0,
        changed: true,
        right: true,
    };
    let ran = load.build(&mut compared.hsf).is_ok() && load.run(&mut compared);
    *kept = compared.kept;
    let until = TICKS.saturating_sub(1);
    let timed = load.timed_events(until).saturating_add(load.polls(until));
    let most = of_servers
        .iter()
        .map(|number| number.load(Relaxed))
        .fold(timed, u32::saturating_add)
        .saturating_add(compared.delays);
    let same = compared.right && compared.calls == calls;
    is_right(ran, "the run ends early\n")
        & is_right(same, "another call, or a pick without a reason\n")
        & is_right(compared.events <= most, "more events than there are\n")
}

/// For each kind of calls: how many there were, the most that one took, the most without events and detours and but for passed nodes, and in percent of its bound the fullest, with its
/// instructions, events, switches, nodes passed and detours.
pub(crate) fn each_call(scale: Scale) -> bool {
    let mut kept = [Kept::default(); NAMES.len()];
    let (mut right, mut number) = (true, 0_u32);
    for load in systems() {
        right &= time(&load, scale).is_some_and(|calls| compare(&load, calls, &mut kept));
        number = number.saturating_add(1);
    }
    console::write("bound systems ");
    console::write_number(number);
    console::write("\n");
    for (kept, name) in kept.into_iter().zip(NAMES) {
        right &= kept.show(name);
    }
    right
}

//! What the kernel itself promises, apart from who executes by `vestal-hsf`: the argument says which. What is printed is known
//! beforehand (`scripts/check-kernel.sh`).
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use vestal_hsf::{
    Change, Error, Everything, Hooks, Hsf, Kind, LocalOrder, Pick, ServerSpec, TaskId, nodes,
};
use vestal_kernel::{
    Fault, Kernel, Run, World, check_registers, console, run, task, unused_handler_stack,
    unused_stack,
};

vestal_kernel::image!(main);

const TICKS: usize = 120;

type System = Hsf<Everything<u16>, 3, 3, { nodes(3, 3) }>;

fn main() -> u32 {
    let mut arguments = [0; 32];
    let right = match console::arguments(&mut arguments) {
        b"registers" => registers(),
        b"semaphores" => semaphores(),
        b"stack" => stack(),
        b"faults" => faults(),
        b"rules" => rules(),
        b"late" => late(),
        b"nested" => nested(),
        _ => false,
    };
    u32::from(!right)
}

/// Who executed in each tick, and what a device does.
struct Row {
    signs: [u8; TICKS],
    device: fn(u32, &mut Kernel),
}

impl World for Row {
    fn ran(&mut self, tick: u32, who: Pick) {
        let sign = match who {
            Pick::Task(task) => b'0'.saturating_add(u8::try_from(task.index()).unwrap_or(u8::MAX)),
            Pick::Idling(_) => b'i',
            Pick::Idle => b'.',
        };
        let place = usize::try_from(tick).ok();
        if let Some(place) = place.and_then(|tick| self.signs.get_mut(tick)) {
            *place = sign;
        }
    }

    fn instant(&mut self, now: u32, kernel: &mut Kernel) {
        (self.device)(now, kernel);
    }
}

fn at_first(now: u32, kernel: &mut Kernel) {
    if now == 0 {
        for task in 0..3 {
            kernel.release(TaskId::new(task));
        }
    }
}

/// Servers of so many ticks every `period`, one below the other.
fn servers<const N: usize>(period: u32, capacities: [u32; N]) -> Result<System, Error> {
    let mut hsf = System::new();
    for (priority, capacity) in (0..u8::MAX).zip(capacities) {
        hsf.create_server(&ServerSpec {
            kind: Kind::Deferrable,
            priority,
            order: LocalOrder::FixedPriority,
            period,
            capacity,
        })?;
    }
    Ok(hsf)
}

/// One server which has all of the time, and three tasks, the first of which is the most urgent.
fn one_server() -> Result<System, Error> {
    let mut hsf = servers(100, [100])?;
    for priority in 0..3 {
        hsf.add_task(vestal_hsf::ServerId::new(0), priority, 100)?;
    }
    Ok(hsf)
}

/// Ticks of 1 ms, of which the scheduler is told.
fn ticks(ticks: u32, programs: &[fn(TaskId)]) -> Run<'_> {
    Run {
        ticks,
        micros: 1000,
        told_when_due: false,
        exact: false,
        programs,
    }
}

fn runs(hsf: &mut System, row: &mut Row, many: u32, programs: &[fn(TaskId)]) -> Result<(), Fault> {
    run(hsf, row, &ticks(many, programs))
}

fn show(row: &Row) {
    let used = row.signs.split(|&sign| sign == 0).next().unwrap_or(&[]);
    console::write(core::str::from_utf8(used).unwrap_or("?"));
    console::write("\n");
}

static ROUNDS: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];
static LOST: AtomicU32 = AtomicU32::new(0);

/// Never calls anybody: it is preempted wherever it is.
fn computes(me: TaskId) {
    let seed = u32::try_from(me.index()).unwrap_or(0);
    let seed = seed.wrapping_add(1).wrapping_mul(0x1234_5678);
    loop {
        if !check_registers(seed) {
            LOST.store(1, Relaxed);
        }
        if let Some(rounds) = ROUNDS.get(me.index()) {
            rounds.store(rounds.load(Relaxed).saturating_add(1), Relaxed);
        }
    }
}

/// Three tasks that never yield share the processor by the budgets of their servers, and lose no register.
fn registers() -> bool {
    let Ok(mut hsf) = servers(7, [1, 2, 3]) else {
        return false;
    };
    for server in 0..3 {
        if hsf
            .add_task(vestal_hsf::ServerId::new(server), 0, 7)
            .is_err()
        {
            return false;
        }
    }
    let mut row = Row {
        signs: [0; TICKS],
        device: at_first,
    };
    let programs: [fn(TaskId); 3] = [computes; 3];
    let ran = runs(&mut hsf, &mut row, 70, &programs);
    show(&row);
    let lost = LOST.load(Relaxed) != 0;
    let rounds = ROUNDS.iter().all(|rounds| rounds.load(Relaxed) > 10);
    console::write(if lost { "lost\n" } else { "kept\n" });
    ran.is_ok() && rounds && !lost
}

/// Tasks 0 and 1 wait for what task 2 gives, and an interrupt at 13.
fn semaphores() -> bool {
    fn taker(_: TaskId) {
        loop {
            task::take(7);
            task::work(2);
        }
    }
    fn worker(_: TaskId) {
        loop {
            task::work(1);
            task::take(7);
            task::work(2);
        }
    }
    fn giver(_: TaskId) {
        loop {
            task::work(3);
            task::give(7);
        }
    }
    fn device(now: u32, kernel: &mut Kernel) {
        at_first(now, kernel);
        if now == 13 {
            kernel.give(7);
        }
    }
    let mut row = Row {
        signs: [0; TICKS],
        device,
    };
    let ran = one_server().map(|mut hsf| runs(&mut hsf, &mut row, 28, &[taker, worker, giver]));
    show(&row);
    matches!(ran, Ok(Ok(())))
}

/// So many frames of at least eight words.
#[inline(never)]
fn deep(depth: u32) -> u32 {
    let mut words = [depth; 8];
    core::hint::black_box(&mut words);
    if depth == 0 {
        task::work(1);
        return 0;
    }
    let [first, ..] = words;
    deep(depth.saturating_sub(1)).wrapping_add(core::hint::black_box(first))
}

fn shallow(_: TaskId) {
    loop {
        task::work(1);
        task::wait_period();
    }
}

/// A stack is used as far as its task went; and a task that used all of it ends the run.
fn stack() -> bool {
    fn some(_: TaskId) {
        core::hint::black_box(deep(4));
        task::wait_period();
    }
    fn too_much<const DEPTH: u32>(_: TaskId) {
        core::hint::black_box(deep(DEPTH));
        task::wait_period();
    }
    let mut row = Row {
        signs: [0; TICKS],
        device: at_first,
    };
    let Ok(mut hsf) = one_server() else {
        return false;
    };
    let well = runs(&mut hsf, &mut row, 20, &[shallow, some, shallow]);
    let used = [0, 1, 2].map(|task| {
        let unused = unused_stack(TaskId::new(task));
        unused.map_or(0, |(unused, all)| all.saturating_sub(unused))
    });
    for words in used {
        console::write_number(u32::try_from(words).unwrap_or(u32::MAX));
        console::write(" ");
    }
    let (unused, all) = unused_handler_stack();
    let handlers = all.saturating_sub(unused);
    console::write("words of stack, and of the handlers' ");
    console::write_number(u32::try_from(handlers).unwrap_or(u32::MAX));
    console::write("\n");
    let [first, second, third] = used;
    let too_deep: [fn(TaskId); 5] = [
        too_much::<13>,
        too_much::<14>,
        too_much::<15>,
        too_much::<16>,
        too_much::<17>,
    ];
    let found = too_deep.iter().all(|too_much| {
        let programs = [shallow, shallow, *too_much];
        let ran = one_server().map(|mut hsf| runs(&mut hsf, &mut row, 20, &programs));
        ran == Ok(Err(Fault::Stack(TaskId::new(2))))
    });
    // Something of theirs was used, and far less than there is.
    let bounded = (16..256).contains(&handlers);
    well.is_ok() && bounded && first == third && second > first.saturating_add(4 * 8) && found
}

/// Programs, a device, and how the run ends.
type Case<'a> = (&'a [fn(TaskId)], fn(u32, &mut Kernel), Result<(), Fault>);

/// Runs of eight ticks. Whether all of them end as is expected.
fn all_end_so(cases: &[Case<'_>]) -> bool {
    let mut right = true;
    for &(programs, device, expected) in cases {
        let mut row = Row {
            signs: [0; TICKS],
            device,
        };
        let ran = one_server().map(|mut hsf| runs(&mut hsf, &mut row, 8, programs));
        show(&row);
        right &= ran == Ok(expected);
    }
    right
}

/// What a task or an interrupt does wrong ends the run, and says so.
fn faults() -> bool {
    fn unknown(_: TaskId) {
        task::take(8);
    }
    fn readies(_: TaskId) {
        task::ready(TaskId::new(1));
    }
    fn nobody(_: TaskId) {
        task::release(TaskId::new(9));
    }
    fn returns(_: TaskId) {
        task::work(2);
    }
    fn refused(now: u32, kernel: &mut Kernel) {
        at_first(now, kernel);
        if now == 5 {
            kernel.ready(TaskId::new(0));
        }
    }
    let cases: [Case<'_>; 6] = [
        (&[unknown, shallow, shallow], at_first, Err(Fault::Unknown)),
        (
            &[readies, shallow, shallow],
            at_first,
            Err(Fault::Refused(Error::WrongState)),
        ),
        (
            &[nobody, shallow, shallow],
            at_first,
            Err(Fault::Refused(Error::UnknownTask)),
        ),
        (
            &[shallow, shallow, shallow],
            refused,
            Err(Fault::Refused(Error::WrongState)),
        ),
        (
            &[shallow, shallow],
            at_first,
            Err(Fault::NoProgram(TaskId::new(2))),
        ),
        (&[returns, shallow, shallow], at_first, Ok(())),
    ];
    all_end_so(&cases)
}

/// A task computes on after its work, one that waits for a semaphore is readied, a task and the world ask for a run.
fn rules() -> bool {
    fn goes_on(_: TaskId) {
        task::work(2);
        loop {
            core::hint::black_box(task::now());
        }
    }
    fn releases_later(now: u32, kernel: &mut Kernel) {
        at_first(now, kernel);
        if now == 2 {
            kernel.release(TaskId::new(0));
        }
    }
    fn readies_waiting(now: u32, kernel: &mut Kernel) {
        at_first(now, kernel);
        if now == 3 {
            kernel.ready(TaskId::new(0));
        }
    }
    fn waits(_: TaskId) {
        task::take(1);
    }
    let cases: [Case<'_>; 3] = [
        (
            &[goes_on, shallow, shallow],
            releases_later,
            Err(Fault::Overdue(TaskId::new(0))),
        ),
        (
            &[waits, shallow, shallow],
            readies_waiting,
            Err(Fault::Refused(Error::WrongState)),
        ),
        (&[has_a_run, shallow, shallow], has_a_run_too, Ok(())),
    ];
    all_end_so(&cases) && REFUSED.load(Relaxed) == 2
}

/// Executes nobody, and sees nothing.
struct Nobody;

impl Hooks for Nobody {
    fn timer(&mut self, _: u32) -> bool {
        false
    }

    fn next_timer(&self) -> u32 {
        1
    }

    fn pick(&mut self) -> Pick {
        Pick::Idle
    }

    fn task(&mut self, _: TaskId, _: Change) -> Result<(), Error> {
        Ok(())
    }
}

impl World for Nobody {
    fn ran(&mut self, _: u32, _: Pick) {}

    fn instant(&mut self, _: u32, _: &mut Kernel) {}
}

/// Runs that were refused because there was one.
static REFUSED: AtomicU32 = AtomicU32::new(0);

fn asks_for_a_run() {
    if run(&mut Nobody, &mut Nobody, &ticks(1, &[])) == Err(Fault::Runs) {
        REFUSED.store(REFUSED.load(Relaxed).saturating_add(1), Relaxed);
    }
}

fn has_a_run(_: TaskId) {
    asks_for_a_run();
    task::work(1);
    task::wait_period();
}

fn has_a_run_too(now: u32, kernel: &mut Kernel) {
    at_first(now, kernel);
    if now == 4 {
        asks_for_a_run();
    }
}

/// So many instructions and more.
fn takes(instructions: u32) {
    for step in 0..instructions {
        core::hint::black_box(step);
    }
}

/// A tick that ends while the kernel is busy is handled next: it ends the run if that was with another tick, or if the run is to be exact.
fn late() -> bool {
    fn asks(_: TaskId) {
        loop {
            core::hint::black_box(task::now());
        }
    }
    fn takes_a_tick(now: u32, kernel: &mut Kernel) {
        at_first(now, kernel);
        if now == 3 {
            takes(10_000);
        }
    }
    fn takes_a_part_of_one(now: u32, kernel: &mut Kernel) {
        at_first(now, kernel);
        takes(500);
    }
    type Case = (fn(u32, &mut Kernel), bool, Result<(), Fault>);
    let cases: [Case; 4] = [
        (at_first, false, Ok(())),
        (at_first, true, Err(Fault::Late)),
        (takes_a_tick, false, Err(Fault::Late)),
        (takes_a_part_of_one, false, Ok(())),
    ];
    let mut right = true;
    for (device, exact, expected) in cases {
        let mut row = Row {
            signs: [0; TICKS],
            device,
        };
        let programs: [fn(TaskId); 3] = [asks, shallow, shallow];
        let what = Run {
            exact,
            ..ticks(100, &programs)
        };
        let ran = one_server().map(|mut hsf| run(&mut hsf, &mut row, &what));
        show(&row);
        right &= ran == Ok(expected);
    }
    right
}

/// A call in a handler ends the image.
fn nested() -> bool {
    fn device(now: u32, kernel: &mut Kernel) {
        at_first(now, kernel);
        if now == 2 {
            console::write("a handler makes a call\n");
            task::delay(1);
        }
    }
    let mut row = Row {
        signs: [0; TICKS],
        device,
    };
    let ran = one_server().map(|mut hsf| runs(&mut hsf, &mut row, 8, &[shallow, shallow, shallow]));
    ran.is_err()
}

//! What the kernel itself promises, apart from who executes by `vestal-hsf`: the argument says which. What is printed is known
//! beforehand (`scripts/check-kernel.sh`).
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use vestal_hsf::{Error, Everything, Hsf, Kind, LocalOrder, Pick, ServerSpec, TaskId, nodes};
use vestal_kernel::{Fault, Kernel, Run, World, check_registers, console, run, task, unused_stack};

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

fn runs(hsf: &mut System, row: &mut Row, ticks: u32, programs: &[fn(TaskId)]) -> Result<(), Fault> {
    let what = Run {
        ticks,
        micros: 1000,
        one_shot: false,
        programs,
    };
    run(hsf, row, &what)
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
    console::write("words of stack\n");
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
    well.is_ok() && first == third && second > first.saturating_add(4 * 8) && found
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
    type Case<'a> = (&'a [fn(TaskId)], fn(u32, &mut Kernel), Result<(), Fault>);
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
    let mut right = true;
    for (programs, device, expected) in cases {
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

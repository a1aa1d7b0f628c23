//! Every call of vestal-hsf that a host needs, for six servers with six tasks each, in an image that is weighed, and what a tick at which nothing is due takes in it. With the
//! feature `weightless` the calls are the same and do nothing: the difference is what the crate adds (`scripts/bench-kernel.sh`).
#![no_std]
#![no_main]

use core::hint::black_box;
use vestal_hsf::{Error, Kind, LocalOrder, Pick, ServerId, ServerSpec, TaskId};
use vestal_kernel::console;
use vestal_kernel::instructions::{Scale, counted};

#[cfg(not(feature = "weightless"))]
type System = vestal_hsf::Hsf<vestal_hsf::Everything<u16>, 6, 36, { vestal_hsf::nodes(6, 36) }>;
#[cfg(feature = "weightless")]
use weightless::System;

vestal_kernel::image!(main);

/// Servers, and tasks of each.
const EACH: u8 = 6;
const PERIOD: u32 = 1000;
/// The last of the calls by number.
const SCHEDULE: u8 = 17;
/// How often a tick is counted.
const COUNTED: u32 = 20;

fn main() -> u32 {
    let Some(scale) = Scale::measured() else {
        return 2;
    };
    let mut hsf = System::new();
    let made = system(&mut hsf);
    call(&mut hsf, SCHEDULE);
    let (mut most, mut right) = (0, made.is_ok());
    for _ in 0..COUNTED {
        let hsf: &mut System = black_box(&mut hsf);
        let (units, due) = counted(|| tick(hsf));
        right &= !due;
        most = most.max(scale.instructions(units));
    }
    console::write("code-idle ");
    console::write_number(most);
    console::write("\n");
    // What was not called up to now is there as well; what comes of it is nobody's concern.
    (0..=SCHEDULE).for_each(|which| call(&mut hsf, which));
    u32::from(!right)
}

/// The call of a host, which is no part of its own code.
#[inline(never)]
fn tick(hsf: &mut System) -> bool {
    hsf.tick()
}

/// Six servers with six tasks each, of which one executes and the others wait for arrivals.
fn system(hsf: &mut System) -> Result<(), Error> {
    let kinds = [Kind::Deferrable, Kind::Polling, Kind::Idling];
    for (priority, kind) in (0..EACH).zip(kinds.into_iter().cycle()) {
        let server = hsf.create_server(&ServerSpec {
            kind,
            priority,
            order: LocalOrder::FixedPriority,
            period: PERIOD,
            capacity: PERIOD / 10,
        })?;
        for priority in 0..EACH {
            let task = hsf.add_task(server, priority, PERIOD)?;
            hsf.make_periodic(task, 200, PERIOD)?;
        }
    }
    hsf.release(TaskId::new(0))
}

/// One call after the other; what goes in and comes out is opaque to the compiler.
fn call(system: &mut System, which: u8) {
    let number = black_box(0_u32);
    let (server, task) = (ServerId::new(black_box(0)), TaskId::new(black_box(0)));
    match black_box(which) {
        0 => sink(system.create_server(&ServerSpec {
            kind: black_box(Kind::Polling),
            priority: black_box(0),
            order: black_box(LocalOrder::FixedPriority),
            period: number,
            capacity: black_box(0),
        })),
        1 => sink(system.add_task(server, black_box(0), number)),
        2 => sink(system.make_periodic(task, number, black_box(0))),
        3 => sink(system.wait_period(task)),
        4 => sink(system.delay(task, number)),
        5 => sink(system.delay_virtual(task, number)),
        6 => sink(system.block(task)),
        7 => sink(system.ready(task)),
        8 => sink(system.release(task)),
        9 => sink(system.budget(server)),
        10 => sink(system.server_state(server)),
        11 => sink(system.task_state(task)),
        12 => sink(system.pending(task)),
        13 => sink(system.next_event()),
        14 => sink(system.now()),
        15 => sink(system.tick()),
        16 => sink(system.advance(number)),
        _ => sink::<Pick>(system.schedule()),
    }
}

fn sink<T>(value: T) {
    black_box(value);
}

/// The same calls, which do nothing.
#[cfg(feature = "weightless")]
mod weightless {
    use core::hint::black_box;
    use vestal_hsf::{Error, Pick, ServerId, ServerSpec, State, TaskId, TaskState};

    pub(crate) struct System;

    macro_rules! nothing {
        ($($name:ident($($argument:ty),*) -> $result:ty = $value:expr;)*) => {
            impl System {
                pub(crate) const fn new() -> Self {
                    Self
                }

                $(pub(crate) fn $name(&mut self, $(_: $argument),*) -> $result {
                    black_box($value)
                })*
            }
        };
    }

    nothing! {
        create_server(&ServerSpec) -> Result<ServerId, Error> = Ok(ServerId::new(0));
        add_task(ServerId, u8, u32) -> Result<TaskId, Error> = Ok(TaskId::new(0));
        make_periodic(TaskId, u32, u32) -> Result<(), Error> = Ok(());
        wait_period(TaskId) -> Result<(), Error> = Ok(());
        delay(TaskId, u32) -> Result<(), Error> = Ok(());
        delay_virtual(TaskId, u32) -> Result<(), Error> = Ok(());
        block(TaskId) -> Result<(), Error> = Ok(());
        ready(TaskId) -> Result<(), Error> = Ok(());
        release(TaskId) -> Result<(), Error> = Ok(());
        budget(ServerId) -> u32 = 0;
        server_state(ServerId) -> Option<State> = None;
        task_state(TaskId) -> Option<TaskState> = None;
        pending(TaskId) -> u32 = 0;
        next_event() -> u32 = 0;
        now() -> u64 = 0;
        tick() -> bool = false;
        advance(u32) -> bool = false;
        schedule() -> Pick = Pick::Idle;
    }
}

//! `vestal-hsf` for C: the functions of `include/vestal_hsf.h`, which says what each does and promises.
//!
//! There is one system, in static memory: a kernel has one scheduler, and no pointer crosses the border. Servers and
//! tasks are numbers, errors are negative, and what goes beyond the range of a number is an error. [`cell`] has all
//! that is unsafe.
#![no_std]

mod cell;
mod sizes;

use cell::Cell;
use sizes::System;
use vestal_hsf::relteq::Entry;
use vestal_hsf::{
    Change, Error, Hooks, Kind, LocalOrder, Pick, ServerId, ServerSpec, TaskId, TaskState, Tick,
};

static SYSTEM: Cell<System> = Cell::new(System::new());

// The numbers of the header.
const HSF_NO_ROOM: i32 = -1;
const HSF_SWITCHED_OFF: i32 = -2;
const HSF_PERIOD: i32 = -3;
const HSF_CAPACITY: i32 = -4;
const HSF_UNKNOWN_SERVER: i32 = -5;
const HSF_UNKNOWN_TASK: i32 = -6;
const HSF_WRONG_STATE: i32 = -7;
const HSF_BUSY: i32 = -8;
const HSF_RANGE: i32 = -9;
const HSF_IDLING: i32 = 0x100;
const HSF_IDLE: i32 = 0x200;
const HSF_DUMMIES: i32 = 0x100;

const fn code(error: Error) -> i32 {
    match error {
        Error::NoRoom => HSF_NO_ROOM,
        Error::SwitchedOff => HSF_SWITCHED_OFF,
        Error::Period => HSF_PERIOD,
        Error::Capacity => HSF_CAPACITY,
        Error::UnknownServer => HSF_UNKNOWN_SERVER,
        Error::UnknownTask => HSF_UNKNOWN_TASK,
        Error::WrongState => HSF_WRONG_STATE,
    }
}

/// One call on the system; a number, or why not.
fn call(what: impl FnOnce(&mut System) -> Result<i32, i32>) -> i32 {
    match SYSTEM.with(what) {
        Some(Ok(number) | Err(number)) => number,
        None => HSF_BUSY,
    }
}

/// The same for numbers of 32 bits.
fn long_call(what: impl FnOnce(&mut System) -> Result<u32, i32>) -> i64 {
    match SYSTEM.with(what) {
        Some(Ok(number)) => number.into(),
        Some(Err(error)) => error.into(),
        None => HSF_BUSY.into(),
    }
}

fn done(result: Result<(), Error>) -> Result<i32, i32> {
    result.map(|()| 0).map_err(code)
}

/// Something happens to a task, by its number.
fn change(task: u32, what: Change) -> i32 {
    call(|system| done(system.task(task_of(task)?, what)))
}

fn task_of(number: u32) -> Result<TaskId, i32> {
    let number = u8::try_from(number).map_err(|_| HSF_UNKNOWN_TASK)?;
    Ok(TaskId::new(number))
}

fn server_of(number: u32) -> Result<ServerId, i32> {
    let number = u8::try_from(number).map_err(|_| HSF_UNKNOWN_SERVER)?;
    Ok(ServerId::new(number))
}

/// Numbers of servers and tasks are bytes.
fn number_of(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(HSF_RANGE)
}

/// Forgets all servers and tasks; instant 0.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_init() -> i32 {
    call(|system| {
        system.clear();
        Ok(0)
    })
}

/// The paper's `ServerCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_create_server(
    period: u32,
    capacity: u32,
    kind: u32,
    order: u32,
    priority: u32,
) -> i32 {
    call(|system| {
        let server = system.create_server(&ServerSpec {
            kind: match kind {
                0 => Kind::Polling,
                1 => Kind::Idling,
                2 => Kind::Deferrable,
                _ => return Err(HSF_RANGE),
            },
            priority: u8::try_from(priority).map_err(|_| HSF_RANGE)?,
            order: match order {
                0 => LocalOrder::FixedPriority,
                1 => LocalOrder::EarliestDeadline,
                _ => return Err(HSF_RANGE),
            },
            period,
            capacity,
        });
        server.map(|id| number_of(id.index())).map_err(code)
    })
}

/// The paper's `ServerAddTask`.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_add_task(server: u32, priority: u32, deadline: u32) -> i32 {
    call(|system| {
        let priority = u8::try_from(priority).map_err(|_| HSF_RANGE)?;
        let task = system.add_task(server_of(server)?, priority, deadline);
        task.map(|id| number_of(id.index())).map_err(code)
    })
}

/// The paper's `TaskMakePeriodic`.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_make_periodic(task: u32, offset: u32, period: u32) -> i32 {
    call(|system| done(system.make_periodic(task_of(task)?, offset, period)))
}

/// A tick has passed.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_tick() -> i32 {
    hsf_advance(1)
}

/// So many ticks have passed.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_advance(ticks: u32) -> i32 {
    call(|system| Ok(system.timer(ticks).into()))
}

/// Ticks until the time must be told at the latest.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_next_event() -> i64 {
    long_call(|system| Ok(system.next_timer()))
}

/// Who executes next.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_pick() -> i32 {
    call(|system| {
        Ok(match system.pick() {
            Pick::Task(task) => number_of(task.index()),
            Pick::Idling(server) => HSF_IDLING | number_of(server.index()),
            Pick::Idle => HSF_IDLE,
        })
    })
}

/// A job arrives.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_release(task: u32) -> i32 {
    change(task, Change::Released)
}

/// A task that was blocked or delayed goes on.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_ready(task: u32) -> i32 {
    change(task, Change::Ready)
}

/// The running task waits for `hsf_ready`.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_block(task: u32) -> i32 {
    change(task, Change::Blocked)
}

/// The paper's `TaskWaitPeriod`.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_wait_period(task: u32) -> i32 {
    change(task, Change::EndOfJob)
}

/// The paper's `DelayFor`.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_delay(task: u32, ticks: u32) -> i32 {
    change(task, Change::Delayed(ticks))
}

/// A delay by a virtual timer of the paper.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_delay_virtual(task: u32, ticks: u32) -> i32 {
    change(task, Change::DelayedVirtual(ticks))
}

/// The paper's `ServerBudget`.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_budget(server: u32) -> i64 {
    long_call(|system| {
        let server = server_of(server)?;
        match system.server_state(server) {
            Some(_) => Ok(system.budget(server)),
            None => Err(HSF_UNKNOWN_SERVER),
        }
    })
}

/// The paper's `GetTime`.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_now() -> i64 {
    let now = SYSTEM.with(|system| i64::try_from(system.now()).unwrap_or(i64::MAX));
    now.unwrap_or(HSF_BUSY.into())
}

/// The state of a task, as far as its events are handled.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_task_state(task: u32) -> i32 {
    call(
        |system| match system.task_state(task_of(task)?).ok_or(HSF_UNKNOWN_TASK)? {
            TaskState::Waits => Ok(0),
            TaskState::Ready => Ok(1),
            TaskState::Delayed => Ok(2),
            TaskState::Blocked => Ok(3),
        },
    )
}

/// Arrivals that wait for the current job of a task to end, as far as they are handled.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_pending(task: u32) -> i64 {
    long_call(|system| {
        let task = task_of(task)?;
        match system.task_state(task) {
            Some(_) => Ok(system.pending(task)),
            None => Err(HSF_UNKNOWN_TASK),
        }
    })
}

/// Whose time stands at a position of the stopwatch.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_stopwatch_who(position: u32) -> i32 {
    call(|system| {
        let position = usize::try_from(position).map_err(|_| HSF_RANGE)?;
        let item = system.stopwatch().nth(position).ok_or(HSF_RANGE)?;
        Ok(match item.entry {
            Entry::Event(server) => number_of(server.index()),
            Entry::Dummies { .. } => HSF_DUMMIES,
        })
    })
}

/// The time that stands there.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_stopwatch_ticks(position: u32) -> i64 {
    long_call(|system| {
        let position = usize::try_from(position).map_err(|_| HSF_RANGE)?;
        let item = system.stopwatch().nth(position).ok_or(HSF_RANGE)?;
        Ok(match item.entry {
            Entry::Event(_) => item.time,
            Entry::Dummies { more } => {
                let rest = more.saturating_mul(<sizes::Width as Tick>::MAX);
                item.time.saturating_add(rest)
            }
        })
    })
}

/// Whether the invariants of the system hold.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_is_sound() -> i32 {
    call(|system| Ok(system.check_invariants().into()))
}

/// Bytes of static memory.
#[unsafe(no_mangle)]
pub extern "C" fn hsf_ram() -> u32 {
    u32::try_from(size_of_val(&SYSTEM)).unwrap_or(u32::MAX)
}

/// No call panics: the linker finds nobody who comes here.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

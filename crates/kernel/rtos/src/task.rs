//! What a task may call. Each call but [`now`] and [`work`]`(0)` may give the processor to somebody else before it returns.

use crate::call::Call;
use crate::{cell, port};
use core::sync::atomic::Ordering::Relaxed;
use vestal_hsf::{Change, TaskId};

fn call(call: Call) -> u32 {
    let (number, argument) = call.words();
    port::call(number, argument)
}

/// The idle task gives the processor away.
pub(crate) fn go() {
    call(Call::Go);
}

/// Executes for so many ticks: those in which this task has the processor when they end. Its next call has to come before another tick has ended: if
/// somebody else is to execute by then, the run ends with [`Overdue`](crate::Fault::Overdue).
pub fn work(ticks: u32) {
    if ticks == 0 {
        return;
    }
    let me = call(Call::Work(ticks));
    let left = usize::try_from(me).ok().and_then(|me| cell::WORK.get(me));
    while left.is_some_and(|left| left.load(Relaxed) > 0) {
        // It executes; who hints that it waits is not executed by QEMU for a while, which takes long.
        (0..64_u32).for_each(|step| {
            core::hint::black_box(step);
        });
    }
}

/// Ticks since the beginning of the run: `GetTime` of the paper.
#[must_use]
pub fn now() -> u32 {
    call(Call::Now)
}

/// The job has ended: `TaskWaitPeriod`. Returns when the next one begins.
pub fn wait_period() {
    call(Call::Change(Change::EndOfJob));
}

/// `DelayFor`: waits for so many ticks.
pub fn delay(ticks: u32) {
    call(Call::Change(Change::Delayed(ticks)));
}

/// Waits until the task's server has consumed so many ticks.
pub fn delay_virtual(ticks: u32) {
    call(Call::Change(Change::DelayedVirtual(ticks)));
}

/// Waits until somebody has the task go on. A [`ready`] that comes before this is not remembered but refused; a semaphore counts it.
pub fn block() {
    call(Call::Change(Change::Blocked));
}

/// A job of another task arrives.
pub fn release(task: TaskId) {
    call(Call::Release(task));
}

/// Has another task go on, which is blocked or delayed. If it is not, or waits for a semaphore, that is refused, which ends the run
/// ([`Refused`](crate::Fault::Refused)): so `ready` before [`block`] does. Where it may come first, take a semaphore.
pub fn ready(task: TaskId) {
    call(Call::Ready(task));
}

/// Takes a semaphore, or waits until it is given.
pub fn take(semaphore: u8) {
    call(Call::Take(semaphore));
}

/// Gives a semaphore.
pub fn give(semaphore: u8) {
    call(Call::Give(semaphore));
}

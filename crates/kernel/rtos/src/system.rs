//! Hands on what the port is called for: calls of tasks, ticks, switches. And runs.

use crate::kernel::{Fault, Plan, TASKS, World};
use crate::stack::{self, PAINT};
use crate::{cell, port};
use core::sync::atomic::{AtomicBool, Ordering};
use vestal_hsf::{Hooks, TaskId};

/// Whether the idle task has the processor back for good.
static OVER: AtomicBool = AtomicBool::new(true);

/// What is to be run.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// For how many ticks, at least 1.
    pub ticks: u32,
    /// How long a tick is, in microseconds, at most 500 000.
    pub micros: u32,
    /// The scheduler is told of the time when an event is due and before any other call, as by a one-shot timer; else at every tick. The
    /// timer itself ticks either way.
    pub told_when_due: bool,
    /// No tick may end while the kernel is busy, so that whoever executes in a tick has all of it: what else happens ends the run. Otherwise a
    /// tick that ends then is handled a little late, and only one that ends in the handler of another ends the run.
    pub exact: bool,
    /// By task, its program. It need not return; a task whose program has does nothing any more.
    pub programs: &'a [fn(TaskId)],
}

/// Runs tasks from instant 0 on, on stacks that are painted anew. The caller is the idle task meanwhile.
///
/// # Errors
/// The first [`Fault`], which has ended the run; [`Fault::Runs`] for a run inside another one, which goes on.
pub fn run(hooks: &mut dyn Hooks, world: &mut dyn World, run: &Run<'_>) -> Result<(), Fault> {
    if !cell::claim() {
        return Err(Fault::Runs);
    }
    let fault = alone(hooks, world, run);
    cell::disclaim();
    fault.map_or(Ok(()), Err)
}

/// Apart, so that the stack of a task that is refused a run holds the refusal.
#[inline(never)]
fn alone(hooks: &mut dyn Hooks, world: &mut dyn World, run: &Run<'_>) -> Option<Fault> {
    let mut contexts = [0; TASKS];
    for ((number, context), body) in (0..TASKS).zip(&mut contexts).zip(run.programs) {
        let frame = cell::with_stack(number, |words| {
            words.fill(PAINT);
            port::frame(words, number, *body)
        });
        *context = frame.unwrap_or(0);
    }
    OVER.store(false, Ordering::SeqCst);
    let plan = Plan {
        end: run.ticks,
        told_when_due: run.told_when_due,
        exact: run.exact,
    };
    cell::lend((hooks, world), plan, || {
        for (task, context) in (0..u8::MAX).map(TaskId::new).zip(contexts) {
            cell::with(|kernel| kernel.set_context(task, context));
        }
        port::start_timer(run.micros);
        crate::task::go();
        while !OVER.load(Ordering::SeqCst) {
            port::wait();
        }
        port::stop_timer();
    })
}

/// Words of a task's stack that it did not use in the last run, and how many there are; `None` while tasks run.
#[must_use]
pub fn unused_stack(task: TaskId) -> Option<(usize, usize)> {
    cell::with_stack(task.index(), |words| (stack::unused(words), words.len()))
}

/// A tick has ended. Says whether to switch.
pub(crate) fn tick() -> bool {
    cell::with(|kernel| {
        let switch = kernel.tick();
        kernel.is_late(true, port::tick_is_pending()) || switch
    })
}

/// The running task has made a call. Its result, and whether to switch.
pub(crate) fn call(number: u32, argument: u32) -> (u32, bool) {
    cell::with(|kernel| {
        let (result, switch) = kernel.call(number, argument);
        let late = kernel.is_late(false, port::tick_is_pending());
        (result, late || switch)
    })
}

/// The running task was saved there. Where the next one is.
pub(crate) fn switch(saved: usize) -> usize {
    cell::with(|kernel| {
        let task = kernel.task().filter(|task| !cell::is_whole(task.index()));
        if let Some(task) = task {
            kernel.fail(Fault::Stack(task));
        }
        let next = kernel.switch(saved);
        // If it is, the next tick switches to the idle task.
        kernel.is_late(false, port::tick_is_pending());
        if kernel.is_over() {
            OVER.store(true, Ordering::SeqCst);
        }
        next
    })
}

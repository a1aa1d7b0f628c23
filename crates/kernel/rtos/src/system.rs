//! Hands on what the port is called for: calls of tasks, ticks, switches. And runs.

use crate::kernel::{Fault, Kernel, TASKS, World};
use crate::stack::{self, PAINT};
use crate::{cell, console, port};
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
    /// The scheduler is called when an event is due, and else at every tick.
    pub one_shot: bool,
    /// By task, its program. It need not return; a task whose program has does nothing any more.
    pub programs: &'a [fn(TaskId)],
}

/// Runs tasks from instant 0 on, on stacks that are painted anew. The caller is the idle task meanwhile.
///
/// # Errors
/// The first [`Fault`], which has ended the run.
pub fn run(hooks: &mut dyn Hooks, world: &mut dyn World, run: &Run<'_>) -> Result<(), Fault> {
    let mut contexts = [0; TASKS];
    for ((number, context), body) in (0..TASKS).zip(&mut contexts).zip(run.programs) {
        let frame = cell::with_stack(number, |words| {
            words.fill(PAINT);
            port::frame(words, number, *body)
        });
        *context = frame.unwrap_or(0);
    }
    OVER.store(false, Ordering::SeqCst);
    let fault = cell::lend((hooks, world), (run.ticks, run.one_shot), || {
        for (task, context) in (0..u8::MAX).map(TaskId::new).zip(contexts) {
            with(|kernel| kernel.set_context(task, context));
        }
        port::start_timer(run.micros);
        crate::task::go();
        while !OVER.load(Ordering::SeqCst) {
            port::wait();
        }
        port::stop_timer();
    });
    fault.map_or(Ok(()), Err)
}

/// Words of a task's stack that it did not use in the last run, and how many there are; `None` while tasks run.
#[must_use]
pub fn unused_stack(task: TaskId) -> Option<(usize, usize)> {
    cell::with_stack(task.index(), |words| (stack::unused(words), words.len()))
}

fn with<R>(what: impl FnOnce(&mut Kernel) -> R) -> R {
    cell::with(what).unwrap_or_else(|| {
        console::write("a handler was interrupted by another\n");
        console::exit(103)
    })
}

/// A tick has ended. Says whether to switch.
pub(crate) fn tick() -> bool {
    with(|kernel| {
        let switch = kernel.tick();
        late(kernel) || switch
    })
}

/// The running task has made a call. Its result, and whether to switch.
pub(crate) fn call(number: u32, argument: u32) -> (u32, bool) {
    with(|kernel| {
        let (result, switch) = kernel.call(number, argument);
        (result, late(kernel) || switch)
    })
}

/// The running task was saved there. Where the next one is.
pub(crate) fn switch(saved: usize) -> usize {
    with(|kernel| {
        let task = kernel.task().filter(|task| !cell::is_whole(task.index()));
        if let Some(task) = task {
            kernel.fail(Fault::Stack(task));
        }
        let next = kernel.switch(saved);
        // Nobody would call anymore, and the next tick finds out as well.
        late(kernel);
        if kernel.is_over() {
            OVER.store(true, Ordering::SeqCst);
        }
        next
    })
}

/// Whether the next tick has ended already.
fn late(kernel: &mut Kernel) -> bool {
    let late = port::tick_is_pending() && !kernel.is_over();
    if late {
        kernel.fail(Fault::Late);
    }
    late
}

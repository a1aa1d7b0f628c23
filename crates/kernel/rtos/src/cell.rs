//! What is in static memory: the one kernel, and the stacks. All that is unsafe about them.

use crate::kernel::{Fault, Kernel, TASKS, Work, World};
use crate::stack::{MARGIN, PAINT, STACK_WORDS};
use core::cell::UnsafeCell;
use core::mem::transmute;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use vestal_hsf::Hooks;

pub(crate) static WORK: Work = [const { AtomicU32::new(0) }; TASKS];
static KERNEL: Cell = Cell {
    kernel: UnsafeCell::new(Kernel::new(&WORK)),
    busy: AtomicBool::new(false),
};
static STACKS: Stacks = Stacks(UnsafeCell::new([[PAINT; STACK_WORDS]; TASKS]));
/// Whether tasks have their stacks.
static RUNS: AtomicBool = AtomicBool::new(false);

struct Cell {
    kernel: UnsafeCell<Kernel>,
    busy: AtomicBool,
}

// SAFETY: `with` hands out at most one reference at a time. There is one processor, so that nothing else than order in the program has to be
// kept, and an exchange of the word orders the compiler.
unsafe impl Sync for Cell {}

#[repr(C, align(16))]
struct Stacks(UnsafeCell<[[u32; STACK_WORDS]; TASKS]>);

// SAFETY: `with_stack` hands them out only while no task runs, on one processor; `is_whole` reads a few words.
unsafe impl Sync for Stacks {}

/// Uses the kernel; nothing if somebody does who was interrupted, which no handler is.
pub(crate) fn with<R>(what: impl FnOnce(&mut Kernel) -> R) -> Option<R> {
    if KERNEL.busy.swap(true, Ordering::Acquire) {
        return None;
    }
    // SAFETY: the word was free and is ours until it is given back below; nobody else has a reference until then.
    let result = what(unsafe { &mut *KERNEL.kernel.get() });
    KERNEL.busy.store(false, Ordering::Release);
    Some(result)
}

/// Lends a scheduler and a world to the kernel while `body` lasts, from its state at instant 0 on. What went wrong, if anything did.
pub(crate) fn lend(
    (hooks, world): (&mut dyn Hooks, &mut dyn World),
    times: (u32, bool),
    body: impl FnOnce(),
) -> Option<Fault> {
    // SAFETY: `finish` takes both out of the kernel again before this function returns, and nothing unwinds: a panic
    // ends the image. Until then the kernel alone uses them, which hands no reference to them to anybody.
    let (hooks, world) = unsafe {
        (
            transmute::<&mut dyn Hooks, &'static mut (dyn Hooks + 'static)>(hooks),
            transmute::<&mut dyn World, &'static mut (dyn World + 'static)>(world),
        )
    };
    let _ = with(|kernel| kernel.begin(hooks, world, times));
    RUNS.store(true, Ordering::SeqCst);
    body();
    RUNS.store(false, Ordering::SeqCst);
    with(Kernel::finish).flatten()
}

/// Uses the stack of a task; nothing while tasks run, or if there is no such task.
pub(crate) fn with_stack<R>(
    task: usize,
    what: impl FnOnce(&mut [u32; STACK_WORDS]) -> R,
) -> Option<R> {
    if RUNS.load(Ordering::SeqCst) || task >= TASKS {
        return None;
    }
    let stack = STACKS
        .0
        .get()
        .cast::<[u32; STACK_WORDS]>()
        .wrapping_add(task);
    // SAFETY: the pointer is to an element of the array. No task runs and none will before this returns, since only the idle task, which is
    // here, begins a run; and no handler uses stacks of tasks but to look at their ends in `is_whole`.
    Some(what(unsafe { &mut *stack }))
}

/// Whether the last words of a task's stack are as they were painted.
pub(crate) fn is_whole(task: usize) -> bool {
    let stack = STACKS.0.get().cast::<[u32; STACK_WORDS]>();
    let end = stack
        .wrapping_add(task.min(TASKS - 1))
        .cast::<[u32; MARGIN]>();
    // SAFETY: the pointer is to the first words of an element of the array, and a task does not run while a handler does.
    let words = unsafe { end.read_volatile() };
    words.iter().all(|&word| word == PAINT)
}

//! What is in static memory: the one kernel, and the stacks. All that is unsafe about them.

use crate::console;
use crate::kernel::{Fault, Kernel, Plan, TASKS, Work, World};
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
static STACKS: Stacks = Stacks(UnsafeCell::new([[0; STACK_WORDS]; TASKS]));
/// Whether tasks have their stacks.
static RUNS: AtomicBool = AtomicBool::new(false);
/// Whether somebody is about to have a run, or has one.
static CLAIMED: AtomicBool = AtomicBool::new(false);

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

/// Uses the kernel. The image ends if somebody does who was interrupted, which no handler is.
pub(crate) fn with<R>(what: impl FnOnce(&mut Kernel) -> R) -> R {
    if KERNEL.busy.swap(true, Ordering::Acquire) {
        console::write("a handler was interrupted by another\n");
        console::exit(103)
    }
    // SAFETY: the word was free and is ours until it is given back below; nobody else has a reference until then.
    let result = what(unsafe { &mut *KERNEL.kernel.get() });
    KERNEL.busy.store(false, Ordering::Release);
    result
}

/// Whether a run may begin, which nobody else may before [`disclaim`].
pub(crate) fn claim() -> bool {
    !CLAIMED.swap(true, Ordering::SeqCst)
}

/// The run is over.
pub(crate) fn disclaim() {
    CLAIMED.store(false, Ordering::SeqCst);
}

/// Lends a scheduler and a world to the kernel while `body` lasts, from its state at instant 0 on. What went wrong, if anything
/// did. Only for who has a [`claim`].
pub(crate) fn lend(
    (hooks, world): (&mut dyn Hooks, &mut dyn World),
    plan: Plan,
    body: impl FnOnce(),
) -> Option<Fault> {
    // SAFETY: `finish` takes both out of the kernel again before this function returns, and nothing unwinds: a panic
    // ends the image, and so does `with` if it finds the kernel in use. Until then the kernel alone uses them, which hands no reference to them
    // to anybody, and no other run has it use others: `claim` refuses that.
    let (hooks, world) = unsafe {
        (
            transmute::<&mut dyn Hooks, &'static mut (dyn Hooks + 'static)>(hooks),
            transmute::<&mut dyn World, &'static mut (dyn World + 'static)>(world),
        )
    };
    with(|kernel| kernel.begin(hooks, world, plan));
    RUNS.store(true, Ordering::SeqCst);
    body();
    RUNS.store(false, Ordering::SeqCst);
    with(Kernel::finish)
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
    // SAFETY: the pointer is to an element of the array. No task runs and none will before this returns, since whoever is here began as the only
    // thread, and `claim` refuses runs to tasks and handlers; and no handler uses stacks of tasks but to look at their ends in `is_whole`.
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
    // Not one after the other: each switch asks.
    let [a, b, c, d, e, f, g, h] = words.map(|word| word ^ PAINT);
    (a | b | c | d | e | f | g | h) == 0
}

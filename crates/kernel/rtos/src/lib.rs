//! A small preemptive kernel on bare metal, which hosts [`vestal_hsf`]: a Cortex-M3 (QEMU's boards mps2-an385 and
//! lm3s6965evb) and riscv32 (`virt`).
//!
//! ```text
//!    tasks, the idle task ----- task: work, delay, end of job, semaphores
//!      |  call (svc, ecall)
//!    port: vectors, start-up, contexts, timer         cell: what is in static memory
//!      |  calls, ticks, switches
//!    system: hands them on
//!      |
//!    kernel: contexts, calls, time ----- semaphore
//!      |
//!    glue: the three hooks, counted
//! ```
//! `kernel` and what is below it know no processor: their tests run on a host. What is unsafe is in `port` and `cell` alone; the
//! lint `unsafe_code` sees to it.
//!
//! **One priority.** Calls of tasks, switches and the timer are handled at one priority, so that no handler interrupts another and no
//! state needs a lock. Tasks are never masked; handlers are never interrupted.
//!
//! **Time in ticks.** A task that calls [`task::work`] spins until so many ticks have passed while it was executing. When the last of
//! them ends it goes on, to its next call, before anybody else is picked, so that what ends with a tick has ended at that tick; if
//! somebody is to be picked, that call has to come before the next tick ends. A task that computes without that call is preempted wherever it is.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    not(target_os = "none"),
    allow(dead_code, reason = "without a processor not all of it is called")
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::unwrap_used,
        reason = "a test may fail loudly"
    )
)]

pub mod bounds;
mod call;
pub mod flat;
mod glue;
mod kernel;
mod semaphore;
mod stack;

#[cfg(target_os = "none")]
#[expect(unsafe_code, reason = "the one system in static memory")]
mod cell;
#[cfg(target_os = "none")]
pub mod console;
#[cfg(target_os = "none")]
pub mod instructions;
#[cfg(target_os = "none")]
#[expect(unsafe_code, reason = "registers, vectors, contexts")]
mod port;
#[cfg(target_os = "none")]
mod system;
#[cfg(target_os = "none")]
pub mod task;

#[cfg(test)]
mod tests;

pub use kernel::{Fault, Kernel, TASKS, World};
#[cfg(target_os = "none")]
pub use port::{check_registers, counter, unused_handler_stack};
#[cfg(target_os = "none")]
pub use system::{Run, run, unused_stack};

/// Has a function be the program of an image. What it returns is the code with which the image ends.
#[macro_export]
macro_rules! image {
    ($main:path) => {
        /// What the start-up calls.
        #[expect(
            unsafe_code,
            reason = "the start-up knows it by its name, and nothing else has it"
        )]
        #[unsafe(no_mangle)]
        extern "C" fn image_main() -> u32 {
            let main: fn() -> u32 = $main;
            main()
        }
    };
}

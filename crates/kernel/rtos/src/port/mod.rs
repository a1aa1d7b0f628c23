//! What each processor has of its own: start-up and vectors, calls, the timer, contexts, the interface to who runs the image.
//!
//! | | Cortex-M | riscv32 |
//! |---|---|---|
//! | call of a task | `svc`, two words in r0 and r1 | `ecall` in machine mode, a0 and a1 |
//! | tick | SysTick | `mtime` |
//! | switch | PendSV, after the handler that asked for it | at the end of that trap |
//! | context on the task's stack | 8 words by the processor, 8 by PendSV if there is a switch | 32 words, by every trap (gp and tp are not among them) |
//! | handlers' stack | MSP | set by the trap |

#[cfg(target_arch = "arm")]
mod cortex_m;
mod register;
#[cfg(target_arch = "riscv32")]
mod riscv;
pub(crate) mod semihosting;

#[cfg(target_arch = "arm")]
use cortex_m as cpu;
#[cfg(target_arch = "riscv32")]
use riscv as cpu;

pub(crate) use cpu::{call, frame, start_timer, stop_timer, tick_is_pending, wait};
pub use cpu::{check_registers, counter};

use crate::stack::PAINT;
use crate::{console, task};
use core::mem::transmute;
use vestal_hsf::TaskId;

/// Words of the handlers' stack, as `boards/sections.x` has it.
const HANDLER_WORDS: usize = 1024;

// SAFETY: the linker script defines it so: as many words of memory, which nothing else is in.
unsafe extern "C" {
    static mut __handler_stack: [u32; HANDLER_WORDS];
}

fn paint_handler_stack() {
    let first = (&raw mut __handler_stack).cast::<u32>();
    for word in 0..HANDLER_WORDS {
        // SAFETY: the pointer is to a word of the stack, and no handler runs before the start-up is done.
        unsafe { first.wrapping_add(word).write_volatile(PAINT) };
    }
}

/// Words of the handlers' stack that have not been used since the image began, and how many there are. O(words).
#[must_use]
pub fn unused_handler_stack() -> (usize, usize) {
    let first = (&raw const __handler_stack).cast::<u32>();
    let is_painted = |&word: &usize| {
        // SAFETY: the pointer is to a word of the stack, which handlers write before or after this reads it: there is one processor.
        let word = unsafe { first.wrapping_add(word).read_volatile() };
        word == PAINT
    };
    let unused = (0..HANDLER_WORDS).take_while(is_painted).last();
    (
        unused.map_or(0, |last| last.saturating_add(1)),
        HANDLER_WORDS,
    )
}

// SAFETY: the macro `image` defines it so, in safe code.
unsafe extern "C" {
    safe fn image_main() -> u32;
}

/// The start-up goes on here, as the idle task, with memory as it should be.
extern "C" fn start() -> ! {
    paint_handler_stack();
    cpu::prepare();
    console::exit(image_main())
}

/// Where a task begins.
extern "C" fn begin(task: u32, body: usize) -> ! {
    let body = core::ptr::with_exposed_provenance::<()>(body);
    // SAFETY: the address was exposed from such a function where the context was made (`frame`).
    let body = unsafe { transmute::<*const (), fn(TaskId)>(body) };
    body(TaskId::new(u8::try_from(task).unwrap_or(u8::MAX)));
    loop {
        task::block();
    }
}

/// What nobody expects: the image ends.
extern "C" fn fault() -> ! {
    console::write("the processor met a fault\n");
    console::exit(102)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    console::exit(101)
}

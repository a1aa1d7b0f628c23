//! Cortex-M3: vectors and start-up, SVC, PendSV and SysTick at one priority.

use super::register::Register;
use crate::system;
use core::arch::{asm, global_asm};
use vestal_hsf::TaskId;

global_asm!(
    // Handlers use the main stack, tasks and the idle task the process stack.
    ".section .vectors, \"a\", %progbits",
    ".word __handler_stack_top",
    ".word reset",
    ".word {fault}", // NMI
    ".word {fault}", // HardFault
    ".word {fault}", // MemManage
    ".word {fault}", // BusFault
    ".word {fault}", // UsageFault
    ".word 0, 0, 0, 0",
    ".word svc_handler",
    ".word {fault}", // debug
    ".word 0",
    ".word pendsv_handler",
    ".word {tick}",
    ".rept 32",
    ".word {fault}", // no device is switched on
    ".endr",

    ".section .text.reset, \"ax\", %progbits",
    ".syntax unified",
    ".thumb",
    ".global reset",
    ".type reset, %function",
    ".thumb_func",
    "reset:",
    "ldr r0, =__bss_start",
    "ldr r1, =__bss_end",
    "movs r2, #0",
    "1: cmp r0, r1",
    "bhs 2f",
    "str r2, [r0], #4",
    "b 1b",
    "2: ldr r0, =__data_start",
    "ldr r1, =__data_end",
    "ldr r2, =__data_load",
    "3: cmp r0, r1",
    "bhs 4f",
    "ldr r3, [r2], #4",
    "str r3, [r0], #4",
    "b 3b",
    "4: ldr r0, =__idle_stack_top",
    "msr psp, r0",
    "movs r0, #2",
    "msr control, r0",
    "isb",
    "bl {start}",
    ".pool",

    // Its return address is how the exception returns.
    ".type svc_handler, %function",
    ".thumb_func",
    "svc_handler:",
    "mrs r0, psp",
    "b {call}",

    // The processor has saved r0-r3, r12, lr, pc and the flags where psp is now.
    ".type pendsv_handler, %function",
    ".thumb_func",
    "pendsv_handler:",
    "mrs r0, psp",
    "stmdb r0!, {{r4-r11}}",
    "push {{r3, lr}}",
    "bl {switch}",
    "pop {{r3, lr}}",
    "ldmia r0!, {{r4-r11}}",
    "msr psp, r0",
    "bx lr",
    fault = sym super::fault,
    tick = sym tick,
    start = sym super::start,
    call = sym handle_call,
    switch = sym switch,
);

/// SysTick's control, reload and current value; interrupt control; priorities of the system's handlers.
// SAFETY: this word is a register of the processor, and what it does it does to the processor's exceptions and timer alone.
const SYST_CSR: Register = unsafe { Register::at(0xE000_E010) };
// SAFETY: as above.
const SYST_RVR: Register = unsafe { Register::at(0xE000_E014) };
// SAFETY: as above.
const SYST_CVR: Register = unsafe { Register::at(0xE000_E018) };
// SAFETY: as above.
const ICSR: Register = unsafe { Register::at(0xE000_ED04) };
// SAFETY: as above.
const SHPR2: Register = unsafe { Register::at(0xE000_ED1C) };
// SAFETY: as above.
const SHPR3: Register = unsafe { Register::at(0xE000_ED20) };
const PENDSVSET: u32 = 1 << 28;
const PENDSTSET: u32 = 1 << 26;
const PENDSTCLR: u32 = 1 << 25;

/// Half of that of mps2-an385.
#[cfg(board = "lm3s6965evb")]
const TWICE_CYCLES_PER_MICRO: u32 = 25;
#[cfg(not(board = "lm3s6965evb"))]
const TWICE_CYCLES_PER_MICRO: u32 = 50;
/// The timer has 24 bits.
const MOST: u32 = 0xFF_FFFF;

/// One priority for SVC, PendSV and SysTick. Faults are above it.
pub(super) fn prepare() {
    SHPR2.set(0x8000_0000);
    SHPR3.set(0x8080_0000);
}

pub(crate) fn start_timer(micros: u32) {
    let cycles = micros.saturating_mul(TWICE_CYCLES_PER_MICRO) / 2;
    SYST_RVR.set(cycles.saturating_sub(1).clamp(1, MOST));
    SYST_CVR.set(0);
    // On, with an interrupt, by the processor's clock.
    SYST_CSR.set(7);
}

pub(crate) fn stop_timer() {
    SYST_CSR.set(0);
    ICSR.set(PENDSTCLR);
}

/// Whether a tick has ended that is not handled yet. A second one before that would be lost.
pub(crate) fn tick_is_pending() -> bool {
    ICSR.get() & PENDSTSET != 0
}

fn pend_switch() {
    ICSR.set(PENDSVSET);
}

extern "C" fn tick() {
    if system::tick() {
        pend_switch();
    }
}

extern "C" fn handle_call(frame: *mut u32) {
    // SAFETY: the processor has saved r0, r1 and six more words there, on the stack of the task that made the call.
    let (number, argument) = unsafe { (frame.read(), frame.add(1).read()) };
    let (result, switch) = system::call(number, argument);
    // SAFETY: as above; r0 is what the call returns.
    unsafe { frame.write(result) };
    if switch {
        pend_switch();
    }
}

extern "C" fn switch(saved: usize) -> usize {
    system::switch(saved)
}

/// A call of the kernel; a switch that it leads to comes before the next instruction.
pub(crate) fn call(number: u32, argument: u32) -> u32 {
    let result;
    // SAFETY: the handler keeps all registers but r0, and so does a switch.
    unsafe { asm!("svc 0", inlateout("r0") number => result, in("r1") argument) };
    result
}

/// Until the next interrupt.
pub(crate) fn wait() {
    // SAFETY: it changes nothing.
    unsafe { asm!("wfi", options(nomem, nostack, preserves_flags)) };
}

/// The context of a task that has not begun, at the beginning of its stack: r4 to r11, and what the processor takes from
/// there. Where it is.
pub(crate) fn frame(words: &mut [u32], task: usize, body: fn(TaskId)) -> usize {
    let Some(frame) = words.last_chunk_mut::<16>() else {
        return 0;
    };
    *frame = [0; 16];
    let [_, _, _, _, _, _, _, _, r0, r1, _, _, _, _, pc, psr] = frame;
    let word = |address: usize| u32::try_from(address).unwrap_or(0);
    *r0 = word(task);
    *r1 = word((body as *const ()).expose_provenance());
    let begin: extern "C" fn(u32, usize) -> ! = super::begin;
    // The lowest bit of an address says Thumb; here the flags do.
    *pc = word(begin as usize) & !1;
    *psr = 1 << 24;
    frame.as_mut_ptr().expose_provenance()
}

/// # Safety
/// `argument` must be what `operation` of the semihosting interface expects.
pub(super) unsafe fn semihost(operation: usize, argument: usize) -> usize {
    let result;
    // SAFETY: the breakpoint hands over to the debugger, which keeps to the caller's promise and changes r0 only.
    unsafe {
        asm!("bkpt 0xab", inlateout("r0") operation => result, in("r1") argument, options(nostack));
    }
    result
}

global_asm!(
    ".section .text.registers, \"ax\", %progbits",
    ".syntax unified",
    ".thumb",
    ".global kernel_registers",
    ".type kernel_registers, %function",
    ".thumb_func",
    // 0 if r1 to r12, lr and the zero flag are 300 rounds later what was written to them, the seed and their number.
    "kernel_registers:",
    "push {{r4-r11, lr}}",
    "add r1, r0, #1",
    "add r2, r0, #2",
    "add r3, r0, #3",
    "add r4, r0, #4",
    "add r5, r0, #5",
    "add r6, r0, #6",
    "add r7, r0, #7",
    "add r8, r0, #8",
    "add r9, r0, #9",
    "add r10, r0, #10",
    "add r11, r0, #11",
    "add lr, r0, #14",
    "mov r12, #300",
    "1: subs r12, r12, #1",
    "bne 1b",
    // No flag is written from here on until they are asked for.
    ".rept 100",
    "nop",
    ".endr",
    "it ne",
    "movne r1, #0",
    "add r12, r0, #12",
    ".rept 100",
    "nop",
    ".endr",
    ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12",
    "sub r\\n, r\\n, r0",
    "cmp r\\n, #\\n",
    "bne 2f",
    ".endr",
    "sub lr, lr, r0",
    "cmp lr, #14",
    "bne 2f",
    "movs r0, #0",
    "pop {{r4-r11, pc}}",
    "2: movs r0, #1",
    "pop {{r4-r11, pc}}",
);

// SAFETY: it is defined above, takes and returns a word, keeps what callers expect to be kept, and reads and writes its own frame alone.
unsafe extern "C" {
    safe fn kernel_registers(seed: u32) -> u32;
}

/// Fills all registers with what follows from the seed, computes for some hundred instructions, and says whether they are as they
/// should be: who is preempted meanwhile must not lose any.
#[must_use]
pub fn check_registers(seed: u32) -> bool {
    kernel_registers(seed) == 0
}

/// SysTick's current value, to count with: what it counts for an instruction under `-icount` is to be measured.
pub mod counter {
    use super::{MOST, SYST_CSR, SYST_CVR, SYST_RVR};
    use core::arch::asm;

    /// The counter. It is started if the timer does not run.
    #[must_use]
    pub fn read() -> u32 {
        if SYST_CSR.get() & 1 == 0 {
            SYST_RVR.set(MOST);
            SYST_CVR.set(0);
            // On, without an interrupt.
            SYST_CSR.set(5);
        }
        SYST_CVR.get()
    }

    /// What it counted between two readings, less than a tick apart.
    #[must_use]
    pub fn between(before: u32, after: u32) -> u32 {
        // It counts down, and begins anew from the reload value.
        let around = SYST_RVR.get().wrapping_add(1);
        match before.checked_sub(after) {
            Some(units) => units,
            None => before.wrapping_add(around).wrapping_sub(after),
        }
    }

    /// Where what is counted begins and ends, for who counts from outside (`plugin/count.c`).
    #[inline(never)]
    pub fn mark() {
        // SAFETY: it does nothing.
        unsafe { asm!("nop", options(nomem, nostack, preserves_flags)) };
    }

    /// Twenty thousand instructions, besides call and return.
    pub fn many_instructions() {
        // SAFETY: they do nothing.
        unsafe { asm!(".rept 20000", "nop", ".endr", options(nomem, nostack)) };
    }

    /// A thousand instructions, besides call and return.
    pub fn thousand_instructions() {
        // SAFETY: they do nothing.
        unsafe { asm!(".rept 1000", "nop", ".endr", options(nomem, nostack)) };
    }
}

//! riscv32, QEMU's board `virt`: machine mode alone. Every trap saves all registers but gp and tp, which nobody uses, on the stack of whoever it interrupts and
//! goes on on the handlers' stack; traps are masked until it returns.

use super::register::Register;
use crate::system;
use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicU32, Ordering};
use vestal_hsf::TaskId;

/// Words of a context: by number of the register (x2 stands for itself), the first for mepc.
const FRAME: usize = 32;

global_asm!(
    ".section .vectors, \"ax\"",
    ".global reset",
    "reset:",
    "la t0, __bss_start",
    "la t1, __bss_end",
    "1: bgeu t0, t1, 2f",
    "sw zero, 0(t0)",
    "addi t0, t0, 4",
    "j 1b",
    "2: la t0, __data_start",
    "la t1, __data_end",
    "la t2, __data_load",
    "3: bgeu t0, t1, 4f",
    "lw t3, 0(t2)",
    "sw t3, 0(t0)",
    "addi t0, t0, 4",
    "addi t2, t2, 4",
    "j 3b",
    "4: la sp, __idle_stack_top",
    "la t0, trap_entry",
    "csrw mtvec, t0",
    "call {start}",

    // Its address has to be a multiple of 4.
    ".section .text.trap, \"ax\"",
    ".balign 4",
    "trap_entry:",
    "addi sp, sp, -128",
    "sw x1, 4(sp)",
    ".irp n, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "sw x\\n, 4 * \\n(sp)",
    ".endr",
    "csrr t0, mepc",
    "sw t0, 0(sp)",
    "mv a0, sp",
    "la sp, __handler_stack_top",
    "call {trap}",
    "mv sp, a0",
    "lw t0, 0(sp)",
    "csrw mepc, t0",
    // Whoever was interrupted between lr.w and sc.w must not find somebody else's reservation: this ends any.
    ".option push",
    ".option arch, +a",
    "sc.w zero, t0, (sp)",
    ".option pop",
    "lw x1, 4(sp)",
    ".irp n, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "lw x\\n, 4 * \\n(sp)",
    ".endr",
    "addi sp, sp, 128",
    "mret",
    start = sym super::start,
    trap = sym trap,
);

/// Words of the core-local interruptor; `mtime` counts at 10 MHz.
// SAFETY: this word is a register of the board, and the timer's next interrupt alone depends on it.
const MTIMECMP: Register = unsafe { Register::at(0x0200_4000) };
// SAFETY: as above.
const MTIMECMP_HIGH: Register = unsafe { Register::at(0x0200_4004) };
// SAFETY: as above.
const MTIME: Register = unsafe { Register::at(0x0200_BFF8) };
// SAFETY: as above.
const MTIME_HIGH: Register = unsafe { Register::at(0x0200_BFFC) };
const CYCLES_PER_MICRO: u32 = 10;
/// How long a tick is, in these cycles.
static TICK: AtomicU32 = AtomicU32::new(0);

const TIMER: u32 = 0x8000_0007;
const ECALL: u32 = 11;

fn set_timer(at: u64) {
    // Never too early on the way.
    MTIMECMP_HIGH.set(u32::MAX);
    MTIMECMP.set((at & 0xFFFF_FFFF) as u32);
    MTIMECMP_HIGH.set((at >> 32) as u32);
}

fn time() -> u64 {
    loop {
        let (high, low) = (MTIME_HIGH.get(), MTIME.get());
        if MTIME_HIGH.get() == high {
            return u64::from(high) << 32 | u64::from(low);
        }
    }
}

/// Traps are taken from now on; the timer's not before it is started.
pub(super) fn prepare() {
    stop_timer();
    // SAFETY: the trap's vector is set, and what it needs is in place. mstatus.MIE, mie.MTIE.
    unsafe { asm!("csrs mie, {}", "csrsi mstatus, 8", in(reg) 1 << 7, options(nostack)) };
}

pub(crate) fn start_timer(micros: u32) {
    let tick = micros.saturating_mul(CYCLES_PER_MICRO).max(1);
    TICK.store(tick, Ordering::Relaxed);
    set_timer(time().saturating_add(tick.into()));
}

pub(crate) fn stop_timer() {
    set_timer(u64::MAX);
}

/// The next tick is a tick after the last one, however late this one was handled.
fn next_tick() {
    let last = u64::from(MTIMECMP_HIGH.get()) << 32 | u64::from(MTIMECMP.get());
    set_timer(last.saturating_add(TICK.load(Ordering::Relaxed).into()));
}

/// Whether a tick has ended that is not handled yet.
pub(crate) fn tick_is_pending() -> bool {
    let pending: u32;
    // SAFETY: it reads which interrupts are pending.
    unsafe { asm!("csrr {}, mip", out(reg) pending, options(nomem, nostack)) };
    pending & 1 << 7 != 0
}

extern "C" fn trap(context: *mut u32) -> *mut u32 {
    let cause: u32;
    // SAFETY: it reads why the trap was taken.
    unsafe { asm!("csrr {}, mcause", out(reg) cause, options(nomem, nostack)) };
    let switch = match cause {
        TIMER => {
            next_tick();
            system::tick()
        }
        ECALL => {
            // SAFETY: the entry has saved a context there, on the stack of the task that made the call.
            let frame = unsafe { &mut *context.cast::<[u32; FRAME]>() };
            let [pc, _, _, _, _, _, _, _, _, _, a0, a1, ..] = frame;
            let (result, switch) = system::call(*a0, *a1);
            *a0 = result;
            // Behind the ecall, which is never compressed.
            *pc = pc.wrapping_add(4);
            switch
        }
        _ => super::fault(),
    };
    if switch {
        core::ptr::with_exposed_provenance_mut(system::switch(context.expose_provenance()))
    } else {
        context
    }
}

/// A call of the kernel; a switch that it leads to comes before the next instruction.
pub(crate) fn call(number: u32, argument: u32) -> u32 {
    let result;
    // SAFETY: the trap keeps all registers but a0, and so does a switch.
    unsafe { asm!("ecall", inlateout("a0") number => result, in("a1") argument) };
    result
}

/// Until the next interrupt.
pub(crate) fn wait() {
    // SAFETY: it changes nothing.
    unsafe { asm!("wfi", options(nomem, nostack)) };
}

/// The context of a task that has not begun, at the beginning of its stack. Where it is.
pub(crate) fn frame(words: &mut [u32], task: usize, body: fn(TaskId)) -> usize {
    let Some(frame) = words.last_chunk_mut::<FRAME>() else {
        return 0;
    };
    *frame = [0; FRAME];
    let [pc, _, _, _, _, _, _, _, _, _, a0, a1, ..] = frame;
    let word = |address: usize| u32::try_from(address).unwrap_or(0);
    *a0 = word(task);
    *a1 = word((body as *const ()).expose_provenance());
    let begin: extern "C" fn(u32, usize) -> ! = super::begin;
    *pc = word(begin as usize);
    frame.as_mut_ptr().expose_provenance()
}

/// # Safety
/// `argument` must be what `operation` of the semihosting interface expects.
pub(super) unsafe fn semihost(operation: usize, argument: usize) -> usize {
    let result;
    // SAFETY: the three instructions hand over to the debugger, which keeps to the caller's promise and changes a0 only.
    unsafe {
        asm!(
            ".option push",
            ".option norvc",
            ".balign 16",
            "slli x0, x0, 0x1f",
            "ebreak",
            "srai x0, x0, 7",
            ".option pop",
            inlateout("a0") operation => result,
            in("a1") argument,
            options(nostack)
        );
    }
    result
}

global_asm!(
    ".section .text.registers, \"ax\"",
    ".global kernel_registers",
    // 0 if all registers but zero, sp, gp, tp and a0 are some rounds later what was written to them, the seed and their number.
    "kernel_registers:",
    "addi sp, sp, -128",
    ".irp n, 1, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27",
    "sw x\\n, 4 * \\n(sp)",
    ".endr",
    ".irp n, 1, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "addi x\\n, a0, \\n",
    ".endr",
    "li x5, 300",
    "1: addi x5, x5, -1",
    "bnez x5, 1b",
    "addi x5, a0, 5",
    ".rept 200",
    "nop",
    ".endr",
    ".irp n, 1, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "sub x\\n, x\\n, a0",
    "addi x\\n, x\\n, -\\n",
    "bnez x\\n, 2f",
    ".endr",
    "li a0, 0",
    "j 3f",
    "2: li a0, 1",
    "3:",
    ".irp n, 1, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27",
    "lw x\\n, 4 * \\n(sp)",
    ".endr",
    "addi sp, sp, 128",
    "ret",
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

/// The processor's count of instructions: what it counts for one under `-icount` is to be measured.
pub mod counter {
    use core::arch::asm;

    /// The counter.
    #[must_use]
    pub fn read() -> u32 {
        let count;
        // SAFETY: it reads.
        unsafe { asm!("csrr {}, minstret", out(reg) count, options(nomem, nostack)) };
        count
    }

    /// What it counted between two readings.
    #[must_use]
    pub fn between(before: u32, after: u32) -> u32 {
        after.wrapping_sub(before)
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

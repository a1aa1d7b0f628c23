//! The image for a Cortex-M3: replays the recording it carries, and says the hash of all plans
//! through semihosting. Ends with exit code 0, or 1 if the recording could not be replayed.
#![cfg_attr(target_arch = "arm", no_std, no_main)]

#[cfg(not(target_arch = "arm"))]
fn main() {
    // On a host this program has nothing to do: `record` compares the hashes there.
}

#[cfg(target_arch = "arm")]
mod on_target {
    use core::alloc::{GlobalAlloc, Layout};
    use core::arch::asm;

    static RECORDING: &[u8] = include_bytes!(env!("VESTAL_RECORDING"));

    /// There is no heap. The core's engines need none with inline storage, and the linker drops
    /// every path that would ask for one.
    struct NoHeap;

    // SAFETY: a null pointer is the documented answer of an allocator that has no memory, and
    // memory that was never given out is never given back.
    unsafe impl GlobalAlloc for NoHeap {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            core::ptr::null_mut()
        }
        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }

    #[global_allocator]
    static HEAP: NoHeap = NoHeap;

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        exit(101)
    }

    /// The entry after the stack pointer in the vector table.
    #[unsafe(link_section = ".vectors")]
    #[used]
    static RESET: extern "C" fn() -> ! = reset;

    #[unsafe(no_mangle)]
    extern "C" fn reset() -> ! {
        let Ok(hash) = vestal_replay::replay(RECORDING) else {
            exit(1)
        };
        let mut text = *b"plans 0000000000000000\n\0";
        let digits = text.iter_mut().skip(6).take(16).rev();
        for (place, digit) in (0..16_u32).zip(digits) {
            let nibble = hash.value().unbounded_shr(4_u32.saturating_mul(place)) & 15;
            *digit = b"0123456789abcdef"
                .get(nibble as usize)
                .copied()
                .unwrap_or(b'?');
        }
        // SAFETY: SYS_WRITE0 reads the text, which ends with a zero byte.
        unsafe { semihost(0x04, text.as_ptr() as usize) };
        exit(0)
    }

    fn exit(code: usize) -> ! {
        let block: [usize; 2] = [0x20026, code];
        loop {
            // SAFETY: SYS_EXIT_EXTENDED reads the two words of the block and does not return.
            unsafe { semihost(0x20, block.as_ptr() as usize) };
        }
    }

    /// # Safety
    /// `argument` must be what `operation` of the semihosting interface expects.
    unsafe fn semihost(operation: usize, argument: usize) {
        // SAFETY: the breakpoint hands over to the debugger, which keeps to the caller's promise
        // and changes r0 only.
        unsafe {
            asm!("bkpt 0xab", inout("r0") operation => _, in("r1") argument, options(nostack));
        }
    }
}

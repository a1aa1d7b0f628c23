//! Every call of vestal-hsf that a host needs, for six servers with six tasks each, in an image for a Cortex-M3 that is nothing else. It is weighed, and searched for
//! panic paths (`scripts/check-bare-metal.sh`); and its exit code less 100 is how many instructions a tick takes in it at
//! which nothing is due (`scripts/bench-kernel.sh`); it is 1 if that could not be counted.
#![cfg_attr(target_arch = "arm", no_std, no_main)]

#[cfg(not(target_arch = "arm"))]
fn main() {
    // A host has nothing to weigh.
}

#[cfg(target_arch = "arm")]
mod on_target {
    use core::arch::asm;
    use core::cell::UnsafeCell;
    use core::hint::black_box;
    use vestal_hsf::{Everything, Hsf, Kind, LocalOrder, ServerId, ServerSpec, TaskId, nodes};

    type System = Hsf<Everything<u16>, 6, 36, { nodes(6, 36) }>;

    const EACH: u8 = 6;
    const PERIOD: u32 = 1000;
    /// Calls by number.
    const CREATE_SERVER: u8 = 0;
    const ADD_TASK: u8 = 1;
    const MAKE_PERIODIC: u8 = 2;
    const RELEASE: u8 = 8;
    const SCHEDULE: u8 = 17;

    /// What goes into a call, which has what it needs of it.
    struct Arguments {
        server: ServerId,
        task: TaskId,
        kind: Kind,
        order: LocalOrder,
        priority: u8,
        number: u32,
        period: u32,
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        exit(1)
    }

    /// As a small system has it: in static memory, which is zero at the start.
    struct Memory(UnsafeCell<System>);

    // SAFETY: there is one processor, and no interrupt.
    unsafe impl Sync for Memory {}

    static SYSTEM: Memory = Memory(UnsafeCell::new(System::new()));

    // SAFETY: the linker script defines them so.
    unsafe extern "C" {
        static mut __bss_start: u32;
        static mut __bss_end: u32;
    }

    fn clear_memory() {
        let (mut word, end) = (&raw mut __bss_start, &raw mut __bss_end);
        while word < end {
            // SAFETY: it is a word of static memory, which nothing has been put into yet.
            unsafe { word.write_volatile(0) };
            word = word.wrapping_add(1);
        }
    }

    /// The entry after the stack pointer in the vector table.
    #[unsafe(link_section = ".vectors")]
    #[used]
    static RESET: extern "C" fn() -> ! = reset;

    #[unsafe(no_mangle)]
    extern "C" fn reset() -> ! {
        clear_memory();
        // SAFETY: this is executed once, and nothing else knows of it.
        let system = black_box(unsafe { &mut *SYSTEM.0.get() });
        fill(system);
        let idle = idle_tick(system);
        exit(idle.map_or(1, |idle| idle.wrapping_add(100)))
    }

    /// Six servers with six tasks each, of which one executes and the others wait for arrivals. What no system of them needs is called as well, as nothing: which
    /// call it is the compiler does not know.
    fn fill(system: &mut System) {
        let mut with = Arguments {
            server: ServerId::new(0),
            task: TaskId::new(0),
            kind: Kind::Deferrable,
            order: LocalOrder::FixedPriority,
            priority: 0,
            number: PERIOD / 10,
            period: PERIOD,
        };
        for server in 0..EACH {
            with.priority = server;
            call(system, CREATE_SERVER, &with);
            for place in 0..EACH {
                with.server = ServerId::new(server);
                with.priority = place;
                call(system, ADD_TASK, &with);
                with.task = TaskId::new(server.wrapping_mul(EACH).wrapping_add(place));
                call(system, MAKE_PERIODIC, &with);
            }
        }
        call(system, RELEASE, &with);
        call(system, SCHEDULE, &with);
    }

    /// What goes in and comes out is opaque to the compiler.
    #[inline(never)]
    fn call(system: &mut System, which: u8, with: &Arguments) {
        let Arguments { server, task, .. } = *black_box(with);
        let &Arguments { number, period, .. } = black_box(with);
        match black_box(which) {
            CREATE_SERVER => sink(system.create_server(&ServerSpec {
                kind: with.kind,
                priority: with.priority,
                order: with.order,
                period,
                capacity: number,
            })),
            ADD_TASK => sink(system.add_task(server, with.priority, period)),
            MAKE_PERIODIC => sink(system.make_periodic(task, number, period)),
            3 => sink(system.wait_period(task)),
            4 => sink(system.delay(task, number)),
            5 => sink(system.delay_virtual(task, number)),
            6 => sink(system.block(task)),
            7 => sink(system.ready(task)),
            RELEASE => sink(system.release(task)),
            9 => sink(system.budget(server)),
            10 => sink(system.server_state(server)),
            11 => sink(system.task_state(task)),
            12 => sink(system.pending(task)),
            13 => sink(system.next_event()),
            14 => sink(system.now()),
            15 => sink(system.tick()),
            16 => sink(system.advance(number)),
            _ => sink(system.schedule()),
        }
    }

    fn sink<T>(value: T) {
        black_box(value);
    }

    /// The call of a host, which is no part of its own code.
    #[inline(never)]
    fn tick(system: &mut System) -> bool {
        system.tick()
    }

    /// What a tick takes at which nothing is due, in instructions, at most 150; nothing if something is, or if the counter does not count.
    fn idle_tick(system: &mut System) -> Option<u32> {
        start_counter();
        let (mut due, mut most) = (false, 0);
        let nothing = counted(|| {});
        for _ in 0..20 {
            let units = counted(|| due |= tick(system));
            most = most.max(units.checked_sub(nothing)?);
        }
        let many = counted(ten_thousand_instructions).checked_sub(nothing)?;
        let instructions = most.checked_mul(10_000)?.wrapping_add(many / 2);
        let instructions = instructions.checked_div(many)?.min(150);
        (!due).then_some(instructions)
    }

    fn ten_thousand_instructions() {
        // SAFETY: it counts a register of its own down.
        unsafe {
            asm!("1: subs {0}, #1", "bne 1b", inout(reg) 5000_u32 => _, options(nomem, nostack));
        }
    }

    /// SysTick's registers: control, reload and current value.
    const SYST_CSR: *mut u32 = 0xe000_e010 as *mut u32;
    const SYST_RVR: *mut u32 = 0xe000_e014 as *mut u32;
    const SYST_CVR: *mut u32 = 0xe000_e018 as *mut u32;
    /// It has 24 bits.
    const MOST: u32 = 0x00ff_ffff;

    fn start_counter() {
        // SAFETY: these words are registers of the processor, which nothing else depends on here. On, without an interrupt.
        unsafe {
            SYST_RVR.write_volatile(MOST);
            SYST_CVR.write_volatile(0);
            SYST_CSR.write_volatile(5);
        }
    }

    fn counted(what: impl FnOnce()) -> u32 {
        // SAFETY: it is read.
        let before = unsafe { SYST_CVR.read_volatile() };
        what();
        // SAFETY: as above.
        let after = unsafe { SYST_CVR.read_volatile() };
        // It counts down.
        before.wrapping_sub(after) & MOST
    }

    fn exit(code: u32) -> ! {
        let block: [u32; 2] = [0x20026, code];
        loop {
            // SAFETY: SYS_EXIT_EXTENDED reads the two words of the block; the breakpoint hands over to the debugger, which changes r0 only.
            unsafe {
                asm!("bkpt 0xab", inout("r0") 0x20_u32 => _, in("r1") block.as_ptr(), options(nostack));
            }
        }
    }
}

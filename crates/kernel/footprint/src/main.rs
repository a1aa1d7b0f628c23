//! Every call of vestal-hsf, for six servers with six tasks each, linked for a Cortex-M3. The image is weighed, and
//! searched for panic paths (`scripts/check-bare-metal.sh`); it is never run.
#![cfg_attr(target_arch = "arm", no_std, no_main)]

#[cfg(not(target_arch = "arm"))]
fn main() {
    // A host has nothing to weigh.
}

#[cfg(target_arch = "arm")]
mod on_target {
    use core::hint::black_box;
    use vestal_hsf::{Everything, Hsf, Kind, LocalOrder, ServerId, ServerSpec, TaskId, nodes};

    type System = Hsf<Everything<u16>, 6, 36, { nodes(6, 36) }>;

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        loop {}
    }

    #[unsafe(no_mangle)]
    extern "C" fn _start() -> ! {
        let mut system = System::new();
        loop {
            call(black_box(&mut system), black_box(0));
        }
    }

    /// One call after the other; what goes in and comes out is opaque to the compiler.
    fn call(system: &mut System, which: u8) {
        let number = black_box(0_u32);
        let (server, task) = (ServerId::new(black_box(0)), TaskId::new(black_box(0)));
        match which {
            0 => sink(system.create_server(&ServerSpec {
                kind: black_box(Kind::Polling),
                priority: black_box(0),
                order: black_box(LocalOrder::FixedPriority),
                period: number,
                capacity: black_box(0),
            })),
            1 => sink(system.add_task(server, black_box(0), number)),
            2 => sink(system.make_periodic(task, number, black_box(0))),
            3 => sink(system.wait_period(task)),
            4 => sink(system.delay(task, number)),
            5 => sink(system.delay_virtual(task, number)),
            6 => sink(system.block(task)),
            7 => sink(system.ready(task)),
            8 => sink(system.release(task)),
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
}

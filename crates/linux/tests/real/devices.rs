//! Devices: events that bottom halves serve within the budget of their server, and bodies that wait for them.

mod rig;
mod storms;

use crate::looks::replayed;
use crate::support::{alone, alone_and_well, reaction};
use rig::{CONTROL, Half, MS, Make, READER, Rig, engine, specs};
use vestal_core::Service;
use vestal_linux::fault::{Delay, Fault, How, Point};
use vestal_linux::report::Duty;
use vestal_linux::{pty, tun, udp};

#[test]
fn bodies_wait_for_events_and_all_that_was_sent_is_accounted_for() {
    const EVENTS: u64 = 5;
    alone_and_well(|| {
        let run = Rig {
            events: EVENTS,
            ..Rig::paced(1_000)
        }
        .run();
        run.accounts_for_all();
        run.masks_well();
        let (cpu, device) = (&run.report.cpus[0], run.device());
        assert_eq!(cpu.inversions, Some(0), "{:#?}", run.report);
        let reader = cpu.tasks[READER].jobs;
        eprintln!(
            "{device:?} sent {} reader {reader:?} top half {:?}",
            run.sent, cpu.threads.top_half
        );
        assert!(run.sent > 700 && device.served > 700, "{device:?}");
        // 75 jobs, of which each waits for 5 ms at least.
        assert!(reader.completed > 60, "{reader:?}");
        assert_eq!(run.waits.len() as u64, reader.completed);
        let enough = |&(before, after): &(u64, u64)| after >= before + EVENTS;
        assert!(run.waits.iter().all(enough), "{:?}", run.waits);
        let mut between = run.waits.windows(2);
        assert!(between.all(|pair| pair[1].1 >= pair[0].1 + EVENTS));
        assert_eq!(cpu.tasks[CONTROL].jobs.missed, 0);
        // Who waits costs nothing: it executes what it burns, and some more.
        assert!(cpu.tasks[READER].execution.median < 2 * MS);
        assert!(cpu.threads.top_half.cpu > Service::ZERO);
        // The manager was called for each interrupt and each wait; ends of jobs are others.
        assert!(
            cpu.threads.wakeups.device > 700,
            "{:?}",
            cpu.threads.wakeups
        );
    });
}

#[test]
fn what_was_recorded_of_devices_is_decided_again() {
    alone_and_well(|| {
        let run = Rig {
            events: 2,
            ..Rig::paced(1_000)
        }
        .run();
        run.accounts_for_all();
        let [blocked, woken, interrupts, _] = run.told();
        assert!(blocked > 60 && blocked - woken <= 1, "{blocked} {woken}");
        assert_eq!(interrupts, run.device().interrupts);
        let tasks = specs().map(|spec| spec.configuration);
        let mut again = engine(Half::Pibs, &tasks, Service::ZERO).unwrap();
        let summary = replayed(&specs(), &mut again, &run.records);
        assert!(
            summary.facts > 1_000 && summary.decisions > 500,
            "{summary:?}"
        );
    });
}

/// Datagrams between two network namespaces, packets of a TUN device, bytes of a pseudo-terminal: each is an event.
#[test]
fn events_come_by_each_kind_of_device() {
    let kinds: [(&str, Make); 4] = [
        ("udp", udp::between_namespaces),
        ("loopback", udp::loopback),
        ("tun", tun::packets),
        ("pty", pty::raw),
    ];
    for (name, make) in kinds {
        alone_and_well(|| {
            let run = Rig {
                make,
                millis: 500,
                ..Rig::paced(1_000)
            }
            .run();
            run.accounts_for_all();
            run.masks_well();
            let device = run.device();
            eprintln!("{name}: {device:?} sent {}", run.sent);
            assert!(run.sent > 200 && device.served > 200, "{name}: {device:?}");
            assert_eq!(run.dropped(), 0, "{name}: {device:?}");
            assert!(
                run.report.cpus[0].tasks[READER].jobs.completed > 15,
                "{name}"
            );
        });
    }
}

#[test]
fn a_top_half_that_is_slow_to_wait_is_found() {
    const SLOW_MS: u64 = 20;
    let _alone = alone();
    let delay = Fault::Delay(Delay {
        point: Point::BeforeWait(Duty::TopHalf),
        how: How::Burn,
        milliseconds: SLOW_MS,
        every: 20,
    });
    let run = |fault| {
        let rig = Rig {
            millis: 400,
            fault,
            ..Rig::paced(5_000)
        };
        let run = rig.run();
        reaction(&run.report, Duty::TopHalf).as_nanos()
    };
    let (well, slow) = (run(None), run(Some(delay)));
    assert!(
        slow > SLOW_MS * MS * 9 / 10 && well < slow / 2,
        "{well} {slow}"
    );
}

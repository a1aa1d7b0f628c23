//! Events faster than they can be served.

use super::rig::{CONTROL, HALF, Half, Make, PERIOD, Pace, READER, Rig, SHARE};
use crate::looks::granularity;
use crate::support::{alone, alone_and_well};
use vestal_core::Service;
use vestal_linux::fault::{Delay, Fault, How, Point};
use vestal_linux::{pipe, pty, tun, udp};

/// The sender never pauses, and an event takes longer than to send one: a bottom half never finds the device empty. It ends when
/// somebody has what he waited for, and the next one runs on behalf of who waits then.
#[test]
fn a_storm_gets_the_share_of_its_server_and_keeps_no_critical_job_waiting() {
    let kinds: [(&str, Make); 2] = [
        ("pipe", || pipe::packets(256)),
        ("udp", udp::between_namespaces),
    ];
    for (name, make) in kinds {
        alone_and_well(|| {
            let run = Rig {
                make,
                ..Rig::storm()
            }
            .run();
            run.accounts_for_all();
            run.masks_well();
            let (cpu, device) = (&run.report.cpus[0], run.device());
            let [_, woken, _, ended] = run.told();
            eprintln!(
                "{name}: {device:?} sent {} dropped {} queued {} bursts {} woken {woken} {:?} {:?}",
                run.sent,
                run.dropped(),
                run.queued,
                run.bursts(),
                cpu.tasks[HALF].execution,
                cpu.threads.top_half
            );
            assert!(run.sent > 2_000 && run.queued > 0);
            assert_eq!((cpu.inversions, run.inversions()), (Some(0), 0), "{name}");
            let control = cpu.tasks[CONTROL].jobs;
            assert_eq!(control.missed, 0, "{control:?}");
            // A tenth of 1.5 s, at 50 us an event and what it takes to read and to count one.
            assert!((1_000..3_100).contains(&device.served), "{device:?}");
            assert!(cpu.tasks[READER].jobs.completed > 60);
            // Each wait that ended ended the bottom half that served it.
            assert!(woken > 60 && ended + 1 >= woken, "{woken} {ended}");
            assert!(device.interrupts <= run.bursts() + 1, "{device:?}");
        });
    }
}

/// What a storm must not do is found where something lets it.
#[test]
fn faults_that_let_a_storm_loose_are_found() {
    let _alone = alone();
    let storm = Rig {
        millis: 500,
        ..Rig::storm()
    };
    let run = Rig {
        half: Half::Above,
        ..storm
    }
    .run();
    assert!(run.inversions() > 5, "{}", run.inversions());
    let (most, _) = run.most_in_a_window();
    assert!(most > bound() + PERIOD / SHARE, "{most}");
    let run = Rig {
        fault: Some(Fault::UnmasksAtOnce),
        ..storm
    }
    .run();
    assert!(run.device().wakes > run.bursts() + 50, "{:?}", run.device());
    let run = Rig {
        fault: Some(Fault::NeverMasks),
        ..storm
    }
    .run();
    assert!(run.device().spurious > 50, "{:?}", run.device());
    // It decides in time, and the bottom half goes on until it has slept.
    let late = Delay {
        point: Point::BeforeEnact,
        how: How::Sleep,
        milliseconds: 3,
        every: 3,
    };
    let run = Rig {
        fault: Some(Fault::Delay(late)),
        ..storm
    }
    .run();
    assert!(run.inversions() > 0, "{:?}", run.device());
}

/// Events come one by one, and each costs little: a bottom half has ended when the next one comes, and its device is heard
/// again. Its server holds the next one up until its share has given what that used; a sporadic server has its whole
/// budget for them.
#[test]
fn a_storm_that_pauses_wakes_the_top_half_once_a_replenishment() {
    let paced = |half| {
        let rig = Rig {
            half,
            cost: Service::from_micros(3),
            millis: 1_000,
            ..Rig::paced(110)
        };
        let run = rig.run();
        run.accounts_for_all();
        run.masks_well();
        eprintln!(
            "{half:?}: {:?} sent {} bursts {}",
            run.device(),
            run.sent,
            run.bursts()
        );
        run
    };
    alone_and_well(|| {
        let run = paced(Half::Pibs);
        let (control, device) = (run.report.cpus[0].tasks[CONTROL].jobs, run.device());
        assert!(run.sent > 2_000 && device.served > 2_000, "{device:?}");
        assert!(run.bursts() > 300, "{}", run.bursts());
        assert!(device.interrupts <= run.bursts() + 1, "{device:?}");
        assert_eq!((control.missed, run.inversions()), (0, 0));
    });
    let _alone = alone();
    let run = paced(Half::Sporadic);
    let interrupts = run.device().interrupts;
    assert!(interrupts > 2 * (run.bursts() + 1), "{interrupts}");
}

/// What an event takes, with what it takes to read it and to count it, in nanoseconds.
const EVENT: u64 = 53_000;

/// (2 - U)UT, in nanoseconds.
const fn bound() -> u64 {
    (2 * SHARE - 1) * PERIOD / (SHARE * SHARE)
}

/// Danish, Li and West (2011), Missimer, Missimer and West (2016, section II): in any window of its host's period T. They come nearest
/// to that when a first burst uses U(1 - U)T, after which the next one may begin (1 - U)T later, and has UT.
#[test]
fn a_pibs_that_nothing_preempts_uses_no_more_than_its_bound_in_a_window() {
    let kinds: [(&str, Make); 2] = [("tun", tun::packets), ("pty", pty::raw)];
    for (name, make) in kinds {
        alone_and_well(|| {
            let run = Rig {
                make,
                half: Half::PibsAbove,
                // The reader never goes on, so that its server has nothing else to do.
                events: u64::from(u32::MAX),
                pace: Pace::Twice {
                    first: PERIOD * 9 / 10 / SHARE / EVENT,
                    after: PERIOD * 9 / 10,
                    second: 2 * PERIOD / SHARE / EVENT,
                },
                millis: 1_000,
                calibrate: true,
                ..Rig::storm()
            }
            .run();
            run.accounts_for_all();
            run.masks_well();
            let (most, windows) = run.most_in_a_window();
            let allowed = bound() + granularity(&run.report);
            eprintln!(
                "{name}: {most} of {allowed} in {windows} windows, {:?}",
                run.device()
            );
            assert!(windows > 4 && most > bound() * 4 / 5, "{most} {windows}");
            assert!(most <= allowed, "{most} {allowed}");
        });
    }
}

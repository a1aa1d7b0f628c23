//! What walking through frames takes, part by part.

use super::{Log, Place, common, counts, settings, two_processors, usual, with_tasks};
use crate::parts::{is_in, with};
use crate::support::{alone, ms, well_on_all};
use vestal_core::{Duration, Service};
use vestal_linux::fault::Point;
use vestal_linux::report::{Duty, Part};
use vestal_linux::{Barrier, CpuSpec, Executive, Report};

/// Ten frames, of which each has two barriers if its HI jobs are in time, and three jobs on each CPU.
fn ten_frames(
    places: &[usize],
    barrier: Barrier,
    (hi, delayed): (Service, Option<(Point, u64)>),
) -> Report {
    let demand = move |place: Place| match place {
        (0, 0, _) => hi,
        place => usual(place),
    };
    let set = Executive::new(settings()).frames(common(places.len(), barrier));
    let set = with_tasks(set, places, CpuSpec::common, demand, &Log::default());
    with(delayed, set).run(Duration::from_millis(400)).unwrap()
}

/// Whoever decides, all CPUs wait for it, and each has the part of it.
#[test]
fn a_delay_of_a_walker_is_in_the_part_of_its_place_alone_on_both_cpus() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    let (in_time, late) = (ms(2), ms(9));
    for (hi, point, part, times) in [
        (in_time, Point::FrameBegun, Some(Part::FrameInit), 9),
        (in_time, Point::BarrierDecided, Some(Part::SubFrameInit), 18),
        (late, Point::BarrierDecided, Some(Part::SubFrameOverrun), 9),
        (in_time, Point::BarrierOpens, Some(Part::Barrier), 18),
        (in_time, Point::JobStart, Some(Part::SubFrameInit), 27),
        (in_time, Point::JobEnd, Some(Part::JobFinish), 27),
        (in_time, Point::BeforeWait(Duty::JobEnd), None, 27),
    ] {
        well_on_all(|| {
            let report = ten_frames(&places, Barrier::Spin, (hi, Some((point, 1))));
            for cpu in &report.cpus {
                is_in(&cpu.parts, part, Duration::from_millis(times));
            }
        });
    }
}

#[test]
fn each_decision_is_in_one_part_and_counts_on_each_cpu() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for (barrier, late) in [
        (Barrier::Spin, false),
        (Barrier::Futex, true),
        (Barrier::Pthread, false),
    ] {
        well_on_all(|| {
            let hi = ms(if late { 9 } else { 2 });
            let report = ten_frames(&places, barrier, (hi, None));
            let dropped = counts(&report).lowest_skipped;
            assert_eq!(dropped, if late { 10 } else { 0 }, "{barrier:?}");
            for cpu in &report.cpus {
                let parts = &cpu.parts.parts;
                let names: Vec<Part> = parts.iter().map(|(part, _)| *part).collect();
                assert_eq!(names, Part::OF_FRAMES);
                let count = |wanted: usize| parts[wanted].1.count;
                assert_eq!(
                    (count(0), count(3)),
                    (10, dropped),
                    "{barrier:?}: {parts:#?}"
                );
                let limit = Duration::from_millis(8);
                assert!(cpu.parts.scheduler() < limit, "{barrier:?}: {parts:#?}");
                assert!(cpu.parts.system.as_nanos() < limit.as_nanos(), "{cpu:#?}");
            }
            let arrivals: u64 = report
                .cpus
                .iter()
                .map(|cpu| cpu.parts.parts[4].1.count)
                .sum();
            // All jobs of a frame are released before it begins, or are told of in its next decision.
            assert!((10..=20).contains(&arrivals), "{barrier:?}: {arrivals}");
            let costs = report.frames.unwrap().costs;
            let barriers = if late { 10 } else { 20 };
            assert!(
                (barriers - 1..=barriers).contains(&costs.sub_frame.count),
                "{costs:?}"
            );
            assert!(costs.barrier.count >= 2 * barriers - 4, "{costs:?}");
            assert!((18..=20).contains(&costs.frame.count), "{costs:?}");
        });
    }
}

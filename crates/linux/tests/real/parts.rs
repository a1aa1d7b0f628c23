//! What carrying a policy out takes, part by part: a delay at one place is in the part of that place, and in no other.

use crate::managed::managed;
use crate::support::{HI, LO, alone, config, ms, spec, well};
use vestal_core::{Duration, Enforcement};
use vestal_linux::fault::{Delay, Fault, How, Point};
use vestal_linux::report::{Duty, Part, PartsReport};
use vestal_linux::{Executive, JobContext, Monitor, Report};

const RUN: Duration = Duration::from_millis(400);

/// Two tasks with twenty jobs each, by deadlines that are virtual for HI; each fifth HI job raises the mode.
fn by_deadlines(overruns: bool, delayed: Option<(Point, u64)>) -> Report {
    let hi = move |job: &mut JobContext<'_>| {
        let beyond = overruns && job.id().sequence % 5 == 4;
        job.burn(ms(if beyond { 6 } else { 1 }))
    };
    let set = managed(config(Monitor::Manager), Enforcement::Adaptive, Some(60))
        .task(spec("hi", HI, 2, 20, &[4, 8]), hi)
        .task(spec("lo", LO, 1, 20, &[4]), |job| job.burn(ms(1)));
    with(delayed, set).run(RUN).unwrap()
}

/// With so many milliseconds of work each time that a thread comes to a point.
pub(crate) fn with(delayed: Option<(Point, u64)>, set: Executive) -> Executive {
    let fault = |(point, milliseconds)| {
        Fault::Delay(Delay {
            point,
            how: How::Burn,
            milliseconds,
            every: 1,
        })
    };
    let faults = delayed.map(fault).into_iter();
    faults.fold(set, Executive::with_fault)
}

fn sum(parts: &PartsReport, wanted: Part) -> Duration {
    let mut all = parts.parts.iter();
    let (_, found) = all.find(|(part, _)| *part == wanted).unwrap();
    Duration::from_nanos(found.sum)
}

/// What each part took but for one.
fn others(parts: &PartsReport, but: Option<Part>) -> Vec<Duration> {
    let others = parts.parts.iter().filter(|(part, _)| Some(*part) != but);
    let sums = others.map(|(_, found)| Duration::from_nanos(found.sum));
    sums.collect()
}

/// A delay makes the part, or what is in none, so much longer at least, and nothing else by as much as a quarter of that.
pub(crate) fn is_in(parts: &PartsReport, wanted: Option<Part>, least: Duration) {
    let most = Duration::from_nanos(least.as_nanos() / 4);
    let system = Duration::from_nanos(parts.system.as_nanos());
    let in_part = wanted.map_or(system, |part| sum(parts, part));
    assert!(in_part >= least, "{wanted:?}, {least:?}: {parts:#?}");
    let others = others(parts, wanted).into_iter();
    let others = others.chain(wanted.map(|_| system));
    for took in others {
        assert!(took < most, "{wanted:?}, {most:?}: {parts:#?}");
    }
    let sums = parts.parts.iter().map(|(_, found)| found.sum);
    assert_eq!(parts.scheduler().as_nanos(), sums.sum::<u64>());
}

#[test]
fn a_delay_of_a_manager_or_a_worker_is_in_the_part_of_its_place_alone() {
    let _alone = alone();
    for (point, part, times) in [
        (Point::Released, Some(Part::JobArrival), 36),
        (Point::JobStart, Some(Part::JobArrival), 32),
        (Point::JobEnd, Some(Part::JobFinish), 32),
        (Point::Armed, Some(Part::Monitoring), 32),
        (Point::BeforeWait(Duty::Manager), None, 36),
    ] {
        well(|| {
            let report = by_deadlines(false, Some((point, 1)));
            is_in(&report.cpus[0].parts, part, Duration::from_millis(times));
        });
    }
    // Four of them.
    well(|| {
        let report = by_deadlines(true, Some((Point::Overrun, 4)));
        let (parts, least) = (&report.cpus[0].parts, Duration::from_millis(16));
        is_in(parts, Some(Part::JobOverrun), least);
    });
}

#[test]
fn without_delays_no_part_is_long_and_without_overruns_nothing_is_spent_on_them() {
    let _alone = alone();
    well(|| {
        let report = by_deadlines(false, None);
        let parts = &report.cpus[0].parts;
        let names: Vec<Part> = parts.parts.iter().map(|(part, _)| *part).collect();
        assert_eq!(names, Part::OF_MANAGERS);
        let limit = Duration::from_millis(8);
        assert!(parts.scheduler() < limit, "{parts:#?}");
        assert!(parts.system.as_nanos() < limit.as_nanos(), "{parts:#?}");
        if report.cpus[0].modes.is_empty() {
            assert_eq!(sum(parts, Part::JobOverrun), Duration::ZERO, "{parts:#?}");
        }
        let (_, arrivals) = parts.parts[0];
        // A round for both releases of each period, and what both workers begin.
        assert!(arrivals.count >= 58, "{parts:#?}");
    });
}

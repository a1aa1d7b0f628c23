use super::super::made_up::made;
use super::super::run::{Place, System};
use super::*;

const SECOND: u64 = 1_000_000_000;

/// Of four seconds with 1 %, in mode LO: 40 ms.
fn run() -> Run {
    made(Place::OneCamera, System::SsOnly, 0)
}

fn with(change: impl FnOnce(&mut Camera)) -> Run {
    let mut run = run();
    change(&mut run.cameras[0]);
    run
}

const fn rise(at_ns: u64, taken_ns: u64) -> Rise {
    Rise { at_ns, taken_ns }
}

#[test]
fn others_and_a_starved_sender_leave_a_run_out_and_nothing_else_does() {
    assert!(run().counts(DISTURBED));
    let lost = |lost_ns| Run { lost_ns, ..run() };
    assert!(lost(40_000_000).counts(DISTURBED));
    assert!(!lost(40_000_001).counts(DISTURBED));
    assert!(!lost(8_000_001).counts(DISTURBED_VARIANCE));
    assert!(!lost(8_000_001).is_starved());
    // 16000 events of 5 us are what its server has in the mode in which it has more, whether there is that mode or not.
    for (sent, is_starved) in [(16_000, false), (15_999, true)] {
        assert_eq!(with(|camera| camera.sent = sent).is_starved(), is_starved);
    }
    for (stalled_ns, is_starved) in [(400_000_000, false), (400_000_001, true)] {
        let late = with(|camera| camera.stalled_ns = stalled_ns);
        assert_eq!(late.is_starved(), is_starved);
    }
}

/// The bottom half of a PIBS that gives without bound reads everything that is sent.
#[test]
fn a_server_that_gives_more_than_its_share_is_at_fault_whatever_leaves_its_run_out() {
    let all = with(|camera| {
        (camera.served, camera.dropped) = (camera.sent, 0);
    });
    assert_eq!(all.faults(), [Fault::TooMuch]);
    assert!(all.counts(DISTURBED), "it is not left out");
    // A budget of 1 ms and a millisecond beyond 40 ms.
    for (charged_ns, expected) in [(42_000_000, &[][..]), (42_000_001, &[Fault::TooMuch])] {
        let given = with(|camera| camera.charged_ns = charged_ns);
        assert_eq!(given.faults(), expected, "{charged_ns}");
        // Others took a quarter of the run, and nothing of the bottom half.
        let lost_ns = SECOND;
        assert_eq!(Run { lost_ns, ..given }.faults(), expected, "{charged_ns}");
    }
    // What was taken of it in the end is not missing yet; what was taken before is.
    let end = 4 * SECOND;
    for (taken, beyond) in [
        ((end - 1, end), 1),
        ((end - 100_000_000, end - 98_000_000), 1_000_000),
        ((SECOND, SECOND + 30_000_000), 0),
        ((SECOND, SECOND + 31_000_000), 1_000_000),
    ] {
        let of = |more: u64| {
            let run = with(|camera| {
                camera.charged_ns = 42_000_000 + more;
                camera.taken = vec![taken];
            });
            run.faults()
        };
        assert_eq!(of(beyond), [], "{taken:?}");
        assert_eq!(of(beyond + 1), [Fault::TooMuch], "{taken:?}");
    }
    let disturbed = Run {
        lost_ns: SECOND,
        ..all
    };
    assert!(!disturbed.counts(DISTURBED));
    assert_eq!(disturbed.faults(), [Fault::TooMuch]);
}

/// A top half that hangs: nothing is served, all is dropped.
#[test]
fn a_server_that_gives_little_while_events_wait_is_at_fault() {
    let hangs = with(|camera| {
        (camera.served, camera.charged_ns, camera.dropped) = (0, 0, camera.sent);
    });
    assert_eq!(hangs.faults(), [Fault::TooLittle]);
    assert!(hangs.counts(DISTURBED), "it is not left out");
    let gives = |charged_ns, postponed_ns, stalled_ns| {
        let run = with(|camera| {
            camera.charged_ns = charged_ns;
            camera.postponed_ns = postponed_ns;
            camera.stalled_ns = stalled_ns;
            camera.served = 0;
        });
        run.faults()
    };
    assert_eq!(gives(20_000_000, 0, 0), []);
    assert_eq!(gives(19_999_999, 0, 0), [Fault::TooLittle]);
    assert_eq!(gives(10_000_000, 10_000_000, 0), [], "a list was full");
    assert_eq!(
        gives(9_999_999, 40_000_000, 0),
        [Fault::TooLittle],
        "a list counts a budget again and again"
    );
    assert_eq!(
        gives(13_000_000, 0, 350_000_000),
        [],
        "nothing came for long"
    );
    assert_eq!(
        gives(11_000_000, 0, 400_000_001),
        [Fault::TooLittle],
        "in what was sent in time it could have given more"
    );
    let few = with(|camera| (camera.sent, camera.charged_ns) = (1_000, 2_500_000));
    assert!(
        few.is_starved() && few.faults().is_empty(),
        "nothing more came"
    );
}

/// Its top half hangs from a third of the run on. Before that a list was full, so that as much was postponed as is missing.
#[test]
fn a_server_that_gives_nothing_for_a_third_of_a_run_is_at_fault_whatever_was_postponed_before() {
    let hangs = |from: usize, windows: usize| {
        with(|camera| {
            let each = camera.served / 40;
            let served = (0..40).map(|window| u64::from(!(from..from + windows).contains(&window)));
            let served = served.scan(0, |sum, serves| {
                *sum += serves * each;
                Some(*sum)
            });
            camera.served_by = served.collect();
            camera.served = camera.served_by[39];
            camera.charged_ns = camera.served * 20 / 3 * 1_000;
            camera.postponed_ns = 30_000_000;
        })
    };
    let run = hangs(13, 27);
    assert_eq!(run.cameras[0].charged_ns, 13_000_000);
    assert_eq!(run.faults(), [Fault::TooLittle]);
    assert_eq!(hangs(27, 13).faults(), [Fault::TooLittle]);
    assert_eq!(hangs(30, 5).faults(), [], "for a while");
    let changed = |change: fn(&mut Run)| {
        let mut run = hangs(13, 27);
        change(&mut run);
        run.faults()
    };
    let late = changed(|run| run.cameras[0].stalled_ns = 2_700_000_000);
    assert_eq!(late, [], "nothing came");
    let taken = changed(|run| run.cameras[0].taken = vec![(SECOND, 4 * SECOND)]);
    assert_eq!(taken, [], "others had it all that time");
    assert_eq!(changed(|run| run.looked_ns.clear()), [], "nobody looked");
    assert_eq!(changed(|run| run.lost_ns = SECOND), [], "others took much");
}

/// Two seconds of four in mode HI: 1 % and 2 %.
#[test]
fn a_share_is_that_of_each_mode_while_it_lasts() {
    let returns_ns = vec![3 * SECOND];
    let run = Run {
        rises: vec![rise(SECOND, 0)],
        returns_ns,
        ..run()
    };
    assert_eq!((run.raised_ns(), run.share_ns(0)), (2 * SECOND, 60_000_000));
    // Of 40 periods 20 and the next one with 2 ms, and a budget.
    assert_eq!(run.most_ns(0), 64_000_000);
    let until_the_end = Run {
        returns_ns: Vec::new(),
        ..run.clone()
    };
    assert_eq!(until_the_end.share_ns(0), 70_000_000);
    // However often it changes: in 31 periods with 2 ms, and a budget.
    let often = Run {
        rises: (0..30)
            .map(|number| rise(number * SECOND / 10, 0))
            .collect(),
        returns_ns: (0..30)
            .map(|number| number * SECOND / 10 + 5_000_000)
            .collect(),
        ..run
    };
    assert_eq!(often.most_ns(0), 74_000_000);
}

/// Twenty times in eight seconds the mode rises and returns soon, as SS-only does in Table II; its server gives twice what it has in mode LO.
#[test]
fn a_server_that_gives_twice_its_share_is_found_however_often_the_mode_changes() {
    let at = |number: u64| number * 400_000_000;
    let often = |charged_ns| {
        let mut run = Run {
            span_ns: 8 * SECOND,
            rises: (0..20).map(|number| rise(at(number), 0)).collect(),
            returns_ns: (0..20).map(|number| at(number) + 50_000_000).collect(),
            ..run()
        };
        let camera = &mut run.cameras[0];
        (camera.sent, camera.charged_ns) = (64_000, charged_ns);
        run
    };
    assert_eq!(often(0).share_ns(0), 90_000_000);
    assert_eq!(often(123_000_000).faults(), []);
    assert_eq!(often(160_000_000).faults(), [Fault::TooMuch]);
}

#[test]
fn a_rise_is_explained_by_what_others_took_just_before_it_of_its_job_and_by_no_more() {
    let at = SECOND;
    let shifted = |spans: &[Span]| {
        let spans = spans.iter();
        let spans = spans.map(|&(from, to)| (at + from - 6_000_000, at + to - 6_000_000));
        spans::merged(spans.collect())
    };
    let taken =
        |gaps: &[Span], had: &[Span]| Rise::after(at, &shifted(gaps), &shifted(had)).taken_ns;
    let all = [(0, 8_000_000)];
    assert_eq!(taken(&[(0, 900_000)], &all), 0, "too long ago");
    assert_eq!(taken(&[(0, 1_030_000)], &all), 30_000);
    assert_eq!(taken(&[(5_990_000, 7_000_000)], &all), 10_000, "until then");
    let alike = [(2_000_000, 2_030_000), (2_010_000, 2_040_000)];
    assert_eq!(taken(&alike, &all), 40_000, "two saw the same");
    let had = [(1_000_000, 2_020_000), (5_000_000, 6_000_000)];
    assert_eq!(taken(&alike, &had), 20_000, "then another one had it");
    assert_eq!(taken(&alike, &[]), 0);
    assert!(rise(at, TOLERANCE_NS).is_explained());
    assert!(!rise(at, TOLERANCE_NS - 1).is_explained());
    let two = Run {
        rises: vec![rise(at, 0), rise(2 * at, TOLERANCE_NS)],
        ..run()
    };
    assert_eq!(two.rises(), [1, 2]);
}

/// No job of the second half has had C(LO) before 20 ms of it are over.
#[test]
fn the_mode_changes_once_and_at_half_time() {
    let half = 2 * SECOND;
    let soon = half + SOON_NS;
    let at_half = rise(half + WINDOW_NS, 0);
    for (rises, expected, wrong) in [
        (vec![at_half], Change::AtHalfTime, 0),
        (vec![rise(soon, 0)], Change::AtHalfTime, 0),
        (vec![rise(half + 2 * WINDOW_NS, 0)], Change::AtHalfTime, 0),
        (vec![rise(soon - 1, 0)], Change::Wrong, 1),
        (vec![rise(half - 150_000_000, 0)], Change::Wrong, 1),
        (vec![rise(half - 150_000_000, 0), at_half], Change::Wrong, 1),
        (vec![rise(half + 3 * WINDOW_NS, 0)], Change::Wrong, 1),
        (vec![rise(WINDOW_NS, TOLERANCE_NS)], Change::Wrong, 0),
        (
            vec![rise(WINDOW_NS, TOLERANCE_NS), at_half],
            Change::Explained,
            0,
        ),
        (vec![rise(WINDOW_NS, 0), at_half], Change::Wrong, 1),
        (
            vec![at_half, rise(half + 2 * WINDOW_NS, 0)],
            Change::Wrong,
            1,
        ),
        (Vec::new(), Change::Wrong, 0),
    ] {
        let run = Run {
            rises: rises.clone(),
            ..made(Place::Change, System::SsPibs, 0)
        };
        assert_eq!(
            (run.change(), run.wrong_rises()),
            (expected, wrong),
            "{rises:?}"
        );
    }
}

/// A gap in a burst shortens it, and what it was charged is missing in the next one.
#[test]
fn windows_in_which_others_took_something_of_a_bottom_half_and_the_next_ones_are_touched() {
    let mut run = run();
    run.cameras[0].taken = vec![(5 * WINDOW_NS + 7, 5 * WINDOW_NS + 9)];
    let untouched = |run: &Run| {
        let camera = &run.cameras[0];
        let windows = run.windows(camera);
        let untouched = windows
            .iter()
            .filter(|window| run.is_untouched(camera, window));
        untouched
            .map(|window| window.from_ns / WINDOW_NS)
            .collect::<Vec<_>>()
    };
    let expected: Vec<u64> = (0..5).chain(7..40).collect();
    assert_eq!(untouched(&run), expected);
    run.known_from_ns = 10 * WINDOW_NS;
    assert_eq!(untouched(&run), (11..40).collect::<Vec<_>>(), "forgotten");
}

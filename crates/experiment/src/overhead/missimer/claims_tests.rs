use super::super::made_up::{camera, evenly, made, rise};
use super::super::run::{Rise, TOLERANCE_NS, WINDOW_NS};
use super::*;
use Verdict::{Confirmed, NotDecided, Refuted};

const REPETITIONS: u32 = 12;

fn table(of: impl Fn(Place, System, u32) -> Run, repetitions: u32) -> Table {
    let kinds = Place::ALL.iter().flat_map(|&place| {
        let systems = place.systems().iter();
        systems.map(move |&system| (place, system))
    });
    let runs = kinds.flat_map(|(place, system)| {
        let of = &of;
        (0..repetitions).map(move |repetition| of(place, system, repetition))
    });
    Table::of(runs.collect())
}

/// A hundredth of a percent of four seconds.
const HUNDREDTH: u64 = 400_000;

fn like_the_paper(place: Place, system: System, repetition: u32) -> Run {
    let mut run = made(place, system, repetition);
    let noise = u64::from(repetition % 5);
    match (place, system) {
        (Place::OneCamera | Place::TwoCameras, System::SsOnly) => {
            let two = place == Place::TwoCameras;
            run.scheduler_ns = HUNDREDTH * (if two { 49 } else { 21 } + noise);
            run.switches = 2_000;
            run.rises = [1, 2, 3]
                .map(|second| rise(second * 1_000_000_000))
                .to_vec();
            run.returns_ns = run.rises.iter().map(|rise| rise.at_ns + 1).collect();
            // The LO application completes every third job.
            run.completed_ns[1].retain(|at| (at / WINDOW_NS).is_multiple_of(3));
        }
        (Place::OneCamera | Place::TwoCameras, System::SsPibs) => {
            let two = place == Place::TwoCameras;
            run.scheduler_ns = HUNDREDTH * if two { 13 } else { 10 } + noise * HUNDREDTH / 10;
            run.switches = 1_000;
        }
        (Place::Change, _) => {
            run.cameras = vec![camera(10, 100, 30), camera(100, 10, 0)];
        }
    }
    run
}

/// Everything the other way round: systems change places, and cameras, and nothing is regular.
fn reversed(place: Place, system: System, repetition: u32) -> Run {
    let other = match system {
        System::SsOnly => System::SsPibs,
        System::SsPibs => System::SsOnly,
    };
    let mut run = match place {
        Place::Change => like_the_paper(place, system, repetition),
        Place::OneCamera | Place::TwoCameras => like_the_paper(place, other, repetition),
    };
    run.system = system;
    run.switches = 1_000;
    if place == Place::Change {
        // Of the second one the totals bend early.
        let mut early = camera(10, 100, 0);
        let total = |window: u64| 10 * window + 90 * window.saturating_sub(5);
        early.served_by = (0..40).map(total).collect();
        // No less than a quarter of its share.
        let mut calm = camera(100, 60, 0);
        for (window, sum) in (0_u64..).zip(&mut calm.served_by) {
            // It varies before.
            *sum += if window < 20 { 30 * (window % 2) } else { 0 };
        }
        run.cameras = vec![calm, early];
    }
    run
}

fn of_paper(table: &Table) -> Vec<Finding> {
    let found = findings(table);
    assert!(found.iter().all(|finding| !finding.numbers.is_empty()));
    let of_paper = found.into_iter().filter(|finding| finding.of == "paper");
    of_paper.collect()
}

fn verdicts(table: &Table) -> Vec<Verdict> {
    let found = of_paper(table).into_iter();
    found.map(|finding| finding.verdict).collect()
}

fn all_are(found: &[Finding], expected: Verdict) {
    for finding in found {
        let Finding { claim, numbers, .. } = finding;
        assert_eq!(finding.verdict, expected, "{claim}: {numbers}");
    }
}

#[test]
fn data_like_the_paper_s_confirm_every_claim() {
    all_are(&findings(&table(like_the_paper, REPETITIONS)), Confirmed);
}

/// Ours say what the system has to do whatever it shows.
#[test]
fn data_the_other_way_round_refute_every_claim_of_the_paper() {
    all_are(&of_paper(&table(reversed, REPETITIONS)), Refuted);
}

#[test]
fn too_few_repetitions_and_none_decide_nothing() {
    for repetitions in [0, 2, 5] {
        all_are(&findings(&table(like_the_paper, repetitions)), NotDecided);
    }
}

fn verdict_of(table: &Table, text: &str) -> Verdict {
    let found = findings(table);
    let mut found = found
        .into_iter()
        .filter(|finding| finding.claim.contains(text));
    let verdict = found.next().unwrap().verdict;
    assert!(found.next().is_none(), "{text}");
    verdict
}

/// Many repetitions, so that the median is certain all the same.
#[test]
fn one_run_that_is_an_exception_keeps_what_never_happens_from_being_confirmed() {
    let one = |place, system, repetition| {
        let mut run = like_the_paper(place, system, repetition);
        if system == System::SsPibs && place == Place::OneCamera && repetition == 7 {
            run.rises = vec![rise(1); 50];
            run.returns_ns = vec![1; 50];
            run.completed_ns[1].retain(|at| *at < 10 * WINDOW_NS);
        }
        run
    };
    let (like, with_one) = (table(like_the_paper, 24), table(one, 24));
    for text in ["SS+PIBS does not", "complete their jobs regularly"] {
        assert_eq!(verdict_of(&like, text), Confirmed, "{text}");
        assert_eq!(verdict_of(&with_one, text), NotDecided, "{text}");
    }
}

/// As many repetitions as of the paper's data, of which each is confirmed.
fn spoilt(spoil: impl Fn(&mut Run)) -> Table {
    let of = move |place, system, repetition| {
        let mut run = like_the_paper(place, system, repetition);
        spoil(&mut run);
        run
    };
    table(of, REPETITIONS)
}

#[test]
fn runs_that_others_disturb_and_those_with_a_starved_sender_decide_nothing() {
    all_are(
        &findings(&spoilt(|run| run.lost_ns = run.span_ns / 99)),
        NotDecided,
    );
    let starved = |run: &mut Run| run.cameras[0].stalled_ns = run.span_ns / 2;
    all_are(&findings(&spoilt(starved)), NotDecided);
}

fn open(table: &Table) -> Vec<String> {
    let found = findings(table).into_iter();
    let open = found.filter(|finding| finding.verdict != Confirmed);
    open.map(|finding| finding.claim).collect()
}

/// 0.1 % of the time is usual here: what is many times as much is decided all the same, and what is as little is not.
#[test]
fn a_little_lost_time_leaves_only_small_effects_open() {
    let lost = |thousandths| spoilt(move |run| run.lost_ns = run.span_ns / 1_000 * thousandths);
    let small = [
        "Scheduling takes more under SS-only than under SS+PIBS (Fig. 13).",
        "It is more erratic under SS-only (Fig. 13, spread).",
        "A second camera more than doubles it under SS-only (0.21 to 0.49 %).",
        "A second camera adds little under SS+PIBS (0.03 %).",
    ];
    // Of 0.21 and 0.10 % the difference is 0.11 %: not for certain positive, where 0.1 % is lost in each third run and 0.2 % in another one.
    let some = spoilt(|run| run.lost_ns = run.span_ns / 1_000 * u64::from(run.repetition % 3));
    assert_eq!(open(&some), small);
    for finding in findings(&some) {
        if small.contains(&finding.claim.as_str()) {
            assert!(finding.numbers.contains(".."), "{}", finding.numbers);
        }
    }
    // Where as much is lost in all runs it cancels in none.
    assert_eq!(open(&lost(1)), small[1..]);
    assert_eq!(open(&lost(2)), small);
    // A tenth of that is too little for anything but spreads.
    assert_eq!(
        open(&spoilt(|run| run.lost_ns = run.span_ns / 10_000)),
        [small[1].to_owned(),]
    );
    // More than a fifth of a percent is too much for variances, bends, and for when the mode rises.
    let much = lost(3);
    for text in ["variance", "Totals of both bend", "In runs with a change"] {
        assert_eq!(verdict_of(&much, text), NotDecided, "{text}");
    }
    assert_eq!(verdict_of(&much, "camera 1 is read more"), Confirmed);
}

/// Camera 1 might have been served more in what was taken of its bottom half; but not beyond what its server was charged for.
#[test]
fn what_others_took_of_a_bottom_half_may_have_been_events() {
    let taken = |charged: fn(u64) -> u64| {
        spoilt(move |run| {
            run.lost_ns = run.span_ns / 1_000 * 3;
            for camera in &mut run.cameras {
                camera.taken = vec![(0, run.lost_ns)];
                camera.charged_ns = charged(camera.charged_ns);
                camera.served = camera.served.min(camera.charged_ns / 5_500);
            }
        })
    };
    let much = taken(|charged| charged);
    assert_eq!(verdict_of(&much, "camera 1 is read more"), NotDecided);
    let little = taken(|charged| charged * 11 / 20);
    assert_eq!(verdict_of(&little, "camera 1 is read more"), Confirmed);
    // What was taken where nobody knows may have been its own.
    let forgotten = spoilt(|run| {
        (run.lost_ns, run.known_from_ns) = (run.span_ns / 1_000 * 3, 1);
    });
    assert_eq!(verdict_of(&forgotten, "camera 1 is read more"), NotDecided);
}

/// Not the whole of a range lies on one side, neither for the claim nor against it.
#[test]
fn what_lost_time_may_explain_is_neither_confirmed_nor_refuted() {
    for system in [System::SsOnly, System::SsPibs] {
        let table = spoilt(|run| {
            if run.system == system {
                run.lost_ns = HUNDREDTH * 20;
            }
        });
        assert_eq!(
            verdict_of(&table, "Scheduling takes more"),
            match system {
                System::SsOnly => NotDecided,
                System::SsPibs => Confirmed,
            }
        );
        assert_eq!(verdict_of(&table, "SS-only switches to mode"), Confirmed);
    }
    // As little as what is lost in each: 0.01 % of 0.1.
    let close = |only: u64, pibs: u64, lost: u64| {
        let of = move |place, system, repetition| {
            let mut run = like_the_paper(place, system, repetition);
            run.lost_ns = HUNDREDTH * lost;
            run.scheduler_ns = HUNDREDTH
                * match system {
                    System::SsOnly => only,
                    System::SsPibs => pibs,
                };
            run
        };
        verdict_of(&table(of, REPETITIONS), "Scheduling takes more")
    };
    assert_eq!(close(21, 20, 0), Confirmed);
    assert_eq!(close(21, 20, 10), NotDecided);
    assert_eq!(close(20, 21, 0), Refuted);
    assert_eq!(close(20, 21, 10), NotDecided);
    assert_eq!(close(20, 31, 10), Refuted);
    assert_eq!(close(31, 20, 10), Confirmed);
    let explained = spoilt(|run| {
        for rise in &mut run.rises {
            rise.taken_ns = TOLERANCE_NS;
        }
    });
    assert_eq!(
        verdict_of(&explained, "SS-only switches to mode"),
        NotDecided
    );
    // Nor do jobs refute that the LO task starves, of which as many may be missing.
    let jobs = |lost| {
        let of = move |place, system, repetition| {
            let mut run = like_the_paper(place, system, repetition);
            if (place, system) == (Place::OneCamera, System::SsOnly) {
                run.completed_ns[1] = (1..=21).map(|number| number * WINDOW_NS).collect();
            }
            if (place, system) == PIBS {
                run.lost_ns = lost;
            }
            run
        };
        verdict_of(&table(of, REPETITIONS), "starves")
    };
    assert_eq!([jobs(0), jobs(30_000_000)], [Refuted, NotDecided]);
}

/// All runs with cameras have 0.1 % lost of 0.2, and none of the switches is known not to be of gaps.
#[test]
fn what_is_nothing_without_lost_time_is_compared_all_the_same() {
    let table = spoilt(|run| {
        run.lost_ns = run.span_ns / 1_000;
        run.scheduler_ns = run.lost_ns.min(run.scheduler_ns);
        run.gaps = run.switches;
    });
    for text in ["more than doubles", "adds little", "switches threads half"] {
        assert_eq!(verdict_of(&table, text), NotDecided, "{text}");
    }
}

/// A PIBS that gives all there is, a top half that hangs: what they show of overheads is no evidence.
#[test]
fn a_server_at_fault_refutes_ours_and_decides_none_of_the_paper_s() {
    let all = |run: &mut Run| {
        for camera in &mut run.cameras {
            (camera.served, camera.dropped) = (camera.sent, 0);
        }
    };
    let none = |run: &mut Run| {
        for camera in &mut run.cameras {
            (camera.served, camera.charged_ns, camera.dropped) = (0, 0, camera.sent);
        }
    };
    for spoil in [&all as &dyn Fn(&mut Run), &none] {
        let everywhere = spoilt(spoil);
        assert_eq!(verdict_of(&everywhere, "more than its share"), Refuted);
        assert_eq!(verdicts(&everywhere), vec![NotDecided; CLAIMS.len() - 2]);
        // In one run of one kind.
        let once = spoilt(|run| {
            let kind = (run.place, run.system, run.repetition);
            if kind == (Place::TwoCameras, System::SsPibs, 3) {
                spoil(run);
            }
        });
        assert_eq!(verdict_of(&once, "more than its share"), Refuted);
        for (text, expected) in [
            ("adds little", NotDecided),
            ("Scheduling takes more", NotDecided),
            ("more than doubles", Confirmed),
            ("Totals of both bend", Confirmed),
        ] {
            assert_eq!(verdict_of(&once, text), expected, "{text}");
        }
    }
    // What would refute a claim of the paper does not either.
    let other = |place, system, repetition| {
        let mut run = reversed(place, system, repetition);
        none(&mut run);
        run
    };
    let table = table(other, REPETITIONS);
    assert_eq!(verdicts(&table), vec![NotDecided; CLAIMS.len() - 2]);
}

/// What is wrong in one run in three is wrong in too many for anything to be certain; in all it refutes.
#[test]
fn changes_that_nothing_explains_count_against_what_is_said_of_them() {
    const ABOUT: [&str; 5] = [
        "In runs with a change",
        "camera 1 is read more",
        "with more variance",
        "Camera 2 is read less",
        "Totals of both bend",
    ];
    let again = |taken_ns, each: u32| {
        spoilt(move |run| {
            if run.place == Place::Change && run.repetition.is_multiple_of(each) {
                run.rises.push(Rise {
                    taken_ns,
                    ..rise(3_000_000_000)
                });
            }
        })
    };
    let found = |table: &Table| ABOUT.map(|text| verdict_of(table, text));
    assert_eq!(found(&again(0, 1)), [Refuted; 5]);
    assert_eq!(found(&again(0, 3)), [NotDecided; 5]);
    // Explained ones say nothing of the change, neither for the system nor against it.
    assert_eq!(found(&again(TOLERANCE_NS, 1)), [NotDecided; 5]);
    assert_eq!(found(&again(TOLERANCE_NS, 3)), [NotDecided; 5]);
    // One in twelve keeps what is never so from being confirmed, and what is said of two cameras at once.
    let once = found(&again(TOLERANCE_NS, 12));
    assert_eq!(
        once,
        [NotDecided, Confirmed, Confirmed, Confirmed, NotDecided]
    );
    // Before half time it is no change at half time, however near.
    let soon = spoilt(|run| {
        if run.place == Place::Change {
            run.rises[0].at_ns = run.span_ns / 2 - 150_000_000;
        }
    });
    assert_eq!(found(&soon), [Refuted; 5]);
    let never = spoilt(|run| {
        if run.place == Place::Change {
            run.rises.clear();
            // Then servers have what they have in mode LO.
            let shares = [0, 1].map(|number| run.share_ns(number));
            for (camera, share) in run.cameras.iter_mut().zip(shares) {
                (camera.charged_ns, camera.served) = (share, share / 10_000);
                camera.served_by = evenly(camera.served);
            }
        }
    });
    assert_eq!(found(&never), [Refuted; 5]);
}

/// Of how many events were served in which window nothing is known, or only of the second half.
#[test]
fn runs_of_which_nobody_looked_decide_nothing_of_halves() {
    for looks in [0, 19] {
        let table = spoilt(|run| run.looked_ns.truncate(looks));
        for text in [
            "camera 1 is read more",
            "with more variance",
            "Camera 2 is read less",
            "Totals of both bend",
        ] {
            assert_eq!(verdict_of(&table, text), NotDecided, "{text}");
        }
        assert_eq!(verdict_of(&table, "In runs with a change"), Confirmed);
        let cells = table.cells();
        let change = cells.last().unwrap();
        assert_eq!(change.unlooked, REPETITIONS as usize);
    }
}

/// What a gap does to one burst is neither variance of the system nor where totals bend.
#[test]
fn variances_and_bends_that_windows_show_of_which_others_took_something_are_not_decided() {
    let touched = |number: u64| {
        spoilt(move |run| {
            if run.place != Place::Change {
                return;
            }
            let camera = &mut run.cameras[0];
            // All of its variance is in windows 30 and 31, of which others took something.
            *camera = self::camera(10, 100, 0);
            camera.served_by[30] -= 60;
            let at = number * WINDOW_NS + 50;
            camera.taken = vec![(at, at + 20)];
        })
    };
    assert_eq!(verdict_of(&touched(30), "with more variance"), NotDecided);
    assert_eq!(verdict_of(&touched(25), "with more variance"), Confirmed);
    // More than half of the windows.
    let many = spoilt(|run| {
        for camera in &mut run.cameras {
            let gaps = (0..15).map(|number| 2 * number * WINDOW_NS + 50);
            camera.taken = gaps.map(|at| (at, at + 1)).collect();
        }
    });
    for text in ["with more variance", "Totals of both bend"] {
        assert_eq!(verdict_of(&many, text), NotDecided, "{text}");
    }
    assert_eq!(verdict_of(&many, "camera 1 is read more"), Confirmed);
}

/// One job less in forty is no starving.
#[test]
fn who_completes_a_job_less_does_not_starve() {
    let of = |place, system, repetition| {
        let mut run = like_the_paper(place, System::SsPibs, repetition);
        run.system = system;
        if system == System::SsOnly {
            run.completed_ns[1].pop();
        }
        run
    };
    assert_eq!(verdict_of(&table(of, REPETITIONS), "starves"), Refuted);
}

#[test]
fn totals_of_one_rate_bend_nowhere() {
    let of = |place, system, repetition: u32| {
        let mut run = like_the_paper(place, system, repetition);
        let varies = u64::from(repetition % 7);
        run.cameras = vec![camera(50, 52, varies); run.cameras.len()];
        run
    };
    assert_eq!(verdict_of(&table(of, REPETITIONS), "bend"), Refuted);
}

/// Half of the repetitions are like the paper's, half the other way round.
#[test]
fn data_that_differ_decide_nothing() {
    let mixed = |place, system, repetition: u32| match repetition.is_multiple_of(2) {
        true => like_the_paper(place, system, repetition),
        false => reversed(place, system, repetition),
    };
    all_are(&of_paper(&table(mixed, REPETITIONS)), NotDecided);
}

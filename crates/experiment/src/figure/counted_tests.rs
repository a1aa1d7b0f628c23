use super::*;
use crate::figure::Finding;
use vestal_result::claim::Verdict;

/// A run: scheduler, servers, tasks; and the most of an idle tick, of another, of a pick, whose least is 20.
fn made(scheduler: &str, servers: u64, tasks: u64) -> Row {
    let count = |number, least, mean, most| Count {
        number,
        least,
        mean,
        most,
    };
    let all = servers * tasks;
    let (idle, due, pick_most, pick_mean) = match scheduler {
        "deferrable" => (50, 1000 * servers, 500 + 400 * tasks, 1000),
        "no-wake-ups" => (50, 2000 + 1000 * servers * tasks, 500, 980),
        // Counters.
        _ => (100 + 20 * all, 200_000, 20, 20),
    };
    Row {
        scheduler: scheduler.to_owned(),
        servers,
        tasks,
        idle: count(297, idle, idle, idle),
        due: count(2, due.min(900_000), 1000, due),
        pick: count(100, 20, pick_mean, pick_most),
        change: count(10, 60, 60, 60),
    }
}

fn board(name: &str) -> Board {
    let mut board = Board {
        name: name.to_owned(),
        ..Board::default()
    };
    for scheduler in ["deferrable", "no-wake-ups", "scan"] {
        for servers in 1..=6 {
            for tasks in 1..=6 {
                board.rows.push(made(scheduler, servers, tasks));
            }
        }
    }
    // Counters differ less: 100 in ticks, nothing in picks.
    for row in board.rows.iter_mut().filter(|row| row.scheduler == "scan") {
        row.due = Count {
            most: row.idle.most + 100,
            ..row.due
        };
        row.due.least = row.due.most;
    }
    let mut part = |what: &str, of: fn(u64) -> u64| {
        for events in [0, 1, 2, 4, 8] {
            board.parts.push(Part {
                what: what.to_owned(),
                events,
                instructions: of(events),
            });
        }
    };
    part("idle", |_| 50);
    part(
        "burst",
        |events| if events == 0 { 50 } else { 300 + 100 * events },
    );
    part("insert", |events| 200 + 10 * events);
    part("switch-in", |events| 400 + 300 * events);
    board
}

/// What confirms all claims but two, for which counters take more.
fn counts() -> Counts {
    Counts {
        rustc: "rustc 1".to_owned(),
        qemu: "QEMU 2".to_owned(),
        code: Some(8000),
        code_idle: Some(40),
        ram: Some(4000),
        constants: Vec::new(),
        boards: vec![board("one"), board("two")],
    }
}

fn all_claims() -> Vec<&'static CountedClaim> {
    counted().flat_map(|figure| figure.claims).collect()
}

fn claim(words: &str) -> &'static CountedClaim {
    let found: Vec<_> = all_claims()
        .into_iter()
        .filter(|claim| claim.text.contains(words))
        .collect();
    assert_eq!(found.len(), 1, "{words}");
    found[0]
}

fn rows_of(counts: &mut Counts, scheduler: &str, change: impl Fn(&mut Row)) {
    // One board is enough to refute.
    let board = &mut counts.boards[1];
    let rows = board.rows.iter_mut();
    rows.filter(|row| row.scheduler == scheduler)
        .for_each(change);
}

fn part_of(counts: &mut Counts, what: &str, events: u64, instructions: u64) {
    let parts = counts.boards[1].parts.iter_mut();
    let mut parts = parts.filter(|part| part.what == what && part.events == events);
    parts.next().unwrap().instructions = instructions;
}

type Change = fn(&mut Counts);

/// For each claim words of it, what confirms it if the numbers as they are do not, and each thing that refutes it.
const CASES: &[(&str, Change, &[Change])] = &[
    (
        "Wake-ups move",
        |_| {},
        &[
            |counts| {
                rows_of(counts, "no-wake-ups", |row| {
                    row.due.most = 1000 * row.servers;
                })
            },
            |counts| rows_of(counts, "no-wake-ups", |row| row.pick.most = 5000),
        ],
    ),
    (
        "nearly equal",
        |_| {},
        &[
            |counts| rows_of(counts, "no-wake-ups", |row| row.pick.mean = 1200),
            |counts| rows_of(counts, "deferrable", |row| row.pick.mean = 1200),
        ],
    ),
    (
        "As tasks grow",
        |_| {},
        &[
            // Always above, always the same.
            |counts| rows_of(counts, "deferrable", |row| row.pick.mean = 9000),
            |counts| {
                rows_of(counts, "scan", |row| {
                    row.idle.mean = 5000;
                })
            },
        ],
    ),
    (
        "the worst tick takes less than without",
        |counts| {
            for board in &mut counts.boards {
                for row in &mut board.rows {
                    if row.scheduler == "scan" {
                        row.due.most = 7000;
                    }
                }
            }
        },
        &[|counts| rows_of(counts, "scan", |row| row.due.most = 6000)],
    ),
    (
        "the worst pick takes less than without",
        |counts| {
            for board in &mut counts.boards {
                for row in &mut board.rows {
                    if row.scheduler == "scan" {
                        row.pick.most = 9000;
                    }
                }
            }
        },
        &[|counts| rows_of(counts, "scan", |row| row.pick.most = 20)],
    ),
    (
        "more jitter in ticks",
        |_| {},
        &[|counts| rows_of(counts, "scan", |row| row.due.most = 90_000)],
    ),
    (
        "more jitter in the scheduler",
        |_| {},
        &[|counts| {
            rows_of(counts, "deferrable", |row| {
                row.pick.least = row.pick.most;
            })
        }],
    ),
    (
        "worst tick grows",
        |_| {},
        &[|counts| {
            rows_of(counts, "deferrable", |row| {
                row.due.most = 1000 * row.servers.min(5);
            })
        }],
    ),
    (
        "worst pick grows",
        |_| {},
        &[|counts| {
            rows_of(counts, "deferrable", |row| {
                row.pick.most = 500 + 400 * row.tasks.min(5);
            })
        }],
    ),
    (
        "nothing is due",
        |_| {},
        &[
            |counts| part_of(counts, "idle", 8, 51),
            |counts| {
                for part in &mut counts.boards[0].parts {
                    if part.what == "idle" {
                        part.instructions = 61;
                    }
                }
            },
        ],
    ),
    (
        "k due events",
        |_| {},
        &[
            |counts| part_of(counts, "burst", 8, 1400),
            |counts| part_of(counts, "burst", 8, 700),
        ],
    ),
    (
        "An insertion",
        |_| {},
        &[|counts| part_of(counts, "insert", 8, 2000)],
    ),
    (
        "Switching a server in",
        |_| {},
        &[|counts| part_of(counts, "switch-in", 4, 2000)],
    ),
    (
        "8 KB",
        |_| {},
        &[
            |counts| counts.code = Some(8193),
            |counts| counts.ram = Some(5121),
            |counts| counts.code_idle = Some(61),
        ],
    ),
];

#[test]
fn each_claim_is_confirmed_refuted_and_left_open() {
    assert_eq!(CASES.len(), all_claims().len());
    for (words, confirms, refutes) in CASES {
        let claim = claim(words);
        let mut good = counts();
        confirms(&mut good);
        let found = (claim.check)(&good);
        assert_eq!(found.verdict, Verdict::Confirmed, "{words}: {found:?}");
        for refute in *refutes {
            let mut bad = good.clone();
            refute(&mut bad);
            let found = (claim.check)(&bad);
            assert_eq!(found.verdict, Verdict::Refuted, "{words}: {found:?}");
        }
        // One board has not what it speaks of, and then there is none.
        let mut less = good.clone();
        (less.code, less.boards[1]) = (None, Board::default());
        let found = (claim.check)(&less);
        assert_eq!(found.verdict, Verdict::NotDecided, "{words}: {found:?}");
        let found = (claim.check)(&Counts::default());
        assert_eq!(found.verdict, Verdict::NotDecided, "{words}: {found:?}");
    }
}

const TEXT: &str = "vestal-kernel-counts/1\nrustc rustc 1.0 (x)\nqemu QEMU 2\ncode 8000\ncode-idle 20\nboard one\nram 3640\nconstant pick 400\n\
    deferrable 1 2 idle 3 4 5 6 due 7 8 9 10 pick 11 12 13 14 change 15 16 17 18\npart burst 4 400\n\
    bound systems 96\nbound pick 5 900 380 75 600 1 0 2 1\nloss periodic 7 8 1 2 3 4 5 6\n\
    board two\nram 3640\nconstant pick 400\n";

#[test]
fn what_was_counted_is_read() {
    let counts = Counts::parse(TEXT).unwrap();
    assert_eq!(
        (counts.rustc.as_str(), counts.qemu.as_str()),
        ("rustc 1.0 (x)", "QEMU 2")
    );
    assert_eq!(
        (counts.code, counts.code_idle, counts.ram),
        (Some(8000), Some(20), Some(3640))
    );
    let names: Vec<&str> = counts.boards.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    let row = counts.boards[0].row("deferrable", 1, 2).unwrap();
    assert_eq!((row.idle.number, row.change.most), (3, 18));
    assert_eq!(row.tick(), Some((4, 10)));
    assert_eq!(row.ticks(), 3 * 5 + 7 * 9);
    assert_eq!(row.all(), 3 * 5 + 7 * 9 + 11 * 13 + 15 * 17);
    assert_eq!(row.a_second(20), 2000);
    assert_eq!(counts.boards[0].parts("burst"), [(4, 400)]);
    assert_eq!(counts.boards[1].rows.len(), 0);
    assert_eq!(counts.constants, [("pick".to_owned(), 400)]);
    assert_eq!(counts.boards[0].systems, Some(96));
    let pick = Bounded {
        what: "pick".to_owned(),
        number: 5,
        most: 900,
        plain: 380,
        fullest: 75,
        full: [600, 1, 0, 2, 1],
    };
    assert_eq!(counts.boards[0].calls, [pick]);
    let loss = Loss {
        what: "periodic".to_owned(),
        lost: 7,
        may: 8,
        more: [1, 2, 3, 4, 5, 6],
    };
    assert_eq!(counts.boards[0].losses, [loss]);
}

#[test]
fn what_is_none_of_it_is_refused() {
    for (from, to) in [
        ("counts/1", "counts/2"),
        ("code 8000", "code many"),
        ("code-idle", "idle"),
        ("ram 3640\n", "ram 3641\n"),
        ("pick 400\n", "pick 399\n"),
        ("600 1 0 2 1", "600 1 0 2"),
        ("systems 96", "systems all"),
        ("loss periodic 7", "loss periodic"),
        ("change 15", "changed 15"),
        ("17 18", "17"),
        ("17 18", "17 18 19"),
        ("burst 4 400", "burst 4"),
        ("board one\n", ""),
        ("qemu QEMU 2", "emulator"),
    ] {
        let text = TEXT.replacen(from, to, 1);
        assert!(Counts::parse(&text).is_err(), "{to}");
    }
}

#[test]
fn every_figure_is_computed_from_what_is_kept() {
    for figure in counted() {
        let drawn = figure.draw("vestal reproduce X", "0").unwrap();
        assert_eq!(drawn.outcome.findings.len(), figure.claims.len());
        let open = |(_, finding): &(&str, Finding)| *finding == Finding::NotDecided;
        assert!(!drawn.outcome.findings.iter().any(open), "{}", figure.name);
        for (name, chart) in &drawn.plots {
            assert!(!chart.curves.is_empty(), "{name}");
            let has_all = chart.curves.iter().all(|curve| curve.points.len() >= 5);
            assert!(has_all, "{}/{name}: {chart:?}", figure.name);
        }
    }
    let names = |name: &str| named(name).len();
    assert_eq!(
        (
            names("holenderski2010"),
            names("holenderski2010/fig15"),
            names("x")
        ),
        (3, 1, 0)
    );
}

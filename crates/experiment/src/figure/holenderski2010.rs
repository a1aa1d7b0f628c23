//! Figures 15 and 16 of Holenderski, Cools, Bril and Lukkien (2010), and the parts of which their numbers are made.

use super::counted::{Board, Counted, CountedClaim, Row};
use super::counted_rules::{self as rules, Along, MOST, SCAN, SIZES, WITH, WITHOUT};
use crate::number::as_f64;
use crate::plot::{Chart, Curve, YAxis};
use crate::summary::Share;

const COUNTS: &str = include_str!("../../../../docs/holenderski2010/counts.txt");

/// Between how many percent sums are nearly equal; the threshold is ours.
const NEAR: u64 = 10;
/// By how many percent what events take may differ in a line; the threshold is ours.
const LINE: f64 = 10.0;

pub(super) const FIGURES: &[Counted] = &[
    Counted {
        name: "holenderski2010/fig15",
        caption: "what ticks and the scheduler take with deferrable servers, with wake-ups and without, and without servers",
        counts: COUNTS,
        charts: figure_15,
        claims: &[
            CountedClaim {
                text: "Wake-ups move what is done in ticks to the scheduler: the worst tick takes less with them, the worst pick more.",
                check: rules::wake_ups_move,
            },
            CountedClaim {
                text: "What ticks, picks and ends of jobs take together is nearly equal with wake-ups and without: within 10 %.",
                check: |counts| rules::sums_are_near(counts, NEAR),
            },
            CountedClaim {
                text: "As tasks grow it falls below what a kernel takes without servers, which looks at all tasks in each tick.",
                check: rules::falls_below_counters,
            },
            CountedClaim {
                text: "With 36 tasks the worst tick takes less than without servers, too.",
                check: rules::worst_tick_is_below,
            },
            CountedClaim {
                text: "With 36 tasks the worst pick takes less than without servers, too.",
                check: rules::worst_pick_is_below,
            },
        ],
    },
    Counted {
        name: "holenderski2010/fig16",
        caption: "the best and the worst tick and pick, over servers and over tasks",
        counts: COUNTS,
        charts: figure_16,
        claims: &[
            CountedClaim {
                text: "Servers have more jitter in ticks than a kernel without them.",
                check: rules::ticks_jitter_more,
            },
            CountedClaim {
                text: "Servers have more jitter in the scheduler.",
                check: rules::picks_jitter_more,
            },
            CountedClaim {
                text: "The worst tick grows with the servers.",
                check: rules::ticks_grow_with_servers,
            },
            CountedClaim {
                text: "The worst pick grows with the tasks of a server.",
                check: rules::picks_grow_with_tasks,
            },
        ],
    },
    Counted {
        name: "holenderski2010/parts",
        caption: "single calls by the events that they have to do with: an idle tick, a burst, an insertion, a switch to a server; and sizes",
        counts: COUNTS,
        charts: parts,
        claims: &[
            CountedClaim {
                text: "A tick at which nothing is due takes the same whatever is inactive, and at most 60 instructions.",
                check: |counts| rules::is_constant(counts, "idle", 60),
            },
            CountedClaim {
                text: "A tick with k due events is linear in k.",
                check: |counts| rules::is_linear(counts, "burst", LINE),
            },
            CountedClaim {
                text: "An insertion is linear in the events before it.",
                check: |counts| rules::is_linear(counts, "insert", LINE),
            },
            CountedClaim {
                text: "Switching a server in is linear in its events that are due.",
                check: |counts| rules::is_linear(counts, "switch-in", LINE),
            },
            CountedClaim {
                text: "In one image for the Cortex-M3 event queues and servers take at most 8 KB of code, an idle tick at most 60 instructions, and six servers with six tasks each at most 5 KB of memory.",
                check: |counts| rules::is_small(counts, (8192, 60, 5120)),
            },
        ],
    },
];

/// Numbers of servers for which there is a curve.
const SERVERS: [u64; 3] = [1, 3, MOST];

fn exactly(value: u64) -> Share {
    let value = as_f64(value);
    Share {
        value,
        low: value,
        high: value,
    }
}

fn chart(title: &str, (x_label, y_label): (&str, &str), curves: Vec<Curve>) -> Chart {
    Chart::new(title, (x_label, y_label), YAxis::Numbers, curves)
}

/// A value of rows; `None` where a row has none.
type Value = fn(&Row) -> Option<u64>;

fn curve(name: String, rows: impl Iterator<Item = (u64, Option<u64>)>) -> Curve {
    let points = rows.filter_map(|(x, y)| Some(exactly(y?).at(as_f64(x))));
    Curve {
        name,
        points: points.collect(),
    }
}

/// Over the tasks of each server, for a few numbers of servers, with wake-ups and without.
fn with_and_without(board: &Board, value: Value) -> Vec<Curve> {
    let each = [(WITH, "wake-ups"), (WITHOUT, "none")].into_iter();
    let curves = each.flat_map(|(scheduler, name)| {
        SERVERS.map(|servers| {
            let of = |tasks| board.row(scheduler, servers, tasks).and_then(value);
            curve(
                format!("{name}, S = {servers}"),
                SIZES.map(|tasks| (tasks, of(tasks))),
            )
        })
    });
    curves.collect()
}

fn figure_15(board: &Board) -> Vec<(&'static str, Chart)> {
    const TASKS: &str = "tasks of each server";
    const MOST_OF_ONE: &str = "instructions, most";
    const A_SECOND: &str = "instructions in 1000 ticks";
    let over_tasks = |title: &str, y, value| {
        let curves = with_and_without(board, value);
        chart(title, (TASKS, y), curves)
    };
    let all: Value = |row| Some(row.a_second(row.all()));
    let flat = [WITH, WITHOUT, SCAN, "queue"].map(|scheduler| {
        let of = |tasks| board.row(scheduler, MOST, tasks).and_then(all);
        curve(
            scheduler.to_owned(),
            SIZES.map(|tasks| (MOST * tasks, of(tasks))),
        )
    });
    vec![
        (
            "a.svg",
            over_tasks("15 a: the worst pick", MOST_OF_ONE, |row| {
                Some(row.pick.most)
            }),
        ),
        (
            "b.svg",
            over_tasks("15 b: the worst tick", MOST_OF_ONE, |row| {
                Some(row.tick()?.1)
            }),
        ),
        (
            "c.svg",
            over_tasks("15 c: all picks", A_SECOND, |row| {
                Some(row.a_second(row.pick.all()))
            }),
        ),
        (
            "d.svg",
            over_tasks("15 d: all ticks", A_SECOND, |row| {
                Some(row.a_second(row.ticks()))
            }),
        ),
        ("e.svg", over_tasks("15 e: all calls", A_SECOND, all)),
        (
            "f.svg",
            chart(
                "15 f: all calls, six servers",
                ("tasks", A_SECOND),
                flat.into(),
            ),
        ),
    ]
}

fn figure_16(board: &Board) -> Vec<(&'static str, Chart)> {
    let best_and_worst = |title: &str, along: Along, values: [Value; 2]| {
        let schedulers = [(WITH, "servers"), (SCAN, "no servers")].into_iter();
        let curves = schedulers.flat_map(|(scheduler, name)| {
            let named = [("best", values[0]), ("worst", values[1])];
            named.map(|(which, value)| {
                let of = |place| {
                    let (servers, tasks) = along.at(place);
                    board.row(scheduler, servers, tasks).and_then(value)
                };
                curve(
                    format!("{name}, {which}"),
                    SIZES.map(|place| (place, of(place))),
                )
            })
        });
        let x_label = match along {
            Along::Servers => "servers of six tasks",
            Along::Tasks => "tasks of each of six servers",
        };
        chart(title, (x_label, "instructions"), curves.collect())
    };
    let tick: [Value; 2] = [|row| Some(row.tick()?.0), |row| Some(row.tick()?.1)];
    let pick: [Value; 2] = [|row| Some(row.pick.least), |row| Some(row.pick.most)];
    vec![
        (
            "a.svg",
            best_and_worst("16 a: ticks over servers", Along::Servers, tick),
        ),
        (
            "b.svg",
            best_and_worst("16 b: ticks over tasks", Along::Tasks, tick),
        ),
        (
            "c.svg",
            best_and_worst("16 c: picks over servers", Along::Servers, pick),
        ),
        (
            "d.svg",
            best_and_worst("16 d: picks over tasks", Along::Tasks, pick),
        ),
    ]
}

fn parts(board: &Board) -> Vec<(&'static str, Chart)> {
    let each = [
        ("idle", "an idle tick"),
        ("burst", "a tick with due events"),
        ("insert", "an insertion behind events"),
        ("switch-in", "a switch to a server with due events"),
    ];
    let curves = each.map(|(what, name)| {
        let points = board.parts(what).into_iter();
        curve(
            name.to_owned(),
            points.map(|(events, many)| (events, Some(many))),
        )
    });
    vec![(
        "plot.svg",
        chart("single calls", ("events", "instructions"), curves.into()),
    )]
}

//! Figures of counted instructions: what is said of them follows from `docs/holenderski2010/counts.txt`. `scripts/bench-kernel.sh --keep`
//! counts anew; it calls this test with `VESTAL_BLESS=1`.

use crate::kept::{docs, expect, expect_files, expect_part};
use std::fmt::Write as _;
use vestal_experiment::figure::counted::{self, Board, Bounded, Counts, Loss, Row};

pub(crate) const BEGIN: &str =
    "<!-- begin: counts, written by scripts/bench-kernel.sh --keep -->\n";

/// The page with the data where the documentation has them.
fn page(page: &str) -> String {
    page.replace("`counts.txt` is", "[counts.txt](../counts.txt) is")
}

#[test]
fn what_the_documentation_says_of_instructions_follows_from_what_was_counted() {
    let mut block = "\n| figure | the sentence | found |\n|---|---|---|\n".to_owned();
    for figure in counted::counted() {
        let command = format!("vestal reproduce {} -o DIR", figure.name);
        let drawn = figure.draw(&command, env!("CARGO_PKG_VERSION")).unwrap();
        let folder = docs().join(figure.name);
        if std::env::var_os("VESTAL_BLESS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
        }
        expect(&folder.join("claims.md"), &page(&drawn.outcome.page));
        let mut names = vec!["claims.md".to_owned()];
        for (name, chart) in drawn.plots {
            expect(&folder.join(&name), &chart.to_svg());
            names.push(name);
        }
        expect_files(&folder, names);
        for (text, finding) in &drawn.outcome.findings {
            let name = figure.name;
            block += &format!("| [{name}]({name}/claims.md) | {text} | **{finding}** |\n");
        }
    }
    block.push('\n');
    expect_part(&docs().join("experiments.md"), BEGIN, &block);
}

fn counts() -> Counts {
    let text = std::fs::read_to_string(docs().join("holenderski2010/counts.txt")).unwrap();
    Counts::parse(&text).unwrap()
}

/// Digits in groups of three where there are more than four.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap())
        .collect();
    groups.join(" ")
}

/// Numbers of both boards, the first one first.
fn both(counts: &Counts, number: impl Fn(&Board) -> u64) -> String {
    let [arm, riscv] = counts.boards.as_slice() else {
        panic!("there are two boards");
    };
    format!("{}, {}", grouped(number(arm)), grouped(number(riscv)))
}

const GRID: [(&str, &str); 6] = [
    ("deferrable", "deferrable servers"),
    ("no-wake-ups", "the same without wake-ups"),
    ("idling", "idling servers"),
    ("polling", "polling servers"),
    ("scan", "no servers, counters of all tasks (`flat::Scan`)"),
    ("queue", "no servers, one queue (`flat::Queue`)"),
];

/// A scheduler's row with six servers of six tasks each.
fn largest<'a>(board: &'a Board, scheduler: &str) -> &'a Row {
    board.row(scheduler, 6, 6).unwrap()
}

/// The worst of a column: with one, and how much more each further one takes on the average.
fn grows(worst: impl Fn(u64) -> u64) -> String {
    let (first, last) = (worst(1), worst(6));
    format!("{first} with one, {} more with each", (last - first) / 5)
}

/// What the six schedulers take, and what follows from it.
fn of_schedulers(counts: &Counts) -> String {
    let board = &counts.boards[0];
    let mut text = format!(
        "\nThe image that is weighed has {} bytes, and an idle tick of {} instructions. On the Cortex-M3, six servers with six tasks each, over 300 ticks ({}; another compiler gives other numbers):\n\n\
         | scheduler | a tick at which nothing is due | the worst tick | picks, mean | picks, most | in all |\n|---|---|---|---|---|---|\n",
        counts.code.unwrap(),
        counts.code_idle.unwrap(),
        counts.rustc
    );
    for (scheduler, words) in GRID {
        let row = largest(board, scheduler);
        let numbers = [
            row.idle.most,
            row.tick().unwrap().1,
            row.pick.mean,
            row.pick.most,
            row.all(),
        ];
        let numbers = numbers.map(grouped).join(" | ");
        let _ = writeln!(text, "| {words} | {numbers} |");
    }
    let ticks = grows(|servers| board.row("deferrable", servers, 6).unwrap().due.most);
    let picks = grows(|tasks| board.row("deferrable", 6, tasks).unwrap().pick.most);
    let _ = write!(
        text,
        "\nOf deferrable servers the worst tick grows with the servers ({ticks}) and not with their tasks; the worst pick grows with the tasks of a server, whose\n\
         events it makes up for ({picks}). Both are linear.\n\n"
    );
    text
}

/// What single calls take.
fn of_parts(counts: &Counts) -> String {
    let mut text = "\n| a single call | Cortex-M3 | each event more | riscv32 | each event more |\n|---|---|---|---|---|\n".to_owned();
    for (what, words, first) in [
        (
            "idle",
            "a tick at which nothing is due, with 0 to 32 tasks that are inactive",
            0,
        ),
        (
            "burst",
            "a tick at which k jobs arrive in the active server, the first number with one",
            1,
        ),
        ("insert", "an insertion of a delay behind k others", 0),
        (
            "switch-in",
            "a pick that switches from one server to another, of which k jobs have arrived meanwhile",
            0,
        ),
    ] {
        let _ = write!(text, "| {words} |");
        for board in &counts.boards {
            let parts = board.parts(what);
            let of = |events| {
                let mut parts = parts.iter();
                parts.find(|part| part.0 == events).unwrap().1
            };
            let each = (of(32) - of(first)) / (32 - first);
            let _ = write!(text, " {} | {each} |", of(first));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

/// By constant, what it is for.
const CONSTANTS: [(&str, &str); 9] = [
    (
        "idle",
        "the timer's hook at a tick at which no event is due",
    ),
    ("tick", "tick, with its handler"),
    (
        "event",
        "timed event that is handled, in a tick or in a pick: an arrival, a replenishment, a depletion, a wake-up, the end of a delay; server that has no work any more: it waits, perhaps with a wake-up, or discards its budget; wake-up that is taken back or inserted anew; polling server that is asked for work when its budget has come",
    ),
    (
        "pick",
        "choice of who executes that leaves the active server as it is, with the contexts of tasks",
    ),
    (
        "switch",
        "choice of who executes that switches the active server to another or to none, with the contexts of tasks",
    ),
    (
        "interrupt",
        "interrupt that releases a job or has a task go on",
    ),
    (
        "call",
        "call of a task: the end of a job, a delay, a semaphore",
    ),
    (
        "step",
        "node of a queue that is passed in search of an event, or of the place for one; task that is passed in search of the one to execute",
    ),
    (
        "detour",
        "run of dummies that is made, takes over the time of an event that goes, or is joined with another; and replenishment of a server whose tasks wait for its own time",
    ),
];

/// What is promised.
fn of_constants(counts: &Counts) -> String {
    let mut text = "\n| constant | for each | instructions at most |\n|---|---|---|\n".to_owned();
    assert_eq!(counts.constants.len(), CONSTANTS.len());
    for ((name, most), (expected, words)) in counts.constants.iter().zip(CONSTANTS) {
        assert_eq!(name, expected);
        let _ = writeln!(text, "| `{}` | {words} | {most} |", name.to_uppercase());
    }
    text.push('\n');
    text
}

const CALLS: [(&str, &str); 5] = [
    ("idle", "a tick at which nothing is due"),
    ("tick", "another tick"),
    ("pick", "a pick without a switch of servers"),
    ("switch", "a pick with one"),
    ("call", "a call of a task, an interrupt"),
];

/// What came of comparing each call.
fn of_calls(counts: &Counts) -> String {
    let systems = counts.boards.iter().map(|board| board.systems.unwrap());
    let systems: Vec<String> = systems.map(|number| number.to_string()).collect();
    assert!(systems.windows(2).all(|two| two[0] == two[1]));
    let mut text = format!(
        "\nOf {} systems, on the Cortex-M3 and on riscv32:\n\n\
         | the scheduler alone | number | most | of those without events, detours and second switches, but for passed nodes, most | the fullest, in percent of its bound | that one: instructions; events, switches, passed nodes, detours |\n|---|---|---|---|---|---|\n",
        systems[0]
    );
    for (what, words) in CALLS {
        let of = |board: &Board| -> Bounded {
            let mut calls = board.calls.iter();
            calls.find(|call| call.what == what).unwrap().clone()
        };
        let full = counts.boards.iter().map(|board| {
            let [instructions, rest @ ..] = of(board).full;
            format!(
                "{instructions}; {}",
                rest.map(|it| it.to_string()).join(", ")
            )
        });
        let full: Vec<String> = full.collect();
        let _ = writeln!(
            text,
            "| {words} | {} | {} | {} | {} | {} |",
            both(counts, |board| of(board).number),
            both(counts, |board| of(board).most),
            both(counts, |board| of(board).plain),
            both(counts, |board| of(board).fullest),
            full.join(" and ")
        );
    }
    text.push('\n');
    text
}

const LOSSES: [(&str, &str); 8] = [
    (
        "interrupts-1",
        "has an interrupt in 1 of 100 ticks, which releases a short job",
    ),
    ("interrupts-10", "in 10 of 100"),
    ("interrupts-50", "in 50 of 100"),
    (
        "periodic",
        "has three tasks that arrive at every tenth tick, whose jobs end at once",
    ),
    ("periodic-50", "both"),
    (
        "never-yields",
        "has a task that never yields; its budget is in the bound",
    ),
    (
        "a-tick-more",
        "has one, and a tick of budget more than the bound knows: found out",
    ),
    (
        "only-picks-counted",
        "has the periodic tasks, of which the picks alone are counted: found out",
    ),
];

/// What one server took from another.
fn of_losses(counts: &Counts) -> String {
    let mut text = "\n| the urgent server | the victim lost | it may lose | on riscv32 it lost | and may lose |\n|---|---|---|---|---|\n".to_owned();
    for (what, words) in LOSSES {
        let _ = write!(text, "| {words} |");
        for board in &counts.boards {
            let mut losses = board.losses.iter();
            let loss: &Loss = losses.find(|loss| loss.what == what).unwrap();
            let found_out = words.ends_with("found out");
            assert_eq!(loss.lost > loss.may, found_out, "{}: {what}", board.name);
            let _ = write!(text, " {} | {} |", grouped(loss.lost), grouped(loss.may));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

/// All numbers of the page follow from what is kept, as far as they are instructions.
#[test]
fn the_tables_of_instructions_in_the_porting_guide_are_what_was_counted() {
    let counts = counts();
    let page = docs().join("porting.md");
    for (name, block) in [
        ("schedulers", of_schedulers(&counts)),
        ("single calls", of_parts(&counts)),
        ("constants", of_constants(&counts)),
        ("each call", of_calls(&counts)),
        ("losses", of_losses(&counts)),
    ] {
        let begin = format!("<!-- begin: {name}, written by scripts/bench-kernel.sh --keep -->\n");
        expect_part(&page, &begin, &block);
    }
}

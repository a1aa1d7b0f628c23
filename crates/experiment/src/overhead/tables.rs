//! The columns of every table of what was measured, a line for each.

use super::{Cell, NamedRun, Preemptions, PrintedCell, Quartiles, State, Times};
use crate::columns::{Column, Value};
use crate::number::as_f64;

fn word(text: &str) -> Value {
    Value::Word(text.to_owned())
}
fn size(number: usize) -> Value {
    Value::Word(number.to_string())
}
fn number(value: u64) -> Value {
    Value::Number(as_f64(value))
}
fn time(nanos: u64) -> Value {
    Value::Time(as_f64(nanos))
}
/// Of the paper: there is nothing where it has nothing.
fn paper<T>(found: Option<T>, value: impl FnOnce(T) -> Value) -> Value {
    found.map_or_else(|| word(""), value)
}
fn median(found: Option<Quartiles>, value: fn(f64) -> Value) -> Value {
    found.map_or(Value::Missing, |found| value(found.median))
}
fn low(found: Option<Quartiles>) -> Value {
    found.map_or(Value::Missing, |found| Value::Number(found.low))
}
fn high(found: Option<Quartiles>) -> Value {
    found.map_or(Value::Missing, |found| Value::Number(found.high))
}
fn clean(cell: &Cell) -> usize {
    cell.runs - cell.gaps - cell.others
}
fn counts(cell: &Cell) -> Value {
    Value::Word(format!("{}/{}/{}", clean(cell), cell.gaps, cell.others))
}
fn percent(milli_percent: u64) -> f64 {
    as_f64(milli_percent) / 1000.0
}

/// The runs, in the order of time.
#[rustfmt::skip]
pub const RUNS: &[Column<NamedRun>] = &[
    Column::new(|row: &NamedRun| Value::Word(row.run.repetition.to_string())).csv("repetition", 0),
    Column::new(|row: &NamedRun| size(row.run.size)).csv("tasks", 0),
    Column::new(|row: &NamedRun| word(row.variant)).csv("variant", 0),
    Column::new(|row: &NamedRun| state(row.run.state)).csv("state", 0),
    Column::new(|row: &NamedRun| time(row.run.busy_ns)).csv("busy_ns", 0),
    Column::new(|row: &NamedRun| number(row.run.switches)).csv("switches", 0),
    Column::new(|row: &NamedRun| time(row.run.own_cpu_ns)).csv("own_cpu_ns", 0),
    Column::new(|row: &NamedRun| time(row.run.workers_cpu_ns)).csv("workers_cpu_ns", 0),
    Column::new(|row: &NamedRun| number(row.run.wakeups)).csv("wakeups", 0),
    Column::new(|row: &NamedRun| time(row.run.lost_ns)).csv("lost_ns", 0),
    Column::new(|row: &NamedRun| time(row.run.longest_gap_ns)).csv("longest_gap_ns", 0),
    Column::new(|row: &NamedRun| number(row.run.manager.count)).csv("invocations", 0),
    Column::new(|row: &NamedRun| Value::Time(row.run.manager.mean_ns)).csv("invocation_mean_ns", 0),
    Column::new(|row: &NamedRun| time(row.run.manager.median_ns)).csv("invocation_median_ns", 0),
    Column::new(|row: &NamedRun| time(row.run.manager.max_ns)).csv("invocation_max_ns", 0),
];

fn state(state: State) -> Value {
    word(match state {
        State::Clean => "clean",
        State::Gap => "gap",
        State::Other => "other",
    })
}

/// Table II.
#[rustfmt::skip]
pub const BUSY_PERIODS: &[Column<PrintedCell>] = &[
    Column::new(|row: &PrintedCell| size(row.cell.size)).csv("tasks", 0).page("tasks", 0).terminal("tasks", 0),
    Column::text(|row: &PrintedCell| word(&row.cell.variant)).csv("variant", 0).page("variant", 0).terminal("variant", 0),
    Column::new(|row: &PrintedCell| size(row.cell.runs)).csv("runs", 0),
    Column::new(|row: &PrintedCell| size(row.cell.gaps)).csv("gaps", 0),
    Column::new(|row: &PrintedCell| size(row.cell.others)).csv("others", 0),
    Column::new(|row: &PrintedCell| median(row.cell.busy_ns, Value::Time))
        .csv("busy_ns", 0).page("busy period, us", 1).terminal("busy period", 0),
    Column::new(|row: &PrintedCell| low(row.cell.busy_ns)).csv("busy_ns_low", 0),
    Column::new(|row: &PrintedCell| high(row.cell.busy_ns)).csv("busy_ns_high", 0),
    Column::new(|row: &PrintedCell| median(row.cell.busy_with_gaps_ns, Value::Time)).csv("busy_with_gaps_ns", 0).page("with gaps", 1),
    Column::new(|row: &PrintedCell| median(row.cell.overhead_percent, Value::Number))
        .csv("overhead_percent", 4).terminal("overhead %", 3),
    Column::new(|row: &PrintedCell| overhead(&row.cell)).page("overhead, %", 0),
    Column::new(|row: &PrintedCell| low(row.cell.overhead_percent)).csv("overhead_percent_low", 4),
    Column::new(|row: &PrintedCell| high(row.cell.overhead_percent)).csv("overhead_percent_high", 4),
    Column::new(|row: &PrintedCell| half(&row.cell)).terminal("+-", 0),
    Column::new(|row: &PrintedCell| median(row.cell.switches, Value::Number)).csv("switches", 1).page("switches", 0).terminal("switches", 0),
    Column::new(|row: &PrintedCell| median(row.cell.own_cpu_ns, Value::Time))
        .csv("own_cpu_ns", 0).page("own CPU, us", 1).terminal("own CPU", 0),
    Column::new(|row: &PrintedCell| median(row.cell.own_cpu_extra_ns, Value::Time)).csv("own_cpu_extra_ns", 0),
    Column::new(|row: &PrintedCell| median(row.cell.workers_cpu_ns, Value::Time)).csv("workers_cpu_ns", 0).page("workers, us", 1),
    Column::new(|row: &PrintedCell| median(row.cell.wakeups, Value::Number)).csv("wakeups", 1),
    Column::new(|row: &PrintedCell| counts(&row.cell)).page("clean/gap/other", 0),
    Column::new(|row: &PrintedCell| size(clean(&row.cell))).terminal("clean", 0),
    Column::new(|row: &PrintedCell| size(row.cell.gaps)).terminal("gap", 0),
    Column::new(|row: &PrintedCell| size(row.cell.others)).terminal("other", 0),
    Column::new(|row: &PrintedCell| paper(row.printed, |paper| number(paper.busy_us))).csv("paper_busy_us", 0),
    Column::new(|row: &PrintedCell| paper(row.printed, |paper| Value::Number(percent(paper.overhead_milli_percent))))
        .csv("paper_overhead_percent", 3).terminal("paper %", 3),
    Column::new(|row: &PrintedCell| paper(row.printed, |paper| number(paper.switches))).csv("paper_switches", 0).terminal("switches", 0),
    Column::new(of_paper).page("paper", 0),
];

fn overhead(cell: &Cell) -> Value {
    cell.overhead_percent.map_or(Value::Missing, |found| {
        let Quartiles {
            low, median, high, ..
        } = found;
        Value::Word(format!("{median:.3} ({low:.3} to {high:.3})"))
    })
}

/// Half of what lies between the quartiles.
fn half(cell: &Cell) -> Value {
    paper(cell.overhead_percent, |found| {
        Value::Word(format!("{:.3}", (found.high - found.low) / 2.0))
    })
}

fn of_paper(row: &PrintedCell) -> Value {
    paper(row.printed, |paper| {
        let (us, percent, switches) = (
            paper.busy_us,
            percent(paper.overhead_milli_percent),
            paper.switches,
        );
        Value::Word(format!("({us} us, {percent:.3} %, {switches})"))
    })
}

/// What the runs' own threads use in a second.
#[rustfmt::skip]
pub const HYPERPERIODS: &[Column<Cell>] = &[
    Column::new(|cell: &Cell| size(cell.size)).page("tasks", 0).terminal("tasks", 0),
    Column::text(|cell: &Cell| word(&cell.variant)).page("variant", 0).terminal("variant", 0),
    Column::new(|cell: &Cell| median(cell.own_cpu_ns, Value::Time)).page("own CPU, us", 1).terminal("own CPU", 0),
    Column::new(|cell: &Cell| median(cell.workers_cpu_ns, Value::Time)).page("workers, us", 1),
    Column::new(|cell: &Cell| median(cell.wakeups, Value::Number)).page("wake-ups by jobs", 0).terminal("wake-ups", 0),
    Column::new(|cell: &Cell| median(cell.switches, Value::Number)).page("switches", 0).terminal("switches", 0),
    Column::new(counts).page("clean/gap/other", 0),
    Column::new(|cell: &Cell| size(clean(cell))).terminal("clean", 0),
    Column::new(|cell: &Cell| size(cell.gaps)).terminal("gap", 0),
    Column::new(|cell: &Cell| size(cell.others)).terminal("other", 0),
];

/// Table III.
#[rustfmt::skip]
pub const INVOCATIONS: &[Column<Times>] = &[
    Column::text(|row: &Times| word(&row.variant)).csv("variant", 0).page("variant", 0).terminal("variant", 0),
    Column::new(|row: &Times| number(row.invocations.count))
        .csv("invocations", 0).page("invocations", 0).terminal("invocations", 0),
    Column::new(|row: &Times| Value::Time(row.invocations.mean_ns)).csv("mean_ns", 0),
    Column::new(|row: &Times| time(row.invocations.median_ns)).csv("median_ns", 0).page("median, us", 2).terminal("median", 0),
    Column::new(|row: &Times| Value::Time(row.invocations.mean_ns)).page("mean, us", 2).terminal("mean", 0),
    Column::new(|row: &Times| time(row.invocations.max_ns)).csv("max_ns", 0).page("max, us", 2).terminal("max", 0),
    Column::new(|row: &Times| row.paper_mean_ns.map_or(Value::Missing, time)).csv("paper_mean_ns", 0).terminal("paper's mean", 0),
    Column::new(|row: &Times| row.paper_max_ns.map_or(Value::Missing, time)).csv("paper_max_ns", 0).terminal("paper's max", 0),
    Column::new(papers_manager).page("paper: mean, max", 0),
];

fn papers_manager(row: &Times) -> Value {
    match (row.paper_mean_ns, row.paper_max_ns) {
        (Some(mean), Some(most)) => Value::Word(format!(
            "{:.2}, {:.2}",
            as_f64(mean) / 1000.0,
            as_f64(most) / 1000.0
        )),
        (_, _) => word("no manager"),
    }
}

/// Fig. 6.
#[rustfmt::skip]
pub const PREEMPTIONS: &[Column<Preemptions>] = &[
    Column::new(|row: &Preemptions| size(row.threads)).csv("threads", 0).page("threads", 0).terminal("threads", 0),
    Column::new(|row: &Preemptions| time(row.preemption_ns.0))
        .csv("preemption_median_ns", 0).page("preemption", 2).terminal("preemption", 0),
    Column::new(|row: &Preemptions| time(row.preemption_ns.1)).csv("preemption_p99_ns", 0),
    Column::new(|row: &Preemptions| time(row.return_ns.0)).csv("return_median_ns", 0).page("return", 2).terminal("return", 0),
    Column::new(|row: &Preemptions| time(row.return_ns.1)).csv("return_p99_ns", 0),
    Column::new(|row: &Preemptions| time(row.first_ns.0))
        .csv("first_median_ns", 0).page("first adjustment", 2).terminal("first adjustment", 0),
    Column::new(|row: &Preemptions| time(row.first_ns.1)).csv("first_max_ns", 0),
    Column::new(|row: &Preemptions| time(row.later_ns.0)).csv("later_median_ns", 0).terminal("later: median", 0),
    Column::new(later).page("later: median, mean, max", 0),
    Column::new(|row: &Preemptions| Value::Time(row.later_ns.1)).csv("later_mean_ns", 0),
    Column::new(|row: &Preemptions| time(row.later_ns.2)).csv("later_max_ns", 0).terminal("max", 0),
];

fn later(row: &Preemptions) -> Value {
    let (median, mean, most) = row.later_ns;
    let micros = [as_f64(median), mean, as_f64(most)].map(|nanos| format!("{:.2}", nanos / 1000.0));
    Value::Word(micros.join(", "))
}

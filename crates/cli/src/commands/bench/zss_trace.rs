//! `vestal bench zero-slack-trace`: who runs when under zero slack, and the gaps in which no task does.

use crate::failure::{Exit, Outcome};
use crate::output::Output;
use crate::quantity::short;
use crate::real;
use crate::table::{Column, Grid};
use std::fmt::Write as _;
use vestal_result::bench::{TracedGaps, ZeroSlackTrace};

/// What the paper found (section 5.4): a gap of about 3 us about every 1000 us, its kernel's tick.
const PAPER_LENGTH_NS: u64 = 3_000;
const PAPER_DISTANCE_NS: u64 = 1_000_000;

/// The whole trace, for programs.
pub(super) fn zss_trace(output: &Output) -> Outcome {
    let trace = real::zss_trace(output)?;
    output.human(&page(&trace, output));
    output.json(&trace)?;
    Ok(Exit::Holds)
}

fn page(trace: &ZeroSlackTrace, output: &Output) -> String {
    let mut text = format!(
        "Table I of Huang, Gill and Lu (2014) under zss on CPU {} for {}: low runs 2ms of 5ms, high 4ms of 10ms, Z = 6ms\n\n",
        trace.cpu,
        short(trace.duration_ns)
    );
    let columns = [
        Column::Text("on the CPU"),
        Column::Number("simulated from"),
        Column::Number("until"),
        Column::Number("measured from"),
        Column::Number("until"),
    ];
    let mut grid = Grid::new(output, &columns);
    let measured = |instant: Option<u64>| instant.map_or_else(|| "-".to_owned(), short);
    for run in &trace.schedule {
        grid.row(vec![
            run.task.clone(),
            short(run.simulated_start_ns),
            short(run.simulated_end_ns),
            measured(run.measured_start_ns),
            measured(run.measured_end_ns),
        ]);
    }
    text.push_str(&grid.render());
    let _ = write!(
        text,
        "The tasks had the CPU in this order in {} of {} hyperperiods; the instants measured are medians over those.\n\n",
        trace.in_order, trace.hyperperiods
    );
    text.push_str(&gap_table(trace, output));
    let _ = writeln!(
        text,
        "Readings of the clock are {} apart; a step above {} in which no thread of the run did anything is a gap.\nThe kernel ticks every {}; while the tasks had the CPU {} ticks were due.",
        short(trace.step_ns),
        short(trace.threshold_ns),
        short(trace.tick_ns),
        trace.ticks_due
    );
    text
}

fn gap_table(trace: &ZeroSlackTrace, output: &Output) -> String {
    let columns = [
        Column::Text("no task runs"),
        Column::Number("gaps"),
        Column::Number("median length"),
        Column::Number("longest"),
        Column::Number("median distance"),
    ];
    let mut grid = Grid::new(output, &columns);
    let mut row = |name: &str, gaps: &TracedGaps| {
        grid.row(vec![
            name.to_owned(),
            gaps.count.to_string(),
            short(gaps.median_length_ns),
            short(gaps.longest_ns),
            short(gaps.median_distance_ns),
        ]);
    };
    row("at any time", &trace.gaps);
    row("at the phase of the tick", &trace.gaps_at_the_tick);
    grid.row(vec![
        "the paper".to_owned(),
        "-".to_owned(),
        short(PAPER_LENGTH_NS),
        "-".to_owned(),
        short(PAPER_DISTANCE_NS),
    ]);
    grid.render()
}

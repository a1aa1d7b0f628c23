//! `vestal bench zero-slack-trace`: who runs when under zero slack, and the gaps in which no task does.

use crate::failure::{Exit, Outcome};
use crate::output::Output;
use crate::quantity::{short, short_or_dash};
use crate::real;
use crate::table::Grid;
use std::fmt::Write as _;
use vestal_result::bench::{TracedGaps, ZeroSlackTrace};

/// What the paper found (section 5.4): a gap of about 3 us about every 1000 us, its kernel's tick.
const PAPER_LENGTH_NS: u64 = 3_000;
const PAPER_DISTANCE_NS: u64 = 1_000_000;

/// The whole trace, for programs.
pub(super) fn slack_trace(output: &Output) -> Outcome {
    let trace = real::slack_trace(output)?;
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
    let grid = Grid::of(&trace.schedule, output)
        .text("on the CPU", |run| &run.task)
        .number("simulated from", |run| short(run.simulated_start_ns))
        .number("until", |run| short(run.simulated_end_ns))
        .number("measured from", |run| short_or_dash(run.measured_start_ns))
        .number("until", |run| short_or_dash(run.measured_end_ns));
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
    let measured = |gaps: &TracedGaps| {
        let (median, distance) = (gaps.median_length_ns, gaps.median_distance_ns);
        let times = [median, gaps.longest_ns, distance].map(Some);
        (gaps.count.to_string(), times)
    };
    let paper = [Some(PAPER_LENGTH_NS), None, Some(PAPER_DISTANCE_NS)];
    let rows = [
        ("at any time", measured(&trace.gaps)),
        (
            "at the phase of the tick",
            measured(&trace.gaps_at_the_tick),
        ),
        ("the paper", ("-".to_owned(), paper)),
    ];
    Grid::of(&rows, output)
        .text("no task runs", |(name, _)| name)
        .number("gaps", |(_, (count, _))| count)
        .number("median length", |(_, (_, times))| short_or_dash(times[0]))
        .number("longest", |(_, (_, times))| short_or_dash(times[1]))
        .number("median distance", |(_, (_, times))| short_or_dash(times[2]))
        .render()
}

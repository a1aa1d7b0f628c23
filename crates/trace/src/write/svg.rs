//! `.svg`: a Gantt chart in the conventions of the field.
//!
//! One row for each task; arrivals are arrows upwards, deadlines arrows downwards, which stand aside
//! where the next job arrives at that instant; HI is red and hatched, LO is blue, so that they differ
//! in print as well; a band is shaded while the mode is raised; the axis has round ticks and a unit. Several domains have
//! a lane for their mode each, and the rows of their tasks are shaded; several CPUs have lanes that show which task runs
//! there, and boxes have the number of theirs.
//! The same records give the same bytes.

use crate::chart::{Band, Chart, Ghost, Mark, Row, Slice, Unit, tick_step};
use crate::record::DomainId;
use crate::timeline::Ending;
use std::fmt::Write as _;
use vestal_core::{CpuId, Instant, Level, StopReason, TaskId};

/// Widths and heights, in pixels.
const PLOT_WIDTH: u64 = 960;
const RIGHT: u64 = 24;
const TOP: u64 = 44;
const ROW: u64 = 46;
/// From the top of a row down to its base line.
const BASE: u64 = 40;
/// The height of an executing box, and of an arrow.
const BOX: u64 = 20;
const ARROW: u64 = 32;
const AXIS: u64 = 58;
/// Of a domain's mode or a CPU: the height, from its top to its base line, and of a box.
const LANE: u64 = 24;
const LANE_BASE: u64 = 20;
const LANE_BOX: u64 = 14;
/// A box as wide as this has room for a CPU's number, in tenths of a pixel.
const ROOM: u128 = 140;

/// The colours of the levels between the lowest and the highest.
const BETWEEN: [&str; 6] = [
    "#762a83", "#1b7837", "#e08214", "#5aae61", "#9970ab", "#b35806",
];

pub(super) fn draw(chart: Chart) -> String {
    let mut picture = Picture::new(chart);
    picture.draw();
    picture.text
}

struct Picture {
    chart: Chart,
    text: String,
    left: u64,
    unit: Unit,
    /// The CPUs with lanes.
    cpus: Vec<CpuId>,
}

macro_rules! put {
    ($picture:expr, $($format:tt)*) => {
        // Writing to a string does not fail.
        let _ = writeln!($picture.text, $($format)*);
    };
}

impl Picture {
    fn new(chart: Chart) -> Self {
        let tasks = chart.rows.iter().map(|row| row.task.name.chars().count());
        // "mode " stands before the name of a domain.
        let domains = chart.header.domains.iter();
        let domains = domains.map(|domain| domain.name.chars().count() + 5);
        let longest = tasks.chain(domains).max().unwrap_or(0) as u64;
        Self {
            left: (longest.min(40) * 8 + 24).max(70),
            text: String::new(),
            unit: Unit::for_span(chart.window.length()),
            cpus: chart.cpus(),
            chart,
        }
    }

    fn span(&self) -> u64 {
        self.chart.window.length().as_nanos().max(1)
    }

    /// Where an instant is, in tenths of a pixel, as text.
    fn x(&self, at: Instant) -> String {
        let since = at.saturating_since(self.chart.window.from).as_nanos();
        let scaled = u128::from(since) * u128::from(PLOT_WIDTH) * 10 / u128::from(self.span());
        let tenths = u128::from(self.left) * 10 + scaled;
        format!("{}.{}", tenths / 10, tenths % 10)
    }

    fn tenths(&self, from: Instant, to: Instant) -> u128 {
        let length = to.saturating_since(from).as_nanos();
        u128::from(length) * u128::from(PLOT_WIDTH) * 10 / u128::from(self.span())
    }

    fn width(&self, from: Instant, to: Instant) -> String {
        // Nothing that happened is invisible.
        let tenths = self.tenths(from, to).max(5);
        format!("{}.{}", tenths / 10, tenths % 10)
    }

    fn time(&self, at: Instant) -> String {
        format!("{} {}", self.unit.text(at.as_nanos()), self.unit.name)
    }

    fn colour(&self, level: Level) -> &'static str {
        let highest = self.chart.header.levels.len().saturating_sub(1);
        match level.index() {
            0 => "#2166ac",
            own if own >= highest => "#b2182b",
            between => BETWEEN[(between - 1) % BETWEEN.len()],
        }
    }

    fn draw(&mut self) {
        let width = self.left + PLOT_WIDTH + RIGHT;
        let height = self.bottom() + AXIS;
        put!(
            self,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">"
        );
        put!(self, "<title>{}</title>", escape(&self.caption()));
        put!(self, "<defs>");
        put!(
            self,
            "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path d=\"M0 0V6\" stroke=\"#fff\" stroke-width=\"2\" stroke-opacity=\"0.55\"/></pattern>"
        );
        put!(self, "</defs>");
        put!(
            self,
            "<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
        );
        put!(
            self,
            "<text x=\"{}\" y=\"18\" font-weight=\"bold\">{}</text>",
            self.left,
            escape(&self.caption())
        );
        self.bands();
        self.axis();
        for number in 0..self.chart.rows.len() {
            let Some(row) = self.chart.rows.get(number).cloned() else {
                continue;
            };
            self.row(TOP + number as u64 * ROW, &row);
        }
        self.lanes();
        self.legend(height - 12);
        put!(self, "</svg>");
    }

    fn caption(&self) -> String {
        let header = &self.chart.header;
        let mut caption = format!(
            "{} on {} ({}), {} to {}",
            header.policy,
            header.world.word(),
            header.dispatch.word(),
            self.unit.text(self.chart.window.from.as_nanos()),
            self.time(self.chart.window.to)
        );
        if self.chart.cut {
            caption.push_str(", cut: more happened than fits");
        }
        if self.chart.lost > 0 {
            let _ = write!(caption, ", {} records lost", self.chart.lost);
        }
        caption
    }

    /// Where the rows of tasks end.
    fn rows_end(&self) -> u64 {
        TOP + self.chart.rows.len() as u64 * ROW
    }

    fn bottom(&self) -> u64 {
        let modes = if self.chart.has_domains() {
            self.chart.header.domain_count()
        } else {
            0
        };
        let lanes = modes + self.cpus.len();
        self.rows_end() + lanes as u64 * LANE
    }

    /// The higher the mode, the darker its band: in hundredths.
    fn share(&self, mode: Level) -> usize {
        let highest = self.chart.header.levels.len().saturating_sub(1).max(1);
        mode.index().min(highest) * 18 / highest + 8
    }

    fn bands(&mut self) {
        if self.chart.has_domains() {
            self.shade_rows();
            return;
        }
        for band in self.chart.bands.clone() {
            let share = self.share(band.mode);
            let name = escape(&self.chart.header.level_name(band.mode));
            put!(
                self,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f4a582\" fill-opacity=\"0.{share:02}\"><title>mode {name}, {} to {}</title></rect>",
                self.x(band.from),
                TOP - 16,
                self.width(band.from, band.to),
                self.bottom() - TOP + 16,
                self.time(band.from),
                self.time(band.to)
            );
            put!(
                self,
                "<text x=\"{}\" y=\"{}\" font-size=\"10\" fill=\"#7f3b08\">{name}</text>",
                self.x(band.from),
                TOP - 6
            );
        }
    }

    /// Of several domains: each shades the rows of its own tasks.
    fn shade_rows(&mut self) {
        let homes = (0..=u16::MAX).map(|task| self.chart.header.domain_of(TaskId(task)));
        let homes: Vec<DomainId> = homes.take(self.chart.rows.len()).collect();
        for band in self.chart.bands.clone() {
            let share = self.share(band.mode);
            let (x, width) = (self.x(band.from), self.width(band.from, band.to));
            for (place, _) in (0_u64..)
                .zip(&homes)
                .filter(|(_, home)| **home == band.domain)
            {
                put!(
                    self,
                    "<rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"{ROW}\" fill=\"#f4a582\" fill-opacity=\"0.{share:02}\"/>",
                    TOP + place * ROW
                );
            }
        }
    }

    /// The modes of several domains and what runs on several CPUs.
    fn lanes(&mut self) {
        let mut top = self.rows_end();
        if self.chart.has_domains() {
            for domain in self.chart.header.domain_ids() {
                let name = self.chart.header.domain_name(domain);
                self.lane(top, &format!("mode {name}"));
                self.mode_lane(top + LANE_BASE, domain);
                top += LANE;
            }
        }
        for cpu in self.cpus.clone() {
            self.lane(top, &format!("CPU {}", cpu.0));
            self.cpu_lane(top + LANE_BASE, cpu);
            top += LANE;
        }
    }

    /// The name and the base line of a lane.
    fn lane(&mut self, top: u64, name: &str) {
        let (left, base) = (self.left, top + LANE_BASE);
        put!(
            self,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"11\">{}</text>",
            left - 10,
            base - 3,
            escape(name)
        );
        put!(
            self,
            "<path d=\"M{left} {base}H{}\" stroke=\"#999\" stroke-width=\"1\"/>",
            left + PLOT_WIDTH
        );
    }

    fn mode_lane(&mut self, base: u64, domain: DomainId) {
        let bands = self.chart.bands.iter().copied();
        let own: Vec<Band> = bands.filter(|band| band.domain == domain).collect();
        for band in own {
            let name = escape(&self.chart.header.level_name(band.mode));
            put!(
                self,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{LANE_BOX}\" fill=\"#f4a582\"><title>mode {name}, {} to {}</title></rect>",
                self.x(band.from),
                base - LANE_BOX,
                self.width(band.from, band.to),
                self.time(band.from),
                self.time(band.to)
            );
            put!(
                self,
                "<text x=\"{}\" y=\"{}\" font-size=\"10\" fill=\"#7f3b08\">{name}</text>",
                self.x(band.from),
                base - 3
            );
        }
    }

    fn cpu_lane(&mut self, base: u64, cpu: CpuId) {
        let slices: Vec<(usize, Slice)> = self
            .chart
            .lane(cpu)
            .map(|(place, slice)| (place, *slice))
            .collect();
        for (place, slice) in slices {
            let Some(task) = self.chart.rows.get(place).map(|row| row.task.clone()) else {
                continue;
            };
            put!(
                self,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{LANE_BOX}\" fill=\"{}\" stroke=\"#222\" stroke-width=\"0.5\"><title>{} job {}, {} to {}</title></rect>",
                self.x(slice.from),
                base - LANE_BOX,
                self.width(slice.from, slice.to),
                self.colour(task.criticality),
                escape(&task.name),
                slice.job.sequence,
                self.time(slice.from),
                self.time(slice.to)
            );
        }
    }

    fn axis(&mut self) {
        let window = self.chart.window;
        let step = tick_step(window.length(), 12);
        let first = window.from.as_nanos().div_ceil(step);
        let bottom = self.bottom();
        for number in 0..=24 {
            let at = Instant::from_nanos(first.saturating_add(number).saturating_mul(step));
            if at > window.to {
                break;
            }
            let x = self.x(at);
            put!(
                self,
                "<path d=\"M{x} {TOP}V{bottom}\" stroke=\"#ddd\" stroke-width=\"1\"/>"
            );
            put!(
                self,
                "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\">{}</text>",
                bottom + 16,
                self.unit.text(at.as_nanos())
            );
        }
        put!(
            self,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"11\">time in {}</text>",
            self.left + PLOT_WIDTH,
            bottom + 30,
            self.unit.name
        );
    }

    fn row(&mut self, top: u64, row: &Row) {
        let base = top + BASE;
        let level = self.chart.header.level_name(row.task.criticality);
        let colour = self.colour(row.task.criticality);
        put!(
            self,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            self.left - 10,
            base - 12,
            escape(&row.task.name)
        );
        put!(
            self,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"10\" fill=\"{colour}\">{}</text>",
            self.left - 10,
            base,
            escape(&level)
        );
        put!(
            self,
            "<path d=\"M{} {base}H{}\" stroke=\"#333\" stroke-width=\"1\"/>",
            self.left,
            self.left + PLOT_WIDTH
        );
        for ghost in &row.ghosts {
            self.ghost(base, row, ghost, colour);
        }
        for slice in &row.slices {
            self.slice(base, row, slice, colour);
        }
        for (at, mark) in &row.marks {
            self.mark(base, *at, *mark);
        }
    }

    /// An empty box: nothing of the task executes there.
    fn ghost(&mut self, base: u64, row: &Row, ghost: &Ghost, colour: &str) {
        put!(
            self,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{BOX}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1\" stroke-dasharray=\"3 2\"><title>ghost of {} on CPU {}, {} to {}</title></rect>",
            self.x(ghost.from),
            base - BOX,
            self.width(ghost.from, ghost.to),
            escape(&row.task.name),
            ghost.cpu.0,
            self.time(ghost.from),
            self.time(ghost.to)
        );
    }

    fn slice(&mut self, base: u64, row: &Row, slice: &Slice, colour: &str) {
        let (x, width) = (self.x(slice.from), self.width(slice.from, slice.to));
        let y = base - BOX;
        let why = match slice.why {
            Some(Ending::Completed) => "completes",
            Some(Ending::Stopped(StopReason::Preempted)) => "preempted",
            Some(Ending::Stopped(StopReason::Blocked)) => "blocks",
            Some(Ending::Stopped(StopReason::Cancelled)) => "cancelled",
            Some(Ending::Recording) | None => "goes on",
        };
        put!(
            self,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX}\" fill=\"{colour}\" stroke=\"#222\" stroke-width=\"0.5\"><title>{} job {} on CPU {}, {} to {}, {why}</title></rect>",
            escape(&row.task.name),
            slice.job.sequence,
            slice.cpu.0,
            self.time(slice.from),
            self.time(slice.to)
        );
        if row.task.criticality > Level::LOWEST {
            put!(
                self,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX}\" fill=\"url(#hatch)\" pointer-events=\"none\"/>"
            );
        }
        if !self.cpus.is_empty() && self.tenths(slice.from, slice.to) >= ROOM {
            put!(
                self,
                "<text x=\"{x}\" dx=\"2\" y=\"{}\" font-size=\"10\" fill=\"#fff\" pointer-events=\"none\">{}</text>",
                base - 6,
                slice.cpu.0
            );
        }
    }

    fn mark(&mut self, base: u64, at: Instant, mark: Mark) {
        let x = self.x(at);
        let time = self.time(at);
        let (tip, shaft) = (base - ARROW, ARROW);
        match mark {
            Mark::Release => {
                put!(
                    self,
                    "<path d=\"M{x} {base}v-{shaft}m-3 5l3 -5l3 5\" fill=\"none\" stroke=\"#000\" stroke-width=\"1.2\"><title>release at {time}</title></path>"
                );
            }
            Mark::Deadline { at_release } => {
                // Where the next job arrives at the deadline, the arrow stands six pixels before it.
                let (aside, words) = match at_release {
                    true => ("transform=\"translate(-6 0)\" ", ", drawn 6 px before it"),
                    false => ("", ""),
                };
                put!(
                    self,
                    "<path {aside}d=\"M{x} {tip}v{shaft}m-3 -5l3 5l3 -5\" fill=\"none\" stroke=\"#555\" stroke-width=\"1.2\"><title>deadline at {time}{words}</title></path>"
                );
            }
            Mark::Overrun => {
                put!(
                    self,
                    "<path d=\"M{x} {}l-4 -8h8z\" fill=\"#e66101\" stroke=\"#222\" stroke-width=\"0.5\"><title>budget overrun at {time}</title></path>",
                    base - BOX
                );
            }
            Mark::Miss => {
                put!(
                    self,
                    "<circle cx=\"{x}\" cy=\"{tip}\" r=\"4.5\" fill=\"none\" stroke=\"#d01c1c\" stroke-width=\"2\"><title>deadline missed at {time}</title></circle>"
                );
            }
            Mark::Drop => {
                put!(
                    self,
                    "<path d=\"M{x} {}m-4 -4l8 8m0 -8l-8 8\" stroke=\"#d01c1c\" stroke-width=\"2\"><title>job dropped at {time}</title></path>",
                    base - BOX / 2
                );
            }
        }
    }

    fn legend(&mut self, y: u64) {
        let mut x = self.left;
        let levels: Vec<String> = self.chart.header.levels.clone();
        for (number, name) in levels.iter().enumerate() {
            let level = Level(u8::try_from(number).unwrap_or(u8::MAX));
            let colour = self.colour(level);
            let fills = [Some(colour), (number > 0).then_some("url(#hatch)")];
            for fill in fills.into_iter().flatten() {
                put!(
                    self,
                    "<rect x=\"{x}\" y=\"{}\" width=\"14\" height=\"10\" fill=\"{fill}\"/>",
                    y - 9
                );
            }
            put!(
                self,
                "<text x=\"{}\" y=\"{y}\" font-size=\"10\">{}</text>",
                x + 18,
                escape(name)
            );
            x += 34 + name.chars().count() as u64 * 7;
        }
        let marks = self.chart.rows.iter().flat_map(|row| &row.marks);
        let mut moved = marks.filter(|(_, mark)| *mark == Mark::Deadline { at_release: true });
        let aside = match moved.next() {
            Some(_) => "; \u{2193} just before \u{2191}: at the same instant",
            None => "",
        };
        put!(
            self,
            "<text x=\"{}\" y=\"{y}\" font-size=\"10\" fill=\"#333\">\u{2191} release \u{2193} deadline <tspan fill=\"#e66101\">\u{25bc}</tspan> overrun <tspan fill=\"#d01c1c\">\u{25cb}</tspan> miss <tspan fill=\"#d01c1c\">\u{2715}</tspan> drop; shaded: mode raised{aside}</text>",
            x + 10
        );
    }
}

/// Text inside XML. Control characters cannot stand in XML at all.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Collector;
    use crate::header::Header;

    #[test]
    fn names_cannot_break_the_markup() {
        assert_eq!(escape("a<b>&\"\u{1}"), "a&lt;b&gt;&amp;&quot;\u{fffd}");
    }

    #[test]
    fn the_widest_window_can_be_placed() {
        let window = crate::chart::Window::ALL;
        let chart = Collector::new(&Header::new("x"), window, 1).finish();
        let picture = Picture::new(Chart { window, ..chart });
        assert!(picture.x(Instant::HORIZON).ends_with(".0"));
    }
}

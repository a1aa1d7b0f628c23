//! How the model is shown. Pure: a model in, cells out.

use super::lane::Lane;
use super::model::{Activity, Load, Model, TaskSetting, TaskState};
use crate::quantity::{short, short_or_dash};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState};
use vestal_core::Level;

/// How much of the past the band of modes shows.
const BAND_NANOS: u64 = 10_000_000_000;
/// The cells of a budget's bar.
const BAR: usize = 10;
/// Levels as heights, the lowest first.
const HEIGHTS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

const GOOD: Style = Style::new().fg(Color::Green);
const CAUTION: Style = Style::new().fg(Color::Yellow);
const BAD: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

/// What the person at the keyboard has chosen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    /// The row that is selected, and which rows are shown.
    pub(crate) table: TableState,
    /// The view stands still while the run goes on.
    pub(crate) frozen: bool,
    /// The load at the latest look.
    pub(crate) load: Load,
}

/// Draws the whole screen.
pub(crate) fn draw(frame: &mut Frame<'_>, model: &Model, choice: &mut Choice) {
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(u16::try_from(model.lanes.len()).unwrap_or(1)),
        Constraint::Length(1),
        Constraint::Min(2),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ]);
    let [title, band, _, table, detail, machine, keys] = areas.areas(frame.area());
    frame.render_widget(headline(model, choice.frozen), title);
    frame.render_widget(mode_bands(model, band), band);
    tasks(frame, model, choice, table);
    frame.render_widget(selected(model, choice), detail);
    frame.render_widget(machine_line(model, &choice.load), machine);
    let help = "q ends the run   space freezes the view   ↑ ↓ choose a task";
    frame.render_widget(Paragraph::new(Line::styled(help, DIM)), keys);
}

fn headline(model: &Model, frozen: bool) -> Paragraph<'static> {
    let setting = &model.setting;
    let mut spans = vec![
        Span::styled(setting.title.clone(), BOLD),
        Span::raw(format!(
            "   {} of {}",
            seconds(model.now.as_nanos()),
            seconds(setting.duration_ns)
        )),
    ];
    if frozen {
        spans.push(Span::styled("   frozen", CAUTION));
    }
    Paragraph::new(Line::from(spans))
}

/// A band for each domain.
fn mode_bands(model: &Model, area: Rect) -> Paragraph<'static> {
    let lanes = model.lanes.iter().zip(&model.setting.lanes);
    let bands = lanes.map(|(lane, (name, _))| match model.lanes.len() {
        1 => mode_band(model, lane, "", area),
        _ => mode_band(model, lane, &format!("{name} "), area),
    });
    Paragraph::new(bands.collect::<Vec<Line<'_>>>())
}

/// The mode of a domain now, and what it was in the last seconds.
fn mode_band(model: &Model, lane: &Lane, domain: &str, area: Rect) -> Line<'static> {
    let name = level_name(model, lane.mode);
    let label = format!("{domain}mode {name:<4} ");
    let changes = format!(" {} changes", lane.mode_changes);
    let used = label.chars().count() + changes.chars().count();
    let columns = usize::from(area.width).saturating_sub(used);
    let style = mode_style(lane.mode);
    let mut spans = vec![Span::styled(label, style)];
    let columns = u64::try_from(columns).unwrap_or(0);
    for level in lane.mode_band(model.now, BAND_NANOS, columns) {
        spans.push(match level {
            None => Span::raw(" "),
            Some(level) => Span::styled(height(model, level), mode_style(level)),
        });
    }
    spans.push(Span::raw(changes));
    Line::from(spans)
}

/// The levels of the set as heights from the lowest to the highest.
fn height(model: &Model, level: Level) -> &'static str {
    let top = model.setting.levels.len().saturating_sub(1).max(1);
    let position = level.index().min(top) * (HEIGHTS.len() - 1) / top;
    HEIGHTS.get(position).copied().unwrap_or("█")
}

fn mode_style(level: Level) -> Style {
    if level == Level::LOWEST {
        GOOD
    } else {
        CAUTION
    }
}

fn level_name(model: &Model, level: Level) -> &str {
    let name = model.setting.levels.get(level.index());
    name.map_or("?", String::as_str)
}

fn tasks(frame: &mut Frame<'_>, model: &Model, choice: &mut Choice, area: Rect) {
    let longest = |texts: &mut dyn Iterator<Item = &String>, least: usize| {
        let widths = texts.map(|text| text.chars().count());
        let width = widths.max().unwrap_or(0).clamp(least, 24);
        Constraint::Length(u16::try_from(width).unwrap_or(24))
    };
    let names = &mut model.setting.tasks.iter().map(|task| &task.name);
    let widths = [
        longest(names, 4),
        longest(&mut model.setting.levels.iter(), 5),
        state_width(model),
        Constraint::Length(u16::try_from(BAR).unwrap_or(10) + 5),
        Constraint::Length(10),
        Constraint::Length(10),
        Constraint::Length(10),
        Constraint::Length(5),
        Constraint::Length(6),
        Constraint::Length(7),
    ];
    let head = [
        "task", "level", "state", "budget", "response", "longest", "deadline", "of it", "missed",
        "dropped",
    ];
    let rows = model.setting.tasks.iter().zip(&model.tasks);
    let rows = rows.map(|(setting, state)| row(model, setting, state));
    let table = Table::new(rows.collect::<Vec<_>>(), widths)
        .header(Row::new(head).style(BOLD))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(table, area, &mut choice.table);
}

/// Wide enough for a CPU with a number of up to four digits, where that is said.
fn state_width(model: &Model) -> Constraint {
    let several = model.setting.lanes.iter().any(|(_, cpus)| *cpus > 1);
    Constraint::Length(if several { 11 } else { 8 })
}

/// What a task does, and where, if that is not known from its domain.
fn activity(model: &Model, setting: &TaskSetting, state: &TaskState) -> (String, Style) {
    let (text, style) = match state.activity {
        Activity::Waiting => ("waiting", DIM),
        Activity::Ready => ("ready", Style::new()),
        Activity::Running(cpu) if model.has_several_cpus(setting) => {
            return (format!("on CPU {}", cpu.0), GOOD);
        }
        Activity::Running(_) => ("running", GOOD),
        Activity::Dropped => ("dropped", CAUTION),
    };
    (text.to_owned(), style)
}

fn row<'a>(model: &Model, setting: &'a TaskSetting, state: &TaskState) -> Row<'a> {
    let (activity, style) = activity(model, setting, state);
    let share = state.max_response_ns.and_then(|max| {
        u128::from(max)
            .checked_mul(100)?
            .checked_div(setting.deadline_ns.into())
    });
    let late = state.max_response_ns > Some(setting.deadline_ns);
    let count = |count: u64, style| match count {
        0 => Cell::from("0").style(DIM),
        _ => Cell::from(count.to_string()).style(style),
    };
    let missed = if state.missed_guaranteed > 0 {
        BAD
    } else {
        CAUTION
    };
    Row::new([
        Cell::from(setting.name.as_str()),
        Cell::from(level_name(model, setting.level).to_owned()),
        Cell::from(activity).style(style),
        budget(model, setting, state),
        Cell::from(short_or_dash(state.last_response_ns)),
        Cell::from(short_or_dash(state.max_response_ns)),
        Cell::from(short(setting.deadline_ns)),
        Cell::from(share.map_or_else(String::new, |share| format!("{share}%"))).style(if late {
            BAD
        } else {
            Style::new()
        }),
        count(state.missed, missed),
        count(state.dropped, CAUTION),
    ])
}

/// What the current job has used of what the mode allows it.
fn budget<'a>(model: &Model, setting: &TaskSetting, state: &TaskState) -> Cell<'a> {
    let allowed = model.lane_of(setting);
    let allowed = allowed.and_then(|lane| setting.limits_ns.get(lane.mode.index()).copied());
    let Some(Some(limit)) = allowed else {
        return Cell::from(if allowed.is_some() { "no limit" } else { "" });
    };
    let executed = match state.activity {
        Activity::Ready | Activity::Running(_) => state.executed_ns,
        Activity::Waiting | Activity::Dropped => 0,
    };
    let percent = u128::from(executed) * 100 / u128::from(limit.max(1));
    let percent = usize::try_from(percent).unwrap_or(usize::MAX).min(999);
    let full = (percent * BAR).div_ceil(100).min(BAR);
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(BAR - full));
    let style = match percent {
        0 => DIM,
        1..=80 => GOOD,
        81..=100 => CAUTION,
        _ => BAD,
    };
    Cell::from(format!("{bar} {percent:>3}%")).style(style)
}

/// More about the task that is selected.
fn selected(model: &Model, choice: &Choice) -> Paragraph<'static> {
    let position = choice.table.selected();
    let of = |position: usize| {
        Some((
            model.setting.tasks.get(position)?,
            model.tasks.get(position)?,
        ))
    };
    let text = match position.and_then(of) {
        None => String::new(),
        Some((setting, state)) => format!(
            "{}: {} released, {} completed, {} overruns, {} missed ({} guaranteed), {} dropped",
            setting.name,
            state.released,
            state.completed,
            state.overruns,
            state.missed,
            state.missed_guaranteed,
            state.dropped
        ),
    };
    Paragraph::new(Line::raw(text))
}

fn machine_line(model: &Model, load: &Load) -> Paragraph<'static> {
    let percent = |permille: u64| format!("{}.{}%", permille / 10, permille % 10);
    let mut spans = vec![Span::raw(format!(
        "{} busy {} ({} in all)   ",
        if model.cpus() == 1 { "CPU" } else { "CPUs" },
        percent(load.recent),
        percent(load.all)
    ))];
    let gaps = match model.gaps {
        0 => "no gaps".to_owned(),
        1 => format!("a gap of {}", short(model.longest_gap_ns)),
        gaps => format!("{gaps} gaps, the longest {}", short(model.longest_gap_ns)),
    };
    spans.push(Span::raw(gaps));
    let style = if model.lost > 0 { BAD } else { DIM };
    spans.push(Span::styled(
        format!("   {} records lost", model.lost),
        style,
    ));
    Paragraph::new(Line::from(spans))
}

/// Tenths of a second.
fn seconds(nanos: u64) -> String {
    let tenths = nanos / 100_000_000;
    format!("{}.{}s", tenths / 10, tenths % 10)
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;

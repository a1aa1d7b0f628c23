use super::super::model::tests::{
    at, completed, domain, in_one_domain, job, mode, on_two_cpus, released, setting, started,
    started_on,
};
use super::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use std::path::Path;
use vestal_core::{DropReason, Duration, Instant};
use vestal_trace::What;

fn drawn(model: &Model, choice: &mut Choice, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, model, choice)).unwrap();
    terminal.backend().buffer().clone()
}

/// The cells as text, and below them how they look where they do not look plain.
fn text(buffer: &Buffer) -> String {
    let area = *buffer.area();
    let mut text = String::new();
    let mut marks = String::new();
    for y in area.top()..area.bottom() {
        let (mut line, mut looks) = (String::new(), String::new());
        for x in area.left()..area.right() {
            let cell = &buffer[(x, y)];
            line.push_str(cell.symbol());
            looks.push(look(cell.fg, cell.modifier));
        }
        text.push_str(line.trim_end());
        text.push('\n');
        marks.push_str(looks.trim_end());
        marks.push('\n');
    }
    format!("{text}--- looks: g green, y yellow, r red, d dim, b bold, i inverse\n{marks}")
}

fn look(colour: Color, modifier: Modifier) -> char {
    let colours = [(Color::Green, 'g'), (Color::Yellow, 'y'), (Color::Red, 'r')];
    let modifiers = [(Modifier::DIM, 'd'), (Modifier::BOLD, 'b')];
    if modifier.contains(Modifier::REVERSED) {
        return 'i';
    }
    let by_colour = colours.iter().find(|(known, _)| *known == colour);
    let by_modifier = modifiers
        .iter()
        .find(|(known, _)| modifier.contains(*known));
    by_colour
        .map(|(_, look)| *look)
        .or(by_modifier.map(|(_, look)| *look))
        .unwrap_or(' ')
}

/// Compares with a file of `tests/golden`; `VESTAL_BLESS=1` writes it.
fn assert_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("VESTAL_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        found,
        expected,
        "{} differs: VESTAL_BLESS=1 cargo test -p vestal --features watch --lib watch",
        path.display()
    );
}

/// Half a second in which HI overruns, LO is dropped, and one deadline is missed.
fn run() -> Model {
    let mut model = Model::new(setting());
    let why = DropReason::Mode;
    model.take(&[
        released(0, job(0, 0)),
        started(0, job(0, 0)),
        completed(8, job(0, 0)),
        released(100, job(0, 1)),
        released(100, job(1, 0)),
        started(100, job(1, 0)),
        mode(120, 0, 1),
        at(
            121,
            What::Dropped {
                job: job(0, 1),
                why,
            },
        ),
        at(
            130,
            What::Gap {
                cpu: vestal_core::CpuId(0),
                length: Duration::from_micros(1_300),
            },
        ),
        completed(155, job(1, 0)),
        at(
            155,
            What::Miss {
                job: job(1, 0),
                deadline: Instant::from_nanos(150_000_000),
                guaranteed: true,
            },
        ),
        mode(156, 1, 0),
        released(500, job(1, 1)),
        started(500, job(1, 1)),
    ]);
    model.pass(Instant::from_nanos(518_000_000));
    model
}

#[test]
fn the_view_of_a_run() {
    let model = run();
    let mut choice = Choice::default();
    choice.load.mark(&model);
    assert_golden("watch-run.txt", &text(&drawn(&model, &mut choice, 100, 12)));
}

#[test]
fn a_selected_task_is_told_about_and_a_frozen_view_says_so() {
    let mut model = run();
    model.lost = 3;
    let mut choice = Choice::default();
    choice.table.select(Some(1));
    choice.frozen = true;
    assert_golden(
        "watch-selected.txt",
        &text(&drawn(&model, &mut choice, 100, 12)),
    );
}

#[test]
fn before_the_first_record_the_view_is_empty_but_whole() {
    let model = Model::new(setting());
    let buffer = drawn(&model, &mut Choice::default(), 100, 12);
    assert_golden("watch-empty.txt", &text(&buffer));
}

#[test]
fn no_size_of_the_terminal_is_too_small() {
    let mut setting = setting();
    setting.tasks = (0..40).flat_map(|_| setting.tasks.clone()).collect();
    let mut model = Model::new(setting);
    model.pass(Instant::from_nanos(1_000_000));
    for (width, height) in [(1, 1), (3, 2), (20, 5), (40, 7), (60, 12), (400, 100)] {
        let mut choice = Choice::default();
        choice.table.select(Some(79));
        let buffer = drawn(&model, &mut choice, width, height);
        assert_eq!((buffer.area().width, buffer.area().height), (width, height));
    }
    // The selected row is in view however many there are.
    let mut choice = Choice::default();
    choice.table.select(Some(79));
    let shown = text(&drawn(&model, &mut choice, 100, 12));
    assert!(shown.contains("iiii"), "{shown}");
}

#[test]
fn each_of_two_cpus_has_a_band_for_its_mode() {
    let mut model = Model::new(on_two_cpus());
    model.take(&[domain(2, 1), mode(2, 0, 1)]);
    let text = text(&drawn(&model, &mut Choice::default(), 100, 14));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("CPU 0 mode LO "), "{text}");
    assert!(lines[2].starts_with("CPU 1 mode HI "), "{text}");
    assert!(lines[1].ends_with("0 changes") && lines[2].ends_with("1 changes"));
    assert!(text.contains("CPUs busy"), "{text}");
}

#[test]
fn where_two_cpus_have_one_mode_it_is_said_which_of_them_a_job_has() {
    let mut model = Model::new(in_one_domain());
    model.take(&[
        released(0, job(0, 0)),
        released(0, job(1, 0)),
        started_on(0, 0, job(0, 0)),
        started_on(1, 1, job(1, 0)),
    ]);
    let text = text(&drawn(&model, &mut Choice::default(), 100, 14));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("mode LO "), "{text}");
    for (task, place) in [("camera", "on CPU 0"), ("attitude", "on CPU 1")] {
        let row = lines.iter().find(|line| line.starts_with(task)).unwrap();
        assert!(row.contains(place), "{text}");
    }
    assert!(text.contains("CPUs busy"), "{text}");
}

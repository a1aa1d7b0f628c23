//! The terminal: opened, drawn on, listened to, and put back.

use super::Shared;
use super::draw::{Choice, draw};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often the screen is drawn.
const PERIOD: Duration = Duration::from_millis(100);

/// The terminal is ours.
static OPEN: AtomicBool = AtomicBool::new(false);

/// Puts the terminal back if it is ours; from any thread, any number of times.
pub(super) fn restore() {
    if OPEN.swap(false, Ordering::SeqCst) {
        // If the terminal is gone there is nothing to put back.
        let _gone = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _gone = disable_raw_mode();
    }
}

fn open() -> io::Result<Terminal<CrosstermBackend<io::Stdout>>> {
    OPEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide)?;
    Terminal::new(CrosstermBackend::new(io::stdout()))
}

/// Shows the run until it has ended. Restores the terminal in any case.
pub(super) fn show(shared: &Shared) -> io::Result<()> {
    let shown = open().and_then(|mut terminal| follow(shared, &mut terminal));
    restore();
    shown
}

fn follow(
    shared: &Shared,
    terminal: &mut Terminal<CrosstermBackend<io::Stdout>>,
) -> io::Result<()> {
    let mut choice = Choice::default();
    let mut model = shared.look();
    loop {
        if !choice.frozen {
            model = shared.look();
            choice.load.mark(&model);
        }
        // A panic elsewhere has put the terminal back, and its message stands there.
        if shared.ended() || !OPEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        terminal.draw(|frame| draw(frame, &model, &mut choice))?;
        // Without a keyboard the view goes on by itself.
        match event::poll(PERIOD) {
            Ok(true) => {
                if let Ok(Event::Key(key)) = event::read() {
                    press(key, &mut choice, model.tasks.len());
                }
            }
            Ok(false) => {}
            Err(_) => thread::park_timeout(PERIOD),
        }
    }
}

/// What a key does.
fn press(key: KeyEvent, choice: &mut Choice, tasks: usize) {
    if key.kind != KeyEventKind::Press {
        return;
    }
    let interrupt = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
    if !interrupt && key.modifiers != KeyModifiers::NONE {
        return;
    }
    if key.code == KeyCode::Char('q') || interrupt {
        // As SIGINT would: in raw mode the keys of a terminal send no signals.
        vestal_linux::stop::ask();
    } else if key.code == KeyCode::Char(' ') {
        choice.frozen = !choice.frozen;
    } else if key.code == KeyCode::Down {
        let next = choice.table.selected().map_or(0, |selected| selected + 1);
        choice.table.select(Some(next.min(tasks.saturating_sub(1))));
    } else if key.code == KeyCode::Up {
        let before = choice
            .table
            .selected()
            .map(|selected| selected.saturating_sub(1));
        choice.table.select(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(choice: &mut Choice, code: KeyCode) {
        press(KeyEvent::new(code, KeyModifiers::NONE), choice, 3);
    }

    #[test]
    fn arrows_stay_within_the_tasks_and_space_freezes() {
        let mut choice = Choice::default();
        pressed(&mut choice, KeyCode::Up);
        assert_eq!(choice.table.selected(), None);
        for expected in [0, 1, 2, 2] {
            pressed(&mut choice, KeyCode::Down);
            assert_eq!(choice.table.selected(), Some(expected));
        }
        for expected in [1, 0, 0] {
            pressed(&mut choice, KeyCode::Up);
            assert_eq!(choice.table.selected(), Some(expected));
        }
        pressed(&mut choice, KeyCode::Char(' '));
        assert!(choice.frozen);
        pressed(&mut choice, KeyCode::Char(' '));
        pressed(&mut choice, KeyCode::Char('x'));
        // What a terminal sends for a NUL.
        let other = KeyEvent::new(KeyCode::Char(' '), KeyModifiers::CONTROL);
        press(other, &mut choice, 3);
        assert!(!choice.frozen);
    }

    #[test]
    fn a_terminal_that_is_not_ours_is_left_alone() {
        // Were something written, it would be an escape sequence in the output of the tests.
        restore();
        assert!(!OPEN.load(Ordering::SeqCst));
    }
}

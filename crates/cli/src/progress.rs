//! Progress on standard error for what takes more than a second, and only at a terminal.

use crate::clock::Stopwatch;
use crate::output::Output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A bar for less would only flicker.
const DELAY: Duration = Duration::from_secs(1);
/// How often a bar that follows the clock moves.
const REDRAW: Duration = Duration::from_millis(200);

/// A bar that appears after a second.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    since: Stopwatch,
    wanted: bool,
}

impl Progress {
    /// A bar of `total` units; `label` says what goes on.
    pub(crate) fn new(output: &Output, label: &'static str, total: u64) -> Self {
        Self {
            bar: bar(ProgressDrawTarget::hidden(), label, total),
            since: Stopwatch::start(),
            wanted: output.shows_progress(),
        }
    }

    /// So much is done.
    pub(crate) fn at(&self, done: u64) {
        if !self.wanted {
            return;
        }
        if self.bar.is_hidden() && self.since.elapsed() >= DELAY {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar that follows the clock, for work that cannot be asked how far it is: a real run.
#[derive(Debug)]
pub(crate) struct ClockProgress {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ClockProgress {
    /// Starts a bar over `expected`. Without a terminal there is no thread either.
    pub(crate) fn start(output: &Output, label: &'static str, expected: Duration) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let wanted = output.shows_progress() && expected >= DELAY;
        let thread = wanted.then(|| {
            let done = Arc::clone(&done);
            thread::spawn(move || draw(&done, label, expected))
        });
        Self { done, thread }
    }
}

impl Drop for ClockProgress {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A bar that panicked has said so; the result does not depend on it.
            let _ended = thread.join();
        }
    }
}

fn draw(done: &AtomicBool, label: &'static str, expected: Duration) {
    let since = Stopwatch::start();
    let total = u64::try_from(expected.as_millis()).unwrap_or(u64::MAX);
    let bar = bar(ProgressDrawTarget::stderr(), label, total);
    while !done.load(Ordering::Relaxed) {
        let elapsed = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        bar.set_position(elapsed.min(total));
        thread::park_timeout(REDRAW);
    }
    bar.finish_and_clear();
}

fn bar(target: ProgressDrawTarget, label: &'static str, total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:40} {percent}% ({eta} left)");
    // The template is a constant; were it wrong, the default bar would do.
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(Some(total), target);
    bar.with_style(style).with_message(label)
}

//! The only module that prints.
//!
//! Results go to standard output, everything else to standard error. With `--format json` standard
//! output gets exactly one JSON document. A reader that closes the pipe early ends the printing
//! without a message: `vestal ... | head` is no error.

use crate::args;
use crate::failure::{BUG_HELP, Exit, Failure};
use serde::Serialize;
use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, process};
use vestal_result::Format;
use vestal_result::failure::Diagnostic;
use vestal_workload::Diagnostics;
use vestal_workload::diagnostic::{RenderOptions, is_unseen};

/// The width where there is no terminal that could tell.
const WIDTH_DEFAULT: usize = 100;
/// Lines above this width are hard to read, however wide the terminal is.
const WIDTH_MAX: usize = 120;

/// Where a command prints, and how.
#[derive(Debug)]
pub(crate) struct Output {
    format: args::Format,
    /// Colours for standard output and for standard error.
    stdout: Painter,
    stderr: Painter,
    /// What a terminal has, or the variable says; `None` where standard output is a file or a pipe.
    terminal: Option<usize>,
    /// Standard output took all that was written so far.
    state: Cell<Stdout>,
}

/// What became of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stdout {
    Open,
    /// The reader went away, which is its right.
    Closed,
    /// Something else kept us from writing, and the person was told.
    Broken,
}

/// Something was written to standard output.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// How a piece of text is shown on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Bold,
    Good,
    Bad,
    Caution,
    Name,
}

impl Style {
    fn codes(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Good => "1;32",
            Self::Bad => "1;31",
            Self::Caution => "1;33",
            Self::Name => "36",
        }
    }
}

/// Puts colours around text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painter {
    pub(crate) colour: bool,
}

impl Painter {
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if self.colour {
            format!("\x1b[{}m{text}\x1b[0m", style.codes())
        } else {
            text.to_owned()
        }
    }
}

impl Output {
    /// An output for this process' standard streams.
    pub(crate) fn new(format: args::Format) -> Self {
        // https://no-color.org: any value but the empty one counts.
        let wanted = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && env::var_os("TERM").is_none_or(|value| value != "dumb");
        Self {
            format,
            stdout: Painter {
                colour: wanted && io::stdout().is_terminal(),
            },
            stderr: Painter {
                colour: wanted && io::stderr().is_terminal(),
            },
            terminal: terminal_width(),
            state: Cell::new(Stdout::Open),
        }
    }

    /// Makes the same output for another thread, which speaks while this one cannot. Where a result was begun there is no
    /// second one.
    pub(crate) fn again(&self) -> impl FnOnce() -> Self + Send + use<> {
        let format = self.format;
        move || {
            let output = Self::new(format);
            if BEGUN.load(Ordering::SeqCst) {
                output.state.set(Stdout::Closed);
            }
            if output.shows_progress() {
                // There may be a bar that nobody removes.
                write_stderr("\n");
            }
            output
        }
    }

    /// Says of a command that is ended where it is why, and gives the exit code for that.
    pub(crate) fn last_words(&self, failure: Failure) -> impl FnOnce() -> Exit + Send + use<> {
        let again = self.again();
        move || {
            again().failure(&failure);
            failure.exit
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == args::Format::Json
    }

    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether standard error is a terminal and progress may be drawn there.
    pub(crate) fn shows_progress(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// How wide running text is.
    pub(crate) fn width(&self) -> usize {
        self.terminal.unwrap_or(WIDTH_DEFAULT).min(WIDTH_MAX)
    }

    /// How wide a table may be. Where no terminal cuts lines it is as wide as it has to be: a program that reads it wants a row a line.
    pub(crate) fn table_width(&self) -> Option<usize> {
        self.terminal
    }

    /// Colours for standard output.
    pub(crate) fn painter(&self) -> Painter {
        self.stdout
    }

    /// The human form of a result; nothing with `--format json`.
    pub(crate) fn human(&self, text: &str) {
        if !self.is_json() {
            self.raw(&visible(text));
        }
    }

    /// The JSON form of a result; nothing without `--format json`.
    pub(crate) fn json<T: Serialize>(&self, document: &T) -> Result<(), Failure> {
        if !self.is_json() {
            return Ok(());
        }
        let mut text = serde_json::to_string_pretty(document)
            .map_err(|error| Failure::bug("write the result as JSON", error.to_string()))?;
        text.push('\n');
        self.raw(&visible_json(&text));
        Ok(())
    }

    /// A result that has one form only, such as a completion script.
    pub(crate) fn raw(&self, text: &str) {
        if self.state.get() != Stdout::Open {
            return;
        }
        BEGUN.store(true, Ordering::SeqCst);
        let mut stdout = io::stdout().lock();
        let Err(error) = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
        else {
            return;
        };
        if error.kind() == ErrorKind::BrokenPipe {
            self.state.set(Stdout::Closed);
        } else {
            self.state.set(Stdout::Broken);
            self.failure(&Failure::machine(
                "write to standard output",
                error.to_string(),
            ));
        }
    }

    /// Whether standard output could not be written for another reason than a closed pipe.
    pub(crate) fn is_broken(&self) -> bool {
        self.state.get() == Stdout::Broken
    }

    /// Says something that is not the result.
    pub(crate) fn note(&self, text: &str) {
        self.label(Style::Name, "note", text);
    }

    /// Says something that the person should know before trusting the result.
    pub(crate) fn warning(&self, text: &str) {
        self.label(Style::Caution, "warning", text);
    }

    fn label(&self, style: Style, label: &str, text: &str) {
        let label = self.stderr.paint(style, label);
        write_stderr(&format!("{label}: {text}\n"));
    }

    /// Diagnostics about a source, with excerpts.
    pub(crate) fn diagnostics(&self, diagnostics: &Diagnostics) {
        let options = RenderOptions {
            colour: self.stderr.colour,
            width: self.width(),
        };
        write_stderr(&diagnostics.render(options));
    }

    /// Why the command ended early: on standard error for people, and as the one JSON document on
    /// standard output for programs that asked for JSON.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.complaint(failure);
        self.failure_document(failure);
    }

    /// Why something failed, for people.
    pub(crate) fn complaint(&self, failure: &Failure) {
        let painter = self.stderr;
        if let Some(diagnostics) = &failure.diagnostics {
            self.diagnostics(diagnostics);
        }
        let label = painter.paint(Style::Bad, "error");
        let mut text = format!("{label}: {}\n", failure.message());
        for help in &failure.help {
            let label = painter.paint(Style::Name, "help");
            text.push_str(&format!("  {label}: {help}\n"));
        }
        write_stderr(&text);
    }

    /// The one JSON document for programs that asked for JSON, without a message for people.
    pub(crate) fn failure_document(&self, failure: &Failure) {
        let diagnostics = failure.diagnostics.as_deref();
        let document = vestal_result::failure::Failure {
            format: Format::V1,
            error: vestal_result::failure::Error {
                exit: failure.exit.code(),
                message: failure.message(),
                help: failure.help.clone(),
                diagnostics: diagnostics.map_or_else(Vec::new, self::diagnostics),
            },
        };
        // With standard output broken no one reads the document.
        if self.is_json() && self.state.get() == Stdout::Open && self.json(&document).is_err() {
            write_stderr("error: failed to write the error as JSON\n");
        }
    }
}

/// The JSON form of diagnostics.
pub(crate) fn diagnostics(found: &Diagnostics) -> Vec<Diagnostic> {
    let one = |found: &vestal_workload::Diagnostic| Diagnostic {
        code: found.code.to_string(),
        severity: found.severity.to_string(),
        file: found.file.clone(),
        line: found.line,
        column: found.column,
        field: found.field.clone(),
        message: found.message.clone(),
        found: found.found.clone(),
        expected: found.expected.clone(),
        help: found.help.clone(),
    };
    found.list().iter().map(one).collect()
}

/// Tells a person that the program is at fault; called from the panic hook, so it relies on nothing.
pub(crate) fn panic_message(what: &str) {
    let version = crate::names::VERSION;
    write_stderr(&format!(
        "error: internal error: {what}\n  help: {BUG_HELP}\n  version: {version} (process {})\n",
        process::id()
    ));
}

/// Warns from a thread that has nothing else to do with output, while a command is at work.
pub(crate) fn said_meanwhile(text: &str) {
    write_stderr(&format!("warning: {text}\n"));
}

/// What clap has to say about the command line, with its own colours.
pub(crate) fn print_clap(error: &clap::Error) {
    // A closed pipe is the only way in which this fails that a person could notice, and no error.
    let _closed = error.print();
}

/// The text with everything that would steer the terminal, or not be seen, written out: names of files, of tasks, what a
/// trace says. Ends of lines and our own colours are not.
fn visible(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| matches!(c, '\n' | '\t') || !is_unseen(c);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c| !is_plain(c)) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = colour(rest).unwrap_or_else(|| {
            let c = rest.chars().next().unwrap_or_default();
            shown.extend(c.escape_unicode());
            rest = &rest[c.len_utf8()..];
            0
        });
        shown.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// The same of a JSON document, whose strings may have characters as numbers.
fn visible_json(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c == '\n' || !is_unseen(c);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) {
            shown.push(c);
        } else {
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            shown.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    Cow::Owned(shown)
}

/// The name of a file on one line, with everything that is not seen written out.
pub(crate) fn visible_name(path: &Path) -> String {
    let name = path.display().to_string();
    let mut shown = String::with_capacity(name.len());
    for c in name.chars() {
        match is_unseen(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}

/// How long the code of a colour is at the beginning of a text: nothing but a colour, and seen.
fn colour(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\x1b[")?;
    let end = codes.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
    let is_colour = |code: &str| {
        matches!(
            code,
            "" | "0" | "1" | "2" | "4" | "31" | "32" | "33" | "34" | "35" | "36"
        )
    };
    let are_colours = codes[..end].split(';').all(is_colour);
    (are_colours && codes[end..].starts_with('m')).then_some("\x1b[".len() + end + 1)
}

/// Standard error has no further place to complain to if it fails itself.
fn write_stderr(text: &str) {
    let mut stderr = io::stderr().lock();
    let _lost = stderr
        .write_all(visible(text).as_bytes())
        .and_then(|()| stderr.flush());
}

/// The terminal's width, from the variable that shells and tests set, or from the terminal.
fn terminal_width() -> Option<usize> {
    if let Some(columns) = env::var("COLUMNS").ok().and_then(|text| text.parse().ok()) {
        return (40..=1000).contains(&columns).then_some(columns);
    }
    if !io::stdout().is_terminal() {
        return None;
    }
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size()?;
    Some(usize::from(columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_what_is_not_seen_as_numbers() {
        let text = serde_json::to_string("a\u{9b}b\u{202e}c\u{e0041}\u{e4}").unwrap();
        let shown = visible_json(&text);
        assert_eq!(shown, "\"a\\u009bb\\u202ec\\udb40\\udc41\u{e4}\"");
        let back: String = serde_json::from_str(&shown).unwrap();
        assert_eq!(back, "a\u{9b}b\u{202e}c\u{e0041}\u{e4}");
        assert_eq!(
            visible_name(Path::new("x\n\x1b[32mfine")),
            "x\\u{a}\\u{1b}[32mfine"
        );
    }

    #[test]
    fn what_would_steer_a_terminal_is_written_out() {
        let red = Painter { colour: true }.paint(Style::Bad, "no");
        assert_eq!(visible(&red), red);
        assert_eq!(visible("a\tb\n\u{e4}"), "a\tb\n\u{e4}");
        for (text, shown) in [
            ("\x1b[2J\x1b]0;title\x07", "\\u{1b}[2J\\u{1b}]0;title\\u{7}"),
            // Text that is not seen.
            ("\x1b[8mhidden", "\\u{1b}[8mhidden"),
            ("\x1b[38;5;1m", "\\u{1b}[38;5;1m"),
            ("a\rb\u{9b}31m", "a\\u{d}b\\u{9b}31m"),
            ("x\u{202e}lmth.exe", "x\\u{202e}lmth.exe"),
            ("\x1b", "\\u{1b}"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}

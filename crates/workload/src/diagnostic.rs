//! Diagnostics: where, what was found, what was expected, how to mend it, and a stable code.

use crate::codes::Code;
use crate::source::{Source, Span};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};
use std::fmt;
use std::sync::Arc;

/// How much a diagnostic weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file is used, and probably does not say what was meant.
    Warning,
    /// The file is used; a fact worth knowing.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// One thing to say about one place of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code, which `vestal explain` expands.
    pub code: Code,
    /// Error, warning or note.
    pub severity: Severity,
    /// The name of the source.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The field, such as `task[2].wcet.LO`; empty if the whole source is meant.
    pub field: String,
    /// The rule in one sentence.
    pub message: String,
    /// What stands there.
    pub found: String,
    /// What ought to stand there.
    pub expected: String,
    /// How to mend it.
    pub help: String,
    /// The stretch of text in bytes.
    pub span: Span,
}

/// All that was found wrong with a source; never empty when returned as an error.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    source: Arc<Source>,
    list: Vec<Diagnostic>,
}

/// How to render diagnostics for a reader.
#[derive(Clone, Copy, Debug)]
pub struct RenderOptions {
    /// Whether to use colours and box-drawing characters.
    pub colour: bool,
    /// The width of the terminal in columns.
    pub width: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            colour: false,
            width: 100,
        }
    }
}

impl Diagnostics {
    /// The diagnostics, in the order of the text.
    #[must_use]
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// The source all of them are about.
    #[must_use]
    pub fn source_text(&self) -> &Arc<Source> {
        &self.source
    }

    /// Diagnostics already made about `source`, for instance a task set's warnings.
    #[must_use]
    pub fn from_list(source: Arc<Source>, list: Vec<Diagnostic>) -> Self {
        Self { source, list }
    }

    /// Text for a human: a source excerpt with the place underlined for each diagnostic.
    #[must_use]
    pub fn render(&self, options: RenderOptions) -> String {
        let theme = if options.colour {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::none()
        };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(options.width.max(40))
            .with_links(false)
            .with_context_lines(1);
        let shown = printable(&self.source.text);
        let mut text = String::new();
        for diagnostic in &self.list {
            let view = View {
                diagnostic,
                text: excerpt(&shown, diagnostic.span),
            };
            // Writing into a string fails only if the excerpt cannot be cut out; the plain line
            // says the same without it.
            if handler.render_report(&mut text, &view).is_err() {
                text.push_str(&diagnostic.to_string());
                text.push('\n');
            }
        }
        text
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        write!(f, "{}: {}", self.code, self.summary())?;
        write!(f, " ({})", self.help)
    }
}

impl Diagnostic {
    /// Rule, field, found and expected in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let field = if self.field.is_empty() {
            String::new()
        } else {
            format!("`{}`: ", self.field)
        };
        format!(
            "{field}{}: found {}, expected {}",
            self.message, self.found, self.expected
        )
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// A diagnostic together with its text, as miette wants it.
struct View<'a> {
    diagnostic: &'a Diagnostic,
    /// The whole text for an excerpt; `None` if its lines are too long to show.
    text: Option<&'a str>,
}

/// Lines longer than this many bytes are not shown: they are no text that a person wrote.
const EXCERPT_LINE_BYTES_MAX: usize = 400;

/// Whether a character steers what shows it, or takes part in it without being seen: controls, those of the direction of text
/// (with which a line reads otherwise than it is), what Unicode says may be left out of what is shown, the empty pattern of Braille, and the marks of lines
/// and paragraphs.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// The text with each character that is not seen replaced by as many question marks as it has bytes: places
/// stay where they are, and nothing in a file can steer the reader's terminal.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) && !matches!(c, '\n' | '\t' | '\r') {
            shown.extend(std::iter::repeat_n('?', c.len_utf8()));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// `text` if the lines around `span` are short enough to show.
fn excerpt(text: &str, span: Span) -> Option<&str> {
    let before = text.get(..span.start())?.rsplit('\n').take(2);
    let after = text.get(span.start()..)?.split('\n').take(2);
    let short = before
        .chain(after)
        .all(|part| part.len() <= EXCERPT_LINE_BYTES_MAX);
    (short && !text.is_empty()).then_some(text)
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic.fmt(f)
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic {
            file, line, column, ..
        } = self.diagnostic;
        if self.text.is_none() {
            // Without an excerpt nothing else says where it is.
            write!(f, "{file}:{line}:{column}: ")?;
        }
        f.write_str(&self.diagnostic.summary())
    }
}

impl std::error::Error for View<'_> {}

impl miette::Diagnostic for View<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.diagnostic.code))
    }
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.diagnostic.help))
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.text.is_some().then_some(self as &dyn SourceCode)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.text?;
        let (start, end) = (self.diagnostic.span.start(), self.diagnostic.span.end());
        let label = format!("found {}", self.diagnostic.found);
        let length = end.saturating_sub(start);
        Some(Box::new(std::iter::once(LabeledSpan::new(
            Some(label),
            start,
            length,
        ))))
    }
}

impl SourceCode for View<'_> {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        let text = self.text.ok_or(miette::MietteError::OutOfBounds)?;
        let inner = text.read_span(span, before, after)?;
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.diagnostic.file.clone(),
            inner.data(),
            *inner.span(),
            inner.line(),
            inner.column(),
            inner.line_count(),
        )))
    }
}

/// Collects diagnostics while a source is read, so that all of them are reported together.
pub struct Sink {
    source: Arc<Source>,
    list: Vec<Diagnostic>,
}

/// No more than this many diagnostics are kept for one source: a file with more is not the kind
/// of file that was meant, and none is read on.
const DIAGNOSTICS_MAX: usize = 200;

/// Quoted text in a diagnostic is cut after this many characters.
const QUOTE_CHARS_MAX: usize = 60;

/// A function for each severity: found, expected and help after the place.
macro_rules! notes {
    ($($(#[$doc:meta])* $visible:vis $name:ident: $severity:ident;)*) => {$(
        $(#[$doc])*
        $visible fn $name(
            &mut self,
            code: Code,
            span: Span,
            field: &str,
            found: impl Into<String>,
            expected: impl Into<String>,
            help: impl Into<String>,
        ) {
            let words = [found.into(), expected.into(), help.into()];
            self.push(Severity::$severity, code, span, field, words);
        }
    )*};
}

impl Sink {
    /// Nothing found so far in this source.
    pub fn new(source: Arc<Source>) -> Self {
        Self {
            source,
            list: Vec::new(),
        }
    }

    /// A single error about `source`.
    pub(crate) fn single(
        source: Arc<Source>,
        code: Code,
        span: Span,
        field: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostics {
        let mut sink = Self::new(source);
        sink.error(code, span, field, found, expected, help);
        Diagnostics {
            source: sink.source,
            list: sink.list,
        }
    }

    notes! {
        /// Notes an error at this place.
        pub error: Error;
        /// Notes a warning at this place.
        pub warning: Warning;
        pub(crate) note: Note;
    }

    fn push(
        &mut self,
        severity: Severity,
        code: Code,
        span: Span,
        field: &str,
        [found, expected, help]: [String; 3],
    ) {
        if self.is_full() {
            return;
        }
        let text = &self.source.text;
        let mut start = span.start().min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = span.end().clamp(start, text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (line, column) = self.source.line_and_column(start);
        self.list.push(Diagnostic {
            code,
            severity,
            file: self.source.name.clone(),
            line,
            column,
            field: field.to_owned(),
            message: code.title().to_owned(),
            found,
            expected,
            help,
            span: Span::new(start, end),
        });
    }

    /// Whether nothing more is kept, so that looking for more is of no use.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= DIAGNOSTICS_MAX
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.list
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The diagnostics in the order of the text.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|diagnostic| diagnostic.span.start());
        self.list
    }

    /// All diagnostics as an error if at least one is; else what is left (warnings, notes).
    pub fn into_result(self) -> Result<Vec<Diagnostic>, Diagnostics> {
        let failed = self.has_errors();
        let source = Arc::clone(&self.source);
        let list = self.finish();
        if failed {
            Err(Diagnostics { source, list })
        } else {
            Ok(list)
        }
    }
}

/// Text from a file as it may be shown: in backquotes, on one line, not too long.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(QUOTE_CHARS_MAX)
        .map(|c| if is_unseen(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(QUOTE_CHARS_MAX).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Words as a list in backquotes, cut when there are too many to read.
#[must_use]
pub fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN_MAX: usize = 24;
    let mut shown: Vec<String> = words.into_iter().take(SHOWN_MAX + 1).map(quote).collect();
    if shown.len() > SHOWN_MAX {
        shown.truncate(SHOWN_MAX);
        shown.push("…".to_owned());
    }
    if shown.is_empty() {
        "nothing here".to_owned()
    } else {
        shown.join(", ")
    }
}

/// The known word that `found` was probably meant to be.
#[must_use]
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing costs the product of the lengths; names of this length are not mistyped.
    const COMPARED_CHARS_MAX: usize = 100;
    if found.chars().nth(COMPARED_CHARS_MAX).is_some() {
        return None;
    }
    let lowered = found.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for word in known {
        if word.chars().nth(COMPARED_CHARS_MAX).is_some() {
            continue;
        }
        let score = strsim::jaro_winkler(&lowered, &word.to_lowercase());
        if score >= 0.8 && best.is_none_or(|(least, _)| score > least) {
            best = Some((score, word));
        }
    }
    best.map(|(_, word)| word)
}

/// "did you mean", or else how to go on without a guess.
#[must_use]
pub fn did_you_mean<'a>(
    found: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    nearest(found, known).map_or_else(
        || otherwise.to_owned(),
        |word| format!("did you mean `{word}`?"),
    )
}

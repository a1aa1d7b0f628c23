//! Where text came from, and where in it something stands.

use std::path::Path;
use std::sync::Arc;

/// A named text: what a file held, what stood on the command line, or what came from standard input.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The name to show: a path as the user wrote it, or `<stdin>`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A stretch of a source's text in bytes, half open. There are several for each word of a file, so they are small: of a text of
/// more than 4 GiB, which no reader takes, the rest counts as its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    start: u32,
    end: u32,
}

/// Where a value of the resolved model was written.
///
/// Two places are always *equal*: a task set that was written back and read again is the same task
/// set although everything in it stands elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place(pub Span);

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Place {}

impl Span {
    /// From the first byte to one past the last.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: small(start),
            end: small(end),
        }
    }

    /// The first byte.
    #[must_use]
    pub const fn start(self) -> usize {
        self.start as usize
    }

    /// One past the last byte.
    #[must_use]
    pub const fn end(self) -> usize {
        self.end as usize
    }
}

impl Source {
    /// A shared source.
    #[must_use]
    pub fn new(name: &str, text: &str) -> Arc<Self> {
        Self::owning(name, text.to_owned())
    }

    /// The same of a text that is not copied.
    pub(crate) fn owning(name: &str, text: String) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            text,
        })
    }

    /// Line and column of a byte offset, both counted from 1; columns count characters. Offsets
    /// beyond the end mean the end.
    #[must_use]
    pub fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        let before = self.text.get(..end).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        (line, column)
    }

    /// The text of a span, empty if it lies outside.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start()..span.end()).unwrap_or_default()
    }

    /// Whether the text looks like JSON rather than TOML: the name says so, or the first visible
    /// character opens an object (no TOML document starts with a brace).
    #[must_use]
    pub fn is_json(&self) -> bool {
        let named = Path::new(&self.name)
            .extension()
            .is_some_and(|ext| ext.eq_ignore_ascii_case("json"));
        named
            || self
                .text
                .trim_start_matches('\u{feff}')
                .trim_start()
                .starts_with('{')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_count_from_one() {
        let source = Source::new("x", "ab\nµs = 1\n");
        assert_eq!(source.line_and_column(0), (1, 1));
        assert_eq!(source.line_and_column(3), (2, 1));
        assert_eq!(source.line_and_column(5), (2, 2));
        assert_eq!(
            source.line_and_column(4),
            (2, 1),
            "inside a character means its start"
        );
        assert_eq!(source.line_and_column(999), (3, 1));
    }
}

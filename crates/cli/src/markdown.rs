//! Enough of Markdown to read an explanation page at a terminal: headings, code, emphasis, links,
//! and paragraphs wrapped to the width. Elsewhere the page is printed as it is written.

use crate::output::{Painter, Style};
use std::fmt::Write as _;

/// A page as a terminal shows it.
pub(crate) fn render(page: &str, painter: Painter, width: usize) -> String {
    let mut text = String::new();
    let mut paragraph = Paragraph::default();
    let mut fenced = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            paragraph.flush(&mut text, painter, width);
            fenced = !fenced;
        } else if fenced {
            let styled = match line.strip_prefix("$ ") {
                Some(command) => painter.paint(Style::Bold, &format!("$ {command}")),
                None => line.to_owned(),
            };
            push_line(&mut text, &format!("    {styled}"));
        } else if line.starts_with("    ") && paragraph.words.is_empty() {
            push_line(&mut text, line);
        } else if let Some(heading) = heading(line) {
            paragraph.flush(&mut text, painter, width);
            push_line(&mut text, &painter.paint(Style::Bold, heading));
        } else if line.trim().is_empty() || line.starts_with('|') {
            paragraph.flush(&mut text, painter, width);
            push_line(&mut text, line);
        } else {
            paragraph.add(line, &mut text, painter, width);
        }
    }
    paragraph.flush(&mut text, painter, width);
    text
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    (rest.len() < line.len()).then(|| rest.strip_prefix(' '))?
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Lines that belong together: a paragraph or an item of a list.
#[derive(Default)]
struct Paragraph {
    /// What an item begins with, and a space.
    marker: String,
    words: String,
}

impl Paragraph {
    fn add(&mut self, line: &str, text: &mut String, painter: Painter, width: usize) {
        let item = line.starts_with("- ") || starts_with_number(line);
        if item {
            self.flush(text, painter, width);
        }
        let words = match line.split_once(' ') {
            Some((marker, words)) if item => {
                self.marker = format!("{marker} ");
                words
            }
            Some(_) | None => line,
        };
        self.words.push_str(words);
        self.words.push('\n');
    }

    fn flush(&mut self, text: &mut String, painter: Painter, width: usize) {
        let Self { marker, words } = std::mem::take(self);
        let lines = wrapped(&words, marker.len(), width);
        for line in (marker + &lines).lines() {
            push_line(text, &inline(line, painter));
        }
    }
}

/// Words in lines of at most `width`, of which all but the first are indented.
pub(crate) fn wrapped(words: &str, indent: usize, width: usize) -> String {
    let mut text = String::new();
    let mut column = indent;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            let _ = write!(text, "\n{:indent$}", "");
            column = indent;
        } else if column > indent {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text
}

fn starts_with_number(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(". ")
}

/// Styles `code` and **strong** inside a line; marks without a partner stay as they are.
fn inline(line: &str, painter: Painter) -> String {
    let mut styled = String::new();
    let mut rest = line;
    loop {
        let code = rest.find('`').map(|at| (at, "`", Style::Name));
        let strong = rest.find("**").map(|at| (at, "**", Style::Bold));
        let first = [code, strong]
            .into_iter()
            .flatten()
            .min_by_key(|(at, _, _)| *at);
        let Some((at, mark, style)) = first else {
            break;
        };
        let (before, opened) = rest.split_at(at);
        let inside = opened.strip_prefix(mark).unwrap_or(opened);
        let Some((inside, after)) = inside.split_once(mark) else {
            break;
        };
        styled.push_str(before);
        styled.push_str(&painter.paint(style, inside));
        rest = after;
    }
    styled.push_str(rest);
    styled
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Painter = Painter { colour: false };

    #[test]
    fn paragraphs_are_wrapped_and_blocks_are_not() {
        let page = "# Head\n\nOne two three\nfour `five`.\n\n- an item that is long\n- two\n\n```console\n$ vestal check a b c d e f\nok\n```\n";
        let expected = "Head\n\nOne two\nthree four\nfive.\n\n- an item\n  that is\n  long\n- two\n\n    $ vestal check a b c d e f\n    ok\n";
        assert_eq!(render(page, PLAIN, 10), expected);
    }

    #[test]
    fn indented_lines_are_code_unless_they_continue_a_paragraph() {
        let page = "Text\n    goes on\n\n    R = C   + I\n\nend\n";
        assert_eq!(
            render(page, PLAIN, 40),
            "Text goes on\n\n    R = C   + I\n\nend\n"
        );
    }

    #[test]
    fn marks_without_partner_stay() {
        assert_eq!(inline("a ` b ** c", PLAIN), "a ` b ** c");
        let colour = Painter { colour: true };
        assert_eq!(
            inline("`x` **y**", colour),
            "\x1b[36mx\x1b[0m \x1b[1my\x1b[0m"
        );
    }
}

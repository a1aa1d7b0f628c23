//! A TOML text one statement after the other: a header, a key with its value, a comment or nothing. So the words of a text are never
//! all there.

use toml_parser::Source;
use toml_parser::lexer::{Lexer, Token, TokenKind};

/// Whether a TOML text has more words and marks, without making anything of them: for files that `toml` reads into types of their own.
#[must_use]
pub fn has_more_words(text: &str, most: usize) -> bool {
    Source::new(text).lex().nth(most).is_some()
}

/// Gives the words of one statement after the other, each time in the same list.
pub(super) struct Statements<'s> {
    lexer: Lexer<'s>,
    words: Vec<Token>,
    most: usize,
}

/// The next statement.
pub(super) enum Next<'w> {
    Statement(&'w [Token]),
    /// It has more words than there may be; this is the first of them.
    TooLong(Token),
    End,
}

impl<'s> Statements<'s> {
    /// Of a text. A statement has at most so many words.
    pub(super) fn new(text: &'s str, most: usize) -> Self {
        Self {
            lexer: Source::new(text).lex(),
            words: Vec::new(),
            most,
        }
    }

    /// Up to the end of the line that ends it. A value goes on over lines as long as a bracket is open, a header does not.
    pub(super) fn next(&mut self) -> Next<'_> {
        self.words.clear();
        let mut open = 0_usize;
        while let Some(word) = self.lexer.next() {
            let is_header = self.words.iter().find(|word| !is_blank(word));
            let is_header =
                is_header.is_some_and(|first| matches!(first.kind(), TokenKind::LeftSquareBracket));
            match word.kind() {
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => open += 1,
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                    open = open.saturating_sub(1);
                }
                TokenKind::Newline if open == 0 || is_header => {
                    self.words.push(word);
                    break;
                }
                TokenKind::Newline
                | TokenKind::Dot
                | TokenKind::Equals
                | TokenKind::Comma
                | TokenKind::Whitespace
                | TokenKind::Comment
                | TokenKind::LiteralString
                | TokenKind::BasicString
                | TokenKind::MlLiteralString
                | TokenKind::MlBasicString
                | TokenKind::Atom
                | TokenKind::Eof => {}
            }
            if open > 0 && !is_header {
                self.drop_blank_before(&word);
            }
            if self.words.len() >= self.most {
                return Next::TooLong(self.words.first().copied().unwrap_or(word));
            }
            self.words.push(word);
        }
        if self.words.is_empty() {
            Next::End
        } else {
            Next::Statement(&self.words)
        }
    }

    /// Blanks beside a mark say nothing, and are a third of the words of a value as people write it.
    fn drop_blank_before(&mut self, word: &Token) {
        if let [.., before, blank] = self.words.as_slice()
            && is_blank(blank)
            && (is_mark(before) || is_mark(word))
        {
            self.words.pop();
        }
    }
}

fn is_blank(word: &Token) -> bool {
    matches!(word.kind(), TokenKind::Whitespace)
}

/// Beside which there may be blanks or not.
fn is_mark(word: &Token) -> bool {
    matches!(
        word.kind(),
        TokenKind::Equals
            | TokenKind::Comma
            | TokenKind::LeftSquareBracket
            | TokenKind::RightSquareBracket
            | TokenKind::LeftCurlyBracket
            | TokenKind::RightCurlyBracket
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statements of a text, as far as they are shown by their words.
    fn statements(text: &str) -> Vec<String> {
        let mut statements = Statements::new(text, usize::MAX);
        let mut found = Vec::new();
        while let Next::Statement(words) = statements.next() {
            let of = |word: &Token| &text[word.span().start()..word.span().end()];
            found.push(words.iter().map(of).collect());
        }
        found
    }

    #[test]
    fn a_text_is_cut_at_the_ends_of_its_statements() {
        let text = "# [\n\na = 1\n[[t]]\nb = [ # ]\n[ 1 ] ,\n[[t]]\n]\n [[t]] # [\n[x\nc = '''\n[[t]]\n'''\nd = { e = \"]\",\n f = 1 }";
        assert_eq!(
            statements(text),
            [
                "# [\n",
                "\n",
                "a = 1\n",
                "[[t]]\n",
                "b =[# ]\n[1],\n[[t]]\n]\n",
                " [[t]] # [\n",
                "[x\n",
                "c = '''\n[[t]]\n'''\n",
                "d ={e=\"]\",\n f=1 }",
            ]
        );
    }

    #[test]
    fn a_statement_that_is_too_long_is_not_kept() {
        let text = "a = [1, 2]\n";
        assert!(matches!(
            Statements::new(text, 7).next(),
            Next::TooLong(word) if word.span().start() == 0
        ));
        assert!(matches!(
            Statements::new(text, 8).next(),
            Next::Statement(_)
        ));
    }
}

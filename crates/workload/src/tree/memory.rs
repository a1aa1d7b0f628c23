//! How much memory reading a text may take. What would take more is seen while it is made, before it has taken it.
//!
//! Reading takes at most [`TIMES`] times the bytes of a text (a text of less than [`LEAST`] counts as one of that). Once is the text itself; nine
//! times may take its tree, and ten times what stands beside that: while a tree of TOML grows, the words of the statement that
//! is being read, and afterwards what is made of the tree. A task takes some 500 bytes then, and a text of 55 at least.

use super::{Entry, Node};
use crate::codes;
use crate::diagnostic::Sink;
use crate::source::Span;
use std::borrow::Cow;

/// Reading a text takes at most so many times its bytes.
pub(super) const TIMES: usize = 20;

/// So many of these times its tree may take.
const OF_TREE: usize = 9;

/// And so many the words of a statement that is read.
const OF_WORDS: usize = 10;

/// A text of fewer bytes may take as much as one of so many.
const LEAST: usize = 1 << 20;

/// What an allocator takes beside what is asked for, for a list or a text of its own.
const OF_ALLOCATION: usize = 32;

/// What is left of the memory that something may take.
pub(super) struct Room {
    left: usize,
}

impl Room {
    fn times(text: &str, times: usize) -> Self {
        Self {
            left: text.len().max(LEAST).saturating_mul(times),
        }
    }

    /// For the tree of a text.
    pub(super) fn of_tree(text: &str) -> Self {
        Self::times(text, OF_TREE)
    }

    /// For words of so many bytes each: how many of them there may be.
    pub(super) fn words(text: &str, bytes_each: usize) -> usize {
        Self::times(text, OF_WORDS).left / bytes_each.max(1)
    }

    /// Takes so much; nothing if there is no room for it.
    #[must_use]
    pub(super) const fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// The same for a text that was not cut out of its source.
    #[must_use]
    #[expect(clippy::ptr_arg, reason = "whether it is borrowed is the question")]
    pub(super) fn take_text(&mut self, text: &Cow<'_, str>) -> bool {
        match text {
            Cow::Borrowed(_) => true,
            Cow::Owned(text) => self.take(text.capacity() + OF_ALLOCATION),
        }
    }

    /// Adds an element if there is room for it. Short lists, of which there are many, grow by two at a time.
    #[must_use]
    pub(super) fn push<T: Part>(&mut self, items: &mut Vec<T>, item: T) -> bool {
        const SHORT: usize = 16;
        let begins = if items.is_empty() { OF_ALLOCATION } else { 0 };
        let bytes = size_of::<T>() + begins;
        if !self.take(bytes) {
            return false;
        }
        if items.len() == items.capacity() && items.len() < SHORT {
            items.reserve_exact(2);
        }
        items.push(item);
        true
    }
}

/// What trees are made of.
pub(super) trait Part {}
impl Part for Node<'_> {}
impl Part for Entry<'_> {}

/// Says of a text that it takes too much, at the first value that has no room.
pub(super) fn too_much(span: Span, is_json: bool, sink: &mut Sink) {
    let help = if is_json {
        "split the file"
    } else {
        "write each table under a header of its own, `[[task]]`, or split the file"
    };
    sink.error(
        codes::TOO_MANY,
        Span::new(span.start(), span.start() + 1),
        "",
        format!(
            "so many values that reading them takes more than {TIMES} times the memory of the text"
        ),
        "values that take less, or fewer of them",
        help,
    );
}

#[cfg(test)]
mod tests {
    use super::super::Value;
    use super::*;

    /// What the text of this module counts with.
    #[test]
    fn parts_of_trees_are_small() {
        assert_eq!(size_of::<Node<'_>>(), 40);
        assert_eq!(size_of::<Entry<'_>>(), 72);
    }

    #[test]
    fn what_has_no_room_is_not_added() {
        let node = || Node {
            span: Span::default(),
            value: Value::Null,
        };
        let mut room = Room { left: 120 };
        let mut items = Vec::new();
        assert!(room.push(&mut items, node()));
        assert!(room.push(&mut items, node()));
        assert!(!room.push(&mut items, node()));
        assert_eq!((items.len(), room.left), (2, 8));
        assert!(room.take_text(&Cow::Borrowed("long enough not to fit")));
        assert!(!room.take_text(&Cow::Owned(String::new())));
    }
}

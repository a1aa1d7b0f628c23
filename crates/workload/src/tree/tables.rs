//! Tables while they grow: finding keys in them, and the places where TOML's headers and dotted keys lead.

use super::memory::Room;
use super::{DEPTH_MAX, Entry, Node, Value};
use crate::source::Span;
use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

/// What remembering that a table is dotted takes.
const OF_DOTTED: usize = 32;

/// A table with no more entries is looked through.
const FEW: usize = 16;

/// Where the entries of a table stand that has many. Entries are only ever added behind the others.
#[derive(Default)]
pub(super) struct Places {
    /// Each with a hash of its key.
    sorted: BTreeSet<(u32, u32)>,
    hashes: RandomState,
}

impl Places {
    /// The place of an entry in its table.
    pub(super) fn find(&mut self, entries: &[Entry<'_>], key: &str) -> Option<usize> {
        if entries.len() <= FEW {
            return entries.iter().position(|entry| entry.key == key);
        }
        for (place, entry) in entries.iter().enumerate().skip(self.sorted.len()) {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            self.sorted.insert((self.hash(&entry.key), place));
        }
        let hash = self.hash(key);
        let same = self.sorted.range((hash, 0)..=(hash, u32::MAX));
        let is_it = |place: &usize| entries.get(*place).is_some_and(|entry| entry.key == key);
        same.map(|(_, place)| *place as usize).find(is_it)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a part of a hash is a hash"
    )]
    fn hash(&self, key: &str) -> u32 {
        self.hashes.hash_one(key) as u32
    }

    /// What finding an entry again takes, beside the entry.
    pub(super) const fn bytes(entries: usize) -> usize {
        if entries > FEW { 16 } else { 0 }
    }
}

/// A key of a header or of a value, and where it stands.
pub(super) struct Key<'s> {
    pub(super) text: Cow<'s, str>,
    pub(super) span: Span,
}

/// What is wrong with a text whose words are right.
#[derive(Clone, Copy)]
pub(super) enum Trouble {
    /// A key that is there.
    Twice(Span),
    /// A key that would add to what is no table that can be added to.
    Extended(Span, &'static str),
    /// Too many levels.
    Deep(Span),
    /// No room.
    Much(Span),
}

/// By what a table or a list of tables was made. Where it stands says it, so that nodes need not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    /// By a header, in which its key stands.
    ByHeader,
    /// By a key that leads to another one: it stands where the key does.
    ByPath,
    /// As a value, behind its key.
    AsValue,
}

impl Made {
    fn of(entry: &Entry<'_>) -> Self {
        let (key, node) = (entry.key_span, entry.node.span);
        if key == node {
            Self::ByPath
        } else if node.start() < key.start() {
            Self::ByHeader
        } else {
            Self::AsValue
        }
    }
}

/// What is known of all tables of a text that grow. A table is known by where it stands.
pub(super) struct Tables {
    places: BTreeMap<Begin, Places>,
    /// Those that dotted keys have made, or have added to.
    dotted: BTreeSet<Begin>,
    pub(super) room: Room,
}

/// Where a table begins. The text's own begins before everything.
type Begin = Option<usize>;

/// A table, what it is known by, and how deep it stands.
pub(super) struct At<'t, 's> {
    pub(super) entries: &'t mut Vec<Entry<'s>>,
    pub(super) begin: Begin,
    pub(super) depth: usize,
}

impl Tables {
    pub(super) fn new(room: Room) -> Self {
        Self {
            places: BTreeMap::new(),
            dotted: BTreeSet::new(),
            room,
        }
    }

    fn find(&mut self, table: &At<'_, '_>, key: &str) -> Option<usize> {
        if table.entries.len() <= FEW {
            return table.entries.iter().position(|entry| entry.key == key);
        }
        let places = self.places.entry(table.begin).or_default();
        places.find(table.entries, key)
    }

    /// Adds an entry that is not there.
    fn add<'s>(&mut self, entries: &mut Vec<Entry<'s>>, entry: Entry<'s>) -> Result<(), Trouble> {
        let span = entry.key_span;
        let beside = Places::bytes(entries.len());
        if self.room.take(beside) && self.room.push(entries, entry) {
            Ok(())
        } else {
            Err(Trouble::Much(span))
        }
    }

    /// The table to which these keys lead from another one; those that are missing are made. `is_dotted`: they stand before a value
    /// and not in a header.
    pub(super) fn descend<'t, 's>(
        &mut self,
        mut from: At<'t, 's>,
        path: &[Key<'s>],
        is_dotted: bool,
    ) -> Result<At<'t, 's>, Trouble> {
        for key in path {
            from.depth += 1;
            if from.depth > DEPTH_MAX {
                return Err(Trouble::Deep(key.span));
            }
            let place = match self.find(&from, &key.text) {
                Some(place) => place,
                None => {
                    if is_dotted {
                        self.dotted.insert(Some(key.span.start()));
                        if !self.room.take(OF_DOTTED) {
                            return Err(Trouble::Much(key.span));
                        }
                    }
                    let table = Node {
                        span: key.span,
                        value: Value::Table(Vec::new()),
                    };
                    self.add(from.entries, entry(key, table))?;
                    from.entries.len() - 1
                }
            };
            let Some(entry) = from.entries.get_mut(place) else {
                return Err(Trouble::Twice(key.span));
            };
            from = self.enter(entry, from.depth, key.span, is_dotted)?;
        }
        Ok(from)
    }

    /// The table of an entry, if keys may lead through it.
    fn enter<'t, 's>(
        &mut self,
        entry: &'t mut Entry<'s>,
        depth: usize,
        key: Span,
        is_dotted: bool,
    ) -> Result<At<'t, 's>, Trouble> {
        let made = Made::of(entry);
        let kind = entry.node.kind();
        let begin = Some(entry.node.span.start());
        match (&mut entry.node.value, made) {
            (Value::Table(_), Made::AsValue) => Err(Trouble::Extended(key, "an inline table")),
            (Value::Table(_), Made::ByHeader) if is_dotted => Err(Trouble::Twice(key)),
            (Value::Table(entries), Made::ByHeader | Made::ByPath) => {
                if is_dotted {
                    self.dotted.insert(begin);
                }
                Ok(At {
                    entries,
                    begin,
                    depth,
                })
            }
            (Value::List(tables), Made::ByHeader) if !is_dotted => match tables.last_mut() {
                Some(Node {
                    span,
                    value: Value::Table(entries),
                }) => Ok(At {
                    begin: Some(span.start()),
                    entries,
                    depth: depth + 1,
                }),
                Some(_) | None => Err(Trouble::Extended(key, kind)),
            },
            (
                Value::Null
                | Value::Bool
                | Value::Number(_)
                | Value::Text(_)
                | Value::List(_)
                | Value::Date,
                Made::AsValue | Made::ByHeader | Made::ByPath,
            ) => Err(Trouble::Extended(key, kind)),
        }
    }

    /// Adds a value where its keys lead from a table.
    pub(super) fn insert<'s>(
        &mut self,
        from: At<'_, 's>,
        mut keys: Vec<Key<'s>>,
        node: Node<'s>,
    ) -> Result<(), Trouble> {
        // Where the key is missing the words are wrong, which was said.
        let Some(key) = keys.pop() else {
            return Ok(());
        };
        let table = self.descend(from, &keys, !keys.is_empty())?;
        if self.find(&table, &key.text).is_some() {
            return Err(Trouble::Twice(key.span));
        }
        self.add(table.entries, entry(&key, node))
    }

    /// Opens the table of a header that stands here: what follows belongs to it. Gives how deep it stands.
    pub(super) fn open<'s>(
        &mut self,
        root: At<'_, 's>,
        keys: &[Key<'s>],
        is_list: bool,
        span: Span,
    ) -> Result<usize, Trouble> {
        // Where the key is missing the words are wrong, which was said.
        let Some((key, path)) = keys.split_last() else {
            return Ok(root.depth);
        };
        let table = self.descend(root, path, false)?;
        let depth = table.depth + 1 + usize::from(is_list);
        if depth > DEPTH_MAX {
            return Err(Trouble::Deep(key.span));
        }
        let empty = || Node {
            span,
            value: Value::Table(Vec::new()),
        };
        let Some(place) = self.find(&table, &key.text) else {
            let mut node = empty();
            if is_list {
                let mut tables = Vec::new();
                if !self.room.push(&mut tables, node) {
                    return Err(Trouble::Much(span));
                }
                node = Node {
                    span,
                    value: Value::List(tables),
                };
            }
            self.add(table.entries, entry(key, node))?;
            return Ok(depth);
        };
        let Some(entry) = table.entries.get_mut(place) else {
            return Err(Trouble::Twice(key.span));
        };
        let made = Made::of(entry);
        match &mut entry.node.value {
            Value::List(tables) if is_list && made == Made::ByHeader => {
                if self.room.push(tables, empty()) {
                    Ok(depth)
                } else {
                    Err(Trouble::Much(span))
                }
            }
            Value::Table(_)
                if !is_list
                    && made == Made::ByPath
                    && !self.dotted.contains(&Some(entry.node.span.start())) =>
            {
                // It has a place of its own now, by which it is known.
                self.places.remove(&Some(entry.node.span.start()));
                entry.key_span = key.span;
                entry.node.span = span;
                Ok(depth)
            }
            Value::Null
            | Value::Bool
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Table(_)
            | Value::Date => Err(Trouble::Twice(key.span)),
        }
    }
}

fn entry<'s>(key: &Key<'s>, node: Node<'s>) -> Entry<'s> {
    Entry {
        key: key.text.clone(),
        key_span: key.span,
        node,
    }
}

/// Brings all entries into the order of the text: a header may stand far behind one of a table inside it.
pub(super) fn in_order(node: &mut Node<'_>) {
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(in_order),
        Value::Table(entries) => {
            if !entries.is_sorted_by_key(|entry| entry.key_span.start()) {
                entries.sort_by_key(|entry| entry.key_span.start());
            }
            for entry in entries {
                in_order(&mut entry.node);
            }
        }
        Value::Null | Value::Bool | Value::Number(_) | Value::Text(_) | Value::Date => {}
    }
}

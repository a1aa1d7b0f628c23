//! From the text of a task-set file to the resolved task set.

use crate::diagnostic::{Diagnostics, Sink};
use crate::model::{FileTable, Origin, TaskSet};
use crate::source::{Source, Span};
use crate::table::fields::{Fields, Reader};
use crate::table::names::Written;
use crate::table::{Keys, Table};
use crate::tree;
use std::sync::Arc;

impl TaskSet {
    /// Reads a task set from the text of a file; `name` is what diagnostics call it. A name that
    /// ends in `.json`, or a text that starts with a brace, is JSON; everything else TOML.
    ///
    /// # Errors
    /// All that is wrong with the file, in the order of the text; after a syntax error only that.
    pub fn parse(name: &str, text: &str) -> Result<Self, Diagnostics> {
        Self::from_source(&Source::new(name, text))
    }

    /// Reads a task set from a source, as [`TaskSet::parse`] does.
    ///
    /// # Errors
    /// As [`TaskSet::parse`].
    pub fn from_source(source: &Arc<Source>) -> Result<Self, Diagnostics> {
        let mut sink = Sink::new(Arc::clone(source));
        let set = tree::parse(source, &mut sink).and_then(|root| {
            let mut reader = Reader::new(&mut sink, None, Vec::new());
            reader.names = Written::of(&root);
            let mut top = Fields::open(&root, String::new(), FileTable::KEYS, &mut reader)?;
            // Something missing at the top is missing at the beginning, not in the whole text.
            top.span = Span::default();
            FileTable::read(&top, &mut reader).resolve(&top, &mut reader)
        });
        let warnings = sink.into_result()?;
        match set {
            Some(mut set) => {
                set.origin = Origin {
                    source: Arc::clone(source),
                    warnings,
                };
                Ok(set)
            }
            // Reading gives no set only after an error, and that returned above.
            None => Err(Diagnostics::from_list(Arc::clone(source), warnings)),
        }
    }
}

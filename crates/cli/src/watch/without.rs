//! A build without the live view.

use crate::session::Session;
use std::io;
use vestal_trace::Record;

/// Takes records.
pub(crate) type Taker = dyn FnMut(&[Record]) + Send;

/// Whether this build has a live view.
pub(crate) const BUILT: bool = false;

/// There is none.
#[derive(Debug)]
pub(crate) enum View {}

/// Nothing feeds it.
#[derive(Debug)]
pub(crate) enum Feed {}

impl View {
    pub(crate) fn new(_: &Session, _: bool) -> Option<Self> {
        None
    }

    pub(crate) fn feed(&self) -> Feed {
        match *self {}
    }

    pub(crate) fn close(self) -> io::Result<()> {
        match self {}
    }
}

impl Feed {
    pub(crate) fn begin<T>(self, _: &[T]) -> Box<Taker> {
        match self {}
    }
}

//! Sorted copies of a problem's rows.

use crate::problem::Row;

/// Sorted copies of a problem's rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    /// What rows were last sorted by.
    pub(crate) keys: Vec<u128>,
    /// Rows by urgency, most urgent first.
    pub(crate) order: Vec<Row>,
    /// The rows of a set, by criticality, lowest first.
    pub(crate) set: Vec<Row>,
}

//! When monitors of budgets find what is used up.

/// In which activation of the monitor, counted from when a job had used up its limit, that was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detections {
    /// In the first.
    pub first: u64,
    /// In the second.
    pub second: u64,
    /// In a later one.
    pub later: u64,
}

//! Counts and times as numbers with a point.

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and nanoseconds are far below 2^53"
)]
pub(crate) fn as_f64(value: u64) -> f64 {
    value as f64
}

//! Statistics of what was simulated and measured, in constant memory or of all values.
//!
//! | module | what |
//! |---|---|
//! | [`histogram`] | percentiles of any number of whole numbers in constant memory, with a stated error |
//! | [`spread`] | smallest, mean and largest in constant memory |
//! | [`mean`] | intervals for means, of shares for every distribution |
//! | [`order`] | medians, quartiles, the interval of a median, rank correlation: of all values |
#![forbid(unsafe_code)]

pub mod histogram;
pub mod mean;
pub mod order;
pub mod spread;

pub use histogram::{Histogram, Summary};
pub use mean::{Confidence, Mean};
pub use order::{Quartiles, median, median_interval, percentile, spearman};
pub use spread::Spread;

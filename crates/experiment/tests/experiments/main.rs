//! What documentation says of kept measurements and figures.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod kept;
mod kept_barriers;
mod kept_cameras;
mod kept_counts;
mod kept_figures;
mod kept_measurement;
mod kept_monitors;
mod kept_shares;
mod kept_sleeps;
mod zss_share;

//! What documentation says of kept measurements and figures.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod kept_measurement;
mod zss_share;

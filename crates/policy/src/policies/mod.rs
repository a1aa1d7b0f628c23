//! The built-in policies: those of known parts in one file, each other one in a file of its own. This list is all
//! that has to know of a new one.

mod composed;
mod ftts;
mod hsf;
mod io_amc;
mod job_priorities;
mod mc2;
pub mod one_cpu;
mod partitioned;
mod pedf_vd;
mod pt;
mod zss;

use crate::policy::Policy;
pub use ftts::FRAME_OVERHEAD;
use std::sync::Arc;

/// All of them, in the order in which they are listed.
pub(crate) fn all() -> Vec<Arc<dyn Policy>> {
    vec![
        Arc::new(composed::RMS),
        Arc::new(composed::DMS),
        Arc::new(composed::CMS),
        Arc::new(composed::SMC),
        Arc::new(pt::Pt),
        Arc::new(composed::AMC),
        Arc::new(zss::Zss),
        Arc::new(composed::PLRS),
        Arc::new(composed::OCBP),
        Arc::new(composed::EDF),
        Arc::new(composed::EDF_VD),
        Arc::new(pedf_vd::PedfVd),
        Arc::new(ftts::Ftts),
        Arc::new(mc2::Mc2),
        Arc::new(hsf::Hsf),
        Arc::new(io_amc::IoAmc),
    ]
}

//! The built-in policies, each in a file of its own. This list is all that has to know of a new one.

mod amc;
mod cms;
mod dms;
mod edf;
mod edf_vd;
mod job_priorities;
mod ocbp;
pub mod one_cpu;
mod plrs;
mod pt;
mod rms;
mod smc;
mod zss;

use crate::policy::Policy;
use std::sync::Arc;

/// All of them, in the order in which they are listed.
pub(crate) fn all() -> Vec<Arc<dyn Policy>> {
    vec![
        Arc::new(rms::Rms),
        Arc::new(dms::Dms),
        Arc::new(cms::Cms),
        Arc::new(smc::Smc),
        Arc::new(pt::Pt),
        Arc::new(amc::Amc),
        Arc::new(zss::Zss),
        Arc::new(plrs::Plrs),
        Arc::new(ocbp::Ocbp),
        Arc::new(edf::Edf),
        Arc::new(edf_vd::EdfVd),
    ]
}

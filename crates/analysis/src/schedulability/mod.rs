//! One file for each schedulability test, named after the test.

pub mod amc_max;
pub mod amc_rtb;
pub mod cms;
pub mod dms;
pub mod edf;
pub mod edf_vd;
mod edf_vd_given;
pub mod edf_vd_util;
pub mod rms;
pub mod smc;

//! One file for each schedulability test, named after the test.

pub mod amc_ia;
pub mod amc_max;
pub mod amc_rtb;
pub mod cms;
pub mod dms;
pub mod edf;
pub mod edf_vd;
mod edf_vd_given;
pub mod edf_vd_util;
pub mod fjp_ija;
pub mod fjp_lb;
pub mod fjp_mode;
pub mod fjp_own;
pub mod ocbp;
pub mod pt;
pub mod pt_servers;
pub mod rms;
pub mod smc;
pub mod zss;

//! Every test: the papers' worked examples, laws, slow twins, and controls that the campaign must refute.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod amc_ia;
mod amc_max;
mod amc_ub;
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "controls")]
mod controls;
mod degraded;
mod edf;
mod edf_vd;
mod ftts;
mod hsf;
mod hsf_full;
mod hsf_least;
mod io_amc;
mod overheads;
mod pedf_vd;
mod plrs;
mod plrs_given;
mod properties;
mod pt;
#[path = "../../examples/analysis_rate/recipe.rs"]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the recipe is that of the programs that measure"
)]
mod recipe;
mod servers;
mod twins;
mod worked_examples;
mod zss;

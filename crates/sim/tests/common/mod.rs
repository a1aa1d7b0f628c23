//! What the test programs share. Random numbers are SplitMix64 (Steele, Lea and Flood 2014), the
//! same everywhere.

pub(crate) mod judgement;
pub(crate) mod recorder;
pub(crate) mod system;

pub(crate) use vestal_testkit::Random;

//! What comes of a step of a driver.

use vestal_core::ContractViolation;

/// The outcome of a part of a manager's round.
pub(crate) type Step<T = ()> = Result<T, ContractViolation>;

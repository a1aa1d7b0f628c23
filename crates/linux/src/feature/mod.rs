//! What a manager does for enforcement that asks to hear more than used-up limits
//! ([`vestal_core::Interest`]). Whoever drives the manager calls it.

pub(crate) mod slack;
pub(crate) mod slices;

//! What a manager that dispatches knows of one worker, whoever decides.

mod clock;
mod lane;
mod worker;

pub(super) use clock::cpu_of;
#[cfg(test)]
pub(super) use clock::scripted;
pub(super) use lane::Lane;
pub(super) use worker::Worker;

//! Levels of several CPUs: what managers have in common of levels C and D, without a lock that anybody waits for.
//!
//! Each manager owns its CPU's domain, levels A and B. The domain of all CPUs belongs to whoever has the [turn](crate::words::Turn): a manager
//! that finds it taken has left what happened on its CPU in a queue, and goes on; the holder does not let go before it has looked at
//! that. What a CPU is to run comes as a *claim*, a word that the CPU takes and gives back ([`crate::words::Claim`]). Telling, taking and
//! giving back take a bounded number of words, however many tasks and CPUs there are, but for a look again where the other side changed
//! the same word meanwhile.
//!
//! Nothing in here reads a clock or knows a thread: instants come with the calls.

mod facts;
mod fault;
mod settle;
mod shared;
mod side;

#[cfg(test)]
mod tests;

//! Queues without allocation: ready tasks in a heap or by fixed ranks, a set of task numbers, and rows
//! of first-in, first-out queues.

mod bitset;
mod by_mode;
mod heap;
mod ranks;
mod ready;
mod rows;

pub use bitset::{Cursor, TaskBits};
pub use by_mode::ModeHeaps;
pub use heap::ReadyHeap;
pub use ranks::ReadyRanks;
pub use ready::ReadyQueue;
pub use rows::Rows;

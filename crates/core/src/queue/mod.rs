//! Queues without allocation: a heap of ready tasks, a set of task numbers, and rows of
//! first-in, first-out queues.

mod bitset;
mod heap;
mod rows;

pub use bitset::{Cursor, TaskBits};
pub use heap::ReadyHeap;
pub use rows::Rows;

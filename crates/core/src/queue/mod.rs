//! Queues without allocation: a heap of ready tasks and a set of task numbers.

mod bitset;
mod heap;

pub use bitset::{Cursor, TaskBits};
pub use heap::ReadyHeap;

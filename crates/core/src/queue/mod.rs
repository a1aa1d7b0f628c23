//! Queues without allocation: a heap of ready tasks and a set of task numbers.

mod bitset;
mod heap;

pub use bitset::TaskBits;
pub use heap::ReadyHeap;

//! The state machines that decide. Policies are compositions of these with rules and orders.

mod account;
mod clock;
pub mod configuration;
pub mod frames;
pub mod guard;
pub mod hierarchy;
pub mod levelled;
pub mod uniprocessor;

pub use configuration::Configuration;
pub use frames::{FrameConfiguration, FrameTable, Frames, Span};
pub use guard::Guard;
pub use hierarchy::{
    DeviceConfiguration, Hierarchy, HierarchyConfiguration, HierarchyError, LocalOrder, Modes,
    ServedTask, ServerConfiguration,
};
pub use levelled::{
    Budgets, Container, CpuTable, LevelB, Levelled, LevelledConfiguration, LevelledTask,
    LocalDomain, SharedDomain, TableSlot,
};
pub use uniprocessor::Uniprocessor;

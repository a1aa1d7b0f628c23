//! The state machines that decide. Policies are compositions of these with rules and orders.

mod account;
pub mod configuration;
pub mod frames;
pub mod guard;
pub mod hierarchy;
pub mod levelled;
mod phases;
pub mod table_error;
pub mod uniprocessor;

pub use crate::task_configuration::TaskConfiguration;
pub use configuration::{Configuration, ConfigurationError, TaskOrder};
pub use frames::{FrameConfiguration, FrameTable, Frames, Span};
pub use guard::Guard;
pub use hierarchy::{
    DeviceConfiguration, Hierarchy, HierarchyConfiguration, HierarchyError, LocalOrder, ServedTask,
    ServerConfiguration,
};
pub use levelled::{
    Budgets, Container, CpuTable, Levelled, LevelledConfiguration, LevelledTask, LocalDomain,
    SharedDomain, TableSlot,
};
pub use table_error::TableError;
pub use uniprocessor::Uniprocessor;

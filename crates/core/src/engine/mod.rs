//! The state machines that decide. Policies are compositions of these with rules and orders.

pub mod configuration;
pub mod guard;
pub mod hierarchy;
pub mod uniprocessor;

pub use configuration::{Configuration, ConfigurationError, TaskConfiguration, TaskOrder};
pub use guard::Guard;
pub use hierarchy::{
    DeviceConfiguration, Hierarchy, HierarchyConfiguration, HierarchyError, LocalOrder, ServedTask,
    ServerConfiguration,
};
pub use uniprocessor::Uniprocessor;

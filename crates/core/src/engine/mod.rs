//! The state machines that decide. Policies are compositions of these with rules and orders.

pub mod configuration;
pub mod frames;
pub mod guard;
pub mod uniprocessor;

pub use configuration::{Configuration, ConfigurationError, TaskConfiguration, TaskOrder};
pub use frames::{FrameConfiguration, FrameTable, Frames, Span, TableError};
pub use guard::Guard;
pub use uniprocessor::Uniprocessor;

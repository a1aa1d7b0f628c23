//! One self-contained HTML page of what was proved, simulated and measured for a task set.
//!
//! | module | what |
//! |---|---|
//! | `document` | which results of commands stand in a file |
//! | [`recording`] | a trace, reduced to what can be drawn, with exact statistics over all of it |
//! | `columns` | the bytes in which a recording travels to the page |
//! | `group` | which result and which trace are of the same run |
//! | `model` | what the page's script reads |
//!
//! The page needs no network and no other file: its style and its script (`page/`) are part of it,
//! and its policy forbids it to load anything, and to execute or apply anything but these two. Names come from files of others, so the script never
//! turns text into markup, and the data cannot end the element that holds it.
//!
//! The crate reads no file and no clock and prints nothing. It knows neither the analyses nor the
//! worlds, only what they wrote.

mod columns;
mod document;
pub mod error;
mod group;
mod model;
mod page;
pub mod recording;
mod report;
mod tally;

pub use error::ReportError;
pub use recording::{Collector, Recording};
pub use report::{Origin, Report};

//! Task-set files: what is read and written, and what is said of what is wrong with them.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod codes;
#[path = "../common/mod.rs"]
mod common;
mod examples;
mod format_page;
mod keys;
mod robust;
mod schema;
mod stranger;

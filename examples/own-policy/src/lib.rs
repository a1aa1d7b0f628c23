//! Two policies and a schedulability test of one's own, added to Vestal's commands.

pub mod halved_deadlines;
pub mod one_point;
pub mod slack_monotonic;

use vestal_policy::{Refusal, Registry};

/// What is built in, and what this program adds.
///
/// # Errors
/// A name that is taken.
pub fn registry() -> Result<Registry, Refusal> {
    Registry::default()
        .with_test(one_point::TEST, one_point::PAGE)?
        .with_policy(slack_monotonic::SlackMonotonic)?
        .with_policy(halved_deadlines::HalvedDeadlines)
}

//! Two policies and a schedulability test of one's own, added to Vestal's commands.

pub mod halved_deadlines;
pub mod one_point;
pub mod slack_monotonic;

use vestal::Extensions;

/// What this program adds.
#[must_use]
pub fn extensions() -> Extensions {
    Extensions::new()
        .policy(slack_monotonic::policy())
        .policy(halved_deadlines::policy())
        .test(one_point::TEST, one_point::PAGE)
}

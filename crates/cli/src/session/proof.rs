//! What is promised about a run, and by which proof. Without a proof nothing is guaranteed: then no miss
//! counts as one that should not have happened, in either world.

use super::{Order, Session};
use crate::commands::analyze::verdict_name;
use serde::Serialize;
use vestal_analysis::Verdict;
use vestal_core::{Enforcement, Exhaustion, OrderRule, Policy};

/// A test that accepts the set as it is about to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Proof {
    /// Its name, with the variant.
    pub(crate) test: String,
    pub(crate) verdict: &'static str,
}

impl Order {
    /// The proof for jobs that stop when they have used up their limits: where nothing stops them, the
    /// test speaks of something else.
    pub(super) fn proof(&self, exhaustion: Exhaustion) -> Option<Proof> {
        let proved = self.unproved.is_none() && exhaustion != Exhaustion::Continue;
        proved.then(|| Proof {
            test: self.test.clone(),
            verdict: verdict_name(Verdict::Schedulable),
        })
    }

    /// What a person must know before trusting the run.
    pub(super) fn doubt(&self, policy: &Policy, exhaustion: Exhaustion) -> Option<String> {
        match (&self.unproved, exhaustion) {
            (Some(doubt), _) => Some(doubt.clone()),
            (None, Exhaustion::Continue) => Some(format!(
                "exhaustion=continue: what {} promises is not covered by its test {} any more",
                policy.name, policy.test
            )),
            (None, Exhaustion::Background | Exhaustion::Abort) => None,
        }
    }
}

impl Session {
    /// The proof of a run in which nothing is enforced: the same with static limits on whole jobs, which
    /// cut off only what the promise does not cover anyway.
    pub(crate) fn proof_unenforced(&self) -> Option<&Proof> {
        let static_limits = self.policy.enforcement == Enforcement::Static
            && self.policy.order != OrderRule::Slices;
        self.proof.as_ref().filter(|_| static_limits)
    }
}

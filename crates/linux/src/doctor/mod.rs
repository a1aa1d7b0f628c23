//! Is this machine fit for real-time runs, and what should change?
//!
//! Three steps, each tested by itself: [`Facts::read`] reads `/proc` and `/sys`, or a copy of them;
//! [`Probes::measure`] tries out and measures for about two seconds; [`judge`] draws the conclusions,
//! a pure function of the two.

mod facts;
mod judge;
pub mod parse;
mod probe;

pub use facts::{Facts, Reading, Unread};
pub use judge::judge;
pub use probe::{BudgetProbe, GapProbe, Outcome, Probes, WakeUpProbe};

/// What a finding says about the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// As it should be.
    Good,
    /// Worth knowing, or worth a change; runs do not suffer much.
    Note,
    /// It could not be found out.
    Unknown,
    /// Deadlines or budgets suffer from it.
    Matters,
    /// Without it there are no real-time runs here.
    Missing,
}

/// How a finding was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// A file says so.
    Read,
    /// A system call was tried.
    Tried,
    /// It was measured.
    Measured,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// What this process may do.
    Process,
    /// The kernel and its settings.
    Kernel,
    /// The CPU that real-time jobs are to have, and what it stands on.
    Cpu,
    /// What was measured there.
    Measured,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its name in results, which does not change.
    pub check: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it is about.
    pub section: Section,
    /// Whether runs are refused without it: only then may it be [`State::Missing`].
    pub required: bool,
    /// What it says.
    pub state: State,
    /// How it was come by.
    pub basis: Basis,
    /// The file that was read, or what was tried or measured.
    pub source: String,
    /// What was found.
    pub found: String,
    /// What that means for real-time runs.
    pub meaning: String,
    /// How to change it, if it can be changed and should be.
    pub remedy: Option<String>,
}

/// What is to be done with all findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Nothing speaks against real-time runs.
    Fit,
    /// Runs are possible, and something matters; or whether they are is not known.
    Findings,
    /// Real-time runs would be refused.
    Cannot,
}

impl Verdict {
    /// The verdict on all findings.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        let any = |state| findings.iter().any(|finding| finding.state == state);
        let doubt = findings
            .iter()
            .any(|finding| finding.required && finding.state == State::Unknown);
        if any(State::Missing) {
            Self::Cannot
        } else if any(State::Matters) || doubt {
            Self::Findings
        } else {
            Self::Fit
        }
    }
}

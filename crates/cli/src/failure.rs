//! What ends a command before it is done, and the exit codes that scripts rely on.

use std::io::{self, ErrorKind};
use std::process::ExitCode;
use vestal_policy::Refusal;
use vestal_workload::Diagnostics;

/// How a command ended. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and what was asked holds.
    Holds = 0,
    /// Done, and it does not hold.
    DoesNotHold = 1,
    /// The command line or an input is wrong.
    BadInput = 2,
    /// This machine cannot do it.
    Machine = 3,
    /// A bug of Vestal.
    Bug = 4,
    /// Done, and whether what was asked holds is not decided: stolen time may be the reason why not.
    Undecided = 5,
}

impl Exit {
    pub(crate) fn holds(holds: bool) -> Self {
        if holds {
            Self::Holds
        } else {
            Self::DoesNotHold
        }
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command could not be done: what failed, why, and how to mend it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What failed, as it follows "failed to ".
    pub(crate) what: String,
    /// Why: one sentence without a full stop.
    pub(crate) why: String,
    /// How to mend it, a line each.
    pub(crate) help: Vec<String>,
    /// What is wrong with an input, place by place.
    pub(crate) diagnostics: Option<Box<Diagnostics>>,
}

/// What a command returns.
pub(crate) type Outcome = Result<Exit, Failure>;

impl Failure {
    fn new(exit: Exit, what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            exit,
            what: what.into(),
            why: why.into(),
            help: Vec::new(),
            diagnostics: None,
        }
    }

    /// What failed, and why.
    pub(crate) fn message(&self) -> String {
        format!("failed to {}: {}", self.what, self.why)
    }

    /// The command line or an input is wrong.
    pub(crate) fn input(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(Exit::BadInput, what, why)
    }

    /// An input is wrong at places that can be shown.
    pub(crate) fn diagnosed(what: impl Into<String>, diagnostics: Diagnostics) -> Self {
        let found = diagnostics.list().len();
        let why = match found {
            1 => "it has an error".to_owned(),
            _ => format!("it has {found} errors"),
        };
        Self {
            diagnostics: Some(Box::new(diagnostics)),
            ..Self::new(Exit::BadInput, what, why)
        }
    }

    /// Something cannot be put together; `what` was to be done with it.
    pub(crate) fn refused(what: impl Into<String>, refusal: Refusal) -> Self {
        let what = refusal.what.unwrap_or_else(|| what.into());
        let failure = match refusal.found {
            Some(found) => Self::diagnosed(what, *found),
            None if refusal.is_bug => Self::bug(what, refusal.why),
            None => Self::input(what, refusal.why),
        };
        refusal.help.into_iter().fold(failure, Self::with_help)
    }

    /// Part of the interface, but not of this version.
    pub(crate) fn not_in_this_version(what: &str) -> Self {
        Self::new(
            Exit::BadInput,
            format!("use {what}"),
            "not in this version".to_owned(),
        )
        .with_help("`vestal --help` lists what this version does")
    }

    /// A stop was requested before it was done.
    pub(crate) fn interrupted(what: impl Into<String>) -> Self {
        Self::new(Exit::DoesNotHold, what, "a signal interrupted it")
    }

    /// This machine cannot do it.
    pub(crate) fn machine(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(Exit::Machine, what, why)
    }

    /// A file cannot be written: a full disk is the machine's, anything else a wrong place. `code` goes before the reason.
    pub(crate) fn written(what: impl Into<String>, code: Option<&str>, error: &io::Error) -> Self {
        let code = code.map_or_else(String::new, |code| format!("{code}: "));
        let why = format!("{code}{error}");
        match is_full(error) {
            true => Self::machine(what, why).with_help("make room on the disk"),
            false => Self::input(what, why),
        }
    }

    /// Something that cannot happen, has.
    pub(crate) fn bug(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(Exit::Bug, what, why).with_help(BUG_HELP)
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// Whether something could not be written for lack of room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    use ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// What to do about a bug of Vestal.
pub(crate) const BUG_HELP: &str = "this is a bug of Vestal: please report it with the command, the \
input file and the output of `vestal --version`";

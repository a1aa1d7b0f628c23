//! Why a run did not take place, or came to a bad end.

mod message;

use crate::decider::NoScheduler;
use crate::marker;
use crate::rights::Refusal;
use crate::scarce;
use crate::sys::Processor;
pub(crate) use message::message_of;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Which exit code, in the sense of the command line, an error deserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The input is wrong: exit code 2.
    BadInput,
    /// The machine cannot do it: exit code 3.
    MachineCannot,
    /// A job body failed: the user's code, exit code 1.
    BodyFailed,
    /// A bug of Vestal: exit code 4.
    Internal,
}

/// Why a run did not take place, or came to a bad end. After each of them no thread of the run is
/// left in a real-time class.
#[derive(Debug)]
pub enum RunError {
    /// There is no guard, or no scheduler, for these tasks.
    Scheduler(NoScheduler),
    /// Tasks or a setting that this world, or native dispatch, cannot carry out.
    Unsupported(String),
    /// More tasks on a CPU than SCHED_FIFO priorities for them.
    TooManyTasks {
        /// How many there are, and of which CPU.
        tasks: String,
        /// How many priorities they need.
        needed: usize,
        /// Whether that is so because the kernel dispatches, and each task has a priority of its own.
        native: bool,
        /// The lowest and the highest that was given.
        given: (u8, u8),
    },
    /// The kernel's trace marker cannot be written.
    NoTraceMarker {
        /// Where it was looked for.
        path: PathBuf,
        /// What opening it said.
        source: io::Error,
    },
    /// The machine, or the process's rights on it, are not enough. All reasons are listed.
    Refused(Vec<Refusal>),
    /// Another process has a run on this CPU.
    CpuBusy {
        /// The CPU of the machine.
        processor: Processor,
        /// The file that the other run has locked.
        lock: PathBuf,
    },
    /// Another run of this process has not ended: SIGINT and memory locks belong to the process.
    AlreadyRunning,
    /// A system call failed.
    System {
        /// What was attempted.
        what: &'static str,
        /// How it failed.
        source: io::Error,
    },
    /// A job body panicked; the run was stopped.
    BodyPanicked {
        /// The name of its task.
        task: String,
        /// The panic's message.
        message: String,
    },
    /// The manager panicked; the run was stopped.
    ManagerPanicked {
        /// The panic's message.
        message: String,
    },
    /// The manager did not answer the watchdog, which stopped the run.
    ManagerHung,
}

impl RunError {
    /// Which exit code the error deserves.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Scheduler(_) | Self::Unsupported(_) | Self::TooManyTasks { .. } => {
                ErrorKind::BadInput
            }
            Self::Refused(_)
            | Self::NoTraceMarker { .. }
            | Self::CpuBusy { .. }
            | Self::AlreadyRunning
            | Self::System { .. } => ErrorKind::MachineCannot,
            Self::BodyPanicked { .. } => ErrorKind::BodyFailed,
            Self::ManagerPanicked { .. } | Self::ManagerHung => ErrorKind::Internal,
        }
    }

    /// Options and commands that mend it, where a run needs more of something than the system gives: none for other errors. A
    /// refusal has remedies of its own.
    #[must_use]
    pub fn remedies(&self) -> Vec<String> {
        match self {
            Self::System { source, .. } => scarce::remedies(source),
            Self::NoTraceMarker { path, source } => marker::remedies(path, source),
            Self::TooManyTasks { native, needed, .. } => {
                let managed =
                    "--dispatch managed, which takes four priorities for any number of tasks";
                let wider = "--rt-priority 1-99";
                let mends = [(*native, managed), (*needed <= 99, wider)];
                let mut mends: Vec<&str> = mends
                    .iter()
                    .filter_map(|&(does, mend)| does.then_some(mend))
                    .collect();
                if *needed > 99 {
                    mends.push("more CPUs in the file, and fewer tasks on each");
                }
                mends.into_iter().map(str::to_owned).collect()
            }
            Self::Scheduler(_)
            | Self::Unsupported(_)
            | Self::Refused(_)
            | Self::CpuBusy { .. }
            | Self::AlreadyRunning
            | Self::BodyPanicked { .. }
            | Self::ManagerPanicked { .. }
            | Self::ManagerHung => Vec::new(),
        }
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduler(error) => write!(f, "{error}"),
            Self::Unsupported(what) => f.write_str(what),
            Self::TooManyTasks {
                tasks,
                needed,
                given: (low, high),
                native: _,
            } => write!(
                f,
                "{tasks} need {needed} SCHED_FIFO priorities within 1 to 99, but {low} to {high} was given"
            ),
            Self::Refused(refusals) => {
                f.write_str("this machine cannot run it:")?;
                for refusal in refusals {
                    write!(f, "\n  - {refusal}\n    mend it with: {}", refusal.remedy())?;
                }
                Ok(())
            }
            Self::NoTraceMarker { path, source } => write!(
                f,
                "the kernel's trace marker {} cannot be written: {source}",
                path.display()
            ),
            Self::CpuBusy { processor, lock } => write!(
                f,
                "another run has CPU {processor}: two on one CPU miss each other's deadlines\n    mend it with: --cpus and another CPU, or wait for the other run (fuser {} names it)",
                lock.display()
            ),
            Self::AlreadyRunning => f.write_str("another run of this process has not ended yet"),
            Self::System { what, source } => write!(f, "failed to {what}: {source}"),
            Self::BodyPanicked { task, message } => {
                write!(
                    f,
                    "a job of {task} panicked, and the run was stopped: {message}"
                )
            }
            Self::ManagerPanicked { message } => {
                write!(
                    f,
                    "the manager panicked, and the run was stopped: {message}"
                )
            }
            Self::ManagerHung => {
                f.write_str("the manager did not answer its watchdog, and the run was stopped")
            }
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Scheduler(error) => Some(error.as_ref()),
            Self::System { source, .. } | Self::NoTraceMarker { source, .. } => Some(source),
            Self::Unsupported(_)
            | Self::TooManyTasks { .. }
            | Self::Refused(_)
            | Self::CpuBusy { .. }
            | Self::AlreadyRunning
            | Self::BodyPanicked { .. }
            | Self::ManagerPanicked { .. }
            | Self::ManagerHung => None,
        }
    }
}

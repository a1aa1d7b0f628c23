//! What the system had too little of for a run, and what mends that.

use std::fmt;
use std::io;

/// What the system gives to a process in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Threads: RLIMIT_NPROC, the limit of a control group, and the memory of their stacks.
    Thread,
    /// A `perf_event_open` counter takes a file descriptor.
    PerfCounter,
    /// A POSIX timer takes a pending signal: RLIMIT_SIGPENDING.
    Timer,
}

/// A system call failed because there was too little of something.
#[derive(Debug)]
struct Scarce {
    of: Resource,
    source: io::Error,
}

impl fmt::Display for Scarce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.of {
            Resource::Thread => "a thread",
            Resource::PerfCounter => "a perf counter",
            Resource::Timer => "a timer",
        };
        write!(f, "{what} could not be made: {}", self.source)
    }
}

impl std::error::Error for Scarce {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// The error of a system call that makes such a thing, with what that was.
pub(crate) fn making(of: Resource) -> impl FnOnce(io::Error) -> io::Error {
    move |source| io::Error::new(source.kind(), Scarce { of, source })
}

/// What mends that a system call failed, if it is one of the limits that runs of many tasks meet: each a command or an option.
pub(crate) fn remedies(error: &io::Error) -> Vec<String> {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Scarce>());
    let (number, of) = match inner {
        Some(Scarce { of, source }) => (source.raw_os_error(), Some(*of)),
        None => (error.raw_os_error(), None),
    };
    let remedies: &[&str] = match (number, of) {
        (Some(libc_errno::EMFILE | libc_errno::ENFILE), Some(Resource::PerfCounter)) => &[
            "--monitor manager, which takes no file descriptor for a task: perf takes one each",
            "ulimit -n 4096, which allows more of them",
        ],
        (Some(libc_errno::EMFILE | libc_errno::ENFILE), _) => {
            &["ulimit -n 4096, which allows more file descriptors"]
        }
        (Some(libc_errno::EAGAIN), Some(Resource::Timer)) => &[
            "--monitor heartbeat, which takes no timer for a task; perf takes a file descriptor instead",
            "ulimit -i 4096, which allows more pending signals: each timer takes one",
        ],
        (Some(libc_errno::EAGAIN | libc_errno::ENOMEM), Some(Resource::Thread)) => &[
            "ulimit -u 4096, which allows more threads (in a container or a unit of systemd: its pids.max, TasksMax)",
            "ulimit -l unlimited, which allows to lock their stacks",
        ],
        (Some(libc_errno::EAGAIN | libc_errno::ENOMEM), None) => &[
            "ulimit -l unlimited, which allows to lock more memory",
            "ulimit -v unlimited, or a larger memory.max of the control group",
        ],
        _ => &[],
    };
    remedies.iter().map(|&remedy| remedy.to_owned()).collect()
}

/// The same on every architecture of Linux that this is built for.
mod libc_errno {
    pub(super) const EAGAIN: i32 = 11;
    pub(super) const ENOMEM: i32 = 12;
    pub(super) const ENFILE: i32 = 23;
    pub(super) const EMFILE: i32 = 24;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(error: &io::Error) -> Option<String> {
        remedies(error).into_iter().next()
    }

    fn of(number: i32, what: Resource) -> io::Error {
        making(what)(io::Error::from_raw_os_error(number))
    }

    #[test]
    fn each_limit_has_its_own_remedies() {
        for (error, words) in [
            (
                of(libc_errno::EMFILE, Resource::PerfCounter),
                "--monitor manager",
            ),
            (
                of(libc_errno::EAGAIN, Resource::Timer),
                "--monitor heartbeat",
            ),
            (of(libc_errno::EAGAIN, Resource::Thread), "ulimit -u"),
            (
                io::Error::from_raw_os_error(libc_errno::EMFILE),
                "ulimit -n",
            ),
            (
                io::Error::from_raw_os_error(libc_errno::EAGAIN),
                "ulimit -l",
            ),
        ] {
            let found = first(&error).unwrap_or_default();
            assert!(found.starts_with(words), "{error}: {found}");
        }
        assert_eq!(first(&io::Error::from_raw_os_error(1)), None);
        assert_eq!(first(&of(1, Resource::Thread)), None);
        assert_eq!(first(&io::Error::other("no number")), None);
    }

    #[test]
    fn an_error_says_what_could_not_be_made_and_why() {
        let error = of(libc_errno::EAGAIN, Resource::Thread);
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(
            error
                .to_string()
                .starts_with("a thread could not be made: ")
        );
    }
}

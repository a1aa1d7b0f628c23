//! Threads of other processes in a real-time class: who else may take a CPU from the threads of a run.
//!
//! Threads of the kernel are left out: they belong to the machine. What cannot be read, because the
//! thread is gone or `/proc` is hidden, is left out too.

use crate::cpu_list::cpu_list;
use std::fmt;
use std::fs;
use std::path::Path;
use vestal_core::Service;

/// In the ninth field of `stat`: a thread of the kernel (PF_KTHREAD).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// A real-time class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    RoundRobin,
    /// SCHED_DEADLINE, above all priorities.
    Deadline,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "SCHED_FIFO",
            Self::RoundRobin => "SCHED_RR",
            Self::Deadline => "SCHED_DEADLINE",
        })
    }
}

/// A thread of another process in a real-time class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignThread {
    /// Its process.
    pub pid: u32,
    /// Itself.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: Class,
    /// Its priority; 0 in SCHED_DEADLINE.
    pub priority: u32,
    /// Its CPU time: since it exists, in a report of a run since the run began.
    pub executed: Service,
}

impl fmt::Display for ForeignThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (pid {}, {}", self.name, self.pid, self.class)?;
        match self.class {
            Class::Deadline => f.write_str(")"),
            Class::Fifo | Class::RoundRobin => write!(f, " {})", self.priority),
        }
    }
}

/// The threads of processes other than `own` in a real-time class that may use `cpu`, as the files below
/// `root/proc` say. O(threads of the system), some 20 us each.
#[must_use]
pub fn scan(root: &Path, own: u32, cpu: usize) -> Vec<ForeignThread> {
    let mut found = Vec::new();
    for (pid, process) in numbered(&root.join("proc")) {
        if pid == own {
            continue;
        }
        for (tid, thread) in numbered(&process.join("task")) {
            let stat = fs::read_to_string(thread.join("stat"));
            let Some(mut foreign) = stat.ok().and_then(|stat| parse(pid, tid, &stat)) else {
                continue;
            };
            let status = fs::read_to_string(thread.join("status"));
            if status.is_ok_and(|status| may_use(&status, cpu) == Some(false)) {
                continue;
            }
            let account = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
            let executed = account.split_ascii_whitespace().next();
            let executed = executed.and_then(|text| text.parse().ok()).unwrap_or(0);
            foreign.executed = Service::from_nanos(executed);
            found.push(foreign);
        }
    }
    found.sort_by_key(|thread| (thread.pid, thread.tid));
    found
}

/// Whether [`scan`] sees other processes below `root`: not if `/proc` hides them (`hidepid`), or is not
/// there. The first process always is, and any user may read about it elsewhere.
#[must_use]
pub fn sees_others(root: &Path) -> bool {
    fs::read_to_string(root.join("proc/1/task/1/stat")).is_ok_and(|text| stat(&text).is_some())
}

/// Looks at the foreign threads of a CPU from time to time. For a thread outside the real-time classes.
#[derive(Debug)]
pub(crate) struct Observer {
    cpu: usize,
    /// Each with what it had executed when it was seen first.
    first: Vec<ForeignThread>,
    /// Each as it was seen last.
    last: Vec<ForeignThread>,
    /// What had been stolen at the last look.
    stolen: u64,
}

impl Observer {
    /// Looks for the first time.
    pub(crate) fn new(cpu: usize) -> Self {
        let first = scan(Path::new("/"), std::process::id(), cpu);
        Self {
            cpu,
            last: first.clone(),
            first,
            stolen: 0,
        }
    }

    /// Looks again if more has been stolen than at the last look: the thief may be gone later.
    pub(crate) fn look_if(&mut self, stolen: u64) {
        if stolen != self.stolen {
            self.stolen = stolen;
            self.look();
        }
    }

    fn look(&mut self) {
        let seen = scan(Path::new("/"), std::process::id(), self.cpu);
        self.see(seen);
    }

    fn see(&mut self, seen: Vec<ForeignThread>) {
        for thread in seen {
            match self.last.iter_mut().find(|known| known.tid == thread.tid) {
                Some(known) => *known = thread,
                None => self.last.push(thread),
            }
        }
    }

    /// Looks for the last time: all that were seen, each with what it executed, the busiest first.
    pub(crate) fn finish(mut self) -> Vec<ForeignThread> {
        self.look();
        self.executed()
    }

    fn executed(self) -> Vec<ForeignThread> {
        let mut threads = self.last;
        for thread in &mut threads {
            let known = self.first.iter().find(|known| known.tid == thread.tid);
            let before = known.map_or(Service::ZERO, |known| known.executed);
            thread.executed = thread.executed.saturating_sub(before);
        }
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.executed));
        threads
    }
}

/// The entries of a directory whose names are numbers.
fn numbered(directory: &Path) -> Vec<(u32, std::path::PathBuf)> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let number = |entry: &fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let entries = entries.flatten();
    entries
        .filter_map(|entry| Some((number(&entry)?, entry.path())))
        .collect()
}

/// What is read of `stat`.
struct Stat<'a> {
    name: &'a str,
    flags: u64,
    priority: u64,
    policy: u64,
}

/// The name in the second field may contain spaces and parentheses.
fn stat(text: &str) -> Option<Stat<'_>> {
    let (head, rest) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The first of them is the third field.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Stat {
        name,
        flags: field(9)?,
        priority: field(40)?,
        policy: field(41)?,
    })
}

/// What `stat` says of a thread of user space in a real-time class.
fn parse(pid: u32, tid: u32, text: &str) -> Option<ForeignThread> {
    let stat = stat(text)?;
    if stat.flags & KERNEL_THREAD != 0 {
        return None;
    }
    let class = match stat.policy {
        1 => Class::Fifo,
        2 => Class::RoundRobin,
        6 => Class::Deadline,
        _ => return None,
    };
    Some(ForeignThread {
        pid,
        tid,
        name: stat.name.to_owned(),
        class,
        priority: u32::try_from(stat.priority).ok()?,
        executed: Service::ZERO,
    })
}

fn may_use(status: &str, cpu: usize) -> Option<bool> {
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(cpu_list(allowed)?.contains(&cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel prints it: 52 fields, the name in parentheses.
    fn line(name: &str, flags: u64, priority: u32, class: u32) -> String {
        format!(
            "7 ({name}) S 1 7 7 0 -1 {flags} 0 0 0 0 1 2 0 0 20 0 3 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 {priority} {class} 0 0 0 0 0 0 0 0 0 0 0\n"
        )
    }

    #[test]
    fn real_time_threads_of_user_space_are_found_and_no_others() {
        let audio = parse(7, 8, &line("au (d) io", 0x400040, 88, 1)).unwrap();
        assert_eq!((audio.name.as_str(), audio.priority), ("au (d) io", 88));
        assert_eq!(audio.to_string(), "au (d) io (pid 7, SCHED_FIFO 88)");
        let deadline = parse(7, 8, &line("x", 0x400040, 0, 6)).unwrap();
        assert_eq!(deadline.to_string(), "x (pid 7, SCHED_DEADLINE)");
        let round_robin = parse(7, 8, &line("y", 0, 5, 2)).unwrap();
        assert_eq!(round_robin.class, Class::RoundRobin);
        assert_eq!(parse(7, 8, &line("bash", 0x400000, 0, 0)), None);
        assert_eq!(parse(7, 8, &line("migration/0", 0x4208040, 99, 1)), None);
        for garbled in ["", "7 (x", "7 (x) S 1", &line("x", 0, 5, 1)[..40]] {
            assert_eq!(parse(7, 8, garbled), None);
        }
    }

    #[test]
    fn only_threads_that_may_use_the_cpu_count() {
        let status = "Name:\tx\nCpus_allowed:\tc\nCpus_allowed_list:\t2-3,7\n";
        assert_eq!(may_use(status, 3), Some(true));
        assert_eq!(may_use(status, 1), Some(false));
        assert_eq!(may_use("Name:\tx\n", 1), None);
    }

    #[test]
    fn of_threads_that_were_there_before_only_the_difference_counts() {
        let thread = |tid, executed| ForeignThread {
            pid: 1,
            tid,
            name: tid.to_string(),
            class: Class::Fifo,
            priority: 1,
            executed: Service::from_nanos(executed),
        };
        let first = vec![thread(1, 70)];
        let mut observer = Observer {
            cpu: 0,
            last: first.clone(),
            first,
            stolen: 0,
        };
        observer.see(vec![thread(1, 72), thread(2, 9)]);
        // The second one is gone.
        observer.see(vec![thread(1, 75)]);
        assert_eq!(observer.executed(), [thread(2, 9), thread(1, 5)]);
    }
}

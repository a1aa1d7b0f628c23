//! What the files of a machine say, each fact by itself: a file that is missing, refused or garbled
//! takes nothing along with it.

use super::parse::{self, IdleState, Limits, Preemption, Status};
use crate::foreign::{self, ForeignThread};
use crate::rights::{self, Throttling};
use std::fmt;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// No file of `/proc` or `/sys` that is read here is longer.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Why a file said nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unread {
    /// It is not there.
    Absent,
    /// It is there, and may not be read.
    Refused,
    /// What stands in it makes no sense.
    Garbled,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "is not there",
            Self::Refused => "may not be read",
            Self::Garbled => "says nothing that makes sense",
        })
    }
}

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<T> {
    /// The file, as it is called on the machine.
    pub file: String,
    /// Its meaning, or why there is none.
    pub value: Result<T, Unread>,
}

impl<T> Reading<T> {
    /// Its meaning, if it has one.
    #[must_use]
    pub fn known(&self) -> Option<&T> {
        self.value.as_ref().ok()
    }
}

/// What can be read about one machine, and the process on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The program that needs rights; `None`: it is not on this machine.
    pub program: Option<PathBuf>,
    /// The release of the kernel.
    pub release: Reading<String>,
    /// Rights and CPUs of the process.
    pub status: Reading<Status>,
    /// Its limits.
    pub limits: Reading<Limits>,
    /// Whether the files of a container are there.
    pub container: bool,
    /// `cpu.rt_runtime_us` of the process's control group and where it stands; `None`: the kernel has
    /// none per group.
    pub rt_group: Option<(String, i64)>,
    /// The slack of the process's timers in nanoseconds.
    pub timer_slack: Reading<i64>,
    /// `kernel.perf_event_paranoid`.
    pub perf_paranoid: Reading<i64>,
    /// The model of preemption, as far as it is said.
    pub preemption: Reading<Preemption>,
    /// RT throttling.
    pub throttling: Reading<Throttling>,
    /// The clock source in use.
    pub clock_source: Reading<String>,
    /// Whether the processor says that it is virtual.
    pub hypervisor: Reading<bool>,
    /// What the machine calls itself.
    pub product: Reading<String>,
    /// The CPUs that are there.
    pub online: Reading<Vec<usize>>,
    /// The CPUs that the scheduler leaves alone.
    pub isolated: Reading<Vec<usize>>,
    /// The CPUs without a tick while one thread runs.
    pub tickless: Reading<Vec<usize>>,
    /// The CPU that the rest is about.
    pub cpu: usize,
    /// Hardware threads of the same core, itself included.
    pub siblings: Reading<Vec<usize>>,
    /// Its frequency governor.
    pub governor: Reading<String>,
    /// Its sleep states that are enabled.
    pub idle_states: Vec<IdleState>,
    /// Interrupts that may be handled there, out of all.
    pub interrupts: Option<(usize, usize)>,
    /// Threads of other processes in a real-time class that may use it; `None`: other processes cannot be
    /// seen.
    pub foreign: Option<Vec<ForeignThread>>,
    /// Time that a hypervisor took from it, in millionths.
    pub stolen_ppm: Reading<u64>,
}

impl Facts {
    /// Reads the files below `root`, which is `/` for this machine. `cpu` is the one that real-time
    /// jobs are to have; by default the last one that the process may use. Never fails.
    #[must_use]
    pub fn read(root: &Path, cpu: Option<usize>) -> Self {
        let tree = Tree(root);
        let status = tree.parsed("proc/self/status", parse::status);
        let online = tree.parsed("sys/devices/system/cpu/online", parse::cpu_list);
        let last = |list: Option<&Vec<usize>>| list.and_then(|cpus| cpus.last().copied());
        let cpu = cpu
            .or_else(|| last(status.known().map(|status| &status.cpus)))
            .or_else(|| last(online.known()))
            .unwrap_or(0);
        let of_cpu = |rest: &str| format!("sys/devices/system/cpu/cpu{cpu}/{rest}");
        Self {
            program: (root == Path::new("/"))
                .then(|| std::env::current_exe().ok())
                .flatten(),
            release: tree.parsed("proc/sys/kernel/osrelease", parse::word),
            limits: tree.parsed("proc/self/limits", parse::limits),
            container: [".dockerenv", "run/.containerenv"]
                .iter()
                .any(|file| tree.path(file).exists()),
            rt_group: rights::rt_group(root),
            timer_slack: tree.parsed("proc/self/timerslack_ns", parse::number),
            perf_paranoid: tree.parsed("proc/sys/kernel/perf_event_paranoid", parse::number),
            preemption: preemption(&tree),
            throttling: throttling(&tree),
            clock_source: tree.parsed(
                "sys/devices/system/clocksource/clocksource0/current_clocksource",
                parse::word,
            ),
            hypervisor: tree.parsed("proc/cpuinfo", parse::hypervisor_flag),
            product: tree
                .parsed("sys/class/dmi/id/product_name", parse::line)
                .or(|| tree.parsed("sys/hypervisor/type", parse::line)),
            isolated: tree.parsed("sys/devices/system/cpu/isolated", parse::cpu_list),
            tickless: tree.parsed("sys/devices/system/cpu/nohz_full", parse::cpu_list),
            siblings: tree.parsed(&of_cpu("topology/thread_siblings_list"), parse::cpu_list),
            governor: tree.parsed(&of_cpu("cpufreq/scaling_governor"), parse::word),
            idle_states: idle_states(&tree, &of_cpu("cpuidle")),
            interrupts: interrupts(&tree, cpu),
            foreign: foreign(root, cpu),
            stolen_ppm: tree.parsed("proc/stat", |text| parse::stolen_ppm(text, cpu)),
            status,
            online,
            cpu,
        }
    }
}

impl<T> Reading<T> {
    /// The other one where this one says nothing; why not stays that of this one.
    fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self.value.is_ok() {
            return self;
        }
        let other = other();
        if other.value.is_ok() { other } else { self }
    }
}

/// Who else is in a real-time class on this CPU; elsewhere no process is this one.
fn foreign(root: &Path, cpu: usize) -> Option<Vec<ForeignThread>> {
    let own = (root == Path::new("/")).then(std::process::id);
    foreign::sees_others(root).then(|| foreign::scan(root, own.unwrap_or(0), cpu))
}

/// The files of one machine.
struct Tree<'a>(&'a Path);

impl Tree<'_> {
    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    fn text(&self, file: &str) -> Result<String, Unread> {
        let mut bytes = Vec::new();
        File::open(self.path(file))
            .and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes))
            .map_err(|error| {
                let absent = [ErrorKind::NotFound, ErrorKind::NotADirectory];
                if absent.contains(&error.kind()) {
                    Unread::Absent
                } else {
                    // The kernel has several ways of not answering.
                    Unread::Refused
                }
            })?;
        String::from_utf8(bytes).map_err(|_| Unread::Garbled)
    }

    fn parsed<T>(&self, file: &str, parse: impl FnOnce(&str) -> Option<T>) -> Reading<T> {
        let value = self
            .text(file)
            .and_then(|text| parse(&text).ok_or(Unread::Garbled));
        Reading {
            file: format!("/{file}"),
            value,
        }
    }

    /// The names in a directory; none if it cannot be listed.
    fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }
}

/// Where the model of preemption is said, the surest first.
fn preemption(tree: &Tree<'_>) -> Reading<Preemption> {
    let real_time = tree.parsed("sys/kernel/realtime", parse::number);
    if real_time.known() == Some(&1) {
        return Reading {
            file: real_time.file,
            value: Ok(Preemption::RealTime),
        };
    }
    let built = tree.parsed("proc/sys/kernel/version", parse::preemption_of_version);
    if built.known() != Some(&Preemption::Dynamic) {
        return built;
    }
    let release = tree.text("proc/sys/kernel/osrelease").unwrap_or_default();
    let configuration = format!("boot/config-{}", release.trim());
    tree.parsed("sys/kernel/debug/sched/preempt", parse::preemption_in_force)
        .or(|| tree.parsed("proc/cmdline", parse::preemption_of_command_line))
        .or(|| tree.parsed(&configuration, parse::preemption_of_configuration))
        .or(|| built)
}

fn throttling(tree: &Tree<'_>) -> Reading<Throttling> {
    let runtime = tree.parsed("proc/sys/kernel/sched_rt_runtime_us", parse::number);
    let period = tree.parsed("proc/sys/kernel/sched_rt_period_us", parse::number);
    let value = runtime.value.and_then(|runtime| {
        let period = period.value?;
        parse::throttling(runtime, period).ok_or(Unread::Garbled)
    });
    Reading {
        file: runtime.file,
        value,
    }
}

fn idle_states(tree: &Tree<'_>, folder: &str) -> Vec<IdleState> {
    let names = tree.names(folder).into_iter();
    let states = names.filter(|name| name.starts_with("state"));
    states
        .filter_map(|state| {
            let file = |rest: &str| format!("{folder}/{state}/{rest}");
            let disabled = tree.parsed(&file("disable"), parse::number);
            if disabled.known() == Some(&1) {
                return None;
            }
            let exit = tree.parsed(&file("latency"), parse::number);
            let name = tree.parsed(&file("name"), parse::line);
            Some(IdleState {
                name: name.value.unwrap_or(state),
                exit_us: u64::try_from(exit.value.ok()?).ok()?,
            })
        })
        .collect()
}

/// How many interrupts may be handled on `cpu`, and how many there are.
fn interrupts(tree: &Tree<'_>, cpu: usize) -> Option<(usize, usize)> {
    let (mut here, mut all) = (0, 0);
    for name in tree.names("proc/irq") {
        if name.parse::<u32>().is_err() {
            continue;
        }
        let list = |file: &str| tree.parsed(&format!("proc/irq/{name}/{file}"), parse::cpu_list);
        // Where they really go; empty for an interrupt that nobody uses.
        let cpus = list("effective_affinity_list").or(|| list("smp_affinity_list"));
        let Ok(cpus) = cpus.value else {
            continue;
        };
        all += 1;
        here += usize::from(cpus.contains(&cpu));
    }
    (all > 0).then_some((here, all))
}

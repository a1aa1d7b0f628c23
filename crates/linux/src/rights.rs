//! What this process may do on this machine, and whether that is enough for a run.
//!
//! [`Rights::probe`] looks, [`judge`] decides. The decision is a pure function of the two
//! snapshots, so that every refusal is tested without giving up any right.

use crate::sys;
use crate::sys::Processor;
use crate::sys::capability::CAP_SYS_NICE;
use std::fmt;
use std::fs;
use std::path::Path;
use vestal_core::CpuId;

/// The part of a second, as the kernel's RT throttling counts, that real-time threads may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttling {
    /// Microseconds of each period; negative: no throttling.
    pub runtime_us: i64,
    /// The period in microseconds.
    pub period_us: u64,
}

/// What the process may do, and the machine can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// CAP_SYS_NICE is effective.
    pub cap_sys_nice: bool,
    /// CAP_IPC_LOCK is effective.
    pub cap_ipc_lock: bool,
    /// RLIMIT_RTPRIO; `None`: unlimited.
    pub priority_limit: Option<u64>,
    /// RLIMIT_MEMLOCK in bytes; `None`: unlimited.
    pub memory_lock_limit: Option<u64>,
    /// The process's address space in bytes, which is what a memory lock counts.
    pub address_space: u64,
    /// A trial thread was let into SCHED_FIFO.
    pub fifo_granted: bool,
    /// `cpu.rt_runtime_us` of the process's control group and where it was read, on kernels with RT
    /// group scheduling.
    pub rt_group: Option<(String, i64)>,
    /// The system's RT throttling.
    pub throttling: Throttling,
    /// `perf_event_open` gave a task-clock counter.
    pub perf: bool,
    /// The CPUs of the machine that the process may use, ascending.
    pub processors: Vec<Processor>,
}

/// What a run asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// For each CPU of the set.
    pub cpus: Vec<CpuNeeds>,
    /// Bytes to lock beyond the present address space; `None`: memory is not locked.
    pub locked_bytes: Option<u64>,
    /// How far to stay below RT throttling, in millionths.
    pub margin_ppm: u64,
}

/// What a CPU of the set asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuNeeds {
    /// The CPU of the machine, if a certain one is wanted.
    pub processor: Option<Processor>,
    /// The highest SCHED_FIFO priority.
    pub priority: u8,
    /// The share of the CPU that jobs may use before enforcement takes them out of the real-time
    /// class, in millionths.
    pub utilization_ppm: u64,
}

/// One reason why the machine cannot do it. Each has a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Neither CAP_SYS_NICE nor a sufficient RLIMIT_RTPRIO.
    NoRealTimePriority {
        /// The priority asked for.
        needed: u8,
        /// The RLIMIT_RTPRIO found.
        limit: u64,
    },
    /// The control group has no real-time runtime.
    RtGroupWithoutRuntime {
        /// The file that says so.
        file: String,
    },
    /// SCHED_FIFO is refused although capability, limit and control group allow it.
    FifoForbidden,
    /// Memory cannot be locked.
    NoMemoryLock {
        /// Bytes asked for.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The CPU of the machine that was asked for is not among the allowed ones.
    CpuNotAllowed {
        /// For which CPU of the set; `None` if that has one only.
        cpu: Option<CpuId>,
        /// The CPU asked for.
        processor: Processor,
        /// The allowed ones.
        allowed: Vec<Processor>,
    },
    /// The process may use fewer CPUs of the machine than the set has, and it was not said which of them share one.
    TooFewCpus {
        /// How many are left to choose for.
        needed: usize,
        /// Those that may be chosen.
        allowed: Vec<Processor>,
    },
    /// No CPU of the machine is left for a dispatcher of its own.
    NoCpuForDispatcher {
        /// The one asked for.
        wanted: Option<Processor>,
        /// Those that the process may use and no CPU of the set has.
        free: Vec<Processor>,
    },
    /// RT throttling would stall the tasks on one CPU of the machine.
    Throttled {
        /// Which CPUs of the set run there; empty if the set has one only.
        cpus: Vec<CpuId>,
        /// The CPU of the machine, if that is known.
        processor: Option<Processor>,
        /// What their tasks may use, in millionths of the CPU.
        utilization_ppm: u64,
        /// What it could use, in millionths.
        allowed_ppm: u64,
        /// The throttling found.
        throttling: Throttling,
    },
}

impl Refusal {
    /// The command, or change, that mends it for the program that runs.
    #[must_use]
    pub fn remedy(&self) -> String {
        self.remedy_for(std::env::current_exe().ok().as_deref())
    }

    /// The command, or change, that mends it for `program`; `None`: for one whose path is not known.
    #[must_use]
    pub fn remedy_for(&self, program: Option<&Path>) -> String {
        match self {
            Self::NoRealTimePriority { needed, .. } => format!(
                "{}   (who may execute it has the right, so GROUP alone; or, as root: ulimit -r {needed}; for good: \"@realtime - rtprio {needed}\" in /etc/security/limits.conf)",
                setcap(program)
            ),
            Self::RtGroupWithoutRuntime { file } => {
                format!("echo 950000 | sudo tee {file}   (its parents need as much)")
            }
            Self::FifoForbidden => {
                "run it outside the sandbox or container (docker: --cap-add SYS_NICE --security-opt seccomp=unconfined)"
                    .to_owned()
            }
            Self::NoMemoryLock { needed, .. } => format!(
                "{}   (who may execute it has the right, so GROUP alone; or, as root: ulimit -l {})",
                setcap(program),
                needed.div_ceil(1024)
            ),
            Self::CpuNotAllowed { allowed, .. } => {
                format!("--cpus with one of [{}], or taskset -c to allow more", list(allowed))
            }
            Self::TooFewCpus { needed, allowed } => match allowed.as_slice() {
                [] => "taskset -c to allow more".to_owned(),
                some => {
                    let entries = some.iter().cycle().take(*needed);
                    let entries: Vec<String> = entries.map(Processor::to_string).collect();
                    format!(
                        "--cpus with an entry for each CPU of the set, of which some repeat, for instance --cpus {}; or taskset -c to allow more",
                        entries.join(",")
                    )
                }
            },
            Self::NoCpuForDispatcher { free, .. } => match free.as_slice() {
                [] => "--set dispatcher=shared, a --cpus whose entries repeat, or taskset -c to allow more".to_owned(),
                some => format!("--set dispatcher=shared, or --cpus with one of [{}] as its last entry", list(some)),
            },
            Self::Throttled { throttling, .. } if throttling.runtime_us == 0 => {
                "echo 950000 | sudo tee /proc/sys/kernel/sched_rt_runtime_us".to_owned()
            }
            Self::Throttled { .. } => {
                "shorten execution times, lengthen periods, or move tasks to another CPU; raising /proc/sys/kernel/sched_rt_runtime_us takes from the system what it needs to stay reachable"
                    .to_owned()
            }
        }
    }
}

/// The commands that give `program`, the one that runs, its capabilities, and those alone who are to have them: everyone
/// who may execute it has real-time priorities then. Another group takes capabilities away, so it comes first. The program
/// need not be in the search path, nor be called `vestal`.
fn setcap(program: Option<&Path>) -> String {
    let program = program.map_or_else(
        || "PROGRAM".to_owned(),
        |path| format!("'{}'", path.display().to_string().replace('\'', "'\\''")),
    );
    format!(
        "sudo chgrp GROUP {program} && sudo chmod 750 {program} && sudo setcap cap_sys_nice,cap_ipc_lock+ep {program}"
    )
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |ppm: u64| ppm as f64 / 10_000.0;
        match self {
            Self::NoRealTimePriority { needed, limit } => write!(
                f,
                "no right to SCHED_FIFO priority {needed}: CAP_SYS_NICE is missing and RLIMIT_RTPRIO is {limit}"
            ),
            Self::RtGroupWithoutRuntime { file } => write!(
                f,
                "RT group scheduling gives this control group no real-time runtime: {file} is 0"
            ),
            Self::FifoForbidden => f.write_str(
                "SCHED_FIFO is refused although CAP_SYS_NICE or RLIMIT_RTPRIO allows it: a seccomp filter, a user namespace, or an RT control group without runtime",
            ),
            Self::NoMemoryLock { needed, limit } => write!(
                f,
                "no right to lock memory: CAP_IPC_LOCK is missing and RLIMIT_MEMLOCK is {} KiB where {} KiB are needed",
                limit / 1024,
                needed.div_ceil(1024)
            ),
            Self::CpuNotAllowed {
                cpu,
                processor,
                allowed,
            } => {
                let allowed = list(allowed);
                write!(f, "CPU {processor} is not among the CPUs of this process: [{allowed}]")?;
                match cpu {
                    Some(CpuId(cpu)) => write!(f, " (asked for CPU {cpu} of the set)"),
                    None => Ok(()),
                }
            }
            Self::TooFewCpus { needed, allowed } => write!(
                f,
                "the set has {needed} CPUs to choose for, and this process may use {} other CPUs of the machine: [{}]",
                allowed.len(),
                list(allowed)
            ),
            Self::NoCpuForDispatcher { wanted: None, .. } => f.write_str(
                "no CPU is left for a dispatcher of its own: the CPUs of the set have all that this process may use",
            ),
            Self::NoCpuForDispatcher { wanted: Some(wanted), free } => write!(
                f,
                "CPU {wanted} cannot be a dispatcher's own: those that this process may use beside the workers' are [{}]",
                list(free)
            ),
            Self::Throttled {
                cpus,
                processor,
                utilization_ppm,
                allowed_ppm,
                throttling,
            } => {
                let (runtime, period) = (throttling.runtime_us, throttling.period_us);
                let (may, at_most) = (percent(*utilization_ppm), percent(*allowed_ppm));
                write!(f, "RT throttling ({runtime} of {period} us) would stall the tasks")?;
                let numbers: Vec<String> = cpus.iter().map(|cpu| cpu.0.to_string()).collect();
                match (numbers.as_slice(), processor) {
                    ([], _) => Ok(()),
                    (some, None) => write!(f, " of CPU {} of the set", some.join(", ")),
                    ([one], Some(on)) => write!(f, " of CPU {one} of the set, on CPU {on}"),
                    (some, Some(on)) => {
                        write!(f, " of CPUs {} of the set, together on CPU {on}", some.join(", "))
                    }
                }?;
                write!(
                    f,
                    ": they may use {may:.1} % of the CPU, at most {at_most:.1} % leave it a margin"
                )
            }
        }
    }
}

/// Numbers for people.
fn list(processors: &[Processor]) -> String {
    let numbers: Vec<String> = processors.iter().map(Processor::to_string).collect();
    numbers.join(", ")
}

/// The reasons, if any, why `rights` do not cover `needs`.
#[must_use]
pub fn judge(rights: &Rights, needs: &Needs) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let limit = rights.priority_limit.unwrap_or(u64::MAX);
    let priorities = needs.cpus.iter().map(|cpu| cpu.priority);
    let needed = priorities.max().unwrap_or(0);
    let may_prioritize = rights.cap_sys_nice || limit >= u64::from(needed);
    if !may_prioritize {
        refusals.push(Refusal::NoRealTimePriority { needed, limit });
    }
    match &rights.rt_group {
        Some((file, 0)) => refusals.push(Refusal::RtGroupWithoutRuntime { file: file.clone() }),
        Some(_) | None if may_prioritize && !rights.fifo_granted => {
            refusals.push(Refusal::FifoForbidden);
        }
        Some(_) | None => {}
    }
    if let (Some(more), false, Some(limit)) = (
        needs.locked_bytes,
        rights.cap_ipc_lock,
        rights.memory_lock_limit,
    ) {
        let needed = rights.address_space.saturating_add(more);
        if limit < needed {
            refusals.push(Refusal::NoMemoryLock { needed, limit });
        }
    }
    refusals.extend(not_allowed(rights, needs));
    let (places, too_few) = place(rights, needs);
    refusals.extend(too_few);
    refusals.extend(throttled(rights, needs, &places));
    refusals
}

/// The CPUs of the set that want a processor which the process may not use.
fn not_allowed(rights: &Rights, needs: &Needs) -> Vec<Refusal> {
    let wanted = (0..).map(CpuId).zip(&needs.cpus);
    let wanted = wanted.filter_map(|(cpu, needs)| Some((cpu, needs.processor?)));
    let refused = wanted.filter(|(_, processor)| !rights.processors.contains(processor));
    let refusals = refused.map(|(cpu, processor)| Refusal::CpuNotAllowed {
        cpu: (needs.cpus.len() > 1).then_some(cpu),
        processor,
        allowed: rights.processors.clone(),
    });
    refusals.collect()
}

/// Where each CPU of the set runs: on the processor that it wants, else on one of the last that no other wants, in
/// ascending order. Without enough of them who wants none has none.
fn place(rights: &Rights, needs: &Needs) -> (Vec<Option<Processor>>, Option<Refusal>) {
    let wanted = |processor| {
        needs
            .cpus
            .iter()
            .any(|cpu| cpu.processor == Some(processor))
    };
    let free = rights.processors.iter().copied();
    let free: Vec<Processor> = free.filter(|&processor| !wanted(processor)).collect();
    let open = needs.cpus.iter().filter(|cpu| cpu.processor.is_none());
    let needed = open.count();
    let first = free.len().checked_sub(needed).unwrap_or(free.len());
    let mut last = free.iter().skip(first);
    let of = |cpu: &CpuNeeds| cpu.processor.or_else(|| last.next().copied());
    let places = needs.cpus.iter().map(of).collect();
    let too_few = (needed > free.len()).then(|| Refusal::TooFewCpus {
        needed,
        allowed: free.clone(),
    });
    (places, too_few)
}

/// The processors on which the tasks of all CPUs of the set together use more than RT throttling allows; a CPU without
/// a place counts alone.
fn throttled(rights: &Rights, needs: &Needs, places: &[Option<Processor>]) -> Vec<Refusal> {
    let allowed_ppm = allowed_share_ppm(rights.throttling).saturating_sub(needs.margin_ppm);
    let mut on: Vec<(Option<Processor>, Vec<CpuId>, u64)> = Vec::new();
    for ((&place, cpu), needs) in places.iter().zip((0..).map(CpuId)).zip(&needs.cpus) {
        let known = on
            .iter_mut()
            .find(|(processor, ..)| place.is_some() && *processor == place);
        match known {
            Some((_, cpus, sum)) => {
                cpus.push(cpu);
                *sum = sum.saturating_add(needs.utilization_ppm);
            }
            None => on.push((place, vec![cpu], needs.utilization_ppm)),
        }
    }
    let is_alone = needs.cpus.len() == 1;
    let beyond = on.into_iter().filter(|&(_, _, sum)| sum > allowed_ppm);
    let refusals = beyond.map(|(processor, cpus, utilization_ppm)| Refusal::Throttled {
        cpus: if is_alone { Vec::new() } else { cpus },
        processor,
        utilization_ppm,
        allowed_ppm,
        throttling: rights.throttling,
    });
    refusals.collect()
}

impl Rights {
    /// The processor of each CPU of the set: that asked for, else the last ones that the process may use, in ascending
    /// order.
    pub(crate) fn processors_for(&self, needs: &Needs) -> Result<Vec<Processor>, Vec<Refusal>> {
        let refusals = judge(self, needs);
        let places: Option<Vec<Processor>> = place(self, needs).0.into_iter().collect();
        match places {
            Some(places) if refusals.is_empty() => Ok(places),
            // Without a place there is a refusal.
            Some(_) | None => Err(refusals),
        }
    }
}

/// What RT throttling leaves to real-time threads, in millionths of a CPU.
fn allowed_share_ppm(throttling: Throttling) -> u64 {
    match u64::try_from(throttling.runtime_us) {
        Ok(runtime) => runtime
            .saturating_mul(1_000_000)
            .checked_div(throttling.period_us)
            .unwrap_or(0)
            .min(1_000_000),
        Err(_) => 1_000_000,
    }
}

impl Rights {
    /// Looks at the process and the machine. Never fails: what cannot be read counts as not there.
    #[must_use]
    pub fn probe() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .map(str::trim)
        };
        let capabilities = field("CapEff:")
            .and_then(|hex| u64::from_str_radix(hex, 16).ok())
            .unwrap_or_default();
        let address_space = field("VmSize:")
            .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
            .unwrap_or_default()
            .saturating_mul(1024);
        let (fifo_granted, perf) = try_in_a_thread();
        Self {
            cap_sys_nice: capabilities & (1 << CAP_SYS_NICE) != 0,
            cap_ipc_lock: capabilities & (1 << CAP_IPC_LOCK) != 0,
            priority_limit: sys::sched::priority_limit(),
            memory_lock_limit: sys::sched::memory_lock_limit(),
            address_space,
            fifo_granted,
            rt_group: rt_group(Path::new("/")),
            throttling: Throttling {
                runtime_us: number("/proc/sys/kernel/sched_rt_runtime_us").unwrap_or(-1),
                period_us: number("/proc/sys/kernel/sched_rt_period_us")
                    .and_then(|period| u64::try_from(period).ok())
                    .unwrap_or(1_000_000),
            },
            perf,
            processors: sys::sched::affinity()
                .unwrap_or_default()
                .into_iter()
                .map(Processor)
                .collect(),
        }
    }
}

// From linux/capability.h.
pub(crate) const CAP_IPC_LOCK: u32 = 14;

/// Whether a thread gets into SCHED_FIFO, and a task-clock counter. A thread of its own tries, so
/// that the caller's class stays what it is.
fn try_in_a_thread() -> (bool, bool) {
    std::thread::spawn(|| {
        let tid = sys::sched::own_tid();
        let perf = sys::perf::TaskClock::of_this_thread(tid).is_ok();
        let fifo = sys::sched::set_fifo(tid, 1).is_ok();
        // The thread ends here in any case.
        let _ = sys::sched::set_other(tid);
        (fifo, perf)
    })
    .join()
    .unwrap_or((false, false))
}

fn number(path: impl AsRef<Path>) -> Option<i64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The real-time runtime of the process's control group. Only the first version of control groups
/// has one per group. The files are below `root`, and named as if that were `/`.
pub(crate) fn rt_group(root: &Path) -> Option<(String, i64)> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let path = cpu_group_path(&groups)?.trim_end_matches('/');
    ["cpu", "cpu,cpuacct"].iter().find_map(|mount| {
        let file = format!("sys/fs/cgroup/{mount}{path}/cpu.rt_runtime_us");
        let runtime = number(root.join(&file))?;
        Some((format!("/{file}"), runtime))
    })
}

fn cpu_group_path(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        controllers
            .split(',')
            .any(|name| name == "cpu")
            .then_some(path)
    })
}

#[cfg(test)]
#[path = "rights_tests.rs"]
mod tests;

//! What this process may do on this machine, and whether that is enough for a run.
//!
//! [`Rights::probe`] looks, [`judge`] decides. The decision is a pure function of the two
//! snapshots, so that every refusal is tested without giving up any right.

use crate::sys;
use crate::sys::capability::CAP_SYS_NICE;
use std::fmt;
use std::fs;
use std::path::Path;

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
    /// The CPUs the process may use, ascending.
    pub cpus: Vec<usize>,
}

/// What a run asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The highest SCHED_FIFO priority.
    pub priority: u8,
    /// The CPU, if a certain one is wanted.
    pub cpu: Option<usize>,
    /// Bytes to lock beyond the present address space; `None`: memory is not locked.
    pub locked_bytes: Option<u64>,
    /// The share of the CPU that jobs may use before enforcement takes them out of the real-time
    /// class, in millionths.
    pub utilization_ppm: u64,
    /// How far to stay below RT throttling, in millionths.
    pub margin_ppm: u64,
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
    /// The CPU asked for is not among the allowed ones.
    CpuNotAllowed {
        /// The CPU asked for.
        cpu: usize,
        /// The allowed ones.
        allowed: Vec<usize>,
    },
    /// RT throttling would stall the set.
    Throttled {
        /// What the set may use, in millionths of the CPU.
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
                "{}   (or, as root: ulimit -r {needed}; for good: \"@realtime - rtprio {needed}\" in /etc/security/limits.conf)",
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
                "{}   (or, as root: ulimit -l {})",
                setcap(program),
                needed.div_ceil(1024)
            ),
            Self::CpuNotAllowed { allowed, .. } => {
                format!("--cpus with one of {allowed:?}, or taskset -c to allow more")
            }
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

/// The command that gives `program`, the one that runs, its capabilities. It need not be in the
/// search path, nor be called `vestal`.
fn setcap(program: Option<&Path>) -> String {
    let program = program.map_or_else(
        || "PROGRAM".to_owned(),
        |path| format!("'{}'", path.display().to_string().replace('\'', "'\\''")),
    );
    format!("sudo setcap cap_sys_nice,cap_ipc_lock+ep {program}")
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
            Self::CpuNotAllowed { cpu, allowed } => {
                write!(f, "CPU {cpu} is not among the CPUs of this process: {allowed:?}")
            }
            Self::Throttled {
                utilization_ppm,
                allowed_ppm,
                throttling,
            } => write!(
                f,
                "RT throttling ({} of {} us) would stall the tasks: they may use {:.1} % of the CPU, at most {:.1} % leave it a margin",
                throttling.runtime_us,
                throttling.period_us,
                percent(*utilization_ppm),
                percent(*allowed_ppm)
            ),
        }
    }
}

/// The reasons, if any, why `rights` do not cover `needs`.
#[must_use]
pub fn judge(rights: &Rights, needs: &Needs) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let limit = rights.priority_limit.unwrap_or(u64::MAX);
    let may_prioritize = rights.cap_sys_nice || limit >= u64::from(needs.priority);
    if !may_prioritize {
        refusals.push(Refusal::NoRealTimePriority {
            needed: needs.priority,
            limit,
        });
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
    if let Some(cpu) = needs.cpu
        && !rights.cpus.contains(&cpu)
    {
        refusals.push(Refusal::CpuNotAllowed {
            cpu,
            allowed: rights.cpus.clone(),
        });
    }
    let allowed_ppm = allowed_share_ppm(rights.throttling).saturating_sub(needs.margin_ppm);
    if needs.utilization_ppm > allowed_ppm {
        refusals.push(Refusal::Throttled {
            utilization_ppm: needs.utilization_ppm,
            allowed_ppm,
            throttling: rights.throttling,
        });
    }
    refusals
}

impl Rights {
    /// The CPU for `needs`: that asked for, or the last one that the process may use.
    pub(crate) fn cpu_for(&self, needs: &Needs) -> Result<usize, Vec<Refusal>> {
        let mut refusals = judge(self, needs);
        match needs.cpu.or_else(|| self.cpus.last().copied()) {
            Some(cpu) if refusals.is_empty() => return Ok(cpu),
            None if refusals.is_empty() => refusals.push(Refusal::CpuNotAllowed {
                cpu: 0,
                allowed: Vec::new(),
            }),
            Some(_) | None => {}
        }
        Err(refusals)
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
            cpus: sys::sched::affinity().unwrap_or_default(),
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

//! What this process may do.

use super::{Check, Says};
use crate::doctor::{Basis, Facts, Finding, Probes, Section, State};
use crate::rights::{CAP_IPC_LOCK, Refusal};
use crate::sys::capability::CAP_SYS_NICE;

/// The least that a run needs: manager, watchdog, running and suspended workers (managed dispatch).
const PRIORITY_MIN: u64 = 4;
/// Beyond this no run asks.
const PRIORITY_MAX: u64 = 99;
/// What a run of ten tasks locks beside the present address space: stacks, records, and what it
/// allocates.
const LOCKED_BYTES: u64 = 34 << 20;

const fn check(check: &'static str, title: &'static str, meaning: &'static str) -> Check {
    Check::new(Section::Process, check, title, meaning)
}

pub(super) fn findings(facts: &Facts, probes: Option<&Probes>) -> Vec<Finding> {
    let mut findings = vec![
        priorities(facts, probes),
        memory_lock(facts),
        perf(facts, probes),
        cpus(facts),
        timer_slack(facts),
    ];
    if facts.container {
        findings.push(container());
    }
    findings
}

fn capable(facts: &Facts, capability: u32) -> Option<bool> {
    let status = facts.status.known()?;
    Some(status.capabilities & (1 << capability) != 0)
}

fn priorities(facts: &Facts, probes: Option<&Probes>) -> Finding {
    const MEANING: &str = "real-time threads preempt everything else; without the right there is no \
                           `vestal run`";
    let check = check("sched-fifo", "right to SCHED_FIFO", MEANING).required();
    let limit = facts
        .limits
        .known()
        .map(|limits| limits.priority.unwrap_or(PRIORITY_MAX));
    let reported = match (capable(facts, CAP_SYS_NICE), limit) {
        (Some(true), _) => Some(Ok("CAP_SYS_NICE".to_owned())),
        (_, Some(limit)) if limit >= PRIORITY_MIN => Some(Ok(format!("RLIMIT_RTPRIO {limit}"))),
        (Some(false), Some(limit)) => Some(Err(limit)),
        (None, _) | (_, None) => None,
    };
    let source = match reported {
        Some(Ok(_)) if capable(facts, CAP_SYS_NICE) == Some(true) => &facts.status.file,
        _ => &facts.limits.file,
    };
    let trial = probes.map(|probes| probes.fifo);
    let trial_source = "sched_setscheduler of a trial thread";
    match (reported, trial) {
        (Some(Err(limit)), None | Some(false)) => {
            let refusal = Refusal::NoRealTimePriority {
                needed: u8::try_from(PRIORITY_MAX).unwrap_or(u8::MAX),
                limit,
            };
            let found = format!("neither CAP_SYS_NICE nor RLIMIT_RTPRIO, which is {limit}");
            let says = Says::bad(
                State::Missing,
                found,
                refusal.remedy_for(facts.program.as_deref()),
            );
            check.says(Basis::Read, source, says)
        }
        (_, Some(true)) => {
            let says = Says::good("a trial thread was let in");
            check.says(Basis::Tried, trial_source, says)
        }
        (reported, Some(false)) => {
            let found = match reported {
                Some(Ok(right)) => format!("refused in spite of {right}"),
                Some(Err(_)) | None => "refused".to_owned(),
            };
            let remedy = Refusal::FifoForbidden.remedy();
            let says = Says::bad(State::Missing, found, remedy);
            check.says(Basis::Tried, trial_source, says)
        }
        (Some(Ok(right)), None) => check.says(Basis::Read, source, Says::good(right)),
        (None, None) => check.reads(&facts.status, |_| {
            Says::unknown(format!("not known: {} says nothing", facts.limits.file))
        }),
    }
}

fn memory_lock(facts: &Facts) -> Finding {
    const MEANING: &str = "a run locks its memory, so that no job waits for a page from the disk; \
                           without the right there is no `vestal run`";
    let check = check("memory-lock", "right to lock memory", MEANING).required();
    if capable(facts, CAP_IPC_LOCK) == Some(true) {
        let says = Says::good("CAP_IPC_LOCK");
        return check.says(Basis::Read, &facts.status.file, says);
    }
    let address_space = facts
        .status
        .known()
        .map_or(0, |status| status.address_space);
    let needed = address_space.saturating_add(LOCKED_BYTES);
    check.reads(&facts.limits, |limits| match limits.locked_bytes {
        None => Says::good("RLIMIT_MEMLOCK is unlimited"),
        Some(limit) if limit >= needed => {
            Says::good(format!("RLIMIT_MEMLOCK is {} MiB", limit >> 20))
        }
        Some(limit) => Says::bad(
            State::Missing,
            format!(
                "no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is {} KiB; a run of ten tasks locks {} KiB",
                limit >> 10,
                needed >> 10
            ),
            Refusal::NoMemoryLock { needed, limit }.remedy_for(facts.program.as_deref()),
        ),
    })
}

fn perf(facts: &Facts, probes: Option<&Probes>) -> Finding {
    const MEANING: &str = "the monitor `perf` watches budgets without waking anybody; without it the \
                           monitor `manager` does, which wakes for every budget";
    const REMEDY: &str = "sudo sysctl kernel.perf_event_paranoid=1   (or give the program, \
                          which GROUP alone may execute, CAP_PERFMON: chgrp GROUP, chmod 750, setcap \
                          cap_perfmon,cap_sys_nice,cap_ipc_lock+ep)";
    let check = check("perf-events", "perf events", MEANING);
    match probes.map(|probes| probes.perf) {
        Some(true) => {
            let says = Says::good("a task-clock counter was given");
            check.says(Basis::Tried, "perf_event_open", says)
        }
        Some(false) => {
            let found = match facts.perf_paranoid.known() {
                Some(level) => format!("refused; kernel.perf_event_paranoid is {level}"),
                None => "refused".to_owned(),
            };
            let says = Says::bad(State::Note, found, REMEDY);
            check.says(Basis::Tried, "perf_event_open", says)
        }
        None => check.reads(&facts.perf_paranoid, |&level| {
            let found = format!("kernel.perf_event_paranoid is {level}");
            if level <= 1 {
                Says::good(found)
            } else {
                let found = format!("{found}: only with CAP_PERFMON");
                Says::bad(State::Note, found, REMEDY)
            }
        }),
    }
}

fn cpus(facts: &Facts) -> Finding {
    const MEANING: &str = "with a second CPU the watchdog and everything else stay away from the \
                           real-time one";
    let check = check("allowed-cpus", "CPUs of this process", MEANING).required();
    check.reads(&facts.status, |status| {
        let found = format!(
            "{} of them: {}",
            status.cpus.len(),
            super::list(&status.cpus)
        );
        if status.cpus.len() > 1 && status.cpus.contains(&facts.cpu) {
            return Says::good(found);
        }
        let remedy =
            "allow it more CPUs: taskset -c, the cpuset of its control group, or a larger machine";
        if status.cpus.contains(&facts.cpu) {
            Says::bad(State::Matters, found, remedy)
        } else {
            let found = format!("{found}; CPU {} is not among them", facts.cpu);
            Says::bad(State::Missing, found, remedy)
                .which_means("a run can only have an allowed CPU")
        }
    })
}

fn timer_slack(facts: &Facts) -> Finding {
    const MEANING: &str = "timers of threads outside the real-time class may fire that much later; \
                           those of real-time threads may not";
    const USUAL_NANOS: i64 = 50_000;
    check("timer-slack", "timer slack", MEANING).reads(&facts.timer_slack, |&nanos| {
        let found = format!("{} us", nanos.max(0) / 1_000);
        if nanos <= USUAL_NANOS {
            Says::good(found)
        } else {
            let remedy =
                "start from a process with the usual 50 us, or systemd-run -p TimerSlackNSec=50us";
            Says::bad(State::Note, found, remedy)
        }
    })
}

fn container() -> Finding {
    const MEANING: &str = "its rights and CPUs are those that the container was given, and may be fewer than \
                           those of the machine";
    let remedy =
        "docker run --cap-add SYS_NICE --cap-add IPC_LOCK --cap-add PERFMON --ulimit rtprio=99";
    let check = check("container", "in a container", MEANING);
    let says = Says::bad(State::Note, "yes", remedy);
    check.says(Basis::Read, "/.dockerenv, /run/.containerenv", says)
}

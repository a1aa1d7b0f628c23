//! What was measured.

use super::{Check, Says, percent};
use crate::arming::MonitorChoice;
use crate::config::{TOLERANCE_MAX, TOLERANCE_MIN};
use crate::doctor::{
    Basis, BudgetProbe, Finding, GapProbe, Outcome, Probes, Section, State, WakeUpProbe,
};
use crate::monitor::Monitor;
use vestal_statistics::Summary;

/// Wake-ups later than this cost a task with a period of 10 ms a fiftieth of it.
const LATE_NANOS_GOOD: u64 = 200_000;
/// From here on they cost a tenth.
const LATE_NANOS_MATTERS: u64 = 1_000_000;
/// Gaps are counted from the lateness on that wake-ups are judged by.
const GAP_NANOS_GOOD: u64 = 200_000;
const GAP_NANOS_MATTERS: u64 = 1_000_000;
/// A machine that is away for a hundredth of the time uses up budgets that have such a margin.
const GONE_PPM_MATTERS: u64 = 10_000;

const fn check(check: &'static str, title: &'static str, meaning: &'static str) -> Check {
    Check::new(Section::Measured, check, title, meaning)
}

pub(super) fn findings(probes: &Probes) -> Vec<Finding> {
    let mut findings = vec![wake_ups(&probes.wake_up), gaps(&probes.gaps)];
    findings.extend(probes.budgets.iter().map(budget));
    findings.push(monitor(&probes.monitor));
    findings
}

/// A finding of something measured, or why it was not measured.
fn measured<T>(
    check: Check,
    source: &str,
    outcome: &Outcome<T>,
    judge: impl FnOnce(&T) -> Says,
) -> Finding {
    let says = match outcome {
        Ok(value) => judge(value),
        Err(why) => Says::unknown(format!("not measured: {why}")),
    };
    check.says(Basis::Measured, source, says)
}

/// Nanoseconds for people.
fn in_us(found: &Summary) -> String {
    format!(
        "{} us in the median, {} in the 99th percentile, {} at most, of {}",
        found.median / 1_000,
        found.p99 / 1_000,
        found.max / 1_000,
        found.count
    )
}

fn wake_ups(outcome: &Outcome<WakeUpProbe>) -> Finding {
    const MEANING: &str = "by how much a thread wakes late that sleeps until an instant: so much later \
                           do jobs begin";
    let check = check("wake-up", "lateness of wake-ups", MEANING);
    let source = "sleeps of 1 ms until an absolute instant";
    measured(check, source, outcome, |probe| {
        let found = in_us(&probe.lateness);
        if !probe.real_time {
            let says = Says {
                state: State::Note,
                ..Says::good(format!("{found}, as an ordinary thread"))
            };
            return says.which_means("real-time threads wake earlier than that; they were refused");
        }
        match probe.lateness.p99 {
            0..=LATE_NANOS_GOOD => Says::good(found),
            p99 => Says::bad(
                if p99 < LATE_NANOS_MATTERS {
                    State::Note
                } else {
                    State::Matters
                },
                found,
                "what stands above about the kernel and the CPU; and see whether other real-time \
                 threads run there: ps -eLo pid,cls,rtprio,psr,comm | grep -E 'FF|RR'",
            ),
        }
    })
}

fn gaps(outcome: &Outcome<GapProbe>) -> Finding {
    const MEANING: &str = "the CPU was taken from a real-time thread that never waits: interrupts, \
                           firmware or a hypervisor; `run` reports the same as gaps";
    let check = check("gaps", "gaps", MEANING);
    let source = "a thread that reads the clock all the time";
    measured(check, source, outcome, |probe| {
        let (gaps, observed) = (&probe.gaps, probe.observed_nanos.max(1));
        let gone = u128::from(gaps.sum) * 1_000_000 / u128::from(observed);
        let gone_ppm = u64::try_from(gone).unwrap_or(u64::MAX);
        let found = format!(
            "{} of 20 us and more in {} ms, {} us at the longest, {} of the time",
            gaps.count,
            observed / 1_000_000,
            gaps.max / 1_000,
            percent(gone_ppm)
        );
        if gaps.max <= GAP_NANOS_GOOD && gone_ppm < GONE_PPM_MATTERS {
            return Says::good(found);
        }
        let state = if gaps.max < GAP_NANOS_MATTERS && gone_ppm < GONE_PPM_MATTERS {
            State::Note
        } else {
            State::Matters
        };
        let remedy = "what stands above about virtual machines and interrupts; on bare metal firmware \
                      (SMI): the kernel's hwlat tracer finds it";
        Says::bad(state, found, remedy)
    })
}

/// Neither is good or bad: it says what a run takes.
fn monitor(outcome: &Outcome<MonitorChoice>) -> Finding {
    const MEANING: &str = "what a job pays for having its budget watched, mostly for setting the CPU's timer twice; the \
                           cheaper monitor is what `run` takes if nobody asks for one";
    let check = check("monitor", "monitor by default", MEANING);
    let source = "monitors armed for 0.5 ms and disarmed, after sleeps of 0.3 ms";
    measured(check, source, outcome, |choice| {
        let each = choice.tried.iter().map(|cost| {
            format!(
                "{} takes {} us a job, {} behind an earlier timer",
                cost.monitor.name(),
                tenths(cost.next.median),
                tenths(cost.behind.median)
            )
        });
        let each: Vec<String> = each.collect();
        Says::good(format!("{}: {}", choice.monitor().name(), each.join("; ")))
    })
}

/// Microseconds with one digit behind the point.
fn tenths(nanos: u64) -> String {
    let tenths = nanos.div_ceil(100);
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn budget(probe: &BudgetProbe) -> Finding {
    const MEANING: &str = "by how much a thread had exceeded its budget of execution when that was \
                           noticed; `run` tolerates as much, between 50 and 250 us, before it counts";
    let check = match probe.monitor {
        Monitor::Perf => check("budget-perf", "budgets monitored by perf", MEANING),
        Monitor::Manager | Monitor::Remainder | Monitor::Heartbeat | Monitor::PosixTimer => {
            check("budget-manager", "budgets monitored by manager", MEANING)
        }
    };
    let source = "budgets of 1.3 ms of a thread that never waits";
    measured(check, source, &probe.overshoot, |overshoot| {
        let found = format!("exceeded by {}", in_us(overshoot));
        let remedy = "what stands above; and in the task set, budgets that are long beside that";
        match overshoot.p99 {
            p99 if p99 <= TOLERANCE_MIN.as_nanos() => Says::good(found),
            p99 if p99 <= TOLERANCE_MAX.as_nanos() => Says::bad(State::Note, found, remedy),
            _ => Says::bad(State::Matters, found, remedy),
        }
    })
}

//! The kernel and its settings.

use super::{Check, Says};
use crate::doctor::parse::Preemption;
use crate::doctor::{Basis, Facts, Finding, Section, State};
use crate::rights::{Refusal, Throttling};

const fn check(check: &'static str, title: &'static str, meaning: &'static str) -> Check {
    Check::new(Section::Kernel, check, title, meaning)
}

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    vec![
        preemption(facts),
        throttling(facts),
        rt_group(facts),
        clock_source(facts),
    ]
}

fn preemption(facts: &Facts) -> Finding {
    const MEANING: &str = "how long a real-time thread waits while the kernel works for others";
    const REMEDY: &str = "boot with preempt=full, or (debugfs mounted) echo full | sudo tee \
                          /sys/kernel/debug/sched/preempt; better still, a PREEMPT_RT kernel";
    check("preemption", "preemption model", MEANING).reads(&facts.preemption, |model| match model {
        Preemption::RealTime => Says::good("PREEMPT_RT"),
        Preemption::Full => Says::good("full"),
        Preemption::Lazy => Says::good("lazy, which for real-time threads is full"),
        Preemption::Voluntary => {
            let found = "voluntary or none: the kernel finishes what it does, which may take milliseconds";
            Says::bad(State::Matters, found, REMEDY)
        }
        Preemption::None => {
            let found = "none: the kernel finishes what it does, which may take milliseconds";
            Says::bad(State::Matters, found, REMEDY)
        }
        Preemption::Dynamic => Says::bad(
            State::Unknown,
            "chosen at boot time (PREEMPT_DYNAMIC); which one is in force is not said here",
            "as root, with debugfs mounted: cat /sys/kernel/debug/sched/preempt; the one in brackets \
             should be full or lazy",
        ),
    })
}

fn throttling(facts: &Facts) -> Finding {
    const MEANING: &str = "what real-time threads may use of each period before the kernel stops them; \
                           the rest keeps the machine reachable";
    const UNREACHABLE: &str = "a real-time thread that never ends makes the machine unreachable";
    const MARGIN_PERMILLE: i64 = 950;
    let check = check("rt-throttling", "RT throttling", MEANING).required();
    check.reads(&facts.throttling, |throttling| {
        let Throttling {
            runtime_us,
            period_us,
        } = *throttling;
        let found = format!("{runtime_us} of {period_us} us");
        let usual =
            "sudo sysctl kernel.sched_rt_period_us=1000000 kernel.sched_rt_runtime_us=950000";
        let period = i64::try_from(period_us).unwrap_or(i64::MAX);
        match runtime_us {
            ..0 => Says::bad(State::Note, "off", usual).which_means(UNREACHABLE),
            0 => {
                let refusal = Refusal::Throttled {
                    cpus: Vec::new(),
                    processor: None,
                    utilization_ppm: 0,
                    allowed_ppm: 0,
                    throttling: *throttling,
                };
                Says::bad(State::Missing, found, refusal.remedy())
                    .which_means("real-time threads never run")
            }
            _ if runtime_us >= period => {
                let found = format!("{found}: never in force");
                Says::bad(State::Note, found, usual).which_means(UNREACHABLE)
            }
            // Sets that use more are refused by `run`, with the numbers.
            _ if runtime_us < period.saturating_mul(MARGIN_PERMILLE) / 1000 => {
                Says::bad(State::Note, found, usual)
            }
            _ => Says::good(found),
        }
    })
}

fn rt_group(facts: &Facts) -> Finding {
    const MEANING: &str = "on kernels with RT group scheduling a control group without runtime of its \
                           own gets no real-time threads";
    let check = check("rt-group", "RT group scheduling", MEANING).required();
    let Some((file, runtime)) = &facts.rt_group else {
        let says = Says::good("the process's control group has no share of its own");
        return check.says(Basis::Read, "/proc/self/cgroup", says);
    };
    let says = match runtime {
        0 => {
            let remedy = Refusal::RtGroupWithoutRuntime { file: file.clone() }.remedy();
            Says::bad(State::Missing, "no runtime", remedy)
        }
        runtime => Says::good(format!("{runtime} us")),
    };
    check.says(Basis::Read, file, says)
}

fn clock_source(facts: &Facts) -> Finding {
    const MEANING: &str = "every look at the clock reads it; a slow one costs microseconds and a trap \
                           each time";
    const FAST: [&str; 6] = [
        "tsc",
        "kvm-clock",
        "hyperv_clocksource_tsc_page",
        "arch_sys_counter",
        "riscv_clocksource",
        "timebase",
    ];
    const SLOW: [&str; 6] = [
        "hpet",
        "acpi_pm",
        "jiffies",
        "refined-jiffies",
        "pit",
        "xen",
    ];
    check("clock-source", "clock source", MEANING).reads(&facts.clock_source, |name| {
        if FAST.contains(&name.as_str()) {
            Says::good(name)
        } else if SLOW.contains(&name.as_str()) {
            let remedy = "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource, \
                          if available_clocksource beside it names tsc; the kernel's log says why it was left";
            Says::bad(State::Matters, name, remedy)
        } else {
            Says {
                state: State::Note,
                ..Says::good(format!("{name}, of which nothing is known here"))
            }
        }
    })
}

//! The CPU that real-time jobs are to have, and what it stands on.

use super::{Check, Says, list, percent};
use crate::doctor::parse::IdleState;
use crate::doctor::{Basis, Facts, Finding, Section, State, Unread};

/// A sleep state that takes longer to leave than this costs a wake-up more than all of this world's
/// own mechanisms together.
const EXIT_US_MAX: u64 = 50;
/// A thousandth of the time: more than budgets are enforced to.
const STOLEN_PPM_MAX: u64 = 1_000;

const fn check(check: &'static str, title: &'static str, meaning: &'static str) -> Check {
    Check::new(Section::Cpu, check, title, meaning)
}

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    vec![
        virtualization(facts),
        stolen(facts),
        isolation(facts),
        siblings(facts),
        governor(facts),
        idle_states(facts),
        interrupts(facts),
        foreign(facts),
    ]
}

fn virtualization(facts: &Facts) -> Finding {
    const MEANING: &str = "a hypervisor takes CPUs away at will, and what it takes may be counted as a \
                           job's execution: latencies and budgets have no bound there";
    let check = check("virtualization", "virtual machine", MEANING);
    check.reads(&facts.hypervisor, |&found| {
        let product = facts.product.known();
        if !found {
            let on = product.map_or_else(String::new, |product| format!(" ({product})"));
            return Says::good(format!("no{on}"));
        }
        let on = product.map_or_else(String::new, |product| format!(": {product}"));
        Says::bad(
            State::Matters,
            format!("yes{on}"),
            "measure on bare metal; or give the guest CPUs of its own: one host CPU for each, pinned, \
             with nothing else on it",
        )
    })
}

fn stolen(facts: &Facts) -> Finding {
    const MEANING: &str = "the time since boot in which the CPU wanted to run and the hypervisor ran \
                           others";
    check("stolen-time", "time taken by a hypervisor", MEANING).reads(&facts.stolen_ppm, |&ppm| {
        let found = percent(ppm);
        if ppm <= STOLEN_PPM_MAX {
            Says::good(found)
        } else {
            let remedy = "fewer guests on the host, or host CPUs that only this guest uses";
            Says::bad(State::Matters, found, remedy)
        }
    })
}

fn isolation(facts: &Facts) -> Finding {
    const MEANING: &str = "the scheduler puts nothing on an isolated CPU by itself; elsewhere other \
                           threads and the kernel's own work fill caches and delay wake-ups";
    let cpu = facts.cpu;
    check("isolation", "isolated", MEANING).reads(&facts.isolated, |isolated| {
        let tickless = facts.tickless.known().is_some_and(|cpus| cpus.contains(&cpu));
        match (isolated.contains(&cpu), tickless) {
            (true, true) => Says::good("yes, and without a tick while one thread runs"),
            (true, false) => Says::good("yes"),
            (false, _) => {
                let found = match isolated.as_slice() {
                    [] => "no CPU is".to_owned(),
                    others => format!("no; isolated are {}", list(others)),
                };
                let remedy = match isolated.as_slice() {
                    [] => format!("boot with isolcpus={cpu} nohz_full={cpu} rcu_nocbs={cpu}; then use --cpus {cpu}"),
                    [first, ..] => format!("use one of them: --cpus {first}"),
                };
                Says::bad(State::Note, found, remedy)
            }
        }
    })
}

fn siblings(facts: &Facts) -> Finding {
    const MEANING: &str = "hardware threads of one core share its units and caches: execution times \
                           depend on what the other one does";
    check("smt", "siblings on its core", MEANING).reads(&facts.siblings, |siblings| {
        let others: Vec<usize> = siblings
            .iter()
            .copied()
            .filter(|&cpu| cpu != facts.cpu)
            .collect();
        if others.is_empty() {
            return Says::good("none");
        }
        let off = others
            .iter()
            .map(|cpu| format!("echo 0 | sudo tee /sys/devices/system/cpu/cpu{cpu}/online"));
        Says::bad(
            State::Matters,
            format!("CPU {}", list(&others)),
            format!(
                "{}   (all of them: echo off | sudo tee /sys/devices/system/cpu/smt/control)",
                off.collect::<Vec<_>>().join("; ")
            ),
        )
    })
}

fn governor(facts: &Facts) -> Finding {
    const MEANING: &str = "execution times depend on the frequency; a governor that lowers it makes \
                           measured execution times worthless as bounds";
    let folder = format!("/sys/devices/system/cpu/cpu{}/cpufreq", facts.cpu);
    let check = check("governor", "frequency governor", MEANING);
    if facts.governor.value == Err(Unread::Absent) {
        let found = "not known: no cpufreq here, so firmware or a hypervisor decides";
        return check.says(Basis::Read, &facts.governor.file, Says::unknown(found));
    }
    check.reads(&facts.governor, |name| match name.as_str() {
        "performance" => Says::good(name),
        _ => Says::bad(
            State::Matters,
            name,
            format!("echo performance | sudo tee {folder}/scaling_governor   (or cpupower frequency-set -g performance)"),
        ),
    })
}

fn idle_states(facts: &Facts) -> Finding {
    const MEANING: &str = "a CPU in a deep sleep state wakes that much later";
    let check = check("idle-states", "sleep states", MEANING);
    let folder = format!("/sys/devices/system/cpu/cpu{}/cpuidle", facts.cpu);
    let deepest = facts.idle_states.iter().max_by_key(|state| state.exit_us);
    let says = match deepest {
        None => Says::unknown(format!("not known: {folder} names none")),
        Some(IdleState { name, exit_us }) => {
            let found = format!("{exit_us} us to leave the deepest, {name}");
            if *exit_us <= EXIT_US_MAX {
                Says::good(found)
            } else {
                let remedy = format!("sudo cpupower idle-set -D {EXIT_US_MAX}");
                Says::bad(State::Note, found, remedy)
            }
        }
    };
    check.says(Basis::Read, folder, says)
}

fn interrupts(facts: &Facts) -> Finding {
    const MEANING: &str = "handlers of interrupts run before every thread, and their time counts as the \
                           job's";
    let check = check("interrupts", "interrupts there", MEANING);
    let says = match facts.interrupts {
        None => Says::unknown("not known: /proc/irq names none that may be read".to_owned()),
        Some((0, all)) => Says::good(format!("none of {all}")),
        Some((here, all)) => Says::bad(
            State::Note,
            format!("{here} of {all}"),
            format!(
                "stop irqbalance, and for each: echo 0 | sudo tee /proc/irq/N/smp_affinity_list   (0: any CPU but {})",
                facts.cpu
            ),
        ),
    };
    check.says(Basis::Read, "/proc/irq", says)
}

/// How many threads are named one by one.
const NAMED_MAX: usize = 5;

fn foreign(facts: &Facts) -> Finding {
    const MEANING: &str = "a thread of another process in a real-time class takes the CPU from jobs below \
                           it; a run calls deadlines that are missed because of one not decided (exit \
                           code 5)";
    let check = check("foreign-threads", "real-time threads there", MEANING);
    let says = match &facts.foreign {
        None => Says::unknown("not known: /proc shows no other processes".to_owned()),
        Some(threads) if threads.is_empty() => Says::good("none of others".to_owned()),
        Some(threads) => {
            let mut names: Vec<String> = threads
                .iter()
                .take(NAMED_MAX)
                .map(ToString::to_string)
                .collect();
            if let Some(more @ 1..) = threads.len().checked_sub(NAMED_MAX) {
                names.push(format!("{more} more"));
            }
            let remedy = format!(
                "stop them, or keep each from CPU {}: taskset -acp CPUS PID (with isolcpus={0} no other \
                 comes there unasked)",
                facts.cpu
            );
            Says::bad(State::Matters, names.join(", "), remedy)
        }
    };
    check.says(Basis::Read, "/proc/*/task/*/stat", says)
}

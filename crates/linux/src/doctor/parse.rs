//! The texts that the kernel shows, understood. Pure functions: a text in, a value or nothing out;
//! no text makes them panic.

pub use crate::cpu_list::cpu_list;

use crate::rights::Throttling;

/// When the kernel lets go of what it does for the sake of a more urgent thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preemption {
    /// PREEMPT_RT: almost everywhere.
    RealTime,
    /// Everywhere but in critical sections.
    Full,
    /// As [`Self::Full`] for real-time threads.
    Lazy,
    /// At explicit points only.
    Voluntary,
    /// On the way back to user space only.
    None,
    /// Chosen at boot time, and not said where everybody may look.
    Dynamic,
}

/// What `/proc/self/limits` allows; `None`: unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The highest SCHED_FIFO priority without CAP_SYS_NICE.
    pub priority: Option<u64>,
    /// Bytes that may be locked without CAP_IPC_LOCK.
    pub locked_bytes: Option<u64>,
}

/// What `/proc/self/status` says of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The effective capabilities, a bit each.
    pub capabilities: u64,
    /// The address space in bytes, which is what a memory lock counts.
    pub address_space: u64,
    /// The CPUs that the process may use, ascending.
    pub cpus: Vec<usize>,
}

/// One sleep state of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleState {
    /// Its name.
    pub name: String,
    /// How long the CPU takes to leave it, in microseconds, as the driver states it.
    pub exit_us: u64,
}

/// A number and nothing else.
#[must_use]
pub fn number(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// One word, such as the name of a governor.
#[must_use]
pub fn word(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = !text.is_empty() && text.len() <= 64;
    let plain = text.chars().all(|c| c.is_ascii_graphic());
    (fits && plain).then(|| text.to_owned())
}

/// One line for people, such as the name of a product.
#[must_use]
pub fn line(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = !text.is_empty() && text.len() <= 200;
    let plain = !text.chars().any(char::is_control);
    (fits && plain).then(|| text.to_owned())
}

/// The preemption model that `/proc/sys/kernel/version` names: `#1 SMP PREEMPT_DYNAMIC Mon ...`.
#[must_use]
pub fn preemption_of_version(text: &str) -> Option<Preemption> {
    if !text.trim_start().starts_with('#') {
        return None;
    }
    let words = [
        ("PREEMPT_RT", Preemption::RealTime),
        ("PREEMPT_DYNAMIC", Preemption::Dynamic),
        ("PREEMPT", Preemption::Full),
        ("PREEMPT_LAZY", Preemption::Lazy),
    ];
    let named = |word: &str| text.split_whitespace().any(|other| other == word);
    let found = words.into_iter().find(|(word, _)| named(word));
    // Without a word it is one of two that differ little: voluntary at best.
    Some(found.map_or(Preemption::Voluntary, |(_, model)| model))
}

/// The model in brackets in `/sys/kernel/debug/sched/preempt`: `none voluntary (full) lazy`.
#[must_use]
pub fn preemption_in_force(text: &str) -> Option<Preemption> {
    let (_, rest) = text.split_once('(')?;
    preemption_named(rest.split_once(')')?.0)
}

/// The model that the kernel was told at boot time, if it was: `preempt=full`. The last one counts.
#[must_use]
pub fn preemption_of_command_line(text: &str) -> Option<Preemption> {
    let words = text.split_whitespace();
    words
        .filter_map(|word| word.strip_prefix("preempt="))
        .next_back()
        .and_then(preemption_named)
}

/// The model that is in force if nobody chose one at boot time, from the kernel's configuration.
#[must_use]
pub fn preemption_of_configuration(text: &str) -> Option<Preemption> {
    const OPTIONS: [(&str, Preemption); 5] = [
        ("CONFIG_PREEMPT_RT=y", Preemption::RealTime),
        ("CONFIG_PREEMPT_LAZY=y", Preemption::Lazy),
        ("CONFIG_PREEMPT=y", Preemption::Full),
        ("CONFIG_PREEMPT_VOLUNTARY=y", Preemption::Voluntary),
        ("CONFIG_PREEMPT_NONE=y", Preemption::None),
    ];
    let set = |option: &str| text.lines().any(|line| line.trim() == option);
    let found = OPTIONS.iter().find(|(option, _)| set(option))?;
    Some(found.1)
}

fn preemption_named(name: &str) -> Option<Preemption> {
    match name {
        "full" => Some(Preemption::Full),
        "lazy" => Some(Preemption::Lazy),
        "voluntary" => Some(Preemption::Voluntary),
        "none" => Some(Preemption::None),
        _ => None,
    }
}

/// The rows of `/proc/self/limits` that concern real-time runs; the soft limits count.
#[must_use]
pub fn limits(text: &str) -> Option<Limits> {
    let soft = |name: &str| -> Option<Option<u64>> {
        let row = text.lines().find_map(|line| line.strip_prefix(name))?;
        match row.split_whitespace().next()? {
            "unlimited" => Some(None),
            number => Some(Some(number.parse().ok()?)),
        }
    };
    Some(Limits {
        priority: soft("Max realtime priority")?,
        locked_bytes: soft("Max locked memory")?,
    })
}

/// The rows of `/proc/self/status` that concern real-time runs.
#[must_use]
pub fn status(text: &str) -> Option<Status> {
    let field = |name: &str| {
        let row = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(row.trim())
    };
    let kilobytes = field("VmSize:")?.split_whitespace().next()?;
    Some(Status {
        capabilities: u64::from_str_radix(field("CapEff:")?, 16).ok()?,
        address_space: kilobytes.parse::<u64>().ok()?.checked_mul(1024)?,
        cpus: cpu_list(field("Cpus_allowed_list:")?)?,
    })
}

/// Whether the processors say that a hypervisor runs them, in `/proc/cpuinfo`. Only x86 says so.
#[must_use]
pub fn hypervisor_flag(text: &str) -> Option<bool> {
    let flags = text.lines().find(|line| line.starts_with("flags"))?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// The part of a CPU's time that a hypervisor gave to others, in millionths, from `/proc/stat`.
#[must_use]
pub fn stolen_ppm(text: &str, cpu: usize) -> Option<u64> {
    // user nice system idle iowait irq softirq steal; what follows is contained in the first two.
    const STEAL: usize = 7;
    let name = format!("cpu{cpu}");
    let mut rows = text.lines().map(str::split_whitespace);
    let row = rows.find_map(|mut row| (row.next() == Some(name.as_str())).then_some(row))?;
    let times: Vec<u64> = row
        .take(STEAL + 1)
        .map(|ticks| ticks.parse().ok())
        .collect::<Option<_>>()?;
    let all = times
        .iter()
        .fold(0_u64, |sum, ticks| sum.saturating_add(*ticks));
    let stolen = u128::from(*times.get(STEAL)?) * 1_000_000;
    stolen
        .checked_div(u128::from(all))
        .and_then(|ppm| u64::try_from(ppm).ok())
}

/// The two files of RT throttling.
#[must_use]
pub fn throttling(runtime: i64, period: i64) -> Option<Throttling> {
    let period_us = u64::try_from(period).ok().filter(|period| *period > 0)?;
    Some(Throttling {
        runtime_us: runtime,
        period_us,
    })
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;

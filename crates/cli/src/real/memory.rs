//! What the work of tasks takes of memory, looked at before any of it is taken: all of it is locked, so that what is not
//! there cannot be swapped for either, and the kernel would end this process or another one.

use crate::failure::Failure;
use crate::input::shown;
use crate::session::Session;
use vestal_linux::{Refusal, Rights, memory};
use vestal_workload::model::Work;

/// Memory as it was found.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Bytes that the machine can still give, if that is known.
    available: Option<u64>,
    /// Bytes that may be locked; `None`: any number.
    lockable: Option<u64>,
    /// Bytes that are mapped already, and locked besides.
    mapped: u64,
}

impl Found {
    fn here() -> Self {
        let rights = Rights::probe();
        Self {
            available: memory::available(),
            lockable: rights.memory_lock_limit.filter(|_| !rights.cap_ipc_lock),
            mapped: rights.address_space,
        }
    }
}

/// Refuses arrays that do not fit.
pub(super) fn check(session: &Session) -> Result<(), Failure> {
    let arrays = arrays(session);
    match arrays.is_empty() {
        true => Ok(()),
        false => fit(&arrays, Found::here(), &shown(&session.file)),
    }
}

/// The tasks whose jobs walk over an array, with its bytes.
fn arrays(session: &Session) -> Vec<(&str, u64)> {
    let tasks = session.set.tasks.iter();
    let arrays = tasks.filter_map(|task| match task.work? {
        Work::Array { bytes } => Some((task.name.as_str(), bytes)),
        // What jobs allocate they may be refused, and that is counted.
        Work::Spin | Work::Alloc { .. } => None,
    });
    arrays.collect()
}

fn fit(arrays: &[(&str, u64)], found: Found, file: &str) -> Result<(), Failure> {
    let sizes = arrays.iter().map(|(_, bytes)| *bytes);
    let sum = sizes.fold(0, u64::saturating_add);
    let largest = arrays.iter().max_by_key(|(_, bytes)| *bytes);
    let largest = largest.map_or("", |(name, _)| name);
    let smaller = format!("make `work` smaller, that of {largest} first, which is the largest");
    let what = format!("run {file}");
    if let Some(available) = found
        .available
        .filter(|available| sum > available.saturating_sub(reserve(*available)))
    {
        let why = format!(
            "the arrays of its tasks (`work`) take {}, and the machine has {} left (MemAvailable in /proc/meminfo), of which {} are for what else is locked, stacks and records, and for other processes",
            mebibytes(sum.div_ceil(MEBIBYTE)),
            mebibytes(available / MEBIBYTE),
            mebibytes(reserve(available) / MEBIBYTE)
        );
        return Err(Failure::machine(what, why).with_help(smaller));
    }
    let needed = found.mapped.saturating_add(sum);
    if let Some(limit) = found.lockable.filter(|limit| needed > *limit) {
        let refusal = Refusal::NoMemoryLock { needed, limit };
        let why = format!(
            "{refusal}, {} of them for the arrays of its tasks (`work`)",
            mebibytes(sum.div_ceil(MEBIBYTE))
        );
        return Err(Failure::machine(what, why)
            .with_help(smaller)
            .with_help(format!("or mend it with: {}", refusal.remedy())));
    }
    Ok(())
}

const MEBIBYTE: u64 = 1 << 20;

/// What arrays leave of the memory that there is: a run locks the stacks of its threads, records and notes besides, for
/// hundreds of tasks some dozens of MiB, and what is mapped already.
const RESERVE_MIN: u64 = 256 * MEBIBYTE;

fn reserve(available: u64) -> u64 {
    RESERVE_MIN.max(available / 16)
}

fn mebibytes(count: u64) -> String {
    format!("{count} MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIBIBYTE: u64 = 1 << 30;

    #[test]
    fn all_arrays_together_have_to_fit_into_what_is_left_and_what_may_be_locked() {
        let found = Found {
            available: Some(4 * GIBIBYTE),
            lockable: None,
            mapped: 100 << 20,
        };
        let pair = |bytes| [("small", 1024), ("large", bytes)];
        let message = |bytes, found| {
            let failure = fit(&pair(bytes), found, "x.toml").err()?;
            assert_eq!(failure.exit.code(), 3);
            assert!(failure.help[0].contains("large"), "{:?}", failure.help);
            Some(failure.why)
        };
        let most = 4 * GIBIBYTE - 256 * MEBIBYTE;
        assert_eq!(message(most - 1024, found), None);
        let why = message(most - 1023, found).unwrap();
        assert!(why.contains("take 3841 MiB"), "{why}");
        assert!(
            why.contains("has 4096 MiB left") && why.contains("of which 256 MiB"),
            "{why}"
        );
        // Of a larger machine more is left: arrays of all that there is are never taken.
        let large = Found {
            available: Some(64 * GIBIBYTE),
            ..found
        };
        assert_eq!(message(60 * GIBIBYTE - 1024, large), None);
        assert!(message(60 * GIBIBYTE - 1023, large).is_some());
        // Each alone would fit, and a sum that no number holds does not.
        assert!(message(u64::MAX, found).is_some());
        // What is not known refuses nothing.
        let unknown = Found {
            available: None,
            ..found
        };
        assert_eq!(message(u64::MAX, unknown), None);
        let limited = Found {
            lockable: Some(GIBIBYTE),
            ..found
        };
        assert_eq!(message(GIBIBYTE - (100 << 20) - 1024, limited), None);
        let why = message(GIBIBYTE, limited).unwrap();
        assert!(why.contains("RLIMIT_MEMLOCK is 1048576 KiB"), "{why}");
        assert!(why.contains("1025 MiB of them"), "{why}");
    }
}

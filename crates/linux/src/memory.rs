//! How much memory the machine can still give.

use std::fs;

/// The bytes that can be had without swapping, as the kernel estimates (`MemAvailable` in `/proc/meminfo`); `None` where
/// it does not say. A control group may allow less.
#[must_use]
pub fn available() -> Option<u64> {
    parse(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn parse(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_counts_in_kibibytes_and_says_so() {
        let text =
            "MemTotal:       8147384 kB\nMemFree:          96124 kB\nMemAvailable:    5123456 kB\n";
        assert_eq!(parse(text), Some(5_123_456 * 1024));
        for text in ["", "MemAvailable: 7 MB\n", "MemAvailable: kB\n"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }
}

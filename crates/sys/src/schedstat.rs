//! What the kernel's scheduler counts of a thread: how long it was ready and had no CPU.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The account of one thread, which the thread itself opened.
#[derive(Debug)]
pub struct SchedStat(File);

/// A reading of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Nanoseconds for which the thread was ready and another one had its CPU.
    pub nanos: u64,
    /// How often it got the CPU.
    pub times: u64,
}

impl SchedStat {
    /// That of the calling thread.
    ///
    /// # Errors
    /// There is no such file where the kernel lacks `CONFIG_SCHED_INFO`.
    pub fn of_this_thread() -> io::Result<Self> {
        let file = File::open("/proc/thread-self/schedstat")?;
        let stat = Self(file);
        match stat.read() {
            Some(_) => Ok(stat),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// The present values. One system call, below a microsecond, without allocation.
    pub fn read(&self) -> Option<Waited> {
        let mut text = [0_u8; 80];
        let length = self.0.read_at(&mut text, 0).ok()?;
        parse(text.get(..length)?)
    }
}

/// CPU time, waiting time and number of time slices, as the kernel prints them.
fn parse(text: &[u8]) -> Option<Waited> {
    let text = std::str::from_utf8(text).ok()?;
    let mut numbers = text.split_ascii_whitespace();
    let _executed: u64 = numbers.next()?.parse().ok()?;
    let nanos = numbers.next()?.parse().ok()?;
    let times = numbers.next()?.parse().ok()?;
    Some(Waited { nanos, times })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_read_and_anything_else_is_nothing() {
        let waited = Waited {
            nanos: 3_947_500,
            times: 7,
        };
        assert_eq!(parse(b"12 3947500 7\n"), Some(waited));
        for text in [&b""[..], b"12 5", b"12 x 7", b"-1 5 7", b"\xff 1 2"] {
            assert_eq!(parse(text), None);
        }
    }

    #[test]
    fn the_own_account_never_falls() {
        let Ok(stat) = SchedStat::of_this_thread() else {
            return;
        };
        let first = stat.read().unwrap();
        let second = stat.read().unwrap();
        assert!(second.nanos >= first.nanos && second.times >= first.times);
    }
}

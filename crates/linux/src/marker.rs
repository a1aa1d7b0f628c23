//! The kernel's trace marker: what a program writes there stands in the kernel's own trace, at its instant and with its thread.
//!
//! The lines are those that Perfetto and other readers of kernel traces make slices and counters of: `B|PROCESS|NAME` begins a slice of the
//! thread that writes it, `E|PROCESS` ends it, `C|PROCESS|NAME|VALUE` sets a counter.

use crate::sys::clock::monotonic_nanos;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use vestal_core::{CpuId, Level};
use vestal_statistics::Histogram;

/// Where it is, if the file system is mounted: on kernels of today, and before.
const PLACES: [&str; 2] = [
    "/sys/kernel/tracing/trace_marker",
    "/sys/kernel/debug/tracing/trace_marker",
];

/// The longest line that is written whole; a name may make one longer, and then it has no end that a reader knows.
const BYTES_MAX: usize = 160;

/// An open trace marker.
#[derive(Debug)]
pub(crate) struct Marker {
    file: File,
    process: u32,
}

impl Marker {
    /// Opens it; the file has to exist.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(path)?;
        let process = std::process::id();
        Ok(Self { file, process })
    }

    /// A job of `task` has the CPU for the first time; on the thread that executes it.
    pub(crate) fn begin_job(&self, task: &str, sequence: u64) {
        self.write(format_args!("B|{}|{task} {sequence}", self.process));
    }

    /// The body of that job has returned.
    pub(crate) fn end_job(&self) {
        self.write(format_args!("E|{}", self.process));
    }

    /// The mode of a CPU of the set is this one from now on.
    pub(crate) fn mode(&self, cpu: CpuId, mode: Level) {
        let process = self.process;
        self.write(format_args!("C|{process}|mode of CPU {}|{}", cpu.0, mode.0));
    }

    /// One system call, without memory of its own; what the kernel does not take is missing in its trace, and nowhere else.
    fn write(&self, line: fmt::Arguments<'_>) {
        let mut bytes = [0; BYTES_MAX];
        let mut room = bytes.as_mut_slice();
        let _ = writeln!(room, "{line}");
        let left = room.len();
        let written = bytes.get(..BYTES_MAX.saturating_sub(left));
        let _ = (&self.file).write(written.unwrap_or_default());
    }
}

/// The trace marker of this machine.
///
/// # Errors
/// What opening it said: there is none, or this process may not write to it.
pub fn trace_marker() -> Result<PathBuf, (PathBuf, io::Error)> {
    let mut refused = None;
    for place in PLACES.map(PathBuf::from) {
        match Marker::open(&place) {
            Ok(_) => return Ok(place),
            Err(error) => {
                // That it is there and must not be written says more than that another place has none.
                let is_there = error.kind() != io::ErrorKind::NotFound;
                if refused.is_none() || is_there {
                    refused = Some((place, error));
                }
            }
        }
    }
    Err(refused.unwrap_or_else(|| (PathBuf::new(), io::ErrorKind::NotFound.into())))
}

/// What it costs a thread to write the two lines of a job, in nanoseconds: `rounds` figures; `None` where there is no marker that
/// this process may write.
#[must_use]
pub fn trace_marks(rounds: u32) -> Option<Histogram> {
    let marker = Marker::open(&trace_marker().ok()?).ok()?;
    let mut costs = Histogram::default();
    for round in 0..u64::from(rounds) {
        let before = monotonic_nanos();
        marker.begin_job("vestal-bench", round);
        marker.end_job();
        costs.record(monotonic_nanos().saturating_sub(before));
    }
    Some(costs)
}

/// What mends that the marker at `path` could not be opened.
pub(crate) fn remedies(path: &Path, error: &io::Error) -> Vec<String> {
    let path = path.display();
    if error.kind() == io::ErrorKind::NotFound {
        return vec!["sudo mount -t tracefs nodev /sys/kernel/tracing".to_owned()];
    }
    vec![format!(
        "sudo chgrp GROUP {path} && sudo chmod g+w {path}   (and o+x for the directories above it; everyone in GROUP may write into the kernel's trace then)"
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_one_that_readers_of_kernel_traces_know() {
        let path = std::env::temp_dir().join(format!("vestal-marker-{}", std::process::id()));
        std::fs::write(&path, "").unwrap();
        let marker = Marker::open(&path).unwrap();
        marker.begin_job("video", 7);
        marker.mode(CpuId(1), Level(2));
        marker.end_job();
        marker.begin_job(&"x".repeat(300), 1);
        let text = std::fs::read_to_string(&path).unwrap();
        let process = std::process::id();
        let lines = format!("B|{process}|video 7\nC|{process}|mode of CPU 1|2\nE|{process}\n");
        assert!(text.starts_with(&lines), "{text}");
        assert_eq!(text.len(), lines.len() + BYTES_MAX);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn where_there_is_none_it_is_said_how_to_get_one() {
        let missing = Path::new("/nowhere/trace_marker");
        let error = Marker::open(missing).unwrap_err();
        assert!(remedies(missing, &error)[0].contains("mount -t tracefs"));
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(remedies(missing, &refused)[0].contains("chmod g+w /nowhere/trace_marker"));
    }
}

//! Capabilities of the calling thread.

use super::checked;
use std::io;

/// The capability to raise priorities and to leave control over them to nobody, from linux/capability.h.
pub const CAP_SYS_NICE: u32 = 23;
const CAP_SYS_RESOURCE: u32 = 24;
const VERSION_3: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

/// One of the two halves of 32 capabilities each.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Half {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Gives up, for the calling thread and all it starts, the capabilities by which a thread gets a
/// higher real-time priority: CAP_SYS_NICE, and CAP_SYS_RESOURCE, which could lift RLIMIT_RTPRIO.
/// Other threads keep theirs.
pub fn drop_scheduling() -> io::Result<()> {
    drop_of(!(1 << CAP_SYS_NICE | 1 << CAP_SYS_RESOURCE), u32::MAX)
}

/// Gives up all capabilities, for the calling thread and all it starts. Other threads keep theirs.
///
/// # Errors
/// What the system calls say.
#[cfg(test)]
pub(crate) fn drop_all() -> io::Result<()> {
    drop_of(0, 0)
}

/// Keeps those of these capabilities that the calling thread has.
fn drop_of(low: u32, high: u32) -> io::Result<()> {
    let mut header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let mut halves = [Half::default(); 2];
    // SAFETY: version 3 reads one header and writes two halves, which is what there is room for; a kernel that knows another
    // version writes that into the header.
    let outcome = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, halves.as_mut_ptr()) };
    checked(libc::c_int::try_from(outcome).unwrap_or(-1))?;
    for (half, keep) in halves.iter_mut().zip([low, high]) {
        half.effective &= keep;
        half.permitted &= keep;
        half.inheritable &= keep;
    }
    // SAFETY: version 3 reads one header and two halves, and the header may be written as above.
    let outcome = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, halves.as_ptr()) };
    checked(libc::c_int::try_from(outcome).unwrap_or(-1))
}

//! On which processor the kernel looks at what an interface receives (receive packet steering).

use super::link::NAME;
use super::{at, checked};
use crate::Processor;
use std::ffi::CStr;
use std::{fs, io, ptr};

/// Processors in one group of a mask.
const GROUP: usize = 32;

/// The interface in the namespace of the calling thread hands what it receives over to this processor, whose softirqs
/// look at it. The thread, which is to end soon, sees a file system of its own from here on.
///
/// # Errors
/// What the system calls say, and that the kernel cannot do this.
pub(crate) fn to(processor: Processor) -> io::Result<()> {
    // SAFETY: takes plain numbers, and changes the calling thread alone.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNS) }).map_err(at("see a file system alone"))?;
    // What is mounted here is nobody else's; and what is here of interfaces is that of this namespace.
    mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE)?;
    mount(Some(c"sysfs"), c"/sys", 0)?;
    let file = format!("/sys/class/net/{NAME}/queues/rx-0/rps_cpus");
    fs::write(file, mask(processor)).map_err(at("steer what the interface receives"))
}

fn mount(kind: Option<&CStr>, place: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    let kind = kind.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: the names end with zero bytes, and may be none where nothing is mounted anew; there are no data.
    let outcome = unsafe { libc::mount(kind, place.as_ptr(), kind, flags, ptr::null()) };
    checked(outcome).map_err(at("mount /sys"))
}

/// Of one processor, in groups of 32, the highest first.
fn mask(Processor(number): Processor) -> String {
    let mut mask = format!("{:x}", 1_u32 << (number % GROUP));
    for _ in 0..number / GROUP {
        mask.push_str(",00000000");
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_written_in_groups_of_32() {
        let masks = [0, 5, 31, 32, 70].map(|number| mask(Processor(number)));
        let expected = ["1", "20", "80000000", "1,00000000", "40,00000000,00000000"];
        assert_eq!(masks, expected);
    }
}

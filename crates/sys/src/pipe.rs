//! Pipes of packets: each write is one event, which one read takes.

use super::source::{Input, Sender};
use super::{checked, owned};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// What a page takes, and so a packet at least.
const PAGE_BYTES: u16 = 4_096;

/// A pipe with room for so many packets; the kernel may round that up, and without a right it gives 256 at most.
///
/// # Errors
/// What the system calls say.
pub fn packets(room: u16) -> io::Result<(Sender, Input)> {
    let mut ends = [-1; 2];
    let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_DIRECT;
    // SAFETY: there is room for two descriptors.
    let outcome = unsafe { libc::pipe2(ends.as_mut_ptr(), flags) };
    checked(outcome)?;
    let [input, sender] = ends;
    let input = owned(input)?;
    // SAFETY: nobody else owns the descriptor, which the call above has made.
    let sender = unsafe { OwnedFd::from_raw_fd(sender) };
    let bytes = libc::c_int::from(room).saturating_mul(PAGE_BYTES.into());
    // SAFETY: the descriptor is open; takes plain numbers.
    checked(unsafe { libc::fcntl(sender.as_raw_fd(), libc::F_SETPIPE_SZ, bytes) }.min(0))?;
    Ok((
        Sender::new(sender, PAGE_BYTES.into()),
        Input::new(input, usize::MAX),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Taken;

    #[test]
    fn packets_keep_their_borders_and_what_finds_no_room_is_refused() {
        let (sender, input) = packets(16).unwrap();
        let mut buffer = [0; 16];
        assert_eq!(input.take(&mut buffer).unwrap(), Taken::Nothing);
        assert!(sender.send(&[1, 2, 3]).unwrap() && sender.send(&[4]).unwrap());
        assert_eq!(input.take(&mut buffer).unwrap(), Taken::Event(3));
        assert_eq!(buffer[..3], [1, 2, 3]);
        assert_eq!(input.take(&mut buffer).unwrap(), Taken::Event(1));
        let mut sent = 0;
        while sender.send(&[0]).unwrap() {
            sent += 1;
            assert!(sent <= 16);
        }
        assert_eq!(sent, 16);
        let mut taken = 0;
        while input.take(&mut buffer).unwrap() == Taken::Event(1) {
            taken += 1;
        }
        assert_eq!(taken, sent, "each is one event");
        drop(input);
        assert!(sender.send(&[0]).is_err());
    }
}

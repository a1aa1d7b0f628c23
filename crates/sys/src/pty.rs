//! Pseudo-terminals as the devices of terminals: each byte is one event.

use super::source::{Input, Sender};
use super::{checked, owned};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

/// A pseudo-terminal that passes on what goes in as it is: no lines, no echo, no signals. The kernel has room for some
/// thousand bytes, and hands them over on a thread of its own, so that they come out some microseconds later.
///
/// # Errors
/// What the system calls say: there may be no `/dev/ptmx`.
pub fn raw() -> io::Result<(Sender, Input)> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: the name is a string that ends with a zero byte.
    let sender = owned(unsafe { libc::open(c"/dev/ptmx".as_ptr(), flags) })?;
    let unlocked: libc::c_int = 0;
    // SAFETY: the descriptor is open; one number is read.
    checked(unsafe { libc::ioctl(sender.as_raw_fd(), libc::TIOCSPTLCK, &raw const unlocked) })?;
    // SAFETY: the descriptor is open; takes plain numbers.
    let input = owned(unsafe { libc::ioctl(sender.as_raw_fd(), libc::TIOCGPTPEER, flags) })?;
    let mut settings = MaybeUninit::<libc::termios>::zeroed();
    // SAFETY: the descriptor is open; there is room for the settings.
    checked(unsafe { libc::tcgetattr(input.as_raw_fd(), settings.as_mut_ptr()) })?;
    // SAFETY: written by the call above, which did not fail.
    let mut settings = unsafe { settings.assume_init() };
    // SAFETY: `settings` is valid for reading and writing.
    unsafe { libc::cfmakeraw(&raw mut settings) };
    // SAFETY: the descriptor is open; `settings` is valid for reading.
    checked(unsafe { libc::tcsetattr(input.as_raw_fd(), libc::TCSANOW, &raw const settings) })?;
    Ok((Sender::new(sender, 1), Input::new(input, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readiness::Readiness;
    use crate::source::Taken;

    #[test]
    fn each_byte_is_an_event_whatever_it_means_to_a_terminal() {
        const EVENTS: [u8; 5] = [b'\n', 3, 4, b'\r', 0x7f];
        let (sender, input) = raw().unwrap();
        let readiness = Readiness::new().unwrap();
        readiness.watch(&input, 0).unwrap();
        for event in EVENTS {
            assert!(sender.send(&[event]).unwrap());
        }
        let (mut taken, mut buffer) = (Vec::new(), [0; 64]);
        while taken.len() < EVENTS.len() {
            // The kernel hands them over when it gets to it; each wait ends with one of them at least.
            if readiness.wait().unwrap().tags().count() == 0 {
                continue;
            }
            while input.take(&mut buffer).unwrap() == Taken::Event(1) {
                taken.push(buffer[0]);
            }
            readiness.arm(&input, 0).unwrap();
        }
        assert_eq!(taken, EVENTS);
        drop(sender);
        assert_eq!(readiness.wait().unwrap().tags().count(), 1);
        assert_eq!(input.take(&mut buffer).unwrap(), Taken::Over);
    }
}

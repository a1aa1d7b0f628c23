//! What events go in and come out of, without anybody waiting.

use super::checked;
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// What can be read without waiting.
#[derive(Debug)]
pub struct Input {
    fd: OwnedFd,
    /// Most bytes of one event.
    most: usize,
}

/// What came of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// An event of so many bytes.
    Event(usize),
    /// There is nothing to read now.
    Nothing,
    /// A signal came first: try again.
    Interrupted,
    /// Nothing will ever come again: the other side is closed.
    Over,
}

impl Input {
    /// Of a descriptor that never waits, of which an event has so many bytes at most.
    pub(crate) const fn new(fd: OwnedFd, most: usize) -> Self {
        Self { fd, most }
    }

    /// What to wait for.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// How many events found no room on their way here, and the kernel dropped: of a socket. Nothing is dropped so on its way
    /// into anything else. Modulo 2^32.
    ///
    /// # Errors
    /// What the system call says, or that the kernel does not count them.
    pub fn dropped(&self) -> io::Result<u64> {
        let mut numbers = [0_u32; MEMINFO];
        let mut length = libc::socklen_t::try_from(size_of_val(&numbers)).unwrap_or(0);
        // SAFETY: the descriptor is open; there is room for `length` bytes, and that says so.
        let outcome = unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MEMINFO,
                numbers.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        match checked(outcome) {
            Ok(()) => drops_of(numbers, length),
            Err(error) if error.raw_os_error() == Some(libc::ENOTSOCK) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Takes what comes first, without waiting: of a source of packets one of them, and what does not fit into `buffer`, which is not empty, is
    /// lost.
    ///
    /// # Errors
    /// What the system call says, but for what [`Taken`] has.
    pub fn take(&self, buffer: &mut [u8]) -> io::Result<Taken> {
        let length = self.most.min(buffer.len());
        let buffer = buffer.get_mut(..length).unwrap_or_default();
        match rustix::io::read(&self.fd, buffer) {
            Ok(0) => Ok(Taken::Over),
            Ok(length) => Ok(Taken::Event(length)),
            Err(Errno::AGAIN) => Ok(Taken::Nothing),
            Err(Errno::INTR) => Ok(Taken::Interrupted),
            // A pseudo-terminal whose other side is closed.
            Err(Errno::IO) => Ok(Taken::Over),
            Err(error) => Err(error.into()),
        }
    }
}

/// The numbers of `SO_MEMINFO`, from linux/sock_diag.h; the last is that of the drops.
const MEMINFO: usize = 9;

/// Of what the kernel wrote, which is so many bytes. Older ones have fewer numbers.
fn drops_of(numbers: [u32; MEMINFO], length: libc::socklen_t) -> io::Result<u64> {
    if usize::try_from(length).is_ok_and(|length| length >= size_of_val(&numbers)) {
        let [.., drops] = numbers;
        return Ok(drops.into());
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "the kernel does not count the drops of a socket",
    ))
}

/// Where events go in. Any thread may send.
#[derive(Debug)]
pub struct Sender(OwnedFd);

impl Sender {
    /// Into a descriptor that never waits.
    pub(crate) const fn new(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// Sends an event of at least one byte, and of a pipe at most 4096; `false`: there is no room for it. It never waits.
    ///
    /// # Errors
    /// What the system call says: nobody may read any more. [`io::ErrorKind::InvalidInput`] of no byte at all, which who reads
    /// would take for the end.
    pub fn send(&self, packet: &[u8]) -> io::Result<bool> {
        if packet.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        loop {
            match rustix::io::write(&self.0, packet) {
                Ok(written) => return Ok(written > 0),
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pipe, udp};

    #[test]
    fn an_event_of_no_byte_is_refused_and_not_taken_for_the_end() {
        for (sender, input) in [udp::loopback().unwrap(), pipe::packets(4).unwrap()] {
            let refused = sender.send(&[]).map_err(|error| error.kind());
            assert_eq!(refused, Err(io::ErrorKind::InvalidInput));
            assert_eq!(input.take(&mut [0; 8]).unwrap(), Taken::Nothing);
        }
    }

    #[test]
    fn drops_that_the_kernel_does_not_count_are_not_none() {
        let numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(drops_of(numbers, 36).unwrap(), 9);
        assert!(drops_of(numbers, 32).is_err());
        let (_sender, input) = pipe::packets(4).unwrap();
        assert_eq!(input.dropped().unwrap(), 0, "no socket");
    }
}

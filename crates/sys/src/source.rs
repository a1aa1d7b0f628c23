//! What events go in and come out of, without anybody waiting.

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
    #[must_use]
    pub fn dropped(&self) -> u64 {
        /// The place of the count among the nine numbers of `SO_MEMINFO`, from linux/sock_diag.h.
        const DROPS: usize = 8;
        let mut numbers = [0_u32; DROPS + 1];
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
        let [.., drops] = numbers;
        if outcome == 0 { drops.into() } else { 0 }
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
    /// What the system call says: nobody may read any more.
    pub fn send(&self, packet: &[u8]) -> io::Result<bool> {
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

//! What events go in and come out of, without anybody waiting.

use super::checked;
use super::net::link::Link;
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// What can be read without waiting.
#[derive(Debug)]
pub struct Input {
    fd: OwnedFd,
    /// Most bytes of one event.
    most: usize,
    /// The interface that events come by, and that drops what finds no room.
    link: Option<Link>,
}

/// What the kernel has dropped since a source was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelDrops {
    /// At the socket, modulo 2^32: its counter has no more.
    pub socket: u32,
    /// At the network interface.
    pub interface: u64,
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
        let link = None;
        Self { fd, most, link }
    }

    /// The same where what this interface drops counts as dropped.
    pub(crate) fn counted_by(self, link: Link) -> Self {
        let link = Some(link);
        Self { link, ..self }
    }

    /// What to wait for.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// How many events found no room on their way here, and the kernel dropped. Nothing is dropped so on its way into anything but a socket and a
    /// network interface.
    ///
    /// # Errors
    /// What the system call says, or that the kernel does not count them.
    pub fn dropped(&self) -> io::Result<KernelDrops> {
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
        let socket = match checked(outcome) {
            Ok(()) => drops_of(numbers, length)?,
            Err(error) if error.raw_os_error() == Some(libc::ENOTSOCK) => 0,
            Err(error) => return Err(error),
        };
        let interface = self.link.as_ref().map_or(Ok(0), Link::dropped)?;
        Ok(KernelDrops { socket, interface })
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
fn drops_of(numbers: [u32; MEMINFO], length: libc::socklen_t) -> io::Result<u32> {
    if usize::try_from(length).is_ok_and(|length| length >= size_of_val(&numbers)) {
        let [.., drops] = numbers;
        return Ok(drops);
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "the kernel does not count the drops of a socket",
    ))
}

/// Where events go in. Any thread may send.
#[derive(Debug)]
pub struct Sender {
    fd: OwnedFd,
    /// Most bytes of one event.
    most: usize,
}

impl Sender {
    /// Into a descriptor that never waits, of which an event has so many bytes at most.
    pub(crate) const fn new(fd: OwnedFd, most: usize) -> Self {
        Self { fd, most }
    }

    /// Most bytes of one event: of a pipe 4096, of datagrams 900, of a pseudo-terminal 1.
    #[must_use]
    pub const fn most(&self) -> usize {
        self.most
    }

    /// Sends an event of at least one byte, and at most [`Self::most`]; `false`: there is no room for it. It never waits.
    ///
    /// # Errors
    /// What the system call says: nobody may read any more. [`io::ErrorKind::InvalidInput`] of no byte at all, which who reads
    /// would take for the end, and of more than fit into one event, which would be several.
    pub fn send(&self, packet: &[u8]) -> io::Result<bool> {
        if packet.is_empty() || packet.len() > self.most {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        loop {
            match rustix::io::write(&self.fd, packet) {
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
    use crate::readiness::Readiness;
    use crate::{pipe, pty, udp};

    /// No byte would be taken for the end, and too many for several events.
    #[test]
    fn what_is_not_one_event_is_refused() {
        let all = [
            udp::loopback().unwrap(),
            pipe::packets(4).unwrap(),
            pty::raw().unwrap(),
        ];
        for (sender, input) in all {
            for length in [0, sender.most() + 1] {
                let refused = sender.send(&vec![1; length]).map_err(|error| error.kind());
                assert_eq!(refused, Err(io::ErrorKind::InvalidInput), "{length}");
            }
            assert_eq!(input.take(&mut [0; 8]).unwrap(), Taken::Nothing);
            let most = sender.most();
            assert!(sender.send(&vec![1; most]).unwrap());
            // A pseudo-terminal hands it on later.
            let readiness = Readiness::new().unwrap();
            readiness.watch(&input, 0).unwrap();
            while readiness.wait().unwrap().tags().count() == 0 {}
            let taken = input.take(&mut vec![0; 2 * most]).unwrap();
            assert_eq!(taken, Taken::Event(most));
        }
    }

    #[test]
    fn drops_that_the_kernel_does_not_count_are_not_none() {
        let numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(drops_of(numbers, 36).unwrap(), 9);
        assert!(drops_of(numbers, 32).is_err());
        let (_sender, input) = pipe::packets(4).unwrap();
        let none = KernelDrops::default();
        assert_eq!(input.dropped().unwrap(), none, "no socket");
    }
}

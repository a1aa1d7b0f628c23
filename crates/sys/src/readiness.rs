//! Readiness of descriptors: each is told once, and again only when that was asked for.
//!
//! A descriptor that has something to read is told by [`Readiness::wait`], and is masked from then on, whatever comes: events
//! that arrive as fast as they can wake the waiting thread no more often than somebody unmasks the descriptor.

use super::source::Input;
use super::waiting::WakeEvent;
use super::{checked, owned};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Most descriptors that are told at once; others come with the next wait.
const READY_MAX: usize = 16;

/// What ended a wait.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    tags: [u64; READY_MAX],
    count: usize,
}

impl Ready {
    /// The tags of the descriptors that are ready, and masked from now on.
    pub fn tags(&self) -> impl Iterator<Item = usize> {
        let told = self.tags.iter().take(self.count);
        told.map(|&tag| usize::try_from(tag).unwrap_or(usize::MAX))
    }
}

/// Waits for descriptors to be ready. One thread waits; any other may unmask.
#[derive(Debug)]
pub struct Readiness {
    poll: OwnedFd,
    stop: WakeEvent,
}

/// The tag of the event that ends all waits.
const STOP: u64 = u64::MAX;

impl Readiness {
    /// Of no descriptor.
    ///
    /// # Errors
    /// What the system calls say.
    pub fn new() -> io::Result<Self> {
        // SAFETY: takes plain numbers.
        let poll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        let readiness = Self {
            poll,
            stop: WakeEvent::new()?,
        };
        let (stop, events) = (readiness.stop.descriptor(), libc::EPOLLIN);
        readiness.control(libc::EPOLL_CTL_ADD, stop, events, STOP)?;
        Ok(readiness)
    }

    /// Watches this one as well, unmasked.
    ///
    /// # Errors
    /// What the system call says: it may be there already, or be something that cannot be waited for.
    pub fn watch(&self, input: &Input, tag: usize) -> io::Result<()> {
        self.unmask(libc::EPOLL_CTL_ADD, input, tag)
    }

    /// Unmasks it: told it is if there is something to read now, or when there is. A system call of a microsecond or two.
    ///
    /// # Errors
    /// What the system call says.
    pub fn arm(&self, input: &Input, tag: usize) -> io::Result<()> {
        self.unmask(libc::EPOLL_CTL_MOD, input, tag)
    }

    fn unmask(&self, how: libc::c_int, input: &Input, tag: usize) -> io::Result<()> {
        let events = libc::EPOLLIN | libc::EPOLLONESHOT;
        self.control(how, input.descriptor(), events, tag as u64)
    }

    fn control(
        &self,
        how: libc::c_int,
        fd: RawFd,
        events: libc::c_int,
        tag: u64,
    ) -> io::Result<()> {
        let mut interest = libc::epoll_event {
            events: events.cast_unsigned(),
            u64: tag,
        };
        // SAFETY: both descriptors are open; `interest` is valid for reading.
        checked(unsafe { libc::epoll_ctl(self.poll.as_raw_fd(), how, fd, &raw mut interest) })
    }

    /// Waits until one is ready, or for [`Self::stop`]. May return earlier, as for a signal.
    ///
    /// # Errors
    /// What the system call says.
    pub fn wait(&self) -> io::Result<Ready> {
        self.wait_for(-1)
    }

    fn wait_for(&self, milliseconds: libc::c_int) -> io::Result<Ready> {
        const ROOM: libc::c_int = READY_MAX as libc::c_int;
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; READY_MAX];
        // SAFETY: the descriptor is open; there is room for so many events.
        let found = unsafe {
            libc::epoll_wait(
                self.poll.as_raw_fd(),
                events.as_mut_ptr(),
                ROOM,
                milliseconds,
            )
        };
        let found = match usize::try_from(found) {
            Ok(found) => found,
            Err(_) => match io::Error::last_os_error() {
                // A signal is as good as nothing.
                error if error.kind() == io::ErrorKind::Interrupted => 0,
                error => return Err(error),
            },
        };
        let mut ready = Ready {
            tags: [0; READY_MAX],
            count: 0,
        };
        for event in events.iter().take(found) {
            let tag = event.u64;
            if tag != STOP
                && let Some(place) = ready.tags.get_mut(ready.count)
            {
                *place = tag;
                ready.count += 1;
            }
        }
        Ok(ready)
    }

    /// Ends all waits, those to come included.
    pub fn stop(&self) {
        self.stop.signal();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::packets;
    use crate::source::Taken;

    fn ready(readiness: &Readiness) -> Vec<usize> {
        readiness.wait_for(0).unwrap().tags().collect()
    }

    #[test]
    fn what_cannot_be_waited_for_is_no_readiness_of_nothing() {
        let mut readiness = Readiness::new().unwrap();
        assert!(readiness.wait_for(0).is_ok());
        // An ordinary file is no epoll instance.
        readiness.poll = std::fs::File::open("/dev/null").unwrap().into();
        let error = readiness.wait_for(0).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }

    #[test]
    fn a_storm_is_told_once_until_it_is_asked_for_again() {
        let (sender, input) = packets(16).unwrap();
        let readiness = Readiness::new().unwrap();
        readiness.watch(&input, 3).unwrap();
        assert_eq!(ready(&readiness), []);
        for _ in 0..5 {
            assert!(sender.send(&[7]).unwrap());
        }
        assert_eq!(ready(&readiness), [3]);
        for _ in 0..5 {
            assert!(sender.send(&[7]).unwrap());
            assert_eq!(ready(&readiness), [], "it is masked");
        }
        // Level-triggered: what is there already counts.
        readiness.arm(&input, 3).unwrap();
        assert_eq!(ready(&readiness), [3]);
        let mut buffer = [0; 8];
        for _ in 0..10 {
            assert_eq!(input.take(&mut buffer).unwrap(), Taken::Event(1));
        }
        assert_eq!(input.take(&mut buffer).unwrap(), Taken::Nothing);
        readiness.arm(&input, 3).unwrap();
        assert_eq!(ready(&readiness), [], "nothing is left");
        assert!(sender.send(&[7]).unwrap());
        assert_eq!(ready(&readiness), [3]);
    }

    #[test]
    fn each_descriptor_is_masked_by_itself_and_the_end_ends_every_wait() {
        let (one, other) = (packets(16).unwrap(), packets(16).unwrap());
        let readiness = Readiness::new().unwrap();
        readiness.watch(&one.1, 0).unwrap();
        readiness.watch(&other.1, 1).unwrap();
        assert!(readiness.watch(&one.1, 2).is_err(), "it is there already");
        assert!(one.0.send(&[1]).unwrap());
        assert_eq!(ready(&readiness), [0]);
        assert!(other.0.send(&[1]).unwrap());
        assert_eq!(ready(&readiness), [1]);
        readiness.stop();
        for _ in 0..2 {
            assert_eq!(readiness.wait().unwrap().tags().count(), 0);
        }
    }

    #[test]
    fn a_closed_sender_is_told_as_well() {
        let (sender, input) = packets(16).unwrap();
        let readiness = Readiness::new().unwrap();
        readiness.watch(&input, 0).unwrap();
        drop(sender);
        assert_eq!(ready(&readiness), [0]);
        assert_eq!(input.take(&mut [0; 8]).unwrap(), Taken::Over);
    }
}

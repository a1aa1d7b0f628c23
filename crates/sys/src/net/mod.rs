//! Network interfaces in network namespaces of their own, for devices whose events come through the kernel's network.
//!
//! A namespace lives as long as something in it does: it, and all that was made in it, is gone when the last socket or
//! interface descriptor of a device is closed. Nothing outside sees it.

pub(crate) mod link;
mod netlink;

use super::checked;
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::thread;

/// Events of networks are no longer than this: what an interface with [`MTU`] passes on in one piece.
pub(crate) const EVENT_BYTES: usize = 900;
/// Less than IPv6 asks for, so that its traffic, which nobody sent, is not there.
pub(crate) const MTU: u32 = 1_024;
/// Both ends of a link.
pub(crate) const ENDS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
/// Those two, and the network's own two addresses.
pub(crate) const PREFIX: u8 = 30;

/// A network namespace.
pub(crate) struct Namespace(File);

impl Namespace {
    /// A new one, with nothing in it but a loopback interface that is down. The calling thread is in it from here on.
    ///
    /// # Errors
    /// What the system calls say: `PermissionDenied` without CAP_SYS_ADMIN.
    pub(crate) fn enter_new() -> io::Result<Self> {
        // SAFETY: takes plain numbers, and changes the calling thread alone.
        checked(unsafe { libc::unshare(libc::CLONE_NEWNET) })
            .map_err(at("make a network namespace"))?;
        let own = File::open("/proc/thread-self/ns/net");
        own.map(Self).map_err(at("open /proc/thread-self/ns/net"))
    }

    /// The calling thread is in it from here on.
    ///
    /// # Errors
    /// What the system call says.
    pub(crate) fn enter(&self) -> io::Result<()> {
        // SAFETY: the descriptor is open; changes the calling thread alone.
        let outcome = unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNET) };
        checked(outcome).map_err(at("enter a network namespace"))
    }

    pub(crate) fn descriptor(&self) -> io::Result<u32> {
        u32::try_from(self.0.as_raw_fd()).map_err(io::Error::other)
    }
}

/// What `make` makes on a thread of its own, which is in a new network namespace and gone afterwards.
///
/// # Errors
/// Those of `make`, and what the system calls say.
pub(crate) fn apart<T: Send>(
    make: impl FnOnce(&Namespace) -> io::Result<T> + Send,
) -> io::Result<T> {
    thread::scope(|scope| {
        let made = thread::Builder::new().spawn_scoped(scope, || make(&Namespace::enter_new()?))?;
        let panicked = |_| Err(io::Error::other("the thread that makes it panicked"));
        made.join().unwrap_or_else(panicked)
    })
}

/// Says what failed beside the error, whose kind stays.
pub(crate) fn at(what: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{what}: {error}"))
}

//! A TUN device: what the kernel routes into it is read from its descriptor, a packet at a time, and each is one event.
//!
//! The interface is in a network namespace of its own, has no packet information before the packets, and is gone with the
//! descriptor. Who sends hands the packets over itself: no interrupt of the kernel is between.

use super::checked;
use super::net::link::{Link, NAME};
use super::net::{ENDS, EVENT_BYTES, apart, at};
use super::source::{Input, Sender};
use std::fs::OpenOptions;
use std::io;
use std::mem::zeroed;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// Where nobody listens: the packets come to whoever reads the device.
const PORT: u16 = 9;

/// Datagrams that go in, and the device's packets: each datagram comes out behind 28 bytes of headers. It has room for 500.
///
/// # Errors
/// What the system calls say: `PermissionDenied` without CAP_SYS_ADMIN and CAP_NET_ADMIN, `NotFound` where there is no
/// `/dev/net/tun`.
pub fn packets() -> io::Result<(Sender, Input)> {
    apart(|_| {
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(at("open /dev/net/tun"))?;
        // SAFETY: the type consists of numbers and bytes, for which zeroes are a value.
        let mut request: libc::ifreq = unsafe { zeroed() };
        for (place, byte) in request.ifr_name.iter_mut().zip(NAME.bytes()) {
            *place = libc::c_char::from_ne_bytes([byte]);
        }
        let kind = libc::IFF_TUN | libc::IFF_NO_PI;
        request.ifr_ifru.ifru_flags = libc::c_short::try_from(kind).unwrap_or_default();
        // SAFETY: the descriptor is open; `request` is valid for reading and writing.
        let made = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        checked(made).map_err(at("make a TUN interface"))?;
        let link = Link::open()?;
        link.limit()?;
        let [own, other] = ENDS;
        link.bring_up(own)?;
        let sender = UdpSocket::bind((own, 0)).map_err(at("bind a socket to the interface"))?;
        sender.connect((other, PORT))?;
        sender.set_nonblocking(true)?;
        let input = Input::new(device.into(), usize::MAX).counted_by(link);
        Ok((Sender::new(sender.into(), EVENT_BYTES), input))
    })
}

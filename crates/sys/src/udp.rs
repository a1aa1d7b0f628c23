//! Datagrams: each is one event, from one network namespace to another; for tests also over the loopback interface.
//!
//! The kernel hands them over in a softirq on the processor of who sends, and drops what finds no room in the receiver's buffer.

use super::net::link::{HARDWARE, Link, make_pair};
use super::net::{ENDS, EVENT_BYTES, Namespace, apart, at};
use super::source::{Input, Sender};
use std::io;
use std::net::UdpSocket;

/// Two sockets on the loopback interface of the process's network namespace that know nobody but each other. The default buffer
/// has room for some hundred small datagrams.
///
/// # Errors
/// What the system calls say: the interface may be down.
#[cfg(any(test, feature = "real"))]
pub fn loopback() -> io::Result<(Sender, Input)> {
    let here = std::net::Ipv4Addr::LOCALHOST;
    let input = UdpSocket::bind((here, 0))?;
    let sender = UdpSocket::bind((here, 0))?;
    introduce(&sender, &input)?;
    Ok((
        Sender::new(sender.into(), EVENT_BYTES),
        Input::new(input.into(), usize::MAX),
    ))
}

/// Two sockets in two network namespaces, which nobody else is in, at the ends of a pair of virtual Ethernet interfaces (`veth`). So
/// no other traffic of the machine, and no filter of it, is between.
///
/// # Errors
/// What the system calls say: `PermissionDenied` without CAP_SYS_ADMIN and CAP_NET_ADMIN.
pub fn between_namespaces() -> io::Result<(Sender, Input)> {
    apart(|there| {
        let [from, to] = ENDS;
        let [from_hardware, to_hardware] = HARDWARE;
        let bound = |address| {
            let socket = UdpSocket::bind((address, 0));
            socket.map_err(at("bind a socket to the interface"))
        };
        // Who receives is up before who sends: an interface whose other end is down begins to send some time after that is up.
        let _here = Namespace::enter_new()?;
        make_pair(there)?;
        let receives = Link::open()?;
        receives.bring_up(to)?;
        receives.knows(from, &from_hardware)?;
        let input = bound(to)?;
        there.enter()?;
        let sends = Link::open()?;
        sends.bring_up(from)?;
        sends.knows(to, &to_hardware)?;
        let sender = bound(from)?;
        introduce(&sender, &input)?;
        let input = Input::new(input.into(), usize::MAX).counted_by(sends);
        Ok((Sender::new(sender.into(), EVENT_BYTES), input))
    })
}

/// They know each other, and nobody else, and never wait.
fn introduce(sender: &UdpSocket, input: &UdpSocket) -> io::Result<()> {
    sender.connect(input.local_addr()?)?;
    input.connect(sender.local_addr()?)?;
    sender.set_nonblocking(true)?;
    input.set_nonblocking(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Taken;
    use crate::{capability, tun};

    #[test]
    fn without_rights_no_interface_is_made_and_nothing_else_instead() {
        let refused = std::thread::spawn(|| {
            capability::drop_all().unwrap();
            [between_namespaces(), tun::packets()]
        });
        for refused in refused.join().unwrap() {
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
            assert!(error.to_string().contains("network namespace"), "{error}");
        }
    }

    fn dropped(input: &Input) -> u64 {
        let drops = input.dropped().unwrap();
        u64::from(drops.socket) + drops.interface
    }

    #[test]
    fn what_finds_no_room_is_dropped_and_counted_by_the_kernel() {
        const SENT: u64 = 3_000;
        let (sender, input) = loopback().unwrap();
        let mut buffer = [0; 64];
        assert_eq!(input.take(&mut buffer).unwrap(), Taken::Nothing);
        assert!(sender.send(&[1; 8]).unwrap());
        assert_eq!(input.take(&mut buffer).unwrap(), Taken::Event(8));
        assert_eq!(dropped(&input), 0);
        for _ in 0..SENT {
            assert!(
                sender.send(&[1; 8]).unwrap(),
                "it is dropped at the other side"
            );
        }
        let mut taken = 0;
        while input.take(&mut buffer).unwrap() == Taken::Event(8) {
            taken += 1;
        }
        assert!(taken > 50 && dropped(&input) > 50, "{taken}");
        assert_eq!(taken + dropped(&input), SENT);
    }
}

//! Datagrams over the loopback interface of the process's network namespace: each is one event.
//!
//! The kernel hands them over in a softirq on the processor of who sends, and drops what finds no room in the receiver's buffer.

use super::source::{Input, Sender};
use std::io;
use std::net::{Ipv4Addr, UdpSocket};

/// Two sockets that know nobody but each other. The default buffer has room for some hundred small datagrams.
///
/// # Errors
/// What the system calls say: the interface may be down.
pub fn loopback() -> io::Result<(Sender, Input)> {
    let input = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    sender.connect(input.local_addr()?)?;
    input.connect(sender.local_addr()?)?;
    for socket in [&sender, &input] {
        socket.set_nonblocking(true)?;
    }
    Ok((
        Sender::new(sender.into()),
        Input::new(input.into(), usize::MAX),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Taken;

    #[test]
    fn what_finds_no_room_is_dropped_and_counted_by_the_kernel() {
        const SENT: u64 = 3_000;
        let (sender, input) = loopback().unwrap();
        let mut buffer = [0; 64];
        assert_eq!(input.take(&mut buffer).unwrap(), Taken::Nothing);
        assert!(sender.send(&[1; 8]).unwrap());
        assert_eq!(input.take(&mut buffer).unwrap(), Taken::Event(8));
        assert_eq!(input.dropped().unwrap(), 0);
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
        assert!(taken > 50 && input.dropped().unwrap() > 50, "{taken}");
        assert_eq!(taken + input.dropped().unwrap(), SENT);
    }
}

//! One end of a link, in its network namespace: made, brought up, and what it has dropped.

use super::netlink::{Body, Netlink, attribute};
use super::{MTU, Namespace, PREFIX, at};
use std::io;
use std::net::Ipv4Addr;

/// Messages and attributes, from linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h, linux/neighbour.h and linux/veth.h.
const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
const NEW_ADDRESS: u16 = 20;
const NEW_NEIGHBOUR: u16 = 28;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
const PERMANENT: u16 = 0x80;
const UP: u32 = 1;

/// What both ends are called, each in its namespace.
pub(crate) const NAME: &str = "events";
/// Those of a pair of interfaces, administered here.
pub(crate) const HARDWARE: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
/// Of the numbers of an interface, each of eight bytes: what it was to send, and has dropped.
const SENT_DROPPED: usize = 7;
/// An answer about an interface has this before its attributes.
const INTERFACE: usize = 16;

/// The end that the namespace of a thread has.
#[derive(Debug)]
pub(crate) struct Link {
    netlink: Netlink,
    index: [u8; 4],
}

/// An interface's fixed part: its number, what it is to be, and what of that is meant.
fn interface(index: [u8; 4], flags: u32) -> Body {
    let flags = flags.to_ne_bytes();
    Body::of(&[&[0; 4], &index, &flags, &flags])
}

fn named() -> Body {
    let name = format!("{NAME}\0");
    interface([0; 4], 0).with(IFLA_IFNAME, name.as_bytes())
}

/// A pair of virtual Ethernet interfaces of which one is in the namespace of the calling thread, and one in `other`.
///
/// # Errors
/// What the kernel says.
pub(crate) fn make_pair(other: &Namespace) -> io::Result<()> {
    let end = |hardware: &[u8]| {
        named()
            .with(IFLA_MTU, &MTU.to_ne_bytes())
            .with(IFLA_ADDRESS, hardware)
    };
    let [theirs, ours] = &HARDWARE;
    let theirs = end(theirs).with(IFLA_NET_NS_FD, &other.descriptor()?.to_ne_bytes());
    let peer = Body::default().with_nested(VETH_INFO_PEER, &theirs);
    let kind = Body::default()
        .with(IFLA_INFO_KIND, b"veth\0")
        .with_nested(IFLA_INFO_DATA, &peer);
    let pair = end(ours).with_nested(IFLA_LINKINFO, &kind);
    let made = Netlink::open()?.create(NEW_LINK, &pair);
    made.map_err(at("make a pair of virtual Ethernet interfaces"))
}

impl Link {
    /// The interface that is called so in the namespace of the calling thread.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn open() -> io::Result<Self> {
        let netlink = Netlink::open()?;
        let found = netlink.get(GET_LINK, &named());
        let found = found.map_err(at("look for the interface"))?;
        let index = found.get(4..8).and_then(|index| index.try_into().ok());
        let index = index.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Self { netlink, index })
    }

    /// It passes on no more than [`MTU`] bytes in one piece.
    pub(crate) fn limit(&self) -> io::Result<()> {
        let limited = interface(self.index, 0).with(IFLA_MTU, &MTU.to_ne_bytes());
        let done = self.netlink.change(NEW_LINK, &limited);
        done.map_err(at("limit what the interface passes on"))
    }

    /// It has this address, and is up.
    pub(crate) fn bring_up(&self, own: Ipv4Addr) -> io::Result<()> {
        let family = u8::try_from(libc::AF_INET).unwrap_or_default();
        let address = Body::of(&[&[family, PREFIX, 0, 0], &self.index])
            .with(IFA_LOCAL, &own.octets())
            .with(IFA_ADDRESS, &own.octets());
        let done = self.netlink.create(NEW_ADDRESS, &address);
        done.map_err(at("give the interface an address"))?;
        let up = self.netlink.change(NEW_LINK, &interface(self.index, UP));
        up.map_err(at("bring the interface up"))
    }

    /// The other end is known, so that it is not asked for: what is sent meanwhile might get lost without a trace.
    pub(crate) fn knows(&self, other: Ipv4Addr, hardware: &[u8]) -> io::Result<()> {
        let family = u8::try_from(libc::AF_INET).unwrap_or_default();
        let state = PERMANENT.to_ne_bytes();
        let neighbour = Body::of(&[&[family, 0, 0, 0], &self.index, &state, &[0; 2]])
            .with(NDA_DST, &other.octets())
            .with(NDA_LLADDR, hardware);
        let done = self.netlink.create(NEW_NEIGHBOUR, &neighbour);
        done.map_err(at("tell the interface of the other end"))
    }

    /// How much it has dropped that was to be sent: because there was no room at the other end, whose reader is late, or in
    /// what the processor there still has to look at.
    pub(crate) fn dropped(&self) -> io::Result<u64> {
        let found = self.netlink.get(GET_LINK, &interface(self.index, 0))?;
        let attributes = found.get(INTERFACE..).unwrap_or_default();
        let counted = attribute(attributes, IFLA_STATS64).and_then(|numbers| {
            let number = numbers.get(SENT_DROPPED * 8..(SENT_DROPPED + 1) * 8)?;
            number.try_into().ok().map(u64::from_ne_bytes)
        });
        counted.ok_or_else(|| {
            let why = "the kernel does not count the drops of an interface";
            io::Error::new(io::ErrorKind::Unsupported, why)
        })
    }
}

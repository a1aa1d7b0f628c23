//! Messages to the kernel about network interfaces (rtnetlink), as far as two ends of a link need them.

use crate::owned;
use rustix::io::{Errno, read, write};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

/// Flags of requests, from linux/netlink.h.
const REQUEST: u16 = 0x1;
const ACKNOWLEDGE: u16 = 0x4;
const EXCLUSIVE: u16 = 0x200;
const CREATE: u16 = 0x400;
/// The answer to a request that asks for nothing but whether it was done.
const ERROR: u16 = 2;
/// The header of each message, in bytes.
const HEADER: usize = 16;
/// What an answer takes at most: that about an interface has some kilobytes.
const ANSWER_BYTES: usize = 32_768;

/// What follows a header, in the kernel's byte order, and attributes behind that.
#[derive(Default)]
pub(super) struct Body(Vec<u8>);

impl Body {
    pub(super) fn of(fixed: &[&[u8]]) -> Self {
        Self(fixed.concat())
    }

    /// An attribute with this value.
    #[must_use]
    pub(super) fn with(mut self, kind: u16, value: &[u8]) -> Self {
        let length = u16::try_from(value.len() + 4).unwrap_or(u16::MAX);
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// An attribute with what is in `inner`.
    #[must_use]
    pub(super) fn with_nested(self, kind: u16, inner: &Self) -> Self {
        self.with(kind, &inner.0)
    }

    /// The message of this kind.
    fn message(&self, kind: u16, flags: u16) -> Vec<u8> {
        let length = u32::try_from(HEADER + self.0.len()).unwrap_or(u32::MAX);
        let mut message = length.to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        // Neither a number nor a sender: one question at a time, and the socket knows whose it is.
        message.extend([0; 8]);
        message.extend(&self.0);
        message
    }
}

/// The attribute of this kind among these.
pub(super) fn attribute(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(number(attributes, 0)?);
        if number(attributes, 2)? == kind {
            return attributes.get(4..length);
        }
        // One that says it is shorter than its own header ends the list.
        attributes = attributes.get(length.max(4).next_multiple_of(4)..)?;
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    bytes.try_into().ok().map(u16::from_ne_bytes)
}

/// Asks the kernel about the network namespace in which it was opened, whichever thread asks.
#[derive(Debug)]
pub(super) struct Netlink(Mutex<OwnedFd>);

impl Netlink {
    /// Of the namespace of the calling thread.
    pub(super) fn open() -> io::Result<Self> {
        // SAFETY: takes plain numbers.
        let socket = unsafe {
            libc::socket(
                libc::AF_NETLINK,
                libc::SOCK_RAW | libc::SOCK_CLOEXEC,
                libc::NETLINK_ROUTE,
            )
        };
        owned(socket).map(Mutex::new).map(Self)
    }

    /// Has something made that is not there yet.
    pub(super) fn create(&self, kind: u16, body: &Body) -> io::Result<()> {
        let flags = ACKNOWLEDGE | CREATE | EXCLUSIVE;
        self.ask(kind, flags, body).map(drop)
    }

    /// Has something changed.
    pub(super) fn change(&self, kind: u16, body: &Body) -> io::Result<()> {
        self.ask(kind, ACKNOWLEDGE, body).map(drop)
    }

    /// What the kernel says of something: the answer behind its header.
    pub(super) fn get(&self, kind: u16, body: &Body) -> io::Result<Vec<u8>> {
        self.ask(kind, 0, body)
    }

    fn ask(&self, kind: u16, flags: u16, body: &Body) -> io::Result<Vec<u8>> {
        let socket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write(&*socket, &body.message(kind, REQUEST | flags))?;
        let mut answer = vec![0; ANSWER_BYTES];
        // The kernel has answered before the writing returned.
        let length = loop {
            match read(&*socket, &mut answer[..]) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        };
        answer.truncate(length);
        checked(answer)
    }
}

/// What is behind the header of an answer, unless that is an error.
fn checked(mut answer: Vec<u8>) -> io::Result<Vec<u8>> {
    let short = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let kind = number(&answer, 4).ok_or_else(short)?;
    let rest = answer.split_off(HEADER.min(answer.len()));
    if kind != ERROR {
        return Ok(rest);
    }
    let code = rest.get(..4).and_then(|code| code.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        None => Err(short()),
        Some(0) => Ok(Vec::new()),
        Some(code) => Err(io::Error::from_raw_os_error(code.saturating_neg())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_nested_and_found_again() {
        let inner = Body::default().with(1, b"veth").with(7, &[9]);
        let body = Body::of(&[&[5; 16]])
            .with(3, b"odd")
            .with_nested(18, &inner);
        // 16 fixed ones, 4 + 3 and one of padding, 4 + (4 + 4) + (4 + 1) and three of padding.
        assert_eq!(body.0.len(), 16 + 8 + 20);
        let attributes = &body.0[16..];
        assert_eq!(attribute(attributes, 3), Some(&b"odd"[..]));
        let nested = attribute(attributes, 18).unwrap();
        assert_eq!(attribute(nested, 1), Some(&b"veth"[..]));
        assert_eq!(attribute(nested, 7), Some(&[9][..]));
        assert_eq!(attribute(attributes, 4), None);
        // Lengths that lie end the search.
        assert_eq!(attribute(&[0; 64], 4), None);
        assert_eq!(attribute(&[200, 0, 4, 0, 1], 4), None);
        let message = body.message(16, REQUEST);
        assert_eq!(message[..8], [60, 0, 0, 0, 16, 0, 1, 0]);
        assert_eq!(message.len(), 60);
    }

    #[test]
    fn an_answer_is_what_was_asked_for_or_an_error() {
        let answer = |kind: u16, rest: &[u8]| {
            let mut answer = vec![0; HEADER];
            answer[4..6].copy_from_slice(&kind.to_ne_bytes());
            answer.extend(rest);
            checked(answer)
        };
        assert_eq!(answer(16, &[1, 2]).unwrap(), [1, 2]);
        assert_eq!(answer(ERROR, &[0; 20]).unwrap(), []);
        let refused = answer(ERROR, &(-libc::EPERM).to_ne_bytes()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert!(answer(ERROR, &[1]).is_err() && checked(vec![0; 3]).is_err());
    }
}

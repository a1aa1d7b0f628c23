//! Semihosting: the same operations and blocks on both processors.

use super::cpu::semihost;
use core::ffi::CStr;

const OPEN: usize = 0x01;
const WRITE0: usize = 0x04;
const READ: usize = 0x06;
const GET_COMMAND_LINE: usize = 0x15;
const EXIT_EXTENDED: usize = 0x20;
const APPLICATION_EXIT: usize = 0x20026;

/// An open file.
pub(crate) struct Handle(usize);

/// Text, which ends with a zero byte; nothing if there is none.
pub(crate) fn write(text: &[u8]) {
    if CStr::from_bytes_until_nul(text).is_ok() {
        // SAFETY: it reads the text up to its zero byte.
        unsafe { semihost(WRITE0, text.as_ptr().addr()) };
    }
}

pub(crate) fn command_line(buffer: &mut [u8]) -> &[u8] {
    let mut block = [buffer.as_mut_ptr().expose_provenance(), buffer.len()];
    // SAFETY: it writes at most the length to the buffer, zero byte included, and the length without that to the block.
    let result = unsafe { semihost(GET_COMMAND_LINE, block.as_mut_ptr().expose_provenance()) };
    let [_, length] = block;
    buffer.get(..length).filter(|_| result == 0).unwrap_or(&[])
}

/// A file to read; its name ends with a zero byte after `length` bytes.
pub(crate) fn open(name: &[u8; 256], length: usize) -> Option<Handle> {
    let block = [name.as_ptr().expose_provenance(), 0, length.min(255)];
    // SAFETY: it reads the block and the name.
    let handle = unsafe { semihost(OPEN, block.as_ptr().expose_provenance()) };
    (handle != usize::MAX).then_some(Handle(handle))
}

/// What comes next in a file, nothing at its end.
pub(crate) fn read<'a>(file: &Handle, buffer: &'a mut [u8]) -> &'a [u8] {
    let block = [
        file.0,
        buffer.as_mut_ptr().expose_provenance(),
        buffer.len(),
    ];
    // SAFETY: it reads the block, and writes at most the length to the buffer.
    let left = unsafe { semihost(READ, block.as_ptr().expose_provenance()) };
    let length = buffer.len().saturating_sub(left);
    buffer.get(..length).unwrap_or(&[])
}

pub(crate) fn exit(code: u32) -> ! {
    let block = [
        APPLICATION_EXIT,
        usize::try_from(code).unwrap_or(usize::MAX),
    ];
    loop {
        // SAFETY: it reads the two words of the block and does not return.
        unsafe { semihost(EXIT_EXTENDED, block.as_ptr().expose_provenance()) };
    }
}

//! Text out, arguments and files in, and the end: semihosting, as QEMU has it.

use crate::port::semihosting;

/// Writes text to whoever runs the image.
pub fn write(text: &str) {
    for part in text.as_bytes().chunks(64) {
        // Text of the interface ends with a zero byte.
        let mut buffer = [0; 65];
        for (to, from) in buffer.iter_mut().zip(part) {
            *to = *from;
        }
        semihosting::write(&buffer);
    }
}

/// Writes a number in decimal.
pub fn write_number(number: u32) {
    let mut digits = [0; 11];
    let mut rest = number;
    let mut used = 0_usize;
    for digit in digits.iter_mut().rev().skip(1) {
        *digit = b'0'.saturating_add(u8::try_from(rest % 10).unwrap_or(0));
        rest /= 10;
        used = used.saturating_add(1);
        if rest == 0 {
            break;
        }
    }
    // Digits, and the zero behind them.
    let from = digits.len().saturating_sub(used.saturating_add(1));
    semihosting::write(digits.get(from..).unwrap_or(&[0]));
}

/// The words with which the image was started, cut off where `buffer` ends.
#[must_use]
pub fn arguments(buffer: &mut [u8]) -> &[u8] {
    semihosting::command_line(buffer)
}

/// A file of whoever runs the image.
pub struct File(semihosting::Handle);

impl File {
    /// Opens a file to read it. Its name is cut off after 255 bytes.
    #[must_use]
    pub fn open(name: &[u8]) -> Option<Self> {
        let mut buffer = [0; 256];
        for (to, from) in buffer.iter_mut().zip(name).take(255) {
            *to = *from;
        }
        semihosting::open(&buffer, name.len().min(255)).map(Self)
    }

    /// Reads on; nothing at its end.
    pub fn read<'a>(&mut self, buffer: &'a mut [u8]) -> &'a [u8] {
        semihosting::read(&self.0, buffer)
    }
}

/// The image ends.
pub fn exit(code: u32) -> ! {
    semihosting::exit(code)
}

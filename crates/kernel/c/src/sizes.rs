//! How large the system is, and what it has: given when it is built.

use vestal_hsf::{Bounded, Features, Hsf, Tick, nodes};

const SERVERS: usize = number(option_env!("HSF_SERVERS"), 6);
const TASKS: usize = number(option_env!("HSF_TASKS"), 36);
const BITS: usize = number(option_env!("HSF_TICK_BITS"), 16);

pub(crate) type System = Hsf<Chosen, SERVERS, TASKS, { nodes(SERVERS, TASKS) }>;

/// What times are stored in.
pub(crate) type Width = <Bits<BITS> as Stored>::Tick;

/// A width by its number of bits. Another number than those below does not compile.
pub(crate) struct Bits<const N: usize>;

pub(crate) trait Stored {
    type Tick: Tick;
}

impl Stored for Bits<4> {
    type Tick = Bounded<u8, 15>;
}

impl Stored for Bits<8> {
    type Tick = u8;
}

impl Stored for Bits<16> {
    type Tick = u16;
}

impl Stored for Bits<32> {
    type Tick = u32;
}

/// What the features of the package say.
#[derive(Debug)]
pub(crate) struct Chosen;

impl Features for Chosen {
    type Tick = Width;
    const POLLING: bool = cfg!(feature = "polling");
    const DEFERRABLE: bool = cfg!(feature = "deferrable");
    const EDF: bool = cfg!(feature = "edf");
    const WAKE_UPS: bool = cfg!(feature = "wake-ups");
}

/// A decimal number of an environment variable, or what holds without it.
const fn number(text: Option<&str>, otherwise: usize) -> usize {
    let Some(text) = text else { return otherwise };
    let mut digits = text.as_bytes();
    assert!(!digits.is_empty(), "a size without digits");
    let mut sum = 0_usize;
    while let Some((digit, rest)) = digits.split_first() {
        assert!(digit.is_ascii_digit(), "a size is a decimal number");
        sum = sum
            .saturating_mul(10)
            .saturating_add((*digit).wrapping_sub(b'0') as usize);
        digits = rest;
    }
    sum
}

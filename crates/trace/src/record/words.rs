//! Values of records as numbers and as words, each said once for both directions.

use super::{DomainId, Mechanism, Refusal};
use alloc::string::String;
use vestal_core::{
    BarrierId, BudgetOwner, CpuId, DeviceId, DropReason, Duration, Instant, Level, OnExhaustion,
    ServerId, Service, StopReason, TaskId,
};

/// What an error says was expected where any number would do.
pub(super) const NUMBER: &str = "a whole number";

/// Adds a number in decimal digits. Without `core::fmt`: a trace has several numbers in each of its lines.
pub(super) fn push_number(line: &mut String, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        let [low, ..] = (number % 10).to_le_bytes();
        *digit += low;
        count += 1;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    let unused = digits.len() - count;
    line.extend(digits.iter().skip(unused).map(|&digit| char::from(digit)));
}

/// Adds a number in sixteen hexadecimal digits.
pub(super) fn push_hex(line: &mut String, number: u64) {
    for byte in number.to_be_bytes() {
        for digit in [byte >> 4, byte & 0xf] {
            line.extend(char::from_digit(u32::from(digit), 16));
        }
    }
}

/// What a field of a record can hold.
pub(super) trait Field: Copy {
    /// What an error calls it if its number is none of its type.
    const NAME: &'static str;
    /// What an error says was expected instead of a word that is none of its type.
    const EXPECTED: &'static str = NUMBER;

    fn number(self) -> u64;
    fn of(number: u64) -> Option<Self>;

    /// Without a number beside it.
    fn word(self) -> &'static str {
        ""
    }
    /// Adds the value to a line.
    fn push(self, line: &mut String) {
        push_number(line, self.number());
    }
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().and_then(Self::of)
    }
}

/// `Type(field type) name`: types of one number.
macro_rules! numbers {
    ($($type:ident($inner:ty) $name:literal)*) => { $(
        impl Field for $type {
            const NAME: &'static str = $name;
            #[inline]
            fn number(self) -> u64 { u64::from(self.0) }
            fn of(number: u64) -> Option<Self> { <$inner>::try_from(number).ok().map($type) }
        }
    )* };
}

numbers! {
    CpuId(u16) "the CPU"
    TaskId(u16) "the task"
    ServerId(u16) "the server"
    DeviceId(u16) "the device"
    BarrierId(u32) "the barrier"
    Level(u8) "the level"
    DomainId(u16) "the domain"
}

/// Plain numbers, as which `u64` counts everything.
macro_rules! counts {
    ($($type:ident)*) => { $(
        impl Field for $type {
            const NAME: &'static str = "the count";
            const EXPECTED: &'static str = "a count";
            #[inline]
            fn number(self) -> u64 { u64::from(self) }
            fn of(number: u64) -> Option<Self> { Self::try_from(number).ok() }
        }
    )* };
}

counts! { u8 u16 u32 u64 }

macro_rules! nanoseconds {
    ($($type:ident)*) => { $(
        impl Field for $type {
            const NAME: &'static str = "the time";
            #[inline]
            fn number(self) -> u64 { self.as_nanos() }
            fn of(number: u64) -> Option<Self> { Some(Self::from_nanos(number)) }
        }
    )* };
}

nanoseconds! { Instant Duration Service }

/// `code "word" Value`, or `code "word" Value(type)` with a number beside the code, written `word:number`.
macro_rules! words {
    ($type:ident, $name:literal, $expected:literal:
        $($code:literal $word:literal $value:ident $(($inner:ty))?),* $(,)?) => {
        impl Field for $type {
            const NAME: &'static str = $name;
            const EXPECTED: &'static str = $expected;

            #[inline]
            fn number(self) -> u64 {
                match self { $( words!(@pattern inner, $value $($inner)?) => $code $(| words!(@number inner, $inner))?, )* }
            }
            fn of(number: u64) -> Option<Self> {
                let (code, _beside) = (number & 0xff, number >> 8);
                match code {
                    $( $code => words!(@of _beside, $value $($inner)?), )*
                    _ => None,
                }
                .filter(|value| value.number() == number)
            }
            fn word(self) -> &'static str {
                match self { $( words!(@pattern _inner, $value $($inner)?) => $word, )* }
            }
            fn push(self, line: &mut String) {
                match self { $( words!(@pattern inner, $value $($inner)?) => words!(@push inner, line, $word $($inner)?), )* }
            }
            fn parse(text: &str) -> Option<Self> {
                let (word, _beside) = text.split_once(':').unwrap_or((text, ""));
                match word {
                    $( $word => words!(@parse _beside, $value $($inner)?), )*
                    _ => None,
                }
            }
        }
    };
    (@pattern $inner:ident, $value:ident) => { Self::$value };
    (@pattern $inner:ident, $value:ident $type:ty) => { Self::$value($inner) };
    (@number $inner:ident, $type:ty) => { $inner.number() << 8 };
    (@of $beside:ident, $value:ident) => { Some(Self::$value) };
    (@of $beside:ident, $value:ident $type:ty) => { <$type>::of($beside).map(Self::$value) };
    (@push $inner:ident, $line:ident, $word:literal) => { $line.push_str($word) };
    (@push $inner:ident, $line:ident, $word:literal $type:ty) => {{
        $line.push_str(concat!($word, ":"));
        push_number($line, $inner.number());
    }};
    (@parse $beside:ident, $value:ident) => { Some(Self::$value) };
    (@parse $beside:ident, $value:ident $type:ty) => { <$type as Field>::parse($beside).map(Self::$value) };
}

words! { StopReason, "the stop reason", "preempted, blocked or cancelled":
    0 "preempted" Preempted,
    1 "blocked" Blocked,
    2 "cancelled" Cancelled,
}

words! { DropReason, "the reason", "a reason for dropping":
    0 "mode" Mode,
    1 "exhausted" Exhausted,
    2 "superseded" Superseded,
    3 "deadline" Deadline,
    4 "backlog-full" BacklogFull,
}

words! { BudgetOwner, "the owner", "`owner=job`, `owner=task:N` or `owner=server:N`":
    0 "job" Job,
    1 "task" Task(TaskId),
    2 "server" Server(ServerId),
}

words! { OnExhaustion, "the consequence", "`then=` and what":
    1 "raise" RaiseMode(Level),
    2 "demote" Demote,
    3 "abort" Abort,
    4 "suspend" Suspend,
}

words! { Mechanism, "the mechanism", "a mechanism":
    0 "decide" Decide,
    1 "switch" Switch,
    2 "release" Release,
    3 "monitor" Monitor,
    4 "mode-change" ModeChange,
    5 "migration" Migration,
    6 "interrupt" Interrupt,
    7 "wake-up" WakeUp,
    8 "barrier" Barrier,
    9 "tracing" Tracing,
    10 "job-end" JobEnd,
    255 "other" Other(u8),
}

impl Mechanism {
    /// What the mechanism is called; a world's own ones share a word and differ by number.
    #[must_use]
    pub fn word(self) -> &'static str {
        Field::word(self)
    }
}

/// What a reason for dropping is called.
#[must_use]
pub fn drop_word(why: DropReason) -> &'static str {
    why.word()
}

/// A flag that has a word if it is set.
impl Field for bool {
    const NAME: &'static str = "the flag";
    const EXPECTED: &'static str = "`guaranteed` or nothing";

    fn number(self) -> u64 {
        u64::from(self)
    }
    fn of(number: u64) -> Option<Self> {
        (number < 2).then_some(number == 1)
    }
    fn push(self, line: &mut String) {
        line.push_str(if self { "guaranteed" } else { "" });
    }
    fn parse(text: &str) -> Option<Self> {
        ["", "guaranteed"]
            .contains(&text)
            .then_some(!text.is_empty())
    }
}

/// What each number of a [`Refusal`] is called; the first stands for number 1.
const REFUSALS: [&str; 14] = [
    "clock-went-back",
    "beyond-horizon",
    "unknown-task",
    "unknown-cpu",
    "not-of-this-policy",
    "unknown-job",
    "release-out-of-order",
    "charged-while-not-running",
    "cpu-busy",
    "too-many-facts",
    "charge-overflow",
    "unknown-server",
    "unknown-device",
    "unknown-barrier",
];

impl Field for Refusal {
    const NAME: &'static str = "the rule";
    const EXPECTED: &'static str = "a rule's name";

    fn number(self) -> u64 {
        u64::from(self.0)
    }
    fn of(number: u64) -> Option<Self> {
        let known = 1..=REFUSALS.len() as u64;
        let code = u8::try_from(number).ok()?;
        known.contains(&number).then_some(Self(code))
    }
    fn push(self, line: &mut String) {
        let word = REFUSALS.get(usize::from(self.0).wrapping_sub(1));
        line.push_str(word.copied().unwrap_or("unknown"));
    }
    fn parse(text: &str) -> Option<Self> {
        let index = REFUSALS.iter().position(|&known| known == text)?;
        u8::try_from(index).ok()?.checked_add(1).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn digits_are_those_that_the_standard_library_writes() {
        let near = (0..64).flat_map(|place| {
            let power = 1_u64 << place;
            [power - 1, power, power + 1]
        });
        let tens = (0..20).map(|place| 10_u64.pow(place));
        let tens = tens.flat_map(|ten| [ten - 1, ten, ten + 1]);
        for number in near.chain(tens).chain([u64::MAX]) {
            let mut line = String::new();
            push_number(&mut line, number);
            assert_eq!(line, number.to_string());
            line.clear();
            push_hex(&mut line, number);
            assert_eq!(line, format!("{number:016x}"));
        }
    }
}

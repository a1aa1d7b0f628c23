//! Painted stacks: what is still painted has never been used. A stack grows down, so that its first word is its end.

/// No instruction, no small number, no address of the boards.
pub(crate) const PAINT: u32 = 0xC0A7_5AFE;

/// Words of a task's stack. A context that is switched out takes 16 of them on a Cortex-M, 32 on riscv32.
pub(crate) const STACK_WORDS: usize = 192;

/// Words at a stack's end that have to be painted whenever its task is switched out: functions leave holes, and one word would be stepped over.
pub(crate) const MARGIN: usize = 8;

/// Words that have never been used.
pub(crate) fn unused(stack: &[u32]) -> usize {
    let painted = stack.iter().take_while(|&&word| word == PAINT);
    painted.fold(0, |count: usize, _| count.saturating_add(1))
}

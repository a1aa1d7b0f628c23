//! Least fixed points of demand that is counted anew in each step.

/// Why a bound was not found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unbounded {
    /// It is at least this, which is too much.
    AtLeast(u64),
    /// Not decided after [`STEPS_MAX`] steps.
    Undecided,
}

/// After so many steps of an iteration, or windows, the test ends.
pub(crate) const STEPS_MAX: u64 = 1_000_000;

/// The least window from `first` on with `window = next(window)`, if it is at most `longest`.
pub(crate) fn least_fixed_point(
    first: u64,
    longest: u64,
    next: impl Fn(u64) -> u64,
) -> Result<u64, Unbounded> {
    let mut window = first;
    for _ in 0..STEPS_MAX {
        let next = next(window);
        if next > longest {
            return Err(Unbounded::AtLeast(next));
        }
        if next == window {
            return Ok(window);
        }
        window = next;
    }
    Err(Unbounded::Undecided)
}

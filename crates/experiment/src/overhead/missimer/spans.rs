//! Parts of the time of a run: what others took of the CPU, and who had it.

/// From and to, in nanoseconds since the run began.
pub type Span = (u64, u64);

/// The same time in the order of its parts, none of which overlap or meet: what several say of one instant is said once. O(n log n).
#[must_use]
pub fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|(from, to)| from < to);
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for (from, to) in spans {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            Some(_) | None => merged.push((from, to)),
        }
    }
    merged
}

/// What lies in one of merged parts and in one of others. O(n m) at worst, where all lie in all; O(n + m) where few do.
#[must_use]
pub fn common(one: &[Span], other: &[Span]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut first = 0;
    for &(from, to) in one {
        while other.get(first).is_some_and(|next| next.1 <= from) {
            first += 1;
        }
        let meeting = other.get(first..).unwrap_or_default().iter();
        let meeting = meeting.take_while(|next| next.0 < to);
        found.extend(meeting.map(|next| (from.max(next.0), to.min(next.1))));
    }
    found
}

/// What lies in one of merged parts and in none of others.
#[must_use]
pub fn without(one: &[Span], other: &[Span]) -> Vec<Span> {
    let befores = std::iter::once(0).chain(other.iter().map(|part| part.1));
    let afters = other.iter().map(|part| part.0).chain([u64::MAX]);
    let rest: Vec<Span> = befores.zip(afters).filter(|(from, to)| from < to).collect();
    common(one, &rest)
}

/// How long merged parts are between two instants.
#[must_use]
pub fn within(spans: &[Span], from: u64, to: u64) -> u64 {
    let parts = common(spans, &[(from, to)]);
    let lengths = parts.iter().map(|(from, to)| to - from);
    lengths.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_twice_counts_once() {
        let spans = merged(vec![(5, 9), (1, 3), (7, 12), (3, 4), (20, 20)]);
        assert_eq!(spans, [(1, 4), (5, 12)]);
        assert_eq!(within(&spans, 0, 30), 10);
        assert_eq!(within(&spans, 3, 6), 2);
        assert_eq!(within(&spans, 12, 30), 0);
    }

    /// Against sets of single instants.
    #[test]
    fn parts_are_what_sets_of_instants_are() {
        const END: u64 = 40;
        let mut state = 7_u64;
        let mut below = |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let mut meeting = 0;
        for _ in 0..2_000 {
            let mut drawn = || {
                let count = below(6);
                let parts = (0..count).map(|_| {
                    let from = below(END);
                    (from, from + below(8))
                });
                merged(parts.collect())
            };
            let (one, other) = (drawn(), drawn());
            let is_in =
                |spans: &[Span], at: u64| spans.iter().any(|part| part.0 <= at && at < part.1);
            let (both, alone) = (common(&one, &other), without(&one, &other));
            for at in 0..END + 10 {
                let (first, second) = (is_in(&one, at), is_in(&other, at));
                assert_eq!(is_in(&both, at), first && second, "{one:?} {other:?} {at}");
                assert_eq!(
                    is_in(&alone, at),
                    first && !second,
                    "{one:?} {other:?} {at}"
                );
            }
            meeting += usize::from(!both.is_empty() && !alone.is_empty());
        }
        assert!((200..1_800).contains(&meeting), "{meeting}");
    }
}

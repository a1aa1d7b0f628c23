//! From what is seen of a run to verdicts.

use super::Checked;
use super::drawing::{Happens, Step, Stretch, Watched};
use crate::verdict;
use vestal_result::claim::Verdict;

const MS: u64 = 1_000_000;

/// Times in ms.
fn millis(nanos: u64) -> String {
    super::grid_rules::Numbers(super::grid::millis(nanos)).to_string()
}

/// The stretches of a task or a device.
fn of<'a>(run: &'a Watched, who: &'a str) -> impl Iterator<Item = &'a Stretch> {
    run.stretches.iter().filter(move |one| one.who == who)
}

/// The stretches of a task, and the `nth` of them, counted from 1.
fn nth<'a>(run: &'a Watched, who: &'a str, nth: usize) -> (String, Option<&'a Stretch>) {
    let own: Vec<&Stretch> = of(run, who).collect();
    let words: Vec<String> = own
        .iter()
        .map(|one| format!("{} to {}", millis(one.from), millis(one.to)))
        .collect();
    let words = format!("{who} executes from {} (ms)", words.join(", from "));
    (
        words,
        nth.checked_sub(1).and_then(|at| own.get(at)).copied(),
    )
}

/// What is found of a stretch, if it is there.
fn of_stretch(
    (words, stretch): (String, Option<&Stretch>),
    holds: impl FnOnce(&Stretch) -> bool,
) -> Checked {
    Checked {
        verdict: match stretch.map(holds) {
            None => Verdict::NotDecided,
            Some(holds) => verdict::from_evidence(holds, !holds),
        },
        numbers: words,
    }
}

/// The `at`-th time that it executes, it does so from then on, in ms.
pub(super) fn begins(run: &Watched, (who, at): (&str, usize), from: u64) -> Checked {
    of_stretch(nth(run, who, at), |one| one.from == from * MS)
}

/// The `at`-th time that it executes, it does so from then until then, in ms.
pub(super) fn lasts(run: &Watched, (who, at): (&str, usize), (from, to): (u64, u64)) -> Checked {
    of_stretch(nth(run, who, at), |one| {
        (one.from, one.to) == (from * MS, to * MS)
    })
}

/// The `at`-th time that it executes, it has done so much by then, in ms, and no more.
pub(super) fn has_by(run: &Watched, (who, at): (&str, usize), (much, by): (u64, u64)) -> Checked {
    of_stretch(nth(run, who, at), |one| {
        one.to.min(by * MS).saturating_sub(one.from) == much * MS
    })
}

/// In no window of this length, in ms, it executes more than so much, and in one exactly that.
pub(super) fn at_most_in(run: &Watched, who: &str, (window, much): (u64, u64)) -> Checked {
    let window = window * MS;
    let within = |from: u64| -> u64 {
        let to = from.saturating_add(window);
        let parts = of(run, who).map(|one| one.to.min(to).saturating_sub(one.from.max(from)));
        parts.sum()
    };
    // The most is in a window that begins, or ends, with a stretch.
    let begins = of(run, who).flat_map(|one| [one.from, one.to.saturating_sub(window)]);
    let most = begins
        .map(|from| (within(from), from))
        .max_by_key(|(much, _)| *much);
    let Some((most, from)) = most else {
        return Checked {
            verdict: Verdict::NotDecided,
            numbers: format!("{who} does not execute"),
        };
    };
    Checked {
        verdict: verdict::from_evidence(most == much * MS, most != much * MS),
        numbers: format!(
            "{who} executes {} ms from {} to {} (ms), and more in no window as long",
            millis(most),
            millis(from),
            millis(from + window)
        ),
    }
}

/// The bottom half of a device executes half as often as in the other run, and so often the CPU is taken from it again.
pub(super) fn half_as_often(run: &Watched, other: &Watched, who: &str) -> Checked {
    let [here, there] = [run, other].map(|run| of(run, who).count());
    let holds = 2 * here == there;
    Checked {
        verdict: match there {
            0 => Verdict::NotDecided,
            _ => verdict::from_evidence(holds, !holds),
        },
        numbers: format!(
            "the CPU is switched to {who} and away from it {here} times each here, and {there} times there"
        ),
    }
}

/// A task waits for a device, which interrupts; its bottom half executes, and the task is woken when that is over, and executes
/// before anybody else. Each as often as it happens.
pub(super) fn request_is_handled(run: &Watched, (task, device): (&str, &str)) -> Checked {
    let at = |who: &str, what: Happens| {
        let steps = run
            .steps
            .iter()
            .filter(move |step| step.who == who && step.what == what);
        steps.map(|step| step.at).collect::<Vec<_>>()
    };
    let waits = at(task, Happens::Waits);
    let (interrupts, wakes) = (at(device, Happens::Interrupts), at(task, Happens::Wakes));
    let numbers = format!(
        "{task} waits from {} on, {device} interrupts at {}, its bottom half executes {}, and {task} is woken at {} (ms)",
        all(&waits),
        all(&interrupts),
        spans(of(run, device)),
        all(&wakes)
    );
    let each = waits
        .iter()
        .zip(&interrupts)
        .zip(of(run, device))
        .zip(&wakes);
    let handled = each.map(|(((wait, interrupt), half), woken)| {
        let next = run.stretches.iter().find(|one| one.from >= half.to);
        wait <= interrupt
            && *interrupt == half.from
            && *woken == half.to
            && next.is_some_and(|next| next.who == task && next.from == half.to)
    });
    let handled: Vec<bool> = handled.collect();
    let is_whole = handled.len() == waits.len();
    let holds = is_whole && handled.iter().all(|one| *one);
    Checked {
        verdict: match handled.is_empty() {
            true => Verdict::NotDecided,
            false => verdict::from_evidence(holds, !holds),
        },
        numbers,
    }
}

/// The bottom half of a device takes the CPU from a less urgent task when it interrupts, each time that it does; the task goes on later.
pub(super) fn preempts(run: &Watched, (device, task): (&str, &str)) -> Checked {
    let steps = run.steps.iter();
    let interrupts = steps.filter(|step| step.who == device && step.what == Happens::Interrupts);
    let taken = interrupts.map(|&Step { at, .. }| {
        let begins = of(run, device).any(|one| one.from == at);
        let ends = of(run, task).any(|one| one.to == at);
        begins && ends && of(run, task).any(|one| one.from > at)
    });
    let taken: Vec<bool> = taken.collect();
    let holds = taken.iter().all(|one| *one);
    Checked {
        verdict: match taken.is_empty() {
            true => Verdict::NotDecided,
            false => verdict::from_evidence(holds, !holds),
        },
        numbers: format!(
            "{task} executes {}, the bottom half of {device} {} (ms)",
            spans(of(run, task)),
            spans(of(run, device))
        ),
    }
}

/// Instants in ms.
fn all(instants: &[u64]) -> String {
    let words: Vec<String> = instants.iter().map(|at| millis(*at)).collect();
    words.join(", ")
}

/// From when until when, in ms.
fn spans<'a>(stretches: impl Iterator<Item = &'a Stretch>) -> String {
    let words: Vec<String> = stretches
        .map(|one| format!("from {} to {}", millis(one.from), millis(one.to)))
        .collect();
    words.join(", ")
}

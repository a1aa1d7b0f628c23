//! What was compared with which equation, and how much of each bound was taken.

use super::drawn::{Bounds, Kind, numbers};
use super::responses::Response;
use std::collections::BTreeMap;
use std::fmt;

/// Of one equation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    pub(super) compared: u64,
    pub(super) reached: u64,
    /// The largest part of a bound.
    pub(super) largest: f64,
    pub(super) exceeded: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) equations: BTreeMap<u8, Line>,
    /// The first that was exceeded.
    pub(super) first: Option<String>,
    pub(super) drawn: u64,
    pub(super) accepted: u64,
    pub(super) runs: u64,
    pub(super) rises: u64,
    pub(super) blocked: u64,
    pub(super) events: u64,
    pub(super) degraded: u64,
    /// Not at its end when it could be compared last.
    pub(super) cut: u64,
    /// Jobs that missed and were guaranteed not to.
    pub(super) missed: u64,
}

impl Tally {
    pub(super) fn line(&self, equation: u8) -> Line {
        self.equations.get(&equation).copied().unwrap_or_default()
    }

    pub(super) fn exceeded(&self) -> u64 {
        self.equations.values().map(|line| line.exceeded).sum()
    }

    /// Compares a response with the equation that speaks of it.
    pub(super) fn compare(&mut self, kind: Kind, bounds: &Bounds, found: &Response) {
        let number = numbers(kind, found.who.1.is_some())[found.phase as usize];
        let bound = bounds
            .get(&found.who)
            .and_then(|by_number| by_number.get(&number));
        let line = self.equations.entry(number).or_default();
        let Some(&bound) = bound else {
            // Who has nothing in mode 1 is not there, and a control may have more bursts than there are bounds.
            return;
        };
        let response = found.to - found.from;
        if response > bound {
            line.exceeded += 1;
            let what = || format!("({number}) {bound} exceeded by {response}: {found:?}");
            self.first.get_or_insert_with(what);
        }
        if found.is_cut {
            self.cut += 1;
            return;
        }
        line.compared += 1;
        line.reached += u64::from(response == bound);
        line.largest = line.largest.max(response as f64 / bound as f64);
        self.degraded += u64::from(found.is_degraded);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.accepted * 100 / self.drawn.max(1);
        writeln!(
            f,
            "{} drawn, {} accepted ({percent} %), {} runs, {} rises, {} events, {} blocked, {} of servers with less, {} cut, {} missed",
            self.drawn,
            self.accepted,
            self.runs,
            self.rises,
            self.events,
            self.blocked,
            self.degraded,
            self.cut,
            self.missed
        )?;
        writeln!(f, "equation  compared  reached  largest part  exceeded")?;
        for (number, line) in &self.equations {
            let Line {
                compared,
                reached,
                largest,
                exceeded,
            } = line;
            writeln!(
                f,
                "{number:>8}  {compared:>8}  {reached:>7}  {largest:>12.4}  {exceeded:>8}"
            )?;
        }
        if let Some(first) = &self.first {
            writeln!(f, "{first}")?;
        }
        Ok(())
    }
}

//! From data to places, and the numbers beside an axis.

use crate::curve::Layout;

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Where `low` and `high` are drawn.
    pub(crate) ends: (f64, f64),
}

/// The steps between 0.01 and 1000; smaller and larger ones are 1, 2 and 5 of their decade.
const STEPS: [f64; 18] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0,
    500.0, 1000.0,
];
/// The decades that have steps.
const DECADES: std::ops::RangeInclusive<i32> = -12..=15;

impl Scale {
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }

    /// Whether the axis has this value, but for what rounding does to its ends.
    pub(crate) fn has(&self, value: f64) -> bool {
        let slack = (self.high - self.low) * 1e-9;
        (self.low - slack..=self.high + slack).contains(&value)
    }

    /// The smallest round step of which at most six make up the axis; of what is kept in files one of [`STEPS`].
    fn step(&self, layout: Layout) -> f64 {
        let span = self.high - self.low;
        let fits = |step: &f64| span / step <= 6.001;
        let usual = STEPS.into_iter().find(fits);
        if layout == Layout::Thinned {
            return usual.unwrap_or(span);
        }
        let decade = |exponent: i32| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(exponent));
        let mut below = DECADES
            .take_while(|exponent| *exponent < -2)
            .flat_map(decade);
        let mut above = DECADES
            .skip_while(|exponent| *exponent < 3)
            .flat_map(decade)
            .skip(1);
        let step = below.find(fits).or(usual);
        step.or_else(|| above.find(fits)).unwrap_or(span)
    }

    /// Round numbers from one end to the other, at most seven, with how they are written.
    pub(crate) fn ticks(&self, layout: Layout) -> Vec<(f64, String)> {
        let step = self.step(layout);
        let decimals = decimals(step);
        let mut ticks = Vec::new();
        let mut tick = (self.low / step - 1e-9).ceil() * step;
        // An axis that cannot be divided has no numbers, and no end.
        while tick <= self.high + step * 1e-6 && ticks.len() < 8 {
            ticks.push((tick, number(tick, decimals)));
            tick += step;
        }
        ticks
    }
}

/// How many decimals tell multiples of a step apart, at least two.
fn decimals(step: f64) -> usize {
    let mut decimals = 2;
    let mut unit = 0.01;
    while step < unit * 0.999 && decimals < 15 {
        unit /= 10.0;
        decimals += 1;
    }
    decimals
}

/// Without decimals that say nothing.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(low: f64, high: f64) -> String {
        let ends = (0.0, 1.0);
        let ticks = Scale { low, high, ends }.ticks(Layout::Whole).into_iter();
        ticks.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_and_reach_both_ends() {
        assert_eq!(shown(0.0, 1.0), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(shown(0.55, 0.88), "0.6 0.7 0.8");
        assert_eq!(shown(0.5, 0.8), "0.5 0.55 0.6 0.65 0.7 0.75 0.8");
        assert_eq!(shown(4.0, 32.0), "5 10 15 20 25 30");
        assert_eq!(shown(2.0, 6.0), "2 3 4 5 6");
    }

    #[test]
    fn small_and_large_spans_have_ticks_that_differ() {
        assert_eq!(shown(0.0, 1e-4), "0 0.00002 0.00004 0.00006 0.00008 0.0001");
        assert_eq!(shown(0.0, 1e6), "0 200000 400000 600000 800000 1000000");
        let mut span = 1e-6;
        while span < 1e9 {
            for low in [0.0, 3.7 * span, -0.4 * span] {
                let shown = shown(low, low + span);
                let ticks: Vec<&str> = shown.split(' ').collect();
                assert!((2..=7).contains(&ticks.len()), "{span}: {shown}");
                let mut once = ticks.clone();
                once.dedup();
                assert_eq!(once, ticks, "{span}");
            }
            span *= 1.7;
        }
    }
}

//! Figures 1 to 4 of Huang, Gill and Lu (2014), section 4.3.
//!
//! Thresholds such as "nearly equal" are words in the paper and numbers here; the numbers are ours,
//! and every finding names them.

use super::{Checked, Claim, Figure, View, refutation};

macro_rules! experiment {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../experiments/huang2014/",
            $name,
            ".toml"
        ))
    };
}

const UTILIZATION: (&str, &str) = ("utilization", "utilization at level 0");
const TASKS: (&str, &str) = ("tasks", "number of tasks");
const FACTOR: (&str, &str) = ("criticality_factor", "criticality factor");
const LEVELS: (&str, &str) = ("levels", "number of criticality levels");

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "huang2014/fig1",
        caption: "FTP-SMC and three analyses of FTP-AMC over utilization; 20 tasks, 2 levels, CF 1.5",
        text: experiment!("fig1"),
        x: UTILIZATION,
        claims: &[
            Claim {
                text: "FTP-AMC accepts more sets than FTP-SMC.",
                needs: &["smc", "amc-rtb"],
                check: |view| ordered(view, "smc", "amc-rtb"),
            },
            Claim {
                text: "AMC-MAX accepts every set that AMC-RT accepts.",
                needs: &["amc-rtb", "amc-max"],
                check: |view| ordered(view, "amc-rtb", "amc-max"),
            },
            Claim {
                text: "AMC-IA accepts more sets than AMC-MAX.",
                needs: &["amc-max", "amc-ia"],
                check: |view| ordered(view, "amc-max", "amc-ia"),
            },
            Claim {
                text: "AMC-IA's advantage over AMC-MAX is a gain in schedulability.",
                needs: &["amc-max", "amc-ia"],
                check: gain_is_real,
            },
            Claim {
                text: "The differences between the three AMC analyses are very small.",
                needs: &["amc-rtb", "amc-max", "amc-ia"],
                check: |view| close(view, &["amc-rtb", "amc-max", "amc-ia"]),
            },
            Claim {
                text: "Outside 0.55 to 0.88 the fraction is either 1 or 0.",
                needs: &["smc", "amc-rtb", "amc-max"],
                check: range_is_that_of_the_axis,
            },
        ],
    },
    Figure {
        name: "huang2014/fig2a",
        caption: "weighted schedulability over the number of tasks; 2 levels, CF 1.5",
        text: experiment!("fig2a"),
        x: TASKS,
        claims: &[
            Claim {
                text: "The curves over the number of tasks are relatively flat.",
                needs: &["smc", "amc-rtb", "amc-max"],
                check: flat,
            },
            Claim {
                text: "AMC-IA performs slightly better than AMC-MAX and AMC-RT.",
                needs: &["amc-rtb", "amc-max", "amc-ia"],
                check: |view| best(view, "amc-ia"),
            },
        ],
    },
    Figure {
        name: "huang2014/fig2b",
        caption: "weighted schedulability over the criticality factor; 20 tasks, 2 levels",
        text: experiment!("fig2b"),
        x: FACTOR,
        claims: &[
            Claim {
                text: "Schedulability decreases as the criticality factor increases.",
                needs: &["smc", "amc-rtb", "amc-max"],
                check: |view| monotone(view, &["smc", "amc-rtb", "amc-max", "amc-ia"], false),
            },
            Claim {
                text: "AMC-IA performs slightly better than AMC-MAX and AMC-RT.",
                needs: &["amc-rtb", "amc-max", "amc-ia"],
                check: |view| best(view, "amc-ia"),
            },
        ],
    },
    Figure {
        name: "huang2014/fig3",
        caption: "fixed job priorities by two job-arrival patterns; 4 tasks, 4 levels, CF 1.5. \
                  `fjp-lb` stands in for the pattern of Li and Baruah, which the paper does not print: \
                  what is found of FJP-LB holds for the stand-in",
        text: experiment!("fig3"),
        x: UTILIZATION,
        claims: &[
            Claim {
                text: "FJP-IJA is far better than FJP-LB.",
                needs: &["fjp-lb", "fjp-ija"],
                check: far_better,
            },
            Claim {
                text: "FJP-LB accepts none of the sets.",
                needs: &["fjp-lb"],
                check: |view| none(view, "fjp-lb"),
            },
            IJA_GAINS,
        ],
    },
    Figure {
        name: "huang2014/fig4a",
        caption: "all approaches over utilization; 20 tasks, 4 levels, CF 1.5",
        text: experiment!("fig4a"),
        x: UTILIZATION,
        claims: FIGURE_4,
    },
    Figure {
        name: "huang2014/fig4b",
        caption: "weighted schedulability of all approaches over the number of tasks; 4 levels, CF 1.5",
        text: experiment!("fig4b"),
        x: TASKS,
        claims: &[
            CMS_BAD,
            IA_ABOVE_ZSS,
            IJA_BEST,
            Claim {
                text: "FTP-SMC and AMC-IA accept more sets as the number of tasks grows, mostly where it is small.",
                needs: &["smc", "amc-ia"],
                check: |view| rises_early(view, &["smc", "amc-ia"]),
            },
        ],
    },
    Figure {
        name: "huang2014/fig4c",
        caption: "weighted schedulability of all approaches over the criticality factor; 20 tasks, 4 levels",
        text: experiment!("fig4c"),
        x: FACTOR,
        claims: FIGURE_4,
    },
    Figure {
        name: "huang2014/fig4d",
        caption: "weighted schedulability of all approaches over the number of criticality levels; 20 tasks, CF 1.5",
        text: experiment!("fig4d"),
        x: LEVELS,
        claims: &[
            CMS_BAD,
            IA_ABOVE_ZSS,
            IJA_BEST,
            // One sentence of the paper, "except for CMS and PT", by approach.
            Claim {
                text: "RMS, FTP-SMC, AMC-IA and FJP-IJA accept more sets with more criticality levels.",
                needs: &["rms", "smc", "amc-ia", "fjp-ija"],
                check: |view| monotone(view, &["rms", "smc", "amc-ia", "fjp-ija"], true),
            },
            Claim {
                text: "ZSS accepts more sets with more criticality levels.",
                needs: &["zss"],
                check: |view| monotone(view, &["zss"], true),
            },
        ],
    },
];

const CMS_BAD: Claim = Claim {
    text: "CMS performs very badly.",
    needs: &["cms"],
    check: cms_is_bad,
};
const IA_ABOVE_ZSS: Claim = Claim {
    text: "AMC-IA performs better than ZSS.",
    needs: &["zss", "amc-ia"],
    check: |view| above(view, "amc-ia", "zss"),
};
const IJA_BEST: Claim = Claim {
    text: "FJP-IJA performs best everywhere.",
    needs: &["fjp-ija", "smc"],
    check: |view| best(view, "fjp-ija"),
};
const IJA_NOT_DOMINANT: Claim = Claim {
    text: "FJP-IJA does not dominate: some sets are accepted by another approach only.",
    needs: &["fjp-ija", "smc"],
    check: not_dominant,
};
const IJA_GAINS: Claim = Claim {
    text: "FJP-IJA's advantage is a gain in schedulability.",
    needs: &["fjp-ija", "fjp-mode"],
    check: ija_gains,
};
const FIGURE_4: &[Claim] = &[CMS_BAD, IA_ABOVE_ZSS, IJA_BEST, IJA_GAINS, IJA_NOT_DOMINANT];

/// Two curves differ visibly from here on.
const NEAR: f64 = 0.05;
/// A curve is flat if its weighted shares stay within this.
const FLAT: f64 = 0.1;

fn percent((yes, sets): (u64, u64)) -> String {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let share = 100.0 * yes as f64 / sets.max(1) as f64;
    format!("{share:.2} % of {sets}")
}

fn shown(examples: &[(usize, u32)]) -> String {
    let examples = examples.iter();
    let list: Vec<String> = examples
        .map(|(point, index)| format!("point {point} index {index}"))
        .collect();
    match list.is_empty() {
        true => String::new(),
        false => format!(" (for instance {})", list.join(", ")),
    }
}

/// Every set that `less` accepts is accepted by `more`, and some besides.
fn ordered(view: &View<'_>, less: &str, more: &str) -> Checked {
    let ((against, examples), (for_it, _)) = (view.only(less, more), view.only(more, less));
    let (a, b) = (percent(view.accepted(less)), percent(view.accepted(more)));
    Checked {
        holds: against == 0 && for_it > 0,
        numbers: format!(
            "{less} accepts {a}, {more} {b} sets; {for_it} by {more} only, {against} by {less} only{}",
            shown(&examples)
        ),
    }
}

/// What AMC-IA accepts beyond the sound analysis is a gain only if AMC-IA can be trusted: it is asked
/// about a set whose worst case is then simulated.
fn gain_is_real(view: &View<'_>) -> Checked {
    let (gained, examples) = view.only("amc-ia", "amc-max");
    let (lost, _) = view.only("amc-max", "amc-ia");
    let probe = refutation::of_amc_ia();
    let words = match probe {
        Some((true, true)) => {
            "amc-ia accepts a set of two tasks that misses a guaranteed deadline in simulation, so its acceptances prove nothing"
        }
        Some((true, false)) => {
            "the known counterexample is accepted, but did not miss in simulation"
        }
        Some((false, _)) => "the known counterexample is not accepted",
        None => "the known counterexample could not be tried",
    };
    Checked {
        holds: gained > 0 && probe != Some((true, true)),
        numbers: format!(
            "{gained} sets are accepted by amc-ia and not by the sound amc-max{}, {lost} the other way round; {words}",
            shown(&examples)
        ),
    }
}

/// FJP-IJA is an unsafe test, so what it accepts beyond the sound test for the same policy is no gain.
fn ija_gains(view: &View<'_>) -> Checked {
    let (beyond, examples) = view.only("fjp-ija", "fjp-mode");
    let (ours, sound) = (view.accepted("fjp-ija"), view.accepted("fjp-mode"));
    let is_sound = vestal_analysis::find("fjp-ija", None).is_some_and(|test| test.is_sound());
    let words = match is_sound {
        true => "it is sound",
        false => {
            "fjp-ija is refuted (`vestal explain fjp-ija` shows a set that misses), so these acceptances prove nothing"
        }
    };
    Checked {
        holds: is_sound && beyond > 0,
        numbers: format!(
            "fjp-ija accepts {}, the sound fjp-mode {} sets; {beyond} by fjp-ija only{}; {words}",
            percent(ours),
            percent(sound),
            shown(&examples)
        ),
    }
}

fn close(view: &View<'_>, tests: &[&str]) -> Checked {
    let mut widest = (0.0, 0.0);
    let curves: Vec<_> = tests.iter().map(|test| view.curve(test)).collect();
    for point in 0..curves.first().map_or(0, Vec::len) {
        let values = || curves.iter().map(|curve| curve[point].1.value);
        let gap = values().fold(0.0, f64::max) - values().fold(1.0, f64::min);
        if gap > widest.0 {
            widest = (gap, curves[0][point].0);
        }
    }
    Checked {
        holds: widest.0 <= NEAR,
        numbers: format!(
            "the largest gap is {:.3} at {:.2}; ours for very small is {NEAR}",
            widest.0, widest.1
        ),
    }
}

fn range_is_that_of_the_axis(view: &View<'_>) -> Checked {
    let mut wrong = Vec::new();
    let (mut first, mut last) = (f64::INFINITY, 0.0_f64);
    for test in view.tests() {
        for (x, share) in view.curve(test) {
            let inside = share.value > 0.0 && share.value < 1.0;
            if inside {
                first = first.min(x);
                last = last.max(x);
            }
            if inside && !(0.55..=0.88).contains(&x) && !wrong.contains(&test.to_owned()) {
                wrong.push(test.to_owned());
            }
        }
    }
    let but = match wrong.is_empty() {
        true => String::new(),
        false => format!("; outside the range: {}", wrong.join(", ")),
    };
    Checked {
        holds: wrong.is_empty(),
        numbers: format!("fractions other than 0 and 1 lie from {first:.2} to {last:.2}{but}"),
    }
}

fn flat(view: &View<'_>) -> Checked {
    let mut widest = (0.0, "");
    let mut parts = Vec::new();
    for test in view.tests() {
        let values: Vec<f64> = view
            .curve(test)
            .iter()
            .map(|(_, share)| share.value)
            .collect();
        let low = values.iter().copied().fold(1.0, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        if high - low > widest.0 {
            widest = (high - low, test);
        }
        parts.push(format!("{test} {low:.3} to {high:.3}"));
    }
    Checked {
        holds: widest.0 <= FLAT,
        numbers: format!("{}; ours for flat is a span of {FLAT}", parts.join(", ")),
    }
}

/// No other curve is above that of `test` anywhere.
fn best(view: &View<'_>, test: &str) -> Checked {
    let ours = view.curve(test);
    let (mut above, mut worst) = (Vec::new(), 0.0_f64);
    for other in view.tests().into_iter().filter(|other| *other != test) {
        let theirs = view.curve(other);
        let gaps = ours
            .iter()
            .zip(&theirs)
            .map(|((_, ours), (_, theirs))| theirs.value - ours.value);
        let gap = gaps.fold(0.0, f64::max);
        if gap > 0.0 {
            above.push(format!("{other} by up to {gap:.3}"));
        }
        worst = worst.max(gap);
    }
    Checked {
        holds: worst <= 0.0,
        numbers: match above.is_empty() {
            true => format!(
                "no other of the {} tests is above it anywhere",
                view.tests().len() - 1
            ),
            false => format!("somewhere above it: {}", above.join(", ")),
        },
    }
}

fn above(view: &View<'_>, better: &str, worse: &str) -> Checked {
    let (ours, theirs) = (view.curve(better), view.curve(worse));
    let below = ours
        .iter()
        .zip(&theirs)
        .filter(|((_, a), (_, b))| a.value < b.value)
        .count();
    let (a, b) = (
        percent(view.accepted(better)),
        percent(view.accepted(worse)),
    );
    Checked {
        holds: below == 0,
        numbers: format!(
            "{better} accepts {a}, {worse} {b} sets; {better} is below {worse} at {below} of {} points",
            ours.len()
        ),
    }
}

/// From one end of the axis to the other every curve rises (or falls), and no step goes the other way
/// by more than the intervals of its ends allow.
fn monotone(view: &View<'_>, tests: &[&str], rising: bool) -> Checked {
    let (mut holds, mut parts) = (true, Vec::new());
    for test in tests {
        let curve = view.curve(test);
        let (Some((_, first)), Some((_, last))) = (curve.first(), curve.last()) else {
            continue;
        };
        let (from, to) = (first.value, last.value);
        let steps = curve.windows(2).filter(|pair| {
            let (a, b) = (pair[0].1, pair[1].1);
            if rising {
                b.high < a.low
            } else {
                b.low > a.high
            }
        });
        let against = steps.count();
        holds &= against == 0 && if rising { to > from } else { to < from };
        parts.push(format!("{test} {from:.3} to {to:.3}"));
    }
    Checked {
        holds,
        numbers: parts.join(", "),
    }
}

/// The curve ends higher than it begins, and more than half of that comes in the first half.
fn rises_early(view: &View<'_>, tests: &[&str]) -> Checked {
    let (mut holds, mut parts) = (true, Vec::new());
    for test in tests {
        let curve = view.curve(test);
        let at = |place: usize| curve.get(place).map_or(0.0, |(_, share)| share.value);
        let (first, middle, last) = (
            at(0),
            at(curve.len() / 2),
            at(curve.len().saturating_sub(1)),
        );
        holds &= last > first && middle - first > last - middle;
        parts.push(format!(
            "{test} {first:.3}, in the middle {middle:.3}, at last {last:.3}"
        ));
    }
    Checked {
        holds,
        numbers: parts.join("; "),
    }
}

fn far_better(view: &View<'_>) -> Checked {
    let (a, b) = (view.accepted("fjp-ija"), view.accepted("fjp-lb"));
    Checked {
        // Ours for far: twice as many.
        holds: a.0 > 0 && a.0 >= 2 * b.0,
        numbers: format!("fjp-ija accepts {}, fjp-lb {} sets", percent(a), percent(b)),
    }
}

fn none(view: &View<'_>, test: &str) -> Checked {
    let accepted = view.accepted(test);
    Checked {
        holds: accepted.0 == 0,
        numbers: format!("{test} accepts {} of {} sets", accepted.0, accepted.1),
    }
}

/// It accepts less than half of what the best one accepts: ours for very badly.
fn cms_is_bad(view: &View<'_>) -> Checked {
    let ours = view.accepted("cms");
    let others = view.tests().into_iter().filter(|test| *test != "cms");
    let others: Vec<(u64, &str)> = others.map(|test| (view.accepted(test).0, test)).collect();
    let most = others.iter().max().copied().unwrap_or((0, "nobody"));
    let below = others.iter().filter(|(count, _)| *count < ours.0);
    let below: Vec<String> = below
        .map(|(count, test)| format!("{test} {count}"))
        .collect();
    let below = match below.is_empty() {
        true => "no test accepts fewer".to_owned(),
        false => format!("fewer: {}", below.join(", ")),
    };
    Checked {
        holds: 2 * ours.0 < most.0,
        numbers: format!(
            "cms accepts {}, that is {} sets, the best, {}, {}; {below}; ours for very badly is less than half",
            percent(ours),
            ours.0,
            most.1,
            most.0
        ),
    }
}

fn not_dominant(view: &View<'_>) -> Checked {
    let mut parts = Vec::new();
    for test in view.tests().into_iter().filter(|test| *test != "fjp-ija") {
        let (count, examples) = view.only(test, "fjp-ija");
        if count > 0 {
            parts.push(format!("{count} by {test}{}", shown(&examples)));
        }
    }
    Checked {
        holds: !parts.is_empty(),
        numbers: match parts.is_empty() {
            true => "no set is accepted by another test only".to_owned(),
            false => format!("accepted, and not by fjp-ija: {}", parts.join(", ")),
        },
    }
}

//! Times and shares as people read them.

use vestal_result::run::ClockSkew;
use vestal_workload::quantity::time_text;

/// A time of the model, exactly.
pub(crate) fn exact(nanos: u64) -> String {
    time_text(nanos)
}

/// A measured time, to three digits after the point of its unit.
pub(crate) fn short(nanos: u64) -> String {
    let (unit, name) = match nanos {
        1_000_000_000.. => (1_000_000_000, "s"),
        1_000_000.. => (1_000_000, "ms"),
        1_000.. => (1_000, "us"),
        _ => return format!("{nanos}ns"),
    };
    let step = unit / 1000;
    let rounded = nanos.saturating_add(step / 2) / step;
    let (whole, fraction) = (rounded / 1000, rounded % 1000);
    if fraction == 0 {
        return format!("{whole}{name}");
    }
    let fraction = format!("{fraction:03}");
    format!("{whole}.{}{name}", fraction.trim_end_matches('0'))
}

/// The same of a time that there may be; a dash where there is none.
pub(crate) fn short_or_dash(nanos: Option<u64>) -> String {
    nanos.map_or_else(|| "-".to_owned(), short)
}

/// By how much clocks of CPUs differ, and what that means.
pub(crate) fn apart(skew: &ClockSkew) -> String {
    let counters = skew.tsc_ns.map_or_else(String::new, |tsc| {
        format!(", their time stamp counters by {}", short(tsc))
    });
    format!(
        "clocks of the CPUs differ by at most {}{counters}: what overlaps across CPUs by less may not have overlapped",
        short(skew.monotonic_ns)
    )
}

/// `part` of `whole` in percent.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "for display, to one digit after the point"
    )]
    let share = part as f64 / whole as f64;
    format!("{:.1}%", share * 100.0)
}

/// The first numbers of a list, and dots if there are more.
pub(crate) fn first_few(list: &[u32], most: usize) -> String {
    let mut shown: Vec<String> = list.iter().take(most).map(u32::to_string).collect();
    if list.len() > most {
        shown.push("...".to_owned());
    }
    shown.join(" ")
}

/// The text, or its beginning and dots, in at most so many signs.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// The text, or both its ends and dots between them, in at most so many signs.
pub(crate) fn cut_inside(text: &str, most: usize) -> String {
    let signs: Vec<char> = text.chars().collect();
    if signs.len() <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(3);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let head: String = signs.iter().take(head).collect();
    let tail: String = signs.iter().skip(signs.len() - tail).collect();
    format!("{head}...{tail}")
}

/// `1 task`, `2 tasks`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_times_are_rounded_and_exact_times_are_not() {
        assert_eq!(short(0), "0ns");
        assert_eq!(short(999), "999ns");
        assert_eq!(short(1_203_457), "1.203ms");
        assert_eq!(short(1_500_000_000), "1.5s");
        assert_eq!(short(999_999_999), "1000ms");
        assert_eq!(exact(1_203_457), "1.203457ms");
    }

    #[test]
    fn a_long_text_is_cut_at_a_sign_and_not_within_one() {
        assert_eq!(cut("as it is", 8), "as it is");
        assert_eq!(cut("a bit longer", 8), "a bit...");
        assert_eq!(cut_inside("a name, levels = 2", 11), "a na... = 2");
        assert_ne!(
            cut_inside("a name, levels = 2", 11),
            cut_inside("a name, levels = 3", 11)
        );
        assert_eq!(cut("\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}", 4), "\u{e4}...");
    }

    #[test]
    fn a_share_of_nothing_is_no_number() {
        assert_eq!(percent(1, 0), "-");
        assert_eq!(percent(1, 8), "12.5%");
    }
}

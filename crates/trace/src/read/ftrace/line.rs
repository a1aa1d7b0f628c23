//! One line of such a text: which event, when, on which CPU, about which threads.
//!
//! A thread's name may contain blanks, colons, brackets and the words of this format, so a line is read
//! from what the tools print around names, never by splitting it at blanks.

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// An event that is of interest.
    Event(Event<'a>),
    /// The tool lost so many events here; at least one if it does not say how many.
    Lost(u64),
    /// Something else: another event, a comment, the frames of a call chain.
    Other,
}

/// An event, in nanoseconds of the recording's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event<'a> {
    pub(super) at: u64,
    pub(super) cpu: u16,
    pub(super) what: Kind<'a>,
}

/// The kinds of [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A CPU goes over from one thread to another.
    Switch {
        prev: Thread<'a>,
        left: Left,
        next: Thread<'a>,
    },
    /// A thread becomes runnable.
    Wakeup { thread: Thread<'a>, stage: Stage },
}

/// A thread, as an event names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thread<'a> {
    pub(super) name: &'a str,
    pub(super) id: u32,
}

/// In which state a thread left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Runnable: preempted, or it yielded.
    Runnable,
    /// In the middle of something: it waits for a device or a lock of the kernel (`D`), or was stopped
    /// by a signal or a debugger (`T`, `t`).
    Waits,
    /// It sleeps until a thread or a timer wakes it.
    Sleeps,
    /// It has ended.
    Ended,
}

/// How far a wake-up is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// `sched_waking`: a wake-up begins. The thread's `sched_wakeup` may follow.
    Waking,
    /// `sched_wakeup`: it is runnable.
    Awake,
    /// `sched_wakeup_new`: it has just been created.
    Created,
}

const EVENTS: [(&str, What); 4] = [
    ("sched_switch:", What::Switch),
    ("sched_waking:", What::Wakeup(Stage::Waking)),
    ("sched_wakeup:", What::Wakeup(Stage::Awake)),
    ("sched_wakeup_new:", What::Wakeup(Stage::Created)),
];

#[derive(Clone, Copy)]
enum What {
    Switch,
    Wakeup(Stage),
}

/// What perf writes before the names of these events.
const SYSTEM: &str = "sched:";

/// Reads a line.
///
/// # Errors
/// What was expected, for a line of an event that is of interest and not as the tools print it.
pub(super) fn parse(line: &str) -> Result<Line<'_>, &'static str> {
    if line.trim_start().starts_with('#') {
        return Ok(Line::Other);
    }
    if let Some(count) = lost(line) {
        return Ok(Line::Lost(count));
    }
    let mut expected = None;
    for (head, what, body) in candidates(line) {
        match instant_and_cpu(head) {
            Ok((at, cpu)) => {
                let what = match what {
                    What::Switch => switch(body)?,
                    What::Wakeup(stage) => Kind::Wakeup {
                        thread: woken(body)
                            .ok_or("a thread, as in `comm=NAME pid=1 prio=2` or `NAME:1 [49]`")?,
                        stage,
                    },
                };
                return Ok(Line::Event(Event { at, cpu, what }));
            }
            // What another event says may look like one of these.
            Err(_) if is_of_another_event(head) => return Ok(Line::Other),
            Err(what) => expected = expected.or(Some(what)),
        }
    }
    match expected {
        Some(expected) => Err(expected),
        None if is_cut(line) => Err("the name of an event and what it says: the line is cut off"),
        None => Ok(Line::Other),
    }
}

/// Each place where one of the events may be named: what stands before, which one, what stands behind.
fn candidates(line: &str) -> impl Iterator<Item = (&str, What, &str)> {
    line.match_indices("sched_").filter_map(|(place, _)| {
        let (head, rest) = line.split_at_checked(place)?;
        let head = head.strip_suffix(SYSTEM).unwrap_or(head);
        let begins = head.ends_with(char::is_whitespace);
        let (name, what) = EVENTS.iter().find(|(name, _)| rest.starts_with(name))?;
        let body = rest.get(name.len()..)?;
        begins.then_some((head, *what, body.trim()))
    })
}

/// What stands between a thread and its event: a CPU in brackets, perhaps flags, an instant, and where
/// perf prints it a period.
fn instant_and_cpu(head: &str) -> Result<(u64, u16), &'static str> {
    let (before, at) = without_period(head)
        .strip_suffix(':')
        .and_then(|head| head.rsplit_once(char::is_whitespace))
        .and_then(|(before, time)| Some((before, nanos(time)?)))
        .ok_or("an instant in seconds before the event, as in `12.345678:`")?;
    // A thread's name may contain brackets itself: the CPU is the last pair with a number.
    let cpu = before
        .match_indices('[')
        .filter_map(|(place, _)| before.get(place.saturating_add(1)..))
        .filter_map(|rest| rest.split_once(']'))
        .filter_map(|(cpu, _)| cpu.trim().parse().ok())
        .next_back()
        .ok_or("a CPU in brackets before the instant, as in `[001]`")?;
    Ok((at, cpu))
}

/// Whether another event than the one that follows has its instant here.
fn is_of_another_event(head: &str) -> bool {
    let head = without_period(head);
    let before = head.rsplit_once(char::is_whitespace);
    let mut words = before.map_or("", |(before, _)| before).split_whitespace();
    words.any(|word| word.strip_suffix(':').and_then(nanos).is_some())
}

/// The period of perf's samples stands behind the instant, and has no colon.
fn without_period(head: &str) -> &str {
    let head = head.trim_end();
    head.trim_end_matches(|letter: char| letter.is_ascii_digit())
        .trim_end()
}

/// Whether a line ends within the name of one of the events.
fn is_cut(line: &str) -> bool {
    let Some((head, last)) = line.trim_end().rsplit_once(char::is_whitespace) else {
        return false;
    };
    let name = last.strip_prefix(SYSTEM).unwrap_or(last);
    let begins = |event: &str| event.starts_with(name) || SYSTEM.starts_with(last);
    last.starts_with("sched")
        && EVENTS.iter().any(|(event, _)| begins(event))
        && instant_and_cpu(head).is_ok()
}

/// How many events a line says were lost, in the words of trace-cmd, of the kernel, or of perf.
fn lost(line: &str) -> Option<u64> {
    let line = line.trim();
    if let Some((_, count)) = line.split_once("PERF_RECORD_LOST lost ") {
        return count.trim().parse().ok();
    }
    let (cpu, rest) = line.strip_prefix("CPU:")?.split_once(" [")?;
    cpu.parse::<u16>().ok()?;
    let what = rest.strip_suffix(']')?;
    match what.strip_suffix("EVENTS DROPPED") {
        Some("") => Some(1),
        Some(count) => count.trim().parse().ok(),
        None => {
            let count = what.strip_prefix("LOST ")?.strip_suffix(" EVENTS")?;
            count.parse().ok()
        }
    }
}

fn switch(body: &str) -> Result<Kind<'_>, &'static str> {
    let mut expected = "`==>` between the threads that leave and come";
    for (place, arrow) in body.match_indices("==>") {
        let (Some(left), Some(right)) = (
            body.get(..place),
            body.get(place.saturating_add(arrow.len())..),
        ) else {
            continue;
        };
        // A name may contain an arrow itself: the right one has threads on both sides.
        match sides(left.trim(), right.trim()) {
            Ok(kind) => return Ok(kind),
            Err(what) => expected = what,
        }
    }
    Err(expected)
}

fn sides<'a>(left: &'a str, right: &'a str) -> Result<Kind<'a>, &'static str> {
    if let Some(rest) = left.strip_prefix("prev_comm=") {
        let (rest, state) = rest
            .rsplit_once(" prev_state=")
            .ok_or("`prev_state=` and a state")?;
        let prev = fields(rest, " prev_pid=", " prev_prio=")
            .ok_or("`prev_comm=NAME prev_pid=1 prev_prio=2` before the state")?;
        let next = right
            .strip_prefix("next_comm=")
            .and_then(|rest| fields(rest, " next_pid=", " next_prio="))
            .ok_or("`next_comm=NAME next_pid=1 next_prio=2` after the arrow")?;
        let left = state_of(state)?;
        return Ok(Kind::Switch { prev, left, next });
    }
    let expected = "threads as in `NAME:1 [120] R ==> NAME:2 [49]`";
    let (thread, state) = left.rsplit_once(']').ok_or(expected)?;
    let prev = short(thread).ok_or(expected)?;
    let (thread, _) = right.rsplit_once(']').ok_or(expected)?;
    let next = short(thread).ok_or(expected)?;
    let left = state_of(state)?;
    Ok(Kind::Switch { prev, left, next })
}

/// The kernel prints the first letter of a state, with `+` for a preemption and others behind `|`.
fn state_of(text: &str) -> Result<Left, &'static str> {
    match text.trim().chars().next() {
        Some('R') => Ok(Left::Runnable),
        Some('D' | 'T' | 't') => Ok(Left::Waits),
        Some('S' | 'I' | 'P') => Ok(Left::Sleeps),
        Some('X' | 'x' | 'Z') => Ok(Left::Ended),
        // Other letters are of other kernels; none of them means that the thread could run.
        Some(letter) if letter.is_ascii_alphanumeric() => Ok(Left::Sleeps),
        Some(_) | None => Err("a state as in `prev_state=S`: R, S, D, T, t, X, Z, P or I"),
    }
}

fn woken(body: &str) -> Option<Thread<'_>> {
    if let Some(rest) = body.strip_prefix("comm=") {
        return fields(rest, " pid=", " prio=");
    }
    let (thread, _) = body.rsplit_once(']')?;
    short(thread)
}

/// The thread in `NAME id-key ID priority-key PRIORITY...`; a name may contain anything.
fn fields<'a>(text: &'a str, id: &str, priority: &str) -> Option<Thread<'a>> {
    let (text, rest) = text.rsplit_once(priority)?;
    // Real-time threads of the kernel have priorities below 0.
    rest.split_whitespace().next()?.parse::<i32>().ok()?;
    let (name, id) = text.rsplit_once(id)?;
    let id = id.parse().ok()?;
    Some(Thread { name, id })
}

/// The thread in `NAME:ID [PRIORITY`.
fn short(text: &str) -> Option<Thread<'_>> {
    let (thread, priority) = text.rsplit_once('[')?;
    priority.trim().parse::<i32>().ok()?;
    let (name, id) = thread.trim_end().rsplit_once(':')?;
    let id = id.parse().ok()?;
    Some(Thread { name, id })
}

/// Seconds with a decimal point, at most nine digits behind it, in nanoseconds: exact.
fn nanos(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = fraction.len();
    let all = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if digits == 0 || digits > 9 || !all(fraction) || !all(seconds) {
        return None;
    }
    let scale = 10_u64.checked_pow(u32::try_from(9_usize.checked_sub(digits)?).ok()?)?;
    seconds
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(fraction.parse::<u64>().ok()?.checked_mul(scale)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> Event<'_> {
        match parse(line) {
            Ok(Line::Event(event)) => event,
            other => panic!("{line}: {other:?}"),
        }
    }

    const fn thread(name: &str, id: u32) -> Thread<'_> {
        Thread { name, id }
    }

    #[test]
    fn seconds_are_read_exactly() {
        assert_eq!(nanos("12.345678"), Some(12_345_678_000));
        assert_eq!(nanos("0.000000001"), Some(1));
        assert_eq!(nanos("1.0000000001"), None);
        assert_eq!(nanos("99999999999999999999.0"), None);
        assert_eq!(nanos("1."), None);
        assert_eq!(nanos("1.+5"), None);
        assert_eq!(nanos("+1.5"), None);
    }

    #[test]
    fn every_tool_s_spelling_of_a_switch_is_the_same_event() {
        let expected = Event {
            at: 1_000_002_000,
            cpu: 1,
            what: Kind::Switch {
                prev: thread("swapper/1", 0),
                left: Left::Runnable,
                next: thread("my task", 47),
            },
        };
        let fields = "prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R+ ==> next_comm=my task next_pid=47 next_prio=49";
        let compact = "swapper/1:0 [120] R ==> my task:47 [49]";
        for (head, body) in [
            (" <idle>-0 [001]  1.000002: sched_switch:  ", compact),
            (" <idle>-0 [001] d..2.  1.000002: sched_switch: ", fields),
            (
                " <idle>-0  (-----) [001] d..2.  1.000002: sched_switch: ",
                fields,
            ),
            ("swapper  0 [001]  1.000002: sched:sched_switch: ", fields),
            (
                "swapper  0/0  [001]  1.000002000:   sched:sched_switch: ",
                fields,
            ),
            (
                "swapper  0 [001]  1.000002:          1 sched:sched_switch: ",
                compact,
            ),
            (
                "[unknown]  0 [001]  1.000002:  sched:sched_switch: ",
                compact,
            ),
            (":0  0 [001]  1.000002:  sched:sched_switch: ", fields),
            (
                "<...>-47  [001] .N.2.  1.000002000: sched_switch: ",
                compact,
            ),
        ] {
            assert_eq!(event(&format!("{head}{body}")), expected, "{head}");
        }
    }

    #[test]
    fn names_may_contain_what_the_format_is_made_of() {
        for name in [
            "a:b [c]",
            "x ==> y",
            "a:1 [2]",
            "prev_pid=7",
            "1.5: sched_x:",
            " ",
        ] {
            let line = format!(
                "{name} 7 [003] 1.5: sched:sched_switch: prev_comm={name} prev_pid=7 prev_prio=-1 prev_state=D|W ==> next_comm={name} next_pid=8 next_prio=89"
            );
            let what = Kind::Switch {
                prev: thread(name, 7),
                left: Left::Waits,
                next: thread(name, 8),
            };
            let (at, cpu) = (1_500_000_000, 3);
            assert_eq!(event(&line), Event { at, cpu, what }, "{name}");
            let line =
                format!("a[b]-7 [003] 1.5: sched_waking: comm={name} pid=7 prio=9 target_cpu=001");
            let thread = thread(name, 7);
            let stage = Stage::Waking;
            let what = Kind::Wakeup { thread, stage };
            assert_eq!(event(&line), Event { at, cpu, what }, "{name}");
        }
        let line = " a[b]-7 [003] 1.5: sched_wakeup_new: a[b]:7 [49] success=1 CPU:003";
        let (thread, stage) = (thread("a[b]", 7), Stage::Created);
        assert_eq!(event(line).what, Kind::Wakeup { thread, stage });
    }

    #[test]
    fn lines_of_no_interest_are_passed_over() {
        for line in [
            "",
            "# tracer: nop",
            "cpus=2",
            "\tffffffff810b __schedule+0x2f ([kernel.kallsyms])",
            "perf 1 [000] 1.5: sched:sched_stat_runtime: comm=a pid=1 runtime=5 [ns]",
            "x-1 [000] .... 1.5: print: it said sched_switch: nothing",
            "the sched_switch word",
            "x-1 [000] 1.5: sched_switching: y",
        ] {
            assert_eq!(parse(line), Ok(Line::Other), "{line}");
        }
    }

    #[test]
    fn lost_events_are_counted_however_the_tool_says_it() {
        for (line, count) in [
            ("CPU:7 [204600 EVENTS DROPPED]", 204_600),
            ("CPU:7 [EVENTS DROPPED]", 1),
            ("CPU:0 [LOST 27 EVENTS]", 27),
            ("perf  1234 [001]  12.5: PERF_RECORD_LOST lost 4", 4),
        ] {
            assert_eq!(parse(line), Ok(Line::Lost(count)), "{line}");
        }
        assert_eq!(parse("CPU:x [LOST 27 EVENTS]"), Ok(Line::Other));
    }

    #[test]
    fn a_line_that_is_cut_off_anywhere_within_its_event_is_refused() {
        let whole = "perf 9 [000] 1.5: sched:sched_switch: prev_comm=a b prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=c d next_pid=18 next_prio=8";
        assert!(matches!(parse(whole), Ok(Line::Event(_))));
        let named = whole.find("sched:").unwrap() + "sched".len();
        for end in named..whole.len() {
            let cut = &whole[..end];
            assert!(parse(cut).is_err(), "{cut}: {:?}", parse(cut));
        }
    }
}

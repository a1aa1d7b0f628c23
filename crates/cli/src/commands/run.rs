//! `vestal run FILE --policy P`: the task set on this machine's CPUs, for real.

use crate::args::RunArgs;
use crate::commands::simulate::exit_beside;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::output::{Output, Style};
use crate::real::{self, Barrier, Clock, Mechanism, Monitor, RealDevice, RealRun, Settings, Storm};
use crate::registry::{check_native, find_policy, registry};
use crate::session::Session;
use crate::tracing;
use crate::watch;
use std::fmt::Write as _;
use vestal_core::Rank;
use vestal_policy::{Cluster, DISPATCHER, Native, Policy, Precision, SUB_FRAME_INIT};
use vestal_workload::model::DeviceKind;
use vestal_workload::quantity::parse_time;

pub(crate) fn run(args: &RunArgs, output: &Output) -> Outcome {
    tracing::check(&args.traces, args.world.inputs())?;
    let policy = find_policy(&args.world.policy, "run a task set")?;
    let settings = settings(args, policy)?;
    if settings.watch {
        check_watch(output)?;
    }
    if !settings.managed {
        check_native(policy, "run")?;
    }
    let session = Session::open(registry(), &args.world, "run", output)?;
    check_mechanism(&session, &settings)?;
    let run = real::execute(&session, &settings, &args.traces, output)?;
    let found = exit(run.result.broken(), args.tolerate_stolen_time);
    let found = exit_beside(run.unwritten.as_ref(), found);
    // Nothing runs any more, and nobody may read what is said.
    let _told = interrupt::told(output);
    // What is missing is said first: the rest may be cut short.
    if let Some(failure) = &run.unwritten {
        output.complaint(failure);
    }
    show(&run, &session, output);
    output.json(&run.result.run)?;
    Ok(found)
}

/// What a run came to: what was guaranteed and did not come beats that of which this is not decided.
pub(super) const fn exit((broken, undecided): (u64, u64), tolerant: bool) -> Exit {
    match (broken, undecided) {
        (0, 0) => Exit::Holds,
        (0, _) if tolerant => Exit::Holds,
        (0, _) => Exit::Undecided,
        (_, _) => Exit::DoesNotHold,
    }
}

/// Whether the paper has a mechanism for the policy, and it is asked for with what belongs to it.
pub(super) fn check_mechanism(session: &Session, settings: &Settings) -> Result<(), Failure> {
    match settings.mechanism {
        Mechanism::Vestal => check_dispatcher(session),
        Mechanism::Huang2014 => {
            check_dispatcher(session)?;
            check_huang2014(session, settings)
        }
        Mechanism::Sigrist2015 => check_sigrist2015(session, settings),
    }
}

/// Nobody dispatches arrivals, and gives workers of frame tables their orders, but the mechanism of Sigrist et al.
pub(super) fn check_dispatcher(session: &Session) -> Result<(), Failure> {
    let options = &session.system.options;
    let of_it = [
        (&DISPATCHER, "a thread that dispatches arrivals"),
        (
            &SUB_FRAME_INIT,
            "workers that are told when a sub-frame begins",
        ),
    ];
    for (option, what) in of_it {
        if let Some(value) = options.given(option) {
            let given = format!("--set {}={value}", option.name);
            let why = format!("only the mechanism of Sigrist et al. (2015) has {what}");
            let help = format!("leave out {given}; `vestal run --mechanism sigrist2015` has that");
            return Err(Failure::input(format!("use {given}"), why).with_help(help));
        }
    }
    Ok(())
}

/// Whether Sigrist et al. have a mechanism for the policy, and it is asked for with what belongs to it.
fn check_sigrist2015(session: &Session, settings: &Settings) -> Result<(), Failure> {
    let refused = |why: &str, help: &str| {
        let what = format!("use --mechanism sigrist2015 with {}", session.system.policy);
        Err(Failure::input(what, why).with_help(help))
    };
    let clusters = &session.system.clusters;
    let has_table = |cluster: &Cluster| cluster.configuration.frames().is_some();
    if !clusters
        .iter()
        .all(|cluster| has_table(cluster) || cluster.has_virtual_deadlines())
    {
        return refused(
            "the paper has mechanisms for frame tables, and for earliest deadlines first with virtual deadlines and modes",
            "use edf-vd, pedf-vd or ftts, or leave out --mechanism sigrist2015",
        );
    }
    match settings.monitor {
        None | Some(Monitor::Manager | Monitor::Heartbeat) => Ok(()),
        Some(Monitor::Perf | Monitor::Remainder | Monitor::PosixTimer) => refused(
            "its overrun checkers sleep until a deadline, or for the period of a heartbeat",
            "take --monitor manager or --monitor heartbeat, or leave it out",
        ),
    }
}

/// Whether Huang, Gill and Lu have a mechanism for the policy, and it is asked for with what belongs to it.
fn check_huang2014(session: &Session, settings: &Settings) -> Result<(), Failure> {
    let refused = |why: &str, help: &str| {
        let what = format!("use --mechanism huang2014 with {}", session.system.policy);
        Err(Failure::input(what, why).with_help(help))
    };
    if settings.monitor.is_some() {
        let why = "the paper's mechanisms have timers of their own";
        return refused(why, "leave out --monitor");
    }
    let configuration = session.configuration();
    let fixed = configuration.guard(Precision::EXACT).is_ok();
    let dispatched = matches!(configuration.rank(0), Some(Rank::Jobs(_)));
    if settings.managed && fixed && !dispatched {
        let why = "the paper dispatches only jobs with priorities of their own";
        return refused(why, "leave out --mechanism huang2014");
    }
    let carried_out = fixed || (settings.managed && dispatched);
    if !carried_out {
        let why = "this version has the paper's mechanisms for fixed priorities, and for jobs with priorities of their own";
        return refused(why, "leave out --mechanism huang2014");
    }
    Ok(())
}

/// Whether a run can be shown while it goes on.
fn check_watch(output: &Output) -> Result<(), Failure> {
    let (why, help) = if !watch::BUILT {
        (
            "this build has no live view",
            "build one on Linux: cargo install --path crates/cli --features watch",
        )
    } else if output.is_json() || !output.is_terminal() {
        (
            "the live view needs a terminal as standard output, for itself",
            "leave out --watch; --trace FILE.pftrace records the run for later",
        )
    } else {
        return Ok(());
    };
    Err(Failure::input("watch the run", why).with_help(help))
}

pub(super) fn settings(args: &RunArgs, policy: &dyn Policy) -> Result<Settings, Failure> {
    let managed = [("native", false), ("managed", true)];
    let managed = chosen("--dispatch", args.dispatch.as_deref(), &managed)?;
    let (monitor, pace_ns) = match args.monitor.as_deref().map(monitor).transpose()? {
        None => (None, None),
        Some((monitor, pace_ns)) => (Some(monitor), pace_ns),
    };
    let barriers = [
        ("pthread", Barrier::Pthread),
        ("futex", Barrier::Futex),
        ("spin", Barrier::Spin),
    ];
    let barrier = chosen("--barrier", args.barrier.as_deref(), &barriers)?;
    let clocks = [("monotonic", Clock::Monotonic), ("tsc", Clock::Tsc)];
    let clock = chosen("--clock", args.clock.as_deref(), &clocks)?;
    let mechanisms = [
        ("vestal", Mechanism::Vestal),
        ("huang2014", Mechanism::Huang2014),
        ("sigrist2015", Mechanism::Sigrist2015),
    ];
    let mechanism = chosen("--mechanism", args.mechanism.as_deref(), &mechanisms)?;
    let deferred = [("immediate", false), ("deferred", true)];
    let deferred = chosen("--termination", args.termination.as_deref(), &deferred)?;
    Ok(Settings {
        // The kernel keeps the order where it can.
        managed: managed.unwrap_or(policy.about().native != Native::Yes),
        native: managed == Some(false),
        mechanism: mechanism.unwrap_or_default(),
        monitor,
        pace_ns,
        barrier,
        clock,
        deferred,
        observe: args.observe,
        marks: args.trace_marker,
        watch: args.watch,
        cpus: args.cpus.as_deref().map(cpus).transpose()?,
        devices: devices(&args.devices)?,
        priorities: args.rt_priority.as_deref().map(priorities).transpose()?,
        tolerance_ns: None,
    })
}

/// Each `NAME=KIND[,storm[=RATE]]` of `--device`.
fn devices(texts: &[String]) -> Result<Vec<RealDevice>, Failure> {
    let mut devices: Vec<RealDevice> = Vec::new();
    for text in texts {
        let refused = |why: String| {
            let failure = Failure::input(format!("use --device {text}"), why);
            failure.with_help(
                "write for instance --device camera=pipe, --device camera=pty,storm or --device camera=pipe,storm=2000",
            )
        };
        let Some((name, what)) = text.split_once('=') else {
            return Err(refused("it does not say what the device is".to_owned()));
        };
        if devices.iter().any(|known| known.name == name) {
            return Err(refused(format!("{name} was named before")));
        }
        let (kind, storm) = match what.split_once(',') {
            Some((kind, storm)) => (kind, Some(storm)),
            None => (what, None),
        };
        let kind = match kind {
            "pipe" => DeviceKind::Pipe,
            "pty" => DeviceKind::Pty,
            "udp" => DeviceKind::Udp,
            "tun" => DeviceKind::Tun,
            other => return Err(refused(format!("`{other}` is no kind of device"))),
        };
        let storm = match storm {
            None => None,
            Some("storm") => Some(Storm::Unbounded),
            Some(other) => {
                let rate = other.strip_prefix("storm=");
                let rate = rate
                    .and_then(|rate| rate.parse().ok())
                    .filter(|rate| *rate > 0);
                let why = || format!("`{other}` is neither storm nor storm with a rate");
                Some(Storm::Rate(rate.ok_or_else(|| refused(why()))?))
            }
        };
        devices.push(RealDevice {
            name: name.to_owned(),
            kind,
            storm,
        });
    }
    Ok(devices)
}

/// `NAME` or `NAME=TIME` of `--monitor`: the time is the period of a heartbeat, or the least that a monitor waits before
/// it looks at a job again.
fn monitor(text: &str) -> Result<(Monitor, Option<u64>), Failure> {
    let known = [
        ("perf", Monitor::Perf),
        ("manager", Monitor::Manager),
        ("remainder", Monitor::Remainder),
        ("heartbeat", Monitor::Heartbeat),
        ("posix-timer", Monitor::PosixTimer),
    ];
    let (name, time) = match text.split_once('=') {
        Some((name, time)) => (name, Some(time)),
        None => (text, None),
    };
    let refused = |why: String, help: &str| {
        let failure = Failure::input(format!("use --monitor {text}"), why);
        failure.with_help(help)
    };
    let monitor = choice("--monitor", name, &known)?;
    let Some(time) = time else {
        return Ok((monitor, None));
    };
    let takes_time = match monitor {
        Monitor::Manager | Monitor::Remainder | Monitor::Heartbeat => true,
        Monitor::Perf | Monitor::PosixTimer => false,
    };
    if !takes_time {
        let why =
            format!("{name} looks at a job when that has used up its budget, and at no other time");
        return Err(refused(
            why,
            "leave out the time, or take manager, remainder or heartbeat with one",
        ));
    }
    match parse_time(time) {
        Some(nanos) => Ok((monitor, Some(nanos))),
        None => Err(refused(
            format!("`{time}` is no time with its unit"),
            "write for instance --monitor heartbeat=500us or --monitor manager=100us",
        )),
    }
}

/// What the value of an option stands for; nothing without one.
pub(super) fn chosen<T: Copy>(
    option: &str,
    value: Option<&str>,
    known: &[(&str, T)],
) -> Result<Option<T>, Failure> {
    let choice = |value| choice(option, value, known);
    value.map(choice).transpose()
}

/// What this value of an option stands for.
fn choice<T: Copy>(option: &str, value: &str, known: &[(&str, T)]) -> Result<T, Failure> {
    if let Some((_, meaning)) = known.iter().find(|(name, _)| *name == value) {
        return Ok(*meaning);
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let why = format!("`{value}` is no value of {option}");
    Err(Failure::input(format!("use {option} {value}"), why)
        .with_help(format!("this version knows: {}", names.join(", "))))
}

/// More entries than any set has CPUs.
const ENTRIES_MAX: usize = 1024;

/// The entries of `--cpus`, for each CPU of the set one of the machine: numbers and ranges, which may repeat.
pub(super) fn cpus(text: &str) -> Result<Vec<usize>, Failure> {
    let refused = |why: String| {
        let failure = Failure::input(format!("use --cpus {text}"), why);
        Err(failure.with_help(
            "write a number or a range for each CPU of the set, for instance --cpus 1, --cpus 0-3 or --cpus 0,1,0,1",
        ))
    };
    let mut entries = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return refused(format!("`{part}` is neither a number nor a range of CPUs"));
        };
        if first > last {
            return refused(format!("the range `{part}` ends before it begins"));
        }
        if last - first >= ENTRIES_MAX - entries.len() {
            return refused(format!("it has more than {ENTRIES_MAX} entries"));
        }
        entries.extend(first..=last);
    }
    Ok(entries)
}

/// Digits and nothing else.
fn number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The CPU of `--cpus` where only one is looked at.
pub(super) fn cpu(text: &str) -> Result<usize, Failure> {
    match cpus(text)?.as_slice() {
        [cpu] => Ok(*cpu),
        entries => {
            let why = format!(
                "it has {} entries, and this is about one CPU",
                entries.len()
            );
            let failure = Failure::input(format!("use --cpus {text}"), why);
            Err(failure.with_help("name one, for instance --cpus 1"))
        }
    }
}

/// `LOW-HIGH` of `--rt-priority`.
fn priorities(text: &str) -> Result<(u8, u8), Failure> {
    let range = text
        .split_once('-')
        .and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match range {
        Some((low, high)) if (1..=99).contains(&low) && low < high && high <= 99 => Ok((low, high)),
        Some(_) | None => Err(Failure::input(
            format!("use --rt-priority {text}"),
            format!("`{text}` is no range of SCHED_FIFO priorities within 1 to 99"),
        )
        .with_help("write for instance --rt-priority 10-80")),
    }
}

/// What came of a run, and what the machine and the mechanisms did, for people.
pub(crate) fn show(run: &RealRun, session: &Session, output: &Output) {
    for warning in &run.warnings {
        output.warning(warning);
    }
    output.human(&run.result.page(session, output));
    let mut text = format!("\n{}\n", output.painter().paint(Style::Bold, "the machine"));
    for line in &run.machine {
        let _ = writeln!(text, "  {line}");
    }
    text.push('\n');
    output.human(&text);
    output.human(&run.result.verdict(session, output));
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_testkit::Random;

    /// What a fuzzer of these words would try: parts that they have, in any order.
    #[test]
    fn whatever_stands_for_cpus_devices_priorities_and_monitors_is_refused_or_accepted() {
        const PARTS: &[&str] = &[
            "0",
            "1",
            "1-98",
            "18446744073709551616",
            "-",
            ",",
            "=",
            "a",
            "a=pipe",
            "storm",
            "manager",
            "heartbeat",
            "us",
            "1ms",
            " ",
            "\u{e9}",
        ];
        let mut random = Random::new(1);
        let mut found = [[0, 0]; 4];
        for _ in 0..40_000 {
            let count = random.below(6);
            let word: String = (0..count).map(|_| random.one_of(PARTS)).collect();
            let accepted = [
                cpus(&word).is_ok(),
                devices(std::slice::from_ref(&word)).is_ok(),
                priorities(&word).is_ok(),
                monitor(&word).is_ok(),
            ];
            for (counts, accepted) in found.iter_mut().zip(accepted) {
                counts[usize::from(accepted)] += 1;
            }
        }
        assert!(found.iter().flatten().all(|count| *count > 0), "{found:?}");
    }

    #[test]
    fn a_missed_guarantee_beats_one_that_is_not_decided() {
        assert_eq!(exit((0, 0), false).code(), 0);
        assert_eq!(exit((0, 3), false).code(), 5);
        assert_eq!(exit((0, 3), true).code(), 0, "--tolerate-stolen-time");
        assert_eq!(exit((1, 3), false).code(), 1);
        assert_eq!(exit((1, 3), true).code(), 1, "which excuses nothing else");
    }

    #[test]
    fn entries_are_numbers_and_ranges_which_may_repeat() {
        for (text, entries) in [
            ("3", vec![3]),
            ("0,1", vec![0, 1]),
            ("0-3", vec![0, 1, 2, 3]),
            ("0,1,0,1", vec![0, 1, 0, 1]),
            ("2,0-1,1-1", vec![2, 0, 1, 1]),
        ] {
            assert_eq!(cpus(text).unwrap(), entries, "{text}");
        }
        assert_eq!(cpus("0-1023").unwrap().len(), ENTRIES_MAX);
    }

    #[test]
    fn what_is_no_list_of_entries_is_refused_with_its_part_and_what_mends_it() {
        for (text, why) in [
            ("", "`` is neither"),
            ("x", "`x` is neither"),
            ("0,,1", "`` is neither"),
            ("0,1-", "`1-` is neither"),
            ("-1", "`-1` is neither"),
            ("+1", "`+1` is neither"),
            ("1-2-3", "`1-2-3` is neither"),
            ("99999999999999999999", "is neither"),
            ("0,3-1", "`3-1` ends before it begins"),
            ("0-1024", "more than 1024"),
            ("0-1022,0-1", "more than 1024"),
            ("0-18446744073709551615", "more than 1024"),
        ] {
            let failure = cpus(text).unwrap_err();
            assert!(failure.why.contains(why), "{text}: {}", failure.why);
            assert_eq!(failure.exit, Exit::BadInput, "{text}");
            assert!(failure.help[0].contains("--cpus 0,1,0,1"), "{text}");
        }
    }

    #[test]
    fn where_only_one_cpu_is_looked_at_several_are_explained() {
        assert_eq!(cpu("3").unwrap(), 3);
        assert!(cpu("0-3").unwrap_err().why.contains("4 entries"));
        assert!(cpu("x").unwrap_err().why.contains("neither"));
    }

    #[test]
    fn a_monitor_may_have_a_time_where_that_says_something() {
        for (text, expected) in [
            ("perf", (Monitor::Perf, None)),
            ("manager", (Monitor::Manager, None)),
            ("manager=100us", (Monitor::Manager, Some(100_000))),
            ("remainder=10us", (Monitor::Remainder, Some(10_000))),
            ("heartbeat=1ms", (Monitor::Heartbeat, Some(1_000_000))),
        ] {
            assert_eq!(monitor(text).unwrap(), expected, "{text}");
        }
        for (text, why) in [
            ("eyes=1ms", "`eyes` is no value of --monitor"),
            ("perf=1ms", "at no other time"),
            ("posix-timer=1ms", "at no other time"),
            ("manager=", "`` is no time"),
            ("heartbeat=5", "`5` is no time"),
        ] {
            let failure = monitor(text).unwrap_err();
            assert!(failure.why.contains(why), "{text}: {}", failure.why);
        }
    }

    #[test]
    fn a_device_is_of_a_kind_and_may_storm() {
        let texts = [
            "camera=pipe",
            "disk=pty,storm",
            "net=udp,storm=2000",
            "tap=tun",
        ];
        let found = devices(&texts.map(str::to_owned)).unwrap();
        let names: Vec<&str> = found.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["camera", "disk", "net", "tap"]);
        assert_eq!(found[1].kind, DeviceKind::Pty);
        let storms: Vec<Option<Storm>> = found.iter().map(|device| device.storm).collect();
        let rate = Some(Storm::Rate(2_000));
        assert_eq!(storms, [None, Some(Storm::Unbounded), rate, None]);
        for (text, why) in [
            ("camera", "does not say"),
            ("camera=usb", "`usb` is no kind"),
            ("camera=pipe,calm", "`calm` is neither"),
            ("camera=pipe,storm=0", "`storm=0` is neither"),
            ("camera=pipe,storm=fast", "`storm=fast` is neither"),
        ] {
            let failure = devices(&[text.to_owned()]).unwrap_err();
            assert!(failure.why.contains(why), "{text}: {}", failure.why);
        }
        let twice = ["camera=pipe", "camera=pipe"].map(str::to_owned);
        assert!(devices(&twice).unwrap_err().why.contains("before"));
    }

    #[test]
    fn priorities_are_a_range_within_those_of_the_kernel() {
        assert_eq!(priorities("10-80").unwrap(), (10, 80));
        for text in ["80-10", "0-80", "10-100", "10", "a-b"] {
            assert!(priorities(text).is_err(), "{text}");
        }
    }
}

//! How often monitors of budgets may look, as `--monitor NAME=TIME` says.

use super::{Monitor, Settings};
use crate::failure::Failure;
use crate::quantity::short;
use vestal_core::Duration;
use vestal_linux::{BOUND_RANGE, HEARTBEAT_RANGE};

/// Refuses a time of `--monitor` at which none can look.
pub(super) fn check(settings: &Settings) -> Result<(), Failure> {
    let (Some(monitor), Some(nanos)) = (settings.monitor, settings.pace_ns) else {
        return Ok(());
    };
    let (name, what, range) = match monitor {
        Monitor::Heartbeat => ("heartbeat", "its period", HEARTBEAT_RANGE),
        Monitor::Remainder => ("remainder", "its least wait", BOUND_RANGE),
        Monitor::Manager | Monitor::Perf | Monitor::PosixTimer => {
            ("manager", "its least wait", BOUND_RANGE)
        }
    };
    if range.contains(&Duration::from_nanos(nanos)) {
        return Ok(());
    }
    let [least, most] = [range.start(), range.end()].map(|end| short(end.as_nanos()));
    let what = format!("{what} may be {least} to {most}");
    let failure = Failure::input(format!("use --monitor {name}={}", short(nanos)), what);
    Err(failure.with_help(format!("write for instance --monitor {name}=1ms")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_at_which_no_monitor_can_look_is_refused_with_the_option_its_unit_and_its_range() {
        let refused = |monitor, nanos| {
            let settings = Settings {
                monitor: Some(monitor),
                pace_ns: Some(nanos),
                ..Settings::default()
            };
            let failure = check(&settings).err()?;
            Some((failure.message(), failure.help))
        };
        for (monitor, nanos, words) in [
            (
                Monitor::Heartbeat,
                1_000,
                "--monitor heartbeat=1us: its period may be 50us to 25ms",
            ),
            (
                Monitor::Manager,
                26_000_000,
                "--monitor manager=26ms: its least wait may be 10us to 25ms",
            ),
            (
                Monitor::Remainder,
                9_999,
                "--monitor remainder=9.999us: its least wait may be 10us to 25ms",
            ),
        ] {
            let (message, help) = refused(monitor, nanos).unwrap();
            assert_eq!(message, format!("failed to use {words}"));
            assert!(help[0].starts_with("write for instance --monitor "));
        }
        assert_eq!(refused(Monitor::Heartbeat, 50_000), None);
        assert_eq!(refused(Monitor::Manager, 25_000_000), None);
    }
}

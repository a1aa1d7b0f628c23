//! The sets of Tables II and III as files, and what their jobs demand.
//!
//! The printed Table II is ambiguous in its units: the text says 100 microseconds for the period of a camera's sporadic server, the table
//! 1 and 2 ms of 100 ms. Taken is the table, with which both systems give the bottom half the same share.

use super::run::{Place, System};

/// The policy of all of them, and its options: at most one job of an application waits, which begins when the one before it has ended.
pub const POLICY: &str = "io-amc";
/// See [`POLICY`].
pub const OPTIONS: &[&str] = &["backlog=1"];

/// Period of everything, in milliseconds.
const PERIOD_MS: u64 = 100;
/// A camera sends so many events a second.
pub const RATE: u64 = 8_000;
/// So much takes an event, in microseconds: all of them together more than any of these servers has.
pub const COST_US: u64 = 5;

/// The first application's C(HI) in milliseconds, in both tables.
const HIGH_MS: u64 = 40;

/// C(LO) of the second application of Table II, in milliseconds.
pub const LOW_APPLICATION_MS: u64 = 10;

/// An application: C(LO) in milliseconds, and what it has in mode HI.
type Application = [u64; 2];

const fn applications(place: Place) -> [Application; 2] {
    match place {
        Place::OneCamera | Place::TwoCameras => [[23, HIGH_MS], [LOW_APPLICATION_MS, 1]],
        Place::Change => [[25, HIGH_MS], [25, 24]],
    }
}

/// A camera: its share in thousandths in each mode, and its level.
struct Shares {
    permille: [u64; 2],
    level: &'static str,
}

const fn cameras(place: Place) -> &'static [Shares] {
    const fn hi(permille: [u64; 2]) -> Shares {
        let level = "HI";
        Shares { permille, level }
    }
    const fn lo(permille: [u64; 2]) -> Shares {
        let level = "LO";
        Shares { permille, level }
    }
    match place {
        Place::OneCamera => &const { [hi([10, 20])] },
        Place::TwoCameras => &const { [hi([10, 20]), lo([20, 10])] },
        Place::Change => &const { [hi([1, 10]), lo([10, 1])] },
    }
}

/// The share of each camera's server in thousandths, in each mode.
#[must_use]
pub fn permille(place: Place) -> Vec<[u64; 2]> {
    let each = cameras(place).iter().map(|camera| camera.permille);
    each.collect()
}

/// What the cameras are called.
#[must_use]
pub fn names(place: Place) -> Vec<String> {
    (1..=cameras(place).len())
        .map(|number| format!("camera{number}"))
        .collect()
}

/// The set as a file.
#[must_use]
pub fn text(place: Place, system: System) -> String {
    let [first, second] = applications(place);
    let mut text = format!(
        "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n\n\
         [[task]]\nname = \"app1\"\ncriticality = \"HI\"\nperiod = {PERIOD_MS}\nwcet = {{ LO = {}, HI = {} }}\n\n\
         [[task]]\nname = \"app2\"\ncriticality = \"LO\"\nperiod = {PERIOD_MS}\nwcet = {{ LO = {} }}\n\n\
         [[server]]\nname = \"app1\"\nkind = \"sporadic\"\ncriticality = \"HI\"\nperiod = {PERIOD_MS}\n\
         capacity = {{ LO = {}, HI = {} }}\npriority = 2\ntasks = [\"app1\"]\n\n\
         [[server]]\nname = \"app2\"\nkind = \"sporadic\"\ncriticality = \"LO\"\nperiod = {PERIOD_MS}\n\
         capacity = {{ LO = {} }}\ndegraded = {{ HI = {} }}\npriority = 1\ntasks = [\"app2\"]\n",
        first[0], first[1], second[0], first[0], first[1], second[0], second[1],
    );
    for (name, shares) in names(place).iter().zip(cameras(place)) {
        text.push_str(&server(name, shares, system));
        let (cost, period) = (thousandths(COST_US), thousandths(1_000_000 / RATE));
        text.push_str(&format!(
            "\n[[device]]\nname = \"{name}\"\nserver = \"{name}\"\ncost = {cost}\narrival = \"periodic\"\nperiod = {period}\n",
        ));
    }
    text
}

fn thousandths(value: u64) -> String {
    format!("{}.{:03}", value / 1_000, value % 1_000)
}

/// Sporadic servers of bottom halves go before the applications, as interrupts do; of a PIBS whom it serves says that.
fn server(name: &str, shares: &Shares, system: System) -> String {
    let [lo, hi] = shares.permille;
    let level = shares.level;
    let head = format!("\n[[server]]\nname = \"{name}\"\ncriticality = \"{level}\"\n");
    match system {
        System::SsPibs => {
            let [lo, hi] = [lo, hi].map(thousandths);
            format!(
                "{head}kind = \"pibs\"\nutilization = {{ LO = {lo}, HI = {hi} }}\nserves = [\"app1\"]\n"
            )
        }
        System::SsOnly => {
            let [lo, hi] = [lo, hi].map(|permille| thousandths(permille * PERIOD_MS));
            let (capacity, priority) = match level {
                "HI" => (format!("capacity = {{ LO = {lo}, HI = {hi} }}"), 4),
                _ => (
                    format!("capacity = {{ LO = {lo} }}\ndegraded = {{ HI = {hi} }}"),
                    3,
                ),
            };
            format!(
                "{head}kind = \"sporadic\"\nperiod = {PERIOD_MS}\n{capacity}\npriority = {priority}\n"
            )
        }
    }
}

/// What jobs demand at most, as after `--scenario`.
#[must_use]
pub const fn scenario(place: Place) -> &'static str {
    match place {
        Place::OneCamera | Place::TwoCameras => "lo",
        Place::Change => "hi",
    }
}

/// What the job with this number of an application demands in a run of so long, in milliseconds: C(LO). Where the mode is to rise at half
/// time, the first application needs more than its C(HI) from then on: it is late from then on, so that the mode stays.
#[must_use]
pub const fn demand_ms(place: Place, application: usize, (job, span_ms): (u64, u64)) -> u64 {
    let [[low, high], [other, _]] = applications(place);
    match (place, application) {
        (Place::Change, 0) if 2 * job * PERIOD_MS >= span_ms => high + 1,
        (Place::OneCamera | Place::TwoCameras | Place::Change, 0) => low,
        (Place::OneCamera | Place::TwoCameras | Place::Change, _) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_workload::{Source, TaskSet};

    fn read(text: &str) -> TaskSet {
        let source = Source::new("missimer.toml", text);
        TaskSet::from_source(&source).unwrap_or_else(|found| panic!("{found}\n{text}"))
    }

    #[test]
    fn every_set_is_read_and_has_the_paper_s_budgets() {
        for place in Place::ALL {
            for &system in &[System::SsOnly, System::SsPibs] {
                let set = read(&text(place, system));
                assert_eq!(set.tasks.len(), 2);
                assert_eq!(set.servers.len(), 2 + names(place).len());
                assert_eq!(set.devices.len(), names(place).len());
            }
        }
        let two = text(Place::TwoCameras, System::SsPibs);
        assert!(
            two.contains("utilization = { LO = 0.010, HI = 0.020 }"),
            "{two}"
        );
        assert!(
            two.contains("utilization = { LO = 0.020, HI = 0.010 }"),
            "{two}"
        );
        let only = text(Place::OneCamera, System::SsOnly);
        assert!(
            only.contains("capacity = { LO = 1.000, HI = 2.000 }"),
            "{only}"
        );
        assert!(only.contains("period = 0.125"), "{only}");
    }

    /// With what it takes to read them they are more still.
    #[test]
    fn no_server_can_read_all_events_of_its_camera() {
        let shares = Place::ALL.iter().flat_map(|&place| cameras(place));
        let largest = shares.flat_map(|camera| camera.permille).max().unwrap();
        let asked_permille = RATE * COST_US / 1_000;
        assert_eq!((asked_permille, largest), (40, 20));
        let two = text(Place::TwoCameras, System::SsPibs);
        assert_eq!(two.matches("cost = 0.005\n").count(), 2);
    }

    #[test]
    fn the_mode_rises_with_the_first_job_of_the_second_half() {
        let of = |application, job| demand_ms(Place::Change, application, (job, 6_000));
        assert_eq!([29, 30, 59].map(|job| of(0, job)), [25, 41, 41]);
        assert_eq!([29, 30].map(|job| of(1, job)), [25, 25]);
        let quiet = |job| demand_ms(Place::TwoCameras, 0, (job, 6_000));
        assert_eq!([0, 59].map(quiet), [23, 23]);
    }
}

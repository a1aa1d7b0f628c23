//! What is compared: a policy, and which mechanisms of `vestal run` carry it out. A further one is a further row.

/// What carrying a policy out of a kind consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Frame tables (FTTS): six parts.
    Frames,
    /// Partitioned EDF with virtual deadlines: four.
    Deadlines,
}

/// The parts of section VI-C, by their names in results.
pub mod part {
    /// Frames begin.
    pub const FRAME_INIT: &str = "frame-init";
    /// Sub-frames begin, with their jobs.
    pub const SUB_FRAME_INIT: &str = "sub-frame-init";
    /// CPUs wait for each other, once the last one is there.
    pub const BARRIER: &str = "barrier";
    /// A sub-frame is dropped.
    pub const SUB_FRAME_OVERRUN: &str = "sub-frame-overrun";
    /// Jobs are released.
    pub const JOB_ARRIVAL: &str = "job-arrival";
    /// Jobs end.
    pub const JOB_FINISH: &str = "job-finish";
    /// Budgets are watched.
    pub const MONITORING: &str = "monitoring";
    /// A budget was used up.
    pub const JOB_OVERRUN: &str = "job-overrun";
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Frames, Self::Deadlines];

    /// The policy, which is also the name of its test.
    #[must_use]
    pub const fn policy(self) -> &'static str {
        match self {
            Self::Frames => "ftts",
            Self::Deadlines => "pedf-vd",
        }
    }

    /// What the paper calls it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Frames => "FTTS",
            Self::Deadlines => "pEDF-VD",
        }
    }

    /// How often jobs overrun in the paper's runs (captions of Fig. 6 and 7), as after `--scenario`.
    #[must_use]
    pub const fn scenario(self) -> &'static str {
        match self {
            Self::Frames => "overrun=0.3",
            Self::Deadlines => "overrun=0.5",
        }
    }

    /// Its parts.
    #[must_use]
    pub const fn parts(self) -> &'static [&'static str] {
        use part::*;
        match self {
            Self::Frames => &[
                FRAME_INIT,
                SUB_FRAME_INIT,
                BARRIER,
                SUB_FRAME_OVERRUN,
                JOB_ARRIVAL,
                JOB_FINISH,
            ],
            Self::Deadlines => &[JOB_ARRIVAL, JOB_FINISH, MONITORING, JOB_OVERRUN],
        }
    }
}

/// A row of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name in tables and files.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Which policy it carries out.
    pub kind: Kind,
    /// What else `vestal run` is told.
    pub options: &'static [&'static str],
    /// Whether the mechanism is the paper's, rebuilt.
    pub is_of_paper: bool,
    /// Whether budgets are watched at regular intervals, of so many nanoseconds, whatever jobs do.
    pub heartbeat_ns: Option<u64>,
    /// How many CPUs it takes beside those that have tasks.
    pub more_cpus: u16,
}

const fn row(
    name: &'static str,
    kind: Kind,
    options: &'static [&'static str],
    what: &'static str,
) -> Variant {
    Variant {
        name,
        what,
        kind,
        options,
        is_of_paper: false,
        heartbeat_ns: None,
        more_cpus: 0,
    }
}

impl Variant {
    const fn of_paper(self) -> Self {
        let is_of_paper = true;
        Self {
            is_of_paper,
            ..self
        }
    }

    const fn on_one_more_cpu(self) -> Self {
        let more_cpus = 1;
        Self { more_cpus, ..self }
    }

    const fn at_each_millisecond(self) -> Self {
        let heartbeat_ns = Some(1_000_000);
        Self {
            heartbeat_ns,
            ..self
        }
    }
}

/// Everything that runs drawn sets. Of a kind the one that claims of ours speak of comes first.
#[rustfmt::skip]
pub const VARIANTS: &[Variant] = &[
    row("ftts/spin", Kind::Frames, &["--barrier", "spin"], "frames, barriers that spin before they wait in a futex"),
    row("ftts/futex", Kind::Frames, &["--barrier", "futex"], "frames, barriers in a futex"),
    row("ftts/pthread", Kind::Frames, &["--barrier", "pthread"], "frames, barriers of the pthread library"),
    row("ftts/sigrist2015", Kind::Frames, &["--mechanism", "sigrist2015"], "frames by the threads of the paper").of_paper(),
    row("pedf-vd/manager", Kind::Deadlines, &["--monitor", "manager"], "a manager dispatches, budgets by deadline-based monitoring"),
    row("pedf-vd/remainder", Kind::Deadlines, &["--monitor", "remainder"], "the same, with timers that stand still while their jobs are preempted"),
    row("pedf-vd/heartbeat", Kind::Deadlines, &["--monitor", "heartbeat=1ms"], "the same, budgets by a look each millisecond").at_each_millisecond(),
    row("pedf-vd/sigrist2015", Kind::Deadlines, &["--mechanism", "sigrist2015"], "partitioned EDF-VD by the threads of the paper").of_paper(),
];

/// What else there is to choose for both policies, as much of it as differs from the first of its kind in one thing.
#[rustfmt::skip]
pub const ALTERNATIVES: &[Variant] = &[
    row("ftts/spin/tsc", Kind::Frames, &["--barrier", "spin", "--clock", "tsc"], "frames, barriers that spin, instants by the time stamp counter"),
    row("ftts/sigrist2015/spin", Kind::Frames, &["--mechanism", "sigrist2015", "--barrier", "spin"], "the paper's threads, barriers that spin").of_paper(),
    row("ftts/sigrist2015/distributed", Kind::Frames, &["--mechanism", "sigrist2015", "--set", "sub-frame-init=distributed"], "the paper's threads, a worker of each CPU begins its sub-frames").of_paper(),
    row(OWN, Kind::Frames, &["--mechanism", "sigrist2015", "--set", "dispatcher=own"], "the paper's threads, the dispatcher on a CPU of its own").of_paper().on_one_more_cpu(),
    row("pedf-vd/manager/two-queues", Kind::Deadlines, &["--monitor", "manager", "--set", "queues=2"], "a manager dispatches, a queue of ready jobs for each mode"),
    row("pedf-vd/manager/deferred", Kind::Deadlines, &["--monitor", "manager", "--termination", "deferred"], "a manager dispatches, stopped jobs end when nothing else is to be done"),
    row("pedf-vd/sigrist2015/immediate", Kind::Deadlines, &["--mechanism", "sigrist2015", "--termination", "immediate"], "by the threads of the paper, stopped jobs end at once").of_paper(),
    row("pedf-vd/sigrist2015/own", Kind::Deadlines, &["--mechanism", "sigrist2015", "--set", "dispatcher=own"], "by the threads of the paper, dispatchers on a CPU of their own").of_paper().on_one_more_cpu(),
];

/// What runs the flight management system (Table II): ours, and the paper's threads with the dispatcher on the first worker's CPU and
/// on a CPU of its own, for which `--cpus` has one entry more.
#[rustfmt::skip]
pub const FLIGHT: &[Variant] = &[
    row("ftts/spin", Kind::Frames, &["--barrier", "spin"], "frames, barriers that spin before they wait in a futex"),
    row(SHARED, Kind::Frames, &["--mechanism", "sigrist2015", "--set", "dispatcher=shared"], "the paper's threads, the dispatcher on a worker's CPU").of_paper(),
    row(OWN, Kind::Frames, &["--mechanism", "sigrist2015", "--set", "dispatcher=own"], "the paper's threads, the dispatcher on a CPU of its own").of_paper().on_one_more_cpu(),
];

/// The paper's threads, the dispatcher on a worker's CPU.
pub const SHARED: &str = "ftts/sigrist2015/shared";
/// The paper's threads, the dispatcher on a CPU of its own.
pub const OWN: &str = "ftts/sigrist2015/own";

/// The variant of this name.
#[must_use]
pub fn variant(name: &str) -> Option<&'static Variant> {
    let mut all = VARIANTS.iter().chain(ALTERNATIVES).chain(FLIGHT);
    all.find(|variant| variant.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_distinct_and_those_of_ours_come_first() {
        let all = [VARIANTS, ALTERNATIVES].concat();
        for table in [&all, FLIGHT] {
            let names: BTreeSet<_> = table.iter().map(|variant| variant.name).collect();
            assert_eq!(names.len(), table.len());
        }
        for variant in ALTERNATIVES {
            // What has the same options is the same, under another name.
            let mut others = all.iter().filter(|one| one.name != variant.name);
            assert!(others.all(|one| (one.kind, one.options) != (variant.kind, variant.options)));
        }
        for kind in Kind::ALL {
            let first = VARIANTS.iter().find(|variant| variant.kind == kind);
            assert!(first.is_some_and(|variant| !variant.is_of_paper));
            let of_paper = VARIANTS.iter().filter(|v| v.kind == kind && v.is_of_paper);
            assert_eq!(of_paper.count(), 1);
        }
        assert!(variant(OWN).is_some() && variant(SHARED).is_some());
        assert_eq!(variant("ftts/none"), None);
    }

    #[test]
    fn section_6_c_has_six_parts_and_four() {
        assert_eq!(Kind::ALL.map(|kind| kind.parts().len()), [6, 4]);
    }
}

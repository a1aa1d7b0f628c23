//! What is guaranteed to bursts of PIBS whose events are all handled on behalf of one server.
//!
//! Equations 2 and 12 of Missimer, Missimer and West (2016) bound a burst in mode 0 from its activation to its end, 13 in a raised mode,
//! 15 across a rise; all by the period T of its host where a test accepts. What a burst handles is so done within T from its
//! activation. That is
//!
//! ```text
//!   max(eligible, first instant with an event and a mode in which it may run for its host)
//! ```
//! where eligible is s + ceil(c / U) if the burst before it executed c from s on. An event that finds its PIBS at rest and
//! eligible, and a capacity floor(U T) for itself and all that come before it is handled, is so handled T after it came at the latest; one that comes later than a
//! burst may begin waits for that first, and is guaranteed nothing from its arrival on.
//!
//! | a burst is not guaranteed that | because |
//! |---|---|
//! | for which a task of another server may wait | its period and its urgency may be those of the other |
//! | of a PIBS whose share falls with a rise while it is under way | it may have used more than (15) gives it |
//!
//! The return of the mode ends every burst, and a rise those that may not go on; until then they were guaranteed.
//!
//! The judge follows executions, events and modes by itself; what the scheduler says of its servers it does not hear. So it
//! also finds what a PIBS executes while none of its bursts is possible: its share is what all other bounds count on.

#[cfg(test)]
#[path = "bursts_tests.rs"]
mod tests;

use crate::observer::{JobState, Segment};
use vestal_core::{
    ByLevel, DeviceId, Duration, HierarchyConfiguration, Instant, Level, ServerId, ServerKind,
    Service, TaskId, Utilization,
};

/// How many bursts of PIBS were as guaranteed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstCounts {
    /// Over in time, or ended by a change of the mode before that.
    pub kept: u64,
    /// Not over in time, and that was guaranteed.
    pub broken: u64,
    /// Nothing was guaranteed to them: others than their host may have been served.
    pub of_others: u64,
    /// Nothing was guaranteed to them: their share fell while they were under way.
    pub cut: u64,
    /// Executions of a PIBS that had no burst: too early, or in a mode in which it has none.
    pub uncalled: u64,
}

#[derive(Clone, Copy, Debug)]
struct Burst {
    activated: Instant,
    start: Option<Instant>,
    used: Service,
    capacity: Service,
    /// It was there in a raised mode.
    is_raised: bool,
    is_cut: bool,
}

/// A PIBS, and on whose behalf it runs.
#[derive(Clone, Debug)]
struct Pibs {
    id: ServerId,
    utilization: ByLevel<Utilization>,
    /// The larger of its criticality and its host's: up to this mode it runs.
    highest: Level,
    host: ServerId,
    period: Duration,
    /// How long a burst may take: in mode 0, and in any.
    limit: [Duration; 2],
    /// Events that are not handled.
    pending: u64,
    /// Somebody else waited for it.
    is_shared: bool,
    eligible: Instant,
    share: Utilization,
    last: (Instant, Service),
    burst: Option<Burst>,
}

impl Pibs {
    /// `None` for a server that is none, or of which more than one server may be the host.
    fn of(configuration: &HierarchyConfiguration<'_>, id: ServerId) -> Option<Self> {
        let server = configuration.servers.get(id.index())?;
        let ServerKind::Pibs { utilization } = server.kind else {
            return None;
        };
        let tasks = configuration.tasks.iter();
        let members = tasks.filter(|task| task.server == id);
        let mut hosts = members.map(|task| task.on_behalf_of);
        let host = hosts.next()??;
        let served = configuration.servers.get(host.index())?;
        let ServerKind::Sporadic { period, .. } = served.kind else {
            return None;
        };
        hosts.all(|other| other == Some(host)).then_some(Self {
            id,
            utilization,
            highest: server.criticality.max(served.criticality),
            host,
            period,
            limit: [period; 2],
            pending: 0,
            is_shared: false,
            eligible: Instant::EPOCH,
            share: utilization.at(Level::LOWEST),
            last: (Instant::EPOCH, Service::ZERO),
            burst: None,
        })
    }

    /// Its capacity in `mode`; nothing where it may not run.
    fn capacity(&self, mode: Level) -> Service {
        match mode <= self.highest {
            true => self.utilization.at(mode).of_floor(self.period),
            false => Service::ZERO,
        }
    }

    /// Everything of the instant `now` is known, and nothing happens until `next`.
    fn settle(&mut self, now: Instant, next: Instant, mode: Level, counts: &mut BurstCounts) {
        if self.pending == 0 {
            self.end(now, counts);
            return;
        }
        let capacity = self.capacity(mode);
        let activated = self.eligible.max(now);
        if self.burst.is_none() && !capacity.is_zero() && activated < next {
            self.share = self.utilization.at(mode);
            self.burst = Some(Burst {
                activated,
                start: None,
                used: Service::ZERO,
                capacity,
                is_raised: mode > Level::LOWEST,
                is_cut: false,
            });
        }
    }

    fn executed(&mut self, segment: Segment, counts: &mut BurstCounts) {
        let ran = Service::supplied_during(segment.end.saturating_since(segment.start));
        let Some(burst) = &mut self.burst else {
            // What those execute that may serve others is not known.
            counts.uncalled += u64::from(!ran.is_zero() && !self.is_shared);
            return;
        };
        burst.start.get_or_insert(segment.start);
        burst.used = burst.used.saturating_add(ran);
        let is_early = segment.start < burst.activated;
        let is_beyond = burst.used > burst.capacity && !burst.is_cut;
        counts.uncalled += u64::from((is_early || is_beyond) && !self.is_shared);
        if burst.used >= burst.capacity {
            self.end(segment.end, counts);
        }
    }

    fn is_late(&self, burst: &Burst, at: Instant) -> bool {
        let [low, any] = self.limit;
        let limit = if burst.is_raised { any } else { low };
        at.saturating_since(burst.activated) > limit
    }

    fn count(&self, burst: &Burst, at: Instant, counts: &mut BurstCounts) {
        let of = match (self.is_shared, burst.is_cut) {
            (true, _) => &mut counts.of_others,
            (false, true) => &mut counts.cut,
            (false, false) if self.is_late(burst, at) => &mut counts.broken,
            (false, false) => &mut counts.kept,
        };
        *of += 1;
    }

    fn end(&mut self, at: Instant, counts: &mut BurstCounts) {
        let Some(burst) = self.burst.take() else {
            return;
        };
        self.count(&burst, at, counts);
        if let Some(start) = burst.start {
            self.last = (start, burst.used);
            self.eligible = start.saturating_add(self.share.distance_ceil(burst.used));
        }
    }

    fn raised(&mut self, at: Instant, to: Level, counts: &mut BurstCounts) {
        let (share, capacity) = (self.utilization.at(to), self.capacity(to));
        if share.exceeds(self.share) {
            self.share = share;
            if self.burst.is_none() {
                let (start, used) = self.last;
                let eligible = start.saturating_add(share.distance_ceil(used));
                self.eligible = self.eligible.min(eligible);
            }
        }
        let Some(burst) = &mut self.burst else { return };
        let is_less = capacity < burst.capacity;
        if burst.used >= capacity {
            self.end(at, counts);
            return;
        }
        burst.capacity = capacity;
        burst.is_raised = true;
        burst.is_cut |= is_less;
    }
}

/// Follows all of them.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    pibs: Vec<Pibs>,
    /// By task, its server.
    homes: Vec<ServerId>,
    /// By device, its bottom half.
    bottom_halves: Vec<TaskId>,
    now: Instant,
    mode: Level,
    counts: BurstCounts,
}

impl Bursts {
    pub(super) fn of(configuration: &HierarchyConfiguration<'_>) -> Self {
        let servers = (0..u16::MAX)
            .map(ServerId)
            .take(configuration.servers.len());
        let devices = configuration.devices.iter();
        Self {
            pibs: servers
                .filter_map(|id| Pibs::of(configuration, id))
                .collect(),
            homes: configuration.tasks.iter().map(|task| task.server).collect(),
            bottom_halves: devices.map(|device| device.bottom_half).collect(),
            now: Instant::EPOCH,
            mode: Level::LOWEST,
            counts: BurstCounts::default(),
        }
    }

    /// Bounds by server and mode; those of a PIBS are the longest on behalf of anybody.
    pub(super) fn within(&mut self, bounds: &[Vec<Option<Duration>>]) {
        for pibs in &mut self.pibs {
            let found = bounds.get(pibs.id.index()).map_or(&[][..], Vec::as_slice);
            let served = found.iter().take(pibs.highest.index() + 1).copied();
            let all = served
                .collect::<Option<Vec<Duration>>>()
                .unwrap_or_default();
            if let (Some(low), Some(any)) = (all.first(), all.iter().max()) {
                pibs.limit = [*low, *any];
            }
        }
    }

    pub(super) fn judged(&self) -> usize {
        self.pibs.len()
    }

    pub(super) const fn counts(&self) -> BurstCounts {
        self.counts
    }

    fn advance(&mut self, at: Instant) {
        if at <= self.now {
            return;
        }
        for pibs in &mut self.pibs {
            pibs.settle(self.now, at, self.mode, &mut self.counts);
        }
        self.now = at;
    }

    fn of_device(&mut self, device: DeviceId) -> Option<&mut Pibs> {
        let task = *self.bottom_halves.get(device.index())?;
        let home = *self.homes.get(task.index())?;
        self.pibs.iter_mut().find(|pibs| pibs.id == home)
    }

    pub(super) fn executed(&mut self, segment: Segment, job: &JobState) {
        self.advance(segment.end);
        let Some(home) = self.homes.get(job.id.task.index()) else {
            return;
        };
        if let Some(pibs) = self.pibs.iter_mut().find(|pibs| pibs.id == *home) {
            pibs.executed(segment, &mut self.counts);
        }
    }

    pub(super) fn interrupted(&mut self, at: Instant, device: DeviceId, accepted: u64) {
        self.advance(at);
        if let Some(pibs) = self.of_device(device) {
            pibs.pending = pibs.pending.saturating_add(accepted);
        }
    }

    pub(super) fn served(&mut self, at: Instant, device: DeviceId) {
        self.advance(at);
        if let Some(pibs) = self.of_device(device) {
            pibs.pending = pibs.pending.saturating_sub(1);
        }
    }

    /// A job waits for a device: events are handled on its server's behalf.
    pub(super) fn blocked(&mut self, at: Instant, task: TaskId, device: DeviceId) {
        self.advance(at);
        // Somebody ran since a bottom half was done at this instant, if for no time: its burst was over when that was decided.
        for pibs in self.pibs.iter_mut().filter(|pibs| pibs.pending == 0) {
            pibs.end(at, &mut self.counts);
        }
        let home = self.homes.get(task.index()).copied();
        if let Some(pibs) = self.of_device(device) {
            pibs.is_shared |= home != Some(pibs.host);
        }
    }

    pub(super) fn mode_changed(&mut self, at: Instant, from: Level, to: Level) {
        self.advance(at);
        for pibs in &mut self.pibs {
            match to > from {
                true => pibs.raised(at, to, &mut self.counts),
                false => pibs.end(at, &mut self.counts),
            }
        }
        self.mode = to;
    }

    /// The run is over: who is late by now was so.
    pub(super) fn finished(&mut self, end: Instant) {
        self.advance(end);
        for pibs in &mut self.pibs {
            let late = pibs.burst.filter(|burst| pibs.is_late(burst, end));
            if let Some(burst) = late {
                pibs.burst = None;
                pibs.count(&burst, end, &mut self.counts);
            }
        }
    }
}

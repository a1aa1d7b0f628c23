//! What servers gave and devices asked for, in constant memory: an observer beside [`crate::Statistics`].

use crate::count;
use crate::observer::{JobState, Observer, Segment};
use vestal_core::{DeviceId, DropReason, Duration, Instant, ServerId, Service, TaskId};

/// What one server did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerStatistics {
    /// How long its jobs executed. An idling server that idles does not serve.
    pub served: Service,
    /// How often its budget came back: at each multiple of its period within the run. Of a sporadic server and a
    /// PIBS, how often a part of it was sent for: once for each use, which ends when it has no work or no budget.
    pub replenishments: u64,
    /// How often it used up its budget.
    pub exhausted: u64,
    /// How much budget came later than it would have, because a replenishment list was full.
    pub postponed: Service,
}

/// What became of the events of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceStatistics {
    /// Events that arrived.
    pub arrived: u64,
    /// Events that were handled.
    pub served: u64,
    /// Events that were still waiting when the run ended, or half handled.
    pub queued: u64,
    /// Events for which there was no room.
    pub dropped: u64,
}

/// A server with what is known of its use.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    figures: ServerStatistics,
    /// Between replenishments, if they come by time alone.
    grid: Option<Duration>,
    /// Tasks with a job that could run.
    ready: usize,
    /// It has executed since its last use ended.
    in_use: bool,
    /// Since when it has no work; work that comes at the same instant goes on with the same use.
    empty: Option<Instant>,
}

impl Account {
    fn end_of_use(&mut self) {
        if std::mem::take(&mut self.in_use) && self.grid.is_none() {
            count(&mut self.figures.replenishments);
        }
    }

    fn has_work(&mut self, at: Instant) {
        if self.empty.take().is_some_and(|since| since < at) {
            self.end_of_use();
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Member {
    home: ServerId,
    pending: u64,
    blocked: bool,
}

impl Member {
    const fn is_ready(&self) -> bool {
        self.pending > 0 && !self.blocked
    }
}

/// An [`Observer`] of servers and devices.
#[derive(Clone, Debug)]
pub struct Served {
    servers: Vec<Account>,
    /// By task.
    members: Vec<Member>,
    devices: Vec<DeviceStatistics>,
    /// By device.
    bottom_halves: Vec<TaskId>,
}

impl Served {
    /// `homes`: by task, its server; `grids`: by server, its period if its whole budget comes back then;
    /// `bottom_halves`: by device, its task.
    #[must_use]
    pub fn new(homes: &[ServerId], grids: &[Option<Duration>], bottom_halves: Vec<TaskId>) -> Self {
        let account = |grid: &Option<Duration>| Account {
            grid: *grid,
            ..Account::default()
        };
        let member = |home: &ServerId| Member {
            home: *home,
            pending: 0,
            blocked: false,
        };
        Self {
            servers: grids.iter().map(account).collect(),
            members: homes.iter().map(member).collect(),
            devices: vec![DeviceStatistics::default(); bottom_halves.len()],
            bottom_halves,
        }
    }

    /// By server.
    pub fn servers(&self) -> impl Iterator<Item = &ServerStatistics> {
        self.servers.iter().map(|account| &account.figures)
    }

    /// By device.
    #[must_use]
    pub fn devices(&self) -> &[DeviceStatistics] {
        &self.devices
    }

    fn account(&mut self, server: ServerId) -> Option<&mut Account> {
        self.servers.get_mut(server.index())
    }

    fn change(&mut self, at: Instant, task: TaskId, change: impl FnOnce(&mut Member)) {
        let Some(member) = self.members.get_mut(task.index()) else {
            return;
        };
        let was = member.is_ready();
        change(member);
        let (is, home) = (member.is_ready(), member.home);
        let Some(account) = self.account(home) else {
            return;
        };
        match (was, is) {
            (false, true) => {
                account.ready += 1;
                account.has_work(at);
            }
            (true, false) => {
                account.ready -= 1;
                if account.ready == 0 {
                    account.empty = Some(at);
                }
            }
            (true, true) | (false, false) => {}
        }
    }

    fn leaves(&mut self, at: Instant, task: TaskId) {
        self.change(at, task, |member| {
            member.pending = member.pending.saturating_sub(1);
        });
    }
}

impl Observer for Served {
    fn released(&mut self, at: Instant, job: &JobState) {
        self.change(at, job.id.task, |member| member.pending += 1);
    }
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let home = self
            .members
            .get(job.id.task.index())
            .map(|member| member.home);
        if let Some(account) = home.and_then(|home| self.account(home)) {
            let ran = Service::supplied_during(segment.end.saturating_since(segment.start));
            account.figures.served = account.figures.served.saturating_add(ran);
            account.in_use = true;
        }
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.leaves(at, job.id.task);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, _: DropReason) {
        self.leaves(at, job.id.task);
    }
    fn blocked(&mut self, at: Instant, _: vestal_core::CpuId, job: &JobState, _: DeviceId) {
        self.change(at, job.id.task, |member| member.blocked = true);
    }
    fn woken(&mut self, at: Instant, job: &JobState) {
        self.change(at, job.id.task, |member| member.blocked = false);
    }
    fn interrupted(&mut self, at: Instant, device: DeviceId, count: u64, dropped: u64) {
        let Some(figures) = self.devices.get_mut(device.index()) else {
            return;
        };
        figures.arrived = figures.arrived.saturating_add(count);
        figures.dropped = figures.dropped.saturating_add(dropped);
        let more = count.saturating_sub(dropped);
        figures.queued = figures.queued.saturating_add(more);
        if let Some(task) = self.bottom_halves.get(device.index()).copied() {
            self.change(at, task, |member| {
                member.pending = member.pending.saturating_add(more);
            });
        }
    }
    fn served(&mut self, at: Instant, device: DeviceId, job: &JobState) {
        if let Some(figures) = self.devices.get_mut(device.index()) {
            count(&mut figures.served);
            figures.queued = figures.queued.saturating_sub(1);
        }
        self.leaves(at, job.id.task);
    }
    fn depleted(&mut self, _: Instant, server: ServerId) {
        if let Some(account) = self.account(server) {
            count(&mut account.figures.exhausted);
            account.end_of_use();
        }
    }
    fn postponed(&mut self, _: Instant, server: ServerId, amount: Service) {
        if let Some(account) = self.account(server) {
            account.figures.postponed = account.figures.postponed.saturating_add(amount);
        }
    }
    fn finished(&mut self, end: Instant) {
        for account in &mut self.servers {
            match account.grid {
                Some(period) if !period.is_zero() => {
                    let last = end.as_nanos().saturating_sub(1);
                    account.figures.replenishments = last / period.as_nanos();
                }
                Some(_) => {}
                None if account.empty.is_some() => account.end_of_use(),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{CpuId, JobId};

    const CPU: CpuId = CpuId(0);

    fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    fn job(task: u16) -> JobState {
        let id = JobId {
            task: TaskId(task),
            sequence: 0,
        };
        let span = Duration::from_nanos(100);
        JobState::arriving(id, Instant::EPOCH, span, Service::from_nanos(9))
    }

    fn ran(served: &mut Served, task: u16, from: u64, to: u64) {
        let (start, end) = (at(from), at(to));
        served.executed(
            Segment {
                cpu: CPU,
                start,
                end,
            },
            &job(task),
        );
    }

    /// Server 0 is a deferrable one of period 10, server 1 a sporadic one with a task and a bottom half.
    fn new() -> Served {
        let homes = [ServerId(0), ServerId(1), ServerId(1)];
        let grids = [Some(Duration::from_nanos(10)), None];
        Served::new(&homes, &grids, vec![TaskId(2)])
    }

    #[test]
    fn a_use_ends_for_want_of_work_or_of_budget_and_goes_on_with_work_that_comes_at_once() {
        let mut served = new();
        served.released(at(0), &job(1));
        ran(&mut served, 1, 0, 2);
        // The job waits, and an event comes at the same instant: the same use.
        served.blocked(at(2), CPU, &job(1), DeviceId(0));
        served.interrupted(at(2), DeviceId(0), 3, 1);
        ran(&mut served, 2, 2, 3);
        served.served(at(3), DeviceId(0), &job(2));
        // Then the budget ends: one use.
        ran(&mut served, 2, 3, 4);
        served.depleted(at(4), ServerId(1));
        // The last event, and the job goes on at once; then there is no work from 7 to 9: a second use.
        ran(&mut served, 2, 5, 6);
        served.served(at(6), DeviceId(0), &job(2));
        served.woken(at(6), &job(1));
        ran(&mut served, 1, 6, 7);
        served.completed(at(7), &job(1));
        served.released(at(9), &job(1));
        // A third one that has not ended when the run does.
        ran(&mut served, 1, 9, 10);
        served.postponed(at(10), ServerId(1), Service::from_nanos(4));
        served.finished(at(40));
        let [grid, sporadic] = [0, 1].map(|server| *served.servers().nth(server).unwrap());
        assert_eq!(
            sporadic,
            ServerStatistics {
                served: Service::from_nanos(7),
                replenishments: 2,
                exhausted: 1,
                postponed: Service::from_nanos(4),
            }
        );
        // At 10, 20 and 30: what would come at the end is not part of the run.
        assert_eq!((grid.replenishments, grid.served), (3, Service::ZERO));
        let device = DeviceStatistics {
            arrived: 3,
            served: 2,
            queued: 0,
            dropped: 1,
        };
        assert_eq!(served.devices(), [device]);
    }
}

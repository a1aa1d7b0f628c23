//! Which responses of a run which equation speaks of.
//!
//! A *window* of a server or a burst goes back from its beginning to the last instant at which the CPU was idle or executed
//! something less urgent. What is over before a rise of the mode is in mode 0; what has all of its window in mode 1 is that of
//! equations 11 and 13; everything else saw the mode rise.
//!
//! A job is compared if no other one of its task was pending at its release, it did not block, asked for no more than its
//! server has for it, and its server was *clean*: none of its jobs had blocked or run over, nor been there in a raised mode
//! with less, unless it had not executed for a period. One of a LO server that goes on with less is compared in a
//! raised mode if that is enough for it and the mode does not return before its end. A burst of a LO PIBS that was under way when the mode rose is
//! compared if it executed no more than its PIBS has in the new mode.

use super::equations::{Equations, Who};
use super::watch::{Burst, Entry, Log};
use vestal_policy::Servers;

/// What an equation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Mode0 = 0,
    Mode1 = 1,
    Rise = 2,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    pub(super) who: Who,
    pub(super) phase: Phase,
    pub(super) from: u64,
    pub(super) to: u64,
    /// It had not come to its end.
    pub(super) is_cut: bool,
    /// Of a LO server that went on with less.
    pub(super) is_degraded: bool,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    from: u64,
    to: u64,
    server: usize,
    priority: u32,
}

/// What is known of a task in a server of its own.
#[derive(Clone, Copy, Debug)]
struct Owner {
    server: usize,
    is_high: bool,
    capacity: [u64; 2],
    period: u64,
    is_clean: bool,
    last_end: Option<u64>,
    pending: u64,
    /// The last job that found none pending: its number, when it came, and whether it can be compared.
    job: Option<(u64, u64, bool)>,
}

pub(super) struct Run<'a> {
    equations: &'a Equations,
    bursts: &'a [Burst],
    log: &'a Log,
    /// By task, its server.
    homes: Vec<usize>,
    priorities: Vec<u32>,
    segments: Vec<Segment>,
    modes: Vec<(u64, u8)>,
    end: u64,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        servers: &Servers,
        equations: &'a Equations,
        (log, bursts): (&'a Log, &'a [Burst]),
        end: u64,
    ) -> Self {
        let mut new = Self {
            equations,
            bursts,
            log,
            homes: servers
                .served
                .iter()
                .map(|task| task.server.index())
                .collect(),
            priorities: servers.servers.iter().map(|one| one.priority).collect(),
            segments: Vec::new(),
            modes: vec![(0, 0)],
            end,
        };
        for entry in &log.entries {
            match *entry {
                Entry::Executed { from, to, task, .. } if from < to => {
                    let server = new.homes[task];
                    let priority = new.priority(server, from);
                    new.segments.push(Segment {
                        from,
                        to,
                        server,
                        priority,
                    });
                }
                Entry::Mode { at, to } => new.modes.push((at, to)),
                Entry::Executed { .. }
                | Entry::Released { .. }
                | Entry::Completed { .. }
                | Entry::Lost { .. }
                | Entry::Blocked { .. } => {}
            }
        }
        new
    }

    /// That of the host, of a PIBS.
    fn priority(&self, server: usize, at: u64) -> u32 {
        if !self
            .equations
            .shares
            .iter()
            .any(|share| share.server == server)
        {
            return self.priorities[server];
        }
        let until = self.bursts.partition_point(|burst| burst.began <= at);
        let before = self.bursts[..until].iter().rev();
        let burst = before.clone().find(|burst| burst.server == server);
        burst.unwrap().activation.priority
    }

    /// Where the window of something of this urgency begins that begins at `from`.
    fn window(&self, from: u64, priority: u32) -> u64 {
        let until = self.segments.partition_point(|segment| segment.from < from);
        let mut edge = from;
        for segment in self.segments[..until].iter().rev() {
            if segment.to < edge || segment.priority < priority {
                break;
            }
            edge = segment.from;
        }
        edge
    }

    fn mode_at(&self, at: u64) -> u8 {
        let until = self.modes.partition_point(|(when, _)| *when <= at);
        self.modes[until - 1].1
    }

    /// The modes that are there for any time within [from, to).
    fn modes_within(&self, from: u64, to: u64) -> Vec<u8> {
        let later = self.modes.iter().filter(|(at, _)| from < *at && *at < to);
        let later = later.map(|(at, _)| self.mode_at(*at));
        std::iter::once(self.mode_at(from)).chain(later).collect()
    }

    fn phase(&self, (from, to): (u64, u64), priority: u32) -> Phase {
        let is_raised = |from, to| self.modes_within(from, to).into_iter().map(|mode| mode > 0);
        if !is_raised(from, to).any(|it| it) {
            return Phase::Mode0;
        }
        let window = self.window(from, priority);
        match is_raised(window, to).all(|it| it) {
            true => Phase::Mode1,
            false => Phase::Rise,
        }
    }

    /// What can be compared.
    pub(super) fn responses(&self) -> Vec<Response> {
        let mut all = self.of_jobs();
        all.extend(self.bursts.iter().filter_map(|burst| self.of_burst(burst)));
        all
    }

    fn of_burst(&self, burst: &Burst) -> Option<Response> {
        let host = burst.activation.on_behalf_of.index();
        let seat = self.equations.seat(host);
        let mut shares = self.equations.shares.iter();
        let share = shares.find(|share| share.server == burst.server)?;
        let (from, to) = (burst.began, burst.ended.unwrap_or(self.end));
        let phase = self.phase((from, to), seat.priority);
        let (n, d) = share.shares[1];
        let has_less = !share.is_high && phase != Phase::Mode0 && self.mode_at(from) == 0;
        let most = u128::from(seat.period) * u128::from(n) / u128::from(d);
        let fits = !has_less || u128::from(self.executed(burst.server, from, to)) <= most;
        fits.then_some(Response {
            who: (burst.server, Some(host)),
            phase,
            from,
            to,
            is_cut: burst.is_cut || burst.ended.is_none(),
            is_degraded: false,
        })
    }

    fn executed(&self, server: usize, from: u64, to: u64) -> u64 {
        let first = self.segments.partition_point(|segment| segment.to <= from);
        let within = self.segments[first..]
            .iter()
            .take_while(|segment| segment.from < to);
        let own = within.filter(|segment| segment.server == server);
        own.map(|segment| segment.to - segment.from).sum()
    }

    fn owners(&self) -> Vec<Option<Owner>> {
        let owner = |home: &usize| {
            let mut seats = self.equations.seats.iter();
            let seat = seats.find(|seat| seat.server == *home)?;
            Some(Owner {
                server: *home,
                is_high: seat.is_high,
                capacity: seat.capacity,
                period: seat.period,
                is_clean: true,
                last_end: None,
                pending: 0,
                job: None,
            })
        };
        self.homes.iter().map(owner).collect()
    }

    fn of_jobs(&self) -> Vec<Response> {
        let mut owners = self.owners();
        let mut mode = 0;
        let mut found = Vec::new();
        for entry in &self.log.entries {
            match *entry {
                Entry::Released { at, task, sequence } => {
                    owners[task]
                        .iter_mut()
                        .for_each(|own| own.released(at, sequence, mode));
                }
                Entry::Executed {
                    to, task, executed, ..
                } => {
                    owners[task]
                        .iter_mut()
                        .for_each(|own| own.executed(to, executed));
                }
                Entry::Blocked { task, sequence, .. } => {
                    owners[task]
                        .iter_mut()
                        .for_each(|own| own.blocked(sequence));
                }
                Entry::Mode { to, .. } => {
                    let rises = to > std::mem::replace(&mut mode, to);
                    for own in owners
                        .iter_mut()
                        .flatten()
                        .filter(|own| rises && !own.is_high)
                    {
                        own.is_clean &= own.capacity[1] == 0;
                    }
                }
                Entry::Completed { at, job } | Entry::Lost { at, job } => {
                    let Some(own) = &mut owners[job.id.task.index()] else {
                        continue;
                    };
                    own.pending = own.pending.saturating_sub(1);
                    let Some((number, from, true)) = own.job else {
                        continue;
                    };
                    if number == job.id.sequence && from < at {
                        let is_cut = matches!(entry, Entry::Lost { .. });
                        let demand = job.demand.as_nanos();
                        found.extend(self.of_job(own, (from, at), demand, is_cut));
                    }
                }
            }
        }
        found
    }

    fn of_job(
        &self,
        own: &Owner,
        (from, to): (u64, u64),
        demand: u64,
        is_cut: bool,
    ) -> Option<Response> {
        let phase = self.phase((from, to), self.priorities[own.server]);
        let is_degraded = !own.is_high && phase != Phase::Mode0;
        let returns = self
            .modes
            .iter()
            .any(|(at, mode)| from < *at && *at < to && *mode == 0);
        let fits = match (own.is_high, is_degraded) {
            (true, _) => demand <= own.capacity[0].max(own.capacity[1]),
            (false, false) => demand <= own.capacity[0],
            (false, true) => demand <= own.capacity[0].min(own.capacity[1]) && !returns,
        };
        fits.then_some(Response {
            who: (own.server, None),
            phase,
            from,
            to,
            is_cut,
            is_degraded,
        })
    }
}

impl Owner {
    fn released(&mut self, at: u64, sequence: u64, mode: u8) {
        self.pending += 1;
        if self.pending > 1 {
            return;
        }
        let rested = self.last_end.is_none_or(|last| last + self.period <= at);
        let has_less = mode > 0 && !self.is_high && self.capacity[1] > 0;
        let is_clean = rested || (self.is_clean && !has_less);
        self.is_clean = is_clean && !has_less;
        self.job = Some((sequence, at, is_clean));
    }

    fn executed(&mut self, to: u64, executed: u64) {
        self.last_end = Some(to);
        let own = match self.is_high {
            true => self.capacity[0].max(self.capacity[1]),
            false => self.capacity[0],
        };
        self.is_clean &= executed <= own;
    }

    fn blocked(&mut self, sequence: u64) {
        self.is_clean = false;
        if let Some((number, _, is_compared)) = &mut self.job {
            *is_compared &= *number != sequence;
        }
    }
}

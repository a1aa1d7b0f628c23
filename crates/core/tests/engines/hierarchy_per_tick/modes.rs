//! When the mode of the per-tick reference changes, and what becomes of budgets and jobs.

use super::{Changes, Kind, Reference, ServerState, insert, numerator, sleep};

/// A rule that the reference can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// More budget counts from the last use, also when that is over.
    GrowsFromLastUse,
    /// More budget counts from now on, also when a use goes on.
    GrowsFromNow,
    /// What was used of a budget that falls is forgotten.
    UseForgotten,
    /// Bursts go on.
    BurstsGoOn,
    /// Bursts that go on keep their capacity.
    BurstsKeepCapacity,
    /// A larger share changes nothing for a burst that is over.
    NothingRegained,
    /// A use goes on at the return.
    UsesGoOn,
    /// Low jobs wait.
    NothingDropped,
    /// A request counts whether anything is pending or not.
    AnyRequest,
    /// A request does not count for jobs of its instant.
    RequestTooEarly,
}

impl Fault {
    pub(crate) const ALL: [Self; 10] = [
        Self::GrowsFromLastUse,
        Self::GrowsFromNow,
        Self::UseForgotten,
        Self::BurstsGoOn,
        Self::BurstsKeepCapacity,
        Self::NothingRegained,
        Self::UsesGoOn,
        Self::NothingDropped,
        Self::AnyRequest,
        Self::RequestTooEarly,
    ];
}

impl Reference<'_> {
    pub(super) fn lacks(&self, rule: Fault) -> bool {
        self.fault == Some(rule)
    }

    /// At the beginning of a tick: what was executed in the last one, or a request, raises the mode.
    pub(super) fn rise(&mut self, now: u64, ran_out: Option<usize>, requested: bool) {
        let executed = self.ran.and_then(|(_, task)| task);
        if executed.is_some_and(|task| self.raises(task)) {
            self.change(now, 1);
        }
        let exhausted = ran_out.is_some_and(|pibs| {
            let server = &self.servers[pibs];
            self.changes == Changes::ByJobsAndPibs
                && server.high
                && numerator(server, 1) > numerator(server, 0)
                && !self.ready_of(pibs).is_empty()
        });
        if exhausted || requested {
            self.rise_on_request(now);
        }
    }

    /// If it would stay.
    pub(super) fn rise_on_request(&mut self, now: u64) {
        let before = std::mem::replace(&mut self.mode, 1);
        let would_stay = self.is_busy() || self.lacks(Fault::AnyRequest);
        self.mode = before;
        if before == 0 && would_stay {
            self.change(now, 1);
        }
    }

    /// Whether the current job of a task could go on, and has used what mode 0 allows.
    pub(super) fn raises(&self, task: usize) -> bool {
        let (own, work) = (&self.tasks[task], &self.work[task]);
        self.changes != Changes::OnRequest
            && self.mode == 0
            && own.high
            && !own.device
            && !matches!(self.servers[own.server].kind, Kind::Pibs { .. })
            && own.wcet[1] > own.wcet[0]
            && work.in_all >= own.wcet[0]
            && self.is_ready(task)
    }

    fn runs(&self, server: usize) -> bool {
        self.servers[server].capacity[self.mode] + numerator(&self.servers[server], self.mode) > 0
    }

    pub(super) fn admits(&self, task: usize) -> bool {
        self.changes == Changes::OnRequest
            || self.lacks(Fault::NothingDropped)
            || self.tasks[task].device
            || self.runs(self.tasks[task].server)
    }

    pub(super) fn may_serve(&self, pibs: usize, host: usize) -> bool {
        self.mode == 0 || self.servers[pibs].high || self.servers[host].high
    }

    /// Whether something is pending that the mode is about.
    pub(super) fn is_busy(&self) -> bool {
        let mut pending = (0..self.tasks.len()).filter(|&task| !self.work[task].queue.is_empty());
        pending.any(|task| {
            let own = &self.tasks[task];
            let home = &self.servers[own.server];
            let is_pibs = matches!(home.kind, Kind::Pibs { .. });
            match self.changes {
                Changes::OnRequest => {
                    self.runs(own.server) && (!is_pibs || self.may_serve(own.server, own.serves))
                }
                Changes::ByJobs | Changes::ByJobsAndPibs => !is_pibs && !own.device && home.high,
            }
        })
    }

    pub(super) fn change(&mut self, now: u64, to: usize) {
        self.mode = to;
        self.rises += to as u64;
        for index in 0..self.servers.len() {
            self.change_budget(index, now);
        }
        for task in 0..self.tasks.len() {
            let admitted = self.admits(task);
            let work = &mut self.work[task];
            if to == 1 && !admitted {
                work.queue.clear();
                (work.segment, work.executed, work.in_all) = (0, 0, 0);
                work.blocked_until = None;
            }
        }
    }

    fn change_budget(&mut self, index: usize, now: u64) {
        let (server, rises, fault) = (&self.servers[index], self.mode == 1, self.fault);
        let before = server.capacity[1 - self.mode];
        let after = server.capacity[self.mode];
        let (more, less) = (after.saturating_sub(before), before.saturating_sub(after));
        match server.kind {
            Kind::Polling | Kind::Idling | Kind::Deferrable => {
                let state = &mut self.state[index];
                let used = before - state.budget + state.lost;
                state.budget = after.saturating_sub(used);
                state.lost = match fault {
                    Some(Fault::UseForgotten) => 0,
                    _ => used.saturating_sub(after),
                };
            }
            Kind::Sporadic { positions, tail } => {
                let state = &mut self.state[index];
                let ends = !rises && fault != Some(Fault::UsesGoOn);
                if ends && std::mem::take(&mut state.had_work) {
                    sleep(state, now, server.period, positions, tail);
                }
                match fault {
                    Some(Fault::GrowsFromLastUse) => state.used_up = true,
                    Some(Fault::GrowsFromNow) => state.used_up = false,
                    _ => {}
                }
                if state.lost_until <= now || fault == Some(Fault::UseForgotten) {
                    (state.lost, state.lost_until) = (0, 0);
                }
                let back = more.min(state.lost);
                grow(state, now, more - back, server.period, positions);
                if back > 0 {
                    state.lost -= back;
                    let mut used = (state.lost_until, back);
                    if state.list.len() == positions {
                        let last = state.list.pop().expect("it is full");
                        used = (used.0.max(last.0), used.1 + last.1);
                    }
                    insert(&mut state.list, used);
                }
                shrink(state, now, less, server.period);
            }
            Kind::Pibs { denominator, .. } => {
                let share = numerator(server, self.mode);
                let host = self.state[index].burst.as_ref().map(|burst| burst.host);
                let stays = host.is_some_and(|host| self.may_serve(index, host));
                if fault != Some(Fault::BurstsGoOn) && (!rises || share == 0 || !stays) {
                    self.end_burst(index);
                }
                let state = &mut self.state[index];
                let regains = rises && fault != Some(Fault::NothingRegained);
                if regains && share > state.share {
                    let (start, used) = state.last;
                    let earlier = start + (used * denominator).div_ceil(share);
                    if state.burst.is_none() {
                        state.eligible = state.eligible.min(earlier);
                    }
                    state.share = share;
                }
                let keeps = [Some(Fault::BurstsGoOn), Some(Fault::BurstsKeepCapacity)];
                if let Some(burst) = state.burst.as_mut()
                    && !keeps.contains(&fault)
                {
                    burst.capacity = share * self.servers[burst.host].period / denominator;
                    if burst.used >= burst.capacity {
                        self.end_burst(index);
                    }
                }
            }
        }
    }
}

fn grow(state: &mut ServerState, now: u64, more: u64, period: u64, positions: usize) {
    if more == 0 {
        return;
    }
    if let Some(first) = state.list.first_mut().filter(|first| first.0 <= now) {
        first.1 += more;
        return;
    }
    let since = match state.list.last() {
        Some(last) if state.had_work && state.used_up => last.0 - period,
        _ => now,
    };
    if state.list.len() == positions {
        let last = state.list.pop().expect("it is full");
        let before = state.list.last_mut().expect("at least two");
        *before = (last.0, before.1 + last.1);
    }
    insert(&mut state.list, (since, more));
}

/// A part that was used goes, and is not back before `due`.
fn lose(state: &mut ServerState, now: u64, due: u64, amount: u64) {
    if due > now && amount > 0 {
        state.lost += amount;
        state.lost_until = state.lost_until.max(due);
    }
}

fn shrink(state: &mut ServerState, now: u64, mut less: u64, period: u64) {
    if let Some(first) = state.list.first_mut().filter(|first| first.0 <= now) {
        let used = state.usage.min(less);
        state.usage -= used;
        first.1 -= used;
        less -= used;
        let due = first.0 + period;
        lose(state, now, due, used);
    }
    while less > 0 {
        let (due, amount) = state.list.pop().expect("as much as is taken");
        let taken = amount.min(less);
        less -= taken;
        if amount > taken {
            state.list.push((due, amount - taken));
        }
        lose(state, now, due, taken);
    }
}

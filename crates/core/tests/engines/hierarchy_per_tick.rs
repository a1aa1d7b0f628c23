//! A scheduler for servers that is as slow and as plain as possible: every tick it looks at
//! everything again. It shares no line with the engine, only numbers with it.
//!
//! At an instant, in this order: what the last tick executed is charged; finished and blocked jobs
//! leave; the mode rises, budgets come back, the mode returns; jobs wake up and arrive; servers without work give up,
//! keep, or split their budget; the most urgent server with budget gets the next tick. If its job has used what its
//! mode allows, the mode rises first and the choice is made again.

mod modes;

pub(crate) use modes::Fault;

use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Polling,
    Idling,
    Deferrable,
    Sporadic {
        positions: usize,
        tail: bool,
    },
    /// By mode.
    Pibs {
        numerators: [u64; 2],
        denominator: u64,
    },
}

/// When the mode changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// On request only.
    OnRequest,
    /// Also by jobs that use more than the lower mode allows.
    ByJobs,
    /// Also by PIBS that use up their bursts.
    ByJobsAndPibs,
}

#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) period: u64,
    /// By mode.
    pub(crate) capacity: [u64; 2],
    pub(crate) priority: u64,
    pub(crate) edf: bool,
    /// Of criticality 1.
    pub(crate) high: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) server: usize,
    pub(crate) priority: u64,
    pub(crate) deadline: u64,
    /// A bottom half: its queue has no end.
    pub(crate) device: bool,
    /// The server a PIBS works for.
    pub(crate) serves: usize,
    /// What each job executes between its blockings.
    pub(crate) program: Vec<u64>,
    /// Of criticality 1.
    pub(crate) high: bool,
    /// Its execution time by mode.
    pub(crate) wcet: [u64; 2],
}

/// How many jobs wait behind the first one before more are dropped.
const WAITING_MAX: usize = 4;

#[derive(Clone, Default)]
struct TaskState {
    /// Releases, the job at work first.
    queue: VecDeque<u64>,
    segment: usize,
    /// In this segment.
    executed: u64,
    /// In this job.
    in_all: u64,
    blockings: u64,
    blocked_until: Option<u64>,
}

#[derive(Clone, Default)]
struct ServerState {
    budget: u64,
    /// What was used of a larger budget before it fell, and, in a list, when it would be back.
    lost: u64,
    lost_until: u64,
    list: Vec<(u64, u64)>,
    usage: u64,
    had_work: bool,
    /// A part of the budget was used up in this tick.
    used_up: bool,
    // PIBS
    eligible: u64,
    burst: Option<Burst>,
    /// The numerator at the last activation, and when the last burst began and what it used.
    share: u64,
    last: (u64, u64),
}

#[derive(Clone)]
struct Burst {
    host: usize,
    capacity: u64,
    priority: u64,
    start: Option<u64>,
    used: u64,
}

pub(crate) struct Reference<'a> {
    servers: &'a [Server],
    tasks: &'a [Task],
    state: Vec<ServerState>,
    work: Vec<TaskState>,
    /// How long the n-th blocking of a task lasts.
    delay: &'a dyn Fn(usize, u64) -> u64,
    ran: Option<(usize, Option<usize>)>,
    changes: Changes,
    mode: usize,
    /// What it does wrong.
    pub(crate) fault: Option<Fault>,
    /// How often the mode rose.
    pub(crate) rises: u64,
    pub(crate) trace: String,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(
        servers: &'a [Server],
        tasks: &'a [Task],
        changes: Changes,
        delay: &'a dyn Fn(usize, u64) -> u64,
    ) -> Self {
        let fresh = |server: &Server| ServerState {
            budget: server.capacity[0],
            list: vec![(0, server.capacity[0])],
            share: numerator(server, 0),
            ..ServerState::default()
        };
        Self {
            servers,
            tasks,
            state: servers.iter().map(fresh).collect(),
            work: vec![TaskState::default(); tasks.len()],
            delay,
            ran: None,
            changes,
            mode: 0,
            fault: None,
            rises: 0,
            trace: String::new(),
        }
    }

    /// One tick from `now` on; `arrivals` are tasks, one entry for each job; `requested`: mode 1 is asked for.
    pub(crate) fn tick(&mut self, now: u64, arrivals: &[usize], requested: bool) {
        let ran_out = self.charge(now);
        self.rise(now, ran_out, requested);
        for (index, server) in self.servers.iter().enumerate() {
            let periodic = matches!(server.kind, Kind::Polling | Kind::Idling | Kind::Deferrable);
            if periodic && now > 0 && now.is_multiple_of(server.period) {
                self.state[index].budget = server.capacity[self.mode];
                self.state[index].lost = 0;
            }
        }
        if self.mode == 1 && !self.is_busy() {
            self.change(now, 0);
        }
        for work in &mut self.work {
            if work.blocked_until == Some(now) {
                work.blocked_until = None;
            }
        }
        for &task in arrivals {
            let admitted = self.admits(task);
            let queue = &mut self.work[task].queue;
            if self.tasks[task].device || (admitted && queue.len() <= WAITING_MAX) {
                queue.push_back(now);
            }
        }
        if requested && !self.lacks(Fault::RequestTooEarly) {
            self.rise_on_request(now);
        }
        self.settle_all(now);
        self.choose(now);
        if let Some((_, Some(task))) = self.ran
            && self.raises(task)
        {
            self.change(now, 1);
            self.settle_all(now);
            self.choose(now);
        }
        let sign = match self.ran {
            Some((_, Some(task))) => char::from_digit(task as u32, 10).expect("few tasks"),
            Some((server, None)) => (b'a' + server as u8) as char,
            None => '.',
        };
        self.trace.push(sign);
    }

    fn settle_all(&mut self, now: u64) {
        for index in 0..self.servers.len() {
            self.settle(index, now);
        }
    }

    /// The PIBS that has used up a burst.
    fn charge(&mut self, now: u64) -> Option<usize> {
        for state in &mut self.state {
            state.used_up = false;
        }
        let (server, task) = self.ran?;
        let mut ran_out = None;
        let state = &mut self.state[server];
        match self.servers[server].kind {
            Kind::Polling | Kind::Idling | Kind::Deferrable => state.budget -= 1,
            Kind::Sporadic { .. } => {
                state.usage += 1;
                if state.usage == state.list[0].1 {
                    state.used_up = true;
                    let (due, amount) = state.list.remove(0);
                    insert(&mut state.list, (due + self.servers[server].period, amount));
                    state.usage = 0;
                }
            }
            Kind::Pibs { .. } => {
                let burst = state.burst.as_mut().expect("it ran");
                burst.used += 1;
                if burst.used == burst.capacity {
                    self.end_burst(server);
                    ran_out = Some(server);
                }
            }
        }
        let Some(task) = task else { return ran_out };
        let work = &mut self.work[task];
        work.executed += 1;
        work.in_all += 1;
        let program = &self.tasks[task].program;
        if work.executed < program[work.segment] {
            return ran_out;
        }
        work.executed = 0;
        work.segment += 1;
        if work.segment == program.len() {
            work.segment = 0;
            work.in_all = 0;
            work.queue.pop_front();
        } else {
            work.blocked_until = Some(now + (self.delay)(task, work.blockings));
            work.blockings += 1;
        }
        ran_out
    }

    fn end_burst(&mut self, server: usize) {
        let Kind::Pibs { denominator, .. } = self.servers[server].kind else {
            return;
        };
        let state = &mut self.state[server];
        if let Some(burst) = state.burst.take()
            && let Some(start) = burst.start
        {
            state.eligible = start + (burst.used * denominator).div_ceil(state.share);
            state.last = (start, burst.used);
        }
    }

    fn is_ready(&self, task: usize) -> bool {
        !self.work[task].queue.is_empty() && self.work[task].blocked_until.is_none()
    }

    fn ready_of(&self, server: usize) -> Vec<usize> {
        (0..self.tasks.len())
            .filter(|&task| self.tasks[task].server == server && self.is_ready(task))
            .collect()
    }

    fn settle(&mut self, index: usize, now: u64) {
        let ready = self.ready_of(index);
        let work = !ready.is_empty();
        let had_work = std::mem::replace(&mut self.state[index].had_work, work);
        let server = &self.servers[index];
        match server.kind {
            Kind::Idling | Kind::Deferrable => {}
            Kind::Polling if !work => {
                self.state[index].budget = 0;
                // Nor does it get more before it gets a new one.
                self.state[index].lost = 1 << 32;
            }
            Kind::Polling => {}
            Kind::Sporadic { positions, tail } => {
                let state = &mut self.state[index];
                if work && !had_work {
                    wake(state, now);
                } else if !work && had_work {
                    sleep(state, now, server.period, positions, tail);
                }
            }
            Kind::Pibs { .. } if !work => self.end_burst(index),
            Kind::Pibs { denominator, .. } => {
                let hosts = ready.iter().map(|&task| self.tasks[task].serves);
                let host = hosts
                    .filter(|&host| self.may_serve(index, host))
                    .min_by_key(|&host| (u64::MAX - self.servers[host].priority, host));
                let share = numerator(server, self.mode);
                let state = &mut self.state[index];
                let Some(host) = host.filter(|_| share > 0) else {
                    return;
                };
                if state.burst.is_none() && state.eligible <= now {
                    state.share = share;
                    state.burst = Some(Burst {
                        host,
                        capacity: share * self.servers[host].period / denominator,
                        priority: self.servers[host].priority,
                        start: None,
                        used: 0,
                    });
                }
            }
        }
    }

    fn choose(&mut self, now: u64) {
        let mut best: Option<(u64, usize)> = None;
        for (index, server) in self.servers.iter().enumerate() {
            let state = &self.state[index];
            let work = !self.ready_of(index).is_empty();
            let (can_run, priority) = match server.kind {
                Kind::Idling => (state.budget > 0, server.priority),
                Kind::Polling | Kind::Deferrable => (work && state.budget > 0, server.priority),
                Kind::Sporadic { .. } => {
                    let first = state.list.first();
                    let at_hand = first.is_some_and(|&(due, _)| due <= now);
                    (work && at_hand, server.priority)
                }
                Kind::Pibs { .. } => match &state.burst {
                    Some(burst) => (work, burst.priority),
                    None => (false, 0),
                },
            };
            if can_run && best.is_none_or(|(most, _)| priority > most) {
                best = Some((priority, index));
            }
        }
        let Some((_, server)) = best else {
            self.ran = None;
            return;
        };
        let mut ready = self.ready_of(server);
        // Stable: equal keys stay in the order of the tasks.
        ready.sort_by_key(|&task| {
            if self.servers[server].edf {
                self.work[task].queue[0] + self.tasks[task].deadline
            } else {
                u64::MAX - self.tasks[task].priority
            }
        });
        let task = ready.first().copied();
        if let Some(burst) = self.state[server].burst.as_mut() {
            burst.start.get_or_insert(now);
        }
        self.ran = Some((server, task));
    }
}

const fn numerator(server: &Server, mode: usize) -> u64 {
    match server.kind {
        Kind::Pibs { numerators, .. } => numerators[mode],
        Kind::Polling | Kind::Idling | Kind::Deferrable | Kind::Sporadic { .. } => 0,
    }
}

/// Behind all that are due no later.
fn insert(list: &mut Vec<(u64, u64)>, chunk: (u64, u64)) {
    list.push(chunk);
    list.sort_by_key(|&(due, _)| due);
}

fn wake(state: &mut ServerState, now: u64) {
    if state.list.first().is_none_or(|&(due, _)| due > now) {
        return;
    }
    state.list[0].0 = now;
    while state.list.len() > 1 && state.list[1].0 <= now + state.list[0].1 - state.usage {
        let (_, amount) = state.list.remove(1);
        state.list[0].1 += amount;
    }
}

fn sleep(state: &mut ServerState, now: u64, period: u64, positions: usize, tail: bool) {
    let Some(&(due, amount)) = state.list.first() else {
        return;
    };
    let used = std::mem::take(&mut state.usage);
    if used == 0 || due > now {
        return;
    }
    let mut back = (due + period, used);
    if state.list.len() < positions {
        state.list[0].1 = amount - used;
    } else if tail {
        state.list[0].1 = amount - used;
        let (last_due, last) = state.list.pop().expect("it is full");
        back = (back.0.max(last_due), used + last);
    } else {
        state.list.remove(0);
        state.list[0].1 += amount - used;
    }
    insert(&mut state.list, back);
}

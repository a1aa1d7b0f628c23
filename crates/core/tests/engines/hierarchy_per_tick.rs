//! A scheduler for servers that is as slow and as plain as possible: every tick it looks at
//! everything again. It shares no line with the engine, only numbers with it.
//!
//! At an instant, in this order: what the last tick executed is charged; finished and blocked jobs
//! leave; budgets come back; jobs wake up and arrive; servers without work give up, keep, or split
//! their budget; the most urgent server with budget gets the next tick.

use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Polling,
    Idling,
    Deferrable,
    Sporadic { positions: usize, tail: bool },
    Pibs { numerator: u64, denominator: u64 },
}

#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) period: u64,
    pub(crate) capacity: u64,
    pub(crate) priority: u64,
    pub(crate) edf: bool,
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
}

/// How many jobs wait behind the first one before more are dropped.
const WAITING_MAX: usize = 4;

#[derive(Clone, Default)]
struct TaskState {
    /// Releases, the job at work first.
    queue: VecDeque<u64>,
    segment: usize,
    executed: u64,
    blockings: u64,
    blocked_until: Option<u64>,
}

#[derive(Clone, Default)]
struct ServerState {
    budget: u64,
    list: Vec<(u64, u64)>,
    usage: u64,
    had_work: bool,
    // PIBS
    eligible: u64,
    burst: Option<Burst>,
}

#[derive(Clone)]
struct Burst {
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
    pub(crate) trace: String,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(
        servers: &'a [Server],
        tasks: &'a [Task],
        delay: &'a dyn Fn(usize, u64) -> u64,
    ) -> Self {
        let fresh = |server: &Server| ServerState {
            budget: server.capacity,
            list: vec![(0, server.capacity)],
            ..ServerState::default()
        };
        Self {
            servers,
            tasks,
            state: servers.iter().map(fresh).collect(),
            work: vec![TaskState::default(); tasks.len()],
            delay,
            ran: None,
            trace: String::new(),
        }
    }

    /// One tick from `now` on; `arrivals` are tasks, one entry for each job.
    pub(crate) fn tick(&mut self, now: u64, arrivals: &[usize]) {
        self.charge(now);
        for (index, server) in self.servers.iter().enumerate() {
            let periodic = matches!(server.kind, Kind::Polling | Kind::Idling | Kind::Deferrable);
            if periodic && now > 0 && now.is_multiple_of(server.period) {
                self.state[index].budget = server.capacity;
            }
        }
        for work in &mut self.work {
            if work.blocked_until == Some(now) {
                work.blocked_until = None;
            }
        }
        for &task in arrivals {
            let queue = &mut self.work[task].queue;
            if self.tasks[task].device || queue.len() <= WAITING_MAX {
                queue.push_back(now);
            }
        }
        for index in 0..self.servers.len() {
            self.settle(index, now);
        }
        self.choose(now);
    }

    fn charge(&mut self, now: u64) {
        let Some((server, task)) = self.ran else {
            return;
        };
        let state = &mut self.state[server];
        match self.servers[server].kind {
            Kind::Polling | Kind::Idling | Kind::Deferrable => state.budget -= 1,
            Kind::Sporadic { .. } => {
                state.usage += 1;
                if state.usage == state.list[0].1 {
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
                }
            }
        }
        let Some(task) = task else { return };
        let work = &mut self.work[task];
        work.executed += 1;
        let program = &self.tasks[task].program;
        if work.executed < program[work.segment] {
            return;
        }
        work.executed = 0;
        work.segment += 1;
        if work.segment == program.len() {
            work.segment = 0;
            work.queue.pop_front();
        } else {
            work.blocked_until = Some(now + (self.delay)(task, work.blockings));
            work.blockings += 1;
        }
    }

    fn end_burst(&mut self, server: usize) {
        let Kind::Pibs {
            numerator,
            denominator,
        } = self.servers[server].kind
        else {
            return;
        };
        let state = &mut self.state[server];
        if let Some(burst) = state.burst.take()
            && let Some(start) = burst.start
        {
            state.eligible = start + (burst.used * denominator).div_ceil(numerator);
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
            Kind::Polling if !work => self.state[index].budget = 0,
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
            Kind::Pibs {
                numerator,
                denominator,
            } => {
                if self.state[index].burst.is_none() && self.state[index].eligible <= now {
                    let hosts = ready.iter().map(|&task| self.tasks[task].serves);
                    let host = hosts
                        .min_by_key(|&host| (u64::MAX - self.servers[host].priority, host))
                        .expect("there is work");
                    self.state[index].burst = Some(Burst {
                        capacity: numerator * self.servers[host].period / denominator,
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
                Kind::Sporadic { .. } => (work && state.list[0].0 <= now, server.priority),
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
            self.trace.push('.');
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
        self.trace.push(match task {
            Some(task) => char::from_digit(task as u32, 10).expect("few tasks"),
            None => (b'a' + server as u8) as char,
        });
    }
}

/// Behind all that are due no later.
fn insert(list: &mut Vec<(u64, u64)>, chunk: (u64, u64)) {
    list.push(chunk);
    list.sort_by_key(|&(due, _)| due);
}

fn wake(state: &mut ServerState, now: u64) {
    if state.list[0].0 > now {
        return;
    }
    state.list[0].0 = now;
    while state.list.len() > 1 && state.list[1].0 <= now + state.list[0].1 - state.usage {
        let (_, amount) = state.list.remove(1);
        state.list[0].1 += amount;
    }
}

fn sleep(state: &mut ServerState, now: u64, period: u64, positions: usize, tail: bool) {
    let (due, amount) = state.list[0];
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

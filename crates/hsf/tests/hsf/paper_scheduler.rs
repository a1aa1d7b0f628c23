//! The paper's Figures 9, 10, 12 and 13, tick by tick, with M = 15; and with what is wrong in them.

use crate::host::Target;
use crate::paper_queue::{Flaw, List};
use crate::system::{Arrivals, System, TaskSpec};
use vestal_hsf::{
    Change, Error, Hooks, Kind, LocalOrder, Pick, ServerId, ServerSpec, State, TaskId, TaskState,
};

/// What may be wrong. All are in the paper but where it says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wrong {
    /// In its queues.
    Queues(Flaw),
    /// Figure 12, section 6.6: between two due events nothing is taken off the heads, and a queue that is changed,
    /// activated or deactivated in the meantime goes wrong by that much.
    NotSettled,
    /// Figure 12: each active queue is brought up to date after the one before it was handled, so that what a
    /// replenishment inserts into the virtual queue comes too soon.
    OneQueueAfterTheOther,
    /// Figure 10: any server that is switched out without a ready task gets a wake-up, depleted or not.
    DepletedServersWakeUp,
    /// Figure 13: a deferrable server that is switched in and finds no work stays.
    StaysWithoutWork,
    /// Section 3.2.4, last sentence: a polling server loses its budget whenever it is switched out.
    PollingLosesBudgetWhenPreempted,
    /// Not in the paper: a polling server that is not switched in at its replenishment keeps the budget for later work.
    PollingAskedLate,
    /// Figures 9 and 10: the stopwatch event is deleted when its server is switched out again.
    StopwatchEventStays,
    /// Not in the paper: an arrival during a job is forgotten.
    ArrivalsNotCounted,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Replenishment(usize),
    WakeUp(usize),
    Depletion(usize),
    Arrival(usize),
    Resume(usize),
    SwitchOut(usize),
}

struct Server {
    spec: ServerSpec,
    state: State,
    to_poll: bool,
    sq: List<Event>,
    vq: List<Event>,
}

struct Task {
    spec: TaskSpec,
    state: TaskState,
    pending: u32,
    due: u64,
}

/// One of the active queues.
#[derive(Clone, Copy)]
enum Which {
    System,
    Local(usize),
    Virtual(usize),
}

pub(crate) struct PaperScheduler {
    wrong: Option<Wrong>,
    system: List<Event>,
    stopwatch: List<Event>,
    servers: Vec<Server>,
    tasks: Vec<Task>,
    current: Option<usize>,
    now: u64,
    current_time: u64,
    earliest: u64,
}

impl PaperScheduler {
    pub(crate) fn new(system: &System, wrong: Option<Wrong>) -> Self {
        let flaw = match wrong {
            Some(Wrong::Queues(flaw)) => Some(flaw),
            _ => None,
        };
        let server = |(number, spec): (usize, &ServerSpec)| {
            let mut vq = List::new(flaw);
            vq.insert(spec.capacity.into(), Event::Depletion(number));
            Server {
                spec: *spec,
                state: State::Ready,
                to_poll: spec.kind == Kind::Polling,
                sq: List::new(flaw),
                vq,
            }
        };
        let task = |spec: &TaskSpec| Task {
            spec: spec.clone(),
            state: TaskState::Waits,
            pending: 0,
            due: 0,
        };
        let mut this = Self {
            wrong,
            system: List::new(flaw),
            stopwatch: List::new(flaw),
            servers: system.servers.iter().enumerate().map(server).collect(),
            tasks: system.tasks.iter().map(task).collect(),
            current: None,
            now: 0,
            current_time: 0,
            earliest: 0,
        };
        for (number, spec) in system.servers.iter().enumerate() {
            this.system
                .insert(spec.period.into(), Event::Replenishment(number));
            this.stopwatch.push_front(Some(Event::SwitchOut(number)));
        }
        for (number, spec) in system.tasks.iter().enumerate() {
            if let Arrivals::Periodic { offset, .. } = spec.arrivals {
                let sq = &mut this.servers[usize::from(spec.server)].sq;
                sq.insert(offset.into(), Event::Arrival(number));
            }
        }
        // Arrivals at the epoch are known at the first call.
        for number in 0..this.servers.len() {
            this.synchronise(number, 0);
        }
        this
    }

    fn is(&self, wrong: Wrong) -> bool {
        self.wrong == Some(wrong)
    }

    fn queue(&mut self, which: Which) -> &mut List<Event> {
        match which {
            Which::System => &mut self.system,
            Which::Local(server) => &mut self.servers[server].sq,
            Which::Virtual(server) => &mut self.servers[server].vq,
        }
    }

    fn active(&self) -> Vec<Which> {
        let own = |server| [Which::Local(server), Which::Virtual(server)];
        let mut active = vec![Which::System];
        active.extend(self.current.into_iter().flat_map(own));
        active
    }

    fn bring_up_to_date(&mut self, which: Which) {
        let time = self.current_time;
        if let Some((head, _)) = self.queue(which).items.first_mut() {
            *head = head.saturating_sub(time);
        }
    }

    /// What the paper omits: before a queue is changed between two due events.
    fn settle(&mut self) {
        if !self.is(Wrong::NotSettled) {
            for which in self.active() {
                self.bring_up_to_date(which);
            }
            self.current_time = 0;
        }
    }

    fn rearm(&mut self) {
        let heads = self
            .active()
            .into_iter()
            .map(|which| self.queue(which).items.first().copied());
        self.earliest = heads
            .collect::<Vec<_>>()
            .into_iter()
            .flatten()
            .map(|head| head.0)
            .min()
            .unwrap_or(15);
    }

    fn tick(&mut self) -> bool {
        self.stopwatch.increment();
        self.current_time += 1;
        self.now += 1;
        if self.current_time < self.earliest {
            return false;
        }
        let active = self.active();
        let one_by_one = self.is(Wrong::OneQueueAfterTheOther);
        for &which in active.iter().filter(|_| !one_by_one) {
            self.bring_up_to_date(which);
        }
        for which in active {
            if one_by_one {
                self.bring_up_to_date(which);
            }
            while let Some(event) = self.queue(which).expire(&mut 0) {
                self.handle(event, 0);
            }
        }
        self.current_time = 0;
        self.rearm();
        true
    }

    fn handle(&mut self, event: Event, late: u64) {
        match event {
            Event::Replenishment(number) => {
                let server = &mut self.servers[number];
                let depletion = Event::Depletion(number);
                server.vq.delete(depletion);
                server.vq.insert(server.spec.capacity.into(), depletion);
                server.to_poll = server.spec.kind == Kind::Polling;
                if server.state == State::Depleted {
                    server.state = State::Ready;
                }
                self.system
                    .insert_again(server.spec.period.into(), late, event);
            }
            Event::WakeUp(number) => {
                let depleted = self.is(Wrong::DepletedServersWakeUp);
                let server = &mut self.servers[number];
                if server.state == State::Waiting || depleted {
                    server.state = State::Ready;
                }
            }
            Event::Depletion(number) => self.servers[number].state = State::Depleted,
            Event::Arrival(number) => {
                let spec = &self.tasks[number].spec;
                if let Arrivals::Periodic { period, .. } = spec.arrivals {
                    let sq = &mut self.servers[usize::from(spec.server)].sq;
                    sq.insert_again(period.into(), late, event);
                }
                self.arrive(number, self.now - late);
            }
            Event::Resume(number) => self.make_ready(number),
            Event::SwitchOut(_) => {}
        }
    }

    fn arrive(&mut self, number: usize, at: u64) {
        let counted = !self.is(Wrong::ArrivalsNotCounted);
        let task = &mut self.tasks[number];
        if task.state == TaskState::Waits {
            task.due = at + u64::from(task.spec.deadline);
            self.make_ready(number);
        } else if counted {
            task.pending += 1;
        }
    }

    fn make_ready(&mut self, number: usize) {
        let task = &mut self.tasks[number];
        task.state = TaskState::Ready;
        let server = usize::from(task.spec.server);
        if self.servers[server].state == State::Waiting {
            self.servers[server].state = State::Ready;
            self.system.delete(Event::WakeUp(server));
        }
    }

    fn ready_tasks(&self, server: usize) -> Vec<usize> {
        let is_ready = |&number: &usize| {
            let task = &self.tasks[number];
            usize::from(task.spec.server) == server && task.state == TaskState::Ready
        };
        (0..self.tasks.len()).filter(is_ready).collect()
    }

    /// Handles all events of a server's queue within `elapsed` ticks of its now.
    fn synchronise(&mut self, server: usize, elapsed: u64) {
        let mut left = elapsed;
        while let Some(event) = self.servers[server].sq.expire(&mut left) {
            self.handle(event, left);
        }
    }

    fn elapsed(&self, server: usize) -> u64 {
        let times = self.stopwatch.times();
        let own = times
            .iter()
            .find(|(_, event)| *event == Event::SwitchOut(server));
        own.map_or(0, |(at, _)| *at)
    }

    fn catch_up(&mut self, server: usize) {
        let elapsed = self.elapsed(server);
        self.stopwatch.delete(Event::SwitchOut(server));
        self.synchronise(server, elapsed);
        self.stopwatch.push_front(Some(Event::SwitchOut(server)));
    }

    fn switch_in(&mut self, server: usize) {
        let elapsed = self.elapsed(server);
        if !self.is(Wrong::StopwatchEventStays) {
            self.stopwatch.delete(Event::SwitchOut(server));
        }
        self.servers[server].state = State::Running;
        self.synchronise(server, elapsed);
        self.system.delete(Event::WakeUp(server));
        self.current = Some(server);
    }

    fn switch_out(&mut self, server: usize) {
        self.stopwatch.delete(Event::SwitchOut(server));
        self.stopwatch.push_front(Some(Event::SwitchOut(server)));
        self.current = None;
        let loses = self.is(Wrong::PollingLosesBudgetWhenPreempted);
        if self.servers[server].state == State::Running {
            self.servers[server].state = State::Ready;
            if loses && self.servers[server].spec.kind == Kind::Polling {
                self.discard(server);
            }
        }
        let any = self.is(Wrong::DepletedServersWakeUp) && self.ready_tasks(server).is_empty();
        if any || self.servers[server].state == State::Waiting {
            self.system.delete(Event::WakeUp(server));
            if let Some(&(at, _)) = self.servers[server].sq.times().first() {
                self.system.insert(at, Event::WakeUp(server));
            }
        }
    }

    fn discard(&mut self, server: usize) {
        self.servers[server].vq.delete(Event::Depletion(server));
        self.servers[server].state = State::Depleted;
    }

    fn poll(&mut self) {
        for number in 0..self.servers.len() {
            if !std::mem::take(&mut self.servers[number].to_poll) {
                continue;
            }
            let inactive = self.current != Some(number);
            if inactive && self.is(Wrong::PollingAskedLate) {
                continue;
            }
            if inactive && self.ready_tasks(number).is_empty() {
                self.catch_up(number);
            }
            if self.ready_tasks(number).is_empty() && self.servers[number].state != State::Depleted
            {
                self.discard(number);
            }
        }
    }

    fn leave_without_work(&mut self) -> bool {
        let Some(server) = self.current else {
            return false;
        };
        let entry = &mut self.servers[server];
        let (kind, running) = (entry.spec.kind, entry.state == State::Running);
        if !running || !self.ready_tasks(server).is_empty() {
            return false;
        }
        match kind {
            Kind::Idling => return false,
            Kind::Deferrable if self.is(Wrong::StaysWithoutWork) => return false,
            Kind::Deferrable => self.servers[server].state = State::Waiting,
            Kind::Polling => self.discard(server),
        }
        self.switch_out(server);
        true
    }

    fn highest_ready_server(&self) -> Option<usize> {
        let is_ready =
            |&number: &usize| matches!(self.servers[number].state, State::Ready | State::Running);
        let servers = (0..self.servers.len()).filter(is_ready);
        servers.min_by_key(|&number| self.servers[number].spec.priority)
    }

    fn highest_ready_task(&self, server: usize) -> Option<usize> {
        let tasks = self.ready_tasks(server).into_iter();
        tasks.min_by_key(|&number| match self.servers[server].spec.order {
            LocalOrder::FixedPriority => self.tasks[number].spec.priority.into(),
            LocalOrder::EarliestDeadline => self.tasks[number].due,
        })
    }

    fn insert_local(&mut self, number: usize, ticks: u32) {
        let server = usize::from(self.tasks[number].spec.server);
        let event = Event::Resume(number);
        self.servers[server].sq.insert(ticks.into(), event);
        self.rearm();
    }

    fn wait_period(&mut self, task: TaskId) {
        let now = self.now;
        let task = &mut self.tasks[task.index()];
        if task.pending == 0 {
            task.state = TaskState::Waits;
            return;
        }
        task.pending -= 1;
        task.due = match task.spec.arrivals {
            Arrivals::Periodic { period, .. } => task.due + u64::from(period),
            Arrivals::Sporadic { .. } => now + u64::from(task.spec.deadline),
        };
    }

    fn delay(&mut self, task: TaskId, ticks: u32) {
        if ticks > 0 {
            self.settle();
            self.tasks[task.index()].state = TaskState::Delayed;
            self.insert_local(task.index(), ticks);
        }
    }

    fn delay_virtual(&mut self, task: TaskId, ticks: u32) {
        if ticks > 0 {
            self.settle();
            let number = task.index();
            self.tasks[number].state = TaskState::Delayed;
            let server = usize::from(self.tasks[number].spec.server);
            let vq = &mut self.servers[server].vq;
            vq.insert(ticks.into(), Event::Resume(number));
            self.rearm();
        }
    }

    fn ready(&mut self, task: TaskId) {
        self.settle();
        self.make_ready(task.index());
        self.rearm();
    }

    fn release(&mut self, task: TaskId) {
        self.settle();
        self.arrive(task.index(), self.now);
        self.rearm();
    }
}

impl Hooks for PaperScheduler {
    fn timer(&mut self, ticks: u32) -> bool {
        assert_eq!(ticks, 1, "it is driven by ticks");
        self.tick()
    }

    fn next_timer(&self) -> u32 {
        1
    }

    fn pick(&mut self) -> Pick {
        self.settle();
        self.poll();
        let mut left = false;
        for _ in 0..=self.servers.len() {
            left |= self.leave_without_work();
            let highest = self.highest_ready_server();
            if highest == self.current {
                break;
            }
            if let Some(server) = self.current {
                self.switch_out(server);
                left = true;
            }
            let Some(server) = highest else { break };
            if !left {
                self.stopwatch.push_front(None);
            }
            self.switch_in(server);
        }
        self.rearm();
        let name = |server: usize| ServerId::new(server as u8);
        match self.current {
            None => Pick::Idle,
            Some(server) => match self.highest_ready_task(server) {
                Some(task) => Pick::Task(TaskId::new(task as u8)),
                None => Pick::Idling(name(server)),
            },
        }
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        match change {
            Change::Released => self.release(task),
            Change::Ready => self.ready(task),
            Change::Blocked => self.tasks[task.index()].state = TaskState::Blocked,
            Change::EndOfJob => self.wait_period(task),
            Change::Delayed(ticks) => self.delay(task, ticks),
            Change::DelayedVirtual(ticks) => self.delay_virtual(task, ticks),
        }
        Ok(())
    }
}

impl Target for PaperScheduler {
    fn create(system: &System) -> Self {
        Self::new(system, None)
    }

    fn waits(&self, task: TaskId) -> bool {
        self.tasks[task.index()].state == TaskState::Waits
    }

    fn is_delayed(&self, task: TaskId) -> bool {
        self.tasks[task.index()].state == TaskState::Delayed
    }

    fn pending(&self, task: TaskId) -> u32 {
        self.tasks[task.index()].pending
    }

    fn active(&self) -> Option<usize> {
        self.current
    }

    fn stopwatch(&self) -> Vec<(Option<usize>, u64, u64)> {
        let shown = |&(time, event): &(u64, Option<Event>)| match event {
            Some(Event::SwitchOut(server)) => (Some(server), 1, time),
            _ => (None, 1, time),
        };
        self.stopwatch.items.iter().map(shown).collect()
    }
}

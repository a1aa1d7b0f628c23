//! What carrying a policy out takes of the CPUs of a world.
//!
//! | of | is taken from the CPU |
//! |---|---|
//! | a release, whether the job is admitted or not | of the task, whatever runs there |
//! | a job's own, once | when it has the CPU, before its body; others go before it as they do before the body |
//! | a switch | whenever a job is given it; one that keeps it is not |
//! | a completion | behind the job |
//! | a job that is stopped because it used up the budget of its own level; one that a change of mode drops | of its task |
//! | a change of mode, up or back; a look of a heartbeat; a sub-frame, with the frame if it is the first one | every CPU |
//! | a wake-up that the scheduler asked for, but for the beginning of a frame | the first |
//!
//! What is taken is taken at once, before any job goes on, one after the other as it happened; it is taken in full, even if the
//! job that it was for is dropped meanwhile, but for a switch that has not begun when there is another one, which takes its
//! place, behind all else. No look is taken while one is not over. Decisions are those of the instant at which it happened. None of it is charged to
//! a job. Of one instant it is, in this order: completions, the wake-up, releases, a look, what the decision brought (changes of
//! mode, each followed by the jobs it drops, and stopped jobs), a sub-frame, switches. What the end of the run cuts off is lost.
//!
//! A job that is dropped at the instant of its release had nothing to terminate, nor had one that only the world kept.
//! A sub-frame takes something where any CPU has a job in it, and a frame with the first such sub-frame: one without jobs takes
//! nothing. A frame that begins late, because another one overran, costs what any does. A wake-up costs what it costs whatever
//! else happens at its instant, unless a decision before that no longer asked for it.
//!
//! # When a budget is noticed to be used up
//!
//! When the job has executed [`Costs::detection`] beyond it; with a [heartbeat](Costs::heartbeat) at the first look from
//! then on, that instant included, and whatever the CPU is taken for. Earlier if the job completes or would lose the CPU: what it
//! used up has its consequences before another job is given the CPU, and it may keep it. A job that completed can
//! only have raised the mode, if it executed more than its budget: nothing has to be stopped.
//!
//! The budget is that of the last decision. There is one whenever something happens, also when a CPU is no longer taken for
//! something and at looks. That matters for budgets that grow by themselves, those of slices: what has executed by the
//! time it is noticed counts against the budget of that instant.

use std::collections::VecDeque;
use vestal_core::{BarrierId, CpuId, Duration, Instant, JobId, Plan, Service, TaskId, WakeReason};

/// What carrying a policy out takes of the CPUs of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Costs {
    /// A release.
    pub release: Duration,
    /// What a job takes beyond its body.
    pub job: Duration,
    /// Giving a CPU to a job.
    pub switch: Duration,
    /// Hearing of a completion.
    pub completion: Duration,
    /// How long a job goes on after it has used up a budget, until that is noticed.
    pub detection: Duration,
    /// Stopping a job that used up the budget of its own level.
    pub exhaustion: Duration,
    /// A change of mode, up or back, without terminations.
    pub change: Duration,
    /// Dropping a job at a change of mode; an arrival that the mode does not admit is none.
    pub termination: Duration,
    /// A wake-up that the scheduler asked for: zero-slack instants, slices, deadlines.
    pub wake: Duration,
    /// Beginning a frame that has jobs.
    pub frame: Duration,
    /// Beginning a sub-frame, with the barrier at its end.
    pub sub_frame: Duration,
    /// Budgets are looked at periodically.
    pub heartbeat: Option<Heartbeat>,
}

/// How much is taken each time.
#[derive(Clone, Copy, Debug)]
pub enum Charges<'a> {
    /// The same.
    Fixed(&'a Costs),
    /// It is drawn, from this seed.
    Drawn(&'a DrawnCosts, u64),
}

/// Costs of which three quantiles are known. Half of the times the median is taken, 49 times in 100 something between that and the
/// 99th percentile, and once in 100 something between that and the largest, evenly spread. A heartbeat keeps its period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DrawnCosts {
    /// The medians.
    pub median: Costs,
    /// The 99th percentiles.
    pub p99: Costs,
    /// The largest.
    pub max: Costs,
}

/// In so many parts is what is drawn cut.
const PARTS: u64 = 100_000;
/// As many of them are below the median, and below the 99th percentile.
const BELOW: [u64; 2] = [PARTS / 2, PARTS / 100 * 99];

impl DrawnCosts {
    /// What is drawn with this number, of which `of` says what it is.
    fn draw(&self, number: u64, of: impl Fn(&Costs) -> Duration) -> Duration {
        let part = mixed(number) % PARTS;
        let [below_median, below_p99] = BELOW;
        let (low, high, since, until) = if part < below_median {
            return of(&self.median);
        } else if part < below_p99 {
            (&self.median, &self.p99, below_median, below_p99)
        } else {
            (&self.p99, &self.max, below_p99, PARTS)
        };
        let (low, high) = (of(low).as_nanos(), of(high).as_nanos());
        let more = u128::from(high.saturating_sub(low)) * u128::from(part + 1 - since);
        let more = more / u128::from(until - since);
        Duration::from_nanos(low.saturating_add(u64::try_from(more).unwrap_or(u64::MAX)))
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over its counter.
const fn mixed(counter: u64) -> u64 {
    let mut bits = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A look at budgets at every multiple of a period, the epoch included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Heartbeat {
    /// T_M. One of nothing counts as a nanosecond.
    pub period: Duration,
    /// What a look takes: C_M.
    pub cost: Duration,
}

impl Heartbeat {
    fn period(&self) -> u64 {
        self.period.as_nanos().max(1)
    }

    /// The first look at `from` or later.
    fn next_look(&self, from: Instant) -> Instant {
        let looks = from.as_nanos().div_ceil(self.period());
        Instant::from_nanos(looks.saturating_mul(self.period()))
    }
}

/// For what a CPU is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// What a job does beyond its body.
    Job,
    /// A release.
    Release,
    /// A switch to a job.
    Switch,
    /// A completion.
    Completion,
    /// A job that used up the budget of its own level.
    Exhaustion,
    /// A change of mode, and what it drops.
    Mode,
    /// A wake-up.
    Wake,
    /// A frame or a sub-frame.
    Frame,
    /// A look at budgets.
    Heartbeat,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Job,
        Self::Release,
        Self::Switch,
        Self::Completion,
        Self::Exhaustion,
        Self::Mode,
        Self::Wake,
        Self::Frame,
        Self::Heartbeat,
    ];

    /// What it is called.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Release => "release",
            Self::Switch => "switch",
            Self::Completion => "completion",
            Self::Exhaustion => "exhaustion",
            Self::Mode => "mode",
            Self::Wake => "wake-up",
            Self::Frame => "frame",
            Self::Heartbeat => "heartbeat",
        }
    }
}

impl Costs {
    const fn of(&self, cause: Cause) -> Duration {
        match cause {
            Cause::Job => self.job,
            Cause::Release => self.release,
            Cause::Switch => self.switch,
            Cause::Completion => self.completion,
            Cause::Exhaustion => self.exhaustion,
            Cause::Mode => self.change,
            Cause::Wake => self.wake,
            Cause::Frame => self.sub_frame,
            Cause::Heartbeat => match self.heartbeat {
                Some(beat) => beat.cost,
                None => Duration::ZERO,
            },
        }
    }
}

/// For what a CPU is taken, from when on and until when.
pub(crate) type Span = (Cause, Instant, Instant);

/// What is known of one CPU.
#[derive(Clone, Debug, Default)]
struct Taken {
    /// For what it is taken, one after the other, and from when until when.
    spans: VecDeque<Span>,
    /// What is left of the budget under which its job executes, as the scheduler was told last.
    budget: Option<Service>,
    /// What that job has executed since then and nobody has noticed.
    unnoticed: Service,
}

impl Taken {
    /// A switch that has not begun gives way to another one.
    fn forget_switch(&mut self) {
        let mut later = self.spans.iter().skip(1);
        let Some(place) = later.position(|span| span.0 == Cause::Switch) else {
            return;
        };
        let Some((_, since, until)) = self.spans.remove(place + 1) else {
            return;
        };
        let length = until.saturating_since(since);
        for span in self.spans.iter_mut().skip(place + 1) {
            *span = (
                span.0,
                span.1.saturating_sub(length),
                span.2.saturating_sub(length),
            );
        }
    }

    /// Until when it is taken.
    fn until(&self) -> Instant {
        self.spans
            .back()
            .map_or(Instant::EPOCH, |(_, _, until)| *until)
    }
}

/// The costs during a run.
#[derive(Clone, Debug)]
pub(crate) struct Costing<'a> {
    charges: Charges<'a>,
    /// How many were drawn.
    drawn: u64,
    /// By task, where it is handled; one that is not listed is on the first CPU.
    homes: &'a [CpuId],
    cpus: Vec<Taken>,
    /// By task, what its job has still to do before its body.
    own: Vec<Service>,
    /// By task, how long its job goes on after it has used up a budget.
    late: Vec<Service>,
    /// The next look at budgets.
    look: Option<Instant>,
    /// The sub-frame that runs or ran last, by its barrier and first job.
    sub_frame: Option<(BarrierId, JobId)>,
    /// It began with the last plan.
    begins: bool,
    /// The wake-up that was asked for is the beginning of a frame.
    awaits_frame: bool,
    /// A frame began by the clock, and none of its sub-frames has.
    is_new_frame: bool,
    /// The next instant at which anything happens here.
    next: Instant,
}

/// How a stretch of time on a CPU with a job was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    /// By the job beyond its body.
    pub(crate) own: Service,
    /// By its body, behind all else.
    pub(crate) body: Service,
    /// What is noticed of that, with what was not before.
    pub(crate) noticed: Service,
}

impl<'a> Costing<'a> {
    pub(crate) fn new(
        (charges, homes): (Charges<'a>, &'a [CpuId]),
        (tasks, cpus): (usize, u16),
    ) -> Self {
        let mut costing = Self {
            charges,
            drawn: 0,
            homes,
            cpus: vec![Taken::default(); usize::from(cpus)],
            own: vec![Service::ZERO; tasks],
            late: vec![Service::ZERO; tasks],
            look: None,
            sub_frame: None,
            begins: false,
            awaits_frame: true,
            is_new_frame: true,
            next: Instant::EPOCH,
        };
        costing.look = costing.heartbeat().map(|_| Instant::EPOCH);
        costing.look_ahead();
        costing
    }

    /// What `of` says, each time it is asked.
    fn cost(&mut self, of: impl Fn(&Costs) -> Duration) -> Duration {
        match self.charges {
            Charges::Fixed(costs) => of(costs),
            Charges::Drawn(costs, seed) => {
                self.drawn = self.drawn.wrapping_add(1);
                costs.draw(mixed(seed).wrapping_add(self.drawn), of)
            }
        }
    }

    const fn heartbeat(&self) -> Option<Heartbeat> {
        match self.charges {
            Charges::Fixed(costs) => costs.heartbeat,
            Charges::Drawn(costs, _) => costs.median.heartbeat,
        }
    }

    pub(crate) const fn next(&self) -> Instant {
        self.next
    }

    pub(crate) fn home(&self, task: TaskId) -> CpuId {
        self.homes.get(task.index()).copied().unwrap_or(CpuId(0))
    }

    fn look_ahead(&mut self) {
        let fronts = self.cpus.iter().filter_map(|cpu| cpu.spans.front());
        let ends = fronts.map(|(_, _, until)| *until);
        let first = ends.chain(self.look).min();
        self.next = first.unwrap_or(crate::cpu::NEVER);
    }

    /// Takes a CPU for what this costs; says whether that begins now.
    pub(crate) fn take(&mut self, now: Instant, cpu: CpuId, cause: Cause) -> bool {
        let cost = self.cost(|costs| costs.of(cause));
        self.take_for(now, cpu, (cause, cost))
    }

    /// The same for the termination of a job.
    pub(crate) fn terminate(&mut self, now: Instant, cpu: CpuId) -> bool {
        let cost = self.cost(|costs| costs.termination);
        self.take_for(now, cpu, (Cause::Mode, cost))
    }

    /// The same for as long as is said.
    pub(crate) fn take_for(
        &mut self,
        now: Instant,
        cpu: CpuId,
        (cause, cost): (Cause, Duration),
    ) -> bool {
        let Some(taken) = self.cpus.get_mut(cpu.index()).filter(|_| !cost.is_zero()) else {
            return false;
        };
        // One look at a time.
        if cause == Cause::Heartbeat && taken.spans.iter().any(|span| span.0 == cause) {
            return false;
        }
        if cause == Cause::Switch {
            taken.forget_switch();
        }
        let begins = taken.spans.is_empty();
        let since = taken.until().max(now);
        let span = (cause, since, since.saturating_add(cost));
        taken.spans.push_back(span);
        if begins {
            self.next = self.next.min(span.2);
        }
        begins
    }

    /// What had a CPU until `now` at the latest and has not been reported, with what has it from then on.
    pub(crate) fn ended(&mut self, now: Instant) -> Option<(CpuId, Span, Option<Cause>)> {
        for (cpu, taken) in (0..).map(CpuId).zip(&mut self.cpus) {
            let is_over = |(_, _, until): &Span| *until <= now;
            if taken.spans.front().is_some_and(is_over)
                && let Some(span) = taken.spans.pop_front()
            {
                let next = taken.spans.front().map(|(cause, _, _)| *cause);
                return Some((cpu, span, next));
            }
        }
        self.look_ahead();
        None
    }

    /// What has a CPU at the end of a run; nothing has it after that.
    pub(crate) fn cut(&mut self) -> Vec<(CpuId, Span)> {
        let cpus = (0..).map(CpuId).zip(&mut self.cpus);
        let cut = cpus.filter_map(|(cpu, taken)| {
            let first = taken.spans.pop_front();
            taken.spans.clear();
            first.map(|span| (cpu, span))
        });
        cut.collect()
    }

    /// Whether budgets are looked at now; each look is reported once.
    pub(crate) fn looks(&mut self, now: Instant) -> bool {
        let Some((look, beat)) = self.look.zip(self.heartbeat()) else {
            return false;
        };
        if look > now {
            return false;
        }
        self.look = Some(beat.next_look(look.saturating_add(Duration::from_nanos(1))));
        self.look_ahead();
        true
    }

    /// A job of `task` begins.
    pub(crate) fn begin(&mut self, task: TaskId) {
        let (own, late) = (self.cost(|it| it.job), self.cost(|it| it.detection));
        let places = (
            self.own.get_mut(task.index()),
            self.late.get_mut(task.index()),
        );
        if let (Some(of_own), Some(of_late)) = places {
            *of_own = Service::supplied_during(own);
            *of_late = Service::supplied_during(late);
        }
    }

    /// How the time from `start` to `end` was used, in which a job of `task` had the CPU; `all` says that whatever it
    /// executed is noticed.
    pub(crate) fn used(
        &mut self,
        (cpu, task): (CpuId, TaskId),
        (start, end): (Instant, Instant),
        all: bool,
    ) -> Used {
        let (Some(taken), Some(left)) = (
            self.cpus.get_mut(cpu.index()),
            self.own.get_mut(task.index()),
        ) else {
            return Used {
                own: Service::ZERO,
                body: Service::ZERO,
                noticed: Service::ZERO,
            };
        };
        let since = taken.until().max(start);
        let free = Service::supplied_during(end.saturating_since(since));
        let own = free.min(*left);
        *left = left.saturating_sub(own);
        let body = free.saturating_sub(own);
        let sum = taken.unnoticed.saturating_add(body);
        let noticed = match taken.budget {
            // Just not used up.
            Some(budget) if !all && sum >= budget => budget.saturating_sub(Service::from_nanos(1)),
            Some(_) | None => sum,
        };
        taken.unnoticed = sum.saturating_sub(noticed);
        Used { own, body, noticed }
    }

    /// What the job on this CPU has executed and nobody has noticed; from now on it is.
    pub(crate) fn notice(&mut self, cpu: CpuId) -> Service {
        let taken = self.cpus.get_mut(cpu.index());
        taken.map_or(Service::ZERO, |taken| std::mem::take(&mut taken.unnoticed))
    }

    /// Notes down of a plan what it costs and which budgets there are.
    pub(crate) fn see(&mut self, plan: &Plan<'_>) {
        for (index, taken) in self.cpus.iter_mut().enumerate() {
            let slot = plan.slots.get(index).and_then(Option::as_ref);
            let budget = slot.and_then(|slot| slot.budget.as_ref());
            taken.budget = budget.map(|budget| budget.remaining);
        }
        self.awaits_frame = plan.next.is_some_and(|wake| wake.why == WakeReason::Frame);
        let barrier = plan.sequences.spans.iter().flatten().next();
        let first = plan.sequences.jobs.first();
        let Some((span, &job)) = barrier.zip(first) else {
            return;
        };
        let sub_frame = Some((span.barrier, job));
        if self.sub_frame != sub_frame {
            self.sub_frame = sub_frame;
            self.begins = true;
        }
    }

    /// What each CPU is taken for because a sub-frame began; once.
    pub(crate) fn begun(&mut self) -> Option<Duration> {
        if !std::mem::take(&mut self.begins) {
            return None;
        }
        let frame = match std::mem::take(&mut self.is_new_frame) {
            true => self.cost(|costs| costs.frame),
            false => Duration::ZERO,
        };
        let sub_frame = self.cost(|costs| costs.sub_frame);
        Some(frame.saturating_add(sub_frame))
    }

    /// The wake-up that was asked for comes; says whether it costs something.
    pub(crate) fn woken(&mut self) -> bool {
        self.is_new_frame |= self.awaits_frame;
        !self.awaits_frame
    }

    /// When a job of `task` that runs on this CPU from `now` on ends a stretch of its body, and when it is noticed that its
    /// budget is used up.
    pub(crate) fn ends(
        &self,
        now: Instant,
        (cpu, task): (CpuId, TaskId),
        stretch: Service,
    ) -> (Instant, Option<Instant>) {
        let none = Taken::default();
        let taken = self.cpus.get(cpu.index()).unwrap_or(&none);
        let own = self.own.get(task.index()).copied().unwrap_or_default();
        let begins = taken.until().max(now);
        let begins = begins.saturating_add(own.time_on_dedicated_cpu());
        let completes = begins.saturating_add(stretch.time_on_dedicated_cpu());
        let exhausts = taken.budget.map(|budget| {
            let late = self.late.get(task.index()).copied().unwrap_or_default();
            let left = budget.saturating_add(late);
            let left = left.saturating_sub(taken.unnoticed);
            // One that is used up already is so whatever the CPU is taken for until the job goes on.
            let used_up = match left.is_zero() {
                true => now,
                false => begins.saturating_add(left.time_on_dedicated_cpu()),
            };
            match self.heartbeat() {
                Some(beat) => beat.next_look(used_up),
                None => used_up,
            }
        });
        (completes, exhausts)
    }
}

#[cfg(test)]
#[path = "costs_tests.rs"]
mod tests;

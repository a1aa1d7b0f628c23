//! Did the machine keep bottom halves below what is above them? (managed runs)
//!
//! A managed world starts what the plan names, and a replay shows that every plan is right. This looks at the time in between: a job
//! of a server above that of a bottom half is released, or has what it waited for, and until the manager has the CPU and has decided
//! the bottom half goes on. How long it then takes to carry that out no record says. That is an *inversion* if it lasts for longer than a tolerance, less the time
//! in which the machine held the CPU ([`What::Gap`]).
//!
//! A job is *ready* from its release, its wake-up, the end of the job before it, or its preemption on, until it starts, ends, blocks
//! or is dropped; but not while its server has used up its budget: from the charge that leaves nothing of what the last plan
//! said to be left, until a plan says again that there is something. So this is for servers that keep their budgets while they
//! have nothing to do, and says nothing of how late a budget came back.
//!
//! A manager tells of what happened since it looked last, in no order of time; what is told of a bottom half's end before the release
//! that it delayed is found all the same, up to the next decision.
//!
//! Complexity: O(tasks above) for each record of a bottom half, and O(gaps) for each inversion at the end. The memory grows
//! with the jobs that wait, the gaps and the inversions.

use super::inversion::Inversion;
use crate::record::{Record, What};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use vestal_core::{
    BudgetOwner, CpuId, Duration, Event, Fact, Instant, JobId, OnExhaustion, ServerId, Service,
    StopReason, TaskId,
};

/// What should have been kept.
#[derive(Clone, Copy, Debug)]
pub struct Below<'a> {
    /// Tasks that are bottom halves.
    pub bottom_halves: &'a [TaskId],
    /// Tasks that go before them, with their servers, on the same CPU.
    pub above: &'a [(TaskId, ServerId)],
    /// What is left of a budget, and is at most so much, is nothing.
    pub granularity: Service,
    /// What is at most so long does not count.
    pub tolerance: Duration,
}

/// Finds the first inversion by a bottom half in a managed recording.
///
/// # Errors
/// What `records` gives.
pub fn first_inversion<E>(
    records: impl IntoIterator<Item = Result<Record, E>>,
    below: Below<'_>,
) -> Result<Option<Inversion>, E> {
    let mut state = State::new(below);
    for record in records {
        state.take(&record?);
    }
    Ok(state.first())
}

/// How many inversions there are in a managed recording, one for each interval of a bottom half and job above it.
///
/// # Errors
/// What `records` gives.
pub fn count_inversions<E>(
    records: impl IntoIterator<Item = Result<Record, E>>,
    below: Below<'_>,
) -> Result<usize, E> {
    let mut state = State::new(below);
    for record in records {
        state.take(&record?);
    }
    Ok(state.found().count())
}

/// When a bottom half had the CPU: from, and to, if that is over.
#[derive(Clone, Copy, Debug)]
struct Ran {
    job: JobId,
    cpu: CpuId,
    from: Instant,
    to: Option<Instant>,
}

/// What is known of a task above.
#[derive(Clone, Debug, Default)]
struct Above {
    /// Released, and not over.
    pending: BTreeSet<u64>,
    /// Since when it wants the CPU.
    ready: Option<Instant>,
    blocked: bool,
}

struct State<'a> {
    below: Below<'a>,
    above: BTreeMap<TaskId, Above>,
    /// What had the CPU since the last decision, and what has it.
    ran: Vec<Ran>,
    /// The server of the running job, and what is left of its budget.
    left: Option<(ServerId, Service)>,
    used_up: BTreeSet<ServerId>,
    suspects: Vec<Inversion>,
    gaps: Vec<(CpuId, Instant, Instant)>,
}

impl<'a> State<'a> {
    fn new(below: Below<'a>) -> Self {
        let above = below.above.iter();
        Self {
            below,
            above: above.map(|&(task, _)| (task, Above::default())).collect(),
            ran: Vec::new(),
            left: None,
            used_up: BTreeSet::new(),
            suspects: Vec::new(),
            gaps: Vec::new(),
        }
    }

    fn take(&mut self, record: &Record) {
        let at = record.at;
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "most records say nothing of the order"
        )]
        match record.what {
            What::Fact(fact) => self.fact(at, fact),
            What::Notice(Event::Dropped { job, .. }) | What::Dropped { job, .. } => {
                self.over(at, job);
            }
            What::Decided { .. } => self.ran.retain(|ran| ran.to.is_none()),
            What::Slot { slot, .. } => {
                self.left = slot.and_then(|slot| slot.budget).and_then(|budget| {
                    let BudgetOwner::Server(server) = budget.owner else {
                        return None;
                    };
                    let ends = !matches!(budget.on_exhaustion, OnExhaustion::RaiseMode(_));
                    ends.then_some((server, budget.remaining))
                });
                if let Some((server, left)) = self.left
                    && left > self.below.granularity
                    && self.used_up.remove(&server)
                {
                    self.gives(at, server);
                }
            }
            What::Gap { cpu, length } => {
                let from = at.as_nanos().saturating_sub(length.as_nanos());
                self.gaps.push((cpu, Instant::from_nanos(from), at));
            }
            _ => {}
        }
    }

    fn fact(&mut self, at: Instant, fact: Fact) {
        match fact {
            Fact::Released { job } => {
                if let Some(above) = self.above.get_mut(&job.task) {
                    above.pending.insert(job.sequence);
                    if above.pending.len() == 1 {
                        self.gets_ready(at, job.task);
                    }
                }
            }
            Fact::Woken {
                task,
                on_behalf_of: None,
            } => {
                let above = self.above.get_mut(&task);
                if above.is_some_and(|above| core::mem::take(&mut above.blocked)) {
                    self.gets_ready(at, task);
                }
            }
            Fact::Started { cpu, job } => self.starts(at, cpu, job),
            Fact::Charged { amount, .. } => self.charge(amount),
            Fact::Stopped { job, why, .. } => {
                self.stops(at, job);
                match why {
                    StopReason::Cancelled => self.over(at, job),
                    StopReason::Preempted => self.gets_ready(at, job.task),
                    StopReason::Blocked => {
                        if let Some(above) = self.above.get_mut(&job.task) {
                            above.blocked = true;
                        }
                    }
                }
            }
            Fact::Completed { job, .. } => {
                self.stops(at, job);
                self.over(at, job);
            }
            Fact::Woken { .. }
            | Fact::Timer
            | Fact::Idle { .. }
            | Fact::Interrupt { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => {}
        }
    }

    /// A job of a task above wants the CPU, if its server has a budget.
    fn gets_ready(&mut self, at: Instant, task: TaskId) {
        if let Some(above) = self.above.get_mut(&task) {
            above.ready = Some(at);
        }
        // What was told of bottom halves before that.
        let over = self.ran.clone();
        for ran in over {
            if let Some(to) = ran.to {
                self.compare(&ran, task, to);
            }
        }
    }

    /// A plan says that there is something again of what was used up.
    fn gives(&mut self, at: Instant, server: ServerId) {
        let own = self.below.above.iter().filter(|(_, of)| *of == server);
        for (task, _) in own {
            if let Some(above) = self.above.get_mut(task) {
                above.ready = above.ready.map(|_| at);
            }
        }
    }

    /// A job of a task above does not want the CPU any more.
    fn wants_nothing(&mut self, at: Instant, task: TaskId) {
        let all = self.ran.clone();
        for ran in all.iter().filter(|ran| ran.to.is_none()) {
            self.compare(ran, task, at);
        }
        if let Some(above) = self.above.get_mut(&task) {
            above.ready = None;
        }
    }

    fn starts(&mut self, from: Instant, cpu: CpuId, job: JobId) {
        if self.below.bottom_halves.contains(&job.task) {
            let to = None;
            let ran = Ran { job, cpu, from, to };
            self.ran.push(ran);
        }
        self.wants_nothing(from, job.task);
    }

    /// A bottom half loses the CPU, if the job is one: it is compared with all that wanted it meanwhile.
    fn stops(&mut self, at: Instant, job: JobId) {
        let mut running = self.ran.iter_mut();
        let Some(ran) = running.find(|ran| ran.job == job && ran.to.is_none()) else {
            return;
        };
        ran.to = Some(at);
        let ran = *ran;
        let tasks: Vec<TaskId> = self.above.keys().copied().collect();
        for task in tasks {
            self.compare(&ran, task, at);
        }
    }

    /// A bottom half had the CPU until `to`; did a job of `task` want it meanwhile?
    fn compare(&mut self, ran: &Ran, task: TaskId, to: Instant) {
        let mut servers = self.below.above.iter();
        let server = servers.find(|(above, _)| *above == task);
        let has_budget = server.is_some_and(|(_, server)| !self.used_up.contains(server));
        let Some(above) = self.above.get(&task).filter(|_| has_budget) else {
            return;
        };
        let (Some(ready), Some(&sequence)) = (above.ready, above.pending.first()) else {
            return;
        };
        let from = ready.max(ran.from);
        if to.saturating_since(from) > self.below.tolerance {
            self.suspects.push(Inversion {
                cpu: ran.cpu,
                from,
                to,
                running: ran.job,
                waiting: JobId { task, sequence },
            });
        }
    }

    /// The running job was charged.
    fn charge(&mut self, amount: Service) {
        let Some((server, left)) = &mut self.left else {
            return;
        };
        *left = left.saturating_sub(amount);
        if *left <= self.below.granularity {
            self.used_up.insert(*server);
        }
    }

    /// A job is complete, or dropped.
    fn over(&mut self, at: Instant, job: JobId) {
        let above = self.above.get_mut(&job.task);
        let Some(above) = above.filter(|above| above.pending.contains(&job.sequence)) else {
            return;
        };
        if above.pending.first() != Some(&job.sequence) {
            above.pending.remove(&job.sequence);
            return;
        }
        self.wants_nothing(at, job.task);
        if let Some(above) = self.above.get_mut(&job.task) {
            above.pending.remove(&job.sequence);
            above.blocked = false;
            if !above.pending.is_empty() {
                self.gets_ready(at, job.task);
            }
        }
    }

    /// Those that the machine does not explain.
    fn found(&self) -> impl Iterator<Item = &Inversion> {
        self.suspects.iter().filter(|suspect| {
            let taken = self.gaps.iter().filter(|(cpu, ..)| *cpu == suspect.cpu);
            let taken = taken.map(|(_, from, to)| {
                let (from, to) = ((*from).max(suspect.from), (*to).min(suspect.to));
                to.saturating_since(from)
            });
            let excused = taken.fold(self.below.tolerance, Duration::saturating_add);
            suspect.to.saturating_since(suspect.from) > excused
        })
    }

    fn first(self) -> Option<Inversion> {
        let first = self.found().min_by_key(|inversion| inversion.from);
        first.copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{Budget, DropReason, Level, Slot};

    const CPU: CpuId = CpuId(0);
    const CONTROL: TaskId = TaskId(0);
    const HALF: TaskId = TaskId(2);
    const SERVER: ServerId = ServerId(0);

    const fn job(task: TaskId, sequence: u64) -> JobId {
        JobId { task, sequence }
    }

    fn fact(at: u64, fact: Fact) -> Record {
        let at = Instant::from_nanos(at * 1_000);
        let what = What::Fact(fact);
        Record { at, what }
    }

    fn released(at: u64, sequence: u64) -> Record {
        let job = job(CONTROL, sequence);
        fact(at, Fact::Released { job })
    }

    fn started(at: u64, job: JobId) -> Record {
        fact(at, Fact::Started { cpu: CPU, job })
    }

    fn stopped(at: u64, job: JobId, why: StopReason) -> Record {
        let cpu = CPU;
        fact(at, Fact::Stopped { cpu, job, why })
    }

    fn completed(at: u64, job: JobId) -> Record {
        fact(at, Fact::Completed { cpu: CPU, job })
    }

    fn woken(at: u64) -> Record {
        let (task, on_behalf_of) = (CONTROL, None);
        fact(at, Fact::Woken { task, on_behalf_of })
    }

    fn decided(at: u64) -> Record {
        let what = What::Decided {
            mode: Level::LOWEST,
            slots: 1,
            facts: 0,
            hash: 0,
        };
        let at = Instant::from_nanos(at * 1_000);
        Record { at, what }
    }

    /// The plan names the job of the task above, with so much left.
    fn slot(at: u64, micros: u64, on_exhaustion: OnExhaustion) -> Record {
        let budget = Budget {
            remaining: Service::from_micros(micros),
            owner: BudgetOwner::Server(SERVER),
            on_exhaustion,
        };
        let slot = Some(Slot {
            job: job(CONTROL, 0),
            budget: Some(budget),
        });
        let what = What::Slot { cpu: CPU, slot };
        let at = Instant::from_nanos(at * 1_000);
        Record { at, what }
    }

    fn charged(at: u64, micros: u64) -> Record {
        let charged = Fact::Charged {
            cpu: CPU,
            job: job(CONTROL, 0),
            amount: Service::from_micros(micros),
        };
        fact(at, charged)
    }

    fn gap(at: u64, micros: u64) -> Record {
        let what = What::Gap {
            cpu: CPU,
            length: Duration::from_micros(micros),
        };
        let at = Instant::from_nanos(at * 1_000);
        Record { at, what }
    }

    /// From and to of the first one, in microseconds, with a tolerance of 100; whether it is the only one.
    fn found(records: &[Record]) -> Option<(u64, u64)> {
        let below = Below {
            bottom_halves: &[HALF],
            above: &[(CONTROL, SERVER)],
            granularity: Service::from_micros(5),
            tolerance: Duration::from_micros(100),
        };
        let all = || records.iter().map(|record| Ok::<_, ()>(*record));
        let first = first_inversion(all(), below).unwrap();
        let count = count_inversions(all(), below).unwrap();
        assert_eq!(count > 0, first.is_some());
        first.map(|first| {
            assert_eq!((first.running.task, first.waiting.task), (HALF, CONTROL));
            (first.from.as_nanos() / 1_000, first.to.as_nanos() / 1_000)
        })
    }

    const HALF_0: JobId = job(HALF, 0);
    const CONTROL_0: JobId = job(CONTROL, 0);

    #[test]
    fn a_bottom_half_that_goes_on_for_longer_than_the_tolerance_is_found() {
        let preempted = |at| stopped(at, HALF_0, StopReason::Preempted);
        for (until, expected) in [(400, None), (401, Some((300, 401)))] {
            let records = [
                started(0, HALF_0),
                released(300, 0),
                decided(until),
                preempted(until),
                started(until, CONTROL_0),
                completed(600, CONTROL_0),
            ];
            assert_eq!(found(&records), expected);
        }
        // One that starts while it is ready counts from there.
        let records = [released(0, 0), started(300, HALF_0), preempted(500)];
        assert_eq!(found(&records), Some((300, 500)));
        // Another job than a bottom half may do so.
        let other = job(TaskId(1), 0);
        let records = [
            started(0, other),
            released(300, 0),
            stopped(900, other, StopReason::Preempted),
        ];
        assert_eq!(found(&records), None);
    }

    #[test]
    fn what_is_told_in_another_order_than_it_happened_is_found_up_to_the_next_decision() {
        let records = [started(0, HALF_0), completed(900, HALF_0), released(300, 0)];
        assert_eq!(found(&records), Some((300, 900)));
        let records = [
            started(0, HALF_0),
            completed(900, HALF_0),
            decided(900),
            released(300, 0),
        ];
        assert_eq!(found(&records), None);
    }

    #[test]
    fn a_job_is_ready_from_a_wake_up_a_preemption_and_the_end_of_the_job_before_it() {
        let begun = [released(0, 0), started(0, CONTROL_0)];
        let half = [
            started(10, HALF_0),
            stopped(500, HALF_0, StopReason::Preempted),
        ];
        let with = |between: &[Record]| {
            let all = [&begun[..], between, &half[..]].concat();
            found(&all)
        };
        let blocked = stopped(5, CONTROL_0, StopReason::Blocked);
        assert_eq!(with(&[blocked]), None, "it waits");
        assert_eq!(with(&[blocked, woken(6)]), Some((10, 500)));
        assert_eq!(with(&[woken(6), blocked]), None, "it did not wait then");
        let preempted = stopped(5, CONTROL_0, StopReason::Preempted);
        assert_eq!(with(&[preempted]), Some((10, 500)));
        let ended = completed(5, CONTROL_0);
        assert_eq!(with(&[ended]), None);
        assert_eq!(with(&[released(2, 1), ended]), Some((10, 500)));
        let dropped = Record {
            at: Instant::from_nanos(7_000),
            what: What::Notice(Event::Dropped {
                job: job(CONTROL, 1),
                why: DropReason::Mode,
            }),
        };
        assert_eq!(with(&[released(2, 1), ended, dropped]), None);
    }

    #[test]
    fn a_job_whose_server_has_used_up_its_budget_is_not_ready_until_a_plan_gives_it_one() {
        let suspend = OnExhaustion::Suspend;
        let begun = |slot, micros| {
            [
                released(0, 0),
                decided(0),
                slot,
                started(0, CONTROL_0),
                charged(200, micros),
                stopped(200, CONTROL_0, StopReason::Preempted),
                decided(200),
            ]
        };
        let half = [
            started(200, HALF_0),
            stopped(600, HALF_0, StopReason::Preempted),
        ];
        let all = |begun: &[Record]| found(&[begun, &half[..]].concat());
        assert_eq!(all(&begun(slot(0, 200, suspend), 194)), Some((200, 600)));
        assert_eq!(all(&begun(slot(0, 200, suspend), 195)), None);
        // What raises the mode only is no end of it.
        let raises = OnExhaustion::RaiseMode(Level(1));
        assert_eq!(all(&begun(slot(0, 200, raises), 200)), Some((200, 600)));
        // From there on it counts again.
        let given = [slot(300, 50, suspend)];
        let begun = begun(slot(0, 200, suspend), 200);
        let records = [&begun[..], &half[..1], &given, &half[1..]];
        assert_eq!(found(&records.concat()), Some((300, 600)));
    }

    #[test]
    fn what_the_machine_took_is_no_inversion_wherever_its_record_stands() {
        let records = [
            started(0, HALF_0),
            released(300, 0),
            stopped(600, HALF_0, StopReason::Preempted),
            decided(600),
        ];
        let with = |gap| found(&[&records[..], &[gap]].concat());
        assert_eq!(with(gap(500, 199)), Some((300, 600)));
        assert_eq!(with(gap(500, 200)), None);
        // What of it lies outside plays no part.
        assert_eq!(with(gap(350, 300)), Some((300, 600)));
    }
}

//! The contract between several domains: C9, and C5 where a job may go to another CPU.

use crate::containers::{How, configuration, slot, task, tick, world};
use core::cell::{Cell, RefCell};
use vestal_core::engine::levelled::{LocalDomain, SharedDomain, step};
use vestal_core::*;

const CYCLE: Duration = Duration::from_nanos(4);

/// CPU 0 has a table with T0, CPU 1 the level-B task T1; T2 to T4 are of both.
fn tasks() -> (Vec<LevelledTask>, Vec<TableSlot>) {
    let tasks = vec![
        task(Container::Table(CpuId(0)), 4, 2),
        task(Container::Local(CpuId(1)), 8, 3),
        task(Container::Global, 4, 2),
        task(Container::Global, 8, 3),
        task(Container::BestEffort, 8, 3),
    ];
    (tasks, vec![slot(0, 2, 0)])
}

/// Runs the two CPUs for 400 ticks in every way; `look` sees the engine before each, and who runs where.
fn for_each_tick(mut look: impl FnMut(&Levelled, &[Option<JobId>], Instant)) {
    let (tasks, slots) = tasks();
    let table = |slots| CpuTable {
        cycle: if slots == &[][..] {
            Duration::ZERO
        } else {
            CYCLE
        },
        slots,
    };
    let tables = [table(&slots), table(&[])];
    let configuration = configuration(&tasks, &tables, 4);
    let need = |job: JobId| 1 + (job.sequence * 5 + u64::from(job.task.0)) % 4;
    for calls in [How::Always, How::WhenDue, How::ByDomain(7)] {
        let mut world = world(&configuration, calls, &need);
        for now in 0..400 {
            look(&world.engine, &world.running, Instant::from_nanos(now));
            tick(&mut world, &tasks, true);
        }
    }
}

fn refuse(engine: &Levelled, at: Instant, lie: Fact) -> ContractViolation {
    let mut reported = engine.clone();
    let refusal = reported.apply(at, lie).unwrap_err();
    assert_eq!(reported, *engine, "{lie:?}");
    refusal
}

#[test]
fn c5_a_cpu_that_runs_a_job_starts_no_other_and_a_job_that_runs_starts_nowhere_else() {
    let (mut busy, mut twice) = (0, 0);
    for_each_tick(|engine, running, at| {
        for (cpu, job) in (0..).map(CpuId).zip(running) {
            let Some(job) = *job else { continue };
            // The same level's domain knows of both.
            let same = JobId {
                task: TaskId(if job.task.0 == 2 { 3 } else { 2 }),
                ..job
            };
            for other in [job, same]
                .into_iter()
                .filter(|other| other.task.0 >= 2 && job.task.0 >= 2)
            {
                let lie = Fact::Started { cpu, job: other };
                let expected = ContractViolation::CpuBusy { cpu, running: job };
                assert_eq!(refuse(engine, at, lie), expected);
                busy += 1;
            }
            let elsewhere = CpuId(1 - cpu.0);
            if running[elsewhere.index()].is_none() {
                let lie = Fact::Started {
                    cpu: elsewhere,
                    job,
                };
                let refusal = refuse(engine, at, lie);
                assert!(
                    matches!(
                        refusal,
                        ContractViolation::UnknownJob(_) | ContractViolation::UnknownCpu(_)
                    ),
                    "{refusal}"
                );
                twice += 1;
            }
        }
    });
    assert!(busy > 500 && twice > 50, "{busy} {twice}");
}

/// The domains that accept a fact.
fn accepting(engine: &Levelled, at: Instant, fact: Fact) -> usize {
    let mut apart = engine.clone();
    let (locals, shared) = apart.domains();
    let locals = locals
        .iter_mut()
        .filter_map(|local| local.apply(at, fact).ok());
    locals.count() + usize::from(shared.apply(at, fact).is_ok())
}

#[test]
fn c9_a_fact_belongs_to_exactly_one_domain() {
    let mut reported = 0;
    for_each_tick(|engine, running, at| {
        for (cpu, job) in (0..).map(CpuId).zip(running) {
            let Some(job) = *job else { continue };
            let (amount, why) = (Service::from_nanos(1), StopReason::Preempted);
            for fact in [
                Fact::Charged { cpu, job, amount },
                Fact::Stopped { cpu, job, why },
                Fact::Completed { cpu, job },
            ] {
                assert_eq!(accepting(engine, at, fact), 1, "{fact:?} at {at:?}");
                reported += 1;
            }
        }
        for index in 0..5 {
            let (task, sequence) = (TaskId(index), 1_000_000);
            let fact = Fact::Released {
                job: JobId { task, sequence },
            };
            assert_eq!(accepting(engine, at, fact), 1, "{fact:?} at {at:?}");
        }
        // The faulty world: of an unknown task, and a job that runs on another CPU.
        let (task, sequence) = (TaskId(5), 0);
        assert_eq!(
            accepting(
                engine,
                at,
                Fact::Released {
                    job: JobId { task, sequence }
                }
            ),
            0
        );
        if let [Some(one), Some(other)] = running {
            let (cpu, why) = (CpuId(0), StopReason::Preempted);
            assert_eq!(
                accepting(
                    engine,
                    at,
                    Fact::Stopped {
                        cpu,
                        job: *one,
                        why
                    }
                ),
                1
            );
            assert_eq!(
                accepting(
                    engine,
                    at,
                    Fact::Stopped {
                        cpu,
                        job: *other,
                        why
                    }
                ),
                0
            );
        }
    });
    assert!(reported > 2000, "{reported}");
}

/// A domain behind a lock; how many of them are held, and were at once.
struct Locked<'a, D> {
    domain: RefCell<&'a mut D>,
    held: &'a Cell<u32>,
    most: &'a Cell<u32>,
}

impl<D> Locked<'_, D> {
    fn with<T>(&self, work: impl FnOnce(&mut D) -> T) -> T {
        self.held.set(self.held.get() + 1);
        self.most.set(self.most.get().max(self.held.get()));
        let result = work(&mut self.domain.borrow_mut());
        self.held.set(self.held.get() - 1);
        result
    }
}

type Half<'a> = Locked<'a, LocalDomain>;
type Both<'a> = Locked<'a, SharedDomain>;

/// The step of a CPU with a lock for each half.
fn by_halves(cpu: CpuId, now: Instant, local: &Half<'_>, shared: &Both<'_>) -> Option<Slot> {
    let own = local.with(|local| local.decide(now).unwrap().slot(cpu));
    let open = own.is_none();
    let claim = shared.with(|shared| {
        shared.apply(now, Fact::CpuOpen { cpu, open }).unwrap();
        shared.decide(now).unwrap().slot(cpu)
    });
    own.or(claim)
}

/// The control: the step with both locks.
fn at_once(cpu: CpuId, now: Instant, local: &Half<'_>, shared: &Both<'_>) -> Option<Slot> {
    local.with(|local| shared.with(|shared| step(cpu, now, local, shared).unwrap()))
}

type Stepper = fn(CpuId, Instant, &Half<'_>, &Both<'_>) -> Option<Slot>;

/// How many locks a stepper held at once, and the plans of both CPUs, the other one first if so wished.
fn stepped(
    engine: &Levelled,
    now: Instant,
    reversed: bool,
    stepper: Stepper,
) -> (u32, Vec<Option<Slot>>) {
    let mut apart = engine.clone();
    let (locals, shared) = apart.domains();
    let (held, most) = (Cell::new(0), Cell::new(0));
    let shared = Locked {
        domain: RefCell::new(shared),
        held: &held,
        most: &most,
    };
    let locals: Vec<Half<'_>> = locals
        .iter_mut()
        .map(|local| Locked {
            domain: RefCell::new(local),
            held: &held,
            most: &most,
        })
        .collect();
    let mut slots = vec![None; locals.len()];
    // Once more for whoever's claim the other's step changed, as a world calls it.
    for turn in 0..2 * locals.len() {
        let turn = turn % locals.len();
        let position = if reversed {
            locals.len() - 1 - turn
        } else {
            turn
        };
        slots[position] = stepper(CpuId(position as u16), now, &locals[position], &shared);
    }
    (most.get(), slots)
}

#[test]
fn c9_no_step_needs_two_domains_at_once_and_the_plan_is_the_same() {
    let mut planned = 0;
    for_each_tick(|engine, _, now| {
        let whole = engine.clone().decide(now).unwrap().slots.to_vec();
        for reversed in [false, true] {
            let (most, slots) = stepped(engine, now, reversed, by_halves);
            assert_eq!((most, &slots), (1, &whole), "{now:?}");
            let (most, slots) = stepped(engine, now, reversed, at_once);
            assert_eq!((most, &slots), (2, &whole), "{now:?}");
        }
        planned += whole.iter().flatten().count();
    });
    assert!(planned > 1000, "{planned}");
}

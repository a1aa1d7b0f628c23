//! Frames and sub-frames on several CPUs, which wait for each other at barriers.

use super::witness::Witnesses;
use super::{Use, row};
use crate::common::Random;
use vestal_core::*;
use vestal_sim::costs::Cause;
use vestal_sim::workload::{ListedDemand, Periodic};
use vestal_sim::{
    Amid, Backlog, Charges, Costs, Observer, Setting, Statistics, simulate, simulate_amid,
};
use vestal_testkit::frames::{Table, random_table};
use vestal_testkit::short::{span, task};

/// A table with its tasks, and what they need.
pub(crate) struct Tables {
    tasks: Vec<Task>,
    table: Table,
    overhead: Duration,
    /// By task the CPU where it is handled.
    homes: Vec<CpuId>,
    /// By task, what its first jobs execute; those after them as the last one.
    needs: Vec<Vec<u64>>,
    pub(crate) cpus: u16,
    pub(crate) end: u64,
}

impl Tables {
    pub(crate) fn random(random: &mut Random) -> Self {
        let levels = random.between(1, 3) as usize;
        let cpus = random.between(1, 3) as u16;
        let (tasks, table) = random_table(random, levels, usize::from(cpus));
        let needs = tasks.iter().map(|task| {
            let most = task.own_wcet().as_nanos() + 2;
            (0..8).map(|_| random.between(1, most)).collect()
        });
        let needs = needs.collect();
        let homes = tasks
            .iter()
            .map(|_| CpuId(random.between(0, u64::from(cpus) - 1) as u16));
        let homes = homes.collect();
        Self {
            end: random.between(1, 10 * table.frame),
            overhead: span(random.between(0, table.frame)),
            tasks,
            table,
            homes,
            needs,
            cpus,
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let guaranteed = (Enforcement::Static, Exhaustion::Continue);
        Statistics::new(&self.tasks, self.cpus, guaranteed.0, guaranteed.1)
    }

    fn engine(&self) -> Frames {
        let table = self.table.build_with(&self.tasks, self.cpus, self.overhead);
        // Where there is no room for overheads, there are none.
        let table = table.or_else(|_| self.table.build(&self.tasks, self.cpus));
        table.unwrap()
    }

    pub(crate) fn simulate<O: Observer>(&self, costs: Option<&Costs>, observer: &mut O) {
        self.simulate_under(&mut self.engine(), costs, observer);
    }

    fn simulate_under<O: Observer>(
        &self,
        engine: &mut dyn Scheduler,
        costs: Option<&Costs>,
        observer: &mut O,
    ) {
        let service = |&ns: &u64| Service::from_nanos(ns);
        let needs = self.needs.iter();
        let demand = ListedDemand {
            tasks: needs
                .clone()
                .map(|list| list.iter().map(service).collect())
                .collect(),
            otherwise: needs.map(|list| service(list.last().unwrap())).collect(),
        };
        let setting = Setting {
            tasks: &self.tasks,
            cpus: self.cpus,
            end: Instant::from_nanos(self.end),
            backlog: Backlog::UNLIMITED,
        };
        let releases = Periodic::synchronous(&self.tasks);
        if costs.is_none() {
            simulate(engine, &setting, &releases, &demand, observer).unwrap();
            return;
        }
        let amid = Amid {
            outside: None,
            costs: costs.map(|costs| (Charges::Fixed(costs), &self.homes[..])),
        };
        simulate_amid(engine, &setting, amid, &releases, &demand, observer).unwrap();
    }
}

/// Two frames of 10 on two CPUs. T0 (every frame) and T1 (frame 0) are HI, T2 (every frame) and T3 (frame 1) LO; a
/// frame may be 4 older than its lengths say.
fn two_cpus(needs: [&[u64]; 4]) -> Tables {
    let tasks = [
        task(1, 10, &[2, 5]),
        task(1, 20, &[3, 4]),
        task(0, 10, &[3]),
        task(0, 20, &[4]),
    ];
    // Frame, LO and HI, CPU.
    let lists = vec![
        vec![vec![vec![2], vec![]], vec![vec![0], vec![1]]],
        vec![vec![vec![2], vec![3]], vec![vec![0], vec![]]],
    ];
    // Frame, LO and HI, at LO and at HI.
    let barriers = vec![vec![vec![3, 0], vec![3, 5]], vec![vec![4, 0], vec![2, 5]]];
    let frame = 10;
    Tables {
        tasks: tasks.to_vec(),
        table: Table {
            frame,
            lists,
            barriers,
        },
        overhead: span(4),
        homes: [0, 1, 0, 1].map(CpuId).to_vec(),
        needs: needs.iter().map(|list| list.to_vec()).collect(),
        cpus: 2,
        end: 20,
    }
}

/// The row of each CPU, with the instants at which a frame overran and what the CPUs were taken for in all.
fn draw(tables: &Tables, costs: &Costs) -> (Vec<String>, Vec<u64>, Vec<u64>) {
    let witnesses = Witnesses::new(tables.cpus, tables.end);
    let mut observers = (witnesses, tables.statistics());
    tables.simulate(Some(costs), &mut observers);
    let rows = observers.0.ticks.iter().map(|ticks| row(ticks)).collect();
    let overhead = observers.1.cpus().iter();
    let overhead = overhead.map(|cpu| cpu.overhead.as_nanos()).collect();
    (rows, observers.0.frame_overruns, overhead)
}

/// A frame takes 1, each of its sub-frames 1, of both CPUs; that a frame begins is no other wake-up.
fn of_frames() -> Costs {
    Costs {
        frame: span(1),
        sub_frame: span(1),
        wake: span(1),
        ..Costs::default()
    }
}

#[test]
fn a_frame_and_its_sub_frames_take_something_of_every_cpu() {
    // The barriers are at 5, 9, 14 and 19.
    let tables = two_cpus([&[2], &[3], &[3], &[4]]);
    let (rows, overruns, overhead) = draw(&tables, &of_frames());
    assert_eq!(rows, ["FF00.F222.FF00F222..", "FF111F....FF..F3333."]);
    assert_eq!(overruns, [0; 0]);
    assert_eq!(overhead, [6, 6]);
}

#[test]
fn a_frame_that_overran_delays_the_next_one_which_costs_what_any_does() {
    // T0 needs 9. The frame is over at 10: T2 is dropped, on its CPU; the next one begins when T0 is complete.
    let tables = two_cpus([&[9, 2], &[3], &[3], &[4]]);
    let costs = Costs {
        termination: span(1),
        ..of_frames()
    };
    let (rows, overruns, overhead) = draw(&tables, &costs);
    assert_eq!(rows, ["FF00000000M0FF00F222", "FF111.......FF..F333"]);
    // T3 needs one more at the end of frame 1.
    assert_eq!(overruns, [10, 20]);
    assert_eq!(overhead, [6, 5]);
}

#[test]
fn releases_before_a_frame_delay_it_and_its_last_sub_frame_overruns() {
    // T2 is not complete when the frame is over, and frame 1 begins at 13. It is 7 old when its second sub-frame could
    // begin, and may be 2 + 4: T2 and T3 are dropped.
    let tables = two_cpus([&[2], &[3], &[3], &[4]]);
    let costs = Costs {
        release: span(1),
        ..of_frames()
    };
    let (rows, overruns, overhead) = draw(&tables, &costs);
    assert_eq!(rows, ["RRFF00.F22RR2FF00...", "RRFF111F.....FF....."]);
    assert_eq!(overruns, [10]);
    assert_eq!(overhead, [9, 7]);
}

#[test]
fn a_frame_without_jobs_takes_nothing() {
    // T0 is released at 0 and 20, and nothing else is there.
    let tables = Tables {
        tasks: vec![task(0, 20, &[2])],
        table: Table {
            frame: 10,
            lists: vec![vec![vec![vec![0]]], vec![vec![vec![]]]],
            barriers: vec![vec![vec![2]], vec![vec![0]]],
        },
        overhead: Duration::ZERO,
        homes: vec![CpuId(0)],
        needs: vec![vec![2]],
        cpus: 1,
        end: 25,
    };
    let (rows, _, overhead) = draw(&tables, &of_frames());
    assert_eq!(rows, ["FF00................FF00."]);
    assert_eq!(overhead, [4]);
}

/// Notes down which sub-frames begin, by the clock of the table itself.
struct Noting {
    engine: Frames,
    /// The frame, the barrier and when it was first seen.
    begun: Vec<(u64, BarrierId, Instant)>,
}

impl Scheduler for Noting {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.engine.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        let plan = self.engine.decide(now)?;
        let mut spans = plan.sequences.spans.iter().flatten();
        let barrier = spans.find(|span| span.len > 0).map(|span| span.barrier);
        let frame = self.engine.frame();
        if let Some(barrier) = barrier
            && !self
                .begun
                .iter()
                .any(|seen| (seen.0, seen.1) == (frame, barrier))
        {
            self.begun.push((frame, barrier, now));
        }
        // Asking again changes nothing.
        self.engine.decide(now)
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.engine.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.engine.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.engine.lost_notices()
    }
}

#[test]
fn every_frame_and_sub_frame_is_paid_for_once() {
    let mut random = Random::new(6);
    let (mut overruns, mut skipped) = (0, 0);
    for _ in 0..2000 {
        let costs = Costs {
            frame: span(random.between(1, 3)),
            sub_frame: span(random.between(0, 2)),
            ..Costs::default()
        };
        let tables = Tables::random(&mut random);
        let mut noting = Noting {
            engine: tables.engine(),
            begun: Vec::new(),
        };
        let witnesses = Witnesses::new(tables.cpus, tables.end);
        let mut observers = (witnesses, tables.statistics());
        tables.simulate_under(&mut noting, Some(&costs), &mut observers);
        let (mut expected, mut last) = (0, None);
        for (frame, _, at) in noting.begun {
            let first = last != Some(frame);
            skipped += u64::from(last.is_some_and(|last| frame > last + 1));
            last = Some(frame);
            let cost = if first { costs.frame } else { Duration::ZERO };
            let cost = cost.saturating_add(costs.sub_frame);
            let left = Instant::from_nanos(tables.end).saturating_since(at);
            expected += cost.min(left).as_nanos();
        }
        for (cpu, ticks) in observers.1.cpus().iter().zip(&observers.0.ticks) {
            assert_eq!(cpu.overhead.as_nanos(), expected);
            let frames = ticks
                .iter()
                .filter(|&&tick| tick == Some(Use::Mechanism(Cause::Frame)));
            assert_eq!(frames.count() as u64, expected);
        }
        overruns += observers.0.frame_overruns.len();
    }
    assert!(overruns > 1000 && skipped > 500, "{overruns} {skipped}");
}

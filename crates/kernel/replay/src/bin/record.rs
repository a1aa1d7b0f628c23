//! Records random runs of every one-CPU policy: `record FILE` writes the recording and prints the
//! hash of the plans as they were made, after checking that a replay on this host gives the same.

#[path = "../episode.rs"]
mod episode;

use vestal_core::*;
use vestal_replay::engines::BUILT_IN;
use vestal_replay::replay;
use vestal_testkit::Random;
use vestal_testkit::systems::{Setup, run};

const RUNS: u64 = 24;
const TICKS: u64 = 150;

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: record FILE");
        std::process::exit(2);
    };
    let mut bytes = Vec::new();
    let mut hash = PlanHash::EMPTY;
    for seed in 0..RUNS {
        record(seed, &mut bytes, &mut hash);
    }
    for number in 1..=BUILT_IN {
        episode::record(number, &mut bytes, &mut hash);
    }
    let replayed = replay(&bytes).expect("what was recorded can be replayed");
    assert_eq!(replayed, hash, "a replay on this host gives other plans");
    std::fs::write(&path, &bytes).expect("the recording can be written");
    println!("plans {:016x}", hash.value());
}

fn record(seed: u64, bytes: &mut Vec<u8>, hash: &mut PlanHash) {
    let setup = Setup::random(&mut Random::new(seed));
    bytes.push(0);
    write_setup(&setup, bytes);
    let mut engine = setup.engine();
    let mut recorder = Recorder::new(&mut engine, *hash);
    run(
        &setup,
        &mut recorder,
        &mut Random::new(!seed),
        TICKS,
        |_| {},
    );
    *hash = recorder.finish(bytes);
}

fn word(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend(
        u32::try_from(value)
            .expect("recorded values are small")
            .to_le_bytes(),
    );
}

fn write_setup(setup: &Setup, bytes: &mut Vec<u8>) {
    bytes.push(setup.levels.count() as u8);
    let number = Enforcement::ALL
        .iter()
        .position(|&rule| rule == setup.enforcement);
    bytes.push(number.expect("all rules are listed") as u8);
    bytes.push(match setup.exhaustion {
        Exhaustion::Background => 0,
        Exhaustion::Abort => 1,
        Exhaustion::Continue => 2,
    });
    bytes.push(match (&setup.virtual_deadlines, &setup.lists) {
        (Some(_), _) => 1,
        (None, Some(_)) if setup.recomputed => 3,
        (None, Some(_)) => 2,
        (None, None) => 0,
    });
    bytes.push(setup.tasks.len() as u8);
    for entry in &setup.tasks {
        bytes.push(entry.task.criticality.0);
        word(bytes, entry.task.period.as_nanos());
        word(bytes, entry.task.deadline.as_nanos());
        for level in setup.levels.iter() {
            word(bytes, entry.task.wcet.at(level).as_nanos());
        }
        word(
            bytes,
            entry.task.degraded.unwrap_or(Service::ZERO).as_nanos(),
        );
        word(bytes, u64::from(entry.priority));
        bytes.push(u8::from(entry.on_miss == OnMiss::Abort));
        let after = entry.zero_slack.map_or(0, |after| 1 + after.as_nanos());
        word(bytes, after);
        bytes.push(entry.slices.get() as u8);
    }
    for (index, _) in setup.tasks.iter().enumerate() {
        let due = setup
            .virtual_deadlines
            .as_ref()
            .map_or(0, |due| due[index].as_nanos());
        word(bytes, due);
    }
    for (index, _) in setup.tasks.iter().enumerate() {
        let list = setup.lists.as_ref().map_or(&[][..], |lists| &lists[index]);
        bytes.push(list.len() as u8);
        for entry in list {
            word(bytes, u64::from(*entry));
        }
    }
}

/// Passes every call on and writes it down.
pub(crate) struct Recorder<'a> {
    inner: &'a mut dyn Scheduler,
    calls: u32,
    bytes: Vec<u8>,
    hash: PlanHash,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(inner: &'a mut dyn Scheduler, hash: PlanHash) -> Self {
        Self {
            inner,
            calls: 0,
            bytes: Vec::new(),
            hash,
        }
    }

    /// Appends the calls to a recording, and gives the hash of all plans so far.
    pub(crate) fn finish(self, bytes: &mut Vec<u8>) -> PlanHash {
        bytes.extend(self.calls.to_le_bytes());
        bytes.extend(self.bytes);
        self.hash
    }

    fn call(&mut self, at: Instant, kind: u8) {
        self.calls += 1;
        word(&mut self.bytes, at.as_nanos());
        self.bytes.push(kind);
    }

    fn job(&mut self, cpu: Option<CpuId>, job: JobId) {
        self.bytes.extend(cpu.map(|cpu| cpu.0 as u8));
        self.bytes.push(job.task.0 as u8);
        word(&mut self.bytes, job.sequence);
    }

    fn write(&mut self, at: Instant, fact: Fact) {
        match fact {
            Fact::Released { job } => {
                self.call(at, 1);
                self.job(None, job);
            }
            Fact::Charged { cpu, job, amount } => {
                self.call(at, 2);
                self.job(Some(cpu), job);
                word(&mut self.bytes, amount.as_nanos());
            }
            Fact::Completed { cpu, job } => {
                self.call(at, 3);
                self.job(Some(cpu), job);
            }
            Fact::Started { cpu, job } => {
                self.call(at, 4);
                self.job(Some(cpu), job);
            }
            Fact::Stopped { cpu, job, .. } => {
                self.call(at, 5);
                self.job(Some(cpu), job);
            }
            Fact::Interrupt { device, count } => {
                self.call(at, 6);
                self.bytes.push(device.0 as u8);
                word(&mut self.bytes, u64::from(count));
            }
            other => unreachable!("these worlds do not tell {other:?}"),
        }
    }
}

impl Scheduler for Recorder<'_> {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.write(at, fact);
        self.inner.apply(at, fact)
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.call(now, 0);
        let plan = self.inner.decide(now)?;
        self.hash.plan(now, &plan);
        Ok(plan)
    }

    fn permit(&self, task: TaskId) -> Permit {
        self.inner.permit(task)
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.inner.take_notice()
    }

    fn lost_notices(&self) -> u64 {
        self.inner.lost_notices()
    }
}

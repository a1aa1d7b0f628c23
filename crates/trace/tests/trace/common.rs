//! Records of every kind, and runs of the core's random one-CPU world.

use std::io::Write;
use std::sync::{Arc, Mutex};
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::short::CPU;
use vestal_testkit::systems::{Setup, run};
use vestal_trace::write::Options;
use vestal_trace::{
    Edge, Format, Header, Mechanism, Record, Recorder, Refusal, TaskInfo, What, writer,
};

/// An output that can still be looked at when its writer is gone.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What a writer makes of records.
pub(crate) fn written(
    format: Format,
    header: &Header,
    options: Options,
    records: &[Record],
) -> Vec<u8> {
    let out = Shared::default();
    let mut writer = writer(format, header, options, out.clone()).unwrap();
    for record in records {
        writer.record(record).unwrap();
    }
    writer.finish().unwrap();
    let bytes = out.0.lock().unwrap();
    bytes.clone()
}

fn job(random: &mut Random) -> JobId {
    JobId {
        task: TaskId(random.below(70_000) as u16),
        sequence: random.next() >> random.below(64),
    }
}

fn service(random: &mut Random) -> Service {
    Service::from_nanos(random.next() >> random.below(64))
}

fn instant(random: &mut Random) -> Instant {
    Instant::from_nanos(random.next() >> random.below(64))
}

fn level(random: &mut Random) -> Level {
    Level(random.below(8) as u8)
}

fn owner(random: &mut Random) -> BudgetOwner {
    match random.below(3) {
        0 => BudgetOwner::Job,
        1 => BudgetOwner::Task(TaskId(random.below(70_000) as u16)),
        _ => BudgetOwner::Server(ServerId(random.below(70_000) as u16)),
    }
}

pub(crate) fn random_fact(random: &mut Random) -> Fact {
    let cpu = CpuId(random.below(70_000) as u16);
    let job = job(random);
    let reasons = [
        StopReason::Preempted,
        StopReason::Blocked,
        StopReason::Cancelled,
    ];
    match random.below(12) {
        0 => Fact::Released { job },
        1 => Fact::Completed { cpu, job },
        2 => Fact::Charged {
            cpu,
            job,
            amount: service(random),
        },
        3 => Fact::Started { cpu, job },
        4 => Fact::Stopped {
            cpu,
            job,
            why: reasons[random.below(3) as usize],
        },
        5 => Fact::Timer,
        6 => Fact::Idle { cpu },
        7 => Fact::Interrupt {
            device: DeviceId(random.below(9) as u16),
            count: random.next() as u32,
        },
        8 => Fact::Woken {
            task: job.task,
            on_behalf_of: (random.below(2) == 0).then(|| ServerId(random.below(9) as u16)),
        },
        9 => Fact::BarrierReached {
            cpu,
            barrier: BarrierId(random.next() as u32),
        },
        10 => Fact::CpuOpen {
            cpu,
            open: random.below(2) == 0,
        },
        _ => Fact::ModeRequested {
            level: level(random),
        },
    }
}

fn random_slot(random: &mut Random) -> Slot {
    let outcomes = [
        OnExhaustion::RaiseMode(level(random)),
        OnExhaustion::Demote,
        OnExhaustion::Abort,
        OnExhaustion::Suspend,
    ];
    Slot {
        job: job(random),
        budget: (random.below(4) > 0).then(|| Budget {
            remaining: service(random),
            owner: owner(random),
            on_exhaustion: outcomes[random.below(4) as usize],
        }),
    }
}

fn random_event(random: &mut Random) -> Event {
    let reasons = [
        DropReason::Mode,
        DropReason::Exhausted,
        DropReason::Superseded,
        DropReason::Deadline,
        DropReason::BacklogFull,
    ];
    match random.below(8) {
        0 => Event::ModeChanged {
            from: level(random),
            to: level(random),
            cause: (random.below(2) == 0).then(|| job(random)),
        },
        1 => Event::Overrun {
            job: job(random),
            level: level(random),
            executed: service(random),
        },
        2 => Event::Dropped {
            job: job(random),
            why: reasons[random.below(5) as usize],
        },
        3 => Event::Depleted {
            server: ServerId(random.next() as u16),
        },
        4 => Event::Postponed {
            server: ServerId(random.next() as u16),
            amount: service(random),
        },
        5 => Event::FrameOverrun {
            frame: random.next(),
        },
        6 => Event::FramesSkipped {
            first: random.next(),
            count: random.next(),
        },
        _ => Event::Late {
            by: Duration::from_nanos(random.next()),
        },
    }
}

fn random_refusal(random: &mut Random) -> Refusal {
    let at = instant(random);
    Refusal::of(&match random.below(5) {
        4 => ContractViolation::UnknownBarrier(BarrierId(1)),
        0 => ContractViolation::ClockWentBack { last: at, now: at },
        1 => ContractViolation::NotOfThisPolicy,
        2 => ContractViolation::UnknownJob(job(random)),
        _ => ContractViolation::ChargeOverflow {
            job: job(random),
            amount: service(random),
        },
    })
}

fn random_plan_part(random: &mut Random) -> What {
    match random.below(6) {
        4 => What::Sequence {
            cpu: CpuId(random.below(9) as u16),
            jobs: random.next() >> random.below(64),
            barrier: BarrierId(random.next() as u32),
        },
        5 => What::Queued {
            cpu: CpuId(random.below(9) as u16),
            job: job(random),
        },
        0 => What::Decided {
            mode: level(random),
            slots: random.next() as u16,
            facts: random.next() as u32,
            hash: random.next(),
        },
        1 => What::Slot {
            cpu: CpuId(random.below(9) as u16),
            slot: (random.below(5) > 0).then(|| random_slot(random)),
        },
        2 => {
            let reasons = [
                WakeReason::Deadline(job(random)),
                WakeReason::Replenishment,
                WakeReason::Consumption,
                WakeReason::TableSlot,
                WakeReason::Frame,
                WakeReason::ZeroSlack(job(random)),
            ];
            What::Wake(Wake {
                at: instant(random),
                why: reasons[random.below(6) as usize],
            })
        }
        _ => {
            let limit = (random.below(2) == 0).then(|| service(random));
            let permits = [
                Permit::Run { limit },
                Permit::Below { limit: None },
                Permit::Below {
                    limit: Some(Service::from_nanos(u64::MAX)),
                },
                Permit::Demoted,
                Permit::Dropped {
                    why: DropReason::Exhausted,
                },
                Permit::Dropped {
                    why: DropReason::Mode,
                },
                Permit::Suspended {
                    until: Until::Event,
                },
                Permit::Suspended {
                    until: Until::At(Instant::HORIZON),
                },
                Permit::NotAdmitted,
            ];
            What::Permit {
                task: job(random).task,
                permit: permits[random.below(5) as usize],
            }
        }
    }
}

/// A record of any kind.
pub(crate) fn random_record(random: &mut Random) -> Record {
    let cpu = CpuId(random.below(9) as u16);
    let mechanisms = [
        Mechanism::Decide,
        Mechanism::Tracing,
        Mechanism::Other(random.next() as u8),
    ];
    let what = match random.below(15) {
        0..=2 => What::Fact(random_fact(random)),
        3 => What::Observed(random_fact(random)),
        4..=5 => random_plan_part(random),
        6 => What::Refused(random_refusal(random)),
        7 => What::DecisionRefused {
            refusal: random_refusal(random),
            now: instant(random),
        },
        8 => What::Notice(random_event(random)),
        9 => What::Miss {
            job: job(random),
            deadline: instant(random),
            guaranteed: random.below(2) == 0,
        },
        10 => What::Overhead {
            cpu,
            mechanism: mechanisms[random.below(3) as usize],
            edge: [Edge::Begin, Edge::End][random.below(2) as usize],
        },
        11 => What::Gap {
            cpu,
            length: Duration::from_nanos(random.next()),
        },
        12 => What::Budget {
            cpu,
            job: job(random),
            owner: owner(random),
            remaining: service(random),
        },
        13 => What::Dropped {
            job: job(random),
            why: [DropReason::Mode, DropReason::BacklogFull][random.below(2) as usize],
        },
        _ => [
            What::Lost {
                count: random.next(),
            },
            What::End {
                facts: random.next() as u32,
            },
        ][random.below(2) as usize],
    };
    Record {
        at: instant(random),
        what,
    }
}

pub(crate) fn header_of(setup: &Setup) -> Header {
    Header {
        seed: 7,
        levels: ["LO", "ME", "HI", "TOP"]
            .iter()
            .take(setup.levels.count())
            .map(|&name| name.to_owned())
            .collect(),
        tasks: setup
            .tasks
            .iter()
            .enumerate()
            .map(|(number, entry)| TaskInfo {
                name: format!("task {number}, \"<&>\""),
                criticality: entry.task.criticality,
                period: entry.task.period,
                deadline: entry.task.deadline,
            })
            .collect(),
        task_set: "format = \"vestal/1\"\n# tabs\tand\\more\n".to_owned(),
        options: vec![("exhaustion".to_owned(), "background".to_owned())],
        ..Header::new("amc")
    }
}

/// A run of the core's random world, recorded, with what the world itself has to say: an overhead
/// around some decisions, a budget, a gap, and every miss.
pub(crate) fn recording(seed: u64, ticks: u64, permits: bool) -> (Setup, Header, Vec<Record>) {
    let setup = Setup::random(&mut Random::new(seed));
    let mut header = header_of(&setup);
    header.judges_misses = true;
    header.records_permits = permits;
    let tasks = if permits { setup.tasks.len() } else { 0 };
    let recorder = Recorder::with_permits(setup.engine(), Vec::new(), tasks);
    let mut world = Draining(recorder);
    run(&setup, &mut world, &mut Random::new(!seed), ticks, |_| {});
    let (_, records) = world.0.finish(Instant::from_nanos(ticks));
    let records = with_the_worlds_own(&header, records);
    (setup, header, records)
}

/// A world that takes its notices before each call: the core's test world takes none.
struct Draining<S>(S);

impl<S: Scheduler> Scheduler for Draining<S> {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        while self.0.take_notice().is_some() {}
        self.0.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        while self.0.take_notice().is_some() {}
        self.0.decide(now)
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.0.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.0.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.0.lost_notices()
    }
}

fn with_the_worlds_own(header: &Header, records: Vec<Record>) -> Vec<Record> {
    let mut whole = Vec::new();
    let mut released = std::collections::BTreeMap::new();
    for (number, record) in records.into_iter().enumerate() {
        let at = record.at;
        let mut put = |what| whole.push(Record { at, what });
        let around = matches!(record.what, What::Fact(Fact::Timer)) || number % 11 == 0;
        let fits = matches!(record.what, What::Fact(_));
        if around && fits {
            for edge in [Edge::Begin, Edge::End] {
                put(What::Overhead {
                    cpu: CPU,
                    mechanism: Mechanism::Decide,
                    edge,
                });
            }
            put(What::Gap {
                cpu: CPU,
                length: Duration::from_nanos(at.as_nanos().min(2)),
            });
        }
        whole.push(record);
        match record.what {
            What::Fact(Fact::Released { job }) => {
                released.insert(job, at);
            }
            What::Fact(Fact::Completed { job, .. }) => {
                let relative = header.tasks[job.task.index()].deadline;
                let deadline = released[&job].saturating_add(relative);
                if at > deadline {
                    whole.push(Record {
                        at,
                        what: What::Miss {
                            job,
                            deadline,
                            guaranteed: false,
                        },
                    });
                }
            }
            _ => {}
        }
    }
    whole
}

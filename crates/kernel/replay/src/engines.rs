//! The engines that recordings are made of, with storage that needs no heap.

use vestal_core::engine::levelled::{self, LocalDomain, SharedDomain};
use vestal_core::store::Inline;
use vestal_core::*;

/// The most entries in any table of [`Engine::One`]: job-priority lists need the most.
pub const LIST_ENTRIES_MAX: usize = 32;

/// An engine of one of the kinds that recordings may name.
#[expect(
    clippy::large_enum_variant,
    reason = "one lives at a time, and there is no heap to put the larger ones on"
)]
pub enum Engine {
    /// One CPU, with a configuration from the recording.
    One(Uniprocessor<Inline<LIST_ENTRIES_MAX>>),
    /// Servers, with one of the configurations below.
    Servers(Hierarchy<Inline<16>>),
    /// A frame table on two CPUs.
    Frames(Frames<Inline<32>>),
    /// The domains of one CPU under MC².
    Levels(Levels),
}

/// How many engines have their configuration here; recordings number them from 1.
pub const BUILT_IN: u8 = 4;

impl Engine {
    /// The engine whose configuration stands here under `number`.
    #[must_use]
    pub fn built_in(number: u8) -> Option<Self> {
        match number {
            1 => two_level().map(Self::Servers),
            2 => input_and_output().map(Self::Servers),
            3 => frames().map(Self::Frames),
            4 => Levels::new().map(Self::Levels),
            _ => None,
        }
    }

    /// The scheduler.
    pub fn scheduler(&mut self) -> &mut dyn Scheduler {
        match self {
            Self::One(engine) => engine,
            Self::Servers(engine) => engine,
            Self::Frames(engine) => engine,
            Self::Levels(engine) => engine,
        }
    }
}

const fn ns(amount: u64) -> Service {
    Service::from_nanos(amount)
}

const fn span(amount: u64) -> Duration {
    Duration::from_nanos(amount)
}

fn task(criticality: u8, period: u64, wcet: &[u64]) -> Option<Task> {
    let mut values = [Service::ZERO; model::LEVELS_MAX];
    for (value, given) in values.iter_mut().zip(wcet) {
        *value = ns(*given);
    }
    let wcet = Wcet::new(values.get(..wcet.len())?).ok()?;
    Task::new(Level(criticality), span(period), span(period), wcet).ok()
}

fn servers(
    servers: &[ServerConfiguration],
    tasks: &[ServedTask],
    devices: &[DeviceConfiguration],
) -> Option<Hierarchy<Inline<16>>> {
    Hierarchy::with_store(&HierarchyConfiguration {
        servers,
        tasks,
        devices,
        levels: LevelSet::new(2)?,
        modes: Modes::Requested,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
    .ok()
}

fn server(kind: ServerKind, priority: u32) -> ServerConfiguration {
    ServerConfiguration {
        kind,
        priority,
        criticality: Level(0),
        order: LocalOrder::FixedPriority,
    }
}

fn served(server: u16, period: u64) -> Option<ServedTask> {
    Some(ServedTask {
        task: task(0, period, &[1])?,
        server: ServerId(server),
        priority: 1,
        on_behalf_of: None,
    })
}

/// A deferrable server above an idling one, a polling one below (Holenderski et al. 2010, Fig. 14).
fn two_level() -> Option<Hierarchy<Inline<16>>> {
    let (period, capacity) = (span(25), ByLevel::constant(ns(7)));
    let kinds = [
        server(ServerKind::Deferrable { period, capacity }, 3),
        server(ServerKind::IdlingPeriodic { period, capacity }, 2),
        server(ServerKind::Polling { period, capacity }, 1),
    ];
    let tasks = [served(0, 30)?, served(1, 40)?, served(2, 35)?];
    servers(&kinds, &tasks, &[])
}

/// A sporadic server and a PIBS for bottom halves (Missimer et al., Figs. 5 and 6).
fn input_and_output() -> Option<Hierarchy<Inline<16>>> {
    let sporadic = ServerKind::Sporadic {
        period: span(16),
        capacity: ByLevel::constant(ns(8)),
        replenishments: 3,
        full: WhenFull::MergeHead,
    };
    let pibs = ServerKind::Pibs {
        utilization: ByLevel::constant(Utilization::new(1, 4)?),
    };
    let mut bottom_half = served(1, 16)?;
    bottom_half.on_behalf_of = Some(ServerId(0));
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(1),
    }];
    servers(
        &[server(sporadic, 2), server(pibs, 1)],
        &[served(0, 16)?, bottom_half],
        &devices,
    )
}

/// FTTS: two frames of 10 on two CPUs; HI tasks 0 and 1, LO tasks 2 and 3.
fn frames() -> Option<Frames<Inline<32>>> {
    let tasks = [
        task(1, 10, &[2, 5])?,
        task(1, 20, &[3, 4])?,
        task(0, 10, &[3])?,
        task(0, 20, &[4])?,
    ];
    let at = |start, len| Span { start, len };
    // Frame, then criticality with the lowest first, then CPU.
    let spans = [
        at(0, 1),
        at(1, 0),
        at(1, 1),
        at(2, 1),
        at(3, 1),
        at(4, 1),
        at(5, 1),
        at(6, 0),
    ];
    let entries = [2, 0, 1, 2, 3, 0].map(TaskId);
    let barriers = [3, 0, 3, 5, 4, 0, 2, 5].map(span);
    Frames::with_store(&FrameConfiguration {
        tasks: &tasks,
        levels: LevelSet::new(2)?,
        cpus: 2,
        table: FrameTable {
            frame: span(10),
            spans: &spans,
            entries: &entries,
            barriers: &barriers,
        },
        overhead: Duration::ZERO,
        wake_granularity: Duration::ZERO,
    })
    .ok()
}

/// MC² on one CPU as a bare-metal world holds it: a local domain over a shared one (Table 1 of
/// Herman et al. 2012).
pub struct Levels {
    local: LocalDomain<Inline<32>>,
    shared: SharedDomain<Inline<32>>,
    slots: [Option<Slot>; 1],
}

/// Tasks below this number are of levels A and B.
const SHARED_FROM: u16 = 4;

impl Levels {
    fn new() -> Option<Self> {
        let cpu = CpuId(0);
        let of = |container, criticality, period, budget| {
            let task = task(criticality, period, &[budget])?;
            Some(LevelledTask { task, container })
        };
        let tasks = [
            of(Container::Table(cpu), 3, 5, 3)?,
            of(Container::Table(cpu), 3, 10, 2)?,
            of(Container::Local(cpu), 2, 10, 2)?,
            of(Container::Local(cpu), 2, 20, 2)?,
            of(Container::Global, 1, 10, 2)?,
            of(Container::Global, 1, 20, 2)?,
            of(Container::BestEffort, 0, 5, 2)?,
        ];
        let slot = |start, length, task| TableSlot {
            start: span(start),
            length: span(length),
            task: TaskId(task),
        };
        let slots = [slot(0, 3, 0), slot(3, 2, 1), slot(5, 3, 0), slot(8, 2, 1)];
        let tables = [CpuTable {
            cycle: span(10),
            slots: &slots,
        }];
        let configuration = LevelledConfiguration {
            tasks: &tasks,
            tables: &tables,
            backlog: 2,
            budgets: Budgets::Enforced,
            level_b: LevelB::EarliestDeadline,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        };
        Some(Self {
            local: LocalDomain::with_store(&configuration, cpu).ok()?,
            shared: SharedDomain::with_store(&configuration).ok()?,
            slots: [None],
        })
    }
}

impl Scheduler for Levels {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        match fact {
            Fact::Released { job }
            | Fact::Completed { job, .. }
            | Fact::Charged { job, .. }
            | Fact::Started { job, .. }
            | Fact::Stopped { job, .. }
                if job.task.0 < SHARED_FROM =>
            {
                self.local.apply(at, fact)
            }
            _ => self.shared.apply(at, fact),
        }
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.slots = [levelled::step(
            CpuId(0),
            now,
            &mut self.local,
            &mut self.shared,
        )?];
        Ok(Plan {
            slots: &self.slots,
            sequences: plan::Sequences::NONE,
            // Its world decides at every tick.
            next: None,
            mode: Level::LOWEST,
        })
    }

    fn permit(&self, task: TaskId) -> Permit {
        if task.0 < SHARED_FROM {
            self.local.permit(task)
        } else {
            self.shared.permit(task)
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.local
            .take_notice()
            .or_else(|| self.shared.take_notice())
    }

    fn lost_notices(&self) -> u64 {
        self.local
            .lost_notices()
            .saturating_add(self.shared.lost_notices())
    }
}

//! What guard and engine say of their rule of limits to a world that must not know which rule it is.

use vestal_core::*;

const LEVELS: u8 = 3;

/// One task of each level, with other execution times at each.
fn tasks() -> Vec<TaskConfiguration> {
    let task = |level: u8| {
        let wcet =
            (0..=level).map(|at| Service::from_nanos(u64::from(level) * 10 + u64::from(at) + 1));
        let wcet = Wcet::new(&wcet.collect::<Vec<_>>()).unwrap();
        let span = Duration::from_nanos(1_000);
        let task = Task::new(Level(level), span, span, wcet).unwrap();
        TaskConfiguration {
            zero_slack: Some(Duration::from_nanos(500)),
            ..TaskConfiguration::new(task, u32::from(level))
        }
    };
    (0..LEVELS).map(task).collect()
}

fn both(enforcement: Enforcement, exhaustion: Exhaustion) -> (Guard, Uniprocessor) {
    let tasks = tasks();
    let configuration = Configuration {
        tasks: &tasks,
        levels: LevelSet::new(usize::from(LEVELS)).unwrap(),
        enforcement,
        exhaustion,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let guard = Guard::new(&configuration).unwrap();
    (guard, Uniprocessor::new(&configuration).unwrap())
}

fn deciders(enforcement: Enforcement, exhaustion: Exhaustion) -> [Box<dyn Scheduler>; 2] {
    let (guard, engine) = both(enforcement, exhaustion);
    [Box::new(guard), Box::new(engine)]
}

/// Asks through whatever the decider is wrapped in.
fn limits_of<S: Scheduler>(decider: S, task: TaskId) -> Vec<(Level, Service)> {
    let levels = (0..=LEVELS).map(Level);
    let limits = levels.filter_map(|level| Some((level, decider.limit_at(task, level)?)));
    limits.collect()
}

#[test]
fn limits_are_those_of_the_rule_each_at_its_level() {
    for rule in Enforcement::ALL {
        for mut decider in deciders(rule, Exhaustion::Background) {
            for (entry, id) in tasks().iter().zip((0..).map(TaskId)) {
                let said = limits_of(&mut decider, id);
                let limits: Vec<_> = rule.limits(&entry.task).collect();
                assert_eq!(said, limits, "{rule:?}, {id:?}");
                assert!(!said.is_empty());
            }
            assert_eq!(
                decider.limit_at(TaskId(7), Level(0)),
                None,
                "there is no such task"
            );
        }
    }
}

#[test]
fn a_job_makes_way_at_its_own_limit_unless_it_just_continues() {
    for rule in Enforcement::ALL {
        for (exhaustion, makes_way) in [
            (Exhaustion::Background, true),
            (Exhaustion::Abort, true),
            (Exhaustion::Continue, false),
        ] {
            for decider in deciders(rule, exhaustion) {
                assert_eq!(
                    decider.stops_at_own_limit(),
                    makes_way,
                    "{rule:?}, {exhaustion:?}"
                );
            }
        }
    }
}

#[test]
fn only_slices_suspend_until_instants_and_only_adaptive_limits_have_modes() {
    for rule in Enforcement::ALL {
        for decider in deciders(rule, Exhaustion::Background) {
            let held = decider.suspends_until_instants();
            assert_eq!(held, rule == Enforcement::Slices, "{rule:?}");
        }
        let (mut guard, _) = both(rule, Exhaustion::Background);
        assert_eq!(
            Enforcer::has_modes(&&mut guard),
            rule == Enforcement::Adaptive
        );
        assert_eq!(Enforcer::interest(&&mut guard), rule.interest());
    }
}

/// A scheduler that says nothing of limits.
struct Silent;

impl Scheduler for Silent {
    fn apply(&mut self, _: Instant, _: Fact) -> Result<(), ContractViolation> {
        Ok(())
    }
    fn decide(&mut self, _: Instant) -> Result<Plan<'_>, ContractViolation> {
        Err(ContractViolation::NotOfThisPolicy)
    }
    fn permit(&self, _: TaskId) -> Permit {
        Permit::NotAdmitted
    }
    fn take_notice(&mut self) -> Option<Notice> {
        None
    }
    fn lost_notices(&self) -> u64 {
        0
    }
}

#[test]
fn a_scheduler_that_says_nothing_has_no_limits_and_its_jobs_make_way() {
    assert_eq!(Silent.limit_at(TaskId(0), Level(0)), None);
    assert!(Silent.stops_at_own_limit());
    assert!(!Silent.suspends_until_instants());
}

/// What jobs of servers and levels use is bounded by budgets that outlive them: a world charges them whole, and holds jobs
/// that no plan names, on a free CPU too.
#[test]
fn budgets_of_servers_and_levels_outlive_jobs_and_their_jobs_are_held() {
    let span = Duration::from_nanos(10);
    let task = Task::new(Level(0), span, span, Wcet::constant(Service::from_nanos(4))).unwrap();
    let capacity = ByLevel::constant(Service::from_nanos(4));
    let hierarchy = Hierarchy::new(&HierarchyConfiguration {
        servers: &[ServerConfiguration {
            kind: ServerKind::Polling {
                period: span,
                capacity,
            },
            priority: 1,
            criticality: Level(0),
            order: LocalOrder::FixedPriority,
        }],
        tasks: &[ServedTask {
            task,
            server: ServerId(0),
            priority: 1,
            on_behalf_of: None,
        }],
        devices: &[],
        levels: LevelSet::new(1).unwrap(),
        modes: Modes::Requested,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    });
    let container = Container::Local(CpuId(0));
    let tasks = [LevelledTask { task, container }];
    let tables = [CpuTable {
        cycle: Duration::ZERO,
        slots: &[],
    }];
    let levels = crate::containers::configuration(&tasks, &tables, 4);
    let mut local =
        LocalDomain::<vestal_core::store::Boxed>::with_store(&levels, CpuId(0)).unwrap();
    let shared = SharedDomain::<vestal_core::store::Boxed>::with_store(&levels).unwrap();
    let bounded: [Box<dyn Scheduler>; 4] = [
        Box::new(hierarchy.unwrap()),
        Box::new(Levelled::new(&levels).unwrap()),
        Box::new(local.clone()),
        Box::new(shared),
    ];
    let borrowed: &dyn Scheduler = &&mut local;
    for decider in bounded.iter().map(AsRef::as_ref).chain([borrowed]) {
        assert!(decider.budgets_outlive_jobs() && decider.suspends_until_instants());
        assert!(!decider.stops_at_own_limit());
    }
    assert!(!Silent.budgets_outlive_jobs());
    for rule in Enforcement::ALL {
        for decider in deciders(rule, Exhaustion::Background) {
            assert!(!decider.budgets_outlive_jobs(), "{rule:?}");
        }
    }
}

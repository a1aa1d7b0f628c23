//! What the test `gel` accepts is simulated, in whatever order: nothing is late. Without its factor something is.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use vestal_analysis::{Parameters, Problem, Scratch, find};
use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Instant, Level, LevelSet, Service, Task,
    TaskConfiguration, TaskOrder, Uniprocessor, Wcet,
};
use vestal_sim::workload::{ListedDemand, Periodic};
use vestal_sim::{Backlog, Setting, Statistics, simulate};
use vestal_testkit::Random;

/// Two to four tasks whose work is from nothing to twice the shortest deadline.
fn draw(random: &mut Random) -> (Vec<Task>, Vec<Duration>) {
    let count = 2 + random.below(3);
    let tasks: Vec<Task> = (0..count)
        .map(|_| {
            let period = Duration::from_nanos(60 + random.below(100));
            let wcet = Service::from_nanos(1 + random.below(80 / count));
            Task::new(Level(0), period, period, Wcet::constant(wcet)).unwrap()
        })
        .collect();
    let point = |task: &Task| Duration::from_nanos(random.below(task.deadline.as_nanos() + 1));
    let points = tasks.iter().map(point).collect();
    (tasks, points)
}

fn missed(tasks: &[Task], points: &[Duration], random: &mut Random) -> u64 {
    let configured: Vec<_> = tasks
        .iter()
        .map(|&task| TaskConfiguration::new(task, 0))
        .collect();
    let configuration = Configuration {
        tasks: &configured,
        levels: LevelSet::new(2).unwrap(),
        enforcement: Enforcement::Halves,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let order = TaskOrder::PriorityPoints {
        points: points.into(),
    };
    let mut engine = Uniprocessor::with_order(&configuration, &order).unwrap();
    let mut statistics = Statistics::of(&configuration, 1);
    let releases = Periodic {
        tasks: tasks
            .iter()
            .map(|task| (Instant::from_nanos(random.below(60)), task.period))
            .collect(),
    };
    let setting = Setting {
        tasks,
        cpus: 1,
        end: Instant::from_nanos(2_000),
        backlog: Backlog::UNLIMITED,
    };
    let demand = ListedDemand::at_level(tasks, Level(0));
    simulate(&mut engine, &setting, &releases, &demand, &mut statistics).unwrap();
    assert!(engine.check_invariants());
    statistics.jobs().missed
}

#[test]
fn nothing_accepted_is_late_and_without_the_factor_something_is() {
    let test = find("gel", None).unwrap();
    let (mut accepted, mut late) = (0, 0);
    let mut random = Random::new(1);
    const SETS: u64 = 4_000;
    for _ in 0..SETS {
        let (tasks, points) = draw(&mut random);
        let problem = Problem::new(tasks.clone(), LevelSet::new(2).unwrap()).unwrap();
        let given = Parameters {
            priority_points: Some(points.clone()),
            ..Parameters::default()
        };
        let problem = problem.with(&given).unwrap();
        let accepts = test.accepts(&problem, &mut Scratch::default());
        let outcome = test.analyse(&problem);
        assert_eq!(outcome.why.is_none(), accepts);
        assert_eq!(outcome.parameters.priority_points.as_ref(), Some(&points));
        let missed = missed(&tasks, &points, &mut random);
        assert!(!accepts || missed == 0, "{tasks:?} {points:?}");
        accepted += u64::from(accepts);
        late += u64::from(missed > 0);
    }
    assert!(
        (SETS / 20..SETS * 19 / 20).contains(&accepted),
        "{accepted}"
    );
    assert!(
        late > 0,
        "the control: sets that are rejected are late at times"
    );
}

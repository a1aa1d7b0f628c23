//! EDF-VD with one queue of ready jobs and with two (Sigrist et al., RTAS 2015, section V-B): two ways to keep
//! them, one schedule.

use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::systems::{Setup, run};

const SYSTEMS: u64 = 20_000;
const TICKS: u64 = 150;

/// Tasks with virtual deadlines and limits by the mode.
fn drawn(random: &mut Random) -> Setup {
    let mut setup = Setup::random(random);
    let due = |entry: &TaskConfiguration, random: &mut Random| {
        Duration::from_nanos(1 + random.below(entry.task.deadline.as_nanos()))
    };
    setup.virtual_deadlines = Some(setup.tasks.iter().map(|entry| due(entry, random)).collect());
    (setup.lists, setup.recomputed) = (None, false);
    setup.enforcement = Enforcement::Adaptive;
    for entry in &mut setup.tasks {
        (entry.zero_slack, entry.slices) = (None, SliceCount::ONE);
    }
    setup
}

#[test]
fn plans_with_two_queues_are_those_with_one() {
    let (mut raised, mut above, mut waited, mut degraded) = (0_u64, 0_u64, 0_u64, 0_u64);
    for seed in 0..SYSTEMS {
        let setup = drawn(&mut Random::new(seed));
        let [one, two] = [DeadlineQueues::One, DeadlineQueues::Two].map(|queues| {
            let mut engine = setup.engine_with(queues);
            let mut random = Random::new(!seed);
            let steps = run(&setup, &mut engine, &mut random, TICKS, |_| {});
            assert!(engine.check_invariants(), "seed {seed}, {queues:?}");
            let notices: Vec<Notice> = core::iter::from_fn(|| engine.take_notice()).collect();
            (steps, notices)
        });
        assert_eq!(one, two, "seed {seed}");
        let (steps, _) = one;
        let modes = steps.windows(2).map(|pair| [pair[0].mode, pair[1].mode]);
        raised += modes.filter(|[before, after]| after > before).count() as u64;
        above += steps.iter().filter(|step| step.mode > Level(1)).count() as u64;
        let in_higher = steps.iter().filter(|step| step.mode > Level(0));
        let jobs = in_higher.filter_map(|step| step.slot);
        waited += jobs.clone().count() as u64;
        let is_degraded = |slot: &Slot| {
            let task = &setup.tasks[slot.job.task.index()].task;
            task.degraded.is_some() && task.criticality == Level::LOWEST
        };
        degraded += jobs.filter(is_degraded).count() as u64;
    }
    // What two queues are for happens often: rises, two of them, jobs in higher modes, LO jobs among them.
    let enough = [
        raised > 50_000,
        above > 50_000,
        waited > 500_000,
        degraded > 5_000,
    ];
    assert_eq!(enough, [true; 4], "{raised} {above} {waited} {degraded}");
}

//! What is accepted keeps its guarantee on each CPU, and what the control accepts does not.

use super::*;
use crate::common::run::{Order, misses};

/// Whether some run of a CPU alone misses.
fn some_cpu_misses(
    cpus: u16,
    tasks: &[Task],
    outcome: &Outcome,
    runs: u32,
    random: &mut Random,
) -> bool {
    let homes = places(outcome);
    let due = deadlines(outcome);
    (0..cpus).any(|cpu| {
        let there = of_cpu(tasks, &homes, cpu);
        let pairs = due
            .iter()
            .zip(&homes)
            .filter(|(_, home)| **home == Some(cpu));
        let due: Vec<u64> = pairs.map(|(due, _)| *due).collect();
        let order = Order::VirtualDeadlines(&due);
        (0..runs).any(|_| misses(&there, &order, 300, random))
    })
}

#[test]
fn accepted_sets_meet_their_deadlines_in_random_runs_of_every_cpu() {
    let mut random = Random::new(67);
    let mut seen = 0;
    for number in 0..6_000 {
        let cpus = u16::try_from(random.between(2, 3)).unwrap();
        let tasks = random_tasks(&mut random, cpus.into());
        let found = analyse(VARIANTS[number % 3], &on(cpus, &tasks));
        if found.parameters.virtual_deadlines.is_some() {
            seen += 1;
            assert!(
                !some_cpu_misses(cpus, &tasks, &found, 3, &mut random),
                "{tasks:?} {found:?}"
            );
        }
    }
    println!("{seen} sets");
    assert!(seen > 1_000);
}

#[cfg(feature = "controls")]
fn control() -> &'static Test {
    let mut all = vestal_analysis::controls::tests().iter();
    all.find(|test| test.variant == Some("control-mode-0"))
        .unwrap()
}

/// 5/10 at LO, but 6/10 twice at HI: both overrun at once, and of ten units twelve are wanted.
#[cfg(feature = "controls")]
#[test]
fn a_cpu_that_fits_at_lo_alone_misses() {
    let tasks = [high(10, 2, 6), high(10, 3, 6)];
    let wrong = control().analyse(&on(2, &tasks));
    assert_eq!(wrong.claim, Some(Verdict::Schedulable));
    assert_eq!(wrong.verdict, Verdict::NotProven);
    assert_eq!(places(&wrong), [Some(0), Some(0)]);
    assert_eq!(places(&analyse(None, &on(2, &tasks))), [Some(0), Some(1)]);
    let mut random = Random::new(68);
    assert!(some_cpu_misses(2, &tasks, &wrong, 100, &mut random));
}

#[cfg(feature = "controls")]
#[test]
fn the_control_that_looks_at_lo_alone_is_refuted_by_runs() {
    let mut random = Random::new(69);
    let (mut wrongly, mut refuted) = (0, 0);
    for _ in 0..3_000 {
        let cpus = u16::try_from(random.between(2, 3)).unwrap();
        let tasks = random_tasks(&mut random, cpus.into());
        let set = on(cpus, &tasks);
        let wrong = control().analyse(&set);
        let claims = wrong.claim == Some(Verdict::Schedulable);
        assert_eq!(control().accepts(&set, &mut Scratch::default()), claims);
        let homes = places(&wrong);
        if claims && !every_cpu_passes(cpus, &tasks, &homes) {
            wrongly += 1;
            refuted += u32::from(some_cpu_misses(cpus, &tasks, &wrong, 20, &mut random));
        }
    }
    println!("{wrongly} wrongly accepted, {refuted} of them refuted");
    assert!(refuted > 50, "{refuted}");
}

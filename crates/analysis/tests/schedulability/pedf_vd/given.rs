//! Given CPUs and virtual deadlines are kept and judged.

use super::*;

#[test]
fn given_cpus_are_kept_and_judged() {
    let mut random = Random::new(65);
    let (mut proved, mut late, mut full, mut changed) = (0_u32, 0_u32, 0_u32, 0_u32);
    for number in 0..8_000 {
        let variant = VARIANTS[number % 3];
        let cpus = u16::try_from(random.between(2, 3)).unwrap();
        let tasks = random_tasks(&mut random, cpus.into());
        let one_in = random.between(1, 4);
        let home = |_: &Task| {
            let given = random.once_in(one_in);
            let cpu = random.between(0, u64::from(cpus) - 1);
            given.then(|| u16::try_from(cpu).unwrap())
        };
        let given: Vec<Option<u16>> = tasks.iter().map(home).collect();
        let set = on(cpus, &tasks).with(&partition(&given)).unwrap();
        let found = analyse(variant, &set);
        let (homes, left_over) = placed(variant, cpus, &tasks, &given);
        assert_eq!(places(&found), homes, "{variant:?} {given:?} {tasks:?}");
        for (home, given) in homes.iter().zip(&given) {
            assert!(given.is_none() || home == given);
        }
        if left_over.is_some() {
            assert!(matches!(found.why, Some(Reason::FitsNowhere { .. })));
            assert_eq!(found.parameters.partition, None);
            continue;
        }
        assert_eq!(found.parameters.partition, partition(&homes).partition);
        match check_cpus(&found, cpus, &tasks, None) {
            true => proved += 1,
            false => late += 1,
        }
        full += u32::from(given.iter().all(Option::is_some));
        changed += u32::from(homes != places(&analyse(variant, &on(cpus, &tasks))));
    }
    println!(
        "{proved} proved, {late} given too much, {full} given in full, {changed} placed otherwise"
    );
    assert!(proved > 500 && late > 200 && full > 500 && changed > 500);
}

#[test]
fn a_given_placement_that_is_too_much_names_the_cpu_and_its_sums() {
    let moved = partition(&[0, 0, 1, 1, 1].map(Some));
    let found = analyse(None, &on(2, &example()).with(&moved).unwrap());
    assert_eq!(found.verdict, Verdict::NotProven);
    assert_eq!(
        found.why.unwrap().to_string(),
        "on CPU 1: the utilisations exceed what the test accepts: 0 tasks 1.150000, 1 tasks 0.000000 \
         at 0 and 0.000000 at 1"
    );
    let unknown = partition(&[None, None, None, None, Some(2)]);
    let error = on(2, &example()).with(&unknown).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the CPU of task 4 is none that the platform has"
    );
    let one = NonZeroU16::MIN;
    let second = partition(&[None, None, None, None, Some(1)]);
    assert!(
        on(2, &example())
            .with(&second)
            .unwrap()
            .with_cpus(one)
            .is_err()
    );
}

#[test]
fn given_virtual_deadlines_are_judged_cpu_by_cpu() {
    let mut random = Random::new(66);
    let (mut again, mut others, mut refused) = (0_u32, 0_u32, 0_u32);
    for _ in 0..6_000 {
        let cpus = u16::try_from(random.between(1, 3)).unwrap();
        let tasks = random_tasks(&mut random, cpus.into());
        let set = on(cpus, &tasks);
        let chosen = analyse(None, &set);
        if chosen.parameters.virtual_deadlines.is_none() {
            continue;
        }
        let base = deadlines(&chosen);
        let same = analyse(None, &set.clone().with(&virtual_deadlines(&base)).unwrap());
        assert_eq!(same.verdict, Verdict::Schedulable, "{tasks:?}");
        assert_eq!(same.parameters, chosen.parameters);
        again += 1;
        let draw = |(task, &due): (&Task, &u64)| match random.once_in(3) {
            true => random.between(1, task.period.as_nanos()),
            false => due,
        };
        let drawn: Vec<u64> = tasks.iter().zip(&base).map(draw).collect();
        let found = analyse(None, &set.with(&virtual_deadlines(&drawn)).unwrap());
        assert_eq!(places(&found), places(&chosen));
        match check_cpus(&found, cpus, &tasks, Some(&drawn)) {
            true if drawn != base => others += 1,
            true => {}
            false => refused += 1,
        }
    }
    println!("{again} chosen again, {others} others accepted, {refused} refused");
    assert!(again > 1_000 && others > 100 && refused > 300);
}

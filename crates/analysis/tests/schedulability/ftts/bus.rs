//! Interference: the bound against a bus on which each access is simulated.

use super::*;
use vestal_core::model::LEVELS_MAX;

/// What one CPU does: its jobs' units of time, of which some are accesses of `access` units each.
#[derive(Clone)]
enum Step {
    Compute,
    Access,
}

/// How long until all CPUs are through: a unit at a time, one access on the bus at a time, a CPU with an access waits
/// for it. Whose turn it is: round robin, or whoever asked first.
fn finishes(programs: &[Vec<Step>], access: u64, in_turns: bool) -> Vec<u64> {
    let count = programs.len();
    let (mut at, mut ends, mut asked) = (vec![0; count], vec![0; count], vec![None; count]);
    let mut owner: Option<(usize, u64)> = None;
    let (mut last, mut now) = (count - 1, 0_u64);
    while (0..count).any(|cpu| at[cpu] < programs[cpu].len()) {
        for cpu in 0..count {
            if matches!(programs[cpu].get(at[cpu]), Some(Step::Access)) {
                asked[cpu].get_or_insert(now);
            }
        }
        if owner.is_none() {
            let waiting: Vec<usize> = (1..=count)
                .map(|step| (last + step) % count)
                .filter(|&cpu| asked[cpu].is_some())
                .collect();
            let next = match in_turns {
                true => waiting.first().copied(),
                false => waiting.iter().copied().min_by_key(|&cpu| asked[cpu]),
            };
            owner = next.map(|cpu| (cpu, access));
        }
        now += 1;
        for cpu in 0..count {
            if matches!(programs[cpu].get(at[cpu]), Some(Step::Compute)) {
                at[cpu] += 1;
                ends[cpu] = now;
            }
        }
        if let Some((cpu, left)) = owner {
            owner = (left > 1).then_some((cpu, left - 1));
            if left == 1 {
                at[cpu] += 1;
                ends[cpu] = now;
                asked[cpu] = None;
                last = cpu;
            }
        }
    }
    ends
}

/// Sets of one frame and one level, in which the barrier is all there is. What a CPU takes without the others is its
/// work W: computing and its own accesses.
#[test]
fn no_run_on_a_simulated_bus_is_longer_than_the_barrier() {
    let mut random = Random::new(2);
    let (mut tight, mut delayed) = (0, 0);
    for _ in 0..4_000 {
        let cpus = random.between(1, 4) as usize;
        let access = random.between(1, 4);
        let computes: Vec<u64> = (0..cpus).map(|_| random.below(12)).collect();
        let counts: Vec<u64> = (0..cpus).map(|_| random.below(6)).collect();
        let work: Vec<u64> = (0..cpus)
            .map(|cpu| (computes[cpu] + counts[cpu] * access).max(1))
            .collect();
        let tasks = work.iter().map(|&work| task(0, 1000, 1000, &[work]));
        let bus = Bus {
            access: ns(access),
            accesses: counts.iter().map(|&count| vec![Some(count)]).collect(),
        };
        let pinned = (0..cpus as u16).map(|cpu| Some(CpuId(cpu)));
        let parameters = Parameters {
            partition: Some(pinned.collect()),
            ..Parameters::default()
        };
        let problem = periodic(1, cpus as u16, tasks.collect()).with_bus(bus);
        let outcome = analyse(&problem.with(&parameters).unwrap());
        let barrier = outcome.parameters.barriers.unwrap().times()[0].as_nanos();
        let alone = work.iter().max().copied().unwrap();
        let mut longest = 0;
        for in_turns in [true, false] {
            for _ in 0..4 {
                let programs: Vec<Vec<Step>> = (0..cpus)
                    .map(|cpu| {
                        let mut steps = vec![Step::Compute; computes[cpu] as usize];
                        steps.extend(vec![Step::Access; counts[cpu] as usize]);
                        random.shuffle(&mut steps);
                        steps
                    })
                    .collect();
                let ends = finishes(&programs, access, in_turns);
                longest = longest.max(ends.into_iter().max().unwrap());
            }
        }
        assert!(
            longest <= barrier,
            "{longest} > {barrier}: {computes:?} {counts:?} {access}"
        );
        tight += u32::from(longest == barrier && barrier > alone);
        delayed += u32::from(longest > alone);
    }
    println!("{delayed} delayed, {tight} as long as the barrier");
    assert!(delayed > 1_000 && tight > 50, "{delayed} {tight}");
}

/// By hand: CPU 0 works 10 with 4 accesses, CPU 1 8 with 6, CPU 2 20 with 1; an access takes 3. CPU 0 waits for
/// min(4,6) + min(4,1) = 5, CPU 1 for 4 + 1, CPU 2 for 1 + 1: 25, 23 and 26.
#[test]
fn a_barrier_by_hand() {
    let tasks = [10, 8, 20].map(|work| task(0, 100, 100, &[work])).to_vec();
    let bus = Bus {
        access: ns(3),
        accesses: [4, 6, 1].map(|count| vec![Some(count)]).to_vec(),
    };
    let outcome = analyse(&periodic(1, 3, tasks.clone()).with_bus(bus));
    let barriers = outcome.parameters.barriers.unwrap();
    assert_eq!(barriers.times(), [ns(26)]);
    let without = analyse(&periodic(1, 3, tasks)).parameters.barriers.unwrap();
    assert_eq!(without.times(), [ns(20)]);
}

#[test]
fn numbers_beyond_every_clock_are_too_long_and_nothing_overflows() {
    let tasks = || vec![task(0, 1 << 61, 1 << 61, &[1 << 60]); 4];
    let most = vec![vec![Some(u64::MAX); LEVELS_MAX]; 4];
    let bus = Bus {
        access: Duration::from_nanos(u64::MAX),
        accesses: most,
    };
    // On a CPU by itself nobody waits.
    assert!(matches!(
        why_not(&periodic(1, 1, tasks())),
        FrameReason::CycleOverload { .. }
    ));
    assert_eq!(
        analyse(&periodic(1, 1, tasks()[..2].to_vec()).with_bus(bus.clone())).why,
        None
    );
    let effort = Effort {
        steps_max: 10_000,
        ..Effort::default()
    };
    let outcome = ftts::with(
        &periodic(1, 2, tasks()).with_bus(bus),
        Duration::ZERO,
        &effort,
    );
    let Some(Reason::Frames(FrameReason::NotFound { length, .. })) = outcome.why else {
        panic!("{:?}", outcome.why);
    };
    assert!(length > Duration::from_nanos(1 << 61));
}

//! Given lists that are longer than what a busy period can contain: proved is what the test leaves of
//! them. With recomputed priorities the rest does harm, if seldom: what is due last has no place then.

use crate::common::Random;
use crate::patterns;
use crate::reference::Lists;
use crate::sets::Sets;
use crate::subject::{Subject, deadlines_of, system_of};
use crate::trial::observe;
use vestal_analysis::Parameters;
use vestal_core::Exhaustion;

const SETS: u64 = 12_000;
const RUNS: u64 = 4;

/// `found` with entries that are not needed, below the last one of their task and between those of others.
fn lengthen(found: &[Vec<u32>], random: &mut Random) -> Vec<Vec<u32>> {
    let mut order: Vec<(u32, usize)> = Vec::new();
    for (task, list) in found.iter().enumerate() {
        order.extend(list.iter().map(|&entry| (entry, task)));
    }
    order.sort_unstable_by(|a, b| b.cmp(a));
    let mut owners = Vec::new();
    let mut left: Vec<usize> = found.iter().map(Vec::len).collect();
    for (_, task) in order {
        owners.push(task);
        left[task] -= 1;
        let complete: Vec<usize> = (0..left.len()).filter(|&task| left[task] == 0).collect();
        for _ in 0..random.between(0, 2) * u64::from(!complete.is_empty()) {
            owners.push(random.one_of(&complete));
        }
    }
    let mut lists = vec![Vec::new(); found.len()];
    for (&owner, entry) in owners.iter().zip((0..owners.len() as u32).rev()) {
        lists[owner].push(entry);
    }
    lists
}

#[test]
fn what_fjp_mode_leaves_of_longer_lists_keeps_its_guarantees_and_the_whole_lists_do_not() {
    let subject = Subject::real(crate::the_test("fjp-mode"));
    let guaranteed = Exhaustion::Background;
    let (mut accepted, mut broken_by_whole_lists) = (0, 0);
    for number in 0..SETS {
        let mut random = Random::new(number);
        let set = Sets::General.draw(&mut random);
        let problem = set.problem();
        let Some(found) = subject.test.analyse(&problem).parameters.job_priorities else {
            continue;
        };
        accepted += 1;
        let longer = lengthen(&found, &mut random);
        let problem = problem
            .with(&Parameters {
                job_priorities: Some(longer.clone()),
                ..Parameters::default()
            })
            .unwrap();
        let outcome = subject.test.analyse(&problem);
        let mut system = system_of(&problem, &outcome, &subject, guaranteed);
        system.lists = Lists::Recomputed;
        let deadlines = deadlines_of(&problem);
        for _ in 0..RUNS {
            patterns::draw(&mut system, set.unit, &mut random);
            let seen = observe(&system, &deadlines, guaranteed);
            assert!(seen.broken.is_none(), "set {number}: {:?}", seen.broken);
            let mut whole = system.clone();
            for (task, list) in whole.tasks.iter_mut().zip(&longer) {
                task.list.clone_from(list);
            }
            let seen = observe(&whole, &deadlines, guaranteed);
            broken_by_whole_lists += u32::from(seen.broken.is_some());
        }
    }
    println!("{accepted} sets, {broken_by_whole_lists} runs broken by whole lists");
    assert!(accepted > 300 && broken_by_whole_lists > 0);
}

//! Which of several proofs people are shown first.

use std::cmp::Reverse;
use vestal_result::analysis::{Analysis, Kind};

/// The proof with the most tasks whose response it bounds lowest, each in the runs of the task's own level; where several have as many,
/// an exact test before others, then the first one. `None` without a proof. A proof without bounds has no such task, and is shown where
/// no other has any. O(proofs x tasks).
pub(super) fn strongest(proofs: &[&Analysis]) -> Option<usize> {
    let tasks = proofs.iter().map(|proof| proof.tasks.len()).max();
    let lowest = |task: usize| {
        proofs
            .iter()
            .filter_map(|proof| proof.own_bound(task))
            .min()
    };
    let lowest: Vec<Option<u64>> = (0..tasks.unwrap_or(0)).map(lowest).collect();
    let wins = |proof: &Analysis| {
        let tasks = lowest.iter().enumerate();
        let won =
            tasks.filter(|(task, least)| least.is_some() && proof.own_bound(*task) == **least);
        won.count()
    };
    let mut ranked = proofs.iter().enumerate();
    let first = ranked.next()?;
    let key = |proof: &Analysis| (Reverse(wins(proof)), proof.kind != Kind::Exact);
    let mut best = (first.0, key(first.1));
    for (index, proof) in ranked {
        let key = key(proof);
        if key < best.1 {
            best = (index, key);
        }
    }
    Some(best.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_result::analysis::{TaskBound, Verdict};

    /// A proof with these bounds, in ms; the runs of higher levels are as long as the first bound, and must not count.
    fn proof(kind: Kind, bounds: &[Option<u64>]) -> Analysis {
        let task = |(index, bound): (usize, &Option<u64>)| TaskBound {
            name: format!("t{index}"),
            criticality: "HI".to_owned(),
            priority: None,
            cpu: Some(0),
            deadline_ns: 100,
            response_ns: [("LO".to_owned(), Some(1)), ("HI".to_owned(), *bound)]
                .into_iter()
                .collect(),
        };
        Analysis {
            test: "by-hand".to_owned(),
            variant: None,
            verdict: Verdict::Schedulable,
            kind,
            claim: None,
            tasks: bounds.iter().enumerate().map(task).collect(),
            servers: Vec::new(),
            parameters: serde_json::Map::new(),
            why: None,
            mechanism: None,
            elapsed_us: 0,
        }
    }

    fn chosen(proofs: &[Analysis]) -> Option<usize> {
        strongest(&proofs.iter().collect::<Vec<_>>())
    }

    /// The rule turned around: most of the largest bounds.
    fn weakest(proofs: &[Analysis]) -> Option<usize> {
        let turned = proofs.iter().map(|one| {
            let mut one = one.clone();
            for task in &mut one.tasks {
                let turned = task
                    .response_ns
                    .0
                    .iter()
                    .map(|(level, bound)| (level.clone(), bound.map(|ns| 1000 - ns)));
                task.response_ns = turned.collect();
            }
            one
        });
        chosen(&turned.collect::<Vec<_>>())
    }

    #[test]
    fn most_tasks_with_the_lowest_bound_win_and_not_the_lowest_sum() {
        // Lowest of t0, t1, t2: 4, 5, 6. The second has two of them, and the largest sum.
        let proofs = [
            proof(Kind::Exact, &[Some(7), Some(6), Some(6)]),
            proof(Kind::Sufficient, &[Some(4), Some(5), Some(90)]),
            proof(Kind::Exact, &[Some(8), Some(8), Some(7)]),
        ];
        assert_eq!(chosen(&proofs), Some(1));
        assert_eq!(
            weakest(&proofs),
            Some(2),
            "the rule turned around tells them apart"
        );
    }

    #[test]
    fn ties_go_to_an_exact_test_and_then_to_the_first() {
        let same = &[Some(4), Some(5)][..];
        let (exact, sufficient) = (proof(Kind::Exact, same), proof(Kind::Sufficient, same));
        assert_eq!(
            chosen(&[sufficient.clone(), exact.clone(), exact.clone()]),
            Some(1)
        );
        assert_eq!(chosen(&[sufficient.clone(), sufficient.clone()]), Some(0));
        // One lowest bound each.
        let crossed = proof(Kind::Sufficient, &[Some(3), Some(9)]);
        assert_eq!(chosen(&[crossed.clone(), sufficient.clone()]), Some(0));
        assert_eq!(chosen(&[crossed, exact]), Some(1));
    }

    #[test]
    fn a_proof_without_bounds_is_the_last_choice() {
        let without = proof(Kind::Exact, &[None, None]);
        let some = proof(Kind::Sufficient, &[None, Some(90)]);
        assert_eq!(chosen(&[without.clone(), some]), Some(1));
        assert_eq!(
            chosen(&[proof(Kind::Sufficient, &[None, None]), without]),
            Some(1)
        );
        assert_eq!(chosen(&[]), None);
        // A job set or a set without tasks.
        assert_eq!(chosen(&[proof(Kind::Sufficient, &[])]), Some(0));
    }
}

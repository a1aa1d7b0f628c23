//! List reuse by pieces against lists that are copied entry by entry, on long random histories.

use vestal_core::TaskId;
use vestal_core::order::{JobPriority, ReusedLists, lists_of};
use vestal_core::store::Boxed;
use vestal_testkit::Random;

/// The rule word by word.
struct Copied {
    whole: Vec<Vec<u32>>,
    rests: Vec<Vec<u32>>,
    exceeded: u64,
}

impl Copied {
    fn begin_arrivals(&mut self, pending: Option<JobPriority>) {
        for (rest, whole) in self.rests.iter_mut().zip(&self.whole) {
            match pending {
                None => rest.clone_from(whole),
                Some(JobPriority(p)) => {
                    let r = rest.iter().filter(|&&entry| entry + 1 > p).count();
                    rest.splice(..r, whole[..r].iter().copied());
                }
            }
        }
    }

    fn take(&mut self, task: usize) -> JobPriority {
        if self.rests[task].is_empty() {
            self.exceeded += 1;
            return JobPriority::BEYOND_PATTERN;
        }
        JobPriority(self.rests[task].remove(0) + 1)
    }
}

/// Instants with arrivals of random tasks, and pending priorities that follow no rule at all: cuts come
/// in any order, as late jobs can bring about.
#[test]
fn pieces_are_the_lists_they_stand_for() {
    let (mut takes, mut exceeded, mut cuts, mut whole_again) = (0_u64, 0, 0_u64, 0);
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let tasks = 1 + random.below(6) as usize;
        let total = random.below(60) as u32;
        let mut whole = vec![Vec::new(); tasks];
        for priority in (0..total).rev() {
            whole[random.below(tasks as u64) as usize].push(priority);
        }
        let borrowed: Vec<&[u32]> = whole.iter().map(Vec::as_slice).collect();
        let mut pieces = ReusedLists::<Boxed>::new(&lists_of(&borrowed)).unwrap();
        let mut copied = Copied {
            rests: whole.clone(),
            whole,
            exceeded: 0,
        };
        let mut last = JobPriority(0);
        for _ in 0..200 {
            let pending = match random.below(8) {
                0 => None,
                1..=3 => Some(last),
                _ => Some(JobPriority(random.below(u64::from(total) + 2) as u32)),
            };
            cuts += u64::from(pending.is_some());
            pieces.begin_arrivals(pending);
            copied.begin_arrivals(pending);
            for _ in 0..random.below(4) {
                let task = random.below(tasks as u64) as usize;
                let expected = copied.take(task);
                let found = pieces.take(TaskId(u16::try_from(task).unwrap()));
                assert_eq!(found, expected, "seed {seed}");
                last = expected;
                takes += 1;
            }
        }
        assert_eq!(pieces.exceeded(), copied.exceeded);
        exceeded += copied.exceeded;
        // Nothing is left of what was: equal lists are equal states.
        pieces.begin_arrivals(None);
        copied.begin_arrivals(None);
        if pieces.exceeded() == 0 {
            assert_eq!(
                pieces,
                ReusedLists::new(&lists_of(&borrowed_of(&copied.whole))).unwrap()
            );
            whole_again += 1;
        }
    }
    assert!(takes > 500_000 && cuts > 400_000, "{takes} {cuts}");
    assert!(whole_again > 10, "{whole_again}");
    assert!(exceeded * 10 > takes && exceeded * 2 < takes, "{exceeded}");
}

fn borrowed_of(lists: &[Vec<u32>]) -> Vec<&[u32]> {
    lists.iter().map(Vec::as_slice).collect()
}

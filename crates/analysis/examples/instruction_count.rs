//! The fast paths against plain textbook loops, to be counted in instructions:
//!
//! ```text
//! cargo build --release -p vestal-analysis --example instruction_count
//! for what in nothing rta-textbook rta amc-textbook amc; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!         target/release/examples/instruction_count $what 2>&1 | grep Collected
//! done
//! ```
//!
//! `nothing` only generates the sets; subtract it. Each run prints how many of the sets it
//! accepted, so that two runs that should agree can be compared.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

use vestal_analysis::{Problem, Scratch, find};
use vestal_core::{Duration, Level, LevelSet, Service, Task, Wcet};

const SETS: u64 = 400;
const TASKS: u64 = 20;

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let levels = if what.starts_with("rta") { 1 } else { 2 };
    let mut scratch = Scratch::default();
    let mut accepted = 0;
    for seed in 0..SETS {
        let tasks = generate(seed, levels);
        let problem = Problem::new(tasks, LevelSet::new(levels).unwrap()).unwrap();
        let fast = |name| find(name, None).unwrap();
        accepted += u64::from(match what.as_str() {
            "nothing" => false,
            "rta" => fast("dms").accepts(&problem, &mut scratch),
            "amc" => fast("amc-rtb").accepts(&problem, &mut scratch),
            "rta-textbook" => textbook::rta(&problem),
            "amc-textbook" => textbook::amc_with_audsley(&problem),
            _ => panic!("nothing | rta | rta-textbook | amc | amc-textbook, not {what:?}"),
        });
    }
    println!("{what}: {accepted} of {SETS} sets accepted");
}

/// Twenty tasks, periods 1 ms to 100 ms, total utilisation at level 0 of 50 to 95 %, every second
/// task HI with one and a half times the execution time.
fn generate(seed: u64, levels: usize) -> Vec<Task> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % bound
    };
    let percent = 50 + next(46);
    let weights: Vec<u64> = (0..TASKS).map(|_| 1 + next(1000)).collect();
    let total: u64 = weights.iter().sum();
    let task = |(index, weight): (u64, &u64)| {
        let period = (10 + next(991)) * 100_000;
        let low = (period * weight * percent / (total * 100)).max(1);
        let level = if levels > 1 {
            u8::from(index % 2 == 1)
        } else {
            0
        };
        let high = if level == 1 { low + low / 2 } else { low };
        let deadline = Duration::from_nanos(period);
        let wcet = Wcet::new(&[Service::from_nanos(low), Service::from_nanos(high)]).unwrap();
        Task::new(Level(level), deadline, deadline, wcet).unwrap()
    };
    (0..).zip(&weights).map(task).collect()
}

/// The loops as books print them, on plain arrays.
mod textbook {
    use vestal_analysis::Problem;
    use vestal_core::Level;

    #[derive(Clone, Copy)]
    struct Row {
        period: u64,
        deadline: u64,
        criticality: usize,
        wcet: [u64; 2],
    }

    fn rows_by_deadline(problem: &Problem) -> Vec<Row> {
        let mut rows: Vec<Row> = problem
            .tasks()
            .iter()
            .map(|task| Row {
                period: task.period.as_nanos(),
                deadline: task.deadline.as_nanos(),
                criticality: task.criticality.index(),
                wcet: [0, 1].map(|level| task.wcet.at(Level(level)).as_nanos()),
            })
            .collect();
        rows.sort_by_key(|row| row.deadline);
        rows
    }

    pub(crate) fn rta(problem: &Problem) -> bool {
        let rows = rows_by_deadline(problem);
        rows.iter().enumerate().all(|(place, row)| {
            let mut response = row.wcet[0];
            loop {
                let mut next = row.wcet[0];
                for other in &rows[..place] {
                    next += response.div_ceil(other.period) * other.wcet[0];
                }
                if next > row.deadline {
                    return false;
                }
                if next == response {
                    return true;
                }
                response = next;
            }
        })
    }

    pub(crate) fn amc_with_audsley(problem: &Problem) -> bool {
        let mut left = rows_by_deadline(problem);
        while !left.is_empty() {
            let fits = (0..left.len())
                .rev()
                .find(|&candidate| passes(&left, candidate));
            match fits {
                Some(place) => left.remove(place),
                None => return false,
            };
        }
        true
    }

    fn passes(left: &[Row], candidate: usize) -> bool {
        let row = left[candidate];
        let mut low: u64 = 0;
        for level in 0..=row.criticality {
            let mut response = row.wcet[level];
            loop {
                let mut next = row.wcet[level];
                for (place, other) in left.iter().enumerate() {
                    if place == candidate {
                        continue;
                    }
                    next += if other.criticality >= level {
                        response.div_ceil(other.period) * other.wcet[level]
                    } else {
                        low.div_ceil(other.period) * other.wcet[0]
                    };
                }
                if next > row.deadline {
                    return false;
                }
                if next == response {
                    break;
                }
                response = next;
            }
            low = response;
        }
        true
    }
}

//! The online step on the arrivals of periodic runs.

use super::recipe;
use vestal_analysis::{Problem, Test};
use vestal_core::order::{JobPriority, RecomputedLists, ReusedLists, lists_of};
use vestal_core::store::Boxed;
use vestal_core::{Level, Service, TaskConfiguration, TaskId};

/// How many sets with lists are run, and how many of their instants with arrivals.
const SETS: usize = 10;
const INSTANTS: usize = 2_000;

enum Lists {
    Pieces(ReusedLists<Boxed>),
    Copied(Copied),
    Recomputed(RecomputedLists<Boxed>, Vec<TaskConfiguration>),
}

/// List reuse as it is described: entries are copied.
struct Copied {
    whole: Vec<Vec<u32>>,
    rests: Vec<Vec<u32>>,
    taken: Vec<usize>,
}

impl Copied {
    fn begin_arrivals(&mut self, pending: Option<JobPriority>) {
        let tasks = self.rests.iter_mut().zip(&self.whole);
        for ((rest, whole), taken) in tasks.zip(&mut self.taken) {
            let reused = match pending {
                None => {
                    *taken = 0;
                    whole.len()
                }
                Some(JobPriority(p)) => rest[*taken..]
                    .iter()
                    .take_while(|&&entry| entry >= p)
                    .count(),
            };
            rest[*taken..*taken + reused].copy_from_slice(&whole[..reused]);
        }
    }

    fn take(&mut self, task: TaskId) -> JobPriority {
        let task = task.index();
        let entry = self.rests[task][self.taken[task]];
        self.taken[task] += 1;
        JobPriority(entry + 1)
    }
}

/// The part that callgrind counts: the priorities of the jobs that arrive at an instant.
#[inline(never)]
fn measured(
    lists: &mut Lists,
    pending: Option<JobPriority>,
    arrivals: &[TaskId],
    found: &mut Vec<JobPriority>,
) {
    match lists {
        Lists::Pieces(lists) => {
            lists.begin_arrivals(pending);
            found.extend(arrivals.iter().map(|&task| lists.take(task)));
        }
        Lists::Copied(lists) => {
            lists.begin_arrivals(pending);
            found.extend(arrivals.iter().map(|&task| lists.take(task)));
        }
        Lists::Recomputed(lists, tasks) => {
            lists.begin_arrivals(pending, tasks);
            found.extend(arrivals.iter().map(|&task| lists.take(task)));
        }
    }
}

/// Prints the steps, the mean length of all lists together, and a hash of every priority given.
pub(crate) fn run(who: &str, test: &Test, tasks: u32, percent: u64) {
    let (mut sets, mut steps, mut entries, mut hash) = (0, 0_usize, 0_usize, 0_u64);
    for index in 0.. {
        if sets == SETS {
            break;
        }
        let problem = recipe::problem_of(tasks, index, percent);
        let Some(whole) = test.analyse(&problem).parameters.job_priorities else {
            continue;
        };
        sets += 1;
        entries += whole.iter().map(Vec::len).sum::<usize>();
        let borrowed: Vec<&[u32]> = whole.iter().map(Vec::as_slice).collect();
        let borrowed = lists_of(&borrowed);
        let mut lists = match who {
            "pieces" => Lists::Pieces(ReusedLists::new(&borrowed).unwrap()),
            "recomputed" => {
                let lists = RecomputedLists::new(&borrowed).unwrap();
                Lists::Recomputed(lists, configurations(&problem))
            }
            "copied" => Lists::Copied(Copied {
                rests: whole.clone(),
                taken: vec![0; whole.len()],
                whole,
            }),
            _ => panic!("pieces | copied | recomputed, not {who:?}"),
        };
        steps += arrivals(&problem, &mut lists, &mut hash);
    }
    println!("{steps} {} {hash:016x}", entries / SETS);
}

fn configurations(problem: &Problem) -> Vec<TaskConfiguration> {
    let tasks = problem.tasks().iter();
    let configured = tasks.map(|&task| TaskConfiguration::new(task, 0));
    configured.collect()
}

struct Job {
    task: usize,
    priority: JobPriority,
    left: Service,
}

/// A synchronous periodic run in which every job takes C(0); returns the instants with arrivals.
fn arrivals(problem: &Problem, lists: &mut Lists, hash: &mut u64) -> usize {
    let tasks = problem.tasks();
    let mut next: Vec<u64> = vec![0; tasks.len()];
    let mut pending: Vec<Job> = Vec::new();
    let mut found = Vec::new();
    let mut now = 0;
    for _ in 0..INSTANTS {
        let at = next.iter().copied().min().unwrap_or(now);
        // What runs until then, the most urgent job first.
        let mut free = at - now;
        while free > 0 && !pending.is_empty() {
            let position = most_urgent(&pending);
            let done = pending[position].left.as_nanos().min(free);
            free -= done;
            pending[position].left = Service::from_nanos(pending[position].left.as_nanos() - done);
            if pending[position].left.is_zero() {
                pending.swap_remove(position);
            }
        }
        now = at;
        let before = (!pending.is_empty()).then(|| pending[most_urgent(&pending)].priority);
        let arriving: Vec<TaskId> = (0..)
            .map(TaskId)
            .zip(&next)
            .filter(|&(_, &release)| release == at)
            .map(|(task, _)| task)
            .collect();
        found.clear();
        measured(lists, before, &arriving, &mut found);
        for (task, &priority) in arriving.iter().zip(&found) {
            let JobPriority(number) = priority;
            *hash = (*hash ^ u64::from(number)).wrapping_mul(0x0100_0000_01B3);
            let task = task.index();
            pending.push(Job {
                task,
                priority,
                left: tasks[task].wcet.at(Level(0)),
            });
            next[task] += tasks[task].period.as_nanos();
        }
    }
    INSTANTS
}

fn most_urgent(pending: &[Job]) -> usize {
    let positions = 0..pending.len();
    let best =
        positions.max_by_key(|&position| (pending[position].priority, pending[position].task));
    best.unwrap_or(0)
}

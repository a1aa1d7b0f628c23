//! What orders the jobs of a session, and where it comes from.

use super::{classic, order_name};
use crate::failure::Failure;
use crate::problem::{Given, Giver};
use crate::quantity::exact;
use vestal_analysis::{Problem, Test};
use vestal_core::policy::{ListRule, OrderRule, VirtualDeadlines};
use vestal_core::{
    ClassicOrder, Configuration, ConfigurationError, Duration, Guard, SliceCount, Task, TaskOrder,
    Uniprocessor,
};

/// What orders jobs beside the priorities of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum OrderTables {
    /// Nothing: fixed priorities, or the scheduler of an own policy.
    #[default]
    Priorities,
    /// For each task after which time its jobs count as due in mode 0.
    VirtualDeadlines(Vec<Duration>),
    /// For each task the priorities of its jobs in a busy period.
    JobPriorities(ListRule, Vec<Vec<u32>>),
    /// Priorities, and for each task into how many slices its jobs are cut.
    Slices(Vec<SliceCount>),
}

/// How many job priorities of a task a table shows.
const SHOWN: usize = 4;

impl OrderTables {
    /// The engine with this order.
    pub(crate) fn engine(
        &self,
        configuration: &Configuration<'_>,
    ) -> Result<Uniprocessor, ConfigurationError> {
        match self {
            Self::Priorities => Uniprocessor::with_order(configuration, TaskOrder::FixedPriority),
            Self::VirtualDeadlines(virtual_deadlines) => {
                let order = TaskOrder::EarliestDeadline { virtual_deadlines };
                Uniprocessor::with_order(configuration, order)
            }
            Self::Slices(counts) => {
                Uniprocessor::with_order(configuration, TaskOrder::Slices { counts })
            }
            Self::JobPriorities(rule, lists) => {
                let lists: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
                let lists = &lists[..];
                let order = match rule {
                    ListRule::Reuse => TaskOrder::JobLists { lists },
                    ListRule::Recomputation => TaskOrder::RecomputedLists { lists },
                };
                Uniprocessor::with_order(configuration, order)
            }
        }
    }

    /// The guard of a natively dispatched run: fixed priorities keep what of the order they can.
    pub(crate) fn guard(
        &self,
        configuration: &Configuration<'_>,
    ) -> Result<Guard, ConfigurationError> {
        match self {
            Self::Slices(counts) => Guard::with_slices(configuration, counts),
            Self::Priorities | Self::VirtualDeadlines(_) | Self::JobPriorities(..) => {
                Guard::new(configuration)
            }
        }
    }

    /// What the column of [`Self::urgency`] is called.
    pub(crate) fn column(&self) -> &'static str {
        match self {
            Self::Priorities | Self::Slices(_) => "prio",
            Self::VirtualDeadlines(_) => "due after",
            Self::JobPriorities(..) => "job prio",
        }
    }

    /// How urgent a task is, as a number that grows as it gets less urgent, and for people; `None` if
    /// its priority says so.
    pub(crate) fn urgency(&self, task: usize) -> Option<(u64, String)> {
        match self {
            Self::Priorities | Self::Slices(_) => None,
            Self::VirtualDeadlines(all) => {
                let due = all.get(task)?.as_nanos();
                Some((due, exact(due)))
            }
            Self::JobPriorities(_, lists) => {
                let list = lists.get(task)?;
                let first = list.first().copied().unwrap_or(0);
                let mut shown: Vec<String> = list.iter().take(SHOWN).map(u32::to_string).collect();
                if list.len() > SHOWN {
                    shown.push("...".to_owned());
                }
                Some((u64::from(u32::MAX - first), shown.join(" ")))
            }
        }
    }
}

/// Priorities of tasks, the other tables, and where they come from.
pub(super) type Chosen = (Vec<u32>, OrderTables, String);

/// What a policy's order is, from what is given or was found.
pub(super) fn choose(
    rule: OrderRule,
    tasks: &[Task],
    test: &Test,
    problem: &Problem,
    found: vestal_analysis::Parameters,
    given: &Given,
) -> Result<Chosen, Failure> {
    let nobody = || vec![0; tasks.len()];
    let by_deadline = |deadlines: Vec<Duration>, origin: &str| {
        let origin = format!("earliest deadline first, {origin}");
        (nobody(), OrderTables::VirtualDeadlines(deadlines), origin)
    };
    let real = || tasks.iter().map(|task| task.deadline).collect();
    Ok(match rule {
        OrderRule::Classic(order) => {
            let origin = order_name(order).to_owned();
            (classic(order, tasks), OrderTables::Priorities, origin)
        }
        OrderRule::Assigned => {
            let (priorities, origin) = match (&given.priorities, found.priorities) {
                (Some((priorities, Giver::Parameters)), _) => {
                    (priorities.clone(), "priorities of --parameters".to_owned())
                }
                (Some((priorities, Giver::File)), _) => {
                    (priorities.clone(), "priorities of the file".to_owned())
                }
                (None, Some(priorities)) => (priorities, format!("priorities found by {test}")),
                (None, None) => {
                    let order = ClassicOrder::DeadlineMonotonic;
                    (classic(order, tasks), order_name(order).to_owned())
                }
            };
            (priorities, OrderTables::Priorities, origin)
        }
        OrderRule::EarliestDeadline(VirtualDeadlines::Real) => {
            by_deadline(real(), "real deadlines")
        }
        OrderRule::EarliestDeadline(VirtualDeadlines::Assigned) => {
            match (&given.virtual_deadlines, found.virtual_deadlines) {
                (Some(given), _) => by_deadline(given.clone(), "virtual deadlines of --parameters"),
                (None, Some(found)) => {
                    by_deadline(found, &format!("virtual deadlines found by {test}"))
                }
                (None, None) => by_deadline(real(), "real deadlines as virtual ones"),
            }
        }
        OrderRule::Slices => slices(tasks, test, found, given),
        OrderRule::JobLists(rule) => {
            let (lists, origin) = job_priorities(test, problem, found, given)?;
            (nobody(), OrderTables::JobPriorities(rule, lists), origin)
        }
    })
}

/// The slices given or found, with rate-monotonic priorities over them; jobs in one piece where there
/// are none.
fn slices(
    tasks: &[Task],
    test: &Test,
    found: vestal_analysis::Parameters,
    given: &Given,
) -> Chosen {
    let rate = "rate-monotonic over slices";
    match (found.slices, found.priorities) {
        (Some(counts), Some(priorities)) => {
            let origin = match given.slices {
                Some(_) => format!("{rate}, slices of --parameters"),
                None => format!("{rate}, slices found by {test}"),
            };
            (priorities, OrderTables::Slices(counts), origin)
        }
        (Some(_) | None, _) => {
            let order = ClassicOrder::RateMonotonic;
            let origin = format!("{}, jobs in one piece", order_name(order));
            let whole = vec![SliceCount::ONE; tasks.len()];
            (classic(order, tasks), OrderTables::Slices(whole), origin)
        }
    }
}

/// The lists given, as the policy's test leaves them if it accepts them, else those that it finds, else
/// those of the test that is refuted: with them there is at least something to look at.
fn job_priorities(
    test: &Test,
    problem: &Problem,
    found: vestal_analysis::Parameters,
    given: &Given,
) -> Result<(Vec<Vec<u32>>, String), Failure> {
    const REFUTED: &str = "fjp-ija";
    if let Some(given) = &given.job_priorities {
        // It cuts off entries beyond the busy periods that it has bounded.
        let lists = found.job_priorities.unwrap_or_else(|| given.clone());
        return Ok((lists, "job priorities of --parameters".to_owned()));
    }
    if let Some(found) = found.job_priorities {
        return Ok((found, format!("job priorities found by {test}")));
    }
    let other = vestal_analysis::find(REFUTED, None);
    let lists = other.and_then(|test| test.analyse(problem).parameters.job_priorities);
    match lists {
        Some(lists) => {
            let origin = format!("job priorities found by {REFUTED}, which is refuted");
            Ok((lists, origin))
        }
        None => Err(Failure::input(
            "order jobs by their own priorities".to_owned(),
            format!("neither {test} nor {REFUTED} finds job priorities for this set"),
        )
        .with_help(
            "give them with --parameters, or use another policy; `analyze --all` tells why",
        )),
    }
}

//! A policy carried out on one set in the simulator: which order it has, and the scheduler.

use vestal_analysis::Parameters;
use vestal_core::policy::{ListRule, OrderRule, VirtualDeadlines};
use vestal_core::{
    ClassicOrder, Configuration, Duration, Enforcement, Exhaustion, LevelSet, OnMiss, Policy,
    Service, Task, TaskConfiguration, TaskId, TaskOrder, Uniprocessor,
};

/// In which order jobs run.
#[derive(Clone, Debug)]
enum Order {
    Priorities(Vec<u32>),
    Deadlines(Vec<Duration>),
    Lists(ListRule, Vec<Vec<u32>>),
}

/// A policy of one CPU with everything that it needs to know of a set.
#[derive(Clone, Debug)]
pub(crate) struct Carried<'a> {
    pub(crate) tasks: &'a [Task],
    levels: LevelSet,
    enforcement: Enforcement,
    order: Order,
}

/// Whether a policy can be carried out with nothing but priorities, deadlines or lists.
pub(crate) fn is_simple(policy: &Policy) -> bool {
    let order = match policy.order {
        OrderRule::Classic(_)
        | OrderRule::Assigned
        | OrderRule::EarliestDeadline(_)
        | OrderRule::JobLists(_) => true,
        OrderRule::Slices => false,
    };
    order && policy.enforcement != Enforcement::ZeroSlack
}

impl<'a> Carried<'a> {
    /// With what a test chose; `None` if it chose nothing, or the policy needs more.
    pub(crate) fn with(
        policy: &Policy,
        tasks: &'a [Task],
        levels: LevelSet,
        chosen: Parameters,
    ) -> Option<Self> {
        let order = match policy.order {
            OrderRule::Classic(order) => Order::Priorities(by(order, tasks)),
            OrderRule::Assigned => Order::Priorities(chosen.priorities?),
            OrderRule::EarliestDeadline(VirtualDeadlines::Real) => Order::Deadlines(real(tasks)),
            OrderRule::EarliestDeadline(VirtualDeadlines::Assigned) => {
                Order::Deadlines(chosen.virtual_deadlines?)
            }
            OrderRule::JobLists(rule) => Order::Lists(rule, chosen.job_priorities?),
            OrderRule::Slices => return None,
        };
        is_simple(policy).then_some(Self {
            tasks,
            levels,
            enforcement: policy.enforcement,
            order,
        })
    }

    /// The same, and where the test chose nothing, with deadline-monotonic priorities or the real deadlines;
    /// `None` if the policy needs more.
    pub(crate) fn with_or_by_deadline(
        policy: &Policy,
        tasks: &'a [Task],
        levels: LevelSet,
        chosen: Parameters,
    ) -> Option<Self> {
        let otherwise = Parameters {
            priorities: Some(by(ClassicOrder::DeadlineMonotonic, tasks)),
            virtual_deadlines: Some(real(tasks)),
            ..Parameters::default()
        };
        Self::with(policy, tasks, levels, chosen)
            .or_else(|| Self::with(policy, tasks, levels, otherwise))
    }

    /// What happens to a job that used up the limit of its own level.
    pub(crate) const EXHAUSTION: Exhaustion = Exhaustion::Background;

    pub(crate) const fn enforcement(&self) -> Enforcement {
        self.enforcement
    }

    /// A scheduler before its first job.
    ///
    /// # Errors
    /// What is wrong with the parameters.
    pub(crate) fn scheduler(&self) -> Result<Uniprocessor, String> {
        let priority = |task: usize| match &self.order {
            Order::Priorities(all) => all.get(task).copied().unwrap_or(0),
            Order::Deadlines(_) | Order::Lists(..) => 0,
        };
        let tasks = self.tasks.iter().enumerate();
        let configured: Vec<TaskConfiguration> = tasks
            .map(|(place, task)| TaskConfiguration {
                task: *task,
                priority: priority(place),
                on_miss: OnMiss::Continue,
                zero_slack: None,
            })
            .collect();
        let configuration = Configuration {
            tasks: &configured,
            levels: self.levels,
            enforcement: self.enforcement,
            exhaustion: Self::EXHAUSTION,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        };
        let lists: Vec<&[u32]> = match &self.order {
            Order::Lists(_, lists) => lists.iter().map(Vec::as_slice).collect(),
            Order::Priorities(_) | Order::Deadlines(_) => Vec::new(),
        };
        let order = match &self.order {
            Order::Priorities(_) => TaskOrder::FixedPriority,
            Order::Deadlines(virtual_deadlines) => {
                TaskOrder::EarliestDeadline { virtual_deadlines }
            }
            Order::Lists(ListRule::Reuse, _) => TaskOrder::JobLists { lists: &lists },
            Order::Lists(ListRule::Recomputation, _) => {
                TaskOrder::RecomputedLists { lists: &lists }
            }
        };
        Uniprocessor::with_order(&configuration, order).map_err(|error| error.to_string())
    }
}

fn by(order: ClassicOrder, tasks: &[Task]) -> Vec<u32> {
    let numbers = 0..u16::try_from(tasks.len()).unwrap_or(u16::MAX);
    numbers
        .filter_map(|task| order.priority_of(TaskId(task), tasks))
        .collect()
}

fn real(tasks: &[Task]) -> Vec<Duration> {
    tasks.iter().map(|task| task.deadline).collect()
}

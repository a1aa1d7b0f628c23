//! A server: what it is, and what is known of it.

use super::{Features, TaskId};
use crate::relteq::Queue;

/// What becomes of a budget without work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It is discarded.
    Polling,
    /// It is consumed by idling.
    Idling,
    /// It is kept until the next replenishment.
    Deferrable,
}

/// The order of the tasks of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LocalOrder {
    /// By their priorities.
    FixedPriority,
    /// By absolute deadlines.
    EarliestDeadline,
}

/// What a server is created from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerSpec {
    /// What becomes of its budget without work.
    pub kind: Kind,
    /// Its priority: a smaller number is more urgent, equal ones go to the server created first.
    pub priority: u8,
    /// The order of its tasks.
    pub order: LocalOrder,
    /// Ticks between replenishments, counted from its creation.
    pub period: u32,
    /// Its budget after each, in ticks.
    pub capacity: u32,
}

/// The state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It has budget and may have work.
    Ready,
    /// It is the active one.
    Running,
    /// It has budget and no work until its wake-up.
    Waiting,
    /// It has no budget.
    Depleted,
}

#[derive(Debug)]
pub(super) struct Server {
    pub(super) period: u32,
    pub(super) capacity: u32,
    pub(super) budget: u32,
    /// Arrivals and delays of its tasks.
    pub(super) sq: Queue,
    /// Its depletion, and delays in its own time.
    pub(super) vq: Queue,
    pub(super) kind: Kind,
    pub(super) order: LocalOrder,
    pub(super) state: State,
    pub(super) priority: u8,
    /// Its most urgent task; the others follow in order.
    pub(super) first_task: Option<TaskId>,
    /// How many of its tasks are ready.
    pub(super) ready: u8,
    /// A polling server got its budget, and has not been asked for work since.
    pub(super) to_poll: bool,
}

impl Server {
    /// Fills positions without a server, with zeros: then a system in a `static` takes no flash.
    pub(super) const NONE: Self = Self {
        period: 0,
        capacity: 0,
        budget: 0,
        sq: Queue::new(),
        vq: Queue::new(),
        kind: Kind::Polling,
        order: LocalOrder::FixedPriority,
        state: State::Ready,
        priority: 0,
        first_task: None,
        ready: 0,
        to_poll: false,
    };

    /// Whether nothing says that it has to leave, if it is the active one.
    #[inline]
    pub(super) fn has_work<F: Features>(&self) -> bool {
        let stays = match self.kind {
            Kind::Deferrable => !F::DEFERRABLE,
            Kind::Polling => !F::POLLING,
            Kind::Idling => true,
        };
        stays || self.ready > 0 || self.state != State::Running
    }
}

//! Rules (a) and (b) of [`crate::server::Pibs`] can be broken here, to show what they are good for.

use super::Hierarchy;
use crate::ids::TaskId;
use crate::server::Server;
use crate::store::Store;
use core::cell::Cell;

std::thread_local! {
    static BREAK_A: Cell<bool> = const { Cell::new(false) };
    static BREAK_B: Cell<bool> = const { Cell::new(false) };
}

/// An active PIBS takes over the priority of whom its latest event is for.
pub(super) fn break_rule_a<S: Store>(engine: &mut Hierarchy<S>, task: TaskId) {
    if !BREAK_A.get() {
        return;
    }
    let own = engine.tasks[task.index()].server;
    let served = engine.work[task.index()].on_behalf_of;
    let priority = served.map(|served| engine.seats[served.index()].configuration.priority);
    if let (Some((seat, _)), Some(priority)) = (engine.seat_mut(own), priority)
        && let Server::Pibs(pibs) = &mut seat.server
    {
        pibs.inherit_while_active(priority);
    }
}

pub(super) fn rule_b_is_broken() -> bool {
    BREAK_B.get()
}

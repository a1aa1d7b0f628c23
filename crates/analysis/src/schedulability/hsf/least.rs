//! The least budgets: with the periods that servers have, the smallest capacities with which the tasks inside are proved to meet their deadlines.
//!
//! By the periodic resource model what a server supplies depends on itself alone, and in no window falls with its capacity: so each server has
//! a least capacity of its own, found by halving. That all of them together fit is asked afterwards, as it is of capacities that are given.

use super::inside;
use super::supply::Resource;
use crate::parameters::{ServerBudget, ServerParameters};
use crate::problem::Problem;
use vestal_core::{Duration, LocalOrder, ServerId};

/// Gives each server that has tasks its least capacity; who has none that is enough, or no tasks, keeps what it has. So does a server below the highest level:
/// parameters say what it has up to its own, and above it would have another. O(log Pi) analyses a server.
pub(super) fn give(problem: &Problem, resources: &mut [Resource]) {
    for (position, (resource, id)) in resources.iter_mut().zip((0..).map(ServerId)).enumerate() {
        let server = &problem.servers()[position];
        let is_highest = server.configuration.criticality == problem.levels().highest();
        if server.tasks.is_empty() || !is_highest {
            continue;
        }
        if let Some(capacity) = capacity(problem, id, position, resource) {
            *resource = resource.with_capacity(capacity);
        }
    }
}

fn capacity(problem: &Problem, id: ServerId, position: usize, given: &Resource) -> Option<u64> {
    let is_enough = |capacity| {
        let resource = given.with_capacity(capacity);
        let server = &problem.servers()[position];
        match server.configuration.order {
            LocalOrder::FixedPriority => (0..server.tasks.len()).all(|place| {
                let bounds = inside::responses(problem, &resource, &server.tasks, place);
                bounds.iter().all(Result::is_ok)
            }),
            LocalOrder::EarliestDeadline => {
                inside::obstacle(problem, id, &resource, &server.tasks).is_none()
            }
        }
    };
    let (mut too_small, mut enough) = (0, given.period);
    if !is_enough(enough) {
        return None;
    }
    while enough - too_small > 1 {
        let middle = too_small.midpoint(enough);
        if is_enough(middle) {
            enough = middle;
        } else {
            too_small = middle;
        }
    }
    Some(enough)
}

/// What the servers have, in every mode alike.
pub(super) fn parameters(problem: &Problem, resources: &[Resource]) -> Vec<ServerParameters> {
    let servers = problem.servers().iter().zip(resources);
    let of = servers.map(|(server, resource)| {
        let levels = server.configuration.criticality.up_to_self();
        let capacity = Duration::from_nanos(resource.capacity);
        ServerParameters {
            budget: ServerBudget::Capacity {
                period: Duration::from_nanos(resource.period),
                by_level: levels.map(|_| capacity).collect(),
            },
            priority: server.configuration.priority,
        }
    });
    of.collect()
}

//! What the lists of sporadic servers came to, which were looked at after each decision.

use crate::quantity::short;
use vestal_core::{Scheduler, ServerId};
use vestal_result::replay::ServerList;
use vestal_trace::Header;

/// A row for each sporadic server, after the last decision.
pub(super) fn of(header: &Header, scheduler: &dyn Scheduler) -> Vec<ServerList> {
    let names = (0..).map(ServerId).zip(&header.servers);
    let rows = names.filter_map(|(id, name)| {
        let listed = scheduler.listed(id)?;
        Some(ServerList {
            server: name.clone(),
            listed_ns: listed.sum.as_nanos(),
            capacity_ns: listed.capacity.as_nanos(),
            longest: scheduler.longest_list(id).unwrap_or(0),
        })
    });
    rows.collect()
}

/// For people.
pub(super) fn page((rows, looked): (&[ServerList], u64)) -> String {
    let parts = rows.iter().map(|row| {
        let [listed, capacity] = [row.listed_ns, row.capacity_ns].map(short);
        format!(
            "{} has {listed} of {capacity}, {} at most",
            row.server, row.longest
        )
    });
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(
            "lists of sporadic servers, as replayed, summed up to their budgets after each decision, {looked} looks; at the end {}\n",
            parts.join("; ")
        ),
    }
}

//! What sporadic servers executed in any window of their periods, and PIBS in one of the period of whom they serve: of those that others preempt no
//! test bounds that.

use super::{open, unreadable};
use crate::failure::Failure;
use crate::quantity::short;
use crate::session::Session;
use std::path::Path;
use vestal_core::server::{ServerKind, Utilization};
use vestal_core::{Duration, ServerId, Service, TaskId};
use vestal_policy::Servers;
use vestal_result::replay::ServerWindow;
use vestal_trace::Header;
use vestal_trace::replay::windows::most_in_a_window;

/// A row for each sporadic server, and for each PIBS and each period of whom its configuration names.
pub(super) fn find(
    path: &Path,
    header: &Header,
    session: &Session,
) -> Result<Vec<ServerWindow>, Failure> {
    let servers = session.configuration().servers();
    let Some(servers) = servers.filter(|_| header.domains.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut rows = Vec::new();
    for (id, (name, server)) in (0..).zip(servers.names.iter().zip(&servers.servers)) {
        let (tasks, periods) = served(servers, ServerId(id));
        for (window, unpreempted) in bounds(&server.kind, &periods) {
            let most = most_in_a_window(open(path)?, &tasks, window);
            let most = most.map_err(|error| unreadable(path, &error))?;
            rows.push(ServerWindow {
                server: name.clone(),
                window_ns: window.as_nanos(),
                executed_ns: most.executed.as_nanos(),
                from_ns: most.from.as_nanos(),
                unpreempted_ns: unpreempted,
            });
        }
    }
    Ok(rows)
}

/// The windows that are looked at, and what a server that nothing preempts executes in one at most, in any mode: none of a server of another
/// kind, which may have two budgets in a row.
fn bounds(kind: &ServerKind, hosts: &[Duration]) -> Vec<(Duration, u64)> {
    match kind {
        ServerKind::Sporadic {
            period, capacity, ..
        } => {
            let largest = capacity.iter().map(Service::as_nanos).max();
            vec![(*period, largest.unwrap_or(0))]
        }
        ServerKind::Pibs { utilization } => {
            let shares = utilization.iter();
            let largest = shares.fold(Utilization::ZERO, |most, share| match share.exceeds(most) {
                true => share,
                false => most,
            });
            let each = hosts.iter();
            each.map(|&period| (period, bound(largest, period)))
                .collect()
        }
        ServerKind::Polling { .. }
        | ServerKind::IdlingPeriodic { .. }
        | ServerKind::Deferrable { .. } => Vec::new(),
    }
}

/// The tasks of a server, bottom halves included, and the periods of those whom a PIBS serves where nobody else is named.
fn served(servers: &Servers, own: ServerId) -> (Vec<TaskId>, Vec<Duration>) {
    let tasks = servers.served.iter().zip((0..).map(TaskId));
    let tasks = tasks.filter(|(served, _)| served.server == own);
    let (mut numbers, mut periods) = (Vec::new(), Vec::new());
    for (served, id) in tasks {
        numbers.push(id);
        let host = served.on_behalf_of.map(ServerId::index);
        let host = host.and_then(|host| servers.servers.get(host));
        periods.extend(host.and_then(|host| host.kind.period()));
    }
    periods.sort_unstable();
    periods.dedup();
    (numbers, periods)
}

/// (2 - U)UT, rounded up.
fn bound(share: Utilization, period: Duration) -> u64 {
    let [numerator, denominator, period] =
        [share.numerator(), share.denominator(), period.as_nanos()].map(u128::from);
    let of_two = 2 * denominator - numerator;
    let product = (numerator * of_two).checked_mul(period);
    let bound = product.map(|product| product.div_ceil(denominator * denominator));
    bound
        .and_then(|bound| u64::try_from(bound).ok())
        .unwrap_or(u64::MAX)
}

/// For people.
pub(super) fn page(rows: &[ServerWindow]) -> String {
    let line = |row: &ServerWindow| {
        format!(
            "{} executed at most {} in any {}, from {} on; if nothing preempts it, {} is the most\n",
            row.server,
            short(row.executed_ns),
            short(row.window_ns),
            short(row.from_ns),
            short(row.unpreempted_ns)
        )
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::server::ByLevel;

    #[test]
    fn what_keeps_no_budget_for_later_has_no_such_bound() {
        let (period, millis) = (Duration::from_millis(10), Service::from_millis);
        let capacity = ByLevel::new(&[millis(2), millis(3), millis(1)]);
        let capacity = capacity.unwrap();
        let sporadic = ServerKind::Sporadic {
            period,
            capacity,
            replenishments: 4,
            full: vestal_core::server::WhenFull::MergeTail,
        };
        assert_eq!(bounds(&sporadic, &[]), [(period, 3_000_000)]);
        let deferrable = ServerKind::Deferrable { period, capacity };
        assert_eq!(bounds(&deferrable, &[]), []);
        let share = Utilization::new(1, 10).unwrap();
        let pibs = ServerKind::Pibs {
            utilization: ByLevel::constant(share),
        };
        assert_eq!(bounds(&pibs, &[period]), [(period, 1_900_000)]);
    }

    #[test]
    fn the_bound_is_rounded_up_and_does_not_overflow() {
        let of = |numerator, denominator, millis| {
            let share = Utilization::new(numerator, denominator).unwrap();
            bound(share, Duration::from_millis(millis))
        };
        // 1.9 tenths of 20 ms, and 5 ninths of 1 ms.
        assert_eq!(of(1, 10, 20), 3_800_000);
        assert_eq!(of(1, 3, 1), 555_556);
        assert_eq!((of(1, 1, 7), of(0, 1, 7)), (7_000_000, 0));
        assert_eq!(of(u64::MAX, u64::MAX, 7), u64::MAX);
    }
}

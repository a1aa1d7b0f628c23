//! Why a test of sporadic servers and PIBS says no, in numbers and in words.

use crate::names::Names;
use crate::shown::Time;
use vestal_core::{Duration, Level, ServerId, TaskId};

/// Why sporadic servers and PIBS, or the tasks inside them, are not proved schedulable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SporadicReason {
    /// Outside the assumptions: the set has more levels than the test is for.
    TooManyLevels {
        /// How many it has.
        found: usize,
        /// How many it may have.
        most: usize,
    },
    /// Outside the assumptions: the server is neither sporadic nor a PIBS.
    NotSporadic {
        /// Which server.
        server: ServerId,
    },
    /// Outside the assumptions: the test is for servers with a period, and this one is a PIBS.
    HasPibs {
        /// Which server.
        server: ServerId,
    },
    /// Outside the assumptions: the task is in a PIBS.
    InPibs {
        /// Which task.
        task: TaskId,
    },
    /// Outside the assumptions: the task has another criticality than its server.
    OtherCriticality {
        /// Which task.
        task: TaskId,
    },
    /// Outside the assumptions: several tasks, or a task and bottom halves, share the server.
    SharedServer {
        /// Which server.
        server: ServerId,
    },
    /// Outside the assumptions: jobs of the task come more often than the capacity of its server.
    ShortPeriod {
        /// Which task.
        task: TaskId,
        /// Its server.
        server: ServerId,
    },
    /// A job of the task may need more than its server has.
    NeedsMore {
        /// Which task.
        task: TaskId,
        /// Its server.
        server: ServerId,
        /// In this mode.
        level: Level,
    },
    /// Outside the assumptions: the share of a PIBS rises above its level, or falls up to it.
    ShareAgainstLevel {
        /// Which server.
        server: ServerId,
    },
    /// A server may not have its capacity in time, or a burst of a PIBS may last too long, by one equation of its paper.
    LateByEquation {
        /// Which server.
        server: ServerId,
        /// On whose behalf a PIBS executes.
        on_behalf_of: Option<ServerId>,
        /// The number of the equation.
        equation: u8,
        /// The bound is at least this much.
        at_least: Duration,
        /// What it may be at most.
        limit: Duration,
    },
    /// Audsley's assignment over servers: none that is left passes at this priority.
    NoServerFits {
        /// The priority for which no server was found; 1 is the least urgent.
        priority: u32,
        /// How many servers were left.
        left: usize,
    },
}

impl SporadicReason {
    /// In words, with these names.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: one sentence for each variant"
    )]
    pub(crate) fn in_words(&self, names: Names<'_>) -> String {
        let server_name = |server| names.server(server);
        let burst = |of, host| {
            format!(
                "a burst of {} on behalf of {}",
                names.server(of),
                names.server(host)
            )
        };
        match *self {
            Self::LateByEquation {
                server,
                on_behalf_of,
                equation,
                at_least,
                limit,
            } => {
                let (at_least, limit) = (Time(at_least), Time(limit));
                let (who, until) = match on_behalf_of {
                    None => (server_name(server), " until it has its capacity"),
                    Some(host) => (burst(server, host), ""),
                };
                format!(
                    "by equation {equation} {who} may take {at_least} or more{until}, and {limit} is the most"
                )
            }
            Self::NoServerFits { priority, left } => format!(
                "no server is in time at priority {priority}, of {left} that are left for it"
            ),
            Self::TooManyLevels { found, most } => format!(
                "the test is for sets of up to {most} {}, this one has {found}",
                if most == 1 { "level" } else { "levels" }
            ),
            Self::NotSporadic { server } => format!(
                "the test is for sporadic servers and PIBS; {} is another",
                server_name(server)
            ),
            Self::HasPibs { server } => format!(
                "the test is for servers with a period; {} is a PIBS",
                server_name(server)
            ),
            Self::InPibs { task } => format!(
                "the test is for tasks in servers with a period; {} is in a PIBS",
                names.task(task)
            ),
            Self::OtherCriticality { task } => format!(
                "the test is for tasks in servers of their own criticality; {} is in another",
                names.task(task)
            ),
            Self::SharedServer { server } => format!(
                "the test is for servers with one task and no bottom halves beside it; {} has more",
                server_name(server)
            ),
            Self::ShortPeriod { task, server } => format!(
                "the period of {} is shorter than that of {}, in which the budget comes back",
                names.task(task),
                server_name(server)
            ),
            Self::NeedsMore {
                task,
                server,
                level,
            } => format!(
                "a job of {} may need more than the capacity of {} in mode {}",
                names.task(task),
                server_name(server),
                names.level(level)
            ),
            Self::ShareAgainstLevel { server } => format!(
                "the test is for PIBS whose utilization never falls up to their level and never rises above it; {} \
                 has another",
                server_name(server)
            ),
        }
    }
}

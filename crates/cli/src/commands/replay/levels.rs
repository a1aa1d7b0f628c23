//! What traces of MC² are asked beside their plans: who should have had each CPU, and whose budget was used up by whom.

use super::{open, switch, unreadable};
use crate::failure::Failure;
use crate::output::{Painter, Style};
use crate::quantity::short;
use crate::session::Session;
use std::fmt::Write as _;
use std::path::Path;
use vestal_core::{CpuId, Duration, JobId, TaskId};
use vestal_policy::{Cluster, Precision};
use vestal_result::replay::{Levels, LevelsBroken, LevelsCpu};
use vestal_trace::replay::levels::{Broken, Found, check};
use vestal_trace::{DomainId, Header, Scope};

/// What is found; `None` of policies without such levels.
pub(super) fn find(
    path: &Path,
    header: &Header,
    session: &Session,
) -> Result<Option<Levels>, Failure> {
    let [cluster] = session.system.clusters.as_slice() else {
        return Ok(None);
    };
    let Some(levels) = cluster.configuration.levels() else {
        return Ok(None);
    };
    let tolerance = switch(header.world);
    let precision = Precision {
        granularity: header.granularity,
        wake_granularity: header.wake_granularity,
    };
    let scope = Scope::new(DomainId::FIRST, &cluster.tasks, &cluster.cpus);
    let inside = open(path)?.map(|record| record.map(|record| scope.to_cluster(record)));
    let found = levels.configured(precision, |levels| check(inside, levels, tolerance));
    let found = found.map_err(|error| unreadable(path, &error))?;
    Ok(Some(document(&found, (session, cluster), tolerance)))
}

/// With the numbers and names of the file.
fn document(
    found: &Found,
    (session, cluster): (&Session, &Cluster),
    tolerance: Duration,
) -> Levels {
    let task = |task: TaskId| {
        let known = cluster.tasks.get(task.index()).copied();
        session.task_name(known.unwrap_or(task))
    };
    let job = |job: JobId| format!("job {} of {}", job.sequence, task(job.task));
    let number = |cpu: CpuId| cluster.cpus.get(cpu.index()).copied().unwrap_or(cpu).0;
    let broken = |broken: &Broken| LevelsBroken {
        rule: broken.what.rule().to_owned(),
        cpu: number(broken.cpu),
        from_ns: broken.from.as_nanos(),
        to_ns: broken.to.as_nanos(),
        what: broken.what.text(job, task),
    };
    let cpus = (0..=u16::MAX).map(CpuId).zip(&found.supply);
    Levels {
        tolerance_ns: tolerance.as_nanos(),
        broken: found.count,
        first: found.broken.first().map(broken),
        spans: found.spans,
        budgets: found.budgets,
        ghosts_c_ns: found.ghosts.as_nanos(),
        cpus: cpus
            .map(|(cpu, supply)| {
                let [d, c, b, a] = supply.ran.map(Duration::as_nanos);
                let [ghosts_a, ghosts_b] = supply.ghosts.map(Duration::as_nanos);
                LevelsCpu {
                    cpu: number(cpu),
                    a_ns: a,
                    b_ns: b,
                    c_ns: c,
                    d_ns: d,
                    idle_ns: supply.idle.as_nanos(),
                    ghosts_a_ns: ghosts_a,
                    ghosts_b_ns: ghosts_b,
                }
            })
            .collect(),
    }
}

/// A line for each CPU, and what was compared.
pub(super) fn page(levels: &Levels) -> String {
    let mut text = String::new();
    for cpu in &levels.cpus {
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "CPU {}: levels A {}, B {}, C {}, D {}, idle {}; ghosts of A {}, of B {}",
            cpu.cpu,
            short(cpu.a_ns),
            short(cpu.b_ns),
            short(cpu.c_ns),
            short(cpu.d_ns),
            short(cpu.idle_ns),
            short(cpu.ghosts_a_ns),
            short(cpu.ghosts_b_ns)
        );
    }
    let _ = writeln!(
        text,
        "levels: {} spans with their charges, {} budgets, ghosts of C {}; {}",
        levels.spans,
        levels.budgets,
        short(levels.ghosts_c_ns),
        match levels.tolerance_ns {
            0 => "to the nanosecond".to_owned(),
            nanos => format!("what is at most {} long does not count", short(nanos)),
        }
    );
    text
}

/// What is wrong, in place of what a replay says otherwise; `None` if nothing is.
pub(super) fn verdict(levels: &Levels, painter: Painter) -> Option<String> {
    let first = levels.first.as_ref()?;
    let more = match levels.broken {
        1 => String::new(),
        count => format!(" ({count} times something is wrong)"),
    };
    let text = format!(
        "Every answer is the same, but {} is broken on CPU {} from {} to {}: {}{more}.",
        first.rule,
        first.cpu,
        short(first.from_ns),
        short(first.to_ns),
        first.what
    );
    Some(painter.paint(Style::Bad, &text))
}

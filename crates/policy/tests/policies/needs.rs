//! What policies cannot do without, for sets that do not say it: CPUs and tables.

use vestal_analysis::parameters::DispatchTable;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::{CpuId, Duration, TableSlot, TaskId};
use vestal_policy::Policy;
use vestal_workload::TaskSet;

/// How many jobs of one task a table has at most.
const JOBS_MAX: u64 = 200;

/// Parameters with which a policy can be built for a set; nothing for one that finds or needs none. The two highest
/// levels are those that stay on a CPU, the highest is that of tables.
pub(crate) fn needs(policy: &dyn Policy, set: &TaskSet) -> Parameters {
    let taken = policy.about().parameters;
    if !taken.contains(&Parameter::Tables) || set.tasks.is_empty() {
        return Parameters::default();
    }
    let below =
        |task: &vestal_workload::model::TaskSpec| set.levels.len() - 1 - task.criticality.index();
    let home = |task: &vestal_workload::model::TaskSpec| {
        (below(task) <= 1).then_some(CpuId(task.cpu.unwrap_or(0)))
    };
    let homes: Vec<Option<CpuId>> = set.tasks.iter().map(home).collect();
    let tables = (0..set.platform.cpus).map(|cpu| {
        let mine = |task: &usize| below(&set.tasks[*task]) == 0 && homes[*task] == Some(CpuId(cpu));
        table(set, &(0..set.tasks.len()).filter(mine).collect::<Vec<_>>())
    });
    let tables: Option<Vec<DispatchTable>> = tables.collect();
    Parameters {
        tables,
        partition: Some(homes),
        ..Parameters::default()
    }
}

/// One after the other each task takes what is free in each of its periods; `None` if that is not enough.
fn table(set: &TaskSet, tasks: &[usize]) -> Option<DispatchTable> {
    let mut cycle = 1u64;
    for &task in tasks {
        let period = set.tasks[task].period.as_nanos();
        cycle = cycle.checked_mul(period / greatest_common(cycle, period))?;
        if cycle / period > JOBS_MAX {
            return None;
        }
    }
    let mut slots: Vec<(u64, u64, usize)> = Vec::new();
    for &task in tasks {
        let spec = &set.tasks[task];
        let period = spec.period.as_nanos();
        let own = spec.wcet[spec.criticality.index()]?.as_nanos();
        for release in (0..cycle).step_by(usize::try_from(period).ok()?) {
            let (mut at, mut left) = (release, own);
            let deadline = release + spec.deadline.as_nanos();
            while left > 0 {
                slots.sort_unstable();
                let taken = slots.iter().find(|(start, length, _)| start + length > at);
                let free = match taken {
                    Some((start, length, _)) if *start <= at => {
                        at = start + length;
                        continue;
                    }
                    Some((start, _, _)) => *start,
                    None => cycle,
                };
                let length = left.min(free - at);
                // Nothing is free at the end of a full cycle.
                if length == 0 || at + length > deadline {
                    return None;
                }
                slots.push((at, length, task));
                left -= length;
            }
        }
    }
    slots.sort_unstable();
    let slot = |&(start, length, task): &(u64, u64, usize)| TableSlot {
        start: Duration::from_nanos(start),
        length: Duration::from_nanos(length),
        task: TaskId(u16::try_from(task).unwrap()),
    };
    Some(DispatchTable {
        cycle: Duration::from_nanos(cycle),
        slots: slots.iter().map(slot).collect(),
    })
}

const fn greatest_common(one: u64, other: u64) -> u64 {
    match other {
        0 => one,
        _ => greatest_common(other, one % other),
    }
}

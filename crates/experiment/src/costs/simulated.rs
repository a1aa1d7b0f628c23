//! What carrying a policy out takes of the CPUs of a simulated world.

use super::{
    CostsError, Figure, Mechanism, Primitive, Statistic, cost, name, overheads, overheads_of,
};
use vestal_analysis::Overheads;
use vestal_core::{CpuId, Duration};
use vestal_sim::costs::Heartbeat;
use vestal_sim::{Charges, Costs, DrawnCosts};

/// What carrying a policy out takes of the CPUs of a simulated world, and what tests are to make of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulated {
    /// The mechanism that carries it out.
    pub mechanism: String,
    /// Which figure of each cost is taken.
    pub figure: Figure,
    /// What tests take into account: no less than the world takes.
    pub overheads: Overheads,
    taken: Taken,
}

/// What is taken each time.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Taken {
    Same(Costs),
    Drawn(Box<DrawnCosts>),
}

impl Simulated {
    /// Where this mechanism carries a policy out.
    ///
    /// # Errors
    /// A cost that the file does not have; a monitor among the tasks.
    pub(super) fn new(mechanism: &Mechanism, figure: Figure) -> Result<Self, CostsError> {
        if mechanism.monitor.is_some() {
            return Err(CostsError {
                why: format!(
                    "the monitor of {} is a task, which no simulated world schedules",
                    mechanism.name
                ),
                help: "name a mechanism whose monitor is above all tasks; analyze takes this one into account".to_owned(),
            });
        }
        let of = |statistic: Statistic| costs(mechanism, &|cost| statistic.of(cost));
        let taken = match figure {
            Figure::Each(statistic) => Taken::Same(of(statistic)?),
            Figure::Drawn => Taken::Drawn(Box::new(DrawnCosts {
                median: costs(mechanism, &|cost| cost.median_ns)?,
                p99: of(Statistic::P99)?,
                max: of(Statistic::Max)?,
            })),
        };
        Ok(Self {
            mechanism: mechanism.name.clone(),
            figure,
            overheads: overheads(mechanism, figure.covering())?,
            taken,
        })
    }

    /// For the world of a cluster with this number, whose tasks are on these CPUs.
    #[must_use]
    pub fn charges<'a>(
        &'a self,
        (cluster, homes): (usize, &'a [CpuId]),
        seed: u64,
    ) -> (Charges<'a>, &'a [CpuId]) {
        let charges = match &self.taken {
            Taken::Same(costs) => Charges::Fixed(costs),
            // Others for each cluster.
            Taken::Drawn(costs) => {
                let seed = seed.wrapping_add((cluster as u64) << 32);
                Charges::Drawn(costs, seed)
            }
        };
        (charges, homes)
    }
}

/// With such a figure of each cost: no more of any busy interval than the overheads say that tests take of it. A heartbeat looks at
/// every multiple of its period.
fn costs(mechanism: &Mechanism, figure: &dyn Fn(&Primitive) -> u64) -> Result<Costs, CostsError> {
    let overheads = overheads_of(mechanism, figure)?;
    let of = |name| cost(mechanism, figure, name);
    let job = of(name::JOB_START)?.saturating_add(of(name::JOB_END)?);
    let switch = of(name::SWITCH)?;
    let ns = Duration::from_nanos;
    let own = ns(job.saturating_add(switch.saturating_mul(2)));
    Ok(Costs {
        release: overheads.release,
        job: ns(job),
        switch: ns(switch),
        completion: overheads.job.saturating_sub(own),
        detection: match overheads.heartbeat {
            None => overheads.detection,
            Some(_) => ns(of(name::TOLERANCE)?),
        },
        exhaustion: overheads.exhaustion,
        change: overheads.change,
        termination: overheads.termination,
        wake: overheads.instant,
        frame: overheads.frame,
        sub_frame: overheads.sub_frame,
        heartbeat: overheads.heartbeat.map(|beat| Heartbeat {
            period: beat.period,
            cost: beat.cost,
        }),
    })
}

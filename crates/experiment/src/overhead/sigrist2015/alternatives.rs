//! What each alternative costs in schedulability: how many drawn sets tests accept with its overheads.

use super::plan::{ASKED_CPUS, NORMAL, Plan};
use super::set::{Judge, drawn};
use super::table::Table;
use super::variant::{Kind, Variant};
use crate::costs::{Statistic, overheads};
use vestal_analysis::Overheads;
use vestal_result::bench::Mechanism;
use vestal_result::shares::{Accepted, Alternative, FrameOverhead, ShareCell};

/// An alternative with the overheads that tests take of it, mean and largest; none if it has no costs that they take.
pub struct Asked {
    variant: &'static Variant,
    overheads: Option<[Overheads; 2]>,
}

impl Asked {
    /// With what its mechanism cost.
    ///
    /// # Errors
    /// In words, which cost is missing.
    pub fn new(variant: &'static Variant, mechanism: &Mechanism) -> Result<Self, String> {
        let of = |statistic| overheads(mechanism, statistic).map_err(|error| error.why);
        let overheads = match mechanism.not_run {
            None => Some([of(Statistic::Mean)?, of(Statistic::Max)?]),
            Some(_) => None,
        };
        Ok(Self { variant, overheads })
    }
}

/// A row for each alternative, with how many of the plan's sets are accepted; every set is drawn once, and asked about with all of them.
/// `goes_on` is asked before each set: if it says no, what was asked until then counts.
///
/// # Errors
/// In words, why no set is drawn or tests cannot be asked.
pub fn alternatives(
    judge: &mut Judge<'_>,
    (asked, table): (&[Asked], &Table),
    plan: &Plan,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<Alternative>, String> {
    let cells = table.cells();
    let mut rows: Vec<Alternative> = asked.iter().map(|one| row(one, &cells)).collect();
    for &permille in plan.asked {
        let mut counts = vec![
            Accepted {
                utilization_permille: permille,
                sets: 0,
                without: 0,
                mean: 0,
                max: 0
            };
            asked.len()
        ];
        for index in 0..plan.asked_sets {
            if !goes_on() {
                break;
            }
            let set = drawn(ASKED_CPUS, permille, u64::from(index))?;
            for kind in Kind::ALL {
                let without = judge.accepts(kind, &set, None)?;
                for (one, count) in asked.iter().zip(&mut counts) {
                    let Some([mean, max]) = one.overheads.filter(|_| one.variant.kind == kind)
                    else {
                        continue;
                    };
                    count.sets += 1;
                    // Overheads make no set schedulable.
                    count.without += u32::from(without);
                    count.mean += u32::from(without && judge.accepts(kind, &set, Some(mean))?);
                    count.max += u32::from(without && judge.accepts(kind, &set, Some(max))?);
                }
            }
        }
        for (row, count) in rows.iter_mut().zip(counts) {
            row.accepted.extend((count.sets > 0).then_some(count));
        }
    }
    Ok(rows)
}

/// With the time that it took in the runs of as many CPUs at the utilization that claims speak of; of what takes a CPU more in the runs of
/// one CPU.
fn row(asked: &Asked, cells: &[ShareCell]) -> Alternative {
    let variant = asked.variant;
    let has_frames = variant.kind == Kind::Frames;
    // Of a table with two levels.
    let of_frame = |costs: Overheads| {
        let sub_frames = costs.sub_frame.as_nanos().saturating_mul(2);
        costs.frame.as_nanos().saturating_add(sub_frames)
    };
    let cpus = ASKED_CPUS - variant.more_cpus.min(ASKED_CPUS - 1);
    let mut cells = cells.iter();
    let found = cells.find(|cell| {
        let same = (cell.cpus, cell.utilization_permille) == (cpus, Some(NORMAL));
        same && cell.variant == variant.name && cell.runs > 0
    });
    Alternative {
        variant: variant.name.to_owned(),
        cpus,
        scheduler: found.map(|cell| cell.scheduler.mean),
        system: found.and_then(|cell| Some(cell.system?.mean)),
        frame: asked
            .overheads
            .filter(|_| has_frames)
            .map(|[mean, max]| FrameOverhead {
                mean_ns: of_frame(mean),
                max_ns: of_frame(max),
            }),
        accepted: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{drawn as place, made};
    use super::super::plan::QUICK;
    use super::super::variant::variant;
    use super::*;
    use vestal_core::Duration;
    use vestal_policy::Registry;

    fn asked(name: &str, overheads: Option<[Overheads; 2]>) -> Asked {
        Asked {
            variant: variant(name).unwrap(),
            overheads,
        }
    }

    /// Frames are 200 ms and more: with nothing as much is accepted as without, with more than the longest frame nothing.
    #[test]
    fn overheads_that_are_nothing_cost_nothing_and_those_longer_than_a_frame_everything() {
        let registry = Registry::default();
        let mut judge = Judge::new(&registry);
        let large = Overheads {
            frame: Duration::from_millis(1000),
            sub_frame: Duration::from_millis(20),
            job: Duration::from_millis(1000),
            ..Overheads::default()
        };
        let both = Some([Overheads::default(), large]);
        let table = Table::of(vec![made(place(2, NORMAL), 0, "ftts/spin", 70)]);
        let asked = [
            asked("ftts/spin", both),
            asked("pedf-vd/manager", both),
            asked("ftts/sigrist2015", None),
        ];
        let rows = alternatives(&mut judge, (&asked, &table), &QUICK, &mut || true).unwrap();
        assert_eq!(rows.len(), 3);
        for row in &rows[..2] {
            let [found] = row.accepted[..] else {
                panic!("{row:?}")
            };
            assert_eq!((found.sets, found.max), (QUICK.asked_sets, 0), "{row:?}");
            assert!(found.without > 0 && found.mean == found.without, "{row:?}");
        }
        assert!((rows[0].scheduler.unwrap() - 70e-6).abs() < 1e-12);
        assert_eq!((rows[1].scheduler, rows[2].accepted.len()), (None, 0));
        let frame = rows[0].frame.unwrap();
        assert_eq!((frame.mean_ns, frame.max_ns), (0, 1_040_000_000));
        assert_eq!((rows[1].frame, rows[2].frame), (None, None));
    }

    #[test]
    fn who_stops_gets_what_was_asked_until_then() {
        let registry = Registry::default();
        let mut judge = Judge::new(&registry);
        let asked = [asked("pedf-vd/manager", Some([Overheads::default(); 2]))];
        let mut left = 3;
        let mut goes_on = || {
            left -= 1;
            left > 0
        };
        let rows = alternatives(
            &mut judge,
            (&asked, &Table::default()),
            &QUICK,
            &mut goes_on,
        );
        assert_eq!(rows.unwrap()[0].accepted[0].sets, 2);
    }
}

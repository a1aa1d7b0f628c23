//! Budgets that are given as parameters take the place of those of the servers.

use super::Server;
use crate::parameters::{Parameter, ParameterError, Ratio, ServerBudget, ServerParameters};
use vestal_core::{ByLevel, Level, LevelSet, ServerKind, Service, Utilization};

/// Makes priority, period and budget up to the own level of each server those of `given`; above it a server keeps
/// what it has.
///
/// # Errors
/// [`ParameterError::Part`] with the first server whose parameters are not for it. The budgets themselves must
/// have been checked ([`ServerBudget::is_sound`]).
pub(crate) fn apply(
    servers: &mut [Server],
    given: &[ServerParameters],
    levels: LevelSet,
) -> Result<(), ParameterError> {
    let part = |position: usize, what: &'static str| ParameterError::Part {
        parameter: Parameter::Servers,
        position,
        what,
    };
    if servers.len() != given.len() {
        let first = servers.len().min(given.len());
        return Err(part(first, "there is not one for each server"));
    }
    for (position, (server, given)) in servers.iter_mut().zip(given).enumerate() {
        replace(server, given, levels).map_err(|what| part(position, what))?;
    }
    Ok(())
}

fn replace(
    server: &mut Server,
    given: &ServerParameters,
    levels: LevelSet,
) -> Result<(), &'static str> {
    const COUNT: &str = "it has not one value for each level up to the server's own";
    let own = server.configuration.criticality;
    let count = own.index() + 1;
    match (&given.budget, &mut server.configuration.kind) {
        (
            ServerBudget::Capacity {
                period: new,
                by_level,
            },
            ServerKind::Polling { period, capacity }
            | ServerKind::IdlingPeriodic { period, capacity }
            | ServerKind::Deferrable { period, capacity }
            | ServerKind::Sporadic {
                period, capacity, ..
            },
        ) if by_level.len() == count => {
            *period = *new;
            let new = by_level
                .iter()
                .map(|time| Some(Service::supplied_during(*time)));
            *capacity = up_to(new, capacity, levels).ok_or(COUNT)?;
        }
        (ServerBudget::Utilization { by_level }, ServerKind::Pibs { utilization })
            if by_level.len() == count =>
        {
            let share = |share: &Ratio| Utilization::new(share.numerator, share.denominator);
            *utilization = up_to(by_level.iter().map(share), utilization, levels).ok_or(COUNT)?;
        }
        (
            ServerBudget::Capacity { .. },
            ServerKind::Polling { .. }
            | ServerKind::IdlingPeriodic { .. }
            | ServerKind::Deferrable { .. }
            | ServerKind::Sporadic { .. },
        )
        | (ServerBudget::Utilization { .. }, ServerKind::Pibs { .. }) => return Err(COUNT),
        (ServerBudget::Capacity { .. }, ServerKind::Pibs { .. }) => {
            return Err("it has a capacity, and the server is a PIBS");
        }
        (ServerBudget::Utilization { .. }, _) => {
            return Err("it has a utilisation, and the server is no PIBS");
        }
    }
    server.configuration.priority = given.priority;
    Ok(())
}

/// The new values of the first levels, and the old ones of the others.
fn up_to<T: Copy>(
    new: impl Iterator<Item = Option<T>>,
    old: &ByLevel<T>,
    levels: LevelSet,
) -> Option<ByLevel<T>> {
    let mut values: Vec<T> = new.collect::<Option<_>>()?;
    let above = levels.iter().skip(values.len());
    values.extend(above.map(|level: Level| old.at(level)));
    ByLevel::new(&values)
}

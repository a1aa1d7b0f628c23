//! The answer of the test: levels A, B and C together.
//!
//! Accepted are sets whose levels A and B keep their deadlines ([`Question::find`]) and whose level C has a bound on its tardiness with what
//! these leave ([`bounds`]), which is at most the given one where one is given. What is said of level D is nothing.
//!
//! Five levels, as in Mollison et al. (2010), are refused: `docs/explain/mc2.md` has the bound that could be proved for a global level below
//! C, and why it is left out.

use super::tardiness::{Unbounded, bounds};
use super::{Effort, Found, Order, Question, wanted};
use crate::grade::Grade;
use crate::level_reason::LevelReason;
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::{Parameters, task_id};
use crate::problem::{Problem, Row};
use vestal_core::Duration;
use vestal_core::time::HORIZON_NANOS;

/// The test's answer with CPUs, tables and bounds on the tardiness. With level B by rates also with response times of level B.
pub(crate) fn analyse(problem: &Problem, order: Order) -> Outcome {
    let found = find(problem, order).map(|(question, found)| {
        let late = match found.why {
            Some(why) => Err(why),
            None => tardiness(&question, &found),
        };
        (found, late)
    });
    outcome(Kind::Sufficient, problem, found)
}

/// What is found of levels A and B, and what was asked.
pub(super) fn find(problem: &Problem, order: Order) -> Result<(Question<'_>, Found), LevelReason> {
    let question = Question {
        problem,
        grades: problem.grades().ok_or(LevelReason::NotFourLevels)?,
        order,
        interrupt_master: problem.interrupt_master(),
    };
    let found = question.find(&mut Effort::default())?;
    Ok((question, found))
}

/// How late tasks are, or why nothing is proved.
type Late = Result<Vec<Option<Duration>>, LevelReason>;

/// The answer with what was found.
pub(super) fn outcome(
    kind: Kind,
    problem: &Problem,
    found: Result<(Found, Late), LevelReason>,
) -> Outcome {
    let (found, late) = match found {
        Ok(found) => found,
        Err(why) => {
            let tasks = vec![TaskOutcome::default(); problem.tasks().len()];
            return Outcome::decided(kind, Some(Reason::Levels(why)), tasks);
        }
    };
    let (late, why) = match late {
        Ok(late) => (Some(late), None),
        Err(why) => (None, Some(Reason::Levels(why))),
    };
    let tasks = problem.rows().iter().map(|row| TaskOutcome {
        cpu: found.homes[row.task],
        responses: responses(row, found.responses[row.task]),
        ..TaskOutcome::default()
    });
    let decided = Outcome::decided(kind, why, tasks.collect());
    Outcome {
        parameters: Parameters {
            partition: Some(found.homes),
            tables: Some(found.tables),
            tardiness: late,
            ..Parameters::default()
        },
        ..decided
    }
}

/// What is a bound in runs of level B is one in those of the levels below it, too, in which no job needs more.
fn responses(row: &Row, found: Option<u64>) -> Vec<Option<Duration>> {
    let bound = found.map(|nanos| Some(Duration::from_nanos(nanos)));
    bound.map_or_else(Vec::new, |bound| vec![bound; row.criticality + 1])
}

/// By how much jobs of each task of level C may be late, by task.
pub(super) fn tardiness(question: &Question<'_>, found: &Found) -> Late {
    let problem = question.problem;
    let rows = problem.rows().iter();
    let shared: Vec<&Row> = rows.filter(|row| question.grade(row) == Grade::C).collect();
    let given = |row: &Row| {
        let given = problem.given().tardiness.as_deref()?;
        given.get(row.task).copied().flatten()
    };
    let mut rows = problem.rows().iter();
    if let Some(other) = rows.find(|row| given(row).is_some() && question.grade(row) != Grade::C) {
        let task = task_id(other.task);
        return Err(LevelReason::TardinessElsewhere { task });
    }
    let wants = shared.iter().map(|row| wanted(row, row.criticality));
    let at = |position: usize| task_id(shared.get(position).map_or(0, |row| row.task));
    let late = bounds(&found.closed, &wants.collect::<Vec<_>>());
    let late = late.map_err(|why| match why {
        Unbounded::Overload => LevelReason::OverloadOfAll,
        Unbounded::WcetExceedsPeriod(position) => {
            LevelReason::WcetExceedsPeriod { task: at(position) }
        }
        Unbounded::NoForm(position) => LevelReason::TardinessUnbounded { task: at(position) },
        Unbounded::OutOfRange => LevelReason::TardinessOutOfRange,
    })?;
    let mut all = vec![None; problem.tasks().len()];
    for (row, late) in shared.iter().zip(late) {
        if late > HORIZON_NANOS {
            return Err(LevelReason::TardinessOutOfRange);
        }
        let (bound, given) = (Duration::from_nanos(late), given(row));
        if let Some(given) = given
            && given < bound
        {
            let task = task_id(row.task);
            return Err(LevelReason::TardinessAboveGiven { task, bound, given });
        }
        all[row.task] = given.or(Some(bound));
    }
    Ok(all)
}

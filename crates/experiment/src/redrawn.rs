//! Questions about the set that the same seed gives with other parameters of the recipe.
//!
//! A recipe may write the same draw down as different systems: `missimer` has PIBS, or with `io=sporadic` a sporadic server in the place of
//! each. Points with another value of a parameter have other seeds, so that such systems could not be compared set by set. A
//! question in whose name stands `[io=sporadic]` is asked, in the row of a set, about what the recipe makes of that set's seed with
//! this parameter. Whether that is the same draw is the recipe's business; it says so where it is.

use std::fmt;
use vestal_workload::TaskSet;
use vestal_workload::generate::Recipe;

/// Parameters that a question has otherwise than the experiment, with their values, in the order of its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes(pub(crate) Vec<(String, String)>);

impl Changes {
    /// The name of a question, and what stands behind it in brackets; the whole name, where nothing does.
    ///
    /// # Errors
    /// What stands there and is not `KEY=VALUE`.
    pub(crate) fn split(text: &str) -> Result<(&str, Self), String> {
        let Some((name, inside)) = text.strip_suffix(']').and_then(|text| text.split_once('['))
        else {
            return Ok((text, Self::default()));
        };
        let pairs = inside.split(',').map(|pair| {
            let pair = pair.trim();
            let (key, value) = pair.split_once('=').ok_or_else(|| pair.to_owned())?;
            Ok((key.to_owned(), value.to_owned()))
        });
        Ok((name, Self(pairs.collect::<Result<_, String>>()?)))
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.0.iter().map(|(key, value)| format!("{key}={value}"));
        let pairs: Vec<String> = pairs.collect();
        write!(f, "[{}]", pairs.join(","))
    }
}

/// A question about the set that the same seed gives with other parameters.
#[derive(Clone, Debug)]
pub struct Redrawn<Q> {
    question: Box<Q>,
    changes: Changes,
    /// Of each point, with these parameters.
    recipes: Vec<Recipe>,
}

impl<Q> Redrawn<Q> {
    /// `recipes` are those of the points, with the changes.
    pub(crate) fn new(question: Q, changes: Changes, recipes: Vec<Recipe>) -> Self {
        Self {
            question: Box::new(question),
            changes,
            recipes,
        }
    }

    /// What is asked.
    #[must_use]
    pub const fn question(&self) -> &Q {
        &self.question
    }

    /// Its name in results, if that of the question is `label`: with the parameters in brackets.
    pub(crate) fn label(&self, label: &str) -> String {
        format!("{label}{}", self.changes)
    }

    /// The set of this point and seed.
    ///
    /// # Errors
    /// That there is none with these parameters.
    pub(crate) fn draw(&self, (point, seed): (usize, u64)) -> Result<TaskSet, String> {
        let recipe = self.recipes.get(point).ok_or("a point without a recipe")?;
        recipe.draw(seed).map_err(|error| error.to_string())
    }
}

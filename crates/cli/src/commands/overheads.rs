//! Overheads that tests take into account: from a file, or measured now.

use super::bench;
use super::run::chosen;
use crate::args::OverheadArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::real;
use crate::registry::registry;
use std::path::{Path, PathBuf};
use vestal_analysis::{Overheads, Test};
use vestal_experiment::costs::{self, Costs, CostsError, Figure, Simulated, Statistic};
use vestal_policy::{Options, Policy, Registry};
use vestal_result as said;
use vestal_result::bench::Mechanism;

/// What mechanisms cost, and which of it is taken.
pub(crate) struct Source {
    file: Option<PathBuf>,
    costs: Costs,
    figure: Figure,
    /// The only one of interest.
    mechanism: Option<String>,
}

/// The overheads of a mechanism.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) mechanism: String,
    pub(crate) overheads: Overheads,
}

fn refused(what: impl Into<String>, error: CostsError) -> Failure {
    Failure::input(what, error.why).with_help(error.help)
}

/// The figures that tests take.
fn of_tests() -> [(&'static str, Figure); 3] {
    Statistic::ALL.map(|(name, statistic)| (name, Figure::Each(statistic)))
}

impl Source {
    /// Those of the file that is named; `None`: none is.
    pub(crate) fn of_file(args: &OverheadArgs) -> Result<Option<Self>, Failure> {
        Self::named(args, &of_tests())
    }

    /// The same for a simulated world.
    pub(crate) fn of_simulation(args: &OverheadArgs) -> Result<Option<Self>, Failure> {
        Self::named(args, &Figure::ALL)
    }

    fn named(args: &OverheadArgs, figures: &[(&str, Figure)]) -> Result<Option<Self>, Failure> {
        let Some(file) = &args.overheads else {
            let options = [
                ("--statistic", args.statistic.is_some()),
                ("--mechanism", args.mechanism.is_some()),
            ];
            return match options.iter().find(|(_, given)| *given) {
                None => Ok(None),
                Some((option, _)) => {
                    let why = "there are no overheads of which it could say something";
                    let help = "name them with --overheads FILE";
                    Err(Failure::input(format!("use {option}"), why).with_help(help))
                }
            };
        };
        let costs = Costs::read(file).map_err(|error| refused("read the overheads", error))?;
        Self::new((args, figures), Some(file), costs).map(Some)
    }

    /// Those of this machine, measured now; quickly, from fewer runs and rounds, if that is enough.
    pub(crate) fn of_machine(
        args: &OverheadArgs,
        is_quick: bool,
        output: &Output,
    ) -> Result<Self, Failure> {
        let time = if is_quick { "8 s" } else { "20 s" };
        output.note(&format!("measuring what mechanisms cost here, some {time}; --overheads FILE takes what was measured before"));
        let primitives = real::primitives(is_quick, output)?;
        let mechanisms = bench::mechanisms(&primitives, (None, is_quick), output)?;
        let costs = Costs::from(mechanisms);
        Self::new((args, &of_tests()), None, costs)
    }

    fn new(
        (args, figures): (&OverheadArgs, &[(&str, Figure)]),
        file: Option<&Path>,
        costs: Costs,
    ) -> Result<Self, Failure> {
        let figure = chosen("--statistic", args.statistic.as_deref(), figures)?;
        if let Some(name) = &args.mechanism {
            let what = format!("use --mechanism {name}");
            costs
                .mechanism(name)
                .map_err(|error| refused(what, error))?;
        }
        Ok(Self {
            file: file.map(Path::to_owned),
            costs,
            figure: figure.unwrap_or_default(),
            mechanism: args.mechanism.clone(),
        })
    }

    /// The mechanisms that carry a policy out, the usual one first.
    pub(crate) fn of_policy(
        &self,
        policy: &dyn Policy,
        test: &Test,
    ) -> Result<Vec<Taken>, Failure> {
        let wanted = |it: &&Mechanism| {
            let name = self.mechanism.as_deref();
            name.is_none_or(|name| name == it.name)
        };
        let mechanisms = self.costs.of_policy(policy, test).filter(wanted);
        mechanisms.map(|it| self.taken(it)).collect()
    }

    fn taken(&self, mechanism: &Mechanism) -> Result<Taken, Failure> {
        let overheads = costs::overheads(mechanism, self.statistic());
        Ok(Taken {
            mechanism: mechanism.name.clone(),
            overheads: overheads.map_err(|error| refused("use the overheads", error))?,
        })
    }

    /// What a simulated world takes of its CPUs under a policy with these options.
    pub(crate) fn simulated(
        &self,
        registry: &Registry,
        (policy, options): (&dyn Policy, &Options),
    ) -> Result<Simulated, Failure> {
        let what = format!(
            "simulate {} with what carrying it out costs",
            policy.about().name
        );
        let test = policy.test(options);
        let test = test.map_err(|refusal| Failure::refused(what.as_str(), refusal))?;
        let Some(test) = test.and_then(|name| registry.test(name)) else {
            return Err(Failure::input(what, "no test speaks of the policy")
                .with_help("leave out --overheads"));
        };
        let mechanism = self.mechanism.as_deref();
        let found = self.costs.simulated((policy, test), self.figure, mechanism);
        found.map_err(|error| refused(what, error))
    }

    /// For the result of a run.
    pub(crate) fn taken_by(&self, simulated: &Simulated) -> said::run::Taken {
        said::run::Taken {
            file: self
                .file
                .as_ref()
                .map_or_else(String::new, |file| file.display().to_string()),
            statistic: simulated.figure.name().to_owned(),
            mechanism: simulated.mechanism.clone(),
        }
    }

    /// Those that are taken into account by a test: of the mechanism by which the policy that it is about is usually
    /// carried out. `None`: none of those there are does.
    pub(crate) fn of_test(&self, test: &Test) -> Result<Option<Taken>, Failure> {
        let which = (self.statistic(), self.mechanism.as_deref());
        let found = self.costs.of_test(registry(), test, which);
        let found = found.map_err(|error| refused("use the overheads", error))?;
        Ok(found.map(|(mechanism, overheads)| Taken {
            mechanism: mechanism.to_owned(),
            overheads,
        }))
    }

    /// Which figure of each is taken.
    pub(crate) const fn statistic(&self) -> Statistic {
        self.figure.covering()
    }

    /// For results.
    pub(crate) fn said(&self) -> said::analysis::Overheads {
        said::analysis::Overheads {
            file: self.file.as_ref().map(|file| file.display().to_string()),
            statistic: self.statistic().name().to_owned(),
        }
    }

    /// What was taken, in a line for people.
    pub(crate) fn in_words(&self) -> String {
        let from = match &self.file {
            Some(file) => format!("of {}", file.display()),
            None => "measured here".to_owned(),
        };
        let which = match self.statistic() {
            Statistic::Mean => "mean",
            Statistic::P99 => "99th percentile",
            Statistic::Max => "largest",
        };
        format!("overheads {from}, the {which} of each; what is measured is no bound")
    }
}

//! What a policy is: a name, what it reads, and how a system is built.

use crate::options::{OptionKey, Options};
use crate::refusal::Refusal;
use crate::servers::ServerRules;
use crate::setup::Setup;
use crate::system::System;
use std::fmt;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::Task;

/// A policy: an order, limits and a placement under one name.
///
/// It decides nothing at run time: [`Policy::build`] gives data, and worlds make their schedulers of it.
pub trait Policy: Send + Sync {
    /// What there is to know of it before there is a task set.
    fn about(&self) -> &About;

    /// What it makes of the fields of a task set.
    fn fields(&self) -> Fields {
        Fields::ONE_CPU
    }

    /// The test that finds what it needs and states its guarantee, by the options; `None`: nothing is guaranteed
    /// anything.
    ///
    /// # Errors
    /// Options that exclude one another.
    fn test(&self, _: &Options) -> Result<Option<&str>, Refusal> {
        Ok(self.about().tests.first().copied())
    }

    /// How it reads the servers of a file, by the options: its tests are asked about what it would run.
    fn server_rules(&self, _: &Options) -> ServerRules {
        ServerRules::EVERY_KIND
    }

    /// An order of its own, which its test is given.
    fn rule(&self, _: &[Task]) -> Parameters {
        Parameters::default()
    }

    /// The system. The same setup gives the same one.
    ///
    /// # Errors
    /// What is wrong with the setup.
    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal>;
}

impl fmt::Debug for dyn Policy + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about().name)
    }
}

/// What there is to know of a policy before there is a task set.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name on the command line and in results.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Its text for `explain`, in Markdown.
    pub page: &'static str,
    /// What may be given instead of being found. A system is built with all of it.
    pub parameters: &'static [Parameter],
    /// The options that it has.
    pub options: &'static [OptionKey],
    /// The names of the tests about it; the first one states its guarantee, unless the options name another.
    pub tests: &'static [&'static str],
    /// Whether fixed priorities can carry it out.
    pub native: Native,
}

/// Whether the fixed priorities of an operating system can carry a policy out, with permits alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// They can.
    Yes,
    /// They cannot, and why: one sentence without a full stop.
    No(&'static str),
}

/// What a policy makes of a field of a task set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The field means what it says.
    Reads,
    /// It has an effect by this rule.
    Rule(&'static str),
    /// It has none, for this reason.
    Ignored(&'static str),
}

impl Use {
    /// What is made of a key that none of the [`Field`]s is: a new key is ignored, and not in silence.
    pub const OF_OTHERS: Self = Self::Ignored("no policy of this version reads it");
}

macro_rules! fields {
    ($($variant:ident $field:ident $name:literal,)*) => {
        /// A field of a task set that not every policy makes use of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Field {
            $(#[doc = $name] $variant,)*
        }

        impl Field {
            /// All of them, in the order in which they are listed.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// Optional keys of tasks that every policy and test reads.
            pub const READ_BY_ALL: [&str; 1] = ["task.deadline"];

            /// The field as messages name it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        /// What a policy makes of each of those fields.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Fields {
            $(#[doc = $name] pub $field: Use,)*
        }

        impl Fields {
            /// What is made of this one.
            #[must_use]
            pub const fn of(&self, field: Field) -> Use {
                match field {
                    $(Field::$variant => self.$field,)*
                }
            }
        }
    };
}

fields! {
    Offset offset "task.offset",
    Arrival arrival "task.arrival",
    Degraded degraded "task.degraded",
    Priority priority "task.priority",
    Cpu cpu "task.cpu",
    Accesses accesses "task.accesses",
    OnMiss on_miss "task.on_miss",
    Io io "task.io",
    Work work "task.work",
    Estimates estimates "task.wcet above the own level",
    Cpus cpus "platform.cpus",
    Tick tick "platform.tick",
    InterruptMaster interrupt_master "platform.interrupt_master",
    Bus bus "platform.bus",
    Servers servers "server",
    Devices devices "device",
}

const ONE: Use = Use::Rule("there is one CPU: a platform of more is refused");
const INTERFERENCE: Use =
    Use::Ignored("only frame tables (ftts) count what CPUs delay one another");

impl Fields {
    /// Those of a policy of one CPU whose limits do not depend on a mode, and whose rule orders the tasks.
    pub const ONE_CPU: Self = Self {
        offset: Use::Rule("counts in `simulate` and `run`; tests assume the worst phasing"),
        arrival: Use::Rule("counts in `simulate`; tests cover periodic and sporadic tasks alike"),
        degraded: Use::Ignored("only adaptive policies have modes in which it could count"),
        priority: Use::Ignored("the policy's rule orders the tasks"),
        cpu: ONE,
        accesses: INTERFERENCE,
        on_miss: Use::Rule(
            "holds: the policy has no rule of its own for a job past its deadline; a job that used up its \
             execution limit is stopped by the policy in any case",
        ),
        io: Use::Ignored(
            "jobs do not block: only servers (hsf, io-amc) have devices for which they could wait",
        ),
        work: Use::Rule("counts in `run`, which alone executes the tasks"),
        estimates: Use::Ignored(
            "jobs are stopped at their own level's value; only the scenario `beta` looks at estimates above it",
        ),
        cpus: ONE,
        tick: Use::Ignored("time is exact in this version"),
        interrupt_master: Use::Ignored(
            "releases on a CPU of their own (mc2) are not in this version",
        ),
        bus: INTERFERENCE,
        servers: Use::Ignored("the policy has no servers; hsf and io-amc have"),
        devices: Use::Ignored("only servers (hsf, io-amc) have bottom halves"),
    };

    /// The same for a policy with modes.
    pub const ADAPTIVE: Self = Self {
        degraded: Use::Reads,
        ..Self::ONE_CPU
    };

    /// The same for a policy that schedules servers; what becomes of a task's `degraded` depends on who gets a server of its own.
    pub const IN_SERVERS: Self = Self {
        priority: Use::Reads,
        on_miss: Use::Ignored("a late job goes on within the budget of its server"),
        io: Use::Reads,
        estimates: Use::Ignored(
            "no job is stopped, whatever it takes; only the scenario `beta` looks at estimates above the own level",
        ),
        servers: Use::Reads,
        devices: Use::Reads,
        ..Self::ONE_CPU
    };
}

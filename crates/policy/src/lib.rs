//! Policies, and how a system is put together: the one room in which a task set, a policy, its options and
//! its parameters become something that decides.
//!
//! [`assemble()`] takes a task set, a policy with its options and parameters, and gives a [`System`]: clusters of tasks and CPUs that are
//! decided together, each with a [`Configuration`] from which a world makes engines and guards as often as it
//! needs, with the precision that it has. A system is data: it can be compared, recorded and assembled again
//! from the recording without asking an analysis.
//!
//! A [`Policy`] says what it is called and what it reads, and builds; each stands in a file of `policies/`, and a
//! program's own ones implement the same trait. A [`Registry`] knows policies and tests by their names.
//! Nothing outside of `policies/` compares such a name.
#![forbid(unsafe_code)]

mod assemble;
mod configuration;
mod engine;
mod options;
pub mod parameters;
mod policies;
mod policy;
mod refusal;
mod registry;
mod servers;
mod setup;
mod system;

pub use assemble::{
    Analysis, assemble, given, levels, problem, problem_under, said_of_servers, server_rules,
};
pub use configuration::{
    Configuration, FrameFault, FrameLists, Levels, OneCpu, Precision, Servers, User,
};
pub use engine::{Engine, Visitor};
pub use options::{
    BACKLOG, DISPATCHER, EXHAUSTION, OptionKey, Options, QUEUES, SUB_FRAME_INIT, Values,
};
pub use policies::{FRAME_OVERHEAD, one_cpu};
pub use policy::{About, Field, Fields, Native, Policy, Use};
pub use refusal::Refusal;
pub use registry::Registry;
pub use servers::{
    BottomHalves, LooseTasks, REPLENISHMENTS, ServerKinds, ServerOrder, ServerRules, server_names,
};
pub use setup::{Given, Origin, Setup};
pub use system::{Cluster, Domain, Guarantee, Proof, System, Terms};

//! Policies that are one order with one rule of limits: what there is to know of each, and its parts.

use super::{job_priorities, one_cpu};
use crate::options::{DISPATCHER, EXHAUSTION, QUEUES};
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_analysis::Parameter;
use vestal_core::ClassicOrder::{CriticalityMonotonic, DeadlineMonotonic, RateMonotonic};
use vestal_core::order::{BY_DEADLINE, BY_JOB};
use vestal_core::{Enforcement, TaskOrder};

/// A policy that is nothing but parts.
pub(super) struct Composed {
    about: About,
    fields: Fields,
    build: fn(&Setup<'_>, &About) -> Result<System, Refusal>,
}

impl Policy for Composed {
    fn about(&self) -> &About {
        &self.about
    }

    fn fields(&self) -> Fields {
        self.fields
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        (self.build)(setup, &self.about)
    }
}

/// Native on Linux, with the only option that all have.
const NATIVE: About = About {
    name: "",
    summary: "",
    page: "",
    parameters: &[],
    options: &[EXHAUSTION],
    tests: &[],
    native: Native::Yes,
};

/// The shorter period goes first.
pub(super) const RMS: Composed = Composed {
    about: About {
        name: "rms",
        summary: "rate-monotonic priorities, static limits C_i(z_i)",
        page: include_str!("../../../../docs/explain/rms.md"),
        tests: &["rms"],
        ..NATIVE
    },
    fields: one_cpu::TO_COMPLETION,
    build: |setup, about| Ok(one_cpu::classic(setup, about, RateMonotonic)),
};

/// The shorter deadline goes first.
pub(super) const DMS: Composed = Composed {
    about: About {
        name: "dms",
        summary: "deadline-monotonic priorities, static limits C_i(z_i)",
        page: include_str!("../../../../docs/explain/dms.md"),
        tests: &["dms"],
        ..NATIVE
    },
    fields: one_cpu::TO_COMPLETION,
    build: |setup, about| Ok(one_cpu::classic(setup, about, DeadlineMonotonic)),
};

/// The more critical task goes first.
pub(super) const CMS: Composed = Composed {
    about: About {
        name: "cms",
        summary: "criticality-monotonic priorities, static limits C_i(z_i)",
        page: include_str!("../../../../docs/explain/cms.md"),
        tests: &["cms"],
        ..NATIVE
    },
    fields: one_cpu::TO_COMPLETION,
    build: |setup, about| Ok(one_cpu::classic(setup, about, CriticalityMonotonic)),
};

/// Priorities by Audsley's assignment, static limits.
pub(super) const SMC: Composed = Composed {
    about: About {
        name: "smc",
        summary: "static mixed criticality: Audsley's priorities, static limits C_i(z_i)",
        page: include_str!("../../../../docs/explain/smc.md"),
        parameters: &[Parameter::Priorities],
        tests: &["smc", "smc:printed"],
        ..NATIVE
    },
    fields: Fields {
        priority: Use::Reads,
        ..Fields::ONE_CPU
    },
    build: |setup, about| Ok(one_cpu::assigned(setup, about, Enforcement::Static)),
};

/// Priorities by Audsley's assignment, limits by the mode.
pub(super) const AMC: Composed = Composed {
    about: About {
        name: "amc",
        summary: "adaptive mixed criticality: Audsley's priorities, limits C_i(mode), mode 0 at idle",
        page: include_str!("../../../../docs/explain/amc.md"),
        parameters: &[Parameter::Priorities],
        tests: &["amc-rtb", "amc-ub", "amc-max", "amc-ia", "amc-ia:full"],
        ..NATIVE
    },
    fields: Fields {
        priority: Use::Reads,
        ..Fields::ADAPTIVE
    },
    build: |setup, about| Ok(one_cpu::assigned(setup, about, Enforcement::Adaptive)),
};

/// Each job has a priority of its own, from lists.
pub(super) const PLRS: Composed = Composed {
    about: About {
        name: "plrs",
        summary: "fixed job priorities from lists that are reused, limits C_i(mode), mode 0 at idle",
        page: include_str!("../../../../docs/explain/plrs.md"),
        parameters: &[Parameter::JobPriorities],
        tests: job_priorities::TESTS,
        native: Native::No(BY_JOB),
        ..NATIVE
    },
    fields: Fields::ADAPTIVE,
    build: |setup, about| {
        job_priorities::system(setup, about, |lists| TaskOrder::ReusedLists { lists })
    },
};

/// Each job has a priority of its own, from lists that are computed anew.
pub(super) const OCBP: Composed = Composed {
    about: About {
        name: "ocbp",
        summary: "fixed job priorities computed anew at arrivals, limits C_i(mode), mode 0 at idle",
        page: include_str!("../../../../docs/explain/ocbp.md"),
        parameters: &[Parameter::JobPriorities],
        tests: job_priorities::TESTS,
        native: Native::No(BY_JOB),
        ..NATIVE
    },
    fields: Fields::ADAPTIVE,
    build: |setup, about| {
        job_priorities::system(setup, about, |lists| TaskOrder::RecomputedLists { lists })
    },
};

/// The job that is due first goes first.
pub(super) const EDF: Composed = Composed {
    about: About {
        name: "edf",
        summary: "earliest deadline first, static limits C_i(z_i)",
        page: include_str!("../../../../docs/explain/edf.md"),
        tests: &["edf"],
        native: Native::No(BY_DEADLINE),
        ..NATIVE
    },
    fields: Fields::ONE_CPU,
    build: |setup, about| Ok(one_cpu::by_deadline(setup, about, Enforcement::Static)),
};

/// In mode 0 jobs are due at virtual deadlines.
pub(super) const EDF_VD: Composed = Composed {
    about: About {
        name: "edf-vd",
        summary: "earliest virtual deadline first, limits C_i(mode), mode 0 at idle",
        page: include_str!("../../../../docs/explain/edf-vd.md"),
        parameters: &[Parameter::VirtualDeadlines],
        options: &[EXHAUSTION, QUEUES, DISPATCHER],
        tests: &["edf-vd", "edf-vd-util"],
        native: Native::No(BY_DEADLINE),
    },
    fields: Fields::ADAPTIVE,
    build: |setup, about| Ok(one_cpu::by_deadline(setup, about, Enforcement::Adaptive)),
};

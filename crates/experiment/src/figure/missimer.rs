//! Figures 7 to 11 of Missimer, Missimer and West (2016), section V-A: sporadic servers with and without PIBS, in one mode and in two.
//!
//! The paper compares two systems: one that has a PIBS for each source of I/O, and an *SS-only* one with a sporadic server in its place.
//! Both are asked about for each drawn set, so that they are compared set by set; the parameters of the SS-only one stand in brackets
//! behind the names of its tests. The paper's sets assign each PIBS to one server, and its analysis is that of one of which that is
//! not known: every sentence about PIBS is looked at under both, by the tests without and with `:any`.

use super::rules::{self, Margin};
use super::{Axis, Claim, Figure, StandIn};

macro_rules! experiment {
    ($name:literal) => {
        include_str!(concat!("../../../../experiments/missimer/", $name, ".toml"))
    };
}

const UTILIZATION: Axis = Axis {
    parameter: "utilization",
    label: "utilization at level LO, I/O included",
};

/// Systems of one mode.
const SS: &str = "ss-rta[io=sporadic]";
const PIBS: &str = "ss-pibs-rta";
const PIBS_ANY: &str = "ss-pibs-rta:any";
const RUNS_SS: &str = "sim:io-amc/lo[io=sporadic]";
const BURSTS_SS: &str = "sim:io-amc/lo[io=sporadic,events=burst]";
const RUNS_PIBS: &str = "sim:io-amc/lo[events=burst]";
const RUNS_ANY: &str = "sim:io-amc/lo[map=any,events=burst]";

/// Systems of two.
const AMC: &str = "amc-rtb:servers[io=sporadic]";
const AMC_UB: &str = "amc-ub:servers[io=sporadic]";
const IO: &str = "io-amc-rtb";
const IO_UB: &str = "io-amc-ub";
const IO_ANY: &str = "io-amc-rtb:any";
const IO_UB_ANY: &str = "io-amc-ub:any";
const HI_SS: &str = "sim:io-amc/hi[io=sporadic]";
const HI_BURSTS_SS: &str = "sim:io-amc/hi[io=sporadic,events=burst]";
const HI_PIBS: &str = "sim:io-amc/hi[events=burst]";
const HI_ANY: &str = "sim:io-amc/hi[map=any,events=burst]";

/// A sentence, with the words for whether it is known whom a PIBS serves.
macro_rules! known {
    ($text:literal) => {
        concat!($text, ", where it is known whom a PIBS serves.")
    };
}
macro_rules! any {
    ($text:literal) => {
        concat!($text, ", where a PIBS may serve any server.")
    };
}

/// That `above` lies above `below`.
macro_rules! above {
    ($text:expr, $above:expr, $below:expr) => {
        Claim {
            text: $text,
            needs: &[$above, $below],
            check: |view| rules::better(view, $above, &[$below], Margin::Any),
        }
    };
}

/// That an upper bound does not lie below what it bounds, be it on the other system.
macro_rules! bounds {
    ($text:expr, $above:expr, $below:expr) => {
        Claim {
            text: $text,
            needs: &[$above, $below],
            check: |view| rules::better(view, $above, &[$below], Margin::AtLeast),
        }
    };
}

/// That it lies above by little.
macro_rules! little {
    ($text:expr, $above:expr, $below:expr) => {
        Claim {
            text: $text,
            needs: &[$above, $below],
            check: |view| rules::better(view, $above, &[$below], Margin::Slight),
        }
    };
}

/// That the test proves what it says.
macro_rules! runs_well {
    ($text:expr, $test:expr, $runs:expr) => {
        Claim {
            text: $text,
            needs: &[$test, $runs],
            check: |view| rules::dominates(view, $runs, $test),
        }
    };
}

/// That the order of figure 8 holds everywhere, for the tests of one reading: UBs at or above rtbs, whichever system each is of, and AMC
/// above IO-AMC. These are all pairs of the four curves.
macro_rules! same_order {
    ($text:expr, $io:expr, $io_ub:expr) => {
        Claim {
            text: $text,
            needs: &[AMC_UB, AMC, $io_ub, $io],
            check: |view| {
                let pairs = [
                    (AMC_UB, $io_ub, Margin::Any),
                    (AMC_UB, AMC, Margin::AtLeast),
                    (AMC_UB, $io, Margin::AtLeast),
                    ($io_ub, AMC, Margin::AtLeast),
                    ($io_ub, $io, Margin::AtLeast),
                    (AMC, $io, Margin::Any),
                ];
                rules::ordered(view, &pairs)
            },
        }
    };
}

/// A figure of weighted schedulability.
macro_rules! weighted {
    ($name:literal, $over:literal, $axis:expr, $known:expr, $any:expr) => {
        Figure {
            name: concat!("missimer/", $name),
            caption: concat!(
                "weighted schedulability of AMC (sporadic servers only) and IO-AMC (with PIBS) over ",
                $over
            ),
            text: experiment!($name),
            overheads: None,
            x: $axis,
            readings: None,
            stand_ins: &[],
            claims: &[
                same_order!($known, IO, IO_UB),
                same_order!($any, IO_ANY, IO_UB_ANY),
                little!(known!("AMC-rtb is slightly above IO-AMC-rtb"), AMC, IO),
                little!(any!("AMC-rtb is slightly above IO-AMC-rtb"), AMC, IO_ANY),
            ],
        }
    };
}

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "missimer/fig7",
        caption: "sporadic servers only (SS), and with PIBS for I/O (SS+PIBS), in one mode over utilization; 15 main tasks, 5 for I/O",
        text: experiment!("fig7"),
        overheads: None,
        x: UTILIZATION,
        readings: None,
        stand_ins: STAND_INS,
        claims: &[
            little!(
                known!("SS-rta is above SS+PIBS-rta by a small gap"),
                SS,
                PIBS
            ),
            little!(
                any!("SS-rta is above SS+PIBS-rta by a small gap"),
                SS,
                PIBS_ANY
            ),
            runs_well!(
                "Sets that SS-rta accepts keep their deadlines.",
                SS,
                RUNS_SS
            ),
            runs_well!(
                "Sets that SS-rta accepts keep the deadlines of their main tasks under bursts of interrupts.",
                SS,
                BURSTS_SS
            ),
            runs_well!(
                known!("Sets that SS+PIBS-rta accepts keep their deadlines"),
                PIBS,
                RUNS_PIBS
            ),
            runs_well!(
                any!("Sets that SS+PIBS-rta accepts keep their deadlines"),
                PIBS_ANY,
                RUNS_ANY
            ),
        ],
    },
    Figure {
        name: "missimer/fig8",
        caption: "AMC (sporadic servers only) and IO-AMC (with PIBS), bounds and upper bounds, over utilization; CF 2, half of the tasks HI",
        text: experiment!("fig8"),
        overheads: None,
        x: UTILIZATION,
        readings: None,
        stand_ins: STAND_INS,
        claims: &[
            bounds!("The AMC UB is at or above AMC-rtb.", AMC_UB, AMC),
            bounds!(known!("The IO-AMC UB is at or above IO-AMC-rtb"), IO_UB, IO),
            bounds!(
                any!("The IO-AMC UB is at or above IO-AMC-rtb"),
                IO_UB_ANY,
                IO_ANY
            ),
            bounds!(known!("The AMC UB is at or above IO-AMC-rtb"), AMC_UB, IO),
            bounds!(any!("The AMC UB is at or above IO-AMC-rtb"), AMC_UB, IO_ANY),
            bounds!(known!("The IO-AMC UB is at or above AMC-rtb"), IO_UB, AMC),
            bounds!(any!("The IO-AMC UB is at or above AMC-rtb"), IO_UB_ANY, AMC),
            above!(known!("The AMC UB is above the IO-AMC UB"), AMC_UB, IO_UB),
            above!(any!("The AMC UB is above the IO-AMC UB"), AMC_UB, IO_UB_ANY),
            little!(known!("AMC-rtb is slightly above IO-AMC-rtb"), AMC, IO),
            little!(any!("AMC-rtb is slightly above IO-AMC-rtb"), AMC, IO_ANY),
            runs_well!(
                "Sets that AMC-rtb accepts keep their deadlines.",
                AMC,
                HI_SS
            ),
            runs_well!(
                "Sets that AMC-rtb accepts keep the deadlines of their main tasks under bursts of interrupts.",
                AMC,
                HI_BURSTS_SS
            ),
            runs_well!(
                known!("Sets that IO-AMC-rtb accepts keep their deadlines"),
                IO,
                HI_PIBS
            ),
            runs_well!(
                any!("Sets that IO-AMC-rtb accepts keep their deadlines"),
                IO_ANY,
                HI_ANY
            ),
        ],
    },
    weighted!(
        "fig9",
        "the share of HI tasks",
        Axis {
            parameter: "share_high",
            label: "share of HI tasks",
        },
        known!("The order is that of figure 8 whatever the share of HI tasks"),
        any!("The order is that of figure 8 whatever the share of HI tasks")
    ),
    weighted!(
        "fig10",
        "the criticality factor",
        Axis {
            parameter: "criticality_factor",
            label: "criticality factor",
        },
        known!("The order is that of figure 8 whatever the criticality factor"),
        any!("The order is that of figure 8 whatever the criticality factor")
    ),
    weighted!(
        "fig11",
        "the number of tasks",
        Axis {
            parameter: "tasks",
            label: "main tasks (paper: all tasks, a third more; up to 100)",
        },
        known!("The order is that of figure 8 whatever the number of tasks up to 100"),
        any!("The order is that of figure 8 whatever the number of tasks up to 100")
    ),
];

/// Curves that the paper did not draw.
const STAND_INS: &[StandIn] = &[
    (RUNS_SS, TASKS_LO),
    (BURSTS_SS, RUN_LO),
    (RUNS_PIBS, RUN_LO),
    (RUNS_ANY, RUN_LO),
    (HI_SS, TASKS_HI),
    (HI_BURSTS_SS, RUN_HI),
    (HI_PIBS, RUN_HI),
    (HI_ANY, RUN_HI),
];

/// What is simulated, of jobs that need so much.
macro_rules! simulated {
    ($what:literal) => {
        concat!(
            "is not drawn in the paper, which speaks of an event simulator and does not say what that ran. Here it is a simulation of 0.2 s in \
             which ",
            $what,
            ". A set is accepted in which no guarantee is broken that a proof would give; whether there is one does not matter"
        )
    };
}

const TASKS_LO: &str = simulated!(
    "each server for I/O has a task that asks for its whole budget every period, and there are no interrupts"
);
const RUN_LO: &str = simulated!(
    "each device interrupts four times at once every period of whom its server serves, and asks for the whole budget"
);
const TASKS_HI: &str = simulated!(
    "every HI job needs C(HI), each server for I/O has a task that asks for its whole budget every period, and there are no interrupts"
);
const RUN_HI: &str = simulated!(
    "every HI job needs C(HI), and each device interrupts four times at once every period of whom its server serves, and asks for the whole \
     budget at LO"
);

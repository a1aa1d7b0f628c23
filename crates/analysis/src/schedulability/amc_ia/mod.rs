//! `amc-ia`: adaptive mixed criticality, the refined analysis of Huang, Gill and Lu. Refuted.
//!
//! Claimed for the policy `amc` under the assumptions of [`crate::schedulability::amc_rtb`] (Huang, Gill and Lu,
//! TECS 2014, section 3.1). It counts jobs by their deadlines: s_l is the last deadline of a job
//! before the mode becomes l, and jobs due by then are said to need no more than C(l - 1). With
//! s_0 = 0, for a window that reaches level L, for each more urgent task j
//!
//! n_j^l = max(floor((s_{l+1} - D_j) / T_j) + 1, 0), the jobs confined to level l, l < min(z_j, L);
//! N_j = ceil(t / T_j) if z_j >= L, else ceil(s_{z_j + 1} / T_j);
//! demand of j: sum over l < min(z_j, L) of (n_j^l - n_j^{l-1}) C_j(l)
//!              + (N_j - n_j^{min(z_j, L) - 1}) C_j(min(z_j, L));
//! R_i(L; s) = C_i(L) + sum over j of the demand, the least solution t;
//! R_i(L) = max over s of R_i(L; s) <= D_i for each L <= z_i.
//!
//! The instants: s_l in (s_{l-1}, R_i(l - 1; s)], and among these the deadlines of more urgent jobs
//! released together at 0; where there is none, s_l = s_{l-1}. Variant `full`: every s_l in the range.
//!
//! # What had to be corrected to compute it
//!
//! The own term is printed C_i(0); it has to be C_i(L). The sum over all more urgent tasks of
//! n_j C_j(0) counts the critical ones too, and their confined jobs have to be counted once. The
//! printed range, up to ceil(R_i(0) / T_j) T_j + D_j, gives 140 for the paper's own example, which
//! takes the deadlines up to R_i(0). n_j^l is printed with s_l, which for level 0 is always 0; it has
//! to be s_{l+1}. Equation 4 has R_k(m) where the window belongs.
//!
//! # Why it is unsound all the same
//!
//! n_j counts as if j were released together with i. A job of j released slightly later is due
//! after s and may need C_j(L): `tests/schedulability/amc_ia.rs` and the soundness campaign have the runs.
//! And with deadlines alone a mode change before the first one is not seen at all: tau_1 (level 0, C
//! 1, T = D = 4) above tau_2 (level 1, C 1/4, T = D = 4) has no deadline in (0, 2], the value is 4,
//! and the job takes 5. The kind is therefore unsafe; the safe analysis is [`super::amc_max`].
//!
//! A set that `amc-rtb` accepts is accepted: each s_l is at most R(l - 1), which is at most the value
//! of amc-rtb, and no job costs more. Priorities are the problem's own, or Audsley's, where
//! of each criticality only the task with the longest deadline is tried.
//!
//! Slow twin: `amc_ia::oracle::interference_response` tries all instants and windows.

mod interference;
#[cfg(feature = "oracle")]
pub mod oracle;

use crate::outcome::{Kind, Outcome};
use crate::problem::Problem;
use crate::schedulability::amc_ia::interference::Interference;
pub(crate) use crate::schedulability::amc_ia::interference::Range;
use crate::schedulability::instants;
use crate::scratch::Scratch;

/// The answer over these instants, with response times.
#[must_use]
pub(crate) fn analyse(problem: &Problem, range: Range) -> Outcome {
    instants::analyse(problem, Kind::Unsafe, || Interference::over(range))
}

/// Whether the condition holds.
#[must_use]
pub(crate) fn accepts(problem: &Problem, range: Range, scratch: &mut Scratch) -> bool {
    instants::accepts(problem, scratch, |search: &mut Interference| {
        search.range = range;
    })
}

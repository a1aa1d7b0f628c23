//! Rules L1 and L5 of recordings of MC² by hand where more than two have a part: a higher level goes first meanwhile, or the CPU is left to
//! threads beside the run.

use crate::levels::{A, B, C, CPU, TOLERANCE, broken, ran, released, stream};
use vestal_core::Fact;
use vestal_testkit::short::{at, job, span};
use vestal_trace::replay::levels::{Broken, Fault};
use vestal_trace::{Edge, Mechanism, Record, What};

/// B waits for C, then A has its slot, and B waits for C again: its wait went on.
#[test]
fn waits_for_lower_levels_add_up_where_a_higher_one_goes_first() {
    let twice = |second| {
        stream(
            &[
                &[released(94, B), released(94, C), released(100, A)],
                &ran(C, (94, 97), 3, false),
                &ran(A, (100, 120), 20, true),
                &ran(C, (120, 120 + second), second, false),
            ],
            124,
        )
    };
    assert_eq!(broken(&twice(2), TOLERANCE), []);
    let (waiting, all) = (job(B, 0), span(6));
    let delays = Broken {
        cpu: CPU,
        from: at(94),
        to: at(123),
        what: Fault::Delays { waiting, all },
    };
    assert_eq!(broken(&twice(3), TOLERANCE), [delays]);
}

/// A CPU is told to be closed although A and B do not want it: because it is left to threads beside the run, and that is recorded, or wrongly.
/// In the meantime a job of level C waits.
#[test]
fn a_cpu_is_closed_to_level_c_only_for_a_and_b_or_while_it_is_left_to_others() {
    let told = |now, open| {
        let open = Fact::CpuOpen { cpu: CPU, open };
        Record::fact(at(now), open)
    };
    let yields = |now, edge| Record {
        at: at(now),
        what: What::Overhead {
            cpu: CPU,
            mechanism: Mechanism::YIELD,
            edge,
        },
    };
    let facts: [&[Record]; 4] = [
        &[told(0, true), released(0, C)],
        &ran(C, (0, 40), 30, false),
        &[told(40, false), told(80, true)],
        &ran(C, (80, 90), 10, true),
    ];
    let all = facts.concat();
    let edges = [yields(40, Edge::Begin), yields(80, Edge::End)];
    assert_eq!(broken(&stream(&[&all, &edges], 90), TOLERANCE), []);
    let what = Fault::Told { open: false };
    let (cpu, from, to) = (CPU, at(40), at(80));
    let expected = Broken {
        cpu,
        from,
        to,
        what,
    };
    assert_eq!(broken(&stream(&[&all], 90), TOLERANCE), [expected]);
    // Whoever is left out meanwhile is no excuse for somebody else.
    let runs = ran(C, (50, 60), 10, false);
    let mut wrong = broken(&stream(&[&all, &edges, &runs], 90), TOLERANCE);
    wrong.retain(|broken| matches!(broken.what, Fault::OutOfTurn { .. }));
    assert_eq!(wrong.len(), 1, "it has a CPU that is left to others");
}

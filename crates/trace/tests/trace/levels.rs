//! Rules L1 to L6 of recordings of MC² by hand, as they are on a real machine: with a tolerance, gaps, and one domain for all.
//! Recordings of the simulator are in `crates/sim/tests/schedules/levels_traced.rs`.

use std::convert::Infallible;
use vestal_core::*;
use vestal_testkit::short::{at, job, ns, span, task};
use vestal_trace::replay::levels::{Broken, Fault, Found, check};
use vestal_trace::{Format, Record, Trace, What};

pub(crate) const CPU: CpuId = CpuId(0);
/// What is at most so long does not count.
pub(crate) const TOLERANCE: u64 = 5;

/// A with a slot of 30 in 100, B with 20 in 100, C with 50 in 200, and D.
pub(crate) const A: u16 = 0;
pub(crate) const B: u16 = 1;
pub(crate) const C: u16 = 2;
const D: u16 = 3;

/// What is wrong with these records.
pub(crate) fn broken(records: &[Record], tolerance: u64) -> Vec<Broken> {
    let entry = |container, level, period, own| LevelledTask {
        task: task(level, period, &[own]),
        container,
    };
    let tasks = [
        entry(Container::Table(CPU), 3, 100, 30),
        entry(Container::Local(CPU), 2, 100, 20),
        entry(Container::Global, 1, 200, 50),
        entry(Container::BestEffort, 0, 200, 10),
    ];
    let slots = [TableSlot {
        start: span(0),
        length: span(30),
        task: TaskId(A),
    }];
    let tables = [CpuTable {
        cycle: span(100),
        slots: &slots,
    }];
    let levels = LevelledConfiguration {
        tasks: &tasks,
        tables: &tables,
        backlog: 4,
        budgets: Budgets::Enforced,
        level_b: LevelB::EarliestDeadline,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let sure = records.iter().map(|record| Ok::<_, Infallible>(*record));
    let Ok(found) = check(sure, &levels, span(tolerance));
    assert_eq!(found.count, found.broken.len() as u64);
    assert_eq!(
        found.supply[0].total(),
        records.last().unwrap().at.saturating_since(at(0))
    );
    found.broken
}

pub(crate) fn released(now: u64, task: u16) -> Record {
    let job = job(task, now / 100);
    Record::fact(at(now), Fact::Released { job })
}

/// A job runs from then to then, and is charged so much; it is complete if `done`.
pub(crate) fn ran(task: u16, (from, to): (u64, u64), amount: u64, done: bool) -> Vec<Record> {
    let (cpu, job) = (CPU, job(task, from / 100));
    let why = StopReason::Preempted;
    let amount = ns(amount);
    vec![
        Record::fact(at(from), Fact::Started { cpu, job }),
        Record::fact(at(to), Fact::Charged { cpu, job, amount }),
        Record::fact(
            at(to),
            match done {
                true => Fact::Completed { cpu, job },
                false => Fact::Stopped { cpu, job, why },
            },
        ),
    ]
}

fn end(now: u64) -> Record {
    let what = What::End { facts: 0 };
    Record { at: at(now), what }
}

/// All of them, in the order of time.
pub(crate) fn stream(parts: &[&[Record]], until: u64) -> Vec<Record> {
    let mut all = parts.concat();
    all.sort_by_key(|record| record.at);
    all.push(end(until));
    all
}

/// A runs from 0 on but for `late`, in which C does.
fn late_by(late: u64) -> Vec<Record> {
    stream(
        &[
            &[released(0, A), released(0, C)],
            &ran(C, (0, late), late, false),
            &ran(A, (late, 20), 20 - late, true),
        ],
        20,
    )
}

#[test]
fn a_job_of_level_a_that_waits_for_one_of_level_c_is_found_beyond_the_tolerance() {
    let [running, waiting] = [job(C, 0), job(A, 0)];
    let delayed = Broken {
        cpu: CPU,
        from: at(0),
        to: at(6),
        what: Fault::Delayed { running, waiting },
    };
    assert_eq!(broken(&late_by(6), TOLERANCE), [delayed]);
    assert_eq!(broken(&late_by(5), TOLERANCE), []);
    // What the machine took does not count, whenever it is told.
    let mut records = late_by(6);
    let gap = What::Gap {
        cpu: CPU,
        length: span(2),
    };
    records.insert(
        records.len() - 1,
        Record {
            at: at(5),
            what: gap,
        },
    );
    assert_eq!(broken(&records, TOLERANCE), []);
    let other = What::Gap {
        cpu: CpuId(1),
        length: span(2),
    };
    let place = records.len() - 2;
    records[place].what = other;
    assert_eq!(broken(&records, TOLERANCE), [delayed]);
}

/// A waits while C runs for as long as may be, and nobody for a while, and so on: together that is too long, also in one slot after the other.
/// It waits anew when it has begun.
#[test]
fn short_waits_for_lower_levels_add_up_until_the_job_begins() {
    let waits = |second: Vec<Record>| {
        let first = ran(C, (0, 5), 5, false);
        stream(&[&[released(0, A), released(0, C)], &first, &second], 29)
    };
    let together = |length| {
        let again = ran(C, (10, 10 + length), length, false);
        waits([again, ran(A, (20, 29), 9, true)].concat())
    };
    let (waiting, all) = (job(A, 0), span(6));
    let delays = Broken {
        cpu: CPU,
        from: at(0),
        to: at(11),
        what: Fault::Delays { waiting, all },
    };
    assert_eq!(broken(&together(1), TOLERANCE), [delays]);
    // Without the first it is as short as may be.
    let mut alone = together(5);
    alone.retain(|record| {
        !(1..=9).contains(&record.at.as_nanos()) && *record != start_of(0, job(C, 0))
    });
    assert_eq!(broken(&alone, TOLERANCE), []);
    // A runs in between.
    let between = [
        ran(A, (5, 8), 3, false),
        ran(C, (8, 13), 5, false),
        ran(A, (13, 29), 16, true),
    ];
    assert_eq!(broken(&waits(between.concat()), TOLERANCE), []);
    // It is said once, however often that goes on.
    let often = [
        ran(C, (10, 14), 4, false),
        ran(C, (16, 20), 4, false),
        ran(A, (21, 29), 8, true),
    ];
    let found = broken(&waits(often.concat()), TOLERANCE);
    let (all, to) = (span(9), at(14));
    let what = Fault::Delays { waiting, all };
    assert_eq!(found, [Broken { to, what, ..delays }]);
    // Its slot is over, which is C's time, and another one begins.
    let over = |second| {
        stream(
            &[
                &[released(0, A), released(0, C), released(100, A)],
                &ran(C, (26, 29), 3, false),
                &ran(C, (31, 39), 8, false),
                &ran(C, (100, 100 + second), second, false),
            ],
            105,
        )
    };
    assert_eq!(broken(&over(2), TOLERANCE), []);
    let (from, to, all) = (at(26), at(104), span(7));
    let what = Fault::Delays { waiting, all };
    let expected = Broken {
        cpu: CPU,
        from,
        to,
        what,
    };
    assert_eq!(broken(&over(4), TOLERANCE), [expected]);
}

/// A decision that comes late is no excuse: the slot begins when the table says so.
#[test]
fn a_late_decision_is_found() {
    let second = stream(
        &[
            &[released(0, A), released(0, C), released(100, A)],
            &ran(A, (0, 10), 10, true),
            &ran(C, (10, 112), 50, false),
            &ran(A, (112, 122), 10, true),
        ],
        122,
    );
    let found = broken(&second, TOLERANCE);
    let [running, waiting] = [job(C, 0), job(A, 1)];
    let expected = Fault::Delayed { running, waiting };
    assert!(
        found
            .iter()
            .any(|one| one.what == expected && one.from == at(100) && one.to == at(112)),
        "{found:?}"
    );
}

/// B is ready while its budget is the first; when it is used up lower levels go on.
#[test]
fn a_job_of_level_b_has_its_budget_before_lower_levels_and_no_more() {
    let parts = |used: u64, until: u64| {
        stream(
            &[
                &[released(0, A), released(0, B), released(0, D)],
                &ran(A, (0, 30), 30, true),
                &ran(B, (30, 30 + used), used, false),
                &ran(D, (30 + used, until), until - 30 - used, false),
            ],
            until,
        )
    };
    assert_eq!(broken(&parts(20, 80), TOLERANCE), []);
    // Stopped before its budget is used up.
    let [running, waiting] = [job(D, 0), job(B, 0)];
    let found = broken(&parts(12, 80), TOLERANCE);
    assert_eq!(found[0].what, Fault::Delayed { running, waiting });
    // And after it.
    let running = waiting;
    let found = broken(&parts(30, 80), TOLERANCE);
    // The account learns of what was charged when it was charged.
    assert!(found.is_empty(), "{found:?}");
    let mut records = parts(30, 80);
    let cpu = CPU;
    let early = |now, amount| {
        let (job, amount) = (running, ns(amount));
        Record::fact(at(now), Fact::Charged { cpu, job, amount })
    };
    let charge = records
        .iter()
        .position(|record| *record == early(60, 30))
        .unwrap();
    records[charge] = early(60, 10);
    let place = records
        .iter()
        .position(|record| record.at > at(50))
        .unwrap();
    records.insert(place, early(50, 20));
    let found = broken(&records, TOLERANCE);
    assert_eq!(found[0].what, Fault::OutOfTurn { running });
    assert_eq!((found[0].from, found[0].to), (at(50), at(60)));
}

#[test]
fn a_ghost_leaves_the_cpu_to_lower_levels() {
    // A is done at 10 and B at 15: from there on C runs beneath both ghosts, and D when it is done.
    let records = stream(
        &[
            &[
                released(0, A),
                released(0, B),
                released(0, C),
                released(0, D),
            ],
            &ran(A, (0, 10), 10, true),
            &ran(B, (10, 15), 5, true),
            &ran(C, (15, 40), 25, true),
            &ran(D, (40, 90), 50, false),
        ],
        90,
    );
    assert_eq!(broken(&records, TOLERANCE), []);
    let mut turned = records.clone();
    for record in &mut turned {
        let other = |task: TaskId| match task.0 {
            C => TaskId(D),
            D => TaskId(C),
            same => TaskId(same),
        };
        *record = record.renumbered(other, |cpu| cpu);
    }
    // D first is wrong, until C has its turn.
    let [running, waiting] = [job(D, 0), job(C, 0)];
    let found = broken(&turned, TOLERANCE);
    assert_eq!(found[0].what, Fault::Delayed { running, waiting });
    assert_eq!((found[0].from, found[0].to), (at(15), at(40)));
}

#[test]
fn charges_are_within_what_a_job_ran_and_of_one_that_runs() {
    let with = |amount| stream(&[&[released(0, A)], &ran(A, (0, 10), amount, true)], 20);
    // A machine may take time from a job, and a clock may be read a moment late.
    assert_eq!(broken(&with(3), TOLERANCE), []);
    assert_eq!(broken(&with(15), TOLERANCE), []);
    let (job, charged) = (job(A, 0), ns(16));
    let found = broken(&with(16), TOLERANCE);
    assert_eq!(found[0].what, Fault::Charges { job, charged });
    // In exact time it is what it ran.
    for amount in [9, 11] {
        let found = broken(&with(amount), 0);
        assert!(matches!(found[0].what, Fault::Charges { .. }), "{found:?}");
    }
    assert_eq!(broken(&with(10), 0), []);
    let mut without = with(10);
    without.retain(|record| !matches!(record.what, What::Fact(Fact::Started { .. })));
    let found = broken(&without, TOLERANCE);
    assert_eq!(found[0].what, Fault::NotRunning { job });
}

#[test]
fn two_jobs_on_a_cpu_are_found_beyond_the_tolerance() {
    let both = |until| {
        stream(
            &[
                &[released(0, A), released(0, B)],
                &ran(A, (0, until), until, true),
                &ran(B, (10, 25), 5, true),
            ],
            60,
        )
    };
    assert_eq!(broken(&both(15), TOLERANCE), []);
    let found = broken(&both(16), TOLERANCE);
    let [first, second] = [job(A, 0), job(B, 0)];
    let is_both = |one: &Broken| one.what == Fault::TwoJobs { first, second };
    assert!(found.iter().any(is_both), "{found:?}");
}

/// Four jobs of a task may wait behind its present one. Of B, as a budget comes with each, and of D, which has none.
#[test]
fn a_job_is_dropped_only_for_want_of_room() {
    let dropped = |task, number| {
        let why = DropReason::BacklogFull;
        let what = What::Notice(Event::Dropped {
            job: job(task, number),
            why,
        });
        let at = at(100 * number);
        [Record { at, what }]
    };
    let releases = |task| (0..6).map(move |number| released(100 * number, task));
    for task in [B, D] {
        // Nobody runs: no level is held against another one.
        let all: Vec<Record> = releases(task).collect();
        let full = stream(&[&all, &dropped(task, 5)], 510);
        assert_eq!(broken(&full, TOLERANCE), [], "task {task}");
        let four: Vec<Record> = releases(task).take(4).collect();
        let early = stream(&[&four, &dropped(task, 3)], 310);
        let what = Fault::Dropped { job: job(task, 3) };
        let (cpu, from, to) = (CPU, at(300), at(300));
        let expected = Broken {
            cpu,
            from,
            to,
            what,
        };
        assert_eq!(broken(&early, TOLERANCE), [expected], "task {task}");
        // The world says that, whose scheduler is to know of every release.
        let why = DropReason::BacklogFull;
        let (at, job) = (at(510), job(task, 5));
        let what = What::Dropped { job, why };
        let by_world = [Record { at, what }];
        let (from, to, what) = (at, at, Fault::Dropped { job });
        let expected = Broken {
            cpu,
            from,
            to,
            what,
        };
        let alone = stream(&[&all, &by_world], 520);
        assert_eq!(broken(&alone, TOLERANCE), [expected], "task {task}");
        // Of what the scheduler dropped a worker says that it has found it.
        let found = stream(&[&all, &dropped(task, 5), &by_world], 520);
        assert_eq!(broken(&found, TOLERANCE), [], "task {task}");
    }
}

/// What is left of B's budget of 20 is said at each of its charges of 4: less by so much than it should be, each time.
#[test]
fn budgets_that_are_a_little_wrong_at_each_decision_add_up() {
    let (cpu, job) = (CPU, job(B, 0));
    let said = |wrong: &[u64]| {
        let mut records = vec![released(0, B), start_of(30, job)];
        let mut left = 20;
        for (turn, wrong) in (1..).zip(wrong) {
            let (at, amount) = (at(30 + 4 * turn), ns(4));
            records.push(Record::fact(at, Fact::Charged { cpu, job, amount }));
            left = left - 4 - wrong;
            let budget = Budget {
                remaining: ns(left),
                owner: BudgetOwner::Task(TaskId(B)),
                on_exhaustion: OnExhaustion::Suspend,
            };
            let budget = Some(budget);
            let slot = Some(Slot { job, budget });
            let what = What::Slot { cpu, slot };
            records.push(Record { at, what });
        }
        let last = records.last().unwrap().at;
        records.push(Record::fact(last, Fact::Completed { cpu, job }));
        records.push(end(last.as_nanos()));
        broken(&records, TOLERANCE)
    };
    assert_eq!(said(&[0, 0, 0, 0]), []);
    assert_eq!(said(&[3, 0, 2]), []);
    let found = said(&[3, 0, 3]);
    let (task, left, given) = (TaskId(B), ns(5), ns(2));
    let what = Fault::Budget { task, left, given };
    let (from, to) = (at(42), at(42));
    assert_eq!(
        found,
        [Broken {
            cpu,
            from,
            to,
            what
        }]
    );
}

fn start_of(now: u64, job: JobId) -> Record {
    Record::fact(at(now), Fact::Started { cpu: CPU, job })
}

/// A fact that the scheduler refused did not happen.
#[test]
fn what_was_refused_does_not_count() {
    let mut records = late_by(0);
    let (cpu, job) = (CPU, job(D, 0));
    let refusal = vestal_trace::Refusal::of(&ContractViolation::UnknownJob(job));
    let start = Record::fact(at(0), Fact::Started { cpu, job });
    let refused = Record {
        at: at(0),
        what: What::Refused(refusal),
    };
    records.splice(2..2, [start, refused]);
    assert_eq!(broken(&records, TOLERANCE), []);
    records.remove(3);
    assert!(!broken(&records, TOLERANCE).is_empty());
}

/// `vestal run examples/mc2-one-cpu.toml --policy mc2` for 400 ms, recorded beside other work: the machine took the CPU 16 times, and
/// two jobs were late by that.
const REAL: &str = include_str!("recordings/mc2-one-cpu.csv");

/// The levels of that run, with the slot of level A at another instant if it is to be.
fn of_the_run(records: &[Record], granularity: Service, slot: u64) -> Found {
    let entry = |container, level, period: u64, own: u64| LevelledTask {
        task: task(level, period * 1_000_000, &[own * 1_000_000]),
        container,
    };
    let tasks = [
        entry(Container::Table(CPU), 3, 10, 2),
        entry(Container::Local(CPU), 2, 20, 3),
        entry(Container::Global, 1, 20, 4),
        entry(Container::BestEffort, 0, 40, 8),
    ];
    let slots = [TableSlot {
        start: span(slot),
        length: span(2_000_000),
        task: TaskId(A),
    }];
    let tables = [CpuTable {
        cycle: span(10_000_000),
        slots: &slots,
    }];
    let levels = LevelledConfiguration {
        tasks: &tasks,
        tables: &tables,
        backlog: 64,
        budgets: Budgets::Enforced,
        level_b: LevelB::EarliestDeadline,
        granularity,
        wake_granularity: Duration::ZERO,
    };
    let sure = records.iter().map(|record| Ok::<_, Infallible>(*record));
    let Ok(found) = check(sure, &levels, Duration::from_micros(100));
    found
}

fn recorded() -> (Vec<Record>, Service) {
    let trace = Trace::open(Format::Csv, REAL.as_bytes()).unwrap().unwrap();
    let granularity = trace.header().granularity;
    (trace.map(Result::unwrap).collect(), granularity)
}

#[test]
fn a_recorded_real_run_keeps_the_rules() {
    let (records, granularity) = recorded();
    let found = of_the_run(&records, granularity, 0);
    assert_eq!(found.broken, []);
    // 40 jobs of A, 20 of B, 20 of C and 10 of D, of which some were preempted; every millisecond is somebody's.
    assert_eq!((found.spans, found.budgets), (101, 119));
    let supply = found.supply[0];
    let millis = |span: Duration| span.as_nanos() / 1_000_000;
    assert_eq!(supply.ran.map(millis), [80, 40, 20, 27]);
    assert_eq!(supply.ghosts.map(millis), [55, 39]);
    assert_eq!(millis(found.ghosts), 39);
    // Neither is it because nothing would be found: with other slots, or budgets, it is.
    let other = of_the_run(&records, granularity, 5_000_000);
    assert!(other.broken.len() > 20, "{}", other.count);
}

/// What is changed by a millisecond is ten times the tolerance.
#[test]
fn changes_of_a_recorded_real_run_are_found() {
    let (records, granularity) = recorded();
    let found = |changed: &[Record]| of_the_run(changed, granularity, 0).count > 0;
    let (mut tried, mut seen) = ([0; 4], [0; 4]);
    let mut count = |kind: usize, changed: &[Record]| {
        tried[kind] += 1;
        seen[kind] += u32::from(found(changed));
    };
    for (place, record) in records.iter().enumerate() {
        let moved = |nanos: i64| {
            let mut changed = records.clone();
            let now = record.at.as_nanos().saturating_add_signed(nanos);
            changed[place].at = at(now);
            changed
        };
        match record.what {
            What::Fact(Fact::Stopped { .. }) => {
                count(0, &moved(1_000_000));
                count(1, &moved(-1_000_000));
            }
            What::Fact(Fact::Charged { amount, .. }) if amount > ns(200_000) => {
                let mut changed = records.clone();
                changed.insert(place, *record);
                count(2, &changed);
            }
            What::Fact(Fact::Started { job, .. }) => {
                let mut changed = records.clone();
                let cpu = CpuId(1);
                changed.insert(
                    place + 1,
                    Record::fact(record.at, Fact::Started { cpu, job }),
                );
                count(3, &changed);
            }
            _ => {}
        }
    }
    println!("{seen:?} of {tried:?}");
    assert_eq!(tried[3], seen[3]);
    assert!(
        tried
            .iter()
            .zip(seen)
            .all(|(tried, seen)| *tried > 10 && seen * 10 >= tried * 9),
        "{seen:?} of {tried:?}"
    );
}

use super::*;
use vestal_core::{Budget, DropReason, Level, Slot};

const CPU: CpuId = CpuId(0);
const CONTROL: TaskId = TaskId(0);
const HALF: TaskId = TaskId(2);
const SERVER: ServerId = ServerId(0);
/// That of the bottom half.
const OWN: ServerId = ServerId(4);

const fn job(task: TaskId, sequence: u64) -> JobId {
    JobId { task, sequence }
}

fn fact(at: u64, fact: Fact) -> Record {
    let at = Instant::from_nanos(at * 1_000);
    let what = What::Fact(fact);
    Record { at, what }
}

fn released(at: u64, sequence: u64) -> Record {
    let job = job(CONTROL, sequence);
    fact(at, Fact::Released { job })
}

fn started(at: u64, job: JobId) -> Record {
    fact(at, Fact::Started { cpu: CPU, job })
}

fn stopped(at: u64, job: JobId, why: StopReason) -> Record {
    let cpu = CPU;
    fact(at, Fact::Stopped { cpu, job, why })
}

fn completed(at: u64, job: JobId) -> Record {
    fact(at, Fact::Completed { cpu: CPU, job })
}

fn woken(at: u64) -> Record {
    let (task, on_behalf_of) = (CONTROL, None);
    fact(at, Fact::Woken { task, on_behalf_of })
}

fn decided(at: u64) -> Record {
    let what = What::Decided {
        mode: Level::LOWEST,
        slots: 1,
        facts: 0,
        hash: 0,
    };
    let at = Instant::from_nanos(at * 1_000);
    Record { at, what }
}

/// The plan names the job of the task above, with so much left.
fn slot(at: u64, micros: u64, on_exhaustion: OnExhaustion) -> Record {
    let budget = Budget {
        remaining: Service::from_micros(micros),
        owner: BudgetOwner::Server(SERVER),
        on_exhaustion,
    };
    let slot = Some(Slot {
        job: job(CONTROL, 0),
        budget: Some(budget),
    });
    let what = What::Slot { cpu: CPU, slot };
    let at = Instant::from_nanos(at * 1_000);
    Record { at, what }
}

fn charged(at: u64, micros: u64) -> Record {
    let charged = Fact::Charged {
        cpu: CPU,
        job: job(CONTROL, 0),
        amount: Service::from_micros(micros),
    };
    fact(at, charged)
}

fn gap(at: u64, micros: u64) -> Record {
    let what = What::Gap {
        cpu: CPU,
        length: Duration::from_micros(micros),
    };
    let at = Instant::from_nanos(at * 1_000);
    Record { at, what }
}

/// The task above, of a server that is more urgent than whoever the bottom half runs for, and of which nobody knows when it
/// gets back what it used.
const ABOVE: Above = Above {
    task: CONTROL,
    server: SERVER,
    priority: 9,
    capacity: Service::ZERO,
    period: Duration::from_millis(1),
    replenishments: 4,
};

/// From and to of the first one, in microseconds, with a tolerance of 100; whether it is the only one.
fn found(records: &[Record]) -> Option<(u64, u64)> {
    found_below(ABOVE, &[], records)
}

fn found_below(above: Above, lends: &[Option<u32>], records: &[Record]) -> Option<(u64, u64)> {
    let below = Below {
        half: HALF,
        device: DeviceId(0),
        server: OWN,
        shares: false,
        priority: 8,
        lends,
        above: &[above],
        granularity: Service::from_micros(5),
        tolerance: Duration::from_micros(100),
    };
    let all = || records.iter().map(|record| Ok::<_, ()>(*record));
    let first = first_inversion(all(), below).unwrap();
    let count = count_inversions(all(), below).unwrap();
    assert_eq!(count > 0, first.is_some());
    first.map(|first| {
        assert_eq!((first.running.task, first.waiting.task), (HALF, CONTROL));
        (first.from.as_nanos() / 1_000, first.to.as_nanos() / 1_000)
    })
}

const HALF_0: JobId = job(HALF, 0);
const CONTROL_0: JobId = job(CONTROL, 0);

#[test]
fn a_bottom_half_that_goes_on_for_longer_than_the_tolerance_is_found() {
    let preempted = |at| stopped(at, HALF_0, StopReason::Preempted);
    for (until, expected) in [(400, None), (401, Some((300, 401)))] {
        let records = [
            started(0, HALF_0),
            released(300, 0),
            decided(until),
            preempted(until),
            started(until, CONTROL_0),
            completed(600, CONTROL_0),
        ];
        assert_eq!(found(&records), expected);
    }
    // One that starts while it is ready counts from there.
    let records = [released(0, 0), started(300, HALF_0), preempted(500)];
    assert_eq!(found(&records), Some((300, 500)));
    // Another job than a bottom half may do so.
    let other = job(TaskId(1), 0);
    let records = [
        started(0, other),
        released(300, 0),
        stopped(900, other, StopReason::Preempted),
    ];
    assert_eq!(found(&records), None);
}

#[test]
fn what_is_told_in_another_order_than_it_happened_is_found_up_to_the_next_decision() {
    let records = [started(0, HALF_0), completed(900, HALF_0), released(300, 0)];
    assert_eq!(found(&records), Some((300, 900)));
    let records = [
        started(0, HALF_0),
        completed(900, HALF_0),
        decided(900),
        released(300, 0),
    ];
    assert_eq!(found(&records), None);
}

#[test]
fn a_job_is_ready_from_a_wake_up_a_preemption_and_the_end_of_the_job_before_it() {
    let begun = [released(0, 0), started(0, CONTROL_0)];
    let half = [
        started(10, HALF_0),
        stopped(500, HALF_0, StopReason::Preempted),
    ];
    let with = |between: &[Record]| {
        let all = [&begun[..], between, &half[..]].concat();
        found(&all)
    };
    let blocked = stopped(5, CONTROL_0, StopReason::Blocked);
    assert_eq!(with(&[blocked]), None, "it waits");
    assert_eq!(with(&[blocked, woken(6)]), Some((10, 500)));
    assert_eq!(with(&[woken(6), blocked]), None, "it did not wait then");
    let preempted = stopped(5, CONTROL_0, StopReason::Preempted);
    assert_eq!(with(&[preempted]), Some((10, 500)));
    let ended = completed(5, CONTROL_0);
    assert_eq!(with(&[ended]), None);
    assert_eq!(with(&[released(2, 1), ended]), Some((10, 500)));
    let dropped = Record {
        at: Instant::from_nanos(7_000),
        what: What::Notice(Event::Dropped {
            job: job(CONTROL, 1),
            why: DropReason::Mode,
        }),
    };
    assert_eq!(with(&[released(2, 1), ended, dropped]), None);
}

#[test]
fn a_job_whose_server_has_used_up_its_budget_is_not_ready_until_a_plan_gives_it_one() {
    let suspend = OnExhaustion::Suspend;
    let begun = |slot, micros| {
        [
            released(0, 0),
            decided(0),
            slot,
            started(0, CONTROL_0),
            charged(200, micros),
            stopped(200, CONTROL_0, StopReason::Preempted),
            decided(200),
        ]
    };
    let half = [
        started(200, HALF_0),
        stopped(600, HALF_0, StopReason::Preempted),
    ];
    let all = |begun: &[Record]| found(&[begun, &half[..]].concat());
    assert_eq!(all(&begun(slot(0, 200, suspend), 194)), Some((200, 600)));
    assert_eq!(all(&begun(slot(0, 200, suspend), 195)), None);
    // What raises the mode is no end of it.
    let raises = OnExhaustion::RaiseMode(Level(1));
    let mut rises = begun(slot(0, 200, raises), 200);
    rises[6] = raised(200);
    assert_eq!(all(&rises), Some((200, 600)));
    // From there on it counts again.
    let given = [slot(300, 50, suspend)];
    let begun = begun(slot(0, 200, suspend), 200);
    let records = [&begun[..], &half[..1], &given, &half[1..]];
    assert_eq!(found(&records.concat()), Some((300, 600)));
}

#[test]
fn what_the_machine_took_is_no_inversion_wherever_its_record_stands() {
    let records = [
        started(0, HALF_0),
        released(300, 0),
        stopped(600, HALF_0, StopReason::Preempted),
        decided(600),
    ];
    let with = |gap| found(&[&records[..], &[gap]].concat());
    assert_eq!(with(gap(500, 199)), Some((300, 600)));
    assert_eq!(with(gap(500, 200)), None);
    // What of it lies outside plays no part.
    assert_eq!(with(gap(350, 300)), Some((300, 600)));
}

/// It has used from 0 to 2 ms what it had, and has it back at 10; its next job is released at 20 ms, and no plan said anything of it until then.
#[test]
fn what_was_used_up_is_back_a_period_later_whether_a_plan_says_so_or_not() {
    let suspend = OnExhaustion::Suspend;
    let above = Above {
        capacity: Service::from_micros(1_000),
        period: Duration::from_millis(10),
        ..ABOVE
    };
    let with = |release: u64, until: u64| {
        let records = [
            released(0, 0),
            decided(0),
            slot(0, 1_000, suspend),
            started(0, CONTROL_0),
            charged(2_000, 1_000),
            completed(2_000, CONTROL_0),
            decided(2_000),
            started(2_000, HALF_0),
            released(release, 1),
            decided(until),
            slot(until, 1_000, suspend),
            stopped(until, HALF_0, StopReason::Preempted),
            started(until, job(CONTROL, 1)),
        ];
        found_below(above, &[], &records)
    };
    assert_eq!(with(20_000, 25_000), Some((20_000, 25_000)));
    assert_eq!(with(20_000, 20_100), None);
    // Released before, it is ready when its budget is back.
    assert_eq!(with(5_000, 10_100), None);
    assert_eq!(with(5_000, 10_101), Some((10_000, 10_101)));
    // Late by less than it executes, in the next period.
    assert_eq!(with(10_000, 11_900), Some((10_000, 11_900)));
}

/// Of 1000 us it uses 600 and 300, 4 ms apart, each as the whole of a part: then there are 90 left beside what cannot be enforced. After 200 more
/// there is nothing until the first of them is back.
#[test]
fn what_is_left_of_a_budget_in_parts_counts_where_a_part_is_used_up() {
    let suspend = OnExhaustion::Suspend;
    let above = |replenishments| Above {
        capacity: Service::from_micros(1_000),
        period: Duration::from_millis(10),
        replenishments,
        ..ABOVE
    };
    let runs = |at: u64, number: u64, micros: u64| {
        let own = job(CONTROL, number);
        [
            released(at, number),
            decided(at),
            slot(at, micros, suspend),
            started(at, own),
            charged(at + micros, micros),
            completed(at + micros, own),
            decided(at + micros),
        ]
    };
    let late = |at: u64| {
        [
            started(at - 1_000, HALF_0),
            released(at, 9),
            stopped(at + 2_000, HALF_0, StopReason::Preempted),
        ]
    };
    let (first, second, third) = (runs(0, 0, 600), runs(4_000, 1, 300), runs(6_000, 2, 80));
    let two = [&first[..], &second, &late(8_000)].concat();
    assert_eq!(found_below(above(4), &[], &two), Some((8_000, 10_000)));
    // A full list may have put all of it off until the last comes back: at 14.
    assert_eq!(found_below(above(2), &[], &two), None);
    // What is charged in three parts, with plans between them that say the same, is one part of the budget.
    let mut parts = first.to_vec();
    parts[4] = charged(200, 200);
    let rounds = [(400, 400), (600, 200)].map(|(at, left)| {
        let plan = slot(at - 200, left, suspend);
        [decided(at - 200), plan, charged(at, 200)]
    });
    parts.splice(5..5, rounds.concat());
    let in_parts = [&parts[..], &second, &late(8_000)].concat();
    assert_eq!(found_below(above(3), &[], &in_parts), Some((8_000, 10_000)));
    let three = [&first[..], &second, &third, &late(8_000)].concat();
    assert_eq!(found_below(above(4), &[], &three), None, "nothing is left");
    let three = [&first[..], &second, &third, &late(10_000)].concat();
    assert_eq!(
        found_below(above(4), &[], &three),
        Some((10_000, 12_000)),
        "the first is back"
    );
}

fn asked(at: u64) -> Record {
    let (device, count) = (DeviceId(0), 1);
    fact(at, Fact::Interrupt { device, count })
}

fn asked_for(at: u64, server: u16) -> Record {
    let (task, on_behalf_of) = (HALF, Some(ServerId(server)));
    fact(at, Fact::Woken { task, on_behalf_of })
}

/// Server 1 is below that of the task above, server 2 above it, on behalf of server 3 it does not run. Who is named where nobody is known better is as
/// urgent as server 2.
#[test]
fn a_bottom_half_is_as_urgent_as_whom_it_was_asked_for() {
    let lends = [None, Some(7), Some(10), None];
    let with = |asked: &[Record], raised: bool| {
        let mode = if raised { Level(1) } else { Level::LOWEST };
        let mut decision = decided(0);
        if let What::Decided { mode: of, .. } = &mut decision.what {
            *of = mode;
        }
        let half = [
            decision,
            started(0, HALF_0),
            released(300, 0),
            stopped(900, HALF_0, StopReason::Preempted),
        ];
        let below = Below {
            half: HALF,
            device: DeviceId(0),
            server: OWN,
            shares: false,
            priority: 10,
            lends: &lends,
            above: &[ABOVE],
            granularity: Service::from_micros(5),
            tolerance: Duration::from_micros(100),
        };
        let all = [asked, &half[..]].concat();
        let all = all.into_iter().map(Ok::<_, ()>);
        first_inversion(all, below).unwrap().is_some()
    };
    assert!(!with(&[asked(0)], false), "nobody was named");
    assert!(with(&[asked(0), asked_for(0, 1)], false));
    let both = [asked(0), asked_for(0, 1), asked_for(0, 2)];
    assert!(!with(&both, false), "the more urgent counts");
    assert!(!with(&[asked(0), asked_for(0, 3)], false));
    assert!(!with(&[asked(0), asked_for(0, 1)], true), "a raised mode");
    let later = [asked(0), decided(0), asked_for(0, 1)];
    assert!(!with(&later, false), "it may have begun for another");
    let again = [
        asked(0),
        decided(0),
        started(0, HALF_0),
        completed(0, HALF_0),
        decided(0),
        asked(0),
        asked_for(0, 1),
    ];
    assert!(with(&again, false), "what was asked for is done");
    // A server without inheritance is as urgent as it is.
    let named = [started(0, HALF_0), released(300, 0), asked_for(400, 1)];
    let stop = [stopped(900, HALF_0, StopReason::Preempted)];
    let all = [&named[..], &stop].concat();
    assert_eq!(found_below(ABOVE, &[], &all), Some((300, 900)));
    let urgent = Above {
        priority: 8,
        ..ABOVE
    };
    assert_eq!(found_below(urgent, &[], &all), None);
}

fn raised(at: u64) -> Record {
    let Record { at, what } = decided(at);
    let What::Decided {
        slots, facts, hash, ..
    } = what
    else {
        unreachable!("it is one")
    };
    let mode = Level(1);
    let what = What::Decided {
        mode,
        slots,
        facts,
        hash,
    };
    Record { at, what }
}

/// The plan names the bottom half, with so much of a burst left.
fn burst(at: u64, micros: u64) -> Record {
    let budget = Budget {
        remaining: Service::from_micros(micros),
        owner: BudgetOwner::Server(OWN),
        on_exhaustion: OnExhaustion::Suspend,
    };
    let slot = Some(Slot {
        job: HALF_0,
        budget: Some(budget),
    });
    let what = What::Slot { cpu: CPU, slot };
    let at = Instant::from_nanos(at * 1_000);
    Record { at, what }
}

/// Of a PIBS that is as urgent as 7 on behalf of server 1, and as 10 on behalf of server 2; the task above has 9.
const LENDS: [Option<u32>; 3] = [None, Some(7), Some(10)];

fn burst_charged(at: u64, micros: u64) -> Record {
    let charged = Fact::Charged {
        cpu: CPU,
        job: HALF_0,
        amount: Service::from_micros(micros),
    };
    fact(at, charged)
}

/// In a burst for server 1 another one begins to wait for the same device, and the task above is released: the burst stays what it is.
#[test]
fn who_is_named_while_a_burst_is_under_way_does_not_make_it_more_urgent() {
    let begun = [
        asked(0),
        asked_for(0, 1),
        decided(0),
        burst(0, 900),
        started(0, HALF_0),
        burst_charged(200, 200),
        stopped(200, HALF_0, StopReason::Preempted),
        asked_for(200, 2),
        decided(200),
        // The other one blocks, and the burst goes on.
        burst(250, 700),
        started(250, HALF_0),
    ];
    let released = [released(300, 0)];
    let late = [stopped(5_000, HALF_0, StopReason::Preempted)];
    let all = |parts: &[&[Record]]| found_below(ABOVE, &LENDS, &parts.concat());
    assert_eq!(all(&[&begun, &released, &late]), Some((300, 5_000)));
    // When that burst is used up the next one is on behalf of the other.
    let next = [
        burst_charged(900, 700),
        decided(900),
        decided(2_000),
        burst(2_000, 900),
    ];
    assert_eq!(
        all(&[&begun, &next, &[self::released(2_500, 0)], &late]),
        None
    );
    assert_eq!(all(&[&begun, &released, &next, &late]), Some((300, 900)));
    // Nor if the manager comes late, and tells that it is used up before who was named meanwhile.
    let told = [burst_charged(5_000, 700), asked_for(400, 2), decided(5_000)];
    assert_eq!(all(&[&begun, &released, &told, &late]), Some((300, 5_000)));
    // Where several bottom halves share a PIBS, nobody knows whether the burst has ended.
    let below = Below {
        half: HALF,
        device: DeviceId(0),
        server: OWN,
        shares: true,
        priority: 8,
        lends: &LENDS,
        above: &[ABOVE],
        granularity: Service::from_micros(5),
        tolerance: Duration::from_micros(100),
    };
    let records = [&begun[..], &released, &late].concat();
    let records = records.into_iter().map(Ok::<_, ()>);
    assert_eq!(first_inversion(records, below), Ok(None));
}

/// The burst goes on with work that came before the last of it was done: for whom, does not matter.
#[test]
fn a_burst_that_goes_on_with_more_work_stays_as_urgent_as_it_was() {
    let records = |decision: &[Record]| {
        let begun = [
            asked(0),
            asked_for(0, 2),
            decided(0),
            burst(0, 900),
            started(0, HALF_0),
            burst_charged(200, 200),
            completed(200, HALF_0),
        ];
        let next = job(HALF, 1);
        let more = [
            asked(200),
            asked_for(200, 1),
            decided(200),
            burst(200, 700),
            started(200, next),
            released(300, 0),
            stopped(5_000, next, StopReason::Preempted),
        ];
        found_below(ABOVE, &LENDS, &[&begun[..], decision, &more].concat())
    };
    assert_eq!(records(&[]), None);
    assert_eq!(records(&[decided(200)]), Some((300, 5_000)), "it had ended");
}

/// The manager comes at 5 ms, finds the PIBS used up, and raises the mode: what it executed before was not on behalf of another one.
#[test]
fn a_mode_that_rises_changes_nothing_of_what_was() {
    let of = |decision: Record| {
        let records = [
            asked(0),
            asked_for(0, 1),
            decided(0),
            burst(0, 900),
            started(0, HALF_0),
            released(300, 0),
            burst_charged(5_000, 900),
            decision,
            stopped(5_010, HALF_0, StopReason::Preempted),
        ];
        let above = Above {
            priority: 8,
            ..ABOVE
        };
        found_below(above, &LENDS, &records)
    };
    // In the raised mode it is as urgent as its configuration says, 8.
    assert_eq!(of(raised(5_000)), Some((300, 5_000)));
    assert_eq!(of(decided(5_000)), Some((300, 5_010)));
}

/// The budget ends where the mode would rise, and the job completes with less than can be enforced: the other task of that server waits until it is back.
#[test]
fn a_job_that_completes_with_nothing_left_to_enforce_leaves_its_server_none() {
    let above = Above {
        capacity: Service::from_micros(1_000),
        period: Duration::from_millis(10),
        ..ABOVE
    };
    let of = |charge: u64, decision: Record, until: u64| {
        let raises = OnExhaustion::RaiseMode(Level(1));
        let records = [
            released(0, 0),
            released(0, 1),
            decided(0),
            slot(0, 1_000, raises),
            started(0, CONTROL_0),
            charged(1_000, charge),
            completed(1_000, CONTROL_0),
            decision,
            started(1_000, HALF_0),
            stopped(until, HALF_0, StopReason::Preempted),
        ];
        found_below(above, &[], &records)
    };
    assert_eq!(of(996, decided(1_000), 5_000), None);
    assert_eq!(of(996, decided(1_000), 10_101), Some((10_000, 10_101)));
    // Six are enough to go on with; and a mode that rises may give more.
    assert_eq!(of(994, decided(1_000), 5_000), Some((1_000, 5_000)));
    assert_eq!(of(1_000, raised(1_000), 5_000), Some((1_000, 5_000)));
}

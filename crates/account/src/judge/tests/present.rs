//! Who had the CPU when, as far as threads of the run said so.

use super::*;

/// Of CPUs that have a frame table in common, by the threads of a paper: the scheduler takes the CPU from a job for a millisecond. That the
/// job executed in what was left after it would be more than there is.
#[test]
fn what_a_body_executed_was_since_its_beginning_whoever_took_the_cpu_meanwhile() {
    let mut judge = judge(Rules {
        common: true,
        ..ENFORCED
    });
    let interval = |thread, duty, [began, now]: [u64; 2]| {
        Note::Interval(Interval {
            thread,
            duty,
            began,
            now,
            cpu: (0, now - began),
            counted: None,
            alone: true,
            waits: duty == Duty::Frame,
        })
    };
    judge.take_all([
        begins(HI, 0),
        interval(Thread::Worker(HI), Duty::JobStart, [0, MS]),
        interval(Thread::Scheduler, Duty::Frame, [3 * MS, 4 * MS]),
        ends(HI, 0, 4 * MS, 6 * MS),
    ]);
    let told = judge.take_told().into_iter();
    let ran = told.filter_map(|told| match told {
        Told::Ran(ran) => Some([ran.began, ran.end, ran.nanos].map(|nanos| nanos / MS)),
        Told::Stolen(_) | Told::Exceeded { .. } | Told::Late(_) => None,
    });
    assert_eq!(ran.collect::<Vec<_>>(), [[0, 1, 1], [3, 4, 1], [1, 6, 4]]);
}

/// Who has read the clock on getting the CPU, and sleeps before its interval begins: the kernel says that nobody kept it.
#[test]
fn what_a_thread_sleeps_before_its_interval_begins_is_its_reaction_and_not_stolen() {
    let reaction = |waited| {
        let mut judge = judge(ENFORCED);
        judge.take_all(woken(5 * MS, 5 * MS, 11 * MS, waited, true));
        judge.take(Note::Interval(Interval {
            thread: Thread::Manager,
            duty: Duty::Manager,
            began: 11 * MS,
            now: 12 * MS,
            cpu: (0, MS),
            counted: None,
            alone: true,
            waits: true,
        }));
        let reactions = judge.reactions.of_duties(&[]);
        (reactions[0].longest.as_nanos() / MS, judge.gaps())
    };
    assert_eq!(reaction(0), (7, vec![]));
    assert_eq!(reaction(6 * MS), (1, vec![(11 * MS, 6 * MS)]));
    assert_eq!(reaction(4 * MS), (3, vec![(11 * MS, 4 * MS)]));
}

/// A hypervisor takes the CPU for 6 ms between the reading of the clock and the beginning of the interval: the kernel counts the wake-up and
/// nothing else. Who had no need to be woken, or of whom that is not known, may have slept.
#[test]
fn who_never_lost_the_cpu_before_its_interval_began_did_not_sleep() {
    let took = |closed: Option<u64>, nanos, times, steal_reported| {
        let mut judge = judge(Rules {
            steal_reported,
            ..ENFORCED
        });
        let interval = |began, now| {
            Note::Interval(Interval {
                thread: Thread::Manager,
                duty: Duty::Manager,
                began,
                now,
                cpu: (0, now - began),
                counted: None,
                alone: true,
                waits: true,
            })
        };
        judge.take_all(closed.map(|closed| interval(closed - 1, closed)));
        let [begin, mut opened] = woken(5 * MS, 5 * MS, 11 * MS, 0, true);
        if let Note::Opened { waited, .. } = &mut opened {
            *waited = Waited { nanos, times };
        }
        judge.take_all([begin, opened, interval(11 * MS, 12 * MS)]);
        let reactions = judge.reactions.of_duties(&[]);
        let by = |thief| judge.stolen.stolen_by(thief) / MS;
        let thieves = [Thief::Thread, Thief::Hypervisor, Thief::Unknown].map(by);
        let within = judge.stolen.within(0, 20 * MS).nanos / MS;
        (reactions[0].longest.as_nanos() / MS, thieves, within)
    };
    assert_eq!(took(Some(MS), 0, 1, true), (1, [0, 6, 0], 6));
    assert_eq!(took(Some(MS), 0, 1, false), (1, [0, 0, 6], 6));
    assert_eq!(took(None, 0, 0, true), (1, [0, 6, 0], 6));
    // Another thread had 4 ms of them.
    assert_eq!(took(Some(MS), 4 * MS, 1, true), (1, [4, 2, 0], 6));
    // It slept itself.
    assert_eq!(took(Some(MS), 0, 2, true), (7, [0; 3], 0));
    assert_eq!(took(Some(5 * MS), 0, 1, true), (7, [0; 3], 0));
    assert_eq!(took(None, 0, 1, true), (7, [0; 3], 0));
}

/// A checker looks each millisecond while a body lasts for 9 ms that does not look at the clock. A thief has the CPU for 4 ms, and the look that it
/// kept notes that; the job notes at its end that it was ready all that time.
#[test]
fn a_theft_that_a_late_thread_and_a_job_saw_counts_once() {
    let thread = Thread::Watchdog;
    for of_body in [false, true] {
        let mut judge = judge(Rules {
            common: true,
            ..ENFORCED
        });
        let looks = [(1, 1), (2, 6), (7, 7), (8, 8)].map(|(wanted, got)| (wanted * MS, got * MS));
        let interval = |thread, duty, [began, now]: [u64; 2], executed, counted| {
            Note::Interval(Interval {
                thread,
                duty,
                began,
                now,
                cpu: (0, executed),
                counted,
                alone: false,
                waits: thread == Thread::Watchdog,
            })
        };
        for (wanted, now) in looks {
            judge.take(Note::Begin {
                thread,
                wanted: Wanted::Since(wanted),
                now,
                burned: 0,
            });
            let nanos = now - wanted;
            judge.take(Note::Opened {
                thread,
                since: Some(wanted),
                now,
                began: now,
                waited: Waited { nanos, times: 1 },
                alone: false,
            });
            let look = [now, now + MS / 100];
            judge.take(interval(thread, Duty::Watchdog, look, MS / 100, None));
        }
        let late = judge.gaps();
        assert_eq!(late, [(6 * MS, 4 * MS)], "{of_body}");
        let waited = 4 * MS + MS / 25;
        judge.take(match of_body {
            true => Note::Away {
                since: Some(1),
                now: 9 * MS,
                waited,
            },
            false => {
                let nanos = waited;
                let counted = Some(Waited { nanos, times: 5 });
                let worker = Thread::Worker(HI);
                interval(worker, Duty::JobEnd, [1, 9 * MS], 9 * MS - waited, counted)
            }
        });
        assert!(
            judge.stolen.within(0, 9 * MS).nanos <= 4 * MS,
            "{of_body}: {:?}",
            judge.gaps()
        );
    }
}

/// A worker that has woken the next one sleeps, which is a fault, and is ready for the 6 ms that the body of that one lasts. Neither these are
/// stolen, nor what a thread has that has not left yet.
#[test]
fn what_the_body_of_another_job_takes_is_not_stolen_from_a_worker_that_should_have_waited() {
    let gaps = |has_ended: bool, dispatcher: Option<u64>| {
        let mut judge = judge(Rules {
            common: true,
            ..ENFORCED
        });
        let (own, other) = (Thread::Worker(LO), Thread::Worker(HI));
        let interval = |thread, duty, [began, now]: [u64; 2], executed, counted| {
            Note::Interval(Interval {
                thread,
                duty,
                began,
                now,
                cpu: (0, executed),
                counted,
                alone: false,
                waits: duty == Duty::JobEnd,
            })
        };
        judge.take(begins(HI, 0));
        judge.take(interval(other, Duty::JobStart, [12 * MS, 12 * MS], 0, None));
        if has_ended {
            judge.take(ends(HI, 0, 6 * MS, 18 * MS));
        }
        judge.take_all(dispatcher.map(|now| Note::Begin {
            thread: Thread::Dispatcher,
            wanted: Wanted::Since(now),
            now,
            burned: 0,
        }));
        let counted = Some(Waited {
            nanos: 7 * MS,
            times: 2,
        });
        judge.take(interval(own, Duty::JobEnd, [10 * MS, 20 * MS], MS, counted));
        judge.gaps()
    };
    let stolen = |nanos| vec![(20 * MS, nanos)];
    // Its beginning and its body.
    assert_eq!(gaps(true, None), stolen(MS - 2 * SWITCH_NANOS_MAX));
    assert_eq!(gaps(false, None), []);
    assert_eq!(gaps(true, Some(19 * MS)), []);
}

/// A worker is ready for 6 ms of 10 and has no CPU. Of these the watchdog, which lives there, has some before it says that it waits
/// again: those are the run's own, however slow it is.
#[test]
fn what_others_take_while_a_thread_of_the_run_comes_too_is_stolen_but_for_what_that_has() {
    let gaps = |common, watchdog: u64, of_body: bool| {
        let mut judge = judge(Rules { common, ..ENFORCED });
        let thread = Thread::Watchdog;
        let interval = |thread, duty, [began, now]: [u64; 2], executed, counted| {
            Note::Interval(Interval {
                thread,
                duty,
                began,
                now,
                cpu: (0, executed),
                counted,
                alone: false,
                waits: thread == Thread::Watchdog,
            })
        };
        let (from, to) = (14 * MS, 14 * MS + watchdog);
        judge.take_all([
            Note::Begin {
                thread,
                wanted: Wanted::Since(from),
                now: from,
                burned: 0,
            },
            interval(thread, Duty::Watchdog, [from, to], watchdog, None),
        ]);
        let (waited, times) = (6 * MS, 2);
        let counted = Some(Waited {
            nanos: waited,
            times,
        });
        judge.take(match of_body {
            true => Note::Away {
                since: Some(10 * MS),
                now: 20 * MS,
                waited,
            },
            false => {
                let worker = Thread::Worker(HI);
                interval(worker, Duty::JobEnd, [10 * MS, 20 * MS], 4 * MS, counted)
            }
        });
        judge.gaps()
    };
    for of_body in [false, true] {
        let stolen = |nanos| vec![(20 * MS, nanos - SWITCH_NANOS_MAX)];
        assert_eq!(gaps(true, MS, of_body), stolen(5 * MS), "{of_body}");
        assert_eq!(gaps(true, 3 * MS, of_body), stolen(3 * MS), "{of_body}");
        assert_eq!(gaps(true, 6 * MS, of_body), [], "{of_body}");
        // Where jobs preempt one another nobody says who was there.
        assert_eq!(gaps(false, MS, of_body), [], "{of_body}");
    }
}

/// A job burns until 1 ms. A more urgent one, whose body does not look at the clock, has the CPU from 5 ms until 11 ms; the dispatcher comes
/// and goes in between, and the run is stopped at 9 ms. The more urgent job is the last of its task: it is off, and its worker waits.
#[test]
fn a_body_that_went_on_beyond_the_end_of_a_run_was_no_thief_of_a_job_below_it() {
    let gaps = |leaves: bool| {
        let mut judge = judge(ENFORCED);
        let interval = |thread, duty, [began, now]: [u64; 2]| {
            Note::Interval(Interval {
                thread,
                duty,
                began,
                now,
                cpu: (0, now - began),
                counted: None,
                alone: false,
                waits: duty != Duty::JobStart,
            })
        };
        let begin = |thread, now| Note::Begin {
            thread,
            wanted: Wanted::Since(now),
            now,
            burned: 0,
        };
        judge.take_all([
            begin(Thread::Worker(HI), 5 * MS),
            begins(HI, 0),
            interval(Thread::Worker(HI), Duty::JobStart, [5 * MS, 5 * MS]),
            begin(Thread::Dispatcher, 6 * MS),
            interval(Thread::Dispatcher, Duty::Dispatcher, [6 * MS, 6 * MS]),
            ends(HI, 0, 6 * MS, 11 * MS),
        ]);
        let waits = interval(Thread::Worker(HI), Duty::JobEnd, [11 * MS, 11 * MS]);
        judge.take_all(leaves.then_some(waits));
        judge.take(Note::Resumed {
            looked: MS,
            now: 9 * MS,
            waited: 8 * MS,
        });
        judge.gaps()
    };
    assert_eq!(gaps(true), []);
    // What it was taken for where nothing said that it left.
    assert_eq!(gaps(false), [(9 * MS, 3 * MS)]);
}

/// A job burns until 1 ms; another thread has the CPU until 5 ms, and somebody else from there until the run is stopped at 9 ms.
#[test]
fn a_job_that_the_end_of_a_run_met_was_kept_since_the_last_thread_left() {
    let mut judge = judge(ENFORCED);
    judge.take(Note::Interval(Interval {
        thread: Thread::Worker(HI),
        duty: Duty::JobEnd,
        began: 2 * MS,
        now: 5 * MS,
        cpu: (0, 3 * MS),
        counted: None,
        alone: true,
        waits: true,
    }));
    judge.take(Note::Resumed {
        looked: MS,
        now: 9 * MS,
        waited: 8 * MS,
    });
    assert_eq!(judge.gaps(), [(9 * MS, 4 * MS)]);
    assert_eq!(judge.stolen.stolen_by(Thief::Thread), 4 * MS);
}

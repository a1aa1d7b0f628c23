use super::*;
use crate::judge::Rules;
use crate::note::{Cut, Ending, Interval, Note, Return, TaskNote, Thread, Waited};
use crate::reaction::Duty;
use vestal_core::{Service, Task, Wcet};

const MS: u64 = 1_000_000;
const FRAME: u64 = 40 * MS;
const EPOCH: u64 = 1_000 * MS;

/// Of each CPU.
const HI: usize = 0;
const LO: usize = 1;

fn facts(wcet: &[u64]) -> TaskFacts {
    let wcet: Vec<Service> = wcet.iter().copied().map(Service::from_millis).collect();
    let level = Level(u8::try_from(wcet.len()).unwrap() - 1);
    let span = Duration::from_nanos(FRAME);
    TaskFacts {
        model: Task::new(level, span, span, Wcet::new(&wcet).unwrap()).unwrap(),
        offset_nanos: 0,
    }
}

fn task(cpu: usize, number: usize) -> FrameTask {
    FrameTask {
        home: (cpu, number),
        facts: if number == HI {
            facts(&[6, 12])
        } else {
            facts(&[6])
        },
        places: vec![0],
    }
}

/// Each of two CPUs has a HI task of 6 and 12 ms and a LO task of 6 ms, in each frame of 40 ms. The LO sub-frame begins 8 ms
/// after the frame at the latest.
fn table() -> FrameFacts {
    FrameFacts {
        length: Duration::from_nanos(FRAME),
        allowances: vec![vec![Duration::from_millis(8), Duration::ZERO]],
        tasks: vec![task(0, HI), task(1, HI), task(0, LO), task(1, LO)],
        guarantee: true,
    }
}

/// Both CPUs, told by hand what their threads note, and judged together.
struct Set {
    cpus: Vec<Judge>,
    frames: FrameJudge,
}

impl Set {
    fn new(facts: FrameFacts) -> Self {
        let rules = Rules {
            tolerance_nanos: 50_000,
            guarantee: true,
            managed: true,
            common: true,
            ..Rules::default()
        };
        let cpus = (0..2).map(|cpu| {
            let own = facts.tasks.iter().filter(|task| task.home.0 == cpu);
            let mut judge = Judge::new(own.map(|task| task.facts), rules);
            judge.take(Note::Run { epoch: EPOCH });
            judge
        });
        Self {
            cpus: cpus.collect(),
            frames: FrameJudge::new(facts),
        }
    }

    /// All that CPUs have noted is heard, then a note about frames is taken.
    fn take(&mut self, note: FrameNote) {
        self.hear();
        self.frames.take(note);
    }

    fn hear(&mut self) {
        for (cpu, judge) in self.cpus.iter_mut().enumerate() {
            self.frames.hear(cpu, judge);
        }
    }

    fn begins(&mut self, frame: u64) {
        self.take(begun(frame, frame, frame * FRAME, false));
    }

    /// A job of the frame with this number that began with the frame ends at some instant, having executed so much.
    fn runs(&mut self, (cpu, task): (usize, usize), frame: u64, executed: u64, end: u64) {
        let (release, finished) = (EPOCH + frame * FRAME, EPOCH + end);
        let body = Return {
            sequence: frame,
            executed,
            now: finished,
            lost: false,
        };
        let completed = Ending {
            sequence: frame,
            release,
            finished,
            executed,
            at: finished,
            consumed: None,
        };
        let consumed = None;
        for note in [
            TaskNote::Begins { release, consumed },
            TaskNote::Ends(body),
            TaskNote::Completed(completed),
        ] {
            self.cpus[cpu].take(Note::Task(task, note));
        }
    }

    /// Others have the CPU for so long until some instant.
    fn stolen(&mut self, cpu: usize, until: u64, nanos: u64) {
        let now = EPOCH + until;
        self.cpus[cpu].take(Note::Away {
            since: None,
            now,
            waited: nanos,
        });
    }

    /// The LO jobs of a frame are dropped at some instant.
    fn drops(&mut self, frame: u64, at: u64) {
        for task in [2, 3] {
            self.take(dropped(task, frame, at));
        }
    }

    /// The end: how many jobs were dropped without a cause, and how many of those are not decided; the same of misses.
    fn end(mut self) -> ([u64; 2], [u64; 2]) {
        self.hear();
        self.frames.close();
        let mut missed = [0, 0];
        for (cpu, judge) in self.cpus.iter_mut().enumerate() {
            self.frames.answer(cpu, judge);
            for task in judge.clone().into_account(u64::MAX).tasks {
                missed[0] += task.jobs.missed_guaranteed;
                missed[1] += task.jobs.missed_undecided();
            }
        }
        let verdicts = self.frames.into_verdicts();
        ([verdicts.unprovoked, verdicts.undecided()], missed)
    }
}

fn begun(frame: u64, first: u64, at: u64, kept: bool) -> FrameNote {
    FrameNote::Began {
        frame,
        first,
        at,
        kept,
    }
}

fn dropped(task: u16, sequence: u64, at: u64) -> FrameNote {
    FrameNote::Dropped {
        task,
        sequence,
        why: DropReason::Mode,
        late: Level(0),
        at,
    }
}

fn superseded(task: u16, sequence: u64, at: u64) -> FrameNote {
    FrameNote::Dropped {
        task,
        sequence,
        why: DropReason::Superseded,
        late: Level(0),
        at,
    }
}

/// Nine milliseconds of a thread's own, at the beginning of a job or between two.
fn slow(duty: Duty, until: u64) -> Note {
    let (began, now) = (EPOCH + until - 9 * MS, EPOCH + until);
    Note::Interval(Interval {
        thread: Thread::Worker(0),
        duty,
        began,
        now,
        cpu: (0, 9 * MS),
        counted: Some(Waited { nanos: 0, times: 0 }),
        alone: true,
        waits: false,
    })
}

/// In frame 1 the HI jobs end at 3 and at 13 ms, and LO jobs are dropped on both CPUs, 5 ms too late.
fn late_on_cpu_1(why: impl Fn(&mut Set)) -> Set {
    let mut set = Set::new(table());
    set.begins(0);
    set.runs((0, HI), 0, 3 * MS, 3 * MS);
    set.runs((1, HI), 0, 3 * MS, 3 * MS);
    set.begins(1);
    set.runs((0, HI), 1, 3 * MS, FRAME + 3 * MS);
    why(&mut set);
    set.drops(1, FRAME + 13 * MS);
    set.begins(2);
    set.begins(3);
    set
}

#[test]
fn what_is_stolen_from_one_cpu_may_excuse_what_is_dropped_on_all() {
    let stolen = |nanos| {
        let set = late_on_cpu_1(|set| {
            set.stolen(1, FRAME + 12 * MS, nanos);
            set.runs((1, HI), 1, 3 * MS, FRAME + 13 * MS);
        });
        set.end()
    };
    assert_eq!(stolen(5 * MS), ([2, 2], [0, 0]));
    assert_eq!(
        stolen(5 * MS - 1),
        ([2, 0], [0, 0]),
        "it explains less than was lacking"
    );
}

#[test]
fn the_same_of_our_own_excuses_nothing() {
    for duty in [Duty::JobStart, Duty::Frame] {
        let set = late_on_cpu_1(|set| {
            set.cpus[1].take(slow(duty, FRAME + 10 * MS));
            set.runs((1, HI), 1, 3 * MS, FRAME + 13 * MS);
        });
        assert_eq!(set.end(), ([2, 0], [0, 0]), "{duty:?}");
    }
}

#[test]
fn what_was_stolen_from_two_cpus_at_once_or_in_another_frame_counts_once_or_not_at_all() {
    let at = |cpus: &[(usize, u64)]| {
        let set = late_on_cpu_1(|set| {
            for &(cpu, until) in cpus {
                set.stolen(cpu, until, 3 * MS);
            }
            set.runs((1, HI), 1, 3 * MS, FRAME + 13 * MS);
        });
        set.end().0
    };
    assert_eq!(at(&[(0, FRAME + 9 * MS), (1, FRAME + 9 * MS)]), [2, 0]);
    assert_eq!(at(&[(0, FRAME + 6 * MS), (1, FRAME + 9 * MS)]), [2, 2]);
    assert_eq!(at(&[(0, FRAME - MS), (1, FRAME + 9 * MS)]), [2, 0]);
    assert_eq!(at(&[(0, FRAME + 17 * MS), (1, FRAME + 9 * MS)]), [2, 0]);
}

/// C(LO) of a HI job is 6 ms, and 50 us are tolerated.
#[test]
fn a_job_that_needs_more_takes_the_guarantee_back_on_all_cpus_and_in_no_other_frame() {
    let executed = |nanos| {
        let set = late_on_cpu_1(|set| set.runs((1, HI), 1, nanos, FRAME + 13 * MS));
        set.end().0
    };
    assert_eq!(executed(6 * MS + 50_000), [2, 0]);
    assert_eq!(executed(6 * MS + 50_001), [0, 0]);
    let mut set = Set::new(table());
    set.begins(0);
    set.runs((1, HI), 0, 10 * MS, 10 * MS);
    set.drops(0, 10 * MS);
    set.begins(1);
    set.runs((1, HI), 1, 3 * MS, FRAME + 13 * MS);
    set.drops(1, FRAME + 13 * MS);
    assert_eq!(set.end().0, [2, 0], "frame 1 began in time");
}

/// What a CPU's threads note comes as a list of its own, and both are read in any order before a note about frames is.
#[test]
fn the_order_in_which_cpus_are_heard_changes_no_verdict() {
    let note = |set: &mut Set, cpu: usize| {
        set.runs((cpu, HI), 1, 3 * MS, FRAME + (3 + 10 * cpu as u64) * MS);
        set.stolen(cpu, FRAME + (3 + 9 * cpu as u64) * MS, 3 * MS);
    };
    for orders in [[0, 1], [1, 0]] {
        // Read at once, or with the notes about frames in between; and those that came after the drop before it.
        for between in 0..8 {
            let mut set = Set::new(table());
            let notes = [
                begun(1, 1, FRAME, false),
                dropped(2, 1, FRAME + 13 * MS),
                dropped(3, 1, FRAME + 13 * MS),
                begun(2, 2, 2 * FRAME, false),
                begun(3, 3, 3 * FRAME, false),
            ];
            for (place, frame_note) in notes.into_iter().enumerate() {
                for (step, &cpu) in orders.iter().enumerate() {
                    // All a CPU has noted by then is read before the drop at the latest.
                    let when = usize::from(between >> step & 1 == 1);
                    if place == when {
                        note(&mut set, cpu);
                    }
                }
                set.take(frame_note);
            }
            assert_eq!(set.end(), ([2, 2], [0, 0]), "{orders:?} {between}");
        }
    }
}

/// The control: a judge that hears of one CPU only takes the other's time for our own.
#[test]
fn refuted_a_judge_of_one_cpu_accuses_the_run_of_what_was_stolen_elsewhere() {
    let mut set = Set::new(table());
    set.begins(1);
    set.stolen(1, FRAME + 12 * MS, 9 * MS);
    set.frames.hear(0, &mut set.cpus[0]);
    set.frames.take(dropped(2, 1, FRAME + 13 * MS));
    set.frames.close();
    assert_eq!(set.frames.into_verdicts().undecided(), 0);
}

/// The thread that decided notes what was stolen from it meanwhile when it comes to its next barrier.
#[test]
fn what_is_noted_in_the_next_frame_about_this_one_counts() {
    let mut set = late_on_cpu_1(|set| set.runs((1, HI), 1, 3 * MS, FRAME + 7 * MS));
    // Both frames have begun by now: too late.
    set.stolen(1, FRAME + 13 * MS, 6 * MS);
    assert_eq!(set.end().0, [2, 0]);
    let mut set = Set::new(table());
    set.begins(1);
    set.drops(1, FRAME + 13 * MS);
    set.begins(2);
    set.stolen(1, FRAME + 13 * MS, 6 * MS);
    set.begins(3);
    assert_eq!(set.end().0, [2, 2]);
}

/// A HI job of frame 1 ends in frame 3: LO jobs of frame 1 are dropped when that is over, all of frame 2 make way, and
/// frame 3 begins late. `why` says what happens on CPU 1 until then.
fn overrun(why: impl Fn(&mut Set)) -> ([u64; 2], [u64; 2]) {
    let mut set = Set::new(table());
    set.begins(1);
    set.runs((0, HI), 1, 3 * MS, FRAME + 3 * MS);
    why(&mut set);
    let end = 3 * FRAME + 2 * MS;
    set.drops(1, end);
    set.take(begun(3, 2, end, true));
    for task in 0..4 {
        set.take(superseded(task, 2, end));
    }
    set.begins(4);
    set.begins(5);
    set.end()
}

/// Of frame 1 two jobs are dropped and the HI job of CPU 1 is late; of frame 2 four jobs are. All were due by then.
#[test]
fn a_frame_that_is_late_by_others_and_those_that_it_keeps_are_not_decided() {
    let end = 3 * FRAME + 2 * MS;
    let by_thief = |nanos| {
        overrun(|set| {
            set.stolen(1, end - MS, nanos);
            set.runs((1, HI), 1, 3 * MS, end);
        })
    };
    // The LO jobs of frame 1 lack 74 ms, its HI job 42 ms, those of frame 2 only 2 ms.
    assert_eq!(by_thief(74 * MS), ([2, 2], [7, 7]));
    assert_eq!(by_thief(74 * MS - 1), ([2, 0], [7, 5]));
    assert_eq!(by_thief(42 * MS - 1), ([2, 0], [7, 4]));
    assert_eq!(by_thief(2 * MS - 1), ([2, 0], [7, 0]));
    let of_our_own = overrun(|set| set.runs((1, HI), 1, 3 * MS, end));
    assert_eq!(of_our_own, ([2, 0], [7, 0]));
    let provoked = overrun(|set| set.runs((1, HI), 1, 80 * MS, end));
    assert_eq!(provoked, ([0, 0], [0, 0]));
}

/// A task of two frames whose place is in the first: that is skipped, and the job is dropped two frames later, when all
/// is in time again.
#[test]
fn a_job_whose_frame_was_skipped_is_judged_by_why_that_was() {
    let dropped_later = |nanos| {
        let mut facts = table();
        facts.allowances.push(facts.allowances[0].clone());
        let span = Duration::from_nanos(2 * FRAME);
        let model = facts.tasks[2].facts.model;
        facts.tasks[2].facts.model = Task::new(Level(0), span, span, model.wcet).unwrap();
        facts.tasks[0].places = vec![0, 1];
        facts.tasks[1].places = vec![0, 1];
        facts.tasks[3].places = vec![0, 1];
        let mut set = Set::new(facts);
        set.begins(1);
        set.runs((0, HI), 1, nanos, 3 * FRAME + MS);
        set.take(begun(3, 2, 3 * FRAME + MS, true));
        set.begins(4);
        set.begins(5);
        set.take(superseded(2, 1, 4 * FRAME));
        set.begins(6);
        set.end().1
    };
    // The HI job was late besides.
    assert_eq!(dropped_later(3 * MS), [2, 0]);
    assert_eq!(dropped_later(81 * MS), [0, 0]);
}

#[test]
fn a_job_that_the_end_of_the_run_met_late_is_judged_too() {
    let cut = |executed: u64| {
        let mut set = Set::new(table());
        set.begins(0);
        let (release, stopped) = (EPOCH, EPOCH + 2 * FRAME);
        let begins = TaskNote::Begins {
            release,
            consumed: None,
        };
        let ends = TaskNote::Ends(Return {
            sequence: 0,
            executed,
            now: stopped,
            lost: false,
        });
        let unfinished = TaskNote::Unfinished(Cut {
            sequence: 0,
            release,
            executed,
            stopped,
            at: stopped,
            consumed: None,
            dropped: false,
        });
        for note in [begins, ends, unfinished] {
            set.cpus[0].take(Note::Task(HI, note));
        }
        set.end().1
    };
    assert_eq!(cut(3 * MS), [1, 0]);
    assert_eq!(cut(70 * MS), [0, 0]);
}

/// The run ends at 170 ms, when a sub-frame of frame 1 goes on: of frame 2 nobody says that it was skipped. Its job lacks
/// the 50 ms since its end.
#[test]
fn a_job_that_makes_way_when_the_run_ends_is_judged_by_when_its_frame_was_over() {
    let stolen = |nanos| {
        let mut set = Set::new(table());
        set.begins(1);
        set.stolen(1, 4 * FRAME, nanos);
        set.take(superseded(2, 2, 4 * FRAME + 10 * MS));
        set.end().1
    };
    assert_eq!(stolen(50 * MS), [1, 1]);
    assert_eq!(stolen(50 * MS - 1), [1, 0]);
}

#[test]
fn where_notes_were_lost_or_nothing_is_guaranteed_nobody_is_accused() {
    let late = |set: &mut Set| set.runs((1, HI), 1, 3 * MS, FRAME + 13 * MS);
    let of_cpu = late_on_cpu_1(|set| {
        set.cpus[0].lose(1, EPOCH + FRAME + MS);
        late(set);
    });
    assert_eq!(of_cpu.end().0, [2, 2]);
    let of_frames = late_on_cpu_1(|set| {
        set.frames.lose(1, FRAME + MS);
        late(set);
    });
    assert_eq!(of_frames.end().0, [2, 2]);
    let before = late_on_cpu_1(|set| {
        set.cpus[0].lose(1, EPOCH + FRAME);
        set.frames.lose(1, FRAME);
        late(set);
    });
    assert_eq!(
        before.end().0,
        [2, 0],
        "what was lost was about another frame"
    );
    let mut set = Set::new(FrameFacts {
        guarantee: false,
        ..table()
    });
    set.begins(0);
    set.drops(0, 13 * MS);
    assert_eq!(set.end().0, [0, 0]);
}

/// How many of the two jobs are not decided that were dropped for what happened on CPU 1, if the process was continued then.
fn undecided_if_continued(at: u64, why: impl Fn(&mut Set)) -> u64 {
    let set = late_on_cpu_1(|set| {
        why(set);
        set.runs((1, HI), 1, 3 * MS, FRAME + 13 * MS);
    });
    let mut frames = set.frames;
    frames.close();
    let mut verdicts = frames.into_verdicts();
    verdicts.excuse_stops(&[at]);
    assert_eq!(verdicts.unprovoked, 2);
    verdicts.undecided()
}

#[test]
fn a_stop_of_the_process_leaves_a_dropped_job_undecided() {
    let nothing = |_: &mut Set| {};
    assert_eq!(undecided_if_continued(FRAME - MS, nothing), 0);
    assert_eq!(undecided_if_continued(FRAME + 5 * MS, nothing), 2);
}

/// Of the 13 ms until the jobs were dropped a thread of the run executed 9, on whichever CPU: the stop took 4 of the 5 that
/// lacked at most.
#[test]
fn a_stop_of_the_process_excuses_no_more_than_what_no_thread_executed() {
    for cpu in [0, 1] {
        let slow = |set: &mut Set| set.cpus[cpu].take(slow(Duty::JobStart, FRAME + 12 * MS));
        assert_eq!(undecided_if_continued(FRAME + 5 * MS, slow), 0, "{cpu}");
    }
    let sooner = |set: &mut Set| {
        let (began, now) = (EPOCH + FRAME + 3 * MS, EPOCH + FRAME + 11 * MS);
        set.cpus[1].take(Note::Interval(Interval {
            thread: Thread::Worker(0),
            duty: Duty::JobStart,
            began,
            now,
            cpu: (0, 5 * MS),
            counted: None,
            alone: true,
            waits: false,
        }));
    };
    assert_eq!(undecided_if_continued(FRAME + 5 * MS, sooner), 2);
}

/// Released at 3 ms and every two frames from there, with a place in the second frame of the cycle.
#[test]
fn a_job_has_its_place_in_the_first_frame_of_its_task_after_its_release() {
    let mut facts = table();
    facts.allowances.push(facts.allowances[0].clone());
    let span = Duration::from_nanos(2 * FRAME);
    let late = &mut facts.tasks[2];
    late.facts.offset_nanos = 3 * MS;
    late.facts.model = Task::new(Level(0), span, span, late.facts.model.wcet).unwrap();
    late.places = vec![1];
    let judge = FrameJudge::new(facts);
    let frames = [0, 1, 2].map(|job| judge.frame_of(&judge.facts.tasks[2], job));
    assert_eq!(frames, [1, 3, 5]);
}

/// No table has a limit, and a job may need up to C at its task's own level whatever its sub-frame has room for.
#[test]
fn jobs_beyond_their_own_level_are_counted_by_task() {
    let mut set = Set::new(table());
    set.begins(0);
    set.runs((0, HI), 0, 12 * MS + 50_000, 13 * MS);
    set.runs((1, HI), 0, 12 * MS + 50_001, 13 * MS);
    set.runs((0, LO), 0, 7 * MS, 20 * MS);
    set.runs((1, LO), 0, 6 * MS, 20 * MS);
    let accounts = set
        .cpus
        .into_iter()
        .map(|judge| judge.into_account(EPOCH + FRAME));
    let beyond = accounts.map(|account| {
        let tasks = account.tasks.iter();
        tasks.map(|task| task.beyond_own).collect()
    });
    let beyond: Vec<Vec<u64>> = beyond.collect();
    assert_eq!(beyond, [[0, 1], [1, 0]]);
}

mod present;

use super::jobs::Past;
use super::*;
use crate::job::Suspensions;
use crate::note::{Ending, Return, TaskNote, Wanted};
use crate::reaction::Duty;
use vestal_core::{DropReason, Level, Service, Wcet};

const DEADLINE: u64 = 50;
const PERIOD: u64 = 1_000;
const LO: usize = 0;
const HI: usize = 1;

const MS: u64 = 1_000_000;

fn task(wcet: &[u64]) -> TaskFacts {
    let wcet: Vec<Service> = wcet.iter().copied().map(Service::from_nanos).collect();
    let level = Level(u8::try_from(wcet.len()).unwrap() - 1);
    let [period, deadline] = [PERIOD, DEADLINE].map(Duration::from_nanos);
    TaskFacts {
        model: Task::new(level, period, deadline, Wcet::new(&wcet).unwrap()).unwrap(),
        offset_nanos: 0,
    }
}

const ENFORCED: Rules = Rules {
    tolerance_nanos: 5,
    guarantee: true,
    stops_at_own_limit: true,
    steal_reported: false,
    managed: false,
    common: false,
    late_wake_nanos: LATE_WAKE_NANOS,
};

/// A LO task of 30 and a HI task of 20 and 50, all due 50 after their release.
fn judge(rules: Rules) -> Judge {
    let mut judge = Judge::new([task(&[30]), task(&[20, 50])], rules);
    judge.take(Note::Run { epoch: 0 });
    judge
}

fn begins(task: usize, release: u64) -> Note {
    let consumed = Some(0);
    Note::Task(task, TaskNote::Begins { release, consumed })
}

fn ends(task: usize, sequence: u64, executed: u64, now: u64) -> Note {
    let body = Return {
        sequence,
        executed,
        now,
        lost: false,
    };
    Note::Task(task, TaskNote::Ends(body))
}

fn stays(task: usize, (sequence, executed): (u64, u64), now: u64, lost: bool) -> Note {
    let body = Return {
        sequence,
        executed,
        now,
        lost,
    };
    Note::Task(task, TaskNote::Stays(body))
}

/// The release of a job that is due then.
const fn due(at: u64) -> u64 {
    at - DEADLINE
}

impl Judge {
    fn take_all(&mut self, notes: impl IntoIterator<Item = Note>) {
        notes.into_iter().for_each(|note| self.take(note));
    }

    /// Whether a job had been guaranteed its deadline that ended at `end` after executing so much.
    fn guaranteed(
        &self,
        task: usize,
        (sequence, release): (u64, u64),
        (executed, end): (u64, u64),
    ) -> bool {
        let past = Past {
            sequence,
            release,
            end,
            executed,
            look: None,
            consumed: None,
            at: end,
        };
        self.was_guaranteed(task, &past, release + DEADLINE)
    }

    /// The same of one that executed nothing and is due so late that all that was exceeded counts.
    fn holds_for(&self, task: usize) -> bool {
        self.guaranteed(task, (7, due(u64::MAX / 2)), (0, u64::MAX / 2))
    }

    fn gaps(&self) -> Vec<(u64, u64)> {
        let gap = |record: &Record| {
            let What::Gap { length, .. } = record.what else {
                return None;
            };
            Some((record.at.as_nanos(), length.as_nanos()))
        };
        self.records.iter().filter_map(gap).collect()
    }
}

#[test]
fn what_keeps_the_start_of_a_run_is_stolen_from_the_cpu_that_waits_for_it() {
    let mut judge = judge(ENFORCED);
    judge.take(Note::LetGo { now: 90, late: 60 });
    assert_eq!(judge.gaps(), [(90, 60)]);
}

/// When workers shared words, `begin` counted the active jobs first, and then, if there had been none, reset what had been
/// exceeded. A HI job that preempted it between the two, and ran beyond its C(LO) meanwhile, was found to be in
/// the busy period that the LO job had begun; going on, the LO job wiped that, and when it was late its miss counted as
/// guaranteed. A note is one step: it comes before the whole of the other's, or after.
#[test]
fn a_beginning_that_is_preempted_half_way_wipes_no_overrun() {
    let urgent = [begins(HI, 12), ends(HI, 0, 40, 60)];
    let late_lo = |judge: &Judge| judge.guaranteed(LO, (0, 10), (25, 90));
    // It was preempted behind its note.
    let mut behind = judge(ENFORCED);
    behind.take(begins(LO, 10));
    behind.take_all(urgent);
    assert!(!late_lo(&behind));
    // Or before it: the note comes when the other job has ended.
    let mut before = judge(ENFORCED);
    before.take_all(urgent);
    before.take(begins(LO, 10));
    assert!(!late_lo(&before));
    // Released when the other one had ended it would have begun a busy period of its own.
    let mut later = judge(ENFORCED);
    later.take_all(urgent);
    later.take(begins(LO, 60));
    assert!(later.guaranteed(LO, (0, 60), (25, 140)));
}

/// The words that workers shared before there were notes, for C(LO) alone, as a sketch of code that is gone: a beginning changes them in
/// two steps.
struct Words {
    active: u32,
    last_end: u64,
    /// When C(LO) was exceeded in the present busy period.
    exceeded_at: Option<u64>,
}

impl Words {
    const NEW: Self = Self {
        active: 0,
        last_end: 0,
        exceeded_at: None,
    };

    /// A job begins; it loses the CPU between the steps while others do this.
    fn begin(&mut self, release: u64, meanwhile: impl FnOnce(&mut Self)) {
        let is_first = self.active == 0 && release >= self.last_end;
        self.active += 1;
        meanwhile(self);
        if is_first {
            self.exceeded_at = None;
        }
    }

    fn end(&mut self, beyond: u64, now: u64) {
        if beyond > 0 {
            self.exceeded_at = Some(now - beyond);
        }
        self.last_end = now;
        self.active -= 1;
    }

    /// The HI job of the test above, 20 beyond its C(LO).
    fn overrun(&mut self) {
        self.begin(12, |_| {});
        self.end(20, 60);
    }

    /// Whether the LO job was guaranteed its deadline.
    fn guaranteed(&self) -> bool {
        self.exceeded_at.is_none_or(|since| since >= 60)
    }
}

#[test]
fn words_that_a_beginning_changes_keep_an_overrun_before_it_and_behind_it() {
    let mut behind = Words::NEW;
    behind.begin(10, |_| {});
    behind.overrun();
    assert!(!behind.guaranteed());
    let mut before = Words::NEW;
    before.overrun();
    before.begin(10, |_| {});
    assert!(!before.guaranteed());
}

#[test]
#[should_panic = "the overrun was wiped"]
fn refuted_a_beginning_in_two_steps_with_an_overrun_between_them() {
    let mut words = Words::NEW;
    words.begin(10, Words::overrun);
    assert!(!words.guaranteed(), "the overrun was wiped");
}

#[test]
fn a_job_that_used_up_its_own_c_was_guaranteed_nothing_and_the_others_were() {
    let mut judge = judge(ENFORCED);
    judge.take_all([begins(LO, 0), begins(HI, 0), ends(LO, 0, 36, 100)]);
    let lo = |judge: &Judge, release, executed| judge.guaranteed(LO, (0, release), (executed, 100));
    assert!(!lo(&judge, due(200), 36));
    assert!(lo(&judge, due(93), 36), "it was late before");
    assert!(
        !lo(&judge, due(94), 36),
        "it had had all of its limit by then"
    );
    assert!(lo(&judge, due(200), 35), "within the tolerance");
    // The next one waited for the thread, unless it was released later.
    assert!(!judge.guaranteed(LO, (1, 99), (30, 150)));
    assert!(judge.guaranteed(LO, (1, 100), (30, 150)));
    assert!(judge.guaranteed(HI, (0, due(200)), (50, 150)));
    // As the scheduler saw it, however long the account runs on in the background.
    let (sequence, after) = (0, 80);
    judge.take(Note::Task(LO, TaskNote::UsedUp { sequence, after }));
    assert!(!lo(&judge, due(90), 36));
}

#[test]
fn where_nothing_stops_it_a_job_beyond_its_own_c_ends_the_guarantee_to_all() {
    for (stops_at_own_limit, kept) in [(true, true), (false, false)] {
        let mut judge = judge(Rules {
            stops_at_own_limit,
            ..ENFORCED
        });
        judge.take_all([begins(LO, 0), ends(LO, 0, 36, 100)]);
        assert_eq!(judge.guaranteed(HI, (0, due(200)), (50, 150)), kept);
    }
}

/// With budgets that outlive jobs, whoever exceeds them leaves others theirs: of the same task no deadline is guaranteed any more, in
/// whatever busy period, and what level A executes beyond its C of level B is at the expense of that.
#[test]
fn levels_in_layers_are_guaranteed_by_their_own_tasks_and_those_above_them() {
    let layers = [Layer::Local { is_budgeted: true }, Layer::Table];
    let rules = Rules {
        stops_at_own_limit: false,
        ..ENFORCED
    };
    let mut of_b = judge(rules).in_layers(layers);
    of_b.take_all([begins(LO, 0), ends(LO, 0, 36, 100), begins(LO, 500)]);
    assert!(!of_b.holds_for(LO) && of_b.holds_for(HI));
    let mut of_a = judge(rules).in_layers(layers);
    of_a.take_all([begins(HI, 0), ends(HI, 0, 40, 100), begins(LO, 500)]);
    assert!(!of_a.holds_for(LO) && of_a.holds_for(HI));
}

#[test]
fn those_behind_a_body_that_does_not_return_were_guaranteed_something_while_it_has_its_place() {
    let behind = |executed, lost| {
        let mut judge = judge(ENFORCED);
        judge.take_all([begins(LO, 0), stays(LO, (3, executed), 900, lost)]);
        judge.guaranteed(LO, (4, 1_000), (0, 2_000))
    };
    assert!(behind(0, false));
    assert!(!behind(0, true), "it lost its priority");
    assert!(!behind(36, false), "it used up its limit");
}

#[test]
fn a_job_in_the_background_is_of_no_busy_period() {
    let mut judge = judge(ENFORCED);
    let loses = |task, executed, now| Note::Task(task, TaskNote::LosesPriority { executed, now });
    judge.take_all([begins(LO, 10), begins(HI, 10), loses(HI, 40, 60)]);
    assert!(!judge.holds_for(LO));
    judge.take(loses(LO, 0, 70));
    assert!(judge.guarantees.free_since(70) && !judge.guarantees.free_since(69));
    // The next busy period begins, and what goes on in the background does nothing to it.
    judge.take_all([begins(HI, 70), ends(LO, 0, u64::MAX, 80)]);
    assert!(judge.holds_for(LO));
    assert!(!judge.guarantees.free_since(80), "one is active");
    judge.take(ends(HI, 1, 20, 90));
    assert!(judge.guarantees.free_since(90));
}

#[test]
fn a_lost_end_of_a_job_is_made_up_for_by_the_next_beginning() {
    let mut judge = judge(ENFORCED);
    judge.take_all([begins(LO, 0), begins(LO, 1_000), ends(LO, 1, 5, 1_010)]);
    assert!(judge.guarantees.free_since(1_010));
}

#[test]
fn of_a_busy_period_whose_clocks_nobody_read_the_least_is_known() {
    let mut judge = judge(ENFORCED);
    for (thread, cpu) in [(Thread::Worker(LO), 700), (Thread::Manager, 50)] {
        judge.take(Note::Interval(Interval {
            thread,
            duty: Duty::JobEnd,
            began: 0,
            now: 10,
            cpu: (0, cpu),
            counted: None,
            alone: true,
            waits: true,
        }));
    }
    let (release, consumed) = (20, None);
    judge.take(Note::Task(LO, TaskNote::Begins { release, consumed }));
    assert_eq!(judge.guarantees.consumed_before(), 750);
}

fn completed(finished: u64, consumed: Option<u64>) -> Note {
    let job = Ending {
        sequence: 0,
        release: 0,
        finished,
        executed: 20,
        at: finished,
        consumed,
    };
    Note::Task(HI, TaskNote::Completed(job))
}

/// What is counted as missed, guaranteed, and not explained.
fn missed(judge: &Judge) -> [u64; 3] {
    missed_by(judge, HI)
}

fn missed_by(judge: &Judge, task: usize) -> [u64; 3] {
    let jobs = judge.tasks[task].record.jobs;
    [
        jobs.missed,
        jobs.missed_guaranteed,
        jobs.missed_outside_gaps,
    ]
}

#[test]
fn a_late_job_is_missed_unless_others_took_what_it_lacked() {
    // It is 30 late; the manager, or a thief, had 60 of its 80.
    for (others, consumed, expected) in [(0, 80, [1, 1, 1]), (60, 20, [1, 1, 0])] {
        let mut judge = judge(ENFORCED);
        judge.take(begins(HI, 0));
        judge.stole_until(70, others, Thief::Unknown);
        judge.take_all([ends(HI, 0, 20, 80), completed(80, Some(consumed))]);
        assert_eq!(missed(&judge), expected);
    }
    // Late by 30, and it lacked 3 only when somebody looked: 1 then, and 2 that it executed since.
    let looked = |deadline| {
        let mut judge = judge(ENFORCED);
        judge.take(begins(HI, 0));
        judge.stole_until(40, 3, Thief::Unknown);
        let look = TaskNote::Looked {
            due: deadline,
            at: 51,
            executed: 18,
            consumed: 48,
        };
        judge.take_all([
            Note::Task(HI, look),
            ends(HI, 0, 20, 80),
            completed(80, Some(77)),
        ]);
        missed(&judge)
    };
    assert_eq!(looked(50), [1, 1, 0]);
    assert_eq!(looked(40), [1, 1, 1], "that was a look at another job");
}

fn used_up(task: usize, sequence: u64, after: u64) -> Note {
    Note::Task(task, TaskNote::UsedUp { sequence, after })
}

/// The body of a LO job goes on in the background until 200, beyond the end of the run at 120: of what it executed until
/// then the least that is known is nothing. The jobs of the same task behind it use up their limits on its thread.
fn cut_in_the_background(behind: impl IntoIterator<Item = Note>) -> Judge {
    let mut judge = judge(Rules {
        managed: true,
        ..ENFORCED
    });
    let loses = TaskNote::LosesPriority {
        executed: 30,
        now: 30,
    };
    judge.take_all([begins(LO, 0), used_up(LO, 0, 30), Note::Task(LO, loses)]);
    judge.take_all(behind);
    let returns = Return {
        sequence: 0,
        executed: 60,
        now: 200,
        lost: true,
    };
    let cut = Cut {
        sequence: 0,
        release: 0,
        executed: 60,
        stopped: 120,
        at: 200,
        consumed: Some(200),
        dropped: false,
    };
    judge.take_all(
        [TaskNote::Ends(returns), TaskNote::Unfinished(cut)].map(|note| Note::Task(LO, note)),
    );
    judge
}

#[test]
fn a_job_that_used_up_its_limit_was_guaranteed_nothing_whoever_of_its_task_does_so_after_it() {
    assert_eq!(missed_by(&cut_in_the_background([]), LO), [1, 0, 0]);
    let behind = [used_up(LO, 1, 70), used_up(LO, 2, 110)];
    assert_eq!(missed_by(&cut_in_the_background(behind), LO), [1, 0, 0]);
    // More of them than are remembered: nothing is said of it.
    let many = (1..5_000).map(|sequence| used_up(LO, sequence, 70));
    assert_eq!(missed_by(&cut_in_the_background(many), LO), [1, 1, 0]);
}

#[test]
fn a_miss_in_whose_window_notes_were_lost_is_not_decided() {
    let run = |loses_at: Option<u64>| {
        let mut judge = judge(ENFORCED);
        judge.take(begins(HI, 0));
        if let Some(at) = loses_at {
            judge.lose(3, at);
        }
        judge.take_all([ends(HI, 0, 20, 80), completed(80, Some(80))]);
        assert_eq!(judge.lost, loses_at.map_or(0, |_| 3));
        missed(&judge)
    };
    assert_eq!(run(None), [1, 1, 1]);
    assert_eq!(run(Some(70)), [1, 1, 0]);
    assert_eq!(run(Some(0)), [1, 1, 1], "before its busy period");
}

/// The manager wakes at `now`, and its interval begins at `began`.
fn woken(wanted: u64, now: u64, began: u64, waited: u64, alone: bool) -> [Note; 2] {
    let thread = Thread::Manager;
    let begin = Note::Begin {
        thread,
        wanted: Wanted::AtOnceSince(wanted),
        now,
        burned: 0,
    };
    let opened = Note::Opened {
        thread,
        since: Some(wanted),
        now,
        began,
        waited: Waited {
            nanos: waited,
            times: 2,
        },
        alone,
    };
    [begin, opened]
}

#[test]
fn a_thread_that_wakes_late_was_kept_by_whom_the_kernel_names() {
    for (waited, thief) in [(3 * MS, Thief::Thread), (0, Thief::Unknown)] {
        let mut judge = judge(ENFORCED);
        judge.take_all(woken(MS, 5 * MS, 5 * MS, waited, true));
        assert_eq!(judge.gaps(), [(5 * MS, 4 * MS)]);
        assert_eq!(judge.stolen.stolen_by(thief), 4 * MS);
    }
}

#[test]
fn what_others_take_between_a_wake_up_and_the_interval_s_begin_is_stolen_once() {
    let mut alone = judge(ENFORCED);
    alone.take_all(woken(5 * MS, 5 * MS, 8 * MS, 3 * MS, true));
    assert_eq!(alone.gaps(), [(8 * MS, 3 * MS)]);
    // A worker had the CPU until 7 ms.
    let [begin, opened] = woken(5 * MS, 5 * MS, 8 * MS, 3 * MS, false);
    let mut shared = judge(ENFORCED);
    shared.take_all([begin, Note::Leaves { now: 7 * MS }, opened]);
    assert_eq!(shared.gaps(), [(8 * MS, MS)]);
}

#[test]
fn of_an_interval_what_the_thread_waited_is_stolen_and_the_rest_is_its_reaction() {
    let interval = |counted| {
        let mut judge = judge(ENFORCED);
        judge.take(Note::Interval(Interval {
            thread: Thread::Worker(LO),
            duty: Duty::JobStart,
            began: 10 * MS,
            now: 20 * MS,
            cpu: (0, 4 * MS),
            counted,
            alone: true,
            waits: false,
        }));
        let reactions = judge.reactions.of_duties(&[]);
        (reactions[0].longest.as_nanos() / MS, judge.gaps())
    };
    let waited = |nanos, times| Some(Waited { nanos, times });
    assert_eq!(interval(waited(6 * MS, 1)), (4, vec![(20 * MS, 6 * MS)]));
    assert_eq!(interval(waited(0, 1)), (10, vec![]), "it slept");
    assert_eq!(interval(None), (10, vec![]), "nobody counts");
}

#[test]
fn jobs_that_never_began_are_counted_at_the_end_and_those_behind_a_body_that_stays() {
    let closing = Closing {
        stopped: 4_020,
        end: 5_000,
        at: 4_020,
        consumed: 4_020,
    };
    let mut judge = judge(ENFORCED);
    judge.take(completed(20, None));
    let (why, count, next) = (DropReason::Mode, 1, 2);
    judge.take(Note::Task(HI, TaskNote::Dropped { why, count, next }));
    judge.take_all([begins(LO, 0), stays(LO, (0, 4_000), 4_020, false)]);
    judge.close_run(closing);
    let misses = judge.take_records().len();
    let account = judge.into_account(closing.stopped);
    let jobs = |task: usize| {
        let jobs = account.tasks[task].jobs;
        [
            jobs.released,
            jobs.completed,
            jobs.dropped,
            jobs.unfinished,
            jobs.missed,
        ]
    };
    // Those of 2000, 3000 and 4000, of which the last is not late yet.
    assert_eq!(jobs(HI), [5, 1, 1, 3, 2]);
    assert_eq!(jobs(LO), [5, 0, 0, 5, 4]);
    assert_eq!(misses, 6);
    assert_eq!(account.tasks[LO].jobs.missed_guaranteed, 0);
}

#[test]
fn a_release_is_late_that_found_the_cpu_free() {
    let mut judge = judge(ENFORCED);
    let released = |release, now| Note::Task(LO, TaskNote::Released { release, now });
    judge.take_all([released(0, 4), begins(LO, 0), released(0, 30)]);
    judge.take_all([ends(LO, 0, 9, 40), released(20, 45), released(40, 47)]);
    assert_eq!(judge.tasks[LO].record.lateness.summary().sum, 4 + 7);
}

#[test]
fn what_a_worker_noted_of_itself_is_added_up() {
    let mut judge = judge(ENFORCED);
    let suspended = TaskNote::Suspended(Suspensions {
        times: 2,
        ineffective: 1,
    });
    let costs = |start| TaskNote::Costs {
        start,
        end: 7,
        executed: 100,
    };
    for what in [suspended, costs(3), suspended, costs(5)] {
        judge.take(Note::Task(LO, what));
    }
    let record = &judge.tasks[LO].record;
    assert_eq!(record.suspensions.ineffective, 2);
    let sums = [&record.start_cost, &record.end_cost].map(|costs| costs.summary().sum);
    assert_eq!((sums, record.executed_nanos), ([8, 14], 200));
}

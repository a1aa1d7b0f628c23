//! The judge of all CPUs that have a frame table in common.
//!
//! All CPUs of a table wait for each other, so what keeps one of them keeps all, and no judge of one CPU can tell
//! why a sub-frame was late. This one hears from each of those what its jobs exceeded, which of them were late and what
//! was stolen there, and takes notes about frames from a log that all CPUs have in common.
//!
//! Frames are told apart by *chains*: a frame that nothing kept begins a chain, and those that an earlier one kept from
//! beginning in time belong to the chain of that. What happened before a chain is forgotten. Guaranteed at level l
//! was, unless earlier in the same chain some job on any CPU had executed more than its C(l) and the tolerance
//! ([`Rules`](crate::Rules)),
//!
//! - that no job of level l is dropped because its sub-frame, or one above it, could begin only when the frame was too old,
//! - that no job of level l misses its deadline.
//!
//! What was guaranteed and did not come was *missed* if it would not have come either without the time that was stolen
//! from any CPU since the beginning of the chain; else that is *not decided*. Whatever is stolen delays what all CPUs
//! do together by no more than it is long, and what is stolen from two at once delays it once. What lacked is
//!
//! ```text
//! late job            its end - its deadline
//! dropped sub-frame   when the sub-frame before it ended - when it should have begun at the latest
//! skipped frame       when the sub-frame that kept it ended - its end
//! ```
//!
//! When a stop of the process began is not known: it may have taken, of the chain, all the time for which no thread is known to
//! have executed on the CPU where threads executed most. If what lacked is more than that, the stop is not the reason.
//!
//! The thread that decides has not yet noted then what was stolen from it meanwhile. It has when it comes to its next
//! barrier, so a frame is judged when two others have begun since, or none does any more.
//!
//! All is in nanoseconds after the epoch.

use super::job::MISSES_MAX;
use super::judge::{Judge, TaskFacts};
use super::note::FrameNote;
use super::outcome::{Miss, Verdict, excused_by_stops};
use super::ran::RanLog;
use super::stolen::StolenLog;
use super::told::{Answer, Beyond, LateJob, Told};
use std::collections::{BTreeMap, VecDeque};
use vestal_core::guarantee::covers;
use vestal_core::{DropReason, Duration, Instant, Level};

/// What is known of a frame table before it runs.
#[derive(Clone, Debug)]
pub struct FrameFacts {
    /// How long a frame is.
    pub length: Duration,
    /// By frame of the cycle and level: how old the frame may be when the sub-frame of that level begins.
    pub allowances: Vec<Vec<Duration>>,
    /// The tasks by the scheduler's numbers.
    pub tasks: Vec<FrameTask>,
    /// Whether anything is guaranteed at all.
    pub guarantee: bool,
}

/// A task of a frame table.
#[derive(Clone, Debug)]
pub struct FrameTask {
    /// Its CPU, and its number there.
    pub home: (usize, usize),
    /// The task.
    pub facts: TaskFacts,
    /// In which frames of the cycle it has a place: one for each of its jobs.
    pub places: Vec<usize>,
}

/// What was found of dropped jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameVerdicts {
    /// How many jobs were dropped with their sub-frames although no job had needed more than at their level.
    pub unprovoked: u64,
    /// Of those: which also the stolen time does not explain.
    pub unprovoked_outside_gaps: u64,
    /// How many notes found no room.
    pub lost: u64,
    /// Of those that stolen time does not explain.
    misses: Vec<Miss>,
}

impl FrameVerdicts {
    /// How many of the dropped jobs only stolen time explains.
    #[must_use]
    pub const fn undecided(&self) -> u64 {
        self.unprovoked.saturating_sub(self.unprovoked_outside_gaps)
    }

    /// The process was continued at these instants after it had been stopped: that is stolen time, too.
    pub fn excuse_stops(&mut self, continued: &[u64]) {
        let excused = excused_by_stops(&self.misses, continued);
        self.unprovoked_outside_gaps = self.unprovoked_outside_gaps.saturating_sub(excused);
    }

    fn note(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::NotGuaranteed => {}
            Verdict::Undecided => self.unprovoked += 1,
            Verdict::Missed(miss) => {
                self.unprovoked += 1;
                self.unprovoked_outside_gaps += 1;
                if miss.met_if_stopped && self.misses.len() < MISSES_MAX {
                    self.misses.push(miss);
                }
            }
        }
    }
}

/// Frames of which none but the first began when nothing kept it.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    start: u64,
    exceeded: Beyond,
}

/// A frame that began.
#[derive(Clone, Copy, Debug)]
struct Begun {
    frame: u64,
    at: u64,
    kept: bool,
}

/// What is to be judged.
#[derive(Clone, Copy, Debug)]
struct Question {
    /// The task's number, and the job's among its own.
    job: (usize, u64),
    /// The frame in which that has its place.
    frame: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// It ended after its deadline.
    Late(LateJob),
    /// It was dropped then with its sub-frame, the highest of those being of this level.
    Dropped(Level, u64),
    /// Its frame had passed when the next one began then.
    Skipped(u64),
    /// It made way then for a younger job, because its frame had been skipped.
    Superseded(u64),
}

/// So many chains and frames are remembered: what is judged was in one of the last three.
const REMEMBERED: usize = 4;

/// Judges what all CPUs of a frame table did together.
#[derive(Clone, Debug)]
pub struct FrameJudge {
    facts: FrameFacts,
    /// By CPU and number there, the scheduler's numbers of tasks.
    numbers: BTreeMap<(usize, usize), usize>,
    /// What was stolen from any CPU.
    stolen: StolenLog,
    /// What threads executed on each.
    ran: RanLog,
    /// The latest ones, the present one last.
    chains: VecDeque<Chain>,
    /// The frames that began last, the latest one last.
    begun: VecDeque<Begun>,
    /// What jobs exceeded that ended then, and may be of a later chain.
    exceeded: Vec<(u64, Beyond)>,
    questions: Vec<Question>,
    /// What is to be said of jobs whose frames were skipped, by task and number: they are yet to be dropped.
    skipped: BTreeMap<(usize, u64), Verdict>,
    /// By CPU.
    answers: Vec<(usize, Answer)>,
    /// Notes were lost until then.
    lost_until: u64,
    verdicts: FrameVerdicts,
}

impl FrameJudge {
    /// Of a run of which nothing was noted yet.
    #[must_use]
    pub fn new(facts: FrameFacts) -> Self {
        let homes = facts.tasks.iter().enumerate();
        Self {
            numbers: homes.map(|(number, task)| (task.home, number)).collect(),
            facts,
            stolen: StolenLog::default(),
            ran: RanLog::default(),
            chains: VecDeque::new(),
            begun: VecDeque::new(),
            exceeded: Vec::new(),
            questions: Vec::new(),
            skipped: BTreeMap::new(),
            answers: Vec::new(),
            lost_until: 0,
            verdicts: FrameVerdicts::default(),
        }
    }

    /// Hears what the judge of a CPU has found since the last call. Before a note about frames is taken all
    /// is to be heard that its thread had noted of its CPU by then.
    pub fn hear(&mut self, cpu: usize, judge: &mut Judge) {
        self.lost_until = self.lost_until.max(judge.lost_until());
        for told in judge.take_told() {
            match told {
                Told::Stolen(interval) => self.stolen.record(interval),
                Told::Ran(ran) => self.ran.record(cpu, ran),
                Told::Exceeded { beyond, end } => self.exceeded.push((end, beyond)),
                Told::Late(late) => {
                    if let Some(&number) = self.numbers.get(&(cpu, late.task)) {
                        self.ask((number, late.sequence), What::Late(late));
                    }
                }
            }
        }
    }

    /// Gives the judge of a CPU what was found of its jobs since the last call.
    pub fn answer(&mut self, cpu: usize, judge: &mut Judge) {
        for (of, answer) in &self.answers {
            if *of == cpu {
                judge.settle(answer);
            }
        }
        self.answers.retain(|(of, _)| *of != cpu);
    }

    /// Takes the next note about frames. O(1), but for what it settles: O(n log n) in the number of remembered stolen intervals
    /// for each job that was late or dropped, and O(n) in the number of tasks for each frame that was skipped.
    pub fn take(&mut self, note: FrameNote) {
        match note {
            FrameNote::Began {
                frame,
                first,
                at,
                kept,
            } => self.begin(Begun { frame, at, kept }, first),
            FrameNote::Dropped {
                task,
                sequence,
                why,
                late,
                at,
            } => {
                let what = match why {
                    DropReason::Mode => What::Dropped(late, at),
                    DropReason::Superseded
                    | DropReason::Exhausted
                    | DropReason::Deadline
                    | DropReason::BacklogFull => What::Superseded(at),
                };
                self.ask((usize::from(task), sequence), what);
            }
        }
    }

    /// So many notes about frames were lost before the next one: that was found `at` that instant.
    pub fn lose(&mut self, count: u64, at: u64) {
        if count > 0 {
            self.verdicts.lost += count;
            self.lost_until = self.lost_until.max(at);
        }
    }

    /// All was heard and taken.
    pub fn close(&mut self) {
        self.assign(u64::MAX);
        self.settle(u64::MAX);
    }

    /// What was found.
    #[must_use]
    pub fn into_verdicts(self) -> FrameVerdicts {
        self.verdicts
    }

    fn begin(&mut self, begun: Begun, first: u64) {
        let start = self.start_of(first);
        self.assign(if begun.kept { begun.at } else { start });
        if !begun.kept || self.chains.is_empty() {
            self.chains.push_back(Chain {
                start,
                exceeded: Beyond::default(),
            });
        }
        let before = self.begun.back().map_or(0, |last| last.frame);
        self.begun.push_back(begun);
        if self.chains.len() > REMEMBERED {
            self.chains.pop_front();
            let start = self.chains.front().map_or(0, |chain| chain.start);
            self.ran.forget_until(start);
        }
        if self.begun.len() > REMEMBERED {
            self.begun.pop_front();
        }
        for frame in first..begun.frame {
            self.skip(frame, begun.at);
        }
        self.settle(before);
    }

    /// What jobs exceeded that ended before `bound` was exceeded in the present chain.
    fn assign(&mut self, bound: u64) {
        let Some(chain) = self.chains.back_mut() else {
            return;
        };
        for (_, beyond) in self.exceeded.extract_if(.., |(end, _)| *end < bound) {
            for (since, at) in chain.exceeded.iter_mut().zip(beyond) {
                *since = (*since).into_iter().chain(at).min();
            }
        }
    }

    /// A frame had passed when the next one began.
    fn skip(&mut self, frame: u64, at: u64) {
        let row = self.row(frame);
        let start = self.start_of(frame);
        for (number, task) in self.facts.tasks.iter().enumerate() {
            let period = task.facts.model.period.as_nanos().max(1);
            let since = start.checked_sub(task.facts.offset_nanos);
            if let (Some(since), true) = (since, task.places.contains(&row)) {
                self.questions.push(Question {
                    job: (number, since / period),
                    frame,
                    what: What::Skipped(at),
                });
            }
        }
    }

    fn ask(&mut self, job: (usize, u64), what: What) {
        if let Some(task) = self.facts.tasks.get(job.0) {
            let frame = self.frame_of(task, job.1);
            self.questions.push(Question { job, frame, what });
        }
    }

    /// Judges all that belongs to frames before `until`; first frames that were skipped, because of their jobs is
    /// asked once more when they are dropped.
    fn settle(&mut self, until: u64) {
        let is_ready = |question: &mut Question| until == u64::MAX || question.frame < until;
        let ready: Vec<Question> = self.questions.extract_if(.., is_ready).collect();
        let is_skipped = |question: &&Question| matches!(question.what, What::Skipped(_));
        let (skipped, others): (Vec<&Question>, Vec<&Question>) =
            ready.iter().partition(is_skipped);
        for question in skipped.into_iter().chain(others) {
            self.settle_one(question);
        }
    }

    fn settle_one(&mut self, question: &Question) {
        let Some(task) = self.facts.tasks.get(question.job.0) else {
            return;
        };
        let level = task.facts.model.criticality;
        let due = self.due(task, question.job.1);
        let chain = self.chain_of(question.frame);
        let end = self.start_of(question.frame.saturating_add(1));
        // A job whose frame was skipped waits until a younger one takes its place, or the run ends.
        let by_skipping = match question.what {
            What::Superseded(_) | What::Late(_) => self.skipped.remove(&question.job),
            What::Skipped(_) | What::Dropped(..) => None,
        };
        let judge = |instant, lacking, until| self.judge((level, instant), lacking, (chain, until));
        match question.what {
            What::Skipped(at) => {
                let verdict = judge(end, at.saturating_sub(end), at);
                self.skipped.insert(question.job, verdict);
            }
            What::Dropped(late, at) => {
                let until = self.end_of_overrun(question.frame, at);
                let latest = self.latest(question.frame, late);
                let verdict = judge(at, until.saturating_sub(latest), until);
                self.verdicts.note(verdict);
                self.answer_if_missed(question.job, (due, at), verdict);
            }
            What::Superseded(at) => {
                let verdict = by_skipping.unwrap_or_else(|| judge(due, at.saturating_sub(end), at));
                self.answer_if_missed(question.job, (due, at), verdict);
            }
            What::Late(job) => {
                let lacking = job.end.saturating_sub(due);
                let verdict = by_skipping.unwrap_or_else(|| judge(due, lacking, job.end));
                let answer = Answer { job, due, verdict };
                self.answers.push((task.home.0, answer));
            }
        }
    }

    /// A job was dropped `at` some instant: missed if it was due by then.
    fn answer_if_missed(&mut self, job: (usize, u64), (due, at): (u64, u64), verdict: Verdict) {
        let Some(task) = self.facts.tasks.get(job.0).filter(|_| due <= at) else {
            return;
        };
        let (cpu, number) = task.home;
        let job = LateJob {
            task: number,
            sequence: job.1,
            end: at,
            at,
        };
        self.answers.push((cpu, Answer { job, due, verdict }));
    }

    /// What is to be said of something that did not come at `instant`, guaranteed at a level, for which `lacking` nanoseconds
    /// lacked until `until`.
    fn judge(
        &self,
        (level, instant): (Level, u64),
        lacking: u64,
        (chain, until): (Chain, u64),
    ) -> Verdict {
        let exceeded = chain.exceeded.get(level.index()).copied().flatten();
        let exceeded = exceeded.map(Instant::from_nanos);
        let held = covers(Instant::from_nanos(instant), exceeded, None);
        if !self.facts.guarantee || !held {
            return Verdict::NotGuaranteed;
        }
        let since = chain.start;
        let is_known = since >= self.lost_until && self.stolen.reaches_back_to(since);
        // It came late at least, if by nothing that can be told.
        let (stolen, lacking) = (self.stolen.within(since, until), lacking.max(1));
        if !is_known || stolen.nanos >= lacking {
            return Verdict::Undecided;
        }
        // What a burning job was charged for while the clock jumped is on its account, and not its own.
        let others = self.ran.nobody_within(since, until);
        Verdict::Missed(Miss {
            since,
            end: until,
            met_if_stopped: others.saturating_add(stolen.charged) >= lacking,
        })
    }

    /// The chain of a frame: the last that began by then.
    fn chain_of(&self, frame: u64) -> Chain {
        let start = self.start_of(frame);
        let mut chains = self.chains.iter().rev();
        let found = chains.find(|chain| chain.start <= start);
        found.or(self.chains.front()).copied().unwrap_or_default()
    }

    /// When the sub-frame ended that kept another one of a frame, which was dropped `at` that instant: perhaps because the
    /// frame was over.
    fn end_of_overrun(&self, frame: u64, at: u64) -> u64 {
        let next = self.begun.iter().find(|begun| begun.frame > frame);
        let kept = next.filter(|next| next.kept);
        kept.map_or(at, |next| next.at.max(at))
    }

    /// When the sub-frame of a level should have begun at the latest.
    fn latest(&self, frame: u64, level: Level) -> u64 {
        let allowances = self.facts.allowances.get(self.row(frame));
        let allowance = allowances.and_then(|levels| levels.get(level.index()));
        let allowance = allowance.map_or(0, |allowance| allowance.as_nanos());
        self.start_of(frame).saturating_add(allowance)
    }

    fn start_of(&self, frame: u64) -> u64 {
        self.facts.length.as_nanos().saturating_mul(frame)
    }

    fn row(&self, frame: u64) -> usize {
        let rows = self.facts.allowances.len() as u64;
        usize::try_from(frame.checked_rem(rows).unwrap_or(0)).unwrap_or(0)
    }

    fn due(&self, task: &FrameTask, sequence: u64) -> u64 {
        release(task, sequence).saturating_add(task.facts.model.deadline.as_nanos())
    }

    /// The frame in which a job has its place: the first one of its task from its release on.
    fn frame_of(&self, task: &FrameTask, sequence: u64) -> u64 {
        let length = self.facts.length.as_nanos().max(1);
        let first = release(task, sequence).div_ceil(length);
        let frames = task.facts.model.period.as_nanos() / length;
        let mut within = first..first.saturating_add(frames.max(1));
        let has_place = |frame: &u64| task.places.contains(&self.row(*frame));
        within.find(has_place).unwrap_or(first)
    }
}

fn release(task: &FrameTask, sequence: u64) -> u64 {
    let since = task.facts.model.period.as_nanos().saturating_mul(sequence);
    task.facts.offset_nanos.saturating_add(since)
}

#[cfg(test)]
mod tests;

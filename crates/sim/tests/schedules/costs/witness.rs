//! Notes down what a world reports of one CPU, tick by tick.

use super::{Run, Use};
use crate::reference::Reason;
use vestal_core::{DropReason, Instant, JobId, Level};
use vestal_sim::costs::Cause;
use vestal_sim::{JobState, Observer, Segment};

pub(crate) struct Witness {
    pub(crate) run: Run,
    mode: u8,
    since: usize,
}

impl Witness {
    pub(crate) fn new(end: u64) -> Self {
        let ticks = end as usize;
        let run = Run {
            ticks: vec![None; ticks],
            modes: vec![0; ticks],
            ..Run::default()
        };
        Self {
            run,
            mode: 0,
            since: 0,
        }
    }

    fn fill(&mut self, segment: Segment, used: Use) {
        fill(&mut self.run.ticks, segment, used);
    }

    fn fill_mode_until(&mut self, at: Instant) {
        let at = at.as_nanos() as usize;
        self.run.modes[self.since..at].fill(self.mode);
        self.since = at;
    }
}

fn fill(ticks: &mut [Option<Use>], segment: Segment, used: Use) {
    for tick in segment.start.as_nanos()..segment.end.as_nanos() {
        let place = &mut ticks[tick as usize];
        assert_eq!(*place, None, "{used:?} overlaps at {tick}");
        *place = Some(used);
    }
}

fn position(job: &JobState) -> (usize, usize) {
    (job.id.task.index(), job.id.sequence as usize)
}

impl Observer for Witness {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let (task, number) = position(job);
        self.fill(segment, Use::Body(task, number));
    }
    fn prepared(&mut self, segment: Segment, job: &JobState) {
        let (task, number) = position(job);
        self.fill(segment, Use::Own(task, number));
    }
    fn mechanism_ended(&mut self, segment: Segment, cause: Cause) {
        self.fill(segment, Use::Mechanism(cause));
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        let (task, number) = position(job);
        self.run.completed.push((at.as_nanos(), task, number));
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        let (task, number) = position(job);
        let why = match why {
            DropReason::Mode => Reason::Mode,
            DropReason::Exhausted => Reason::Exhausted,
            DropReason::Superseded => Reason::Superseded,
            DropReason::Deadline => Reason::Deadline,
            DropReason::BacklogFull => Reason::BacklogFull,
        };
        self.run.dropped.push((at.as_nanos(), task, number, why));
    }
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, _: Option<JobId>) {
        assert_eq!(from.0, self.mode);
        self.fill_mode_until(at);
        self.mode = to.0;
    }
    fn finished(&mut self, end: Instant) {
        self.fill_mode_until(end);
        self.run.dropped.sort_unstable();
    }
}

/// Who has each of several CPUs, tick by tick.
pub(crate) struct Witnesses {
    pub(crate) ticks: Vec<Vec<Option<Use>>>,
    /// The instants at which a frame overran.
    pub(crate) frame_overruns: Vec<u64>,
}

impl Witnesses {
    pub(crate) fn new(cpus: u16, end: u64) -> Self {
        Self {
            ticks: vec![vec![None; end as usize]; usize::from(cpus)],
            frame_overruns: Vec::new(),
        }
    }

    fn fill(&mut self, segment: Segment, used: Use) {
        fill(&mut self.ticks[segment.cpu.index()], segment, used);
    }
}

impl Observer for Witnesses {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let (task, number) = position(job);
        self.fill(segment, Use::Body(task, number));
    }
    fn prepared(&mut self, segment: Segment, job: &JobState) {
        let (task, number) = position(job);
        self.fill(segment, Use::Own(task, number));
    }
    fn mechanism_ended(&mut self, segment: Segment, cause: Cause) {
        self.fill(segment, Use::Mechanism(cause));
    }
    fn frame_overran(&mut self, at: Instant, _: u64) {
        self.frame_overruns.push(at.as_nanos());
    }
}

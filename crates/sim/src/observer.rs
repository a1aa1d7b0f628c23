//! What a world reports to observers: statistics, drawings, traces.

use crate::costs::Cause;
use vestal_core::{
    CpuId, DeviceId, DropReason, Duration, Instant, JobId, Level, ServerId, Service,
};

/// A pending job as its world knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobState {
    /// The job.
    pub id: JobId,
    /// When it arrived.
    pub released: Instant,
    /// Its absolute deadline: the release plus D_i.
    pub deadline: Instant,
    /// What it executes in all if nothing stops it. Only a simulated world knows that beforehand.
    pub demand: Service,
    /// What it has executed so far.
    pub executed: Service,
    /// When it used up the limit beyond which nothing was guaranteed to it and left
    /// the admitted jobs; `None` while it is admitted.
    pub demoted: Option<Instant>,
    /// Where it ran last.
    pub last_cpu: Option<CpuId>,
}

impl JobState {
    /// A job that arrives `at` this instant, is due `after` that, and has to execute so much.
    pub(crate) const fn arriving(id: JobId, at: Instant, after: Duration, demand: Service) -> Self {
        Self {
            id,
            released: at,
            deadline: at.saturating_add(after),
            demand,
            executed: Service::ZERO,
            demoted: None,
            last_cpu: None,
        }
    }

    /// What it still has to execute.
    #[must_use]
    pub const fn remaining(&self) -> Service {
        self.demand.saturating_sub(self.executed)
    }
}

/// An execution interval of one job on one CPU, `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where.
    pub cpu: CpuId,
    /// From when on.
    pub start: Instant,
    /// Until when.
    pub end: Instant,
}

/// An observer of a world. Every method has an empty body, so that an observer writes only
/// what it wants to know.
///
/// Instants never fall from call to call. At one instant the order is: executions that end there,
/// completions and jobs that block or are woken, releases, events of devices, then what the scheduler decided (overruns, mode changes, demotions,
/// drops), what the world discards, the idle instant, and who stops and starts.
pub trait Observer {
    /// A job arrived.
    fn released(&mut self, at: Instant, job: &JobState) {
        let _ = (at, job);
    }
    /// The scheduler has no room for the job that arrived just now: the world keeps it (contract C7), and
    /// reports it to the scheduler later.
    fn kept(&mut self, at: Instant, job: &JobState) {
        let _ = (at, job);
    }
    /// A job ran; `job.executed` includes the segment. Two segments of one job may be adjacent.
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let _ = (segment, job);
    }
    /// A job finished all its work.
    fn completed(&mut self, at: Instant, job: &JobState) {
        let _ = (at, job);
    }
    /// A job used up its limit of `level`.
    fn overran(&mut self, at: Instant, job: JobId, level: Level) {
        let _ = (at, job, level);
    }
    /// A job used up its last limit, and is in the background from now on.
    fn demoted(&mut self, at: Instant, job: &JobState) {
        let _ = (at, job);
    }
    /// A job was dropped for good.
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        let _ = (at, job, why);
    }
    /// A job that the world kept was dropped by the world itself: with what the scheduler dropped of its
    /// task, or because too many wait.
    fn discarded(&mut self, at: Instant, job: &JobState, why: DropReason) {
        self.dropped(at, job, why);
    }
    /// The criticality indicator changed; `cause` is `None` for the return at an idle instant.
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, cause: Option<JobId>) {
        let _ = (at, from, to, cause);
    }
    /// No admitted job was pending at this instant, apart from those released just then.
    fn idle(&mut self, at: Instant) {
        let _ = at;
    }
    /// A pending job lost its CPU.
    fn preempted(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        let _ = (at, cpu, job);
    }
    /// A job lost its CPU because it may not execute before some instant.
    fn suspended(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        self.preempted(at, cpu, job);
    }
    /// A job got a CPU; `job.last_cpu` still says where it ran before.
    fn started(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        let _ = (at, cpu, job);
    }
    /// A job blocks, until events of this device were served.
    fn blocked(&mut self, at: Instant, cpu: CpuId, job: &JobState, device: DeviceId) {
        let _ = (at, cpu, job, device);
    }
    /// A job that was blocked can go on.
    fn woken(&mut self, at: Instant, job: &JobState) {
        let _ = (at, job);
    }
    /// So many events of a device arrived; `dropped` of them found no room. The jobs that handle them are reported
    /// when they execute, start and are preempted, and to no other method but [`Self::served`].
    fn interrupted(&mut self, at: Instant, device: DeviceId, count: u64, dropped: u64) {
        let _ = (at, device, count, dropped);
    }
    /// An event of a device was handled, by this job of its bottom half, which counts as released when the event
    /// arrived.
    fn served(&mut self, at: Instant, device: DeviceId, job: &JobState) {
        let _ = (at, device, job);
    }
    /// A server used up its budget.
    fn depleted(&mut self, at: Instant, server: ServerId) {
        let _ = (at, server);
    }
    /// A sporadic server gets so much of its budget later, because its list is full.
    fn postponed(&mut self, at: Instant, server: ServerId, amount: Service) {
        let _ = (at, server, amount);
    }
    /// A frame of a table ended before its last sub-frame did; frames are counted from the epoch.
    fn frame_overran(&mut self, at: Instant, frame: u64) {
        let _ = (at, frame);
    }
    /// So many frames passed of which nothing ran, from this one on, and another begins.
    fn frames_skipped(&mut self, at: Instant, first: u64, more: u64) {
        let _ = (at, first, more);
    }
    /// A CPU is taken for what carrying the policy out costs.
    fn mechanism_began(&mut self, at: Instant, cpu: CpuId, cause: Cause) {
        let _ = (at, cpu, cause);
    }
    /// The same ends; reported then. At the end of a run that may be the instant at which it began.
    fn mechanism_ended(&mut self, segment: Segment, cause: Cause) {
        let _ = (segment, cause);
    }
    /// A job had a CPU for something that is not its body; reported in parts, like executions. What it has executed behind that is
    /// reported next, so that the segment may end before the instant of the call.
    fn prepared(&mut self, segment: Segment, job: &JobState) {
        let _ = (segment, job);
    }
    /// A job is still pending when the run ends.
    fn unfinished(&mut self, end: Instant, job: &JobState) {
        let _ = (end, job);
    }
    /// The run is over.
    fn finished(&mut self, end: Instant) {
        let _ = end;
    }
}

/// No observer.
impl Observer for () {}

/// Reports everything to all of some lists of observers, in their order. What is called for each job is always in line: who
/// watches through a reference, or beside others, costs no call.
macro_rules! forward {
    ($self:ident => $($observers:expr),+) => {
        #[inline(always)]
        fn released(&mut $self, at: Instant, job: &JobState) {
            $(for each in $observers { each.released(at, job); })+
        }
        fn kept(&mut $self, at: Instant, job: &JobState) {
            $(for each in $observers { each.kept(at, job); })+
        }
        #[inline(always)]
        fn executed(&mut $self, segment: Segment, job: &JobState) {
            $(for each in $observers { each.executed(segment, job); })+
        }
        #[inline(always)]
        fn completed(&mut $self, at: Instant, job: &JobState) {
            $(for each in $observers { each.completed(at, job); })+
        }
        fn overran(&mut $self, at: Instant, job: JobId, level: Level) {
            $(for each in $observers { each.overran(at, job, level); })+
        }
        fn demoted(&mut $self, at: Instant, job: &JobState) {
            $(for each in $observers { each.demoted(at, job); })+
        }
        fn dropped(&mut $self, at: Instant, job: &JobState, why: DropReason) {
            $(for each in $observers { each.dropped(at, job, why); })+
        }
        fn discarded(&mut $self, at: Instant, job: &JobState, why: DropReason) {
            $(for each in $observers { each.discarded(at, job, why); })+
        }
        fn mode_changed(&mut $self, at: Instant, from: Level, to: Level, cause: Option<JobId>) {
            $(for each in $observers { each.mode_changed(at, from, to, cause); })+
        }
        #[inline(always)]
        fn idle(&mut $self, at: Instant) {
            $(for each in $observers { each.idle(at); })+
        }
        #[inline(always)]
        fn preempted(&mut $self, at: Instant, cpu: CpuId, job: &JobState) {
            $(for each in $observers { each.preempted(at, cpu, job); })+
        }
        fn suspended(&mut $self, at: Instant, cpu: CpuId, job: &JobState) {
            $(for each in $observers { each.suspended(at, cpu, job); })+
        }
        #[inline(always)]
        fn started(&mut $self, at: Instant, cpu: CpuId, job: &JobState) {
            $(for each in $observers { each.started(at, cpu, job); })+
        }
        fn blocked(&mut $self, at: Instant, cpu: CpuId, job: &JobState, device: DeviceId) {
            $(for each in $observers { each.blocked(at, cpu, job, device); })+
        }
        fn woken(&mut $self, at: Instant, job: &JobState) {
            $(for each in $observers { each.woken(at, job); })+
        }
        fn interrupted(&mut $self, at: Instant, device: DeviceId, count: u64, dropped: u64) {
            $(for each in $observers { each.interrupted(at, device, count, dropped); })+
        }
        fn served(&mut $self, at: Instant, device: DeviceId, job: &JobState) {
            $(for each in $observers { each.served(at, device, job); })+
        }
        fn depleted(&mut $self, at: Instant, server: ServerId) {
            $(for each in $observers { each.depleted(at, server); })+
        }
        fn postponed(&mut $self, at: Instant, server: ServerId, amount: Service) {
            $(for each in $observers { each.postponed(at, server, amount); })+
        }
        fn frame_overran(&mut $self, at: Instant, frame: u64) {
            $(for each in $observers { each.frame_overran(at, frame); })+
        }
        fn frames_skipped(&mut $self, at: Instant, first: u64, more: u64) {
            $(for each in $observers { each.frames_skipped(at, first, more); })+
        }
        fn mechanism_began(&mut $self, at: Instant, cpu: CpuId, cause: Cause) {
            $(for each in $observers { each.mechanism_began(at, cpu, cause); })+
        }
        fn mechanism_ended(&mut $self, segment: Segment, cause: Cause) {
            $(for each in $observers { each.mechanism_ended(segment, cause); })+
        }
        fn prepared(&mut $self, segment: Segment, job: &JobState) {
            $(for each in $observers { each.prepared(segment, job); })+
        }
        fn unfinished(&mut $self, end: Instant, job: &JobState) {
            $(for each in $observers { each.unfinished(end, job); })+
        }
        fn finished(&mut $self, end: Instant) {
            $(for each in $observers { each.finished(end); })+
        }
    };
}

impl<O: Observer + ?Sized> Observer for &mut O {
    forward!(self => [&mut **self]);
}

impl<O: Observer + ?Sized> Observer for Box<O> {
    forward!(self => [&mut **self]);
}

/// Whoever is there watches.
impl<O: Observer> Observer for Option<O> {
    forward!(self => self.iter_mut());
}

/// Both watch, the first one first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    forward!(self => [&mut self.0], [&mut self.1]);
}

/// All watch, in order.
impl Observer for Vec<&mut dyn Observer> {
    forward!(self => self.iter_mut());
}

//! Everything that an observer can hear, as text.

use vestal_core::{CpuId, DeviceId, DropReason, Instant, JobId, Level, ServerId, Service};
use vestal_sim::costs::Cause;
use vestal_sim::{JobState, Observer, Segment};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Log(pub(crate) Vec<String>);

/// Methods that note down their name and what they are given.
macro_rules! noted {
    ($($name:ident($($argument:ident: $kind:ty),+);)+) => {
        $(fn $name(&mut self, $($argument: $kind),+) {
            self.0.push(format!("{} {:?}", stringify!($name), ($($argument,)+)));
        })+
    };
}

impl Observer for Log {
    noted! {
        released(at: Instant, job: &JobState);
        kept(at: Instant, job: &JobState);
        executed(segment: Segment, job: &JobState);
        completed(at: Instant, job: &JobState);
        overran(at: Instant, job: JobId, level: Level);
        demoted(at: Instant, job: &JobState);
        dropped(at: Instant, job: &JobState, why: DropReason);
        discarded(at: Instant, job: &JobState, why: DropReason);
        mode_changed(at: Instant, from: Level, to: Level, cause: Option<JobId>);
        idle(at: Instant);
        preempted(at: Instant, cpu: CpuId, job: &JobState);
        suspended(at: Instant, cpu: CpuId, job: &JobState);
        started(at: Instant, cpu: CpuId, job: &JobState);
        blocked(at: Instant, cpu: CpuId, job: &JobState, device: DeviceId);
        woken(at: Instant, job: &JobState);
        interrupted(at: Instant, device: DeviceId, count: u64, dropped: u64);
        served(at: Instant, device: DeviceId, job: &JobState);
        depleted(at: Instant, server: ServerId);
        postponed(at: Instant, server: ServerId, amount: Service);
        frame_overran(at: Instant, frame: u64);
        frames_skipped(at: Instant, first: u64, more: u64);
        mechanism_began(at: Instant, cpu: CpuId, cause: Cause);
        mechanism_ended(segment: Segment, cause: Cause);
        prepared(segment: Segment, job: &JobState);
        unfinished(end: Instant, job: &JobState);
        finished(end: Instant);
    }
}

//! What a simulated world records beside the calls that a [`vestal_trace::Recorder`] sees.

use crate::session::Session;
use vestal_core::{CpuId, DropReason, Fact, Instant, JobId, StopReason};
use vestal_sim::guarantee::{Guarantee, Judge};
use vestal_sim::{JobState, Observer, Segment};
use vestal_trace::{Record, Sink, What};

/// For a world that tells its scheduler everything: only misses are its own, and jobs that it keeps until
/// the scheduler has room for them. Without a proof no miss breaks a guarantee.
pub(crate) fn reported<'a>(session: &Session, sink: impl Sink + Clone + 'a) -> impl Observer + 'a {
    (Kept(sink.clone()), judge(session, sink))
}

fn judge<'a>(session: &Session, mut sink: impl Sink + 'a) -> impl Observer + 'a {
    let proved = session.system.proved_by().is_some();
    Judge::new(guarantee(session), move |at, job: &JobState, guaranteed| {
        sink.put(miss(at, job, proved && guaranteed));
    })
}

/// Records the arrival of jobs that are reported to the scheduler later, and the end of those that it never
/// learns of.
struct Kept<K>(K);

impl<K: Sink> Observer for Kept<K> {
    fn kept(&mut self, at: Instant, job: &JobState) {
        let what = What::Observed(Fact::Released { job: job.id });
        self.0.put(Record { at, what });
    }
    fn discarded(&mut self, at: Instant, job: &JobState, why: DropReason) {
        let what = What::Dropped { job: job.id, why };
        self.0.put(Record { at, what });
    }
}

/// For a world that tells its guard exceptions only: also what the jobs did.
pub(crate) fn observed<'a>(session: &Session, sink: impl Sink + Clone + 'a) -> impl Observer + 'a {
    let jobs = Jobs {
        sink: sink.clone(),
        running: None,
    };
    // A job is recorded as complete or dropped before it is judged.
    (jobs, judge(session, sink))
}

fn guarantee(session: &Session) -> Guarantee {
    Guarantee::of(&session.guaranteed())
}

const fn miss(at: Instant, job: &JobState, guaranteed: bool) -> Record {
    let what = What::Miss {
        job: job.id,
        deadline: job.deadline,
        guaranteed,
    };
    Record { at, what }
}

/// Records what the threads of a native world do by themselves.
struct Jobs<K> {
    sink: K,
    running: Option<(CpuId, JobId)>,
}

impl<K: Sink> Jobs<K> {
    fn put(&mut self, at: Instant, fact: Fact) {
        let what = What::Observed(fact);
        self.sink.put(Record { at, what });
    }

    /// If it runs.
    fn stop(&mut self, at: Instant, job: JobId, why: StopReason) {
        if let Some(cpu) = self.leave(job) {
            self.put(at, Fact::Stopped { cpu, job, why });
        }
    }

    fn leave(&mut self, job: JobId) -> Option<CpuId> {
        let (cpu, _) = self.running.filter(|(_, running)| *running == job)?;
        self.running = None;
        Some(cpu)
    }
}

impl<K: Sink> Observer for Jobs<K> {
    fn released(&mut self, at: Instant, job: &JobState) {
        self.put(at, Fact::Released { job: job.id });
    }
    fn executed(&mut self, _: Segment, _: &JobState) {}
    fn started(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        self.running = Some((cpu, job.id));
        self.put(at, Fact::Started { cpu, job: job.id });
    }
    fn preempted(&mut self, at: Instant, _: CpuId, job: &JobState) {
        self.stop(at, job.id, StopReason::Preempted);
    }
    fn suspended(&mut self, at: Instant, _: CpuId, job: &JobState) {
        self.stop(at, job.id, StopReason::Blocked);
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        let running = self.leave(job.id);
        // A job without any demand completes where it was given the CPU.
        let cpu = running.or(job.last_cpu).unwrap_or(CpuId(0));
        self.put(at, Fact::Completed { cpu, job: job.id });
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        self.stop(at, job.id, StopReason::Cancelled);
        let what = What::Dropped { job: job.id, why };
        self.sink.put(Record { at, what });
    }
}

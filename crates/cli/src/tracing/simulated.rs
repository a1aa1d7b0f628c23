//! What a simulated world records beside the calls that a [`vestal_trace::Recorder`] sees.

use crate::session::Session;
use vestal_core::{CpuId, DropReason, Fact, Instant, JobId, StopReason, TaskId};
use vestal_policy::Cluster;
use vestal_sim::costs::Cause;
use vestal_sim::guarantee::Judge;
use vestal_sim::{JobState, Observer, Segment};
use vestal_trace::{Dispatch, Edge, Mechanism, Record, Sink, What};

/// By the dispatch of the world of a cluster: what it does itself, and misses. Without a proof no miss breaks a guarantee.
pub(crate) fn recorded<'a>(
    session: &Session,
    cluster: usize,
    dispatch: Dispatch,
    sink: impl Sink + Clone + 'a,
) -> Box<dyn Observer + 'a> {
    let proved = session.system.proved_by().is_some();
    let mut misses = sink.clone();
    let judge = Judge::new(
        session.guarantee(cluster),
        move |at, job: &JobState, guaranteed| {
            let what = What::Miss {
                job: job.id,
                deadline: job.deadline,
                guaranteed: proved && guaranteed,
            };
            misses.put(Record { at, what });
        },
    );
    // A job is recorded as complete or dropped before it is judged.
    match dispatch {
        // The scheduler is told everything but which jobs are kept until it has room for them.
        Dispatch::Managed => Box::new((Kept(sink), judge)),
        // The guard is told exceptions only.
        Dispatch::Native => {
            let running = None;
            Box::new((Jobs { sink, running }, judge))
        }
    }
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
    fn mechanism_began(&mut self, at: Instant, cpu: CpuId, cause: Cause) {
        self.0.put(overhead(at, cpu, (cause, Edge::Begin)));
    }
    fn mechanism_ended(&mut self, segment: Segment, cause: Cause) {
        self.0
            .put(overhead(segment.end, segment.cpu, (cause, Edge::End)));
    }
}

fn overhead(at: Instant, cpu: CpuId, (cause, edge): (Cause, Edge)) -> Record {
    let mechanism = match cause {
        Cause::Release => Mechanism::Release,
        Cause::Job | Cause::Switch => Mechanism::Switch,
        Cause::Completion => Mechanism::JobEnd,
        Cause::Exhaustion | Cause::Heartbeat => Mechanism::Monitor,
        Cause::Mode => Mechanism::ModeChange,
        Cause::Wake => Mechanism::WakeUp,
        Cause::Frame => Mechanism::Barrier,
    };
    let what = What::Overhead {
        cpu,
        mechanism,
        edge,
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

/// Several domains of one cluster: what is about a task goes where its domain's records do.
#[derive(Clone)]
pub(crate) struct OfTask<K> {
    /// By domain.
    sinks: Vec<K>,
    /// By task, its place in the list.
    homes: Vec<usize>,
}

impl<K: Sink> OfTask<K> {
    /// In front of the sinks of the domains of this cluster.
    pub(crate) fn new(cluster: &Cluster, sinks: Vec<K>) -> Self {
        let tasks = (0..).map(TaskId).take(cluster.tasks.len());
        // Every task is in a domain.
        let homes = tasks.map(|task| cluster.domain_of(task).unwrap_or(0));
        Self {
            homes: homes.collect(),
            sinks,
        }
    }
}

impl<K: Sink> Sink for OfTask<K> {
    fn put(&mut self, record: Record) {
        let mut home = 0;
        let homes = &self.homes;
        let look = |task: TaskId| home = homes.get(task.index()).copied().unwrap_or(0);
        record.visit_names(look, |_| {});
        if let Some(sink) = self.sinks.get_mut(home) {
            sink.put(record);
        }
    }
}

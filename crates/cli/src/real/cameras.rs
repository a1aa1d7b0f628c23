//! Runs with cameras: when applications complete their jobs, and how much of a camera is read by when.
//!
//! A bottom half puts what it serves into a buffer, and a job of the application with its number reads what has come since the job before it, without waiting
//! for anybody; then it burns the rest of what it demands.

use super::Settings;
use super::bursts::Bursts;
use super::cpus;
use super::devices::Devices;
use super::linux::blame;
use crate::failure::Failure;
use crate::session::Session;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use vestal_core::{Instant, JobId, Service, TaskConfiguration, TaskId};
use vestal_experiment::overhead::missimer::run::{Camera, Place, Rise, Run, System, WINDOW_NS};
use vestal_experiment::overhead::missimer::set;
use vestal_experiment::overhead::missimer::spans::{self, Span};
use vestal_linux::device::{clock_nanos, keep_off, sleep_until};
use vestal_linux::report::{CpuReport, MachineReport, ServerReport};
use vestal_linux::{Device, Ended, Executive, JobContext, Processor, Report, TaskSpec};

/// So many events fit into a buffer: more than come in a period.
const ROOM: usize = 4_096;
/// So many parts of a run with a bottom half at work are known: in one of 8 s one for each event that is sent.
const BURSTS: usize = 65_536;

/// What a bottom half has served of a camera. One thread writes, one reads, and none waits for the other: what is not read in time is overwritten.
#[derive(Debug)]
struct Buffer {
    events: Vec<AtomicU8>,
    written: AtomicU64,
}

impl Buffer {
    fn new() -> Self {
        Self {
            events: (0..ROOM).map(|_| AtomicU8::new(0)).collect(),
            written: AtomicU64::new(0),
        }
    }

    fn place(&self, number: u64) -> Option<&AtomicU8> {
        let place = number % ROOM as u64;
        usize::try_from(place)
            .ok()
            .and_then(|place| self.events.get(place))
    }

    fn put(&self, event: &[u8]) {
        let number = self.written.load(Ordering::Relaxed);
        if let (Some(place), Some(&first)) = (self.place(number), event.first()) {
            place.store(first, Ordering::Relaxed);
        }
        self.written.store(number + 1, Ordering::Release);
    }

    /// Reads all from this number on that is still there; gives the number of the next, and how many were read.
    fn read_from(&self, next: u64) -> (u64, u64) {
        let end = self.written.load(Ordering::Acquire);
        let first = next.max(end.saturating_sub(ROOM as u64));
        let read = (first..end).filter_map(|number| self.place(number));
        let sum = read.fold(0_u64, |sum, event| {
            sum.wrapping_add(event.load(Ordering::Relaxed).into())
        });
        // It is looked at, whatever the compiler thinks of it.
        std::hint::black_box(sum);
        (end, end - first)
    }
}

/// What an application does, and what becomes of it.
#[derive(Debug, Default)]
struct Application {
    completed: Mutex<Vec<u64>>,
    /// When bodies of its jobs began, with the numbers of these.
    begun: Mutex<Vec<(u64, u64)>>,
    /// Of the bottom half that fills [`Self::buffer`].
    bursts: Mutex<Bursts>,
    /// Of its camera, if it has one.
    buffer: Option<Arc<Buffer>>,
    read: AtomicU64,
    overwritten: AtomicU64,
    /// The clock when the run began, from when its first job has begun; 0 before.
    epoch: AtomicU64,
}

/// Runs a session for its duration; `None`: a signal ended it.
pub(crate) fn cameras(
    session: &Session,
    settings: &Settings,
    (place, system, repetition): (Place, System, u32),
) -> Result<Option<Run>, Failure> {
    let devices = Devices::new(session, settings)?;
    let span = session.duration.as_nanos();
    let applications = applications(session);
    let executive = executive(session, settings, &devices, (place, &applications))?;
    let readers: Vec<Device> = (0..)
        .map_while(|number| devices.device(number).cloned())
        .collect();
    let senders = devices.begin(settings);
    let first = applications.first().cloned().unwrap_or_default();
    let samples = Samples::start(readers, (span / WINDOW_NS, first), settings);
    let report = executive.run(session.duration);
    let (looked_ns, served_by) = samples.end();
    senders.end();
    let failed = |error| blame(format!("run under {}", session.system.policy), error);
    let report = report.map_err(failed)?;
    let rows = devices.rows(&report).map_err(failed)?;
    if report.ended != Ended::Finished {
        return Ok(None);
    }
    // Servers of cameras come after those of the applications.
    let servers = report.cpus.first().map(|cpu| &cpu.servers);
    let cameras = rows.into_iter().zip(served_by).enumerate();
    let gaps = gaps(&report);
    let cameras = cameras.map(|(number, (row, served_by))| {
        let server = servers.and_then(|servers| servers.get(applications.len() + number));
        let of =
            |of: fn(&ServerReport) -> Service| server.map_or(0, |server| of(server).as_nanos());
        Camera {
            sent: row.arrived,
            served: row.served,
            queued: row.queued,
            dropped: row.dropped,
            stalled_ns: devices.stalled_nanos(number),
            charged_ns: of(|server| server.charged),
            postponed_ns: of(|server| server.postponed),
            served_by,
            taken: applications
                .get(number)
                .map_or_else(Vec::new, |reader| spans::common(&gaps, &reader.bursts())),
        }
    });
    let of = |number: usize, count: fn(&Application) -> &AtomicU64| {
        let application = applications.get(number);
        application.map_or(0, |found| count(found).load(Ordering::Relaxed))
    };
    Ok(Some(Run {
        completed_ns: [0, 1].map(|number| {
            let application = applications.get(number);
            application.map_or_else(Vec::new, |found| found.completed().clone())
        }),
        read: [0, 1].map(|number| of(number, |found| &found.read)),
        overwritten: [0, 1].map(|number| of(number, |found| &found.overwritten)),
        cameras: cameras.collect(),
        looked_ns,
        rises: rises(&report, &applications, &gaps),
        ..ran(&report, (place, system, repetition))
    }))
}

/// Each with a buffer if there is a camera for it, and with room for what becomes of its jobs.
fn applications(session: &Session) -> Vec<Arc<Application>> {
    let jobs = usize::try_from(session.duration.as_nanos() / WINDOW_NS).unwrap_or(0) + 2;
    let cameras = session.set.devices.len();
    let each = (0..session.set.tasks.len()).map(|number| {
        let buffer = (number < cameras).then(|| Arc::new(Buffer::new()));
        Arc::new(Application {
            completed: Mutex::new(Vec::with_capacity(jobs)),
            begun: Mutex::new(Vec::with_capacity(jobs)),
            bursts: Mutex::new(Bursts::with_room(if number < cameras { BURSTS } else { 0 })),
            buffer,
            ..Application::default()
        })
    });
    each.collect()
}

/// What the report says.
fn ran(report: &Report, (place, system, repetition): (Place, System, u32)) -> Run {
    let cpus = report.cpus.iter();
    let count = |of: fn(&CpuReport) -> u64| cpus.clone().map(of).fold(0, u64::saturating_add);
    let changes = cpus.clone().flat_map(|cpu| &cpu.modes);
    let returns = changes.filter(|change| change.to < change.from);
    let dropped = |application: usize| {
        let tasks = report.cpus.first().map(|cpu| &cpu.tasks);
        let task = tasks.and_then(|tasks| tasks.get(application));
        task.map_or(0, |task| task.jobs.dropped)
    };
    Run {
        place,
        system,
        repetition,
        span_ns: report.duration.as_nanos(),
        completed_ns: [Vec::new(), Vec::new()],
        dropped: [dropped(0), dropped(1)],
        read: [0; 2],
        overwritten: [0; 2],
        rises: Vec::new(),
        returns_ns: returns.map(|change| since_begin(change.at)).collect(),
        scheduler_ns: count(|cpu| {
            let own = cpu.threads.cpu().as_nanos();
            own.saturating_add(cpu.threads.workers.as_nanos())
        }),
        switches: count(|cpu| cpu.busy_periods.switches),
        interrupts: count(|cpu| cpu.devices.iter().map(|device| device.interrupts).sum()),
        cameras: Vec::new(),
        looked_ns: Vec::new(),
        lost_ns: count(|cpu| cpu.machine.lost.as_nanos()),
        gaps: count(|cpu| cpu.machine.gaps),
        known_from_ns: cpus.map(known_from).max().unwrap_or(0),
    }
}

/// What others took of the CPU, as far as it is remembered; what two threads saw is there once.
fn gaps(report: &Report) -> Vec<Span> {
    let gaps = report.cpus.iter().flat_map(|cpu| &cpu.machine.newest);
    let gaps = gaps.map(|&(from, to)| (since_begin(from), since_begin(to)));
    spans::merged(gaps.collect())
}

/// Since when all of that is remembered: from the beginning, if none is forgotten.
fn known_from(cpu: &CpuReport) -> u64 {
    let newest = &cpu.machine.newest;
    match newest.len() >= MachineReport::NEWEST {
        true => newest.first().map_or(0, |&(_, to)| since_begin(to)),
        false => 0,
    }
}

/// When the mode rose, and what others took before that of the job that raised it.
fn rises(report: &Report, applications: &[Arc<Application>], gaps: &[Span]) -> Vec<Rise> {
    let each = report.cpus.iter().flat_map(|cpu| &cpu.modes);
    let each = each.filter(|change| change.to > change.from);
    each.map(|change| {
        let at = since_begin(change.at);
        let had = had_by(change.cause, at, applications);
        Rise::after(at, gaps, &had)
    })
    .collect()
}

/// When this job had the CPU until then, as far as bodies know. An application has it from its beginning on, but for bottom halves; what it loses to
/// another application while its server has no budget is not known, and counted.
fn had_by(cause: Option<JobId>, at: u64, applications: &[Arc<Application>]) -> Vec<Span> {
    let Some(job) = cause else {
        return Vec::new();
    };
    let until = |parts: &[Span]| spans::common(parts, &[(0, at)]);
    match job.task.index().checked_sub(applications.len()) {
        Some(camera) => {
            let reader = applications.get(camera);
            until(&reader.map_or_else(Vec::new, |reader| reader.bursts()))
        }
        None => {
            let application = applications.get(job.task.index());
            let began = application.and_then(|found| found.began(job.sequence));
            let all = applications.iter().flat_map(|reader| reader.bursts());
            let since: Vec<Span> = began.map(|began| (began, at)).into_iter().collect();
            spans::without(&spans::merged(since), &spans::merged(all.collect()))
        }
    }
}

fn since_begin(at: Instant) -> u64 {
    at.saturating_since(Instant::EPOCH).as_nanos()
}

/// The applications, whose jobs read and burn what the set says of them, and the bottom halves.
fn executive(
    session: &Session,
    settings: &Settings,
    devices: &Devices,
    (place, applications): (Place, &[Arc<Application>]),
) -> Result<Executive, Failure> {
    let mut executive = Executive::new(cpus::config(settings, true));
    for cluster in &session.system.clusters {
        executive = executive.cpu(cpus::cpu_of(session, cluster, settings, true));
        for (&id, configuration) in cluster.tasks.iter().zip(cluster.configuration.tasks()) {
            executive = match applications.get(id.index()) {
                Some(of) => application(executive, session, (id, configuration), (place, of)),
                None => {
                    let number = id.index() - applications.len();
                    let reader = applications.get(number);
                    let reader = reader.cloned();
                    let work = |cost: Service| {
                        move |job: &mut JobContext<'_>, event: &[u8]| {
                            job.burn(cost)?;
                            if let Some(reader) = &reader {
                                reader.is_served(job, event);
                            }
                            Ok(())
                        }
                    };
                    let half = (number, configuration);
                    cpus::with_bottom_half(executive, session, half, devices, work)
                }
            };
        }
    }
    Ok(executive)
}

fn application(
    executive: Executive,
    session: &Session,
    (id, configuration): (TaskId, &TaskConfiguration),
    (place, of): (Place, &Arc<Application>),
) -> Executive {
    let name = session.task_name(id);
    let span_ms = session.duration.as_nanos() / 1_000_000;
    let demand = move |job| Service::from_millis(set::demand_ms(place, id.index(), (job, span_ms)));
    let spec = TaskSpec {
        name,
        configuration: *configuration,
        offset: vestal_core::Duration::ZERO,
        demand_max: Some(session.demand_max(id)),
    };
    let of = Arc::clone(of);
    let mut next = 0;
    executive.task_with_demand(spec, demand, move |job| {
        of.begins(job.id().sequence, job.now());
        of.read_since(&mut next);
        job.burn(job.demand().saturating_sub(job.executed()))?;
        let mut completed = of.completed();
        // It asks for no memory in a real-time class.
        if completed.len() < completed.capacity() {
            completed.push(since_begin(job.now()));
        }
        Ok(())
    })
}

impl Application {
    fn completed(&self) -> MutexGuard<'_, Vec<u64>> {
        self.completed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// When its bottom half was at work.
    fn bursts(&self) -> Vec<Span> {
        let bursts = self.bursts.lock().unwrap_or_else(PoisonError::into_inner);
        spans::merged(bursts.parts().to_vec())
    }

    /// When the body of the job with this number began.
    fn began(&self, sequence: u64) -> Option<u64> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let found = begun.iter().find(|&&(of, _)| of == sequence);
        found.map(|&(_, at)| at)
    }

    /// A bottom half has served an event for it.
    fn is_served(&self, job: &JobContext<'_>, event: &[u8]) {
        if let Some(buffer) = &self.buffer {
            buffer.put(event);
        }
        let (at, executed) = (since_begin(job.now()), job.executed().as_nanos());
        let mut bursts = self.bursts.lock().unwrap_or_else(PoisonError::into_inner);
        bursts.served(job.id(), at, executed);
    }

    /// A job of it begins its body; the first one says when the run began.
    fn begins(&self, sequence: u64, now: Instant) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.len() < begun.capacity() {
            begun.push((sequence, since_begin(now)));
        }
        drop(begun);
        if self.epoch.load(Ordering::Relaxed) == 0 {
            let epoch = clock_nanos().saturating_sub(since_begin(now));
            self.epoch.store(epoch, Ordering::Release);
        }
    }

    /// Reads what its camera's bottom half has served since it was at `next`.
    fn read_since(&self, next: &mut u64) {
        let Some(buffer) = &self.buffer else {
            return;
        };
        let (end, read) = buffer.read_from(*next);
        let overwritten = end - *next - read;
        *next = end;
        self.read.fetch_add(read, Ordering::Relaxed);
        self.overwritten.fetch_add(overwritten, Ordering::Relaxed);
    }
}

/// A thread that looks what was served at the end of each window, and when that was.
struct Samples {
    thread: JoinHandle<(Vec<u64>, Vec<Vec<u64>>)>,
    is_over: Arc<AtomicBool>,
    cameras: usize,
}

impl Samples {
    /// So many windows of a run that `first` says the beginning of.
    fn start(
        cameras: Vec<Device>,
        (windows, first): (u64, Arc<Application>),
        settings: &Settings,
    ) -> Self {
        /// So often it looks whether the run has begun, or is over.
        const POLL_NANOS: u64 = 1_000_000;
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, count) = (Arc::clone(&is_over), cameras.len());
        let goes_on = move || !over.load(Ordering::Acquire);
        let own = settings.cpus.iter().flatten().copied();
        let own: Vec<Processor> = own.map(Processor).collect();
        let thread = thread::spawn(move || {
            // Where it may not, its windows end late, and it says when.
            let _ = keep_off(&own);
            let (mut looked_ns, mut served_by) = (Vec::new(), vec![Vec::new(); cameras.len()]);
            let begun = || first.epoch.load(Ordering::Acquire);
            while begun() == 0 && goes_on() {
                sleep_until(clock_nanos() + POLL_NANOS);
            }
            let begun = begun();
            for window in 1..=windows {
                let end = begun + window * WINDOW_NS;
                while clock_nanos() < end && goes_on() {
                    sleep_until(end.min(clock_nanos() + 20 * POLL_NANOS));
                }
                if !goes_on() && clock_nanos() < end {
                    break;
                }
                looked_ns.push(clock_nanos().saturating_sub(begun));
                for (served_by, camera) in served_by.iter_mut().zip(&cameras) {
                    served_by.push(camera.served());
                }
            }
            (looked_ns, served_by)
        });
        Self {
            thread,
            is_over,
            cameras: count,
        }
    }

    /// When it looked, and what had been served of each camera.
    fn end(self) -> (Vec<u64>, Vec<Vec<u64>>) {
        self.is_over.store(true, Ordering::Release);
        // It does not panic.
        let found = self.thread.join();
        found.unwrap_or_else(|_| (Vec::new(), vec![Vec::new(); self.cameras]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_an_application_has_the_cpu_from_its_beginning_but_for_bottom_halves() {
        let application = |begun: &[(u64, u64)], bursts: &[Span]| {
            let bursts = Bursts::of(bursts.to_vec());
            Arc::new(Application {
                begun: Mutex::new(begun.to_vec()),
                bursts: Mutex::new(bursts),
                ..Application::default()
            })
        };
        let applications = [
            application(&[(0, 0), (1, 100)], &[(110, 120), (300, 310)]),
            application(&[(0, 50)], &[(130, 140)]),
        ];
        let had = |task, sequence| {
            let task = TaskId(task);
            had_by(Some(JobId { task, sequence }), 200, &applications)
        };
        assert_eq!(had(0, 1), [(100, 110), (120, 130), (140, 200)]);
        assert_eq!(had(0, 2), [], "its body has not begun");
        assert_eq!(had(2, 7), [(110, 120)], "a bottom half");
        assert_eq!(had(3, 0), [(130, 140)]);
        assert_eq!(had_by(None, 200, &applications), []);
    }

    #[test]
    fn each_event_is_read_once_or_known_to_be_overwritten() {
        let application = Application {
            buffer: Some(Arc::new(Buffer::new())),
            ..Application::default()
        };
        let buffer = application.buffer.clone().unwrap();
        let put = |count: u64| (0..count).for_each(|_| buffer.put(&[1]));
        let mut next = 0;
        let counts = |next: &mut u64| {
            application.read_since(next);
            [&application.read, &application.overwritten].map(|of| of.load(Ordering::Relaxed))
        };
        assert_eq!(counts(&mut next), [0, 0]);
        put(3);
        assert_eq!(counts(&mut next), [3, 0]);
        assert_eq!(counts(&mut next), [3, 0]);
        put(ROOM as u64 + 5);
        assert_eq!(counts(&mut next), [3 + ROOM as u64, 5]);
        assert_eq!(next, ROOM as u64 + 8);
        let none = Application::default();
        none.read_since(&mut next);
        assert_eq!(none.read.load(Ordering::Relaxed), 0);
    }
}

//! Runs with cameras: when applications complete their jobs, and how much of a camera is read by when.

use super::Settings;
use super::cpus;
use super::devices::Devices;
use super::linux::blame;
use crate::failure::Failure;
use crate::session::Session;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use vestal_core::{Instant, Service, TaskConfiguration, TaskId};
use vestal_experiment::overhead::missimer::run::{Camera, Place, Run, System, WINDOW_NS};
use vestal_experiment::overhead::missimer::set;
use vestal_linux::device::{clock_nanos, keep_off, sleep_until};
use vestal_linux::{Device, Ended, Executive, Processor, Report, TaskSpec};

/// When jobs of a task were completed, since the run began.
type Completed = Arc<Mutex<Vec<u64>>>;

/// Runs a session for its duration; `None`: a signal ended it.
pub(crate) fn cameras(
    session: &Session,
    settings: &Settings,
    (place, system, repetition): (Place, System, u32),
) -> Result<Option<Run>, Failure> {
    let devices = Devices::new(session, settings)?;
    let span = session.duration.as_nanos();
    let jobs = usize::try_from(span / WINDOW_NS).unwrap_or(0) + 2;
    let completed: Vec<Completed> = session
        .set
        .tasks
        .iter()
        .map(|_| Arc::new(Mutex::new(Vec::with_capacity(jobs))))
        .collect();
    let executive = executive(session, settings, &devices, (place, &completed))?;
    let readers: Vec<Device> = (0..)
        .map_while(|number| devices.device(number).cloned())
        .collect();
    let senders = devices.begin(settings);
    let samples = Samples::start(readers, span / WINDOW_NS, settings);
    let report = executive.run(session.duration);
    let served_by = samples.end();
    senders.end();
    let failed = |error| blame(format!("run under {}", session.system.policy), error);
    let report = report.map_err(failed)?;
    let rows = devices.rows(&report).map_err(failed)?;
    if report.ended != Ended::Finished {
        return Ok(None);
    }
    let cameras = rows.into_iter().zip(served_by);
    let cameras = cameras.map(|(row, served_by)| Camera {
        sent: row.arrived,
        served: row.served,
        queued: row.queued,
        dropped: row.dropped,
        served_by,
    });
    let [first, second] = [0, 1].map(|application| {
        let of = completed.get(application);
        of.map_or_else(Vec::new, |of| {
            of.lock().unwrap_or_else(PoisonError::into_inner).clone()
        })
    });
    Ok(Some(Run {
        place,
        system,
        repetition,
        completed_ns: [first, second],
        cameras: cameras.collect(),
        ..of(&report, (place, system, repetition))
    }))
}

/// What the report says.
fn of(report: &Report, (place, system, repetition): (Place, System, u32)) -> Run {
    let cpus = report.cpus.iter();
    let count = |of: fn(&vestal_linux::report::CpuReport) -> u64| {
        cpus.clone().map(of).fold(0, u64::saturating_add)
    };
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
        rises: count(|cpu| {
            let rises = cpu.modes.iter().filter(|change| change.to > change.from);
            rises.count() as u64
        }),
        scheduler_ns: count(|cpu| {
            let own = cpu.threads.cpu().as_nanos();
            own.saturating_add(cpu.threads.workers.as_nanos())
        }),
        switches: count(|cpu| cpu.busy_periods.switches),
        interrupts: count(|cpu| cpu.devices.iter().map(|device| device.interrupts).sum()),
        cameras: Vec::new(),
        lost_ns: count(|cpu| cpu.machine.lost.as_nanos()),
    }
}

/// The applications, whose jobs burn what the set says of them, and the bottom halves.
fn executive(
    session: &Session,
    settings: &Settings,
    devices: &Devices,
    (place, completed): (Place, &[Completed]),
) -> Result<Executive, Failure> {
    let refused = Arc::new(AtomicU64::new(0));
    let mut executive = Executive::new(cpus::config(settings, true));
    for cluster in &session.system.clusters {
        executive = executive.cpu(cpus::cpu_of(session, cluster, settings, true));
        for (&id, configuration) in cluster.tasks.iter().zip(cluster.configuration.tasks()) {
            executive = match completed.get(id.index()) {
                Some(of) => application(executive, session, (id, configuration), (place, of)),
                None => {
                    let task = (id, configuration);
                    cpus::with_task(executive, session, task, (devices, &refused))?
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
    (place, completed): (Place, &Completed),
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
    let completed = Arc::clone(completed);
    executive.task_with_demand(spec, demand, move |job| {
        job.burn_demand()?;
        let now = job.now().saturating_since(Instant::EPOCH).as_nanos();
        let mut completed = completed.lock().unwrap_or_else(PoisonError::into_inner);
        // It asks for no memory in a real-time class.
        if completed.len() < completed.capacity() {
            completed.push(now);
        }
        Ok(())
    })
}

/// A thread that looks what was served at the end of each window.
struct Samples {
    thread: JoinHandle<Vec<Vec<u64>>>,
    is_over: Arc<AtomicBool>,
    cameras: usize,
}

impl Samples {
    fn start(cameras: Vec<Device>, windows: u64, settings: &Settings) -> Self {
        /// So often it looks whether the run has begun, or is over.
        const POLL_NANOS: u64 = 1_000_000;
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, count) = (Arc::clone(&is_over), cameras.len());
        let goes_on = move || !over.load(Ordering::Acquire);
        let own = settings.cpus.iter().flatten().copied();
        let own: Vec<Processor> = own.map(Processor).collect();
        let thread = thread::spawn(move || {
            // Where it may not, its windows end late.
            let _ = keep_off(&own);
            let mut served_by = vec![Vec::new(); cameras.len()];
            while !cameras.iter().all(Device::is_in_use) && goes_on() {
                sleep_until(clock_nanos() + POLL_NANOS);
            }
            let begun = clock_nanos();
            for window in 1..=windows {
                let end = begun + window * WINDOW_NS;
                while clock_nanos() < end && goes_on() {
                    sleep_until(end.min(clock_nanos() + 20 * POLL_NANOS));
                }
                for (served_by, camera) in served_by.iter_mut().zip(&cameras) {
                    served_by.push(camera.served());
                }
            }
            served_by
        });
        Self {
            thread,
            is_over,
            cameras: count,
        }
    }

    /// What was served by the end of each window, of each camera.
    fn end(self) -> Vec<Vec<u64>> {
        self.is_over.store(true, Ordering::Release);
        // It does not panic.
        let found = self.thread.join();
        found.unwrap_or_else(|_| vec![Vec::new(); self.cameras])
    }
}

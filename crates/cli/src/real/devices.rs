//! The devices of a real run: what their events come by, who sends them, and what became of them.

use super::{Settings, Storm};
use crate::failure::Failure;
use crate::input::shown;
use crate::session::Session;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use vestal_core::time::NANOS_PER_SECOND;
use vestal_core::{Duration, Service};
use vestal_linux::device::{Outcome, clock_nanos, keep_off, sleep_until};
use vestal_linux::{
    Cancelled, Device, JobContext, Processor, Report, RunError, Sender, Taken, pipe, pty, tun, udp,
};
use vestal_result::run::{DeviceRow, DroppedEvents};
use vestal_workload::model::{DeviceArrival, DeviceKind, DeviceSpec, IoSpec};

/// So many events fit into a device at least.
const ROOM: u16 = 256;
const EVENT: [u8; 1] = [0];
/// A sender that is late by no more has stalled nobody.
const STALL_NANOS: u64 = 20_000_000;
/// What is taken of an event that nobody serves, a packet with its headers included.
const TAKEN_BYTES: usize = 64;

/// The devices of a set, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Devices {
    each: Vec<Made>,
}

/// A device, and what its events come from.
#[derive(Debug)]
struct Made {
    name: String,
    kind: DeviceKind,
    device: Device,
    source: Arc<Source>,
    pace: Pace,
}

/// Who may send events to a device.
#[derive(Debug)]
struct Source {
    sender: Sender,
    sent: AtomicU64,
    /// Of those: how many found no room, or could not be sent.
    refused: AtomicU64,
    /// How many could not, and the number of the error with the last of them.
    failed: AtomicU64,
    error: AtomicI32,
    /// How late it was in all, each time beyond [`STALL_NANOS`].
    stalled_nanos: AtomicU64,
}

impl Source {
    fn new(sender: Sender) -> Self {
        Self {
            sender,
            sent: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            error: AtomicI32::new(0),
            stalled_nanos: AtomicU64::new(0),
        }
    }

    fn send(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        let done = self.sender.send(&EVENT);
        if !matches!(done, Ok(true)) {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        if let Err(error) = done {
            let number = error.raw_os_error().unwrap_or(0);
            self.error.store(number, Ordering::Relaxed);
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// It wanted the CPU from `due` on and has it now.
    fn has_the_cpu(&self, due: u64, now: u64) {
        let beyond = now.saturating_sub(due).saturating_sub(STALL_NANOS);
        self.stalled_nanos.fetch_add(beyond, Ordering::Relaxed);
    }

    /// What has to be said of events that could not be sent to the device of this name.
    fn warning(&self, name: &str) -> Option<String> {
        let failed = self.failed.load(Ordering::Relaxed);
        let error = io::Error::from_raw_os_error(self.error.load(Ordering::Relaxed));
        (failed > 0).then(|| {
            format!("{failed} events could not be sent to {name}, and count as dropped: {error}")
        })
    }
}

/// When events are sent.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// When a job begins to wait for them.
    Requested,
    /// So many at once, each such time.
    Every(Duration, u64),
    /// As fast as it can be done.
    Storm,
}

impl Pace {
    fn of(spec: &DeviceSpec, storm: Option<Storm>) -> Self {
        match (storm, spec.arrival) {
            (Some(Storm::Unbounded), _) => Self::Storm,
            (Some(Storm::Rate(each_second)), _) => {
                let each_second = u64::from(each_second).max(1);
                Self::Every(Duration::from_nanos(NANOS_PER_SECOND / each_second), 1)
            }
            (None, DeviceArrival::Requested) => Self::Requested,
            (None, DeviceArrival::Periodic { period } | DeviceArrival::Sporadic { period }) => {
                Self::Every(period, 1)
            }
            (None, DeviceArrival::Burst { period, burst }) => Self::Every(period, burst),
        }
    }

    /// Sends until the run is over.
    fn go(self, (source, device): (&Source, &Device), is_over: &AtomicBool) {
        /// A sender looks so often whether the run is over.
        const PATIENCE_NANOS: u64 = 20_000_000;
        const POLL_NANOS: u64 = 500_000;
        /// And that the kernel's counter of drops, which has 32 bits, has not begun anew twice.
        const COUNT_NANOS: u64 = 60_000_000_000;
        // Something is tried out before the run begins.
        while !device.is_in_use() && !is_over.load(Ordering::Acquire) {
            sleep_until(clock_nanos() + POLL_NANOS);
        }
        let mut next = clock_nanos();
        let (mut counted, mut due) = (next, next);
        while !is_over.load(Ordering::Acquire) {
            if clock_nanos() - counted > COUNT_NANOS {
                // Who is told what was dropped hears of an error then.
                let _ = device.dropped();
                counted = clock_nanos();
            }
            match self {
                Self::Requested => return,
                Self::Storm => source.send(),
                Self::Every(period, count) => {
                    let now = clock_nanos();
                    source.has_the_cpu(due, now);
                    due = now;
                    if next > now {
                        due = next.min(now + PATIENCE_NANOS);
                        sleep_until(due);
                        continue;
                    }
                    (0..count).for_each(|_| source.send());
                    next = next.saturating_add(period.as_nanos());
                }
            }
        }
    }
}

impl Devices {
    /// Those of the session's set, as `--device` says.
    pub(super) fn new(session: &Session, settings: &Settings) -> Result<Self, Failure> {
        let specs = &session.set.devices;
        let is_served = has_devices(session);
        let named = |name: &str| specs.iter().any(|spec| is_served && spec.name == name);
        if let Some(unknown) = settings.devices.iter().find(|real| !named(&real.name)) {
            let what = format!("use --device {}=...", unknown.name);
            let why = match is_served {
                true => format!("{} has no such device", shown(&session.file)),
                false => format!("{} has no devices", session.system.policy),
            };
            return Err(Failure::input(what, why).with_help("name a [[device]] of the file"));
        }
        if !is_served {
            return Ok(Self::default());
        }
        let each = specs.iter().map(|spec| {
            let mut real = settings.devices.iter();
            let real = real.find(|real| real.name == spec.name);
            let kind = real.map(|real| real.kind).or(spec.real);
            let kind = kind.ok_or_else(|| no_device(session, &spec.name))?;
            make(session, spec, (kind, real.and_then(|real| real.storm)))
        });
        let each = each.collect::<Result<_, _>>()?;
        Ok(Self { each })
    }

    /// The device with this number.
    pub(super) fn device(&self, number: usize) -> Option<&Device> {
        self.each.get(number).map(|made| &made.device)
    }

    /// How late the sender of that one was in all, each time beyond what stalls nobody.
    pub(super) fn stalled_nanos(&self, number: usize) -> u64 {
        let made = self.each.get(number);
        made.map_or(0, |made| made.source.stalled_nanos.load(Ordering::Relaxed))
    }

    /// What a job waits for.
    pub(super) fn waits(&self, waits: &[IoSpec]) -> Vec<Wait> {
        let waits = waits.iter().filter_map(|wait| {
            let made = self.each.iter().find(|made| made.name == wait.device)?;
            let is_asked = matches!(made.pace, Pace::Requested);
            Some(Wait {
                after: wait.after,
                events: wait.events,
                device: made.device.clone(),
                asked: is_asked.then(|| Arc::clone(&made.source)),
            })
        });
        waits.collect()
    }

    /// Begins to send.
    pub(super) fn begin(&self, settings: &Settings) -> Senders {
        let is_over = Arc::new(AtomicBool::new(false));
        let own = settings.cpus.iter().flatten();
        let own: Vec<Processor> = own.copied().map(Processor).collect();
        let paced = self.each.iter();
        let paced = paced.filter(|made| !matches!(made.pace, Pace::Requested));
        let threads = paced.map(|made| {
            let (source, pace) = (Arc::clone(&made.source), made.pace);
            let device = made.device.clone();
            let is_over = Arc::clone(&is_over);
            let own = own.clone();
            thread::spawn(move || {
                // Where it may not, the run has the processor before it.
                let _ = keep_off(&own);
                pace.go((&source, &device), &is_over);
            })
        });
        Senders {
            threads: threads.collect(),
            is_over,
        }
    }

    /// What became of their events in a run that is over, when nobody sends any more.
    pub(super) fn rows(&self, report: &Report) -> Result<Vec<DeviceRow>, RunError> {
        let found = report.cpus.iter().flat_map(|cpu| &cpu.devices);
        let rows = self.each.iter().zip(found).map(|(made, found)| {
            let row = made.settled(found);
            row.map_err(|source| RunError::System {
                what: "count the events that the kernel dropped",
                source,
            })
        });
        rows.collect()
    }
}

impl Made {
    /// What became of its events, when none is under way any more: a pseudo-terminal's are handed over by a thread of the kernel,
    /// which has a tenth of a second for that.
    fn settled(&self, found: &Outcome) -> io::Result<DeviceRow> {
        const ATTEMPTS: usize = 50;
        const PAUSE_NANOS: u64 = 2_000_000;
        let mut queued = 0;
        for _ in 0..ATTEMPTS {
            queued += left_in(&self.device);
            let row = self.row(found, queued, self.device.dropped()?);
            if row.unaccounted <= Some(0) {
                return Ok(row);
            }
            sleep_until(clock_nanos() + PAUSE_NANOS);
        }
        Ok(self.row(found, queued, self.device.dropped()?))
    }

    /// What became of its events, of which so many nobody has taken, and so many the kernel dropped.
    fn row(&self, found: &Outcome, queued: u64, kernel: u64) -> DeviceRow {
        let sent = self.source.sent.load(Ordering::Relaxed);
        let vestal = self.source.refused.load(Ordering::Relaxed) + found.lost;
        let known = [found.served, queued, kernel, vestal];
        let unaccounted = i128::from(sent) - known.map(i128::from).iter().sum::<i128>();
        DeviceRow {
            name: self.name.clone(),
            arrived: sent,
            served: found.served,
            queued,
            dropped: kernel + vestal,
            kind: Some(self.kind.name().to_owned()),
            sent: Some(sent),
            dropped_by: Some(DroppedEvents { kernel, vestal }),
            unaccounted: Some(i64::try_from(unaccounted).unwrap_or(i64::MAX)),
            wakes: Some(found.wakes),
            spurious: Some(found.spurious),
        }
    }
}

/// What is not known of the events of a device, if that is so.
fn open(row: &DeviceRow) -> Option<String> {
    let (name, events) = (&row.name, row.unaccounted?);
    match events {
        0 => None,
        1.. => Some(format!(
            "of the events that were sent to {name} {events} were neither served nor queued nor dropped, as far as is known"
        )),
        _ => Some(format!(
            "{} more events of {name} are accounted for than were sent",
            events.unsigned_abs()
        )),
    }
}

/// What devices of a run that is over have to be warned of.
pub(super) fn warnings(devices: &Devices, report: &Report, rows: &[DeviceRow]) -> Vec<String> {
    let open = rows.iter().filter_map(open);
    let unsent = devices.each.iter();
    let unsent = unsent.filter_map(|made| made.source.warning(&made.name));
    let found = report.cpus.iter().flat_map(|cpu| &cpu.devices);
    let failed = found.filter_map(|found| {
        let error = std::io::Error::from_raw_os_error(found.failed?);
        let name = &found.name;
        Some(format!("nothing more was read from {name}: {error}"))
    });
    open.chain(unsent).chain(failed).collect()
}

/// How many events nobody has taken. Nobody sends any more, so that there are no more than fit in.
fn left_in(device: &Device) -> u64 {
    let mut buffer = [0; TAKEN_BYTES];
    let events = std::iter::repeat_with(|| device.input().take(&mut buffer));
    let events = events.take_while(|taken| matches!(taken, Ok(Taken::Event(_))));
    events.count() as u64
}

/// Whether the policy has the devices of the file.
fn has_devices(session: &Session) -> bool {
    let mut clusters = session.system.clusters.iter();
    clusters.any(|cluster| {
        let servers = cluster.configuration.servers();
        servers.is_some_and(|servers| !servers.devices.is_empty())
    })
}

fn no_device(session: &Session, name: &str) -> Failure {
    let what = format!("run {}", shown(&session.file));
    let why = format!("nothing says what the device {name} is here");
    Failure::input(what, why).with_help(format!(
        "add --device {name}=pipe, or write `real = \"pipe\"` into its [[device]]"
    ))
}

fn make(
    session: &Session,
    spec: &DeviceSpec,
    (kind, storm): (DeviceKind, Option<Storm>),
) -> Result<Made, Failure> {
    let pace = Pace::of(spec, storm);
    let waits = session.set.tasks.iter().flat_map(|task| &task.io);
    let mut waits = waits.filter(|wait| wait.device == spec.name);
    if matches!(pace, Pace::Requested)
        && let Some(wait) = waits.find(|wait| wait.events > ROOM.into())
    {
        let what = format!("run {}", shown(&session.file));
        let why = format!(
            "a job asks {} for {} events at once, and {ROOM} fit into it here",
            spec.name, wait.events
        );
        return Err(Failure::input(what, why).with_help("let it wait for fewer events at once"));
    }
    let ends = match kind {
        DeviceKind::Pipe => pipe::packets(ROOM),
        DeviceKind::Pty => pty::raw(),
        DeviceKind::Udp => udp::between_namespaces(),
        DeviceKind::Tun => tun::packets(),
    };
    let (sender, input) = ends.map_err(|error| cannot_make(&spec.name, kind, &error))?;
    Ok(Made {
        name: spec.name.clone(),
        kind,
        device: Device::new(spec.name.clone(), input),
        source: Arc::new(Source::new(sender)),
        pace,
    })
}

/// Nothing else is taken instead.
fn cannot_make(name: &str, kind: DeviceKind, error: &io::Error) -> Failure {
    let what = format!("make the device {name}, of kind {}", kind.name());
    let failure = Failure::machine(what, error.to_string());
    let failure = match (kind, error.kind()) {
        (DeviceKind::Udp | DeviceKind::Tun, io::ErrorKind::PermissionDenied) => failure.with_help(
            "run as root, or give the program CAP_SYS_ADMIN and CAP_NET_ADMIN: it makes a network namespace with an interface of its own",
        ),
        (DeviceKind::Tun, io::ErrorKind::NotFound) => failure.with_help(
            "load the module tun (sudo modprobe tun), and let /dev/net/tun into the container",
        ),
        (DeviceKind::Pipe | DeviceKind::Pty | DeviceKind::Udp | DeviceKind::Tun, _) => failure,
    };
    failure.with_help(format!(
        "take --device {name}=pipe or --device {name}=pty, which need no rights"
    ))
}

/// The threads that send.
pub(super) struct Senders {
    threads: Vec<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

impl Senders {
    /// Nobody sends any more when this returns.
    pub(super) fn end(self) {
        self.is_over.store(true, Ordering::Release);
        for thread in self.threads {
            // A sender does not panic, and one that did sends nothing more.
            let _ = thread.join();
        }
    }
}

/// A wait of each job of a task.
#[derive(Debug)]
pub(super) struct Wait {
    after: Service,
    events: u64,
    device: Device,
    /// Who sends the events when it begins, if that is so.
    asked: Option<Arc<Source>>,
}

impl Wait {
    /// Executes what comes before it, and waits. A job that does not come so far does not wait.
    pub(super) fn run(&self, job: &mut JobContext<'_>) -> Result<(), Cancelled> {
        if self.after > job.demand() {
            return Ok(());
        }
        job.burn(self.after.saturating_sub(job.executed()))?;
        // From here on, before the first can come.
        let served = self.device.served();
        if let Some(source) = &self.asked {
            (0..self.events).for_each(|_| source.send());
        }
        job.wait_since(&self.device, served, self.events)
    }
}

/// What a bottom half does with an event.
pub(super) fn serve(
    cost: Service,
) -> impl FnMut(&mut JobContext<'_>, &[u8]) -> Result<(), Cancelled> + Send {
    move |job, _| job.burn(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_of_events_is_said_in_words_that_fit() {
        let row = |events| DeviceRow {
            name: "lamp".to_owned(),
            unaccounted: Some(events),
            ..DeviceRow::default()
        };
        assert_eq!(open(&row(0)), None);
        let lost = open(&row(3)).unwrap();
        assert!(lost.contains("sent to lamp 3 were neither"), "{lost}");
        let more = open(&row(-3)).unwrap();
        let expected = "3 more events of lamp are accounted for than were sent";
        assert_eq!(more, expected);
    }

    #[test]
    fn what_could_not_be_sent_is_told_from_what_found_no_room() {
        let (sender, input) = pipe::packets(1).unwrap();
        let source = Source::new(sender);
        let counts = || [&source.sent, &source.refused].map(|of| of.load(Ordering::Relaxed));
        source.send();
        source.send();
        assert_eq!((counts(), source.warning("lamp")), ([2, 1], None));
        drop(input);
        source.send();
        assert_eq!(counts(), [3, 2]);
        let said = source.warning("lamp").unwrap();
        assert!(
            said.starts_with("1 events could not be sent to lamp"),
            "{said}"
        );
        assert!(said.contains("Broken pipe"), "{said}");
    }
}

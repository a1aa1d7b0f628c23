//! `vestal run --watch`: a live view of a real run, fed by what its threads record.
//!
//! ```text
//! rings -> gatherer -> Model <- (copied ten times a second) <- the thread that draws
//! ```
//! Neither the gatherer nor the drawing thread, which it starts and which therefore inherits its priority,
//! runs on the CPU of the run if there is another one. The terminal is put back when the run ends
//! in whatever way: the executive turns SIGINT and SIGTERM into an end, and a hook does it on a panic.

mod draw;
mod lane;
mod model;
mod screen;

use crate::clock::Stopwatch;
use crate::input::shown;
use crate::session::Session;
use crate::tracing;
use model::{Model, Setting, TaskSetting};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::{io, panic};
use vestal_core::{Duration, Instant, TaskId};
use vestal_linux::Processor;
use vestal_trace::Record;

/// A view of one run.
pub(crate) struct View {
    shared: Arc<Shared>,
}

/// Where its records go in.
pub(crate) struct Feed(Arc<Shared>);

/// Takes records.
pub(crate) type Taker = dyn FnMut(&[Record]) + Send;

/// Whether this build has a live view.
pub(crate) const BUILT: bool = true;

/// What the gatherer, the drawing thread and the command share.
struct Shared {
    model: Mutex<Live>,
    ended: AtomicBool,
    thread: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

/// The model, and how old it is.
struct Live {
    model: Model,
    /// When the latest records came.
    since: Option<Stopwatch>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked with the lock left counters behind, and no broken guarantee.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl View {
    /// A view of the session that opens when the run begins. From now on a panic puts the terminal
    /// back.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "a build without the view has none"
    )]
    pub(crate) fn new(session: &Session, managed: bool) -> Option<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            screen::restore();
            before(info);
        }));
        let model = Model::new(setting(session, managed));
        let shared = Shared {
            model: Mutex::new(Live { model, since: None }),
            ended: AtomicBool::new(false),
            thread: Mutex::new(None),
        };
        Some(Self {
            shared: Arc::new(shared),
        })
    }

    /// What takes the records.
    pub(crate) fn feed(&self) -> Feed {
        Feed(Arc::clone(&self.shared))
    }

    /// Closes the view and puts the terminal back.
    ///
    /// # Errors
    /// Why the view was not shown to the end.
    pub(crate) fn close(self) -> io::Result<()> {
        self.shared.ended.store(true, Ordering::SeqCst);
        let thread = lock(&self.shared.thread).take();
        let shown = thread.map_or_else(
            || Err(io::Error::other("it was not opened")),
            |thread| {
                let panicked = |_| Err(io::Error::other("the thread that draws it panicked"));
                thread.join().unwrap_or_else(panicked)
            },
        );
        screen::restore();
        shown
    }
}

impl Feed {
    /// The run begins on these CPUs of the machine. What this gives takes the records; called for the first time, it
    /// opens the view.
    pub(crate) fn begin(self, processors: &[Processor]) -> Box<Taker> {
        let Self(shared) = self;
        let numbers: Vec<String> = processors.iter().map(Processor::to_string).collect();
        let (cpus, list) = (
            if numbers.len() == 1 { "CPU" } else { "CPUs" },
            numbers.join(", "),
        );
        let on_cpu = format!(" on {cpus} {list}");
        lock(&shared.model).model.setting.title.push_str(&on_cpu);
        let mut opened = false;
        Box::new(move |records| {
            if !opened {
                opened = true;
                let watched = Arc::clone(&shared);
                // A child of the gatherer's: it inherits its priority.
                let thread = thread::Builder::new()
                    .name("vestal-watch".to_owned())
                    .spawn(move || screen::show(&watched));
                *lock(&shared.thread) = thread.ok();
            }
            if !records.is_empty() {
                let mut live = lock(&shared.model);
                live.model.take(records);
                live.since = Some(Stopwatch::start());
            }
        })
    }
}

fn setting(session: &Session, managed: bool) -> Setting {
    let domains = tracing::domains(&session.system, vestal_trace::World::Linux);
    let lane_of = |id: TaskId| {
        let home = domains.iter().position(|domain| domain.tasks.contains(&id));
        home.unwrap_or(0)
    };
    let lanes = domains.iter();
    let lanes = lanes.map(|domain| (domain.name.clone(), domain.cpus.len() as u64));
    let dispatch = if managed { "managed" } else { "native" };
    let tasks = session.set.tasks.iter().zip(&session.tasks);
    let tasks = tasks.zip((0..).map(TaskId)).map(|((spec, task), id)| {
        let limit = |mode| {
            let (enforcement, exhaustion) = session.limits(id)?;
            enforcement.on_exhaustion(task, mode, exhaustion)?;
            Some(enforcement.limit(task, mode).as_nanos())
        };
        TaskSetting {
            name: spec.name.clone(),
            level: task.criticality,
            lane: lane_of(id),
            deadline_ns: task.deadline.as_nanos(),
            limits_ns: session.levels.iter().map(limit).collect(),
        }
    });
    Setting {
        title: format!(
            "{} under {}, {dispatch} dispatch",
            shown(&session.file),
            session.system.policy
        ),
        levels: session.set.levels.clone(),
        duration_ns: session.duration.as_nanos(),
        lanes: lanes.collect(),
        tasks: tasks.collect(),
    }
}

impl Shared {
    fn ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// The run as it is now, records or not.
    fn look(&self) -> Model {
        let live = lock(&self.model);
        let mut model = live.model.clone();
        let age = live.since.map(Stopwatch::elapsed);
        drop(live);
        if let Some(age) = age {
            let age = Duration::from_nanos(u64::try_from(age.as_nanos()).unwrap_or(u64::MAX));
            let end =
                Instant::EPOCH.saturating_add(Duration::from_nanos(model.setting.duration_ns));
            let now = model.now.saturating_add(age);
            model.pass(now.min(end.max(model.now)));
        }
        model
    }
}

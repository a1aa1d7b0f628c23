//! Figures of Holenderski et al. (2010) on the kernel: the argument says which. What is printed is what `vestal-hsf`'s own tests
//! expect of their host, byte for byte.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use vestal_hsf::relteq::Entry;
use vestal_hsf::{
    Change, Error, Everything, Hooks, Hsf, Kind, LocalOrder, Pick, ServerSpec, TaskId, nodes,
};
use vestal_kernel::{Kernel, Run, World, console, run, task};

vestal_kernel::image!(main);

const TICKS: usize = 125;

type System = Hsf<Everything<u16>, 3, 3, { nodes(3, 3) }>;

fn main() -> u32 {
    let mut arguments = [0; 32];
    let shown = match console::arguments(&mut arguments) {
        b"figure14" => figure_14(30, 125) && figure_14(40, 120),
        b"figure8" => figure_8(),
        b"figure2" => figure_2('a', form_a) && figure_2('b', form_b),
        b"figure2-semaphore" => figure_2('c', form_c),
        _ => false,
    };
    u32::from(!shown)
}

/// Who executed in each tick: a task's digit, the letter of a server that idles, or a dot. And what devices do.
struct Row {
    signs: [u8; TICKS],
    device: fn(u32, &mut Kernel),
}

impl Row {
    const fn new(device: fn(u32, &mut Kernel)) -> Self {
        Self {
            signs: [0; TICKS],
            device,
        }
    }

    fn show(&self) {
        let used = self.signs.split(|&sign| sign == 0).next().unwrap_or(&[]);
        console::write(core::str::from_utf8(used).unwrap_or("?"));
    }
}

impl World for Row {
    fn ran(&mut self, tick: u32, who: Pick) {
        let sign = match who {
            Pick::Task(task) => b'0'.saturating_add(number(task.index())),
            Pick::Idling(server) => b'a'.saturating_add(number(server.index())),
            Pick::Idle => b'.',
        };
        let place = usize::try_from(tick).ok();
        if let Some(place) = place.and_then(|tick| self.signs.get_mut(tick)) {
            *place = sign;
        }
    }

    fn instant(&mut self, now: u32, kernel: &mut Kernel) {
        (self.device)(now, kernel);
    }
}

fn number(index: usize) -> u8 {
    u8::try_from(index).unwrap_or(u8::MAX)
}

fn no_device(_: u32, _: &mut Kernel) {}

const fn server(kind: Kind, priority: u8, period: u32, capacity: u32) -> ServerSpec {
    ServerSpec {
        kind,
        priority,
        order: LocalOrder::FixedPriority,
        period,
        capacity,
    }
}

/// A deferrable server (a) above an idling periodic one (b), each with 10 ticks every 25, and a task of 5 ticks in each.
fn figure_14(period: u32, ticks: u32) -> bool {
    fn body(_: TaskId) {
        loop {
            task::work(5);
            task::wait_period();
        }
    }
    let mut hsf = System::new();
    let created = || -> Result<(), Error> {
        let a = hsf.create_server(&server(Kind::Deferrable, 0, 25, 10))?;
        let b = hsf.create_server(&server(Kind::Idling, 1, 25, 10))?;
        let in_a = hsf.add_task(a, 0, 30)?;
        let in_b = hsf.add_task(b, 0, period)?;
        hsf.make_periodic(in_a, 5, 30)?;
        hsf.make_periodic(in_b, 0, period)
    }();
    let mut row = Row::new(no_device);
    let programs: [fn(TaskId); 2] = [body; 2];
    let ran = ends_well(&mut hsf, &mut row, ticks, &programs);
    console::write("period ");
    console::write_number(period);
    console::write("\n");
    row.show();
    console::write("\n");
    created.is_ok() && ran
}

fn ends_well(
    hooks: &mut dyn Hooks,
    world: &mut dyn World,
    ticks: u32,
    programs: &[fn(TaskId)],
) -> bool {
    let what = Run {
        ticks,
        micros: 1000,
        told_when_due: false,
        exact: true,
        programs,
    };
    run(hooks, world, &what) == Ok(())
}

/// Notes the stopwatch from its head on, with a dot for dummies, whenever somebody is picked: before and after. Writing text would
/// take longer than a tick.
struct Watched {
    hsf: System,
    steps: [Step; 8],
    used: usize,
}

#[derive(Clone, Copy, Default)]
struct Step {
    at: u32,
    before: Stopwatch,
    after: Stopwatch,
}

/// Names and times.
type Stopwatch = [Option<(u8, u32)>; 4];

fn stopwatch(hsf: &System) -> Stopwatch {
    let mut noted = Stopwatch::default();
    for (place, item) in noted.iter_mut().zip(hsf.stopwatch()) {
        let name = match item.entry {
            Entry::Event(server) => b"CBA".get(server.index()).copied().unwrap_or(b'?'),
            Entry::Dummies { .. } => b'.',
        };
        *place = Some((name, item.time));
    }
    noted
}

impl Step {
    fn show(self) {
        console::write_number(self.at);
        console::write(":");
        show_stopwatch(self.before);
        console::write(" ->");
        show_stopwatch(self.after);
        console::write("\n");
    }
}

fn show_stopwatch(stopwatch: Stopwatch) {
    for (name, ticks) in stopwatch.into_iter().flatten() {
        console::write(" ");
        console::write(char::from(name).encode_utf8(&mut [0; 4]));
        console::write(":");
        console::write_number(ticks);
    }
}

impl Hooks for Watched {
    fn timer(&mut self, ticks: u32) -> bool {
        self.hsf.timer(ticks)
    }

    fn next_timer(&self) -> u32 {
        self.hsf.next_timer()
    }

    fn pick(&mut self) -> Pick {
        let before = stopwatch(&self.hsf);
        let pick = self.hsf.pick();
        if let Some(step) = self.steps.get_mut(self.used) {
            *step = Step {
                at: u32::try_from(self.hsf.now()).unwrap_or(u32::MAX),
                before,
                after: stopwatch(&self.hsf),
            };
            self.used = self.used.saturating_add(1);
        }
        pick
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        self.hsf.task(task, change)
    }
}

/// One stopwatch for all servers. C, B and A are created in this order; A executes in [0, 3), B in [3, 7), C in [7, 12), and B
/// again from 16 on.
fn figure_8() -> bool {
    const JOBS: [(u32, u8, u32); 4] = [(0, 2, 3), (3, 1, 4), (7, 0, 5), (16, 1, 4)];
    fn body(me: TaskId) {
        let work = JOBS.iter().find(|job| usize::from(job.1) == me.index());
        loop {
            task::work(work.map_or(1, |job| job.2));
            task::wait_period();
        }
    }
    fn device(now: u32, kernel: &mut Kernel) {
        for (_, who, _) in JOBS.iter().filter(|job| job.0 == now) {
            kernel.release(TaskId::new(*who));
        }
    }
    let mut hsf = System::new();
    let created = [3, 2, 1].map(|priority| {
        let server = hsf.create_server(&server(Kind::Deferrable, priority, 1000, 500))?;
        hsf.add_task(server, 0, 1)
    });
    let mut watched = Watched {
        hsf,
        steps: [Step::default(); 8],
        used: 0,
    };
    let programs: [fn(TaskId); 3] = [body; 3];
    let ran = ends_well(&mut watched, &mut Row::new(device), 18, &programs);
    let used = watched.used;
    watched.steps.into_iter().take(used).for_each(Step::show);
    ran && created.iter().all(Result::is_ok)
}

const OFFSET: u32 = 2;
const PERIOD: u32 = 10;
static JOBS: AtomicU32 = AtomicU32::new(0);
static LATE: [AtomicU32; 16] = [const { AtomicU32::new(0) }; 16];

/// A job of task 1 begins: by how much later than its period says.
fn note() {
    let job = JOBS.load(Relaxed);
    JOBS.store(job.saturating_add(1), Relaxed);
    let due = job.saturating_mul(PERIOD).saturating_add(OFFSET);
    let place = usize::try_from(job).ok().and_then(|job| LATE.get(job));
    if let Some(place) = place {
        place.store(task::now().saturating_sub(due), Relaxed);
    }
}

/// It delays itself, and has read the time a tick before.
fn form_a(_: TaskId) {
    task::delay(OFFSET.saturating_sub(task::now()));
    loop {
        note();
        task::work(3);
        let now = task::now();
        task::work(1);
        let next = JOBS.load(Relaxed).saturating_mul(PERIOD);
        task::delay(next.saturating_add(OFFSET).saturating_sub(now));
    }
}

/// It waits for its period.
fn form_b(_: TaskId) {
    loop {
        note();
        task::work(4);
        task::wait_period();
    }
}

/// It waits for a semaphore that an interrupt gives.
fn form_c(_: TaskId) {
    loop {
        task::take(0);
        note();
        task::work(4);
    }
}

fn gives(now: u32, kernel: &mut Kernel) {
    if now % PERIOD == OFFSET {
        kernel.give(0);
    }
}

fn urgent(_: TaskId) {
    loop {
        task::work(2);
        task::wait_period();
    }
}

/// A periodic task (1) in three forms. It executes 3 ticks, and one more until it makes its call. Task 0 is more urgent and takes 2
/// ticks from it, once in a while just then.
fn figure_2(form: char, body: fn(TaskId)) -> bool {
    let mut hsf = System::new();
    let created = || -> Result<(), Error> {
        let server = hsf.create_server(&server(Kind::Deferrable, 0, 100, 100))?;
        let one = hsf.add_task(server, 0, 29)?;
        let other = hsf.add_task(server, 1, PERIOD)?;
        hsf.make_periodic(one, 16, 29)?;
        if form == 'b' {
            hsf.make_periodic(other, OFFSET, PERIOD)
        } else {
            hsf.release(other)
        }
    }();
    JOBS.store(0, Relaxed);
    let mut row = Row::new(if form == 'c' { gives } else { no_device });
    let ran = ends_well(&mut hsf, &mut row, 100, &[urgent, body]);
    console::write("form ");
    console::write(form.encode_utf8(&mut [0; 4]));
    console::write("\n");
    row.show();
    console::write("\nlate");
    let jobs = usize::try_from(JOBS.load(Relaxed)).unwrap_or(0);
    for late in LATE.iter().take(jobs) {
        console::write(" ");
        console::write_number(late.load(Relaxed));
    }
    console::write("\n");
    created.is_ok() && ran
}

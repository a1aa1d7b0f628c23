//! What the mechanisms cost on which this world is built, measured on this machine.
//!
//! Two CPUs are used if the process has two; every figure that needs the second is left out
//! otherwise. All of it takes some seconds, a quick look one or two, and no CPU is busy for longer than half a second at
//! a time.

mod watching;

use crate::{measured, system};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use vestal_linux::measure::{calibrate, cpu_for, trace_marks, trace_records};
use vestal_linux::{Config, Monitor, Rights, RunError};
use vestal_statistics::{Histogram, Summary};
use vestal_sys::Processor;
use vestal_sys::barrier::PthreadBarrier;
use vestal_sys::clock::{cpu_nanos_of, monotonic_nanos};
use vestal_sys::event::{TimerFd, sleep_until};
use vestal_sys::sched::enter_real_time;
use vestal_sys::stamp::StampCounter;
use vestal_sys::timer::SignalTimer;
use vestal_sys::waiting::{Waiter, WakeEvent};
use vestal_sys::{Tid, futex, sched};

/// One mechanism and what it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Primitive {
    /// What was measured.
    pub name: &'static str,
    /// Nanoseconds.
    pub cost: Summary,
}

/// What one thread costs to wake another one that takes the CPU: its name.
pub const SWITCH: &str = "futex wake with switch, same CPU";
/// What a thread loses whose CPU serves the timer of a less urgent one: its name.
pub const RELEASE: &str = "release of a less urgent thread";

/// What a job costs of which the kernel's own trace is told: its name.
pub const MARKS: &str = "trace marker, begin and end";

/// How much is measured. Whatever is rare is found less often by less of it: then a largest value, and a 99th percentile, are
/// smaller than they would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Some seconds.
    #[default]
    Full,
    /// A fifth of the rounds.
    Quick,
}

impl Effort {
    const fn rounds(self) -> u32 {
        match self {
            Self::Full => 1_000,
            Self::Quick => 200,
        }
    }

    /// Of those in which a thread sleeps for a millisecond.
    const fn sleeps(self) -> u32 {
        match self {
            Self::Full => 300,
            Self::Quick => 60,
        }
    }
}

const SLEEP_NANOS: u64 = 1_000_000;
/// No thread waits longer for another.
const PATIENCE_NANOS: u64 = 1_000_000_000;

/// The SCHED_FIFO priorities of the measurements.
const LOW: i32 = 1;
const MIDDLE: i32 = 2;
const HIGH: i32 = 3;

/// Measures everything, with so much effort.
///
/// # Errors
/// [`RunError`] if the process has not the right to SCHED_FIFO, or a system call fails.
pub fn measure(effort: Effort) -> Result<Vec<Primitive>, RunError> {
    let rights = Rights::probe();
    let cpu = cpu_for(&rights, 3, None)?;
    let mut others = rights.processors.iter().map(|processor| processor.0);
    let other = others.find(|&other| other != cpu);
    // A thread of its own, so that the caller's class stays what it is.
    measured(thread::spawn(move || {
        table((cpu, other), rights.perf, effort)
    }))
    .map_err(system("measure the primitives"))
}

fn table(
    (cpu, other): (usize, Option<usize>),
    perf: bool,
    effort: Effort,
) -> io::Result<Vec<Primitive>> {
    let mut rows = Vec::new();
    let mut summed = |name, cost| rows.push(Primitive { name, cost });
    let mut row = |name, cost: Histogram| summed(name, cost.summary());
    for (monitor, name) in [
        (Monitor::Perf, "budget overshoot: perf"),
        (Monitor::Manager, "budget overshoot: manager"),
        (Monitor::Heartbeat, "budget overshoot: heartbeat of 1 ms"),
        (Monitor::PosixTimer, "budget overshoot: posix-timer"),
    ] {
        if perf || monitor != Monitor::Perf {
            row(
                name,
                calibrate(monitor, Config::new().pace_of(monitor), cpu, (LOW, MIDDLE))?,
            );
        }
    }
    enter_real_time(Processor(cpu), MIDDLE)?;
    let blocked = Helper::start(cpu, HIGH, Helper::sleep)?;
    row(
        "priority of a blocked thread",
        repriorities(blocked.tid(), effort),
    );
    row(
        "CPU clock of a blocked thread",
        clock_reads(blocked.tid(), effort),
    );
    blocked.end();
    row("arm and disarm: posix-timer", arming_in_ticks(effort)?);
    row("clock_gettime", readings(monotonic_nanos, effort));
    if let Some(counter) = StampCounter::find() {
        row("time stamp counter", readings(|| counter.ticks(), effort));
    }
    row("trace record", trace_records(effort.rounds()));
    if let Some(marks) = trace_marks(effort.rounds()) {
        row(MARKS, marks);
    }
    row(SWITCH, ping_pong(cpu, effort)?);
    row(RELEASE, releases(cpu, effort)?);
    row("eventfd to epoll, same CPU", event(cpu, effort)?);
    row(
        "clock_nanosleep lateness",
        sleeps(effort, |at| {
            sleep_until(at);
            Ok(())
        })?,
    );
    let timer = TimerFd::new()?;
    row(
        "timerfd lateness",
        sleeps(effort, |at| timer.wait_until(at))?,
    );
    if let Some(other) = other {
        between(other, effort, &mut row)?;
    }
    watching::armings(perf, (cpu, MIDDLE), effort, &mut summed)?;
    watching::round_trips(perf, cpu, effort, &mut summed)?;
    sched::set_other(sched::own_tid())?;
    Ok(rows)
}

/// What the other CPU takes part in.
fn between(
    other: usize,
    effort: Effort,
    row: &mut impl FnMut(&'static str, Histogram),
) -> io::Result<()> {
    let running = Helper::start(other, LOW, Helper::spin)?;
    row(
        "priority of a thread running elsewhere",
        repriorities(running.tid(), effort),
    );
    row(
        "CPU clock of a thread running elsewhere",
        clock_reads(running.tid(), effort),
    );
    running.end();
    row("futex wake, other CPU", ping_pong(other, effort)?);
    row("eventfd to epoll, other CPU", event(other, effort)?);
    row(
        "stop a running thread on another CPU",
        stops(other, effort, 0)?,
    );
    let spin = SpinBarrier::default();
    row(
        "spin barrier, 2 CPUs",
        barriers(other, effort, move || spin.wait())?,
    );
    let pthread = PthreadBarrier::new(2)?;
    row(
        "pthread barrier, 2 CPUs",
        barriers(other, effort, move || pthread.wait())?,
    );
    Ok(())
}

fn timed(rounds: u32, mut action: impl FnMut(u32)) -> Histogram {
    let mut costs = Histogram::default();
    for round in 0..rounds {
        let before = monotonic_nanos();
        action(round);
        costs.record(monotonic_nanos().saturating_sub(before));
    }
    costs
}

fn repriorities(tid: Tid, effort: Effort) -> Histogram {
    timed(effort.rounds(), |round| {
        let priority = if round % 2 == 0 { HIGH } else { MIDDLE };
        // The helper lives until it is told to end.
        let _ = sched::set_fifo(tid, priority);
    })
}

fn clock_reads(tid: Tid, effort: Effort) -> Histogram {
    timed(effort.rounds(), |_| {
        black_box(cpu_nanos_of(tid));
    })
}

/// What one of many readings costs on average.
fn readings(read: impl Fn() -> u64, effort: Effort) -> Histogram {
    const TIMES: u64 = 64;
    let mut costs = Histogram::default();
    for _ in 0..effort.rounds() {
        let before = monotonic_nanos();
        for _ in 0..TIMES {
            black_box(read());
        }
        costs.record(monotonic_nanos().saturating_sub(before).div_ceil(TIMES));
    }
    costs
}

/// A timer on the thread's CPU time, which the kernel looks at in its tick only: no register is set.
fn arming_in_ticks(effort: Effort) -> io::Result<Histogram> {
    let timer = SignalTimer::cpu_time_of_this_thread(sched::own_tid(), 0)?;
    Ok(timed(effort.rounds(), |_| {
        timer.set(PATIENCE_NANOS);
        timer.set(0);
    }))
}

fn sleeps(
    effort: Effort,
    mut wait_until: impl FnMut(u64) -> io::Result<()>,
) -> io::Result<Histogram> {
    let mut costs = Histogram::default();
    for _ in 0..effort.sleeps() {
        let at = monotonic_nanos() + SLEEP_NANOS;
        wait_until(at)?;
        costs.record(monotonic_nanos().saturating_sub(at));
    }
    Ok(costs)
}

/// A thread that measurements act upon.
struct Helper {
    words: Arc<Words>,
    thread: JoinHandle<io::Result<()>>,
}

#[derive(Default)]
struct Words {
    tid: AtomicI32,
    /// Counts what the measuring thread asks for.
    ask: AtomicU32,
    /// Counts what the helper answers.
    answer: AtomicU32,
    /// When the helper noticed what it waits for.
    noticed: AtomicU64,
    ended: AtomicBool,
}

impl Helper {
    fn start(
        cpu: usize,
        priority: i32,
        main: impl FnOnce(&Words) + Send + 'static,
    ) -> io::Result<Self> {
        let words = Arc::new(Words::default());
        let own = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let ready = enter_real_time(Processor(cpu), priority);
            own.tid.store(sched::own_tid(), Ordering::SeqCst);
            ready?;
            main(&own);
            sched::set_other(sched::own_tid())
        });
        let patience = monotonic_nanos() + PATIENCE_NANOS;
        while words.tid.load(Ordering::SeqCst) == 0 && monotonic_nanos() < patience {
            sleep_until(monotonic_nanos() + SLEEP_NANOS);
        }
        // Time to set itself up.
        sleep_until(monotonic_nanos() + SLEEP_NANOS);
        Ok(Self { words, thread })
    }

    fn tid(&self) -> Tid {
        self.words.tid.load(Ordering::SeqCst)
    }

    fn end(self) {
        self.words.ended.store(true, Ordering::SeqCst);
        self.words.ask.fetch_add(1, Ordering::SeqCst);
        futex::wake_all(&self.words.ask);
        // What it came to was measured by others.
        let _ = self.thread.join();
    }

    fn sleep(words: &Words) {
        while !words.ended.load(Ordering::SeqCst) {
            futex::wait_until(&words.ask, 0, None);
        }
    }

    fn spin(words: &Words) {
        let patience = monotonic_nanos() + PATIENCE_NANOS / 2;
        while !words.ended.load(Ordering::SeqCst) && monotonic_nanos() < patience {
            std::hint::spin_loop();
        }
    }

    /// Sleeps until the instant that a question names.
    fn doze(words: &Words) {
        let mut seen = 0;
        while !words.ended.load(Ordering::SeqCst) {
            futex::wait_until(&words.ask, seen, None);
            seen = words.ask.load(Ordering::SeqCst);
            sleep_until(words.noticed.load(Ordering::SeqCst));
        }
    }

    /// Answers each question at once.
    fn answer(words: &Words) {
        let mut seen = 0;
        while !words.ended.load(Ordering::SeqCst) {
            futex::wait_until(&words.ask, seen, None);
            let ask = words.ask.load(Ordering::SeqCst);
            if ask != seen {
                words.noticed.store(monotonic_nanos(), Ordering::SeqCst);
                seen = ask;
                words.answer.store(ask, Ordering::SeqCst);
                futex::wake_all(&words.answer);
            }
        }
    }
}

/// From the call that wakes a more urgent thread on `cpu` to its first instruction.
fn ping_pong(cpu: usize, effort: Effort) -> io::Result<Histogram> {
    let helper = Helper::start(cpu, HIGH, Helper::answer)?;
    let words = &helper.words;
    let mut costs = Histogram::default();
    for round in 1..=effort.rounds() {
        let before = monotonic_nanos();
        words.ask.store(round, Ordering::SeqCst);
        futex::wake_all(&words.ask);
        while words.answer.load(Ordering::SeqCst) != round
            && monotonic_nanos() < before + PATIENCE_NANOS
        {
            let seen = words.answer.load(Ordering::SeqCst);
            if seen != round {
                futex::wait_until(&words.answer, seen, Some(before + PATIENCE_NANOS));
            }
        }
        costs.record(words.noticed.load(Ordering::SeqCst).saturating_sub(before));
        // The helper goes back to its wait.
        sleep_until(monotonic_nanos() + SLEEP_NANOS / 10);
    }
    helper.end();
    Ok(costs)
}

/// The longest step of a burning thread's clock when a less urgent thread of its CPU is released.
fn releases(cpu: usize, effort: Effort) -> io::Result<Histogram> {
    const WINDOW_NANOS: u64 = 50_000;
    let helper = Helper::start(cpu, LOW, Helper::doze)?;
    let words = &helper.words;
    let mut costs = Histogram::default();
    for round in 1..=effort.sleeps() {
        let release = monotonic_nanos() + SLEEP_NANOS;
        words.noticed.store(release, Ordering::SeqCst);
        words.ask.store(round, Ordering::SeqCst);
        futex::wake_all(&words.ask);
        // Until then the helper has the CPU, and asks to be woken.
        sleep_until(release - SLEEP_NANOS / 2);
        let (mut last, mut longest) = (monotonic_nanos(), 0);
        while last < release + WINDOW_NANOS {
            let now = monotonic_nanos();
            if now >= release {
                longest = longest.max(now - last);
            }
            last = now;
        }
        costs.record(longest);
        sleep_until(last + SLEEP_NANOS / 10);
    }
    helper.end();
    Ok(costs)
}

fn event(cpu: usize, effort: Effort) -> io::Result<Histogram> {
    let event = WakeEvent::new()?;
    let waiter = Waiter::new(&event)?;
    let event = Arc::new(event);
    let heard = Arc::clone(&event);
    let helper = Helper::start(cpu, HIGH, move |words| {
        while !words.ended.load(Ordering::SeqCst) {
            waiter.wait(&heard, PATIENCE_NANOS);
            words.noticed.store(monotonic_nanos(), Ordering::SeqCst);
        }
    })?;
    let mut costs = Histogram::default();
    for _ in 0..effort.rounds() {
        let before = monotonic_nanos();
        event.signal();
        sleep_until(before + SLEEP_NANOS / 5);
        let noticed = helper.words.noticed.load(Ordering::SeqCst);
        if noticed >= before {
            costs.record(noticed - before);
        }
    }
    helper.words.ended.store(true, Ordering::SeqCst);
    event.signal();
    helper.end();
    Ok(costs)
}

/// What [`measure`] finds of stopping a thread on another CPU, where each thread that waits for that CPU begins so many nanoseconds late:
/// as if others had the CPU that it starts on.
///
/// # Errors
/// As [`measure`]; and if the process may use one CPU only.
#[doc(hidden)]
pub fn stops_of_late_threads(late: u64) -> Result<Summary, RunError> {
    let rights = Rights::probe();
    let cpu = cpu_for(&rights, 3, None)?;
    let mut others = rights.processors.iter().map(|processor| processor.0);
    let other = others.find(|&other| other != cpu);
    measured(thread::spawn(move || {
        enter_real_time(Processor(cpu), MIDDLE)?;
        let other = other.ok_or_else(|| io::Error::other("there is one CPU only"))?;
        let found = stops(other, Effort::Quick, late)?;
        sched::set_other(sched::own_tid())?;
        Ok(found.summary())
    }))
    .map_err(system("measure the primitives"))
}

/// From the call that lowers the priority of a thread running on `cpu` to the first instruction of
/// the thread that waited for that CPU, which begins `late`.
fn stops(cpu: usize, effort: Effort, late: u64) -> io::Result<Histogram> {
    let mut costs = Histogram::default();
    // Short ones, so that the CPU gets its rest in between.
    for _ in 0..effort.sleeps() / 3 {
        let running = Helper::start(cpu, HIGH, Helper::spin)?;
        let (ready, words) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU64::new(0)));
        let (is_ready, began) = (Arc::clone(&ready), Arc::clone(&words));
        let waiting = thread::spawn(move || {
            sleep_until(monotonic_nanos() + late);
            // In this order: outside the real-time class it would never leave the CPU it is sent to.
            sched::set_fifo(sched::own_tid(), MIDDLE)?;
            is_ready.store(1, Ordering::SeqCst);
            sched::pin_to(cpu)?;
            began.store(monotonic_nanos(), Ordering::SeqCst);
            sched::set_other(sched::own_tid())
        });
        // Outside the real-time class it would get nothing of this CPU while this thread looks for it, until RT throttling or
        // the kernel's server for ordinary threads lets it, almost a second later.
        let patience = monotonic_nanos() + PATIENCE_NANOS / 4;
        while ready.load(Ordering::SeqCst) == 0 && monotonic_nanos() < patience {
            sleep_until(monotonic_nanos() + SLEEP_NANOS / 10);
        }
        sleep_until(monotonic_nanos() + SLEEP_NANOS);
        let before = monotonic_nanos();
        let premature = words.load(Ordering::SeqCst) != 0 || ready.load(Ordering::SeqCst) == 0;
        sched::set_fifo(running.tid(), LOW)?;
        let patience = before + PATIENCE_NANOS / 4;
        while !premature && words.load(Ordering::SeqCst) == 0 && monotonic_nanos() < patience {}
        let noticed = words.load(Ordering::SeqCst);
        running.end();
        measured(waiting)?;
        if !premature && noticed >= before {
            costs.record(noticed - before);
        }
    }
    Ok(costs)
}

/// Two threads that spin until both are there.
#[derive(Default)]
struct SpinBarrier {
    arrived: AtomicU32,
}

impl SpinBarrier {
    fn wait(&self) {
        // Whoever comes first leaves an even number behind for the second to complete.
        let index = self.arrived.fetch_add(1, Ordering::AcqRel);
        let full = (index / 2 + 1) * 2;
        while self.arrived.load(Ordering::Acquire) < full {
            std::hint::spin_loop();
        }
    }
}

/// One meeting after the other: both threads `wait` at a barrier for two.
fn barriers(
    cpu: usize,
    effort: Effort,
    wait: impl Fn() + Send + Sync + 'static,
) -> io::Result<Histogram> {
    let rounds = effort.rounds();
    let wait = Arc::new(wait);
    let theirs = Arc::clone(&wait);
    let helper = Helper::start(cpu, HIGH, move |_| {
        for _ in 0..rounds {
            theirs();
        }
    })?;
    let costs = timed(rounds, |_| wait());
    helper.end();
    Ok(costs)
}

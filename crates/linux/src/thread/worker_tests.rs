//! Steps of a worker on an ordinary thread.

use super::*;
use crate::cpu::Terms;
use crate::monitor::Monitor;
use crate::notes::{NoteReader, channel};
use crate::sys::timer::SignalTimer;

const SECOND: u64 = 1_000_000_000;

/// An urgent task, and one whose job has begun and may execute for nine seconds. Both workers are the calling thread, whose
/// priority is that of both.
fn cpu() -> (Arc<Cpu>, NoteReader) {
    let task = || {
        let limit = Allowance::UpTo(9 * SECOND);
        let mut task = TaskShared::in_test(sys::sched::own_priority(), limit);
        task.limits.tolerated_nanos = Some(0);
        task.jobs.tid.set(sys::sched::own_tid());
        let timer = SignalTimer::wall(sys::sched::own_tid()).unwrap();
        task.monitor.set(Armed::Wall(timer)).unwrap();
        task
    };
    let terms = Terms::in_test(Monitor::Remainder);
    let mut cpu = Cpu::in_test(vec![task(), task()], terms);
    let (notes, reader) = channel(64);
    cpu.notes = notes;
    let preempted = &cpu.tasks[1];
    preempted.jobs.begin(0, own_cpu_nanos());
    preempted.jobs.start_account(own_cpu_nanos());
    preempted.arm_for_the_rest(1);
    (Arc::new(cpu), reader)
}

/// What is left until the monitor of the second task fires; 0 if it stands still.
fn remaining(cpu: &Cpu) -> u64 {
    match cpu.tasks[1].monitor.get() {
        Some(Armed::Wall(timer)) => timer.remaining(),
        other => panic!("{other:?}"),
    }
}

fn urgent(cpu: &Arc<Cpu>) -> RunningWorker<'_> {
    RunningWorker {
        cpu,
        task: &cpu.tasks[0],
        body: Box::new(|_| Ok(())),
        demand: Box::new(|_| Service::ZERO),
        queue: JobQueue::new(None),
        end_is_awaited: false,
        own: Intervals::of_this_thread(Thread::Worker(0), cpu),
        trace: Tracer::off(),
    }
}

/// The manager takes it for a job that has begun, stops the monitor of the one that it preempted, and has no reason to look
/// again.
#[test]
fn a_job_that_is_dropped_before_it_begins_lets_the_monitor_of_the_preempted_one_run_again() {
    let (cpu, _) = cpu();
    assert!(remaining(&cpu) > 0);
    let mut worker = urgent(&cpu);
    worker.task.jobs.begin(0, own_cpu_nanos());
    if let Some(monitor) = cpu.tasks[1].monitor.get() {
        monitor.stop();
    }
    assert_eq!(remaining(&cpu), 0);
    worker.drop_before_begin((0, 0), (monotonic_nanos(), true));
    assert!((1..=9 * SECOND).contains(&remaining(&cpu)));
}

/// Its share of the run would else be above 1 where that is short.
#[test]
fn what_a_worker_executes_after_its_cpu_ended_is_not_used_in_the_run() {
    const MS: u64 = 1_000_000;
    let burn = |nanos: u64| {
        let until = own_cpu_nanos() + nanos;
        while own_cpu_nanos() < until {}
    };
    let (cpu, mut notes) = cpu();
    cpu.phase.begin();
    let worker = Worker {
        cpu: Arc::clone(&cpu),
        index: 0,
        body: Box::new(|_| Ok(())),
        demand: Box::new(|_| Service::ZERO),
        queue: JobQueue::new(None),
        trace: Tracer::off(),
    };
    let begun = own_cpu_nanos();
    let mut ended = 0;
    worker.work_by(|_| {
        burn(2 * MS);
        cpu.halt();
        ended = own_cpu_nanos();
        burn(20 * MS);
    });
    let extent = notes.extent();
    let used = std::iter::from_fn(|| notes.next(extent)).find_map(|note| {
        let Note::Task(0, TaskNote::Used(used)) = note else {
            return None;
        };
        Some(used.cpu.as_nanos())
    });
    assert!((2 * MS..=ended - begun).contains(&used.unwrap()));
}

/// Who asks who may have had the CPU finds that the worker of a task without further releases has left it, long before the run is over.
#[test]
fn a_worker_says_that_it_waits_when_its_last_job_is_over() {
    let (cpu, _) = cpu();
    let epoch = monotonic_nanos();
    cpu.run.epoch.set(epoch);
    cpu.run.end.set(epoch + 1);
    cpu.phase.begin();
    let other = Arc::clone(&cpu);
    let (says, has_run) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        let mut worker = urgent(&other);
        worker.body = Box::new(move |_| {
            says.send(()).unwrap();
            Ok(())
        });
        worker.run_released_jobs();
    });
    has_run.recv().unwrap();
    let until = monotonic_nanos() + 5 * SECOND;
    let waits = || cpu.online.is_waiting(Thread::Worker(0));
    while !waits() && monotonic_nanos() < until {
        std::thread::yield_now();
    }
    assert!(waits());
    cpu.halt();
    cpu.phase.close();
    worker.join().unwrap();
}

//! Starts the threads of a paper.

use super::scheduler::{Beside, Role};
use super::worker::PaperWorker;
use super::{Paper, checker, dispatcher, scheduler};
use crate::body::Bodies;
use crate::frames::record::WalkRecord;
use crate::launch::SharedCpu;
use crate::queue::JobQueue;
use crate::recording::Tracer;
use crate::thread::start::{Started, Threads};
use crate::thread::worker::Worker;
use std::io;
use std::sync::Arc;
use vestal_core::TaskId;

/// A CPU with the bodies and the records of its tasks.
pub(in crate::frames) type Staff = (SharedCpu, Vec<Bodies>, Vec<Tracer>);

/// What comes from the threads, each with the place of its CPU in the set.
pub(in crate::frames) type Members = Vec<(usize, Started<WalkRecord>)>;

/// Starts all threads. Each is ready before the next one is started.
pub(in crate::frames) fn start(
    threads: &mut Threads,
    paper: &Arc<Paper>,
    staffs: Vec<Staff>,
) -> io::Result<Members> {
    let host = paper.terms.host;
    let highest = paper.terms.priority;
    let mut members = Vec::new();
    let beside = |role, below| Beside {
        paper: Arc::clone(paper),
        role,
        priority: highest - below,
    };
    let mut start = |name, member, main: fn(Beside) -> WalkRecord| {
        let started = threads.start(name, None, member, Beside::set_up, main)?;
        members.push((host, started));
        io::Result::Ok(())
    };
    let dispatcher = beside(Role::Dispatcher, 0);
    start("vestal-dispatch", dispatcher, dispatcher::main)?;
    let scheduler = beside(Role::Scheduler, 1);
    start("vestal-schedule", scheduler, scheduler::main)?;
    let checker = beside(Role::Checker, 2);
    start("vestal-check", checker, checker::main)?;
    for (index, (cpu, bodies, traces)) in staffs.into_iter().enumerate() {
        let each = bodies.into_iter().zip(traces).zip((0..).map(TaskId));
        for ((bodies, trace), task) in each {
            let worker = PaperWorker {
                worker: Worker {
                    cpu: Arc::clone(&cpu),
                    index: task.index(),
                    body: bodies.body,
                    demand: bodies.demand,
                    queue: JobQueue::new(None),
                    trace,
                },
                paper: Arc::clone(paper),
                home: (index, task),
            };
            let name = cpu.tasks.get(task.index());
            let name = name.map_or_else(String::new, |task| task.name.clone());
            let place = Some((index, task.index()));
            let (set_up, main) = (PaperWorker::set_up, PaperWorker::main);
            let started = threads.start(&name, place, worker, set_up, main)?;
            members.push((index, started));
        }
    }
    Ok(members)
}

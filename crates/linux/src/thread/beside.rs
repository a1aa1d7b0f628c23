//! Starts the threads that work beside the manager of a CPU: the top half of its devices, and those of Sigrist et al. (RTAS 2015).

use super::checker::Checker;
use super::dispatcher::Dispatcher;
use super::start::Threads;
use super::top_half::TopHalf;
use crate::evidence::NotedCpu;
use crate::plan::BesidePlan;
use std::io;

/// Starts those that the CPU's manager expects; `prefix` begins their names.
pub(crate) fn start(
    threads: &mut Threads,
    cpu: &NotedCpu,
    prefix: &str,
    plan: BesidePlan,
) -> io::Result<()> {
    if !cpu.devices.is_empty() {
        let top_half = TopHalf {
            cpu: NotedCpu::clone(cpu),
            priority: plan.top_half_priority,
        };
        let name = format!("{prefix}top");
        let (set_up, main) = (TopHalf::set_up, TopHalf::main);
        threads.start(&name, None, top_half, set_up, main)?;
    }
    if cpu.terms.duties.has_dispatcher {
        let dispatcher = Dispatcher {
            cpu: NotedCpu::clone(cpu),
            processor: plan.dispatcher.unwrap_or(cpu.processor),
            priority: plan.dispatcher_priority,
        };
        let name = format!("{prefix}dispatch");
        let (set_up, main) = (Dispatcher::set_up, Dispatcher::main);
        threads.start(&name, None, dispatcher, set_up, main)?;
    }
    if cpu.terms.duties.has_checkers {
        for index in 0..cpu.tasks.len() {
            let checker = Checker {
                cpu: NotedCpu::clone(cpu),
                index,
                priority: plan.checker_priority,
            };
            // The kernel keeps 15 characters of a name.
            let name = format!("{prefix}c{index}");
            let (set_up, main) = (Checker::set_up, Checker::main);
            threads.start(&name, None, checker, set_up, main)?;
        }
    }
    Ok(())
}

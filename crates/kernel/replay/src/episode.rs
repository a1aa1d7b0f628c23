//! A world of whole ticks for the engines whose configuration the replay carries: random arrivals,
//! demands at and beyond budgets, several CPUs. Part of the recorder, which needs a host.

use crate::Recorder;
use vestal_testkit::Random;
use vestal_core::*;
use vestal_replay::engines::Engine;

const TICKS: u64 = 240;

/// What the world of one built-in engine does.
struct Surroundings {
    cpus: usize,
    /// For each task its period (0: it has no releases of its own) and its usual demand.
    tasks: &'static [(u64, u64)],
    /// Whether device 0 interrupts.
    interrupts: bool,
    /// Releases at multiples of the period only.
    strictly_periodic: bool,
}

fn surroundings(number: u8) -> Surroundings {
    match number {
        1 => Surroundings {
            cpus: 1,
            tasks: &[(30, 5), (40, 5), (35, 6)],
            interrupts: false,
            strictly_periodic: false,
        },
        2 => Surroundings {
            cpus: 1,
            tasks: &[(16, 7), (0, 1)],
            interrupts: true,
            strictly_periodic: false,
        },
        3 => Surroundings {
            cpus: 2,
            tasks: &[(10, 2), (20, 3), (10, 3), (20, 4)],
            interrupts: false,
            strictly_periodic: true,
        },
        _ => Surroundings {
            cpus: 1,
            tasks: &[(5, 1), (10, 1), (10, 1), (20, 1), (10, 1), (20, 1), (5, 1)],
            interrupts: false,
            strictly_periodic: true,
        },
    }
}

/// Records one run of engine `number`.
pub(crate) fn record(number: u8, bytes: &mut Vec<u8>, hash: &mut PlanHash) {
    let mut engine = Engine::built_in(number)
        .unwrap_or_else(|| panic!("engine {number} refuses its configuration"));
    let surroundings = surroundings(number);
    let mut recorder = Recorder::new(engine.scheduler(), *hash);
    let distinct = run(
        &surroundings,
        &mut recorder,
        &mut Random::new(u64::from(number)),
    );
    assert!(
        distinct >= surroundings.tasks.len(),
        "engine {number}: only {distinct} tasks ever ran"
    );
    bytes.push(number);
    *hash = recorder.finish(bytes);
}

/// Steps through the run; says how many tasks ran.
fn run(surroundings: &Surroundings, engine: &mut dyn Scheduler, random: &mut Random) -> usize {
    let count = surroundings.tasks.len();
    let mut due: Vec<u64> = vec![0; count];
    let mut sequences = vec![0; count];
    // What the job that started last has left, with its number.
    let mut left: Vec<Option<(u64, u64)>> = vec![None; count];
    let mut running: Vec<Option<JobId>> = vec![None; surroundings.cpus];
    let mut seen = vec![false; count];
    for now in 0..TICKS {
        let at = Instant::from_nanos(now);
        for (cpu, slot) in running.iter_mut().enumerate() {
            let Some(job) = *slot else { continue };
            let cpu = CpuId(cpu as u16);
            let amount = Service::from_nanos(1);
            engine
                .apply(at, Fact::Charged { cpu, job, amount })
                .expect("a true charge");
            let rest = left[job.task.index()].as_mut().expect("it has started");
            rest.1 -= 1;
            if rest.1 == 0 {
                engine
                    .apply(at, Fact::Completed { cpu, job })
                    .expect("it ran");
                *slot = None;
            }
        }
        for (index, &(period, _)) in surroundings.tasks.iter().enumerate() {
            if period > 0 && due[index] == now {
                let task = TaskId(index as u16);
                let job = JobId {
                    task,
                    sequence: sequences[index],
                };
                engine.apply(at, Fact::Released { job }).expect("in order");
                sequences[index] += 1;
                let late = if surroundings.strictly_periodic {
                    0
                } else {
                    random.below(4)
                };
                due[index] = now + period + late;
            }
        }
        if surroundings.interrupts && random.below(5) == 0 {
            let (device, count) = (DeviceId(0), 1);
            engine
                .apply(at, Fact::Interrupt { device, count })
                .expect("a known device");
        }
        // A displaced job may be offered elsewhere only after its stop: two rounds at most.
        for _ in 0..3 {
            let slots = engine.decide(at).expect("time moves on").slots.to_vec();
            let wanted = |cpu: usize| slots.get(cpu).copied().flatten().map(|slot| slot.job);
            for (cpu, slot) in running.iter_mut().enumerate() {
                if let Some(job) = slot.filter(|&job| Some(job) != wanted(cpu)) {
                    let (cpu, why) = (CpuId(cpu as u16), StopReason::Preempted);
                    engine
                        .apply(at, Fact::Stopped { cpu, job, why })
                        .expect("it ran");
                    *slot = None;
                }
            }
            for (cpu, slot) in running.iter_mut().enumerate() {
                if let (None, Some(job)) = (*slot, wanted(cpu)) {
                    let task = job.task.index();
                    let cpu = CpuId(cpu as u16);
                    engine
                        .apply(at, Fact::Started { cpu, job })
                        .expect("it was offered");
                    *slot = Some(job);
                    seen[task] = true;
                    if left[task].is_none_or(|(sequence, _)| sequence != job.sequence) {
                        let (_, usual) = surroundings.tasks[task];
                        let more = u64::from(random.below(4) == 0) * random.below(4);
                        left[task] = Some((job.sequence, usual + more));
                    }
                }
            }
        }
    }
    seen.iter().filter(|&&ran| ran).count()
}

//! Several CPUs of a set: each has a manager, a mode and a schedule of its own.

use crate::looks;
use crate::support::{
    HI, LO, RunWell, alone, by_priorities, config, configuration, ms, native, real_time_threads,
    spec, two_processors, well, well_on_all,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use vestal_core::{
    CpuId, Duration, Enforcement, Event, Guard, JobId, Permit, Service, TaskId, Uniprocessor,
};
use vestal_linux::fault::Fault;
use vestal_linux::{
    Config, CpuSpec, Executive, JobContext, Mechanism, Monitor, Processor, Recording, Report,
    RunError, TaskSpec,
};
use vestal_trace::{Dispatch, DomainId, Header, Record, Scope, Summary, What, replay};

const NOBODY: Vec<String> = Vec::new();

/// How the CPUs of a set are dispatched.
const DISPATCHES: [fn(Enforcement) -> CpuSpec; 2] = [native, by_priorities];

fn on(spec: CpuSpec, processor: usize) -> CpuSpec {
    spec.on(Processor(processor))
}

fn hi(name: &str) -> TaskSpec {
    spec(name, HI, 2, 40, &[4, 10])
}

fn lo(name: &str) -> TaskSpec {
    spec(name, LO, 1, 40, &[6])
}

/// Burns 2 ms; job 5 of a task that overruns burns 9 ms, twice its first limit and more.
fn burns(
    overruns: bool,
) -> impl FnMut(&mut JobContext<'_>) -> Result<(), vestal_linux::Cancelled> + Send + 'static {
    move |job| match (overruns, job.id().sequence) {
        (true, 5) => job.burn(ms(9)),
        _ => job.burn(ms(2)),
    }
}

/// Two CPUs with a task of each level, of which the HI one of the first overruns once.
fn with_an_overrun(
    config: Config,
    cpu: fn(Enforcement) -> CpuSpec,
    places: [usize; 2],
) -> Executive {
    two_cpus(config, cpu, places, true)
}

/// The same; whether that overruns.
fn two_cpus(
    config: Config,
    cpu: fn(Enforcement) -> CpuSpec,
    places: [usize; 2],
    overruns: bool,
) -> Executive {
    Executive::new(config)
        .cpu(on(cpu(Enforcement::Adaptive), places[0]))
        .task(hi("hi-0"), burns(overruns))
        .task(lo("lo-0"), |job| job.burn(ms(4)))
        .cpu(on(cpu(Enforcement::Adaptive), places[1]))
        .task(hi("hi-1"), burns(false))
        .task(lo("lo-1"), |job| job.burn(ms(4)))
}

/// Runs a set, and gives what was recorded, by domain.
fn recorded(executive: Executive, span: u64) -> (Report, BTreeMap<DomainId, Vec<Record>>) {
    let (report, by_domain, _) = recorded_with_granularity(executive, span);
    (report, by_domain)
}

/// The same, and which granularity guards were made for.
fn recorded_with_granularity(
    executive: Executive,
    span: u64,
) -> (Report, BTreeMap<DomainId, Vec<Record>>, Service) {
    let records = Arc::new(Mutex::new(Vec::new()));
    let granularity = Arc::new(Mutex::new(Service::ZERO));
    let (sink, told) = (Arc::clone(&records), Arc::clone(&granularity));
    let report = executive
        .recorded(Recording::new(move |beginning| {
            *told.lock().unwrap() = beginning.granularity;
            Ok(Box::new(move |batch| {
                sink.lock().unwrap().extend_from_slice(batch)
            }))
        }))
        .run_well(Duration::from_millis(span));
    let mut by_domain: BTreeMap<DomainId, Vec<Record>> = BTreeMap::new();
    let mut present = DomainId::FIRST;
    for record in records.lock().unwrap().iter() {
        if let What::Domain { domain } = record.what {
            present = domain;
        } else {
            by_domain.entry(present).or_default().push(*record);
        }
    }
    let granularity = *granularity.lock().unwrap();
    (report, by_domain, granularity)
}

/// How many jobs each task of [`two_cpus`] has in 640 ms.
const JOBS: u64 = 16;

/// What was planned for a domain's CPU, each change of it once: the job that has the CPU, and the permits of its tasks. Of the jobs
/// that are released until 640 ms.
#[derive(Debug, PartialEq)]
struct Planned {
    slots: Vec<Option<JobId>>,
    permits: Vec<(TaskId, Permit)>,
}

fn planned(records: &[Record]) -> Planned {
    let slot = |record: &Record| {
        let What::Slot { slot, .. } = record.what else {
            return None;
        };
        let job = slot.map(|slot| slot.job);
        job.is_none_or(|job| job.sequence < JOBS).then_some(job)
    };
    let permit = |record: &Record| {
        let What::Permit { task, permit } = record.what else {
            return None;
        };
        Some((task, permit))
    };
    let mut slots: Vec<Option<JobId>> = records.iter().filter_map(slot).collect();
    slots.dedup();
    if slots.last() == Some(&None) {
        slots.pop();
    }
    Planned {
        slots,
        permits: records.iter().filter_map(permit).collect(),
    }
}

/// A fresh scheduler of that CPU alone, or a fresh guard, is told what its domain was told, and decides the same.
fn decided_again(
    domain: DomainId,
    dispatch: Dispatch,
    granularity: Service,
    records: &[Record],
) -> Summary {
    let number = domain.0;
    let specs = [hi("hi"), lo("lo")];
    let tasks = specs.clone().map(|spec| spec.configuration);
    let scope = Scope::new(
        domain,
        &[TaskId(2 * number), TaskId(2 * number + 1)],
        &[CpuId(number)],
    );
    let records = records.iter().map(|&record| scope.to_cluster(record));
    let records = records.map(Ok::<_, ()>);
    let is_native = dispatch == Dispatch::Native;
    let header = Header {
        dispatch,
        granularity,
        ordered: is_native,
        records_permits: is_native,
        ..looks::header(&specs)
    };
    let configured = |granularity| configuration(&tasks, 2, Enforcement::Adaptive, granularity);
    let replayed = match dispatch {
        Dispatch::Native => {
            let mut guard = Guard::new(&configured(granularity)).unwrap();
            replay(&header, records, &mut guard)
        }
        Dispatch::Managed => {
            let mut engine = Uniprocessor::new(&configured(Service::ZERO)).unwrap();
            replay(&header, records, &mut engine)
        }
    };
    replayed.unwrap_or_else(|failure| panic!("domain {number}: {failure:?}"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a run took to end, from outside"
)]
fn clock() -> Instant {
    Instant::now()
}

/// Which tasks and which CPUs records are about.
fn named(records: &[Record]) -> (Vec<TaskId>, Vec<CpuId>) {
    let (mut tasks, mut cpus) = (Vec::new(), Vec::new());
    for record in records {
        record.visit_names(|task| tasks.push(task), |cpu| cpus.push(cpu));
    }
    tasks.sort_unstable();
    tasks.dedup();
    cpus.sort_unstable();
    cpus.dedup();
    (tasks, cpus)
}

#[test]
fn an_overrun_raises_the_mode_of_its_own_cpu_and_the_other_has_nothing_of_it() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for cpu in DISPATCHES {
        well(|| {
            let set = with_an_overrun(config(Monitor::Manager), cpu, places);
            let (report, domains) = recorded(set, 640);
            let [first, second] = report.cpus.as_slice() else {
                panic!("{report:?}");
            };
            assert_eq!([first, second].map(|cpu| cpu.processor.0), places);
            let rises = first.modes.iter().filter(|change| change.to == HI);
            let causes: Vec<_> = rises.map(|change| change.cause).collect();
            let [Some(cause)] = causes[..] else {
                panic!("{causes:?}");
            };
            assert_eq!((cause.task, cause.sequence), (TaskId(0), 5));
            assert_eq!(first.modes.len(), 2, "and back: {:?}", first.modes);
            assert_eq!(second.modes, []);
            let jobs = &second.tasks;
            assert_eq!(jobs.len(), 2);
            for task in jobs {
                assert_eq!(task.jobs.released, 16, "{task:?}");
                assert_eq!(
                    (task.jobs.dropped, task.jobs.missed, task.overruns),
                    (0, 0, 0)
                );
            }
            assert_eq!(report.jobs.released, 64);
            // The records say the same.
            assert_eq!(domains.len(), 2);
            let raises = |record: &&Record| matches!(record.what, What::Notice(Event::ModeChanged { to, .. }) if to == HI);
            let drops = |record: &&Record| matches!(record.what, What::Dropped { .. });
            let counts = domains.values().map(|records| {
                let ends = |record: &&Record| matches!(record.what, What::End { .. });
                let count = |of: &dyn Fn(&&Record) -> bool| records.iter().filter(of).count();
                (count(&raises), count(&ends))
            });
            assert_eq!(counts.collect::<Vec<_>>(), [(1, 1), (0, 1)]);
            assert_eq!(domains[&DomainId(1)].iter().filter(drops).count(), 0);
            for (number, records) in &domains {
                let (tasks, cpus) = named(records);
                let own = [2 * number.0, 2 * number.0 + 1].map(TaskId);
                assert_eq!(tasks, own, "domain {}", number.0);
                assert_eq!(cpus, [CpuId(number.0)], "domain {}", number.0);
            }
        });
    }
}

/// What is planned for a CPU is the same whether a job of the other one overruns or not, and so is what a replay of each domain alone
/// decides. The plans of the CPU where it does differ: there the LO job of that period is taken off.
#[test]
fn the_plans_of_a_cpu_are_those_of_a_run_in_which_the_other_one_keeps_its_limits() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for (cpu, dispatch) in DISPATCHES
        .into_iter()
        .zip([Dispatch::Native, Dispatch::Managed])
    {
        well_on_all(|| {
            let [kept, overran] = [false, true].map(|overruns| {
                let set = two_cpus(config(Monitor::Manager), cpu, places, overruns);
                let (report, domains, granularity) = recorded_with_granularity(set, 640);
                for (domain, records) in &domains {
                    let summary = decided_again(*domain, dispatch, granularity, records);
                    assert_eq!(summary.records, records.len() as u64);
                }
                for task in &report.cpus[1].tasks {
                    assert_eq!((task.jobs.completed, task.jobs.dropped), (JOBS, 0));
                }
                [0, 1].map(|number| planned(&domains[&DomainId(number)]))
            });
            assert_ne!(kept[0], overran[0], "nothing was planned for the overrun");
            assert_eq!(kept[1], overran[1]);
            if dispatch == Dispatch::Managed {
                // In each period first the HI job, then the LO job, then nothing.
                let job = |task, sequence| {
                    let task = TaskId(task);
                    Some(JobId { task, sequence })
                };
                let usual = |cpu: u16| {
                    let turn =
                        |sequence| [job(2 * cpu, sequence), job(2 * cpu + 1, sequence), None];
                    let mut slots: Vec<Option<JobId>> = (0..JOBS).flat_map(turn).collect();
                    slots.pop();
                    slots
                };
                assert_eq!(kept[0].slots, usual(0));
                assert_eq!(kept[1].slots, usual(1));
                let taken_off = job(1, 5);
                let rest = usual(0).into_iter().filter(|slot| *slot != taken_off);
                assert_eq!(overran[0].slots, rest.collect::<Vec<_>>());
            }
        });
    }
}

/// CPUs 0 and 2 of the set share a processor, as do 1 and 3: they wait for each other, and nothing is guaranteed.
#[test]
fn cpus_of_a_set_that_share_processors_end_with_every_release_accounted_for() {
    let _alone = alone();
    let Some([first, second]) = two_processors() else {
        return;
    };
    for cpu in DISPATCHES {
        let places = [first, second, first, second];
        let set = places.into_iter().enumerate();
        let set = set.fold(
            Executive::new(config(Monitor::Manager)),
            |set, (number, place)| {
                set.cpu(on(cpu(Enforcement::Adaptive), place))
                    .task(
                        spec(&format!("hi-{number}"), HI, 2, 40, &[3, 6]),
                        burns(number == 2),
                    )
                    .task(spec(&format!("lo-{number}"), LO, 1, 40, &[4]), |job| {
                        job.burn(ms(2))
                    })
            },
        );
        let report = set.run(Duration::from_millis(600)).unwrap();
        assert_eq!(report.cpus.len(), 4);
        for cpu in &report.cpus {
            for task in &cpu.tasks {
                let jobs = task.jobs;
                let accounted = jobs.completed + jobs.dropped + jobs.unfinished;
                assert_eq!((jobs.released, accounted), (15, 15), "{task:?}");
            }
        }
        assert_eq!(report.jobs.missed_guaranteed, 0);
        assert_eq!(report.stuck, NOBODY);
        assert_eq!(real_time_threads(std::process::id()), NOBODY);
    }
}

/// What a run of two CPUs on these processors says of which one's manager hangs, and that it ends in time.
fn hangs((config, cpu): (Config, fn(Enforcement) -> CpuSpec), places: [usize; 2], hung: u16) {
    const BEAT_MS: u64 = 500;
    const AT_MS: u64 = 200;
    const PATIENCE_MS: u64 = 1_000;
    let config = Config {
        patience: Duration::from_millis(PATIENCE_MS),
        ..config
    };
    let begun = clock();
    let error = with_an_overrun(config, cpu, places)
        .with_fault_on(CpuId(hung), Fault::ManagerHangs(AT_MS))
        .run(Duration::from_millis(20_000))
        .unwrap_err();
    let took = clock().duration_since(begun);
    assert!(matches!(error, RunError::ManagerHung), "{error}");
    // A manager that nobody calls looks once a beat. The last part is for starting the threads.
    let most = AT_MS + BEAT_MS + 4 * BEAT_MS + PATIENCE_MS + 500;
    let most = std::time::Duration::from_millis(most);
    assert!(took < most, "CPU {hung} on {places:?}: {took:?}");
    assert_eq!(real_time_threads(std::process::id()), NOBODY);
}

#[test]
fn a_manager_that_hangs_on_any_cpu_ends_the_run_and_leaves_no_real_time_thread() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for cpu in DISPATCHES {
        for hung in [0, 1] {
            hangs((config(Monitor::Manager), cpu), places, hung);
        }
    }
    for (mechanism, cpu) in [
        (Mechanism::Huang2014, DISPATCHES[0]),
        (Mechanism::Sigrist2015, DISPATCHES[1]),
    ] {
        let of_paper = Config {
            mechanism,
            ..config(Monitor::Manager)
        };
        hangs((of_paper, cpu), places, 1);
    }
}

/// It keeps the other manager from its processor too, which has the same priority.
#[test]
fn a_manager_that_hangs_where_another_one_waits_for_it_ends_the_run() {
    let _alone = alone();
    let Some([first, _]) = two_processors() else {
        return;
    };
    for hung in [0, 1] {
        hangs((config(Monitor::Manager), native), [first, first], hung);
    }
}

#[test]
fn a_body_that_panics_on_the_second_cpu_ends_both_and_its_task_is_named() {
    let _alone = alone();
    let Some([first, second]) = two_processors() else {
        return;
    };
    let error = Executive::new(config(Monitor::Manager))
        .cpu(on(native(Enforcement::Adaptive), first))
        .task(hi("steady"), burns(false))
        .cpu(on(by_priorities(Enforcement::Adaptive), second))
        .task(hi("fine"), burns(false))
        .task(lo("faulty"), |job| {
            assert!(job.id().sequence < 3, "the fourth is too much");
            job.burn(ms(1))
        })
        .run(Duration::from_millis(20_000))
        .unwrap_err();
    let RunError::BodyPanicked { task, message } = error else {
        panic!("{error}");
    };
    let said = (task.as_str(), message.as_str());
    assert_eq!(said, ("faulty", "the fourth is too much"));
    assert_eq!(real_time_threads(std::process::id()), NOBODY);
}

/// The threads of a set are called by their CPUs, and there is one watchdog.
#[test]
fn each_cpu_has_threads_of_its_own_and_all_have_one_watchdog() {
    let _alone = alone();
    let Some([first, second]) = two_processors() else {
        return;
    };
    let names = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&names);
    let looks = move |job: &mut JobContext<'_>| {
        if job.id().sequence == 2 {
            *seen.lock().unwrap() = real_time_threads(std::process::id());
        }
        job.burn(ms(1))
    };
    Executive::new(config(Monitor::Manager))
        .cpu(on(native(Enforcement::Adaptive), first))
        .task(hi("one"), burns(false))
        .cpu(on(by_priorities(Enforcement::Adaptive), second))
        .task(hi("other"), looks)
        .run(Duration::from_millis(200))
        .unwrap();
    let stats = names.lock().unwrap();
    let name = |stat: &String| {
        let (_, rest) = stat.split_once('(').unwrap();
        rest.rsplit_once(')').unwrap().0.to_owned()
    };
    let mut names: Vec<String> = stats.iter().map(name).collect();
    names.sort_unstable();
    // Linux keeps 15 letters.
    let expected = [
        "one",
        "other",
        "vestal-0-idle",
        "vestal-0-manage",
        "vestal-1-manage",
        "vestal-watchdog",
    ];
    assert_eq!(names, expected);
}

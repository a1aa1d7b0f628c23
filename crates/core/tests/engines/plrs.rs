//! Job-priority lists at work: the four-task example of Huang, Gill and Lu (2014), whose lists the
//! job-arrival pattern with B(0) = 28 gives, run synchronously with every job at C(0).

use vestal_core::order::lists_of;
use vestal_core::*;

const CPU: CpuId = CpuId(0);

fn task(criticality: u8, lo: u64, hi: u64, period: u64) -> TaskConfiguration {
    let span = Duration::from_nanos(period);
    let wcet = Wcet::new(&[Service::from_nanos(lo), Service::from_nanos(hi)]).unwrap();
    let task = Task::new(Level(criticality), span, span, wcet).unwrap();
    TaskConfiguration::new(task, 0)
}

/// Who runs in each tick until `end`: a digit per task counted from 1, `.` for no job.
fn schedule(engine: &mut Uniprocessor, tasks: &[TaskConfiguration], end: u64) -> String {
    let mut drawing = String::new();
    let mut left = vec![0; tasks.len()];
    let mut sequences = vec![0; tasks.len()];
    let mut running: Option<JobId> = None;
    for now in 0..end {
        let at = Instant::from_nanos(now);
        if let Some(job) = running {
            let amount = Service::from_nanos(1);
            engine
                .apply(
                    at,
                    Fact::Charged {
                        cpu: CPU,
                        job,
                        amount,
                    },
                )
                .unwrap();
            left[job.task.index()] -= 1;
            if left[job.task.index()] == 0 {
                engine.apply(at, Fact::Completed { cpu: CPU, job }).unwrap();
                running = None;
            }
        }
        for (index, entry) in tasks.iter().enumerate() {
            if now % entry.task.period.as_nanos() == 0 {
                let task = TaskId(u16::try_from(index).unwrap());
                let job = JobId {
                    task,
                    sequence: sequences[index],
                };
                engine.apply(at, Fact::Released { job }).unwrap();
                sequences[index] += 1;
                left[index] = entry.task.wcet.at(Level(0)).as_nanos();
            }
        }
        let wanted = engine.decide(at).unwrap().slot(CPU).map(|slot| slot.job);
        if running != wanted {
            if let Some(job) = running {
                let why = StopReason::Preempted;
                engine
                    .apply(at, Fact::Stopped { cpu: CPU, job, why })
                    .unwrap();
            }
            if let Some(job) = wanted {
                engine.apply(at, Fact::Started { cpu: CPU, job }).unwrap();
            }
            running = wanted;
        }
        drawing.push(match running {
            Some(job) => char::from(b'1' + u8::try_from(job.task.0).unwrap()),
            None => '.',
        });
    }
    drawing
}

#[test]
fn lists_are_reused_from_the_top_while_a_low_job_is_pending() {
    let tasks = [
        task(1, 4, 6, 10),
        task(1, 3, 5, 20),
        task(0, 6, 6, 30),
        task(0, 2, 2, 15),
    ];
    let configuration = Configuration {
        tasks: &tasks,
        levels: LevelSet::new(2).unwrap(),
        enforcement: Enforcement::Adaptive,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let lists = lists_of(&[&[7, 5, 2, 0], &[6, 1], &[3], &[8, 4]]);
    let order = TaskOrder::ReusedLists {
        lists: lists.into(),
    };
    let mut engine = Uniprocessor::with_order(&configuration, &order).unwrap();
    let drawing = schedule(&mut engine, &tasks, 60);
    // 4 is above 1 above 2 above 3. At 10 task 1 and at 15 task 4 reuse the tops of their lists
    // above the pending job of task 3 (entry 3). At 20 the rests of the lists (2 and 1) are below
    // it, so task 3 ends first. The busy period is 28 long, as the analysis says.
    assert_eq!(&drawing[..30], "4411112223111134433331111222..");
    assert_eq!(
        &drawing[30..34],
        "4411",
        "after the idle instant every list starts anew"
    );
    assert_eq!(engine.jobs_beyond_pattern(), 0);
}

#[test]
fn a_list_for_each_task_is_required() {
    let tasks = [task(0, 1, 1, 5), task(1, 1, 2, 7)];
    let configuration = Configuration {
        tasks: &tasks,
        levels: LevelSet::new(2).unwrap(),
        enforcement: Enforcement::Adaptive,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    for lists in [&[&[1_u32, 0][..]][..], &[&[0, 1][..], &[2]]] {
        let lists = lists_of(lists).into();
        let order = TaskOrder::ReusedLists { lists };
        let error = Uniprocessor::with_order(&configuration, &order).err();
        assert_eq!(error, Some(ConfigurationError::JobLists));
    }
}

//! Overheads: Lemma IV.1 of Sigrist et al. (RTAS 2015) with numbers computed by hand and against a twin of its formula, what is
//! charged where, and runs in which carrying the policy out takes time.

mod monitored;
mod run;
mod runs;

use crate::common;
use common::{Random, problem, task};
use core::num::NonZeroU16;
use vestal_analysis::{
    Charging, Heartbeat, Kind, Outcome, Overheads, Problem, Reason, Scratch, Test, Verdict, find,
    tests,
};
use vestal_core::{CpuId, Duration, Task, TaskId};

const fn ns(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

fn analyse(name: &str, variant: Option<&str>, set: &Problem) -> Outcome {
    let test = find(name, variant).unwrap();
    let outcome = test.analyse(set);
    let accepted = test.accepts(set, &mut Scratch::default());
    assert_eq!(outcome.why.is_none(), accepted, "{test} {set:?}");
    outcome
}

fn is_proved(name: &str, tasks: &[Task], overheads: Overheads) -> bool {
    let set = problem(2, tasks.to_vec()).with_overheads(overheads);
    analyse(name, None, &set).verdict == Verdict::Schedulable
}

fn low(period: u64, wcet: u64) -> Task {
    task(0, period, period, &[wcet])
}

fn high(period: u64, low: u64, high: u64) -> Task {
    task(1, period, period, &[low, high])
}

/// The monitor of the lemma, with C_K spread over the tasks of level 0.
fn lemma(monitor: (u64, u64), termination: u64) -> Overheads {
    Overheads {
        termination: ns(termination),
        heartbeat: Some(Heartbeat {
            period: ns(monitor.0),
            cost: ns(monitor.1),
            is_scheduled: true,
        }),
        ..Overheads::default()
    }
}

/// By hand, in us: T_M = 500, C_M = 20, two tasks of level 0 with C_K = 2 * 150. Each C grows by 2 * 500 + 300 = 1300.
/// U_LO^LO = (2700 + 1300) / 20000 + (3700 + 1300) / 50000 = 0.2 + 0.1 = 0.3; U_M = 20 / 500 = 0.04;
/// U_HI^LO = (700 + 1300) / 10000 + (2700 + 1300) / 40000 = 0.2 + 0.1 = 0.3; with C(HI) of 2700 and 10700:
/// U_HI^HI = 0.4 + 0.3 = 0.7. First sum: 0.3 + 0.3 + 0.04 = 0.64. Second: 0.7 + 0.04 + 0.34 / 0.7 * 0.3 = 0.8857.
#[test]
fn both_sums_of_lemma_iv_1_by_hand() {
    let set = |last| {
        [
            low(20_000, 2_700),
            low(50_000, 3_700),
            high(10_000, 700, 2_700),
            high(40_000, 2_700, last),
        ]
    };
    let overheads = lemma((500, 20), 150);
    assert!(is_proved("edf-vd", &set(10_700), overheads));
    // 1 = 0.4 + (C + 1300) / 40000 + 0.04 + 0.34 * 3 / 7: C = 15271.4...
    assert!(is_proved("edf-vd", &set(15_271), overheads));
    assert!(!is_proved("edf-vd", &set(15_272), overheads));
    // Without any of it: a = 0.209, b = 0.1375, c = 0.27 + C / 40000, and x a + c <= 1.
    assert!(is_proved("edf-vd", &set(20_000), Overheads::default()));
    // Given virtual deadlines are none for the monitor.
    let given = vestal_analysis::Parameters {
        virtual_deadlines: Some(vec![ns(20_000), ns(50_000), ns(5_000), ns(20_000)]),
        ..vestal_analysis::Parameters::default()
    };
    let given = problem(2, set(10_700).to_vec()).with(&given).unwrap();
    assert_eq!(
        analyse("edf-vd", None, &given).verdict,
        Verdict::Schedulable
    );
    let with = analyse("edf-vd", None, &given.with_overheads(overheads));
    assert_eq!(with.verdict, Verdict::NotProven);
    assert!(
        with.why
            .unwrap()
            .to_string()
            .contains("given virtual deadlines")
    );
}

/// The formula as it is printed, and plain EDF beside it, which it leaves out; utilisations in floating point, nothing is
/// said within 10^-9 of a border.
fn lemma_says(tasks: &[Task], (t_m, c_m): (f64, f64), c_k: f64) -> Option<bool> {
    let sum = |criticality: u8, level: u8| {
        let of_level = tasks
            .iter()
            .filter(|task| task.criticality.0 == criticality);
        let shares = of_level.map(|task| {
            let wcet = task.wcet.at(vestal_core::Level(level)).as_nanos() as f64;
            (wcet + 2.0 * t_m + c_k) / task.period.as_nanos() as f64
        });
        shares.sum::<f64>()
    };
    let (a, b, c, m) = (sum(0, 0), sum(1, 0), sum(1, 1), c_m / t_m);
    let sums = [a + b + m, c + m + (b + m) / (1.0 - a) * a];
    let sums = if a < 1.0 { sums } else { [2.0; 2] };
    let border = [a + c + m - 1.0, sums[0] - 1.0, sums[1] - 1.0];
    if border.iter().any(|distance| distance.abs() < 1e-9) {
        return None;
    }
    Some(border[0] < 0.0 || border[1] < 0.0 && border[2] < 0.0)
}

#[test]
fn edf_vd_with_a_scheduled_monitor_is_the_lemma() {
    let mut random = Random::new(4);
    let mut seen = [0; 2];
    for _ in 0..20_000 {
        let lows = random.between(0, 3);
        let highs = random.between(1, 3);
        let share =
            |random: &mut Random, period: u64| random.between(1, period * 3 / (lows + highs) / 2);
        let mut tasks = Vec::new();
        for _ in 0..lows {
            let period = random.between(10_000, 90_000);
            tasks.push(low(period, share(&mut random, period)));
        }
        for _ in 0..highs {
            let period = random.between(10_000, 90_000);
            let wcet = share(&mut random, period) / 2 + 1;
            tasks.push(high(period, wcet, wcet + random.between(0, wcet)));
        }
        let monitor = (random.between(30, 300), random.between(1, 10));
        let each = random.between(0, 100);
        let c_k = (each * lows) as f64;
        let Some(expected) = lemma_says(&tasks, (monitor.0 as f64, monitor.1 as f64), c_k) else {
            continue;
        };
        // C > T is refused before, and so it is by the sums.
        let found = is_proved("edf-vd", &tasks, lemma(monitor, each));
        assert_eq!(found, expected, "{tasks:?} {monitor:?} {each}");
        seen[usize::from(found)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 1_000), "{seen:?}");
}

/// Shapes of Fig. 2: a set of U = 0.8 with periods of 2 ms to 2 s, in us. A longer T_M costs less and notices later: some in
/// between is best. Beyond some C_K nothing is proved.
#[test]
fn an_optimum_of_t_m_lies_inside_and_no_schedule_beyond_some_c_k() {
    let tasks = [
        low(10_000, 1_000),
        low(100_000, 20_000),
        high(20_000, 1_000, 2_000),
        high(200_000, 20_000, 50_000),
        high(2_000_000, 100_000, 300_000),
    ];
    // The largest C_K, in us for each of the two tasks, with this T_M: by bisection, since more of it never helps.
    let largest = |period: u64| {
        let proved = |each| is_proved("edf-vd", &tasks, lemma((period, 20), each));
        let (mut yes, mut no) = (0, 100_000);
        if !proved(yes) {
            return None;
        }
        assert!(!proved(no), "no schedule beyond some C_K");
        while no - yes > 1 {
            let middle = yes.midpoint(no);
            if proved(middle) {
                yes = middle
            } else {
                no = middle
            }
        }
        Some(yes)
    };
    let periods = [30, 50, 100, 200, 400, 800, 1_600, 3_200];
    let found: Vec<Option<u64>> = periods.into_iter().map(largest).collect();
    let best = (0..found.len()).max_by_key(|&index| found[index]).unwrap();
    assert!(0 < best && best < found.len() - 1, "{found:?}");
    assert!(found[best] > found[0] && found[best] > found[found.len() - 1]);
    let (rising, falling) = found.split_at(best);
    assert!(
        rising.is_sorted() && falling.is_sorted_by(|one, next| one >= next),
        "{found:?}"
    );
}

/// One of the costs alone: what each test of them sets.
const ALONE: [fn(Duration) -> Overheads; 7] = [
    |it| Overheads { job: it, ..NOTHING },
    |it| Overheads {
        release: it,
        ..NOTHING
    },
    |it| Overheads {
        detection: it,
        ..NOTHING
    },
    |it| Overheads {
        exhaustion: it,
        ..NOTHING
    },
    |it| Overheads {
        change: it,
        ..NOTHING
    },
    |it| Overheads {
        termination: it,
        ..NOTHING
    },
    |it| Overheads {
        heartbeat: Some(Heartbeat {
            period: Duration::from_nanos(it.as_nanos() * 3),
            cost: Duration::from_nanos(1),
            is_scheduled: false,
        }),
        ..NOTHING
    },
];

const NOTHING: Overheads = Overheads {
    job: Duration::ZERO,
    release: Duration::ZERO,
    detection: Duration::ZERO,
    exhaustion: Duration::ZERO,
    late: Duration::ZERO,
    change: Duration::ZERO,
    termination: Duration::ZERO,
    instant: Duration::ZERO,
    slice: Duration::ZERO,
    frame: Duration::ZERO,
    sub_frame: Duration::ZERO,
    heartbeat: None,
};

/// Overheads that leave no time for anything, each by one of the fields for which a test pays.
fn paid(test: &Test) -> Vec<Overheads> {
    let huge = ns(3_000_000);
    let monitor = Overheads {
        heartbeat: Some(Heartbeat {
            period: ns(1),
            cost: ns(2),
            is_scheduled: false,
        }),
        ..NOTHING
    };
    let late = Overheads {
        late: huge,
        ..NOTHING
    };
    let of_jobs = ALONE[..6].iter().map(|alone| alone(huge));
    let of_jobs = of_jobs.chain([monitor, late]);
    let more = match test.charging {
        Charging::Instants => Some(Overheads {
            instant: huge,
            ..NOTHING
        }),
        Charging::Slices => Some(Overheads {
            slice: huge,
            ..NOTHING
        }),
        Charging::No | Charging::Jobs | Charging::JobsAndMonitor | Charging::Itself => None,
    };
    match test.name {
        "ftts" => vec![
            Overheads {
                job: huge,
                ..NOTHING
            },
            Overheads {
                release: huge,
                ..NOTHING
            },
            Overheads {
                frame: huge,
                ..NOTHING
            },
            Overheads {
                sub_frame: huge,
                ..NOTHING
            },
            monitor,
        ],
        _ => of_jobs.chain(more).collect(),
    }
}

/// With all zero what is proved is what is proved without; each field that a test pays for is enough to prove nothing.
#[test]
fn every_test_takes_overheads_or_says_that_it_cannot() {
    let tasks = vec![low(1_000_000, 10_000), high(2_000_000, 10_000, 20_000)];
    let set = problem(2, tasks).with_first_releases(vec![Some(Duration::ZERO); 2]);
    for test in tests().iter().filter(|test| !test.is_for_job_sets) {
        let without = test.analyse(&set);
        let with = |it| test.analyse(&set.clone().with_overheads(it));
        let with_none = with(NOTHING);
        let cannot = matches!(with_none.why, Some(Reason::OverheadsNotTaken { .. }));
        assert_eq!(cannot, test.charging == Charging::No, "{test}");
        if cannot {
            continue;
        }
        assert_eq!(with_none.why.is_some(), without.why.is_some(), "{test}");
        assert_eq!(with_none.tasks, without.tasks, "{test}");
        assert_eq!(with_none.parameters, without.parameters, "{test}");
        assert_ne!(with_none.kind, Kind::Exact, "{test}");
        for overheads in paid(test) {
            let why = with(overheads).why;
            let says = matches!(why, Some(Reason::WithOverheads { .. }));
            assert!(says, "{test} {overheads:?} {why:?}");
        }
    }
}

/// More is charged than may be needed, so no refusal says unschedulable, and budgets of servers pay for nothing.
#[test]
fn a_test_of_one_s_own_says_no_more_than_it_may() {
    const fn own(kind: Kind) -> Test {
        let say_no = |set: &Problem| {
            let tasks = vec![vestal_analysis::TaskOutcome::default(); set.tasks().len()];
            Outcome::decided(Kind::Necessary, Some(Reason::JobSet), tasks)
        };
        Test::own("own", kind, None, &[], "", say_no).charging(Charging::Jobs)
    }
    let set = problem(2, vec![low(10, 1)]);
    let test = own(Kind::Necessary);
    assert_eq!(test.analyse(&set).verdict, Verdict::Unschedulable);
    let with = set.with_overheads(NOTHING);
    assert_eq!(test.analyse(&with).verdict, Verdict::NotProven);
    let why = test.for_servers().analyse(&with).why;
    let what = "overheads";
    assert_eq!(why, Some(Reason::OverheadsNotTaken { what }));
}

/// c, K and u by hand. Tasks: level 0 (T 100, C 10), level 1 (T 200, C 20/30); two levels.
/// c = 3 + 2 + 1 = 6, K = 3 * 4 + 2 * 5 + 1 + 1 = 24, u = 1/100 + 1/200 = 0.015: C' = (10 + 30) / 0.985 = 40.6, so 41.
/// Level 1: 50 / 0.985 = 50.8, 51, and 60 / 0.985 = 60.9, 61. Under smc the short one first: R = 41, and 41 + 51 = 92 at level 0,
/// 2 * 41 + 61 = 143 at level 1.
#[test]
fn response_times_are_those_of_charged_tasks() {
    let overheads = Overheads {
        job: ns(3),
        release: ns(1),
        detection: ns(2),
        exhaustion: ns(1),
        change: ns(4),
        termination: ns(5),
        ..Overheads::default()
    };
    let set = problem(2, vec![low(100, 10), high(200, 20, 30)]);
    let given = set.with_priorities(vec![2, 1]).unwrap();
    let outcome = analyse("smc", None, &given.clone().with_overheads(overheads));
    assert_eq!(outcome.verdict, Verdict::Schedulable);
    assert_eq!(outcome.kind, Kind::Sufficient);
    assert_eq!(outcome.tasks[0].responses, [Some(ns(41))]);
    assert_eq!(outcome.tasks[1].responses, [Some(ns(92)), Some(ns(143))]);
    // In the double there are three visits for an instant (2), and K twice: K = 24 + 12 = 36; with periods
    // of 1000 and 2000 u = 0.0015 + 0.009.
    let instants = Overheads {
        instant: ns(2),
        ..overheads
    };
    let longer = problem(2, vec![low(1_000, 10), high(2_000, 20, 30)]);
    let outcome = analyse("zss", None, &longer.with_overheads(instants));
    let most = outcome.tasks[0].responses[0];
    // (10 + 6 + 72) / 0.9895 = 88.9.
    assert_eq!(most, Some(ns(89)), "{outcome:?}");
    // Reasons are about what was charged.
    let refused = analyse("smc", None, &given.with_overheads(overheads.scaled(10, 1)));
    let why = refused.why.unwrap().to_string();
    assert!(why.starts_with("with overheads: task "), "{why}");
}

/// Two slices: c and K in each. Level 1 (T 200, C 20), given two slices; level 0 (T 100, C 10). c = 3, K = 2 * 1 from boundaries of
/// slices (2 each time) and once 1 for the task in one piece: 3; u = 2 * 1 / 200 + 1 / 100 = 0.02.
/// C' = (20 + 2 * 6) / 0.98 = 32.65..., 33; and (10 + 6) / 0.98 = 16.3, 17.
#[test]
fn slices_are_charged_each() {
    let overheads = Overheads {
        job: ns(3),
        slice: ns(1),
        ..Overheads::default()
    };
    let count = vestal_core::SliceCount::new;
    let tasks = vec![low(100, 10), high(200, 20, 20)];
    let slices = vec![count(1, &tasks[0]).unwrap(), count(2, &tasks[1]).unwrap()];
    let given = vestal_analysis::Parameters {
        slices: Some(slices),
        ..vestal_analysis::Parameters::default()
    };
    let set = problem(2, tasks).with(&given).unwrap();
    let outcome = analyse("pt", None, &set.with_overheads(overheads));
    assert_eq!(outcome.verdict, Verdict::Schedulable);
    // The sliced one first: slices of 17 and 16 at 0 and at 100: done by 116, as the second has 33 - 17.
    assert_eq!(outcome.tasks[1].responses[1], Some(ns(116)), "{outcome:?}");
    assert_eq!(outcome.tasks[0].responses, [Some(ns(34))]);
}

/// Each CPU pays for its own tasks: what two CPUs hold with their own overheads, one would not even with half of the tasks.
#[test]
fn a_cpu_is_charged_for_its_own_tasks() {
    let overheads = Overheads {
        release: ns(10),
        ..Overheads::default()
    };
    let cpus = |count| NonZeroU16::new(count).unwrap();
    // u = 10 / 100 = 0.1, K = 10, C' = 60 / 0.9 = 66.7 of 100: within three quarters, but not two of them.
    let set = problem(2, vec![high(100, 50, 50); 3])
        .with_cpus(cpus(3))
        .unwrap();
    let outcome = analyse("pedf-vd", None, &set.with_overheads(overheads));
    assert_eq!(outcome.verdict, Verdict::Schedulable, "{:?}", outcome.why);
    let homes: Vec<_> = outcome.tasks.iter().map(|task| task.cpu).collect();
    assert_eq!(homes, [0, 1, 2].map(|cpu| Some(CpuId(cpu))));
    // C' = 67 of 100: it fits; with 57 it is (57 + 10) / 0.9 = 74.4; with 58 75.6.
    for (wcet, fits) in [(57, true), (58, false)] {
        let set = problem(2, vec![high(100, wcet, wcet)]);
        let outcome = analyse("pedf-vd", None, &set.with_overheads(overheads));
        assert_eq!(
            outcome.verdict == Verdict::Schedulable,
            fits,
            "{:?}",
            outcome.why
        );
    }
}

/// Frames of 100: a job of 40 costs 5 more, o is 10 and 5 for each sub-frame, and a release of each of the two tasks 4:
/// 45 + 45 + 28 = 118.
#[test]
fn frames_lose_their_own_overhead_and_jobs_theirs() {
    let overheads = Overheads {
        job: ns(5),
        release: ns(4),
        frame: ns(10),
        sub_frame: ns(5),
        ..Overheads::default()
    };
    let set = |cpus| {
        let tasks = vec![low(100, 40), high(100, 40, 40)];
        let set = problem(2, tasks).with_first_releases(vec![Some(Duration::ZERO); 2]);
        set.with_cpus(NonZeroU16::new(cpus).unwrap()).unwrap()
    };
    assert_eq!(analyse("ftts", None, &set(1)).verdict, Verdict::Schedulable);
    let one = analyse("ftts", None, &set(1).with_overheads(overheads));
    assert_eq!(one.verdict, Verdict::NotProven);
    // Sub-frames follow one another on two CPUs, too.
    let two = analyse("ftts", None, &set(2).with_overheads(overheads));
    assert_eq!(two.verdict, Verdict::NotProven);
    let less = Overheads {
        frame: ns(0),
        sub_frame: ns(1),
        ..overheads
    };
    let fits = analyse("ftts", None, &set(1).with_overheads(less));
    assert_eq!(fits.verdict, Verdict::Schedulable, "45 + 45 + 2 + 8 = 100");
}

#[test]
fn scaled_overheads_are_rounded_up_and_keep_a_period() {
    let overheads = lemma((500, 21), 3);
    let half = overheads.scaled(1, 2);
    assert_eq!(half.termination, ns(2));
    let beat = half.heartbeat.unwrap();
    assert_eq!((beat.period, beat.cost), (ns(500), ns(11)));
    assert_eq!(overheads.scaled(0, 1).termination, Duration::ZERO);
    assert_eq!(overheads.scaled(u64::MAX, 1).termination, ns(u64::MAX));
}

#[test]
fn a_monitor_that_takes_the_cpu_leaves_nothing() {
    let set = [low(1_000, 1), high(1_000, 1, 1)];
    for monitor in [(0, 1), (5, 6)] {
        for is_scheduled in [false, true] {
            let mut overheads = lemma(monitor, 0);
            overheads.heartbeat.as_mut().unwrap().is_scheduled = is_scheduled;
            assert!(!is_proved("edf-vd", &set, overheads), "{overheads:?}");
        }
    }
    let named = analyse(
        "edf-vd",
        None,
        &problem(2, set.to_vec()).with_overheads(lemma((5, 6), 0)),
    );
    let why = Reason::WcetExceedsDeadline { task: TaskId(0) };
    assert_eq!(
        named.why,
        Some(Reason::WithOverheads { why: Box::new(why) })
    );
}

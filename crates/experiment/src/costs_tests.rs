use super::*;

/// A document with one mechanism of this dispatch, each cost ten times the one before in its mean, p99 and max.
fn document(dispatch: &str) -> String {
    let names = [
        name::JOB_START,
        name::JOB_END,
        name::SWITCH,
        name::RELEASE,
        name::MANAGER,
        name::DEMOTION,
        name::DETECTION,
        name::TOLERANCE,
        name::FRAME,
        name::SUB_FRAME,
        name::BARRIER,
    ];
    let costs = (1..).zip(names).map(|(number, name)| {
        format!(
            r#"{{"name": "{name}", "count": 3, "mean_ns": {number}, "median_ns": 0, "p99_ns": {}, "max_ns": {}}}"#,
            number * 100,
            number * 10_000
        )
    });
    let costs: Vec<String> = costs.collect();
    format!(
        r#"{{"format": "vestal-result/1", "bench": "primitives", "primitives": [],
            "mechanisms": [{{"name": "one", "what": "", "dispatch": "{dispatch}", "costs": [{}]}}]}}"#,
        costs.join(", ")
    )
}

fn of(dispatch: &str, statistic: Statistic) -> Overheads {
    let costs = Costs::from_json(&document(dispatch)).unwrap();
    overheads(costs.mechanism("one").unwrap(), statistic).unwrap()
}

const fn ns(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// By hand, of means: job-start 1, job-end 2, switch 3, release 4, manager 5, demotion 6, detection 7, tolerance 8.
#[test]
fn costs_become_overheads_by_who_orders_jobs() {
    let native = of("native", Statistic::Mean);
    assert_eq!((native.job, native.release), (ns(1 + 2 + 6), ns(4)));
    assert_eq!(
        (native.change, native.instant, native.slice),
        (ns(15), ns(15), ns(15))
    );
    assert_eq!((native.exhaustion, native.termination), (ns(21), ns(6)));
    assert_eq!((native.detection, native.heartbeat), (ns(15), None));
    assert_eq!(native.late, Duration::ZERO, "the one is no wall timer");
    let managed = of("managed", Statistic::Mean);
    // The manager, with two switches, at the end of each job, and after a timer at each release.
    assert_eq!((managed.job, managed.release), (ns(9 + 11), ns(15)));
    assert_eq!(managed.detection, native.detection);
    let frames = of("frames", Statistic::Mean);
    assert_eq!(
        (frames.job, frames.frame, frames.sub_frame),
        (ns(9), ns(9), ns(10 + 11))
    );
    assert_eq!(frames.release, Duration::ZERO);
    assert_eq!(of("native", Statistic::P99).job, ns(900));
    assert_eq!(of("native", Statistic::Max).job, ns(90_000));
}

#[test]
fn a_heartbeat_is_late_by_its_period_alone() {
    let text = document("native").replace(r#""dispatch""#, r#""heartbeat_ns": 500, "dispatch""#);
    let costs = Costs::from_json(&text).unwrap();
    let found = overheads(costs.mechanism("one").unwrap(), Statistic::Mean).unwrap();
    assert_eq!(found.detection, ns(8 + 15));
    assert_eq!(found.late, found.exhaustion);
    let beat = found.heartbeat.unwrap();
    assert_eq!(
        (beat.period, beat.cost, beat.is_scheduled),
        (ns(500), ns(15), false)
    );
}

/// By hand, of means: demotion 6, tolerance 8, and all that Lemma IV.1 knows nothing of is 0; a look takes a demotion unless its cost is
/// there.
#[test]
fn a_monitor_among_the_tasks_is_that_of_the_lemma() {
    let costly = document("managed").replace(
        r#""dispatch""#,
        r#""heartbeat_ns": 500, "monitor": "scheduled", "dispatch""#,
    );
    let mut usual = costly;
    for (number, name) in (1..).zip(OF_MANAGERS) {
        let figures = |mean: u64, p99: u64, max: u64| {
            format!(
                r#""{name}", "count": 3, "mean_ns": {mean}, "median_ns": 0, "p99_ns": {p99}, "max_ns": {max}"#
            )
        };
        let paid = figures(number, number * 100, number * 10_000);
        assert!(usual.contains(&paid), "{paid}");
        usual = usual.replace(&paid, &figures(0, 0, 0));
    }
    // A release of the monitor each T_M, say, is in none of the lemma's sums.
    for name in OF_MANAGERS {
        let of = |nanos: u64| {
            format!(
                r#""{name}", "count": 3, "mean_ns": {nanos}, "median_ns": 0, "p99_ns": 0, "max_ns": {nanos}"#
            )
        };
        let error = Costs::from_json(&usual.replace(&of(0), &of(1))).unwrap_err();
        let why = format!("found a cost of `{name}` beside a monitor among the tasks");
        assert!(error.why.contains(&why), "{error}");
    }
    let of = |text: &str| {
        let costs = Costs::from_json(text).unwrap();
        overheads(costs.mechanism("one").unwrap(), Statistic::Mean).unwrap()
    };
    let expected = |look| Overheads {
        detection: ns(8),
        termination: ns(6),
        heartbeat: Some(Heartbeat {
            period: ns(500),
            cost: ns(look),
            is_scheduled: true,
        }),
        ..Overheads::default()
    };
    assert_eq!(of(&usual), expected(6));
    let said = usual.replace(r#""detection""#, r#""monitor""#);
    assert_eq!(of(&said), expected(7));
    for text in [
        usual.replace("managed", "native"),
        usual.replace(r#""heartbeat_ns": 500, "#, ""),
        usual.replace(r#""heartbeat_ns": 500"#, r#""heartbeat_ns": 0"#),
    ] {
        let error = Costs::from_json(&text).unwrap_err();
        assert!(
            error
                .why
                .contains("`mechanisms[0].monitor` (one): found a monitor among the tasks"),
            "{error}"
        );
    }
}

/// Wall timers run while their jobs do not, until somebody has stopped them; perf counters never do.
#[test]
fn wall_timers_may_be_late_for_jobs_that_do_not_execute() {
    for (name, is_late) in [
        ("native/manager", true),
        ("native/remainder", true),
        ("native/perf", false),
        ("native/posix-timer", false),
    ] {
        let text = document("native").replace(r#""one""#, &format!(r#""{name}""#));
        let costs = Costs::from_json(&text).unwrap();
        let found = overheads(costs.mechanism(name).unwrap(), Statistic::Mean).unwrap();
        let expected = if is_late { found.exhaustion } else { ns(0) };
        assert_eq!(found.late, expected, "{name}");
    }
}

#[test]
fn what_is_no_file_of_costs_is_refused_with_its_place_and_what_mends_it() {
    for (text, why) in [
        ("", "line 1 column 0"),
        ("[]", "line 1 column"),
        (r#"{"format": "vestal-result/1"}"#, "missing field `bench`"),
        (
            r#"{"format": "vestal-result/1", "bench": "primitives"}"#,
            "`mechanisms`: found none",
        ),
        (
            r#"{"format": "vestal-result/1", "bench": "primitives", "mechanisms": [{"name": 3}]}"#,
            "expected a string",
        ),
        (
            r#"{"format": "vestal-result/1", "bench": "primitives", "mechanisms": [{"name": "a", "what": "", "dispatch": "x", "costs": []}]}"#,
            "unknown variant `x`",
        ),
    ] {
        let error = Costs::from_json(text).unwrap_err();
        assert!(error.why.contains(why), "{text}: {error}");
        assert!(error.help.contains("vestal bench primitives"), "{text}");
    }
    let nothing = document("native").replacen(r#""count": 3"#, r#""count": 0"#, 1);
    let error = Costs::from_json(&nothing).unwrap_err();
    assert!(
        error
            .why
            .contains("`mechanisms[0].costs[0]` (job-start of one): found count 0"),
        "{error}"
    );
    let above = document("native").replacen(r#""max_ns": 20000"#, r#""max_ns": 1"#, 1);
    let error = Costs::from_json(&above).unwrap_err();
    assert!(error.why.contains("`mechanisms[0].costs[1]`"), "{error}");
    let costs = Costs::from_json(&document("native")).unwrap();
    let error = costs.mechanism("two").unwrap_err();
    assert!(error.help.contains("those of one"), "{error}");
    let mut lacking = costs.mechanisms()[0].clone();
    lacking.costs.retain(|cost| cost.name != name::MANAGER);
    let error = overheads(&lacking, Statistic::Max).unwrap_err();
    assert_eq!(error.why, "the costs of one lack `manager`");
    lacking.not_run = Some("no perf".to_owned());
    let error = Costs::from(vec![lacking]).mechanism("one").unwrap_err();
    assert!(error.why.contains("was not measured: no perf"), "{error}");
}

#[test]
fn a_margin_is_the_largest_factor_with_which_it_holds() {
    let up_to = |most: u64| margin(|factor| factor <= most);
    for most in [0, 1, 999, 1_000, 1_500, 999_999, FACTOR_MAX] {
        assert_eq!(up_to(most), Some(most));
    }
    assert_eq!(margin(|_| false), None);
    // What holds with the overheads themselves has at least their margin, whatever holds with less.
    assert_eq!(
        margin(|factor| (ONE..=7_000).contains(&factor)),
        Some(7_000)
    );
    let mut questions = 0;
    margin(|factor| {
        questions += 1;
        factor <= 7
    });
    assert!(questions <= 23, "{questions}");
}

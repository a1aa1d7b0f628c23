use super::*;

/// Half at the median, one in a hundred above the 99th percentile, nothing above the largest; and as many again.
#[test]
fn drawn_costs_have_the_quantiles_that_they_are_drawn_from() {
    let of = |nanos| Costs {
        release: Duration::from_nanos(nanos),
        ..Costs::default()
    };
    let costs = DrawnCosts {
        median: of(100),
        p99: of(500),
        max: of(10_500),
    };
    let drawn = |seed| {
        let mut costing = Costing::new((Charges::Drawn(&costs, seed), &[]), (1, 1));
        let mut all: Vec<u64> = (0..100_000)
            .map(|_| costing.cost(|costs| costs.release).as_nanos())
            .collect();
        all.sort_unstable();
        all
    };
    let all = drawn(1);
    let share = |low: u64, high: u64| {
        let within = all.iter().filter(|cost| (low..=high).contains(*cost));
        within.count() as f64 / all.len() as f64
    };
    assert!((share(100, 100) - 0.5).abs() < 0.01);
    assert!((share(101, 300) - 0.245).abs() < 0.01);
    assert!((share(101, 500) - 0.49).abs() < 0.01);
    assert!((share(501, 10_500) - 0.01).abs() < 0.002);
    assert!((share(5_501, 10_500) - 0.005).abs() < 0.002);
    assert!(all[0] == 100 && all[all.len() - 1] <= 10_500);
    assert_eq!(drawn(1), all);
    assert_ne!(drawn(2), all);
}

#[test]
fn a_cost_that_is_the_same_three_times_is_always_the_same() {
    let all = Costs {
        switch: Duration::from_nanos(7),
        job: Duration::from_nanos(3),
        ..Costs::default()
    };
    let drawn = DrawnCosts {
        median: all,
        p99: all,
        max: all,
    };
    let costs = (0..1000).map(|number| drawn.draw(number, |costs| costs.switch));
    assert!(costs.into_iter().all(|cost| cost == all.switch));
}

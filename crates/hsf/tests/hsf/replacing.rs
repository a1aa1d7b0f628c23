//! What replaces one event by another, or by itself, in one step: it has to be what a deletion and an insertion are.

use crate::queues::random_delay;
use crate::same_schedule::Bits4;
use vestal_hsf::relteq::{Entry, Item};
use vestal_hsf::{Bounded, Pass, Pool, Queue, Tick};
use vestal_testkit::Random;

/// Whether the node of an event can be used for another one: where none is behind it, or the one behind can carry its time.
fn serves<T: Tick>(items: &[Item<u32>], event: u32) -> bool {
    let place = items
        .iter()
        .position(|item| item.entry == Entry::Event(event))
        .unwrap();
    let is_run = |item: &Item<u32>| matches!(item.entry, Entry::Dummies { .. });
    let after_run = place.checked_sub(1).is_some_and(|it| is_run(&items[it]));
    items.get(place + 1).is_none_or(|behind| {
        let together = u64::from(items[place].time) + u64::from(behind.time);
        together <= T::MAX.into() && !(after_run && is_run(behind))
    })
}

/// An exchange is a deletion and an insertion at the front: of two stopwatches one is exchanged, and both have the same times always. How often the node served
/// at the head, behind it, and not.
fn check_exchange<T: Tick>(seed: u64) -> [u64; 3] {
    let mut random = Random::new(seed);
    let mut pools = [Pool::<T, u32, 16>::new(), Pool::new()];
    let mut queues = [Queue::new(), Queue::new()];
    for (pool, queue) in pools.iter_mut().zip(&mut queues) {
        for event in 0..4 {
            pool.push_front(queue, event).unwrap();
        }
    }
    // Who is out of the stopwatch.
    let (mut active, mut counts) = (4, [0; 3]);
    for _ in 0..20_000 {
        let ticks = random.below(u64::from(T::MAX).min(40) + 1);
        let idle = random.once_in(5);
        for (pool, queue) in pools.iter_mut().zip(&mut queues) {
            if idle {
                pool.push_dummy(queue).unwrap();
            }
            pool.grow(queue, ticks as u32).unwrap();
        }
        let next = (active + 1 + random.below(4) as u32) % 5;
        let plain = pools[1].remaining(&queues[1], next);
        pools[1].push_front(&mut queues[1], active).unwrap();
        assert_eq!(pools[1].remove(&mut queues[1], next), plain);
        let items: Vec<_> = pools[0].items(&queues[0]).collect();
        let is_head = items[0].entry == Entry::Event(next);
        counts[match serves::<T>(&items, next) {
            true => usize::from(!is_head),
            false => 2,
        }] += 1;
        let found = pools[0].exchange(&mut queues[0], next, active);
        assert_eq!(found, Ok(plain));
        active = next;
        for event in (0..5).filter(|event| *event != active) {
            let times = [0, 1].map(|which| pools[which].remaining(&queues[which], event));
            assert!(times[0].is_some() && times[0] == times[1], "{times:?}");
        }
        let nodes = pools[0].items(&queues[0]).count();
        assert!(nodes == usize::from(pools[0].used()) && nodes <= 9);
        assert!(pools[0].is_consistent(&queues[0], true));
        assert_eq!(pools[0].exchange(&mut queues[0], active, 7), Ok(None));
    }
    counts
}

#[test]
fn an_exchange_is_a_deletion_and_an_insertion() {
    for counts in [
        check_exchange::<Bits4>(1),
        check_exchange::<u8>(2),
        check_exchange::<Bounded<u32, 100>>(3),
    ] {
        assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
    }
    let counts = check_exchange::<u32>(4);
    assert!(counts[0] > 1000 && counts[1] > 1000, "{counts:?}");
}

/// `renew` is a deletion and an insertion, alone or among others, and `elapse_before` is a pass in which nothing expires.
fn check_renewals<T: Tick>(seed: u64) -> [u64; 3] {
    let mut random = Random::new(seed);
    let mut pools = [Pool::<T, u32, 16>::new(), Pool::new()];
    let mut queues = [Queue::new(), Queue::new()];
    let (mut alone, mut empty, mut short) = (0, 0, 0);
    for _ in 0..20_000 {
        let event = random.below(1 + random.clone().below(3)) as u32;
        let delay = random_delay(&mut random, u64::from(T::MAX));
        let items: Vec<_> = pools[1].items(&queues[1]).map(|item| item.entry).collect();
        let is_alone = items == [Entry::Event(event)] && delay <= T::MAX.into();
        pools[1].delete(&mut queues[1], event);
        pools[1].insert(&mut queues[1], delay, event).unwrap();
        pools[0].renew(&mut queues[0], delay, event).unwrap();
        alone += u64::from(is_alone);
        empty += u64::from(items.is_empty() && delay <= T::MAX.into());
        let ticks = random_delay(&mut random, u64::from(T::MAX)) / 4;
        let mut pass = Pass::over(ticks);
        let head = pools[0].head(&queues[0]);
        if pools[0].elapse_before(&queues[0], ticks) {
            assert_eq!(pools[1].synchronise(&mut queues[1], &mut pass), None);
            short += 1;
        } else {
            assert_eq!(pools[0].head(&queues[0]), head, "nothing has changed");
            for (pool, queue) in pools.iter_mut().zip(&mut queues) {
                let mut pass = Pass::over(ticks);
                while pool.synchronise(queue, &mut pass).is_some() {}
            }
        }
        for event in 0..3 {
            let times = [0, 1].map(|which| pools[which].remaining(&queues[which], event));
            assert_eq!(times[0], times[1]);
        }
        assert!(pools[0].is_consistent(&queues[0], false));
        assert_eq!(pools[0].used(), pools[1].used());
    }
    [alone, empty, short]
}

#[test]
fn a_renewal_is_a_deletion_and_an_insertion() {
    for counts in [
        check_renewals::<Bits4>(1),
        check_renewals::<u8>(2),
        check_renewals::<u32>(3),
    ] {
        assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
    }
}

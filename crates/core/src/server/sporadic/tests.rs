//! Lists after charges, uses and changes of the mode.

use super::*;

fn at(now: u64) -> Instant {
    Instant::from_nanos(now)
}

fn service(amount: u64) -> Service {
    Service::from_nanos(amount)
}

fn pairs(server: &Sporadic, chunks: &[Chunk]) -> std::vec::Vec<(u64, u64)> {
    let pair = |chunk: &Chunk| (chunk.due.as_nanos(), chunk.amount.as_nanos());
    server.list(chunks).iter().map(pair).collect()
}

fn server(capacity: u64, period: u64, chunks: &mut [Chunk], full: WhenFull) -> Sporadic {
    Sporadic::new(
        Duration::from_nanos(period),
        service(capacity),
        full,
        chunks,
    )
}

/// Missimer et al. (2016), Fig. 5: three interrupts fill a list of three.
fn after_three_interrupts(full: WhenFull) -> std::vec::Vec<(u64, u64)> {
    let chunks = &mut [Chunk::NONE; 3];
    let mut server = server(4, 16, chunks, full);
    for start in [9, 11, 13] {
        server.settle_work(chunks, at(start), true);
        server.charge(chunks, at(start + 1), service(1));
        server.settle_work(chunks, at(start + 1), false);
        assert!(server.is_consistent(chunks));
    }
    pairs(&server, chunks)
}

#[test]
fn a_full_list_postpones_the_budget_at_hand_or_the_last_one() {
    assert_eq!(
        after_three_interrupts(WhenFull::MergeHead),
        [(25, 2), (27, 1), (29, 1)]
    );
    assert_eq!(
        after_three_interrupts(WhenFull::MergeTail),
        [(13, 1), (25, 1), (29, 2)]
    );
}

#[test]
fn an_overrun_delays_what_is_left_and_whole_capacities_cost_whole_periods() {
    let chunks = &mut [Chunk::NONE; 4];
    let mut server = server(4, 10, chunks, WhenFull::MergeHead);
    server.settle_work(chunks, at(0), true);
    server.charge(chunks, at(5), service(5));
    // 4 come back at 10, and the one beyond delays them.
    assert_eq!(pairs(&server, chunks), [(11, 4)]);
    assert_eq!(server.remaining(chunks, at(11)), service(3));
    server.charge(chunks, at(9), service(4_000_000_000));
    assert!(server.is_consistent(chunks));
    assert_eq!(pairs(&server, chunks), [(10_000_000_012, 4)]);
}

#[test]
fn a_smaller_capacity_takes_what_was_used_before_what_is_at_hand() {
    let chunks = &mut [Chunk::NONE; 4];
    let mut server = server(8, 10, chunks, WhenFull::MergeHead);
    server.settle_work(chunks, at(0), true);
    server.charge(chunks, at(7), service(7));
    // The 7 would come back at 10; 4 of them are gone.
    server.set_capacity(chunks, at(7), service(4));
    server.settle_work(chunks, at(7), false);
    assert_eq!(pairs(&server, chunks), [(0, 1), (10, 3)]);
    assert!(server.is_consistent(chunks));
}

/// T = 20, C = 4 or 8: used in [0, 2), [7, 9) and [20, 22), without a budget from then on.
fn with_a_gap(chunks: &mut [Chunk]) -> Sporadic {
    let mut server = server(4, 20, chunks, WhenFull::MergeHead);
    for start in [0, 7, 20] {
        server.settle_work(chunks, at(start), true);
        server.charge(chunks, at(start + 2), service(2));
        server.settle_work(chunks, at(start + 2), start == 20);
    }
    server
}

#[test]
fn more_budget_fills_no_gap_of_the_list_that_a_use_has_left() {
    let chunks = &mut [Chunk::NONE; 4];
    let mut server = with_a_gap(chunks);
    assert_eq!(pairs(&server, chunks), [(27, 2), (40, 2)]);
    server.set_capacity(chunks, at(23), service(8));
    assert_eq!(pairs(&server, chunks), [(23, 4), (27, 2), (40, 2)]);
    let chunks = &mut [Chunk::NONE; 2];
    let mut server = with_a_gap(chunks);
    server.set_capacity(chunks, at(23), service(8));
    assert_eq!(pairs(&server, chunks), [(23, 4), (40, 4)], "it was full");
    assert!(server.is_consistent(chunks));
}

#[test]
fn more_budget_goes_on_with_a_use_that_ends_in_the_same_decision() {
    let chunks = &mut [Chunk::NONE; 4];
    let mut server = server(4, 20, chunks, WhenFull::MergeHead);
    server.settle_work(chunks, at(6), true);
    server.charge(chunks, at(12), service(3));
    server.charge(chunks, at(14), service(1));
    server.set_capacity(chunks, at(14), service(8));
    assert_eq!(pairs(&server, chunks), [(6, 4), (26, 4)]);
}

#[test]
fn a_use_that_goes_on_after_the_return_begins_anew_with_what_is_left() {
    let chunks = &mut [Chunk::NONE; 4];
    let mut server = server(4, 10, chunks, WhenFull::MergeHead);
    server.settle_work(chunks, at(5), true);
    server.charge(chunks, at(8), service(1));
    server.settle_work(chunks, at(10), false);
    server.settle_work(chunks, at(10), true);
    assert_eq!(pairs(&server, chunks), [(10, 3), (15, 1)]);
}

#[test]
fn a_mode_change_gives_the_difference_at_once_and_takes_it_from_the_end() {
    let chunks = &mut [Chunk::NONE; 4];
    let mut server = server(4, 10, chunks, WhenFull::MergeHead);
    server.settle_work(chunks, at(3), true);
    server.charge(chunks, at(7), service(4));
    server.set_capacity(chunks, at(7), service(6));
    assert_eq!(pairs(&server, chunks), [(3, 2), (13, 4)]);
    server.charge(chunks, at(9), service(2));
    assert_eq!(pairs(&server, chunks), [(13, 4), (13, 2)]);
    server.set_capacity(chunks, at(9), service(3));
    assert_eq!(pairs(&server, chunks), [(13, 3)]);
    server.set_capacity(chunks, at(9), service(0));
    assert_eq!(pairs(&server, chunks), []);
    assert!(server.is_consistent(chunks));
    let mut later = server;
    let others = &mut chunks.clone();
    later.set_capacity(others, at(20), service(2));
    assert_eq!(pairs(&later, others), [(20, 2)]);
    assert!(later.is_consistent(others));
    // All six were used, and are back at 13.
    server.set_capacity(chunks, at(12), service(7));
    assert_eq!(pairs(&server, chunks), [(12, 1), (13, 6)]);
    assert!(server.is_consistent(chunks));
}

#[test]
fn what_was_used_is_used_after_a_capacity_that_fell_and_rises_again() {
    let chunks = &mut [Chunk::NONE; 2];
    let mut server = server(8, 20, chunks, WhenFull::MergeHead);
    for start in [0, 7] {
        server.settle_work(chunks, at(start), true);
        server.charge(chunks, at(start + 2), service(2));
        server.settle_work(chunks, at(start + 2), false);
    }
    // The list is full: what was at hand has joined the last use but one.
    assert_eq!(pairs(&server, chunks), [(20, 6), (27, 2)]);
    server.set_capacity(chunks, at(10), service(3));
    assert_eq!(pairs(&server, chunks), [(20, 3)]);
    server.set_capacity(chunks, at(10), service(5));
    assert_eq!(pairs(&server, chunks), [(20, 3), (27, 2)]);
    server.set_capacity(chunks, at(10), service(9));
    assert_eq!(pairs(&server, chunks), [(10, 1), (27, 8)]);
    assert!(server.is_consistent(chunks));
    // What a late world executed without a capacity counts when there is one.
    server.set_capacity(chunks, at(30), service(0));
    server.charge(chunks, at(31), service(1));
    server.set_capacity(chunks, at(32), service(4));
    assert_eq!(pairs(&server, chunks), [(32, 3), (51, 1)]);
}

std::thread_local! {
    static MOVED: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// So many chunks were looked at to be moved.
pub(super) fn count_moved(chunks: usize) {
    MOVED.set(MOVED.get() + chunks);
}

/// A server with n units in n chunks, which come back from 2n on; how many chunks are moved when `call` is made of it.
fn moved_by(n: usize, call: impl Fn(&mut Sporadic, &mut [Chunk])) -> usize {
    let mut chunks = std::vec![Chunk::NONE; n];
    let capacity = n as u64;
    let mut server = server(capacity, 2 * capacity, &mut chunks, WhenFull::MergeTail);
    for start in 0..capacity {
        server.settle_work(&mut chunks, at(2 * start), true);
        server.charge(&mut chunks, at(2 * start + 1), service(1));
        server.settle_work(&mut chunks, at(2 * start + 1), false);
    }
    assert_eq!(server.list(&chunks).len(), n);
    MOVED.set(0);
    call(&mut server, &mut chunks);
    assert!(server.is_consistent(&chunks));
    MOVED.get()
}

#[test]
fn no_call_costs_more_than_some_walks_of_the_list_however_many_chunks_it_moves() {
    let n = 2000;
    let late = at(6 * n as u64);
    let charged = moved_by(n, |server, chunks| {
        server.settle_work(chunks, at(2 * n as u64), true);
        server.charge(chunks, late, service(n as u64 - 1));
    });
    let merged = moved_by(n, |server, chunks| {
        server.settle_work(chunks, late, true);
        assert_eq!(server.list(chunks).len(), 1);
    });
    let discarded = moved_by(n, |server, chunks| {
        server.settle_work(chunks, at(2 * n as u64), true);
        // All but the last one are at hand.
        let now = at(4 * n as u64 - 3);
        server.discard_below(chunks, now, service(2));
        assert_eq!(server.remaining(chunks, now), service(0));
    });
    for moved in [charged, merged, discarded] {
        assert!((n..=4 * n).contains(&moved), "{moved}");
    }
}

/// The same, one by one, in lists of any kind.
#[test]
fn what_is_discarded_at_once_is_what_would_be_discarded_bit_by_bit() {
    let mut state = 1_u64;
    // Knuth's MMIX.
    let mut below = |bound: u64| {
        let product = state.wrapping_mul(6_364_136_223_846_793_005);
        state = product.wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut several = 0;
    for _ in 0..10_000 {
        let chunks = &mut [Chunk::NONE; 6];
        let mut server = server(12, 20, chunks, WhenFull::MergeTail);
        let mut now = 0;
        for _ in 0..below(12) {
            now += below(7);
            server.settle_work(chunks, at(now), true);
            let used = below(server.remaining(chunks, at(now)).as_nanos() + 1);
            now += used;
            server.charge(chunks, at(now), service(used));
            server.settle_work(chunks, at(now), below(2) == 0);
        }
        server.settle_work(chunks, at(now), true);
        now += below(15);
        let granularity = service(below(5));
        let (mut other, others) = (server, &mut chunks.clone());
        let mut turns = 0;
        loop {
            let rest = other.remaining(others, at(now));
            if rest.is_zero() || rest >= granularity {
                break;
            }
            other.charge(others, at(now), rest);
            turns += 1;
        }
        let waited = now - server.list(chunks).first().unwrap().due.as_nanos().min(now);
        server.discard_below(chunks, at(now), granularity);
        assert!(server.is_consistent(chunks));
        let rest = server.remaining(chunks, at(now));
        assert!(rest.is_zero() || rest >= granularity);
        // Who had to wait for a period discards some parts more than once, in an order of their own.
        if waited < 20 {
            several += u32::from(turns > 1);
            assert_eq!(pairs(&server, chunks), pairs(&other, others));
        }
    }
    assert!(several > 50, "{several}");
}

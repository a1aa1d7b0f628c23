#[cfg(not(loom))]
mod real {
    use crate::ring::channel;
    use std::thread;

    /// How many values: few under the interpreter, which is slow.
    const VALUES: u64 = if cfg!(miri) { 300 } else { 200_000 };

    #[test]
    fn values_come_out_in_order_and_what_finds_no_room_is_counted() {
        let (mut producer, mut consumer) = channel::<u64>(3);
        for round in 0..5_u64 {
            for value in 0..6 {
                assert_eq!(producer.push(round * 10 + value), value < 4);
            }
            assert_eq!(consumer.lost(), 2 * (round + 1));
            for value in 0..4 {
                assert_eq!(consumer.pop(), Some(round * 10 + value));
            }
            assert_eq!(consumer.pop(), None);
        }
    }

    #[test]
    fn between_two_threads_nothing_is_invented_and_what_is_missing_is_counted() {
        let (mut producer, mut consumer) = channel::<[u64; 4]>(64);
        let writer = thread::spawn(move || {
            for value in 0..VALUES {
                producer.push([value, !value, value ^ 7, value]);
                if value % 256 == 0 {
                    thread::yield_now();
                }
            }
            producer.lost()
        });
        let (mut received, mut last) = (0, None);
        let mut drain = || {
            while let Some([value, not, mixed, again]) = consumer.pop() {
                assert!(not == !value && mixed == value ^ 7 && again == value);
                assert!(last.is_none_or(|last| value > last));
                last = Some(value);
                received += 1;
            }
        };
        while !writer.is_finished() {
            drain();
            thread::yield_now();
        }
        // Only joining orders the writer's last values before what is read from here on.
        let lost = writer.join().unwrap();
        drain();
        assert_eq!(received + lost, VALUES);
        assert_eq!(consumer.lost(), lost);
        assert!(received > 0);
    }
}

#[cfg(loom)]
mod model {
    use crate::ring::channel;
    use loom::thread;

    /// More values than slots, so that every interleaving of full, empty and wrapped occurs.
    #[test]
    fn every_interleaving_hands_values_over_whole_in_order_and_counted() {
        loom::model(|| {
            let (mut producer, mut consumer) = channel::<u64>(2);
            let writer = thread::spawn(move || {
                for value in 1..=5 {
                    producer.push(value);
                }
                producer.lost()
            });
            let mut seen = Vec::new();
            // Some while the producer runs, the rest after it.
            for _ in 0..4 {
                seen.extend(consumer.pop());
            }
            let lost = writer.join().unwrap();
            while let Some(value) = consumer.pop() {
                seen.push(value);
            }
            assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(seen.len() as u64 + lost, 5);
            assert_eq!(consumer.lost(), lost);
        });
    }
}

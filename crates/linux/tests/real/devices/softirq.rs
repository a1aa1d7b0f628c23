//! What the kernel does with packets on the processor of a run, above all its threads.

use crate::support::{alone, pause};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use vestal_linux::fault::{affinity, own_cpu_nanos, set_affinity};
use vestal_linux::{Processor, udp};

/// Some tenth of a second.
const ROUNDS: u64 = 40_000_000;

/// CPU time, by the account of the thread that does it, of something that is always the same.
fn fixed() -> u64 {
    let before = own_cpu_nanos();
    let mut sum = 0_u64;
    for round in 0..ROUNDS {
        sum = black_box(sum.rotate_left(7) ^ round);
    }
    black_box(sum);
    own_cpu_nanos() - before
}

/// A storm from another processor that is received on this one: what the kernel does for it has no account of its own here, so the
/// job that it interrupts pays. No budget, no server and no priority of user space bounds it.
#[test]
fn a_storm_that_is_received_on_the_processor_of_a_job_is_on_that_job_s_account() {
    let _alone = alone();
    let all = affinity().unwrap();
    let [.., other, own] = all[..] else {
        eprintln!("there is one processor: a storm from another one there is none");
        return;
    };
    let (sender, _input) = udp::between_namespaces_to(Processor(own)).unwrap();
    let is_over = AtomicBool::new(false);
    let (quiet, storm, sent) = thread::scope(|scope| {
        let job = scope.spawn(move || {
            set_affinity(&[own]).unwrap();
            let mut quiet = [(); 5].map(|()| fixed());
            quiet.sort_unstable();
            quiet[2]
        });
        let quiet = job.join().unwrap();
        let sends = scope.spawn(|| {
            set_affinity(&[other]).unwrap();
            let mut sent = 0_u64;
            while !is_over.load(Ordering::SeqCst) {
                sent += u64::from(sender.send(&[1; 8]).unwrap());
            }
            sent
        });
        let job = scope.spawn(move || {
            set_affinity(&[own]).unwrap();
            pause(20);
            let mut storm = [(); 5].map(|()| fixed());
            storm.sort_unstable();
            storm[2]
        });
        let storm = job.join().unwrap();
        is_over.store(true, Ordering::SeqCst);
        (quiet, storm, sends.join().unwrap())
    });
    let percent = storm * 100 / quiet;
    eprintln!(
        "in a storm of {sent} datagrams a job takes {percent} % of what it takes without: {storm} and {quiet} ns"
    );
    assert!(sent > 10_000, "{sent}");
    assert!(percent > 103, "{percent}");
}

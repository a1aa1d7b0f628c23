//! What MC² on several CPUs does for one step of a CPU's domain, or one claim, of a set with so many tasks. `scripts/bench-claims.sh` runs this
//! under callgrind, which counts only inside functions that are called `measured_...`:
//!
//! ```text
//! claims local|claim|walk TASKS ROUNDS
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

use vestal_linux::Claims;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, tasks, rounds] = &arguments[..] else {
        panic!("claims local|claim|walk TASKS ROUNDS");
    };
    let mut claims = Claims::new(tasks.parse().unwrap()).unwrap();
    let rounds: u64 = rounds.parse().unwrap();
    for _ in 0..rounds {
        match what.as_str() {
            "local" => claims.local_step().unwrap(),
            "claim" => claims.claim(false).unwrap(),
            "walk" => claims.claim(true).unwrap(),
            _ => panic!("local | claim | walk, not {what:?}"),
        }
    }
    println!("{rounds}");
}

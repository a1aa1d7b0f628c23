//! A loop that only reads clocks, and how long the machine takes its CPU away: what no thread of a run can help.
//!
//! ```text
//! cargo build --release -p vestal-linux --example bare_loop
//! chrt -f 50 taskset -c 1 target/release/examples/bare_loop SECONDS
//! ```
//! An interval between two readings that the thread's CPU clock counts in full is on the account of whoever runs
//! then, and nothing within the system tells it from the thread's own slowness. One that the CPU clock does not
//! count was another thread's, or is stolen time that the hypervisor reports.
#![expect(clippy::print_stdout, reason = "an example that shows what it finds")]

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Shorter ones are interrupts.
const LONG: Duration = Duration::from_millis(2);
/// So long it computes at a time; then it waits a little, so that RT throttling lets it be.
const BURST: Duration = Duration::from_millis(40);
const PAUSE: Duration = Duration::from_millis(5);

fn now(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "it waits for nobody of a run")]
fn main() {
    let seconds = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let end = now(ClockId::Monotonic) + Duration::from_secs(seconds.unwrap_or(60));
    let (mut counted, mut not_counted) = (0, 0);
    let mut longest = Duration::ZERO;
    while now(ClockId::Monotonic) < end {
        let begun = now(ClockId::Monotonic);
        let (mut last, mut cpu) = (begun, now(ClockId::ThreadCPUTime));
        while last < begun + BURST {
            let (next, executed) = (now(ClockId::Monotonic), now(ClockId::ThreadCPUTime));
            if next - last > LONG && executed - cpu > LONG {
                counted += 1;
                longest = longest.max(executed - cpu);
            } else if next - last > LONG {
                not_counted += 1;
            }
            (last, cpu) = (next, executed);
        }
        std::thread::sleep(PAUSE);
    }
    println!(
        "intervals above {LONG:?}: {counted} that the CPU clock counts (the longest {longest:?}), \
         {not_counted} that it does not count"
    );
}

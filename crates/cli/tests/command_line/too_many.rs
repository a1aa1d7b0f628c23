//! More tasks than the machine has priorities for are refused with what mends it.

use crate::support::{Scratch, vestal};
use std::fmt::Write as _;

/// So many tasks of a millisecond in two seconds.
fn set_of(tasks: usize) -> String {
    let mut set = "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n".to_owned();
    for number in 0..tasks {
        let task = format!(
            "[[task]]\nname = \"t{number}\"\ncriticality = \"LO\"\nperiod = 2000\nwcet = {{ LO = 1 }}\n"
        );
        let _ = write!(set, "{task}");
    }
    set
}

/// A manager that dispatches needs four priorities for any number of tasks.
#[test]
fn more_tasks_than_priorities_are_told_of_managed_dispatch() {
    let scratch = Scratch::new("too-many");
    let file = scratch.file("x.toml", &set_of(100));
    let done = vestal(&[
        "run",
        file.to_str().unwrap(),
        "--policy",
        "rms",
        "--for",
        "1ms",
    ]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    let needed = "100 tasks need 103 SCHED_FIFO priorities";
    assert!(done.stderr.contains(needed), "{}", done.stderr);
    let help = "mend it with: --dispatch managed";
    assert!(done.stderr.contains(help), "{}", done.stderr);
    // There are 99.
    assert!(!done.stderr.contains("--rt-priority"), "{}", done.stderr);
}

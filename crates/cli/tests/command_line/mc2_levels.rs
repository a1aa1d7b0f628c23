//! What `replay` asks of traces of `mc2` beside their plans.

use crate::mc2::{recorded, replay};
use crate::support::{Scratch, vestal};
use serde_json::Value;
use std::fs;

/// No plan depends on a ghost that was recorded; that it is not there is found all the same.
#[test]
fn a_ghost_that_does_not_begin_breaks_a_rule_of_levels() {
    let scratch = Scratch::new("mc2-ghost");
    let (_, paths) = recorded(&scratch, &["x.csv"]);
    let text = fs::read_to_string(&paths[0]).unwrap();
    let begins = |line: &&str| line.contains(",ghost-begin,");
    let dropped = text.lines().find(begins).unwrap();
    let changed = dropped.replace("begin", "end");
    let path = scratch.file("changed.csv", &text.replacen(dropped, &changed, 1));
    let found = replay(&path);
    assert_eq!(
        (&found["equal"], &found["difference"]),
        (&false.into(), &Value::Null)
    );
    let first = &found["levels"]["first"];
    let (at, cpu) = dropped.split_once(",ghost-begin,").unwrap();
    assert_eq!(first["rule"], "L4");
    assert_eq!(first["from_ns"].to_string(), at);
    assert!(
        cpu.starts_with(&format!("{},", first["cpu"])),
        "{first} {dropped}"
    );
    let done = vestal(&["replay", path.to_str().unwrap()]);
    assert!(
        done.stdout.contains("but L4 is broken on CPU"),
        "{}",
        done.stdout
    );
}

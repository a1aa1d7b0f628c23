//! `vestal generate`.

use crate::support::{Scratch, vestal};
use std::fs;

#[test]
fn generated_sets_are_valid_files_and_the_same_for_a_seed() {
    let scratch = Scratch::new("generate");
    for recipe in [
        "huang2014",
        "sigrist2015",
        "herman2012",
        "missimer",
        "standard",
    ] {
        let folders = ["a", "b", "c"].map(|name| scratch.0.join(recipe).join(name));
        for (folder, seed) in folders.iter().zip(["7", "7", "8"]) {
            let folder = folder.to_str().unwrap();
            let done = vestal(&[
                "generate", "--recipe", recipe, "--count", "3", "--seed", seed, "-o", folder,
                "--format", "json",
            ]);
            assert_eq!(done.exit, 0, "{}", done.stderr);
            assert_eq!(done.json()["files"].as_array().unwrap().len(), 3);
        }
        let text = |at: usize, index: usize| {
            fs::read_to_string(folders[at].join(format!("{recipe}-{index:04}.toml"))).unwrap()
        };
        assert_eq!(text(0, 2), text(1, 2), "{recipe}");
        assert_ne!(text(0, 2), text(2, 2), "{recipe}");
        let file = folders[0].join(format!("{recipe}-0001.toml"));
        assert_eq!(
            vestal(&["check", file.to_str().unwrap()]).exit,
            0,
            "{recipe}"
        );
    }
}

#[test]
fn wrong_parameters_and_existing_files_are_refused() {
    let scratch = Scratch::new("generate-refused");
    let folder = scratch.0.to_str().unwrap();
    let run = |more: &[&str]| {
        let mut arguments = vec!["generate", "-o", folder];
        arguments.extend(more);
        vestal(&arguments)
    };
    for (more, says) in [
        (&["--recipe", "huang2041"][..], "did you mean `huang2014`?"),
        (
            &["--recipe", "huang2014", "--tasks", "0"],
            "a whole number from 1",
        ),
        (
            &["--recipe", "huang2014", "--set", "inflate_level=true"],
            "did you mean `inflate_level0`?",
        ),
        (
            &["--recipe", "huang2014", "--set", "tasks"],
            "not KEY=VALUE",
        ),
        (
            &["--recipe", "sigrist2015", "--levels", "3"],
            "has no parameter `levels`",
        ),
    ] {
        let done = run(more);
        assert_eq!(done.exit, 2, "{more:?}");
        assert!(done.stderr.contains(says), "{more:?}: {}", done.stderr);
    }
    assert_eq!(run(&["--recipe", "huang2014"]).exit, 0);
    let again = run(&["--recipe", "huang2014"]);
    assert!(
        again.exit == 2 && again.stderr.contains("not replaced"),
        "{}",
        again.stderr
    );
}

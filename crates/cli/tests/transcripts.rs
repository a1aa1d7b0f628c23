//! Every command that the documentation shows is run, and what it printed is compared with what
//! the page claims. `VESTAL_BLESS=1` writes what was printed into the pages instead.
//!
//! A transcript is a block fenced as `console` whose first line is `$ vestal ...`; it may hold
//! several commands, each followed by its output, standard error included. It is run by a shell in
//! the repository. Blocks fenced otherwise, such as those that need real-time rights, are left alone.
//! The page's line `[...]` stands for any number of lines.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use support::{repository, shell};

/// Output that differs from run to run, with what stands for it.
fn masked(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = mask_number(line, "took ", " us");
        let line = mask_number(&line, "\"elapsed_us\": ", ",");
        lines.push(mask_last_column(&line));
    }
    lines.join("\n")
}

/// Replaces the digits between `before` and `after` by `#`.
fn mask_number(line: &str, before: &str, after: &str) -> String {
    let Some((head, rest)) = line.split_once(before) else {
        return line.to_owned();
    };
    let tail = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if tail.len() == rest.len() || !tail.starts_with(after) {
        return line.to_owned();
    }
    format!("{head}{before}#{tail}")
}

/// A time that ends a line, and the rule above a table that ends with it, which is as long as the longest time.
fn mask_last_column(line: &str) -> String {
    let head = line.strip_suffix(" us").unwrap_or(line);
    let without = head.trim_end_matches(|c: char| c.is_ascii_digit());
    if head.len() < line.len() && without.len() < head.len() {
        return format!("{without}# us");
    }
    match !line.is_empty() && line.chars().all(|c| c == '-') {
        true => "---".to_owned(),
        false => line.to_owned(),
    }
}

/// Whether the printed lines are those of the page, where `[...]` matches any number of lines.
fn agrees(claimed: &[&str], printed: &[&str]) -> bool {
    match claimed.split_first() {
        None => printed.is_empty(),
        Some((&"[...]", rest)) => (0..=printed.len()).any(|skip| agrees(rest, &printed[skip..])),
        Some((line, rest)) => printed.split_first().is_some_and(|(first, others)| {
            line.trim_end() == first.trim_end() && agrees(rest, others)
        }),
    }
}

/// Runs the transcripts of a page; returns the page as it should be, and how many commands it has.
fn replayed(page: &str) -> (String, usize) {
    let mut text = String::new();
    let mut commands = 0;
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        if line != "```console"
            || !lines
                .peek()
                .is_some_and(|next| next.starts_with("$ vestal"))
        {
            continue;
        }
        while let Some(command) = lines.next_if(|next| next.starts_with("$ ")) {
            let mut claimed = Vec::new();
            while let Some(line) = lines.next_if(|next| !next.starts_with("$ ") && *next != "```") {
                claimed.push(line);
            }
            let printed = shell(command.strip_prefix("$ ").unwrap());
            let (old, new) = (masked(&claimed.join("\n")), masked(&printed));
            let same = agrees(
                &old.lines().collect::<Vec<_>>(),
                &new.lines().collect::<Vec<_>>(),
            );
            let shown = if same {
                claimed.join("\n")
            } else {
                printed.trim_end().to_owned()
            };
            text.push_str(command);
            text.push('\n');
            if !shown.is_empty() {
                text.push_str(&shown);
                text.push('\n');
            }
            commands += 1;
        }
    }
    (text, commands)
}

/// Compares the transcripts of a page, or writes them with `VESTAL_BLESS`; returns their number.
fn check(path: &Path) -> usize {
    let page = fs::read_to_string(path).unwrap();
    let (expected, commands) = replayed(&page);
    if expected == page {
        return commands;
    }
    if std::env::var_os("VESTAL_BLESS").is_some() {
        fs::write(path, expected).unwrap();
        return commands;
    }
    let differs = page
        .lines()
        .zip(expected.lines())
        .find(|(old, new)| old != new);
    panic!(
        "{}: the page does not say what the command prints. First difference (page, printed): {differs:#?}\n\
         If the new output is right: VESTAL_BLESS=1 cargo test -p vestal --test transcripts",
        path.display()
    );
}

#[test]
fn the_explanation_pages_show_what_the_commands_print() {
    let folder = repository().join("docs/explain");
    let mut pages: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    pages.sort();
    for page in pages
        .iter()
        .filter(|page| page.extension().is_some_and(|ext| ext == "md"))
    {
        assert!(check(page) > 0, "{} shows no command", page.display());
    }
}

/// Machines are directories here, so the page looks the same everywhere.
#[cfg(target_os = "linux")]
#[test]
fn the_page_of_the_doctor_shows_what_the_command_prints() {
    assert_eq!(check(&repository().join("docs/doctor.md")), 2);
}

#[test]
fn the_page_of_traces_shows_what_the_commands_print() {
    assert_eq!(check(&repository().join("docs/trace.md")), 2);
}

#[test]
fn the_page_of_the_examples_of_sigrist_shows_what_the_command_prints() {
    let page = repository().join("examples/sigrist2015/README.md");
    assert_eq!(check(&page), 1);
}

#[test]
fn the_tour_of_the_readme_shows_what_the_commands_print() {
    assert!(
        check(&repository().join("README.md")) >= 3,
        "the tour is too short"
    );
}

#[test]
fn a_page_that_claims_something_else_is_noticed() {
    let (page, commands) =
        replayed("```console\n$ vestal --version | cut -d' ' -f1\nsomething\n```\n");
    assert_eq!(
        (page.as_str(), commands),
        (
            "```console\n$ vestal --version | cut -d' ' -f1\nvestal\n```\n",
            1
        )
    );
    let elided = "```console\n$ vestal check examples/fms.toml\n[...]\n```\n";
    assert_eq!(replayed(elided).0, elided);
    assert!(!agrees(&["a", "[...]", "c"], &["a", "b", "d"]));
    assert_eq!(
        masked("smc (exact test, took 12 us)"),
        masked("smc (exact test, took 4711 us)")
    );
    assert_eq!(
        masked("------\nsmc  no  7 us"),
        masked("--------\nsmc  no  4711 us")
    );
    assert_ne!(masked("smc  no  7 us"), masked("smc  no  7 ms"));
    assert_ne!(masked("smc  1  7 us"), masked("smc  2  7 us"));
}

//! Finds the commit that is built, and gathers the explanation pages.
//!
//! Both are optional: outside a checkout the commit is "unknown". Pages come from `docs/explain`,
//! one file for each name; adding a page needs no change here or in the code.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=VESTAL_COMMIT={commit}");
    watch_commit();
    gather_pages()
}

/// The first line of what git answers, if there is a git and a checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::to_owned)
}

/// Builds anew when HEAD moves to another branch or its branch to another commit. In a linked
/// worktree HEAD and the branches live in different directories; `--git-path` knows both.
fn watch_commit() {
    let mut names = vec!["HEAD".to_owned(), "packed-refs".to_owned()];
    names.extend(git(&["symbolic-ref", "HEAD"]));
    for name in names {
        let Some(path) = git(&["rev-parse", "--git-path", &name]) else {
            continue;
        };
        // A file that does not exist would count as changed at every build.
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// Writes a table of (name, text) of all pages, sorted by name.
fn gather_pages() -> Result<(), Box<dyn Error>> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let folder = manifest.join("../../docs/explain");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut pages: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path.canonicalize()?);
        }
    }
    pages.sort();
    let mut table = String::from("&[\n");
    for page in &pages {
        let name = page.file_stem().unwrap_or_default().to_string_lossy();
        writeln!(
            table,
            "    ({name:?}, include_str!({:?})),",
            page.to_string_lossy()
        )?;
    }
    table.push_str("]\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("pages.rs"), table)?;
    Ok(())
}

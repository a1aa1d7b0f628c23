//! Which processors serve the interrupts of devices, as text files of `/proc/irq`.

use super::Processor;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const AFFINITY: &str = "smp_affinity_list";

/// The numbers of the lines that have interrupts, ascending.
///
/// # Errors
/// What reading the directory said.
pub fn lines(tree: &Path) -> io::Result<Vec<u32>> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(tree)? {
        // Beside the directories of the lines there is a file for those to come.
        if let Some(name) = entry?.file_name().to_str()
            && let Ok(line) = name.parse()
        {
            lines.push(line);
        }
    }
    lines.sort_unstable();
    Ok(lines)
}

/// Where the kernel has those of the machine.
#[must_use]
pub fn tree() -> &'static Path {
    Path::new("/proc/irq")
}

/// The processors that serve a line, in the kernel's notation.
///
/// # Errors
/// What reading the file said.
pub fn affinity(tree: &Path, line: u32) -> io::Result<String> {
    let text = fs::read_to_string(file(tree, line))?;
    Ok(text.trim_end().to_owned())
}

/// Has these processors serve a line, in the kernel's notation.
///
/// # Errors
/// What writing the file said. Some lines belong to one processor, or to their driver, for ever: `EIO`; it takes root.
pub fn set_affinity(tree: &Path, line: u32, list: &str) -> io::Result<()> {
    fs::write(file(tree, line), list)
}

fn file(tree: &Path, line: u32) -> PathBuf {
    tree.join(line.to_string()).join(AFFINITY)
}

/// One processor is asked to serve the interrupts of devices while this lives; then those are that had them before. Others may move lines
/// meanwhile, and lines that are requested meanwhile go where new ones go. A process that is killed leaves them as they are, and so does
/// one that may not change them any more: nobody says so. Only one of these may live at a time on a machine, else the second takes what
/// the first asked for as what was before.
#[derive(Debug)]
pub struct Redirected {
    tree: PathBuf,
    list: String,
    /// Each changed line, and who served it.
    before: Vec<(u32, String)>,
    refused: usize,
}

impl Redirected {
    /// Redirects what can be.
    ///
    /// # Errors
    /// What reading the list of lines said. A line that cannot be changed is none, but counted.
    pub fn to(processor: Processor) -> io::Result<Self> {
        Self::in_tree(tree(), processor)
    }

    fn in_tree(tree: &Path, processor: Processor) -> io::Result<Self> {
        let mut redirected = Self {
            tree: tree.to_owned(),
            list: processor.to_string(),
            before: Vec::new(),
            refused: 0,
        };
        // From the first change on the guard is there to undo it.
        for line in lines(tree)? {
            match redirected.turn(line) {
                Ok(()) => {}
                Err(_) => redirected.refused += 1,
            }
        }
        Ok(redirected)
    }

    fn turn(&mut self, line: u32) -> io::Result<()> {
        let before = affinity(&self.tree, line)?;
        if before != self.list {
            set_affinity(&self.tree, line, &self.list)?;
            self.before.push((line, before));
        }
        Ok(())
    }

    /// How many lines are served by another processor than before.
    #[must_use]
    pub fn changed(&self) -> usize {
        self.before.len()
    }

    /// How many lines could not be read or changed.
    #[must_use]
    pub const fn refused(&self) -> usize {
        self.refused
    }
}

impl Drop for Redirected {
    /// What somebody else has changed meanwhile stays.
    fn drop(&mut self) {
        for (line, before) in &self.before {
            if affinity(&self.tree, *line).is_ok_and(|present| present == self.list) {
                // A line whose device is gone has nobody to serve.
                let _ = set_affinity(&self.tree, *line, before);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of lines with these processors, removed when it is dropped.
    struct MadeUp(PathBuf);

    impl MadeUp {
        fn new(name: &str, lines: &[(u32, &str)]) -> Self {
            let tree = std::env::temp_dir().join(format!("vestal-{name}-{}", std::process::id()));
            fs::create_dir(&tree).unwrap();
            fs::write(tree.join("default_smp_affinity"), "3\n").unwrap();
            for (line, list) in lines {
                fs::create_dir(tree.join(line.to_string())).unwrap();
                fs::write(file(&tree, *line), format!("{list}\n")).unwrap();
            }
            Self(tree)
        }

        fn lists(&self) -> Vec<(u32, String)> {
            let each = lines(&self.0).unwrap().into_iter();
            each.filter_map(|line| Some((line, affinity(&self.0, line).ok()?)))
                .collect()
        }
    }

    impl Drop for MadeUp {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn lines_are_redirected_and_given_back_and_refusals_counted() {
        let tree = MadeUp::new("irq", &[(9, "0-1"), (24, "1"), (130, "0"), (25, "0-1")]);
        // One that cannot be read, and one that can be and takes nothing.
        fs::create_dir_all(tree.0.join("7").join(AFFINITY)).unwrap();
        fs::create_dir(tree.0.join("8")).unwrap();
        std::os::unix::fs::symlink("/proc/version", file(&tree.0, 8)).unwrap();
        let version = affinity(&tree.0, 8).unwrap();
        let before = tree.lists();
        assert_eq!(lines(&tree.0).unwrap(), [7, 8, 9, 24, 25, 130]);

        let redirected = Redirected::in_tree(&tree.0, Processor(0)).unwrap();
        assert_eq!((redirected.changed(), redirected.refused()), (3, 2));
        let zero = |line| (line, "0".to_owned());
        let others = [9, 24, 25, 130].map(zero);
        let meanwhile = [&[(8, version.clone())][..], &others].concat();
        assert_eq!(tree.lists(), meanwhile);
        // Somebody else decides about one of them, and one disappears.
        set_affinity(&tree.0, 25, "1").unwrap();
        fs::remove_dir_all(tree.0.join("24")).unwrap();
        drop(redirected);
        let after = before
            .into_iter()
            .filter(|(line, _)| *line != 24)
            .map(|(line, list)| (line, if line == 25 { "1".to_owned() } else { list }));
        assert_eq!(tree.lists(), after.collect::<Vec<_>>());
    }

    /// Nothing of the machine is changed by a test.
    #[test]
    fn the_lines_of_the_machine_can_be_listed() {
        match lines(tree()) {
            Ok(lines) => assert!(lines.is_sorted()),
            // Where the tree is hidden.
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::NotFound),
        }
        assert!(lines(Path::new("/proc/no-such-tree")).is_err());
    }
}

//! Which processors serve the interrupts of devices, as text files of `/proc/irq`.

use super::Processor;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File};
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

/// One processor is asked to serve the interrupts of devices while this lives; then those are that had them before. One of these
/// lives at a time for a tree, as far as processes see the same one, which those in containers of their own may not; else the second would
/// take what the first asked for as what was before. Others may move lines meanwhile,
/// and lines that are requested meanwhile go where new ones go: [`Self::restore`] counts both. A process that is killed leaves all as it is.
#[derive(Debug)]
pub struct Redirected {
    tree: PathBuf,
    list: String,
    /// The lines that there were.
    all: Vec<u32>,
    /// Each changed line, and who served it.
    before: Vec<(u32, String)>,
    refused: usize,
    /// Locked: the directory of the tree.
    _lock: File,
}

/// What became of the lines that a [`Redirected`] had changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// They are served as before.
    pub lines: usize,
    /// Somebody else had changed them meanwhile, and they were left as they are.
    pub changed_by_others: usize,
    /// They do not exist any more.
    pub gone: usize,
    /// They could not be read or changed: who serves them is not known, or the processor that was asked to.
    pub refused: usize,
    /// Lines that were requested meanwhile, wherever they went; `None` if nobody can say.
    pub new: Option<usize>,
}

impl Redirected {
    /// Redirects what can be.
    ///
    /// # Errors
    /// What reading the list of lines said; [`io::ErrorKind::WouldBlock`] while another one of these lives. A line that cannot be
    /// changed is none, but counted.
    pub fn to(processor: Processor) -> io::Result<Self> {
        Self::in_tree(tree(), processor)
    }

    fn in_tree(tree: &Path, processor: Processor) -> io::Result<Self> {
        let lock = File::open(tree)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let what = "another run has the interrupts of devices on a processor of its own, and gives them back at its end";
                return Err(io::Error::new(io::ErrorKind::WouldBlock, what));
            }
            Err(error) => return Err(error.into()),
        }
        let mut redirected = Self {
            tree: tree.to_owned(),
            list: processor.to_string(),
            all: lines(tree)?,
            before: Vec::new(),
            refused: 0,
            _lock: lock,
        };
        // From the first change on the guard is there to undo it.
        for line in redirected.all.clone() {
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

    /// How many lines were asked to be served by another processor than before.
    #[must_use]
    pub fn changed(&self) -> usize {
        self.before.len()
    }

    /// How many lines could not be read or changed.
    #[must_use]
    pub const fn refused(&self) -> usize {
        self.refused
    }

    /// Gives the lines back to those that had them; what somebody else has changed meanwhile stays.
    #[must_use = "it says whether the machine is as it was before"]
    pub fn restore(mut self) -> Restored {
        self.undo()
    }

    fn undo(&mut self) -> Restored {
        let mut restored = Restored::default();
        for (line, before) in self.before.drain(..) {
            let given_back = affinity(&self.tree, line).and_then(|present| {
                let is_ours = present == self.list;
                if is_ours {
                    set_affinity(&self.tree, line, &before)?;
                }
                Ok(is_ours)
            });
            let count = match given_back {
                Ok(true) => &mut restored.lines,
                Ok(false) => &mut restored.changed_by_others,
                Err(error) if error.kind() == io::ErrorKind::NotFound => &mut restored.gone,
                Err(_) => &mut restored.refused,
            };
            *count += 1;
        }
        let is_new = |line: &&u32| self.all.binary_search(line).is_err();
        let present = lines(&self.tree).ok();
        restored.new = present.map(|lines| lines.iter().filter(is_new).count());
        restored
    }
}

impl Drop for Redirected {
    /// For who had no occasion to ask.
    fn drop(&mut self) {
        self.undo();
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
            let tree = Self(tree);
            lines.iter().for_each(|(line, list)| tree.add(*line, list));
            tree
        }

        fn add(&self, line: u32, list: &str) {
            fs::create_dir(self.0.join(line.to_string())).unwrap();
            fs::write(file(&self.0, line), format!("{list}\n")).unwrap();
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
        let tree = MadeUp::new(
            "irq",
            &[(9, "0-1"), (10, "1"), (24, "1"), (130, "0"), (25, "0-1")],
        );
        // One that cannot be read, and one that can be and takes nothing.
        fs::create_dir_all(tree.0.join("7").join(AFFINITY)).unwrap();
        fs::create_dir(tree.0.join("8")).unwrap();
        std::os::unix::fs::symlink("/proc/version", file(&tree.0, 8)).unwrap();
        let version = affinity(&tree.0, 8).unwrap();
        assert_eq!(lines(&tree.0).unwrap(), [7, 8, 9, 10, 24, 25, 130]);

        let redirected = Redirected::in_tree(&tree.0, Processor(0)).unwrap();
        assert_eq!((redirected.changed(), redirected.refused()), (4, 2));
        let zero = |line| (line, "0".to_owned());
        let others = [9, 10, 24, 25, 130].map(zero);
        let meanwhile = [&[(8, version.clone())][..], &others].concat();
        assert_eq!(tree.lists(), meanwhile);
        // Somebody else decides about one of them, one disappears, one comes, and one takes nothing any more.
        set_affinity(&tree.0, 25, "1").unwrap();
        fs::remove_dir_all(tree.0.join("24")).unwrap();
        tree.add(131, "0-1");
        let no_more = file(&tree.0, 10);
        fs::remove_file(&no_more).unwrap();
        fs::create_dir(&no_more).unwrap();
        assert_eq!(
            redirected.restore(),
            Restored {
                lines: 1,
                changed_by_others: 1,
                gone: 1,
                refused: 1,
                new: Some(1),
            }
        );
        let line = |line, list: &str| (line, list.to_owned());
        let after = [
            line(9, "0-1"),
            line(25, "1"),
            line(130, "0"),
            line(131, "0-1"),
        ];
        assert_eq!(tree.lists(), [&[(8, version)][..], &after].concat());
    }

    /// The second would take what the first asked for as what was before.
    #[test]
    fn one_at_a_time_has_the_lines() {
        let tree = MadeUp::new("irq-two", &[(9, "0-1"), (10, "1")]);
        let before = tree.lists();
        for first in [0, 1] {
            let first = Redirected::in_tree(&tree.0, Processor(first)).unwrap();
            let meanwhile = tree.lists();
            let second = Redirected::in_tree(&tree.0, Processor(7)).unwrap_err();
            assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
            assert_eq!(tree.lists(), meanwhile);
            let second = Redirected::in_tree(&tree.0, Processor(7));
            assert!(second.is_err(), "a refused one has not unlocked it");
            drop(first);
            assert_eq!(tree.lists(), before);
        }
    }

    /// Nothing of the machine is changed by a test.
    #[test]
    fn the_lines_of_the_machine_can_be_listed() {
        match lines(tree()) {
            Ok(lines) => {
                let mut served = lines.iter().map(|line| affinity(tree(), *line));
                assert!(lines.is_empty() || served.any(|list| list.is_ok()));
            }
            // Where the tree is hidden.
            Err(error) => assert!(matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
            )),
        }
        assert!(lines(Path::new("/proc/no-such-tree")).is_err());
    }
}

//! What the kernel calls the threads of a run: as their tasks, so that its own traces say whose they are.

use std::collections::BTreeSet;

/// The kernel keeps so many bytes of a name.
const BYTES_MAX: usize = 15;

/// Names that are given, each once.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// What the kernel is to call a thread that we call `name`: as much of it as the kernel keeps, with a number behind it if another
    /// thread has that.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        // No byte 0 ends it early.
        let name = name.replace('\0', "?");
        let numbered = (2_u32..).map(|number| {
            let ending = format!("~{number}");
            let start = kept(&name, BYTES_MAX.saturating_sub(ending.len()));
            format!("{start}{ending}")
        });
        let mut candidates = std::iter::once(kept(&name, BYTES_MAX).to_owned()).chain(numbered);
        let found = candidates.find(|candidate| self.0.insert(candidate.clone()));
        found.unwrap_or_default()
    }
}

/// As many whole characters of `name` as have at most so many bytes.
fn kept(name: &str, bytes: usize) -> &str {
    let mut end = bytes.min(name.len());
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_kernel_keeps_and_no_two_are_equal() {
        let mut names = Names::default();
        let given = [
            "video",
            "video",
            "vestal-0-manager",
            "vestal-0-manages",
            "vestal-0-manages",
            "a\0b",
            "",
            "",
            "ooooooooooooooé",
        ]
        .map(|name| names.unique(name));
        assert_eq!(
            given,
            [
                "video",
                "video~2",
                "vestal-0-manage",
                "vestal-0-mana~2",
                "vestal-0-mana~3",
                "a?b",
                "",
                "~2",
                "oooooooooooooo",
            ]
        );
        for _ in 0..200 {
            assert!(names.unique("a name of many bytes").len() <= BYTES_MAX);
        }
    }
}

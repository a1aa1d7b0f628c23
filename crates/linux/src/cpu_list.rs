//! Lists of CPUs, as the kernel writes them.

/// More CPUs than any kernel supports; a list that names more is no list of CPUs.
const CPUS_MAX: usize = 1 << 16;

/// CPUs as the kernel lists them (`0-3,7`), ascending; an empty text is an empty list.
#[must_use]
pub fn cpu_list(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    // The kernel writes this where it has nothing to list.
    if text.is_empty() || text == "(null)" {
        return Some(Vec::new());
    }
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: usize = first.parse().ok()?;
        let last: usize = last.parse().ok()?;
        if first > last || last >= CPUS_MAX {
            return None;
        }
        cpus.extend(first..=last);
        if cpus.len() > CPUS_MAX {
            return None;
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

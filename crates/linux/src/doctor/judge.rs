//! What the facts and the measurements mean. Every limit here is one of this world's own, with its
//! reason; none comes from a particular machine.

mod cpu;
mod kernel;
mod measured;
mod process;

use super::{Basis, Facts, Finding, Probes, Reading, Section, State};

/// The findings, section by section. Without `probes` nothing was tried or measured.
#[must_use]
pub fn judge(facts: &Facts, probes: Option<&Probes>) -> Vec<Finding> {
    let mut findings = process::findings(facts, probes);
    findings.extend(kernel::findings(facts));
    findings.extend(cpu::findings(facts));
    if let Some(probes) = probes {
        findings.extend(measured::findings(probes));
    }
    findings
}

/// A check with its names, about to find something.
#[derive(Clone, Copy)]
struct Check {
    section: Section,
    check: &'static str,
    title: &'static str,
    /// What it means for runs, unless the finding says something else.
    meaning: &'static str,
    required: bool,
}

impl Check {
    /// Of something that runs do without.
    const fn new(
        section: Section,
        check: &'static str,
        title: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            section,
            check,
            title,
            meaning,
            required: false,
        }
    }

    /// Of something without which runs are refused.
    const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }
}

/// What a check says, apart from where it was found.
struct Says {
    state: State,
    found: String,
    /// What that means, if it is not what the check is for.
    meaning: Option<&'static str>,
    remedy: Option<String>,
}

impl Says {
    fn good(found: impl Into<String>) -> Self {
        Self {
            state: State::Good,
            found: found.into(),
            meaning: None,
            remedy: None,
        }
    }

    fn unknown(found: impl Into<String>) -> Self {
        Self {
            state: State::Unknown,
            ..Self::good(found)
        }
    }

    fn bad(state: State, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            state,
            remedy: Some(remedy.into()),
            ..Self::good(found)
        }
    }

    fn which_means(self, meaning: &'static str) -> Self {
        Self {
            meaning: Some(meaning),
            ..self
        }
    }
}

impl Check {
    /// The finding, with where it was found.
    fn says(self, basis: Basis, source: impl Into<String>, says: Says) -> Finding {
        Finding {
            check: self.check,
            title: self.title,
            section: self.section,
            required: self.required,
            state: says.state,
            basis,
            source: source.into(),
            found: says.found,
            meaning: says.meaning.unwrap_or(self.meaning).to_owned(),
            remedy: says.remedy,
        }
    }

    /// The finding that a file leads to, or that the file says nothing; then what the check is for tells a
    /// person who has to look for another way to find out.
    fn reads<T>(self, reading: &Reading<T>, judge: impl FnOnce(&T) -> Says) -> Finding {
        let says = match &reading.value {
            Ok(value) => judge(value),
            Err(unread) => Says::unknown(format!("not known: {} {unread}", reading.file)),
        };
        self.says(Basis::Read, reading.file.clone(), says)
    }
}

/// Millionths for people: `0.25%`.
fn percent(ppm: u64) -> String {
    format!("{}.{:02}%", ppm / 10_000, ppm % 10_000 / 100)
}

/// CPUs for people: `0-3, 7`.
fn list(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            Some(_) | None => ranges.push((cpu, cpu)),
        }
    }
    let ranges = ranges.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    ranges.collect::<Vec<_>>().join(", ")
}

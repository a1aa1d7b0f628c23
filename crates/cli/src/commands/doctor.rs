//! `vestal doctor`: is this machine fit for real-time runs, and what should change?

use crate::args::DoctorArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::markdown::wrapped;
use crate::output::{Output, Painter, Style};
use crate::real::{self, Wish};
use std::fmt::Write as _;
use vestal_result::doctor::{Basis, Examination, Finding, Section, State, Verdict};

pub(crate) fn doctor(args: &DoctorArgs, output: &Output) -> Outcome {
    let wish = Wish {
        root: args.root.clone(),
        cpu: args.cpus.as_deref().map(super::run::cpu).transpose()?,
        probes: !args.no_probes && args.root.is_none(),
    };
    if let Some(root) = &wish.root
        && !root.is_dir()
    {
        let what = format!("examine {}", root.display());
        return Err(Failure::input(what, "it is no directory")
            .with_help("name a directory with copies of the machine's /proc and /sys"));
    }
    let examination = real::examine(&wish, output)?;
    output.human(&page(&examination, output.painter(), output.width()));
    output.json(&examination)?;
    Ok(match examination.verdict {
        Verdict::Fit => Exit::Holds,
        Verdict::Findings => Exit::DoesNotHold,
        Verdict::Cannot => Exit::Machine,
    })
}

/// The width of the column of states, and of the one of titles.
const STATE_WIDTH: usize = 9;
const TITLE_WIDTH: usize = 27;

/// The result for people.
fn page(examination: &Examination, painter: Painter, width: usize) -> String {
    let kernel = examination.kernel.as_deref();
    let mut text = format!(
        "Linux {}, real-time jobs on CPU {}",
        kernel.unwrap_or("of unknown release"),
        examination.cpu
    );
    if let Some(root) = &examination.root {
        let _ = write!(text, ", as the files in {root} say");
    }
    text.push('\n');
    let sections = [
        (Section::Process, "This process".to_owned()),
        (Section::Kernel, "The kernel".to_owned()),
        (Section::Cpu, format!("CPU {}", examination.cpu)),
        (Section::Measured, "Measured".to_owned()),
    ];
    for (section, title) in sections {
        let mut findings = examination
            .findings
            .iter()
            .filter(|finding| finding.section == section)
            .peekable();
        if findings.peek().is_none() {
            continue;
        }
        let _ = writeln!(text, "\n{}", painter.paint(Style::Bold, &title));
        for finding in findings {
            show(&mut text, finding, painter, width);
        }
    }
    text.push('\n');
    text.push_str(&conclusion(examination, painter, width));
    text
}

fn show(text: &mut String, finding: &Finding, painter: Painter, width: usize) {
    let (word, style) = match finding.state {
        State::Good => ("good", Some(Style::Good)),
        State::Note => ("note", Some(Style::Name)),
        State::Unknown => ("unknown", None),
        State::Matters => ("MATTERS", Some(Style::Caution)),
        State::Missing => ("MISSING", Some(Style::Bad)),
    };
    let basis = match finding.basis {
        Basis::Read => "read",
        Basis::Tried => "tried",
        Basis::Measured => "measured",
    };
    let word = format!("{word:STATE_WIDTH$}");
    let word = style.map_or(word.clone(), |style| painter.paint(style, &word));
    let indent = 2 + STATE_WIDTH + TITLE_WIDTH;
    let found = wrapped(&format!("{} [{basis}]", finding.found), indent, width);
    // A long title stands closer to what was found, but apart from it.
    let title = format!("{} ", finding.title);
    let _ = writeln!(text, "  {word}{title:TITLE_WIDTH$}{found}");
    if finding.state == State::Good {
        return;
    }
    let indent = 2 + STATE_WIDTH + 2;
    let meaning = wrapped(&finding.meaning, indent, width);
    let _ = writeln!(text, "{:indent$}{meaning}", "");
    if let Some(remedy) = &finding.remedy {
        let label = painter.paint(Style::Name, "help");
        let remedy = wrapped(remedy, indent + "help: ".len(), width);
        let _ = writeln!(text, "{:indent$}{label}: {remedy}", "");
    }
}

/// What to take home: the verdict, and the findings that make it.
fn conclusion(examination: &Examination, painter: Painter, width: usize) -> String {
    let titles = |state: State| {
        let findings = examination.findings.iter();
        let of_state = findings.filter(|finding| finding.state == state);
        of_state
            .map(|finding| finding.title.as_str())
            .collect::<Vec<_>>()
    };
    let (missing, matters) = (titles(State::Missing), titles(State::Matters));
    let (style, verdict) = match examination.verdict {
        Verdict::Fit => (Style::Good, "Fit for real-time runs.".to_owned()),
        Verdict::Findings if matters.is_empty() => {
            let verdict = "Whether real-time runs are possible is not known.";
            (Style::Caution, verdict.to_owned())
        }
        Verdict::Findings => (
            Style::Caution,
            format!(
                "Real-time runs are possible. What they suffer from: {}.",
                matters.join(", ")
            ),
        ),
        Verdict::Cannot => (
            Style::Bad,
            format!(
                "No real-time runs here. What is missing: {}.",
                missing.join(", ")
            ),
        ),
    };
    let mut text = format!("{}\n", painter.paint(style, &wrapped(&verdict, 0, width)));
    if examination.verdict == Verdict::Cannot && !matters.is_empty() {
        let matters = format!("And what they would suffer from: {}.", matters.join(", "));
        let _ = writeln!(text, "{}", wrapped(&matters, 0, width));
    }
    let unknown = titles(State::Unknown);
    if !unknown.is_empty() {
        let unknown = format!("Not known: {}.", unknown.join(", "));
        let _ = writeln!(text, "{}", wrapped(&unknown, 0, width));
    }
    if examination.measured.is_none() {
        text.push_str("Nothing was tried or measured.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_result::Format;

    fn finding(state: State, remedy: Option<&str>) -> Finding {
        Finding {
            check: "governor".to_owned(),
            title: "frequency governor".to_owned(),
            section: Section::Cpu,
            required: false,
            state,
            basis: Basis::Read,
            source: "/sys/x".to_owned(),
            found: "powersave".to_owned(),
            meaning: "execution times vary".to_owned(),
            remedy: remedy.map(str::to_owned),
        }
    }

    fn examination(verdict: Verdict, findings: Vec<Finding>) -> Examination {
        Examination {
            format: Format::V1,
            verdict,
            root: None,
            kernel: Some("6.1".to_owned()),
            cpus: Some(vec![0, 1]),
            cpu: 1,
            findings,
            measured: None,
        }
    }

    #[test]
    fn a_long_title_stands_apart_from_what_was_found() {
        let long = Finding {
            title: "budgets monitored by manager".to_owned(),
            ..finding(State::Good, None)
        };
        assert!(long.title.len() > TITLE_WIDTH);
        let mut text = String::new();
        show(&mut text, &long, Painter { colour: false }, 100);
        assert!(text.contains("by manager powersave [read]"), "{text}");
    }

    #[test]
    fn a_finding_that_matters_says_what_it_means_and_what_to_do() {
        let found = examination(
            Verdict::Findings,
            vec![finding(State::Matters, Some("echo performance > governor"))],
        );
        let page = page(&found, Painter { colour: false }, 60);
        let expected = "\
Linux 6.1, real-time jobs on CPU 1

CPU 1
  MATTERS  frequency governor         powersave [read]
             execution times vary
             help: echo performance > governor

Real-time runs are possible. What they suffer from:
frequency governor.
Nothing was tried or measured.
";
        assert_eq!(page, expected);
    }

    #[test]
    fn what_is_good_takes_one_line_and_colours_are_for_terminals() {
        let good = examination(Verdict::Fit, vec![finding(State::Good, None)]);
        let plain = page(&good, Painter { colour: false }, 80);
        assert!(!plain.contains('\x1b') && !plain.contains("execution times vary"));
        assert!(page(&good, Painter { colour: true }, 80).contains("\x1b[1;32m"));
    }
}

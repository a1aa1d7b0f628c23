//! What goes on a page: results and recordings of the same tasks.

use crate::document::Document;
use crate::error::ReportError;
use crate::group::{Tasks, tasks_of_analysis, tasks_of_recording, tasks_of_run};
use crate::recording::Recording;
use vestal_core::{Duration, Level};
use vestal_result::analysis::Analysis;
use vestal_result::run::Run;
use vestal_trace::TaskInfo;

/// What the page asks about names.
pub trait Origin {
    /// The policy that a test proves, if the test is known.
    fn policy_of_test(&self, test: &str) -> Option<String>;
}

/// What goes on a page.
#[derive(Debug)]
pub struct Report {
    pub(crate) generator: String,
    pub(crate) file: Option<String>,
    pub(crate) analyses: Vec<(String, Analysis)>,
    pub(crate) runs: Vec<(String, Run)>,
    pub(crate) recordings: Vec<(String, Recording)>,
    pub(crate) sources: Vec<String>,
    pub(crate) tasks: Tasks,
}

impl Report {
    /// An empty report by the program that is named so.
    #[must_use]
    pub fn new(generator: &str) -> Self {
        Self {
            generator: generator.to_owned(),
            file: None,
            analyses: Vec::new(),
            runs: Vec::new(),
            recordings: Vec::new(),
            sources: Vec::new(),
            tasks: Tasks::default(),
        }
    }

    /// Adds the text of a result file.
    ///
    /// # Errors
    /// [`ReportError`] if it is none, or of other tasks; the report is not to be used then.
    pub fn add_result(&mut self, source: &str, text: &str) -> Result<(), ReportError> {
        let document = Document::parse(text)?;
        for analysis in document.analyses {
            // A test outside its assumptions may have nothing to say about tasks.
            if !analysis.tasks.is_empty() {
                self.tasks.join(source, tasks_of_analysis(&analysis))?;
            }
            for task in &analysis.tasks {
                let names = task.response_ns.0.iter().map(|(name, _)| name.clone());
                self.tasks.learn_levels(&names.collect::<Vec<String>>());
            }
            self.analyses.push((source.to_owned(), analysis));
        }
        for run in document.runs {
            self.tasks.join(source, tasks_of_run(&run))?;
            self.runs.push((source.to_owned(), run));
        }
        self.file = self.file.take().or(document.file);
        self.sources.push(source.to_owned());
        Ok(())
    }

    /// Adds a trace.
    ///
    /// # Errors
    /// [`ReportError::OtherTasks`]; the report is not to be used then.
    pub fn add_recording(&mut self, source: &str, recording: Recording) -> Result<(), ReportError> {
        self.tasks.join(source, tasks_of_recording(&recording))?;
        self.tasks.learn_levels(&recording.header.levels);
        self.recordings.push((source.to_owned(), recording));
        self.sources.push(source.to_owned());
        Ok(())
    }

    /// What the inputs so far say of their tasks, in their order; nothing before the first one.
    pub fn tasks(&self) -> impl Iterator<Item = TaskInfo> {
        self.tasks.list.iter().map(|task| {
            let level = self.tasks.level(task);
            let index = level.and_then(|index| u8::try_from(index).ok());
            TaskInfo {
                name: task.name.clone(),
                criticality: index.map_or(Level::LOWEST, Level),
                period: Duration::from_nanos(task.period.unwrap_or(0)),
                deadline: Duration::from_nanos(task.deadline.unwrap_or(0)),
            }
        })
    }

    /// The file's name without its directory and extension.
    pub(crate) fn title(&self) -> &str {
        let file = self
            .file
            .as_deref()
            .or(self.sources.first().map(String::as_str));
        let name = file.unwrap_or("").rsplit(['/', '\\']).next().unwrap_or("");
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        if stem.is_empty() { name } else { stem }
    }
}

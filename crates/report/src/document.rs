//! What stands in a result file, as far as the page shows it.

use crate::error::ReportError;
use serde::Deserialize;
use vestal_result::FORMAT;
use vestal_result::analysis::Analysis;
use vestal_result::run::Run;

/// What stands in one file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    /// The task-set file, where the result names it.
    pub(crate) file: Option<String>,
    /// Of `analyze` and `demo`.
    pub(crate) analyses: Vec<Analysis>,
    /// Of `simulate`, `run` and `demo`.
    pub(crate) runs: Vec<Run>,
}

/// The keys that tell the commands apart.
#[derive(Deserialize)]
struct Keys {
    format: Option<String>,
    file: Option<String>,
    results: Option<Vec<Analysis>>,
    analysis: Option<Analysis>,
    simulation: Option<Run>,
    run: Option<Run>,
    world: Option<serde::de::IgnoredAny>,
    valid: Option<serde::de::IgnoredAny>,
    error: Option<serde::de::IgnoredAny>,
}

impl Document {
    /// Reads a result.
    ///
    /// # Errors
    /// [`ReportError`] if the text is no result, or not one that the page shows.
    pub(crate) fn parse(text: &str) -> Result<Self, ReportError> {
        let not = |error: serde_json::Error| ReportError::NotAResult {
            what: error.to_string(),
        };
        let keys: Keys = serde_json::from_str(text).map_err(not)?;
        let Some(format) = keys.format else {
            let what = "it has no key `format`".to_owned();
            return Err(ReportError::NotAResult { what });
        };
        if format != FORMAT {
            return Err(ReportError::OtherFormat { found: format });
        }
        let file = keys.file;
        let refused = |what| Err(ReportError::NotShown { what });
        if keys.error.is_some() {
            return refused("the error of a command that failed");
        }
        if keys.valid.is_some() {
            return refused("a result of `check`");
        }
        if keys.world.is_some() {
            let run: Run = serde_json::from_str(text).map_err(not)?;
            let (analyses, runs) = (Vec::new(), vec![run]);
            return Ok(Self {
                file,
                analyses,
                runs,
            });
        }
        let mut analyses = keys.results.unwrap_or_default();
        analyses.extend(keys.analysis);
        let runs: Vec<Run> = keys.simulation.into_iter().chain(keys.run).collect();
        if analyses.is_empty() && runs.is_empty() {
            return refused("no result of analyze, simulate, run or demo");
        }
        Ok(Self {
            file,
            analyses,
            runs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_result::run::Response;

    const RUN: &str = r#"{"format":"vestal-result/1","file":"x.toml","policy":"amc",
        "world":"simulator","duration_ns":18446744073709551615,"seed":1,
        "jobs":{"released":1,"completed":0,"dropped":0,"missed":1,"missed_guaranteed":0},
        "tasks":[{"name":"a","released":1,"completed":0,"missed":1,"dropped":0,
                  "response_ns":{"min":null,"mean":null,"p99":null,"max":null}}],
        "later":{"unknown":true}}"#;

    #[test]
    fn a_run_is_read_with_exact_times_nulls_and_unknown_fields() {
        let document = Document::parse(RUN).unwrap();
        let run = &document.runs[0];
        assert_eq!(run.duration_ns, u64::MAX);
        assert_eq!(run.tasks[0].response_ns, Response::default());
        // Older versions did not say what proves it: not the same as that nothing does.
        assert_eq!(run.proof, None);
        let unproved = RUN.replacen('{', "{\"proof\":null,", 1);
        assert_eq!(
            Document::parse(&unproved).unwrap().runs[0].proof,
            Some(None)
        );
    }

    #[test]
    fn what_is_no_result_is_refused_by_code() {
        let code = |text: &str| Document::parse(text).unwrap_err().code();
        assert_eq!(code(""), "V0820");
        assert_eq!(code("[]"), "V0820");
        assert_eq!(code("{}"), "V0820");
        assert_eq!(code(&RUN[..200]), "V0820");
        assert_eq!(code(&RUN.replace("\"jobs\"", "\"sboj\"")), "V0820");
        assert_eq!(code(&RUN.replace("\"missed\":1", "\"missed\":-1")), "V0820");
        assert_eq!(code(&RUN.replace("result/1", "result/2")), "V0821");
        assert_eq!(
            code(r#"{"format":"vestal-result/1","valid":true}"#),
            "V0822"
        );
        assert_eq!(code(r#"{"format":"vestal-result/1","error":{}}"#), "V0822");
        assert_eq!(code(r#"{"format":"vestal-result/1"}"#), "V0822");
    }
}

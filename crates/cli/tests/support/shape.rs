//! Every document that a test looks at is held against the types of `vestal-result` and against their schema.

use serde_json::Value;
use std::sync::OnceLock;
use vestal_result::schema;
use vestal_testkit::json_schema::{strict, violations};

/// The one JSON document that a command printed.
///
/// # Panics
/// If it is none, if no type gives the same bytes again, or if the schema that is checked in does not allow it.
pub(crate) fn document(stdout: &str, stderr: &str) -> Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    let document: Value = serde_json::from_str(stdout)
        .unwrap_or_else(|error| panic!("{error} in standard output:\n{stdout}\n{stderr}"));
    assert!(
        kind(stdout).is_some(),
        "no type gives the same again:\n{stdout}"
    );
    let schema = SCHEMA.get_or_init(|| {
        let path = super::repository().join("docs/schema/vestal-result-1.schema.json");
        let text = std::fs::read_to_string(path).unwrap();
        strict(&serde_json::from_str(&text).unwrap())
    });
    let mut found = Vec::new();
    violations(&document, schema, schema, "", &mut found);
    assert_eq!(found, Vec::<String>::new(), "not as the schema says");
    document
}

/// The type that a document is of: it gives the same bytes when it is read and written again.
pub(crate) fn kind(stdout: &str) -> Option<&'static str> {
    let mut read = schema::read_as(stdout).into_iter();
    let same = read.find(|(_, again)| format!("{again}\n") == stdout);
    same.map(|(name, _)| name)
}

//! The schemas that are checked in are those of the types.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde::Serialize;
use std::path::Path;

/// `VESTAL_BLESS=1` writes it.
fn is_current(name: &str, schema: &impl Serialize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/schema")
        .join(name);
    let text = format!("{}\n", serde_json::to_string_pretty(schema).unwrap());
    if std::env::var_os("VESTAL_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    let bless = "VESTAL_BLESS=1 cargo test -p vestal-result --test schema";
    assert!(stored == text, "docs/schema/{name} differs: {bless}");
}

#[test]
fn the_schema_of_all_documents_is_current() {
    is_current(
        "vestal-result-1.schema.json",
        &vestal_result::schema::documents(),
    );
}

#[test]
fn the_schema_of_doctor_is_current() {
    is_current(
        "doctor-1.schema.json",
        &vestal_result::schema::examination(),
    );
}

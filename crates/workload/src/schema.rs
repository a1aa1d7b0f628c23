//! The JSON Schema of task-set files.

use crate::model::FileTable;

/// The JSON Schema (draft 2020-12) of task-set files.
#[must_use]
pub fn schema() -> serde_json::Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut value = generator.into_root_schema_for::<FileTable>().to_value();
    if let serde_json::Value::Object(object) = &mut value {
        object.insert(
            "title".to_owned(),
            "Vestal task set, format vestal/1".into(),
        );
        let text =
            "A Vestal task set: mixed-criticality tasks, servers and devices, or a finite job set.";
        object.insert("description".to_owned(), text.into());
    }
    value
}

/// The schema as the text of `docs/schema/vestal-1.schema.json`.
#[must_use]
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

//! The page itself: a fixed frame around the data.

use crate::error::ReportError;
use crate::model::Model;
use crate::report::{Origin, Report};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use sha2::{Digest as _, Sha256};
use std::io::{self, Write};
use std::sync::OnceLock;

const FRAME: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 12] = [
    include_str!("../page/text.js"),
    include_str!("../page/data.js"),
    include_str!("../page/filter.js"),
    include_str!("../page/table.js"),
    include_str!("../page/sheet.js"),
    include_str!("../page/draw.js"),
    include_str!("../page/gantt.js"),
    include_str!("../page/steer.js"),
    include_str!("../page/responses.js"),
    include_str!("../page/modes.js"),
    include_str!("../page/sections.js"),
    include_str!("../page/main.js"),
];

impl Report {
    /// The page.
    ///
    /// # Errors
    /// [`ReportError::Empty`] if nothing was added.
    pub fn page(&self, origin: &dyn Origin) -> Result<String, ReportError> {
        if self.sources.is_empty() {
            return Err(ReportError::Empty);
        }
        let model = Model::new(self, &self.tasks, origin);
        let data = exact(&model).map_err(|error| ReportError::NotAResult {
            what: error.to_string(),
        })?;
        // Inside a script element only `<` can begin something that ends it.
        let data = data.replace('<', "\\u003c");
        let title = format!("{} · Vestal report", self.title());
        let mut page = String::with_capacity(data.len() + (1 << 18));
        let mut rest = FRAME;
        let Own {
            style,
            script,
            hashes: [style_hash, script_hash],
        } = OWN.get_or_init(Own::new).clone();
        let parts = [
            ("{{style-hash}}", style_hash),
            ("{{script-hash}}", script_hash),
            ("{{title}}", escape(&title)),
            ("{{style}}", style),
            ("{{data}}", data),
            ("{{script}}", script),
        ];
        for (place, part) in &parts {
            if let Some((before, after)) = rest.split_once(place) {
                page.push_str(before);
                page.push_str(part);
                rest = after;
            }
        }
        page.push_str(rest);
        Ok(page)
    }
}

/// What every page has, once for all of them.
#[derive(Clone)]
struct Own {
    style: String,
    script: String,
    /// How the page's policy names the two.
    hashes: [String; 2],
}

static OWN: OnceLock<Own> = OnceLock::new();

impl Own {
    fn new() -> Self {
        // The line break behind the tag belongs to what an element contains.
        let (style, script) = (format!("\n{STYLE}"), format!("\n{}", SCRIPTS.concat()));
        Self {
            hashes: [hash_source(&style), hash_source(&script)],
            style,
            script,
        }
    }
}

/// How a content policy names the one element with exactly this text (Content Security Policy Level 3, section 2.3.1).
fn hash_source(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// As JSON whose integers the page's script reads exactly: those that its numbers would round are strings.
fn exact(value: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, SafeNumbers))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct SafeNumbers;

impl Formatter for SafeNumbers {
    fn write_u64<W: ?Sized + Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        /// The largest integer that a number of the script holds exactly.
        const SAFE_MAX: u64 = (1 << 53) - 1;
        if value > SAFE_MAX {
            write!(writer, "\"{value}\"")
        } else {
            write!(writer, "{value}")
        }
    }
}

/// Text between tags.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of `abc` (FIPS 180-4, example B.1), as `openssl dgst -sha256 -binary | base64` prints it.
    #[test]
    fn a_hash_source_is_the_digest_of_the_text_in_base64() {
        let expected = "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
        assert_eq!(hash_source("abc"), expected);
    }

    #[test]
    fn integers_that_the_script_would_round_are_strings() {
        let numbers = (0_u64, (1_u64 << 53) - 1, 1_u64 << 53, u64::MAX, 0.5);
        let text = r#"[0,9007199254740991,"9007199254740992","18446744073709551615",0.5]"#;
        assert_eq!(exact(&numbers).unwrap(), text);
    }
}

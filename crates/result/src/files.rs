//! What commands print whose result is in files, or is text.

use crate::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of `generate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Generated {
    /// The format.
    pub format: Format,
    /// The recipe.
    pub recipe: String,
    /// What random numbers came from.
    pub seed: u64,
    /// Where the files are.
    pub directory: String,
    /// Their names.
    pub files: Vec<String>,
}

/// The result of `sweep`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Swept {
    /// The format.
    pub format: Format,
    /// The name of the experiment.
    pub experiment: String,
    /// Where its data are.
    pub directory: String,
    /// Sets that were computed now.
    pub computed: u64,
    /// Chunks that are there.
    pub chunks: u64,
    /// Chunks of the whole experiment.
    pub chunks_total: u64,
    /// Whether all are there.
    pub complete: bool,
    /// Whether somebody stopped it.
    pub stopped: bool,
    /// Damaged files that were computed again.
    pub mended: Vec<String>,
}

/// The result of `plot`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plotted {
    /// The format.
    pub format: Format,
    /// The name of the experiment.
    pub experiment: String,
    /// Where its data are.
    pub directory: String,
    /// What the horizontal axis counts.
    pub x: String,
    /// What the vertical axis counts.
    pub y: String,
    /// The curves, in the order of the legend.
    pub curves: Vec<PlottedCurve>,
    /// Where the axes are in a file.
    pub frame: PlottedFrame,
    /// The files that were written.
    pub files: Vec<String>,
}

/// A curve of a plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlottedCurve {
    /// Its name in the legend.
    pub name: String,
    /// Its points; x ascends.
    pub points: Vec<PlottedPoint>,
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlottedPoint {
    /// Where it is on the horizontal axis.
    pub x: f64,
    /// Its value.
    pub value: f64,
    /// The lower end of the 95 % interval; null where it is not known.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// Where the axes of a plot are, in points of 1/72 inch from the upper left corner, and what their ends stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlottedFrame {
    /// The left and the right end of the horizontal axis.
    pub across: [f64; 2],
    /// The lower and the upper end of the vertical axis.
    pub up: [f64; 2],
    /// What the ends of the horizontal axis stand for.
    pub x: [f64; 2],
    /// What the ends of the vertical axis stand for.
    pub y: [f64; 2],
}

/// The result of `sweep --regenerate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Regenerated {
    /// The format.
    pub format: Format,
    /// The name of the experiment.
    pub experiment: String,
    /// The number of the point, from 0.
    pub point: usize,
    /// The number of the set at that point, from 0.
    pub index: u32,
    /// What its random numbers came from.
    pub seed: u64,
    /// The task-set file.
    pub file: String,
}

/// The result of `report`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// The format.
    pub format: Format,
    /// Where the page is.
    pub page: String,
    /// Its size.
    pub bytes: usize,
    /// What was put on it.
    pub sources: Vec<String>,
}

/// The result of `reproduce`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reproduced {
    /// The format.
    pub format: Format,
    /// Where data, plots and pages are.
    pub directory: String,
    /// By figure.
    pub figures: Vec<Figure>,
}

/// A figure of a paper that was computed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Its name.
    pub figure: String,
    /// How many task sets a point has.
    pub sets: u32,
    /// What of it this version cannot compute.
    pub missing: Vec<String>,
    /// The files with plots.
    pub plots: Vec<String>,
    /// What became of the paper's claims.
    pub claims: Vec<Claim>,
}

/// A claim of a paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// In a sentence.
    pub claim: String,
    /// What became of it, and by which numbers.
    pub found: String,
}

/// The result of `reproduce --list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// The format.
    pub format: Format,
    /// All that this version knows.
    pub figures: Vec<FigureEntry>,
}

/// A figure that can be reproduced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FigureEntry {
    /// Its name.
    pub figure: String,
    /// What it shows.
    pub caption: String,
    /// What of it this version cannot compute.
    pub missing: Vec<String>,
}

/// The result of `explain TOPIC`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The format.
    pub format: Format,
    /// What is explained.
    pub topic: String,
    /// `code` or `page`.
    pub kind: String,
    /// In Markdown.
    pub text: String,
}

/// The result of `explain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Topics {
    /// The format.
    pub format: Format,
    /// What can be explained.
    pub topics: Vec<Topic>,
}

/// Something that can be explained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Topic {
    /// Its name.
    pub topic: String,
    /// What it is.
    pub kind: String,
    /// In a line.
    pub summary: String,
}

//! Codes about experiments (V07xx). Produced by `vestal-experiment`; explained here with the rest.

use super::{Sample, codes};

codes! {
EXPERIMENT = 700, "an experiment says what is drawn and asked",
"An experiment file names a recipe, the parameters that are fixed and that vary, the number of sets, and the tests or simulations that are asked of every set. docs/experiments.md describes every key. Unknown keys, parameters that the recipe does not have and values out of range are refused before anything is drawn.",
Sample::None => Sample::None;

SWEEP_FOREIGN = 701, "the directory holds another result",
"A result directory belongs to one experiment and to one version of the program, which its manifest.json names, and every file of rows to one directory. Where tests of a program of your own take part, it belongs to that very program. Results of two must not mix, so the directory is refused: name a new one, or use the version and the file that it was begun with.",
Sample::None => Sample::None;

SWEEP_DAMAGED = 702, "a file of a result is damaged",
"The file was written completely, and has been changed since: its checksum, or for a manifest its fingerprint, is not that of what it holds; or a chunk has the sets of another one. Run the sweep again with --resume: chunks that are damaged are computed once more, and whatever follows from the chunks is written anew. A manifest that is damaged is not overwritten, as it may be another result's: remove it first.",
Sample::None => Sample::None;
}

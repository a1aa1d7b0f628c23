//! Codes about experiments (V07xx). Produced by `vestal-experiment`; explained here with the rest.

use super::{Sample, codes};

codes! {
EXPERIMENT = 700, "an experiment says what is drawn and asked",
"An experiment file names a recipe, the parameters that are fixed and that vary, the number of sets, and the tests or simulations that are asked of every set. docs/experiments.md describes every key. Unknown keys, parameters that the recipe does not have and values out of range are refused before anything is drawn.",
Sample::None => Sample::None;

SWEEP_FOREIGN = 701, "the directory holds another result",
"A result directory belongs to one experiment and to one version of the program, which its manifest.json names. Results of two must not mix, so the directory is refused: name a new one, or use the version and the file that it was begun with.",
Sample::None => Sample::None;

SWEEP_DAMAGED = 702, "a file of a result is damaged",
"The file was written completely, and has been changed since or belongs to another result. Remove it and run the sweep again with --resume: only that part is computed once more.",
Sample::None => Sample::None;
}

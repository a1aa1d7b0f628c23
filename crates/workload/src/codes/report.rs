//! Codes about report pages (V0820 to V0829). Produced by `vestal-report` and the command line;
//! explained here with the rest.

use super::{Sample, codes};

codes! {
RESULT_FOREIGN = 820, "the file is no result of a command",
"A report is made of what `analyze`, `simulate`, `run` and `demo` print with `--format json`, each in a file of its own, of traces, which are known by their extensions `.vtrace` and `.csv`, and of scheduling events as text of perf or ftrace, which are known by what is in them. The message says where the file differs from such a result.",
Sample::None => Sample::None;

RESULT_FORMAT = 821, "the result is of another format",
"Every result says its format. This version reads `vestal-result/1`; a newer one asks for a newer program.",
Sample::None => Sample::None;

RESULT_NOT_SHOWN = 822, "the page does not show results of this kind",
"The file is a result, but of a command whose results have no place on the page, such as `check`, or the error of a command that failed.",
Sample::None => Sample::None;

RESULT_OTHER_TASKS = 823, "the inputs are of different task sets",
"A page compares what was proved, simulated and measured of one task set. All inputs must name the same tasks, and agree on their levels and deadlines as far as they know them. The message names the first difference.",
Sample::None => Sample::None;

REPORT_EMPTY = 824, "there is nothing to show",
"A page needs at least one result or trace.",
Sample::None => Sample::None;

REPORT_UNWRITABLE = 825, "a page cannot be written",
"The file could not be created, written or given its name; the message gives the system's reason. A page is written under another name beside its place (`.NAME.PID.part`) and renamed when it is complete, so the directory has to be writable too. An input of the page is never overwritten.",
Sample::None => Sample::None;
}

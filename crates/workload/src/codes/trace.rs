//! Codes about traces (V08xx). Produced by `vestal-trace` and the command line; explained here with the rest.

use super::{Sample, codes};

codes! {
TRACE_UNREADABLE = 800, "a trace file cannot be read",
"The operating system refused to open or read the file; the message gives its reason.",
Sample::None => Sample::None;

TRACE_FOREIGN = 801, "the file is no trace of this format",
"Which format a trace has follows from the extension of its name. A `.vtrace` file begins with the bytes `VTRACE1` and a line feed, a `.csv` one with `# format` and the name of the schema. A table of other values, or a trace under a wrong name, is refused at its first byte.",
Sample::None => Sample::None;

TRACE_TRUNCATED = 802, "the trace ends early",
"A complete trace says at its end how many records it has. Without that the copy is incomplete or the disk was full. A recording that is killed leaves no file under the final name.",
Sample::None => Sample::None;

TRACE_CHECKSUM = 803, "a checksum of the trace is wrong",
"Each part of a `.vtrace` file carries a CRC-32 of its bytes. One that does not match shows that the file was changed after it was written, at the place that the message gives or shortly after it.",
Sample::None => Sample::None;

TRACE_FRAME = 804, "a frame of the trace is out of place or of a wrong length",
"A `.vtrace` file is a sequence of numbered frames: the header, the records, the end. One that is missing, repeated, exchanged or of an impossible length is reported where it stands; so is a `.csv` file whose last line counts other records than there are.",
Sample::None => Sample::None;

TRACE_HEADER = 805, "the header of the trace is not one",
"The header names the schema, the world, the policy with its options and parameters, and holds the task set. It is complete or it is none: unknown, repeated and missing keys are refused.",
Sample::None => Sample::None;

TRACE_RECORD = 806, "a record of a binary trace is not one",
"There is exactly one way to write each record. A kind that the schema does not have, a value that a field never has, or an unused field that is not zero shows a change, or a newer schema.",
Sample::None => Sample::None;

TRACE_LINE = 807, "a line of a text trace is no record",
"Each line of a `.csv` trace after the header is one record: `at_ns,kind,cpu,task,job,value,detail`. There is exactly one way to write each; the message names the cell.",
Sample::None => Sample::None;

TRACE_NOT_TEXT = 808, "a line of a text trace is too long or no text",
"Text traces are UTF-8, and no record takes more than 4096 bytes. What is longer is another kind of file.",
Sample::None => Sample::None;

TRACE_EVENT = 809, "an event in the text of perf or ftrace is not as its tools print it",
"Of the text of `perf script`, `trace-cmd report` and `/sys/kernel/tracing/trace` the events `sched_switch`, `sched_waking`, `sched_wakeup` and `sched_wakeup_new` are read. A line that names one of them and is built otherwise, is cut off or goes back in time is refused rather than skipped, because what follows would be wrong; so is a second thread with the name of a task. perf has to print thread, CPU, instant and event, as it does without `-F`.",
Sample::None => Sample::None;

TRACE_AFTER_END = 810, "something follows the end of the trace",
"The end of a trace is the end of its file. Two traces that were joined to one file are refused.",
Sample::None => Sample::None;

TRACE_EXTENSION = 811, "the extension names no trace format",
"The extension selects the format: `.vtrace` and `.csv` hold every record and can be read again, `.txt`, `.svg` and `.tex` are Gantt charts, `.pftrace` is for Perfetto, `.vcd` for waveform viewers. Capitals do not matter.",
Sample::None => Sample::None;

TRACE_UNWRITABLE = 812, "a trace cannot be written",
"The file could not be created, written or given its name; the message gives the system's reason. A trace is written under another name beside its place (`.NAME.PID.part`) and renamed when it is complete, so the directory has to be writable too. Nothing was run if the file could not be created.",
Sample::None => Sample::None;
}

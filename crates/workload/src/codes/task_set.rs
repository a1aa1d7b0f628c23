//! Codes about files as such and about task sets: V0001 to V0399.

use super::Sample::{File, None, Part};
use super::codes;

codes! {
UNREADABLE = 1, "the file cannot be read",
"The operating system refused to open or read the file. The message after `found` is the system's own.",
None => None;

NOT_UTF8 = 2, "the file is not UTF-8 text",
"Task-set files are UTF-8 text. The position given is that of the first byte that is not. Typical causes are a file saved in Latin-1 or UTF-16, or a binary file given by mistake.",
None => None;

EMPTY = 3, "the file is empty",
"A file without content describes no task set. An empty file is more often a wrong path or a truncated copy than a wish, so it is an error.",
File("") => File("format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\n\n[[task]]\nname = \"control\"\ncriticality = \"LO\"\nperiod = \"10ms\"\nwcet = { LO = \"2ms\" }\n");

FILE_TOO_LARGE = 4, "the file is too large",
"Files above 16 MiB are not read. A task set of the largest supported size (65535 tasks) fits into that.",
None => None;

SYNTAX = 5, "the text is not valid TOML or JSON",
"The file could not be taken apart into keys and values. After a syntax error nothing else can be said about a file, so it is reported alone. A file whose name ends in `.json`, or whose text starts with a brace, is read as JSON; everything else as TOML.",
Part("[[task]]\nname = control\n") => Part("[[task]]\nname = \"control\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\n");

TOO_DEEP = 6, "tables or lists are nested too deeply",
"The format needs four levels of nesting. Deeper nesting is refused early, because no meaning could be given to it.",
Part("a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n") => None;

DUPLICATE_KEY = 7, "a key is given twice",
"One table gives two values for the same key, and nothing says which one counts.",
Part("[[task]]\nname = \"control\"\nname = \"display\"\n") => Part("[[task]]\nname = \"control\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\n");

WRONG_FORMAT = 8, "the file does not say that it is `vestal/1`",
"The first key of a task-set file names the version of the format. It keeps files readable when the format grows: a program never guesses what a newer file means.",
File("levels = [\"LO\"]\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = \"1ms\"\nwcet = { LO = \"1us\" }\n") => File("format = \"vestal/1\"\nlevels = [\"LO\"]\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = \"1ms\"\nwcet = { LO = \"1us\" }\n");

UNKNOWN_KEY = 100, "no such key",
"Unknown keys are errors, because a mistyped key that is silently ignored (`deadlin = 5`) changes what is proved about a system. Keys that exist but that a command has no use for are accepted; `vestal check` names them.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\ndeadlin = 5\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\ndeadline = 5\nwcet = { LO = 1 }\n");

MISSING_KEY = 101, "a key is missing",
"This table needs the key, and there is no default that would be right for every set.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n");

WRONG_TYPE = 102, "a value of the wrong kind",
"The key exists, but its value is of another kind than the format says: a string where a list is wanted, one number where there is one per level.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = 1\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n");

UNKNOWN_WORD = 103, "not one of the words that this key knows",
"The key takes one of a few words. The message lists them.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\narrival = \"sporadik\"\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\narrival = \"sporadic\"\nwcet = { LO = 1 }\n");

NOT_A_NUMBER = 104, "not a finite number",
"TOML can write `nan` and `inf`. No time of a task set may be either; leave the key out where there is no bound.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = inf\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n");

NOT_WHOLE = 105, "a time is not a whole number of nanoseconds",
"All times are exact: they are read from their decimal text and never rounded. A value that falls between two nanoseconds is an error, so that no result depends on a rounding that was not asked for.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 0.3333333 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = \"333333ns\" }\n");

TIME_TOO_LARGE = 106, "a time is beyond the horizon",
"Times are at most 2^62 ns, about 146 years, so that the sum of any two fits the arithmetic. Larger values are nearly always a wrong unit.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 1e15\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 1000\nwcet = { LO = 1 }\n");

NOT_POSITIVE = 107, "a time must be above zero",
"Periods, deadlines, costs and the execution time at a task's own level are above zero. A level at which a task does not run is left out of its `wcet` instead of being zero.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 0\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n");

NO_UNIT = 108, "a number without a unit",
"Bare numbers count in the `unit` of the file. Without `unit`, every time has to be a string with its own unit.",
File("format = \"vestal/1\"\nlevels = [\"LO\"]\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = \"1ms\" }\n") => File("format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = \"1ms\" }\n");

OUT_OF_RANGE = 109, "a number outside its range",
"The key takes whole numbers within bounds, which the message gives.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\npriority = -1\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\npriority = 1\nwcet = { LO = 1 }\n");

BAD_FRACTION = 110, "not a fraction above 0 and at most 1",
"Utilisations are exact decimals: they are read from their text, with at most 18 places.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"bh\"\nkind = \"pibs\"\nutilization = 1.5\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"bh\"\nkind = \"pibs\"\nutilization = 0.05\n");

BAD_NAME = 111, "a name is empty, padded, too long, or has control characters",
"Names appear in tables, traces and CSV files, so they are 1 to 128 visible characters without leading or trailing blanks.",
Part("[[task]]\nname = \" a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n");

CONFLICT = 112, "keys that exclude each other",
"A key that has no meaning for this kind of thing is an error: it would be ignored without notice.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"bh\"\nkind = \"pibs\"\nperiod = 25\nutilization = 0.05\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"bh\"\nkind = \"pibs\"\nutilization = 0.05\n");

BAD_TIME = 113, "not a time",
"A time is a number in the file's `unit`, or a string of a number and one of ns, us, ms, s. The decimal separator is a point.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = \"10 msec\"\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = \"10 ms\"\nwcet = { LO = 1 }\n");

NEGATIVE_TIME = 114, "a time is negative",
"Time starts at zero and execution never gives time back.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\noffset = -1\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\noffset = 1\nwcet = { LO = 1 }\n");

LEVEL_COUNT = 200, "the number of levels is not supported",
"A task set has 1 to 8 criticality levels, listed with the lowest first.",
File("format = \"vestal/1\"\nlevels = []\ntask = [{ name = \"a\", criticality = \"LO\", period = \"1ms\", wcet = { LO = \"1us\" } }]\n") => File("format = \"vestal/1\"\nlevels = [\"LO\"]\ntask = [{ name = \"a\", criticality = \"LO\", period = \"1ms\", wcet = { LO = \"1us\" } }]\n");

UNKNOWN_LEVEL = 201, "no such level",
"Criticalities and the keys of `wcet` are names from the file's own list `levels`. Upper and lower case differ.",
Part("[[task]]\nname = \"a\"\ncriticality = \"HIGH\"\nperiod = 10\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"HI\"\nperiod = 10\nwcet = { LO = 1, HI = 2 }\n");

FALLS_WITH_LEVEL = 202, "a value falls with the level",
"A higher level means more assurance, hence a larger bound: C(LO) <= C(HI) (Vestal 2007). Papers that print 0 for the execution time of a LO task at level HI mean that it does not run then: leave the level out.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2, HI = 0 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\n");

DEADLINE_AFTER_PERIOD = 203, "the deadline is after the period",
"Deadlines are constrained, D <= T: a job is due at the latest when the next one may come. All tests of this version assume it. A deadline below the execution time is a valid file, by contrast; no test accepts such a task.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\ndeadline = 12\nwcet = { LO = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 12\ndeadline = 12\nwcet = { LO = 1 }\n");

DUPLICATE_NAME = 204, "a name is used twice",
"Names identify tasks, servers, devices, jobs and levels in results, scenarios and parameters, so each is used once among its kind.",
Part("task = [\n  { name = \"a\", criticality = \"LO\", period = 10, wcet = { LO = 1 } },\n  { name = \"a\", criticality = \"LO\", period = 20, wcet = { LO = 1 } },\n]\n") => Part("task = [\n  { name = \"a\", criticality = \"LO\", period = 10, wcet = { LO = 1 } },\n  { name = \"b\", criticality = \"LO\", period = 20, wcet = { LO = 1 } },\n]\n");

NOTHING_TO_SCHEDULE = 205, "the file has neither tasks nor jobs",
"A task set has at least one `[[task]]`, or is a finite job set with at least one `[[job]]`.",
Part("name = \"empty\"\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n");

TOO_MANY = 206, "too many entries",
"A task set has at most 65535 tasks, servers, devices or jobs.",
None => None;

NO_SUCH_CPU = 207, "the platform has no such CPU",
"CPUs count from 0 to `platform.cpus` - 1; a file that does not say how many there are has one.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\ncpu = 1\nwcet = { LO = 1 }\n") => Part("[platform]\ncpus = 2\n\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\ncpu = 1\nwcet = { LO = 1 }\n");

DEADLINE_BEFORE_RELEASE = 208, "a job is due before it is released",
"In `[[job]]`, release and deadline are instants on the same clock; the deadline is not a distance from the release.",
Part("[[job]]\nname = \"first\"\nrelease = 20\ndeadline = 10\ncriticality = \"LO\"\nwcet = { LO = 1 }\n") => Part("[[job]]\nname = \"first\"\nrelease = 20\ndeadline = 30\ncriticality = \"LO\"\nwcet = { LO = 1 }\n");

DEGRADED_WITHOUT_EFFECT = 209, "a degraded budget that can never take effect",
"`degraded` is the budget of a job while the mode is *above* its task's own level. A value for the own level or a lower one never counts. This is a warning: the file is valid, and probably does not say what was meant.",
Part("[[task]]\nname = \"a\"\ncriticality = \"HI\"\nperiod = 10\nwcet = { LO = 1, HI = 2 }\ndegraded = { HI = 1 }\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\ndegraded = { HI = 1 }\n");

IO_ORDER = 210, "an I/O operation is out of order or after the end of the job",
"`after` counts the execution of the job up to the operation. Operations are listed in the order in which a job meets them, and none can come after the largest execution time.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\nio = [{ after = 5, device = \"disk\", events = 1 }]\n\n[[server]]\nname = \"bh\"\nkind = \"pibs\"\nutilization = 0.05\n\n[[device]]\nname = \"disk\"\nserver = \"bh\"\ncost = 1\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\nio = [{ after = 1, device = \"disk\", events = 1 }]\n\n[[server]]\nname = \"bh\"\nkind = \"pibs\"\nutilization = 0.05\n\n[[device]]\nname = \"disk\"\nserver = \"bh\"\ncost = 1\n");

BAD_WORK = 211, "not a kind of work",
"`work` says what the jobs of a task do when they are run for real: count (`spin`), walk over an array (`array:32KiB`), or allocate blocks of memory with some probability (`alloc:10x1MiB@0.5`).",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\nwork = \"array:32kb\"\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\nwork = \"array:32KiB\"\n");

UNKNOWN_TASK = 300, "no such task",
"The name is not that of a task of the file.",
Part("[[task]]\nname = \"capture\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"app\"\nkind = \"polling\"\nperiod = 5\ncapacity = 1\ntasks = [\"captre\"]\n") => Part("[[task]]\nname = \"capture\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"app\"\nkind = \"polling\"\nperiod = 5\ncapacity = 1\ntasks = [\"capture\"]\n");

UNKNOWN_SERVER = 301, "no such server",
"The name is not that of a server of the file.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[device]]\nname = \"disk\"\nserver = \"bh\"\ncost = 1\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"bh\"\nkind = \"pibs\"\nutilization = 0.05\n\n[[device]]\nname = \"disk\"\nserver = \"bh\"\ncost = 1\n");

UNKNOWN_DEVICE = 302, "no such device",
"The name is not that of a device of the file.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\nio = [{ after = 1, device = \"disk\", events = 1 }]\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\n");

TASK_IN_TWO_SERVERS = 303, "a task is in two servers",
"A task is served by one server at most; its budget could otherwise be charged twice or not at all.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"s\"\nkind = \"polling\"\nperiod = 5\ncapacity = 1\ntasks = [\"a\"]\n\n[[server]]\nname = \"t\"\nkind = \"polling\"\nperiod = 5\ncapacity = 1\ntasks = [\"a\"]\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"s\"\nkind = \"polling\"\nperiod = 5\ncapacity = 1\ntasks = [\"a\"]\n");

CAPACITY_ABOVE_PERIOD = 304, "a server's capacity is above its period",
"A server cannot supply more than all of the time.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"s\"\nkind = \"polling\"\nperiod = 5\ncapacity = 6\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"s\"\nkind = \"polling\"\nperiod = 6\ncapacity = 5\n");

SERVES_PIBS = 305, "a PIBS serves another PIBS",
"A priority-inheriting bandwidth-preserving server takes its period from the server on whose behalf it runs (Missimer et al.). Another PIBS has none to give, and two that serve each other would be a circle.",
Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"bh\"\nkind = \"pibs\"\nutilization = 0.05\nserves = [\"bh\"]\n") => Part("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n\n[[server]]\nname = \"app\"\nkind = \"sporadic\"\nperiod = 5\ncapacity = 1\n\n[[server]]\nname = \"bh\"\nkind = \"pibs\"\nutilization = 0.05\nserves = [\"app\"]\n");
}

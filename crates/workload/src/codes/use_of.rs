//! Codes about using a task set: policies (V04xx), scenarios (V05xx), parameters (V06xx).

use super::Sample::{None, Parameters, Scenario, Spec, Used};
use super::codes;

codes! {
WCET_MISSING = 400, "an execution time that the test or policy needs is missing",
"Which levels of `wcet` a task must give is the rule of the test or policy. Every one of this version needs the values of all levels up to the task's own, because at each of these levels the task is part of what must be proved.",
Used("[[task]]\nname = \"a\"\ncriticality = \"HI\"\nperiod = 10\nwcet = { HI = 2 }\n") => Used("[[task]]\nname = \"a\"\ncriticality = \"HI\"\nperiod = 10\nwcet = { LO = 1, HI = 2 }\n");

NEEDS_TASKS = 401, "the test or policy needs tasks, and the file has jobs",
"A file with `[[job]]` is a finite job set. Only OCBP works on those; everything else schedules recurrent tasks.",
Used("[[job]]\nname = \"first\"\nrelease = 0\ndeadline = 10\ncriticality = \"LO\"\nwcet = { LO = 1 }\n") => Used("[[task]]\nname = \"first\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n");

DEGRADED_NOT_UNIFORM = 402, "degraded budgets that differ between modes are not in this version",
"A task has one degraded budget here, valid in every mode above its own level. Give the same value for all of them, or none.",
Used("levels = [\"LO\", \"MID\", \"HI\"]\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\ndegraded = { HI = 1 }\n") => Used("levels = [\"LO\", \"MID\", \"HI\"]\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\ndegraded = { MID = 1, HI = 1 }\n");

PRIORITIES_PARTIAL = 403, "only some tasks have a priority",
"Priorities are given for all tasks of a set or for none. With some of them missing, the order would be half the file's and half the policy's, and what was proved could not be said.",
Used("task = [\n  { name = \"a\", criticality = \"LO\", period = 10, priority = 1, wcet = { LO = 1 } },\n  { name = \"b\", criticality = \"LO\", period = 20, wcet = { LO = 1 } },\n]\n") => Used("task = [\n  { name = \"a\", criticality = \"LO\", period = 10, priority = 2, wcet = { LO = 1 } },\n  { name = \"b\", criticality = \"LO\", period = 20, priority = 1, wcet = { LO = 1 } },\n]\n");

NEEDS_JOBS = 404, "the test needs a finite job set, and the file has tasks",
"The test `ocbp` decides about a finite set of jobs, each released once at a known instant. Recurrent tasks have the tests `fjp-mode`, `fjp-own` and `fjp-lb`, which extend it.",
None => None;

UNKNOWN_SCENARIO = 500, "no such scenario",
"A scenario says how long each job runs: `lo`, `hi`, `overrun=P`, `beta=MEAN,P`, or the name of a file that ends in `.csv`, `.toml` or `.json`.",
Spec("low") => Spec("lo");

BAD_PROBABILITY = 501, "not a probability",
"Probabilities are decimals from 0 to 1 with at most 18 places, read exactly from their text.",
Spec("overrun=30%") => Spec("overrun=0.3");

BAD_MEAN = 502, "not a mean of the beta distribution",
"The mean of `beta=MEAN,P` is above 0 and at most 1: it is a share of the execution time at the highest level.",
Spec("beta=2,0.1") => Spec("beta=0.05,0.1");

UNKNOWN_ROW = 510, "no such kind of row",
"The first column of a scenario row names its kind: `task`, `device` or `mode`.",
Scenario("job,control,0,0,1ms\n") => Scenario("task,control,0,0,1ms\n");

ROW_LENGTH = 511, "a row with the wrong number of columns",
"A `task` row has the columns kind, task, job, release, execution; a `device` row kind, device, at, count; a `mode` row kind, at, level. Release and execution may be empty.",
Scenario("task,control,0,1ms\n") => Scenario("task,control,0,,1ms\n");

BAD_CELL = 512, "a cell whose quotation marks do not match",
"A cell that contains a comma stands in double quotes, and a double quote inside it is written twice. After the closing mark comes a comma or the end of the line.",
Scenario("task,\"control,0,0,1ms\n") => Scenario("task,\"control\",0,0,1ms\n");

ROW_TWICE = 513, "a row says what another row said already",
"A job, and a mode request at an instant, are described by one row each.",
Scenario("task,control,0,0,1ms\ntask,control,0,0,2ms\n") => Scenario("task,control,0,0,1ms\ntask,control,1,10ms,2ms\n");

TOO_EARLY = 514, "a job is released before the model allows it",
"The first job of a task is released at its offset or later, and any two consecutive jobs are at least a period apart; nothing could be guaranteed about a task that is released more often. Jobs between two rows, and after the last, follow one another at the distance of one period. Later releases are legal for periodic tasks too, and shift what follows.",
Scenario("task,control,0,0,1ms\ntask,control,1,9ms,1ms\n") => Scenario("task,control,0,0,1ms\ntask,control,1,11ms,1ms\n");

RUNS_AWAY = 515, "a job runs longer than its task's own level allows",
"This is a note: a scenario may let a task run away, to see what enforcement does about it. Nothing is guaranteed to that task then, and without enforcement nothing to others.",
Scenario("task,control,0,0,9ms\n") => Scenario("task,control,0,0,4ms\n");

SCENARIO_UNKNOWN_TASK = 516, "a row about something the task set does not have",
"Rows name tasks, devices and levels of the task set that is simulated or run.",
Scenario("task,contrl,0,0,1ms\n") => Scenario("task,control,0,0,1ms\n");

PARAMETER_UNKNOWN_TASK = 600, "parameters for a task that the set does not have",
"A parameters file belongs to one task set. A name that the set does not have means that the two do not belong together.",
Parameters("{ \"priorities\": { \"control\": 2, \"screen\": 1 } }\n") => Parameters("{ \"priorities\": { \"control\": 2, \"display\": 1 } }\n");

PARAMETER_TASK_MISSING = 601, "parameters leave a task out",
"`priorities`, `virtual_deadlines`, `zero_slack` and `slices` speak of all tasks of the set. A task that is left out would be placed arbitrarily.",
Parameters("{ \"priorities\": { \"control\": 2 } }\n") => Parameters("{ \"priorities\": { \"control\": 2, \"display\": 1 } }\n");

PRIORITY_TWICE = 602, "two tasks have the same priority",
"Priorities are a total order: larger is more urgent, and no two tasks are equal.",
Parameters("{ \"priorities\": { \"control\": 1, \"display\": 1 } }\n") => Parameters("{ \"priorities\": { \"control\": 2, \"display\": 1 } }\n");

PARAMETER_NOT_IN_VERSION = 603, "a parameter that this version does not use",
"The key is part of the format, but this version computes and uses only the parts that the message lists. It is refused rather than ignored, because a result that leaves it out would be another result.",
Parameters("{ \"priorities\": { \"control\": 2, \"display\": 1 }, \"partition\": { \"control\": 0, \"display\": 0 } }\n") => Parameters("{ \"priorities\": { \"control\": 2, \"display\": 1 } }\n");

VIRTUAL_DEADLINE_TOO_LONG = 604, "a virtual deadline after the real one",
"Virtual deadlines make jobs of critical tasks count as due earlier than they are; each is above zero and at most the deadline of its task, both counted from the release. A task that keeps its deadline has that as its virtual one.",
Parameters("{ \"virtual_deadlines\": { \"control\": \"12ms\", \"display\": \"20ms\" } }\n") => Parameters("{ \"virtual_deadlines\": { \"control\": \"6ms\", \"display\": \"20ms\" } }\n");

FACTOR_DISAGREES = 605, "the factor and the virtual deadlines disagree",
"`deadline_factor` x shortens the deadlines D of the tasks above the lowest level to x D, rounded down to whole nanoseconds, and leaves the others alone. Where `virtual_deadlines` stands beside it, both have to say the same; otherwise nobody could tell which of them was analysed.",
Parameters("{ \"virtual_deadlines\": { \"control\": \"6ms\", \"display\": \"20ms\" }, \"deadline_factor\": \"1/2\" }\n") => Parameters("{ \"virtual_deadlines\": { \"control\": \"6ms\", \"display\": \"20ms\" }, \"deadline_factor\": \"3/5\" }\n");

ZERO_SLACK_TOO_LATE = 606, "a zero-slack instant after the deadline",
"From its zero-slack instant on, a job that is not complete suspends less critical tasks; the instant is at most the deadline of its task, both counted from the release. A task that suspends no other has its deadline as its instant.",
Parameters("{ \"zero_slack\": { \"control\": \"12ms\", \"display\": \"20ms\" } }\n") => Parameters("{ \"zero_slack\": { \"control\": \"6ms\", \"display\": \"20ms\" } }\n");

JOB_PRIORITIES_DO_NOT_FALL = 620, "job priorities that do not fall",
"The list of a task has the priorities of its first, second, ... job in a busy period. They fall strictly: jobs of one task go in the order of their releases.",
Parameters("{ \"job_priorities\": { \"control\": [0, 3], \"display\": [2] } }\n") => Parameters("{ \"job_priorities\": { \"control\": [3, 0], \"display\": [2] } }\n");

JOB_PRIORITY_TWICE = 621, "two jobs have the same priority",
"Job priorities are a total order over the jobs of a busy period: larger is more urgent, and no two jobs are equal.",
Parameters("{ \"job_priorities\": { \"control\": [3, 2], \"display\": [2] } }\n") => Parameters("{ \"job_priorities\": { \"control\": [3, 0], \"display\": [2] } }\n");

PATTERN_DISAGREES = 622, "a pattern that cannot be that of the task",
"The pattern of a task says for each level up to its own how many of its jobs a busy period can contain before the mode exceeds that level. The numbers never fall, and where `job_priorities` stands beside them, the last one is the length of the task's list.",
Parameters("{ \"job_priorities\": { \"control\": [3, 0], \"display\": [2] }, \"patterns\": { \"control\": [1, 3], \"display\": [1] } }\n") => Parameters("{ \"job_priorities\": { \"control\": [3, 0], \"display\": [2] }, \"patterns\": { \"control\": [1, 2], \"display\": [1] } }\n");

BUSY_PERIODS_FALL = 623, "busy periods that fall with the level or leave one out",
"`busy_periods` says for each level how long a busy period can be before the mode exceeds it. What ends before a higher level is exceeded includes what ends before a lower one is.",
Parameters("{ \"busy_periods\": { \"LO\": \"12ms\", \"HI\": \"9ms\" } }\n") => Parameters("{ \"busy_periods\": { \"LO\": \"9ms\", \"HI\": \"12ms\" } }\n");
}

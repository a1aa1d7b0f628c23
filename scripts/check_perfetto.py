"""Decodes Perfetto traces with Perfetto's own schema and compares them with the records they were
made from: check_perfetto.py DIRECTORY, which holds NAME.csv and NAME.pftrace for each NAME, and
NAME.json where `vestal --format json simulate` wrote them.

Checked: no unknown field anywhere, balanced slices on described tracks, instants in order, a CPU's
switches consistent, and as many releases, starts, misses, overruns and drops as the records have; where
there is a result, as many of each, task by task, as it counts.
"""

import csv
import json
import pathlib
import sys
from collections import Counter

from google.protobuf import unknown_fields
from google.protobuf.descriptor import FieldDescriptor
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema


def unknown(message, path):
    """The paths of all unknown fields of a message and those inside it."""
    for field in unknown_fields.UnknownFieldSet(message):
        yield f"{path}.{field.field_number}"
    for descriptor, value in message.ListFields():
        if descriptor.type == FieldDescriptor.TYPE_MESSAGE:
            try:
                inner = list(value)
            except TypeError:
                inner = [value]
            for one in inner:
                yield from unknown(one, f"{path}.{descriptor.name}")


def records(path):
    """How many records of each kind there are, observed facts with the others."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("# ")]
    return Counter(row["kind"].removeprefix("seen-") for row in csv.DictReader(lines))


PAIRS = {
    "release": "release",
    "deadline missed": "miss",
    "overrun": "overrun",
    "dropped": "drop",
}


def against_result(path, by_task):
    """What a trace has otherwise than the result of the run."""
    result = json.loads(path.read_text())
    keys = {"release": "released", "miss": "missed", "overrun": "overruns", "drop": "dropped"}
    for task in result["tasks"]:
        for kind, key in keys.items():
            found = by_task[task["name"], kind]
            if found != task[key]:
                yield f"{found} of kind {kind} on the track of {task['name']}, but the result has {task[key]}"
    for kind, key in keys.items():
        if key in result["jobs"]:
            found = sum(count for (_, other), count in by_task.items() if other == kind)
            if found != result["jobs"][key]:
                yield f"{found} of kind {kind}, but the result has {result['jobs'][key]}"


def check(path):
    """The findings about one trace."""
    trace = schema.Trace()
    trace.ParseFromString(path.read_bytes())
    yield from (f"unknown field {name}" for name in unknown(trace, "trace"))
    described, threads, by_task = set(), {}, Counter()
    depth, running, instants = Counter(), Counter(), Counter()
    clock = slices = 0
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            described.add(packet.track_descriptor.uuid)
            if packet.track_descriptor.HasField("thread"):
                threads[packet.track_descriptor.uuid] = packet.track_descriptor.thread.thread_name.rpartition(" [")[0]
        if packet.HasField("track_event"):
            event = packet.track_event
            if packet.timestamp < clock:
                yield f"{packet.timestamp} comes after {clock}"
            clock = packet.timestamp
            if event.track_uuid not in described:
                yield f"track {event.track_uuid} is not described"
            if event.type == event.TYPE_SLICE_BEGIN:
                depth[event.track_uuid] += 1
                slices += event.track_uuid in threads
            elif event.type == event.TYPE_SLICE_END:
                depth[event.track_uuid] -= 1
                if depth[event.track_uuid] < 0:
                    yield f"a slice of track {event.track_uuid} ends that never began"
            elif event.type == event.TYPE_INSTANT:
                name = event.name.split(" of ")[0].split(":")[0]
                instants[name] += 1
                by_task[threads.get(event.track_uuid), PAIRS.get(name)] += 1
            elif event.type != event.TYPE_COUNTER:
                yield f"an event of type {event.type}"
        for event in packet.ftrace_events.event:
            cpu, switch = packet.ftrace_events.cpu, event.sched_switch
            if event.timestamp < clock:
                yield f"a switch at {event.timestamp} comes after {clock}"
            clock = event.timestamp
            if running[cpu] != switch.prev_pid:
                yield f"CPU {cpu}: {switch.prev_pid} leaves, but {running[cpu]} ran"
            running[cpu] = switch.next_pid
    yield from (f"track {uuid} has an open slice" for uuid, open_ in depth.items() if open_)
    if not slices:
        yield "no execution at all"
    if (result := path.with_suffix(".json")).exists():
        # Of a native run the records have what was observed and, again, what the scheduler was told.
        yield from against_result(result, by_task)
        return
    expected = records(path.with_suffix(".csv"))
    found = {kind: instants[name] for name, kind in PAIRS.items()} | {"start": slices}
    for kind, count in found.items():
        if count != expected[kind]:
            yield f"{count} of kind {kind}, but the records have {expected[kind]}"


def main():
    """Checks every trace of the directory."""
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*.pftrace"))
    findings = failed = 0
    for path in paths:
        found = list(check(path))
        for finding in found:
            print(f"{path.name}: {finding}")
        findings += len(found)
        failed += bool(found)
    results = len([path for path in paths if path.with_suffix(".json").exists()])
    print(f"perfetto: {len(paths)} traces, {results} of them with a result, {findings} findings")
    print(f"test result: {'FAILED' if failed else 'ok'}. {len(paths) - failed} passed; {failed} failed; 0 ignored")
    return 1 if findings or not paths else 0


sys.exit(main())

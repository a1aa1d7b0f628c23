"""Decodes Perfetto traces with Perfetto's own schema and compares them with the records they were
made from: check_perfetto.py DIRECTORY, which holds NAME.csv and NAME.pftrace for each NAME.

Checked: no unknown field anywhere, balanced slices on described tracks, instants in order, a CPU's
switches consistent, and as many releases, starts, misses, overruns and drops as the records have.
"""

import csv
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


def check(path):
    """The findings about one trace."""
    trace = schema.Trace()
    trace.ParseFromString(path.read_bytes())
    yield from (f"unknown field {name}" for name in unknown(trace, "trace"))
    described, threads = set(), set()
    depth, running, instants = Counter(), Counter(), Counter()
    clock = slices = 0
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            described.add(packet.track_descriptor.uuid)
            if packet.track_descriptor.HasField("thread"):
                threads.add(packet.track_descriptor.uuid)
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
                instants[event.name.split(" of ")[0].split(":")[0]] += 1
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
    expected = records(path.with_suffix(".csv"))
    pairs = {
        "release": "release",
        "deadline missed": "miss",
        "overrun": "overrun",
        "dropped": "drop",
    }
    found = {kind: instants[name] for name, kind in pairs.items()} | {"start": slices}
    for kind, count in found.items():
        if count != expected[kind]:
            yield f"{count} of kind {kind}, but the records have {expected[kind]}"
    if not slices:
        yield "no execution at all"


def main():
    """Checks every trace of the directory."""
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*.pftrace"))
    findings = 0
    for path in paths:
        for finding in check(path):
            print(f"{path.name}: {finding}")
            findings += 1
    print(f"perfetto: {len(paths)} traces, {findings} findings")
    return 1 if findings or not paths else 0


sys.exit(main())

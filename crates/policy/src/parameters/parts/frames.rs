//! `frames`: what runs in each frame, and `barriers`: how long each part of it takes.

use super::{by_name, task_name};
use crate::parameters::read::File;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use vestal_analysis::parameters::{FrameBarriers, FrameMap};
use vestal_core::{CpuId, Duration, Level, LevelSet, TaskId};
use vestal_workload::TaskSet;
use vestal_workload::document::{Fields, Node};
use vestal_workload::quantity::time_text;
use vestal_workload::source::Span;

/// Where a task was placed before.
type Homes = BTreeMap<TaskId, (CpuId, usize)>;

pub(super) fn read(file: &mut File<'_>, node: &Node<'_>) -> Option<FrameMap> {
    let known = ["length", "frames"];
    let fields = Fields::open(node, "frames".to_owned(), &known, &mut file.reader)?;
    let length = file.require(&fields, "length");
    let length = length.and_then(|node| file.reader.positive_time(node, "frames.length"));
    let frames = file.require(&fields, "frames")?;
    let items = file.reader.list(frames, "frames.frames")?;
    if items.is_empty() {
        file.misfit(
            frames.span,
            "frames.frames",
            "no frame",
            "at least one frame",
        );
    }
    let levels = LevelSet::new(file.reader.levels.len())?;
    let mut homes = Homes::new();
    let mut lists = Some(Vec::new());
    for (frame, item) in items.iter().enumerate() {
        let field = format!("frames.frames[{frame}]");
        let read = file.each_level(
            (item, &field),
            levels.count(),
            |file, level, (node, field)| {
                read_sub_frame(file, (node, field), (frame, level), &mut homes)
            },
        );
        lists = lists.zip(read).map(|(mut lists, read)| {
            lists.extend(read.into_iter().flatten());
            lists
        });
    }
    FrameMap::new(
        Duration::from_nanos(length?),
        levels,
        file.set.platform.cpus,
        lists?,
    )
}

/// A list of tasks for each CPU.
fn read_sub_frame(
    file: &mut File<'_>,
    (node, field): (&Node<'_>, &str),
    (frame, level): (usize, Level),
    homes: &mut Homes,
) -> Option<Vec<Vec<TaskId>>> {
    let items = file.reader.list(node, field)?;
    let cpus = usize::from(file.set.platform.cpus);
    if items.len() != cpus {
        let found = format!("{} lists", items.len());
        let expected = format!("a list of tasks for each CPU, which are {cpus}, in their order");
        file.misfit(node.span, field, found, expected);
        return None;
    }
    let mut all = Some(Vec::new());
    for (cpu, item) in (0..).map(CpuId).zip(items) {
        let field = format!("{field}[{}]", cpu.0);
        let names = file.reader.list(item, &field).unwrap_or_default();
        let mut list = Some(Vec::with_capacity(names.len()));
        for name in names {
            let task = file.task(name, &field);
            let task = task.filter(|&task| {
                let at = (name.span, field.as_str());
                is_in_place(file, at, (task, frame, level, cpu), homes)
            });
            list = list.zip(task).map(|(mut list, task)| {
                list.push(task);
                list
            });
        }
        all = all.zip(list).map(|(mut all, list)| {
            all.push(list);
            all
        });
    }
    all
}

/// A task runs in sub-frames of its own criticality, on one CPU, and once in a frame.
fn is_in_place(
    file: &mut File<'_>,
    (span, field): (Span, &str),
    (task, frame, level, cpu): (TaskId, usize, Level, CpuId),
    homes: &mut Homes,
) -> bool {
    let Some(spec) = file.set.tasks.get(task.index()) else {
        return false;
    };
    let before = homes.insert(task, (cpu, frame));
    let level_name = file.set.level_name(spec.criticality);
    let (found, expected) = if spec.criticality != level {
        let found = format!("a task of criticality {level_name}");
        (
            found,
            "a task of the criticality of the sub-frame".to_owned(),
        )
    } else if before.is_some_and(|(home, _)| home != cpu) {
        let found = format!(
            "a task that runs on CPU {} before",
            before.map_or(0, |(cpu, _)| cpu.0)
        );
        (
            found,
            "a task that runs on one CPU in all frames".to_owned(),
        )
    } else if before.is_some_and(|(_, last)| last == frame) {
        let found = "a task that stands in this frame already".to_owned();
        (found, "each task once in a frame".to_owned())
    } else {
        return true;
    };
    file.misfit(span, field, found, expected);
    false
}

pub(super) fn read_barriers(
    file: &mut File<'_>,
    node: &Node<'_>,
    frames: Option<usize>,
) -> Option<FrameBarriers> {
    let items = file.reader.list(node, "barriers")?;
    if frames.is_some_and(|frames| frames != items.len()) || items.is_empty() {
        let found = format!("barriers of {} frames", items.len());
        let expected = match frames {
            Some(frames) => format!("those of each frame of `frames`, which are {frames}"),
            None => "those of at least one frame".to_owned(),
        };
        file.misfit(node.span, "barriers", found, expected);
    }
    let levels = LevelSet::new(file.reader.levels.len())?;
    let mut times = Some(Vec::new());
    for (frame, item) in items.iter().enumerate() {
        let field = format!("barriers[{frame}]");
        let read = file.each_level(
            (item, &field),
            levels.count(),
            |file, level, (node, field)| {
                let own = level.index() + 1;
                let row = file.each_level((node, field), own, |file, _, (node, field)| {
                    file.reader.time(node, field).map(Duration::from_nanos)
                })?;
                if !row.is_sorted() {
                    let expected = "times that never fall from one level to the next";
                    file.misfit(node.span, field, "times that fall", expected);
                    return None;
                }
                let unused =
                    std::iter::repeat_n(Duration::ZERO, levels.count().saturating_sub(own));
                Some(row.into_iter().chain(unused).collect::<Vec<_>>())
            },
        );
        times = times.zip(read).map(|(mut times, read)| {
            times.extend(read.into_iter().flatten());
            times
        });
    }
    FrameBarriers::new(levels, times?)
}

pub(super) fn write(map: &FrameMap, set: &TaskSet) -> Json {
    let list = |frame, level, cpu| {
        let tasks = map.tasks(frame, level, cpu).iter();
        tasks.map(|&task| task_name(task, set)).collect::<Json>()
    };
    let sub_frame = |frame, level| {
        let cpus = (0..map.cpus()).map(CpuId);
        cpus.map(|cpu| list(frame, level, cpu)).collect::<Json>()
    };
    let frame = |frame| {
        let levels = map.levels();
        by_name(
            set.levels.iter(),
            levels.iter().map(|level| sub_frame(frame, level)),
        )
    };
    json!({
        "length": time_text(map.length().as_nanos()),
        "frames": (0..map.frames()).map(frame).collect::<Vec<_>>(),
    })
}

pub(super) fn write_barriers(barriers: &FrameBarriers, set: &TaskSet) -> Json {
    let row = |frame, level: Level| {
        let times = level.up_to_self().map(|confidence| {
            let time = barriers.barrier(frame, level, confidence);
            Json::from(time_text(time.as_nanos()))
        });
        by_name(set.levels.iter(), times)
    };
    let frame = |frame| {
        let levels = barriers.levels();
        by_name(
            set.levels.iter(),
            levels.iter().map(|level| row(frame, level)),
        )
    };
    (0..barriers.frames()).map(frame).collect()
}

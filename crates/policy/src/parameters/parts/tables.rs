//! `tables`: a dispatch table for each CPU.

use super::task_name;
use crate::parameters::read::File;
use serde_json::{Value as Json, json};
use vestal_analysis::parameters::{DispatchTable, SlotFault};
use vestal_core::{Duration, TableSlot};
use vestal_workload::TaskSet;
use vestal_workload::document::{Fields, Node};
use vestal_workload::quantity::time_text;

pub(super) fn read(file: &mut File<'_>, node: &Node<'_>) -> Option<Vec<DispatchTable>> {
    let items = file.reader.list(node, "tables")?;
    let cpus = usize::from(file.set.platform.cpus);
    if items.len() != cpus {
        let found = format!("{} dispatch tables", items.len());
        let expected = format!("one for each CPU, which are {cpus}, in their order");
        file.misfit(node.span, "tables", found, expected);
    }
    // Each of them, so that all that is wrong is said.
    let tables: Vec<Option<DispatchTable>> = items
        .iter()
        .enumerate()
        .map(|(cpu, item)| read_one(file, item, &format!("tables[{cpu}]")))
        .collect();
    tables.into_iter().collect()
}

fn read_one(file: &mut File<'_>, node: &Node<'_>, path: &str) -> Option<DispatchTable> {
    let known = ["cycle", "slots"];
    let fields = Fields::open(node, path.to_owned(), &known, &mut file.reader)?;
    let cycle = file.require(&fields, "cycle");
    let cycle = cycle.and_then(|node| file.reader.time(node, &format!("{path}.cycle")));
    let slots = file.require(&fields, "slots")?;
    let items = file.reader.list(slots, &format!("{path}.slots"))?;
    let slots: Vec<Option<TableSlot>> = items
        .iter()
        .enumerate()
        .map(|(position, item)| read_slot(file, item, &format!("{path}.slots[{position}]")))
        .collect();
    let table = DispatchTable {
        cycle: Duration::from_nanos(cycle?),
        slots: slots.into_iter().collect::<Option<_>>()?,
    };
    let Some((position, fault)) = table.fault() else {
        return Some(table);
    };
    let (slot, item) = (table.slots.get(position)?, items.get(position)?);
    let end = slot.start.saturating_add(slot.length);
    let [start, end, cycle] = [slot.start, end, table.cycle].map(|time| time_text(time.as_nanos()));
    let expected = match fault {
        SlotFault::Empty => "a slot with a length above zero".to_owned(),
        SlotFault::Overlaps => "a slot that begins when the one before it has ended".to_owned(),
        SlotFault::BeyondCycle => format!("a slot within the cycle of {cycle}"),
    };
    let found = format!("a slot from {start} to {end}");
    file.misfit(
        item.span,
        &format!("{path}.slots[{position}]"),
        found,
        expected,
    );
    None
}

fn read_slot(file: &mut File<'_>, node: &Node<'_>, path: &str) -> Option<TableSlot> {
    let known = ["start", "length", "task"];
    let fields = Fields::open(node, path.to_owned(), &known, &mut file.reader)?;
    let time = |file: &mut File<'_>, key: &str| {
        let node = file.require(&fields, key)?;
        let nanos = file.reader.time(node, &format!("{path}.{key}"));
        nanos.map(Duration::from_nanos)
    };
    let (start, length) = (time(file, "start"), time(file, "length"));
    let task = file.require(&fields, "task");
    let task = task.and_then(|node| file.task(node, &format!("{path}.task")));
    Some(TableSlot {
        start: start?,
        length: length?,
        task: task?,
    })
}

pub(super) fn write(tables: &[DispatchTable], set: &TaskSet) -> Json {
    let slot = |slot: &TableSlot| {
        json!({
            "start": time_text(slot.start.as_nanos()),
            "length": time_text(slot.length.as_nanos()),
            "task": task_name(slot.task, set),
        })
    };
    let table = |table: &DispatchTable| {
        json!({
            "cycle": time_text(table.cycle.as_nanos()),
            "slots": table.slots.iter().map(slot).collect::<Vec<_>>(),
        })
    };
    tables.iter().map(table).collect()
}

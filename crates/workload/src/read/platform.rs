//! `[platform]`.

use super::fields::{Fields, Reader};
use super::keys;
use crate::codes;
use crate::model::{Arbitration, Bus, CPUS_MAX, Platform};
use crate::source::Place;
use crate::tree::Node;
use vestal_core::Duration;

const NO_PLATFORM: Platform = Platform {
    cpus: 1,
    tick: None,
    interrupt_master: None,
    bus: None,
    place: Place(crate::source::Span::new(0, 0)),
};

pub(super) fn platform(top: &Fields<'_>, reader: &mut Reader<'_>) -> Platform {
    let Some(node) = top.get("platform") else {
        return NO_PLATFORM;
    };
    let Some(fields) = Fields::open(node, "platform".to_owned(), keys::PLATFORM, reader) else {
        return NO_PLATFORM;
    };
    let cpus = fields
        .get("cpus")
        .and_then(|node| reader.whole(node, "platform.cpus", 1, u64::from(CPUS_MAX)))
        .and_then(|cpus| u16::try_from(cpus).ok());
    let tick = fields
        .get("tick")
        .and_then(|node| reader.positive_time(node, "platform.tick"));
    let known = cpus.unwrap_or(if fields.has("cpus") { CPUS_MAX } else { 1 });
    let interrupt_master = fields
        .get("interrupt_master")
        .and_then(|node| cpu(node, "platform.interrupt_master", known, reader));
    let bus = fields.get("bus").and_then(|node| bus(node, reader));
    Platform {
        cpus: known,
        tick: tick.map(Duration::from_nanos),
        interrupt_master,
        bus,
        place: Place(node.span),
    }
}

fn bus(node: &Node, reader: &mut Reader<'_>) -> Option<Bus> {
    let fields = Fields::open(node, "platform.bus".to_owned(), keys::BUS, reader)?;
    let words = [
        ("round-robin", Arbitration::RoundRobin),
        ("fcfs", Arbitration::Fcfs),
    ];
    let arbitration = fields
        .require("arbitration", "arbitration = \"round-robin\"", reader)
        .and_then(|node| reader.word(node, "platform.bus.arbitration", &words));
    let access = fields
        .require("access", "access = \"50ns\"", reader)
        .and_then(|node| reader.positive_time(node, "platform.bus.access"));
    Some(Bus {
        arbitration: arbitration?,
        access: Duration::from_nanos(access?),
    })
}

/// The number of a CPU that the platform has.
pub(super) fn cpu(node: &Node, field: &str, cpus: u16, reader: &mut Reader<'_>) -> Option<u16> {
    let number = reader.whole(node, field, 0, u64::from(u16::MAX))?;
    let number = u16::try_from(number).ok()?;
    if number < cpus {
        return Some(number);
    }
    reader.sink.error(
        codes::NO_SUCH_CPU,
        node.span,
        field,
        format!("CPU {number}"),
        format!("a CPU from 0 to {}", cpus.saturating_sub(1)),
        "CPUs count from 0; raise `platform.cpus` (1 if the file does not say), or choose another CPU",
    );
    None
}

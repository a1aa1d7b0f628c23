//! `[[device]]`.

use super::{DeviceArrival, DeviceKind, DeviceSpec};
use crate::codes;
use crate::diagnostic::quote;
use crate::table::fields::{Fields, Reader};
use crate::table::kinds::{Count, Name, PositiveTime, Reference, Word, Words, words};
use crate::table::names::AServer;
use crate::table::{Table, table};
use vestal_core::{Duration, Service};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrives {
    Requested,
    Periodic,
    Sporadic,
    Burst,
}

words! {
    Arrives "DeviceArrivalWord" {
        Requested "requested", Periodic "periodic", Sporadic "sporadic", Burst "burst"
    }
}

table! {
    pub(crate) struct DeviceTable {
        /// The name, unique among the devices.
        name: String = Name, required "name = \"camera\"";
        /// The server in which its bottom half runs.
        server: usize = Reference<AServer>, required "server = \"camera-bh\"";
        /// The execution time of one bottom half.
        cost: Service = PositiveTime, required "cost = \"1ms\"";
        /// When its events arrive; default: requested.
        arrival: Option<Arrives> = Words<Arrives>, optional;
        /// The period or minimum inter-arrival time of the events; not with requested; default: required otherwise.
        period: Option<Duration> = PositiveTime, optional;
        /// How many events at once; only with burst; default: required there.
        burst: Option<u64> = Count<1>, optional;
        /// What its events come by in a real run; default: what `--device` says.
        real: Option<DeviceKind> = Words<DeviceKind>, optional;
    }
}

impl Table for DeviceTable {
    type Spec = DeviceSpec;

    fn resolve(self, fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<DeviceSpec> {
        let arrival = if fields.has("arrival") {
            self.arrival?
        } else {
            Arrives::Requested
        };
        only_its_own_keys(arrival, fields, reader);
        if arrival != Arrives::Requested {
            fields.require("period", "period = \"10ms\"", reader);
        }
        if arrival == Arrives::Burst {
            fields.require("burst", "burst = 4", reader);
        }
        let arrival = match arrival {
            Arrives::Requested => DeviceArrival::Requested,
            Arrives::Periodic => DeviceArrival::Periodic {
                period: self.period?,
            },
            Arrives::Sporadic => DeviceArrival::Sporadic {
                period: self.period?,
            },
            Arrives::Burst => DeviceArrival::Burst {
                period: self.period?,
                burst: self.burst?,
            },
        };
        Some(DeviceSpec {
            name: self.name?,
            server: self.server?,
            cost: self.cost?,
            arrival,
            real: self.real,
            place: fields.name_place(),
        })
    }

    fn of(spec: &DeviceSpec) -> Self {
        let (arrival, period, burst) = match spec.arrival {
            DeviceArrival::Requested => (Arrives::Requested, None, None),
            DeviceArrival::Periodic { period } => (Arrives::Periodic, Some(period), None),
            DeviceArrival::Sporadic { period } => (Arrives::Sporadic, Some(period), None),
            DeviceArrival::Burst { period, burst } => (Arrives::Burst, Some(period), Some(burst)),
        };
        Self {
            name: Some(spec.name.clone()),
            server: Some(spec.server),
            cost: Some(spec.cost),
            arrival: Some(arrival),
            period,
            burst,
            real: spec.real,
        }
    }
}

fn only_its_own_keys(arrival: Arrives, fields: &Fields<'_>, reader: &mut Reader<'_>) {
    for (key, allowed) in [
        ("period", arrival != Arrives::Requested),
        ("burst", arrival == Arrives::Burst),
    ] {
        if let (Some(entry), false) = (fields.entry(key), allowed) {
            reader.error(
                codes::CONFLICT,
                (entry.key_span, fields.field(key)),
                format!("{} with arrival {}", quote(key), quote(arrival.word())),
                "only keys that this kind of arrival has",
                "remove it, or choose arrival `periodic`, `sporadic` (both with `period`) or `burst` (with `period` and `burst`)",
            );
        }
    }
}

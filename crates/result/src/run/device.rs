//! What became of the events of devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of the events of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceRow {
    /// Its name.
    pub name: String,
    /// Events that arrived.
    pub arrived: u64,
    /// Events that were handled.
    pub served: u64,
    /// Events that waited when the run ended.
    pub queued: u64,
    /// Events for which there was no room.
    pub dropped: u64,
    /// What it was in a real run; null of a simulated one, as all that follows.
    #[serde(default)]
    pub kind: Option<String>,
    /// Events that were sent to it, those for which there was no room included.
    #[serde(default)]
    pub sent: Option<u64>,
    /// Those of the dropped ones that the kernel dropped, and all others.
    #[serde(default)]
    pub dropped_by: Option<DroppedEvents>,
    /// By how many more were sent than were served, are queued or were dropped; 0 if all is accounted for.
    #[serde(default)]
    pub unaccounted: Option<i64>,
    /// How often the top half found it ready.
    #[serde(default)]
    pub wakes: Option<u64>,
    /// How often of these it was masked, and should not have been found.
    #[serde(default)]
    pub spurious: Option<u64>,
}

/// Who dropped events of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DroppedEvents {
    /// The kernel, on their way to who reads.
    pub kernel: u64,
    /// The run: who sent found no room, or the bottom half that had taken one was cancelled.
    pub vestal: u64,
}

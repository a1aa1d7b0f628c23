//! Which fields a file gives, so that commands can say what they make of each.

use crate::model::{TaskSet, TaskTable};
use crate::source::Place;
use crate::table::{Keys, Need};

/// A field that a file gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenField {
    /// How many entries of the file give it.
    pub count: usize,
    /// The name of the first entry that does; empty for the platform.
    pub first: String,
    /// Where the first one stands.
    pub place: Place,
}

impl TaskSet {
    /// The keys that a task may have and need not, named as in [`TaskSet::given_field`].
    pub fn optional_fields() -> impl Iterator<Item = String> {
        let optional = TaskTable::KEYS
            .iter()
            .filter(|key| matches!(key.need, Need::Optional));
        optional.map(|key| format!("task.{}", key.name))
    }

    /// How often the file gives a field, named as in diagnostics: `task.offset`, `platform.cpus` (counts from
    /// two on), `server`, `device`, or `task.wcet above the own level`. `None` if it does not.
    #[must_use]
    pub fn given_field(&self, field: &str) -> Option<GivenField> {
        let platform = &self.platform;
        let one = |given: bool| counted(given.then(|| (String::new(), platform.place)).into_iter());
        match field {
            "task.wcet above the own level" => counted(self.tasks.iter().filter_map(|task| {
                let mut above = task.wcet.iter().skip(task.criticality.index() + 1);
                let given = above.any(Option::is_some);
                given.then(|| (task.name.clone(), task.places.wcet))
            })),
            "platform.cpus" => one(platform.cpus > 1),
            "platform.tick" => one(platform.tick.is_some()),
            "platform.interrupt_master" => one(platform.interrupt_master.is_some()),
            "platform.bus" => one(platform.bus.is_some()),
            "server" => counted(
                self.servers
                    .iter()
                    .map(|server| (server.name.clone(), server.place)),
            ),
            "device" => counted(
                self.devices
                    .iter()
                    .map(|device| (device.name.clone(), device.place)),
            ),
            _ => {
                let key = field.strip_prefix("task.")?;
                counted(self.tasks.iter().filter_map(|task| {
                    let place = task.places.keys.iter().find(|(known, _)| *known == key)?.1;
                    Some((task.name.clone(), place))
                }))
            }
        }
    }
}

fn counted(given: impl Iterator<Item = (String, Place)>) -> Option<GivenField> {
    let mut given = given.peekable();
    let (first, place) = given.peek()?.clone();
    Some(GivenField {
        count: given.count(),
        first,
        place,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::PRELUDE;

    #[test]
    fn what_a_file_gives_is_counted() {
        let part = "[platform]\ncpus = 2\n\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\noffset = 3\n\
                    wcet = { LO = 1, HI = 2 }\n\n[[task]]\nname = \"b\"\ncriticality = \"LO\"\nperiod = 10\n\
                    offset = 4\nwcet = { LO = 1 }\n";
        let set = TaskSet::parse("a", &format!("{PRELUDE}{part}")).unwrap();
        let given = |field| {
            set.given_field(field)
                .map(|given| (given.count, given.first))
        };
        assert_eq!(given("task.offset"), Some((2, "a".to_owned())));
        assert_eq!(
            given("task.wcet above the own level"),
            Some((1, "a".to_owned()))
        );
        assert_eq!(given("platform.cpus"), Some((1, String::new())));
        for none in [
            "task.priority",
            "platform.tick",
            "server",
            "device",
            "task.no such field",
        ] {
            assert_eq!(given(none), None, "{none}");
        }
    }
}

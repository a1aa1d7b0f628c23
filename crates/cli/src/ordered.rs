//! Objects of JSON whose keys keep their order: levels from the lowest, tasks as in the file.

use serde::{Serialize, Serializer};

/// Keys with their values, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ordered<T>(pub(crate) Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order() {
        let levels = Ordered(vec![("LO".to_owned(), Some(1)), ("HI".to_owned(), None)]);
        assert_eq!(
            serde_json::to_string(&levels).unwrap(),
            r#"{"LO":1,"HI":null}"#
        );
    }
}

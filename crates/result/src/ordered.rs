//! Objects of JSON whose keys keep their order: levels from the lowest, tasks as in the file.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Keys with their values, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Ordered<T> {
    /// The value of a key; O(n).
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&T> {
        let mut pairs = self.0.iter();
        let pair = pairs.find(|(known, _)| known == key);
        pair.map(|(_, value)| value)
    }
}

impl<K: Into<String>, T> FromIterator<(K, T)> for Ordered<T> {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter();
        Self(pairs.map(|(key, value)| (key.into(), value)).collect())
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Ordered<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Ordered_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_both_ways() {
        let text = r#"{"D":1,"C":2,"B":null,"A":4}"#;
        let levels: Ordered<Option<u64>> = serde_json::from_str(text).unwrap();
        let names: Vec<&str> = levels.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["D", "C", "B", "A"]);
        assert_eq!(levels.get("B"), Some(&None));
        assert_eq!(levels.get("E"), None);
        assert_eq!(serde_json::to_string(&levels).unwrap(), text);
        assert!(serde_json::from_str::<Ordered<u64>>("[1]").is_err());
    }
}

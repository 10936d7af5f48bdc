//! JSON values with a bound on their size in memory.
//!
//! A value takes up to a hundred times as much memory as its text: `[{"":0},{"":0}]`. Therefore the parser counts the
//! memory of the values that it builds, and it checks unknown fields without building their values.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// Maximum memory of the values of a line, in bytes. A game of 100,000 moves takes a tenth of this.
pub(super) const MAX_VALUES_BYTES: usize = 256 << 20;

/// Approximate sizes in memory, in bytes: here of a value in a list or of a text, below of an object with one entry.
const VALUE: usize = 2 * size_of::<Value>();
const OBJECT: usize = 12 * (size_of::<Value>() + size_of::<String>());

/// Memory that values may take.
struct Budget {
    /// Memory that is left, in bytes.
    rest: Cell<usize>,
    most: usize,
}

impl Budget {
    const fn new(most: usize) -> Budget {
        Budget { rest: Cell::new(most), most }
    }

    fn spend<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let too_much = || E::custom(format!("the values take more than {} MiB of memory", self.most >> 20));
        self.rest.set(self.rest.get().checked_sub(bytes).ok_or_else(too_much)?);
        Ok(())
    }
}

/// Reads a value of a bounded size.
///
/// # Errors
///
/// Returns an error if the text is not JSON, or if the value takes too much memory.
pub(super) fn value(text: &str) -> serde_json::Result<Value> {
    read(text, BoundedValue(&Budget::new(MAX_VALUES_BYTES)))
}

/// Reads an object. Builds only the values of the fields for which `is_known` is true.
///
/// # Errors
///
/// Returns an error if the text is not a JSON object, or if the values take too much memory.
pub(super) fn fields(text: &str, is_known: impl Fn(&str) -> bool) -> serde_json::Result<Fields> {
    let budget = Budget::new(MAX_VALUES_BYTES);
    read(text, KnownFields { budget: &budget, is_known })
}

/// Object without the values of its unknown fields.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) known: Map<String, Value>,
    /// Names of unknown fields, at most [`MAX_UNKNOWN_FIELDS`], in the order of the text.
    pub(super) unknown: Vec<String>,
    /// Number of further unknown fields.
    pub(super) more_unknown: usize,
}

/// Maximum number of unknown fields that are named.
pub(super) const MAX_UNKNOWN_FIELDS: usize = 20;

fn read<'t, S: DeserializeSeed<'t>>(text: &'t str, seed: S) -> serde_json::Result<S::Value> {
    let mut input = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut input)?;
    input.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct BoundedValue<'b>(&'b Budget);

impl<'d> DeserializeSeed<'d> for BoundedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'d>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'d> Visitor<'d> for BoundedValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.0.spend(VALUE + text.len())?;
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut list: A) -> Result<Value, A::Error> {
        self.0.spend(VALUE)?;
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self)? {
            self.0.spend(VALUE)?;
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'d>>(self, mut object: A) -> Result<Value, A::Error> {
        self.0.spend(OBJECT)?;
        let mut values = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            self.0.spend(2 * VALUE + key.len())?;
            let value = object.next_value_seed(self)?;
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}

struct KnownFields<'b, F> {
    budget: &'b Budget,
    is_known: F,
}

impl<'d, F: Fn(&str) -> bool> DeserializeSeed<'d> for KnownFields<'_, F> {
    type Value = Fields;

    fn deserialize<D: Deserializer<'d>>(self, input: D) -> Result<Fields, D::Error> {
        input.deserialize_map(self)
    }
}

impl<'d, F: Fn(&str) -> bool> Visitor<'d> for KnownFields<'_, F> {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut object: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = object.next_key::<String>()? {
            if (self.is_known)(&key) {
                let value = object.next_value_seed(BoundedValue(self.budget))?;
                fields.known.insert(key, value);
                continue;
            }
            object.next_value::<IgnoredAny>()?;
            if fields.unknown.contains(&key) {
                continue;
            }
            if fields.unknown.len() < MAX_UNKNOWN_FIELDS {
                fields.unknown.push(key);
            } else {
                fields.more_unknown += 1;
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_usual_parser() {
        for text in [
            "null",
            "-1",
            "18446744073709551615",
            "1.5e3",
            "\"\\u00e9\\n\"",
            "[]",
            "{}",
            r#"{"b":[true,{"a":null,"a":2}],"a":"x"}"#,
            "[1,]",
            "1 2",
            "",
            "{\"a\":1e999}",
        ] {
            let usual = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
            assert_eq!(value(text).map_err(|error| error.to_string()), usual, "{text}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let most = 4 << 20;
        let bounded = |piece: &str, bytes: usize| {
            let text = format!("[{}0]", piece.repeat(bytes / piece.len()));
            read(&text, BoundedValue(&Budget::new(most)))
        };
        for piece in ["0,", "[],", "\"\",", "{},", "{\"\":0},", "[[[[0]]]],"] {
            assert!(bounded(piece, most / 500).is_ok(), "{piece}");
            let error = bounded(piece, most / 10).unwrap_err().to_string();
            assert!(error.starts_with("the values take more than 4 MiB"), "{piece}: {error}");
        }
    }

    #[test]
    fn unknown_fields_are_not_built() {
        let text = format!(r#"{{"id":[1],"x":[{}0],"id":2,"x":0,"y":0}}"#, "{\"\":0},".repeat(500_000));
        let found = fields(&text, |name| name == "id").unwrap();
        assert_eq!(found.known["id"], 2);
        assert_eq!(found.unknown, ["x", "y"]);
        let text: Vec<_> = (0..30_000).map(|number| format!("\"{number}\":[]")).collect();
        let found = fields(&format!("{{{}}}", text.join(",")), |_| false).unwrap();
        assert_eq!(
            (found.unknown.len(), found.more_unknown),
            (MAX_UNKNOWN_FIELDS, 30_000 - MAX_UNKNOWN_FIELDS)
        );
        assert!(fields("[]", |_| true).is_err() && fields("{\"a\":[}", |_| false).is_err());
    }
}

//! As much of JSON Schema as our schemas use: enough to hold output against them, and an unknown keyword is an error.

use serde_json::{Map, Value};

/// Keywords that say nothing about validity.
const ANNOTATIONS: [&str; 7] = [
    "$schema",
    "title",
    "description",
    "default",
    "format",
    "$defs",
    "examples",
];

/// Whether `value` is what `schema` says; the error names the place.
pub(crate) fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    Validator { root: schema }.check(schema, value, "$")
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let Value::Object(schema) = schema else {
            return if schema == &Value::Bool(true) {
                Ok(())
            } else {
                Err(format!("{at}: not allowed"))
            };
        };
        schema
            .iter()
            .try_for_each(|(keyword, rule)| self.keyword(schema, keyword, rule, value, at))
    }

    fn keyword(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
        at: &str,
    ) -> Result<(), String> {
        let fail = |why: &str| Err(format!("{at}: {why}: {value}"));
        match keyword {
            _ if ANNOTATIONS.contains(&keyword) => Ok(()),
            "$ref" => {
                let pointer = rule
                    .as_str()
                    .and_then(|rule| rule.strip_prefix('#'))
                    .ok_or("a $ref to another file")?;
                self.check(
                    self.root
                        .pointer(pointer)
                        .ok_or_else(|| format!("no {pointer}"))?,
                    value,
                    at,
                )
            }
            "type" => {
                let names: Vec<_> = rule
                    .as_array()
                    .map_or_else(|| vec![rule], |names| names.iter().collect());
                if names.iter().any(|name| is(name.as_str().unwrap(), value)) {
                    Ok(())
                } else {
                    fail(&format!("not {rule}"))
                }
            }
            "enum" => {
                if rule.as_array().unwrap().contains(value) {
                    Ok(())
                } else {
                    fail(&format!("not one of {rule}"))
                }
            }
            "const" => {
                if rule == value {
                    Ok(())
                } else {
                    fail(&format!("not {rule}"))
                }
            }
            "minimum" => {
                if value.as_f64() >= rule.as_f64() || !value.is_number() {
                    Ok(())
                } else {
                    fail("too small")
                }
            }
            "maximum" => {
                if value.as_f64() <= rule.as_f64() || !value.is_number() {
                    Ok(())
                } else {
                    fail("too large")
                }
            }
            "minItems" | "maxItems" => {
                let (count, limit) = (
                    value.as_array().map_or(0, Vec::len) as u64,
                    rule.as_u64().unwrap(),
                );
                if (keyword == "minItems" && count >= limit)
                    || (keyword == "maxItems" && count <= limit)
                {
                    Ok(())
                } else {
                    fail(keyword)
                }
            }
            "required" => {
                let missing = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|name| value.get(name.as_str().unwrap()).is_none());
                missing.map_or(Ok(()), |name| Err(format!("{at}: {name} is missing")))
            }
            "anyOf" | "oneOf" => {
                let holds = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|rule| self.check(rule, value, at).is_ok())
                    .count();
                if holds == 1 || (keyword == "anyOf" && holds > 1) {
                    Ok(())
                } else {
                    fail(&format!("{holds} of {keyword} hold"))
                }
            }
            "allOf" => rule
                .as_array()
                .unwrap()
                .iter()
                .try_for_each(|rule| self.check(rule, value, at)),
            "items" => value
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
                .try_for_each(|(index, item)| self.check(rule, item, &format!("{at}[{index}]"))),
            "properties" => rule
                .as_object()
                .unwrap()
                .iter()
                .try_for_each(|(name, rule)| {
                    value.get(name).map_or(Ok(()), |value| {
                        self.check(rule, value, &format!("{at}.{name}"))
                    })
                }),
            // The patterns of our schemas are those of numbers as keys.
            "patternProperties" => rule.as_object().unwrap().values().try_for_each(|rule| {
                value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .try_for_each(|(name, value)| {
                        let digits = name.bytes().all(|digit| digit.is_ascii_digit());
                        if digits {
                            self.check(rule, value, &format!("{at}.{name}"))
                        } else {
                            Err(format!("{at}.{name}: not a number"))
                        }
                    })
            }),
            "additionalProperties" if schema.contains_key("patternProperties") => Ok(()),
            "additionalProperties" => {
                value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .try_for_each(|(name, value)| {
                        let known = schema
                            .get("properties")
                            .is_some_and(|properties| properties.get(name).is_some());
                        if known {
                            Ok(())
                        } else {
                            self.check(rule, value, &format!("{at}.{name}"))
                        }
                    })
            }
            _ => Err(format!("{at}: the validator does not know {keyword}")),
        }
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

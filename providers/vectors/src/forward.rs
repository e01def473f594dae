//! What a payload type takes from senders that change their minds.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Change `good` in one place after another, as senders do without notice: add a member to each object, and put
/// another text in place of each. All of it must decode. Then leave out one member after another.
///
/// Returns the paths of the members that must be there, in alphabetical order, the items of lists under `[]`.
///
/// # Panics
///
/// If `good` does not decode, or not after a change that senders make.
pub fn must_have<T: DeserializeOwned>(good: &Value) -> Vec<String> {
    let decodes = |value: &Value| {
        // By way of text: what decodes from a tree need not decode from bytes.
        serde_json::from_str::<T>(&value.to_string()).map(drop)
    };
    decodes(good).unwrap_or_else(|error| panic!("{error}: {good}"));
    for pointer in pointers(good) {
        let mut changed = good.clone();
        match changed.pointer_mut(&pointer).expect("a value") {
            Value::Object(members) => {
                // One like those that are there: an object may be a map.
                let Some(like) = members.values().next().cloned() else {
                    continue;
                };
                members.insert("of tomorrow".to_owned(), like);
            }
            Value::String(text) => "of tomorrow".clone_into(text),
            _ => continue,
        }
        decodes(&changed).unwrap_or_else(|error| panic!("changed at {pointer}: {error}"));
    }
    let mut needed: Vec<String> = pointers(good)
        .into_iter()
        .filter(|pointer| {
            let mut without = good.clone();
            remove(&mut without, pointer) && decodes(&without).is_err()
        })
        .map(|pointer| {
            let steps = pointer.split('/').skip(1);
            let steps = steps.map(|step| {
                if step.parse::<usize>().is_ok() {
                    "[]"
                } else {
                    step
                }
            });
            steps.collect::<Vec<_>>().join(".")
        })
        .collect();
    needed.sort();
    needed.dedup();
    needed
}

/// Remove the member of an object. `false` if the pointer is to something else.
fn remove(value: &mut Value, pointer: &str) -> bool {
    let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => members.remove(name).is_some(),
        _ => false,
    }
}

/// Pointers (RFC 6901) to `value` and all within it. Names that need escapes are left out.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut at = 0;
    while let Some(pointer) = found.get(at).cloned() {
        match value.pointer(&pointer) {
            Some(Value::Object(members)) => {
                let names = members.keys().filter(|name| !name.contains(['/', '~']));
                found.extend(names.map(|name| format!("{pointer}/{name}")));
            }
            Some(Value::Array(items)) => {
                found.extend((0..items.len()).map(|item| format!("{pointer}/{item}")));
            }
            _ => {}
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only decoded")]
    struct Open {
        id: String,
        note: Option<String>,
        items: Vec<Item>,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only decoded")]
    struct Item {
        amount: i64,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only decoded")]
    struct Closed {
        id: String,
    }

    #[derive(Deserialize)]
    enum Kind {
        #[serde(rename = "a")]
        A,
    }

    #[test]
    fn members_that_must_be_there_are_named() {
        let value = json!({"id": "1", "note": "x", "items": [{"amount": 1}, {"amount": 2}]});
        assert_eq!(
            must_have::<Open>(&value),
            ["id", "items", "items.[].amount"]
        );
    }

    #[test]
    #[should_panic(expected = "changed at : unknown field `of tomorrow`")]
    fn a_type_that_refuses_new_members_is_caught() {
        must_have::<Closed>(&json!({"id": "1"}));
    }

    #[test]
    #[should_panic(expected = "changed at : unknown variant")]
    fn a_type_that_refuses_new_texts_is_caught() {
        must_have::<Kind>(&json!("a"));
    }
}

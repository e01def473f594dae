//! A map that forgets what was not asked for lately.

use std::collections::HashMap;
use std::sync::Arc;

/// The `most` entries used last, and at most as many others.
///
/// Two generations instead of a list of uses: when the young one is full it becomes the old one, and what
/// was old is forgotten.
#[derive(Debug)]
pub(super) struct Recent<V> {
    young: HashMap<Arc<str>, V>,
    old: HashMap<Arc<str>, V>,
    most: usize,
}

impl<V> Recent<V> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            most,
        }
    }

    pub(super) fn get(&mut self, name: &str) -> Option<&mut V> {
        if let Some((name, value)) = self.old.remove_entry(name) {
            self.insert(name, value);
        }
        self.young.get_mut(name)
    }

    pub(super) fn insert(&mut self, name: Arc<str>, value: V) {
        self.old.remove(&name);
        if self.young.len() >= self.most && !self.young.contains_key(&name) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(name, value);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.young.remove(name);
        self.old.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_what_is_used_and_stays_within_its_bound() {
        let mut map = Recent::new(8);
        map.insert("kept".into(), 0);
        for number in 1..1000 {
            map.insert(format!("{number}").into(), number);
            assert_eq!(map.get("kept"), Some(&mut 0));
            assert!(map.young.len() + map.old.len() <= 16);
        }
        assert_eq!(map.get("1"), None);
        assert_eq!(map.get("999"), Some(&mut 999));
        map.remove("999");
        assert_eq!(map.get("999"), None);
    }

    #[test]
    fn a_new_value_replaces_an_old_one() {
        let mut map = Recent::new(1);
        map.insert("a".into(), 1);
        map.insert("b".into(), 2);
        map.insert("a".into(), 3);
        assert_eq!(map.get("a"), Some(&mut 3));
    }
}

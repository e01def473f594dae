//! The keyring in use, and what a change of its files must go through.

use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};

use webhook_core::{KeyInfo, Keyring, SecretFormat};

use super::{Cause, KeysError, Listing};

/// A keyring made of settings. Read for every delivery, replaced rarely.
#[derive(Debug)]
pub(crate) struct Listed {
    current: RwLock<Arc<Keyring>>,
    format: SecretFormat,
    /// What is read again; none where nothing can change.
    listing: Option<Listing>,
    /// A change that was read once.
    once: Mutex<Option<Keyring>>,
}

/// How sure one must be that a file is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Somebody says so.
    Said,
    /// It was read twice alike.
    Twice,
}

impl Listed {
    pub(super) fn new(listing: Listing, format: SecretFormat) -> Result<Self, KeysError> {
        let ring = listing.read(format)?;
        Ok(Self {
            current: RwLock::new(Arc::new(ring)),
            format,
            listing: listing.may_change().then_some(listing),
            once: Mutex::new(None),
        })
    }

    /// The keyring in use.
    pub(crate) fn current(&self) -> Arc<Keyring> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Read the files again, which blocks. A keyring that is to replace the one in use, if there is one.
    pub(super) fn changed(&self, proof: Proof) -> Result<Option<Keyring>, KeysError> {
        let Some(listing) = &self.listing else {
            return Ok(None);
        };
        let mut once = match self.once.try_lock() {
            Ok(once) => once,
            Err(TryLockError::Poisoned(once)) => once.into_inner(),
            // A mount that hangs costs one thread, not one a round.
            Err(TryLockError::WouldBlock) => return Err(Cause::Hangs.at(listing.to_string())),
        };
        let before = once.take();
        let read = listing.read(self.format)?;
        if are_equal(&read, &self.current()) {
            return Ok(None);
        }
        let is_sure =
            proof == Proof::Said || before.is_some_and(|before| are_equal(&before, &read));
        *once = Some(read.clone());
        Ok(is_sure.then_some(read))
    }

    /// Use `ring` from now on. The one before.
    pub(super) fn adopt(&self, ring: Keyring) -> Arc<Keyring> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, Arc::new(ring))
    }

    /// Whether there is anything to read again.
    pub(super) fn may_change(&self) -> bool {
        self.listing.is_some()
    }

    /// What its settings are called.
    pub(super) fn setting(&self) -> String {
        self.listing
            .as_ref()
            .map_or_else(|| "keys".to_owned(), ToString::to_string)
    }
}

fn are_equal(one: &Keyring, other: &Keyring) -> bool {
    one.infos().eq(other.infos())
}

/// The keys of `one` that `other` has not.
pub(super) fn gone(one: &Keyring, other: &Keyring) -> Vec<KeyInfo> {
    let is_gone = |key: &KeyInfo| {
        let mut others = other.fingerprints();
        !others.any(|fingerprint| fingerprint == key.fingerprint)
    };
    one.infos().filter(is_gone).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{KeyStore, Keys, tests::Dir};
    use super::*;

    const TEXT: SecretFormat = SecretFormat::Text { prefix: "" };
    const ONE: &str = "0123456789abcdef-one";
    const TWO: &str = "0123456789abcdef-two";

    fn listed(keys: Keys) -> Arc<Listed> {
        match keys.load("here", TEXT).unwrap() {
            KeyStore::Listed(listed) => listed,
            KeyStore::Source(_) => panic!("no source"),
        }
    }

    #[test]
    fn e8_a_change_counts_when_it_was_read_twice_alike() {
        let dir = Dir::new("twice");
        dir.write("key", ONE);
        let listed = listed(Keys::file(dir.path("key")));
        let changed = || listed.changed(Proof::Twice).unwrap().is_some();
        assert!(!changed());
        // Half written: a good secret by itself.
        dir.write("key", &TWO[..12]);
        assert!(!changed());
        dir.write("key", TWO);
        assert!(!changed(), "read once");
        assert!(changed(), "read twice");
        assert!(changed(), "and still not in use");
    }

    #[test]
    fn e8_a_change_undone_is_none() {
        let dir = Dir::new("undone");
        dir.write("key", ONE);
        let listed = listed(Keys::file(dir.path("key")));
        let changed = || listed.changed(Proof::Twice).unwrap().is_some();
        for _ in 0..3 {
            dir.write("key", TWO);
            assert!(!changed());
            dir.write("key", ONE);
            assert!(!changed());
        }
    }

    #[test]
    fn e8_what_cannot_be_used_leaves_the_last_good_keys() {
        let dir = Dir::new("bad");
        dir.write("key", ONE);
        let listed = listed(Keys::file(dir.path("key")));
        let good = listed.current();
        for bad in ["", "short", "two\nlines-of-text", " 0123456789abcdef"] {
            dir.write("key", bad);
            for proof in [Proof::Said, Proof::Twice, Proof::Twice] {
                let told = listed.changed(proof).unwrap_err().to_string();
                assert!(
                    told.starts_with("file ") && !told.contains("lines"),
                    "{told}"
                );
            }
        }
        dir.remove("key");
        assert!(listed.changed(Proof::Twice).is_err());
        assert!(Arc::ptr_eq(&good, &listed.current()));
        // A fault between two readings: not twice in a row.
        dir.write("key", TWO);
        assert!(listed.changed(Proof::Twice).unwrap().is_none());
        dir.remove("key");
        assert!(listed.changed(Proof::Twice).is_err());
        dir.write("key", TWO);
        assert!(listed.changed(Proof::Twice).unwrap().is_none());
        assert!(listed.changed(Proof::Twice).unwrap().is_some());
    }

    #[test]
    fn an_end_and_an_order_are_changes_too() {
        let dir = Dir::new("end");
        dir.write("a", ONE);
        dir.write("b", TWO);
        let listed = listed(Keys::directory(dir.path("")));
        assert!(listed.changed(Proof::Said).unwrap().is_none());
        dir.write("b.retire_at", "1750000000");
        let ring = listed.changed(Proof::Said).unwrap().unwrap();
        assert!(gone(&listed.current(), &ring).is_empty());
        let before = listed.adopt(ring);
        assert_eq!(before.infos().next().unwrap().name(), "b");
        assert_eq!(listed.current().infos().next().unwrap().name(), "a");
        assert!(listed.changed(Proof::Said).unwrap().is_none());
        dir.remove("b.retire_at");
        dir.remove("b");
        let ring = listed.changed(Proof::Said).unwrap().unwrap();
        let gone = gone(&listed.current(), &ring);
        assert_eq!(gone.iter().map(KeyInfo::name).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn what_cannot_change_is_not_read_again() {
        let listed = listed(Keys::new([webhook_core::KeyConfig::new(ONE)]));
        assert!(listed.listing.is_none());
        assert!(listed.changed(Proof::Said).unwrap().is_none());
    }
}

//! Values the application shares with its handlers.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Shared values that handlers take as `Data<T>`.
#[derive(Clone, Default)]
pub struct DataMap(HashMap<std::any::TypeId, (&'static str, Arc<dyn Any + Send + Sync>)>);

/// A handler wants data that was not given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`Data<{type_name}>` is not given: call `.data(..)` on the builder")]
#[non_exhaustive]
pub struct MissingData {
    /// The type's name.
    pub type_name: &'static str,
}

impl DataMap {
    /// Share `value`. `false` if a value of its type was given before; it stays.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: Arc<T>) -> bool {
        let entry = (
            std::any::type_name::<T>(),
            value as Arc<dyn Any + Send + Sync>,
        );
        match self.0.entry(std::any::TypeId::of::<T>()) {
            std::collections::hash_map::Entry::Occupied(_) => false,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(entry);
                true
            }
        }
    }

    /// The value of type `T`.
    ///
    /// # Errors
    ///
    /// [`MissingData`].
    pub fn get<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, MissingData> {
        self.0
            .get(&std::any::TypeId::of::<T>())
            .and_then(|(_, value)| value.clone().downcast().ok())
            .ok_or(MissingData {
                type_name: std::any::type_name::<T>(),
            })
    }
}

impl fmt::Debug for DataMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.values().map(|(name, _)| name))
            .finish()
    }
}

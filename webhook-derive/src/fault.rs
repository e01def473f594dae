//! Faults, collected so that one compilation shows them all.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Error;

/// Every fault found so far, in order.
#[derive(Clone, Default)]
pub(crate) struct Faults(Option<Error>);

impl Faults {
    /// Note a fault of `tokens`, which the compiler underlines.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    /// Note a fault.
    pub(crate) fn push(&mut self, fault: Error) {
        match &mut self.0 {
            Some(first) => first.combine(fault),
            none => *none = Some(fault),
        }
    }

    /// Note these too.
    pub(crate) fn append(&mut self, others: Self) {
        others.0.into_iter().for_each(|fault| self.push(fault));
    }

    /// Whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` a fault.
    pub(crate) fn to_compile_error(&self) -> TokenStream {
        self.0
            .as_ref()
            .map(Error::to_compile_error)
            .unwrap_or_default()
    }

    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        let faults = self.0.iter().flat_map(Clone::clone);
        faults.map(|fault| fault.to_string()).collect()
    }
}

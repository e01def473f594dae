//! One variant: which event types it is for, and what it carries.

use std::slice;

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Error, Expr, Fields, Ident, LitStr, Meta, Result};

use crate::fault::Faults;
use crate::near::nearest;
use crate::types;

/// A variant whose attribute was read.
pub(super) struct Variant<'i> {
    pub(super) variant: &'i syn::Variant,
    pub(super) takes: Takes<'i>,
}

/// Which event types a variant is for.
pub(super) enum Takes<'i> {
    /// These.
    Named(Vec<LitStr>),
    /// All that no variant names; where that is said.
    Others(&'i Attribute),
}

impl<'i> Variant<'i> {
    /// Apply the rules of one variant. `None` if it is not known which types it is for.
    pub(super) fn read(variant: &'i syn::Variant, faults: &mut Faults) -> Option<Self> {
        let mut attrs = variant.attrs.iter().filter(|attr| is_ours(attr));
        let Some(attr) = attrs.next() else {
            // The compiler tells a misspelt attribute by itself.
            if !variant.attrs.iter().any(is_slip) {
                let ident = &variant.ident;
                let message = format!(
                    "expected the event type of `{ident}`: write `#[event = \"..\"]`, or \
                     `#[event(other)]` for all that no variant names"
                );
                faults.at(ident, message);
            }
            return None;
        };
        for attr in attrs {
            let message = "event types are given twice: put them all into one \
                           `#[events(\"..\", \"..\")]`";
            faults.at(attr, message);
        }
        let takes = match takes(attr) {
            Ok(takes) => takes?,
            Err(fault) => {
                faults.push(fault);
                return None;
            }
        };
        let variant = Self { variant, takes };
        variant.carries_one_payload(faults);
        Some(variant)
    }

    /// The types it names.
    pub(super) fn types(&self) -> slice::Iter<'_, LitStr> {
        match &self.takes {
            Takes::Named(types) => types.iter(),
            Takes::Others(_) => [].iter(),
        }
    }

    /// Its name, and the attribute that gives it all the others.
    pub(super) fn others(&self) -> Option<(&'i Ident, &'i Attribute)> {
        match self.takes {
            Takes::Named(_) => None,
            Takes::Others(attr) => Some((&self.variant.ident, attr)),
        }
    }

    pub(super) fn fields(&self) -> &'i Fields {
        &self.variant.fields
    }

    fn carries_one_payload(&self, faults: &mut Faults) {
        let is_one = match self.fields() {
            Fields::Named(_) => false,
            Fields::Unit => true,
            Fields::Unnamed(fields) => fields.unnamed.len() == 1,
        };
        if !is_one && matches!(self.takes, Takes::Named(_)) {
            let name = &self.variant.ident;
            let message = format!(
                "a variant carries one payload: write `{name}(TYPE)`, or `{name}` if it does not \
                 matter"
            );
            faults.at(self.fields(), message);
        }
    }
}

/// `None` if the compiler has a fault to tell.
fn takes(attr: &Attribute) -> Result<Option<Takes<'_>>> {
    let path = attr.path();
    if path.is_ident("event") {
        return event(attr);
    }
    match &attr.meta {
        Meta::List(list) => {
            let several = |input: ParseStream<'_>| types::several(&path, input);
            Ok(Some(Takes::Named(several.parse2(list.tokens.clone())?)))
        }
        Meta::NameValue(_) | Meta::Path(_) => Err(Error::new_spanned(
            path,
            "several event types are written `#[events(\"..\", \"..\")]`, one is \
             `#[event = \"..\"]`",
        )),
    }
}

fn event(attr: &Attribute) -> Result<Option<Takes<'_>>> {
    const WRITE: &str = "one event type is written `#[event = \"..\"]`, several are \
                         `#[events(\"..\", \"..\")]`, and all that no variant names \
                         `#[event(other)]`";
    match &attr.meta {
        // The compiler tells what is no literal at all by itself.
        Meta::NameValue(pair) if !matches!(pair.value, Expr::Lit(_)) => Ok(None),
        Meta::NameValue(pair) => {
            let literal = types::one.parse2(pair.value.to_token_stream())?;
            Ok(Some(Takes::Named(vec![literal])))
        }
        Meta::List(list) => match word(&list.tokens) {
            Some(word) if word == "other" => Ok(Some(Takes::Others(attr))),
            Some(word) if nearest(&word.to_string(), ["other"], |name| name).is_some() => {
                let message = format!("unknown word `{word}`: did you mean `other`?");
                Err(Error::new_spanned(word, message))
            }
            _ if list.tokens.is_empty() => Err(Error::new_spanned(attr.path(), WRITE)),
            _ => Err(Error::new_spanned(&list.tokens, WRITE)),
        },
        Meta::Path(_) => Err(Error::new_spanned(attr.path(), WRITE)),
    }
}

fn word(tokens: &TokenStream) -> Option<Ident> {
    syn::parse2(tokens.clone()).ok()
}

const ATTRIBUTES: [&str; 2] = ["event", "events"];

fn is_ours(attr: &Attribute) -> bool {
    ATTRIBUTES.iter().any(|name| attr.path().is_ident(name))
}

fn is_slip(attr: &Attribute) -> bool {
    attr.path()
        .get_ident()
        .is_some_and(|name| nearest(&name.to_string(), ATTRIBUTES, |name| name).is_some())
}

//! Event types, as the attribute and the derive take them.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Error, LitStr, Result, Token};

use crate::fault::Faults;

/// A literal.
pub(crate) fn one(input: ParseStream<'_>) -> Result<LitStr> {
    input.parse().map_err(|fault: Error| {
        Error::new(
            fault.span(),
            "an event type is a string literal, for example `\"push\"`",
        )
    })
}

/// What stands between the parentheses of `events(..)`.
pub(crate) fn several(keyword: &impl ToTokens, list: ParseStream<'_>) -> Result<Vec<LitStr>> {
    let types = Punctuated::<LitStr, Token![,]>::parse_terminated_with(list, one);
    list.parse::<TokenStream>()?; // what is left over would be a fault of its own
    let types = types?;
    if types.is_empty() {
        let message = "expected the event types it takes: write `events(\"..\", \"..\")`";
        return Err(Error::new_spanned(keyword, message));
    }
    Ok(types.into_iter().collect())
}

/// Nothing that can never match, and nothing twice.
pub(crate) fn are_types(types: &[&LitStr], faults: &mut Faults) {
    /// What `EventType` accepts.
    const MAX_BYTES: usize = 255;
    for (index, literal) in types.iter().enumerate() {
        let text = literal.value();
        let message = if text.is_empty() {
            "an event type is not empty: write it as the provider does, for example `\"push\"`"
                .to_owned()
        } else if text.len() > MAX_BYTES || text.chars().any(char::is_control) {
            format!(
                "no event type is like this one: at most {MAX_BYTES} bytes, no control characters"
            )
        } else if text.contains('*') {
            "event types are compared whole, `*` stands for nothing: list them in \
             `events(\"..\", \"..\")`"
                .to_owned()
        } else if types
            .iter()
            .take(index)
            .any(|earlier| earlier.value() == text)
        {
            format!("`{text}` is listed twice: remove one")
        } else {
            continue;
        };
        faults.at(literal, message);
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn event_types_are_nothing_that_can_never_match() {
        let with = |literal: &str| {
            let types: [LitStr; 2] = [parse_quote!("push"), parse_quote!(#literal)];
            let mut faults = Faults::default();
            are_types(&types.each_ref(), &mut faults);
            faults.messages().concat()
        };
        assert_eq!(with("pull"), "");
        assert!(with("").starts_with("an event type is not empty"));
        assert!(with("a\nb").starts_with("no event type is like this one"));
        assert!(with(&"a".repeat(256)).starts_with("no event type is like this one"));
        assert!(with("invoice.*").starts_with("event types are compared whole"));
        assert_eq!(with("push"), "`push` is listed twice: remove one");
    }
}

//! The crate that generated code names: the HTTP adapter through which the macro was reached.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};

/// An adapter that re-exports the macros, and core under `__private`.
#[derive(Clone, Copy)]
pub(crate) enum Adapter {
    Actix,
    Axum,
}

/// What stands for it while code is written.
const PLACEHOLDER: &str = "__adapter";

impl Adapter {
    fn name(self) -> &'static str {
        match self {
            Self::Actix => "webhook_actix",
            Self::Axum => "webhook_axum",
        }
    }

    /// `code` with this adapter's name in it.
    pub(crate) fn named_in(self, code: TokenStream) -> TokenStream {
        code.into_iter().map(|token| self.replace(token)).collect()
    }

    fn replace(self, token: TokenTree) -> TokenTree {
        match token {
            TokenTree::Ident(ident) if ident == PLACEHOLDER => {
                Ident::new(self.name(), ident.span()).into()
            }
            // A group made anew loses the places of its two delimiters: only where it must be.
            TokenTree::Group(group) if mentions(&group.stream()) => {
                let mut named = Group::new(group.delimiter(), self.named_in(group.stream()));
                named.set_span(group.span());
                named.into()
            }
            token => token,
        }
    }
}

fn mentions(code: &TokenStream) -> bool {
    code.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == PLACEHOLDER,
        TokenTree::Group(group) => mentions(&group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn the_adapter_is_named_wherever_it_stands() {
        let code =
            quote!(impl ::__adapter::A for T { fn f() { g(::__adapter::B) } fn __adapters() {} });
        let named = Adapter::Axum.named_in(code).to_string();
        let expected = quote!(impl ::webhook_axum::A for T { fn f() { g(::webhook_axum::B) } fn __adapters() {} });
        assert_eq!(named, expected.to_string());
    }
}

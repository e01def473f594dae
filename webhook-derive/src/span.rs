//! Where the compiler underlines what it says about generated code.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;

/// The path of one of core's traits, underlined as `like` where a type does not implement it.
pub(crate) fn bound(like: &impl ToTokens, name: &str, arguments: &TokenStream) -> TokenStream {
    let (first, last) = ends(like);
    let name = Ident::new(name, last);
    let module = quote_spanned!(first=> ::__adapter::__private::);
    if arguments.is_empty() {
        return quote!(#module #name);
    }
    let (open, close) = (quote_spanned!(last=> <), quote_spanned!(last=> >));
    quote!(#module #name #open #arguments #close)
}

/// The path of such a trait's function, underlined in the same way.
pub(crate) fn function(like: &impl ToTokens, name: &str, function: &str) -> TokenStream {
    let path = bound(like, name, &TokenStream::new());
    let (_, last) = ends(like);
    let function = Ident::new(function, last);
    quote!(#path::#function)
}

/// The same tokens as the macro's own: no lint counts them as the author's.
pub(crate) fn own(tokens: &impl ToTokens) -> TokenStream {
    fn walk(tokens: TokenStream) -> TokenStream {
        let own = |token| match token {
            TokenTree::Group(group) => Group::new(group.delimiter(), walk(group.stream())).into(),
            mut token => {
                token.set_span(Span::call_site().located_at(token.span()));
                token
            }
        };
        tokens.into_iter().map(own).collect()
    }
    walk(tokens.to_token_stream())
}

/// Where tokens begin.
pub(crate) fn starts(tokens: &impl ToTokens) -> Span {
    ends(tokens).0
}

/// Where tokens begin and end: a stable compiler cannot join spans.
fn ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut spans = tokens
        .to_token_stream()
        .into_iter()
        .map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

//! The `#[webhook]` attribute.

/// Placeholder until the attribute lands in this same change.
#[proc_macro_attribute]
pub fn webhook(_args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    item
}

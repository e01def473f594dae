//! From a handler without fault to its implementation; from a faulty one to the least that still
//! compiles around its faults.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, Ident, Pat, PatType, Safety};

use crate::args::Args;
use crate::check::Plan;
use crate::handler::{Function, is_named};
use crate::implement::implementation;
use crate::span::own;

/// Expand the attribute. Never panics, and never loses the function.
pub(crate) fn webhook(args: TokenStream, item: &TokenStream) -> TokenStream {
    let function = syn::parse2::<Function>(item.clone());
    let parsed = function.and_then(|function| Ok((syn::parse2::<Args>(args)?, function)));
    let (args, function) = match parsed {
        Ok(parsed) => parsed,
        Err(fault) => {
            let fault = fault.into_compile_error();
            return quote!(#item #fault);
        }
    };
    match Plan::new(&args, &function) {
        Ok(plan) => around(&function, &implementation(&plan, &function)),
        Err(faults) => {
            let faults = faults.to_compile_error();
            // With a receiver it stands in an `impl`, where no struct can.
            let function = match function.sig.receiver() {
                Some(_) => item.clone(),
                None => around(&function, &poison(&args, &function)),
            };
            quote!(#function #faults)
        }
    }
}

/// The unit struct, and beside it the function as written, where its name hides the struct's value only.
///
/// ```text
/// // Input:
/// /// Docs.
/// #[cfg(feature = "x")]
/// #[tracing::instrument]
/// pub async fn on_push(event: Event<Push>) -> Result<(), E> { .. }
///
/// // Output:
/// /// Docs.
/// #[cfg(feature = "x")]
/// pub struct on_push;
/// #[cfg(feature = "x")]
/// const _: () = {
///     #[tracing::instrument]
///     async fn on_push(event: Event<Push>) -> Result<(), E> { .. }
///     impl on_push { pub async fn call(event: Event<Push>) -> Result<(), E> { .. } }
///     impl Handler<GitHub, C> for on_push { .. }
/// };
/// ```
fn around(function: &Function, implementation: &TokenStream) -> TokenStream {
    let Function {
        attrs,
        vis,
        sig,
        body,
    } = function;
    let ident = &sig.ident;
    let named = |names: &'static [&str]| {
        let is_named = move |attr: &&Attribute| names.iter().any(|name| attr.path().is_ident(name));
        attrs.iter().filter(is_named)
    };
    let conditions: Vec<_> = named(&["cfg"]).collect();
    let faces = named(&["allow", "deprecated", "doc"]);
    let others = attrs.iter().filter(|attr| {
        let path = attr.path();
        // A second `#[webhook]` is a fault that was noted; it must not expand again.
        !["cfg", "deprecated", "doc"]
            .iter()
            .any(|name| path.is_ident(name))
            && !is_named(path, "webhook")
    });
    let call = call(function);
    quote! {
        #(#conditions)*
        #(#faces)*
        #[allow(non_camel_case_types, clippy::exhaustive_structs)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #vis struct #ident;

        #(#conditions)*
        const _: () = {
            #[allow(clippy::unused_async)]
            #(#others)*
            #sig #body

            #call
            #implementation
        };
    }
}

/// `call`, with the function's own arguments: unit tests need no delivery.
fn call(function: &Function) -> TokenStream {
    let sig = &function.sig;
    if !matches!(sig.safety, Safety::Default) || sig.variadic.is_some() {
        return TokenStream::new();
    }
    let ident = &sig.ident;
    // Nothing of it may bring a lint to the author's own tokens a second time.
    let vis = own(&function.vis);
    let (generics, bounds) = (&sig.generics, &sig.generics.where_clause);
    let names: Vec<_> = function
        .arguments()
        .enumerate()
        .map(|(index, argument)| public_name(index, argument))
        .collect();
    let types = function.arguments().map(|argument| &argument.ty);
    let output = &sig.output;
    let parameters = function.parameters();
    let awaited = sig.asyncness.map(|_| quote!(.await));
    let implementation = quote_spanned! {ident.span()=>
        impl #ident {
            /// Run the function itself, as it is, for unit tests.
            ///
            /// # Errors
            ///
            /// Its own.
            #vis async fn call #generics (#(#names: #types),*) #output #bounds {
                #ident::<#(#parameters),*>(#(#names),*) #awaited
            }
        }
    };
    quote! {
        #[allow(dead_code, deprecated, private_bounds, private_interfaces)]
        #[allow(clippy::too_many_arguments)]
        #implementation
    }
}

/// Whatever the provider and the ledger, so that mounting a faulty handler is no second fault.
fn poison(args: &Args, function: &Function) -> TokenStream {
    let ident = &function.sig.ident;
    // Used, or its import would be called unused.
    let provider = args
        .provider
        .as_ref()
        .map(|provider| quote!(type __TypeAtTheOption = #provider;));
    quote! {
        #provider
        impl<
            P: ::__adapter::__private::Provider,
            C: ::core::marker::Send,
        > ::__adapter::__private::Handler<P, C> for #ident {
            fn spec(&self) -> &'static ::__adapter::__private::HandlerSpec {
                ::core::unreachable!()
            }

            fn require(
                &self,
                _: &::__adapter::__private::DataMap,
            ) -> ::core::result::Result<(), ::__adapter::__private::MissingData> {
                ::core::unreachable!()
            }

            fn call<'a>(
                &'a self,
                _: &'a ::__adapter::__private::Claimed,
                _: &'a mut dyn ::__adapter::__private::Lend<C>,
            ) -> ::__adapter::__private::BoxFuture<
                'a,
                ::core::result::Result<
                    ::__adapter::__private::Reply,
                    ::__adapter::__private::HandlerError,
                >,
            > {
                ::core::unreachable!()
            }
        }
    }
}

/// What the argument is called in the documentation of `call`.
fn public_name(index: usize, argument: &PatType) -> Ident {
    match &*argument.pat {
        Pat::Ident(pat) if !pat.ident.to_string().starts_with('_') => {
            let mut name = pat.ident.clone();
            // Its own hygiene: it may be called as the function is.
            name.set_span(Span::mixed_site().located_at(name.span()));
            name
        }
        _ => format_ident!("argument{index}", span = Span::mixed_site()),
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens as _;
    use syn::{File, Item};

    use super::*;

    fn expand(args: TokenStream, item: &TokenStream) -> (Vec<Item>, String) {
        let tokens = webhook(args, item);
        let text = tokens.to_string();
        let file: File = syn::parse2(tokens).unwrap();
        (file.items, text)
    }

    fn good() -> TokenStream {
        quote!(provider = Stripe, event = "push")
    }

    #[test]
    fn a_handler_is_a_struct_and_the_function_as_written() {
        let function = quote! {
            /// Docs.
            #[cfg(feature = "x")]
            #[allow(unused)]
            #[tracing::instrument]
            pub(crate) async fn on_push(mut event: Event<Push>, db: &mut Db) -> Result<(), E> {
                let x: = half typed
            }
        };
        let tokens = webhook(good(), &function);
        let text = tokens.to_string();
        let head = quote! {
            #[cfg(feature = "x")]
            /// Docs.
            #[allow(unused)]
            #[allow(non_camel_case_types, clippy::exhaustive_structs)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            pub(crate) struct on_push;

            #[cfg(feature = "x")]
        };
        assert!(text.starts_with(&head.to_string()), "{text}");
        let inside = quote! {
            #[allow(clippy::unused_async)]
            #[allow(unused)]
            #[tracing::instrument]
            async fn on_push(mut event: Event<Push>, db: &mut Db) -> Result<(), E> {
                let x: = half typed
            }
        };
        assert!(text.contains(&inside.to_string()), "{text}");
        assert!(!text.contains("compile_error"));
    }

    #[test]
    fn the_facts_of_a_handler_are_a_literal() {
        let function = quote!(
            async fn r#type(tx: Tx<'_, Db>) -> Result<(), E> {}
        );
        let (_, text) = expand(quote!(provider = P, events("a", "b"), inline), &function);
        let facts = quote! {
            name: "type",
            events: &["a", "b"],
            others: false,
            mode: ::__adapter::__private::Mode::Inline,
            connection: ::__adapter::__private::ConnectionUse::Lazy,
        };
        assert!(text.contains(&facts.to_string()), "{text}");
    }

    #[test]
    fn a_faulty_handler_can_still_be_mounted_and_called() {
        let function = quote!(
            pub fn on_push(db: &mut Db) -> Result<(), E> {
                body()
            }
        );
        let (items, text) = expand(good(), &function);
        let [Item::Struct(_), Item::Const(_), Item::Macro(_)] = &items[..] else {
            panic!("{text}")
        };
        assert!(
            text.contains(
                &quote!(
                    fn on_push(db: &mut Db) -> Result<(), E> {
                        body()
                    }
                )
                .to_string()
            )
        );
        assert!(text.contains("async fn call"));
        assert!(text.contains(":: Handler < P , C > for on_push"));
        assert!(!text.contains(". await"));
    }

    #[test]
    fn what_is_no_free_function_stays_as_it_is() {
        for item in [
            quote!(
                struct OnPush;
            ),
            quote!(
                mod handlers {
                    fn on_push() {}
                }
            ),
        ] {
            let (items, text) = expand(good(), &item);
            assert_eq!(items.len(), 2, "{text}");
            assert_eq!(items[0].to_token_stream().to_string(), item.to_string());
        }
        let method = quote!(
            async fn on_push(&self, db: &mut Db) -> Result<(), E> {
                body()
            }
        );
        assert!(
            webhook(good(), &method)
                .to_string()
                .starts_with(&method.to_string())
        );
    }

    #[test]
    fn a_second_attribute_does_not_expand_again() {
        let function = quote!(
            #[webhook(x)]
            async fn on_push(db: &mut Db) -> Result<(), E> {}
        );
        let (_, text) = expand(good(), &function);
        assert!(!text.contains("webhook (x)"));
    }

    #[test]
    fn nothing_makes_it_panic() {
        let oddities = [
            quote!(),
            quote!(async),
            quote!(async fn),
            quote!(async fn f()),
            quote!(
                async fn f();
            ),
            quote!(
                async fn f(...) -> R {}
            ),
            quote!(
                async fn f(_: impl Fn(&mut impl Tx)) -> R {}
            ),
            quote!(
                async fn f(_: &mut &mut (), (): ()) -> impl Sized {}
            ),
        ];
        for item in oddities {
            for args in [
                quote!(),
                quote!(,),
                quote!(= 1, "a" event),
                quote!(events("a" b)),
                good(),
            ] {
                webhook(args, &item);
            }
        }
    }
}

//! The implementation of `Handler` for a handler without fault.
//!
//! The author's types stand again in it, and what the compiler has to say of them it would say again.
//! It drops what it said before in the very same words, so: every bound is underlined as the type it is
//! about, and whatever names a type looks like the function to the compiler, parameters and all. The
//! names it adds are unlike any that could be meant.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Ident, ReturnType, Token, Type};

use crate::check::{Plan, Types};
use crate::handler::{ARGUMENTS, Function, Source, last_segment, mentions, shown};
use crate::span::{self, bound, starts};

/// `impl Handler<Provider, Connection> for on_push`.
pub(crate) fn implementation(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let ident = &function.sig.ident;
    let generics = &function.sig.generics;
    let provider = plan.provider;
    let (alias, parameters, connection) = match plan.connection() {
        None => (
            None,
            quote!(<__AnyConnection: ::core::marker::Send>),
            quote!(__AnyConnection),
        ),
        // As it stands in the function: bare, ..
        Some((ty, false)) if generics.params.is_empty() => (
            Some(quote!(type __TypeBehindTheReference = #ty;)),
            TokenStream::new(),
            quote!(__TypeBehindTheReference),
        ),
        // .. or between angle brackets.
        Some((ty, _)) => (None, quote!(#generics), ty.to_token_stream()),
    };
    let handler = bound(provider, "Handler", &quote!(__TypeAtTheOption, #connection));
    let bounds = bounds(plan, function);
    let spec = spec(plan, function);
    let require = require(plan, function, &bounds);
    let call = call(plan, function, &bounds);
    let items = quote! {
        fn spec(&self) -> &'static ::__adapter::__private::HandlerSpec {
            #spec
        }

        fn require(
            &self,
            __data: &::__adapter::__private::DataMap,
        ) -> ::core::result::Result<(), ::__adapter::__private::MissingData> {
            #require
        }

        fn call<'a>(
            &'a self,
            __claimed: &'a ::__adapter::__private::Claimed,
            __lend: &'a mut dyn ::__adapter::__private::Lend<#connection>,
        ) -> ::__adapter::__private::BoxFuture<
            'a,
            ::core::result::Result<
                ::__adapter::__private::Reply,
                ::__adapter::__private::HandlerError,
            >,
        > {
            #call
        }
    };
    // At the name, where the compiler lists the handlers there are.
    let implementation = quote_spanned! {ident.span()=>
        impl #parameters #handler for #ident #bounds {
            #items
        }
    };
    quote! {
        type __TypeAtTheOption = #provider;
        #alias
        #[allow(deprecated, unused_qualifications, clippy::multiple_bound_locations)]
        #implementation
    }
}

/// The author's own, what `Handler` asks of a connection, and that the provider is one: asserted once
/// and assumed within, where each argument would complain of it again.
fn bounds(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let provider = Ident::new("__TypeAtTheOption", starts(plan.provider));
    let is_provider = bound(plan.provider, "Provider", &TokenStream::new());
    let own = function.sig.generics.where_clause.iter();
    let own = own.flat_map(|clause| &clause.predicates);
    let parameters = function.parameters();
    quote! {
        where
            #provider: #is_provider,
            #(#parameters: ::core::marker::Send + 'static,)*
            #(#own),*
    }
}

fn spec(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let name = function.sig.ident.unraw().to_string();
    let (events, others) = event_types(plan);
    let forms = forms(plan, function);
    let mode = if plan.inline {
        quote!(Inline)
    } else {
        quote!(Inbox)
    };
    let connection = match plan.connection() {
        None => quote!(None),
        Some((_, false)) => quote!(Eager),
        Some((_, true)) => quote!(Lazy),
    };
    quote! {
        static SPEC: ::__adapter::__private::HandlerSpec = ::__adapter::__private::HandlerSpec {
            name: #name,
            events: #events,
            others: #others,
            mode: ::__adapter::__private::Mode::#mode,
            connection: ::__adapter::__private::ConnectionUse::#connection,
        };
        #forms
        &SPEC
    }
}

/// The event types the handler names, and whether it takes all others besides.
fn event_types(plan: &Plan<'_>) -> (TokenStream, TokenStream) {
    match plan.types {
        Types::Named(types) => (quote!(&[#(#types),*]), quote!(false)),
        Types::Payload(payload) => {
            let events = bound(payload, "Events", &TokenStream::new());
            (
                quote!(<#payload as #events>::TYPES),
                quote!(<#payload as #events>::OTHERS),
            )
        }
    }
}

/// Assertions, as constants, that each argument has a form for each of these types.
fn forms(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let unnamed = Token![_](function.sig.ident.span());
    let parameters: Vec<_> = function.parameters().map(Ident::to_string).collect();
    let is_concrete = |ty: &&Type| !parameters.iter().any(|name| mentions(ty, name));
    // Of core's own, only a payload can be of some types alone.
    let may_be_of_some = |ty: &&Type| {
        last_segment(ty).is_none_or(|name| {
            name.ident == "Event" || !ARGUMENTS.iter().any(|it| name.ident == it)
        })
    };
    let mut forms = TokenStream::new();
    for ty in plan.taken().filter(is_concrete).filter(may_be_of_some) {
        let from_claimed = bound(ty, "FromClaimed", &quote!(__TypeAtTheOption));
        let mut assert = |span, events: TokenStream, others: TokenStream, message: String| {
            forms.extend(quote_spanned! {span=>
                const #unnamed: () = ::core::assert!(
                    ::__adapter::__private::covers(
                        <#ty as #from_claimed>::ONLY,
                        #events,
                        #others,
                    ),
                    #message
                );
            });
        };
        let ty = shown(ty);
        match plan.types {
            Types::Named(types) => {
                for event in types {
                    let message = format!(
                        "`{ty}` has no form for this event type: remove it, or add a variant"
                    );
                    assert(event.span(), quote!(&[#event]), quote!(false), message);
                }
            }
            Types::Payload(payload) => {
                let (events, others) = event_types(plan);
                let message = format!(
                    "`{ty}` has no form for some event types of `{}`: list those of both in \
                     `events(\"..\", \"..\")`",
                    shown(payload)
                );
                assert(starts(payload), events, others, message);
            }
        }
    }
    forms
}

fn require(plan: &Plan<'_>, function: &Function, bounds: &TokenStream) -> TokenStream {
    let (generics, parameters) = (&function.sig.generics, function.parameters());
    let name = Ident::new("require", function.sig.ident.span());
    let requires = plan.taken().map(|ty| {
        let from_claimed = bound(ty, "FromClaimed", &quote!(__TypeAtTheOption));
        quote!(<#ty as #from_claimed>::require(__data)?;)
    });
    quote! {
        fn #name #generics (
            __data: &::__adapter::__private::DataMap,
        ) -> ::core::result::Result<(), ::__adapter::__private::MissingData> #bounds {
            #(#requires)*
            ::core::result::Result::Ok(())
        }
        #name::<#(#parameters),*>(__data)
    }
}

fn call(plan: &Plan<'_>, function: &Function, bounds: &TokenStream) -> TokenStream {
    let ident = &function.sig.ident;
    let (generics, parameters) = (&function.sig.generics, function.parameters());
    let parameters = quote!(#(#parameters),*);
    let take = Ident::new("take", ident.span());
    let types: Vec<_> = plan.taken().collect();
    let from_claimed = plan
        .taken()
        .map(|ty| bound(ty, "FromClaimed", &quote!(__TypeAtTheOption)));

    let (mut names, mut taken, mut lent) = (Vec::new(), Vec::new(), TokenStream::new());
    for (index, (_, source)) in plan.arguments.iter().enumerate() {
        let name = format_ident!("__argument{index}");
        match source {
            Source::Event => taken.push(name.clone()),
            Source::Connection(_) => {
                lent = quote!(let #name = ::__adapter::__private::Lend::begin(__lend).await?;);
            }
            Source::Deferred(_) => {
                lent = quote!(let #name = ::__adapter::__private::Tx::new(__lend););
            }
        }
        names.push(name);
    }
    let into_result = match &function.sig.output {
        ReturnType::Default => quote!(::__adapter::__private::HandlerResult::into_result),
        ReturnType::Type(_, ty) => span::function(ty, "HandlerResult", "into_result"),
    };
    let body = quote! {
        let (#(#taken,)*) = #take::<#parameters>(__claimed)?;
        #lent
        let __answer = #ident::<#parameters>(#(#names),*).await;
        let __said = {
            use ::__adapter::__private::SaysNothing as _;
            ::__adapter::__private::Answered(&__answer).said()
        };
        // A step of its own: called directly, the compiler would underline the argument.
        let __into_result = #into_result;
        __into_result(__answer)
            .map_err(|__failure| ::__adapter::__private::Said::of(__said, __failure))
    };
    // At the name, where a future that is not `Send` is told.
    let future = quote_spanned!(ident.span()=> ::std::boxed::Box::pin(async move { #body }));
    quote! {
        fn #take #generics (
            __claimed: &::__adapter::__private::Claimed,
        ) -> ::core::result::Result<(#(#types,)*), ::__adapter::__private::HandlerError> #bounds {
            ::core::result::Result::Ok((#(<#types as #from_claimed>::from_claimed(__claimed)?,)*))
        }
        #future
    }
}

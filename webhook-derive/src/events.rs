//! `#[derive(Events)]`: a payload with a form for each event type.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Data, DataEnum, DeriveInput, Field, Fields};

use crate::fault::Faults;
use crate::span::bound;
use crate::types;

mod variant;

use variant::{Takes, Variant};

/// Expand the derive. Never panics, and never leaves the enum without its implementations.
pub(crate) fn events(item: TokenStream) -> TokenStream {
    let item = match syn::parse2::<DeriveInput>(item) {
        Ok(item) => item,
        Err(fault) => return fault.into_compile_error(),
    };
    match Plan::new(&item) {
        Ok(plan) => implementation(&plan),
        Err(faults) => {
            let (faults, poison) = (faults.to_compile_error(), poison(&item));
            quote!(#faults #poison)
        }
    }
}

/// An enum without fault.
struct Plan<'i> {
    item: &'i DeriveInput,
    variants: Vec<Variant<'i>>,
}

impl<'i> Plan<'i> {
    /// Apply every rule.
    fn new(item: &'i DeriveInput) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let Some(data) = choice(item, &mut faults) else {
            return Err(faults);
        };
        concrete(item, &mut faults);
        let variants = data.variants.iter();
        let variants: Vec<_> = variants
            .filter_map(|variant| Variant::read(variant, &mut faults))
            .collect();
        let types: Vec<_> = variants.iter().flat_map(Variant::types).collect();
        types::are_types(&types, &mut faults);
        one_for_the_others(&variants, &mut faults);
        if faults.is_empty() {
            Ok(Self { item, variants })
        } else {
            Err(faults)
        }
    }
}

fn choice<'i>(item: &'i DeriveInput, faults: &mut Faults) -> Option<&'i DataEnum> {
    const MESSAGE: &str = "`Events` is a choice between event types: derive it for an `enum` with \
                           a variant for each";
    match &item.data {
        Data::Enum(data) if data.variants.is_empty() => {
            let message = "expected a variant for each event type, for example \
                           `#[event = \"invoice.paid\"] Paid(Invoice)`";
            faults.at(&item.ident, message);
            None
        }
        Data::Enum(data) => Some(data),
        Data::Struct(data) => {
            faults.at(data.struct_token, MESSAGE);
            None
        }
        Data::Union(data) => {
            faults.at(data.union_token, MESSAGE);
            None
        }
    }
}

fn concrete(item: &DeriveInput, faults: &mut Faults) {
    if !item.generics.params.is_empty() {
        let message = "handlers are mounted with the types they name, and own what they take: \
                       write the types instead of parameters";
        faults.at(&item.generics.params, message);
    }
}

fn one_for_the_others(variants: &[Variant<'_>], faults: &mut Faults) {
    let mut others = variants.iter().filter_map(Variant::others);
    let Some((first, _)) = others.next() else {
        return;
    };
    for (_, attr) in others {
        let message = format!("`{first}` takes all the others already: name an event type");
        faults.at(attr, message);
    }
}

/// `Payload` and `Events`.
///
/// ```text
/// // Input:
/// enum Billing {
///     #[event = "invoice.paid"]
///     Paid(Invoice),
///     #[event(other)]
///     Other(EventType, RawEvent),
/// }
///
/// // Output:
/// impl<P> Payload<P> for Billing
/// where
///     EventType: FromClaimed<P>,
///     RawEvent: FromClaimed<P>,
/// {
///     const ONLY: Option<&'static [&'static str]> = None;
///     fn decode(claimed: &Claimed) -> Result<Self, HandlerError> {
///         match claimed.event_type().dangerous_trust() {
///             "invoice.paid" => <Invoice as Payload<P>>::decode(claimed).map(Self::Paid),
///             _ => Ok(Self::Other(
///                 <EventType as FromClaimed<P>>::from_claimed(claimed)?,
///                 <RawEvent as FromClaimed<P>>::from_claimed(claimed)?,
///             )),
///         }
///     }
/// }
/// impl Events for Billing {
///     const TYPES: &'static [&'static str] = &["invoice.paid"];
///     const OTHERS: bool = true;
/// }
/// ```
fn implementation(plan: &Plan<'_>) -> TokenStream {
    let ident = &plan.item.ident;
    let types: Vec<_> = plan.variants.iter().flat_map(Variant::types).collect();
    let others = plan.variants.iter().find(|one| one.others().is_some());
    let (is_open, only) = match others {
        Some(_) => (true, quote!(::core::option::Option::None)),
        None => (
            false,
            quote!(::core::option::Option::Some(
                <Self as ::__adapter::__private::Events>::TYPES
            )),
        ),
    };
    let bounds = others.into_iter().flat_map(|other| other.fields().iter());
    let bounds = bounds.map(|field| {
        let (ty, from_claimed) = (&field.ty, from_claimed(field));
        quote!(#ty: #from_claimed)
    });
    let named = plan.variants.iter().filter_map(named_arm);
    let rest = others.map_or_else(
        || {
            quote! {
                _ => ::core::result::Result::Err(
                    ::__adapter::__private::HandlerError::undecodable::<Self>()
                ),
            }
        },
        other_arm,
    );
    let items = quote! {
        const ONLY: ::core::option::Option<&'static [&'static str]> = #only;

        fn decode(
            __claimed: &::__adapter::__private::Claimed,
        ) -> ::core::result::Result<Self, ::__adapter::__private::HandlerError> {
            match __claimed.event_type().dangerous_trust() {
                #(#named)*
                #rest
            }
        }
    };
    // At the name, where a payload that is not `Send` is told.
    let payload = quote_spanned! {ident.span()=>
        impl<__AnyProvider> ::__adapter::__private::Payload<__AnyProvider> for #ident
        where
            #(#bounds,)*
        {
            #items
        }
    };
    quote! {
        #[allow(deprecated)]
        #payload

        impl ::__adapter::__private::Events for #ident {
            const TYPES: &'static [&'static str] = &[#(#types),*];
            const OTHERS: bool = #is_open;
        }
    }
}

fn named_arm(variant: &Variant<'_>) -> Option<TokenStream> {
    let Takes::Named(types) = &variant.takes else {
        return None;
    };
    let name = &variant.variant.ident;
    let decoded = match variant.fields().iter().next() {
        None => quote!(::core::result::Result::Ok(Self::#name)),
        Some(field) => {
            let ty = &field.ty;
            let payload = bound(ty, "Payload", &quote!(__AnyProvider));
            quote!(<#ty as #payload>::decode(__claimed).map(Self::#name))
        }
    };
    Some(quote!(#(#types)|* => #decoded,))
}

fn other_arm(variant: &Variant<'_>) -> TokenStream {
    let name = &variant.variant.ident;
    let take = |field: &Field| {
        let (ty, from_claimed) = (&field.ty, from_claimed(field));
        quote!(<#ty as #from_claimed>::from_claimed(__claimed)?)
    };
    let fields = match variant.fields() {
        Fields::Unit => TokenStream::new(),
        Fields::Unnamed(fields) => {
            let taken = fields.unnamed.iter().map(take);
            quote!((#(#taken),*))
        }
        Fields::Named(fields) => {
            let names = fields.named.iter().map(|field| &field.ident);
            let taken = fields.named.iter().map(take);
            quote!({ #(#names: #taken),* })
        }
    };
    quote!(_ => ::core::result::Result::Ok(Self::#name #fields),)
}

fn from_claimed(field: &Field) -> TokenStream {
    bound(&field.ty, "FromClaimed", &quote!(__AnyProvider))
}

/// For every provider, so that a handler of a faulty enum is no second fault.
fn poison(item: &DeriveInput) -> TokenStream {
    let ident = &item.ident;
    let mut generics = item.generics.clone();
    generics.params.push(syn::parse_quote!(__AnyProvider));
    let (parameters, _, _) = generics.split_for_impl();
    let (own_parameters, arguments, bounds) = item.generics.split_for_impl();
    let bounds = bounds.map(|bounds| bounds.predicates.to_token_stream());
    quote! {
        impl #parameters ::__adapter::__private::Payload<__AnyProvider> for #ident #arguments
        where
            Self: ::core::marker::Send,
            #bounds
        {
            fn decode(
                _: &::__adapter::__private::Claimed,
            ) -> ::core::result::Result<Self, ::__adapter::__private::HandlerError> {
                ::core::unreachable!()
            }
        }

        impl #own_parameters ::__adapter::__private::Events for #ident #arguments
        where
            #bounds
        {
            const TYPES: &'static [&'static str] = &[];
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::{File, Item};

    use super::*;

    fn expand(item: TokenStream) -> (File, String) {
        let tokens = events(item);
        let text = tokens.to_string();
        (syn::parse2(tokens).unwrap(), text)
    }

    fn faults(item: &str) -> Vec<String> {
        let item = syn::parse_str(item).unwrap();
        Plan::new(&item).map_or_else(|faults| faults.messages(), |_| Vec::new())
    }

    /// Each is one fault that begins so, and still has its implementations.
    fn told(cases: &[(&str, &str)]) {
        for (item, start) in cases {
            let faults = faults(item);
            assert!(
                faults.len() == 1 && faults.concat().starts_with(start),
                "{item}: {faults:?}"
            );
            let (file, text) = expand(item.parse().unwrap());
            assert!(text.contains("compile_error"));
            let is_impl = |item: &&Item| matches!(item, Item::Impl(_));
            assert_eq!(file.items.iter().filter(is_impl).count(), 2, "{text}");
        }
    }

    #[test]
    fn each_variant_is_an_arm() {
        let (file, text) = expand(quote! {
            enum Billing {
                #[event = "invoice.paid"]
                #[doc = "Docs."]
                Paid(Invoice),
                #[events("ping", "pong")]
                Ping,
                #[event(other)]
                Other { raw: RawEvent },
            }
        });
        assert!(matches!(&file.items[..], [Item::Impl(_), Item::Impl(_)]));
        for part in [
            quote!("invoice.paid" => <Invoice as ::__adapter::__private::Payload<__AnyProvider>>::decode(__claimed).map(Self::Paid),),
            quote!("ping" | "pong" => ::core::result::Result::Ok(Self::Ping),),
            quote!(raw: <RawEvent as ::__adapter::__private::FromClaimed<__AnyProvider>>::from_claimed(__claimed)?),
            quote!(&["invoice.paid", "ping", "pong"]),
            quote!(
                const OTHERS: bool = true;
            ),
            quote!(
                const ONLY: ::core::option::Option<&'static [&'static str]> =
                    ::core::option::Option::None;
            ),
        ] {
            let tight = |text: &str| text.replace(' ', "");
            assert!(tight(&text).contains(&tight(&part.to_string())), "{text}");
        }
    }

    #[test]
    fn without_a_variant_for_the_others_they_do_not_decode() {
        let (_, text) = expand(quote! {
            enum Billing { #[event = "invoice.paid"] Paid(Invoice) }
        });
        assert!(text.contains("undecodable :: < Self >"));
        assert!(
            text.contains(
                &quote!(
                    const OTHERS: bool = false;
                )
                .to_string()
            )
        );
    }

    #[test]
    fn it_is_a_concrete_enum() {
        told(&[
            ("struct A { b: B }", "`Events` is a choice between"),
            ("union A { b: B }", "`Events` is a choice between"),
            ("enum A {}", "expected a variant for each event type"),
            (
                r#"enum A<'a> { #[event = "a"] B(C<'a>) }"#,
                "handlers are mounted with",
            ),
            (
                r#"enum A<T> { #[event = "a"] B(T) }"#,
                "handlers are mounted with",
            ),
        ]);
    }

    #[test]
    fn each_variant_says_its_types() {
        let one = "one event type is written `#[event";
        let several = "several event types are written";
        let literal = "an event type is a string literal";
        told(&[
            (
                "enum A { B(C) }",
                "expected the event type of `B`: write `#[event = \"..\"]`",
            ),
            ("enum A { #[event] B(C) }", one),
            ("enum A { #[event()] B(C) }", one),
            (r#"enum A { #[event("a")] B(C) }"#, one),
            ("enum A { #[event(all)] B(C) }", one),
            (
                "enum A { #[event(others)] B(C) }",
                "unknown word `others`: did you mean `other`?",
            ),
            ("enum A { #[event = 5] B(C) }", literal),
            (r#"enum A { #[events("a", C)] B(C) }"#, literal),
            (r#"enum A { #[events = "a"] B(C) }"#, several),
            ("enum A { #[events] B(C) }", several),
            (
                "enum A { #[events()] B(C) }",
                "expected the event types it takes",
            ),
            (
                r#"enum A { #[event = ""] B(C) }"#,
                "an event type is not empty",
            ),
            (
                r#"enum A { #[event = "a.*"] B(C) }"#,
                "event types are compared whole",
            ),
        ]);
    }

    #[test]
    fn nothing_is_said_twice() {
        told(&[
            (
                r#"enum A { #[event = "a"] #[event = "b"] B(C) }"#,
                "event types are given twice",
            ),
            (
                r#"enum A { #[event = "a"] B(C), #[events("b", "a")] D(E) }"#,
                "`a` is listed twice: remove one",
            ),
            (
                "enum A { #[event(other)] B(C), #[event(other)] D(E) }",
                "`B` takes all the others already",
            ),
        ]);
    }

    #[test]
    fn a_named_type_has_one_payload() {
        let one = "a variant carries one payload";
        told(&[
            (r#"enum A { #[event = "a"] B(C, D) }"#, one),
            (r#"enum A { #[event = "a"] B() }"#, one),
            (r#"enum A { #[event = "a"] B { c: C } }"#, one),
        ]);
    }

    #[test]
    fn what_the_compiler_tells_is_left_to_it() {
        for attr in [r#"#[evnt = "a"]"#, "#[event = A]"] {
            let item = format!(r#"enum A {{ {attr} B(C), #[event = "b"] D }}"#);
            assert!(faults(&item).is_empty(), "{item}");
        }
    }

    #[test]
    fn nothing_makes_it_panic() {
        for item in [
            quote!(),
            quote!(enum),
            quote!(enum A),
            quote!(enum A { #[event = ] B }),
            quote!(
                fn a() {}
            ),
        ] {
            let text = events(item.clone()).to_string();
            assert!(text.contains("compile_error"), "{item}");
        }
    }
}

//! The function as its author wrote it.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, FnArg, GenericArgument, GenericParam, Ident, PatType, Path, PathArguments,
    PathSegment, Result, Signature, Token, Type, Visibility,
};

/// A function whose body stays tokens: it need not parse for its signature to be understood.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

/// What an argument is filled from.
pub(crate) enum Source<'f> {
    /// `&mut C`: the connection, in a transaction that is open already.
    Connection(&'f Type),
    /// `Tx<'_, C>`: the connection, once the handler asks for it.
    Deferred(Option<&'f Type>),
    /// Anything else: the claimed event.
    Event,
}

impl Function {
    /// Its arguments but a receiver.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &PatType> {
        self.sig
            .inputs
            .iter()
            .filter_map(|argument| match argument {
                FnArg::Receiver(_) => None,
                FnArg::Typed(argument) => Some(argument),
            })
    }

    /// The names of its parameters but lifetimes.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Ident> {
        let params = self.sig.generics.params.iter();
        params.filter_map(|parameter| match parameter {
            GenericParam::Const(parameter) => Some(&parameter.ident),
            GenericParam::Lifetime(_) => None,
            GenericParam::Type(parameter) => Some(&parameter.ident),
        })
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let starts_function = input.peek(Token![fn])
            || input.peek(Token![async])
            || input.peek(Token![unsafe])
            || input.peek(Token![extern])
            || (input.peek(Token![const]) && !input.peek2(Ident));
        if !starts_function {
            return Err(
                input.error("`#[webhook]` makes a handler of a function: put it on an `async fn`")
            );
        }
        Ok(Self {
            attrs,
            vis,
            sig: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl<'f> Source<'f> {
    /// What an argument of this type is filled from.
    pub(crate) fn of(ty: &'f Type) -> Self {
        match bare(ty) {
            Type::Reference(reference) if reference.mutability.is_some() => {
                let inner = bare(&reference.elem);
                match last_segment(inner) {
                    Some(segment) if segment.ident == "Tx" => Self::Deferred(last_type(segment)),
                    _ => Self::Connection(inner),
                }
            }
            ty => match last_segment(ty) {
                Some(segment) if segment.ident == "Tx" => Self::Deferred(last_type(segment)),
                _ => Self::Event,
            },
        }
    }

    /// The connection's type, if it is written out.
    pub(crate) fn connection(&self) -> Option<&'f Type> {
        match *self {
            Self::Connection(ty) => Some(ty),
            Self::Deferred(ty) => ty,
            Self::Event => None,
        }
    }
}

/// The type without parentheses around it.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        ty => ty,
    }
}

/// The last name of a type that is a path.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match bare(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// The first type in the angle brackets of a segment.
pub(crate) fn first_type(segment: &PathSegment) -> Option<&Type> {
    types(segment).next()
}

/// The last type in the angle brackets of a segment.
pub(crate) fn last_type(segment: &PathSegment) -> Option<&Type> {
    types(segment).last()
}

fn types(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    let arguments = arguments.into_iter().flatten();
    arguments.filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Whether the type is this name and nothing else.
pub(crate) fn is_ident(ty: &Type, ident: &Ident) -> bool {
    matches!(bare(ty), Type::Path(path) if path.qself.is_none() && path.path.is_ident(ident))
}

/// Whether an attribute is called so, in whatever module.
pub(crate) fn is_named(path: &Path, name: &str) -> bool {
    path.segments
        .last()
        .is_some_and(|segment| segment.ident == name)
}

/// A type as one writes it: tokens print with a space between each.
pub(crate) fn shown(ty: &Type) -> String {
    let tight = [
        (" < ", "<"),
        (" >", ">"),
        (" :: ", "::"),
        (":: ", "::"),
        (" ,", ","),
        ("& ", "&"),
    ];
    let loose = bare(ty).to_token_stream().to_string();
    tight
        .iter()
        .fold(loose, |text, (from, to)| text.replace(from, to))
}

/// Whether `impl Trait` stands anywhere in the type.
pub(crate) fn has_impl_trait(ty: &Type) -> bool {
    mentions(ty, "impl")
}

/// Whether this word stands anywhere in the type.
pub(crate) fn mentions(ty: &Type, word: &str) -> bool {
    fn within(tokens: TokenStream, word: &str) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => within(group.stream(), word),
            TokenTree::Ident(ident) => ident == word,
            _ => false,
        })
    }
    within(ty.to_token_stream(), word)
}

/// Arguments that core knows.
pub(crate) const ARGUMENTS: [&str; 8] = [
    "Data",
    "Delivery",
    "EffectKey",
    "Event",
    "EventId",
    "EventType",
    "RawEvent",
    "Unsigned",
];

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;

    fn source(ty: &Type) -> String {
        match Source::of(ty) {
            Source::Connection(ty) => format!("connection {}", ty.to_token_stream()),
            Source::Deferred(ty) => format!("deferred {}", ty.to_token_stream()),
            Source::Event => "event".to_owned(),
        }
    }

    #[test]
    fn the_connection_is_known_by_its_shape() {
        assert_eq!(
            source(&parse_quote!(&mut PgConnection)),
            "connection PgConnection"
        );
        assert_eq!(source(&parse_quote!((&mut (C)))), "connection C");
        assert_eq!(source(&parse_quote!(Tx<'_, C>)), "deferred C");
        assert_eq!(
            source(&parse_quote!(webhook::Tx<'_, a::B>)),
            "deferred a :: B"
        );
        assert_eq!(source(&parse_quote!(Tx<'_>)), "deferred ");
        assert_eq!(source(&parse_quote!(&C)), "event");
        assert_eq!(source(&parse_quote!(Event<Tx>)), "event");
    }

    #[test]
    fn types_are_shown_as_one_writes_them() {
        for (ty, text) in [
            (parse_quote!(Event<a::B, Vec<u8>>), "Event<a::B, Vec<u8>>"),
            (parse_quote!((&'a mut Tx<'_, a::C>)), "&'a mut Tx<'_, a::C>"),
        ] {
            assert_eq!(shown(&ty), text);
        }
    }

    #[test]
    fn a_body_need_not_parse() {
        let function: Function =
            syn::parse2(quote!(async fn on_push() -> R { event. let })).unwrap();
        assert_eq!(function.sig.ident, "on_push");
        assert_eq!(
            function.body.to_string(),
            quote!({ event. let }).to_string()
        );
    }

    #[test]
    fn only_functions_are_taken() {
        for item in [
            quote!(
                struct A;
            ),
            quote!(
                pub mod a {}
            ),
            quote!(
                const A: u8 = 1;
            ),
        ] {
            let fault = syn::parse2::<Function>(item).err().unwrap();
            assert!(fault.to_string().contains("put it on an `async fn`"));
        }
    }
}

//! What a handler must be, one function a rule.
//!
//! Only what types cannot say, or say badly. Everything else is left to the traits and their notes.

use proc_macro2::Span;
use syn::{Error, LitStr, Path, Type};

use crate::args::{Args, Name};
use crate::fault::Faults;
use crate::handler::{Function, Source};

mod argument;
mod signature;

/// A handler without fault.
pub(crate) struct Plan<'f> {
    pub(crate) provider: &'f Path,
    pub(crate) types: &'f [LitStr],
    pub(crate) inline: bool,
    pub(crate) arguments: Vec<(&'f Type, Source<'f>)>,
}

impl<'f> Plan<'f> {
    /// Apply every rule.
    pub(crate) fn new(args: &'f Args, function: &'f Function) -> Result<Self, Faults> {
        let mut faults = args.faults.clone();
        options_are_there(args, &mut faults);
        types_are_types(&args.types, &mut faults);
        signature::one_attribute(function, &mut faults);
        signature::asynchronous(&function.sig, &mut faults);
        signature::safe(&function.sig, &mut faults);
        signature::free(&function.sig, &mut faults);
        signature::answers(&function.sig, &mut faults);
        signature::only_the_connection_is_generic(function, &mut faults);
        let mut faults_of_arguments = Faults::default();
        for argument in function.arguments() {
            argument::unconditional(argument, &mut faults_of_arguments);
            argument::takeable(argument, &function.sig, &mut faults_of_arguments);
        }
        one_connection(function, &mut faults_of_arguments);
        // A wrong connection is one: do not ask for another beside it.
        if faults_of_arguments.is_empty() {
            once_or_at_least_once(args, function, &mut faults);
        }
        faults.append(faults_of_arguments);
        match &args.provider {
            Some(provider) if faults.is_empty() => Ok(Self {
                provider,
                types: &args.types,
                inline: args.inline.is_some(),
                arguments: function
                    .arguments()
                    .map(|argument| (&*argument.ty, Source::of(&argument.ty)))
                    .collect(),
            }),
            _ => Err(faults),
        }
    }

    /// The types taken from the claimed event, in order.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &'f Type> {
        let arguments = self.arguments.iter();
        arguments.filter_map(|(ty, source)| matches!(source, Source::Event).then_some(*ty))
    }

    /// The connection's type, and whether the handler asks for it itself.
    pub(crate) fn connection(&self) -> Option<(&'f Type, bool)> {
        self.arguments.iter().find_map(|(_, source)| match *source {
            Source::Connection(ty) => Some((ty, false)),
            Source::Deferred(ty) => ty.map(|ty| (ty, true)),
            Source::Event => None,
        })
    }
}

fn options_are_there(args: &Args, faults: &mut Faults) {
    if !args.faults.is_empty() {
        return; // what is missing may be what could not be read
    }
    let has_types = args.has(Name::Event) || args.has(Name::Events);
    let message = match (args.has(Name::Provider), has_types) {
        (true, true) => return,
        (true, false) => {
            "expected the event type the handler takes: write `event = \"..\"` or \
             `events(\"..\", \"..\")`"
        }
        (false, true) => {
            "expected the provider whose events the handler takes: write `provider = ..`"
        }
        (false, false) => {
            "expected the provider and the event type the handler takes: write \
             `#[webhook(provider = .., event = \"..\")]`"
        }
    };
    faults.push(Error::new(Span::call_site(), message));
}

fn types_are_types(types: &[LitStr], faults: &mut Faults) {
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

fn one_connection(function: &Function, faults: &mut Faults) {
    let connections = function
        .arguments()
        .filter(|argument| !matches!(Source::of(&argument.ty), Source::Event));
    for argument in connections.skip(1) {
        let message = "a handler has one connection, whose transaction completes the event: remove \
                       this one";
        faults.at(&argument.ty, message);
    }
}

fn once_or_at_least_once(args: &Args, function: &Function, faults: &mut Faults) {
    let has_connection = function
        .arguments()
        .any(|argument| !matches!(Source::of(&argument.ty), Source::Event));
    match &args.at_least_once {
        Some(word) if has_connection => {
            let message = "the effect commits together with the event, once: remove `at_least_once` \
                           (or the connection)";
            faults.at(word, message);
        }
        None if !has_connection && !args.has(Name::AtLeastOnce) => {
            let message = "this effect cannot commit together with the event, so it may run more \
                           than once: take the ledger's connection (`db: &mut PgConnection`), or \
                           write `at_least_once`";
            faults.at(&function.sig.ident, message);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;

    fn faults(args: TokenStream, function: TokenStream) -> Vec<String> {
        let args = syn::parse2(args).unwrap();
        let function = syn::parse2(function).unwrap();
        Plan::new(&args, &function).map_or_else(|faults| faults.messages(), |_| Vec::new())
    }

    fn options() -> TokenStream {
        quote!(provider = Stripe, event = "push")
    }

    #[test]
    fn a_plan_knows_where_every_argument_comes_from() {
        let args = syn::parse2(quote!(provider = a::Stripe, events("a", "b"), inline)).unwrap();
        let function = syn::parse2(quote! {
            async fn on_push(id: EventId, tx: Tx<'_, Db>, event: Event<Push>) -> Result<(), E> {}
        });
        let function = function.unwrap();
        let Ok(plan) = Plan::new(&args, &function) else {
            panic!()
        };
        assert!(plan.inline);
        assert_eq!(plan.types.len(), 2);
        assert_eq!(plan.taken().count(), 2);
        let (connection, asks) = plan.connection().unwrap();
        assert!(asks);
        assert_eq!(quote!(#connection).to_string(), "Db");
    }

    #[test]
    fn options_are_asked_for_unless_another_could_not_be_read() {
        let handler = || {
            quote!(
                async fn on_push(db: &mut Db) -> Result<(), E> {}
            )
        };
        let first = |args| faults(args, handler()).concat();
        assert!(first(quote!()).starts_with("expected the provider and the event type"));
        assert!(first(quote!(event = "push")).starts_with("expected the provider whose events"));
        assert!(first(quote!(provider = P)).starts_with("expected the event type"));
        assert!(first(quote!(source = P)).starts_with("unknown option `source`"));
        assert!(faults(options(), handler()).is_empty());
    }

    #[test]
    fn event_types_are_nothing_that_can_never_match() {
        let with = |literal: &str| {
            let args = quote!(provider = Stripe, events("push", #literal));
            faults(
                args,
                quote!(
                    async fn on_push(db: &mut Db) -> Result<(), E> {}
                ),
            )
            .concat()
        };
        assert_eq!(with("pull"), "");
        assert!(with("").starts_with("an event type is not empty"));
        assert!(with("a\nb").starts_with("no event type is like this one"));
        assert!(with(&"a".repeat(256)).starts_with("no event type is like this one"));
        assert!(with("invoice.*").starts_with("event types are compared whole"));
        assert_eq!(with("push"), "`push` is listed twice: remove one");
    }

    #[test]
    fn an_effect_is_once_or_said_to_be_at_least_once() {
        let with = || {
            quote!(
                async fn f(db: &mut Db) -> R {}
            )
        };
        let without = || {
            quote!(
                async fn f(id: EventId) -> R {}
            )
        };
        let said = || quote!(provider = Stripe, event = "push", at_least_once);
        assert!(faults(options(), with()).is_empty());
        assert!(faults(said(), without()).is_empty());
        assert!(
            faults(said(), with())
                .concat()
                .starts_with("the effect commits together")
        );
        assert!(
            faults(options(), without())
                .concat()
                .starts_with("this effect cannot commit")
        );
        // A connection taken in the wrong way is not a missing one.
        let wrong = faults(
            options(),
            quote!(
                async fn f(db: &SqliteConnection) -> R {}
            ),
        );
        assert_eq!(
            wrong,
            ["the connection is lent mutably: write `&mut SqliteConnection`"]
        );
    }

    #[test]
    fn every_fault_is_told_at_once() {
        let faults = faults(
            quote!(provider = Stripe, event = "", inlin),
            quote!(
                fn f(event: &Event<Push>, db: &mut A, other: &mut B) {}
            ),
        );
        assert_eq!(faults.len(), 6, "{faults:?}");
    }
}

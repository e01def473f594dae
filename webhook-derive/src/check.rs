//! What a handler must be, one function a rule.
//!
//! Only what types cannot say, or say badly. Everything else is left to the traits and their notes.

use proc_macro2::Span;
use syn::{Error, LitStr, Path, Type};

use crate::args::{Args, Name};
use crate::fault::Faults;
use crate::handler::{Function, Source, last_segment, last_type};
use crate::types;

mod argument;
mod signature;

/// A handler without fault.
pub(crate) struct Plan<'f> {
    pub(crate) provider: &'f Path,
    pub(crate) types: Types<'f>,
    pub(crate) inline: bool,
    pub(crate) arguments: Vec<(&'f Type, Source<'f>)>,
}

/// Which event types a handler takes.
pub(crate) enum Types<'f> {
    /// Those that its attribute names.
    Named(&'f [LitStr]),
    /// Those that its payload names.
    Payload(&'f Type),
}

impl<'f> Plan<'f> {
    /// Apply every rule.
    pub(crate) fn new(args: &'f Args, function: &'f Function) -> Result<Self, Faults> {
        let mut faults = args.faults.clone();
        options_are_there(args, function, &mut faults);
        types::are_types(&args.types.iter().collect::<Vec<_>>(), &mut faults);
        signature::one_attribute(function, &mut faults);
        signature::asynchronous(&function.sig, &mut faults);
        signature::safe(&function.sig, &mut faults);
        signature::free(&function.sig, &mut faults);
        signature::answers(&function.sig, &mut faults);
        signature::reply_reaches_somebody(args, &function.sig, &mut faults);
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
                types: Types::of(args, function),
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

impl<'f> Types<'f> {
    fn of(args: &'f Args, function: &'f Function) -> Self {
        match payload(function) {
            Some(payload) if args.types.is_empty() => Self::Payload(payload),
            _ => Self::Named(&args.types),
        }
    }
}

/// `T` of the first `Event<T>`: without an option, it says which types the handler takes.
fn payload(function: &Function) -> Option<&Type> {
    function.arguments().find_map(|argument| {
        let event = last_segment(&argument.ty).filter(|name| name.ident == "Event")?;
        last_type(event)
    })
}

fn options_are_there(args: &Args, function: &Function, faults: &mut Faults) {
    if !args.faults.is_empty() {
        return; // what is missing may be what could not be read
    }
    let is_named = args.has(Name::Event) || args.has(Name::Events);
    let has_types = is_named || payload(function).is_some();
    let message = match (args.has(Name::Provider), has_types) {
        (true, true) => return,
        (true, false) => {
            "expected the event type the handler takes: write `event = \"..\"` or \
             `events(\"..\", \"..\")`, or take `Event<T>` of an enum with `#[derive(Events)]`"
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
        assert!(matches!(plan.types, Types::Named([_, _])));
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
    fn a_payload_says_which_types_where_the_attribute_does_not() {
        let function = syn::parse2(quote! {
            async fn on_billing(id: EventId, event: a::Event<Billing>, db: &mut Db) -> R {}
        });
        let function = function.unwrap();
        let args = syn::parse2(quote!(provider = Stripe)).unwrap();
        let Ok(plan) = Plan::new(&args, &function) else {
            panic!()
        };
        let Types::Payload(payload) = plan.types else {
            panic!()
        };
        assert_eq!(quote!(#payload).to_string(), "Billing");
        let args = syn::parse2(options()).unwrap();
        let Ok(plan) = Plan::new(&args, &function) else {
            panic!()
        };
        assert!(matches!(plan.types, Types::Named([_])));
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

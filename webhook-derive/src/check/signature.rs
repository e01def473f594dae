//! What a function must be to be a handler.

use syn::{Error, FnArg, GenericParam, ReturnType, Safety, Signature, Type};

use crate::args::{Args, Name};
use crate::fault::Faults;
use crate::handler::{Function, Source, first_type, is_ident, is_named, last_segment};

pub(super) fn one_attribute(function: &Function, faults: &mut Faults) {
    for attr in &function.attrs {
        if is_named(attr.path(), "webhook") {
            let message = "a function is one handler: list the types in `events(\"..\", \"..\")`, \
                           and write one function for each provider";
            faults.at(attr, message);
        }
    }
}

pub(super) fn asynchronous(sig: &Signature, faults: &mut Faults) {
    if sig.asyncness.is_none() {
        faults.at(sig.fn_token, "webhook handlers are async: write `async fn`");
    }
}

pub(super) fn safe(sig: &Signature, faults: &mut Faults) {
    if let Safety::Unsafe(token) = &sig.safety {
        let message = "webhook handlers are called by the framework, which upholds no contract: \
                       remove `unsafe`";
        faults.at(token, message);
    }
    if let Some(abi) = &sig.abi {
        faults.at(
            abi,
            "webhook handlers are Rust functions: remove the `extern`",
        );
    }
    if let Some(variadic) = &sig.variadic {
        faults.at(
            variadic,
            "webhook handlers are Rust functions: remove the `...`",
        );
    }
}

pub(super) fn free(sig: &Signature, faults: &mut Faults) {
    if let Some(FnArg::Receiver(receiver)) = sig.inputs.first() {
        let message = "webhook handlers are free functions: move it out of the `impl`, and take \
                       what `self` held as `Data<T>`";
        faults.at(receiver, message);
    }
}

pub(super) fn answers(sig: &Signature, faults: &mut Faults) {
    if matches!(sig.output, ReturnType::Default) {
        let message = "webhook handlers say whether the event is done: write `-> Result<(), E>`";
        faults.push(Error::new(sig.paren_token.span.close(), message));
    }
}

/// A worker runs it after the sender was answered.
pub(super) fn reply_reaches_somebody(args: &Args, sig: &Signature, faults: &mut Faults) {
    let ReturnType::Type(_, ty) = &sig.output else {
        return;
    };
    let succeeds_with = last_segment(ty).and_then(first_type);
    let is_reply = |ty: &&Type| last_segment(ty).is_some_and(|name| name.ident == "Reply");
    if let Some(reply) = succeeds_with.filter(is_reply)
        && !args.has(Name::Inline)
    {
        let message = "the sender was answered before a worker runs this: write `inline`, or \
                       succeed with `()`";
        faults.at(reply, message);
    }
}

pub(super) fn only_the_connection_is_generic(function: &Function, faults: &mut Faults) {
    let connection = function
        .arguments()
        .find_map(|argument| Source::of(&argument.ty).connection());
    for parameter in &function.sig.generics.params {
        match parameter {
            GenericParam::Lifetime(lifetime) => faults.at(
                lifetime,
                format!(
                    "handlers need no lifetimes: remove `{}`, and write `&mut C` or `Tx<'_, C>`",
                    lifetime.lifetime
                ),
            ),
            GenericParam::Const(constant) => faults.at(
                constant,
                format!(
                    "only the connection's type may be generic: write the value instead of `{}`",
                    constant.ident
                ),
            ),
            GenericParam::Type(ty) => {
                if !connection.is_some_and(|connection| is_ident(connection, &ty.ident)) {
                    let message = format!(
                        "only the connection's type may be generic: write the type instead of `{0}`, \
                         or take the connection as `db: &mut {0}`",
                        ty.ident
                    );
                    faults.at(ty, message);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use crate::check::Plan;

    fn faults(function: TokenStream) -> Vec<String> {
        let args = syn::parse2(quote!(provider = Stripe, event = "push")).unwrap();
        let function = syn::parse2(function).unwrap();
        Plan::new(&args, &function).map_or_else(|faults| faults.messages(), |_| Vec::new())
    }

    #[test]
    fn a_reply_needs_somebody_who_waits() {
        let function = quote!(
            async fn f(db: &mut Db) -> anyhow::Result<webhook::Reply> {}
        );
        let told = faults(function.clone()).concat();
        assert!(told.starts_with("the sender was answered before"), "{told}");
        let args = syn::parse2(quote!(provider = Stripe, event = "push", inline)).unwrap();
        assert!(Plan::new(&args, &syn::parse2(function).unwrap()).is_ok());
    }

    #[test]
    fn signatures_are_those_of_async_functions() {
        let cases = [
            (
                quote!(
                    fn f(db: &mut Db) -> R {}
                ),
                "webhook handlers are async: write `async fn`",
            ),
            (
                quote!(
                    async unsafe fn f(db: &mut Db) -> R {}
                ),
                "webhook handlers are called by the",
            ),
            (
                quote!(
                    async extern "C" fn f(db: &mut Db) -> R {}
                ),
                "webhook handlers are Rust",
            ),
            (
                quote!(
                    async fn f(&self, db: &mut Db) -> R {}
                ),
                "webhook handlers are free functions",
            ),
            (
                quote!(
                    async fn f(db: &mut Db) {}
                ),
                "webhook handlers say whether the event is done",
            ),
            (
                quote!(
                    async fn f<'a>(db: &'a mut Db) -> R {}
                ),
                "handlers need no lifetimes",
            ),
            (
                quote!(
                    async fn f<const N: u8>(db: &mut Db) -> R {}
                ),
                "only the connection's type may",
            ),
            (
                quote!(
                    async fn f<T>(e: Event<T>, db: &mut Db) -> R {}
                ),
                "only the connection's type",
            ),
            (
                quote!(
                    async fn f<C, T>(db: &mut C) -> R {}
                ),
                "only the connection's type may be",
            ),
            (
                quote!(
                    #[webhook()]
                    async fn f(db: &mut Db) -> R {}
                ),
                "a function is one handler",
            ),
            (
                quote!(
                    #[a::webhook]
                    async fn f(db: &mut Db) -> R {}
                ),
                "a function is one handler",
            ),
        ];
        for (function, start) in cases {
            let faults = faults(function.clone());
            assert!(
                faults.len() == 1 && faults.concat().starts_with(start),
                "{function}: {faults:?}"
            );
        }
        for good in [
            quote!(
                async fn f<C: Effects>(db: &mut C) -> R {}
            ),
            quote!(
                async fn f<C>(tx: Tx<'_, C>) -> R
                where
                    C: Effects,
                {
                }
            ),
            quote!(
                #[inline]
                pub(crate) async fn f(db: &mut Db) -> R {}
            ),
        ] {
            assert!(faults(good).is_empty());
        }
    }
}

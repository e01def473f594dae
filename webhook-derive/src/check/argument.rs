//! What a single argument must be.

use syn::{Ident, Lifetime, PatType, PathSegment, Signature, Type};

use crate::fault::Faults;
use crate::handler::{ARGUMENTS, Source, bare, has_impl_trait, last_segment, shown};

pub(super) fn unconditional(argument: &PatType, faults: &mut Faults) {
    for attr in &argument.attrs {
        if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            let message = "a handler's arguments are always there: put the `cfg` on the function, \
                           and write one function for each case";
            faults.at(attr, message);
        }
    }
}

/// One message an argument: what it cannot be, before how it cannot be taken.
pub(super) fn takeable(argument: &PatType, sig: &Signature, faults: &mut Faults) {
    let ty = bare(&argument.ty);
    let fault = concrete(ty, &sig.ident)
        .or_else(|| comes_after_the_claim(ty))
        .or_else(|| shared_elsewhere(ty))
        .or_else(|| does_not_commit(ty))
        .or_else(|| tx_is_whole(ty))
        .or_else(|| owned_or_lent(ty));
    if let Some(message) = fault {
        faults.at(ty, message);
    }
}

fn concrete(ty: &Type, handler: &Ident) -> Option<String> {
    let is_object = matches!(referent(ty), Type::TraitObject(_));
    (is_object || has_impl_trait(ty)).then(|| {
        format!(
            "handlers are mounted with the types they name: write one, or `async fn \
             {handler}<C: ..>(db: &mut C)` for a connection of any database"
        )
    })
}

/// What the web framework has of a request, and is not `Send`: the compiler would say that, too.
fn comes_after_the_claim(ty: &Type) -> Option<String> {
    let Type::Path(path) = referent(ty) else {
        return None;
    };
    let mut names = path.path.segments.iter().rev().map(|name| &name.ident);
    let name = names.next()?;
    let is_request = name == "HttpRequest"
        || (name == "Payload" && names.next().is_some_and(|module| module == "web"));
    is_request.then(|| {
        format!(
            "`{name}` is there before the delivery is verified and claimed: take `Event<T>`, \
             `RawEvent` or `Delivery`"
        )
    })
}

/// The web framework's `Data`, where its path tells it from ours.
fn shared_elsewhere(ty: &Type) -> Option<String> {
    let Type::Path(path) = referent(ty) else {
        return None;
    };
    let mut names = path.path.segments.iter().rev().map(|name| &name.ident);
    let is_theirs = names.next()? == "Data" && names.next().is_some_and(|module| module == "web");
    is_theirs.then(|| {
        "handlers are given values by the builder: call `.data(..)` on it, and take \
         `webhook_actix::Data<T>`"
            .to_owned()
    })
}

fn does_not_commit(ty: &Type) -> Option<String> {
    let name = last_segment(referent(ty))?;
    if is_one_of(name, &["PgTransaction", "SqliteTransaction"], "Transaction") {
        let message = "the framework begins and commits: take the connection, `&mut PgConnection` \
                       or `&mut SqliteConnection`";
        Some(message.to_owned())
    } else if is_one_of(name, &["PgPool", "SqlitePool", "PoolConnection"], "Pool") {
        Some(format!(
            "what goes through a pool does not commit with the event: take the ledger's connection, \
             `&mut PgConnection` or `&mut SqliteConnection`, or write `at_least_once` and take \
             `Data<{}>`",
            shown(referent(ty))
        ))
    } else {
        None
    }
}

fn tx_is_whole(ty: &Type) -> Option<String> {
    let Source::Deferred(connection) = Source::of(ty) else {
        return None;
    };
    match (bare(ty), connection) {
        (Type::Reference(reference), _) => {
            let tx = shown(&reference.elem);
            Some(format!("handlers own their `Tx`: write `mut tx: {tx}`"))
        }
        (_, None) => {
            let message = "expected the connection's type: write `Tx<'_, PgConnection>` or \
                           `Tx<'_, SqliteConnection>`";
            Some(message.to_owned())
        }
        (_, Some(_)) => None,
    }
}

fn owned_or_lent(ty: &Type) -> Option<String> {
    let inner = shown(referent(ty));
    let name = last_segment(referent(ty)).map(|name| name.ident.to_string());
    let name = name.as_deref();
    let is_connection = name.is_some_and(|name| CONNECTIONS.contains(&name));
    let Type::Reference(reference) = bare(ty) else {
        return is_connection.then(|| format!("the connection is lent: write `&mut {inner}`"));
    };
    let is_mutable = reference.mutability.is_some();
    let is_static = |lifetime: &Lifetime| lifetime.ident == "static";
    if name.is_some_and(|name| ARGUMENTS.contains(&name)) {
        Some(format!("handlers own their arguments: write `{inner}`"))
    } else if is_mutable && reference.lifetime.as_ref().is_some_and(is_static) {
        Some(format!(
            "the connection is lent for one attempt: write `&mut {inner}`"
        ))
    } else if is_mutable {
        None
    } else if is_connection {
        Some(format!(
            "the connection is lent mutably: write `&mut {inner}`"
        ))
    } else if matches!(name, None | Some("str" | "String" | "Bytes")) {
        let message = "handlers own their arguments: take the payload as `Event<T>` or `RawEvent`";
        Some(message.to_owned())
    } else {
        Some(format!(
            "handlers own their arguments and are lent the connection only: write `{inner}`, or \
             `&mut {inner}` if it is the connection"
        ))
    }
}

/// Connections of the ledgers there are.
const CONNECTIONS: [&str; 2] = ["PgConnection", "SqliteConnection"];

/// The type behind a reference, or the type.
fn referent(ty: &Type) -> &Type {
    match bare(ty) {
        Type::Reference(reference) => bare(&reference.elem),
        ty => ty,
    }
}

/// Whether it is one of `names`, or `generic` with arguments: a bare word may be anybody's.
fn is_one_of(segment: &PathSegment, names: &[&str], generic: &str) -> bool {
    names.iter().any(|name| segment.ident == name)
        || (segment.ident == generic && !segment.arguments.is_none())
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn fault(ty: &Type) -> String {
        let argument = parse_quote!(argument: #ty);
        let mut faults = Faults::default();
        takeable(&argument, &parse_quote!(async fn on_push()), &mut faults);
        let messages = faults.messages();
        assert!(messages.len() <= 1);
        messages.concat()
    }

    #[test]
    fn good_arguments_have_no_fault() {
        for ty in [
            parse_quote!(Event<Push>),
            parse_quote!(&mut PgConnection),
            parse_quote!(&mut C),
            parse_quote!(&'_ mut C),
            parse_quote!(Tx<'_, sqlx::SqliteConnection>),
            parse_quote!(Data<PgPool>),
            parse_quote!(my::Transaction),
            parse_quote!(my::Pool),
            parse_quote!(my::Payload),
        ] {
            assert_eq!(fault(&ty), "");
        }
    }

    #[test]
    fn wrong_arguments_say_what_to_write() {
        let cases: [(Type, &str); 19] = [
            (
                parse_quote!(impl Effects),
                "`async fn on_push<C: ..>(db: &mut C)`",
            ),
            (
                parse_quote!(&mut dyn Effects),
                "`async fn on_push<C: ..>(db: &mut C)`",
            ),
            (
                parse_quote!(&mut Transaction<'_, Postgres>),
                "take the connection, `&mut PgConnection`",
            ),
            (
                parse_quote!(PgTransaction<'_>),
                "take the connection, `&mut PgConnection`",
            ),
            (parse_quote!(&PgPool), "take `Data<PgPool>`"),
            (
                parse_quote!(PoolConnection<Sqlite>),
                "take the ledger's connection",
            ),
            (parse_quote!(&mut Tx<'_, Db>), "write `mut tx: Tx<'_, Db>`"),
            (parse_quote!(Tx<'_>), "write `Tx<'_, PgConnection>`"),
            (parse_quote!(&Event<Push>), "write `Event<Push>`"),
            (parse_quote!(&mut EffectKey), "write `EffectKey`"),
            (parse_quote!(&'static mut Db), "write `&mut Db`"),
            (
                parse_quote!(&sqlx::PgConnection),
                "write `&mut sqlx::PgConnection`",
            ),
            (parse_quote!(PgConnection), "write `&mut PgConnection`"),
            (
                parse_quote!(&Db),
                "write `Db`, or `&mut Db` if it is the connection",
            ),
            (
                parse_quote!(&str),
                "take the payload as `Event<T>` or `RawEvent`",
            ),
            (
                parse_quote!(web::Payload),
                "take `Event<T>`, `RawEvent` or `Delivery`",
            ),
            (
                parse_quote!(&HttpRequest),
                "take `Event<T>`, `RawEvent` or `Delivery`",
            ),
            (
                parse_quote!(&[u8]),
                "take the payload as `Event<T>` or `RawEvent`",
            ),
            (
                parse_quote!(&web::Bytes),
                "take the payload as `Event<T>` or `RawEvent`",
            ),
        ];
        for (ty, advice) in cases {
            let shown = shown(&ty);
            let fault = fault(&ty);
            assert!(fault.contains(advice), "{shown}: {fault}");
        }
    }

    #[test]
    fn arguments_do_not_come_and_go() {
        let sig: Signature = parse_quote! {
            async fn on_push(#[cfg(test)] id: EventId, #[allow(unused)] key: EffectKey)
        };
        let mut faults = Faults::default();
        for argument in &sig.inputs {
            let syn::FnArg::Typed(argument) = argument else {
                panic!()
            };
            unconditional(argument, &mut faults);
        }
        assert_eq!(faults.messages().len(), 1);
    }
}

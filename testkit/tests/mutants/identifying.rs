//! Mutants that take two texts for one, or two places for one.

use std::fmt;

use webhook_core::ledger::{Ledger, LedgerError};
use webhook_core::{Claim, NewEvent};

use crate::broken::{Broken, Mutant};
use crate::is_caught;
use crate::store::rows;

/// Endpoint, tenant, account and id.
type Place = (String, Option<String>, Option<String>, String);

/// A mutant that sees less of a place than there is.
trait Blurs: fmt::Debug + 'static {
    /// What it sees.
    fn blurred(place: &mut Place);
}

impl<B: Blurs> Mutant for B {
    async fn claim(on: &Broken<Self>, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        let sql = "select endpoint, principal, account, event_id from webhook_inbox";
        let known: Vec<Place> = rows(&on.path, sql).await;
        let mut seen = known.clone();
        seen.iter_mut().for_each(B::blurred);
        let mut claims = Vec::new();
        for event in events {
            let place = (
                event.endpoint().to_string(),
                event.principal().map(str::to_owned),
                event.account().map(str::to_owned),
                event.id().to_string(),
            );
            let mut blurred = place.clone();
            B::blurred(&mut blurred);
            claims.push(if !known.contains(&place) && seen.contains(&blurred) {
                Claim::InFlight
            } else {
                seen.push(blurred);
                on.ledger.claim(vec![event]).await?.remove(0)
            });
        }
        Ok(claims)
    }
}

macro_rules! blurs {
    ($($(#[$doc:meta])+ $mutant:ident: $place:pat => $blurred:expr;)+) => {
        $(
            $(#[$doc])+
            #[derive(Debug)]
            struct $mutant;

            impl Blurs for $mutant {
                fn blurred($place: &mut Place) {
                    $blurred
                }
            }
        )+
    };
}

blurs! {
    /// Keeps the first 64 bytes of an id.
    CutsIds: (_, _, _, id) => id.truncate(id.floor_char_boundary(64));
    /// Keeps a byte less than the longest id has.
    CutsTheLastByte: (_, _, _, id) => id.truncate(id.floor_char_boundary(254));
    /// Compares ids whatever their case.
    FoldsCase: (_, _, _, id) => *id = id.to_lowercase();
    /// Ends ids where C does.
    KeepsAscii: (_, _, _, id) => id.retain(|c| c.is_ascii());
    /// Composes the letter A with a ring, as a database with a collation might.
    Normalizes: (_, _, _, id) => *id = id.replace("A\u{30a}", "\u{c5}").replace('\u{212b}', "\u{c5}");
    /// Has one space of ids for all accounts.
    SharesAccounts: (_, _, account, _) => *account = None;
    /// Has one space of ids for all endpoints.
    SharesEndpoints: (endpoint, _, _, _) => endpoint.clear();
    /// Has one space of ids for all tenants.
    SharesTenants: (_, tenant, _, _) => *tenant = None;
    /// Takes no account for an account without a name.
    TakesNoneForEmpty: (_, _, account, _) => *account = Some(account.take().unwrap_or_default().replace('a', ""));
    /// Writes the parts of a key one behind the other.
    JoinsParts: (endpoint, tenant, account, id) => {
        let tenant = tenant.take().unwrap_or_default();
        let account = account.take().unwrap_or_default();
        *id = format!("{endpoint}{tenant}{account}{id}");
        endpoint.clear();
    };
    /// Takes spaces around an id for nothing.
    TrimsIds: (_, _, _, id) => *id = id.trim().to_owned();
}

pub(crate) mod caught {
    caught! {
        CutsIds:
            "identifiers::every_length_up_to_the_bound_is_kept_whole"
            "identifiers::ids_are_compared_byte_for_byte"
        CutsTheLastByte:
            "identifiers::every_length_up_to_the_bound_is_kept_whole"
            "identifiers::ids_are_compared_byte_for_byte"
        FoldsCase:
            "identifiers::ids_are_compared_byte_for_byte"
            "identifiers::normal_forms_are_different_texts"
            "identifiers::look_alikes_are_different_texts"
        JoinsParts:
            "identifiers::parts_of_a_key_do_not_run_together"
        KeepsAscii:
            "identifiers::every_script_is_kept_as_it_is"
            "identifiers::normal_forms_are_different_texts"
            "identifiers::look_alikes_are_different_texts"
        Normalizes:
            "identifiers::ids_are_compared_byte_for_byte"
            "identifiers::normal_forms_are_different_texts"
        SharesAccounts:
            "identifiers::c1_no_account_is_not_an_account"
            "identifiers::accounts_and_endpoints_share_an_id_and_nothing_else"
            "identifiers::parts_of_a_key_do_not_run_together"
        SharesEndpoints:
            "identifiers::one_event_runs_at_every_endpoint"
            "identifiers::accounts_and_endpoints_share_an_id_and_nothing_else"
        SharesTenants:
            "identifiers::tenants_do_not_share_ids"
        TakesNoneForEmpty:
            "identifiers::c1_no_account_is_not_an_account"
        TrimsIds:
            "identifiers::ids_are_compared_byte_for_byte"
            "identifiers::look_alikes_are_different_texts"
    }
}

//! Who a Stripe event is, and whether the endpoint wants it.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventId, EventType, Identity, InvalidEvent, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    id: Cow<'b, str>,
    #[serde(borrow, default)]
    object: Cow<'b, str>,
    #[serde(borrow, default, rename = "type")]
    event_type: Cow<'b, str>,
    account: Option<Cow<'b, str>>,
    context: Option<Cow<'b, str>>,
    livemode: Option<bool>,
}

/// Which events an endpoint wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// `None`: both modes.
    pub(crate) livemode: Option<bool>,
    /// `None`: of any account.
    pub(crate) connected: Option<bool>,
    /// `None`: of any connected account.
    pub(crate) accounts: Option<&'static [String]>,
}

pub(crate) fn identity(wanted: Wanted, body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    let account = if named.object == "v2.core.event" {
        named.context
    } else {
        named.account
    };
    let account = account.map(|name| Account::new(&name)).transpose()?;
    // An event that does not say its mode is in none.
    let other_mode = wanted.livemode.is_some() && wanted.livemode != named.livemode;
    let is_listed = |listed: &[String]| {
        let account = account.as_ref().map(Account::as_str);
        account.is_some_and(|account| listed.iter().any(|one| one == account))
    };
    let other_account = wanted
        .connected
        .is_some_and(|connected| connected != account.is_some())
        || !wanted.accounts.is_none_or(is_listed);
    let id = EventId::new(&named.id)?;
    let identity = Identity::new(id, EventType::new(&named.event_type)?).account(account);
    Ok(if other_mode {
        identity.outside("mode")
    } else if other_account {
        identity.outside("account")
    } else {
        identity
    })
}

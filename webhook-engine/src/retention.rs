//! How long an endpoint must remember who it has seen, derived from what its provider declares.

use std::time::Duration;

use webhook_core::ledger::IdentityRetention;
use webhook_core::{Redelivery, Spec, Window};

/// Clocks, queues and operators are late: added to every horizon.
const MARGIN: Duration = Duration::from_hours(24);
/// A key that was live nowhere for this long is gone for good.
const KEY_GRACE: Duration = Duration::from_hours(7 * 24);

/// The retention of identities for a provider in `window`, unless `told` otherwise.
///
/// With a signed timestamp an event can come again until its provider's last redelivery, automatic or
/// by hand, plus both tolerances. Without one a captured request is good for as long as its key.
///
/// # Errors
///
/// A told length that is shorter than that.
pub(crate) fn of(
    spec: &Spec,
    window: Window,
    told: Option<Duration>,
) -> Result<IdentityRetention, String> {
    let needed = if spec.is_timestamped() {
        match (spec.automatic(), spec.manual()) {
            (Redelivery::Unknown, _) | (_, Redelivery::Unknown) => IdentityRetention::Forever,
            (automatic, manual) => {
                let horizon = length(automatic).max(length(manual));
                let tolerances = window.past().saturating_add(window.future());
                IdentityRetention::For(horizon.saturating_add(tolerances).saturating_add(MARGIN))
            }
        }
    } else {
        IdentityRetention::WhileKeysLive(KEY_GRACE)
    };
    match (needed, told) {
        (needed, None) => Ok(needed),
        (IdentityRetention::For(needed), Some(told)) if told < needed => Err(format!(
            "identities must be remembered for at least {} hours: the provider can present them until then",
            needed.as_secs().div_ceil(3600)
        )),
        (IdentityRetention::WhileKeysLive(_), Some(_)) => Err(
            "the provider signs no timestamp: identities must be remembered as long as its keys live"
                .to_owned(),
        ),
        (_, Some(told)) => Ok(IdentityRetention::For(told)),
    }
}

fn length(redelivery: Redelivery) -> Duration {
    match redelivery {
        Redelivery::For(length) => length,
        _ => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use webhook_core::Spec;

    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const FIVE: Window = Window::FIVE_MINUTES;

    fn spec(automatic: Redelivery, manual: Redelivery) -> Spec {
        Spec::timestamped("x", FIVE).redelivers(automatic, manual)
    }

    #[test]
    fn e1_manual_resends_outlive_automatic_retries() {
        let spec = spec(Redelivery::For(72 * HOUR), Redelivery::For(720 * HOUR));
        let IdentityRetention::For(length) = of(&spec, FIVE, None).unwrap() else {
            panic!()
        };
        assert!(length >= 720 * HOUR + Duration::from_mins(10));
        assert!(of(&spec, FIVE, Some(719 * HOUR)).is_err());
        assert_eq!(
            of(&spec, FIVE, Some(9000 * HOUR)),
            Ok(IdentityRetention::For(9000 * HOUR))
        );
    }

    #[test]
    fn e1_an_unknown_horizon_is_for_ever_unless_told() {
        for spec in [
            spec(Redelivery::Unknown, Redelivery::Never),
            spec(Redelivery::Never, Redelivery::Unknown),
        ] {
            assert_eq!(of(&spec, FIVE, None), Ok(IdentityRetention::Forever));
            assert_eq!(
                of(&spec, FIVE, Some(HOUR)),
                Ok(IdentityRetention::For(HOUR))
            );
        }
    }

    #[test]
    fn e3_without_a_timestamp_keys_decide() {
        let spec = Spec::untimestamped("x").redelivers(Redelivery::Never, Redelivery::Never);
        assert_eq!(
            of(&spec, FIVE, None),
            Ok(IdentityRetention::WhileKeysLive(KEY_GRACE))
        );
        assert!(of(&spec, FIVE, Some(9000 * HOUR)).is_err());
    }
}

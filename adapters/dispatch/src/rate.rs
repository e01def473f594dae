//! How many attempts an endpoint may begin, by its own limit.

use std::collections::HashMap;
use std::time::Instant;

use webhook_core::outbox::EndpointId;

/// A bucket of tokens for each endpoint that has a limit: as many a second, and never more than one
/// second's worth saved up.
#[derive(Debug, Default)]
pub(crate) struct Rates(HashMap<EndpointId, Bucket>);

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    filled_at: Instant,
}

impl Rates {
    /// How many may begin at `now`.
    pub(crate) fn begins(
        &mut self,
        endpoint: EndpointId,
        per_second: Option<u32>,
        now: Instant,
    ) -> u32 {
        let Some(per_second) = per_second else {
            return u32::MAX;
        };
        // Buckets that have filled up again say nothing, and are forgotten.
        if self.0.len() > MOST_BUCKETS {
            self.0
                .retain(|_, bucket| now.duration_since(bucket.filled_at).as_secs() < 1);
        }
        let most = f64::from(per_second);
        let bucket = self.0.entry(endpoint).or_insert(Bucket {
            tokens: most,
            filled_at: now,
        });
        let since = now.duration_since(bucket.filled_at).as_secs_f64();
        bucket.tokens = (bucket.tokens + since * most).min(most);
        bucket.filled_at = now;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and a u32"
        )]
        let whole = bucket.tokens.floor() as u32;
        whole
    }

    /// One has begun.
    pub(crate) fn spend(&mut self, endpoint: EndpointId) {
        if let Some(bucket) = self.0.get_mut(&endpoint) {
            bucket.tokens = (bucket.tokens - 1.0).max(0.0);
        }
    }
}

const MOST_BUCKETS: usize = 10_000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_second_holds_no_more_than_the_limit() {
        let (mut rates, endpoint) = (Rates::default(), EndpointId::generate());
        let start = Instant::now();
        let mut begun = 0;
        for millis in 0..10_000 {
            let now = start + Duration::from_millis(millis);
            for _ in 0..rates.begins(endpoint, Some(3), now) {
                rates.spend(endpoint);
                begun += 1;
            }
        }
        // Those saved up at the start, and three a second.
        assert!((32..=33).contains(&begun), "{begun}");
    }

    #[test]
    fn no_limit_is_none() {
        let mut rates = Rates::default();
        assert_eq!(
            rates.begins(EndpointId::generate(), None, Instant::now()),
            u32::MAX
        );
    }
}

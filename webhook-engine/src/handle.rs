//! One endpoint as an HTTP adapter sees it.

use std::fmt;
use std::time::{Duration, Instant};

use webhook_core::ledger::Ledger;
use webhook_core::{Head, Outcome, Rejection, Verified, Verifier};

use crate::budget::Budget;
use crate::response::Reception;
use crate::shared::Site;
use crate::{gate, receive};

/// An endpoint for an HTTP adapter: `admit` the head, feed the body, `receive` what was verified,
/// and `observe` the answer.
pub struct EndpointHandle<L: Ledger>(Site<L>);

impl<L: Ledger> EndpointHandle<L> {
    pub(crate) fn new(site: Site<L>) -> Self {
        Self(site)
    }

    /// Its path, perhaps with a `{tenant}` parameter.
    pub fn path(&self) -> &str {
        &self.0.served.built.path
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.served.built.name
    }

    /// Its provider's name.
    pub fn provider(&self) -> &'static str {
        self.0.served.built.provider.spec().name()
    }

    /// Longest time a body may take to arrive.
    pub fn body_timeout(&self) -> Duration {
        self.0.served.built.body_timeout
    }

    /// The process's budget of unauthenticated bytes.
    pub fn budget(&self) -> &Budget {
        &self.0.shared.budget
    }

    /// Whether its provider sends challenges as GETs. Other methods than POST are refused where it does not.
    pub fn answers_get(&self) -> bool {
        self.0.built().provider.spec().is_greeted()
    }

    /// The answer to a GET. Nobody signs one: it claims, stores and runs nothing, and its body is not read.
    pub fn greet(&self, head: &Head<'_>) -> Reception {
        gate::greet(&self.0, head)
    }

    /// Judge the head before a byte of the body is read. `tenant` comes from the path.
    ///
    /// # Errors
    ///
    /// The refusal to answer with.
    pub async fn admit(
        &self,
        head: &Head<'_>,
        tenant: Option<&str>,
    ) -> Result<Verifier, Reception> {
        gate::admit(&self.0, head, tenant).await
    }

    /// Identify, claim and, for inline handlers, run what was verified.
    ///
    /// What was begun goes on if the returned future is dropped: a client that hangs up loses nothing.
    pub async fn receive(&self, verified: Verified<'_>) -> Reception {
        receive::receive(&self.0, verified).await
    }

    /// The answer to a rejection while the body arrived.
    pub fn rejected(&self, rejection: Rejection) -> Reception {
        Reception::rejected(rejection)
    }

    /// The standard answer to `outcome`.
    pub fn reception(&self, outcome: Outcome) -> Reception {
        self.0.reception(outcome)
    }

    /// Count the answer and write it into the current span.
    pub fn observe(&self, reception: &Reception, began: Instant) {
        let span = tracing::Span::current();
        span.record("outcome", reception.outcome.as_str());
        span.record("status", reception.response.status);
        if let Some(rejection) = &reception.rejection {
            span.record("reason", tracing::field::display(rejection));
            self.0.built().meters.outside_window(rejection);
        }
        if reception.response.status >= 400 {
            // The span says why. Not louder: anybody can be refused.
            tracing::debug!("delivery refused");
        }
        let meters = &self.0.built().meters;
        meters.delivery(reception.outcome, began.elapsed());
    }
}

impl<L: Ledger> Clone for EndpointHandle<L> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<L: Ledger> fmt::Debug for EndpointHandle<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EndpointHandle").field(&self.name()).finish()
    }
}

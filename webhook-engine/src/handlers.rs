//! Who takes which type of an endpoint's events.

use std::collections::HashMap;
use std::sync::Arc;

use webhook_core::ledger::EventTypes;
use webhook_core::{DataMap, Handler, Mode, Provider, Spec};

use crate::erased::{Erase, Erased};
use crate::policy::Repeats;

/// The handlers of an endpoint: one for each type that is named, and perhaps one for all the others.
pub(crate) struct Handlers<C> {
    named: HashMap<&'static str, Arc<dyn Erased<C>>>,
    others: Option<Arc<dyn Erased<C>>>,
}

impl<C: Send + 'static> Handlers<C> {
    /// Nobody's type twice, everybody with all they want.
    pub(crate) fn of<P: Provider>(
        handlers: Vec<Arc<dyn Handler<P, C>>>,
        spec: &Spec,
        repeats: Option<Repeats>,
        data: &DataMap,
    ) -> Result<Self, String> {
        let mut all = Self::none();
        for handler in handlers {
            let facts = handler.spec();
            handler
                .require(data)
                .map_err(|missing| format!("handler `{}`: {missing}", facts.name))?;
            all.add(Arc::new(Erase(handler)))?;
        }
        if all.named.is_empty() && all.others.is_none() {
            return Err("no handler: add `.on(..)`".to_owned());
        }
        let repeating = spec.repeating_types().iter();
        let mut unsaid = repeating.filter(|event| repeats.is_none() && all.get(event).is_some());
        if let Some(event) = unsaid.next() {
            return Err(format!(
                "`{event}` may repeat byte for byte with no replay intended: \
                     say `.repeats(Repeats::Quarantine)` or `.repeats(Repeats::Run)`"
            ));
        }
        Ok(all)
    }

    fn none() -> Self {
        Self {
            named: HashMap::new(),
            others: None,
        }
    }

    fn add(&mut self, handler: Arc<dyn Erased<C>>) -> Result<(), String> {
        let facts = handler.spec();
        let twice = |what: String, other: Arc<dyn Erased<C>>| {
            let (one, two) = (other.spec().name, facts.name);
            Err(format!("{what} handled by `{one}` and by `{two}`"))
        };
        for event in facts.events {
            if let Some(other) = self.named.insert(event, handler.clone()) {
                return twice(format!("`{event}` is"), other);
            }
        }
        if facts.others
            && let Some(other) = self.others.replace(handler)
        {
            return twice("types that no handler names are".to_owned(), other);
        }
        Ok(())
    }
}

impl<C> Handlers<C> {
    /// The handler of a type. One that names it goes before the one for all the others.
    pub(crate) fn get(&self, event_type: &str) -> Option<&Arc<dyn Erased<C>>> {
        self.named.get(event_type).or(self.others.as_ref())
    }

    /// The types that have one.
    pub(crate) fn event_types(&self) -> EventTypes {
        match self.others {
            Some(_) => EventTypes::All,
            None => EventTypes::Listed(self.named.keys().map(|&event| event.to_owned()).collect()),
        }
    }

    /// Whether any runs inside the request.
    pub(crate) fn any_inline(&self) -> bool {
        let mut all = self.named.values().chain(&self.others);
        all.any(|handler| handler.spec().mode == Mode::Inline)
    }
}

#[cfg(test)]
mod tests {
    use webhook_core::{BoxFuture, Claimed, ConnectionUse, HandlerError, HandlerSpec, Lend, Reply};

    use super::*;

    struct Is(&'static HandlerSpec);

    impl Erased<()> for Is {
        fn spec(&self) -> &'static HandlerSpec {
            self.0
        }

        fn call<'a>(
            &'a self,
            _: &'a Claimed,
            _: &'a mut dyn Lend<()>,
        ) -> BoxFuture<'a, Result<Reply, HandlerError>> {
            Box::pin(async { Ok(Reply::default()) })
        }
    }

    const fn spec(
        name: &'static str,
        events: &'static [&'static str],
        others: bool,
        mode: Mode,
    ) -> HandlerSpec {
        HandlerSpec {
            name,
            events,
            others,
            mode,
            connection: ConnectionUse::None,
        }
    }

    static ON_PUSH: HandlerSpec = spec("on_push", &["push"], false, Mode::Inbox);
    static ON_BOTH: HandlerSpec = spec("on_both", &["push", "issues"], false, Mode::Inbox);
    static ON_REST: HandlerSpec = spec("on_rest", &["issues"], true, Mode::Inline);
    static ON_ALL: HandlerSpec = spec("on_all", &[], true, Mode::Inbox);

    fn handlers(specs: &[&'static HandlerSpec]) -> Result<Handlers<()>, String> {
        let mut handlers = Handlers::none();
        for &spec in specs {
            handlers.add(Arc::new(Is(spec)))?;
        }
        Ok(handlers)
    }

    fn fault(specs: &[&'static HandlerSpec]) -> String {
        handlers(specs).err().unwrap_or_default()
    }

    #[test]
    fn a_type_that_is_named_goes_before_all_the_others() {
        let handlers = handlers(&[&ON_REST, &ON_PUSH]).unwrap();
        for (event_type, name) in [
            ("push", "on_push"),
            ("issues", "on_rest"),
            ("ping", "on_rest"),
        ] {
            assert_eq!(handlers.get(event_type).unwrap().spec().name, name);
        }
        assert_eq!(handlers.event_types(), EventTypes::All);
        assert!(handlers.any_inline());
    }

    #[test]
    fn without_one_for_the_others_they_have_none() {
        let handlers = handlers(&[&ON_PUSH]).unwrap();
        assert!(handlers.get("ping").is_none());
        let only = vec!["push".to_owned()];
        assert_eq!(handlers.event_types(), EventTypes::from(only));
        assert!(!handlers.any_inline());
    }

    #[test]
    fn no_type_has_two_handlers() {
        assert_eq!(
            fault(&[&ON_PUSH, &ON_BOTH]),
            "`push` is handled by `on_push` and by `on_both`"
        );
        assert_eq!(
            fault(&[&ON_REST, &ON_PUSH, &ON_ALL]),
            "types that no handler names are handled by `on_rest` and by `on_all`"
        );
    }
}

use webhook_actix::{Event, EventType, Events, HandlerError, webhook};
use webhook_github::GitHub;

#[allow(dead_code)]
#[derive(Events)]
enum Change {
    #[event(other)]
    Other(EventType),
}

#[webhook(provider = GitHub, at_least_once)]
async fn on_change(_event: Event<Change>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}

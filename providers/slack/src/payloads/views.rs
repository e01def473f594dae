//! Modals and the app's own page.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Choice;

/// A modal, or the app's own page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct View {
    /// Its id.
    pub id: String,
    /// `modal` or `home`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The app's own name of its kind.
    pub callback_id: Option<String>,
    /// The app's own name of this one.
    pub external_id: Option<String>,
    /// The app's own words. Users do not see it.
    pub private_metadata: Option<String>,
    /// Changes with each update: hand it in to update what was seen.
    pub hash: Option<String>,
    /// The modal it was opened from, at last.
    pub root_view_id: Option<String>,
    /// What was put into it.
    pub state: Option<ViewState>,
}

impl View {
    /// What was put into the element `action_id` of the block `block_id`.
    pub fn input(&self, block_id: &str, action_id: &str) -> Option<&Input> {
        self.state.as_ref()?.input(block_id, action_id)
    }
}

/// What was put into elements: by block, then by action.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ViewState {
    /// The elements.
    #[serde(default)]
    pub values: BTreeMap<String, BTreeMap<String, Input>>,
}

impl ViewState {
    /// What was put into the element `action_id` of the block `block_id`.
    pub fn input(&self, block_id: &str, action_id: &str) -> Option<&Input> {
        self.values.get(block_id)?.get(action_id)
    }
}

/// What was put into an element. Which member is there is a matter of its type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Input {
    /// The type, for example `plain_text_input`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A text, a number or an address.
    pub value: Option<String>,
    /// The choice of one.
    pub selected_option: Option<Choice>,
    /// The choice of many.
    #[serde(default)]
    pub selected_options: Vec<Choice>,
    /// A user.
    pub selected_user: Option<String>,
    /// Users.
    #[serde(default)]
    pub selected_users: Vec<String>,
    /// A channel.
    pub selected_channel: Option<String>,
    /// A conversation.
    pub selected_conversation: Option<String>,
    /// A day, `YYYY-MM-DD`.
    pub selected_date: Option<String>,
    /// A time of the day, `HH:mm`.
    pub selected_time: Option<String>,
}

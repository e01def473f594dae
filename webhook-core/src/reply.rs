//! What a handler answers with.

use bytes::Bytes;

/// What a handler answers with. Empty unless it says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    content_type: Option<String>,
    body: Bytes,
}

impl Reply {
    /// A body of this media type.
    pub fn new(content_type: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            content_type: Some(content_type.into()),
            body: body.into(),
        }
    }

    /// A JSON text.
    pub fn json(text: impl Into<Bytes>) -> Self {
        Self::new("application/json", text)
    }

    /// Its media type.
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// Its body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.content_type.is_none() && self.body.is_empty()
    }
}

impl From<()> for Reply {
    fn from((): ()) -> Self {
        Self::default()
    }
}

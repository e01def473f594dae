//! What an envelope says of its scheme, for whoever describes a provider or compares it with another.

use crate::algorithm::Algorithm;
use crate::envelope::{Envelope, Segment};
use crate::head::Malformed;
use crate::untrusted::UntrustedBody;

impl<'r> Envelope<'r> {
    /// What may be signed. Almost always one content; none where the envelope stands in the body.
    pub fn contents(&self) -> impl Iterator<Item = &[Segment<'r>]> {
        let contents = self.contents.iter().map(|content| &content[..]);
        contents.filter(|content| !content.is_empty())
    }

    /// The algorithms of the signatures offered, in their order.
    pub fn algorithms(&self) -> impl Iterator<Item = Algorithm> {
        self.candidates.iter().map(|candidate| candidate.algorithm)
    }

    /// The envelope that stands in `body`, where this one says that it does. Nothing is checked, and nothing in it to be
    /// trusted.
    pub fn untrusted_in<'b>(&self, body: &'b [u8]) -> Option<Result<Envelope<'b>, Malformed>> {
        self.in_body.map(|read| read(UntrustedBody::new(body)))
    }
}

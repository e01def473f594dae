//! Enums that senders may add to.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Visitor};

/// Define an enum of texts that a sender may add to without notice: an unknown text is kept in `Other`, and
/// decoding it never fails.
///
/// It gets `as_str`, `From<&str>`, `Display` and [`serde::Deserialize`].
///
/// ```
/// webhook_core::open_enum! {
///     /// Where a payout stands.
///     pub enum PayoutStatus {
///         /// On its way.
///         InTransit = "in_transit",
///         /// It arrived.
///         Paid = "paid",
///     }
/// }
///
/// assert_eq!(PayoutStatus::from("paid"), PayoutStatus::Paid);
/// assert_eq!(PayoutStatus::from("lost").as_str(), "lost");
/// ```
#[macro_export]
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[non_exhaustive]
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        $visibility enum $name {
            $( $(#[$variant_meta])* #[doc = concat!("\n\n`", $text, "`")] $variant, )+
            /// Any other text, as sent.
            Other(::std::string::String),
        }

        impl $name {
            /// The text as sent.
            $visibility fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )+
                    Self::Other(text) => text,
                }
            }
        }

        impl ::core::convert::From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $( $text => Self::$variant, )+
                    other => Self::Other(::std::borrow::ToOwned::to_owned(other)),
                }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl<'de> $crate::open_enum::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::open_enum::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::open_enum::read(deserializer)
            }
        }
    };
}

#[doc(hidden)]
pub use serde;

/// Read a text without copying it first. For what [`open_enum!`](crate::open_enum!) writes.
#[doc(hidden)]
pub fn read<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: for<'t> From<&'t str>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_str(Text(PhantomData))
}

struct Text<T>(PhantomData<T>);

impl<T: for<'t> From<&'t str>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    open_enum! {
        /// A colour.
        enum Colour {
            /// Like blood.
            Red = "red",
            /// Like grass.
            DarkGreen = "dark-green",
        }
    }

    #[test]
    fn known_texts_are_variants_and_others_are_kept() {
        let read = |json: &str| serde_json::from_str::<Colour>(json);
        assert_eq!(read(r#""red""#).unwrap(), Colour::Red);
        assert_eq!(read(r#""dark\u002dgreen""#).unwrap(), Colour::DarkGreen);
        for other in ["", "Red", "mauve", "ünï"] {
            let colour = read(&format!("\"{other}\"")).unwrap();
            assert_eq!(colour, Colour::Other(other.to_owned()));
            assert_eq!(
                (colour.as_str(), colour.to_string()),
                (other, other.to_owned())
            );
        }
        for text in ["red", "dark-green"] {
            assert_eq!(Colour::from(text).as_str(), text);
        }
        for wrong in ["1", "null", "{}", "[]", "true"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}

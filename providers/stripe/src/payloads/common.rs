//! Money, moments, references: what all objects are made of.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Money in the smallest unit of its currency: cents for `eur`, whole yen for `jpy`. Never a fraction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct Amount(i64);

/// A moment in Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct UnixSeconds(i64);

/// An ISO 4217 code in lower case, for example `eur`. Any text: currencies come and go.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct Currency(String);

/// Your own names and values on an object.
pub type Metadata = BTreeMap<String, String>;

/// An object, or only its id.
///
/// Events carry ids; Stripe may send the object where an id was.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Expandable<T> {
    /// The id.
    Id(String),
    /// The object.
    Object(Box<T>),
}

/// The id of an object, whether the id or the object was sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference(String);

/// The beginning of a list.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct List<T> {
    /// The items sent, the first of all.
    pub data: Vec<T>,
    /// Whether there are more, to be fetched from the API.
    #[serde(default)]
    pub has_more: bool,
}

/// A postal address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Address {
    /// First line: street, house number.
    pub line1: Option<String>,
    /// Second line.
    pub line2: Option<String>,
    /// City, town or village.
    pub city: Option<String>,
    /// State, county or province.
    pub state: Option<String>,
    /// Postal code.
    pub postal_code: Option<String>,
    /// Two-letter country code, ISO 3166-1 alpha-2.
    pub country: Option<String>,
}

/// Where goods go.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Shipping {
    /// The address.
    pub address: Option<Address>,
    /// The recipient.
    pub name: Option<String>,
    /// Their telephone number.
    pub phone: Option<String>,
    /// Who carries it.
    pub carrier: Option<String>,
    /// Tracking number, or several parted by commas.
    pub tracking_number: Option<String>,
}

/// Who pays, as given with the payment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct BillingDetails {
    /// Their address.
    pub address: Option<Address>,
    /// Their email address.
    pub email: Option<String>,
    /// Their name.
    pub name: Option<String>,
    /// Their telephone number.
    pub phone: Option<String>,
}

impl Amount {
    /// The number of smallest units.
    pub const fn minor_units(self) -> i64 {
        self.0
    }
}

impl UnixSeconds {
    /// The number of seconds since 1970-01-01T00:00:00Z.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl Currency {
    /// The code.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Reference {
    /// The id.
    pub fn id(&self) -> &str {
        &self.0
    }
}

impl<T> Expandable<T> {
    /// The object, if it was sent.
    pub fn object(&self) -> Option<&T> {
        match self {
            Self::Id(_) => None,
            Self::Object(object) => Some(object),
        }
    }
}

impl<T: Identified> Expandable<T> {
    /// The id.
    pub fn id(&self) -> &str {
        match self {
            Self::Id(id) => id,
            Self::Object(object) => object.id(),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Expandable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdOr(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Named {
            id: String,
        }
        Ok(Self(
            match Expandable::<Named>::deserialize(deserializer)? {
                Expandable::Id(id) => id,
                Expandable::Object(named) => named.id,
            },
        ))
    }
}

/// An object with an id.
#[expect(
    unnameable_types,
    reason = "a bound of `Expandable::id`, for the objects here"
)]
pub trait Identified {
    /// Its id.
    fn id(&self) -> &str;
}

macro_rules! identified {
    ($($object:ty),+) => {$(
        impl Identified for $object {
            fn id(&self) -> &str {
                &self.id
            }
        }
    )+};
}

identified!(
    crate::payloads::Charge,
    crate::payloads::Customer,
    crate::payloads::PaymentIntent,
    crate::payloads::Price,
    crate::payloads::Product,
    crate::payloads::Subscription
);

/// `null` where a collection may stand.
pub(super) fn or_empty<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

struct IdOr<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for IdOr<T> {
    type Value = Expandable<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id or an object")
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<Self::Value, E> {
        Ok(Expandable::Id(id.to_owned()))
    }

    fn visit_string<E: Error>(self, id: String) -> Result<Self::Value, E> {
        Ok(Expandable::Id(id))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let object = T::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Expandable::Object(Box::new(object)))
    }
}

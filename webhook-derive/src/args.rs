//! What stands between the parentheses of `#[webhook(..)]`.

use std::fmt::{self, Display};

use proc_macro2::TokenTree;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Path, PathArguments, Result, Token, parenthesized, token};

use crate::fault::Faults;
use crate::near::nearest;
use crate::types;

/// The options, as far as they could be read.
///
/// Parsing it never fails: it goes on behind a fault, and a misspelt option counts as the one that
/// was meant, so that one slip is one fault.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) provider: Option<Path>,
    pub(crate) types: Vec<LitStr>,
    pub(crate) inline: Option<Ident>,
    pub(crate) at_least_once: Option<Ident>,
    pub(crate) faults: Faults,
    seen: Vec<Name>,
}

/// The name of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    AtLeastOnce,
    Event,
    Events,
    Inline,
    Provider,
}

impl Args {
    /// Whether the option was given, well or badly.
    pub(crate) fn has(&self, name: Name) -> bool {
        self.seen.contains(&name)
    }

    fn option(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(LitStr) {
            let literal: LitStr = input.parse()?;
            return Err(self.unnamed_type(&literal));
        }
        let Ok(ident) = input.call(Ident::parse_any) else {
            return Err(input.error(format!("expected an option: {}", Name::LIST)));
        };
        let name = match Name::exactly(&ident) {
            Some(name) => name,
            None => self.guess(&ident, input)?,
        };
        if let Some(fault) = self.repeats(name, &ident) {
            return Err(fault);
        }
        self.seen.push(name);
        match name {
            Name::AtLeastOnce => self.at_least_once = Some(flag(name, ident, input)?),
            Name::Event => self.types = vec![event(input)?],
            Name::Events => self.types = events(&ident, input)?,
            Name::Inline => self.inline = Some(flag(name, ident, input)?),
            Name::Provider => self.provider = Some(provider(input)?),
        }
        Ok(())
    }

    /// `#[webhook(Stripe, "push")]`, `event = "a", "b"`
    fn unnamed_type(&mut self, literal: &LitStr) -> Error {
        let message = if self.has(Name::Event) {
            "several event types are written `events(\"..\", \"..\")`".to_owned()
        } else {
            self.seen.push(Name::Event);
            format!("name the option: write `event = {:?}`", literal.value())
        };
        Error::new(literal.span(), message)
    }

    fn guess(&mut self, ident: &Ident, input: ParseStream<'_>) -> Result<Name> {
        let text = ident.to_string();
        if let Some(near) = Name::near(&text) {
            let message = format!("unknown option `{text}`: did you mean `{near}`?");
            self.faults.at(ident, message);
            return Ok(near);
        }
        let is_bare = input.is_empty() || input.peek(Token![,]) || input.peek(Token![::]);
        if is_bare && text.starts_with(char::is_uppercase) {
            self.seen.push(Name::Provider);
            let message = format!("name the option: write `provider = {text}`");
            return Err(Error::new(ident.span(), message));
        }
        let message = format!("unknown option `{text}`: {}", Name::LIST);
        Err(Error::new(ident.span(), message))
    }

    fn repeats(&self, name: Name, ident: &Ident) -> Option<Error> {
        let message = if self.has(name) {
            format!("`{name}` is given twice: remove one")
        } else if (name == Name::Event && self.has(Name::Events))
            || (name == Name::Events && self.has(Name::Event))
        {
            "event types are given twice: put them all into one `events(\"..\", \"..\")`".to_owned()
        } else {
            return None;
        };
        Some(Error::new(ident.span(), message))
    }
}

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut args = Self::default();
        while !input.is_empty() {
            let option = args.option(input);
            if let Err(fault) = option.and_then(|()| separator(input)) {
                args.faults.push(fault);
                skip_option(input)?;
            }
        }
        Ok(args)
    }
}

impl Name {
    const ALL: [Self; 5] = [
        Self::AtLeastOnce,
        Self::Event,
        Self::Events,
        Self::Inline,
        Self::Provider,
    ];

    const LIST: &str = "write `provider = ..`, `event = \"..\"` or `events(\"..\", \"..\")`, \
                        `inline`, `at_least_once`";

    const fn as_str(self) -> &'static str {
        match self {
            Self::AtLeastOnce => "at_least_once",
            Self::Event => "event",
            Self::Events => "events",
            Self::Inline => "inline",
            Self::Provider => "provider",
        }
    }

    fn exactly(ident: &Ident) -> Option<Self> {
        Self::ALL.into_iter().find(|name| ident == name.as_str())
    }

    /// The option that `text` is a slip of.
    fn near(text: &str) -> Option<Self> {
        nearest(text, Self::ALL, Self::as_str)
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn provider(input: ParseStream<'_>) -> Result<Path> {
    const WRITE: &str = "the provider's type goes here: write `provider = Stripe`";
    equals(input, WRITE)?;
    let path: Path = input
        .call(Path::parse)
        .map_err(|fault| Error::new(fault.span(), WRITE))?;
    // `Stripe::live()` reads as the type `Fn()` does.
    let called = path
        .segments
        .iter()
        .any(|segment| matches!(segment.arguments, PathArguments::Parenthesized(_)));
    if called || !(input.is_empty() || input.peek(Token![,])) {
        let message = "the provider's type goes here, its value on the endpoint: \
                       write `provider = Stripe`";
        return Err(Error::new_spanned(path, message));
    }
    Ok(path)
}

fn event(input: ParseStream<'_>) -> Result<LitStr> {
    equals(
        input,
        "one event type is written `event = \"..\"`, several are `events(\"..\", \"..\")`",
    )?;
    types::one(input)
}

fn events(keyword: &Ident, input: ParseStream<'_>) -> Result<Vec<LitStr>> {
    if !input.peek(token::Paren) {
        let message = "several event types are written `events(\"..\", \"..\")`, one is \
                       `event = \"..\"`";
        return Err(Error::new(keyword.span(), message));
    }
    let list;
    parenthesized!(list in input);
    types::several(keyword, &list)
}

fn flag(name: Name, ident: Ident, input: ParseStream<'_>) -> Result<Ident> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(ident);
    }
    Err(input.error(format!("`{name}` takes no value: write `{name}` alone")))
}

fn equals(input: ParseStream<'_>, message: &str) -> Result<()> {
    input
        .parse::<Token![=]>()
        .map(drop)
        .map_err(|fault| Error::new(fault.span(), message))
}

fn separator(input: ParseStream<'_>) -> Result<()> {
    if input.is_empty() || input.parse::<Option<Token![,]>>()?.is_some() {
        return Ok(());
    }
    Err(input.error("expected `,` between options"))
}

fn skip_option(input: ParseStream<'_>) -> Result<()> {
    while !input.is_empty() && input.parse::<Option<Token![,]>>()?.is_none() {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::{ToTokens as _, quote};

    use super::*;

    fn read(tokens: TokenStream) -> Args {
        syn::parse2(tokens).expect("never fails")
    }

    fn faults(tokens: TokenStream) -> Vec<String> {
        read(tokens).faults.messages()
    }

    #[test]
    fn reads_every_option_in_any_order() {
        let args = read(quote!(inline, events("a", "b",), at_least_once, provider = a::B<C, D>,));
        assert!(args.faults.is_empty());
        assert!(args.inline.is_some() && args.at_least_once.is_some());
        let types: Vec<_> = args.types.iter().map(LitStr::value).collect();
        assert_eq!(types, ["a", "b"]);
        let provider = args.provider.to_token_stream().to_string();
        assert_eq!(provider, quote!(a::B<C, D>).to_string());
    }

    #[test]
    fn a_misspelt_option_is_one_fault_and_still_counts() {
        let args = read(quote!(proivder = Stripe, evnt = "push", atleastonce));
        assert_eq!(
            args.faults.messages(),
            [
                "unknown option `proivder`: did you mean `provider`?",
                "unknown option `evnt`: did you mean `event`?",
                "unknown option `atleastonce`: did you mean `at_least_once`?",
            ]
        );
        assert!(args.provider.is_some() && args.at_least_once.is_some());
        assert_eq!(args.types.len(), 1);
    }

    #[test]
    fn an_unknown_option_lists_the_known_ones_and_the_rest_is_read() {
        let args = read(quote!(retries = [1, 2], provider = Stripe, event = "push"));
        let [message] = &args.faults.messages()[..] else {
            panic!()
        };
        assert!(message.starts_with("unknown option `retries`: write `provider = ..`"));
        assert!(args.provider.is_some() && args.types.len() == 1);
    }

    #[test]
    fn repeats_are_faults() {
        assert_eq!(
            faults(quote!(
                provider = A,
                provider = B,
                inline,
                inline,
                event = "a",
                event = "b"
            )),
            [
                "`provider` is given twice: remove one",
                "`inline` is given twice: remove one",
                "`event` is given twice: remove one",
            ]
        );
        let both = "event types are given twice: put them all into one `events(\"..\", \"..\")`";
        assert_eq!(faults(quote!(event = "a", events("b"))), [both]);
        assert_eq!(faults(quote!(events("b"), event = "a")), [both]);
    }

    #[test]
    fn values_of_another_form_say_what_to_write() {
        let one =
            "one event type is written `event = \"..\"`, several are `events(\"..\", \"..\")`";
        let several =
            "several event types are written `events(\"..\", \"..\")`, one is `event = \"..\"`";
        let literal = "an event type is a string literal, for example `\"push\"`";
        let a_type = "the provider's type goes here: write `provider = Stripe`";
        let no_value =
            "the provider's type goes here, its value on the endpoint: write `provider = Stripe`";
        let cases = [
            (quote!(event), one),
            (quote!(event("push")), one),
            (quote!(event = PUSH), literal),
            (quote!(event = 5), literal),
            (quote!(events = "push"), several),
            (quote!(events("push", PULL)), literal),
            (
                quote!(events()),
                "expected the event types it takes: write `events(\"..\", \"..\")`",
            ),
            (
                quote!(event = "a", "b"),
                "several event types are written `events(\"..\", \"..\")`",
            ),
            (quote!("push"), "name the option: write `event = \"push\"`"),
            (quote!(Stripe), "name the option: write `provider = Stripe`"),
            (quote!(provider), a_type),
            (quote!(provider(Stripe)), a_type),
            (quote!(provider = "stripe"), a_type),
            (quote!(provider = Stripe::live()), no_value),
            (quote!(provider = Stripe { live: true }), no_value),
            (
                quote!(inline = true),
                "`inline` takes no value: write `inline` alone",
            ),
            (
                quote!(at_least_once()),
                "`at_least_once` takes no value: write `at_least_once` alone",
            ),
            (quote!(event = "a" inline), "expected `,` between options"),
        ];
        for (tokens, message) in cases {
            assert_eq!(faults(tokens.clone()), [message], "{tokens}");
        }
    }
}

//! Identifiers: compared byte for byte, whatever they are written in.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use webhook_core::bounds::MAX_ID_BYTES;
use webhook_core::ledger::{
    Completion, EventTypes, IdentityRetention, Leased, Ledger, Next, Replay, Replayable, Retention,
    Search,
};
use webhook_core::{Claim, NewEvent, Quarantine, Reply};

use crate::ledger::Store;
use crate::ledger::post::{ENDPOINT, Post};
use crate::ledger::steps::{claim, done, failure, found, held, pass, prepared, want};

pub async fn c1_no_account_is_not_an_account<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("evt_1");
    let events = [post.clone(), post.clone().account("a"), post.account("b")];
    for event in &events {
        assert_eq!(claim(&ledger, event.strict()).await, Claim::Stored);
    }
    for event in &events {
        assert_eq!(claim(&ledger, event.strict()).await, Claim::InFlight);
    }
}

pub async fn ids_are_compared_byte_for_byte<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let (longest, almost) = ("x".repeat(255), format!("{}y", "x".repeat(254)));
    let ids = [
        "evt_1Ab",
        "evt_1aB",
        "evt_1ab", // case
        "evt_1ab ",
        "evt_1ab  ",
        " evt_1ab", // spaces
        "caf\u{e9}",
        "cafe\u{301}", // one text to a reader, two normal forms
        "\u{212b}",
        "\u{c5}",
        "A\u{30a}", // three ways to write an angstrom
        "stra\u{df}e",
        "strasse",
        "STRASSE",
        "\u{130}",
        "i",
        "I",
        "\u{131}",
        "Ж",
        "ж",
        "أ",
        "ا",
        "א",
        "अ",
        "ก",
        "漢",
        "汉",
        "か",
        "が",
        "カ",
        "ｶ",
        "\u{d55c}",
        "\u{1112}\u{1161}\u{11ab}",
        "😀",
        "👍",
        "👍🏽",
        "\u{200b}",
        "a\u{200d}b",
        "ab",
        "%",
        "_",
        "'",
        "\\",
        "\"",
        "; drop table effect",
        &longest,
        &almost,
    ];
    let events: Vec<NewEvent> = ids.iter().map(|id| Post::new(id).strict()).collect();
    let stored = ledger.claim(events.clone()).await.unwrap();
    for (id, claim) in ids.iter().zip(stored) {
        assert_eq!(claim, Claim::Stored, "{id:?}");
    }
    for (id, event) in ids.iter().zip(events) {
        assert_eq!(claim(&ledger, event).await, Claim::InFlight, "{id:?}");
    }
    let stored = found(&ledger, Search::default()).await;
    let stored: HashSet<String> = stored.into_iter().map(|event| event.event_id).collect();
    assert_eq!(stored.len(), ids.len());
    assert!(ids.iter().all(|id| stored.contains(*id)));
}

pub async fn parts_of_a_key_do_not_run_together<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let posts = [
        Post::new("c").endpoint("ab"),
        Post::new("bc").endpoint("a"),
        Post::new("c").account("ab"),
        Post::new("bc").account("a"),
        Post::new("abc"),
        Post::new("c").tenant("ab"),
        Post::new("c").tenant("ab").account("ab"),
    ];
    for post in &posts {
        assert_eq!(
            claim(&ledger, post.strict()).await,
            Claim::Stored,
            "{post:?}"
        );
    }
}

pub async fn one_event_runs_at_every_endpoint<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("evt_1");
    for endpoint in ["shop", "billing", "Shop", "shop "] {
        let event = post.clone().endpoint(endpoint);
        assert_eq!(
            claim(&ledger, event.loose()).await,
            Claim::Stored,
            "{endpoint}"
        );
        assert_eq!(
            claim(&ledger, event.loose()).await,
            Claim::InFlight,
            "{endpoint}"
        );
    }
}

pub async fn tenants_do_not_share_ids<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for tenant in ["a", "b"] {
        let event = Post::new("evt_1").tenant(tenant);
        assert_eq!(claim(&ledger, event.strict()).await, Claim::Stored);
        assert_eq!(claim(&ledger, event.strict()).await, Claim::InFlight);
    }
}

/// `len` bytes of text, of as many of `letter` as fit.
fn text(letter: char, len: usize) -> String {
    let letters = len / letter.len_utf8();
    let rest = len % letter.len_utf8();
    format!(
        "{}{}",
        String::from(letter).repeat(letters),
        "-".repeat(rest)
    )
}

pub async fn every_length_up_to_the_bound_is_kept_whole<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    // Letters of one to four bytes. Ids and accounts apart, or one would tell the others apart.
    for letter in ['x', 'é', '漢', '😀'] {
        let texts: Vec<String> = (1..=MAX_ID_BYTES).map(|len| text(letter, len)).collect();
        let ids = |text: &String| Post::new(text).event_type(text);
        let accounts = |text: &String| Post::new("1").account(text);
        are_kept(&ledger, &format!("ids-{letter}"), &texts, ids).await;
        are_kept(&ledger, &format!("accounts-{letter}"), &texts, accounts).await;
    }
}

/// Claim what `make` makes of each of `texts`, twice, and see it come back from the store.
async fn are_kept<L: Ledger>(
    ledger: &L,
    endpoint: &str,
    texts: &[String],
    make: impl Fn(&String) -> Post,
) {
    let events = texts
        .iter()
        .map(|text| make(text).endpoint(endpoint).strict());
    let batch: Vec<NewEvent> = events.collect();
    for (text, claim) in texts.iter().zip(ledger.claim(batch.clone()).await.unwrap()) {
        assert_eq!(claim, Claim::Stored, "{text}");
    }
    for (text, claim) in texts.iter().zip(ledger.claim(batch.clone()).await.unwrap()) {
        assert_eq!(claim, Claim::InFlight, "{text}");
    }
    let mut want = want().at_most(1000);
    want.endpoint = endpoint.into();
    want.event_types = EventTypes::All;
    let taken = ledger.take(want).await.unwrap().events;
    let kept: HashSet<_> = taken
        .into_iter()
        .map(|Leased { event, .. }| {
            let account = event.account.map(|account| account.as_str().to_owned());
            (event.id, event.event_type, account)
        })
        .collect();
    let wanted = batch.iter().map(|event| {
        let account = event.account().map(str::to_owned);
        (event.id().clone(), event.event_type().clone(), account)
    });
    assert_eq!(kept, wanted.collect());
}

/// Claim an event with each of `texts` as its id, as the account of one id, as its endpoint and as its
/// tenant. No two of them are the same, and each comes back as it went in.
async fn are_different<S: Store>(store: &S, texts: &[&str]) {
    let ledger = prepared(store).await;
    let makers: [fn(&str) -> Post; 4] = [
        |text| Post::new(text),
        |text| Post::new("account").account(text),
        |text| Post::new("endpoint").endpoint(text),
        |text| Post::new("tenant").tenant(text),
    ];
    for make in makers {
        for text in texts {
            let claimed = claim(&ledger, make(text).strict()).await;
            assert_eq!(claimed, Claim::Stored, "{}", text.escape_unicode());
        }
        for text in texts {
            let claimed = claim(&ledger, make(text).strict()).await;
            assert_eq!(claimed, Claim::InFlight, "{}", text.escape_unicode());
        }
    }
    let texts: HashSet<&str> = texts.iter().copied().collect();
    let mut kept = HashSet::new();
    let mut endpoints = HashSet::new();
    for leased in ledger.take(want().at_most(1000)).await.unwrap().events {
        let event = leased.event;
        let text = match event.id.as_str() {
            "account" => event.account.unwrap().as_str().to_owned(),
            "tenant" => event.principal.unwrap(),
            id => id.to_owned(),
        };
        assert!(texts.contains(text.as_str()), "{}", text.escape_unicode());
        kept.insert((event.id, text));
    }
    for event in found(&ledger, Search::default()).await {
        if event.endpoint != ENDPOINT {
            endpoints.insert(event.endpoint);
        }
    }
    assert_eq!(kept.len(), 3 * texts.len());
    assert!(endpoints.iter().all(|name| texts.contains(name.as_str())));
    assert_eq!(endpoints.len(), texts.len());
}

pub async fn every_script_is_kept_as_it_is<S: Store>(store: Arc<S>) {
    are_different(
        &*store,
        &[
            "Αθήνα",
            "Київ",
            "Երևան",
            "תל אביב",
            "القاهرة",
            "ܐܘܪܗܝ",
            "މާލެ",
            "ߓߊߡߊߞߐ",
            "दिल्ली",
            "ঢাকা",
            "ਅੰਮ੍ਰਿਤਸਰ",
            "ગાંધીનગર",
            "ଭୁବନେଶ୍ୱର",
            "சென்னை",
            "హైదరాబాద్",
            "ಬೆಂಗಳೂರು",
            "തിരുവനന്തപുരം",
            "කොළඹ",
            "กรุงเทพ",
            "ວຽງຈັນ",
            "ལྷ་ས",
            "ရန်ကုန်",
            "თბილისი",
            "አዲስ አበባ",
            "ᏣᎳᎩ",
            "ᐃᖃᓗᐃᑦ",
            "ភ្នំពេញ",
            "ᠤᠯᠠᠭᠠᠨ",
            "東京",
            "とうきょう",
            "トウキョウ",
            "北京",
            "臺北",
            "서울",
            "ꆀꎭ",
            "ⵔⴱⴰⵟ",
            "ⲁⲗⲉⲝ",
            "᚛ᚑᚌᚐᚋ᚜",
            "ᚠᚢᚦᚨᚱᚲ",
            "𐌲𐌿𐍄𐌰",
            "𐎧𐏁𐎠𐎹",
            "𒀭𒂗𒍪",
            "𓊪𓏏𓎛",
            "𐤒𐤓𐤕",
            "𑀧𑀸𑀝𑀮𑀺",
            "𞤊𞤵𞤤𞤢",
            "𝔄𝔟𝔠",
            "ＡＢＣ",
            "Ⅻ",
            "٤٢",
            "४२",
            "四十二",
            "🇩🇪",
            "👩\u{200d}🔬",
            "½",
            "∑∞",
            "€",
        ],
    )
    .await;
}

pub async fn normal_forms_are_different_texts<S: Store>(store: Arc<S>) {
    are_different(
        &*store,
        &[
            // The letter A with a ring: one sign, two signs, the unit of length.
            "\u{c5}",
            "A\u{30a}",
            "\u{212b}",
            // Two marks on one letter, in every order and grouping.
            "\u{1ebf}",
            "\u{ea}\u{301}",
            "e\u{302}\u{301}",
            "e\u{301}\u{302}",
            // Marks above and below, whose order says nothing.
            "q\u{307}\u{323}",
            "q\u{323}\u{307}",
            // A syllable and its letters.
            "\u{d55c}",
            "\u{1112}\u{1161}\u{11ab}",
            // Voiced kana: one sign, with a mark, half as wide.
            "\u{30ac}",
            "\u{30ab}\u{3099}",
            "\u{ff76}\u{ff9e}",
            // Compatible forms.
            "\u{fb01}",
            "fi",
            "\u{2126}",
            "\u{3a9}",
            "\u{b5}",
            "\u{3bc}",
            "\u{2460}",
            "1",
            "\u{17f}",
            "s",
            "\u{1c4}",
            "\u{1c5}",
            "D\u{17d}",
            "\u{2f804}",
            "\u{4f60}",
            // What folding makes one of.
            "S",
            "\u{df}",
            "\u{1e9e}",
            "ss",
            "SS",
            "i",
            "I",
            "\u{130}",
            "\u{131}",
            "i\u{307}",
            "\u{3c3}",
            "\u{3c2}",
            "\u{3a3}",
        ],
    )
    .await;
}

pub async fn look_alikes_are_different_texts<S: Store>(store: Arc<S>) {
    are_different(
        &*store,
        &[
            "paypal",
            "p\u{430}ypal", // a letter of another script
            "paypal ",      // spaces, of four kinds
            " paypal",
            "pay pal",
            "pay\u{a0}pal",
            "pay\u{3000}pal",
            "pay\u{2028}pal",
            "pay\u{ad}pal", // signs that nobody sees
            "pay\u{200b}pal",
            "pay\u{200c}pal",
            "pay\u{200d}pal",
            "pay\u{2060}pal",
            "pay\u{34f}pal",
            "paypal\u{fe0f}",
            "\u{feff}paypal",
            "\u{202e}lapyap", // signs that turn the text around
            "\u{2066}paypal\u{2069}",
            "\u{e0001}paypal",
            "pay\u{fffd}pal", // what broken text becomes
            "pay\u{ffff}pal", // no characters
            "pay\u{10ffff}pal",
            "pay\u{e000}pal",
            "%", // what SQL, patterns and paths make something of
            "_",
            "*",
            "?",
            "'",
            "''",
            "\"",
            "\\",
            "\\'",
            "$1",
            ":1",
            "null",
            "NULL",
            "0",
            "00",
            "0x0",
            "1e0",
            "true",
            "../shop",
            "shop/",
            "'; drop table effect; --",
        ],
    )
    .await;
}

/// Bodies, and what handlers and operators write, hold what no identifier may.
pub async fn nul_and_controls_are_no_obstacle<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let bytes: Vec<u8> = (0..=255).collect();
    let event = Post::new("1").body(bytes.clone()).loose();
    assert_eq!(claim(&ledger, event.clone()).await, Claim::Stored);
    assert_eq!(claim(&ledger, event).await, Claim::InFlight);
    let controls: String = ('\0'..='\u{9f}').filter(|c| c.is_control()).collect();
    let escaped = Post::new("2").content(controls.as_str()).strict();
    assert_eq!(claim(&ledger, escaped.clone()).await, Claim::Stored);
    let taken = ledger.take(want()).await.unwrap().events;
    assert_eq!(taken[0].event.payload, bytes);
    assert_eq!(taken[1].event.payload, escaped.payload());

    let mut failure = failure(Next::Dead {
        quiet: Duration::ZERO,
    });
    failure.error = controls.clone();
    assert!(ledger.fail(taken[0].lease, failure).await.unwrap());
    let reply = Reply::json(controls.clone());
    let done = Completion::new(reply.clone(), None);
    assert!(ledger.complete(taken[1].lease, done).await.unwrap());
    let duplicate = Claim::Duplicate { reply: Some(reply) };
    assert_eq!(claim(&ledger, escaped).await, duplicate);

    let nobody = Search::default().event_id(controls.as_str());
    assert!(found(&ledger, nobody).await.is_empty());
    let dead = taken[0].lease.inbox();
    let replayed = ledger.replay(dead, controls, Replayable::Unfinished).await;
    assert_eq!(replayed.unwrap(), Replay::Waiting);
}

/// One id, two accounts, two endpoints: four events, and each has a life of its own.
pub async fn accounts_and_endpoints_share_an_id_and_nothing_else<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = |endpoint, account| Post::new("evt_1").endpoint(endpoint).account(account);
    let places = [("shop", "a"), ("shop", "b"), ("bank", "a"), ("bank", "b")];
    for (endpoint, account) in places {
        let event = post(endpoint, account).strict();
        assert_eq!(claim(&ledger, event).await, Claim::Stored);
    }
    // One completes, one dies, one waits, one runs.
    let taken = ledger.take(want()).await.unwrap().events;
    let of = |taken: &[Leased], account: &str| {
        let mut own = taken.iter().filter(|leased| {
            let own = leased.event.account.as_ref().unwrap();
            own.as_str() == account
        });
        own.next().unwrap().lease
    };
    assert_eq!(taken.len(), 2);
    done(&ledger, of(&taken, "a")).await;
    let quiet = Duration::from_hours(1);
    let dead = failure(Next::Dead { quiet });
    assert!(ledger.fail(of(&taken, "b"), dead).await.unwrap());
    let mut bank = want();
    bank.endpoint = "bank".into();
    let taken = ledger.take(bank.clone()).await.unwrap().events;
    assert_eq!(taken.len(), 2);
    ledger.hand_back(vec![of(&taken, "a")]).await.unwrap();
    for ((endpoint, account), wanted) in places.into_iter().zip([
        Claim::Duplicate { reply: None },
        Claim::Revived,
        Claim::InFlight,
        Claim::InFlight,
    ]) {
        let again = post(endpoint, account).strict();
        assert_eq!(claim(&ledger, again).await, wanted, "{endpoint} {account}");
        let other = post(endpoint, account).content("other").strict();
        let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
        assert_eq!(claim(&ledger, other).await, mismatch);
    }
    // What one endpoint forgets, the other remembers.
    done(&ledger, of(&taken, "b")).await;
    pass(&*store, Duration::from_hours(2)).await;
    let age = IdentityRetention::For(Duration::from_hours(1));
    let pruned = ledger.prune(Retention::new("shop", age)).await.unwrap();
    assert_eq!(pruned.forgotten, 1);
    let [shop, _, _, bank] = places.map(|(endpoint, account)| post(endpoint, account).strict());
    assert_eq!(claim(&ledger, shop).await, Claim::Stored);
    assert_eq!(claim(&ledger, bank).await, Claim::Duplicate { reply: None });
    assert_eq!(held(&ledger).await, 4);
}

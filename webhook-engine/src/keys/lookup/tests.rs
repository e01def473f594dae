#![allow(
    clippy::arithmetic_side_effects,
    reason = "small numbers of a test's own"
)]

use std::sync::atomic::{AtomicUsize, Ordering};

use webhook_core::{KeyConfig, SecretFormat};

use super::*;

/// `t...` are tenants. Counts how often it is asked, and how often at once.
#[derive(Debug, Default)]
struct Asked {
    times: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
    down: AtomicUsize,
}

#[derive(Debug, Clone, Default)]
struct Tenants(Arc<Asked>);

const UP: usize = 0;
const DOWN: usize = 1;
const PANICS: usize = 2;
const HANGS: usize = 3;
/// How long the source takes.
const TAKES: Duration = Duration::from_millis(10);

impl KeySource for Tenants {
    fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let asked = &self.0;
            asked.times.fetch_add(1, Ordering::SeqCst);
            let now = asked.now.fetch_add(1, Ordering::SeqCst) + 1;
            asked.most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(TAKES).await;
            asked.now.fetch_sub(1, Ordering::SeqCst);
            match asked.down.load(Ordering::SeqCst) {
                DOWN => return Err(KeyFault::Unavailable),
                PANICS => panic!("the source panics"),
                HANGS => std::future::pending().await,
                _ => {}
            }
            let name = query.certificate.or(query.tenant).unwrap_or("t-only");
            if !name.starts_with('t') {
                return Err(KeyFault::Unknown);
            }
            let key = KeyConfig::new(format!("secret-of-{name}-0123456789"));
            let ring = Keyring::build(SecretFormat::Text { prefix: "" }, [key]).unwrap();
            let ring = if name == "t-alias" {
                ring.principal("t-real")
            } else {
                ring
            };
            Ok(Arc::new(ring))
        })
    }
}

impl Tenants {
    fn lookup(&self, bounds: Lookups) -> Arc<Lookup> {
        Arc::new(Lookup::new("here", Arc::new(self.clone()), None, bounds).unwrap())
    }

    fn times(&self) -> usize {
        self.0.times.load(Ordering::SeqCst)
    }

    fn is(&self, state: usize) {
        self.0.down.store(state, Ordering::SeqCst);
    }
}

async fn all(lookup: &Arc<Lookup>, names: impl Iterator<Item = String>) -> Vec<Answer> {
    let find = |name: String| {
        let lookup = lookup.clone();
        async move { lookup.find(Some(&name)).await }
    };
    futures_util::future::join_all(names.map(find)).await
}

async fn find(lookup: &Arc<Lookup>, name: &str) -> Result<String, KeyFault> {
    let ring = lookup.find(Some(name)).await?;
    Ok(ring.tenant().unwrap_or_default().to_owned())
}

const UNKNOWN: Result<String, KeyFault> = Err(KeyFault::Unknown);
const UNAVAILABLE: Result<String, KeyFault> = Err(KeyFault::Unavailable);

#[tokio::test(start_paused = true)]
async fn many_who_ask_for_one_tenant_cost_one_look_up_and_keys_are_remembered() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default());
    let answers = all(&lookup, (0..500).map(|_| "t1".to_owned())).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(tenants.times(), 1);
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    assert_eq!(tenants.times(), 1);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    assert_eq!(tenants.times(), 2);
}

/// A certificate vouches for nobody in particular: it is no tenant, and no tenant's name leads to one.
#[tokio::test(start_paused = true)]
async fn certificates_are_remembered_apart_from_tenants_and_name_none() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default());
    for _ in 0..3 {
        let ring = lookup.certificate("t1").await.unwrap();
        assert_eq!(ring.tenant(), None);
    }
    assert_eq!(tenants.times(), 1);
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    assert_eq!(tenants.times(), 2);
    assert_eq!(find(&lookup, "certificate\nt1").await, UNKNOWN);
    for bad in ["", "t\n", &"t".repeat(256)] {
        assert_eq!(
            lookup.certificate(bad).await.unwrap_err(),
            KeyFault::Unknown
        );
    }
    assert_eq!(tenants.times(), 2);
}

#[tokio::test(start_paused = true)]
async fn e9_an_unknown_tenant_is_forgotten_soon() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default());
    for _ in 0..100 {
        assert_eq!(find(&lookup, "nobody").await, UNKNOWN);
    }
    assert_eq!(tenants.times(), 1);
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(find(&lookup, "nobody").await, UNKNOWN);
    assert_eq!(tenants.times(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_strangers_is_bounded_and_keeps_no_tenant_out() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default().tenants(100).at_once(4));
    for tenant in 0..50 {
        let name = format!("t{tenant}");
        assert_eq!(find(&lookup, &name).await, Ok(name));
    }
    let before = tenants.times();
    let flood = all(&lookup, (0..10_000).map(|stranger| format!("x{stranger}")));
    let honest = async {
        tokio::time::sleep(TAKES / 2).await;
        for tenant in 0..50 {
            // From memory: no time goes by.
            let now = Instant::now();
            let name = format!("t{tenant}");
            assert_eq!(find(&lookup, &name).await, Ok(name));
            assert_eq!(now.elapsed(), Duration::ZERO);
        }
    };
    let (answers, ()) = tokio::join!(flood, honest);
    let unknown = |answer: &&Answer| matches!(answer, Err(KeyFault::Unknown));
    let asked = answers.iter().filter(unknown).count();
    assert_eq!(asked, 4 * QUEUE, "the rest is told to come again, unasked");
    assert_eq!(tenants.times() - before, asked);
    assert_eq!(tenants.0.most.load(Ordering::SeqCst), 4);
    // Nor do names push tenants out, many times as many as are remembered.
    for wave in 0..5 {
        all(
            &lookup,
            (0..4 * QUEUE).map(|stranger| format!("x{wave}-{stranger}")),
        )
        .await;
    }
    let before = tenants.times();
    for tenant in 0..50 {
        assert!(find(&lookup, &format!("t{tenant}")).await.is_ok());
    }
    assert_eq!(tenants.times(), before);
    assert!(lookup.state().flights.is_empty());
}

#[tokio::test(start_paused = true)]
async fn known_tenants_are_renewed_while_strangers_wait() {
    let tenants = Tenants::default();
    let bounds = Lookups::default()
        .at_once(1)
        .timeout(Duration::from_secs(10));
    let lookup = tenants.lookup(bounds);
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    tokio::time::advance(Duration::from_mins(1)).await;
    let flood = all(&lookup, (0..QUEUE).map(|stranger| format!("x{stranger}")));
    let renewed = async {
        tokio::task::yield_now().await;
        let now = Instant::now();
        assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
        now.elapsed()
    };
    let (answers, took) = tokio::join!(flood, renewed);
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer, Err(KeyFault::Unknown)))
    );
    assert!(took <= TAKES * 2, "{took:?}");
    assert_eq!(tenants.times(), 1 + QUEUE + 1);
}

#[tokio::test(start_paused = true)]
async fn while_the_source_is_down_the_last_good_keys_are_used_for_a_time() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default());
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    tenants.is(DOWN);
    tokio::time::advance(Duration::from_mins(1)).await;
    for _ in 0..100 {
        assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    }
    assert_eq!(tenants.times(), 2, "asked once, then not for a moment");
    assert_eq!(find(&lookup, "t2").await, UNAVAILABLE);
    assert_eq!(find(&lookup, "t2").await, UNAVAILABLE);
    assert_eq!(tenants.times(), 3);
    tokio::time::advance(Duration::from_mins(9)).await;
    assert_eq!(find(&lookup, "t1").await, UNAVAILABLE);
    tenants.is(UP);
    tokio::time::advance(FAULT_PAUSE).await;
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    assert_eq!(find(&lookup, "t2").await.as_deref(), Ok("t2"));
}

#[tokio::test(start_paused = true)]
async fn last_good_keys_are_not_used_for_longer_than_was_said() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default().last_good_for(Duration::from_secs(62)));
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    tenants.is(DOWN);
    tokio::time::advance(Duration::from_mins(1)).await;
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(find(&lookup, "t1").await, UNAVAILABLE);
}

#[tokio::test(start_paused = true)]
async fn a_tenant_that_is_gone_is_refused_at_the_next_look_up() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default());
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    let fault = Err(KeyFault::Unknown);
    assert_eq!(
        lookup.settle(&"t1".into(), fault).err(),
        Some(KeyFault::Unknown)
    );
    // The source is down now: an answer given is not taken back.
    tenants.is(DOWN);
    assert_eq!(find(&lookup, "t1").await, UNKNOWN);
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(find(&lookup, "t1").await, UNAVAILABLE);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_or_panics_is_unavailable_and_gives_its_place_back() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default().at_once(1));
    for state in [HANGS, PANICS] {
        tenants.is(state);
        let now = Instant::now();
        assert_eq!(find(&lookup, "t1").await, UNAVAILABLE);
        assert!(now.elapsed() <= Duration::from_millis(1100));
        tokio::time::advance(FAULT_PAUSE).await;
    }
    tenants.is(UP);
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    assert!(lookup.state().flights.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_look_up_ends_even_if_nobody_waits_for_it() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default());
    let hung_up = tokio::time::timeout(TAKES / 2, find(&lookup, "t1")).await;
    assert!(hung_up.is_err());
    tokio::time::sleep(TAKES).await;
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    assert_eq!(tenants.times(), 1);
}

#[tokio::test(start_paused = true)]
async fn d4_keys_bear_their_tenants_name_unless_the_source_names_another() {
    let lookup = Tenants::default().lookup(Lookups::default());
    assert_eq!(find(&lookup, "t1").await.as_deref(), Ok("t1"));
    assert_eq!(find(&lookup, "t-alias").await.as_deref(), Ok("t-real"));
    assert_eq!(lookup.find(None).await.unwrap().tenant(), None);
}

#[tokio::test(start_paused = true)]
async fn names_that_are_none_cost_nothing() {
    let tenants = Tenants::default();
    let lookup = tenants.lookup(Lookups::default());
    for name in ["", "t\n", "t\0", &"t".repeat(256)] {
        assert_eq!(find(&lookup, name).await, UNKNOWN);
    }
    assert_eq!(tenants.times(), 0);
    assert!(find(&lookup, &"t".repeat(255)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_header_names_the_tenant_once_or_not_at_all() {
    let tenants = Tenants::default();
    let header = Some("X-Tenant".to_owned());
    let source = Arc::new(tenants.clone());
    let lookup = Lookup::new("here", source, header, Lookups::default()).unwrap();
    let lookup = Arc::new(lookup);
    let ask = async |fields: &[(&str, &[u8])], path: Option<&str>| {
        let head = Head::new("POST", "/", fields.iter().copied()).unwrap();
        let ring = lookup.keys(&head, path).await?;
        Ok::<_, KeyFault>(ring.tenant().unwrap_or_default().to_owned())
    };
    assert_eq!(ask(&[("x-tenant", b"t1")], None).await.as_deref(), Ok("t1"));
    assert_eq!(ask(&[], Some("t1")).await, UNKNOWN);
    assert_eq!(ask(&[("x-tenant", b"")], None).await, UNKNOWN);
    assert_eq!(ask(&[("x-tenant", b"t\xff")], None).await, UNKNOWN);
    let twice: [(&str, &[u8]); 2] = [("x-tenant", b"t1"), ("X-Tenant", b"t1")];
    assert_eq!(ask(&twice, None).await, UNKNOWN);
}

#[test]
fn bounds_of_zero_and_names_that_are_no_headers_are_faults() {
    let fault = |header: Option<&str>, bounds| {
        let source = Arc::new(Tenants::default());
        let header = header.map(str::to_owned);
        Lookup::new("here", source, header, bounds)
            .unwrap_err()
            .to_string()
    };
    let bounds = Lookups::default;
    assert!(fault(None, bounds().at_once(0)).contains("zero"));
    assert!(fault(None, bounds().tenants(0)).contains("zero"));
    assert!(fault(None, bounds().timeout(Duration::ZERO)).contains("zero"));
    assert!(fault(Some(""), bounds()).contains("no header name"));
    assert!(fault(Some("x tenant"), bounds()).contains("no header name"));
}

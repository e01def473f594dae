//! Who gets a free place: the tenant that has fewest, of its endpoints the one that was served longest ago.
//!
//! Endpoints that were never asked have half of the places at most, those that fail or are slow a
//! quarter, each kind apart: the ones cannot crowd out the others, nor both of them those that are known
//! to answer. An endpoint that answers no more gets no further place, long before its attempts time
//! out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use webhook_core::outbox::{EndpointId, HealthPolicy, Ready, Repute, Want};

/// What is under way in this process.
#[derive(Debug, Default)]
pub(crate) struct Load {
    by_endpoint: HashMap<EndpointId, UnderWay>,
    by_tenant: HashMap<Arc<str>, u32>,
    lanes: Lanes,
    all: u32,
    /// In which turn an endpoint was served last.
    served: HashMap<EndpointId, u64>,
    turn: u64,
}

/// What is under way at an endpoint.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    count: u32,
    /// When an attempt ended last, or the first of these began.
    heard_at: Instant,
}

/// Places of endpoints that are not known to be good.
#[derive(Debug, Clone, Copy, Default)]
struct Lanes {
    bad: u32,
    new: u32,
}

/// One delivery under way.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) endpoint: EndpointId,
    pub(crate) tenant: Arc<str>,
    pub(crate) repute: Repute,
}

struct Candidate {
    endpoint: EndpointId,
    room: u32,
    left: u32,
    granted: u32,
    repute: Repute,
}

impl Load {
    pub(crate) fn enter(&mut self, place: &Place, now: Instant) {
        let under_way = self.by_endpoint.entry(place.endpoint).or_insert(UnderWay {
            count: 0,
            heard_at: now,
        });
        under_way.count = under_way.count.saturating_add(1);
        let count = self.by_tenant.entry(place.tenant.clone()).or_default();
        *count = count.saturating_add(1);
        if let Some(lane) = self.lanes.of(place.repute) {
            *lane = lane.saturating_add(1);
        }
        self.all = self.all.saturating_add(1);
        self.had_its_turn(place.endpoint);
    }

    /// This endpoint was asked, whether or not anything came of it: others go before it the next time.
    pub(crate) fn had_its_turn(&mut self, endpoint: EndpointId) {
        self.turn = self.turn.saturating_add(1);
        self.served.insert(endpoint, self.turn);
        if self.served.len() > MOST_SERVED {
            let lately = self.turn.saturating_sub(MOST_SERVED as u64 / 2);
            self.served.retain(|_, turn| *turn > lately);
        }
    }

    pub(crate) fn leave(&mut self, place: &Place, now: Instant) {
        if let Some(under_way) = self.by_endpoint.get_mut(&place.endpoint) {
            under_way.count = under_way.count.saturating_sub(1);
            under_way.heard_at = now;
            if under_way.count == 0 {
                self.by_endpoint.remove(&place.endpoint);
            }
        }
        if let Some(count) = self.by_tenant.get_mut(&place.tenant) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_tenant.remove(&place.tenant);
            }
        }
        if let Some(lane) = self.lanes.of(place.repute) {
            *lane = lane.saturating_sub(1);
        }
        self.all = self.all.saturating_sub(1);
    }

    pub(crate) fn all(&self) -> u32 {
        self.all
    }

    /// Share `places` in all, of which those under way are taken, among the endpoints that are ready.
    ///
    /// `begins` says how many attempts an endpoint may begin now, by its rate.
    pub(crate) fn share(
        &self,
        ready: &[Ready],
        places: u32,
        policy: &HealthPolicy,
        now: Instant,
        mut begins: impl FnMut(&Ready) -> u32,
    ) -> Vec<Want> {
        let mut free = places.saturating_sub(self.all);
        let mut lanes = self.lanes.left_of(places);
        let mut tenants: HashMap<&str, VecDeque<Candidate>> = HashMap::new();
        for ready in ready {
            // By the store's clock its breaker lets an attempt pass, or it would not be ready.
            let room = ready.health.room(ready.limits.in_flight, i64::MAX, policy);
            let left = match self.by_endpoint.get(&ready.endpoint) {
                Some(under_way) if under_way.is_silent(now) => 0,
                Some(under_way) => room.saturating_sub(under_way.count),
                None => room,
            };
            let left = left.min(begins(ready));
            if left > 0 {
                tenants
                    .entry(&ready.tenant)
                    .or_default()
                    .push_back(Candidate {
                        endpoint: ready.endpoint,
                        room,
                        left,
                        granted: 0,
                        repute: ready.health.repute(policy),
                    });
            }
        }
        for candidates in tenants.values_mut() {
            let served = |candidate: &Candidate| self.served.get(&candidate.endpoint).copied();
            candidates.make_contiguous().sort_by_key(served);
        }
        let mut queue: BinaryHeap<Reverse<(u32, &str)>> = tenants
            .keys()
            .map(|tenant| {
                let load = self.by_tenant.get(*tenant).copied().unwrap_or_default();
                Reverse((load, *tenant))
            })
            .collect();
        let mut wants = Vec::new();
        while free > 0
            && let Some(Reverse((load, tenant))) = queue.pop()
        {
            let Some(candidates) = tenants.get_mut(tenant) else {
                continue;
            };
            let Some(mut candidate) = candidates.pop_front() else {
                continue;
            };
            let lane = lanes.of(candidate.repute);
            let may = lane.as_ref().is_none_or(|left| **left > 0);
            if may {
                if let Some(left) = lane {
                    *left = left.saturating_sub(1);
                }
                candidate.granted = candidate.granted.saturating_add(1);
                candidate.left = candidate.left.saturating_sub(1);
                free = free.saturating_sub(1);
            }
            if may && candidate.left > 0 {
                candidates.push_back(candidate);
            } else if candidate.granted > 0 {
                wants.push(candidate.want());
            }
            queue.push(Reverse((load.saturating_add(u32::from(may)), tenant)));
        }
        let rest = tenants.into_values().flatten();
        wants.extend(rest.filter(|rest| rest.granted > 0).map(Candidate::want));
        wants
    }
}

impl Candidate {
    fn want(self) -> Want {
        Want::new(self.endpoint, self.granted, self.room)
    }
}

impl UnderWay {
    /// Whether so much time went by without an answer that it gets no further place for now.
    fn is_silent(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.heard_at) >= SILENT_AFTER
    }
}

impl Lanes {
    /// The lane of such endpoints; none for those that are good.
    fn of(&mut self, repute: Repute) -> Option<&mut u32> {
        match repute {
            Repute::Bad => Some(&mut self.bad),
            Repute::New => Some(&mut self.new),
            _ => None,
        }
    }

    /// What is left of each lane's part of `places`.
    fn left_of(self, places: u32) -> Self {
        Self {
            bad: (places / 4).max(1).saturating_sub(self.bad),
            new: (places / 2).max(1).saturating_sub(self.new),
        }
    }
}

/// Quick receivers answer in a fraction of it.
const SILENT_AFTER: Duration = Duration::from_secs(1);

/// Endpoints that are remembered as served lately.
const MOST_SERVED: usize = 10_000;

#[cfg(test)]
mod tests {
    use webhook_core::outbox::{Health, Limits};

    use super::*;

    fn good() -> Health {
        let mut health = Health::default();
        health.is_proven = true;
        health
    }

    fn bad() -> Health {
        let mut health = Health::default();
        health.failures = 1;
        health
    }

    fn ready(tenant: &str, health: Health) -> Ready {
        let limits = Limits::new(10, None).unwrap();
        Ready::new(EndpointId::generate(), tenant.into(), limits, health)
    }

    fn share(load: &Load, ready: &[Ready], places: u32) -> Vec<u32> {
        let policy = HealthPolicy::default();
        let wants = load.share(ready, places, &policy, Instant::now(), |_| u32::MAX);
        let granted = |ready: &Ready| {
            let want = wants.iter().find(|want| want.endpoint == ready.endpoint);
            want.map_or(0, |want| want.max)
        };
        ready.iter().map(granted).collect()
    }

    #[test]
    fn a_tenant_alone_gets_all_and_two_share_alike() {
        let alone = [ready("a", good())];
        assert_eq!(share(&Load::default(), &alone, 100), [10]);
        // One tenant with many endpoints has no more than one with a single endpoint.
        let many = [
            ready("a", good()),
            ready("a", good()),
            ready("a", good()),
            ready("b", good()),
        ];
        assert_eq!(share(&Load::default(), &many, 12), [2, 2, 2, 6]);
        assert_eq!(share(&Load::default(), &many, 100), [10, 10, 10, 10]);
    }

    #[test]
    fn what_is_under_way_counts() {
        let (a, b) = (ready("a", good()), ready("b", good()));
        let mut load = Load::default();
        let place = Place {
            endpoint: a.endpoint,
            tenant: "a".into(),
            repute: Repute::Good,
        };
        let now = Instant::now();
        for _ in 0..6 {
            load.enter(&place, now);
        }
        let both = [a, b];
        assert_eq!(share(&load, &both, 10), [0, 4]);
        assert_eq!(share(&load, &both, 100), [4, 10]);
        for _ in 0..6 {
            load.leave(&place, now);
        }
        assert_eq!(load.all(), 0);
        assert!(load.by_endpoint.is_empty() && load.by_tenant.is_empty());
    }

    #[test]
    fn new_endpoints_get_one_place_each_and_half_of_all() {
        let mut all: Vec<Ready> = (0..20).map(|_| ready("a", Health::default())).collect();
        all.push(ready("a", good()));
        let shares = share(&Load::default(), &all, 10);
        assert_eq!(shares.iter().take(20).sum::<u32>(), 5);
        assert_eq!(shares.last(), Some(&5));
    }

    #[test]
    fn bad_endpoints_get_one_place_each_and_a_quarter_of_all_apart_from_new_ones() {
        let mut all: Vec<Ready> = (0..20).map(|_| ready("a", bad())).collect();
        all.push(ready("a", Health::default()));
        all.push(ready("a", good()));
        let shares = share(&Load::default(), &all, 12);
        assert_eq!(shares.iter().take(20).sum::<u32>(), 3);
        assert_eq!(shares[20..], [1, 8]);
    }

    #[test]
    fn what_is_silent_gets_no_further_place_until_it_is_heard_again() {
        let one = [ready("a", good())];
        let place = Place {
            endpoint: one[0].endpoint,
            tenant: "a".into(),
            repute: Repute::Good,
        };
        let (mut load, policy, began) = (Load::default(), HealthPolicy::default(), Instant::now());
        let granted = |load: &Load, now| {
            let wants = load.share(&one, 100, &policy, now, |_| u32::MAX);
            wants.first().map_or(0, |want| want.max)
        };
        load.enter(&place, began);
        load.enter(&place, began + SILENT_AFTER / 2);
        assert_eq!(granted(&load, began + SILENT_AFTER / 2), 8);
        assert_eq!(granted(&load, began + SILENT_AFTER), 0);
        load.leave(&place, began + SILENT_AFTER);
        assert_eq!(granted(&load, began + SILENT_AFTER), 9);
    }

    #[test]
    fn endpoints_of_a_tenant_take_turns() {
        let all: Vec<Ready> = (0..5).map(|_| ready("a", Health::default())).collect();
        let mut load = Load::default();
        let mut served = Vec::new();
        for _ in 0..5 {
            // One place that new endpoints may have.
            let now = Instant::now();
            let wants = load.share(&all, 2, &HealthPolicy::default(), now, |_| u32::MAX);
            assert_eq!(wants.len(), 1);
            let place = Place {
                endpoint: wants[0].endpoint,
                tenant: "a".into(),
                repute: Repute::New,
            };
            load.enter(&place, now);
            load.leave(&place, now);
            served.push(place.endpoint);
        }
        served.sort_unstable();
        let mut endpoints: Vec<_> = all.iter().map(|ready| ready.endpoint).collect();
        endpoints.sort_unstable();
        assert_eq!(served, endpoints);
    }

    #[test]
    fn the_rate_bounds_what_begins() {
        let one = [ready("a", good())];
        let (policy, now) = (HealthPolicy::default(), Instant::now());
        let wants = Load::default().share(&one, 100, &policy, now, |_| 3);
        assert_eq!(
            wants.first().map(|want| (want.max, want.room)),
            Some((3, 10))
        );
        let none = Load::default().share(&one, 100, &policy, now, |_| 0);
        assert_eq!(none, []);
    }

    #[test]
    fn a_breaker_that_is_half_open_gets_one() {
        let mut half_open = good();
        half_open.open_until = Some(1);
        assert_eq!(share(&Load::default(), &[ready("a", half_open)], 10), [1]);
    }
}

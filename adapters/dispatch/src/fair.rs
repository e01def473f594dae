//! Who gets a free place: the tenant that has fewest, of its endpoints the one that was served longest ago;
//! and doubtful endpoints never more than half of all.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use webhook_core::outbox::{EndpointId, HealthPolicy, Ready, Want};

/// What is under way in this process.
#[derive(Debug, Default)]
pub(crate) struct Load {
    by_endpoint: HashMap<EndpointId, u32>,
    by_tenant: HashMap<Arc<str>, u32>,
    doubtful: u32,
    all: u32,
    /// In which turn an endpoint was served last.
    served: HashMap<EndpointId, u64>,
    turn: u64,
}

/// One delivery under way.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) endpoint: EndpointId,
    pub(crate) tenant: Arc<str>,
    pub(crate) is_doubtful: bool,
}

struct Candidate {
    endpoint: EndpointId,
    room: u32,
    left: u32,
    granted: u32,
    is_doubtful: bool,
}

impl Load {
    pub(crate) fn enter(&mut self, place: &Place) {
        let count = self.by_endpoint.entry(place.endpoint).or_default();
        *count = count.saturating_add(1);
        let count = self.by_tenant.entry(place.tenant.clone()).or_default();
        *count = count.saturating_add(1);
        self.doubtful = self.doubtful.saturating_add(u32::from(place.is_doubtful));
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

    pub(crate) fn leave(&mut self, place: &Place) {
        leave(&mut self.by_endpoint, &place.endpoint);
        leave(&mut self.by_tenant, &place.tenant);
        self.doubtful = self.doubtful.saturating_sub(u32::from(place.is_doubtful));
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
        mut begins: impl FnMut(&Ready) -> u32,
    ) -> Vec<Want> {
        let mut free = places.saturating_sub(self.all);
        let mut doubtful = (places / 2).max(1).saturating_sub(self.doubtful);
        let mut tenants: HashMap<&str, VecDeque<Candidate>> = HashMap::new();
        for ready in ready {
            // By the store's clock its breaker lets an attempt pass, or it would not be ready.
            let room = ready.health.room(ready.limits.in_flight, i64::MAX, policy);
            let under_way = self.by_endpoint.get(&ready.endpoint).copied();
            let left = room.saturating_sub(under_way.unwrap_or_default());
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
                        is_doubtful: ready.health.is_doubtful(policy),
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
            let may = !candidate.is_doubtful || doubtful > 0;
            if may {
                candidate.granted = candidate.granted.saturating_add(1);
                candidate.left = candidate.left.saturating_sub(1);
                free = free.saturating_sub(1);
                doubtful = doubtful.saturating_sub(u32::from(candidate.is_doubtful));
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
        Want {
            endpoint: self.endpoint,
            max: self.granted,
            room: self.room,
        }
    }
}

fn leave<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, u32>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// Endpoints that are remembered as served lately.
const MOST_SERVED: usize = 10_000;

#[cfg(test)]
mod tests {
    use webhook_core::outbox::{Health, Limits};

    use super::*;

    const PROVEN: Health = Health {
        failures: 0,
        slow: 0,
        is_proven: true,
        failing_since: None,
        open_until: None,
        is_noticed: false,
    };

    fn ready(tenant: &str, health: Health) -> Ready {
        let limits = Limits::new(10, None).unwrap();
        Ready::new(EndpointId::generate(), tenant.into(), limits, health)
    }

    fn share(load: &Load, ready: &[Ready], places: u32) -> Vec<u32> {
        let policy = HealthPolicy::default();
        let wants = load.share(ready, places, &policy, |_| u32::MAX);
        let granted = |ready: &Ready| {
            let want = wants.iter().find(|want| want.endpoint == ready.endpoint);
            want.map_or(0, |want| want.max)
        };
        ready.iter().map(granted).collect()
    }

    #[test]
    fn a_tenant_alone_gets_all_and_two_share_alike() {
        let alone = [ready("a", PROVEN)];
        assert_eq!(share(&Load::default(), &alone, 100), [10]);
        // One tenant with many endpoints has no more than one with a single endpoint.
        let many = [
            ready("a", PROVEN),
            ready("a", PROVEN),
            ready("a", PROVEN),
            ready("b", PROVEN),
        ];
        assert_eq!(share(&Load::default(), &many, 12), [2, 2, 2, 6]);
        assert_eq!(share(&Load::default(), &many, 100), [10, 10, 10, 10]);
    }

    #[test]
    fn what_is_under_way_counts() {
        let (a, b) = (ready("a", PROVEN), ready("b", PROVEN));
        let mut load = Load::default();
        let place = Place {
            endpoint: a.endpoint,
            tenant: "a".into(),
            is_doubtful: false,
        };
        for _ in 0..6 {
            load.enter(&place);
        }
        let both = [a, b];
        assert_eq!(share(&load, &both, 10), [0, 4]);
        assert_eq!(share(&load, &both, 100), [4, 10]);
        for _ in 0..6 {
            load.leave(&place);
        }
        assert_eq!(load.all(), 0);
        assert!(load.by_endpoint.is_empty() && load.by_tenant.is_empty());
    }

    #[test]
    fn doubtful_endpoints_get_one_place_each_and_half_of_all() {
        let mut all: Vec<Ready> = (0..20).map(|_| ready("a", Health::default())).collect();
        all.push(ready("a", PROVEN));
        let shares = share(&Load::default(), &all, 10);
        assert_eq!(shares.iter().take(20).sum::<u32>(), 5);
        assert_eq!(shares.last(), Some(&5));
    }

    #[test]
    fn endpoints_of_a_tenant_take_turns() {
        let all: Vec<Ready> = (0..5).map(|_| ready("a", Health::default())).collect();
        let mut load = Load::default();
        let mut served = Vec::new();
        for _ in 0..5 {
            // One place that doubtful endpoints may have.
            let wants = load.share(&all, 2, &HealthPolicy::default(), |_| u32::MAX);
            assert_eq!(wants.len(), 1);
            let place = Place {
                endpoint: wants[0].endpoint,
                tenant: "a".into(),
                is_doubtful: true,
            };
            load.enter(&place);
            load.leave(&place);
            served.push(place.endpoint);
        }
        served.sort_unstable();
        let mut endpoints: Vec<_> = all.iter().map(|ready| ready.endpoint).collect();
        endpoints.sort_unstable();
        assert_eq!(served, endpoints);
    }

    #[test]
    fn the_rate_bounds_what_begins() {
        let one = [ready("a", PROVEN)];
        let policy = HealthPolicy::default();
        let wants = Load::default().share(&one, 100, &policy, |_| 3);
        assert_eq!(
            wants.first().map(|want| (want.max, want.room)),
            Some((3, 10))
        );
        let none = Load::default().share(&one, 100, &policy, |_| 0);
        assert_eq!(none, []);
    }

    #[test]
    fn a_breaker_that_is_half_open_gets_one() {
        let half_open = Health {
            open_until: Some(1),
            ..PROVEN
        };
        assert_eq!(share(&Load::default(), &[ready("a", half_open)], 10), [1]);
    }
}

//! A small model checker: every reachable state, breadth first, and every fair way never to arrive.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{Debug, Display, Write as _};
use std::hash::Hash;

/// States, the steps between them, and what must hold.
pub(crate) trait Model {
    type State: Copy + Eq + Hash + Debug;
    type Step: Copy + Display;
    type Property: Copy + Ord + Debug;

    fn initial(&self) -> Vec<Self::State>;

    /// Every step that can be taken in `state`, and where it leads.
    fn steps(&self, state: &Self::State, next: &mut Vec<(Self::Step, Self::State)>);

    /// The classes that `step` belongs to, a bit each: what can be relied on to happen.
    ///
    /// A class of which some step is possible from now on without end is taken in the end (weak
    /// fairness); one of [`Model::STRONG`] already if it is possible again and again. A step of no
    /// class may never happen.
    fn classes(step: Self::Step) -> u32;

    /// The classes of steps that are not passed over for ever.
    const STRONG: u32;

    /// What kind of step it is, for telling which kinds were explored.
    fn kind(step: Self::Step) -> &'static str;

    /// What must hold in every state.
    fn always(&self) -> Vec<Self::Property>;

    /// What must come about again and again in every fair run, for each of the numbered parties.
    fn eventually(&self) -> Vec<(Self::Property, usize)>;

    /// Whether `property` holds for `party`; those of [`Model::always`] have only party 0.
    fn holds(&self, property: Self::Property, party: usize, state: &Self::State) -> bool;
}

/// What an exploration found.
#[derive(Debug)]
pub(crate) struct Report<P> {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    /// Every kind of step that was taken.
    pub(crate) taken: BTreeSet<&'static str>,
    /// For each property that does not hold, a way to see it.
    pub(crate) broken: BTreeMap<P, String>,
}

/// Explore `model` to the end.
pub(crate) fn explore<M: Model>(model: &M) -> Report<M::Property> {
    let graph = Graph::of(model);
    let mut broken = BTreeMap::new();
    for property in model.always() {
        let mut states = graph.states.iter();
        if let Some(at) = states.position(|state| !model.holds(property, 0, state)) {
            broken.insert(property, graph.way_to(at));
        }
    }
    for (property, party) in model.eventually() {
        let waiting: Vec<bool> = (graph.states.iter())
            .map(|state| !model.holds(property, party, state))
            .collect();
        if let Some(circle) = graph.fair_circle(waiting) {
            broken.entry(property).or_insert_with(|| {
                let way = graph.way_to(circle[0]);
                format!("{way}  and then for ever among {} states\n", circle.len())
            });
        }
    }
    Report {
        states: graph.states.len(),
        steps: graph.edges.iter().map(Vec::len).sum(),
        taken: graph.taken,
        broken,
    }
}

struct Graph<M: Model> {
    states: Vec<M::State>,
    /// The step by which each state was first reached.
    reached: Vec<Option<(usize, M::Step)>>,
    /// Target and classes of every step.
    edges: Vec<Vec<(usize, u32)>>,
    taken: BTreeSet<&'static str>,
}

impl<M: Model> Graph<M> {
    fn of(model: &M) -> Self {
        let mut graph = Self {
            states: Vec::new(),
            reached: Vec::new(),
            edges: Vec::new(),
            taken: BTreeSet::new(),
        };
        let mut numbers = HashMap::new();
        let mut number = |graph: &mut Self, state: M::State, from| {
            *numbers.entry(state).or_insert_with(|| {
                graph.states.push(state);
                graph.reached.push(from);
                graph.states.len() - 1
            })
        };
        for state in model.initial() {
            number(&mut graph, state, None);
        }
        let mut next = Vec::new();
        while let Some(&state) = graph.states.get(graph.edges.len()) {
            let from = graph.edges.len();
            model.steps(&state, &mut next);
            let edges = (next.drain(..))
                .map(|(step, state)| {
                    graph.taken.insert(M::kind(step));
                    let to = number(&mut graph, state, Some((from, step)));
                    (to, M::classes(step))
                })
                .collect();
            graph.edges.push(edges);
        }
        graph
    }

    /// States among which a fair run can stay for ever, all of them `waiting`; the earliest first.
    ///
    /// Such a run ends up in a strongly connected component of the waiting states. Standing still is a
    /// run too, so a component may be a single state.
    fn fair_circle(&self, mut waiting: Vec<bool>) -> Option<Vec<usize>> {
        let mut fair: Vec<Vec<usize>> = Vec::new();
        let mut is_done = false;
        while !is_done && fair.is_empty() {
            is_done = true;
            let components = components(&self.edges, &waiting);
            let mut component_of = vec![usize::MAX; waiting.len()];
            for (number, component) in components.iter().enumerate() {
                for &state in component {
                    component_of[state] = number;
                }
            }
            for (number, component) in components.into_iter().enumerate() {
                let (mut always, mut sometimes, mut taken) = (u32::MAX, 0, 0);
                for &state in &component {
                    let possible = self.possible(state);
                    always &= possible;
                    sometimes |= possible;
                    let inside = self.edges[state].iter();
                    let inside = inside.filter(|(to, _)| component_of[*to] == number);
                    taken |= inside.fold(0, |all, (_, classes)| all | classes);
                }
                let passed_over = sometimes & M::STRONG & !taken;
                if always & !taken != 0 {
                    // Nor is any part of it fair.
                    for state in component {
                        waiting[state] = false;
                    }
                } else if passed_over == 0 {
                    fair.push(component);
                } else {
                    // Fair are only runs that stay where it is not possible.
                    is_done = false;
                    for state in component {
                        waiting[state] = self.possible(state) & passed_over == 0;
                    }
                }
            }
        }
        let mut circle = fair
            .into_iter()
            .min_by_key(|circle| circle.iter().min().copied())?;
        circle.sort_unstable();
        Some(circle)
    }

    /// The classes of which some step can be taken in a state.
    fn possible(&self, state: usize) -> u32 {
        self.edges[state]
            .iter()
            .fold(0, |all, (_, classes)| all | classes)
    }

    /// The shortest way to a state, and the state.
    fn way_to(&self, at: usize) -> String {
        let mut steps = Vec::new();
        let mut here = at;
        while let Some((from, step)) = self.reached[here] {
            steps.push(step);
            here = from;
        }
        let mut way = String::new();
        for step in steps.iter().rev() {
            let _ = writeln!(way, "  {step}");
        }
        let _ = writeln!(way, "  {:?}", self.states[at]);
        way
    }
}

/// The strongly connected components of the states that are `inside`: Tarjan's algorithm, without
/// recursion.
fn components(edges: &[Vec<(usize, u32)>], inside: &[bool]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    const DONE: usize = usize::MAX - 1;
    let mut components = Vec::new();
    // The order of the first visit, then the earliest state known to be reachable and still open.
    let mut low = vec![UNSEEN; edges.len()];
    let mut open = Vec::new();
    let mut visited = 0;
    for root in (0..edges.len()).filter(|&state| inside[state]) {
        if low[root] != UNSEEN {
            continue;
        }
        // A state, its own number, and which of its edges comes next.
        let mut path = vec![(root, visited, 0)];
        low[root] = visited;
        open.push(root);
        visited += 1;
        while let Some((state, number, edge)) = path.last_mut() {
            let (state, number) = (*state, *number);
            if let Some(&(to, _)) = edges[state].get(*edge) {
                *edge += 1;
                if inside[to] && low[to] == UNSEEN {
                    path.push((to, visited, 0));
                    low[to] = visited;
                    open.push(to);
                    visited += 1;
                } else if inside[to] && low[to] != DONE {
                    low[state] = low[state].min(low[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, ..)) = path.last() {
                low[parent] = low[parent].min(low[state]);
            }
            if low[state] == number {
                let start = open.iter().rposition(|&other| other == state).unwrap();
                let component = open.split_off(start);
                for &member in &component {
                    low[member] = DONE;
                }
                components.push(component);
            }
        }
    }
    components
}

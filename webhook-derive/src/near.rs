//! What a misspelt name was meant to be.

/// The one of `names` that `text` is a slip of.
pub(crate) fn nearest<N: Copy>(
    text: &str,
    names: impl IntoIterator<Item = N>,
    spelt: impl Fn(N) -> &'static str,
) -> Option<N> {
    const SLIPS: usize = 2;
    names
        .into_iter()
        .map(|name| (distance(text, spelt(name)), name))
        .filter(|(distance, _)| *distance <= SLIPS)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Insertions, deletions and replacements that lead from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (index, x) in from.bytes().enumerate() {
        let mut left = index.saturating_add(1);
        let mut row = vec![left];
        for ((diagonal, up), y) in above.iter().zip(above.iter().skip(1)).zip(to.bytes()) {
            let replaced = diagonal.saturating_add(usize::from(x != y));
            left = replaced.min(left.min(*up).saturating_add(1));
            row.push(left);
        }
        above = row;
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        for (from, to, edits) in [("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3)] {
            assert_eq!(distance(from, to), edits);
        }
    }

    #[test]
    fn the_nearest_wins_and_the_far_do_not_count() {
        let near = |text| nearest(text, ["event", "events"], |name| name);
        assert_eq!(near("evnts"), Some("events"));
        assert_eq!(near("evet"), Some("event"));
        assert_eq!(near("other"), None);
    }
}

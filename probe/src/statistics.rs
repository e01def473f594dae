//! Whether two samples differ, without assuming how they are distributed.

/// What two samples of durations say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Comparison {
    /// The difference of the medians, second minus first.
    pub(crate) shift: f64,
    /// The chance of a difference as great if there is none: Mann–Whitney's U test, two-sided, by the normal approximation with
    /// ties corrected.
    pub(crate) p: f64,
}

/// Compare two samples. `None` below eight values each, where the approximation is none.
pub(crate) fn compare(first: &[f64], second: &[f64]) -> Option<Comparison> {
    if first.len() < 8 || second.len() < 8 {
        return None;
    }
    let (n1, n2) = (count(first.len()), count(second.len()));
    let mut all: Vec<(f64, bool)> = first.iter().map(|&value| (value, true)).collect();
    all.extend(second.iter().map(|&value| (value, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut ranks_of_first, mut ties, mut below) = (0.0, 0.0, 0.0);
    for equal in all.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let size = count(equal.len());
        let rank = f64::midpoint(below + 1.0, below + size);
        ranks_of_first += rank * count(equal.iter().filter(|(_, is_first)| *is_first).count());
        ties += size.powi(3) - size;
        below += size;
    }
    let n = n1 + n2;
    let u = ranks_of_first - n1 * (n1 + 1.0) / 2.0;
    let variance = n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    let distance = ((u - n1 * n2 / 2.0).abs() - 0.5).max(0.0);
    let p = if variance > 0.0 {
        two_sided(distance / variance.sqrt())
    } else {
        1.0
    };
    Some(Comparison {
        shift: median(second) - median(first),
        p,
    })
}

/// The middle value; between two, their mean. Zero of none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2).copied().unwrap_or_default();
    let lower = values.len().saturating_sub(1) / 2;
    let lower = values.get(lower).copied().unwrap_or_default();
    f64::midpoint(lower, upper)
}

/// The chance of a normal variable farther out than `z` on either side: Abramowitz and Stegun 7.1.26, good to 1.5e-7.
fn two_sided(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / 0.327_591_1f64.mul_add(x, 1.0);
    let coefficients = [
        1.061_405_429,
        -1.453_152_027,
        1.421_413_741,
        -0.284_496_736,
        0.254_829_592,
    ];
    let polynomial = coefficients
        .iter()
        .fold(0.0_f64, |sum, c| sum.mul_add(t, *c))
        * t;
    (polynomial * (-x * x).exp()).clamp(0.0, 1.0)
}

fn count(len: usize) -> f64 {
    u32::try_from(len).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    #[test]
    fn known_values() {
        // scipy.stats.mannwhitneyu(range(10), range(5, 15), use_continuity=True, method="asymptotic")
        let first: Vec<f64> = (0..10).map(f64::from).collect();
        let second: Vec<f64> = (5..15).map(f64::from).collect();
        let found = compare(&first, &second).unwrap();
        assert!(close(found.shift, 5.0));
        assert!((0.004..0.006).contains(&found.p), "{found:?}");
        assert!(close(two_sided(1.959_964), 0.05));
        assert!(close(two_sided(0.0), 1.0));
    }

    #[test]
    fn equal_samples_differ_in_nothing() {
        let same = [1.0; 20];
        assert_eq!(
            compare(&same, &same),
            Some(Comparison { shift: 0.0, p: 1.0 })
        );
        assert_eq!(compare(&same[..7], &same), None);
        assert!(close(median(&[3.0, 1.0, 2.0, 4.0]), 2.5));
    }

    #[test]
    fn a_clear_difference_is_clear() {
        let first: Vec<f64> = (0..100).map(f64::from).collect();
        let second: Vec<f64> = (90..190).map(f64::from).collect();
        assert!(compare(&first, &second).unwrap().p < 1e-9);
    }
}

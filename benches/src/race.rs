//! Cases that take turns in short chunks, so that a noisy neighbour slows all of them alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::options::Effort;
use crate::report::Ratio;

/// Something to do over and over.
pub struct Case<'c> {
    run: Box<dyn FnMut(u32) + 'c>,
    per_chunk: u32,
}

/// Nanoseconds per run of each case, one entry a round.
#[derive(Debug)]
pub struct Laps<const N: usize>(Vec<[f64; N]>);

/// Let every case run for one chunk a round. Each round begins with another case.
pub fn race<const N: usize>(effort: Effort, mut cases: [Case<'_>; N]) -> Laps<N> {
    for case in &mut cases {
        case.calibrate(effort.chunk);
    }
    let mut laps = Vec::with_capacity(effort.rounds);
    for round in 0..effort.rounds {
        let mut nanos = [0.0; N];
        let mut turns: Vec<_> = cases.iter_mut().zip(&mut nanos).collect();
        let first = round.checked_rem(N).unwrap_or_default();
        turns.rotate_left(first);
        for (case, nanos) in turns {
            *nanos = case.nanos_per_run();
        }
        laps.push(nanos);
    }
    Laps(laps)
}

impl<'c> Case<'c> {
    /// `f`, whose result is kept from being optimised away.
    pub fn new<R>(mut f: impl FnMut() -> R + 'c) -> Self {
        Self {
            run: Box::new(move |times| {
                for _ in 0..times {
                    black_box(f());
                }
            }),
            per_chunk: 1,
        }
    }

    /// Find how many runs take about one chunk.
    fn calibrate(&mut self, chunk: Duration) {
        self.per_chunk = 1;
        while self.time() < chunk {
            self.per_chunk = self.per_chunk.saturating_mul(2);
        }
        let runs = chunk.as_secs_f64() * 1e9 / self.nanos_per_run();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and a chunk holds far fewer runs than 2^32"
        )]
        {
            self.per_chunk = runs.max(1.0) as u32;
        }
    }

    fn nanos_per_run(&mut self) -> f64 {
        self.time().as_secs_f64() * 1e9 / f64::from(self.per_chunk)
    }

    fn time(&mut self) -> Duration {
        let began = Instant::now();
        (self.run)(self.per_chunk);
        began.elapsed()
    }
}

impl<const N: usize> Laps<N> {
    /// A ratio of the cases' times: of their tenth percentiles, and round by round.
    pub fn ratio(&self, of: impl Fn([f64; N]) -> f64) -> Ratio {
        let mut fast = [0.0; N];
        for (case, nanos) in fast.iter_mut().enumerate() {
            let all = self.0.iter().filter_map(|lap| lap.get(case)).copied();
            *nanos = crate::report::quantile(all, 0.1);
        }
        Ratio {
            value: of(fast),
            ..Ratio::of_rounds(self.0.iter().map(|lap| of(*lap)))
        }
    }
}

impl std::fmt::Debug for Case<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case")
            .field("per_chunk", &self.per_chunk)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_fast_chunks_and_of_rounds() {
        let laps = Laps(
            (1..=9)
                .map(|lap| [f64::from(lap) * 3.0, f64::from(lap)])
                .collect(),
        );
        let ratio = laps.ratio(|[ours, theirs]| ours / theirs);
        assert_eq!((ratio.value, ratio.median), (3.0, 3.0));
    }

    #[test]
    fn every_case_runs_in_every_round() {
        let effort = crate::Options::parse(["--quick".to_owned()])
            .unwrap()
            .effort();
        let mut runs = 0u32;
        let laps = race(effort, [Case::new(|| runs += 1), Case::new(|| ())]);
        assert_eq!(laps.0.len(), effort.rounds);
        assert!(laps.0.iter().flatten().all(|nanos| *nanos > 0.0));
        drop(laps);
        assert!(runs >= 3);
    }
}

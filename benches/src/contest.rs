//! Contenders that take turns of about a second: what waits for a disk or a server needs longer than
//! a chunk of a race.

use webhook_benches::{Effort, Measure, Ratio};

use crate::timings::Timings;

/// Something that can do any number of equal things.
pub(crate) struct Contender<'c> {
    run: Box<dyn FnMut(usize) -> Timings + 'c>,
    size: usize,
}

/// What each contender took, one entry a round.
#[derive(Debug, Clone)]
pub(crate) struct Bouts<const N: usize>(Vec<[Timings; N]>);

impl<'c> Contender<'c> {
    /// `run` does so many things, and times them without what it has to prepare.
    pub(crate) fn new(run: impl FnMut(usize) -> Timings + 'c) -> Self {
        Self {
            run: Box::new(run),
            size: 1,
        }
    }

    /// Find how many things take about one bout, and warm up by it.
    fn calibrate(&mut self, effort: Effort) {
        if let Some(size) = effort.bout_size {
            self.size = size;
            return;
        }
        self.size = FIRST_SIZE;
        loop {
            let timings = (self.run)(self.size);
            let share = timings.took().as_secs_f64() / effort.bout.as_secs_f64();
            let is_telling = share > 0.2;
            // Not too much at once: what is small may be mostly start-up.
            let factor = share.recip().min(6.0);
            self.size = scaled(self.size, factor);
            if is_telling {
                return;
            }
        }
    }
}

/// Let every contender have its bout in every round. Each round begins with another one.
pub(crate) fn contest<const N: usize>(
    effort: Effort,
    mut contenders: [Contender<'_>; N],
) -> Bouts<N> {
    for contender in &mut contenders {
        contender.calibrate(effort);
    }
    let mut bouts = Vec::with_capacity(effort.bouts);
    for round in 0..effort.bouts {
        let mut taken = std::array::from_fn(|_| Timings::default());
        let mut turns: Vec<_> = contenders.iter_mut().zip(&mut taken).collect();
        turns.rotate_left(round.checked_rem(N).unwrap_or_default());
        for (contender, taken) in turns {
            *taken = (contender.run)(contender.size);
        }
        bouts.push(taken);
    }
    Bouts(bouts)
}

impl<const N: usize> Bouts<N> {
    /// The median of a ratio, round by round.
    pub(crate) fn ratio(&self, of: impl Fn(&[Timings; N]) -> f64) -> Measure {
        Measure::Is(Ratio::of_rounds(self.0.iter().map(of)))
    }

    pub(crate) fn median(&self, of: impl Fn(&[Timings; N]) -> f64) -> f64 {
        Ratio::of_rounds(self.0.iter().map(of)).median
    }
}

/// `size` times `factor`, at least one.
pub(crate) fn scaled(size: usize, factor: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "positive, and below 2^52"
    )]
    let scaled = (size as f64 * factor).max(1.0) as usize;
    scaled
}

impl std::fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contender")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

const FIRST_SIZE: usize = 256;

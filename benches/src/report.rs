//! A row's result, as a line for people or for programs.

use crate::goal::{GOALS, Row};
use crate::options::Options;

/// A measured ratio. Spread is between the quartiles of the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Ratio {
    /// What the goal is held against.
    pub value: f64,
    /// Median of the rounds.
    pub median: f64,
    /// Lower quartile of the rounds.
    pub low: f64,
    /// Upper quartile of the rounds.
    pub high: f64,
}

/// What became of a row.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "it was measured or it was not")]
pub enum Measure {
    /// Measured.
    Is(Ratio),
    /// Not measured, and why.
    Not(String),
}

/// Prints rows as they come in.
#[derive(Debug)]
pub struct Report {
    options: Options,
}

impl Ratio {
    /// The median of `rounds` is the value.
    pub fn of_rounds(rounds: impl IntoIterator<Item = f64>) -> Self {
        let rounds: Vec<f64> = rounds.into_iter().collect();
        let at = |share| quantile(rounds.iter().copied(), share);
        Self {
            value: at(0.5),
            median: at(0.5),
            low: at(0.25),
            high: at(0.75),
        }
    }

    /// A count that is the same every time.
    pub fn exact(value: f64) -> Self {
        Self::of_rounds([value])
    }
}

impl Report {
    /// For rows that `options` ask for.
    pub fn new(options: Options) -> Self {
        Self { options }
    }

    /// Measure and print the row named `id`, if it was asked for.
    pub fn row(&self, id: &str, measure: impl FnOnce() -> Measure) {
        let row = GOALS.iter().find(|row| row.id == id);
        if let Some(row) = row.filter(|row| self.options.wants(row)) {
            println!("{}", self.line(row, &measure()));
        }
    }

    fn line(&self, row: &Row, measure: &Measure) -> String {
        let Row { id, what, goal } = row;
        let verdict = match measure {
            Measure::Not(_) => "not measured",
            Measure::Is(_) if self.options.quick => "runs",
            Measure::Is(ratio) if goal.is_met(ratio.value) => "met",
            Measure::Is(_) => "not met",
        };
        match (self.options.json, measure) {
            (_, Measure::Is(ratio)) if self.options.markdown => format!(
                "| {id} | {what} | {goal} | {:.2} | {:.2} to {:.2} | {verdict} |",
                ratio.value, ratio.low, ratio.high
            ),
            (_, Measure::Not(why)) if self.options.markdown => {
                format!("| {id} | {what} | {goal} | - | {why} | {verdict} |")
            }
            (false, Measure::Is(ratio)) => format!(
                "{id:<4} {what:<66} {:>7.3}  goal {goal:<7}  {verdict:<12}  median {:.3}, spread {:.3} to {:.3}",
                ratio.value, ratio.median, ratio.low, ratio.high
            ),
            (false, Measure::Not(why)) => {
                format!("{id:<4} {what:<66}       -  goal {goal:<7}  {verdict:<12}  {why}")
            }
            (true, Measure::Is(ratio)) => format!(
                r#"{{"row":"{id}","what":"{what}","ratio":{:.4},"goal":"{goal}","verdict":"{verdict}","median":{:.4},"low":{:.4},"high":{:.4}}}"#,
                ratio.value, ratio.median, ratio.low, ratio.high
            ),
            (true, Measure::Not(why)) => format!(
                r#"{{"row":"{id}","what":"{what}","ratio":null,"goal":"{goal}","verdict":"{verdict}","why":"{why}"}}"#
            ),
        }
    }
}

/// The smallest value that at least `share` of `values` do not exceed.
pub fn quantile(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "an index of a short list"
    )]
    let rank = (values.len() as f64 * share).ceil() as usize;
    let found = values.get(rank.saturating_sub(1));
    found.copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str], measure: &Measure) -> String {
        let options = Options::parse(words.iter().map(|&word| word.to_owned())).unwrap();
        Report::new(options).line(&GOALS[0], measure)
    }

    #[test]
    fn quantiles_are_values_of_the_list() {
        let of_ten = |share| quantile((1..=10).map(f64::from), share).to_string();
        assert_eq!([0.1, 0.5, 0.75].map(of_ten), ["1", "5", "8"]);
        assert!(quantile(std::iter::empty(), 0.5).is_nan());
    }

    #[test]
    fn a_line_says_whether_the_goal_is_met() {
        let met = Measure::Is(Ratio::exact(1.1));
        let missed = Measure::Is(Ratio::exact(1.2));
        assert!(line(&[], &met).contains("  met "));
        assert!(line(&[], &missed).contains("  not met "));
        assert!(line(&["--quick"], &missed).contains("  runs "));
        assert_eq!(
            line(&["--markdown"], &met),
            "| V1 | verify 2 KB, time : bare HMAC over the same bytes | <= 1.15 | 1.10 | 1.10 to 1.10 | met |"
        );
        assert!(
            line(&["--json"], &met).contains(r#""ratio":1.1000,"goal":"<= 1.15","verdict":"met""#)
        );
        let none = Measure::Not("no tool".to_owned());
        assert!(line(&["--json"], &none).contains(r#""why":"no tool""#));
    }
}

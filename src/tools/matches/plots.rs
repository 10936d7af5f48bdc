//! Plots of a match: the curve of the score as SVG, and the lengths of the games.

use super::side::Side;
use super::summary::Summary;
use crate::pages::{Columns, english};
use crate::statistics::{Interval, Tally};
use maud::{Markup, html};

/// Width and height of plots, and margins for the axes.
const WIDE: f64 = 720.0;
const HIGH: f64 = 240.0;
const LEFT: f64 = 80.0;
const LOW: f64 = 30.0;
/// Maximum number of points of a curve. More cannot be distinguished.
const MAX_POINTS: usize = 400;

/// Returns the curve of the score after each game, with its confidence interval.
pub(super) fn score_curve(summary: &Summary) -> Markup {
    let mut tally = Tally::default();
    let mut rates: Vec<Interval> = Vec::new();
    for game in summary.games.values() {
        tally.add(game.winner.map(|winner| winner == Side::A));
        rates.extend(tally.rate());
    }
    let count = rates.len();
    let step = count.div_ceil(MAX_POINTS).max(1);
    let shown: Vec<(usize, Interval)> = (0..count)
        .filter(|index| index % step == 0 || index + 1 == count)
        .map(|index| (index, rates[index]))
        .collect();
    let x = |index: usize| LEFT + (WIDE - LEFT - 8.0) * index as f64 / (count - 1).max(1) as f64;
    let y = |share: f64| 8.0 + (HIGH - LOW - 8.0) * (1.0 - share);
    let points = |of: fn(&Interval) -> f64| {
        shown.iter().map(move |(index, rate)| format!("{:.1},{:.1} ", x(*index), y(of(rate))))
    };
    let upper = points(|rate| rate.high);
    let lower = points(|rate| rate.low).rev();
    let middle: String = points(|rate| rate.value).collect();
    let band: String = upper.chain(lower).collect();
    let right = WIDE - 8.0;
    html! {
        svg.plot role="img" viewBox={ "0 -10 " (WIDE) " " (HIGH + 10.0) } {
            title { "Score after each game" }
            @for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                @let at = y(share);
                path class=(if share == 0.5 { "even" } else { "axis" }) d=(format!("M{LEFT} {at:.1}H{right}")) {}
                text x=(LEFT - 6.0) y=(format_args!("{:.1}", at + 4.0)) text-anchor="end" { (100.0 * share) " %" }
            }
            polygon class="band" points=(band) {}
            polyline class="curve" points=(middle) {}
            text x=(LEFT) y=(HIGH - 5.0) { "1" }
            text x=(right) y=(HIGH - 5.0) text-anchor="end" { (count) " games" }
        }
    }
}

/// Returns a round column width that gives about two dozen columns.
fn column_width(least: usize, most: usize) -> usize {
    [1, 2, 5, 10, 20, 50, 100].into_iter().find(|width| (most - least) / width < 24).unwrap_or(100)
}

/// Returns the distribution of game lengths. `lengths` must not be empty.
pub(super) fn lengths_plot(lengths: &[usize]) -> Columns {
    let (least, most) = lengths.iter().fold((usize::MAX, 0), |(low, high), &at| (low.min(at), high.max(at)));
    let width = column_width(least, most);
    let first = least / width;
    let mut counts = vec![0; most / width - first + 1];
    lengths.iter().for_each(|length| counts[length / width - first] += 1);
    let label = |bin: usize| match width {
        1 => bin.to_string(),
        _ => format!("{}–{}", bin * width, (bin + 1) * width - 1),
    };
    Columns::new(english("game-lengths"), (first..).map(label).zip(counts))
}

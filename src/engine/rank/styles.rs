//! Parameters of play at a rank, for each board size.

use kosumi_go::board::BoardSize;
use kosumi_net::Rank;

/// Parameters of play at a rank.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RankStyle {
    /// Temperature of the policy. Larger values make it more even.
    pub(super) temperature: f32,
    /// Loss in points that divides a move's frequency by e.
    pub(super) loss_scale: f32,
    /// Maximum loss of a move that is played with care, in points. Also the deficit from which the rank may resign.
    pub(super) max_loss: f32,
    /// Share of moves, in `[0, 1]`, that are played without reading: their losses are ignored.
    pub(super) careless: f32,
    /// Number of visits of the search.
    pub(crate) visits: u32,
}

/// Styles on a square board, by number of steps below 10 dan: 1 is 9 dan, 10 is 1 kyu, 39 is 30 kyu. Other ranks are
/// interpolated.
type BoardStyles = [(u8, RankStyle); KNOTS];

/// Number of ranks in the table of a board.
const KNOTS: usize = 11;

const fn style(temperature: f32, loss_scale: f32, max_loss: f32, careless: f32, visits: u32) -> RankStyle {
    RankStyle { temperature, loss_scale, max_loss, careless, visits }
}

/// Styles by length of the side of the board. Sides between two of these are interpolated, and others use the nearest.
///
/// The values were found by games between ranks, with komi as the handicap on the two smaller boards and with stones on
/// 19×19, and by games with GNU Go. `scripts/ranks` plays them, and `docs/ranks.md` says which ranks have been
/// measured.
pub(super) const STYLES: [(u8, BoardStyles); 3] = [
    (
        9,
        [
            (1, style(0.2, 0.08, 0.6, 0.0, 500)),
            (4, style(0.5, 0.27, 2.0, 0.0, 150)),
            (7, style(0.85, 0.75, 4.5, 0.0, 55)),
            (10, style(1.28, 2.3, 11.0, 0.0, 24)),
            (14, style(1.75, 6.0, 22.0, 0.06, 17)),
            (18, style(1.85, 7.5, 27.0, 0.14, 16)),
            (22, style(1.95, 9.0, 31.0, 0.23, 16)),
            (26, style(2.05, 10.5, 35.0, 0.33, 16)),
            (30, style(2.15, 12.0, 39.0, 0.44, 16)),
            (34, style(2.25, 13.5, 43.0, 0.56, 16)),
            (39, style(2.35, 15.0, 47.0, 0.68, 16)),
        ],
    ),
    (
        13,
        [
            (1, style(0.33, 0.2, 1.5, 0.0, 320)),
            (4, style(0.89, 1.2, 7.0, 0.0, 50)),
            (7, style(1.43, 4.1, 18.5, 0.0, 20)),
            (10, style(1.73, 7.4, 29.0, 0.02, 17)),
            (14, style(1.9, 10.3, 37.0, 0.085, 16)),
            (18, style(2.0, 12.2, 42.0, 0.145, 16)),
            (22, style(2.1, 14.0, 47.0, 0.21, 16)),
            (26, style(2.2, 16.0, 52.0, 0.295, 16)),
            (30, style(2.29, 18.0, 57.0, 0.395, 16)),
            (34, style(2.37, 20.0, 62.0, 0.5, 16)),
            (39, style(2.48, 22.5, 68.0, 0.63, 16)),
        ],
    ),
    (
        19,
        [
            (1, style(0.37, 0.33, 2.2, 0.0, 270)),
            (4, style(0.85, 1.07, 7.0, 0.01, 50)),
            (7, style(1.25, 2.85, 14.5, 0.035, 25)),
            (10, style(1.47, 5.0, 22.5, 0.073, 19)),
            (14, style(1.68, 8.2, 33.0, 0.124, 17)),
            (18, style(1.8, 10.3, 39.0, 0.172, 16)),
            (22, style(1.9, 12.5, 44.5, 0.217, 16)),
            (26, style(2.0, 14.7, 50.0, 0.262, 16)),
            (30, style(2.1, 17.0, 56.0, 0.307, 16)),
            (34, style(2.2, 19.5, 62.0, 0.352, 16)),
            (39, style(2.3, 22.5, 70.0, 0.407, 16)),
        ],
    ),
];

impl RankStyle {
    /// Returns the style of a rank on a board. A board that is not square counts as a square of the same area.
    pub(crate) fn of(rank: Rank, size: BoardSize) -> RankStyle {
        let side = libm::sqrtf(size.area() as f32);
        let above =
            STYLES.iter().position(|&(at, _)| f32::from(at) >= side).unwrap_or(STYLES.len() - 1).max(1);
        let ((small, fewer), (large, more)) = (&STYLES[above - 1], &STYLES[above]);
        let share = (side - f32::from(*small)) / (f32::from(*large) - f32::from(*small));
        let step = rank.steps_below_ten_dan();
        RankStyle::between(RankStyle::at(fewer, step), RankStyle::at(more, step), share.clamp(0.0, 1.0))
    }

    /// Returns the style on one of the boards of the table.
    fn at(styles: &BoardStyles, step: u8) -> RankStyle {
        let above = styles.iter().position(|&(at, _)| at >= step).unwrap_or(KNOTS - 1).max(1);
        let ((from, strong), (to, weak)) = (styles[above - 1], styles[above]);
        RankStyle::between(
            strong,
            weak,
            (f32::from(step) - f32::from(from)) / (f32::from(to) - f32::from(from)),
        )
    }

    /// Interpolates linearly, but visits geometrically, because strength is linear in the losses of moves and in the
    /// logarithm of the visits. `share` is the weight of `last`, in `[0, 1]`.
    fn between(first: RankStyle, last: RankStyle, share: f32) -> RankStyle {
        let mix = |a: f32, b: f32| a + share * (b - a);
        let (a, b) = (first.visits as f32, last.visits as f32);
        RankStyle {
            temperature: mix(first.temperature, last.temperature),
            loss_scale: mix(first.loss_scale, last.loss_scale),
            max_loss: mix(first.max_loss, last.max_loss),
            careless: mix(first.careless, last.careless),
            visits: (a * libm::powf(b / a, share)).round() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style_of(text: &str, columns: usize, rows: usize) -> RankStyle {
        RankStyle::of(text.parse().unwrap(), BoardSize::new(columns, rows).unwrap())
    }

    #[test]
    fn weaker_ranks_lose_more_and_think_less_on_every_board() {
        let ranks: Vec<String> =
            (1..=9).rev().map(|dan| format!("{dan}d")).chain((1..=30).map(|kyu| format!("{kyu}k"))).collect();
        for side in [5, 9, 10, 13, 17, 19, 25] {
            let styles: Vec<RankStyle> = ranks.iter().map(|text| style_of(text, side, side)).collect();
            for (pair, name) in styles.windows(2).zip(&ranks) {
                let (strong, weak) = (pair[0], pair[1]);
                assert!(strong.temperature < weak.temperature, "{side} {name} {pair:?}");
                assert!(
                    strong.loss_scale < weak.loss_scale && strong.max_loss < weak.max_loss,
                    "{side} {name}"
                );
                assert!(strong.visits >= weak.visits && strong.careless <= weak.careless, "{side} {name}");
                assert!((0.0..1.0).contains(&weak.careless));
            }
        }
    }

    #[test]
    fn ranks_and_boards_between_those_of_the_table_are_interpolated() {
        for (side, styles) in STYLES {
            let side = usize::from(side);
            assert_eq!(
                (style_of("9d", side, side), style_of("30k", side, side)),
                (styles[0].1, styles[KNOTS - 1].1)
            );
        }
        let (_, nine) = STYLES[0];
        let ((_, strong), (_, weak), fifth) = (nine[1], nine[2], style_of("5d", 9, 9));
        assert!((fifth.loss_scale - (2.0 * strong.loss_scale + weak.loss_scale) / 3.0).abs() < 1e-6);
        let visits = (strong.visits as f32) * (weak.visits as f32 / strong.visits as f32).powf(1.0 / 3.0);
        assert_eq!(fifth.visits, visits.round() as u32);
        let middle = |side| style_of("10k", side, side).loss_scale;
        assert!((middle(11) - 0.5 * (middle(9) + middle(13))).abs() < 1e-5);
        assert_eq!(
            (style_of("3k", 5, 5), style_of("3k", 25, 25)),
            (style_of("3k", 9, 9), style_of("3k", 19, 19))
        );
        assert_eq!(style_of("3k", 9, 16), style_of("3k", 12, 12), "12 is the side of a square of 144 points");
    }
}

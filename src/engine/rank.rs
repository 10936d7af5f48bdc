//! Play at a human rank without a network of human play.
//!
//! The policy of a strong network also assigns probability to natural-looking mistakes, which people of some rank play.
//! Moves are therefore drawn from this policy, at a temperature that rises for weaker ranks. A short search measures
//! the loss of each move. Losing moves become less frequent, and moves beyond a maximum loss are never played. The
//! resulting mistakes are natural moves that lose points, like those of people, and no stones are thrown away. The
//! parameters of each rank come from handicap games. `docs/ranks.md` lists them.

use super::Engine;
use kosumi_go::board::Move;
use kosumi_go::game::Game;
use kosumi_net::Rank;
use kosumi_search::{MoveReport, RootExploration, SearchReport};

/// Parameters of play at a rank.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RankStyle {
    /// Temperature of the policy. Larger values make it more even.
    temperature: f32,
    /// Loss in points that divides a move's frequency by e.
    loss_scale: f32,
    /// Maximum loss of a move that is played, in points.
    loss_most: f32,
    /// Number of visits of the search.
    pub(super) visits: u32,
}

/// Styles by number of steps below 10 dan: 1 is 9 dan, 10 is 1 kyu, 29 is 20 kyu. Other ranks are interpolated.
///
/// Measured by handicap games between neighbours in this table with the built-in network of that time, and by even
/// games with GNU Go as 9 kyu. The dan ranks follow from the losses of human moves. The temperatures are converted to
/// today's network, such that its policy is as undecided as that network's was. `scripts/ranks` measures them, and
/// `docs/ranks.md` has the results.
const STYLES: [(u8, RankStyle); 9] = [
    (1, RankStyle { temperature: 0.37, loss_scale: 0.33, loss_most: 2.2, visits: 270 }),
    (4, RankStyle { temperature: 0.85, loss_scale: 1.07, loss_most: 7.0, visits: 50 }),
    (7, RankStyle { temperature: 1.25, loss_scale: 2.85, loss_most: 14.5, visits: 25 }),
    (10, RankStyle { temperature: 1.47, loss_scale: 5.0, loss_most: 22.5, visits: 19 }),
    (14, RankStyle { temperature: 1.68, loss_scale: 8.2, loss_most: 33.0, visits: 17 }),
    (18, RankStyle { temperature: 1.80, loss_scale: 10.3, loss_most: 39.0, visits: 16 }),
    (22, RankStyle { temperature: 1.90, loss_scale: 12.5, loss_most: 44.5, visits: 16 }),
    (26, RankStyle { temperature: 2.00, loss_scale: 14.7, loss_most: 50.0, visits: 16 }),
    (29, RankStyle { temperature: 2.07, loss_scale: 16.5, loss_most: 54.5, visits: 16 }),
];

impl RankStyle {
    pub(super) fn of(rank: Rank) -> RankStyle {
        let step = rank.steps_below_ten_dan();
        let above = STYLES.iter().position(|&(at, _)| at >= step).unwrap_or(STYLES.len() - 1).max(1);
        let ((from, strong), (to, weak)) = (STYLES[above - 1], STYLES[above]);
        let share = (f32::from(step) - f32::from(from)) / (f32::from(to) - f32::from(from));
        // Strength is linear in the losses of moves and in the logarithm of the visits.
        let between = |a: f32, b: f32| a + share * (b - a);
        let (few, many) = (weak.visits as f32, strong.visits as f32);
        RankStyle {
            temperature: between(strong.temperature, weak.temperature),
            loss_scale: between(strong.loss_scale, weak.loss_scale),
            loss_most: between(strong.loss_most, weak.loss_most),
            visits: (many * libm::powf(few / many, share)).round() as u32,
        }
    }

    /// Returns the minimum number of visits and the minimum deficit in points for resigning. `usual` is the number of
    /// visits without a rank. A rank that makes large mistakes must not resign because of a small lead.
    pub(super) fn resign_limits(self, usual: u32) -> (u32, f32) {
        (usual.min(self.visits / 4), self.loss_most)
    }

    /// Relative frequency of a move with this prior that loses this many points.
    fn weight(&self, prior: f32, loss: f32) -> f64 {
        if loss > self.loss_most || prior <= 0.0 {
            return 0.0;
        }
        f64::from(libm::powf(prior, 1.0 / self.temperature) * libm::expf(-loss.max(0.0) / self.loss_scale))
    }
}

/// Share of simulations that explore candidates of the rank, to measure their loss.
const EXPLORATION_SHARE: f32 = 0.5;

impl Engine {
    /// Style of the rank, if the engine plays at a rank without a network of human play.
    pub(super) fn style(&self) -> Option<RankStyle> {
        let is_alone = self.human_network().is_none() && self.search.evaluator().network().is_some();
        self.settings.rank.filter(|_| is_alone).map(RankStyle::of)
    }

    /// Returns the exploration of moves that the rank may play.
    pub(super) fn ranked_exploration(&self, game: &Game) -> Option<RootExploration> {
        let style = self.style()?;
        let power = 1.0 / style.temperature;
        let raised =
            self.priors_of(game).into_iter().map(|(mv, prior)| (mv, libm::powf(prior.probability(), power)));
        let priors: Vec<(Move, f32)> = raised.collect();
        let sum: f32 = priors.iter().map(|&(_, prior)| prior).sum();
        let priors = priors.into_iter().map(|(mv, prior)| (mv, prior / sum.max(f32::MIN_POSITIVE))).collect();
        // Likely moves are explored even after they have proved bad.
        Some(RootExploration {
            priors,
            weightless: EXPLORATION_SHARE,
            weightful: 0.0,
            cpuct: 1.0,
            cpuct_permanent: 2.0,
        })
    }

    /// Returns the move of the rank, drawn with a random number `unit` in `[0, 1)`. Returns `None` if the best move is
    /// to be played. Passing is not left to chance.
    pub(super) fn ranked_choice(
        &self,
        report: &SearchReport,
        unit: f64,
        may_be_played: impl Fn(Move) -> bool,
    ) -> Option<Move> {
        let style = self.style()?;
        let best = report.moves.iter().find(|entry| may_be_played(entry.mv))?;
        if best.mv == Move::Pass {
            return None;
        }
        let sign = report.to_move.sign() as f32;
        let loss = |entry: &MoveReport| (best.score - entry.score) * sign;
        let is_known = |entry: &&MoveReport| entry.visits > 0 || entry.node_visits > 0;
        let candidates: Vec<(Move, f64)> = report
            .moves
            .iter()
            .filter(is_known)
            .filter(|entry| entry.mv != Move::Pass && may_be_played(entry.mv))
            .map(|entry| (entry.mv, style.weight(entry.prior.probability(), loss(entry))))
            .collect();
        let mut left = unit * candidates.iter().map(|(_, weight)| weight).sum::<f64>();
        for &(mv, weight) in &candidates {
            left -= weight;
            if left < 0.0 {
                return Some(mv);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, EngineSettings, SearchRequest};
    use kosumi_go::board::{BoardSize, Color};
    use kosumi_net::random::{self, Options};
    use kosumi_search::SearchParams;
    use std::sync::Arc;

    fn rank(text: &str) -> Rank {
        text.parse().unwrap()
    }

    fn engine(rank: Option<Rank>, seed: u64) -> Engine {
        let options = Options { seed: 3, ..Options::default() };
        let network = Arc::new(random::network(&options).unwrap());
        let settings = EngineSettings { threads: 1, memory_mebibytes: 2, rank, seed, ..Default::default() };
        let mut engine = Engine::with_network(settings, Some(network));
        engine.set_size(BoardSize::square(7).unwrap());
        engine
    }

    #[test]
    fn weaker_ranks_lose_more_and_think_less() {
        let ranks = (1..=9).rev().map(|dan| format!("{dan}d")).chain((1..=20).map(|kyu| format!("{kyu}k")));
        let styles: Vec<RankStyle> = ranks.map(|text| RankStyle::of(rank(&text))).collect();
        for pair in styles.windows(2) {
            assert!(pair[0].temperature < pair[1].temperature, "{pair:?}");
            assert!(pair[0].loss_scale < pair[1].loss_scale && pair[0].loss_most < pair[1].loss_most);
            assert!(pair[0].visits >= pair[1].visits);
        }
        assert_eq!((styles[0], styles[28]), (STYLES[0].1, STYLES[8].1));
        let style = styles[18];
        assert!(style.weight(0.2, 0.0) > style.weight(0.1, 0.0));
        assert!(style.weight(0.2, 0.0) > style.weight(0.2, 3.0) && style.weight(0.2, 3.0) > 0.0);
        assert_eq!((style.weight(0.9, style.loss_most + 1.0), style.weight(0.0, 0.0)), (0.0, 0.0));
        // Interpolation between two styles of the table.
        let (fifth, (_, strong), (_, weak)) = (RankStyle::of(rank("5d")), STYLES[1], STYLES[2]);
        assert!((fifth.loss_scale - (2.0 * strong.loss_scale + weak.loss_scale) / 3.0).abs() < 1e-6);
        assert_eq!(fifth.visits, 40, "50 · (25/50)^(1/3)");
    }

    #[test]
    fn weak_ranks_resign_late() {
        assert_eq!(RankStyle::of(rank("20k")).resign_limits(20), (4, 54.5));
        assert_eq!(RankStyle::of(rank("6d")).resign_limits(20), (12, 7.0));
        let mut engine = engine(Some(rank("20k")), 1);
        assert_eq!(engine.recoverable_points(Color::White), 0.0);
        let stones = kosumi_go::handicap::fixed_handicap(engine.game().size(), 4).unwrap();
        engine.set_game(engine.game().with_handicap(&stones).unwrap());
        // Four stones of 20 points each on a board of 49 points, 45 of them empty.
        assert!((engine.recoverable_points(Color::White) - 80.0 * 45.0 / 49.0).abs() < 1e-4);
        assert_eq!(engine.recoverable_points(Color::Black), 0.0);
    }

    #[test]
    fn nothing_is_played_that_loses_too_much() {
        let moves = |text: &str| {
            let mut played = std::collections::BTreeSet::new();
            for seed in 0..12 {
                let mut engine = engine(Some(rank(text)), seed);
                let decision = engine.genmove(Color::Black, SearchRequest::new(&|| false));
                let report = engine.last_report().unwrap();
                let Decision::Play(mv) = decision else { panic!() };
                let loss = report.moves[0].score - report.find(mv).unwrap().score;
                assert!(loss <= RankStyle::of(rank(text)).loss_most + 1e-3, "{mv}: {loss}");
                played.insert(mv.to_string());
            }
            played.len()
        };
        // This network gives all moves similar values, so every rank has a choice.
        let (weak, strong) = (moves("20k"), moves("9d"));
        assert!(weak > 2 && strong > 2, "{weak} {strong}");
    }

    #[test]
    fn without_a_rank_nothing_changes() {
        let mut plain = engine(None, 1);
        assert!(plain.style().is_none() && plain.ranked_exploration(plain.game()).is_none());
        plain.change_settings(EngineSettings { rank: Some(rank("3k")), ..*plain.settings() });
        assert_eq!(plain.limits_without_clock().visits, Some(RankStyle::of(rank("3k")).visits));
    }

    #[test]
    fn ranks_use_the_measured_search_params() {
        let params =
            |it: &Engine| crate::params(it.search.evaluator(), it.settings(), it.game().size(), None);
        // A small network, which would have its own parameters without a rank.
        assert_eq!(params(&engine(Some(rank("3k")), 1)), SearchParams::for_network());
        assert_ne!(params(&engine(None, 1)), SearchParams::for_network());
    }

    #[test]
    fn a_network_of_human_play_is_told_the_rank_instead() {
        let mut engine = engine(Some(rank("5k")), 1);
        let options = Options { version: 15, has_metadata_encoder: true, ..Options::default() };
        engine.set_human_network(Arc::new(random::network(&options).unwrap()));
        assert!(engine.style().is_none());
        let profile = engine.settings().network.profile.map(|profile| profile.to_string());
        assert_eq!(profile.as_deref(), Some("rank_5k"));
        assert_eq!(engine.settings().human.chosen_move_share, 1.0);
    }
}

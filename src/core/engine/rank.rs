//! Playing on a person's level without a network of human play.
//!
//! A network that has learned to play well says of many moves that are wrong how natural they look: they are what people
//! of some rank play. So moves are drawn from its policy, the more evenly the weaker the rank; what a short search finds a
//! move to lose makes it seldom, and from some loss on it is never played. Mistakes are then natural moves that lose, as
//! people's are, and no stones are thrown away. The numbers for each rank come from handicap games; `docs/ranks.md` has
//! them.

use super::Engine;
use crate::board::Move;
use crate::game::Game;
use crate::net::Rank;
use crate::search::{MoveReport, RootExploration, SearchReport};

/// How a rank plays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Style {
    /// The temperature of the policy: the larger, the more even.
    temperature: f32,
    /// A move that loses so many points is played e times as seldom as its prior says.
    loss_scale: f32,
    /// A move that loses more points is not played.
    loss_most: f32,
    /// Visits of the search.
    pub(super) visits: u32,
}

/// Styles at steps below 10 dan: 1 is 9 dan, 10 is 1 kyu, 29 is 20 kyu. Between them lies what is between them.
///
/// From handicap games between neighbours in this table, with the built-in network of that time, and even games with GNU Go as
/// 9 kyu; the dan ranks from what people's moves lose. Temperatures are such that today's network is as undecided as that one
/// was. `scripts/ranks` measures them, `docs/ranks.md` has what was found.
const STYLES: [(u8, Style); 9] = [
    (1, Style { temperature: 0.37, loss_scale: 0.33, loss_most: 2.2, visits: 270 }),
    (4, Style { temperature: 0.85, loss_scale: 1.07, loss_most: 7.0, visits: 50 }),
    (7, Style { temperature: 1.25, loss_scale: 2.85, loss_most: 14.5, visits: 25 }),
    (10, Style { temperature: 1.47, loss_scale: 5.0, loss_most: 22.5, visits: 19 }),
    (14, Style { temperature: 1.68, loss_scale: 8.2, loss_most: 33.0, visits: 17 }),
    (18, Style { temperature: 1.80, loss_scale: 10.3, loss_most: 39.0, visits: 16 }),
    (22, Style { temperature: 1.90, loss_scale: 12.5, loss_most: 44.5, visits: 16 }),
    (26, Style { temperature: 2.00, loss_scale: 14.7, loss_most: 50.0, visits: 16 }),
    (29, Style { temperature: 2.07, loss_scale: 16.5, loss_most: 54.5, visits: 16 }),
];

impl Style {
    pub(super) fn of(rank: Rank) -> Style {
        let step = rank.steps_below_ten_dan();
        let above = STYLES.iter().position(|&(at, _)| at >= step).unwrap_or(STYLES.len() - 1).max(1);
        let ((from, strong), (to, weak)) = (STYLES[above - 1], STYLES[above]);
        let share = (f32::from(step) - f32::from(from)) / (f32::from(to) - f32::from(from));
        // Strength is even in what moves lose, and in doublings of the visits.
        let between = |a: f32, b: f32| a + share * (b - a);
        let (few, many) = (weak.visits as f32, strong.visits as f32);
        Style {
            temperature: between(strong.temperature, weak.temperature),
            loss_scale: between(strong.loss_scale, weak.loss_scale),
            loss_most: between(strong.loss_most, weak.loss_most),
            visits: (many * libm::powf(few / many, share)).round() as u32,
        }
    }

    /// A game is given up after so many visits, `usual` without a rank, and only by who is so many points behind: where
    /// large mistakes are made, small leads are no reason.
    pub(super) fn to_resign(self, usual: u32) -> (u32, f32) {
        (usual.min(self.visits / 4), self.loss_most)
    }

    /// How often a move is played that loses so many points, in proportion to others.
    fn weight(&self, prior: f32, loss: f32) -> f64 {
        if loss > self.loss_most || prior <= 0.0 {
            return 0.0;
        }
        f64::from(libm::powf(prior, 1.0 / self.temperature) * libm::expf(-loss.max(0.0) / self.loss_scale))
    }
}

/// Simulations that look at what might be played, so that it is known what it loses.
const LOOKING: f32 = 0.5;

impl Engine {
    /// How the engine plays if it plays on a rank, and without a network of human play.
    pub(super) fn style(&self) -> Option<Style> {
        let is_alone = self.human_network().is_none() && self.search.evaluator().network().is_some();
        self.settings.rank.filter(|_| is_alone).map(Style::of)
    }

    /// Simulations of a search of this position that look at moves because the rank might play them.
    pub(super) fn ranked_exploration(&self, game: &Game) -> Option<RootExploration> {
        let style = self.style()?;
        let power = 1.0 / style.temperature;
        let raised =
            self.priors_of(game).into_iter().map(|(mv, prior)| (mv, libm::powf(prior.probability(), power)));
        let priors: Vec<(Move, f32)> = raised.collect();
        let sum: f32 = priors.iter().map(|&(_, prior)| prior).sum();
        let priors = priors.into_iter().map(|(mv, prior)| (mv, prior / sum.max(f32::MIN_POSITIVE))).collect();
        // Likely moves are looked at although they have proved to be bad.
        Some(RootExploration {
            priors,
            weightless: LOOKING,
            weightful: 0.0,
            cpuct: 1.0,
            cpuct_permanent: 2.0,
        })
    }

    /// The move that the rank plays, with a random number from 0 to 1; `None` if the best one is to be played. Whether to
    /// pass is not left to chance.
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
    use crate::board::{BoardSize, Color};
    use crate::engine::{Decision, EngineSettings, SearchRequest};
    use crate::net::random::{self, Options};
    use crate::search::SearchParams;
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
        let styles: Vec<Style> = ranks.map(|text| Style::of(rank(&text))).collect();
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
        // Between the styles of the table.
        let (fifth, (_, strong), (_, weak)) = (Style::of(rank("5d")), STYLES[1], STYLES[2]);
        assert!((fifth.loss_scale - (2.0 * strong.loss_scale + weak.loss_scale) / 3.0).abs() < 1e-6);
        assert_eq!(fifth.visits, 40, "50 · (25/50)^(1/3)");
    }

    #[test]
    fn who_makes_large_mistakes_gives_up_late() {
        assert_eq!(Style::of(rank("20k")).to_resign(20), (4, 54.5));
        assert_eq!(Style::of(rank("6d")).to_resign(20), (12, 7.0));
        let mut engine = engine(Some(rank("20k")), 1);
        assert_eq!(engine.to_win_back(Color::White), 0.0);
        let stones = crate::handicap::fixed_handicap(engine.game().size(), 4).unwrap();
        engine.set_game(engine.game().with_handicap(&stones).unwrap());
        // Four stones of 20 points on a board of 49 points, of which 45 are empty.
        assert!((engine.to_win_back(Color::White) - 80.0 * 45.0 / 49.0).abs() < 1e-4);
        assert_eq!(engine.to_win_back(Color::Black), 0.0);
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
                assert!(loss <= Style::of(rank(text)).loss_most + 1e-3, "{mv}: {loss}");
                played.insert(mv.to_string());
            }
            played.len()
        };
        // To this network all moves look alike, so that there is a choice on every rank.
        let (weak, strong) = (moves("20k"), moves("9d"));
        assert!(weak > 2 && strong > 2, "{weak} {strong}");
    }

    #[test]
    fn without_a_rank_nothing_changes() {
        let mut plain = engine(None, 1);
        assert!(plain.style().is_none() && plain.ranked_exploration(plain.game()).is_none());
        plain.change_settings(EngineSettings { rank: Some(rank("3k")), ..*plain.settings() });
        assert_eq!(plain.limits_without_clock().visits, Some(Style::of(rank("3k")).visits));
    }

    #[test]
    fn ranks_search_with_what_they_were_measured_with() {
        let params =
            |it: &Engine| crate::engine::params(it.search.evaluator(), it.settings(), it.game().size());
        // A small network, which would have parameters of its own.
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

//! Play at a human rank without a network of human play.
//!
//! The policy of a strong network also assigns probability to natural-looking mistakes, which people of some rank play.
//! Moves are therefore drawn from this policy, at a temperature that rises for weaker ranks. A short search measures
//! the loss of each move. Losing moves become less frequent, and moves beyond a maximum loss are never played. The
//! resulting mistakes are natural moves that lose points, like those of people, and no stones are thrown away. The
//! parameters of each rank come from handicap games. `docs/ranks.md` lists them.
//!
//! A rank must not depend on how the engine was set up. Its moves come from a search of its own: always the small
//! built-in network, one thread, the visits of the rank, fixed parameters, and random numbers that follow from the seed
//! and the number of moves in the game. Earlier searches have no influence. Only a clock or a time per move can end this
//! search early.

use super::{Engine, EngineEvaluator, EngineSettings, evaluator};
use kosumi_eval::NetworkSettings;
use kosumi_go::board::Move;
use kosumi_go::game::Game;
use kosumi_go::graph_key::NodeSharing;
use kosumi_net::{ArithmeticChoice, Network, Rank};
use kosumi_search::{MoveReport, RootExploration, Search, SearchParams, SearchReport};
use std::mem;
use std::sync::Arc;

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

/// Memory of a rank's search, in MiB. The strongest rank needs less than a tenth of it.
const MEMORY_MEBIBYTES: usize = 8;

/// Returns the network that ranks play with: the small built-in one, on which they were calibrated. Engines share it.
///
/// WebAssembly modules contain no network, because the page loads one anyway. There, ranks use the loaded one.
fn network_of_ranks(loaded: &Arc<Network>) -> Arc<Network> {
    #[cfg(not(target_family = "wasm"))]
    {
        use kosumi_net::BuiltIn;
        use std::sync::OnceLock;
        static SMALL: OnceLock<Option<Arc<Network>>> = OnceLock::new();
        // Reading fails only if the program file is corrupt.
        let small = SMALL.get_or_init(|| Network::built_in(BuiltIn::Small).ok().map(Arc::new));
        small.as_ref().unwrap_or(loaded).clone()
    }
    #[cfg(target_family = "wasm")]
    loaded.clone()
}

impl EngineSettings {
    /// Returns the settings of a rank's search. Those that describe the game, the end of the game and the time stay,
    /// all others have fixed values. The kernel stays too, because a processor may support one of them only.
    fn for_rank(self) -> EngineSettings {
        let kernel = self.network.arithmetic.kernel;
        let arithmetic = ArithmeticChoice { kernel, ..ArithmeticChoice::default() };
        EngineSettings {
            seed: self.seed,
            strict: self.strict,
            rules: self.rules,
            komi: self.komi,
            resign: self.resign,
            resign_after: self.resign_after,
            capture_dead: self.capture_dead,
            move_time: self.move_time,
            lag_reserve: self.lag_reserve,
            rank: self.rank,
            threads: 1,
            memory_mebibytes: MEMORY_MEBIBYTES,
            sharing: NodeSharing::Graph,
            network: NetworkSettings { arithmetic, ..NetworkSettings::default() },
            ..EngineSettings::default()
        }
    }
}

/// Parameters of a rank's search, equal on all machines.
fn params_of_ranks() -> SearchParams {
    SearchParams::for_network().for_workers(1, 1)
}

impl Engine {
    /// Style of the rank, if the engine plays at a rank without a network of human play.
    pub(super) fn style(&self) -> Option<RankStyle> {
        let is_alone = self.human_network().is_none() && self.search.evaluator().network().is_some();
        self.settings.rank.filter(|_| is_alone).map(RankStyle::of)
    }

    /// Style of the rank, while [`as_rank`](Engine::as_rank) chooses its move.
    fn style_in_use(&self) -> Option<RankStyle> {
        self.style().filter(|_| self.is_choosing_as_rank)
    }

    /// Parameters of the search, while [`as_rank`](Engine::as_rank) chooses a move.
    pub(super) fn params_in_use(&self) -> Option<SearchParams> {
        self.style_in_use().map(|_| params_of_ranks())
    }

    /// Runs `choose` with the search, the settings and the random numbers of the rank. Runs it with those of the engine
    /// if no rank is set, or if this is called from within `choose`.
    pub(super) fn as_rank<R>(&mut self, choose: impl FnOnce(&mut Engine) -> R) -> R {
        if self.style().is_none() || self.is_choosing_as_rank {
            return choose(self);
        }
        let settings = self.settings.for_rank();
        let mut ranked = self.ranked.take().unwrap_or_else(|| self.new_search_of_rank(&settings));
        // Earlier searches would change the moves: they depend on what else the engine was asked.
        ranked.clear();
        ranked.evaluator().clear();
        mem::swap(&mut self.search, &mut ranked);
        let usual = mem::replace(&mut self.settings, settings);
        let spread = self.spread.take();
        let (status, exploration_kind) = (self.status.take(), self.exploration_kind.take());
        let searches = mem::replace(&mut self.searches, self.game.records().len() as u64);
        self.set_sharing(settings.sharing);
        self.is_choosing_as_rank = true;

        let result = choose(self);

        self.is_choosing_as_rank = false;
        self.set_sharing(usual.sharing);
        let made = self.searches - self.game.records().len() as u64;
        (self.searches, self.settings, self.spread) = (searches + made, usual, spread);
        (self.status, self.exploration_kind) = (status, exploration_kind);
        mem::swap(&mut self.search, &mut ranked);
        self.ranked = Some(ranked);
        result
    }

    fn new_search_of_rank(&self, settings: &EngineSettings) -> Box<Search<EngineEvaluator>> {
        let loaded = self.search.evaluator().network().map(|it| it.shared_network());
        let evaluator = EngineEvaluator::new(settings, loaded.as_ref().map(network_of_ranks));
        let memory = evaluator::table_mebibytes(settings, &evaluator);
        Box::new(Search::new(evaluator, params_of_ranks(), memory, settings.threads))
    }

    /// Returns the exploration of moves that the rank may play.
    pub(super) fn ranked_exploration(&self, game: &Game) -> Option<RootExploration> {
        let style = self.style_in_use()?;
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
        let style = self.style_in_use()?;
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
        let (weak, strong) = (moves("20k"), moves("9d"));
        assert!(weak > strong, "{weak} {strong}");
    }

    #[test]
    fn without_a_rank_nothing_changes() {
        let mut plain = engine(None, 1);
        assert!(plain.style().is_none() && plain.ranked_exploration(plain.game()).is_none());
        plain.change_settings(EngineSettings {
            rank: Some(rank("3k")),
            visits: Some(9),
            ..*plain.settings()
        });
        let limits = plain.limits_without_clock();
        assert_eq!((limits.visits, limits.playouts), (Some(RankStyle::of(rank("3k")).visits), None));
        assert!(plain.ranked_exploration(plain.game()).is_none(), "an analysis has full strength");
    }

    /// Returns the moves of a rank that plays both colours. `between` runs before each move.
    fn moves_of_a_rank(mut engine: Engine, between: impl Fn(&mut Engine)) -> Vec<Decision> {
        let color = |turn| if turn % 2 == 0 { Color::Black } else { Color::White };
        let decide = |turn| {
            between(&mut engine);
            engine.genmove(color(turn), SearchRequest::new(&|| false))
        };
        (0..12).map(decide).collect()
    }

    /// Engine on 9×9 at 1 dan, whose search has a seed of its own.
    fn ranked_engine(network: Network, settings: EngineSettings) -> Engine {
        let settings = EngineSettings { rank: Some(rank("1d")), resign: None, seed: 5, ..settings };
        let mut engine = Engine::with_network(settings, Some(Arc::new(network)));
        engine.set_size(BoardSize::square(9).unwrap());
        engine
    }

    #[test]
    fn moves_of_a_rank_do_not_depend_on_network_threads_visits_or_earlier_searches() {
        use kosumi_go::graph_key::NodeSharing;
        use kosumi_net::BuiltIn;
        use kosumi_search::SearchChanges;
        let (small, large) =
            (|| Network::built_in(BuiltIn::Small).unwrap(), || Network::built_in(BuiltIn::Large).unwrap());
        let usual = EngineSettings { threads: 1, memory_mebibytes: 16, ..EngineSettings::default() };
        let nothing = |_: &mut Engine| {};
        let wanted = moves_of_a_rank(ranked_engine(small(), usual), nothing);
        assert!(wanted.iter().all(|it| matches!(it, Decision::Play(Move::Play(_)))), "{wanted:?}");

        let others = [
            EngineSettings { visits: Some(3), ..usual },
            EngineSettings { playouts: Some(500), ..usual },
            EngineSettings { threads: 4, memory_mebibytes: 64, ..usual },
            EngineSettings { sharing: NodeSharing::Tree, wide_root_noise: 0.3, ponder: true, ..usual },
            EngineSettings {
                search: SearchChanges { root_policy_temperature: Some(1.5), ..SearchChanges::default() },
                ..usual
            },
        ];
        for settings in others {
            assert_eq!(moves_of_a_rank(ranked_engine(small(), settings), nothing), wanted, "{settings:?}");
        }
        assert_eq!(moves_of_a_rank(ranked_engine(large(), usual), nothing), wanted, "the large network");
        // Analyses and pondering between the moves.
        let analyses = |engine: &mut Engine| {
            let limits = kosumi_search::Limits::playouts(8);
            engine.analyze(engine.game().to_move(), &limits, SearchRequest::new(&|| false));
            engine.ponder(&|| false);
        };
        let ponders = EngineSettings { ponder: true, visits: Some(20), ..usual };
        assert_eq!(moves_of_a_rank(ranked_engine(small(), ponders), analyses), wanted);
        // The seed matters.
        let mut other = ranked_engine(small(), usual);
        other.set_seed(6);
        assert_ne!(moves_of_a_rank(other, nothing), wanted);
    }

    #[test]
    fn a_rank_leaves_the_engine_as_it_was() {
        use kosumi_net::BuiltIn;
        let settings = EngineSettings { threads: 2, memory_mebibytes: 16, ..EngineSettings::default() };
        let mut engine = ranked_engine(Network::built_in(BuiltIn::Small).unwrap(), settings);
        let (before, sharing, searches) = (*engine.settings(), engine.game().sharing(), engine.searches());
        let decision = engine.choose(Color::Black, SearchRequest::new(&|| false));
        assert_eq!((*engine.settings(), engine.game().sharing()), (before, sharing));
        assert_eq!((engine.searches(), engine.search().threads()), (searches + 1, 2));
        assert_eq!(engine.search().table().node_count(), 0, "the search of the engine was not used");
        assert!(engine.last_report().is_some() && !engine.is_choosing_as_rank);
        // The same position, the same move: the number of the search does not matter.
        assert_eq!(engine.choose(Color::Black, SearchRequest::new(&|| false)), decision);
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

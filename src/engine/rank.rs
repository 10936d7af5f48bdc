//! Play at a human rank without a network of human play.
//!
//! The policy of a strong network also assigns probability to natural-looking mistakes, which people of some rank play.
//! Moves are therefore drawn from this policy, at a temperature that rises for weaker ranks. A short search measures
//! the loss of each move. The greater the loss, the less often a move is played, and moves beyond a maximum loss are
//! never played. The resulting mistakes are natural moves that lose points, like those of people, and no stones are
//! thrown away. The parameters of each rank are in `rank/styles.rs`. `docs/ranks.md` lists those that games have
//! confirmed.
//!
//! The strength of a rank must not depend on the engine's settings. Its moves come from a separate search: always the
//! small built-in network, one thread, the visits of the rank, fixed parameters, and random numbers that follow from
//! the seed and the number of moves in the game. Earlier searches have no influence. Only a clock or a time per move
//! can end this search early.

mod styles;

use super::{Engine, EngineEvaluator, EngineSettings, evaluator};
use kosumi_eval::NetworkSettings;
use kosumi_go::board::Move;
use kosumi_go::game::Game;
use kosumi_go::graph_key::NodeSharing;
use kosumi_net::{ArithmeticChoice, GameOutcome, Network};
use kosumi_search::{MoveReport, RootExploration, Search, SearchParams, SearchReport};
use std::mem;
use std::sync::Arc;
use styles::RankStyle;

impl RankStyle {
    /// Returns the minimum number of visits and the minimum deficit in points for resigning. `usual` is the number of
    /// visits without a rank. A rank that makes large mistakes must not resign because of a small deficit.
    pub(super) fn resign_limits(self, usual: u32) -> (u32, f32) {
        (usual.min(self.visits / 4), self.max_loss)
    }

    /// Returns the relative frequency of a move with this prior that loses `loss` points.
    fn weight(&self, prior: f32, loss: f32) -> f64 {
        if loss > self.max_loss || prior <= 0.0 {
            return 0.0;
        }
        f64::from(libm::powf(prior, 1.0 / self.temperature) * libm::expf(-loss.max(0.0) / self.loss_scale))
    }
}

/// Temperature of the policy for careless moves. About three out of four such moves would seem natural to no human.
const CARELESS_TEMPERATURE: f32 = 3.0;

/// Share of simulations that explore candidates of the rank, to measure their loss.
const EXPLORATION_SHARE: f32 = 0.5;

/// Absolute value from which a game that was abandoned counts as won or lost, in `[0, 1]`.
const LEFT_VALUE: f32 = 0.8;

/// Memory of a rank's search, in MiB. The strongest rank needs less than a tenth of it.
const MEMORY_MEBIBYTES: usize = 8;

/// Returns the network that ranks play with: the small built-in one, with which they were calibrated. All engines share
/// it.
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
    /// Returns the settings of a rank's search. Settings of the game, of its end and of time are kept. All others have
    /// fixed values, except the kernel, because a processor may support only one.
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

/// Returns the parameters of a rank's search, equal on all machines.
fn params_of_ranks() -> SearchParams {
    SearchParams::for_network().for_workers(1, 1)
}

impl Engine {
    /// Returns the style of the rank, if the engine plays at a rank without a network of human play.
    pub(super) fn style(&self) -> Option<RankStyle> {
        let is_alone = self.human_network().is_none() && self.search.evaluator().network().is_some();
        self.settings.rank.filter(|_| is_alone).map(|rank| RankStyle::of(rank.rank(), self.game.size()))
    }

    /// Returns the style of the rank while [`as_rank`](Engine::as_rank) chooses its move.
    fn style_in_use(&self) -> Option<RankStyle> {
        self.style().filter(|_| self.is_choosing_as_rank)
    }

    /// Returns the parameters of the search while [`as_rank`](Engine::as_rank) chooses a move.
    pub(super) fn params_in_use(&self) -> Option<SearchParams> {
        self.style_in_use().map(|_| params_of_ranks())
    }

    /// Runs `choose` with the search, the settings and the random numbers of the rank. Uses those of the engine if no
    /// rank is set, or if called from within `choose`.
    pub(super) fn as_rank<R>(&mut self, choose: impl FnOnce(&mut Engine) -> R) -> R {
        if self.style().is_none() || self.is_choosing_as_rank {
            return choose(self);
        }
        let settings = self.settings.for_rank();
        let mut ranked = self.ranked.take().unwrap_or_else(|| self.new_search_of_rank(&settings));
        // Statistics of earlier searches would make the move depend on other requests to the engine.
        ranked.clear();
        ranked.evaluator().clear();
        mem::swap(&mut self.search, &mut ranked);
        let usual = mem::replace(&mut self.settings, settings);
        let spread = self.spread.take();
        let (status, exploration_kind) = (self.status.take(), self.exploration_kind.take());
        let deep_restriction = mem::take(&mut self.deep_restriction);
        let searches = mem::replace(&mut self.searches, self.game.records().len() as u64);
        self.set_sharing(settings.sharing);
        self.is_choosing_as_rank = true;

        let result = choose(self);

        self.is_choosing_as_rank = false;
        self.set_sharing(usual.sharing);
        let made = self.searches - self.game.records().len() as u64;
        (self.searches, self.settings, self.spread) = (searches + made, usual, spread);
        (self.status, self.exploration_kind) = (status, exploration_kind);
        self.deep_restriction = deep_restriction;
        mem::swap(&mut self.search, &mut ranked);
        self.ranked = Some(ranked);
        result
    }

    /// Changes an adaptive rank by the result of the game, before another game replaces it. Does nothing if the rank is
    /// fixed or if the result is unknown.
    pub(super) fn adapt_rank(&mut self) {
        let Some(rank) = self.settings.rank.filter(|rank| rank.is_adaptive()) else { return };
        if let Some(outcome) = self.outcome() {
            self.change_settings(EngineSettings { rank: Some(rank.after(outcome)), ..self.settings });
        }
    }

    /// Returns the result of the game for the engine. Returns `None` if the engine has moved for both players or for
    /// neither, or if the game was abandoned before it was decided.
    fn outcome(&mut self) -> Option<GameOutcome> {
        let own = self.notes.own_color()?;
        let known = self.result().filter(|result| !result.starts_with('?'));
        let sign = match known.as_deref().and_then(|result| result.chars().next()) {
            Some('B') => 1.0,
            Some('W') => -1.0,
            // Records write "0" or "Draw".
            Some('0' | 'D') => 0.0,
            Some(_) => return None,
            None if self.game.is_over() => self.final_status().score,
            // GTP does not report that the opponent resigns: the game simply stops when one side has nearly won.
            None => {
                let is_long = self.game.records().len() * 4 > self.game.size().area();
                self.notes.last_value().filter(|value| is_long && value.abs() >= LEFT_VALUE)?
            }
        };
        let own_result = sign * own.sign() as f32;
        Some(match () {
            () if own_result > 0.0 => GameOutcome::Won,
            () if own_result < 0.0 => GameOutcome::Lost,
            () => GameOutcome::Drawn,
        })
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
    /// to be played. A pass is never drawn.
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
        // The random number decides first whether the move is careless. What remains of it draws the move.
        let careless = f64::from(style.careless);
        let is_careless = unit < careless;
        let unit = if is_careless { unit / careless } else { (unit - careless) / (1.0 - careless) };
        let is_known = |entry: &MoveReport| entry.visits > 0 || entry.node_visits > 0;
        let board = self.game.board();
        let weight = |entry: &MoveReport| match entry.mv {
            Move::Play(point) if is_careless && !board.is_eyelike(point, report.to_move) => {
                f64::from(libm::powf(entry.prior.probability(), 1.0 / CARELESS_TEMPERATURE))
            }
            Move::Play(_) if !is_careless && is_known(entry) => {
                style.weight(entry.prior.probability(), loss(entry))
            }
            _ => 0.0,
        };
        let candidates: Vec<(Move, f64)> = report
            .moves
            .iter()
            .filter(|entry| may_be_played(entry.mv))
            .map(|entry| (entry.mv, weight(entry)))
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
    use kosumi_net::{Rank, RankSetting};
    use std::sync::Arc;

    fn rank(text: &str) -> Rank {
        text.parse().unwrap()
    }

    fn engine(rank: Option<RankSetting>, seed: u64) -> Engine {
        let options = Options { seed: 3, ..Options::default() };
        let network = Arc::new(random::network(&options).unwrap());
        let settings = EngineSettings { threads: 1, memory_mebibytes: 2, rank, seed, ..Default::default() };
        let mut engine = Engine::with_network(settings, Some(network));
        engine.set_size(BoardSize::square(7).unwrap());
        engine
    }

    fn setting(text: &str) -> RankSetting {
        text.parse().unwrap()
    }

    fn style_of(text: &str, side: usize) -> RankStyle {
        RankStyle::of(rank(text), BoardSize::square(side).unwrap())
    }

    #[test]
    fn careless_moves_ignore_losses_but_fill_no_eyes() {
        let careless = |text: &str| style_of(text, 7).careless;
        assert!(careless("30k") > careless("20k") && careless("9d") == 0.0);
        let mut engine = engine(Some(setting("30k")), 1);
        // Black's group has two eyes at A1 and C1, and White is alive too.
        let drawing = "
            . . . . . . .
            O O O O O O O
            . . . . . . .
            X X X X X X X
            X X X X X X X
            X X X X X X X
            . X . X . X .";
        engine.set_game(Game::from_board(drawing.parse().unwrap(), Color::Black, engine.game().rules(), 7.0));
        let mut reports = 0;
        for seed in 0..40 {
            engine.set_seed(seed);
            if let Decision::Play(Move::Play(point)) =
                engine.choose(Color::Black, SearchRequest::new(&|| false))
            {
                assert!(!engine.game().board().is_eyelike(point, Color::Black), "{point}");
                reports += 1;
            }
        }
        assert!(reports > 0);
    }

    /// Plays moves for both colours, `own` of which are the engine's.
    fn play(engine: &mut Engine, own: Color, moves: usize) {
        for _ in 0..moves {
            let color = engine.game().to_move();
            let decision = engine.choose(color, SearchRequest::new(&|| false));
            let Decision::Play(mv) = decision else { panic!("{decision:?}") };
            if color == own {
                engine.take_turn(color, |_| decision);
            } else {
                engine.play(color, mv).unwrap();
            }
        }
    }

    #[test]
    fn an_adaptive_rank_changes_by_the_result_of_each_game() {
        let mut engine = engine(Some(setting("auto:8k")), 1);
        let shown = |engine: &Engine| engine.settings().rank.unwrap().to_string();
        // Nothing was played.
        engine.clear();
        assert_eq!(shown(&engine), "auto:8k:0");
        play(&mut engine, Color::White, 4);
        assert_eq!(shown(&engine), "auto:8k:0", "a game changes nothing before its end");
        engine.end_game(Some("W+R"));
        engine.clear();
        assert_eq!(shown(&engine), "auto:12k:1");
        // A second command at the beginning of a game, and a game that was abandoned after a few moves.
        engine.set_size(BoardSize::square(7).unwrap());
        play(&mut engine, Color::Black, 4);
        engine.clear();
        assert_eq!(shown(&engine), "auto:12k:1");
        play(&mut engine, Color::Black, 4);
        engine.end_game(Some("W+3.5"));
        engine.set_size(BoardSize::square(7).unwrap());
        assert_eq!(shown(&engine), "auto:8k:2");
        play(&mut engine, Color::Black, 4);
        engine.end_game(Some("Void"));
        engine.clear();
        assert_eq!(shown(&engine), "auto:8k:2");
        // A game of the engine with itself, and a fixed rank.
        play(&mut engine, Color::Black, 4);
        play(&mut engine, Color::White, 4);
        engine.end_game(Some("W+R"));
        engine.clear();
        assert_eq!(shown(&engine), "auto:8k:2");
        engine.change_settings(EngineSettings { rank: Some(setting("8k")), ..*engine.settings() });
        play(&mut engine, Color::Black, 4);
        engine.end_game(Some("W+R"));
        engine.clear();
        assert_eq!(shown(&engine), "8k");
    }

    #[test]
    fn games_without_a_result_count_where_one_side_has_nearly_won() {
        // White has no stones, and the whole board is Black's after two passes.
        let drawing = "
            . . . . . . .
            . . . . . . .
            X X X X X X X
            . . . . . . .
            . . . . . . .
            . . . . . . .
            . . . . . . .";
        let mut engine = engine(Some(setting("auto:8k")), 1);
        let game = Game::from_board(drawing.parse().unwrap(), Color::Black, engine.game().rules(), 7.0);
        engine.set_game(game);
        engine.take_turn(Color::Black, |_| Decision::Play(Move::Pass));
        engine.play(Color::White, Move::Pass).unwrap();
        assert!(engine.game().is_over());
        engine.clear();
        assert_eq!(engine.settings().rank, Some(setting("auto:12k:1")), "won by two passes");
    }

    #[test]
    fn weak_ranks_resign_late() {
        let (weak, strong) = (style_of("20k", 19), style_of("6d", 19));
        assert_eq!(weak.resign_limits(20), (4, weak.max_loss));
        assert_eq!(strong.resign_limits(20), (strong.visits / 4, strong.max_loss));
        let mut engine = engine(Some(setting("20k")), 1);
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
                let mut engine = engine(Some(setting(text)), seed);
                let decision = engine.genmove(Color::Black, SearchRequest::new(&|| false));
                let report = engine.last_report().unwrap();
                let Decision::Play(mv) = decision else { panic!() };
                let loss = report.moves[0].score - report.find(mv).unwrap().score;
                assert!(loss <= style_of(text, 7).max_loss + 1e-3, "{mv}: {loss}");
                played.insert(mv.to_string());
            }
            played.len()
        };
        let (weak, strong) = (moves("8k"), moves("9d"));
        assert!(weak > strong, "{weak} {strong}");
    }

    #[test]
    fn without_a_rank_nothing_changes() {
        let mut plain = engine(None, 1);
        assert!(plain.style().is_none() && plain.ranked_exploration(plain.game()).is_none());
        plain.change_settings(EngineSettings {
            rank: Some(setting("3k")),
            visits: Some(9),
            ..*plain.settings()
        });
        let limits = plain.limits_without_clock();
        assert_eq!((limits.visits, limits.playouts), (Some(style_of("3k", 7).visits), None));
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

    /// Returns an engine on 9×9 at 1 dan, whose seed is fixed.
    fn ranked_engine(network: Network, settings: EngineSettings) -> Engine {
        let settings = EngineSettings { rank: Some(setting("1d")), resign: None, seed: 5, ..settings };
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
        // The same position gives the same move, however many searches came before.
        assert_eq!(engine.choose(Color::Black, SearchRequest::new(&|| false)), decision);
    }

    #[test]
    fn a_network_of_human_play_is_told_the_rank_instead() {
        let mut engine = engine(Some(setting("5k")), 1);
        let options = Options { version: 15, has_metadata_encoder: true, ..Options::default() };
        engine.set_human_network(Arc::new(random::network(&options).unwrap()));
        assert!(engine.style().is_none());
        let profile = engine.settings().network.profile.map(|profile| profile.to_string());
        assert_eq!(profile.as_deref(), Some("rank_5k"));
        assert_eq!(engine.settings().human.chosen_move_share, 1.0);
    }
}

//! Human-like play: a network of human play predicts the moves of people, and the search evaluates them.
//!
//! CITE: Jacob et al., "Modeling strong and human-like gameplay with KL-regularized search" (2022), for weighing human
//! moves by their loss. The names and meanings of the parameters are KataGo's.

use super::settings::HumanSettings;
use super::{Engine, EngineEvaluator, evaluator};
use kosumi_eval::NetworkEvaluator;
use kosumi_go::board::{ByColor, Color, Move, Symmetry};
use kosumi_go::game::{Game, Line};
use kosumi_net::input::index;
use kosumi_net::{Network, NotFinite, Prediction};
use kosumi_search::{RootExploration, SearchReport, TreeExploration};
use std::sync::Arc;

/// Value of `pikl_lambda` from which losses have no effect.
const UNLIMITED_LAMBDA: f32 = 1e8;

/// Minimum of `pikl_lambda`. Smaller values are raised to it, so that nothing is divided by 0.
const MIN_LAMBDA: f32 = 1e-6;

/// Candidate for the move to play.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Candidate {
    mv: Move,
    /// Visits in the search.
    visits: f64,
    /// Value for the side to move, in `[-1, 1]`.
    value: f64,
    /// Probability that a human plays the move; 0 if unknown.
    human: f64,
}

/// Returns the share of every move, in the order of `moves`, as a mixture of the search's visits and the human policy.
/// The shares sum to 1, or are all 0 if both sources are empty.
fn shares(settings: &HumanSettings, moves: &[Candidate]) -> Vec<f64> {
    let visits: f64 = moves.iter().map(|it| it.visits).sum();
    let searched = |it: &Candidate| if visits > 0.0 { it.visits / visits } else { 0.0 };
    let best = moves.iter().map(|it| it.value).fold(f64::NEG_INFINITY, f64::max);
    let is_ignored = |it: &Candidate| settings.ignore_pass && it.mv == Move::Pass;
    let human: Vec<f64> = moves
        .iter()
        .map(|it| match settings.pikl_lambda {
            _ if is_ignored(it) => 0.0,
            UNLIMITED_LAMBDA.. => it.human,
            lambda => it.human * ((it.value - best) / f64::from(lambda.max(MIN_LAMBDA))).exp(),
        })
        .collect();
    let sum: f64 = human.iter().sum();
    if sum <= 0.0 {
        return moves.iter().map(searched).collect();
    }
    let share = f64::from(settings.chosen_move_share);
    // The human policy is spread over what the search leaves after an ignored pass.
    let theirs = 1.0 - moves.iter().filter(|it| is_ignored(it)).map(searched).sum::<f64>();
    let mixed = moves.iter().zip(&human).map(|(it, human)| {
        let theirs = if is_ignored(it) { searched(it) } else { human / sum * theirs };
        (1.0 - share) * searched(it) + share * theirs
    });
    mixed.collect()
}

/// Removes moves whose win rate is lower than that of the first move by more than `max_loss`, in `[0, 1]`.
fn remove_losing_moves(moves: &mut Vec<Candidate>, max_loss: f32) {
    let Some(best) = moves.first() else { return };
    let least = best.value - 2.0 * f64::from(max_loss);
    moves.retain(|it| it.value >= least);
}

/// Draws an index with probabilities given by `shares` at a temperature. `unit` is a random number in `[0, 1)`. Returns
/// `None` if all shares are 0.
fn draw(shares: &[f64], temperature: f32, unit: f64) -> Option<usize> {
    let most = shares.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    // Temperature 0 is approximated by a small one, at which the largest share is practically always drawn.
    let power = 1.0 / f64::from(temperature.max(1e-3));
    let weights: Vec<f64> = shares.iter().map(|share| (share / most).powf(power)).collect();
    let mut left = unit * weights.iter().sum::<f64>();
    for (place, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return Some(place);
        }
    }
    weights.iter().rposition(|&weight| weight > 0.0)
}

/// Returns the exploration of human moves below the root in a search on behalf of this player. Returns `None` if the
/// settings ask for none or if there is no network of human play.
pub(super) fn tree_exploration(
    settings: &HumanSettings,
    player: Color,
    network: impl FnOnce() -> Option<NetworkEvaluator>,
) -> Option<TreeExploration> {
    let HumanSettings { own, opponent, cpuct, cpuct_permanent, .. } = *settings;
    if own.is_none() && opponent.is_none() {
        return None;
    }
    let mut shares = ByColor::new(opponent, opponent);
    shares[player] = own;
    Some(TreeExploration { shares, cpuct, cpuct_permanent, source: Box::new(network()?) })
}

impl Engine {
    /// Sets a second network, which predicts the moves of people. Prepares its weights.
    pub fn set_human_network(&mut self, network: Arc<Network>) {
        self.settings = self.settings.with_human_network();
        // Evaluations of roots are not cached. The cache is for positions below the root, which are evaluated only if
        // the settings ask for it.
        let mebibytes = evaluator::human_cache_mebibytes(self.settings.memory_mebibytes);
        self.human = Some(Box::new(NetworkEvaluator::new(network, self.settings.network, mebibytes)));
    }

    /// Returns the network of human play: the second network, or the first if it predicts human moves.
    pub fn human_network(&self) -> Option<&NetworkEvaluator> {
        let own = || self.search.evaluator().network().filter(|it| it.network().takes_metadata());
        self.human.as_deref().or_else(own)
    }

    /// Predicts the moves of people with the set profile, with `color` to move. Returns `None` without a network of
    /// human play.
    ///
    /// # Errors
    ///
    /// Returns [`NotFinite`] if an output of the network is not finite.
    pub fn predict_human(&self, color: Color, symmetry: Symmetry) -> Option<Result<Prediction, NotFinite>> {
        let mut evaluator = self.human_network()?.clone();
        Some(evaluator.predict(&Line::new(&self.game_with_turn(color)), symmetry, 0.0))
    }

    /// Returns the probability of each legal move in human play. Returns `None` without a profile or a network of human
    /// play.
    fn human_priors(&self, game: &Game) -> Option<Vec<(Move, f32)>> {
        self.settings.network.profile?;
        let prediction =
            self.human_network()?.clone().predict(&Line::new(game), Symmetry::ALL[0], 0.0).ok()?;
        let size = game.size();
        let points = size.points().map(|point| (Move::Play(point), prediction.policy[index(size, point)]));
        Some(points.chain([(Move::Pass, prediction.pass)]).filter(|&(_, prior)| prior > 0.0).collect())
    }

    /// Returns the exploration of human moves at the root, if the settings ask for it and the search uses a network.
    pub(super) fn root_exploration(&self, game: &Game) -> Option<RootExploration> {
        let HumanSettings { root_weightless: weightless, root_weightful: weightful, .. } =
            self.settings.human;
        if weightless + weightful <= 0.0 || !matches!(self.search.evaluator(), EngineEvaluator::Network(_)) {
            return None;
        }
        let HumanSettings { cpuct, cpuct_permanent, .. } = self.settings.human;
        let priors = self.human_priors(game)?;
        Some(RootExploration { priors, weightless, weightful, cpuct, cpuct_permanent })
    }

    /// Returns the exploration of human moves below the root in a search on behalf of this player, if the settings ask
    /// for it.
    pub(super) fn tree_exploration(&self, player: Color) -> Option<TreeExploration> {
        self.settings.network.profile?;
        self.search.evaluator().network()?;
        tree_exploration(&self.settings.human, player, || self.human_network().cloned())
    }

    /// Returns the move drawn by human play or at a temperature. Returns `None` if the best move is to be played.
    /// `unit` is a random number in `[0, 1)`.
    pub(super) fn human_choice(
        &self,
        report: &SearchReport,
        unit: f64,
        may_be_played: impl Fn(Move) -> bool,
    ) -> Option<Move> {
        let settings = &self.settings.human;
        let temperature = settings.temperature_after(self.game.records().len(), self.game.size().area());
        let priors = if settings.chosen_move_share > 0.0 { self.human_priors(&self.game) } else { None };
        if priors.is_none() && temperature <= 0.0 {
            return None;
        }
        let priors = priors.unwrap_or_default();
        let human = |mv: Move| priors.iter().find(|(known, _)| *known == mv).map_or(0.0, |&(_, prior)| prior);
        let moves = report.moves.iter().filter(|entry| may_be_played(entry.mv)).map(|entry| Candidate {
            mv: entry.mv,
            visits: entry.visits.into(),
            value: f64::from(entry.value * report.to_move.sign() as f32),
            human: human(entry.mv).into(),
        });
        let mut moves: Vec<Candidate> = moves.collect();
        if priors.is_empty() {
            remove_losing_moves(&mut moves, settings.max_loss);
        }
        draw(&shares(settings, &moves), temperature, unit).map(|place| moves[place].mv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, EngineSettings, SearchRequest};
    use kosumi_eval::NetworkSettings;
    use kosumi_go::board::{BoardSize, Point};
    use kosumi_net::random::{self, Options};
    use kosumi_search::{ExplorationShares, Limits};
    use std::collections::HashSet;

    const SETTINGS: HumanSettings = HumanSettings { ignore_pass: false, ..HumanSettings::LIKE_PEOPLE };

    fn near(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        let is_near = found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-9);
        assert!(is_near, "{found:?} instead of {wanted:?}");
    }

    fn choices() -> [Candidate; 3] {
        let at = |column| Move::Play(Point::new(column, 0));
        [
            Candidate { mv: at(0), visits: 8.0, value: 0.5, human: 0.2 },
            Candidate { mv: at(1), visits: 0.0, value: -0.1, human: 0.6 },
            Candidate { mv: Move::Pass, visits: 2.0, value: 0.4, human: 0.2 },
        ]
    }

    #[test]
    fn shares_are_those_of_search_and_people() {
        near(&shares(&SETTINGS, &choices()), &[0.2, 0.6, 0.2]);
        near(&shares(&HumanSettings { chosen_move_share: 0.0, ..SETTINGS }, &choices()), &[0.8, 0.0, 0.2]);
        near(&shares(&HumanSettings { chosen_move_share: 0.5, ..SETTINGS }, &choices()), &[0.5, 0.3, 0.2]);
        // The human policy is spread over what the search leaves after the pass.
        near(&shares(&HumanSettings { ignore_pass: true, ..SETTINGS }, &choices()), &[0.2, 0.6, 0.2]);
        let without_pass =
            choices().map(|it| Candidate { visits: if it.mv == Move::Pass { 0.0 } else { 5.0 }, ..it });
        near(&shares(&HumanSettings { ignore_pass: true, ..SETTINGS }, &without_pass), &[0.25, 0.75, 0.0]);
        // Moves that lose are played less often.
        let weighed = [0.2, 0.6 * (-0.6f64 / 0.3).exp(), 0.2 * (-0.1f64 / 0.3).exp()];
        let sum: f64 = weighed.iter().sum();
        let wanted = weighed.map(|weight| weight / sum);
        let found = shares(&HumanSettings { pikl_lambda: 0.3, ..SETTINGS }, &choices());
        assert!(found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6), "{found:?}");
        // Both sources are empty.
        let nothing = choices().map(|it| Candidate { visits: 0.0, human: 0.0, ..it });
        near(&shares(&SETTINGS, &nothing), &[0.0; 3]);
    }

    #[test]
    fn low_temperature_chooses_the_largest_share() {
        let shares = [0.2, 0.5, 0.3];
        for unit in [0.0, 0.3, 0.999] {
            assert_eq!(draw(&shares, 0.0, unit), Some(1));
        }
        assert_eq!([0.1, 0.3, 0.8].map(|unit| draw(&shares, 1.0, unit)), [Some(0), Some(1), Some(2)]);
        assert_eq!(draw(&shares, 1.0, 1.0), Some(2));
        assert_eq!(draw(&[0.0; 3], 1.0, 0.5), None);
        assert_eq!(draw(&[], 1.0, 0.5), None);
    }

    /// Creates an engine with two random networks, one of which predicts human play.
    fn engine(human: HumanSettings, profile: Option<&str>) -> Engine {
        let network = |has_metadata_encoder| {
            let options = Options { version: 15, has_metadata_encoder, seed: 3, ..Options::default() };
            Arc::new(random::network(&options).unwrap())
        };
        let mut settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 2,
            playouts: Some(60),
            human,
            ..Default::default()
        };
        settings.network.profile = profile.map(|text| text.parse().unwrap());
        let mut engine = Engine::with_network(settings, Some(network(false)));
        engine.set_size(BoardSize::square(5).unwrap());
        engine.set_human_network(network(true));
        engine
    }

    #[test]
    fn moves_are_those_that_people_play_most() {
        let cool = HumanSettings { temperature: 0.0, ..SETTINGS };
        let mut human = engine(cool, Some("rank_5k"));
        let priors = human.human_priors(&human.game).unwrap();
        let sum: f32 = priors.iter().map(|&(_, prior)| prior).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        let likeliest = priors.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
        let found = human.genmove(Color::Black, SearchRequest::new(&|| false));
        assert_eq!(found, Decision::Play(likeliest));
        // Without a profile, human play is unknown.
        let mut plain = engine(HumanSettings::default(), Some("rank_5k"));
        let mut unknown = engine(cool, None);
        assert!(unknown.human_priors(&unknown.game).is_none());
        let found =
            [&mut plain, &mut unknown].map(|it| it.genmove(Color::Black, SearchRequest::new(&|| false)));
        assert_eq!(found[0], found[1]);
    }

    #[test]
    fn bad_moves_are_left_out() {
        let left = |max_loss| {
            let mut moves = choices().to_vec();
            remove_losing_moves(&mut moves, max_loss);
            moves.iter().map(|it| it.value).collect::<Vec<_>>()
        };
        // Values go from -1 to 1, win rates from 0 to 1.
        assert_eq!(left(1.0), [0.5, -0.1, 0.4]);
        assert_eq!(left(0.06), [0.5, 0.4]);
        assert_eq!(left(0.04), [0.5]);
        remove_losing_moves(&mut Vec::new(), 0.0);
    }

    #[test]
    fn the_temperature_falls_during_a_game() {
        let even = HumanSettings { temperature: 0.3, ..HumanSettings::default() };
        assert_eq!([0, 7, 200].map(|moves| even.temperature_after(moves, 81)), [0.3; 3]);
        let falling =
            HumanSettings { temperature: 0.1, early_temperature: Some(0.5), ..HumanSettings::default() };
        let is_near = |moves: usize, area: usize, wanted: f32| {
            let found = falling.temperature_after(moves, area);
            assert!((found - wanted).abs() < 1e-6, "{moves} moves, {area} points: {found}");
        };
        is_near(0, 361, 0.5);
        is_near(19, 361, 0.3);
        is_near(38, 361, 0.2);
        is_near(9, 81, 0.3);
        // At the end the temperature is zero instead of negligible.
        let to_nothing = HumanSettings { temperature: 0.0, ..falling };
        assert!(to_nothing.temperature_after(29, 81) > 0.05);
        assert_eq!(to_nothing.temperature_after(30, 81), 0.0);
        // The temperature may also rise.
        let rising = HumanSettings { temperature: 1.0, early_temperature: Some(0.0), ..falling };
        assert_eq!([0, 19].map(|moves| rising.temperature_after(moves, 361)), [0.0, 0.5]);
    }

    #[test]
    fn games_differ_at_positive_temperature() {
        let warm = HumanSettings {
            early_temperature: Some(1.0),
            temperature_halflife: 0.5,
            ..HumanSettings::default()
        };
        let moves = |human: HumanSettings, seed: u64| -> Vec<Move> {
            let mut engine = engine(human, None);
            engine.set_seed(seed);
            (0..2)
                .flat_map(|_| [Color::Black, Color::White])
                .map(|color| match engine.genmove(color, SearchRequest::new(&|| false)) {
                    Decision::Play(mv) => mv,
                    Decision::Resign => panic!("no game is resigned so early"),
                })
                .collect()
        };
        let first_moves: HashSet<Move> = (1..=12).map(|seed| moves(warm, seed)[0]).collect();
        assert!(first_moves.len() > 2, "{first_moves:?}");
        // Equal seeds give equal games.
        assert_eq!(moves(warm, 5), moves(warm, 5));
    }

    #[test]
    fn human_moves_are_explored_at_the_root() {
        let explored =
            HumanSettings { root_weightful: 0.8, cpuct_permanent: 2.0, ..HumanSettings::default() };
        let visits = |settings: HumanSettings| {
            let mut engine = engine(settings, Some("rank_20k"));
            let priors = engine.human_priors(&engine.game).unwrap();
            let likeliest = priors.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
            engine.genmove(Color::Black, SearchRequest::new(&|| false));
            let report = engine.last_report().unwrap();
            (report.find(likeliest).map_or(0, |entry| entry.visits), report.visits, report.playouts)
        };
        let (plain, ..) = visits(HumanSettings::default());
        let (much, all, playouts) = visits(explored);
        assert!(much > plain, "{much} {plain}");
        assert_eq!(all, playouts);
        let (_, all, playouts) =
            visits(HumanSettings { root_weightless: 0.8, root_weightful: 0.0, ..explored });
        assert!(
            playouts == 60 && all < 30,
            "most simulations count nothing at the root: {all} of {playouts}"
        );
    }

    #[test]
    fn tree_exploration_has_shares_by_player() {
        let own = ExplorationShares { weightless: 0.1, weightful: 0.2 };
        let opponent = ExplorationShares { weightless: 0.0, weightful: 0.8 };
        let settings = HumanSettings { own, opponent, cpuct_permanent: 2.0, ..HumanSettings::default() };
        let engine = |settings| engine(settings, Some("rank_5k"));
        let it = engine(settings).tree_exploration(Color::White).unwrap();
        assert_eq!((it.shares[Color::White], it.shares[Color::Black]), (own, opponent));
        assert_eq!((it.cpuct, it.cpuct_permanent), (1.0, 2.0));
        // Nothing is requested, or no network predicts human play.
        assert!(engine(HumanSettings::default()).tree_exploration(Color::White).is_none());
        assert!(self::engine(settings, None).tree_exploration(Color::White).is_none());
        let profile = NetworkSettings { profile: "rank_5k".parse().ok(), ..NetworkSettings::default() };
        let plain =
            EngineSettings { memory_mebibytes: 2, human: settings, network: profile, ..Default::default() };
        assert!(Engine::new(plain).tree_exploration(Color::White).is_none(), "playouts know nobody");
        let options = Options { version: 15, ..Options::default() };
        let network = Arc::new(random::network(&options).unwrap());
        let plain = Engine::with_network(plain, Some(network));
        assert!(plain.tree_exploration(Color::White).is_none(), "this network knows nobody");
    }

    #[test]
    fn graph_is_cleared_when_the_exploration_changes() {
        let opponent = ExplorationShares { weightless: 0.0, weightful: 0.5 };
        let visits = |own: ExplorationShares, color: Color| {
            let mut engine =
                engine(HumanSettings { own, opponent, ..HumanSettings::default() }, Some("rank_5k"));
            let limits = Limits::playouts(60);
            engine.analyze(Color::Black, &limits, SearchRequest::new(&|| false));
            let report = engine.analyze(color, &limits, SearchRequest::new(&|| false));
            let (visits, playouts) = (report.visits, report.playouts);
            (visits, playouts, engine.search().table().usage().nodes)
        };
        // With the same shares for both players, one graph serves both.
        let (.., with_both) = visits(opponent, Color::White);
        let (_, playouts, with_one) = visits(ExplorationShares::default(), Color::White);
        assert!(with_one + playouts as usize / 2 < with_both, "{with_one} {with_both}");
        let (again, playouts, _) = visits(ExplorationShares::default(), Color::Black);
        assert!(again > playouts, "for the same player it is kept");
    }
}

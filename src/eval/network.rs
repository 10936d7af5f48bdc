//! Evaluator that uses a network.
//!
//! A network predicts value and policy together, and so does this evaluator. All workers share a cache of evaluations.
//! It serves positions that differ by a symmetry of the board, and positions that a search has dropped and reaches
//! again.

use super::cache::{CachedEvaluation, EvaluationCache, NOT_LEGAL};
use super::canonical;
use super::{
    DetailedPrediction, Evaluation, Evaluator, GroupSurvival, Ownership, Prior, ShorttermErrors,
    StoredPrediction,
};
use kosumi_go::board::{BoardSize, ByColor, Color, Key, Move, Point, PointSet, Symmetry};
use kosumi_go::game::{Button, Game, Line};
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_go::score::{self, ScoringTerms};
use kosumi_go::settled::{self, ScoreBounds, Settled};
use kosumi_net::features::{self, Features, can_have_no_result, legal_points};
use kosumi_net::input::index;
use kosumi_net::{
    ArithmeticChoice, Context, Forward, Input, Network, NotFinite, Output, Policy, Prediction, Profile,
};
use smallvec::SmallVec;
use std::sync::Arc;

/// Settings of the evaluation by a network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NetworkSettings {
    /// Choice of the symmetry under which the network evaluates a position.
    pub view: NetworkView,
    /// Whether symmetric positions share one evaluation.
    pub share_symmetric: bool,
    /// Instruction set and precision of the computation.
    pub arithmetic: ArithmeticChoice,
    /// Whether the device that is attached to the network evaluates, if there is one. Otherwise the processor does.
    pub use_device: bool,
    /// Share of the optimistic policy below the root of a search, in `[0, 1]`, for networks that have one. It favours
    /// moves that are good only if something unexpected is true.
    pub policy_optimism: f32,
    /// Share of the optimistic policy at the root of a search, in `[0, 1]`.
    pub root_policy_optimism: f32,
    /// Divisor of the policies' logits in a search; above 0. Below 1, likely moves become likelier.
    pub policy_temperature: f32,
    /// Number of views of the root whose policies are averaged in the course of a search. It is at least 1 and limited
    /// to the number of symmetries of the board.
    pub root_views: u8,
    /// Profile of the players for networks of human play; `None` if the players are unknown. Other networks ignore it.
    pub profile: Option<Profile>,
    /// Whether moves before the root of a search are hidden from the network. The players' earlier moves contain
    /// information about urgent moves, but also about how well they play.
    pub ignore_pre_root_history: bool,
    /// Base-2 logarithm of the assumed ratio of Black's simulations to White's: KataGo's `playoutDoublingAdvantage`,
    /// from −3 to 3. Networks that were trained with it then expect players of the corresponding strengths.
    pub black_doubling_advantage: f32,
    /// Whether unconditional life in the input features is computed as if the suicide of several stones were legal,
    /// whatever the rules are. `None` follows the training of the network.
    pub pass_alive_with_suicide: Option<bool>,
}

/// Choice of the symmetry under which a network evaluates a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NetworkView {
    /// The position without a transformation.
    Plain,
    /// A symmetry that is determined by the position. Asymmetries of the network average out over many positions, and
    /// the same position always gets the same evaluation.
    #[default]
    Varied,
}

impl Default for NetworkSettings {
    fn default() -> NetworkSettings {
        NetworkSettings {
            view: NetworkView::Varied,
            share_symmetric: true,
            arithmetic: ArithmeticChoice::default(),
            use_device: true,
            policy_optimism: 1.0,
            root_policy_optimism: 0.2,
            policy_temperature: 1.0,
            root_views: 1,
            profile: None,
            ignore_pre_root_history: false,
            black_doubling_advantage: 0.0,
            pass_alive_with_suicide: None,
        }
    }
}

/// Returns the forward pass of a network with these settings.
fn forward(network: &Arc<Network>, settings: NetworkSettings) -> Forward {
    let forward = Forward::shared(network, settings.arithmetic);
    if settings.use_device { forward } else { forward.on_processor() }
}

/// Data that all workers share.
#[derive(Debug)]
struct Shared {
    network: Arc<Network>,
    settings: NetworkSettings,
    cache: EvaluationCache,
}

/// Evaluator that uses a network. Clones share the network and the cache.
#[derive(Clone, Debug)]
pub struct NetworkEvaluator {
    shared: Arc<Shared>,
    forward: Forward,
    features: Features,
    input: Input,
    legal: Vec<bool>,
    ownership: Ownership,
    /// Group that a search is about, for searches of life and death.
    survival: Option<Arc<GroupSurvival>>,
}

impl NetworkEvaluator {
    /// Creates an evaluator with a cache of at most `mebibytes` MiB.
    ///
    /// # Panics
    ///
    /// Panics if this processor supports nothing that the settings allow.
    pub fn new(network: Arc<Network>, settings: NetworkSettings, mebibytes: usize) -> NetworkEvaluator {
        NetworkEvaluator {
            forward: forward(&network, settings),
            features: features(&network, settings),
            shared: Arc::new(Shared { network, settings, cache: EvaluationCache::new(mebibytes) }),
            input: Input::zero(1, 1),
            legal: Vec::new(),
            ownership: Ownership::default(),
            survival: None,
        }
    }

    /// Returns an evaluator whose values are the survival of a group. Predictions for the game come from the same
    /// cache.
    #[must_use]
    pub fn with_survival(self, survival: Arc<GroupSurvival>) -> NetworkEvaluator {
        NetworkEvaluator { survival: Some(survival), ..self }
    }

    /// Returns the network.
    pub fn network(&self) -> &Network {
        &self.shared.network
    }

    /// Returns a shared reference to the network.
    pub fn shared_network(&self) -> Arc<Network> {
        Arc::clone(&self.shared.network)
    }

    /// Returns the cache.
    pub fn cache(&self) -> &EvaluationCache {
        &self.shared.cache
    }

    /// Returns the settings.
    pub fn settings(&self) -> NetworkSettings {
        self.shared.settings
    }

    /// Returns an evaluator of the same network with other settings. If they differ, its cache is empty and has the
    /// same size. The arithmetic does not change.
    #[must_use]
    pub fn with_settings(&self, requested: NetworkSettings) -> NetworkEvaluator {
        let settings = NetworkSettings { arithmetic: self.shared.settings.arithmetic, ..requested };
        if settings == self.shared.settings {
            return self.clone();
        }
        self.with_settings_and_cache(settings, self.shared.cache.max_bytes())
    }

    /// Returns an evaluator of the same network with these settings and an empty cache of `bytes` bytes. The arithmetic
    /// must not change.
    pub fn with_settings_and_cache(&self, settings: NetworkSettings, bytes: usize) -> NetworkEvaluator {
        let cache = EvaluationCache::of_bytes(bytes);
        let shared = Arc::new(Shared { network: Arc::clone(&self.shared.network), settings, cache });
        let mut changed =
            NetworkEvaluator { features: features(self.network(), settings), shared, ..self.clone() };
        if settings.use_device != self.shared.settings.use_device {
            changed.forward = forward(&self.shared.network, settings);
        }
        changed
    }

    /// Returns the share of the optimistic policy below the root of a search and at the root.
    fn optimism(&self) -> [f32; 2] {
        let NetworkSettings { policy_optimism, root_policy_optimism, .. } = self.shared.settings;
        [policy_optimism, root_policy_optimism].map(|optimism| self.possible_optimism(optimism))
    }

    /// Returns `optimism` if the network has an optimistic policy, and 0 otherwise. It is also 0 for networks of human
    /// play, which are trained to predict moves.
    fn possible_optimism(&self, optimism: f32) -> f32 {
        let network = self.network();
        if network.policy_channels() > 1 && !network.takes_metadata() { optimism } else { 0.0 }
    }

    /// Evaluates the position at the end of a line with the network. Afterwards `legal` belongs to the same position.
    fn output(&mut self, line: &Line<'_>, symmetry: Symmetry) -> Result<Output, NotFinite> {
        let settings = &self.shared.settings;
        self.features.hide_game(settings.ignore_pre_root_history);
        self.features.fill(line, &mut self.input);
        if settings.black_doubling_advantage != 0.0 {
            let own = settings.black_doubling_advantage * line.to_move().sign() as f32;
            features::set_advantage(own, &mut self.input);
        }
        legal_points(line, &mut self.legal);
        if let Some(profile) = self.shared.settings.profile.filter(|_| self.shared.network.takes_metadata()) {
            let area = line.board().size().area();
            self.input.metadata = Some(Box::new(profile.features(line.to_move(), area)));
        }
        self.forward.evaluate_image(&self.input, symmetry)
    }

    /// Returns the context for the interpretation of the latest [`output`](Self::output).
    fn context(&self, line: &Line<'_>, optimism: f32) -> Context<'_> {
        let no_result = can_have_no_result(line.game().rules());
        Context { legal: &self.legal, no_result, optimism_share: optimism, temperature: 1.0 }
    }

    /// Returns the context for the latest [`output`](Self::output) in a search, with the policy temperature.
    fn search_context(&self, line: &Line<'_>, optimism: f32) -> Context<'_> {
        Context { temperature: self.shared.settings.policy_temperature, ..self.context(line, optimism) }
    }

    /// Returns the prediction for the position at the end of a line, evaluated under `symmetry`, from Black's
    /// perspective. Its points are those of the board, not of the image, row by row from the top. `optimism`, in `[0,
    /// 1]`, is the share of the optimistic policy, if the network has one.
    ///
    /// # Errors
    ///
    /// Returns [`NotFinite`] if an output of the network is infinite or NaN.
    pub fn predict(
        &mut self,
        line: &Line<'_>,
        symmetry: Symmetry,
        optimism: f32,
    ) -> Result<Prediction, NotFinite> {
        let output = self.output(line, symmetry)?;
        let context = self.context(line, self.possible_optimism(optimism));
        Ok(Prediction::new(&self.shared.network, &output, context)?.for_black(line.to_move()))
    }

    /// Returns the prediction with the policy below the root of a search, and the policy at the root if it differs.
    fn predict_both(
        &mut self,
        line: &Line<'_>,
        symmetry: Symmetry,
    ) -> Result<(Prediction, Option<Policy>), NotFinite> {
        let output = self.output(line, symmetry)?;
        let [below, root] = self.optimism();
        let prediction = Prediction::new(&self.shared.network, &output, self.search_context(line, below))?;
        let root_policy = (root != below).then(|| Policy::new(&output, self.search_context(line, root)));
        Ok((prediction.for_black(line.to_move()), root_policy))
    }

    /// Returns the mean owner of every point over all symmetries of the position, even after two passes. The result
    /// counts one evaluation per symmetry.
    pub fn ownership_of(&mut self, game: &Game) -> Ownership {
        let mut ownership = Ownership::default();
        let fresh = without_passes(&Line::new(game));
        let line = Line::new(&fresh);
        for symmetry in Symmetry::of(game.size()) {
            if let Ok(prediction) = self.predict(&line, symmetry, 0.0) {
                let owners = quantise_owners(&prediction.ownership);
                ownership.add_expected(game.size(), &points_order(game.size(), &owners));
            }
        }
        ownership
    }

    /// Returns the expected owners like [`ownership_of`](Self::ownership_of), by the colour that moves first. The side
    /// to move of `game` does not matter. Each colour uses half of the symmetries, so that both together take the same
    /// time.
    pub fn ownership_by_first(&mut self, game: &Game) -> ByColor<Ownership> {
        let mut by = |color| {
            let mut ownership = Ownership::default();
            let mut fresh = without_passes(&Line::new(game));
            fresh.set_to_move(color);
            let line = Line::new(&fresh);
            // Symmetries are relative to the canonical image, so that images of a position get images of the result.
            let (_, to_canonical) = canonical::canonical_key(&line);
            let all: SmallVec<[Symmetry; 8]> = Symmetry::of(game.size()).collect();
            for &symmetry in all.iter().step_by(2) {
                if let Ok(prediction) = self.predict(&line, to_canonical.then(symmetry), 0.0) {
                    let owners = quantise_owners(&prediction.ownership);
                    ownership.add_expected(game.size(), &points_order(game.size(), &owners));
                }
            }
            ownership
        };
        ByColor::new(by(Color::Black), by(Color::White))
    }

    /// Returns the cache key of a position, and the symmetry that leads to the position of that key.
    fn key(&self, line: &Line<'_>) -> (Key, Symmetry) {
        match self.shared.settings.share_symmetric {
            true => canonical::canonical_key(line),
            false => (line.graph_key(), Symmetry::ALL[0]),
        }
    }

    /// Returns the evaluation of a position, from the cache if possible.
    fn evaluation(&mut self, line: &Line<'_>) -> Arc<CachedEvaluation> {
        self.cached(line).unwrap_or_else(|| {
            let (key, to_canonical) = self.key(line);
            let answer = Arc::new(self.compute(line, key, to_canonical));
            self.shared.cache.insert(key, answer.clone());
            answer
        })
    }

    /// Returns the evaluation of a position if it is cached.
    fn cached(&self, line: &Line<'_>) -> Option<Arc<CachedEvaluation>> {
        let (key, to_canonical) = self.key(line);
        let known = self.shared.cache.get(key)?;
        if known.to_canonical == to_canonical {
            return Some(known);
        }
        let symmetry = known.to_canonical.then(to_canonical.inverse());
        Some(Arc::new(canonical::image(&known, line.game().size(), symmetry)))
    }

    fn compute(&mut self, line: &Line<'_>, key: Key, to_canonical: Symmetry) -> CachedEvaluation {
        let game = line.game();
        let size = game.size();
        // All positions that share the evaluation are evaluated under the same view.
        let symmetry = to_canonical.then(self.symmetry(line, key));
        let Ok((prediction, root_policy)) = self.predict_both(line, symmetry) else {
            // The weights are broken. An even game and a uniform policy let the engine continue to play by the rules.
            let even = Prior::Probability(1.0 / (size.area() + 1) as f32).pack();
            let legal = |point| if line.check(point).is_ok() { even } else { NOT_LEGAL };
            return CachedEvaluation {
                evaluation: Evaluation::plain(0.0, 0.0),
                priors: size.points().map(legal).chain([even]).collect(),
                root_priors: None,
                outlook: DetailedPrediction::default(),
                owners: vec![0; size.area()].into(),
                to_canonical,
            };
        };
        let packed = |points: &[f32], pass: f32| -> Box<[u16]> {
            let pack = |probability: f32| Prior::Probability(probability).pack();
            let of = |at: usize| if self.legal[at] { pack(points[at]) } else { NOT_LEGAL };
            size.points().map(|point| of(index(size, point))).chain([pack(pass)]).collect()
        };
        let priors = packed(&prediction.policy, prediction.pass);
        let root_priors = root_policy.map(|policy| packed(&policy.points, policy.pass));
        let owners = points_order(size, &quantise_owners(&prediction.ownership));
        let errors = prediction.shortterm_value_error.zip(prediction.shortterm_score_error);
        let (evaluation, outlook) = correct(
            line,
            &owners,
            Evaluation {
                value: prediction.value(),
                score: prediction.lead,
                score_mean: prediction.score_mean,
                score_deviation: prediction.score_stdev(),
                no_result: prediction.no_result,
                errors: errors.map(|(value, score)| ShorttermErrors { value, score }),
            },
            DetailedPrediction::new(&prediction),
        );
        CachedEvaluation { evaluation, outlook, priors, root_priors, owners: owners.into(), to_canonical }
    }

    /// Evaluates a game that two passes have ended. It is counted if every stone on the board counts, or if the status
    /// of all stones is certain. Otherwise the evaluation is that of continued play.
    fn evaluate_finished(&mut self, line: &Line<'_>) -> Evaluation {
        if let Some(score) = counted(line) {
            return Evaluation::plain(settled::sign(score), score);
        }
        let answer = self.evaluation(&Line::new(&without_passes(line)));
        match settled_score(line, &answer.owners) {
            Some(score) => Evaluation::certain(score, answer.evaluation.errors),
            None => answer.evaluation,
        }
    }

    /// Implements [`outlook`](Evaluator::outlook) for a game that two passes have ended.
    fn finished_outlook(&mut self, line: &Line<'_>, may_evaluate: bool) -> Option<StoredPrediction> {
        if let Some(score) = counted(line) {
            let owners = score::area_owner(line.board());
            let owner = |point| owners[point].map_or(0, |color| i8::MAX * color.sign() as i8);
            let owners = line.board().size().points().map(owner).collect();
            return Some((DetailedPrediction::finished(settled::sign(score), score), owners));
        }
        let fresh = without_passes(line);
        let answer = self.cached_or_evaluated(&Line::new(&fresh), may_evaluate)?;
        let outlook = match settled_score(line, &answer.owners) {
            Some(score) => DetailedPrediction::finished(settled::sign(score), score),
            None => answer.outlook,
        };
        Some((outlook, Arc::clone(&answer.owners)))
    }

    fn cached_or_evaluated(&mut self, line: &Line<'_>, may_evaluate: bool) -> Option<Arc<CachedEvaluation>> {
        if may_evaluate { Some(self.evaluation(line)) } else { self.cached(line) }
    }

    /// Removes the moves that a search about a group does not consider, if this is such a search.
    fn restrict_to_group(&self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        if let Some(survival) = &self.survival {
            survival.restrict_moves(line, moves);
        }
    }

    fn symmetry(&self, line: &Line<'_>, key: Key) -> Symmetry {
        let all: SmallVec<[Symmetry; 8]> = Symmetry::of(line.game().size()).collect();
        match self.shared.settings.view {
            NetworkView::Plain => all[0],
            // The lower bits are used by the cache and by the node table.
            NetworkView::Varied => all[(key.0 >> 100) as usize % all.len()],
        }
    }
}

fn features(network: &Network, settings: NetworkSettings) -> Features {
    Features::with_pass_alive_suicide(
        settings.pass_alive_with_suicide.unwrap_or_else(|| network.pass_alive_with_suicide()),
    )
}

/// Returns the position at the end of a line as the start of a game. If dead stones are removed by agreement, a
/// position after two passes has the value of continued play.
fn without_passes(line: &Line<'_>) -> Game {
    let game = line.game();
    let rules = Rules { has_button: line.button() == Button::Free, ..game.rules() };
    let komi = game.komi() + line.white_bonus() - line.button().black_points();
    Game::from_board(*line.board(), line.to_move(), rules, komi)
}

/// Returns the score of a game that two passes have ended, if every stone on the board counts.
fn counted(line: &Line<'_>) -> Option<f32> {
    let terms = ScoringTerms::of_line(line);
    let is_counted = !terms.rules.friendly_pass;
    is_counted.then(|| score::count_position(line.board(), terms, &PointSet::EMPTY).black_minus_white)
}

/// Returns the score of a game that two passes have ended, if the status of all stones is certain. `owners` are the
/// network's expected owners, in the order of [`BoardSize::points`] in steps of 1/127.
fn settled_score(line: &Line<'_>, owners: &[i8]) -> Option<f32> {
    let (board, terms) = (line.board(), ScoringTerms::of_line(line));
    let settled = Settled::read(board, terms.rules.suicide, mean_of(board.size(), owners))?;
    Some(settled.final_score(board, terms))
}

/// Corrects a network's evaluation by facts that follow from the rules. A position in which everything is decided is
/// counted. Otherwise result and score are limited to those that are still reachable.
fn correct(
    line: &Line<'_>,
    owners: &[i8],
    evaluation: Evaluation,
    outlook: DetailedPrediction,
) -> (Evaluation, DetailedPrediction) {
    let (board, terms) = (line.board(), ScoringTerms::of_line(line));
    let settled = Settled::read(board, terms.rules.suicide, mean_of(board.size(), owners));
    if let Some(score) = settled.and_then(|settled| settled.lasting_score(board, terms)) {
        let outlook = DetailedPrediction {
            uncertainty: outlook.uncertainty,
            ..DetailedPrediction::finished(settled::sign(score), score)
        };
        return (Evaluation::certain(score, evaluation.errors), outlook);
    }
    match ScoreBounds::of(board, terms) {
        Some(reachable) => (
            Evaluation {
                value: reachable.result(evaluation.value),
                score: reachable.score(evaluation.score),
                score_mean: reachable.score(evaluation.score_mean),
                ..evaluation
            },
            outlook.limited_to(&reachable),
        ),
        None => (evaluation, outlook),
    }
}

/// Returns a function from points to their mean owners in `[-1, 1]`, given `owners` in the order of
/// [`BoardSize::points`] in steps of 1/127.
fn mean_of(size: BoardSize, owners: &[i8]) -> impl Fn(Point) -> f32 {
    move |point| f32::from(owners[point.row() * size.columns() + point.column()]) / f32::from(i8::MAX)
}

/// Rounds owners in `[-1, 1]` to steps of 1/127.
fn quantise_owners(owners: &[f32]) -> Vec<i8> {
    owners.iter().map(|&owner| (owner * 127.0).round() as i8).collect()
}

/// Reorders points from rows that begin at the top to the order of [`BoardSize::points`].
fn points_order(size: BoardSize, rows: &[i8]) -> Vec<i8> {
    size.points().map(|point| rows[index(size, point)]).collect()
}

impl Evaluator for NetworkEvaluator {
    fn evaluate(&mut self, line: &Line<'_>, _rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        let size = line.game().size();
        if let Some(survival) = self.survival.clone() {
            let fresh = (line.passes() >= 2).then(|| without_passes(line));
            let answer = match &fresh {
                Some(game) => self.evaluation(&Line::new(game)),
                None => self.evaluation(line),
            };
            // A line ends after two passes, so no moves are needed.
            if fresh.is_none() {
                moves.extend(answer.priors(size));
                self.restrict_to_group(line, moves);
            }
            return survival.evaluation(line, &answer.owners);
        }
        if line.passes() >= 2 {
            return self.evaluate_finished(line);
        }
        let answer = self.evaluation(line);
        self.ownership.add_expected(size, &answer.owners);
        moves.extend(answer.priors(size));
        answer.evaluation
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        moves.extend(self.evaluation(line).priors(line.game().size()));
        self.restrict_to_group(line, moves);
    }

    fn expand_root(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        moves.extend(self.evaluation(line).root_priors(line.game().size()));
        self.restrict_to_group(line, moves);
    }

    fn has_root_priors(&self) -> bool {
        let [below, root] = self.optimism();
        below != root
    }

    fn root_views(&self, size: BoardSize) -> u32 {
        u32::from(self.shared.settings.root_views).min(Symmetry::of(size).count() as u32)
    }

    fn expand_root_view(&mut self, line: &Line<'_>, view: u32, moves: &mut Vec<(Move, Prior)>) {
        let size = line.game().size();
        let (key, to_canonical) = self.key(line);
        let first = to_canonical.then(self.symmetry(line, key));
        let other = Symmetry::of(size).filter(|&symmetry| symmetry != first).nth(view.max(1) as usize - 1);
        let output = other.filter(|_| view > 0).and_then(|symmetry| self.output(line, symmetry).ok());
        let Some(output) = output else { return self.expand_root(line, moves) };
        let policy = Policy::new(&output, self.search_context(line, self.optimism()[1]));
        let legal = size.points().map(|point| (point, index(size, point))).filter(|&(_, at)| self.legal[at]);
        let points = legal.map(|(point, at)| (Move::Play(point), policy.points[at]));
        let all = points.chain([(Move::Pass, policy.pass)]);
        moves.extend(all.map(|(mv, probability)| (mv, Prior::Probability(probability))));
        self.restrict_to_group(line, moves);
    }

    fn ownership(&self) -> Option<&Ownership> {
        Some(&self.ownership)
    }

    fn outlook(&mut self, line: &Line<'_>, may_evaluate: bool) -> Option<StoredPrediction> {
        if line.passes() >= 2 {
            return self.finished_outlook(line, may_evaluate);
        }
        let answer = self.cached_or_evaluated(line, may_evaluate)?;
        Some((answer.outlook, Arc::clone(&answer.owners)))
    }

    fn is_slow(&self) -> bool {
        true
    }

    fn network_settings(&self) -> Option<NetworkSettings> {
        Some(self.settings())
    }

    fn with_network_settings(&self, settings: &NetworkSettings) -> NetworkEvaluator {
        self.with_settings(*settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rules::Rules;
    use kosumi_net::random;

    fn evaluator(settings: NetworkSettings) -> NetworkEvaluator {
        let network = random::network(&random::Options::default()).expect("a network");
        NetworkEvaluator::new(Arc::new(network), settings, 1)
    }

    fn game() -> Game {
        let rules = Rules { friendly_pass: false, ..Rules::default() };
        let mut game = Game::new(BoardSize::new(5, 4).expect("a size"), rules, 6.5);
        for (color, column, row) in [(Color::Black, 2, 1), (Color::White, 1, 2), (Color::Black, 3, 3)] {
            game.play(color, Move::Play(Point::new(column, row))).expect("legal");
        }
        game
    }

    #[test]
    fn moves_are_all_the_legal_ones_and_their_probabilities_sum_to_one() {
        let mut evaluator = evaluator(NetworkSettings::default());
        let game = game();
        let line = Line::new(&game);
        let mut moves = Vec::new();
        evaluator.expand(&line, &mut moves);
        assert_eq!(moves.len(), 5 * 4 - 3 + 1);
        assert!(moves.iter().all(|&(mv, _)| game.check(game.to_move(), mv).is_ok()));
        let sum: f32 = moves.iter().map(|(_, prior)| prior.probability()).sum();
        assert!((sum - 1.0).abs() < 0.01, "{sum}");
    }

    #[test]
    fn group_search_has_only_region_moves() {
        let game = game();
        let line = Line::new(&game);
        let stone: PointSet = [Point::new(2, 1)].into_iter().collect();
        let region: PointSet = [Point::new(1, 1), Point::new(2, 1), Point::new(2, 0)].into_iter().collect();
        let survival = GroupSurvival::new(game.size(), stone, region);
        let mut evaluator = evaluator(NetworkSettings { root_views: 4, ..NetworkSettings::default() })
            .with_survival(Arc::new(survival));
        let expected = [Move::Play(Point::new(2, 0)), Move::Play(Point::new(1, 1)), Move::Pass];
        let mut all: [Vec<(Move, Prior)>; 5] = Default::default();
        let evaluation = evaluator.evaluate(&line, &mut Rng::new(0), &mut all[0]);
        assert!(evaluation.value.abs() <= 1.0 && evaluation.score == 0.0, "{evaluation:?}");
        evaluator.expand(&line, &mut all[1]);
        evaluator.expand_root(&line, &mut all[2]);
        evaluator.expand_root_view(&line, 0, &mut all[3]);
        evaluator.expand_root_view(&line, 1, &mut all[4]);
        for moves in all {
            assert_eq!(moves.iter().map(|&(mv, _)| mv).collect::<Vec<_>>(), expected);
            let sum: f32 = moves.iter().map(|(_, prior)| prior.probability()).sum();
            assert!((sum - 1.0).abs() < 0.01, "{sum}");
        }
    }

    #[test]
    fn positions_are_evaluated_once() {
        let mut evaluator = evaluator(NetworkSettings::default());
        let game = game();
        let line = Line::new(&game);
        let mut moves = [Vec::new(), Vec::new()];
        let first = evaluator.evaluate(&line, &mut Rng::new(1), &mut moves[0]);
        assert_eq!(evaluator.cache().hits_and_misses(), (0, 1), "value and moves need one evaluation");
        evaluator.expand(&line, &mut moves[1]);
        assert_eq!(moves[0], moves[1]);
        // Another worker has the same cache.
        assert_eq!(evaluator.clone().evaluate(&line, &mut Rng::new(2), &mut Vec::new()), first);
        assert_eq!(evaluator.cache().hits_and_misses(), (2, 1));
        assert_eq!(evaluator.ownership().map(Ownership::count), Some(1));
    }

    #[test]
    fn evaluation_is_from_blacks_perspective() {
        let settings = NetworkSettings { view: NetworkView::Plain, ..NetworkSettings::default() };
        let mut evaluator = evaluator(settings);
        let game = game();
        assert_eq!(game.to_move(), Color::White);
        let line = Line::new(&game);
        let plain = Symmetry::of(game.size()).next().expect("the identity");
        let prediction = evaluator.predict(&line, plain, 0.0).expect("finite");
        let evaluation = evaluator.evaluate(&line, &mut Rng::new(1), &mut Vec::new());
        assert_eq!(evaluation.value, prediction.win - prediction.loss);
        // Without the conversion to Black's perspective the value would have the opposite sign.
        let raw = Prediction { win: prediction.loss, loss: prediction.win, ..prediction };
        assert_eq!(raw.for_black(Color::White).value(), evaluation.value);
    }

    #[test]
    fn a_finished_game_is_counted_exactly() {
        let settings = NetworkSettings::default();
        let mut evaluator = evaluator(settings);
        let mut game = game();
        for _ in 0..2 {
            let color = game.to_move();
            game.play(color, Move::Pass).expect("legal");
        }
        // Two black stones, one white stone, and nothing enclosed.
        let evaluation = evaluator.evaluate(&Line::new(&game), &mut Rng::new(1), &mut Vec::new());
        assert_eq!(evaluation, Evaluation::plain(-1.0, 1.0 - 6.5));
        assert_eq!(evaluator.cache().hits_and_misses(), (0, 0));
    }

    #[test]
    fn symmetric_positions_share_one_evaluation() {
        let size = BoardSize::square(5).expect("a size");
        // The images do not differ in recent moves or ladders.
        let seen = |symmetry: Symmetry| {
            let mut game = Game::new(size, Rules::default(), 6.5);
            for (column, row) in [(2, 1), (1, 2), (3, 3)] {
                let point = symmetry.apply(size, Point::new(column, row));
                game.play(game.to_move(), Move::Play(point)).expect("legal");
            }
            game
        };
        let settings = NetworkSettings { share_symmetric: true, ..NetworkSettings::default() };
        let mut shared = evaluator(settings);
        for symmetry in Symmetry::ALL {
            let game = seen(symmetry);
            let line = Line::new(&game);
            let mut moves = [Vec::new(), Vec::new()];
            // An evaluator without other images in its cache uses its network.
            let mut fresh = evaluator(settings);
            let evaluations =
                [&mut shared, &mut fresh].map(|it| it.evaluate(&line, &mut Rng::new(1), &mut Vec::new()));
            shared.expand(&line, &mut moves[0]);
            fresh.expand(&line, &mut moves[1]);
            assert_eq!(evaluations[0], evaluations[1]);
            for (shared, fresh) in moves[0].iter().zip(&moves[1]) {
                // Probabilities of an image are summed in another order.
                assert!((shared.1.probability() - fresh.1.probability()).abs() < 1e-4);
                assert_eq!(shared.0, fresh.0);
            }
            assert_eq!(moves[0].len(), moves[1].len());
            let owners = shared.evaluation(&line).owners.clone();
            assert_eq!(owners, fresh.evaluation(&line).owners);
        }
        assert_eq!(shared.cache().hits_and_misses().1, 1);

        let mut apart = evaluator(NetworkSettings { share_symmetric: false, ..settings });
        for symmetry in Symmetry::ALL {
            apart.evaluate(&Line::new(&seen(symmetry)), &mut Rng::new(1), &mut Vec::new());
        }
        assert_eq!(apart.cache().hits_and_misses(), (0, 8));
    }

    /// Returns an evaluator of a network with an optimistic policy, optionally one that takes features of the players.
    fn new_evaluator(has_metadata_encoder: bool, settings: NetworkSettings) -> NetworkEvaluator {
        let options = random::Options { version: 15, has_metadata_encoder, ..random::Options::default() };
        NetworkEvaluator::new(Arc::new(random::network(&options).expect("a network")), settings, 1)
    }

    fn probabilities(moves: &[(Move, Prior)]) -> Vec<f32> {
        moves.iter().map(|(_, prior)| prior.probability()).collect()
    }

    #[test]
    fn root_and_tree_policies_differ() {
        let settings = NetworkSettings { view: NetworkView::Plain, ..NetworkSettings::default() };
        let mut evaluator = new_evaluator(false, settings);
        let game = game();
        let line = Line::new(&game);
        let (mut below, mut root) = (Vec::new(), Vec::new());
        evaluator.expand(&line, &mut below);
        evaluator.expand_root(&line, &mut root);
        assert!(evaluator.has_root_priors());
        assert_eq!(evaluator.cache().hits_and_misses(), (1, 1), "one evaluation for both");
        for (moves, optimism) in [(&below, 1.0), (&root, 0.2)] {
            let expected = evaluator.predict(&line, Symmetry::ALL[0], optimism).expect("finite");
            let found = probabilities(moves);
            let points = game.size().points().map(|point| expected.policy[index(game.size(), point)]);
            let expected = points.filter(|&probability| probability > 0.0).chain([expected.pass]);
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() < 0.005 * expected, "{optimism}: {found} {expected}");
            }
        }
        assert_ne!(probabilities(&below), probabilities(&root));
    }

    #[test]
    fn root_views_cover_symmetries() {
        let settings =
            NetworkSettings { root_policy_optimism: 0.5, root_views: 8, ..NetworkSettings::default() };
        let mut evaluator = new_evaluator(false, settings);
        // 5×4 has four symmetries, so only four of the eight views are possible.
        let game = game();
        let line = Line::new(&game);
        assert_eq!(evaluator.root_views(game.size()), 4);
        let mut seen = Vec::new();
        for view in 0..4 {
            let mut moves = Vec::new();
            evaluator.expand_root_view(&line, view, &mut moves);
            seen.push(probabilities(&moves));
        }
        let mut first = Vec::new();
        evaluator.expand_root(&line, &mut first);
        assert_eq!(seen[0], probabilities(&first), "the first view is the one of the search");
        let mut expected: Vec<Vec<f32>> = Vec::new();
        for symmetry in Symmetry::of(game.size()) {
            let prediction = evaluator.predict(&line, symmetry, 0.5).expect("finite");
            let points = game.size().points().map(|point| prediction.policy[index(game.size(), point)]);
            expected.push(points.filter(|&probability| probability > 0.0).chain([prediction.pass]).collect());
        }
        for found in &seen {
            // Probabilities in the cache are rounded to a part in 256.
            let near = |other: &Vec<f32>| found.iter().zip(other).all(|(a, b)| (a - b).abs() < 0.005 * b);
            let place = expected.iter().position(near).expect("one of the views");
            expected.remove(place);
        }
        let one = NetworkSettings { root_views: 1, ..settings };
        assert_eq!(evaluator.with_settings(one).root_views(game.size()), 1);
    }

    #[test]
    fn changed_optimism_clears_cache() {
        let evaluator = new_evaluator(false, NetworkSettings::default());
        let game = game();
        let line = Line::new(&game);
        evaluator.clone().expand(&line, &mut Vec::new());
        let same = evaluator.with_settings(NetworkSettings::default());
        assert!(same.cache().bytes() > 0);
        let plain =
            NetworkSettings { policy_optimism: 0.0, root_policy_optimism: 0.0, ..evaluator.settings() };
        let mut changed = evaluator.with_settings(plain);
        assert_eq!((changed.cache().bytes(), changed.has_root_priors()), (0, false));
        let (mut below, mut root) = (Vec::new(), Vec::new());
        changed.expand(&line, &mut below);
        changed.expand_root(&line, &mut root);
        assert_eq!(below, root);
    }

    #[test]
    fn pass_alive_setting_overrides_network() {
        let network = |pass_alive_with_suicide| {
            let options =
                random::Options { version: 15, pass_alive_with_suicide, ..random::Options::default() };
            Arc::new(random::network(&options).expect("a network"))
        };
        // If White may commit suicide, less of this position is unconditionally Black's.
        let size = BoardSize::new(7, 4).expect("a size");
        let mut game = Game::new(size, Rules { suicide: false, ..Rules::default() }, 6.5);
        for (row, text) in ["XX.XX.X", "X.O.XXX", "XX.XXXX", "XXXXXXX"].into_iter().rev().enumerate() {
            for (column, letter) in text.chars().enumerate().filter(|(_, letter)| *letter != '.') {
                let color = if letter == 'X' { Color::Black } else { Color::White };
                game.play(color, Move::Play(Point::new(column, row))).expect("legal");
            }
        }
        game.set_to_move(Color::Black);
        let taught = [false, true].map(network);
        let seen = |network: &Arc<Network>, pass_alive_with_suicide| {
            let settings = NetworkSettings { pass_alive_with_suicide, ..NetworkSettings::default() };
            // No setting of the first evaluator may remain.
            let other = NetworkSettings { pass_alive_with_suicide: Some(true), ..settings };
            let mut evaluator = NetworkEvaluator::new(network.clone(), other, 0).with_settings(settings);
            evaluator.predict(&Line::new(&game), Symmetry::ALL[0], 0.0).expect("finite");
            evaluator.input.spatial.clone()
        };
        let [plain, with_suicide] = [&taught[0], &taught[1]].map(|network| seen(network, None));
        assert_ne!(plain, with_suicide);
        for network in &taught {
            assert_eq!(seen(network, Some(false)), plain);
            assert_eq!(seen(network, Some(true)), with_suicide);
        }
    }

    #[test]
    fn human_networks_use_profile_without_optimism() {
        let with = |profile: Option<&str>| {
            let profile = profile.map(|text| text.parse().expect("a profile"));
            let mut evaluator =
                new_evaluator(true, NetworkSettings { profile, ..NetworkSettings::default() });
            assert!(!evaluator.has_root_priors());
            let game = game();
            let line = Line::new(&game);
            let all = [0.0, 1.0].map(|it| evaluator.predict(&line, Symmetry::ALL[0], it).expect("finite"));
            assert_eq!(all[0], all[1]);
            all[0].clone()
        };
        let (unknown, weak, strong) = (with(None), with(Some("rank_20k")), with(Some("rank_9d")));
        assert!(unknown != weak && weak != strong && unknown != strong);
        // White is to move, so White's rank matters.
        assert_ne!(with(Some("rank_9d_20k")), with(Some("rank_20k_9d")));
        let mut other = new_evaluator(false, NetworkSettings::default());
        let mut with_profile = other.with_settings(NetworkSettings {
            profile: Some("rank_9d".parse().expect("a profile")),
            ..NetworkSettings::default()
        });
        let game = game();
        let line = Line::new(&game);
        let [plain, with_profile] =
            [&mut other, &mut with_profile].map(|it| it.predict(&line, Symmetry::ALL[0], 0.0));
        assert_eq!(plain, with_profile, "other networks ignore the profile");
    }
}

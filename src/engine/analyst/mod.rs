//! Analysis of positions one after the other, each from nothing: what an analysis server needs.
//!
//! Unlike an [`Engine`](super::Engine) an analyst has no game of its own and no clocks. Every question brings its own
//! settings. Analysts share the caches of their networks.

mod question;
#[cfg(test)]
mod tests;

pub use question::{AnalystSettings, Question, Reports};

use super::{EngineEvaluator, HumanSettings, human, processors};
use kosumi_eval::{NetworkEvaluator, NetworkSettings, Prior};
use kosumi_go::board::{BoardSize, Color, Move, Symmetry};
use kosumi_go::game::{Game, Line};
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rng::mix;
use kosumi_net::input::index;
use kosumi_net::{Network, Prediction};
use kosumi_search::analysis::shares_of_priors;
use kosumi_search::root_moves::{self, Image};
use kosumi_search::{
    Analysis, AntiMirror, Extras, MoveRule, Reporting, Restriction, RootExploration, RootNoise, Search,
    SearchChanges, SearchContext, SearchReport,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of evaluators with settings other than the usual ones that are kept, each with a cache of its own.
const OTHERS_MOST: usize = 3;

/// What analysts share.
#[derive(Debug)]
struct Shared {
    /// Evaluators by their settings, the usual one first.
    evaluators: Mutex<Vec<NetworkEvaluator>>,
    /// Evaluators of a second network, which predicts what people play, the usual one first.
    human: Option<Mutex<Vec<NetworkEvaluator>>>,
}

/// Answers questions, one after the other. A clone answers others at the same time, with the same caches.
#[derive(Debug)]
pub struct Analyst {
    shared: Arc<Shared>,
    search: Option<Search<EngineEvaluator>>,
    /// Upper bound of the memory of one search.
    mebibytes: usize,
    /// Memory of the search at hand.
    search_mebibytes: usize,
}

impl Clone for Analyst {
    fn clone(&self) -> Analyst {
        Analyst { shared: Arc::clone(&self.shared), search: None, search_mebibytes: 0, ..*self }
    }
}

fn lock(all: &Mutex<Vec<NetworkEvaluator>>) -> MutexGuard<'_, Vec<NetworkEvaluator>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the evaluator with these settings, which is kept for the next time. The first evaluator always stays; it has
/// the largest cache.
fn kept(all: &Mutex<Vec<NetworkEvaluator>>, settings: NetworkSettings) -> NetworkEvaluator {
    let mut all = lock(all);
    let usual = all[0].clone();
    let settings = NetworkSettings { arithmetic: usual.settings().arithmetic, ..settings };
    if let Some(known) = all.iter().find(|known| known.settings() == settings) {
        return known.clone();
    }
    if all.len() > OTHERS_MOST {
        all.remove(1);
    }
    let evaluator = usual.with_settings_and_cache(settings, usual.cache().most_bytes() / 4);
    all.push(evaluator.clone());
    evaluator
}

/// Bytes that a visit takes: a node, and moves for every point of the board.
fn bytes_per_visit(size: BoardSize) -> usize {
    128 + 8 + 16 * 16 + size.area() + 200
}

impl Analyst {
    /// An analyst with a cache and with searches of at most these sizes.
    pub fn new(
        network: Arc<Network>,
        human: Option<Arc<Network>>,
        usual: NetworkSettings,
        cache_mebibytes: usize,
        search_mebibytes: usize,
    ) -> Analyst {
        // Positions inside a search are evaluated by it only if a question wants that, so a small cache is enough.
        let human = human.map(|human| vec![NetworkEvaluator::new(human, usual, cache_mebibytes / 4)].into());
        let evaluator = NetworkEvaluator::new(network, usual, cache_mebibytes);
        let shared = Shared { evaluators: Mutex::new(vec![evaluator]), human };
        Analyst {
            shared: Arc::new(shared),
            search: None,
            mebibytes: search_mebibytes.max(1),
            search_mebibytes: 0,
        }
    }

    /// The same analyst with searches of at most this size.
    #[must_use]
    pub fn with_search_memory(self, mebibytes: usize) -> Analyst {
        Analyst { mebibytes: mebibytes.max(1), search: None, search_mebibytes: 0, ..self }
    }

    /// The network.
    pub fn network(&self) -> Arc<Network> {
        lock(&self.shared.evaluators)[0].shared_network()
    }

    /// The network of human play, if there is a second network.
    pub fn human_network(&self) -> Option<Arc<Network>> {
        self.shared.human.as_ref().map(|all| lock(all)[0].shared_network())
    }

    /// Empties the caches of all networks.
    pub fn clear_cache(&self) {
        for all in [Some(&self.shared.evaluators), self.shared.human.as_ref()].into_iter().flatten() {
            lock(all).iter().for_each(|evaluator| evaluator.cache().clear());
        }
    }

    /// An evaluator with these settings. Evaluators that were used before have kept their caches.
    fn evaluator(&self, settings: NetworkSettings) -> NetworkEvaluator {
        kept(&self.shared.evaluators, settings)
    }

    /// An evaluator with the network of human play and these settings: the second network, or the first one if it predicts
    /// human play.
    fn human_evaluator(&self, settings: NetworkSettings) -> Option<NetworkEvaluator> {
        match &self.shared.human {
            Some(human) => Some(kept(human, settings)),
            None => Some(self.evaluator(settings)).filter(|own| own.network().takes_metadata()),
        }
    }

    /// A search from nothing with enough memory for the limits of a question.
    fn search(
        &mut self,
        evaluator: NetworkEvaluator,
        question: &Question<'_>,
    ) -> &mut Search<EngineEvaluator> {
        let limits = &question.settings.limits;
        let visits = [limits.visits, limits.playouts].into_iter().flatten().min().unwrap_or(u32::MAX);
        let bytes = bytes_per_visit(question.game.size()).saturating_mul(visits as usize).saturating_mul(2);
        // In few sizes, so that one search serves many questions.
        let wanted = ((bytes >> 20) + 4).next_power_of_two().min(self.mebibytes);
        let evaluator = EngineEvaluator::Network(Box::new(evaluator));
        let usual = evaluator.search_params(question.game.size());
        let params =
            usual.for_workers(question.settings.threads, processors()).changed(&question.settings.search);
        let fits = self.search_mebibytes >= wanted && self.search_mebibytes <= wanted.saturating_mul(8);
        match self.search.take().filter(|_| fits) {
            Some(mut search) => {
                search.set_evaluator(evaluator);
                search.set_params(params);
                if search.threads() != question.settings.threads {
                    search.set_threads(question.settings.threads);
                }
                self.search.insert(search)
            }
            None => {
                self.search_mebibytes = wanted;
                self.search.insert(Search::new(evaluator, params, wanted, question.settings.threads))
            }
        }
    }

    /// Analyses a position, from Black's perspective. `None` if it was interrupted before anything was known.
    pub fn analyze(&mut self, question: &Question<'_>) -> Option<Analysis> {
        let start = Instant::now();
        if (question.interrupted)() {
            return None;
        }
        let game = &with_sharing(analysed(question.game), question.settings.sharing);
        let is_wanted = question.settings.anti_mirror;
        let anti_mirror = is_wanted.then(|| AntiMirror::against(question.game)).flatten();
        // Visits that a mirrored reply gets are no mistakes that have to be pruned.
        let search = SearchChanges { use_noise_pruning: Some(false), ..question.settings.search };
        let changed = AnalystSettings { search, ..*question.settings };
        let settings = if anti_mirror.is_some() { &changed } else { question.settings };
        let question = &Question { settings, ..*question };
        let people = self.people(game, settings);
        let tree_exploration = people.as_ref().and_then(|_| {
            let network = || self.human_evaluator(settings.network);
            human::tree_exploration(&settings.human, game.to_move(), network)
        });
        let search = self.search(self.evaluator(settings.network), question);
        let mut policy = Vec::new();
        search.restart(game, &mut |moves| {
            policy = probabilities(moves);
            root_moves::temper(moves, settings.root_policy_temperature);
        });
        let images = match settings.prunes_symmetric {
            true => images(game, &policy, question.restriction),
            false => Vec::new(),
        };
        let restriction = without_images(question.restriction, &images, game.to_move());
        let exploration = people.as_ref().and_then(|people| exploration(game, people, &settings.human));
        let extras = Extras {
            restriction: Some(question.restriction),
            images: &images,
            policy: &policy,
            human: people.as_ref(),
        };
        let elapsed = || start.elapsed();
        let on_report = |report: SearchReport| {
            if let Some(reports) = &question.reports {
                (reports.on_report)(Analysis::new(&report, &extras));
            }
        };
        let reporting = question.reports.map(|reports| Reporting {
            first: reports.first,
            every: reports.every.unwrap_or(Duration::MAX / 2),
            on_report: &on_report,
        });
        let noise = (settings.wide_root_noise > 0.0).then(|| RootNoise::wide(settings.wide_root_noise));
        let is_enough = settings.limits.visits == Some(1);
        if is_enough || (question.interrupted)() {
            return Some(Analysis::new(&search.report_with(game, question.detail)?, &extras));
        }
        let seed = mix(game.board().key().0 as u64);
        let context = SearchContext {
            reporting,
            restriction: &restriction,
            exploration: exploration.as_ref(),
            tree_exploration: tree_exploration.as_ref(),
            noise: noise.as_ref(),
            anti_mirror,
            detail: question.detail,
            ..SearchContext::new(&settings.limits, &elapsed, question.interrupted)
        };
        let report = search.run_in_place(game, seed, &context)?;
        Some(Analysis::new(&report, &extras))
    }

    /// What people of the profile would do, if there is a profile and a network of human play.
    fn people(&self, game: &Game, settings: &AnalystSettings) -> Option<Prediction> {
        settings.network.profile?;
        let mut evaluator = self.human_evaluator(settings.network)?;
        evaluator.predict(&Line::new(game), Symmetry::ALL[0], 0.0).ok()
    }
}

/// The game as it is analysed: after its end as if play went on.
pub(super) fn analysed(game: &Game) -> Game {
    if !game.is_over() {
        return game.clone();
    }
    let mut fresh = Game::from_board(*game.board(), game.to_move(), game.rules(), game.komi());
    fresh.set_handicap(game.handicap());
    fresh.with_sharing(game.sharing())
}

fn with_sharing(game: Game, sharing: NodeSharing) -> Game {
    if game.sharing() == sharing { game } else { game.with_sharing(sharing) }
}

/// Probabilities that sum to 1.
fn probabilities(moves: &[(Move, Prior)]) -> Vec<(Move, f32)> {
    let shares = shares_of_priors(moves.iter().map(|&(_, prior)| prior));
    moves.iter().map(|&(mv, _)| mv).zip(shares).collect()
}

/// Moves that are images of other ones because the position is symmetric. Of each set of images the most probable move
/// that may be searched stands for the others. Moves that may not be searched are left out.
fn images(game: &Game, policy: &[(Move, f32)], restriction: &Restriction) -> Vec<Image> {
    let own = root_moves::symmetries_of_itself(game);
    if own.is_empty() {
        return Vec::new();
    }
    let permitted = policy.iter().filter(|(mv, _)| restriction.permits(game.to_move(), *mv, 0));
    let mut moves: Vec<_> = permitted.collect();
    // The network sees the board from one side, so images are not quite equally likely.
    moves.sort_by(|a, b| b.1.total_cmp(&a.1));
    let moves: Vec<Move> = moves.into_iter().map(|&(mv, _)| mv).collect();
    root_moves::images(game, &own, &moves)
}

fn without_images(restriction: &Restriction, images: &[Image], color: Color) -> Restriction {
    let mut restriction = restriction.clone();
    if !images.is_empty() {
        let moves = images.iter().map(|(image, ..)| *image).collect();
        restriction.avoid.push(MoveRule { color, moves, until: 1 });
    }
    restriction
}

/// Simulations that choose moves of the root because people would play them.
fn exploration(game: &Game, people: &Prediction, settings: &HumanSettings) -> Option<RootExploration> {
    let HumanSettings { root_weightless, root_weightful, cpuct, cpuct_permanent, .. } = *settings;
    let size = game.size();
    let points = size.points().map(|point| (Move::Play(point), people.policy[index(size, point)]));
    (root_weightless + root_weightful > 0.0).then(|| RootExploration {
        priors: points.chain([(Move::Pass, people.pass)]).filter(|&(_, prior)| prior > 0.0).collect(),
        weightless: root_weightless,
        weightful: root_weightful,
        cpuct,
        cpuct_permanent,
    })
}

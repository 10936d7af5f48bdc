//! Analysis of independent positions, for the analysis server.
//!
//! Unlike an [`Engine`](super::Engine), an analyst has no game of its own and no clocks. Every request brings its own
//! settings, and every search starts without statistics. Analysts share the caches of their networks.

mod question;
#[cfg(test)]
mod tests;

pub use question::{AnalystSettings, Question, Reports};

use super::{EngineEvaluator, HumanSettings, human, max_visits};
use crate::stopwatch::{Stopwatch, TimeSource, standard_time};
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
    Analysis, AntiMirror, Extras, Reporting, Restriction, RootExploration, RootNoise, Search, SearchChanges,
    SearchContext, SearchReport,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of evaluators that are kept besides the one with the usual settings. Each has its own cache.
const MAX_OTHER_EVALUATORS: usize = 3;

/// State that all clones of an analyst share.
#[derive(Debug)]
struct Shared {
    /// Evaluators, one for each set of settings. The first has the usual settings.
    evaluators: Mutex<Vec<NetworkEvaluator>>,
    /// Evaluators of a second network, which predicts human play. The first has the usual settings.
    human: Option<Mutex<Vec<NetworkEvaluator>>>,
}

/// Analyses one position at a time. A clone can analyse other positions at the same time and uses the same caches.
#[derive(Debug)]
pub struct Analyst {
    shared: Arc<Shared>,
    search: Option<Search<EngineEvaluator>>,
    /// Maximum memory of one search, in MiB.
    mebibytes: usize,
    /// Memory of the current search, in MiB.
    search_mebibytes: usize,
    time_source: TimeSource,
}

impl Clone for Analyst {
    fn clone(&self) -> Analyst {
        Analyst { shared: Arc::clone(&self.shared), search: None, search_mebibytes: 0, ..*self }
    }
}

fn lock(all: &Mutex<Vec<NetworkEvaluator>>) -> MutexGuard<'_, Vec<NetworkEvaluator>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the evaluator with these settings, and keeps it for later requests. The first evaluator is never dropped,
/// because it has the largest cache.
fn kept(all: &Mutex<Vec<NetworkEvaluator>>, settings: NetworkSettings) -> NetworkEvaluator {
    let mut all = lock(all);
    let usual = all[0].clone();
    let settings = NetworkSettings { arithmetic: usual.settings().arithmetic, ..settings };
    if let Some(known) = all.iter().find(|known| known.settings() == settings) {
        return known.clone();
    }
    if all.len() > MAX_OTHER_EVALUATORS {
        all.remove(1);
    }
    let evaluator = usual.with_settings_and_cache(settings, usual.cache().max_bytes() / 4);
    all.push(evaluator.clone());
    evaluator
}

/// Returns the memory that one visit takes, in bytes: a node, and edges for every point of the board.
fn bytes_per_visit(size: BoardSize) -> usize {
    128 + 8 + 16 * 16 + size.area() + 200
}

impl Analyst {
    /// Creates an analyst with a cache of `cache_mebibytes` and searches of at most `search_mebibytes`.
    pub fn new(
        network: Arc<Network>,
        human: Option<Arc<Network>>,
        usual: NetworkSettings,
        cache_mebibytes: usize,
        search_mebibytes: usize,
    ) -> Analyst {
        // The search uses this network below the root only if a request demands it, so a small cache is enough.
        let human = human.map(|human| vec![NetworkEvaluator::new(human, usual, cache_mebibytes / 4)].into());
        let evaluator = NetworkEvaluator::new(network, usual, cache_mebibytes);
        let shared = Shared { evaluators: Mutex::new(vec![evaluator]), human };
        Analyst {
            shared: Arc::new(shared),
            search: None,
            mebibytes: search_mebibytes.max(1),
            search_mebibytes: 0,
            time_source: standard_time,
        }
    }

    /// Returns this analyst with another time source, by which limits and intervals between reports are measured.
    #[must_use]
    pub fn with_time_source(self, time_source: TimeSource) -> Analyst {
        Analyst { time_source, ..self }
    }

    /// Returns this analyst with searches that use at most this much memory, in MiB.
    #[must_use]
    pub fn with_search_memory(self, mebibytes: usize) -> Analyst {
        Analyst { mebibytes: mebibytes.max(1), search: None, search_mebibytes: 0, ..self }
    }

    /// Returns the network.
    pub fn network(&self) -> Arc<Network> {
        lock(&self.shared.evaluators)[0].shared_network()
    }

    /// Returns the network of human play, if a second network was given.
    pub fn human_network(&self) -> Option<Arc<Network>> {
        self.shared.human.as_ref().map(|all| lock(all)[0].shared_network())
    }

    /// Empties the caches of all networks.
    pub fn clear_cache(&self) {
        for all in [Some(&self.shared.evaluators), self.shared.human.as_ref()].into_iter().flatten() {
            lock(all).iter().for_each(|evaluator| evaluator.cache().clear());
        }
    }

    /// Returns an evaluator with these settings. An evaluator that was used before still has its cache.
    fn evaluator(&self, settings: NetworkSettings) -> NetworkEvaluator {
        kept(&self.shared.evaluators, settings)
    }

    /// Returns an evaluator with these settings for the network of human play: the second network, or the first one if
    /// it predicts human play.
    fn human_evaluator(&self, settings: NetworkSettings) -> Option<NetworkEvaluator> {
        match &self.shared.human {
            Some(human) => Some(kept(human, settings)),
            None => Some(self.evaluator(settings)).filter(|own| own.network().takes_metadata()),
        }
    }

    /// Returns a search with enough memory for the limits of a request.
    fn search(
        &mut self,
        evaluator: NetworkEvaluator,
        question: &Question<'_>,
    ) -> &mut Search<EngineEvaluator> {
        let limits = &question.settings.limits;
        let at_most = max_visits(limits.visits, limits.playouts);
        let visits = at_most.unwrap_or(u32::MAX);
        let bytes = bytes_per_visit(question.game.size()).saturating_mul(visits as usize).saturating_mul(2);
        // Sizes are powers of two, so one search serves many requests.
        let wanted = ((bytes >> 20) + 4).next_power_of_two().min(self.mebibytes);
        let evaluator = EngineEvaluator::Network(Box::new(evaluator));
        let usual = evaluator.search_params(question.game.size());
        let params = evaluator.for_workers(usual, question.game.size(), question.settings.threads, at_most);
        let params = params.changed(&question.settings.search);
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

    /// Analyses a position, from Black's perspective. Returns `None` if the analysis was interrupted before the first
    /// evaluation.
    pub fn analyze(&mut self, question: &Question<'_>) -> Option<Analysis> {
        let stopwatch = Stopwatch::start(self.time_source);
        if (question.interrupted)() {
            return None;
        }
        let game = &analysed(with_sharing(question.game.clone(), question.settings.sharing));
        let is_wanted = question.settings.anti_mirror;
        let anti_mirror = is_wanted.then(|| AntiMirror::against(question.game)).flatten();
        // The visits of a mirrored reply are intended, and must not be pruned as noise.
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
        let elapsed = || stopwatch.elapsed();
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

    /// Returns the prediction of human play for the profile of the settings, if there are a profile and a network of
    /// human play.
    fn people(&self, game: &Game, settings: &AnalystSettings) -> Option<Prediction> {
        settings.network.profile?;
        let mut evaluator = self.human_evaluator(settings.network)?;
        evaluator.predict(&Line::new(game), Symmetry::ALL[0], 0.0).ok()
    }
}

/// Returns the game to analyse. A game that is over is analysed as if play continued.
pub(super) fn analysed(game: Game) -> Game {
    if game.is_over() { game.resumed() } else { game }
}

fn with_sharing(game: Game, sharing: NodeSharing) -> Game {
    if game.sharing() == sharing { game } else { game.with_sharing(sharing) }
}

/// Returns the probabilities of the moves, which sum to 1.
fn probabilities(moves: &[(Move, Prior)]) -> Vec<(Move, f32)> {
    let shares = shares_of_priors(moves.iter().map(|&(_, prior)| prior));
    moves.iter().map(|&(mv, _)| mv).zip(shares).collect()
}

/// Returns the moves that are images of others because the position is symmetric. In each set of images, the most
/// probable permitted move represents the others. Moves that the restriction forbids are omitted.
fn images(game: &Game, policy: &[(Move, f32)], restriction: &Restriction) -> Vec<Image> {
    let own = root_moves::symmetries_of_itself(game);
    if own.is_empty() {
        return Vec::new();
    }
    let permitted = policy.iter().filter(|(mv, _)| restriction.permits(game.to_move(), *mv, 0));
    let mut moves: Vec<_> = permitted.collect();
    // The network evaluates the board under one symmetry, so the probabilities of images differ slightly.
    moves.sort_by(|a, b| b.1.total_cmp(&a.1));
    let moves: Vec<Move> = moves.into_iter().map(|&(mv, _)| mv).collect();
    root_moves::images(game, &own, &moves)
}

fn without_images(restriction: &Restriction, images: &[Image], color: Color) -> Restriction {
    let mut restriction = restriction.clone();
    restriction.avoid(color, images.iter().map(|(image, ..)| *image), 1);
    restriction
}

/// Returns the exploration of root moves that follows the prediction of human play, if the settings ask for it.
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

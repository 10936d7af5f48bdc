//! Analysing positions one after the other, each from nothing: what an analysis server asks for.
//!
//! Unlike an [`Engine`](super::Engine) an analyst has no game of its own and no clocks. Every question brings its own
//! settings; the cache of the network is what analysts share. Answers say more than a
//! [`SearchReport`](kosumi_search::SearchReport): win rate, score and owners are averaged over the whole graph.

mod answer;
mod question;
mod telling;
#[cfg(test)]
mod tests;

pub use answer::{Analysis, Expectation, MoveAnalysis, PeopleView};
pub use question::{AnalystSettings, Question, Reports, Wishes};

use super::{EngineEvaluator, HumanSettings, human, processors};
use kosumi_eval::{NetworkEvaluator, NetworkSettings, PredictionTable, Prior};
use kosumi_go::board::{BoardSize, Color, Move, Symmetry};
use kosumi_go::game::{Game, Line};
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rng::mix;
use kosumi_net::Network;
use kosumi_search::root_moves::{self, Image};
use kosumi_search::utility::Scale;
use kosumi_search::{
    AntiMirror, Formula, MoveRule, Reporting, Restriction, RootExploration, RootNoise, Search, SearchChanges,
    SearchContext, SearchReport,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use telling::Teller;

/// Most evaluators with settings other than the usual ones that are kept, each with a cache of its own.
const OTHERS_MOST: usize = 3;

/// What analysts share.
#[derive(Debug)]
struct Shared {
    /// Evaluators by their settings, the usual one first.
    evaluators: Mutex<Vec<NetworkEvaluator>>,
    /// A second network's evaluators in the same way.
    human: Option<Mutex<Vec<NetworkEvaluator>>>,
}

/// Answers questions, one after the other. A copy answers others at the same time, with the same cache.
#[derive(Debug)]
pub struct Analyst {
    shared: Arc<Shared>,
    search: Option<Search<EngineEvaluator>>,
    /// Most memory for one search.
    mebibytes: usize,
    /// What the search at hand has.
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

/// An evaluator with these settings, kept for the next time. The first one stays, with the largest cache.
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
    /// An analyst with a cache and with searches of so much memory at most.
    pub fn new(
        network: Arc<Network>,
        human: Option<Arc<Network>>,
        usual: NetworkSettings,
        cache_mebibytes: usize,
        search_mebibytes: usize,
    ) -> Analyst {
        // It is asked about positions inside a search only if a question wants that.
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

    /// The same analyst with searches of so much memory at most.
    #[must_use]
    pub fn with_search_memory(self, mebibytes: usize) -> Analyst {
        Analyst { mebibytes: mebibytes.max(1), search: None, search_mebibytes: 0, ..self }
    }

    /// The network.
    pub fn network(&self) -> Arc<Network> {
        lock(&self.shared.evaluators)[0].shared_network()
    }

    /// The network of human play, if there is a second one.
    pub fn human_network(&self) -> Option<Arc<Network>> {
        self.shared.human.as_ref().map(|all| lock(all)[0].shared_network())
    }

    /// Forgets what networks said of positions.
    pub fn clear_cache(&self) {
        for all in [Some(&self.shared.evaluators), self.shared.human.as_ref()].into_iter().flatten() {
            lock(all).iter().for_each(|evaluator| evaluator.cache().clear());
        }
    }

    /// An evaluator with these settings. Those that were wanted before have kept their caches.
    fn evaluator(&self, settings: NetworkSettings) -> NetworkEvaluator {
        kept(&self.shared.evaluators, settings)
    }

    /// The network of human play, with these settings: the second one, or the first if it is one.
    fn human_evaluator(&self, settings: NetworkSettings) -> Option<NetworkEvaluator> {
        match &self.shared.human {
            Some(human) => Some(kept(human, settings)),
            None => Some(self.evaluator(settings)).filter(|own| own.network().takes_metadata()),
        }
    }

    /// A search with room for these limits, from nothing.
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

    /// Analyses a position. `None` if it was interrupted before anything was known.
    pub fn analyze(&mut self, question: &Question<'_>) -> Option<Analysis> {
        let start = Instant::now();
        if (question.interrupted)() {
            return None;
        }
        let game = &position(question.game, question.settings.sharing);
        let is_wanted = question.settings.anti_mirror;
        let anti_mirror = is_wanted.then(|| AntiMirror::against(question.game)).flatten();
        // Visits that are given to a mirrored reply are not to be taken for mistakes.
        let search = SearchChanges { use_noise_pruning: Some(false), ..question.settings.search };
        let changed = AnalystSettings { search, ..*question.settings };
        let settings = if anti_mirror.is_some() { &changed } else { question.settings };
        let question = &Question { settings, ..*question };
        let people = self.people(game, settings);
        let tree_exploration = people.as_ref().and_then(|_| {
            let network = || self.human_evaluator(settings.network);
            human::tree_exploration(&settings.human, game.to_move(), network)
        });
        let evaluator = self.evaluator(settings.network);
        let positions = self.mebibytes.saturating_mul(1 << 20) / bytes_per_visit(game.size());
        let outlooks = Arc::new(PredictionTable::new(positions));
        let search = self.search(evaluator.with_outlooks(Arc::clone(&outlooks)), question);
        let mut policy = Vec::new();
        let mut priors = Vec::new();
        search.begin(game, &mut |moves| {
            policy = normalised(moves, 1.0);
            priors = normalised(moves, 1.0 / settings.root_policy_temperature);
            if settings.root_policy_temperature != 1.0 {
                *moves = priors.iter().map(|&(mv, prior)| (mv, Prior::Probability(prior))).collect();
            }
        });
        let images = match settings.prunes_symmetric {
            true => images(game, &policy, question.restriction),
            false => Vec::new(),
        };
        let restriction = without_images(question.restriction, &images, game.to_move());
        let exploration = people.as_ref().and_then(|people| exploration(game, people, &settings.human));
        let table = search.table();
        let utility_most = match search.params().formula {
            Formula::Puct(params) => Scale::new(&params, game.size().area(), 0.0).most() as f32,
            Formula::Rave(_) => 1.0,
        };
        let teller = Teller {
            table,
            outlooks: &outlooks,
            game,
            policy: &policy,
            priors: &priors,
            people: people.as_ref(),
            images: &images,
            restriction: question.restriction,
            wishes: question.wishes,
            utility_most,
        };
        let elapsed = || start.elapsed();
        let on_report = |report: SearchReport| {
            if let (Some(reports), Some(analysis)) = (&question.reports, teller.tell(&report)) {
                (reports.on_report)(analysis);
            }
        };
        let reporting = question.reports.map(|reports| Reporting {
            first: reports.first,
            every: reports.every.unwrap_or(Duration::MAX / 2),
            on_report: &on_report,
        });
        let noise = (settings.wide_root_noise > 0.0).then(|| RootNoise::wide(settings.wide_root_noise));
        let is_enough = settings.limits.visits == Some(1);
        if !is_enough && !(question.interrupted)() {
            let seed = mix(game.board().key().0 as u64);
            let context = SearchContext {
                reporting,
                restriction: &restriction,
                exploration: exploration.as_ref(),
                tree_exploration: tree_exploration.as_ref(),
                noise: noise.as_ref(),
                anti_mirror,
                ..SearchContext::new(&settings.limits, &elapsed, question.interrupted)
            };
            search.run_in_place(game, seed, &context);
        }
        teller.tell(&search.report(game)?)
    }

    /// What people of the profile would do, if there is one and a network that knows.
    fn people(&self, game: &Game, settings: &AnalystSettings) -> Option<PeopleView> {
        settings.network.profile?;
        let mut evaluator = self.human_evaluator(settings.network)?;
        let prediction = evaluator.predict(&Line::new(game), Symmetry::ALL[0], 0.0).ok()?;
        Some(PeopleView { prediction })
    }
}

/// The game as it is analysed: play goes on after its end.
fn position(game: &Game, sharing: NodeSharing) -> Game {
    if !game.is_over() {
        return match game.sharing() == sharing {
            true => game.clone(),
            false => game.clone().with_sharing(sharing),
        };
    }
    let mut fresh = Game::from_board(*game.board(), game.to_move(), game.rules(), game.komi());
    fresh.set_handicap(game.handicap());
    fresh.with_sharing(sharing)
}

/// Probabilities to a power, so that they sum to 1.
fn normalised(moves: &[(Move, Prior)], power: f32) -> Vec<(Move, f32)> {
    let raised = |prior: &Prior| match power {
        1.0 => prior.probability(),
        // Of `libm`, so that it is the same on every machine.
        _ => libm::powf(prior.probability(), power),
    };
    let sum: f32 = moves.iter().map(|(_, prior)| raised(prior)).sum();
    let sum = if sum > 0.0 { sum } else { 1.0 };
    moves.iter().map(|(mv, prior)| (*mv, raised(prior) / sum)).collect()
}

/// Moves that are images of other ones because the position is symmetric. Of each set of images the first move that may
/// be searched stands for the others; those that may not are left out.
fn images(game: &Game, policy: &[(Move, f32)], restriction: &Restriction) -> Vec<Image> {
    let own = root_moves::symmetries_of_itself(game);
    if own.is_empty() {
        return Vec::new();
    }
    let permitted = policy.iter().filter(|(mv, _)| restriction.permits(game.to_move(), *mv, 0));
    let mut moves: Vec<_> = permitted.collect();
    // The network looks from one side, so images are not quite equally likely.
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

/// What is looked at because people would play it.
fn exploration(game: &Game, people: &PeopleView, settings: &HumanSettings) -> Option<RootExploration> {
    let HumanSettings { root_weightless, root_weightful, cpuct, cpuct_permanent, .. } = *settings;
    (root_weightless + root_weightful > 0.0).then(|| RootExploration {
        priors: people.priors(game.size()).filter(|&(_, prior)| prior > 0.0).collect(),
        weightless: root_weightless,
        weightful: root_weightful,
        cpuct,
        cpuct_permanent,
    })
}

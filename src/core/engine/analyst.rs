//! Analysing positions one after the other, each from nothing: what an analysis server asks for.
//!
//! Unlike an [`Engine`](super::Engine) an analyst has no game of its own and no clocks. Every question brings its own
//! settings; the cache of the network is what analysts share. Answers say more than a
//! [`SearchReport`](crate::search::SearchReport): win rate, score and owners are averaged over the whole graph.

use super::{EngineEvaluator, HumanSettings, human};
use crate::board::{BoardSize, Color, Key, Move, Symmetry};
use crate::eval::{NetworkEvaluator, NetworkSettings, Outlook, Outlooks, Prior};
use crate::game::{Game, Line};
use crate::graph_key::Sharing;
use crate::net::{Network, Prediction};
use crate::rng::mix;
use crate::search::node::{Means, NodeId};
use crate::search::root_moves::{self, Image};
use crate::search::utility::Scale;
use crate::search::{
    AntiMirror, Formula, Limits, MoveReport, MoveRule, NodeTable, Reporting, Restriction, RootExploration,
    RootNoise, Search, SearchChanges, SearchContext, SearchReport,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a position is analysed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AnalystSettings {
    /// Workers of the search, at least 1.
    pub threads: usize,
    /// When the search ends; visits include the evaluation of the position itself.
    pub limits: Limits,
    /// How the network is asked.
    pub network: NetworkSettings,
    /// How the search differs from what suits a network.
    pub search: SearchChanges,
    /// Graph or tree.
    pub sharing: Sharing,
    /// The temperature of the priors at the root: above 1 they are more even; above 0.
    pub root_policy_temperature: f32,
    /// How much more of the position is looked at than is good for play, from 0: see [`RootNoise::wide`].
    pub wide_root_noise: f32,
    /// Is only one of several symmetric moves searched?
    pub prunes_symmetric: bool,
    /// What is looked at because people would play it.
    pub human: HumanSettings,
    /// Is an opponent who mirrors expected to go on, and the mirror to be broken?
    pub anti_mirror: bool,
}

impl Default for AnalystSettings {
    fn default() -> AnalystSettings {
        AnalystSettings {
            threads: 1,
            limits: Limits::default(),
            network: NetworkSettings { ignore_pre_root_history: true, ..NetworkSettings::default() },
            search: SearchChanges::default(),
            sharing: Sharing::Graph,
            root_policy_temperature: 1.0,
            wide_root_noise: 0.04,
            prunes_symmetric: true,
            human: HumanSettings::default(),
            anti_mirror: false,
        }
    }
}

/// What an answer is to contain besides values and moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wishes {
    /// Owners at the root, and how far they scatter.
    pub ownership: bool,
    /// The same of every move.
    pub moves_ownership: bool,
}

/// Reports while the search runs.
#[derive(Clone, Copy)]
pub struct Reports<'q> {
    /// Time until the first one.
    pub first: Duration,
    /// Time between two; `None`: there is only one.
    pub every: Option<Duration>,
    /// Called by a worker.
    pub on_report: &'q (dyn Fn(Analysis) + Sync),
}

/// A position to be analysed.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    /// The game up to the position. If it has ended, it is analysed as if play went on.
    pub game: &'q Game,
    /// How.
    pub settings: &'q AnalystSettings,
    /// Moves that are not to be searched.
    pub restriction: &'q Restriction,
    /// What the answer is to contain.
    pub wishes: Wishes,
    /// Asked now and then; true ends the search at once.
    pub interrupted: &'q (dyn Fn() -> bool + Sync),
    /// Reports while the search runs.
    pub reports: Option<Reports<'q>>,
}

impl std::fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Question").field("settings", self.settings).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Reports<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reports")
            .field("first", &self.first)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

/// What is expected of a position, averaged over what was searched behind it. Black's view.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expectation {
    /// Win less loss, in `[-1, 1]`.
    pub result: f32,
    /// The probability of no result.
    pub no_result: f32,
    /// Points by which Black leads.
    pub lead: f32,
    /// The score at the end.
    pub score_mean: f32,
    /// Its standard deviation.
    pub score_stdev: f32,
    /// What the search maximises: a win for certain counts 1, and points are added to it.
    pub utility: f32,
    /// Owner of every point in the order of [`BoardSize::points`], in `[-1, 1]`; empty if nobody asked.
    pub owners: Vec<f32>,
    /// How far the owners scatter; empty if nobody asked.
    pub owners_stdev: Vec<f32>,
}

/// A move that was searched.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveAnalysis {
    /// What the search counted.
    pub report: MoveReport,
    /// The network's prior, at the temperature of the root.
    pub prior: f32,
    /// How probably people play it, if anything is known of them.
    pub human_prior: Option<f32>,
    /// What is expected after it.
    pub expectation: Expectation,
    /// Summed weight of the evaluations behind the position after it, and the share of the visits of this move in it.
    pub weights: [f32; 2],
    /// Half the width of a confidence interval around `utility`: five standard errors, 2.5 times the largest utility after
    /// one visit.
    pub utility_radius: f32,
    /// The move of which this is the image: nothing was searched here, all is copied.
    pub symmetry_of: Option<Move>,
}

/// What a network of human play says of the position. Black's view.
#[derive(Clone, PartialEq, Debug)]
pub struct PeopleView {
    /// The prediction.
    pub prediction: Prediction,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Columns and rows.
    pub size: BoardSize,
    /// Whose turn it is.
    pub to_move: Color,
    /// Visits of the position, its own evaluation included.
    pub visits: u32,
    /// Summed weight of all evaluations.
    pub weight: f32,
    /// What is expected.
    pub root: Expectation,
    /// What the network alone expects.
    pub raw: Outlook,
    /// Moves, the best first; symmetric copies behind their original.
    pub moves: Vec<MoveAnalysis>,
    /// The network's probability of every legal move, without temperature: they sum to 1.
    pub policy: Vec<(Move, f32)>,
    /// What people would do.
    pub people: Option<PeopleView>,
    /// The largest utility.
    pub utility_most: f32,
    /// Equal for the same stones, player and ko ban; the second for symmetric positions, too.
    pub hashes: [Key; 2],
}

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
        let params = evaluator.search_params(question.game.size()).changed(&question.settings.search);
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
        let outlooks = Arc::new(Outlooks::new(positions));
        let search = self.search(evaluator.writing_to(Arc::clone(&outlooks)), question);
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
            super::evaluator::run_search_in_place(search, game, seed, &context);
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
fn position(game: &Game, sharing: Sharing) -> Game {
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

impl PeopleView {
    /// How probably people make each move; 0 if it is illegal.
    pub fn priors(&self, size: BoardSize) -> impl Iterator<Item = (Move, f32)> + '_ {
        let at = move |point| self.prediction.policy[crate::net::input::index(size, point)];
        size.points()
            .map(move |point| (Move::Play(point), at(point)))
            .chain([(Move::Pass, self.prediction.pass)])
    }
}

/// Sums over the evaluations behind a position, each with its share of the visits.
struct Sums {
    weight: f64,
    result: f64,
    no_result: f64,
    lead: f64,
    score: f64,
    score_square: f64,
    owners: Vec<f32>,
    owner_squares: Vec<f32>,
}

impl Sums {
    /// Sums over the owners of so many points; 0 if they do not matter.
    fn new(area: usize) -> Sums {
        Sums {
            weight: 0.0,
            result: 0.0,
            no_result: 0.0,
            lead: 0.0,
            score: 0.0,
            score_square: 0.0,
            owners: vec![0.0; area],
            owner_squares: vec![0.0; area],
        }
    }

    fn add(&mut self, outlook: &Outlook, owners: &[i8], weight: f64) {
        self.weight += weight;
        self.result += weight * f64::from(outlook.result);
        self.no_result += weight * f64::from(outlook.no_result);
        self.lead += weight * f64::from(outlook.lead);
        self.score += weight * f64::from(outlook.score_mean);
        self.score_square += weight * f64::from(outlook.score_mean_square);
        let weight = weight as f32;
        for ((sum, square), &owner) in self.owners.iter_mut().zip(&mut self.owner_squares).zip(owners) {
            let owner = f32::from(owner) / f32::from(i8::MAX);
            *sum += weight * owner;
            *square += weight * owner * owner;
        }
    }

    /// The result and the utility are those of the search, which weighs evaluations.
    fn expectation(&self, known: &Means) -> Expectation {
        let weight = if self.weight > 0.0 { self.weight } else { 1.0 };
        let mean = |sum: f64| (sum / weight) as f32;
        let score = self.score / weight;
        let weight = weight as f32;
        let owners: Vec<f32> = self.owners.iter().map(|sum| (sum / weight).clamp(-1.0, 1.0)).collect();
        let deviation = |(mean, square): (&f32, &f32)| (square / weight - mean * mean).max(0.0).sqrt();
        Expectation {
            result: if known.weight > 0.0 { known.result } else { mean(self.result) },
            no_result: mean(self.no_result),
            lead: mean(self.lead),
            score_mean: score as f32,
            score_stdev: (self.score_square / weight_of(self.weight) - score * score).max(0.0).sqrt() as f32,
            utility: known.utility,
            owners_stdev: owners.iter().zip(&self.owner_squares).map(deviation).collect(),
            owners,
        }
    }
}

fn weight_of(weight: f64) -> f64 {
    if weight > 0.0 { weight } else { 1.0 }
}

/// Turns what a search knows into an answer.
struct Teller<'t> {
    table: &'t NodeTable,
    outlooks: &'t Outlooks,
    game: &'t Game,
    policy: &'t [(Move, f32)],
    priors: &'t [(Move, f32)],
    people: Option<&'t PeopleView>,
    images: &'t [Image],
    restriction: &'t Restriction,
    wishes: Wishes,
    utility_most: f32,
}

/// Positions with a smaller share of the root's visits are represented by the first position of their line alone, so that
/// telling takes milliseconds, however long the search was.
const LEAST_SHARE: f64 = 1.0 / 5000.0;

/// The longest line that is followed: a cycle must end.
const LONGEST: u32 = 400;

/// Standard errors on each side of a value.
const RADIUS_STDEVS: f32 = 5.0;

impl Teller<'_> {
    /// `None` if nothing is known yet.
    fn tell(&self, report: &SearchReport) -> Option<Analysis> {
        let (game, size) = (self.game, self.game.size());
        let root = self.table.find(game.graph_key())?;
        let (raw, _) = self.outlooks.read(game.graph_key())?;
        let area = |wanted| if wanted { size.area() } else { 0 };
        let mut all = Sums::new(area(self.wishes.ownership));
        self.gather(root, 1.0, 0, &mut all);
        let mut moves = Vec::new();
        for entry in sorted(report) {
            let is_searched = entry.visits > 0 || entry.node_visits > 0;
            if !is_searched || !self.restriction.permits(report.to_move, entry.mv, 0) {
                continue;
            }
            let mut edges = self.table.edges(self.table.node(root));
            let Some(child) = edges.find(|edge| edge.mv() == entry.mv).and_then(|edge| edge.child()) else {
                continue;
            };
            let mut sums = Sums::new(area(self.wishes.moves_ownership));
            self.gather(child, 1.0, 0, &mut sums);
            if sums.weight <= 0.0 {
                // Its first evaluation is still under way.
                continue;
            }
            let radius = match entry.node_visits {
                0 | 1 => 2.5 * self.utility_most,
                _ => RADIUS_STDEVS * entry.utility_error,
            };
            let means = self.table.node(child).means();
            let share = entry.visits as f32 / entry.node_visits.max(1) as f32;
            let original = MoveAnalysis {
                prior: probability(self.priors, entry.mv),
                human_prior: self.human_prior(entry.mv),
                expectation: sums.expectation(&means),
                weights: [means.weight, means.weight * share],
                utility_radius: radius,
                symmetry_of: None,
                report: entry.clone(),
            };
            let copies = self.images.iter().filter(|(_, of, _)| *of == entry.mv);
            let copies: Vec<_> = copies.map(|image| copy(&original, size, image)).collect();
            moves.push(original);
            moves.extend(copies);
        }
        Some(Analysis {
            size,
            to_move: report.to_move,
            visits: report.visits,
            weight: self.table.node(root).means().weight,
            root: all.expectation(&self.table.node(root).means()),
            raw,
            moves,
            policy: self.policy.to_vec(),
            people: self.people.cloned(),
            utility_most: self.utility_most,
            hashes: hashes(game),
        })
    }

    fn human_prior(&self, mv: Move) -> Option<f32> {
        let size = self.game.size();
        let people = self.people?;
        Some(match mv {
            Move::Play(point) => people.prediction.policy[crate::net::input::index(size, point)],
            Move::Pass => people.prediction.pass,
        })
    }

    /// Adds what was found behind a node, with a share of the visits that are summed up.
    fn gather(&self, id: NodeId, share: f64, depth: u32, sums: &mut Sums) {
        let node = self.table.node(id);
        let edges = self.table.edges(node).filter(|edge| edge.visits() > 0);
        let below: u32 = edges.clone().map(|edge| edge.visits()).sum();
        let own = node.own_visits();
        let is_end = below == 0 || share < LEAST_SHARE || depth >= LONGEST;
        let total = f64::from(own) + f64::from(below);
        let own_share = if is_end { share } else { share * f64::from(own) / total };
        if own_share > 0.0
            && let Some((outlook, owners)) = self.outlooks.read(node.key())
        {
            sums.add(&outlook, &owners, own_share);
        }
        if !is_end {
            for edge in edges {
                if let Some(child) = edge.child() {
                    self.gather(child, share * f64::from(edge.visits()) / total, depth + 1, sums);
                }
            }
        }
    }
}

/// The best move first, then by visits and prior.
fn sorted(report: &SearchReport) -> Vec<&MoveReport> {
    let mut moves: Vec<&MoveReport> = report.moves.iter().collect();
    if let Some((_, others)) = moves.split_first_mut() {
        others.sort_by(|a, b| {
            let by_visits = b.visits.cmp(&a.visits);
            b.merit.total_cmp(&a.merit).then(by_visits).then(b.prior.merit().total_cmp(&a.prior.merit()))
        });
    }
    moves
}

fn probability(moves: &[(Move, f32)], mv: Move) -> f32 {
    moves.iter().find(|(known, _)| *known == mv).map_or(0.0, |&(_, prior)| prior)
}

/// The image of a move and of everything that is known of it.
fn copy(original: &MoveAnalysis, size: BoardSize, &(image, of, symmetry): &Image) -> MoveAnalysis {
    let to = |mv: &Move| match *mv {
        Move::Play(point) => Move::Play(symmetry.apply(size, point)),
        Move::Pass => Move::Pass,
    };
    let turned = |owners: &[f32]| -> Vec<f32> {
        let mut image = owners.to_vec();
        for (point, &owner) in size.points().zip(owners) {
            let to = symmetry.apply(size, point);
            image[to.row() * size.columns() + to.column()] = owner;
        }
        image
    };
    let mut copy = original.clone();
    copy.symmetry_of = Some(of);
    copy.report.mv = image;
    copy.report.variation = original.report.variation.iter().map(to).collect();
    copy.expectation.owners = turned(&original.expectation.owners);
    copy.expectation.owners_stdev = turned(&original.expectation.owners_stdev);
    copy
}

fn hashes(game: &Game) -> [Key; 2] {
    let board = game.board();
    let zobrist = board.zobrist();
    let side = zobrist.side(game.to_move());
    let ko = board.ko().map(|(point, _)| point);
    let plain = ko.map_or(Key::default(), |point| zobrist.ko(point));
    let images = Symmetry::of(board.size()).zip(board.symmetric_keys()).map(|(symmetry, key)| {
        key ^ ko.map_or(Key::default(), |point| zobrist.ko(symmetry.apply(board.size(), point)))
    });
    let least = images.min().unwrap_or(board.key());
    [board.key() ^ plain ^ side, least ^ side]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Point;
    use crate::net::random::{self, Options};
    use crate::rules::Rules;

    fn network(has_metadata_encoder: bool) -> Arc<Network> {
        let options = Options { version: 15, has_metadata_encoder, seed: 3, ..Options::default() };
        Arc::new(random::network(&options).unwrap())
    }

    fn game() -> Game {
        let mut game = Game::new(BoardSize::new(5, 4).unwrap(), Rules::default(), 6.5);
        for (color, column, row) in [(Color::Black, 2, 1), (Color::White, 1, 2), (Color::Black, 3, 3)] {
            game.play(color, Move::Play(Point::new(column, row))).unwrap();
        }
        game
    }

    fn with(change: impl FnOnce(&mut AnalystSettings)) -> AnalystSettings {
        let mut settings = AnalystSettings {
            limits: Limits { visits: Some(50), ..Limits::default() },
            ..Default::default()
        };
        change(&mut settings);
        settings
    }

    fn analyze(analyst: &mut Analyst, game: &Game, settings: &AnalystSettings) -> Analysis {
        let question = Question {
            game,
            settings,
            restriction: &Restriction::NONE,
            wishes: Wishes { ownership: true, moves_ownership: true },
            interrupted: &|| false,
            reports: None,
        };
        analyst.analyze(&question).expect("not interrupted")
    }

    fn analyst() -> Analyst {
        Analyst::new(network(false), None, with(|_| {}).network, 2, 4)
    }

    /// A tree, so that visits of nodes are those of edges.
    #[test]
    fn the_root_is_the_mean_of_itself_and_its_moves() {
        let settings = with(|it| it.sharing = Sharing::Tree);
        let analysis = analyze(&mut analyst(), &game(), &settings);
        assert_eq!(analysis.visits, 50);
        let visits = |entry: &MoveAnalysis| f64::from(entry.report.visits);
        assert_eq!(1.0 + analysis.moves.iter().map(visits).sum::<f64>(), 50.0);
        let mean = |own: f32, of: &dyn Fn(&Expectation) -> f32| {
            let sum: f64 = analysis.moves.iter().map(|it| visits(it) * f64::from(of(&it.expectation))).sum();
            ((sum + f64::from(own)) / 50.0) as f32
        };
        let near = |found: f32, wanted: f32| assert!((found - wanted).abs() < 1e-4, "{found} {wanted}");
        near(analysis.root.lead, mean(analysis.raw.lead, &|it| it.lead));
        near(analysis.root.score_mean, mean(analysis.raw.score_mean, &|it| it.score_mean));
        // Without weights, corrections and points, the value is the same mean.
        let plain = with(|it| {
            it.sharing = Sharing::Tree;
            it.search.value_weight_exponent = Some(0.0);
            it.search.use_noise_pruning = Some(false);
            it.search.use_uncertainty = Some(false);
            it.search.subtree_value_bias_factor = Some(0.0);
            it.search.static_score_utility_factor = Some(0.0);
            it.search.dynamic_score_utility_factor = Some(0.0);
        });
        let analysis = analyze(&mut analyst(), &game(), &plain);
        near(analysis.root.utility, analysis.root.result);
        let sum: f64 = analysis.moves.iter().map(|it| visits(it) * f64::from(it.expectation.result)).sum();
        near(analysis.root.result, ((sum + f64::from(analysis.raw.result)) / 50.0) as f32);
        let sum: f32 = analysis.policy.iter().map(|&(_, prior)| prior).sum();
        near(sum, 1.0);
    }

    #[test]
    fn one_visit_is_what_the_network_says_and_the_same_question_gets_the_same_answer() {
        let mut analyst = analyst();
        let one = with(|it| it.limits.visits = Some(1));
        let analysis = analyze(&mut analyst, &game(), &one);
        assert_eq!((analysis.visits, analysis.moves.len()), (1, 0));
        assert!((analysis.root.result - analysis.raw.result).abs() < 1e-6);
        assert!(analysis.root.owners_stdev.iter().all(|&it| it < 1e-2));
        let [first, _, again] = [50, 20, 50]
            .map(|visits| analyze(&mut analyst, &game(), &with(|it| it.limits.visits = Some(visits))));
        assert_eq!(first.moves, again.moves);
        assert_eq!(first.root, again.root);
    }

    #[test]
    fn a_finished_game_is_analysed_as_if_play_went_on() {
        let mut over = game();
        for color in [Color::White, Color::Black] {
            over.play(color, Move::Pass).unwrap();
        }
        let analysis = analyze(&mut analyst(), &over, &with(|_| {}));
        assert!(analysis.moves.len() > 1 && analysis.visits == 50);
    }

    #[test]
    fn settings_of_the_network_have_evaluators_of_their_own_but_not_without_end() {
        let mut analyst = analyst();
        let usual = analyze(&mut analyst, &game(), &with(|_| {}));
        for number in 1..=10 {
            let advantage = with(|it| it.network.black_doubling_advantage = number as f32 / 4.0);
            let told = analyze(&mut analyst, &game(), &advantage);
            assert_ne!(told.raw, usual.raw);
        }
        assert!(lock(&analyst.shared.evaluators).len() <= 1 + OTHERS_MOST);
        assert_eq!(analyze(&mut analyst, &game(), &with(|_| {})).raw, usual.raw);
    }

    #[test]
    fn temperature_and_width_change_what_is_looked_at_and_not_the_policy() {
        let mut analyst = analyst();
        let usual = analyze(&mut analyst, &game(), &with(|it| it.wide_root_noise = 0.0));
        let hot = analyze(&mut analyst, &game(), &with(|it| it.root_policy_temperature = 100.0));
        let wide = analyze(&mut analyst, &game(), &with(|it| it.wide_root_noise = 5.0));
        assert!(usual.policy == hot.policy && usual.policy == wide.policy);
        let spread = |it: &Analysis| it.moves.iter().map(|it| it.prior).fold(0.0, f32::max);
        assert!(spread(&hot) < spread(&usual));
        // Chance decides what is looked at, and the same question gets the same answer.
        let again = analyze(&mut analyst, &game(), &with(|it| it.wide_root_noise = 5.0));
        let visits =
            |it: &Analysis| it.moves.iter().map(|it| (it.report.mv, it.report.visits)).collect::<Vec<_>>();
        assert_ne!(visits(&wide), visits(&usual));
        assert_eq!(visits(&wide), visits(&again));
    }

    #[test]
    fn a_mirrored_game_is_broken_at_the_centre() {
        let size = BoardSize::square(9).unwrap();
        let mut mirror = Game::new(size, Rules::default(), 7.0);
        for index in 0..14 {
            mirror.play(Color::Black, Move::Play(Point::new(index % 9, index / 9))).unwrap();
            mirror.play(Color::White, Move::Play(Point::new(8 - index % 9, 8 - index / 9))).unwrap();
        }
        let mut analyst = analyst();
        let center = Move::Play(Point::new(4, 4));
        let mut visits = |wanted: bool| {
            let analysis = analyze(&mut analyst, &mirror, &with(|it| it.anti_mirror = wanted));
            let found = analysis.moves.iter().find(|it| it.report.mv == center);
            (found.map_or(0, |it| it.report.visits), analysis.visits)
        };
        let ((without, _), (with, all)) = (visits(false), visits(true));
        assert!(10 * with >= 3 * all - 10 && with > 2 * without, "{with} and {without} of {all}");
    }

    #[test]
    fn people_are_told_if_there_is_a_profile_and_looked_at_if_that_is_wanted() {
        let profile = "rank_5k".parse().ok();
        for (own, human) in [(network(false), Some(network(true))), (network(true), None)] {
            let mut analyst = Analyst::new(own, human, with(|_| {}).network, 2, 4);
            let unknown = analyze(&mut analyst, &game(), &with(|_| {}));
            assert!(unknown.people.is_none() && unknown.moves.iter().all(|it| it.human_prior.is_none()));
            let known = analyze(&mut analyst, &game(), &with(|it| it.network.profile = profile));
            let people = known.people.expect("a prediction");
            let sum: f32 = people.priors(known.size).map(|(_, prior)| prior).sum();
            assert!((sum - 1.0).abs() < 1e-4, "{sum}");
            assert!(known.moves.iter().all(|it| it.human_prior.is_some()));
            let likeliest = people.priors(known.size).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(mv, _)| mv);
            let explored = analyze(
                &mut analyst,
                &game(),
                &with(|it| {
                    it.network.profile = profile;
                    it.human.root_weightful = 0.9;
                    it.human.cpuct_permanent = 2.0;
                }),
            );
            assert!(explored.moves.iter().any(|it| Some(it.report.mv) == likeliest));
            // What people do further on changes what is expected, and of whom it is said matters.
            let expecting = |analyst: &mut Analyst, own: f32, opponent: f32| {
                let settings = with(|it| {
                    it.network.profile = profile;
                    it.human.own.weightful = own;
                    it.human.opponent.weightful = opponent;
                    it.human.cpuct_permanent = 2.0;
                });
                format!("{:?}", analyze(analyst, &game(), &settings).root)
            };
            let found = [(0.0, 0.0), (0.9, 0.0), (0.0, 0.9)]
                .map(|(own, opponent)| expecting(&mut analyst, own, opponent));
            assert_eq!(found[0], format!("{:?}", known.root));
            assert!(found[0] != found[1] && found[1] != found[2] && found[0] != found[2], "{found:?}");
            assert_eq!(found[2], expecting(&mut analyst.clone(), 0.0, 0.9), "no chance is in it");
        }
    }

    #[test]
    fn images_of_a_symmetric_position_are_copies() {
        let size = BoardSize::square(5).unwrap();
        let empty = Game::new(size, Rules::default(), 6.5);
        let analysis = analyze(&mut analyst(), &empty, &with(|_| {}));
        let copies = analysis.moves.iter().filter(|it| it.symmetry_of.is_some());
        assert!(copies.clone().count() > 0);
        for copy in copies {
            let original = analysis.moves.iter().find(|it| Some(it.report.mv) == copy.symmetry_of).unwrap();
            assert_eq!(original.report.visits, copy.report.visits);
            // What it owns at its own point is what the original owns at its.
            let at = |it: &MoveAnalysis| {
                let point = it.report.mv.point().unwrap();
                it.expectation.owners[point.row() * size.columns() + point.column()]
            };
            assert_eq!(at(original), at(copy));
        }
        let hashes = |symmetry: Symmetry| {
            let mut game = empty.clone();
            game.play(Color::Black, Move::Play(symmetry.apply(size, Point::new(1, 3)))).unwrap();
            hashes(&game)
        };
        let [first, other] = [Symmetry::ALL[0], Symmetry::ALL[5]].map(hashes);
        assert!(first[1] == other[1] && first[0] != other[0]);
    }
}

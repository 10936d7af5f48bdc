//! Playing of a game.

use super::noise;
use super::record::{Ending, OffPolicyTurn, PlayedGame, PositionTargets, Turn};
use super::settings::{MAX_MOVES_PER_POINT, MIN_TEMPERATURE, Settings};
use crate::training::{OffPolicyGenerator, move_index, move_of, owner_rows};
use kosumi_engine::{Engine, EngineSettings, SearchRequest};
use kosumi_go::board::{BoardSize, Move, Symmetry};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_net::{Network, NotFinite, Prediction};
use kosumi_search::{Limits, SearchReport};
use std::sync::Arc;

/// Memory of an engine, in MiB. Games have few visits, and several are played at the same time.
const MEMORY_MEBIBYTES: usize = 32;
/// Divisor of the visits in turns that do not become training positions.
const FAST_DIVISOR: u32 = 8;
/// Minimum visits of a search.
const MIN_VISITS: u32 = 2;

/// Number of consecutive turns with a decided result after which a game gets fewer visits.
const DECIDED_TURNS: u32 = 3;
/// Divisors of the visits and of the share of training positions in decided games.
const DECIDED_VISITS_DIVISOR: u32 = 4;
const DECIDED_SHARE_DIVISOR: u32 = 10;

/// Error: neither a network nor a search chooses moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("without a search (0 visits) a network is needed")]
pub struct NoNetwork;

/// Plays games against itself, one after the other.
#[derive(Debug)]
pub struct Player {
    settings: Settings,
    engine: Engine,
    has_network: bool,
    off_policy: OffPolicyGenerator,
}

/// Assessment of a position: moves with their shares of the policy, Black's expected result in `[-1, 1]`, and Black's
/// lead in points.
struct Assessment {
    policy: Vec<(Move, f32)>,
    value: f32,
    lead: f32,
}

impl Player {
    /// Creates a player with a network, or with playouts alone.
    ///
    /// # Errors
    ///
    /// Returns an error if there is neither a network nor a search.
    pub fn new(settings: Settings, network: Option<Arc<Network>>) -> Result<Player, NoNetwork> {
        let has_network = network.is_some();
        if settings.visits == 0 && !has_network {
            return Err(NoNetwork);
        }
        let engine = EngineSettings {
            threads: 1,
            memory_mebibytes: MEMORY_MEBIBYTES,
            resign: None,
            ..EngineSettings::default()
        };
        let engine = Engine::with_network(engine, network);
        Ok(Player { settings, engine, has_network, off_policy: OffPolicyGenerator::default() })
    }

    /// Plays the game with the given number.
    ///
    /// # Errors
    ///
    /// Returns an error if the output of the network is not finite.
    pub fn play(&mut self, number: u32) -> Result<PlayedGame, NotFinite> {
        let mut rng = Rng::for_worker(self.settings.seed, number as usize);
        let (size, rules) = self.settings.draw(&mut rng);
        self.engine.set_game(Game::new(size, rules, rules.usual_komi()));
        self.engine.forget();
        self.engine.set_seed(rng.next_u64());

        let handicap = self.settings.handicap_stones(size, &mut rng);
        if !handicap.is_empty()
            && let Ok(game) = self.engine.game().with_handicap(&handicap)
        {
            self.engine.set_game(game);
        }

        let opening = self.opening(size, &mut rng)?;
        let fair = self.engine.game().komi() + self.without_search(&mut rng)?.lead;
        let komi = match handicap.is_empty() {
            true => self.settings.komi(fair, size.area(), &mut rng),
            false => self.settings.handicap_komi(fair, size.area(), &mut rng),
        };
        self.engine.set_komi(komi);

        let mut turns = Vec::new();
        let mut off_policy = Vec::new();
        if self.settings.visits == 0 {
            // Without a search, positions of the opening are as good for training as others. They are evaluated now,
            // because the komi is known.
            self.add_targets(&opening, &mut turns, &mut rng)?;
        } else {
            turns.extend(opening.iter().map(|&mv| Turn { mv, targets: None }));
        }
        let mut decided = 0;
        while !self.engine.game().is_over() && turns.len() < MAX_MOVES_PER_POINT * size.area() {
            let is_decided = decided >= DECIDED_TURNS;
            let is_for_training = rng.chance(self.settings.training_share)
                && (!is_decided || rng.below(DECIDED_SHARE_DIVISOR) == 0);
            let mut visits = self.visits(is_for_training);
            if is_decided {
                visits /= DECIDED_VISITS_DIVISOR;
            }
            let assessment = self.assess(visits, is_for_training, &mut rng)?;
            let is_clear = self.resigns_softly() && assessment.value.abs() >= self.settings.soft_resign;
            decided = if is_clear { decided + 1 } else { 0 };
            let mv = pick(&assessment.policy, self.temperature(size, turns.len()), &mut rng);
            let targets =
                is_for_training.then(|| PositionTargets::new(size, &assessment.policy, assessment.value));
            if is_for_training && rng.chance(self.settings.off_policy) {
                off_policy.extend(self.off_policy_turn(turns.len() as u16, &mut rng)?);
            }
            if is_for_training && self.settings.visits > 0 {
                self.add_tree_turns(turns.len() as u16, &mut off_policy, &mut rng);
            }
            turns.push(Turn { mv: move_index(size, mv), targets });
            self.play_move(mv);
        }
        let opening = opening.len() as u16;
        let rules = rules.to_string();
        let (columns, rows) = (size.columns() as u8, size.rows() as u8);
        let ending = self.ending();
        let handicap = handicap.into_iter().map(|point| move_index(size, Move::Play(point))).collect();
        let size = (columns, rows);
        Ok(PlayedGame { number, size, rules, komi, handicap, opening, turns, off_policy, ending })
    }

    /// Plays the opening. Returns its moves.
    fn opening(&mut self, size: BoardSize, rng: &mut Rng) -> Result<Vec<u16>, NotFinite> {
        let longest = (2.0 * self.settings.opening.max(0.0) * size.area() as f32).round() as u32;
        let mut moves = Vec::new();
        for _ in 0..rng.below(longest.saturating_add(1)) {
            let game = self.engine.game();
            let is_random = !self.has_network || rng.chance(self.settings.off_policy);
            let random = if is_random { self.off_policy.point(game, rng).map(Move::Play) } else { None };
            let mv = match random {
                Some(mv) => mv,
                None if !self.has_network => break,
                None => pick(&self.without_search(rng)?.policy, 1.0, rng),
            };
            if mv == Move::Pass {
                break;
            }
            moves.push(move_index(size, mv));
            self.play_move(mv);
        }
        Ok(moves)
    }

    /// Replays the opening, and evaluates some of the positions with the network as training targets.
    fn add_targets(&mut self, moves: &[u16], turns: &mut Vec<Turn>, rng: &mut Rng) -> Result<(), NotFinite> {
        while self.engine.undo() {}
        let size = self.engine.game().size();
        for &mv in moves {
            let targets = match rng.chance(self.settings.training_share) {
                true => {
                    let assessment = self.without_search(rng)?;
                    Some(PositionTargets::new(size, &assessment.policy, assessment.value))
                }
                false => None,
            };
            turns.push(Turn { mv, targets });
            if let Some(mv) = move_of(size, mv) {
                self.play_move(mv);
            }
        }
        Ok(())
    }

    /// Searches an off-policy position. Returns `None` if there is no such position.
    fn off_policy_turn(&mut self, ply: u16, rng: &mut Rng) -> Result<Option<OffPolicyTurn>, NotFinite> {
        let game = self.engine.game().clone();
        let size = game.size();
        let Some((position, moves)) = self.off_policy.off_policy_position(&game, rng) else {
            return Ok(None);
        };
        self.engine.set_game(position);
        let assessment = self.assess(self.visits(true), true, rng);
        self.engine.set_game(game);
        let assessment = assessment?;
        let moves = moves.into_iter().map(|mv| move_index(size, mv)).collect();
        Ok(Some(OffPolicyTurn {
            ply,
            moves,
            targets: PositionTargets::new(size, &assessment.policy, assessment.value),
        }))
    }

    /// Adds distinct positions from the tree of the last search.
    fn add_tree_turns(&self, ply: u16, off_policy: &mut Vec<OffPolicyTurn>, rng: &mut Rng) {
        let (game, search) = (self.engine.game(), self.engine.search());
        let size = game.size();
        let first = off_policy.len();
        for _ in 0..self.settings.tree {
            let mut position = game.clone();
            let moves = search.sample_path(game, rng);
            // Nodes are shared between paths, so superko may forbid a move on this path.
            let is_valid = moves.iter().all(|&mv| position.play(position.to_move(), mv).is_ok());
            let moves: Vec<_> = moves.into_iter().map(|mv| move_index(size, mv)).collect();
            let is_known = off_policy[first..].iter().any(|turn| turn.moves == moves);
            if !is_valid || is_known || moves.is_empty() || position.is_over() {
                continue;
            }
            let Some(report) = search.report(&position) else { continue };
            let found = Assessment::found(&report);
            let targets = PositionTargets::new(size, &found.policy, found.value);
            off_policy.push(OffPolicyTurn { ply, moves, targets });
        }
    }

    fn play_move(&mut self, mv: Move) {
        let color = self.engine.game().to_move();
        let played = self.engine.play(color, mv);
        debug_assert!(played.is_ok(), "{color} {mv}");
    }

    /// Returns whether decided games get fewer visits. Without a search there is nothing to save.
    fn resigns_softly(&self) -> bool {
        self.settings.visits > 0 && self.settings.soft_resign < 1.0
    }

    /// Returns the number of visits of a search, for training or for play only.
    fn visits(&self, is_for_training: bool) -> u32 {
        if is_for_training { self.settings.visits } else { self.settings.visits / FAST_DIVISOR }
    }

    /// Assesses a position, for training or for play only.
    fn assess(&mut self, visits: u32, is_for_training: bool, rng: &mut Rng) -> Result<Assessment, NotFinite> {
        if self.has_network && (visits < MIN_VISITS || self.settings.visits == 0) {
            return self.without_search(rng);
        }
        Ok(self.search(visits.max(MIN_VISITS), is_for_training, rng))
    }

    /// Returns the policy and value of the network itself or, without a network, the result of a short search.
    fn without_search(&mut self, rng: &mut Rng) -> Result<Assessment, NotFinite> {
        let size = self.engine.game().size();
        let symmetries = if size.is_square() { 8 } else { 4 };
        let symmetry = Symmetry::ALL[rng.below(symmetries) as usize];
        // Optimism 0: the policy that the network expects to be played.
        match self.engine.predict(self.engine.game().to_move(), symmetry, 0.0) {
            Some(prediction) => Ok(Assessment::predicted(size, &prediction?)),
            None => Ok(self.search(self.settings.visits.max(MIN_VISITS), false, rng)),
        }
    }

    fn search(&mut self, visits: u32, is_for_training: bool, rng: &mut Rng) -> Assessment {
        let color = self.engine.game().to_move();
        let limits = Limits { visits: Some(visits), ..Limits::default() };
        let noise = (is_for_training && self.has_network && self.settings.noise.is_on())
            .then(|| noise::draw(&self.settings.noise, &self.engine.priors(), rng));
        let is_noisy = noise.is_some();
        let request = SearchRequest { noise, ..SearchRequest::new(&|| false) };
        let report = self.engine.analyze(color, &limits, request);
        if is_noisy { Assessment::without_noise(report) } else { Assessment::found(report) }
    }

    fn temperature(&self, size: BoardSize, ply: usize) -> f32 {
        let halvings = ply as f32 / size.columns().max(size.rows()) as f32;
        (self.settings.temperature * (-halvings).exp2()).max(MIN_TEMPERATURE)
    }

    /// Returns the score and the owners, or `None` if the game is not over.
    fn ending(&mut self) -> Option<Ending> {
        if !self.engine.game().is_over() {
            return None;
        }
        let size = self.engine.game().size();
        let status = self.engine.final_status();
        let letter = |owner: i8| match owner {
            1.. => '#',
            0 => '.',
            _ => 'O',
        };
        let owners = owner_rows(size, &status.owner).into_iter().map(letter).collect();
        Some(Ending { score: status.score, owners })
    }
}

impl Assessment {
    fn predicted(size: BoardSize, prediction: &Prediction) -> Assessment {
        let points = (0u16..).zip(&prediction.policy);
        let mut policy: Vec<_> = points
            .filter(|&(_, &share)| share > 0.0)
            .filter_map(|(index, &share)| Some((move_of(size, index)?, share)))
            .collect();
        policy.push((Move::Pass, prediction.pass));
        Assessment { policy, value: prediction.value(), lead: prediction.lead }
    }

    /// Returns an assessment by the merit of moves, without visits due to noise or forced visits: policy target
    /// pruning. Moves with a merit of 1 or less are dropped, except for the best move, because a single visit is due to
    /// chance.
    /// CITE: Wu (2019), 3.2.
    fn without_noise(report: &SearchReport) -> Assessment {
        let most = report.moves.iter().map(|entry| entry.merit).fold(0.0, f32::max);
        if most <= 0.0 {
            return Assessment::found(report);
        }
        let known = report.moves.iter().filter(|entry| entry.merit > 1.0 || entry.merit == most);
        let policy = known.map(|entry| (entry.mv, entry.merit)).collect();
        Assessment { policy, value: report.value, lead: report.score }
    }

    /// Returns an assessment by the visits of moves, or by their priors if none is visited.
    fn found(report: &SearchReport) -> Assessment {
        let share = |visits: bool| {
            let moves = report.moves.iter();
            moves.map(move |entry| {
                (entry.mv, if visits { entry.visits as f32 } else { entry.prior.probability() })
            })
        };
        let is_visited = report.moves.iter().any(|entry| entry.visits > 0);
        Assessment { policy: share(is_visited).collect(), value: report.value, lead: report.score }
    }
}

/// Draws a move with probabilities proportional to shares^(1 / temperature). A pass is never drawn, but is returned if
/// it is the best move, because two passes end the game.
fn pick(policy: &[(Move, f32)], temperature: f32, rng: &mut Rng) -> Move {
    let Some(&(best, most)) = policy.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { return Move::Pass };
    if best == Move::Pass || most <= 0.0 {
        return best;
    }
    let weight = |&(mv, share): &(Move, f32)| match mv {
        Move::Pass => 0.0,
        Move::Play(_) => f64::from((share / most).powf(1.0 / temperature)),
    };
    let total: f64 = policy.iter().map(weight).sum();
    let mut left = rng.unit() * total;
    for entry in policy {
        left -= weight(entry);
        if left < 0.0 && weight(entry) > 0.0 {
            return entry.0;
        }
    }
    best
}

//! Signatures of the search: hashes over the results of searches of fixed positions with a fixed seed, a fixed number of
//! simulations and one thread.
//!
//! They are the same on every machine and change with the behaviour of the search. `kosumi bench` prints them, and the
//! tests of the engine in WebAssembly compare them.

use super::EngineEvaluator;
use kosumi_eval::{NetworkEvaluator, NetworkSettings};
use kosumi_go::board::{BoardSize, Move, Point};
use kosumi_go::game::{Game, Line};
use kosumi_go::rng::mix;
use kosumi_go::rules::Rules;
use kosumi_net::{ArithmeticChoice, Features, Input, Kernel, Network, Precision};
use kosumi_search::{Limits, Search, SearchContext, SearchParams, SearchReport};
use std::sync::Arc;
use std::time::Duration;

/// Memory of each search, in MiB. No search fills it, so it does not change the results.
const MEBIBYTES: usize = 64;
/// Seed of each search.
pub const SEED: u64 = 1;
/// Komi of each position.
const KOMI: f32 = 7.5;

/// Positions of the signature by playouts: board size, moves from the empty board, number of playouts.
pub const POSITIONS: [(usize, &str, u32); 6] = [
    (9, "", 2000),
    (9, FIGHT_9, 2000),
    (13, "", 1000),
    (13, FIGHT_13, 1000),
    (19, "", 500),
    (19, OPENING_19, 500),
];

const FIGHT_9: &str = "f4 h8 j8 j7 h6 d3 h7 d5 d4 c4 e4 e3 c3 b3 c2 b2 b4 c5 f3 e2 f2 d2 c1 b1 g8 d7 d6 e6";
const FIGHT_13: &str = "d4 k10 k4 d10 g7 c6 c7 d7 c8 d6 c5 b6 b5 a6 l9 l10 k9 j9 j8 h9";
const OPENING_19: &str =
    "q16 d4 q3 d16 f17 d14 k17 r14 r15 q14 o16 q10 r5 f3 c10 d9 c9 d8 c14 c13 d13 c15 b14 e14";

/// Positions of the signature with a network: columns, rows, name of the rules, moves, number of playouts.
const NETWORK_POSITIONS: [(usize, usize, &str, &str, u32); 10] = [
    (9, 9, "chinese-kgs", "", 120),
    (9, 9, "japanese", FIGHT_9, 120),
    (9, 9, "aga", "e5 c7 g7 pass c3", 80),
    (5, 5, "new-zealand", "c3 c2 d2 d3 b2 c4 b3 b4", 120),
    (7, 7, "tromp-taylor", "d4 d5 c5 c4 e5 d6 d3 e4 c6 b4", 120),
    (9, 6, "stone-scoring", "c3 g4 g3", 80),
    (13, 13, "cgos", FIGHT_13, 60),
    (13, 13, "korean", "d4 k10 k4 d10", 40),
    (19, 19, "chinese", "", 30),
    (19, 19, "japanese", OPENING_19, 30),
];

/// Returns a hash over the results of searches by playouts.
pub fn by_playouts() -> u64 {
    let mut hash = Hash::default();
    for (side, moves, count) in POSITIONS {
        let (size, evaluator) = (size(side, side), EngineEvaluator::Playouts(Box::default()));
        let mut search = Search::new(evaluator, SearchParams::for_playouts(size), MEBIBYTES, 1);
        let report = search_by_count(&mut search, &position(size, Rules::default(), moves), count);
        hash.add_report(&report, &[report.usage.nodes, report.usage.edges]);
    }
    hash.0
}

/// Returns a hash over the results of searches by PUCT with a network on a kernel with 32-bit floating-point numbers.
/// `kosumi bench` prints it for the small built-in network on the portable kernel.
///
/// # Panics
///
/// Panics if this processor does not support the kernel.
pub fn by_network(network: Arc<Network>, kernel: Kernel) -> u64 {
    let arithmetic = ArithmeticChoice { kernel: Some(kernel), precision: Some(Precision::F32) };
    let settings = NetworkSettings { arithmetic, ..NetworkSettings::default() };
    let evaluator = NetworkEvaluator::new(network, settings, MEBIBYTES);
    let mut hash = Hash::default();
    for (columns, rows, rules, moves, count) in NETWORK_POSITIONS {
        let size = size(columns, rows);
        let rules = Rules::preset(rules).expect("a name of rules").rules;
        let evaluator = EngineEvaluator::Network(Box::new(evaluator.clone()));
        let params = evaluator.search_params(size);
        let mut search = Search::new(evaluator, params, MEBIBYTES, 1);
        let report = search_by_count(&mut search, &position(size, rules, moves), count);
        hash.add_report(&report, &[report.usage.nodes]);
    }
    hash.0
}

/// Runs a search of this number of simulations.
pub fn search_by_count(search: &mut Search<EngineEvaluator>, game: &Game, count: u32) -> SearchReport {
    let limits = Limits::playouts(count);
    let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
    search.run(game, SEED, &context)
}

/// Returns the position after these moves, which are separated by spaces, with a komi of 7.5.
///
/// # Panics
///
/// Panics if a word is not a move or if the move is illegal.
pub fn position(size: BoardSize, rules: Rules, moves: &str) -> Game {
    let mut game = Game::new(size, rules, KOMI);
    for word in moves.split_whitespace() {
        let mv = match word {
            "pass" => Move::Pass,
            _ => {
                let mut points = size.points();
                let point = points.find(|point| point.to_string().eq_ignore_ascii_case(word));
                Move::Play(point.unwrap_or_else(|| panic!("{word} is not a move")))
            }
        };
        game.play(game.to_move(), mv).unwrap_or_else(|error| panic!("{word}: {error}"));
    }
    game
}

/// Returns the network inputs of all positions of the longest of these games on this board size, for measurements of
/// speed. The first is the last position of the game.
pub fn inputs(size: BoardSize) -> Vec<Input> {
    let is_side = |side| size.is_square() && side == size.columns();
    let games = POSITIONS.iter().filter(|&&(side, _, _)| is_side(side));
    let moves = games.map(|&(_, moves, _)| moves).max_by_key(|moves| moves.len()).unwrap_or_default();
    let mut game = position(size, Rules::default(), moves);
    let mut features = Features::default();
    let mut inputs = Vec::new();
    loop {
        let mut input = Input::zero(1, 1);
        features.fill(&Line::new(&game), &mut input);
        inputs.push(input);
        if game.undo().is_none() {
            return inputs;
        }
    }
}

fn size(columns: usize, rows: usize) -> BoardSize {
    BoardSize::new(columns, rows).expect("a size")
}

#[derive(Default)]
struct Hash(u64);

impl Hash {
    fn add(&mut self, number: u64) {
        self.0 = mix(self.0.rotate_left(5) ^ number);
    }

    fn add_report(&mut self, report: &SearchReport, sizes: &[usize]) {
        self.add(report.best_move().point().map_or(0, |point: Point| point.index() as u64));
        self.add(u64::from(report.visits));
        sizes.iter().for_each(|&size| self.add(size as u64));
        for entry in &report.moves {
            self.add(u64::from(entry.visits));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_net::BuiltIn;

    // A commit that changes one of these numbers must state the reason.

    #[test]
    fn signature_by_playouts() {
        assert_eq!(by_playouts(), 1_529_216_488_982_968_749);
    }

    #[test]
    fn signature_by_network() {
        let network = Arc::new(Network::built_in(BuiltIn::Small).expect("a network"));
        assert_eq!(by_network(network, Kernel::Portable), 463_912_263_980_416_396);
    }
}

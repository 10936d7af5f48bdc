//! Special treatment of the root's moves: some need not be searched, and their probabilities may be evened out.

use super::params::RootParams;
use super::restriction::Restriction;
use kosumi_eval::Prior;
use kosumi_go::board::{Color, Move, PointSet, Symmetry};
use kosumi_go::game::{Game, Line};
use kosumi_go::safety;
use smallvec::SmallVec;

/// A move that is the image of another one: the image, the original, and the symmetry from the original to the image.
pub type Image = (Move, Move, Symmetry);

/// Returns the symmetries, except the identity, under which the position is its own image.
pub fn symmetries_of_itself(game: &Game) -> SmallVec<[Symmetry; 8]> {
    let board = game.board();
    // If ko or superko forbids a move, the board alone does not determine the symmetry.
    if board.ko().is_some() || !game.superko_banned(game.to_move()).is_empty() {
        return SmallVec::new();
    }
    let images = Symmetry::of(game.size()).zip(board.symmetric_keys());
    let own = images.filter(|&(symmetry, image)| image == board.key() && symmetry != Symmetry::ALL[0]);
    own.map(|(symmetry, _)| symmetry).collect()
}

/// Returns the moves that are images of others because the position is its own image under the symmetries `own`. In
/// each set of images, the first of `moves` stands for the others.
pub fn images(game: &Game, own: &[Symmetry], moves: &[Move]) -> Vec<Image> {
    let mut images: Vec<Image> = Vec::new();
    for &original in moves {
        let Move::Play(point) = original else { continue };
        if images.iter().any(|(image, ..)| *image == original) {
            continue;
        }
        for &symmetry in own {
            let image = Move::Play(symmetry.apply(game.size(), point));
            let is_new = image != original && images.iter().all(|(known, ..)| *known != image);
            if is_new && moves.contains(&image) {
                images.push((image, original, symmetry));
            }
        }
    }
    images
}

/// Number of consecutive passes after which the opponent is taken to consider the game over.
const PASSES: usize = 4;

/// Returns the points that are settled whatever happens, if the opponent has only passed for some time. Moves there
/// only keep the game from ending.
///
/// CITE: KataGo, `rootPruneUselessMoves`.
fn useless(game: &Game) -> PointSet {
    let opponent = game.to_move().opponent();
    let latest = game.records().iter().rev().filter(|record| record.color == opponent).take(PASSES);
    let passes = latest.filter(|record| record.mv == Move::Pass).count();
    if passes < PASSES {
        return PointSet::EMPTY;
    }
    let suicide = game.rules().suicide;
    let [mut settled, whites] =
        [Color::Black, Color::White].map(|color| safety::pass_alive(game.board(), color, suicide).territory);
    settled.union_with(&whites);
    settled
}

/// Returns whether the position has moves that [`pruned`] leaves out.
pub(super) fn may_be_pruned(game: &Game, params: &RootParams) -> bool {
    !own_symmetries(game, params).is_empty() || params.root_prune_useless_moves && !useless(game).is_empty()
}

/// Returns the board's symmetries, if the past does not matter either.
fn own_symmetries(game: &Game, params: &RootParams) -> SmallVec<[Symmetry; 8]> {
    match params.root_symmetry_pruning && Line::new(game).is_free_of_history() {
        true => symmetries_of_itself(game),
        false => SmallVec::new(),
    }
}

/// Returns the moves of `moves`, best first, that need not be searched. At least one move is left.
pub(super) fn pruned(game: &Game, params: &RootParams, moves: &[Move]) -> Vec<Move> {
    let own = own_symmetries(game, params);
    let mut pruned: Vec<Move> = images(game, &own, moves).into_iter().map(|(image, ..)| image).collect();
    if params.root_prune_useless_moves {
        let useless = useless(game);
        let points = moves.iter().filter_map(|mv| mv.point()).filter(|&point| useless.contains(point));
        pruned.extend(points.map(Move::Play));
    }
    if moves.iter().all(|mv| pruned.contains(mv)) {
        pruned.clear();
    }
    pruned
}

/// Returns the restriction with these moves forbidden at the root, too.
pub fn with_avoided(restriction: &Restriction, color: Color, moves: Vec<Move>) -> Restriction {
    let mut restriction = restriction.clone();
    restriction.avoid(color, moves, 1);
    restriction
}

/// Evens probabilities out by a temperature above 1, or sharpens them by one below; their sum stays 1. Other priors
/// stay.
pub fn temper(moves: &mut [(Move, Prior)], temperature: f32) {
    if temperature == 1.0 || moves.iter().any(|(_, prior)| matches!(prior, Prior::Games(_))) {
        return;
    }
    // `libm` gives the same result on every machine.
    let raised = |prior: &Prior| libm::powf(prior.probability(), 1.0 / temperature);
    let sum: f32 = moves.iter().map(|(_, prior)| raised(prior)).sum();
    if sum > 0.0 {
        moves.iter_mut().for_each(|(_, prior)| *prior = Prior::Probability(raised(prior) / sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::{Board, BoardSize, Point};
    use kosumi_go::rules::{KoRule, Rules};

    const USUAL: RootParams = RootParams::USUAL;

    fn play(column: usize, row: usize) -> Move {
        Move::Play(Point::new(column, row))
    }

    fn legal(game: &Game) -> Vec<Move> {
        let moves = game.size().points().map(Move::Play).chain([Move::Pass]);
        moves.filter(|&mv| game.check(game.to_move(), mv).is_ok()).collect()
    }

    #[test]
    fn one_of_symmetric_moves_is_left() {
        let mut game = Game::new(BoardSize::square(5).unwrap(), Rules::default(), 6.5);
        let moves = legal(&game);
        assert!(may_be_pruned(&game, &USUAL));
        let gone = pruned(&game, &USUAL, &moves);
        // Of 25 points, a triangle of six is left, and the pass.
        assert_eq!(gone.len(), 19);
        assert!(!gone.contains(&Move::Pass) && !gone.contains(&play(0, 0)) && gone.contains(&play(4, 4)));
        // The first move of each set stands for the others.
        let turned: Vec<Move> = moves.iter().rev().copied().collect();
        let gone = pruned(&game, &USUAL, &turned);
        assert!(gone.contains(&play(0, 0)) && !gone.contains(&play(4, 4)));
        let off = RootParams { root_symmetry_pruning: false, ..USUAL };
        assert!(!may_be_pruned(&game, &off) && pruned(&game, &off, &moves).is_empty());
        // One stone on a diagonal leaves one symmetry; another stone leaves none.
        game.play(Color::Black, play(1, 1)).unwrap();
        assert_eq!(pruned(&game, &USUAL, &legal(&game)).len(), 10);
        game.play(Color::White, play(2, 1)).unwrap();
        assert!(!may_be_pruned(&game, &USUAL));
    }

    #[test]
    fn relevant_history_disables_symmetry() {
        // After Black has taken a ko, the board may be its own image, but the legal moves are not symmetric.
        let board: Board = ". X O .\nX . X O\n. X O .".parse().unwrap();
        let rules = Rules { ko: KoRule::Positional, ..Rules::default() };
        let mut game = Game::from_board(board, Color::White, rules, 0.5);
        assert!(may_be_pruned(&game, &USUAL), "one half of the board is the image of the other");
        game.play(Color::White, play(1, 1)).unwrap();
        assert!(!may_be_pruned(&game, &USUAL), "White has taken");
    }

    #[test]
    fn settled_points_are_useless_after_four_passes() {
        let rows =
            [". . . . .", ". . . . .", "O O O O O", "O . . . O", "O O O O O", "O . O . O", "O O O O O"];
        let board: Board = rows.join("\n").parse().unwrap();
        let rules = Rules { ko: KoRule::Positional, friendly_pass: false, ..Rules::default() };
        let mut game = Game::from_board(board, Color::White, rules, 0.5);
        let off = RootParams { root_symmetry_pruning: false, ..USUAL };
        for (passes, column) in [0, 1, 3, 4].into_iter().enumerate() {
            assert!(!may_be_pruned(&game, &off), "after {passes} passes");
            game.play(Color::White, play(column, 6)).unwrap();
            game.play(Color::Black, Move::Pass).unwrap();
        }
        let gone = pruned(&game, &off, &legal(&game));
        assert!(may_be_pruned(&game, &off) && gone.contains(&play(2, 3)), "{gone:?}");
        assert!(!gone.contains(&Move::Pass));
        assert!(
            pruned(&game, &RootParams { root_prune_useless_moves: false, ..off }, &legal(&game)).is_empty()
        );
        assert!(pruned(&game, &off, &[play(2, 3)]).is_empty(), "at least one move is left");
    }

    #[test]
    fn temperatures_change_probabilities_and_nothing_else() {
        let moves = [(play(0, 0), Prior::Probability(0.64)), (play(1, 0), Prior::Probability(0.36))];
        let mut even = moves;
        temper(&mut even, 2.0);
        let near = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        near(even[0].1.probability(), 0.8 / 1.4);
        near(even[1].1.probability(), 0.6 / 1.4);
        let mut same = moves;
        temper(&mut same, 1.0);
        assert_eq!(same, moves);
        let mut games = [(play(0, 0), Prior::EVEN)];
        temper(&mut games, 2.0);
        assert_eq!(games[0].1, Prior::EVEN);
    }

    #[test]
    fn the_early_temperature_fades() {
        let params = RootParams { root_policy_temperature: 1.0, root_policy_temperature_early: 2.0, ..USUAL };
        let mut game = Game::new(BoardSize::square(4).unwrap(), Rules::default(), 6.5);
        assert_eq!(params.temperature(&game), 2.0);
        for at in 0..4 {
            game.play(game.to_move(), play(at, at)).unwrap();
        }
        // After as many moves as the board has rows, half of the effect is left.
        assert!((params.temperature(&game) - 1.5).abs() < 1e-6);
        assert_eq!(USUAL.temperature(&game), 1.0);
    }
}

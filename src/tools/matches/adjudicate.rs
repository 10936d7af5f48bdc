//! Result of a finished game.

use super::conditions::DeadStones;
use super::record::Judgement;
use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::board::{Board, PointSet};
use kosumi_go::game::Game;
use kosumi_go::score;

/// Returns Black's points minus White's, and how the dead stones were decided. `named` returns the stones that each
/// engine calls dead. It is called only if these stones matter. `is_cut_off` means that the game did not end by two
/// passes.
///
/// Under rules without removal, such as those of CGOS, all stones count. Otherwise the engines are asked, as a server
/// asks its players. If their answers differ, the built-in engine decides, by playouts and by unconditional life, and
/// the record states this. The alternatives are no better: GTP has no commands for playing on, and counting all stones
/// would reward an engine that denies the obvious.
///
/// # Errors
///
/// Returns the error of `named`.
pub(super) fn score<E>(
    game: &Game,
    how: DeadStones,
    is_cut_off: bool,
    named: impl FnOnce() -> Result<[Option<PointSet>; 2], E>,
) -> Result<(f32, Judgement), E> {
    if !game.rules().friendly_pass || how == DeadStones::None {
        return Ok((score::final_score(game, &PointSet::EMPTY), Judgement::AllAlive));
    }
    if how == DeadStones::Judge || is_cut_off {
        return Ok((judge(game), Judgement::Judged));
    }
    let whole = |dead: PointSet| whole_chains(game.board(), &dead);
    let named = named()?;
    let dead = match named.map(|dead| dead.map(whole)) {
        [Some(a), Some(b)] if a != b => return Ok((judge(game), Judgement::Disputed)),
        [Some(dead), _] | [None, Some(dead)] => dead,
        [None, None] => return Ok((judge(game), Judgement::Judged)),
    };
    Ok((score::final_score(game, &dead), Judgement::Agreed))
}

/// Returns the chains that contain a named stone. Engines may name any stone of a chain, and a chain is dead as a
/// whole.
fn whole_chains(board: &Board, named: &PointSet) -> PointSet {
    let mut whole = PointSet::EMPTY;
    for (point, _) in board.stones().filter(|&(point, _)| named.contains(point)) {
        if !whole.contains(point) {
            whole.extend_from(board.chain(point));
        }
    }
    whole
}

/// Returns the score according to the built-in engine.
fn judge(game: &Game) -> f32 {
    let settings = EngineSettings { threads: 1, memory_mebibytes: 1, ..EngineSettings::default() };
    let mut engine = Engine::new(settings);
    engine.set_game(game.clone());
    engine.final_status().score
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::{Color, Point};
    use kosumi_go::rules::Rules;

    /// Returns a game in which White's stone at A3 is dead. Without komi it is a draw if the stone is removed, and
    /// otherwise White wins by 3.
    fn game(rules: &str) -> Game {
        let board: Board = "
            . X X O . .
            X X X O O O
            O . X O . .
            X X X O O O
            . X X O . ."
            .parse()
            .unwrap();
        Game::from_board(board, Color::Black, Rules::preset(rules).unwrap().rules, 0.0)
    }

    fn set(points: &[(usize, usize)]) -> Option<PointSet> {
        Some(points.iter().map(|&(column, row)| Point::new(column, row)).collect())
    }

    fn scored(rules: &str, how: DeadStones, named: [Option<PointSet>; 2]) -> (f32, Judgement) {
        score(&game(rules), how, false, || Ok::<_, ()>(named)).unwrap()
    }

    const DEAD: [(usize, usize); 1] = [(0, 2)];

    #[test]
    fn agreed_stones_are_removed() {
        let both = || [set(&DEAD), set(&DEAD)];
        let agreed = DeadStones::Agreed;
        assert_eq!(scored("chinese-kgs", agreed, both()), (0.0, Judgement::Agreed));
        assert_eq!(scored("chinese-kgs", agreed, [set(&[]), set(&[])]), (-3.0, Judgement::Agreed));
        // An engine that gives no answer counts as agreeing.
        assert_eq!(scored("chinese-kgs", agreed, [None, set(&DEAD)]), (0.0, Judgement::Agreed));
        assert_eq!(scored("cgos", agreed, both()), (-3.0, Judgement::AllAlive));
        assert_eq!(scored("chinese-kgs", DeadStones::None, both()), (-3.0, Judgement::AllAlive));
    }

    #[test]
    fn the_built_in_engine_judges_disputes() {
        // The built-in engine sees that the stone is dead.
        let disputed = scored("chinese-kgs", DeadStones::Agreed, [set(&DEAD), set(&[])]);
        assert_eq!(disputed, (0.0, Judgement::Disputed));
        let judged = scored("chinese-kgs", DeadStones::Judge, [set(&[]), set(&[])]);
        assert_eq!(judged, (0.0, Judgement::Judged));
        assert_eq!(scored("chinese-kgs", DeadStones::Agreed, [None, None]), (0.0, Judgement::Judged));
    }

    #[test]
    fn chains_are_dead_as_a_whole() {
        let game = game("chinese-kgs");
        let named = whole_chains(game.board(), &set(&[(1, 3), (2, 3), (0, 4)]).unwrap());
        assert_eq!(named.len(), 11, "two stones of a chain and an empty point: {named:?}");
    }

    #[test]
    fn engines_are_not_asked_when_it_does_not_matter() {
        let ask = || -> Result<[Option<PointSet>; 2], &str> { Err("asked") };
        assert!(score(&game("cgos"), DeadStones::Agreed, false, ask).is_ok());
        assert!(score(&game("chinese-kgs"), DeadStones::Agreed, true, ask).is_ok());
        assert!(score(&game("chinese-kgs"), DeadStones::Agreed, false, ask).is_err());
    }
}

//! Measures against an opponent that mirrors every move at the centre of the board.
//!
//! A search that expects the best replies sees neither the value of a mirrored reply nor where mirroring ends: at the
//! centre, or where a move disturbs its own image. Part of the visits therefore goes to the mirrored reply in the first
//! moves of every line, and part of the root's visits to the centre. The values then favour moves to which mirroring
//! loses. The idea is that of KataGo's `antiMirror`; the method is our own.

use kosumi_go::board::{BoardSize, Cell, Color, Move, Point};
use kosumi_go::game::{Game, Line, MoveRecord};

/// Number by which the mirrored replies must exceed half of all replies for an opponent to count as mirroring.
const MIN_MIRRORED_MOVES: usize = 7;
/// Factor by which the weight of a reply decays with each later reply.
const MEMORY: f32 = 0.75;
/// Share of the recent weight that must have been mirrored.
const RECENT: f32 = 0.45;
/// Depth of a line, from its root, up to which replies are expected to be mirrored.
const DEPTH: usize = 8;
/// Share of visits that a mirrored reply gets.
const REPLY: f32 = 0.1;
/// Share of visits that a mirrored reply gets if its player holds the centre, where mirroring is hardest to break.
const REPLY_WITH_CENTER: f32 = 0.2;
/// Share of the root's visits that the centre gets.
const CENTER: f32 = 0.3;

/// A side that mirrors moves, and the measures against it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AntiMirror {
    /// Side that mirrors.
    pub color: Color,
    /// Centre of the board, if it is a point.
    center: Option<Point>,
    reply: f32,
}

/// Returns the image of a move under rotation by 180° about the centre. A pass is its own image.
fn mirrored(size: BoardSize, mv: Move) -> Move {
    match mv {
        Move::Play(point) => {
            Move::Play(Point::new(size.columns() - 1 - point.column(), size.rows() - 1 - point.row()))
        }
        Move::Pass => Move::Pass,
    }
}

fn center(size: BoardSize) -> Option<Point> {
    let is_point = size.columns() % 2 == 1 && size.rows() % 2 == 1;
    is_point.then(|| Point::new(size.columns() / 2, size.rows() / 2))
}

/// Returns whether `color` has mirrored most of these moves, including the latest one.
fn has_mirrored(size: BoardSize, records: &[MoveRecord], color: Color) -> bool {
    let (mut mirrored_moves, mut all, mut was_mirrored) = (0, 0, false);
    let (mut recent_mirrored, mut recent) = (0.0, 0.0);
    for pair in records.windows(2) {
        let [before, reply] = pair else { continue };
        if reply.color != color || before.color == color {
            was_mirrored = false;
            continue;
        }
        was_mirrored = reply.mv == mirrored(size, before.mv);
        all += 1;
        mirrored_moves += usize::from(was_mirrored);
        recent = MEMORY * (recent + 1.0);
        recent_mirrored = MEMORY * (recent_mirrored + f32::from(u8::from(was_mirrored)));
    }
    was_mirrored && 2 * mirrored_moves >= 2 * MIN_MIRRORED_MOVES + all && recent_mirrored >= RECENT * recent
}

impl AntiMirror {
    /// Returns the measures for a search of the game's position; `None` if the opponent does not mirror.
    pub fn against(game: &Game) -> Option<AntiMirror> {
        let (size, records, color) = (game.size(), game.records(), game.to_move().opponent());
        if !has_mirrored(size, records, color) {
            return None;
        }
        let center = center(size);
        let holder = records.iter().rev().find(|record| record.mv.point() == center);
        let holds_center = center.is_some_and(|point| game.board().cell(point) != Cell::Empty)
            && holder.is_some_and(|record| record.color == color);
        Some(AntiMirror { color, center, reply: if holds_center { REPLY_WITH_CENTER } else { REPLY } })
    }

    /// Returns the move of this line's position that gets at least a share of the visits, and that share.
    pub(super) fn favoured_move(&self, line: &Line<'_>) -> Option<(Move, f32)> {
        let depth = line.moves().len();
        if line.to_move() == self.color && (1..DEPTH).contains(&depth) {
            let mv = mirrored(line.game().size(), line.last_moves()[0]);
            let is_legal = mv.point().is_none_or(|point| line.check(point).is_ok());
            return is_legal.then_some((mv, self.reply));
        }
        let center = self.center.filter(|_| depth == 0 && line.to_move() != self.color)?;
        line.check(center).is_ok().then_some((Move::Play(center), CENTER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rules::Rules;

    /// Returns a game on 9×9 in which White mirrors the first `mirrored_moves` moves of Black, and then plays elsewhere
    /// `others` times.
    fn game(mirrored_moves: usize, others: usize) -> Game {
        let size = BoardSize::square(9).unwrap();
        let mut game = Game::new(size, Rules::default(), 7.0);
        for index in 0..mirrored_moves + others {
            let mv = Move::Play(Point::new(index % 9, index / 9));
            game.play(Color::Black, mv).unwrap();
            let other = Move::Play(Point::new(index % 9, 4));
            let reply = if index < mirrored_moves { mirrored(size, mv) } else { other };
            game.play(Color::White, reply).unwrap();
        }
        game
    }

    fn against(game: &Game, to_move: Color) -> Option<AntiMirror> {
        let mut game = game.clone();
        game.set_to_move(to_move);
        AntiMirror::against(&game)
    }

    #[test]
    fn mirroring_is_detected_by_frequency_and_recency() {
        assert_eq!(against(&game(13, 0), Color::Black), None, "2 · 13 < 14 + 13");
        let found = against(&game(14, 0), Color::Black).expect("a mirror");
        assert_eq!((found.color, found.reply), (Color::White, REPLY));
        assert_eq!(against(&game(14, 0), Color::White), None, "Black does not");
        assert_eq!(against(&game(16, 1), Color::Black), None, "the last move was no mirror");
    }

    #[test]
    fn the_mirrored_reply_and_the_centre_are_wanted() {
        let game = game(14, 0);
        let it = against(&game, Color::Black).unwrap();
        let mut line = Line::new(&game);
        let center = Move::Play(Point::new(4, 4));
        assert_eq!(it.favoured_move(&line), Some((center, CENTER)));
        line.play(Move::Play(Point::new(0, 3)));
        assert_eq!(it.favoured_move(&line), Some((Move::Play(Point::new(8, 5)), REPLY)));
        line.play(Move::Pass);
        assert_eq!(
            it.favoured_move(&line),
            None,
            "only the root's player breaks the mirror, and only at once"
        );
        line.play(center);
        assert_eq!(it.favoured_move(&line), None, "the centre has no image that is free");
    }
}

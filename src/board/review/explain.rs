//! Facts about bad moves: what the ladder reader and the solver prove and what follows from the rules, with a line that
//! shows it.
//!
//! Facts are never guesses. What a reader cannot decide within its limit is not mentioned. The line of a capture ends
//! with the capture that the sentence promises. Facts of life and death are in `life.rs`.

use super::judge::{Class, Judgement};
use super::life::LifeReader;
use super::main_line::{Change, MainLine};
use crate::pages::{Text, localized};
use kosumi_go::board::{Board, Cell, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::tactics::LadderReader;
use std::collections::BTreeMap;

/// Maximum number of positions that one query of the ladder reader examines.
const LADDER_POSITIONS: u32 = 2000;
/// Minimum number of stones of a chain whose capture is mentioned.
pub(super) const MIN_STONES: usize = 2;
/// Maximum number of moves of a line.
const MAX_LINE_MOVES: usize = 80;
/// Maximum number of moves that are explained, the worst first.
const MAX_MOVES: usize = 40;

/// Kind of a fact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FactKind {
    /// The opponent captures stones of the player at once.
    AllowsCapture,
    /// The opponent captures stones of the player in a ladder.
    AllowsLadder,
    /// The first choice captures stones of the opponent.
    MissesCapture,
    /// The first choice captures stones of the opponent in a ladder.
    MissesLadder,
    /// Stones of the player die if the opponent moves next.
    AllowsKill,
    /// Stones of the player die even if the player moves next.
    LeavesDead,
    /// The first choice kills stones of the opponent.
    MissesKill,
    /// The first choice saves stones of the player that die without it.
    MissesSave,
    /// The stones that die would live, and a chain beside them would be captured, if the player had one more move.
    RaceLostByOne,
    /// Like [`RaceLostByOne`](FactKind::RaceLostByOne), but with two more moves. With one more move the stones still
    /// die.
    RaceLostByTwo,
}

impl FactKind {
    /// Returns whether the line of the fact begins with the move that was played. Otherwise it begins with the first
    /// choice.
    pub(super) const fn follows_move(self) -> bool {
        use FactKind as It;
        match self {
            It::AllowsCapture | It::AllowsLadder | It::AllowsKill | It::LeavesDead => true,
            It::RaceLostByOne | It::RaceLostByTwo => true,
            It::MissesCapture | It::MissesLadder | It::MissesKill | It::MissesSave => false,
        }
    }

    /// Returns whether the fact is that stones of the player die.
    pub(super) const fn is_death(self) -> bool {
        matches!(self, FactKind::AllowsKill | FactKind::LeavesDead)
    }

    /// Returns the name of the kind in documents for other programs.
    pub fn name(self) -> &'static str {
        self.text().trim_start_matches("fact-")
    }

    /// Returns the name of the sentence in the table of texts.
    const fn text(self) -> &'static str {
        match self {
            FactKind::AllowsCapture => "fact-allows-capture",
            FactKind::AllowsLadder => "fact-allows-ladder",
            FactKind::MissesCapture => "fact-misses-capture",
            FactKind::MissesLadder => "fact-misses-ladder",
            FactKind::AllowsKill => "fact-allows-kill",
            FactKind::LeavesDead => "fact-leaves-dead",
            FactKind::MissesKill => "fact-misses-kill",
            FactKind::MissesSave => "fact-misses-save",
            FactKind::RaceLostByOne => "fact-race-lost-by-one",
            FactKind::RaceLostByTwo => "fact-race-lost-by-two",
        }
    }
}

/// Fact about a bad move.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveFact {
    /// Kind of the fact.
    pub kind: FactKind,
    /// Number of stones of the chain that is captured, dies, lives or wins the race. They are counted after the move
    /// that was played, or before it if the line begins with the first choice.
    pub stones: usize,
    /// One of these stones.
    pub at: Point,
    /// Line from the position before the move. For captures it ends with the capture.
    pub line: Vec<Move>,
}

impl MoveFact {
    /// Returns the fact as a sentence.
    pub fn text(&self) -> Text {
        let first = self.line.get(usize::from(self.kind.follows_move()));
        localized(self.kind.text())
            .with("count", self.stones)
            .with("at", Move::Play(self.at))
            .with("move", first.map_or_else(String::new, ToString::to_string))
    }
}

/// Returns the facts about the worst moves of a game, by step.
pub(super) fn facts(
    line: &MainLine,
    judgements: &[Option<Judgement>],
    worst: &[usize],
) -> BTreeMap<usize, Vec<MoveFact>> {
    let explained = &worst[..worst.len().min(MAX_MOVES)];
    let mut found = BTreeMap::new();
    let mut life = LifeReader::new();
    line.backwards(|index, game| {
        let after = index + 1;
        if !explained.contains(&after) {
            return;
        }
        if let (Some(Some(judgement)), Some(Change::Move { color, mv, .. })) =
            (judgements.get(after), line.steps().get(after).map(|step| &step.change))
            && judgement.class > Class::Good
        {
            let mut facts = facts_of(game, *color, *mv, judgement.best.mv);
            facts.extend(life.facts_of(game, *color, *mv, judgement.best.mv));
            let facts = without_repetition(facts);
            if !facts.is_empty() {
                found.insert(after, facts);
            }
        }
    });
    found
}

/// Removes deaths of no more stones than another fact captures, because they are mostly the same stones.
pub(super) fn without_repetition(mut facts: Vec<MoveFact>) -> Vec<MoveFact> {
    use FactKind as It;
    let captured = |allows: bool| {
        let captures = facts.iter().filter(move |it| {
            matches!(it.kind, It::AllowsCapture | It::AllowsLadder if allows)
                || matches!(it.kind, It::MissesCapture | It::MissesLadder if !allows)
        });
        captures.map(|it| it.stones).max().unwrap_or(0)
    };
    let [missed, allowed] = [false, true].map(captured);
    facts.retain(|it| match it.kind {
        It::AllowsKill | It::LeavesDead => it.stones > allowed,
        It::MissesKill => it.stones > missed,
        _ => true,
    });
    if !facts.iter().any(|it| it.kind.is_death()) {
        facts.retain(|it| !matches!(it.kind, It::RaceLostByOne | It::RaceLostByTwo));
    }
    facts
}

/// Returns the facts about captures that a move allows or misses, compared with the first choice.
pub(super) fn facts_of(game: &Game, color: Color, mv: Move, best: Move) -> Vec<MoveFact> {
    let opponent = color.opponent();
    let mut found = Vec::new();
    let played = |mv: Move| {
        let mut game = game.clone();
        game.set_to_move(color);
        game.play(color, mv).ok().map(|()| game)
    };
    if let Some(after) = played(mv) {
        // The same stones in the position after the first choice would make the sentence pointless.
        let remains = played(best);
        let capture = largest(&after, opponent).filter(|it| {
            let elsewhere = remains.as_ref().and_then(|game| capture_of(game, opponent, it.at));
            elsewhere.is_none()
        });
        if let Some(Capture { at, stones, line, is_ladder }) = capture {
            let kind = if is_ladder { FactKind::AllowsLadder } else { FactKind::AllowsCapture };
            found.push(MoveFact { kind, stones, at, line: [mv].into_iter().chain(line).collect() });
        }
    }
    let mut before = game.clone();
    before.set_to_move(color);
    if let Some(Capture { at, stones, line, is_ladder }) = largest_by(&before, color, best) {
        let kind = if is_ladder { FactKind::MissesLadder } else { FactKind::MissesCapture };
        found.push(MoveFact { kind, stones, at, line });
    }
    found
}

/// Capture of a chain that is certain if the attacker moves first.
#[derive(Clone, PartialEq, Debug)]
struct Capture {
    at: Point,
    stones: usize,
    line: Vec<Move>,
    is_ladder: bool,
}

/// Returns one stone of every chain of this colour that has two stones or more.
fn chains(board: &Board, color: Color) -> Vec<Point> {
    let mut seen: Vec<Point> = Vec::new();
    let mut found = Vec::new();
    for point in board.size().points() {
        if board.cell(point) == Cell::from(color) && !seen.contains(&point) {
            let before = seen.len();
            seen.extend(board.chain(point));
            if seen.len() - before >= MIN_STONES {
                found.push(point);
            }
        }
    }
    found
}

/// Returns the capture of the largest chain that `attacker`, who is to move, is certain to capture.
fn largest(game: &Game, attacker: Color) -> Option<Capture> {
    let found = chains(game.board(), attacker.opponent());
    let captures = found.into_iter().filter_map(|at| capture_of(game, attacker, at));
    captures.reduce(|best, it| if it.stones > best.stones { it } else { best })
}

/// Returns the capture of the largest chain that begins with this move.
fn largest_by(game: &Game, attacker: Color, first: Move) -> Option<Capture> {
    let found = chains(game.board(), attacker.opponent());
    let captures = found.into_iter().filter_map(|at| capture_of(game, attacker, at));
    captures
        .filter(|it| it.line.first() == Some(&first))
        .reduce(|best, it| if it.stones > best.stones { it } else { best })
}

/// Returns the capture of a chain, if it is in atari or caught in a ladder.
fn capture_of(game: &Game, attacker: Color, at: Point) -> Option<Capture> {
    let board = game.board();
    if board.cell(at) != Cell::from(attacker.opponent()) {
        return None;
    }
    let stones = board.chain(at).count();
    let mut game = game.clone();
    game.set_to_move(attacker);
    let mut line = Vec::new();
    let is_ladder = board.atari_liberty(at).is_none();
    let mut reader = LadderReader::new(LADDER_POSITIONS);
    while line.len() < MAX_LINE_MOVES {
        let board = game.board();
        let mv = match board.atari_liberty(at) {
            Some(liberty) => liberty,
            None => reader.capture(board, at)?,
        };
        game.play(attacker, Move::Play(mv)).ok()?;
        line.push(Move::Play(mv));
        if game.board().cell(at) == Cell::Empty {
            return Some(Capture { at, stones, line, is_ladder });
        }
        // The defender extends, or passes where that is suicide. The ladder reader has shown that captures do not help
        // either.
        let extension = Move::Play(game.board().atari_liberty(at)?);
        let reply = if game.play(attacker.opponent(), extension).is_ok() { extension } else { Move::Pass };
        if reply == Move::Pass {
            game.play(attacker.opponent(), reply).ok()?;
        }
        line.push(reply);
    }
    None
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use kosumi_go::board::BoardSize;
    use kosumi_go::game::Game;
    use kosumi_go::rules::Rules;

    /// Returns whether `attacker`, who is to move, captures the chain at a point whatever its owner does. Tries every
    /// move on a liberty of the chain and, for the owner, also every capture of an adjacent chain. A chain with three
    /// liberties counts as escaped. This is a slow reference that uses whole games, with all rules.
    fn is_caught(game: &Game, attacker: Color, at: Point, is_attack: bool, left: &mut u32) -> bool {
        if game.board().cell(at) == Cell::Empty {
            return true;
        }
        let (count, _) = game.board().liberties::<3>(at);
        if *left == 0 || count >= 3 || (!is_attack && count >= 2) {
            return false;
        }
        *left -= 1;
        let board = game.board();
        let color = if is_attack { attacker } else { attacker.opponent() };
        let mut points: Vec<Point> = Vec::new();
        for stone in board.chain(at) {
            for beside in stone.adjacent() {
                match board.cell(beside) {
                    Cell::Empty => points.push(beside),
                    cell if !is_attack && cell == Cell::from(attacker) => {
                        points.extend(board.atari_liberty(beside));
                    }
                    _ => {}
                }
            }
        }
        points.sort();
        points.dedup();
        let mut after = |point: Point| {
            let mut next = game.clone();
            next.set_to_move(color);
            next.play(color, Move::Play(point)).ok()?;
            Some(is_caught(&next, attacker, at, !is_attack, left))
        };
        if is_attack {
            points.into_iter().any(|point| after(point) == Some(true))
        } else {
            points.into_iter().all(|point| after(point) != Some(false))
        }
    }

    /// Returns a game of random moves, most of them next to other stones.
    pub(in super::super) fn random_game(state: &mut u64, size: usize, moves: usize) -> Game {
        let mut game = Game::new(BoardSize::square(size).unwrap(), Rules::default(), 7.0);
        for _ in 0..moves {
            let color = game.to_move();
            for _ in 0..10 {
                *state =
                    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = (*state >> 33) as usize;
                let point = Point::new(number % size, number / size % size);
                let own_eye = point.adjacent().iter().all(|&beside| game.board().cell(beside) != Cell::Empty);
                if !own_eye && game.play(color, Move::Play(point)).is_ok() {
                    break;
                }
            }
        }
        game
    }

    /// Checks every sentence about 1,000 random positions: its line is legal and ends with the capture, and the
    /// reference finds no way out.
    #[test]
    fn no_sentence_is_false() {
        let mut state = 1;
        let mut counts = [0; 4];
        for position in 0..1000 {
            let game = random_game(&mut state, 7 + position % 7, 20 + position % 60);
            let color = game.to_move();
            let legal: Vec<Move> = game
                .size()
                .points()
                .map(Move::Play)
                .filter(|&mv| game.clone().play(color, mv).is_ok())
                .collect();
            let Some(&mv) = legal.get(position % legal.len().max(1)) else { continue };
            let best = legal[(position * 7 + 3) % legal.len()];
            // Chooses the move that captures most as the first choice, so that all kinds of facts occur.
            let best = largest(&game, color).map_or(best, |capture| capture.line[0]);
            for fact in facts_of(&game, color, mv, best) {
                counts[fact.kind as usize] += 1;
                let allows = matches!(fact.kind, FactKind::AllowsCapture | FactKind::AllowsLadder);
                let attacker = if allows { color.opponent() } else { color };
                assert_eq!(fact.line[0], if allows { mv } else { best }, "{fact:?}");
                let mut shown = game.clone();
                let mut chain = Vec::new();
                for (number, &mv) in fact.line.iter().enumerate() {
                    if number == usize::from(allows) {
                        assert_eq!(shown.board().cell(fact.at), Cell::from(attacker.opponent()));
                        chain = shown.board().chain(fact.at).collect();
                        assert_eq!(chain.len(), fact.stones, "{fact:?}");
                        let is_atari = shown.board().in_atari(fact.at);
                        let is_ladder = matches!(fact.kind, FactKind::AllowsLadder | FactKind::MissesLadder);
                        assert_eq!(is_atari, !is_ladder, "{fact:?}");
                        let mut left = 200_000;
                        assert!(
                            is_caught(&shown, attacker, fact.at, true, &mut left),
                            "{fact:?}\n{}",
                            shown.board()
                        );
                    }
                    let mover = shown.to_move();
                    shown.play(mover, mv).unwrap_or_else(|error| panic!("{fact:?}: {error}"));
                }
                assert!(chain.iter().all(|&stone| shown.board().cell(stone) == Cell::Empty), "{fact:?}");
                let text = fact.text().english();
                assert!(!text.contains('{') && text.contains(&fact.stones.to_string()), "{text}");
            }
        }
        assert!(counts.iter().all(|&count| count >= 10), "every kind was checked: {counts:?}");
    }

    #[test]
    fn a_ladder_and_a_breaker() {
        let size = BoardSize::square(9).unwrap();
        let at = Point::new;
        let game = |breakers: &[Point]| {
            let black = [at(2, 1), at(1, 2), at(1, 3), at(2, 4)].map(|point| (point, Color::Black));
            let white = [at(2, 2), at(2, 3)].into_iter().chain(breakers.iter().copied());
            let stones = black.into_iter().chain(white.map(|point| (point, Color::White)));
            Game::from_board(Board::from_stones(size, stones).unwrap(), Color::Black, Rules::default(), 7.0)
        };
        let capture = largest(&game(&[]), Color::Black).unwrap();
        assert!(capture.is_ladder && capture.stones == 2 && capture.line.len() > 6, "{capture:?}");
        // One ladder goes up, the other one along the edge.
        assert_eq!(largest(&game(&[at(5, 4), at(4, 1)]), Color::Black), None, "both run into a stone");
        let facts = facts_of(&game(&[]), Color::Black, Move::Play(at(8, 8)), capture.line[0]);
        assert_eq!(facts.len(), 1);
        assert_eq!((facts[0].kind, facts[0].stones, facts[0].at), (FactKind::MissesLadder, 2, at(2, 2)));
        // White extends, and nothing is caught.
        assert!(largest(&game(&[]), Color::White).is_none());
    }
}

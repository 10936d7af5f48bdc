//! Detection of repetitions in game records: moves that repeat an earlier position, the rules that forbid them, and the
//! kind of the cycle.
//!
//! Records contain moves that have been played under any rules, so this module reports every repetition and forbids
//! none. Its judgement of a move under the three superko rules equals that of [`history`](crate::history), which
//! decides legality. The tests compare the two on random games.

use crate::board::{Board, ByColor, Color, Key, Move, Point, PointSet};
use crate::game;
use serde::{Deserialize, Serialize};

/// Kind of a cycle of repeated positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cycle {
    /// A ko was retaken immediately, which every rule forbids.
    SimpleKo,
    /// A ko was retaken after nothing but passes.
    KoAfterPasses,
    /// Two kos.
    DoubleKo,
    /// Three kos, taken and retaken alternately.
    TripleKo,
    /// Four or more kos.
    ManyKos,
    /// One side adds a stone to another one, the opponent takes both, and the first side takes the capturing stone. Kos
    /// may be involved in addition.
    SendingTwo,
    /// Both sides give up two stones alternately (chosei). Kos may be involved in addition.
    EternalLife,
    /// A suicide occurred in the cycle.
    Suicide,
    /// Any other cycle.
    Other,
}

impl Cycle {
    /// All kinds of cycles.
    pub const ALL: [Cycle; 9] = [
        Cycle::SimpleKo,
        Cycle::KoAfterPasses,
        Cycle::DoubleKo,
        Cycle::TripleKo,
        Cycle::ManyKos,
        Cycle::SendingTwo,
        Cycle::EternalLife,
        Cycle::Suicide,
        Cycle::Other,
    ];

    /// Returns the name of the cycle on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Cycle::SimpleKo => "simple-ko",
            Cycle::KoAfterPasses => "ko-after-passes",
            Cycle::DoubleKo => "double-ko",
            Cycle::TripleKo => "triple-ko",
            Cycle::ManyKos => "many-kos",
            Cycle::SendingTwo => "sending-two",
            Cycle::EternalLife => "eternal-life",
            Cycle::Suicide => "suicide",
            Cycle::Other => "other",
        }
    }

    /// Returns the kind of the cycle that these moves form, and the number of kos in it.
    fn of(plies: &[Ply]) -> (Cycle, usize) {
        let mut kos: Vec<(Point, Point)> = plies.iter().filter_map(Ply::ko).collect();
        kos.sort_unstable();
        // Each ko is taken as often as it is retaken. A capture that occurs an odd number of times is not part of a ko.
        let is_ko = |taken: &(Point, Point)| {
            let times = kos.partition_point(|ko| ko <= taken) - kos.partition_point(|ko| ko < taken);
            times % 2 == 0
        };
        let count = kos.chunk_by(PartialEq::eq).filter(|same| same.len() % 2 == 0).count();
        // Other captures, each with its number of stones.
        let taken = |color: Color| {
            let captures = plies.iter().filter(move |ply| ply.color == color && ply.lifted > 0);
            captures
                .filter(|ply| !ply.ko().is_some_and(|taken| is_ko(&taken)))
                .map(|ply| ply.lifted)
                .collect::<Vec<_>>()
        };
        let cycle = match (taken(Color::Black).as_slice(), taken(Color::White).as_slice()) {
            _ if plies.iter().any(|ply| ply.is_suicide) => Cycle::Suicide,
            ([], []) if plies.len() == 2 => Cycle::SimpleKo,
            ([], []) => match count {
                0 => Cycle::Other,
                1 => Cycle::KoAfterPasses,
                2 => Cycle::DoubleKo,
                3 => Cycle::TripleKo,
                _ => Cycle::ManyKos,
            },
            ([2], [1]) | ([1], [2]) => Cycle::SendingTwo,
            ([2], [2]) => Cycle::EternalLife,
            _ => Cycle::Other,
        };
        (cycle, count)
    }
}

/// Superko rules that forbid a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Forbidden {
    /// Whether positional superko forbids the move. It always does, for every repetition.
    pub positional: bool,
    /// Whether situational superko forbids the move.
    pub situational: bool,
    /// Whether natural situational superko forbids the move.
    pub natural_situational: bool,
}

/// A play that repeated an earlier position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repetition {
    /// Number of moves since a play last created the position, including this one and passes.
    pub length: usize,
    /// Number of passes among these moves.
    pub passes: usize,
    /// Whether the colours of the moves alternated.
    pub is_alternating: bool,
    /// Number of stones captured by each side.
    pub captured: ByColor<usize>,
    /// Kind of the cycle.
    pub cycle: Cycle,
    /// Number of kos that were taken and retaken in the cycle.
    pub kos: usize,
    /// Rules that forbid the move.
    pub forbidden: Forbidden,
    /// Whether the preceding play also repeated a position, in a cycle of the same length. It is then the same cycle
    /// that continues.
    pub continues: bool,
}

/// A move and its captures.
#[derive(Clone, Copy, Debug)]
struct Ply {
    color: Color,
    mv: Move,
    lifted: usize,
    first_lifted: Option<Point>,
    is_suicide: bool,
}

impl Ply {
    /// If the move captured one stone, returns its point and that of the stone, in ascending order. They are the points
    /// of a ko if the stone is recaptured.
    fn ko(&self) -> Option<(Point, Point)> {
        let (point, taken) = (self.mv.point()?, self.first_lifted.filter(|_| self.lifted == 1)?);
        Some((point.min(taken), point.max(taken)))
    }
}

/// Finder of the repetitions in a game, which receives the game move by move.
///
/// A move can repeat a position only if it plays on a point from which a stone of its colour was lifted before, or if
/// it is a suicide. Only such moves are compared with all earlier positions. For all others, the check is a single
/// look-up.
#[derive(Clone, Debug, Default)]
pub struct RepetitionFinder {
    /// Keys of the positions: before the first move and after each move.
    keys: Vec<Key>,
    start_to_move: Option<Color>,
    plies: Vec<Ply>,
    lifted: ByColor<PointSet>,
    /// Length of the cycle of the latest play, if it repeated a position.
    latest: Option<usize>,
}

impl RepetitionFinder {
    /// Starts a game at a position.
    pub fn start(&mut self, board: &Board, to_move: Color) {
        self.keys.clear();
        self.keys.push(board.key());
        self.start_to_move = Some(to_move);
        self.plies.clear();
        self.lifted = ByColor::default();
        self.latest = None;
    }

    /// Records a move that led to `board`. Returns the repetition, if the move repeated a position.
    pub fn played(&mut self, board: &Board, record: &game::MoveRecord) -> Option<Repetition> {
        let is_suicide = record.mv.point().is_some_and(|point| record.lifted.contains(&point));
        let ply = Ply {
            color: record.color,
            mv: record.mv,
            lifted: record.lifted.len(),
            first_lifted: record.lifted.first().copied(),
            is_suicide,
        };
        let mover = ply.color;
        let may_repeat = ply.mv.point().is_some_and(|point| is_suicide || self.lifted[mover].contains(point));
        self.plies.push(ply);
        let found = if may_repeat { self.find(board.key(), mover) } else { None };
        self.keys.push(board.key());
        let loser = if is_suicide { mover } else { mover.opponent() };
        self.lifted[loser].extend_from(record.lifted.iter().copied());
        if ply.mv != Move::Pass {
            self.latest = found.as_ref().map(|repetition| repetition.length);
        }
        found
    }

    /// Returns the side that created position `index`. For the first position it is the opponent of the side to move.
    fn creator(&self, index: usize) -> Option<Color> {
        match index.checked_sub(1) {
            None => self.start_to_move.map(Color::opponent),
            Some(ply) => self.plies.get(ply).map(|ply| ply.color),
        }
    }

    fn is_play(&self, index: usize) -> bool {
        index.checked_sub(1).and_then(|ply| self.plies.get(ply)).is_some_and(|ply| ply.mv != Move::Pass)
    }

    /// Returns the repetition that the latest ply forms, if the position after it has occurred before.
    fn find(&self, key: Key, mover: Color) -> Option<Repetition> {
        let mut forbidden = Forbidden { positional: false, situational: false, natural_situational: false };
        let mut length = None;
        for (index, _) in self.keys.iter().enumerate().rev().filter(|&(_, &earlier)| earlier == key) {
            let same_creator = self.creator(index) == Some(mover);
            forbidden.positional = true;
            forbidden.situational |= same_creator;
            forbidden.natural_situational |= same_creator && self.is_play(index);
            if length.is_none() && (index == 0 || self.is_play(index)) {
                length = Some(self.plies.len() - index);
            }
        }
        let length = length?;
        let plies = self.plies.get(self.plies.len() - length..).unwrap_or_default();
        let taken = |color: Color| {
            plies.iter().filter(|ply| ply.color == color && !ply.is_suicide).map(|ply| ply.lifted).sum()
        };
        let (cycle, kos) = Cycle::of(plies);
        Some(Repetition {
            length,
            passes: plies.iter().filter(|ply| ply.mv == Move::Pass).count(),
            is_alternating: plies.windows(2).all(|pair| pair[0].color != pair[1].color),
            captured: ByColor::new(taken(Color::Black), taken(Color::White)),
            cycle,
            kos,
            forbidden,
            continues: self.latest == Some(length),
        })
    }
}

#[cfg(test)]
mod tests;

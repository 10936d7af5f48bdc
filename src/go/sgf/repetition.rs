//! Which moves of a record bring an earlier position back, which rules forbid that, and what kind of cycle it is.
//!
//! Records hold moves that have been played, under whatever rules; so nothing is forbidden here, everything is
//! found. What the three superko rules think of a move is the same as in [`history`](crate::history), which
//! decides legality; the tests compare the two on random games.

use crate::board::{Board, ByColor, Color, Key, Move, Point, PointSet};
use crate::game;
use serde::{Deserialize, Serialize};

/// What comes back again and again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cycle {
    /// A ko was retaken at once, which every rule forbids.
    SimpleKo,
    /// A ko was retaken with nothing but passes between.
    KoAfterPasses,
    /// Two kos.
    DoubleKo,
    /// Three kos, taken and retaken in turn.
    TripleKo,
    /// Four kos or more.
    ManyKos,
    /// One player adds a stone to another, the opponent takes both, and the player takes the capturing stone;
    /// perhaps with kos beside it.
    SendingTwo,
    /// Both players give up two stones in turn (chosei); perhaps with kos beside it.
    EternalLife,
    /// Somebody's own stones were removed on the way.
    Suicide,
    /// Anything else.
    Other,
}

impl Cycle {
    /// All of them.
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

    /// The name on the command line.
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

    /// The cycle that these moves make, and the number of kos in it.
    fn of(plies: &[Ply]) -> (Cycle, usize) {
        let mut kos: Vec<(Point, Point)> = plies.iter().filter_map(Ply::ko).collect();
        kos.sort_unstable();
        // Each ko is taken as often as it is retaken. What is taken once only is something else.
        let is_ko = |taken: &(Point, Point)| {
            let times = kos.partition_point(|ko| ko <= taken) - kos.partition_point(|ko| ko < taken);
            times % 2 == 0
        };
        let count = kos.chunk_by(PartialEq::eq).filter(|same| same.len() % 2 == 0).count();
        // What was taken besides, capture by capture.
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

/// Which superko rules forbid a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Forbidden {
    /// Positional superko: always, for every repetition.
    pub positional: bool,
    /// Situational superko.
    pub situational: bool,
    /// Natural situational superko.
    pub natural_situational: bool,
}

/// A play that brought an earlier position back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repetition {
    /// Moves since the position was last created by a play, this one included; passes count.
    pub length: usize,
    /// Passes among them.
    pub passes: usize,
    /// Did the players alternate?
    pub is_alternating: bool,
    /// Stones taken by each player.
    pub captured: ByColor<usize>,
    /// What came round.
    pub cycle: Cycle,
    /// Kos that were taken and retaken on the way.
    pub kos: usize,
    /// What the rules say.
    pub forbidden: Forbidden,
    /// Did the play before this one repeat a position too, in a cycle of the same length? Then it is the same
    /// cycle that goes on.
    pub continues: bool,
}

/// A move and what it did.
#[derive(Clone, Copy, Debug)]
struct Ply {
    color: Color,
    mv: Move,
    lifted: usize,
    first_lifted: Option<Point>,
    is_suicide: bool,
}

impl Ply {
    /// If it took one stone: its point and the stone's, which are those of a ko if the stone is put back by taking.
    fn ko(&self) -> Option<(Point, Point)> {
        let (point, taken) = (self.mv.point()?, self.first_lifted.filter(|_| self.lifted == 1)?);
        Some((point.min(taken), point.max(taken)))
    }
}

/// Finds the repetitions of a game that is played before its eyes.
///
/// Only a play on a point from which a stone of its colour was lifted before can bring a position back, or a
/// suicide; all others cost a comparison, and these a look at all earlier positions.
#[derive(Clone, Debug, Default)]
pub struct Repetitions {
    /// The position before the first move and after each.
    keys: Vec<Key>,
    start_to_move: Option<Color>,
    plies: Vec<Ply>,
    lifted: ByColor<PointSet>,
    /// Length of the cycle of the latest play, if it repeated a position.
    latest: Option<usize>,
}

impl Repetitions {
    /// A game begins at a position.
    pub fn start(&mut self, board: &Board, to_move: Color) {
        self.keys.clear();
        self.keys.push(board.key());
        self.start_to_move = Some(to_move);
        self.plies.clear();
        self.lifted = ByColor::default();
        self.latest = None;
    }

    /// A move has led to `board`; did it bring a position back?
    pub fn played(&mut self, board: &Board, record: &game::Record) -> Option<Repetition> {
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

    /// Who created position `index`; of the first one, who would have had to.
    fn creator(&self, index: usize) -> Option<Color> {
        match index.checked_sub(1) {
            None => self.start_to_move.map(Color::opponent),
            Some(ply) => self.plies.get(ply).map(|ply| ply.color),
        }
    }

    fn is_play(&self, index: usize) -> bool {
        index.checked_sub(1).and_then(|ply| self.plies.get(ply)).is_some_and(|ply| ply.mv != Move::Pass)
    }

    /// The repetition that the latest ply makes, if the position it has led to is known.
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

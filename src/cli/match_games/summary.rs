//! What a match comes to.

use super::record::{Ending, GameRecord, Side};
use crate::cli::statistics::Tally;
use std::fmt;

/// Sums over the games of a match. Tallies are A's.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    names: [String; 2],
    all: Tally,
    /// With Black, with White.
    by_color: [Tally; 2],
    /// Forfeits of A and B by kind, in the order of [`Ending::FORFEITS`].
    forfeits: [[u32; Ending::FORFEITS.len()]; 2],
    resignations: [u32; 2],
    refused: [u32; 2],
    garbage: [usize; 2],
    cut_off: u32,
    moves: usize,
    seconds: [f64; 2],
    chosen: [u32; 2],
}

impl Summary {
    pub(super) fn new(names: [String; 2]) -> Summary {
        Summary {
            names,
            all: Tally::default(),
            by_color: [Tally::default(); 2],
            forfeits: [[0; Ending::FORFEITS.len()]; 2],
            resignations: [0; 2],
            refused: [0; 2],
            garbage: [0; 2],
            cut_off: 0,
            moves: 0,
            seconds: [0.0; 2],
            chosen: [0; 2],
        }
    }

    pub(super) fn add(&mut self, record: &GameRecord) {
        for tally in [&mut self.all, &mut self.by_color[usize::from(record.black == Side::B)]] {
            match record.winner {
                Some(Side::A) => tally.wins += 1,
                Some(Side::B) => tally.losses += 1,
                None => tally.draws += 1,
            }
        }
        if let Some(loser) = record.winner.map(|winner| winner.other() as usize) {
            let kind = Ending::FORFEITS.iter().position(|&kind| kind == record.ending);
            if let Some(kind) = kind {
                self.forfeits[loser][kind] += 1;
            }
            self.resignations[loser] += u32::from(record.ending == Ending::Resign);
        }
        self.cut_off += u32::from(record.ending == Ending::MoveLimit);
        self.moves += record.moves.len();
        for side in Side::BOTH.map(|side| side as usize) {
            self.refused[side] += record.refused[side];
            self.garbage[side] += record.garbage[side];
            self.seconds[side] += record.seconds[side];
            self.chosen[side] += record.chosen[side];
        }
    }

    /// One line on how far the match is.
    pub(super) fn progress(&self, games: u32) -> String {
        let rate = self.all.rate().map_or(0.0, |rate| 100.0 * rate.value);
        format!("{}/{games}  A {}  {rate:.1} %", self.all.games(), self.all)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let games = self.all.games();
        writeln!(f, "A: {}", self.names[0])?;
        writeln!(f, "B: {}", self.names[1])?;
        let Some(rate) = self.all.rate() else { return writeln!(f, "no games") };
        let [black, white] = self.by_color;
        writeln!(f, "{games} games, A {} (as Black {black}, as White {white})", self.all)?;
        let percent = |share: f64| 100.0 * share;
        let elo = rate.elo();
        writeln!(
            f,
            "A scores {:.1} % (95 %: {:.1} to {:.1}), Elo {:+.0} (95 %: {:+.0} to {:+.0})",
            percent(rate.value),
            percent(rate.low),
            percent(rate.high),
            elo.value,
            elo.low,
            elo.high,
        )?;
        for side in Side::BOTH {
            let index = side as usize;
            let forfeits: Vec<String> = Ending::FORFEITS
                .iter()
                .zip(self.forfeits[index])
                .filter(|&(_, count)| count > 0)
                .map(|(kind, count)| format!("{} {count}", kind.about()))
                .collect();
            let forfeits = if forfeits.is_empty() {
                "no forfeits".to_owned()
            } else {
                format!("forfeits: {}", forfeits.join(", "))
            };
            writeln!(
                f,
                "{side}: {forfeits}; {} resignations, {} moves refused, {} stray lines; {:.3} s a move",
                self.resignations[index],
                self.refused[index],
                self.garbage[index],
                self.seconds[index] / f64::from(self.chosen[index].max(1)),
            )?;
        }
        let length = self.moves as f64 / f64::from(games.max(1));
        writeln!(f, "{length:.1} moves a game, {} cut off by the move limit", self.cut_off)
    }
}

//! Proofs of positions that resemble a proven position, by the same moves.
//!
//! Where one of the loser's moves has been shown to fail, most other moves fail to the same replies. Before the others
//! are searched, they are tried against these replies: the winner replies as in the model proof, and every move of the
//! loser must have its counterpart there. The result is a proof of its own, which is made and checked on its own path.
//! The model only tells which of the winner's moves to try.
//!
//! CITE: Yasushi Kawano, "Using similar positions to search game trees" (1996), for the idea.

use super::{Bits, Child, NEVER, PathResult, Position, Proof, Search, max_depth};
use crate::move_code::{MoveCode, NO_MOVE, PASS, THREAT};
use crate::table::Knowledge;

/// Largest number of nodes of one simulation. A simulation must stay much cheaper than the search that it may save.
const MAX_NODES: u32 = 200;

impl<B: Bits> Search<'_, B> {
    /// Tries to show that the other open children lose like the one that has just been decided. The side to move at the
    /// position, which is the latest of the path, is the loser.
    pub(super) fn simulate_siblings(&mut self, position: &Position<B>, first: usize, decided: usize) {
        let model = self.children[decided];
        if model.decided.is_none_or(|it| it.since != NEVER) || model.step >= THREAT {
            return;
        }
        for index in first..self.children.len() {
            let mut child = self.children[index];
            if child.decided.is_some() || child.step >= THREAT {
                continue;
            }
            // The child may have been decided while an earlier sibling was simulated.
            if self.refresh(&mut child) && child.decided.is_some() {
                self.children[index] = child;
                continue;
            }
            self.enter(position, &child);
            let mut left = MAX_NODES;
            let found = self.simulate_winner(&child, &model.after, &mut left);
            self.path.pop();
            if let Some(decided) = found {
                self.simulated += 1;
                self.children[index].decide(self.goal.prover, decided);
            }
        }
    }

    /// Returns the winner's first move in the proof of a model, if it is known.
    fn model_move(&self, model: &Position<B>) -> Option<MoveCode> {
        // The look-up uses no past: proofs that depend on a past are no models.
        let past = self.bare.past(self.window, self.images, model, true, [B::default(); 2]);
        let Some(Knowledge::Proven(Proof { best, .. })) =
            self.table.look_up(past.key, |proof| proof.best != NO_MOVE)
        else {
            return None;
        };
        Some(match self.images {
            Some(images) if past.symmetry > 0 && best < THREAT => images.step_back(past.symmetry, best),
            _ => best,
        })
    }

    /// Returns the position after a move, without a past; `None` if the move is not legal.
    fn model_after(&self, model: &Position<B>, step: MoveCode) -> Option<Position<B>> {
        match step {
            PASS => Some(self.window.pass(model)),
            THREAT.. => None,
            index => Some(self.window.place(model, u32::from(index))?.after),
        }
    }

    /// Counts a node, and returns the number of nodes before it. Returns `None` if the budget is used up or the line is
    /// too long.
    fn count(&mut self, left: &mut u32) -> Option<u64> {
        *left = left.checked_sub(1)?;
        if self.path.len() > max_depth::<B>() {
            return None;
        }
        self.nodes += 1;
        Some(self.nodes - 1)
    }

    /// Simulates a child after which the winner is to move. The path ends with this child.
    fn simulate_winner(
        &mut self,
        at: &Child<B>,
        model: &Position<B>,
        left: &mut u32,
    ) -> Option<PathResult<B>> {
        let position = at.after;
        let before = self.count(left)?;
        let prover_moves = position.to_move == self.goal.prover;
        let step = self.model_move(model).filter(|step| self.steps(&position).contains(step))?;
        let mut child = self.child(&position, step, at.banned)?;
        if child.decided.is_none() {
            let model = self.model_after(model, step)?;
            self.enter(&position, &child);
            let decided = self.simulate_loser(&child, &model, left);
            self.path.pop();
            child.decide(self.goal.prover, decided?);
        }
        if child.decided?.won != prover_moves {
            return None;
        }
        let first = self.children.len();
        self.children.push(child);
        let (decided, best) = self.conclude(&position, first, prover_moves, prover_moves);
        self.children.truncate(first);
        self.finish((at.key, at.symmetry), decided, best, before).decided
    }

    /// Simulates a child after which the loser is to move: every move must fail. The path ends with this child.
    fn simulate_loser(
        &mut self,
        at: &Child<B>,
        model: &Position<B>,
        left: &mut u32,
    ) -> Option<PathResult<B>> {
        let position = at.after;
        let before = self.count(left)?;
        let prover_moves = position.to_move == self.goal.prover;
        let held = self.goal.held(self.window, &position, self.path.repetition().cycles());
        if let Some(settled) = held {
            if settled.won == prover_moves {
                return None;
            }
            let decided = PathResult { won: settled.won, since: NEVER, trace: settled.trace };
            return self.finish((at.key, at.symmetry), decided, NO_MOVE, before).decided;
        }
        let first = self.children.len();
        self.expand(&position, at.banned);
        let mut holds = true;
        for index in first..self.children.len() {
            let child = self.children[index];
            let decided = match child.decided {
                Some(decided) => Some(decided),
                None => self.model_after(model, child.step).and_then(|model| {
                    self.enter(&position, &child);
                    let decided = self.simulate_winner(&child, &model, left);
                    self.path.pop();
                    decided
                }),
            };
            match decided.filter(|it| it.won != prover_moves) {
                Some(decided) if child.decided.is_none() => {
                    self.children[index].decide(self.goal.prover, decided)
                }
                Some(_) => {}
                None => {
                    holds = false;
                    break;
                }
            }
        }
        let result = if holds {
            let (decided, best) = self.conclude(&position, first, !prover_moves, prover_moves);
            self.finish((at.key, at.symmetry), decided, best, before).decided
        } else {
            None
        };
        self.children.truncate(first);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Goal, Kind};
    use crate::images::Images;
    use crate::path::Repetition;
    use crate::table::Table;
    use crate::window::Window;
    use kosumi_go::board::{Board, BoardSize, Color};
    use kosumi_go::rules::KoRule;

    /// The correctness of simulated results is tested by `solve::tests`, against plain minimax.
    #[test]
    fn simulated_moves_fail_like_their_model() {
        let size = BoardSize::new(3, 4).unwrap();
        let window = Window::<u64>::whole(size, false).unwrap();
        let (images, table) = (Images::new(&window, size), Table::new(16 << 20));
        let never = |_: u64| false;
        let root = window.position(&Board::new(size), Color::Black);
        // Black gets four points, but not five.
        for (score, won) in [(4, true), (5, false)] {
            let goal = Goal { prover: Color::Black, kind: Kind::Score(score) };
            let repetition = Repetition::Forbidden(KoRule::Positional);
            let mut search =
                Search::new(&window, goal, repetition, &table, &never).with_images(images.as_ref());
            assert_eq!(search.decide_line(&root, &[]).won, Some(won), "{score}");
            assert!(search.simulated > 100, "{}", search.simulated);
        }
    }
}

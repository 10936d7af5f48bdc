//! Review of a game, position by position.

use super::analysis::PositionReview;
use super::analyst::Analyst;
use super::judge::{Comparison, Judgement, Thresholds};
use super::main_line::{self, Change, MainLine, Step};
use super::reconcile::reconciled;
use super::scatter::{self, Scatter};
use super::summary::{PlayerSummary, worst};
use crate::pages::{Text, localized};
use crate::words::color_name;
use kosumi_go::board::{ByColor, Color, Move};

/// Scope of a review.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scope {
    /// First move that is judged, counted from 1.
    pub from: usize,
    /// Last move that is judged.
    pub to: usize,
    /// Player whose moves are judged; `None` for both.
    pub player: Option<Color>,
    /// Losses from which a move is an inaccuracy, a mistake or a blunder.
    pub thresholds: Thresholds,
}

impl Default for Scope {
    fn default() -> Scope {
        Scope { from: 1, to: usize::MAX, player: None, thresholds: Thresholds::default() }
    }
}

impl Scope {
    /// Returns whether the position after this number of moves has to be searched.
    pub fn holds(&self, moves: usize) -> bool {
        moves + 1 >= self.from && moves <= self.to
    }

    /// Returns whether the moves of a player are judged.
    pub fn holds_player(&self, color: Color) -> bool {
        self.player.is_none_or(|player| player == color)
    }

    /// Returns the part of a game that is in scope; `None` for the whole game.
    pub fn part(&self, line: &MainLine) -> Option<Part> {
        let moves = line.move_count();
        let part = Part { first: self.from.max(1), last: self.to.min(moves), moves, player: self.player };
        let is_whole = part.first == 1 && part.last == moves && part.player.is_none();
        (!is_whole).then_some(part)
    }
}

/// Part of a game whose moves are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// First move, counted from 1.
    pub first: usize,
    /// Last move.
    pub last: usize,
    /// Number of moves of the game.
    pub moves: usize,
    /// Player whose moves are judged; `None` for both.
    pub player: Option<Color>,
}

impl Part {
    /// Returns the part in words: its moves unless the part contains all, and its player unless it contains both.
    pub fn texts(&self) -> Vec<Text> {
        let Part { first, last, moves, player } = *self;
        let range = localized("only-moves").with("first", first).with("last", last).with("count", moves);
        let range = Some(range).filter(|_| first > 1 || last < moves);
        let player = player.map(|color| localized(format!("only-{}", color_name(color))));
        range.into_iter().chain(player).collect()
    }

    /// Returns the part as an English sentence.
    pub fn sentence(&self) -> String {
        let texts: Vec<String> = self.texts().iter().map(Text::english).collect();
        format!("Reviewed in part: {}.", texts.join(", "))
    }
}

/// Review of a game.
#[derive(Clone, PartialEq, Debug)]
pub struct Review {
    /// One entry for every step of the main line; `None` out of scope.
    pub analyses: Vec<Option<PositionReview>>,
    /// Counterparts of `analyses` before the values of neighbouring positions were reconciled: the values of each
    /// search alone.
    pub searched: Vec<Option<PositionReview>>,
    /// One entry for every step: the judgement of the move that led to it, if it was a move.
    pub judgements: Vec<Option<Judgement>>,
    /// Summary for each player.
    pub players: ByColor<PlayerSummary>,
    /// Steps of inaccuracies, mistakes and blunders, the least accurate first.
    pub worst: Vec<usize>,
    /// Scatter of searches of the same position.
    pub scatter: Scatter,
    /// Whether all positions in scope were searched. If not, the first ones are missing.
    pub is_complete: bool,
}

impl Review {
    /// Returns the first move that was judged, counted from 1.
    pub fn first_judged(&self, line: &MainLine) -> Option<usize> {
        let index = self.judgements.iter().position(Option::is_some)?;
        Some(line.steps()[index].moves)
    }

    /// Returns this review, completed by a review with shorter searches where this one was stopped. A move is judged by
    /// two positions of the same review, because values of searches of different lengths cannot be compared.
    #[must_use]
    pub fn completed_by(self, shorter: &Review, line: &MainLine) -> Review {
        if self.is_complete {
            return self;
        }
        fn filled<T: Clone>(own: Vec<Option<T>>, others: &[Option<T>]) -> Vec<Option<T>> {
            own.into_iter().zip(others).map(|(own, other)| own.or_else(|| other.clone())).collect()
        }
        let analyses = filled(self.analyses, &shorter.analyses);
        let searched = filled(self.searched, &shorter.searched);
        let judgements = filled(self.judgements, &shorter.judgements);
        let scatter = if self.scatter.repeats > 0 { self.scatter } else { shorter.scatter };
        Review {
            is_complete: shorter.is_complete,
            ..Review::new(line, analyses, searched, judgements, scatter)
        }
    }

    /// Creates a complete review.
    fn new(
        line: &MainLine,
        analyses: Vec<Option<PositionReview>>,
        searched: Vec<Option<PositionReview>>,
        judgements: Vec<Option<Judgement>>,
        scatter: Scatter,
    ) -> Review {
        let players = ByColor::new(
            PlayerSummary::of(Color::Black, line, &judgements),
            PlayerSummary::of(Color::White, line, &judgements),
        );
        let worst = worst(&judgements);
        Review { analyses, searched, judgements, players, worst, scatter, is_complete: true }
    }
}

/// Reviews a game. After each position, `progress` gets the number of finished positions and the total. If the analyst
/// is interrupted, the review contains the results so far.
pub fn review(
    line: &MainLine,
    scope: &Scope,
    analyst: &mut impl Analyst,
    progress: &mut dyn FnMut(usize, usize),
) -> Review {
    let steps = line.steps();
    let in_scope: Vec<usize> = (0..steps.len()).filter(|&index| scope.holds(steps[index].moves)).collect();
    let repeats: Vec<usize> =
        scatter::chosen(in_scope.len()).into_iter().map(|number| in_scope[number]).collect();
    let total = in_scope.len() + repeats.len();
    let mut done = 0;
    let mut advance = || {
        done += 1;
        progress(done, total);
    };
    let mut analyses: Vec<Option<PositionReview>> = vec![None; steps.len()];
    let mut comparisons: Vec<Option<Comparison>> = vec![None; steps.len()];
    line.backwards(|index, game| {
        if !scope.holds(steps[index].moves) || analyst.is_interrupted() {
            return;
        }
        let analysis = analyst.analyze(game);
        if analyst.is_interrupted() {
            return;
        }
        if let Some(Step { change: Change::Move { color, mv, .. }, .. }) = steps.get(index + 1)
            && let Some(after) = &analyses[index + 1]
            && scope.holds_player(*color)
        {
            let check = |best: Move| main_line::after(game, *color, best, |changed| analyst.analyze(changed));
            let comparison = Comparison::new(*color, *mv, &analysis, after, &scope.thresholds, check);
            comparisons[index + 1] = comparison.filter(|_| !analyst.is_interrupted());
        }
        analyses[index] = Some(analysis);
        advance();
    });
    let mut pairs = Vec::new();
    line.backwards(|index, game| {
        if let Some(first) = analyses[index].as_ref().filter(|_| repeats.contains(&index)) {
            if first.visits > 0 && !analyst.is_interrupted() {
                let second = analyst.analyze_afresh(game);
                if !analyst.is_interrupted() {
                    pairs.push((first, second));
                }
            }
            advance();
        }
    });
    let scatter = Scatter::of_pairs(&pairs);
    analyses.iter_mut().flatten().for_each(|analysis| scatter.widen_all(analysis));
    let searched = analyses.clone();
    let judgements = reconciled(line, &mut analyses, comparisons, &scatter, &scope.thresholds);
    let is_complete = in_scope.iter().all(|&index| analyses[index].is_some());
    Review { is_complete, ..Review::new(line, analyses, searched, judgements, scatter) }
}

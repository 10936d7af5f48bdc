//! Parameters of the search: one table for each formula, with range, unit and source.

use crate::board::BoardSize;

/// Constants of a search. `Default` is for playouts on 9×9; [`SearchParams::for_playouts`] and
/// [`SearchParams::for_network`] know evaluators and sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchParams {
    /// Evaluations a node needs before its moves are created; from 1. CITE: Coulom (2006); Fuego uses 3, Pachi
    /// and michi 8. A node without moves costs 64 bytes, so a high number saves memory.
    pub expand_after: u32,
    /// How many lost games a descent in progress counts for the nodes it goes through (virtual loss).
    pub in_flight_weight: u32,
    /// How the next move is chosen.
    pub formula: Formula,
    /// How the best move is told when the search is over.
    pub choice: Choice,
}

/// Which move of the root is the best: of those that were visited often enough, the one whose value is surest to be
/// good, value less some standard errors. With 0 standard errors, the most visited one.
///
/// CITE: KataGo and Leela Zero choose so by default; KataGo's constants are 5 and 0.15.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Choice {
    /// Standard errors; from 0.
    pub standard_errors: f32,
    /// Visits a move needs to be considered, as a share of the most visited one's; in `[0, 1]`.
    pub visit_share: f32,
}

/// How a move is chosen during a descent. The evaluator's priors must fit: games for the first, probabilities for
/// the second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Formula {
    /// Means mixed with all-moves-as-first: for evaluators that play on.
    Rave(RaveParams),
    /// Means and probabilities: for evaluators that know good moves.
    Puct(PuctParams),
}

/// Constants of [`select::rave_urgency`](super::select::rave_urgency).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RaveParams {
    /// Games at which RAVE and the plain mean weigh about the same (the `equivalence` of Pachi's formula); 0
    /// switches RAVE off. CITE: Gelly and Silver, "Monte-Carlo tree search and rapid action value estimation in
    /// computer Go" (2011).
    pub equivalence: f32,
    /// Weight of the exploration term; RAVE explores well enough alone. CITE: Pachi's and Fuego's logs: 0 is
    /// best.
    pub exploration: f32,
    /// Moves of a playout count double for RAVE up to this many per point of the board. From 0; a playout has
    /// about 1.3 moves per point.
    pub early_share: f32,
}

/// Constants of [`select::Puct`](super::select::Puct). CITE: KataGo's defaults, in its documentation of methods and
/// its parameter file; values in `[-1, 1]`, as here.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PuctParams {
    /// Weight of the probabilities while there are few visits; above 0.
    pub exploration: f32,
    /// By how much the weight grows for every e-fold of visits beyond `growth_visits`; from 0.
    pub growth: f32,
    /// Visits from which on the weight grows; above 0.
    pub growth_visits: f32,
    /// Standard deviation of values at which exploration is as told; above 0.
    pub usual_deviation: f32,
    /// Visits that the usual deviation counts for in the measured one; from 0.
    pub usual_deviation_visits: f32,
    /// Share of exploration that follows the measured deviation, in `[0, 1]`.
    pub deviation_share: f32,
    /// How much worse than its parent a move is taken to be before its first visit, once all moves that were
    /// likely have been visited; from 0.
    pub first_play_reduction: f32,
    /// The same at the root, where more moves are to be looked at.
    pub root_first_play_reduction: f32,
}

/// What is to be other than what suits evaluator and board; `None` leaves a parameter alone. Ranges are those of
/// [`PuctParams`] and [`Choice`].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SearchChanges {
    /// See [`PuctParams::exploration`].
    pub exploration: Option<f32>,
    /// See [`PuctParams::growth`].
    pub growth: Option<f32>,
    /// See [`PuctParams::deviation_share`].
    pub deviation_share: Option<f32>,
    /// See [`PuctParams::first_play_reduction`].
    pub first_play_reduction: Option<f32>,
    /// See [`PuctParams::root_first_play_reduction`].
    pub root_first_play_reduction: Option<f32>,
    /// See [`Choice::standard_errors`].
    pub choice_standard_errors: Option<f32>,
    /// See [`Choice::visit_share`].
    pub choice_visit_share: Option<f32>,
}

impl Default for RaveParams {
    fn default() -> RaveParams {
        RaveParams { equivalence: 3000.0, exploration: 0.0, early_share: 1.0 }
    }
}

impl Default for PuctParams {
    fn default() -> PuctParams {
        PuctParams {
            exploration: 1.0,
            growth: 0.45,
            growth_visits: 500.0,
            usual_deviation: 0.4,
            usual_deviation_visits: 2.0,
            deviation_share: 0.85,
            first_play_reduction: 0.2,
            root_first_play_reduction: 0.1,
        }
    }
}

impl Default for SearchParams {
    fn default() -> SearchParams {
        SearchParams {
            expand_after: 2,
            in_flight_weight: 1,
            formula: Formula::Rave(RaveParams::default()),
            choice: Choice::default(),
        }
    }
}

impl SearchParams {
    /// Parameters for playouts on boards of this size.
    pub fn for_playouts(size: BoardSize) -> SearchParams {
        let base = SearchParams::default();
        if size.area() > 200 {
            let rave = RaveParams { equivalence: 4000.0, ..RaveParams::default() };
            SearchParams { formula: Formula::Rave(rave), ..base }
        } else {
            base
        }
    }

    /// Parameters for a network. Its answer for a position holds the moves too, so they are created when the
    /// position is met for the second time.
    ///
    /// The same for all sizes: with earlier states of the built-in network and 100 visits, `kosumi tune` (on 9×9 its
    /// prototype) found nothing better among 17 settings on 9×9 (300 positions; exploration 0.6 to 2.2, reductions,
    /// deviation, choice by lower bounds: −0.24 to +0.12 % of the games a move, standard errors 0.08 to 0.24), 2 on
    /// 13×13 (150 positions; exploration 0.7: −0.06, 1.4: +0.02, standard errors 0.08) and 6 on 19×19 (110 positions;
    /// −0.08 to +0.00, standard errors 0.06 at most).
    pub fn for_network(_size: BoardSize) -> SearchParams {
        let formula = Formula::Puct(PuctParams::default());
        SearchParams { expand_after: 1, formula, ..SearchParams::default() }
    }

    /// These parameters with some of them changed. Changes of PUCT do nothing to another formula.
    pub fn changed(mut self, changes: &SearchChanges) -> SearchParams {
        let put = |place: &mut f32, value: Option<f32>| *place = value.unwrap_or(*place);
        put(&mut self.choice.standard_errors, changes.choice_standard_errors);
        put(&mut self.choice.visit_share, changes.choice_visit_share);
        if let Formula::Puct(puct) = &mut self.formula {
            put(&mut puct.exploration, changes.exploration);
            put(&mut puct.growth, changes.growth);
            put(&mut puct.deviation_share, changes.deviation_share);
            put(&mut puct.first_play_reduction, changes.first_play_reduction);
            put(&mut puct.root_first_play_reduction, changes.root_first_play_reduction);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_change_what_they_name() {
        let size = BoardSize::square(9).expect("9 is a size");
        let changes =
            SearchChanges { exploration: Some(2.0), choice_visit_share: Some(0.5), ..Default::default() };
        for usual in [SearchParams::for_network(size), SearchParams::for_playouts(size)] {
            let changed = usual.changed(&changes);
            assert_eq!(changed.choice, Choice { visit_share: 0.5, ..usual.choice });
            match (usual.formula, changed.formula) {
                (Formula::Puct(before), Formula::Puct(after)) => {
                    assert_eq!(after, PuctParams { exploration: 2.0, ..before });
                }
                (before, after) => assert_eq!(before, after),
            }
            assert_eq!(usual.changed(&SearchChanges::default()), usual);
        }
    }
}

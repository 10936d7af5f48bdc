//! Parameters of the search: one table, with range, unit and source.

use crate::board::BoardSize;

/// Constants of a search. `Default` is for 9×9; [`SearchParams::for_size`] knows the other sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchParams {
    /// Evaluations a node needs before its moves are created; from 1. CITE: Coulom (2006); Fuego uses 3, Pachi
    /// and michi 8. A node without moves costs 64 bytes, so a high number saves memory.
    pub expand_after: u32,
    /// Games at which RAVE and the plain mean weigh about the same (the `equivalence` of Pachi's formula); 0
    /// switches RAVE off. CITE: Gelly and Silver, "Monte-Carlo tree search and rapid action value estimation in
    /// computer Go" (2011).
    pub rave_equivalence: f32,
    /// Weight of the exploration term; RAVE explores well enough alone. CITE: Pachi's and Fuego's logs: 0 is
    /// best.
    pub exploration: f32,
    /// Moves of a playout count double for RAVE up to this many per point of the board. From 0; a playout has
    /// about 1.3 moves per point.
    pub rave_early_share: f32,
    /// How many lost games a descent in progress counts for the nodes it goes through (virtual loss).
    pub in_flight_weight: u32,
}

impl Default for SearchParams {
    fn default() -> SearchParams {
        SearchParams {
            expand_after: 2,
            rave_equivalence: 3000.0,
            exploration: 0.0,
            rave_early_share: 1.0,
            in_flight_weight: 1,
        }
    }
}

impl SearchParams {
    /// Parameters for boards of this size.
    pub fn for_size(size: BoardSize) -> SearchParams {
        let base = SearchParams::default();
        if size.area() > 200 { SearchParams { rave_equivalence: 4000.0, ..base } } else { base }
    }
}

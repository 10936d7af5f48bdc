//! The passes of a review: each one searches all positions, and longer than the one before, so that a result is there soon.

use kosumi_net::Network;
use kosumi_search::Limits;
use kosumi_tools::review::Reviewed;
use std::sync::Arc;
use std::time::Duration;

/// What the first pass may take: a game is to be shown within a minute, also on a machine with other things to do.
const QUICK_TIME: Duration = Duration::from_secs(30);
/// Searches for each position: first choices are searched too, and some positions twice.
const SEARCHES: f64 = 1.5;
/// Simulations of a position in the first pass, if there is time for them.
const QUICK_PLAYOUTS: u32 = 16;
/// The second pass has this part of the last one's simulations.
const SHORTER: u32 = 8;

/// One pass.
pub(super) struct Pass {
    pub(super) network: Option<Arc<Network>>,
    pub(super) limits: Limits,
}

impl Pass {
    /// The first pass, by the small network.
    pub(super) fn quick(small: Arc<Network>, positions: usize) -> Pass {
        let time = QUICK_TIME.div_f64(SEARCHES * positions.max(1) as f64);
        let limits = Limits { playouts: Some(QUICK_PLAYOUTS), ..Limits::time(time) };
        Pass { network: Some(small), limits }
    }

    /// This pass with fewer simulations.
    pub(super) fn shorter(&self) -> Pass {
        let playouts = self.limits.playouts.map(|playouts| (playouts / SHORTER).max(1));
        Pass { network: self.network.clone(), limits: Limits { playouts, ..self.limits } }
    }
}

/// What a pass has found, with what an earlier one has where it was stopped; if so, it says so.
pub(super) fn joined(earlier: Option<Reviewed>, mut later: Reviewed) -> Reviewed {
    if later.review.is_complete {
        return later;
    }
    let first = later.review.first_judged(&later.line);
    let Some(earlier) = earlier else {
        later.facts.warnings.push(match first {
            Some(first) => format!("the review was stopped: no move before move {first} was judged"),
            None => "the review was stopped before any move was judged".to_owned(),
        });
        return later;
    };
    let Some(first) = first else {
        let mut reviewed = earlier;
        reviewed.facts.warnings.push("the review was stopped before longer searches were done".to_owned());
        return reviewed;
    };
    later.facts.warnings.push(format!(
        "the review was stopped: moves before move {first} were judged by shorter searches, {}",
        earlier.facts.effort
    ));
    later.review = later.review.completed_by(&earlier.review, &later.line);
    later
}

//! Passes of a review. Each pass searches all positions, longer than the previous pass did, so that first results are
//! available soon.

use kosumi_net::Network;
use kosumi_search::Limits;
use kosumi_tools::review::Reviewed;
use std::sync::Arc;
use std::time::Duration;

/// Time for the first pass. A game should be shown within a minute, even on a busy machine.
const QUICK_TIME: Duration = Duration::from_secs(30);
/// Number of searches per position: first choices are searched as well, and some positions are searched twice.
const SEARCHES_PER_POSITION: f64 = 1.5;
/// Maximum playouts per position in the first pass.
const QUICK_PLAYOUTS: u32 = 16;
/// Ratio between the playouts of the last pass and the second pass.
const SECOND_PASS_DIVISOR: u32 = 8;

/// Network and limits of a pass.
pub(super) struct Pass {
    pub(super) network: Option<Arc<Network>>,
    pub(super) limits: Limits,
}

impl Pass {
    /// Creates the first pass, which uses the small network.
    pub(super) fn quick(small: Arc<Network>, positions: usize) -> Pass {
        let time = QUICK_TIME.div_f64(SEARCHES_PER_POSITION * positions.max(1) as f64);
        let limits = Limits { playouts: Some(QUICK_PLAYOUTS), ..Limits::time(time) };
        Pass { network: Some(small), limits }
    }

    /// Returns this pass with fewer playouts.
    pub(super) fn shorter(&self) -> Pass {
        let playouts = self.limits.playouts.map(|playouts| (playouts / SECOND_PASS_DIVISOR).max(1));
        Pass { network: self.network.clone(), limits: Limits { playouts, ..self.limits } }
    }
}

/// Completes the result of a stopped pass with the result of the previous pass, and adds a warning about this.
pub(super) fn completed_by_earlier(earlier: Option<Reviewed>, mut later: Reviewed) -> Reviewed {
    if later.review.is_complete {
        return later;
    }
    let first = later.review.first_judged(&later.line);
    let Some(earlier) = earlier else {
        later.facts.warnings.push(match first {
            Some(first) => format!("the review was stopped: no move before move {first} was reviewed"),
            None => "the review was stopped before any move was reviewed".to_owned(),
        });
        return later;
    };
    let Some(first) = first else {
        let mut reviewed = earlier;
        reviewed.facts.warnings.push("the review was stopped before longer searches were done".to_owned());
        return reviewed;
    };
    later.facts.warnings.push(format!(
        "the review was stopped: moves before move {first} were reviewed by shorter searches, {}",
        earlier.facts.effort
    ));
    let review = later.review.completed_by(&earlier.review, &later.line);
    Reviewed::new(later.tree, later.line, review, later.facts)
}

//! Parameters of the search: one table for each formula, with range, unit and source.

use kosumi_go::board::BoardSize;
use kosumi_go::game::Game;

/// Constants of a search. `Default` is for playouts on 9×9; [`SearchParams::for_playouts`] and
/// [`SearchParams::for_network`] know evaluators and sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchParams {
    /// Evaluations a node needs before its moves are created; from 1. CITE: Coulom (2006); Fuego uses 3, Pachi
    /// and michi 8. A node without moves costs 128 bytes, so a high number saves memory.
    pub expand_after: u32,
    /// Lost games that a descent in progress counts for at the nodes it goes through, so that workers spread; from 0.
    pub virtual_losses: f32,
    /// So many descents may be in progress at once, and more only when the root has twenty visits for each of them; `None`: one
    /// for every worker. From 1.
    pub descents_at_once: Option<u32>,
    /// How the next move is chosen.
    pub formula: Formula,
    /// How the best move is told when the search is over.
    pub choice: Choice,
    /// What is different at the root.
    pub root: RootParams,
}

/// What is different at the root. Names and defaults are KataGo's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RootParams {
    /// Where the position is its own image under a symmetry of the board, is one of its symmetric moves enough? For moves
    /// that are to be played alone ([`SearchContext::for_play`](super::SearchContext::for_play)), and where the past does
    /// not matter.
    pub symmetry_pruning: bool,
    /// Are points that are settled left out once the opponent has passed four times in a row? Also for moves to be played
    /// alone.
    pub prune_useless_moves: bool,
    /// The probabilities of the root's moves are taken to the power of 1 through this; above 0.
    pub policy_temperature: f32,
    /// The same at the beginning of a game; half of the difference is gone after as many moves as the board has rows.
    pub policy_temperature_early: f32,
}

/// Which move of the root is the best: of those that were visited often enough, the one with the highest lower confidence
/// bound (LCB), which is its value less some standard errors. With 0 standard errors, the most visited one.
///
/// CITE: KataGo and Leela Zero choose so by default. Names are KataGo's, whose constants are 5 and 0.15.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Choice {
    /// Standard errors that are taken off the value; from 0.
    pub lcb_stdevs: f32,
    /// Visits a move needs to be considered, as a share of the most visited one's; in `[0, 1]`.
    pub min_visit_prop_for_lcb: f32,
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

/// Constants of [`select::Puct`](super::select::Puct). Names and defaults are KataGo's (its documentation of methods and
/// its parameter file); values are in `[-1, 1]`, as there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PuctParams {
    /// Weight of the probabilities while there are few visits; above 0.
    pub cpuct_exploration: f32,
    /// What is added to the weight when the visits grow by a factor of e beyond `cpuct_exploration_base`; from 0.
    pub cpuct_exploration_log: f32,
    /// Visits from which on the weight grows; above 0.
    pub cpuct_exploration_base: f32,
    /// Standard deviation of values with which the weight is as told; above 0.
    pub cpuct_utility_stdev_prior: f32,
    /// Visits for which that deviation counts when it is averaged with the measured one; from 0.
    pub cpuct_utility_stdev_prior_weight: f32,
    /// Share of the weight, in `[0, 1]`, that is proportional to the averaged deviation.
    pub cpuct_utility_stdev_scale: f32,
    /// First-play urgency: how much worse than its parent a move is taken to be before its first visit, once all
    /// likely moves have been visited; from 0.
    pub fpu_reduction_max: f32,
    /// The same at the root, where more moves are to be looked at.
    pub root_fpu_reduction_max: f32,
    /// Is a move before its first visit taken to be worth what the network says of its parent, until its likely moves have
    /// been visited? If not, it is what the search says of its parent, from the beginning.
    pub fpu_parent_weight_by_visited_policy: bool,
    /// The search counts with this power of the probability of the visited moves; above 0.
    pub fpu_parent_weight_by_visited_policy_pow: f32,
    /// How much worse still a move is taken to be before its first visit, for every halving of its probability, down to a
    /// loss; from 0.
    pub fpu_reduction_per_halving: f32,
    /// How far moves that have proved to be bad lose weight in the value of their parent; 0 is not at all, see
    /// [`means`](super::means).
    pub value_weight_exponent: f32,
    /// Do moves that are worse than likelier ones lose the visits that they have beyond what is due to them?
    pub use_noise_pruning: bool,
    /// Difference of utilities at which most of those visits go; above 0.
    pub noise_prune_utility_scale: f32,
    /// What points count beside the result, around an even game; from 0. See [`utility`](super::utility).
    pub static_score_utility_factor: f32,
    /// The same around the score that is expected at the root; from 0.
    pub dynamic_score_utility_factor: f32,
    /// How far that score is moved towards an even game, in `[0, 1]`.
    pub dynamic_score_center_zero_weight: f32,
    /// The points in which what points count grows, in sides of the board; above 0.
    pub dynamic_score_center_scale: f32,
    /// Do evaluations count less where the network says that it is unsure? Only networks from version 9 on do.
    pub use_uncertainty: bool,
    /// An expected error of about this counts as one visit; above 0.
    pub uncertainty_coeff: f32,
    /// Power of the error; from 0.
    pub uncertainty_exponent: f32,
    /// Visits that a sure evaluation counts; above 0.
    pub uncertainty_max_weight: f32,
    /// Share of what the network got wrong after moves of the same kind, in `[0, 1]`, that is added to what it says; see
    /// the module `bias`.
    pub subtree_value_bias_factor: f32,
    /// What a position counts there: this power of its visits; from 0.
    pub subtree_value_bias_weight_exponent: f32,
    /// Share of it, in `[0, 1]`, that is forgotten when the game has taken another way.
    pub subtree_value_bias_free_prop: f32,
}

/// Constants that differ from what suits evaluator and board; `None` leaves a constant alone. Names and ranges are those
/// of [`SearchParams`], [`PuctParams`], [`RaveParams`], [`Choice`] and [`RootParams`]. A constant of a formula that is not in use changes
/// nothing.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SearchChanges {
    /// See [`SearchParams::expand_after`].
    pub expand_after: Option<u32>,
    /// See [`SearchParams::virtual_losses`].
    pub virtual_losses: Option<f32>,
    /// See [`PuctParams::cpuct_exploration`].
    pub cpuct_exploration: Option<f32>,
    /// See [`PuctParams::cpuct_exploration_log`].
    pub cpuct_exploration_log: Option<f32>,
    /// See [`PuctParams::cpuct_exploration_base`].
    pub cpuct_exploration_base: Option<f32>,
    /// See [`PuctParams::cpuct_utility_stdev_prior`].
    pub cpuct_utility_stdev_prior: Option<f32>,
    /// See [`PuctParams::cpuct_utility_stdev_prior_weight`].
    pub cpuct_utility_stdev_prior_weight: Option<f32>,
    /// See [`PuctParams::cpuct_utility_stdev_scale`].
    pub cpuct_utility_stdev_scale: Option<f32>,
    /// See [`PuctParams::fpu_reduction_max`].
    pub fpu_reduction_max: Option<f32>,
    /// See [`PuctParams::root_fpu_reduction_max`].
    pub root_fpu_reduction_max: Option<f32>,
    /// See [`PuctParams::fpu_parent_weight_by_visited_policy`].
    pub fpu_parent_weight_by_visited_policy: Option<bool>,
    /// See [`PuctParams::fpu_parent_weight_by_visited_policy_pow`].
    pub fpu_parent_weight_by_visited_policy_pow: Option<f32>,
    /// See [`PuctParams::fpu_reduction_per_halving`].
    pub fpu_reduction_per_halving: Option<f32>,
    /// See [`PuctParams::value_weight_exponent`].
    pub value_weight_exponent: Option<f32>,
    /// See [`PuctParams::use_noise_pruning`].
    pub use_noise_pruning: Option<bool>,
    /// See [`PuctParams::noise_prune_utility_scale`].
    pub noise_prune_utility_scale: Option<f32>,
    /// See [`PuctParams::static_score_utility_factor`].
    pub static_score_utility_factor: Option<f32>,
    /// See [`PuctParams::dynamic_score_utility_factor`].
    pub dynamic_score_utility_factor: Option<f32>,
    /// See [`PuctParams::dynamic_score_center_zero_weight`].
    pub dynamic_score_center_zero_weight: Option<f32>,
    /// See [`PuctParams::dynamic_score_center_scale`].
    pub dynamic_score_center_scale: Option<f32>,
    /// See [`PuctParams::use_uncertainty`].
    pub use_uncertainty: Option<bool>,
    /// See [`PuctParams::uncertainty_coeff`].
    pub uncertainty_coeff: Option<f32>,
    /// See [`PuctParams::uncertainty_exponent`].
    pub uncertainty_exponent: Option<f32>,
    /// See [`PuctParams::uncertainty_max_weight`].
    pub uncertainty_max_weight: Option<f32>,
    /// See [`PuctParams::subtree_value_bias_factor`].
    pub subtree_value_bias_factor: Option<f32>,
    /// See [`PuctParams::subtree_value_bias_weight_exponent`].
    pub subtree_value_bias_weight_exponent: Option<f32>,
    /// See [`PuctParams::subtree_value_bias_free_prop`].
    pub subtree_value_bias_free_prop: Option<f32>,
    /// See [`RaveParams::equivalence`].
    pub rave_equivalence: Option<f32>,
    /// See [`RaveParams::exploration`].
    pub rave_exploration: Option<f32>,
    /// See [`RaveParams::early_share`].
    pub rave_early_share: Option<f32>,
    /// See [`Choice::lcb_stdevs`].
    pub lcb_stdevs: Option<f32>,
    /// See [`Choice::min_visit_prop_for_lcb`].
    pub min_visit_prop_for_lcb: Option<f32>,
    /// See [`RootParams::symmetry_pruning`].
    pub root_symmetry_pruning: Option<bool>,
    /// See [`RootParams::prune_useless_moves`].
    pub root_prune_useless_moves: Option<bool>,
    /// See [`RootParams::policy_temperature`].
    pub root_policy_temperature: Option<f32>,
    /// See [`RootParams::policy_temperature_early`].
    pub root_policy_temperature_early: Option<f32>,
}

/// How a search has looked at its root.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Parameters of the search.
    pub params: &'a SearchParams,
    /// What the probabilities of the root's moves were multiplied by.
    pub root_scale: f32,
}

impl RootParams {
    /// What is usual.
    pub const USUAL: RootParams = RootParams {
        symmetry_pruning: true,
        prune_useless_moves: true,
        policy_temperature: 1.0,
        policy_temperature_early: 1.0,
    };

    /// The temperature for a game so far.
    pub(super) fn temperature(&self, game: &Game) -> f32 {
        let moves = game.records().len() as f32 / (game.size().area() as f32).sqrt();
        let early = self.policy_temperature_early - self.policy_temperature;
        self.policy_temperature + early * libm::powf(0.5, moves)
    }
}

impl Default for RootParams {
    fn default() -> RootParams {
        RootParams::USUAL
    }
}

impl Default for RaveParams {
    fn default() -> RaveParams {
        RaveParams { equivalence: 3000.0, exploration: 0.0, early_share: 1.0 }
    }
}

impl Default for PuctParams {
    fn default() -> PuctParams {
        PuctParams {
            cpuct_exploration: 1.0,
            cpuct_exploration_log: 0.45,
            cpuct_exploration_base: 500.0,
            cpuct_utility_stdev_prior: 0.4,
            cpuct_utility_stdev_prior_weight: 2.0,
            cpuct_utility_stdev_scale: 0.85,
            fpu_reduction_max: 0.2,
            root_fpu_reduction_max: 0.1,
            fpu_parent_weight_by_visited_policy: true,
            fpu_parent_weight_by_visited_policy_pow: 2.0,
            fpu_reduction_per_halving: 0.0,
            value_weight_exponent: 0.25,
            use_noise_pruning: true,
            noise_prune_utility_scale: 0.15,
            static_score_utility_factor: 0.1,
            dynamic_score_utility_factor: 0.3,
            dynamic_score_center_zero_weight: 0.2,
            dynamic_score_center_scale: 0.75,
            use_uncertainty: true,
            uncertainty_coeff: 0.25,
            uncertainty_exponent: 1.0,
            uncertainty_max_weight: 8.0,
            subtree_value_bias_factor: 0.45,
            subtree_value_bias_weight_exponent: 0.85,
            subtree_value_bias_free_prop: 0.8,
        }
    }
}

impl Default for SearchParams {
    fn default() -> SearchParams {
        SearchParams {
            expand_after: 2,
            virtual_losses: 1.0,
            descents_at_once: None,
            formula: Formula::Rave(RaveParams::default()),
            choice: Choice::default(),
            root: RootParams::USUAL,
        }
    }
}

/// So many parameters at most has what [`SearchParams::for_network_of`] takes for a small network: of those measured, the
/// small built-in one (0.8 million) and KataGo's b6c96 (1.0 million) are, the large built-in one (10.8 million) is not.
const SMALL_NETWORK: usize = 2_000_000;

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
    /// KataGo's constants, the same for all sizes. `kosumi tune` found nothing better with b6c96 and 200 visits on 9×9 (300
    /// positions, judged by b7c96h3tfrs; less than these lose, in per cent of the games a move: `cpuct_exploration` 0.8
    /// −0.65 ± 0.29, 1.25 −0.30 ± 0.20, choice by visits −0.30 ± 0.24, no correction of evaluations −0.10), nor
    /// with earlier states of the search and of the built-in network among 25 settings on three sizes.
    ///
    /// But for virtual losses, of which KataGo has 1: among many threads nearly all descents in progress go through the best
    /// moves, and make these look bad for as long as they last. CITE: Liu et al., "Watch the unobserved" (2020), who count
    /// them as visits and not as losses.
    pub fn for_network() -> SearchParams {
        let formula = Formula::Puct(PuctParams::default());
        let choice = Choice { lcb_stdevs: 5.0, min_visit_prop_for_lcb: 0.15 };
        SearchParams { expand_after: 1, virtual_losses: 0.25, formula, choice, ..SearchParams::default() }
    }

    /// Parameters for a network of so many parameters.
    ///
    /// A move turns out the worse, the less probable it was, evenly with each halving of its probability. Networks of up to
    /// two million parameters win more games if their moves are taken for that much worse before their first visit; a
    /// large one does not, see `PERF.md`, "Small networks".
    pub fn for_network_of(parameters: usize) -> SearchParams {
        let usual = SearchParams::for_network();
        match usual.formula {
            Formula::Puct(puct) if parameters <= SMALL_NETWORK => {
                let formula = Formula::Puct(PuctParams { fpu_reduction_per_halving: 0.05, ..puct });
                SearchParams { formula, ..usual }
            }
            _ => usual,
        }
    }

    /// These parameters for so many workers that share so many processors.
    ///
    /// As a lost game, a descent in progress keeps others from waiting for the same answer. With more workers than processors
    /// waiting costs nothing, and the moves that they would try instead are worth less, so there it counts as a visit alone, and as long as
    /// the root has few visits, only as many are in progress at once as keep the processors busy (`PERF.md`, *Strength*).
    /// Where each worker has a processor, too many would wait, see `docs/decisions/2026-11-22-many-workers.md`.
    pub fn for_workers(self, workers: usize, processors: usize) -> SearchParams {
        match self.formula {
            Formula::Puct(_) if workers > processors => {
                let at_once = u32::try_from(processors).unwrap_or(u32::MAX).max(1);
                SearchParams { virtual_losses: 0.0, descents_at_once: Some(at_once), ..self }
            }
            _ => self,
        }
    }

    /// The temperature of the root's probabilities, for a game so far.
    pub fn root_temperature(&self, game: &Game) -> f32 {
        match self.formula {
            Formula::Puct(_) => self.root.temperature(game),
            Formula::Rave(_) => 1.0,
        }
    }

    /// These parameters with some of them changed. Changes of one formula do nothing to the other.
    pub fn changed(mut self, changes: &SearchChanges) -> SearchParams {
        fn put<T>(place: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *place = value;
            }
        }
        put(&mut self.expand_after, changes.expand_after);
        put(&mut self.virtual_losses, changes.virtual_losses);
        put(&mut self.choice.lcb_stdevs, changes.lcb_stdevs);
        put(&mut self.choice.min_visit_prop_for_lcb, changes.min_visit_prop_for_lcb);
        put(&mut self.root.symmetry_pruning, changes.root_symmetry_pruning);
        put(&mut self.root.prune_useless_moves, changes.root_prune_useless_moves);
        put(&mut self.root.policy_temperature, changes.root_policy_temperature);
        put(&mut self.root.policy_temperature_early, changes.root_policy_temperature_early);
        match &mut self.formula {
            Formula::Puct(puct) => {
                put(&mut puct.cpuct_exploration, changes.cpuct_exploration);
                put(&mut puct.cpuct_exploration_log, changes.cpuct_exploration_log);
                put(&mut puct.cpuct_exploration_base, changes.cpuct_exploration_base);
                put(&mut puct.cpuct_utility_stdev_prior, changes.cpuct_utility_stdev_prior);
                put(&mut puct.cpuct_utility_stdev_prior_weight, changes.cpuct_utility_stdev_prior_weight);
                put(&mut puct.cpuct_utility_stdev_scale, changes.cpuct_utility_stdev_scale);
                put(&mut puct.fpu_reduction_max, changes.fpu_reduction_max);
                put(&mut puct.root_fpu_reduction_max, changes.root_fpu_reduction_max);
                put(
                    &mut puct.fpu_parent_weight_by_visited_policy,
                    changes.fpu_parent_weight_by_visited_policy,
                );
                put(
                    &mut puct.fpu_parent_weight_by_visited_policy_pow,
                    changes.fpu_parent_weight_by_visited_policy_pow,
                );
                put(&mut puct.fpu_reduction_per_halving, changes.fpu_reduction_per_halving);
                put(&mut puct.value_weight_exponent, changes.value_weight_exponent);
                put(&mut puct.use_noise_pruning, changes.use_noise_pruning);
                put(&mut puct.noise_prune_utility_scale, changes.noise_prune_utility_scale);
                put(&mut puct.static_score_utility_factor, changes.static_score_utility_factor);
                put(&mut puct.dynamic_score_utility_factor, changes.dynamic_score_utility_factor);
                put(&mut puct.dynamic_score_center_zero_weight, changes.dynamic_score_center_zero_weight);
                put(&mut puct.dynamic_score_center_scale, changes.dynamic_score_center_scale);
                put(&mut puct.use_uncertainty, changes.use_uncertainty);
                put(&mut puct.uncertainty_coeff, changes.uncertainty_coeff);
                put(&mut puct.uncertainty_exponent, changes.uncertainty_exponent);
                put(&mut puct.uncertainty_max_weight, changes.uncertainty_max_weight);
                put(&mut puct.subtree_value_bias_factor, changes.subtree_value_bias_factor);
                put(&mut puct.subtree_value_bias_weight_exponent, changes.subtree_value_bias_weight_exponent);
                put(&mut puct.subtree_value_bias_free_prop, changes.subtree_value_bias_free_prop);
            }
            Formula::Rave(rave) => {
                put(&mut rave.equivalence, changes.rave_equivalence);
                put(&mut rave.exploration, changes.rave_exploration);
                put(&mut rave.early_share, changes.rave_early_share);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_networks_expect_less_of_unlikely_moves() {
        let per_halving = |params: SearchParams| match params.formula {
            Formula::Puct(puct) => puct.fpu_reduction_per_halving,
            Formula::Rave(_) => panic!("{params:?}"),
        };
        assert_eq!(per_halving(SearchParams::for_network_of(800_000)), 0.05);
        assert_eq!(SearchParams::for_network_of(10_800_000), SearchParams::for_network());
        let off = SearchChanges { fpu_reduction_per_halving: Some(0.0), ..SearchChanges::default() };
        assert_eq!(per_halving(SearchParams::for_network_of(800_000).changed(&off)), 0.0);
    }

    #[test]
    fn workers_without_a_processor_lose_nothing() {
        let usual = SearchParams::for_network();
        assert_eq!(usual.for_workers(2, 2), usual);
        let wanted = SearchParams { virtual_losses: 0.0, descents_at_once: Some(2), ..usual };
        assert_eq!(usual.for_workers(3, 2), wanted);
        let size = BoardSize::square(9).expect("9 is a size");
        assert_eq!(SearchParams::for_playouts(size).for_workers(3, 2), SearchParams::for_playouts(size));
    }

    #[test]
    fn changes_change_what_they_name() {
        let size = BoardSize::square(9).expect("9 is a size");
        let changes = SearchChanges {
            cpuct_exploration: Some(2.0),
            min_visit_prop_for_lcb: Some(0.5),
            ..Default::default()
        };
        for usual in [SearchParams::for_network(), SearchParams::for_playouts(size)] {
            let changed = usual.changed(&changes);
            assert_eq!(changed.choice, Choice { min_visit_prop_for_lcb: 0.5, ..usual.choice });
            match (usual.formula, changed.formula) {
                (Formula::Puct(before), Formula::Puct(after)) => {
                    assert_eq!(after, PuctParams { cpuct_exploration: 2.0, ..before });
                }
                (before, after) => assert_eq!(before, after),
            }
            assert_eq!(usual.changed(&SearchChanges::default()), usual);
        }
    }
}

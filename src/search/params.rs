//! Constants of the search, and their registry. One table has their names, values, bounds and documentation.

use super::registry::{Accepted, Field, Kind, Section, Spec, Value};
use kosumi_go::board::BoardSize;
use kosumi_go::game::Game;

/// Parameters of a search. `Default` is for playouts on 9×9; [`SearchParams::for_playouts`] and
/// [`SearchParams::for_network`] are for other boards and evaluators.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchParams {
    /// Number of evaluations of a node before its moves are created, from 1. A node without moves takes 128 bytes, so a
    /// high number saves memory. CITE: Coulom (2006); Fuego uses 3, Pachi and michi 8.
    pub expand_after: u32,
    /// Virtual losses of a descent in progress at the nodes of its path, from 0, so that threads spread.
    pub virtual_losses: f32,
    /// Maximum number of descents in progress, from 1, as long as the root has fewer than twenty visits for each of
    /// them. `None` means one per thread.
    pub descents_at_once: Option<u32>,
    /// Selection of the next move of a descent.
    pub formula: Formula,
    /// Choice of the best move after the search.
    pub choice: Choice,
    /// Parameters that apply to the root only.
    pub root: RootParams,
}

/// Selection formula. The evaluator's priors must match it: equivalent visits for the first formula, probabilities for
/// the second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Formula {
    /// Means mixed with all-moves-as-first, for evaluation by playouts.
    Rave(RaveParams),
    /// Means and probabilities, for evaluation by networks.
    Puct(PuctParams),
}

/// Defines the structs of constants, [`SearchChanges`], and the registry [`CONSTANTS`], from one table.
///
/// A row has documentation (one sentence), field, type, usual value with a network (`or` another one, in words),
/// accepted values, name, section, and protocols. The group `fields SearchParams` has no struct of its own.
macro_rules! constants {
    ($(
        $(#[$about:meta])*
        $what:ident $group:ident ($part:ident, $part_mut:ident) {$(
            #[doc = $doc:literal]
            $field:ident: $type:ty = $usual:literal $(or $other:literal)?, $kind:expr, $name:literal, $section:ident, $accepted:ident;
        )*}
    )*) => {
        $(constants! {
            @$what
            $(#[$about])*
            $group { $(#[doc = $doc] $field: $type = $usual;)* }
        })*

        /// Constants that differ from those that suit evaluator and board. `None` leaves a constant unchanged.
        /// Constants of a formula that is not in use have no effect.
        #[derive(Clone, Copy, PartialEq, Debug, Default)]
        pub struct SearchChanges {$($(
            #[doc = concat!("See [`", stringify!($group), "::", stringify!($field), "`].")]
            pub $field: Option<$type>,
        )*)*}

        /// Registry of all constants of the search.
        pub const CONSTANTS: &[Constant] = &[$($(
            Constant {
                spec: Spec::new($name, Section::$section, $kind, $doc)
                    .or(SUITABLE)
                    .accepted(Accepted::$accepted)
                    $(.usual($other))?,
                get_change: |changes| changes.$field.value(),
                set_change: |changes, value| {
                    Field::from_value(value).map(|value| changes.$field = value)
                },
                get: |params| params.$part().map(|part| part.$field.value()),
                set: |params, value| {
                    Some(params.$part_mut()?.$field = Field::from_value(value)?)
                },
            },
        )*)*];

        impl SearchParams {
            /// Returns these parameters with some of them changed. Changes of one formula do not affect the other.
            pub fn changed(mut self, changes: &SearchChanges) -> SearchParams {
                $($(
                    if let (Some(value), Some(part)) = (changes.$field, self.$part_mut()) {
                        part.$field = value;
                    }
                )*)*
                self
            }
        }
    };
    (
        @constants
        $(#[$about:meta])*
        $group:ident {$( #[doc = $doc:literal] $field:ident: $type:ty = $usual:literal; )*}
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $group {$(
            #[doc = $doc]
            pub $field: $type,
        )*}

        impl $group {
            /// Usual values with a network.
            pub const USUAL: $group = $group { $($field: $usual,)* };
        }

        impl Default for $group {
            fn default() -> $group {
                $group::USUAL
            }
        }
    };
    (
        @fields
        $group:ident {$( #[doc = $doc:literal] $field:ident: $type:ty = $usual:literal; )*}
    ) => {
        impl $group {
            /// Returns these parameters with the values that are usual with a network.
            fn with_usual_fields(self) -> $group {
                $group { $($field: $usual,)* ..self }
            }
        }
    };
}

/// Word for the value that suits evaluator and board.
pub const SUITABLE: &str = "auto";

/// A registered constant of the search.
#[derive(Debug)]
pub struct Constant {
    /// Name, bounds and documentation.
    pub spec: Spec,
    /// Returns the value in these changes.
    pub get_change: fn(&SearchChanges) -> Value,
    /// Sets the value in changes; returns `None` if the value is of another type.
    pub set_change: fn(&mut SearchChanges, Value) -> Option<()>,
    /// Returns the value in these parameters; `None` if they have another formula.
    pub get: fn(&SearchParams) -> Option<Value>,
    /// Sets the value in parameters; returns `None` if they have another formula, or if the value is of another type.
    pub set: fn(&mut SearchParams, Value) -> Option<()>,
}

constants! {
    fields SearchParams (own, own_mut) {
        /// Number of losses that a descent in progress adds to the value of a move, so that threads choose different moves.
        virtual_losses: f32 = 0.25, Kind::Real(0.0, 1000.0), "numVirtualLossesPerThread", Exploration, Everywhere;
        /// Number of evaluations of a position before its moves are created.
        expand_after: u32 = 1, Kind::Count(1, 1000), "expandAfter", Exploration, ByGtpAlone;
    }

    /// Parameters that apply to the root only. Names are KataGo's.
    ///
    /// Pruning applies only to searches for a move to play
    /// ([`SearchContext::for_play`](super::SearchContext::for_play)). Symmetric moves are pruned only if the history
    /// does not matter.
    constants RootParams (root, root_mut) {
        /// Searches only one of several moves that are symmetric images of each other.
        root_symmetry_pruning: bool = true, Kind::Flag, "rootSymmetryPruning", Root, Everywhere;
        /// Does not search moves to settled points once the opponent has passed four times in a row.
        root_prune_useless_moves: bool = true, Kind::Flag, "rootPruneUselessMoves", Root, ByGtp;
        /// Temperature of the root's policy: probabilities are raised to the power of 1 / temperature, so that above 1 more moves are searched.
        root_policy_temperature: f32 = 1.0, Kind::Real(0.01, 100.0), "rootPolicyTemperature", Root, Everywhere;
        /// Temperature of the root's policy at the start of a game; the difference halves after as many moves as the board has rows.
        root_policy_temperature_early: f32 = 1.0, Kind::Real(0.01, 100.0), "rootPolicyTemperatureEarly", Root, Everywhere;
    }

    /// Choice of the root's best move: of the moves that were visited often enough, the one with the highest lower
    /// confidence bound (LCB), which is its value minus some standard errors.
    ///
    /// CITE: KataGo and Leela Zero choose in this way by default. Names and values are KataGo's.
    constants Choice (choice, choice_mut) {
        /// Number of standard errors by which the lower confidence bound (LCB) lies below a move's utility; 0 plays the most visited move.
        lcb_stdevs: f32 = 5.0, Kind::Real(0.0, 12.0), "lcbStdevs", Root, Everywhere;
        /// Minimum visits of a move that can be chosen by its lower bound, as a share of the visits of the most visited move.
        min_visit_prop_for_lcb: f32 = 0.15, Kind::Real(0.0, 1.0), "minVisitPropForLCB", Root, Everywhere;
    }

    /// Constants of [`select::Puct`](super::select::Puct). Names and values are KataGo's (its documentation of methods
    /// and its parameter file), except for `fpu_reduction_per_halving`. Values of positions are in `[-1, 1]`, as in
    /// KataGo.
    constants PuctParams (puct, puct_mut) {
        /// Weight of the network's probabilities at low numbers of visits.
        cpuct_exploration: f32 = 1.0, Kind::Real(0.0, 10.0), "cpuctExploration", Exploration, Everywhere;
        /// Increase of that weight for each factor of e by which the visits exceed `cpuctExplorationBase`.
        cpuct_exploration_log: f32 = 0.45, Kind::Real(0.0, 10.0), "cpuctExplorationLog", Exploration, Everywhere;
        /// Number of visits above which the weight grows.
        cpuct_exploration_base: f32 = 500.0, Kind::Real(10.0, 100_000.0), "cpuctExplorationBase", Exploration, Everywhere;
        /// Prior standard deviation of utilities, at which the weight is unchanged.
        cpuct_utility_stdev_prior: f32 = 0.4, Kind::Real(1e-8, 10.0), "cpuctUtilityStdevPrior", Exploration, Everywhere;
        /// Weight, in visits, of that prior when it is averaged with the measured standard deviation.
        cpuct_utility_stdev_prior_weight: f32 = 2.0, Kind::Real(0.0, 100.0), "cpuctUtilityStdevPriorWeight", Exploration, Everywhere;
        /// Share of the weight that is proportional to the averaged standard deviation.
        cpuct_utility_stdev_scale: f32 = 0.85, Kind::Real(0.0, 1.0), "cpuctUtilityStdevScale", Exploration, Everywhere;
        /// First-play urgency: utility that a move is assumed to lose before its first visit, once all likely moves have been visited.
        fpu_reduction_max: f32 = 0.2, Kind::Real(0.0, 2.0), "fpuReductionMax", Exploration, Everywhere;
        /// Value of `fpuReductionMax` at the root.
        root_fpu_reduction_max: f32 = 0.1, Kind::Real(0.0, 2.0), "rootFpuReductionMax", Root, Everywhere;
        /// Bases the assumed utility of a move without visits on the network's value of the position until the likely moves are visited.
        fpu_parent_weight_by_visited_policy: bool = true, Kind::Flag, "fpuParentWeightByVisitedPolicy", Exploration, Everywhere;
        /// Exponent applied to the visited probability; the result is the weight of the search's value against the network's.
        fpu_parent_weight_by_visited_policy_pow: f32 = 2.0, Kind::Real(0.0, 5.0), "fpuParentWeightByVisitedPolicyPow", Exploration, Everywhere;
        /// Additional utility that a move is assumed to lose for every halving of its probability.
        fpu_reduction_per_halving: f32 = 0.0 or "0.05 for networks of up to 2 million weights", Kind::Real(0.0, 2.0), "fpuReductionPerHalving", Exploration, Everywhere;
        /// Strength with which bad moves lose weight in the value of a position; 0 switches it off.
        value_weight_exponent: f32 = 0.25, Kind::Real(0.0, 1.0), "valueWeightExponent", Values, Everywhere;
        /// Ignores visits of worse moves in excess of twice the share given by their probabilities.
        use_noise_pruning: bool = true, Kind::Flag, "useNoisePruning", Values, Everywhere;
        /// Difference of utilities at which most of those visits are ignored.
        noise_prune_utility_scale: f32 = 0.15, Kind::Real(0.001, 10.0), "noisePruneUtilityScale", Values, Everywhere;
        /// Weight of the result in the utility; the smaller it is, the more points count.
        win_loss_utility_factor: f32 = 1.0, Kind::Real(0.0, 1.0), "winLossUtilityFactor", Values, Everywhere;
        /// Weight of points around an even game.
        static_score_utility_factor: f32 = 0.1, Kind::Real(0.0, 1.0), "staticScoreUtilityFactor", Values, Everywhere;
        /// Weight of points around the score that is expected at the root.
        dynamic_score_utility_factor: f32 = 0.3, Kind::Real(0.0, 1.0), "dynamicScoreUtilityFactor", Values, Everywhere;
        /// Share by which that score is moved towards an even game.
        dynamic_score_center_zero_weight: f32 = 0.2, Kind::Real(0.0, 1.0), "dynamicScoreCenterZeroWeight", Values, Everywhere;
        /// Width of the scale of that score, in multiples of the board's side.
        dynamic_score_center_scale: f32 = 0.75, Kind::Real(0.2, 5.0), "dynamicScoreCenterScale", Values, Everywhere;
        /// Weights evaluations by the certainty that networks report (from version 9).
        use_uncertainty: bool = true, Kind::Flag, "useUncertainty", Values, Everywhere;
        /// Expected error of an evaluation that counts as about one visit.
        uncertainty_coeff: f32 = 0.25, Kind::Real(0.0001, 1.0), "uncertaintyCoeff", Values, Everywhere;
        /// Exponent of the expected error.
        uncertainty_exponent: f32 = 1.0, Kind::Real(0.0, 2.0), "uncertaintyExponent", Values, Everywhere;
        /// Maximum weight of one evaluation, in visits.
        uncertainty_max_weight: f32 = 8.0, Kind::Real(1.0, 100.0), "uncertaintyMaxWeight", Values, Everywhere;
        /// Share of the network's mean error after moves of the same kind by which its value is corrected.
        subtree_value_bias_factor: f32 = 0.45, Kind::Real(0.0, 1.0), "subtreeValueBiasFactor", Values, Everywhere;
        /// Exponent applied to a position's visits to get its weight in that mean error.
        subtree_value_bias_weight_exponent: f32 = 0.85, Kind::Real(0.0, 1.0), "subtreeValueBiasWeightExponent", Values, Everywhere;
        /// Share of a position's contribution that is removed when the position leaves the graph.
        subtree_value_bias_free_prop: f32 = 0.8, Kind::Real(0.0, 1.0), "subtreeValueBiasFreeProp", Values, Everywhere;
    }

    /// Constants of [`select::rave_urgency`](super::select::rave_urgency).
    ///
    /// CITE: Gelly and Silver, "Monte-Carlo tree search and rapid action value estimation in computer Go" (2011), for
    /// the equivalence, in Pachi's form. Pachi's and Fuego's logs: without exploration it is best. A playout has about
    /// 1.3 moves per point of the board.
    constants RaveParams (rave, rave_mut) {
        /// Number of games at which RAVE and the plain mean have about equal weight; 0 switches RAVE off.
        rave_equivalence: f32 = 3000.0 or "4000 on boards of more than 200 points", Kind::Real(0.0, 1e6), "raveEquivalence", Exploration, ByGtpAlone;
        /// Weight of the exploration term in addition to RAVE.
        rave_exploration: f32 = 0.0, Kind::Real(0.0, 100.0), "raveExploration", Exploration, ByGtpAlone;
        /// Number of moves per point of the board at the start of a playout that count double for RAVE.
        rave_early_share: f32 = 1.0, Kind::Real(0.0, 10.0), "raveEarlyShare", Exploration, ByGtpAlone;
    }
}

/// Parameters of a search, and the scale of the probabilities at its root.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Parameters of the search.
    pub params: &'a SearchParams,
    /// Factor of the probabilities of the root's moves.
    pub root_scale: f32,
}

impl Choice {
    /// Choice of the most visited move as the best one.
    pub const BY_VISITS: Choice = Choice { lcb_stdevs: 0.0, min_visit_prop_for_lcb: 0.0 };
}

impl RootParams {
    /// Returns the temperature of the root's probabilities for a game.
    pub fn temperature(&self, game: &Game) -> f32 {
        let moves = game.records().len() as f32 / (game.size().area() as f32).sqrt();
        let early = self.root_policy_temperature_early - self.root_policy_temperature;
        self.root_policy_temperature + early * libm::powf(0.5, moves)
    }
}

impl Default for SearchParams {
    fn default() -> SearchParams {
        SearchParams {
            expand_after: 2,
            virtual_losses: 1.0,
            descents_at_once: None,
            formula: Formula::Rave(RaveParams::default()),
            choice: Choice::BY_VISITS,
            root: RootParams::default(),
        }
    }
}

/// Largest number of weights of a network that [`SearchParams::for_network_of`] takes for a small one. Of the networks
/// that were measured, the small built-in one (0.8 million) and KataGo's b6c96 (1.0 million) are small, and the large
/// built-in one (10.8 million) is not.
const SMALL_NETWORK: usize = 2_000_000;

/// Least number of visits of a search for each descent in progress, where threads wait for a device.
const VISITS_OF_A_DESCENT: u32 = 8;

impl SearchParams {
    /// Returns parameters for playouts on boards of this size.
    pub fn for_playouts(size: BoardSize) -> SearchParams {
        let base = SearchParams::default();
        if size.area() > 200 {
            let rave = RaveParams { rave_equivalence: 4000.0, ..RaveParams::default() };
            SearchParams { formula: Formula::Rave(rave), ..base }
        } else {
            base
        }
    }

    /// Returns parameters for a network. Its evaluation of a position includes the moves, so they are created at the
    /// second visit of the position.
    ///
    /// These are KataGo's constants, equal for all board sizes. `kosumi tune` found nothing better with b6c96 and 200
    /// visits on 9×9 (300 positions, judged by b7c96h3tfrs; changes and their effect per move, in per cent of the
    /// games: `cpuct_exploration` 0.8 −0.65 ± 0.29, 1.25 −0.30 ± 0.20, choice by visits −0.30 ± 0.24, no correction of
    /// evaluations −0.10), nor with earlier states of the search and of the built-in network among 25 settings on three
    /// sizes.
    ///
    /// Virtual losses differ from KataGo's 1. With many threads, nearly all descents in progress pass through the best
    /// moves and make these look bad while they last. CITE: Liu et al., "Watch the unobserved" (2020), which counts
    /// descents in progress as visits and not as losses.
    pub fn for_network() -> SearchParams {
        let formula = Formula::Puct(PuctParams::default());
        SearchParams { formula, choice: Choice::default(), ..SearchParams::default() }.with_usual_fields()
    }

    /// Returns parameters for a network with this number of weights.
    ///
    /// On average, each halving of a move's probability makes its result worse by the same amount. Networks of up to
    /// two million weights win more games if this amount is subtracted from moves before their first visit. A large
    /// network does not, see `PERF.md`, "Small networks".
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

    /// Returns these parameters for a number of threads that share a number of processors.
    ///
    /// A virtual loss keeps other threads from waiting for the same evaluation. With more threads than processors,
    /// waiting costs nothing, and the moves that the threads would try instead are worth less. A descent in progress
    /// then counts as a visit only. While the root has few visits, the number of descents in progress is limited to
    /// what keeps the processors busy (`PERF.md`, *Strength*). Where each thread has a processor, too many threads
    /// would wait, see `docs/decisions/2026-11-22-many-workers.md`.
    pub fn for_workers(self, workers: usize, processors: usize) -> SearchParams {
        match self.formula {
            Formula::Puct(_) if workers > processors => {
                let at_once = u32::try_from(processors).unwrap_or(u32::MAX).max(1);
                SearchParams { virtual_losses: 0.0, descents_at_once: Some(at_once), ..self }
            }
            _ => self,
        }
    }

    /// Returns these parameters for a number of threads whose evaluations a device computes in batches, `at_once` at
    /// a time, in a search of at most `visits` visits.
    ///
    /// Each thread then has its place in a batch, as it otherwise has its processor, and a virtual loss keeps it from
    /// waiting for another one. Only with more threads than places do they take turns as in
    /// [`for_workers`](Self::for_workers). In a short search, that many descents in progress would be most of the
    /// search. At most one for every `VISITS_OF_A_DESCENT` visits is then in progress.
    pub fn for_device(self, workers: usize, at_once: usize, visits: Option<u32>) -> SearchParams {
        let params = self.for_workers(workers, at_once);
        let most = visits.map(|visits| (visits / VISITS_OF_A_DESCENT).max(1));
        match (self.formula, most) {
            (Formula::Puct(_), Some(most)) if workers > most as usize => {
                let at_once = params.descents_at_once.map_or(most, |at_once| at_once.min(most));
                SearchParams { descents_at_once: Some(at_once), ..params }
            }
            _ => params,
        }
    }

    /// Returns the temperature of the root's probabilities for a game.
    pub fn root_temperature(&self, game: &Game) -> f32 {
        match self.formula {
            Formula::Puct(_) => self.root.temperature(game),
            Formula::Rave(_) => 1.0,
        }
    }

    fn own(&self) -> Option<&SearchParams> {
        Some(self)
    }

    fn own_mut(&mut self) -> Option<&mut SearchParams> {
        Some(self)
    }

    fn root(&self) -> Option<&RootParams> {
        Some(&self.root)
    }

    fn root_mut(&mut self) -> Option<&mut RootParams> {
        Some(&mut self.root)
    }

    fn choice(&self) -> Option<&Choice> {
        Some(&self.choice)
    }

    fn choice_mut(&mut self) -> Option<&mut Choice> {
        Some(&mut self.choice)
    }

    fn puct(&self) -> Option<&PuctParams> {
        match &self.formula {
            Formula::Puct(puct) => Some(puct),
            Formula::Rave(_) => None,
        }
    }

    fn puct_mut(&mut self) -> Option<&mut PuctParams> {
        match &mut self.formula {
            Formula::Puct(puct) => Some(puct),
            Formula::Rave(_) => None,
        }
    }

    fn rave(&self) -> Option<&RaveParams> {
        match &self.formula {
            Formula::Rave(rave) => Some(rave),
            Formula::Puct(_) => None,
        }
    }

    fn rave_mut(&mut self) -> Option<&mut RaveParams> {
        match &mut self.formula {
            Formula::Rave(rave) => Some(rave),
            Formula::Puct(_) => None,
        }
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
        let expected = SearchParams { virtual_losses: 0.0, descents_at_once: Some(2), ..usual };
        assert_eq!(usual.for_workers(3, 2), expected);
        let size = BoardSize::square(9).expect("9 is a size");
        assert_eq!(SearchParams::for_playouts(size).for_workers(3, 2), SearchParams::for_playouts(size));
    }

    #[test]
    fn descents_follow_the_batches_of_a_device() {
        let usual = SearchParams::for_network();
        assert_eq!(usual.for_device(64, 128, None), usual);
        assert_eq!(usual.for_device(64, 128, Some(10_000)), usual);
        // A short search keeps the virtual losses, because no thread waits for a processor.
        let short = SearchParams { descents_at_once: Some(12), ..usual };
        assert_eq!(usual.for_device(64, 128, Some(100)), short);
        assert_eq!(usual.for_device(64, 128, Some(1)).descents_at_once, Some(1));
        assert_eq!(usual.for_device(64, 16, None), usual.for_workers(64, 16));
        assert_eq!(usual.for_device(64, 16, Some(64)).descents_at_once, Some(8));
        let size = BoardSize::square(9).expect("9 is a size");
        assert_eq!(
            SearchParams::for_playouts(size).for_device(9, 2, Some(8)),
            SearchParams::for_playouts(size)
        );
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

//! Goals of a search: results that one side, the prover, either achieves or does not.

use super::between::{ConnectionSpace, MOVES_APART};
use super::bits::Bits;
use super::table::{Hash128, Trace};
use super::window::{NO_POINT, Position, SafeArea, Window};
use kosumi_go::board::Color;

/// A question with the answers yes and no.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal<B> {
    /// Side that has the goal. Every other outcome is a win of the opponent.
    pub(super) prover: Color,
    pub(super) kind: Kind<B>,
}

/// See [`Goal`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<B> {
    /// The game ends with at least this score: Black's stones and surrounded points minus White's. The prover is Black.
    Score(i32),
    /// All `target` stones of the opponent are captured before all `own` stones of the prover are. `own` may be empty.
    Take { target: B, own: B },
    /// The chain of the opponent's stone at this point is captured, under the rule of tactical reading: the chain is
    /// safe with [`SAFE_LIBERTIES`], or with one less if its owner is to move, and only moves near it are tried.
    Chain(u32),
    /// After both sides have passed, the opponent has no stone on these points. Used only by tests, as the simplest
    /// goal other than a score that ends by passes.
    #[cfg_attr(not(test), expect(dead_code))]
    Clear(B),
    /// A stone of the prover on these points can never be captured, even if the prover always passes.
    Secure(B),
    /// The two points, stones of the prover, are in one chain.
    Join(u32, u32),
    /// The two points, stones of the prover, are in one chain, under the rule of tactical reading: the chains are apart
    /// if joining them takes [`MOVES_APART`] moves in a row, a chain that is captured at once is not joined, and only
    /// moves on the shortest paths and near them are tried.
    Link(u32, u32),
}

/// Number of liberties with which a chain is safe in tactical reading if the opponent is to move.
///
/// Measured on GNU Go's suites of tactical reading, 252 tests: with four, 105 answers are right, with five 139. With
/// the moves of [`HELPER_LIBERTIES`] for the chain's owner as well, 125 are right with four, 155 with five, and 150
/// with six.
pub(super) const SAFE_LIBERTIES: u32 = 5;

/// Number of liberties up to which the chain's owner may also fill the liberties of chains near its own liberties: to
/// protect what an attack would capture on the way, or to take away the space that the attack needs. Without these
/// moves, some chains were wrongly called captured.
const HELPER_LIBERTIES: u32 = 4;

/// Returns the estimated effort to win a position in which the opponent's stones look better by `behind`. It doubles
/// for every `DOUBLES`. The values between are interpolated linearly in integers, so they are the same on every
/// machine.
///
/// The constants, and the weights of [`Window::shape`], were tuned for the number of nodes on 2×5, 3×4, 4×4 and 3×5. A
/// value of one for an open move, where other moves have hundreds, saves a third of the nodes.
fn effort(behind: i32) -> u32 {
    const DOUBLES: i64 = 14;
    const EVEN: i64 = 128;
    let behind = i64::from(behind).clamp(-12 * DOUBLES, 12 * DOUBLES);
    let (doubled, rest) = (behind.div_euclid(DOUBLES), behind.rem_euclid(DOUBLES));
    let numerator = (EVEN * (DOUBLES + rest)) << (12 + doubled);
    (numerator / (DOUBLES << 12)).max(1) as u32
}

/// Result without a search: the winner, and what may happen on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoalResult<B> {
    pub(super) won: bool,
    pub(super) trace: Trace<B>,
}

impl<B: Bits> GoalResult<B> {
    fn at_once(won: bool) -> Option<GoalResult<B>> {
        Some(GoalResult { won, trace: Trace::default() })
    }

    /// Returns a result that follows from what a side holds by replying only inside. The opponent may play and remove
    /// anything else.
    fn decided_by_holding(
        won: bool,
        window: &Window<B>,
        owner: Color,
        holding: &SafeArea<B>,
    ) -> Option<GoalResult<B>> {
        let (mut played, mut lifted) = ([B::default(); 2], [B::default(); 2]);
        let rest = window.points & !holding.stones;
        played[owner as usize] = holding.area & !holding.stones;
        played[owner.opponent() as usize] = rest;
        lifted[owner as usize] = rest;
        lifted[owner.opponent() as usize] = rest;
        Some(GoalResult { won, trace: Trace { played, removed: lifted } })
    }
}

impl<B: Bits> Goal<B> {
    /// Returns a hash that differs between goals.
    pub(super) fn salt(&self) -> u64 {
        let mut hash = Hash128::START;
        hash.mix(self.prover as u64);
        match self.kind {
            Kind::Score(at_least) => {
                hash.mix(1);
                hash.mix(at_least as u64);
            }
            Kind::Take { target, own } => {
                hash.mix(2);
                target.words(|word| hash.mix(word));
                own.words(|word| hash.mix(word));
            }
            Kind::Chain(stone) => {
                hash.mix(6);
                hash.mix(u64::from(stone));
            }
            Kind::Clear(area) => {
                hash.mix(3);
                area.words(|word| hash.mix(word));
            }
            Kind::Secure(area) => {
                hash.mix(5);
                area.words(|word| hash.mix(word));
            }
            Kind::Join(a, b) | Kind::Link(a, b) => {
                hash.mix(if matches!(self.kind, Kind::Join(..)) { 4 } else { 7 });
                hash.mix(u64::from(a) << 32 | u64::from(b));
            }
        }
        hash.finish() as u64
    }

    /// Returns the empty points where a move can matter: all of them, except in tactical reading and for plain
    /// liberties of the target.
    pub(super) fn candidates(&self, window: &Window<B>, position: &Position<B>) -> B {
        let empty = window.empties(position) & window.playable;
        match self.kind {
            Kind::Chain(stone) => self.candidates_near(stone, window, position, empty),
            Kind::Link(a, b) => {
                ConnectionSpace { window, position, color: self.prover, a, b }.points() & empty
            }
            Kind::Take { target, own } if own.none() => {
                let plain = self.plain_liberties(target, window, position);
                let owner_moves = position.to_move != self.prover;
                match plain.count() {
                    0 => empty,
                    // The owner can pass instead.
                    _ if owner_moves => empty & !plain,
                    _ => empty & !plain | B::one(plain.lowest()),
                }
            }
            _ => empty,
        }
    }

    /// Returns the liberties of the target that matter only by their number. The target must be one chain, and only its
    /// stones and stones of the prover that are never captured may be adjacent to these liberties. A stone of the
    /// prover there is never captured either, and the order of filling does not matter. For the owner such a stone is
    /// no better than a pass.
    fn plain_liberties(&self, target: B, window: &Window<B>, position: &Position<B>) -> B {
        let stones = position.stones[self.prover.opponent() as usize];
        let attackers = position.stones[self.prover as usize];
        let left = stones & target;
        if left.none() {
            return B::default();
        }
        let chain = window.fill(B::one(left.lowest()), stones);
        let empty = window.empties(position);
        let beside = window.around(chain) & empty & window.playable;
        if !left.within(chain) || beside.count() < 2 {
            return B::default();
        }
        let lasting = window.uncapturable(position, self.prover);
        let mut plain = beside & window.around(lasting);
        let others = window.points & !(chain | attackers & lasting);
        loop {
            let fewer = plain & !window.around(others & !plain);
            if fewer == plain {
                return plain;
            }
            plain = fewer;
        }
    }

    /// Returns the points where a move can matter to the chain of a stone that may be captured.
    fn candidates_near(&self, stone: u32, window: &Window<B>, position: &Position<B>, empty: B) -> B {
        let stones = position.stones[self.prover.opponent() as usize];
        let enemy = position.stones[self.prover as usize];
        if !stones.has(stone) {
            // The stone was taken in a ko and may be retaken.
            return B::one(stone) & empty;
        }
        let chain = window.fill(B::one(stone), stones);
        let liberties = window.around(chain) & empty;
        let owner_moves = position.to_move != self.prover;
        let in_atari = liberties.count() == 1;
        let mut candidates = liberties;
        // In atari, only the last liberty and captures help; otherwise, points next to the liberties are candidates,
        // too.
        if !(owner_moves && in_atari) {
            candidates = candidates | window.around(liberties) & empty;
        }
        let weak = if owner_moves && in_atari { 1 } else { 2 };
        let mut around = window.around(chain) & enemy;
        while around.any() {
            let part = window.fill(B::one(around.lowest()), enemy);
            around = around & !part;
            let its = window.around(part) & empty;
            if its.count() <= weak {
                candidates = candidates | its;
            }
            // Chains whose stones keep this one in atari may be captured themselves.
            if its.count() == 1 {
                let mut guards = window.around(part) & stones & !chain;
                while guards.any() && !owner_moves {
                    let guard = window.fill(B::one(guards.lowest()), stones);
                    guards = guards & !guard;
                    let its = window.around(guard) & empty;
                    if its.count() == 1 {
                        candidates = candidates | its;
                    }
                }
            }
        }
        if owner_moves && !in_atari {
            let near = window.around(chain) | window.around(liberties);
            for side in [stones & !chain, enemy] {
                for part in window.parts_at(near & side, side) {
                    let its = window.around(part) & empty;
                    if its.count() <= HELPER_LIBERTIES {
                        candidates = candidates | its;
                    }
                }
            }
        }
        candidates
    }

    /// Returns whether the game ends by passes, so that both sides may pass.
    pub(super) fn ends_by_passes(&self) -> bool {
        matches!(self.kind, Kind::Score(_) | Kind::Clear(_))
    }

    /// Returns whether the goal is achieved after two passes.
    fn at_end(&self, window: &Window<B>, position: &Position<B>) -> bool {
        match self.kind {
            Kind::Score(at_least) => window.score(position) >= at_least,
            Kind::Clear(area) => !position.stones[self.prover.opponent() as usize].meets(area),
            Kind::Take { .. } | Kind::Chain(_) | Kind::Secure(_) | Kind::Join(..) | Kind::Link(..) => false,
        }
    }

    /// Returns the result if the move that led to this position decides it. This is cheap, because it is called for
    /// every move.
    pub(super) fn decided(&self, window: &Window<B>, position: &Position<B>) -> Option<GoalResult<B>> {
        let prover = self.prover as usize;
        let other = self.prover.opponent() as usize;
        match self.kind {
            Kind::Score(_) | Kind::Clear(_) => {
                if position.passes == 0 {
                    return None;
                }
                let won = self.at_end(window, position);
                // After one pass, the side to move may end the game.
                let ends = position.passes > 1 || won == (position.to_move == self.prover);
                if ends { GoalResult::at_once(won) } else { None }
            }
            Kind::Take { target, own } => {
                if !position.stones[other].meets(target) {
                    return GoalResult::at_once(true);
                }
                if own.any() && !position.stones[prover].meets(own) {
                    return GoalResult::at_once(false);
                }
                None
            }
            Kind::Chain(stone) => {
                if !position.stones[other].has(stone) {
                    // A single stone taken in a ko counts as captured only when it is too late to retake it.
                    let may_return = position.to_move != self.prover
                        && window.place(position, stone).is_some_and(|placed| placed.after.ko != NO_POINT);
                    return if may_return { None } else { GoalResult::at_once(true) };
                }
                let chain = window.fill(B::one(stone), position.stones[other]);
                let liberties = (window.around(chain) & window.empties(position)).count();
                let enough =
                    if position.to_move == self.prover { SAFE_LIBERTIES } else { SAFE_LIBERTIES - 1 };
                if liberties >= enough { GoalResult::at_once(false) } else { None }
            }
            Kind::Secure(area) => {
                let stones = position.stones[prover] & area;
                if stones.none() {
                    return GoalResult::at_once(false);
                }
                // A side that has moved outside may have made eyes there.
                let chains = window.fill(stones, position.stones[prover]);
                let has_moved = self.has_moved_outside(window, position);
                let may_live = has_moved && window.reaches_outside(position, chains);
                if may_live { GoalResult::at_once(true) } else { None }
            }
            Kind::Join(a, b) | Kind::Link(a, b) => {
                let stones = position.stones[prover];
                if !stones.has(a) || !stones.has(b) {
                    return GoalResult::at_once(false);
                }
                let chain = window.fill(B::one(a), stones);
                if !chain.has(b) {
                    // A side that has moved outside, where both chains have liberties, may have joined them there.
                    let other = window.fill(B::one(b), stones);
                    let joined = self.has_moved_outside(window, position)
                        && [chain, other].iter().all(|&chain| window.reaches_outside(position, chain));
                    return if joined { GoalResult::at_once(true) } else { None };
                }
                // Stones that are joined and captured at once do not count as joined.
                let is_taken_next = matches!(self.kind, Kind::Link(..))
                    && position.to_move != self.prover
                    && (window.around(chain) & window.empties(position)).count() < 2;
                if is_taken_next { None } else { GoalResult::at_once(true) }
            }
        }
    }

    /// Returns whether a proof of the opponent's success is being checked and the prover has played outside the region.
    fn has_moved_outside(&self, window: &Window<B>, position: &Position<B>) -> bool {
        window.besieged == Some(self.prover.opponent()) && position.outside > 0
    }

    /// Returns the result if it is decided by what a side certainly holds, or by the distance between chains. `cycles`
    /// is the side that wins when a position recurs, if that ends the game.
    pub(super) fn held(
        &self,
        window: &Window<B>,
        position: &Position<B>,
        cycles: Option<Color>,
    ) -> Option<GoalResult<B>> {
        // A side that may commit suicide can go round in cycles against an opponent that only replies.
        let counts = |owner: Color| !window.suicide || cycles.is_none_or(|winner| winner == owner);
        match self.kind {
            Kind::Score(at_least) => {
                let area = window.points.count() as i32;
                for owner in [Color::Black, Color::White].into_iter().filter(|&owner| counts(owner)) {
                    // Without stones nothing is alive, and a held area decides only if it is large enough.
                    let holding = window.safe_area(position, owner);
                    if holding.stones.none() {
                        continue;
                    }
                    let bound = owner.sign() * (2 * holding.area.count() as i32 - area);
                    let decides = match owner {
                        Color::Black => bound >= at_least,
                        Color::White => bound < at_least,
                    };
                    if decides {
                        return GoalResult::decided_by_holding(
                            owner == Color::Black,
                            window,
                            owner,
                            &holding,
                        );
                    }
                }
                None
            }
            Kind::Take { target, .. } => {
                let owner = self.prover.opponent();
                if !counts(owner) {
                    return None;
                }
                let mut holding = window.safe_area(position, owner);
                // The stones stay without any further move.
                holding.area = holding.stones;
                let stays = holding.stones.meets(target);
                if stays { GoalResult::decided_by_holding(false, window, owner, &holding) } else { None }
            }
            Kind::Clear(area) => {
                let owner = self.prover.opponent();
                if !counts(owner) {
                    return None;
                }
                let mut holding = window.safe_area(position, owner);
                holding.area = holding.stones;
                let stays = holding.stones.meets(area);
                if stays { GoalResult::decided_by_holding(false, window, owner, &holding) } else { None }
            }
            Kind::Secure(area) => {
                let owner = self.prover;
                if !counts(owner) {
                    return None;
                }
                let mut holding = window.safe_area(position, owner);
                holding.area = holding.stones;
                let secure = holding.stones.meets(area);
                if secure { GoalResult::decided_by_holding(true, window, owner, &holding) } else { None }
            }
            Kind::Link(a, b) => {
                match (ConnectionSpace { window, position, color: self.prover, a, b }).moves() {
                    None => GoalResult::at_once(false),
                    // The points were in one chain before the first move.
                    Some(0) => self.decided(window, position),
                    Some(_) => None,
                }
            }
            Kind::Chain(_) | Kind::Join(..) => None,
        }
    }

    /// Returns the proof and disproof number of a position that has not been searched.
    pub(super) fn first_numbers(&self, window: &Window<B>, position: &Position<B>) -> (u32, u32) {
        match self.kind {
            Kind::Take { target, .. } => {
                let stones = position.stones[self.prover.opponent() as usize];
                let chain = window.fill(stones & target, stones);
                let liberties = (window.around(chain) & window.empties(position)).count();
                (liberties.max(1), 1)
            }
            Kind::Chain(stone) => {
                let stones = position.stones[self.prover.opponent() as usize];
                if !stones.has(stone) {
                    return (1, 1);
                }
                let chain = window.fill(B::one(stone), stones);
                let liberties = (window.around(chain) & window.empties(position)).count();
                (liberties.max(1), SAFE_LIBERTIES.saturating_sub(liberties).max(1))
            }
            Kind::Score(_) => {
                // A position that looks better for Black is likely to be proven sooner and disproven later.
                let lead = window.shape(position, Color::Black) - window.shape(position, Color::White);
                (effort(-lead), effort(lead))
            }
            Kind::Link(a, b) => {
                let between = ConnectionSpace { window, position, color: self.prover, a, b };
                let moves = between.moves().unwrap_or(MOVES_APART) as u32;
                let to_come =
                    (moves + u32::from(position.to_move != self.prover)).clamp(1, MOVES_APART as u32);
                // Every further move multiplies the work.
                (4u32.pow(to_come - 1), 4u32.pow(MOVES_APART as u32 - to_come))
            }
            Kind::Clear(_) | Kind::Secure(_) | Kind::Join(..) => (1, 1),
        }
    }
}

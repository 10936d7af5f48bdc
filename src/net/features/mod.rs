//! Input features of networks: KataGo's "V7" features, which all networks of versions 8 to 17 take.
//!
//! CITE: David Wu, "Accelerating Self-Play Learning in Go" (2019), appendix A, and KataGo's `fillRowV7`. The indices of
//! the features are KataGo's, see [`plane`] and [`global`].
//!
//! All features are from the perspective of the side to move. The board is not padded: "on the board" is 1 everywhere.
//!
//! **Hidden moves.** A pass that would end the game shows a network that the game is over with the stones as they are,
//! dead ones included. Under rules with friendly passes this is wrong, because the players agree on dead stones. Under
//! these rules the last moves, including the opponent's pass, and the imminent end are therefore hidden. After the end
//! of a game, only its last pass is shown. If a game continues after its end, only the moves after the end are shown.
//!
//! Two aspects of KataGo's rules are not represented, because our games do not have them: the encore of its territory
//! rules, and the voiding of games that repeat a position three times under simple ko.

mod area;
mod ladders;
#[cfg(test)]
mod tests;

pub use area::Area;
pub use ladders::{LadderStatus, Ladders};

use super::input::{Input, SPATIAL_FEATURES, index};
use super::model::Network;
use kosumi_go::board::{Board, BoardSize, Cell, Color, Move, PointMap};
use kosumi_go::game::{Button, Line};
use kosumi_go::rules::{KoRule, Rules, Scoring, Tax};
use kosumi_go::score;

/// Indices of the features of a point.
pub mod plane {
    /// 1 on the board.
    pub const ON_BOARD: usize = 0;
    /// 1 for a stone of the side to move.
    pub const OWN: usize = 1;
    /// 1 for a stone of the opponent.
    pub const OPPONENT: usize = 2;
    /// First of three planes: 1 for a stone whose chain has one, two or three liberties.
    pub const ONE_LIBERTY: usize = 3;
    /// 1 for an empty point that ko or superko forbids.
    pub const BANNED: usize = 6;
    /// First of [`LAST_MOVES`] planes: 1 at the opponent's latest move, and at the moves before it.
    pub const LAST_MOVE: usize = 9;
    /// Number of moves that are shown.
    pub const LAST_MOVES: usize = 5;
    /// 1 for a stone that is caught in a ladder.
    pub const CAUGHT: usize = 14;
    /// 1 for a stone that was caught in a ladder one move ago.
    pub const CAUGHT_BEFORE: usize = 15;
    /// 1 for a stone that was caught in a ladder two moves ago.
    pub const CAUGHT_TWO_BEFORE: usize = 16;
    /// 1 for a move that catches a chain of the opponent with two liberties in a ladder.
    pub const LADDER_MOVE: usize = 17;
    /// 1 for a point in the area of the side to move.
    pub const OWN_AREA: usize = 18;
    /// 1 for a point in the area of the opponent.
    pub const OPPONENT_AREA: usize = 19;
}

/// Indices of the features of the position as a whole.
pub mod global {
    /// First of [`LAST_MOVES`](super::plane::LAST_MOVES) features: 1 if the latest move, and each move before it, was a
    /// pass.
    pub const LAST_PASS: usize = 0;
    /// Komi from the perspective of the side to move, in units of 20 points.
    pub const KOMI: usize = 5;
    /// 1 under a superko rule.
    pub const SUPERKO: usize = 6;
    /// Kind of superko: 0.5 for positional, −0.5 for situational.
    pub const SUPERKO_KIND: usize = 7;
    /// 1 if the suicide of two or more stones is legal.
    pub const SUICIDE: usize = 8;
    /// 1 under territory scoring.
    pub const TERRITORY: usize = 9;
    /// 1 if points in seki are taxed.
    pub const SEKI_TAX: usize = 10;
    /// 1 if each group is taxed two points, too.
    pub const GROUP_TAX: usize = 11;
    /// 1 if the players have unequal numbers of simulations.
    pub const HAS_ADVANTAGE: usize = 15;
    /// Advantage of the side to move in simulations: half of the binary logarithm of the ratio.
    pub const ADVANTAGE: usize = 16;
    /// 1 if a pass would end the game.
    pub const PASS_ENDS: usize = 14;
    /// 1 while the button is available: the first pass is worth half a point.
    pub const BUTTON: usize = 17;
    /// Phase of komi relative to the values that allow a draw, see [`komi_wave`](super::komi_wave).
    pub const KOMI_WAVE: usize = 18;
}

/// Number of points by which the shown komi may exceed the board's area.
const KOMI_MARGIN: f32 = 20.0;

/// Initial size of boards that are overwritten before use.
const SMALLEST: BoardSize = match BoardSize::square(1) {
    Some(size) => size,
    None => unreachable!(),
};

/// Generator of input features that reuses its buffers and caches ladders.
#[derive(Clone, Debug)]
pub struct Features {
    ladders: Ladders,
    area: Area,
    /// Positions one and two moves ago.
    boards: Box<[Board; 2]>,
    /// Number of liberties of each chain at its anchor, up to 4; 0 if not yet computed.
    liberties: PointMap<u8>,
    /// Whether unconditional life is computed as if the suicide of several stones were legal, whatever the rules are.
    pass_alive_with_suicide: bool,
    /// Whether the moves of the game are hidden, so that only those of the line are shown.
    hides_game: bool,
}

impl Default for Features {
    fn default() -> Features {
        Features {
            ladders: Ladders::default(),
            area: Area::default(),
            boards: Box::new([Board::new(SMALLEST); 2]),
            liberties: PointMap::filled(0),
            pass_alive_with_suicide: false,
            hides_game: false,
        }
    }
}

impl Features {
    /// Returns a generator of the features that `network` was trained with.
    ///
    /// Some networks were trained with unconditional life as if the suicide of several stones were legal under all
    /// rules. Fewer chains are unconditionally alive then. The feature for the suicide rule and the legality of moves
    /// are not affected.
    pub fn for_network(network: &Network) -> Features {
        Features::with_pass_alive_suicide(network.pass_alive_with_suicide())
    }

    /// Returns a generator of features whose unconditional life is computed as if the suicide of several stones were
    /// legal, whatever the rules are, or (with `false`) as the rules say.
    pub fn with_pass_alive_suicide(as_if_suicide_were_legal: bool) -> Features {
        Features { pass_alive_with_suicide: as_if_suicide_were_legal, ..Features::default() }
    }

    /// Sets whether the moves of the game are hidden from now on, so that only those of the line are shown.
    pub fn hide_game(&mut self, hides: bool) {
        self.hides_game = hides;
    }

    /// Writes the features of the position at the end of `line`. Allocates nothing if `input` already has the size of
    /// the board.
    pub fn fill(&mut self, line: &Line<'_>, input: &mut Input) {
        input.clear(line.board().size());
        let end = End::of(line);
        self.stones(line, input);
        bans(line, input);
        let most =
            if self.hides_game { line.moves().len().min(plane::LAST_MOVES) } else { plane::LAST_MOVES };
        let shown = last_moves(line, end, most, input);
        self.ladders(line, shown, input);
        self.areas(line, input);
        globals(line, end, input);
    }

    fn stones(&mut self, line: &Line<'_>, input: &mut Input) {
        let (board, own) = (line.board(), Cell::from(line.to_move()));
        self.liberties.fill(0);
        for point in board.size().points() {
            let start = index(board.size(), point) * SPATIAL_FEATURES;
            let features = &mut input.spatial[start..start + SPATIAL_FEATURES];
            features[plane::ON_BOARD] = 1.0;
            let cell = board.cell(point);
            if cell == Cell::Empty {
                continue;
            }
            features[if cell == own { plane::OWN } else { plane::OPPONENT }] = 1.0;
            let liberties = &mut self.liberties[board.anchor(point)];
            if *liberties == 0 {
                *liberties = board.liberties::<4>(point).0 as u8;
            }
            if *liberties < 4 {
                features[plane::ONE_LIBERTY + usize::from(*liberties) - 1] = 1.0;
            }
        }
    }

    /// Marks the ladders of this position and those one and two moves ago. Where a move is not shown, the ladders of
    /// the oldest shown position are repeated.
    fn ladders(&mut self, line: &Line<'_>, shown: usize, input: &mut Input) {
        let size = line.board().size();
        let known = if shown == 0 { 0 } else { line.boards_before(&mut self.boards).min(shown) };
        let caught = self.ladders.read(line.board());
        input.mark(size, plane::LADDER_MOVE, &caught.moves[line.to_move().opponent()]);
        let mut stones = caught.stones;
        input.mark(size, plane::CAUGHT, &stones);
        for (back, plane) in [plane::CAUGHT_BEFORE, plane::CAUGHT_TWO_BEFORE].into_iter().enumerate() {
            if back < known {
                stones = self.ladders.read(&self.boards[back]).stones;
            }
            input.mark(size, plane, &stones);
        }
    }

    fn areas(&mut self, line: &Line<'_>, input: &mut Input) {
        let rules = line.game().rules();
        if rules.scoring == Scoring::Territory {
            // Networks know territory only in KataGo's encore.
            return;
        }
        let size = line.board().size();
        let suicide = rules.suicide || self.pass_alive_with_suicide;
        let area = self.area.compute(line.board(), suicide, rules.tax);
        input.mark(size, plane::OWN_AREA, &area[line.to_move()]);
        input.mark(size, plane::OPPONENT_AREA, &area[line.to_move().opponent()]);
    }
}

/// Whether a pass would end the game, as shown to a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// A pass would not end the game.
    Far,
    /// A pass would end the game.
    Near,
    /// A pass would end the game, but this must be hidden.
    Hidden,
}

impl End {
    fn of(line: &Line<'_>) -> End {
        let rules = line.game().rules();
        let by_repetition = pass_would_repeat(line);
        let would_end = line.button() != Button::Free && line.passes() >= 1 || by_repetition;
        // The second of two consecutive passes. After two passes the game is already over.
        let is_second = line.passes() == 1;
        if !would_end {
            End::Far
        } else if rules.friendly_pass && rules.scoring == Scoring::Area && is_second && !by_repetition {
            End::Hidden
        } else {
            End::Near
        }
    }
}

/// Returns whether the side to move has passed in this position before. Under simple ko, another pass ends the game in
/// KataGo.
fn pass_would_repeat(line: &Line<'_>) -> bool {
    line.game().rules().ko == KoRule::Simple
        && line.button() != Button::Free
        && line.has_passed_here(line.to_move())
}

/// Marks the points that are forbidden to the side to move because of a repetition.
fn bans(line: &Line<'_>, input: &mut Input) {
    let size = line.board().size();
    let simple = line.board().ko().filter(|&(_, color)| color == line.to_move()).map(|(point, _)| point);
    for point in simple.into_iter().chain(line.superko_banned()) {
        input.spatial[index(size, point) * SPATIAL_FEATURES + plane::BANNED] = 1.0;
    }
}

/// Marks up to `most` of the latest moves, back to the first one that breaks the alternation of colours or to an end of
/// the game. Returns the number of marked moves.
fn last_moves(line: &Line<'_>, end: End, most: usize, input: &mut Input) -> usize {
    if end == End::Hidden {
        return 0;
    }
    let size = line.board().size();
    let mut expected = line.to_move().opponent();
    let mut shown = 0;
    for (color, mv) in line.moves_backwards().take(most) {
        if color != expected {
            break;
        }
        match mv {
            Move::Play(point) => {
                let start = index(size, point) * SPATIAL_FEATURES;
                input.spatial[start + plane::LAST_MOVE + shown] = 1.0;
            }
            Move::Pass => input.global[global::LAST_PASS + shown] = 1.0,
        }
        shown += 1;
        if mv == Move::Pass && was_second_pass(line, shown - 1) {
            break;
        }
        expected = expected.opponent();
    }
    shown
}

/// Returns whether the pass `back` moves before the latest move is the second of two consecutive ones.
fn was_second_pass(line: &Line<'_>, back: usize) -> bool {
    let is_pass = |&(_, mv): &(Color, Move)| mv == Move::Pass;
    let passes = line.moves_backwards().skip(back).take_while(is_pass).count();
    let took_button = line.button() != Button::None
        && !line.moves_backwards().skip(back + passes).any(|entry| is_pass(&entry));
    passes - usize::from(took_button) >= 2
}

/// Sets the features that state that the side to move has `2^doublings` times as many simulations as the opponent. All
/// other features must have been set before.
pub fn set_advantage(doublings: f32, input: &mut Input) {
    input.global[global::HAS_ADVANTAGE] = 1.0;
    input.global[global::ADVANTAGE] = 0.5 * doublings;
}

/// Returns whether the network was trained with [advantages](set_advantage). Otherwise regularisation has reduced the
/// weights of that input to a hundredth of those of other inputs.
pub fn supports_advantage(network: &Network) -> bool {
    let matrix = &network.trunk.global_matmul;
    let weights = matrix.weights.floats();
    let rows = weights.chunks_exact(matrix.outputs);
    let mut sizes: Vec<f32> =
        rows.map(|of_input| of_input.iter().map(|weight| weight * weight).sum::<f32>().sqrt()).collect();
    let own = sizes.get(global::ADVANTAGE).copied().unwrap_or(0.0);
    sizes.sort_by(f32::total_cmp);
    own > 0.0 && own >= 0.1 * sizes[sizes.len() / 2]
}

fn globals(line: &Line<'_>, end: End, input: &mut Input) {
    let rules = line.game().rules();
    let values = &mut input.global;
    let komi = own_komi(line);
    values[global::KOMI] = komi / 20.0;
    (values[global::SUPERKO], values[global::SUPERKO_KIND]) = match rules.ko {
        KoRule::Simple => (0.0, 0.0),
        KoRule::Positional => (1.0, 0.5),
        // Networks do not know natural situational superko. It differs from situational superko only after passes.
        KoRule::Situational | KoRule::NaturalSituational => (1.0, -0.5),
    };
    let flag = |set: bool| f32::from(u8::from(set));
    values[global::SUICIDE] = flag(rules.suicide);
    values[global::TERRITORY] = flag(rules.scoring == Scoring::Territory);
    values[global::SEKI_TAX] = flag(rules.tax != Tax::None);
    values[global::GROUP_TAX] = flag(rules.tax == Tax::All);
    values[global::PASS_ENDS] = flag(end == End::Near);
    values[global::BUTTON] = flag(line.button() == Button::Free);
    if rules.scoring == Scoring::Area {
        values[global::KOMI_WAVE] = komi_wave(line.board().size().area(), komi);
    }
}

/// Returns komi from the perspective of the side to move, in points. It includes everything that is not on the board
/// and is limited to the area of the board plus [`KOMI_MARGIN`].
fn own_komi(line: &Line<'_>) -> f32 {
    let game = line.game();
    let mut white = game.komi() + line.white_bonus() - line.button().black_points();
    if game.rules().scoring == Scoring::Territory {
        // Networks count area, where surplus stones of Black are worth nothing.
        white += score::surplus_stones(line.board()) as f32;
    }
    let most = game.size().area() as f32 + KOMI_MARGIN;
    (white * -line.to_move().sign() as f32).clamp(-most, most)
}

/// Returns the phase of komi in [−0.5, 0.5]: a triangular wave with a period of two points. It rises from −0.5 to 0.5
/// around the values of komi that allow a draw and falls around the values between them.
///
/// ```text
///  0.5    /\          area counts have the parity of the board unless there is a seki, so only every second
///    0 --/--\--/--    point of komi changes anything
/// −0.5       \/
///        0  1  2      komi minus the nearest lower one that allows a draw
/// ```
///
/// `area` is the number of points of the board.
pub fn komi_wave(area: usize, komi: f32) -> f32 {
    let parity = (area % 2) as f32;
    let drawn = ((komi - parity) / 2.0).floor() * 2.0 + parity;
    let above = (komi - drawn).clamp(0.0, 2.0);
    if above < 0.5 {
        above
    } else if above < 1.5 {
        1.0 - above
    } else {
        above - 2.0
    }
}

/// Returns whether a game under these rules can end without a result, from a network's point of view.
pub fn can_have_no_result(rules: Rules) -> bool {
    rules.ko == KoRule::Simple || rules.scoring == Scoring::Territory
}

/// Writes to `legal` whether the side to move may play at each point, of length `rows * columns`, row by row from the
/// top.
pub fn legal_points(line: &Line<'_>, legal: &mut Vec<bool>) {
    let size = line.board().size();
    legal.clear();
    legal.resize(size.area(), false);
    for &point in line.board().empties() {
        legal[index(size, point)] = line.check(point).is_ok();
    }
}

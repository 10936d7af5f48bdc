//! What a network is shown of a position: the "V7" features of KataGo, which all networks of versions 8 to 17 take.
//!
//! CITE: David Wu, "Accelerating Self-Play Learning in Go" (2019), appendix A, and KataGo's `fillRowV7`. The
//! numbers of the features are theirs, see [`plane`] and [`global`].
//!
//! Everything is seen by the player to move. The board's size is not padded: "on the board" is 1 everywhere.
//!
//! **What is hidden.** A pass that would end the game tells a network that the game is over, dead stones and all.
//! Under rules with friendly passes it is not: dead stones are agreed on. There the last moves, among them the
//! opponent's pass, and the end that is near are not shown. A game that has ended is shown with its last pass
//! alone, and a game that went on after its end with what came after it.
//!
//! Two things that KataGo knows are not shown, because our games do not have them: the encore that its territory
//! rules end with, and the voiding of games that repeat a position three times under simple ko.

mod area;
mod ladders;
#[cfg(test)]
mod tests;

pub use area::Area;
pub use ladders::{Caught, Ladders};

use super::input::{Input, SPATIAL_FEATURES, index};
use super::model::Network;
use kosumi_go::board::{Board, BoardSize, Cell, Color, Move, PointMap};
use kosumi_go::game::{Button, Line};
use kosumi_go::rules::{KoRule, Rules, Scoring, Tax};
use kosumi_go::score;

/// The features of a point.
pub mod plane {
    /// On the board: 1.
    pub const ON_BOARD: usize = 0;
    /// A stone of the player to move.
    pub const OWN: usize = 1;
    /// A stone of the opponent.
    pub const OPPONENT: usize = 2;
    /// A stone whose chain has one liberty; the next two planes: two, three.
    pub const ONE_LIBERTY: usize = 3;
    /// An empty point that ko or superko forbids.
    pub const BANNED: usize = 6;
    /// The opponent's latest move; the next four planes: the moves before it.
    pub const LAST_MOVE: usize = 9;
    /// Moves that are shown.
    pub const LAST_MOVES: usize = 5;
    /// A stone that is caught in a ladder.
    pub const CAUGHT: usize = 14;
    /// A stone that was caught one move ago.
    pub const CAUGHT_BEFORE: usize = 15;
    /// A stone that was caught two moves ago.
    pub const CAUGHT_TWO_BEFORE: usize = 16;
    /// A move that catches a chain of the opponent that has two liberties.
    pub const LADDER_MOVE: usize = 17;
    /// A point that the player to move holds.
    pub const OWN_AREA: usize = 18;
    /// A point that the opponent holds.
    pub const OPPONENT_AREA: usize = 19;
}

/// The features of the position as a whole.
pub mod global {
    /// The latest move was a pass; the next four: the moves before it.
    pub const LAST_PASS: usize = 0;
    /// Komi for the player to move, in units of 20 points.
    pub const KOMI: usize = 5;
    /// Some superko rule.
    pub const SUPERKO: usize = 6;
    /// Which: 0.5 positional, −0.5 situational.
    pub const SUPERKO_KIND: usize = 7;
    /// The suicide of two or more stones is legal.
    pub const SUICIDE: usize = 8;
    /// Territory is counted, not area.
    pub const TERRITORY: usize = 9;
    /// Points in seki are taxed.
    pub const SEKI_TAX: usize = 10;
    /// And so are two points of every group.
    pub const GROUP_TAX: usize = 11;
    /// The players are not told to be equally strong.
    pub const UNEQUAL: usize = 15;
    /// How much stronger the player to move is told to be: half the power of two.
    pub const ADVANTAGE: usize = 16;
    /// A pass would be the end.
    pub const PASS_ENDS: usize = 14;
    /// The first pass is worth half a point, and is still to come.
    pub const BUTTON: usize = 17;
    /// Where komi lies between the values that allow a draw, see [`komi_wave`](super::komi_wave).
    pub const KOMI_WAVE: usize = 18;
}

/// How far beyond the board's area komi is shown.
const KOMI_MARGIN: f32 = 20.0;

/// The size of boards that are still to be written to.
const SMALLEST: BoardSize = match BoardSize::square(1) {
    Some(size) => size,
    None => unreachable!(),
};

/// Makes a network's inputs; keeps what costs time from one position to the next.
#[derive(Clone, Debug)]
pub struct Features {
    ladders: Ladders,
    area: Area,
    /// Positions one and two moves ago.
    boards: Box<[Board; 2]>,
    /// Liberties of chains, at their anchors: up to 4; 0 is not yet known.
    liberties: PointMap<u8>,
    /// Is life for certain read as if the suicide of several stones were legal, whatever the rules?
    pass_alive_with_suicide: bool,
    /// Are moves of the game left out, so that only those of the line are shown?
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
    /// Features as `network` was taught them.
    ///
    /// Some networks were shown areas that are alive for certain where the suicide of several stones is legal, under all
    /// rules: it is harder to be alive for certain then. The rule itself, and what is legal, are shown as they are.
    pub fn for_network(network: &Network) -> Features {
        Features::with_life_for_certain(network.pass_alive_with_suicide())
    }

    /// Features whose areas that are alive for certain are those as if the suicide of several stones were legal, whatever
    /// the rules, or those of the rules.
    pub fn with_life_for_certain(as_if_suicide_were_legal: bool) -> Features {
        Features { pass_alive_with_suicide: as_if_suicide_were_legal, ..Features::default() }
    }

    /// Says whether moves of the game are hidden from here on, so that only those of the line are shown.
    pub fn hide_game(&mut self, hides: bool) {
        self.hides_game = hides;
    }

    /// Writes the features of the position at the end of `line`. No memory is taken if `input` is of the board's
    /// size already.
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

    /// The ladders now and, as far as moves are shown, one and two moves ago; beyond that the oldest again.
    fn ladders(&mut self, line: &Line<'_>, shown: usize, input: &mut Input) {
        let size = line.board().size();
        let known = if shown == 0 { 0 } else { line.boards_before(&mut self.boards).min(shown) };
        let caught = self.ladders.on(line.board());
        input.mark(size, plane::LADDER_MOVE, &caught.moves[line.to_move().opponent()]);
        let mut stones = caught.stones;
        input.mark(size, plane::CAUGHT, &stones);
        for (back, plane) in [plane::CAUGHT_BEFORE, plane::CAUGHT_TWO_BEFORE].into_iter().enumerate() {
            if back < known {
                stones = self.ladders.on(&self.boards[back]).stones;
            }
            input.mark(size, plane, &stones);
        }
    }

    fn areas(&mut self, line: &Line<'_>, input: &mut Input) {
        let rules = line.game().rules();
        if rules.scoring == Scoring::Territory {
            // Networks see territory only in KataGo's encore.
            return;
        }
        let size = line.board().size();
        let suicide = rules.suicide || self.pass_alive_with_suicide;
        let area = self.area.of(line.board(), suicide, rules.tax);
        input.mark(size, plane::OWN_AREA, &area[line.to_move()]);
        input.mark(size, plane::OPPONENT_AREA, &area[line.to_move().opponent()]);
    }
}

/// How near the end of the game is, as far as a network is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// A pass would not end the game.
    Far,
    /// It would.
    Near,
    /// It would, but that must not be shown.
    Hidden,
}

impl End {
    fn of(line: &Line<'_>) -> End {
        let rules = line.game().rules();
        let by_repetition = pass_would_repeat(line);
        let would_end = line.button() != Button::Free && line.passes() >= 1 || by_repetition;
        // The second pass of two; of a third one the game is over already.
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

/// Has the player to move passed here before? Under simple ko, that ends the game for KataGo.
fn pass_would_repeat(line: &Line<'_>) -> bool {
    line.game().rules().ko == KoRule::Simple
        && line.button() != Button::Free
        && line.has_passed_here(line.to_move())
}

/// Marks where the player to move must not play because of a repetition.
fn bans(line: &Line<'_>, input: &mut Input) {
    let size = line.board().size();
    let simple = line.board().ko().filter(|&(_, color)| color == line.to_move()).map(|(point, _)| point);
    for point in simple.into_iter().chain(line.superko_banned()) {
        input.spatial[index(size, point) * SPATIAL_FEATURES + plane::BANNED] = 1.0;
    }
}

/// Shows the latest moves, as far as the players took turns and no end of the game lies between, but not more than
/// `most`; returns how many.
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
        if mv == Move::Pass && ended_game(line, shown - 1) {
            break;
        }
        expected = expected.opponent();
    }
    shown
}

/// Was the pass that lies `back` moves before the latest move the second of two?
fn ended_game(line: &Line<'_>, back: usize) -> bool {
    let is_pass = |&(_, mv): &(Color, Move)| mv == Move::Pass;
    let passes = line.moves_backwards().skip(back).take_while(is_pass).count();
    let took_button = line.button() != Button::None
        && !line.moves_backwards().skip(back + passes).any(|entry| is_pass(&entry));
    passes - usize::from(took_button) >= 2
}

/// Tells a network that the player to move has so many times the opponent's simulations, as a power of two: the input
/// must have been filled.
pub fn tell_advantage(doublings: f32, input: &mut Input) {
    input.global[global::UNEQUAL] = 1.0;
    input.global[global::ADVANTAGE] = 0.5 * doublings;
}

/// Has the network ever been [told](tell_advantage) of an advantage? One that has not keeps weights for that input that are
/// all but nothing: regularisation leaves a hundredth of what others have.
pub fn knows_advantage(network: &Network) -> bool {
    let weights = network.trunk.global_matmul.weights.chunks_exact(network.trunk.global_matmul.outputs);
    let mut sizes: Vec<f32> =
        weights.map(|of_input| of_input.iter().map(|weight| weight * weight).sum::<f32>().sqrt()).collect();
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
        // Networks know no natural situational superko; it differs from this after passes only.
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

/// Komi for the player to move: with all that is not on the board, and not much more than the board holds.
fn own_komi(line: &Line<'_>) -> f32 {
    let game = line.game();
    let mut white = game.komi() + line.white_bonus() - line.button().black_points();
    if game.rules().scoring == Scoring::Territory {
        // Networks think in area: what Black has placed more than White is worth nothing.
        white += score::surplus_moves(line.board()) as f32;
    }
    let most = game.size().area() as f32 + KOMI_MARGIN;
    (white * -line.to_move().sign() as f32).clamp(-most, most)
}

/// What komi is worth beyond its points, in a triangular wave with a period of two points: it rises from −0.5 to
/// 0.5 around the values of komi that allow a draw, and falls around those between them.
///
/// ```text
///  0.5    /\          area counts have the parity of the board unless there is a seki, so only every second
///    0 --/--\--/--    point of komi changes anything
/// −0.5       \/
///        0  1  2      komi minus the nearest lower one that allows a draw
/// ```
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

/// Can a game under these rules end without a result, as networks know it?
pub fn can_have_no_result(rules: Rules) -> bool {
    rules.ko == KoRule::Simple || rules.scoring == Scoring::Territory
}

/// For every point, in the order of a network's outputs: may the player to move play there?
pub fn legal_points(line: &Line<'_>, legal: &mut Vec<bool>) {
    let size = line.board().size();
    legal.clear();
    legal.resize(size.area(), false);
    for &point in line.board().empties() {
        legal[index(size, point)] = line.check(point).is_ok();
    }
}

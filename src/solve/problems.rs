//! Problems: the fate of stones depending on which side moves first, including the kinds of ko.
//!
//! Simple ko applies here. A cycle saves the stones in question, because they have not been captured. Ko threats
//! outside the region are counted one by one: a side with a threat may retake a ko at once. An answer is *certain* if
//! it does not depend on the number of threats that the other side has.

use super::bits::{Bits, Wide};
use super::goal::{Goal, Kind};
use super::move_code::{MoveCode, NO_MOVE, PASS, THREAT};
use super::path::Repetition;
use super::region::Region;
use super::search::Search;
use super::stack::on_large_stack;
use super::table::{Hash128, Table};
use super::threads;
use super::window::{MAX_OUTSIDE, NO_POINT, Position, UNLIMITED, Window};
use kosumi_go::board::{Board, Cell, Color, Move, Point, PointSet};

/// Aim of one side, the prover. Every other outcome is a success of the opponent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// To capture all stones of the region's group.
    Capture,
    /// To capture the group's stones before the prover's own chain at this point is captured.
    Race(Point),
    /// To give a stone of the group eyes that cannot be removed. Seki is not enough.
    Secure,
    /// To capture the chain at this point, by tactical reading on the whole board: a chain is safe with five liberties,
    /// or with four if its owner is to move, and only moves near it are tried. The region and its group are ignored. A
    /// single stone that is taken in a ko counts as captured only if it is not retaken.
    Chain(Point),
    /// To join the chains at two points.
    Connect(Point, Point),
    /// To join the chains at two points, by tactical reading on the whole board. The chains are apart if joining them
    /// takes five moves in a row or if the joined chain is captured at once. Only moves on the shortest paths between
    /// the chains and near those paths are tried. The region and its group are ignored.
    Link(Point, Point),
}

impl Aim {
    /// Returns whether the aim is read on the whole board with few candidate moves.
    pub(super) fn is_tactical(self) -> bool {
        matches!(self, Aim::Chain(_) | Aim::Link(..))
    }
}

/// A question about a part of a board.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The position.
    pub board: &'a Board,
    /// Points where stones may be played, and the stones that the question is about.
    pub region: &'a Region,
    /// Aim of the prover.
    pub aim: Aim,
    /// Whether a move may remove its own chain of two or more stones.
    pub suicide: bool,
    /// Size of the transposition table, in bytes.
    pub memory: usize,
    /// Number of search threads.
    pub threads: usize,
}

/// Reason why a question is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum QuestionError {
    /// The region holds none of the stones that the question is about.
    #[error("the question is about no stone")]
    NoStones,
    /// The region has no empty point.
    #[error("the region has no empty point")]
    NoRoom,
    /// The two chains belong to different sides, or one of the points has no stone.
    #[error("the two points are not stones of the same side")]
    NotOneColor,
    /// The question spans more than 19×19 points.
    #[error("the question spans more than 19×19 points")]
    TooLarge,
}

/// Whether the prover succeeds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Success {
    /// Yes, regardless of the opponent's threats.
    Yes,
    /// No, regardless of the prover's threats.
    No,
    /// The prover wins the ko unless the opponent makes this number of threats that are answered. The largest value,
    /// [`MAX_THREATS`], stands for that number or more.
    KoFirst(u8),
    /// The prover succeeds only by making this number of threats that are answered. The largest value is
    /// [`MAX_THREATS`], as above.
    KoSecond(u8),
    /// The search ended without a result.
    Unknown,
}

/// Largest number of threats that is counted.
pub const MAX_THREATS: u8 = 3;

impl Success {
    /// Returns whether the prover succeeds if neither side makes a threat; `None` if unknown.
    pub fn without_threats(self) -> Option<bool> {
        match self {
            Success::Yes | Success::KoFirst(_) => Some(true),
            Success::No | Success::KoSecond(_) => Some(false),
            Success::Unknown => None,
        }
    }

    /// Returns whether the result depends on a ko.
    pub fn is_ko(self) -> bool {
        matches!(self, Success::KoFirst(_) | Success::KoSecond(_))
    }
}

/// The answer to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// Whether the prover succeeds.
    pub success: Success,
    /// Move of the first player that leads to this result, if that player gains by moving. A pass if no move is needed.
    pub best: Option<Move>,
    /// Number of nodes searched.
    pub nodes: u64,
}

/// A function that returns whether to give up. The search calls it now and then with the number of nodes searched.
pub type StopFn<'a> = &'a (dyn Fn(u64) -> bool + Sync);

/// Answers a question with `first` to move. The answer also holds against moves outside the region. If none is found
/// that does, the region is enlarged, a few times at most.
///
/// # Errors
///
/// Returns a [`QuestionError`] if the question is invalid.
pub fn read(question: &Question<'_>, first: Color, stop: StopFn<'_>) -> Result<Reading, QuestionError> {
    Ok(read_with_region(question, first, stop)?.0)
}

/// Answers a question as [`read`] does, and returns the region in which the answer was found.
///
/// # Errors
///
/// Returns a [`QuestionError`] if the question is invalid.
pub fn read_with_region(
    question: &Question<'_>,
    first: Color,
    stop: StopFn<'_>,
) -> Result<(Reading, Region), QuestionError> {
    let mut region = *question.region;
    let mut nodes = 0;
    for round in 0.. {
        let question = Question { region: &region, ..*question };
        let reading = read_in_region(&question, first, &|searched| stop(nodes + searched))?;
        nodes += reading.nodes;
        let reading = Reading { nodes, ..reading };
        let wider = match reading.success {
            Success::Unknown if !question.aim.is_tactical() && !stop(nodes) => {
                region.wider(question.board, round)
            }
            _ => None,
        };
        match wider {
            Some(wider) => region = wider,
            None => return Ok((reading, region)),
        }
    }
    unreachable!("a region grows a bounded number of times")
}

/// Answers a question in its region, without enlarging the region.
///
/// # Errors
///
/// Returns a [`QuestionError`] if the question is invalid.
pub(super) fn read_in_region(
    question: &Question<'_>,
    first: Color,
    stop: StopFn<'_>,
) -> Result<Reading, QuestionError> {
    with_window(question, &mut ReadJob { first, stop })
}

/// Returns a hash of everything that a reading depends on. Questions with the same hash have the same answer within
/// `max_nodes` nodes.
///
/// # Errors
///
/// Returns a [`QuestionError`] if the question is invalid.
pub(super) fn key(question: &Question<'_>, first: Color, max_nodes: u64) -> Result<u128, QuestionError> {
    check(question)?;
    let board = question.board;
    let (corner, sides) = window(question);
    let mut hash = Hash128::START;
    let (kind, points) = match question.aim {
        Aim::Capture => (0, [None; 2]),
        Aim::Race(own) => (1, [Some(own), None]),
        Aim::Secure => (2, [None; 2]),
        Aim::Chain(point) => (3, [Some(point), None]),
        Aim::Connect(a, b) => (4, [Some(a), Some(b)]),
        Aim::Link(a, b) => (5, [Some(a), Some(b)]),
    };
    let place = |point: Option<Point>| point.map_or(u64::MAX, |it| (it.column() * 64 + it.row()) as u64);
    let ko = board.ko().filter(|&(_, color)| color == first).map(|(point, _)| point);
    let size = (board.size().columns() * 64 + board.size().rows()) as u64;
    let window = [corner.0, corner.1, sides.0, sides.1].map(|number| number as u64);
    let words = [kind, place(points[0]), place(points[1]), place(ko), first as u64, size, max_nodes];
    let settings = [u64::from(question.suicide), question.memory as u64, question.threads as u64];
    let strong = Color::BOTH.map(|color| match question.aim.is_tactical() {
        true => PointSet::EMPTY,
        false => {
            uncapturable_stones(board, question.region, color, question.suicide).unwrap_or(PointSet::EMPTY)
        }
    });
    hash.mix(u64::from(question.region.is_closed) | u64::from(question.region.excludes_moves_outside) << 1);
    words.into_iter().chain(settings).chain(window).for_each(|word| hash.mix(word));
    for row in corner.1..corner.1 + sides.1 {
        // Five bits for each of at most 25 points of a row.
        let (mut low, mut high) = (0u64, 0u64);
        for column in corner.0..corner.0 + sides.0 {
            let point = Point::new(column, row);
            let stone = board.cell(point).color().map_or(0, |color| 1 + color as u64);
            let is_playable = u64::from(question.region.playable.contains(point));
            let is_group = u64::from(question.region.group.contains(point));
            let is_strong = u64::from(strong.iter().any(|strong| strong.contains(point)));
            let state = stone | is_playable << 2 | is_group << 3 | is_strong << 4;
            (low, high) = (low << 5 | state, high << 5 | low >> 59);
        }
        hash.mix(low);
        hash.mix(high);
    }
    Ok(hash.finish())
}

/// Fate of a group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// The group is not captured even if the opponent moves first, and can make eyes that cannot be removed.
    Alive,
    /// The group is not captured even if the opponent moves first, but cannot make such eyes: seki or a double ko.
    Seki,
    /// The group is captured even if its owner moves first.
    Dead,
    /// The side that moves first decides.
    Unsettled,
    /// The fate depends on a ko, at least if one of the sides moves first.
    Ko,
    /// The search ended without a result.
    Unknown,
}

/// Fate of a region's group, for either side moving first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupReading {
    /// Fate of the group.
    pub status: Status,
    /// Whether the group is captured if the opponent moves first.
    pub attack: Reading,
    /// Whether the group is captured if its owner moves first.
    pub defence: Reading,
    /// Region of the reading: the region of the question, or the enlarged region.
    pub region: Region,
}

/// Reads the fate of a group. The question's aim is ignored.
///
/// # Errors
///
/// Returns a [`QuestionError`] if the question is invalid.
pub fn read_status(question: &Question<'_>, stop: StopFn<'_>) -> Result<GroupReading, QuestionError> {
    let question = Question { aim: Aim::Capture, ..*question };
    check(&question)?;
    let group = &question.region.group;
    let owner = group.iter().next().and_then(|point| question.board.cell(point).color());
    let owner = owner.ok_or(QuestionError::NoStones)?;
    let (attack, region) = read_with_region(&question, owner.opponent(), stop)?;
    let before = attack.nodes;
    let (defence, region) =
        read_with_region(&Question { region: &region, ..question }, owner, &|nodes| stop(before + nodes))?;
    let before = before + defence.nodes;
    let question = Question { region: &region, ..question };
    let status = match (attack.success, defence.success) {
        (Success::No, _) => {
            let secure = Question { aim: Aim::Secure, ..question };
            match read(&secure, owner.opponent(), &|nodes| stop(before + nodes))?.success {
                Success::Yes => Status::Alive,
                Success::Unknown => Status::Unknown,
                _ => Status::Seki,
            }
        }
        (Success::Unknown, _) | (_, Success::Unknown) => Status::Unknown,
        (_, Success::Yes) => Status::Dead,
        (Success::Yes, Success::No) => Status::Unsettled,
        _ => Status::Ko,
    };
    Ok(GroupReading { status, attack, defence, region })
}

/// One move of a proof, and its continuations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofNode {
    /// Side that plays the move.
    pub color: Color,
    /// The move; `None` for a threat elsewhere that was answered.
    pub mv: Option<Move>,
    /// Whether the prover succeeds after this move, without threats beyond those given.
    pub success: Option<bool>,
    /// Continuations after this move.
    pub replies: Vec<ProofNode>,
}

impl ProofNode {
    /// Returns the number of nodes of this subtree, including this node.
    pub(super) fn size(&self) -> usize {
        1 + self.replies.iter().map(ProofNode::size).sum::<usize>()
    }
}

/// Returns a tree that shows how a question is decided: the winner's moves, all sensible resistance, and refutations of
/// the first player's wrong moves. `success` is the result of the reading and gives the number of threats.
///
/// # Errors
///
/// Returns a [`QuestionError`] if the question is invalid.
pub fn proof_tree(
    question: &Question<'_>,
    first: Color,
    success: Success,
    max_nodes: usize,
    stop: StopFn<'_>,
) -> Result<Vec<ProofNode>, QuestionError> {
    with_window(question, &mut ProofJob { first, success, max_nodes, stop })
}

/// Work to be done on a [`Window`] of any set width.
pub(super) trait WindowJob {
    type Output;
    fn run<B: Bits>(&mut self, question: &Question<'_>, setting: BoardQuestion<B>) -> Self::Output;
}

/// A question translated to the solver's board.
pub(super) struct BoardQuestion<B> {
    pub(super) window: Window<B>,
    pub(super) goal: Goal<B>,
    position: Position<B>,
    pub(super) repetition: Repetition,
}

/// Runs a job on the narrowest window that the question fits in, on a [large stack](on_large_stack).
pub(super) fn with_window<J: WindowJob<Output: Send> + Send>(
    question: &Question<'_>,
    job: &mut J,
) -> Result<J::Output, QuestionError> {
    check(question)?;
    on_large_stack(|| run_in_window(question, job))
}

fn run_in_window<J: WindowJob>(question: &Question<'_>, job: &mut J) -> Result<J::Output, QuestionError> {
    let window = window(question);
    if let Some(setting) = BoardQuestion::<u64>::new(question, window) {
        return Ok(job.run(question, setting));
    }
    if let Some(setting) = BoardQuestion::<u128>::new(question, window) {
        return Ok(job.run(question, setting));
    }
    let setting = BoardQuestion::<Wide>::new(question, window).ok_or(QuestionError::TooLarge)?;
    Ok(job.run(question, setting))
}

fn check(question: &Question<'_>) -> Result<(), QuestionError> {
    let board = question.board;
    let color = |point| board.cell(point).color();
    if let Aim::Chain(point) = question.aim {
        return if color(point).is_some() { Ok(()) } else { Err(QuestionError::NoStones) };
    }
    if let Aim::Connect(a, b) | Aim::Link(a, b) = question.aim {
        if color(a).is_none() || color(a) != color(b) {
            return Err(QuestionError::NotOneColor);
        }
    } else {
        let Some(first) = question.region.group.iter().next() else { return Err(QuestionError::NoStones) };
        let owner = color(first);
        if owner.is_none() || question.region.group.iter().any(|point| color(point) != owner) {
            return Err(QuestionError::NoStones);
        }
        if let Aim::Race(own) = question.aim
            && (color(own).is_none() || color(own) == owner)
        {
            return Err(QuestionError::NoStones);
        }
    }
    if !question.aim.is_tactical() && question.region.empty_points(board) == 0 {
        return Err(QuestionError::NoRoom);
    }
    Ok(())
}

/// Largest number of columns and of rows that tactical reading covers if the board is too large for the widest set.
const LARGEST_SIDE: usize = 19;

/// Returns the lower left corner and the size of the smallest window that contains the region, the chains around it,
/// and their liberties. For tactical reading the window is the whole board, or the largest readable part of it around
/// the stones in question.
fn window(question: &Question<'_>) -> ((usize, usize), (usize, usize)) {
    let board = question.board;
    if let Aim::Chain(a) | Aim::Link(a, _) = question.aim {
        let b = if let Aim::Link(_, b) = question.aim { b } else { a };
        let size = board.size();
        let is_whole = Window::<Wide>::whole(size, question.suicide).is_some();
        let side = |from: usize, to: usize, all: usize| {
            let length = if is_whole { all } else { all.min(LARGEST_SIDE) };
            (((from + to) / 2).saturating_sub(length / 2).min(all - length), length)
        };
        let (left, columns) = side(a.column(), b.column(), size.columns());
        let (bottom, rows) = side(a.row(), b.row(), size.rows());
        return ((left, bottom), (columns, rows));
    }
    let mut seen = question.region.playable;
    seen.union_with(&question.region.group);
    let near: Vec<Point> = seen.iter().flat_map(Point::adjacent).collect();
    for next in near {
        match board.cell(next) {
            Cell::Black | Cell::White => {
                if !seen.contains(next) {
                    seen.extend_from(board.chain(next));
                }
            }
            Cell::Empty => {
                seen.insert(next);
            }
            Cell::Border => {}
        }
    }
    let stones: Vec<Point> = seen.iter().filter(|&point| board.cell(point).color().is_some()).collect();
    let around = stones.into_iter().flat_map(Point::adjacent).filter(|&next| board.cell(next) == Cell::Empty);
    let around: PointSet = around.collect();
    seen.union_with(&around);
    let columns = || seen.iter().map(Point::column);
    let rows = || seen.iter().map(Point::row);
    let (left, right) = (columns().min().unwrap_or(0), columns().max().unwrap_or(0));
    let (bottom, top) = (rows().min().unwrap_or(0), rows().max().unwrap_or(0));
    ((left, bottom), (right + 1 - left, top + 1 - bottom))
}

/// Returns the stones of `owner` that are never captured even if the opponent controls the whole region and all moves
/// in it. Returns `None` if the board is too large for the reading.
fn uncapturable_stones(board: &Board, region: &Region, owner: Color, suicide: bool) -> Option<PointSet> {
    let mut window = Window::<Wide>::whole(board.size(), suicide)?;
    window.playable = window.points & !window.set(|point| region.playable.contains(point));
    let held = window.safe_area(&window.position(board, owner), owner).stones;
    Some(held.each().map(|index| window.point(index)).collect())
}

impl<B: Bits> BoardQuestion<B> {
    /// Returns this question with everything that the opponent of `winner` may do outside the region: see
    /// [`Window::besieged`]. Returns `None` if nothing outside matters, or if the question excludes moves outside.
    pub(super) fn besieged(&self, question: &Question<'_>, winner: Color) -> Option<BoardQuestion<B>> {
        let Question { board, region, .. } = *question;
        if question.aim.is_tactical() || region.excludes_moves_outside {
            return None;
        }
        let owner = region.group.iter().next().and_then(|point| board.cell(point).color());
        // Such a group lives by getting out, as far as the question is concerned.
        let is_about_life = matches!(question.aim, Aim::Capture | Aim::Race(_) | Aim::Secure);
        if is_about_life && !region.is_closed && owner == Some(winner) {
            return None;
        }
        let mut window = self.window.clone();
        let outside = window.empties(&self.position) & !window.playable;
        let stones = self.position.stones[winner as usize];
        let strong = uncapturable_stones(board, region, winner, question.suicide).unwrap_or(PointSet::EMPTY);
        window.besieged = Some(winner);
        window.safe = window.safe & !stones | window.set(|point| strong.contains(point));
        // Captures by the winner outside the region would leave points where the opponent may play.
        window.safe = window.safe | self.position.stones[winner.opponent() as usize] & !window.playable;
        // Moves outside matter in three cases: new stones may have liberties there, a chain of the winner may be
        // captured from there, or a chain of the loser may be captured from inside.
        let near = window.around(window.playable);
        let can_be_taken = |color: Color, most: u32| {
            let stones = self.position.stones[color as usize];
            window.parts_at(near & stones & !window.playable, stones).any(|chain| {
                (window.around(chain) & outside).count() <= most
                    && (color != winner || !chain.meets(window.safe))
            })
        };
        let matters = near.meets(outside)
            || can_be_taken(winner, u32::from(MAX_OUTSIDE))
            || can_be_taken(winner.opponent(), 0);
        matters.then_some(BoardQuestion { window, ..*self })
    }

    fn new(
        question: &Question<'_>,
        (corner, sides): ((usize, usize), (usize, usize)),
    ) -> Option<BoardQuestion<B>> {
        let board = question.board;
        let mut window = Window::<B>::covering(board.size(), corner, sides, question.suicide)?;
        window.playable = match question.aim.is_tactical() {
            // A stone at an open edge would have liberties that are not part of the window.
            true => window.points & !window.open,
            false => window.set(|point| question.region.playable.contains(point)),
        };
        // Stones that continue beyond the window are safe. Chains next to the region lie wholly in the window.
        window.safe =
            window.open & window.set(|point| board.cell(point).color().is_some()) & !window.playable;
        let group = window.set(|point| question.region.group.contains(point));
        let owner = question.region.group.iter().next().and_then(|point| board.cell(point).color());
        let (prover, kind) = match question.aim {
            Aim::Capture => (owner?.opponent(), Kind::Take { target: group, own: B::default() }),
            Aim::Race(own) => {
                let own = window.set(|point| board.chain(own).any(|stone| stone == point));
                (owner?.opponent(), Kind::Take { target: group, own })
            }
            Aim::Chain(point) => (board.cell(point).color()?.opponent(), Kind::Chain(window.index(point)?)),
            Aim::Secure => (owner?, Kind::Secure(group)),
            Aim::Connect(a, b) => (board.cell(a).color()?, Kind::Join(window.index(a)?, window.index(b)?)),
            Aim::Link(a, b) => (board.cell(a).color()?, Kind::Link(window.index(a)?, window.index(b)?)),
        };
        let position = window.position(board, Color::Black);
        // A cycle has captured nothing, and has joined or secured nothing either.
        let repetition = Repetition::Wins(prover.opponent());
        Some(BoardQuestion { window, goal: Goal { prover, kind }, position, repetition })
    }

    pub(super) fn root(&self, board: &Board, first: Color, threats: [u8; 2]) -> Position<B> {
        let ko = board.ko().filter(|&(_, color)| color == first);
        let ko = ko.and_then(|(point, _)| self.window.index(point)).map_or(NO_POINT, |index| index as u16);
        Position { to_move: first, ko, threats, ..self.position }
    }

    pub(super) fn move_of(&self, step: MoveCode) -> Option<Move> {
        match step {
            NO_MOVE | THREAT => None,
            PASS => Some(Move::Pass),
            index => Some(Move::Play(self.window.point(u32::from(index)))),
        }
    }
}

struct ReadJob<'a> {
    first: Color,
    stop: StopFn<'a>,
}

impl WindowJob for ReadJob<'_> {
    type Output = Reading;

    fn run<B: Bits>(&mut self, question: &Question<'_>, setting: BoardQuestion<B>) -> Reading {
        let table = Table::new(question.memory);
        let BoardQuestion { window, goal, repetition, .. } = &setting;
        let asked = threads::SearchQuestion {
            window,
            goal: *goal,
            repetition: *repetition,
            images: None,
            table: &table,
        };
        let mut checks = [None, None];
        let mut check_tables = [None, None];
        let mut nodes = 0;
        let prover = goal.prover;
        let mut ask = |prover_threats: u8, other_threats: u8| {
            let mut threats = [0; 2];
            threats[prover as usize] = prover_threats;
            threats[prover.opponent() as usize] = other_threats;
            let root = setting.root(question.board, self.first, threats);
            let before = nodes;
            let stop = |searched| (self.stop)(before + searched);
            let found = asked.decide(&root, &[], question.threads, &stop);
            nodes += found.nodes;
            let Some(won) = found.answer.won else { return (None, NO_MOVE) };
            // A proof must hold against moves outside the region.
            let winner = if won { prover } else { prover.opponent() };
            let check = checks[winner as usize].get_or_insert_with(|| setting.besieged(question, winner));
            let Some(check) = check else { return (Some(won), found.answer.best) };
            let table = check_tables[winner as usize].get_or_insert_with(|| Table::new(question.memory));
            let asked = threads::SearchQuestion { window: &check.window, table, ..asked };
            let before = nodes;
            let stop = |searched| (self.stop)(before + searched);
            let found = asked.decide(&root, &[], question.threads, &stop);
            nodes += found.nodes;
            (found.answer.won.filter(|&same| same == won), found.answer.best)
        };
        let (plain, best) = ask(0, 0);
        let success = match plain {
            None => Success::Unknown,
            Some(true) => match ask(0, UNLIMITED).0 {
                Some(true) => Success::Yes,
                Some(false) => {
                    fewest(|count| ask(0, count).0.map(|won| !won)).map_or(Success::Unknown, Success::KoFirst)
                }
                None => Success::Unknown,
            },
            Some(false) => match ask(UNLIMITED, 0).0 {
                Some(false) => Success::No,
                Some(true) => fewest(|count| ask(count, 0).0).map_or(Success::Unknown, Success::KoSecond),
                None => Success::Unknown,
            },
        };
        // The move matters to the side that gains by it.
        let mut best = best;
        let first_wins = success.without_threats() == Some(self.first == prover);
        if !first_wins && success.is_ko() {
            // If the side to move must make threats to win a ko, the ko begins with the move that succeeds with enough
            // threats.
            best = match self.first == prover {
                true => ask(UNLIMITED, 0).1,
                false => ask(0, UNLIMITED).1,
            };
        } else if first_wins && !matches!(success, Success::KoFirst(_) | Success::KoSecond(_)) {
            // The move that succeeds against any number of threats.
            let (_, certain) = match self.first == prover {
                true => ask(0, UNLIMITED),
                false => ask(UNLIMITED, 0),
            };
            if certain != NO_MOVE {
                best = certain;
            }
        } else if !first_wins {
            best = NO_MOVE;
        }
        Reading { success, best: setting.move_of(best), nodes }
    }
}

/// Returns the smallest number of threats, from 1 on, for which `enough` returns true; [`MAX_THREATS`] if no smaller
/// number suffices.
fn fewest(mut enough: impl FnMut(u8) -> Option<bool>) -> Option<u8> {
    for count in 1..MAX_THREATS {
        if enough(count)? {
            return Some(count);
        }
    }
    Some(MAX_THREATS)
}

struct ProofJob<'a> {
    first: Color,
    success: Success,
    max_nodes: usize,
    stop: StopFn<'a>,
}

impl WindowJob for ProofJob<'_> {
    type Output = Vec<ProofNode>;

    fn run<B: Bits>(&mut self, question: &Question<'_>, setting: BoardQuestion<B>) -> Vec<ProofNode> {
        let table = Table::new(question.memory);
        let prover = setting.goal.prover;
        let mut threats = [0; 2];
        // A ko is shown with threats for the side that needs them.
        match self.success {
            Success::KoFirst(count) => threats[prover.opponent() as usize] = count - 1,
            Success::KoSecond(count) => threats[prover as usize] = count,
            // A result that holds regardless of threats is shown against any number of them.
            Success::Yes => threats[prover.opponent() as usize] = UNLIMITED,
            Success::No => threats[prover as usize] = UNLIMITED,
            Success::Unknown => {}
        }
        let root = setting.root(question.board, self.first, threats);
        let mut writer = ProofWriter {
            search: Search::new(&setting.window, setting.goal, setting.repetition, &table, self.stop),
            setting: &setting,
            root,
        };
        let mut line = Vec::new();
        writer.replies(&mut line, true, self.max_nodes)
    }
}

struct ProofWriter<'a, 'b, B> {
    search: Search<'a, B>,
    setting: &'b BoardQuestion<B>,
    root: Position<B>,
}

impl<B: Bits> ProofWriter<'_, '_, B> {
    /// Returns the moves shown after a line: one winning move if the side to move wins, otherwise every move. With
    /// `all`, every move is shown. The moves share the node budget `left`: nodes that a shorter proof leaves are given
    /// to the others.
    fn replies(&mut self, line: &mut Vec<MoveCode>, all: bool, mut left: usize) -> Vec<ProofNode> {
        let moves = self.search.moves_behind(&self.root, line);
        let prover = self.setting.goal.prover;
        let mut nodes = Vec::new();
        let threats = line.iter().filter(|&&step| step == THREAT).count();
        let odd = (line.len() - threats) % 2 == 1;
        let color = if odd { self.root.to_move.opponent() } else { self.root.to_move };
        for (step, done) in moves {
            line.push(step);
            let won = self.search.decide_line(&self.root, line).won;
            line.pop();
            nodes.push((step, done, won));
        }
        let good = |won: Option<bool>| won == Some(color == prover);
        let wins = nodes.iter().any(|&(.., won)| good(won));
        // Winning moves come first.
        nodes.sort_by_key(|&(_, _, won)| !good(won));
        if wins && !all {
            nodes.truncate(1);
        }
        nodes.truncate(left);
        left -= nodes.len();
        let mut shown = Vec::new();
        for (number, &(step, done, success)) in nodes.iter().enumerate() {
            let mut node = ProofNode { color, mv: self.setting.move_of(step), success, replies: Vec::new() };
            if !done && success.is_some() {
                line.push(step);
                node.replies = self.replies(line, false, left / (nodes.len() - number));
                line.pop();
            }
            left -= node.replies.iter().map(ProofNode::size).sum::<usize>();
            shown.push(node);
        }
        shown
    }
}

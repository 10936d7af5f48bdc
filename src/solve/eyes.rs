//! Exact number of eyes of an eye space. The surrounding stones are read twice: as if they had enough liberties but no
//! other eye, and as if they had one more eye.

use super::problems::{Aim, Question, QuestionError, StopFn, Success, read};
use super::region::Region;
use kosumi_go::board::{Board, Cell, Color, Move, Point, PointSet};

/// Number of eyes of an eye space. Two stands for two or more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Eyes {
    /// Number of eyes that are certain if the opponent moves first.
    pub fewest: u8,
    /// Largest number of eyes if the owner moves first; in a ko, if the owner wins it.
    pub most: u8,
    /// Move by which the opponent removes an eye, if the two numbers differ.
    pub attack: Option<Move>,
    /// Move by which the owner makes an eye, if the two numbers differ.
    pub defence: Option<Move>,
    /// Number of nodes searched.
    pub nodes: u64,
}

/// Reason why no number of eyes is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EyesError {
    /// The point is one of the surrounding stones, or it is not enclosed by stones of one side.
    #[error("the point is not in an eye space of one side")]
    NoEyeSpace,
    /// Some of the surrounding stones may be cut off, so the number of eyes depends on more than the eye space.
    #[error("the stones around the eye space are not one chain")]
    ManyChains,
    /// The board has no point for an eye beside the eye space, which the reading needs.
    #[error("the board has no point for an eye beside the eye space")]
    NoRoom,
    /// The search ended without a result.
    #[error("the search ended without a result")]
    Undecided,
    /// See [`QuestionError`].
    #[error(transparent)]
    Question(#[from] QuestionError),
}

/// Largest number of stones in a shape that leaves one eye when it is captured.
const MAX_STONES_INSIDE: usize = 6;

/// Reads the eye space at a point: the empty points and the opponent's stones that one chain encloses.
///
/// # Errors
///
/// Returns an error if the point lies in no such eye space, or if the search ends without a result.
pub fn eyes(board: &Board, point: Point, memory: usize, stop: StopFn<'_>) -> Result<Eyes, EyesError> {
    let (owner, space) = space(board, point).ok_or(EyesError::NoEyeSpace)?;
    let around = |p: &Point| board.cell(*p) == Cell::from(owner);
    let border: PointSet = space.iter().flat_map(Point::adjacent).filter(around).collect();
    let first = border.iter().next().ok_or(EyesError::NoEyeSpace)?;
    if border.iter().any(|stone| board.anchor(stone) != board.anchor(first)) {
        return Err(EyesError::ManyChains);
    }
    // If the opponent's stones stand along the whole border of an eye space, it holds no eye of the owner yet.
    let touches =
        |p: Point| board.cell(p) == Cell::Empty && p.adjacent().into_iter().any(|n| border.contains(n));
    if !space.iter().any(touches) {
        return Err(EyesError::NoEyeSpace);
    }
    let beside: Vec<Point> = board
        .size()
        .points()
        .filter(|&p| !space.contains(p) && p.adjacent().into_iter().all(|next| !space.contains(next)))
        .collect();
    let alone = beside.iter().find_map(|&liberty| filled(board, owner, &space, liberty, None));
    let alone = alone.ok_or(EyesError::NoRoom)?;
    let with_eye = beside.iter().find_map(|&eye| {
        let apart = |&liberty: &Point| liberty != eye && !liberty.adjacent().contains(&eye);
        let mut liberties = beside.iter().copied().filter(apart);
        liberties.find_map(|liberty| filled(board, owner, &space, liberty, Some(eye)))
    });
    let with_eye = with_eye.ok_or(EyesError::NoRoom)?;
    let mut nodes = 0;
    // Returns the number of eyes, and `player`'s move that decides the reading with and without another eye.
    let mut count = |player: Color| -> Result<(u8, [Option<Move>; 2]), EyesError> {
        let mut moves = [None; 2];
        for (number, (board, playable)) in [&with_eye, &alone].into_iter().enumerate() {
            let stone =
                playable.iter().flat_map(Point::adjacent).find(|&p| board.cell(p) == Cell::from(owner));
            let stone = stone.ok_or(EyesError::NoRoom)?;
            let region = Region::with_points(board, *playable, stone);
            let question =
                Question { board, region: &region, aim: Aim::Secure, suicide: false, memory, threads: 1 };
            let before = nodes;
            let reading = read(&question, player, &|searched| stop(before + searched))?;
            nodes += reading.nodes;
            moves[number] = reading.best;
            let makes_it = match reading.success {
                Success::Unknown => return Err(EyesError::Undecided),
                Success::Yes => true,
                Success::No => false,
                Success::KoFirst(_) | Success::KoSecond(_) => player == owner,
            };
            if !makes_it {
                return Ok((number as u8, moves));
            }
        }
        Ok((2, moves))
    };
    let (fewest, attacks) = count(owner.opponent())?;
    let (most, defences) = count(owner)?;
    let differ = fewest < most;
    Ok(Eyes {
        fewest,
        most,
        attack: if differ { attacks[usize::from(fewest)] } else { None },
        defence: if differ { defences[usize::from(most) - 1] } else { None },
        nodes,
    })
}

/// Returns the owner of the eye space at the point, and the points of the space (empty points and the opponent's
/// stones). Returns the smaller space if both sides enclose one.
fn space(board: &Board, point: Point) -> Option<(Color, PointSet)> {
    let enclosed = |owner: Color| {
        let own = Cell::from(owner);
        let inside = |p: Point| board.cell(p) != own && board.cell(p) != Cell::Border;
        if !inside(point) {
            return None;
        }
        let mut space = PointSet::EMPTY;
        space.insert(point);
        let mut next = vec![point];
        while let Some(point) = next.pop() {
            next.extend(point.adjacent().into_iter().filter(|&p| inside(p) && space.insert(p)));
        }
        let has_border = space.iter().flat_map(Point::adjacent).any(|p| board.cell(p) == own);
        has_border.then_some((owner, space))
    };
    let [black, white] = Color::BOTH.map(enclosed);
    let found = match (black, white) {
        (Some(black), Some(white)) if black.1.len() == white.1.len() => return None,
        (Some(black), Some(white)) => Some(if black.1.len() < white.1.len() { black } else { white }),
        (black, white) => black.or(white),
    };
    // With more of the opponent's stones inside than any dead shape has, those stones are a group of their own. A space
    // as large as half the board is no eye space.
    let stones = |space: &PointSet| space.iter().filter(|&p| board.cell(p) != Cell::Empty).count();
    found.filter(|(_, space)| stones(space) <= MAX_STONES_INSIDE && 2 * space.len() < board.size().area())
}

/// Returns a board with nothing but the eye space, and the points where stones may be played. The rest of the board is
/// one chain of the owner, except for a liberty where neither side plays and one point that may be left as an eye.
/// Returns `None` if the rest is not one chain.
fn filled(
    board: &Board,
    owner: Color,
    space: &PointSet,
    liberty: Point,
    eye: Option<Point>,
) -> Option<(Board, PointSet)> {
    let stones = board.size().points().filter_map(|point| {
        if space.contains(point) {
            board.cell(point).color().map(|color| (point, color))
        } else {
            (point != liberty && eye != Some(point)).then_some((point, owner))
        }
    });
    let filled = Board::from_stones(board.size(), stones).ok()?;
    let mut playable = *space;
    if let Some(eye) = eye {
        playable.insert(eye);
    }
    let own = || filled.stones().filter(|&(point, color)| color == owner && !space.contains(point));
    let (first, _) = own().next()?;
    own().all(|(point, _)| filled.anchor(point) == filled.anchor(first)).then_some((filled, playable))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(board: &Board, vertex: &str) -> Point {
        board.size().points().find(|point| point.to_string() == vertex).unwrap()
    }

    fn of(drawing: &str, vertex: &str) -> Result<Eyes, EyesError> {
        let board: Board = drawing.parse().unwrap();
        eyes(&board, at(&board, vertex), 1 << 20, &|nodes| nodes > 200_000)
    }

    #[test]
    fn eyes_are_counted() {
        let count = |drawing: &str, vertex: &str| {
            let eyes = of(drawing, vertex).unwrap();
            let text = |mv: Option<Move>| mv.map_or("-".to_owned(), |mv| mv.to_string());
            format!("{} {} {} {}", eyes.fewest, eyes.most, text(eyes.attack), text(eyes.defence))
        };
        assert_eq!(count(".XO....\nXXO....\nOOO....\n.......\n.......\n.......", "A6"), "1 1 - -");
        // Three in a row, four in a row, four in a square, and three with a stone in the middle.
        assert_eq!(count("...XO..\nXXXXO..\nOOOOO..\n.......\n.......\n.......", "A6"), "1 2 B6 B6");
        assert_eq!(count("....XO..\nXXXXXO..\nOOOOOO..\n........\n........\n........", "A6"), "2 2 - -");
        assert_eq!(count(".......\n.XXXX..\n.X..X..\n.X..X..\n.XXXX..\n.......\n.......", "C4"), "1 1 - -");
        assert_eq!(count(".O.XO..\nXXXXO..\nOOOOO..\n.......\n.......\n.......", "A6"), "1 1 - -");
        // A stone of the opponent on the vital point of a large space.
        assert_eq!(count("..O.XO..\nXXXXXO..\nOOOOOO..\n........\n........\n........", "A6"), "1 2 B6 B6");
    }

    #[test]
    fn invalid_eye_spaces_are_errors() {
        let two = "X.XO...\n.XOO...\nXXO....\n.......\n.......\n.......";
        // The stone in the corner is another chain.
        assert_eq!(of(two, "B6"), Err(EyesError::ManyChains));
        assert_eq!(of(two, "A6"), Err(EyesError::NoEyeSpace));
        assert_eq!(of(two, "G1"), Err(EyesError::NoEyeSpace));
        assert_eq!(of(".X\nX.", "A2"), Err(EyesError::ManyChains));
        assert_eq!(of("...\n...\n...", "A2"), Err(EyesError::NoEyeSpace));
        // A group of Black with eyes, enclosed by White, is no eye space of White.
        let group = ".XXO...\nXX.O...\nX.XO...\nXXOO...\nOOO....\n.......\n.......";
        assert_eq!(of(group, "C6"), Err(EyesError::NoEyeSpace));
        // White encloses a group of Black, and has no liberty inside.
        let group = "..XO...\nXXXO...\nOOOO...\n.......\n.......\n.......";
        assert_eq!(of(group, "C6"), Err(EyesError::NoEyeSpace));
        assert_eq!(of(group, "A6").map(|eyes| (eyes.fewest, eyes.most)), Ok((1, 1)));
        let board: Board = "...XO..\nXXXXO..\nOOOOO..\n.......\n.......\n.......".parse().unwrap();
        assert_eq!(eyes(&board, at(&board, "A6"), 1 << 20, &|_| true), Err(EyesError::Undecided));
    }
}

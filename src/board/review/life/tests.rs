//! Compares every sentence about life and death with an exhaustive search on the whole board, which uses no regions, no
//! eyes and no proof numbers.

use super::super::explain::tests::random_game;
use super::*;
use kosumi_go::rules::Rules;
use std::collections::{HashMap, HashSet};

/// Stones of both colours, as bits.
type Stones = [u64; 2];

fn stones(board: &Board) -> Stones {
    let mut bits = [0; 2];
    for (point, color) in board.stones() {
        bits[color as usize] |= 1 << (point.row() * board.size().columns() + point.column());
    }
    bits
}

/// Returns all positions of a game so far.
fn past(game: &Game) -> HashSet<Stones> {
    let mut earlier = game.clone();
    let mut found = HashSet::from([stones(game.board())]);
    while earlier.undo().is_some() {
        found.insert(stones(earlier.board()));
    }
    found
}

/// Result of a search: the number of attacking moves that is known to be too small, and the number that is known to
/// suffice.
#[derive(Clone, Copy, Debug, Default)]
struct AttackBounds {
    not_enough: u32,
    enough: Option<u32>,
}

/// Slow reader: decides whether an attacker captures a chain with a given number of moves, whatever is played anywhere
/// on the board. The side against which the claim is made may retake a ko at once, as if after a threat. The other side
/// may not, and may not repeat a position of the game either.
struct SlowReader<'a> {
    attacker: Color,
    /// Side against which the claim is made.
    loser: Color,
    at: Point,
    past: &'a HashSet<Stones>,
    known: HashMap<(Stones, Option<Point>, Color), AttackBounds>,
    /// Number of positions left. When there are none, results mean nothing.
    left: u32,
}

impl SlowReader<'_> {
    fn is_captured(&mut self, board: &Board, to_move: Color, attacks: u32) -> bool {
        // The owner may pass, so each attacking move takes at most one liberty.
        if attacks == 0 || board.liberty_count(self.at) > attacks as usize || self.left == 0 {
            return false;
        }
        let ko =
            board.ko().filter(|&(_, color)| color == to_move && color != self.loser).map(|(point, _)| point);
        let key = (stones(board), ko, to_move);
        let known = self.known.get(&key).copied().unwrap_or_default();
        if known.enough.is_some_and(|enough| enough <= attacks) || attacks <= known.not_enough {
            return known.enough.is_some_and(|enough| enough <= attacks);
        }
        self.left -= 1;
        let is_attack = to_move == self.attacker;
        let mut passed = *board;
        passed.pass();
        let mut result = !is_attack;
        if !is_attack && !self.is_captured(&passed, self.attacker, attacks) {
            result = false;
        } else {
            for point in board.size().points() {
                if board.cell(point) != Cell::Empty || ko == Some(point) || board.is_suicide(point, to_move) {
                    continue;
                }
                let mut next = *board;
                next.play_unchecked(point, to_move);
                if to_move != self.loser && self.past.contains(&stones(&next)) {
                    continue;
                }
                let captured = next.cell(self.at) == Cell::Empty
                    || self.is_captured(&next, to_move.opponent(), attacks - u32::from(is_attack));
                if captured == is_attack {
                    result = is_attack;
                    break;
                }
            }
        }
        let known = self.known.entry(key).or_default();
        if result {
            known.enough = Some(known.enough.map_or(attacks, |enough| enough.min(attacks)));
        } else {
            known.not_enough = known.not_enough.max(attacks);
        }
        result
    }
}

/// Number of attacking moves that a chain must withstand to count as alive.
const MAX_ATTACKS: u32 = 16;

/// Result of the slow reader for a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Captured,
    /// Not captured with this number of attacking moves. Unless it is [`MAX_ATTACKS`], there were too many positions
    /// to try more.
    Stays(u32),
}

/// Returns whether the chain at a point is captured when `first` moves first. `loser` is the side against which the
/// claim is made.
fn slowly(game: &Game, at: Point, first: Color, loser: Color, positions: u32) -> Found {
    let attacker = game.board().cell(at).color().unwrap().opponent();
    let past = past(game);
    let mut reader = SlowReader { attacker, loser, at, past: &past, known: HashMap::new(), left: positions };
    let mut board = *game.board();
    if board.ko().is_some_and(|(_, color)| color != first) {
        board.pass();
    }
    for attacks in 1..=MAX_ATTACKS {
        if reader.is_captured(&board, first, attacks) {
            return Found::Captured;
        }
        if reader.left == 0 {
            return Found::Stays(attacks - 1);
        }
    }
    Found::Stays(MAX_ATTACKS)
}

/// Counts of the sentences, and of the results of the slow reader for their claims.
#[derive(Debug, Default)]
struct Checked {
    /// Sentences by kind.
    kinds: [usize; 10],
    /// Claims that stones die: confirmed, and not decided.
    deaths: [usize; 2],
    /// Claims that stones live, by the number of attacking moves that the stones withstood.
    lives: [usize; MAX_ATTACKS as usize + 1],
    /// Claims that stones win a race with the missing moves, by the number of attacking moves that the stones
    /// withstood.
    races: [usize; MAX_ATTACKS as usize + 1],
}

/// A move and the first choice in a position, about which facts are found.
struct Asked<'a> {
    game: &'a Game,
    color: Color,
    mv: Move,
    best: Move,
}

impl Asked<'_> {
    fn played(&self, mv: Move) -> Game {
        let mut game = self.game.clone();
        game.play(self.color, mv).unwrap();
        game
    }
}

impl Checked {
    /// Checks the claim of one of the facts about a move. `positions` limits the slow reader.
    fn check(&mut self, asked: &Asked<'_>, facts: &[MoveFact], fact: &MoveFact, positions: u32) {
        let &Asked { game, color, mv, best } = asked;
        let opponent = color.opponent();
        self.kinds[fact.kind as usize] += 1;
        let (after, instead) = (asked.played(mv), asked.played(best));
        if matches!(fact.kind, FactKind::RaceLostByOne | FactKind::RaceLostByTwo) {
            let death = facts.iter().find(|it| it.kind.is_death()).unwrap();
            self.check_race(after, color, fact, death, positions);
            return;
        }
        let own = fact.kind != FactKind::MissesKill;
        let owner = if own { color } else { opponent };
        let lives = &instead;
        let mut deaths = vec![(if own { &after } else { &instead }, opponent)];
        match fact.kind {
            FactKind::AllowsKill | FactKind::LeavesDead => {
                assert_eq!(fact.line[0], mv);
                assert_eq!(after.board().chain_len(fact.at), fact.stones);
            }
            _ => {
                assert_eq!(fact.line[0], best);
                assert_eq!(game.board().chain_len(fact.at), fact.stones);
            }
        }
        let mut shown = game.clone();
        for &mv in &fact.line {
            let mover = shown.to_move();
            shown.play(mover, mv).unwrap_or_else(|error| panic!("{fact:?}: {error}\n{}", game.board()));
        }
        // The move that the sentence names must kill.
        let named;
        if fact.kind == FactKind::AllowsKill {
            let mut next = after.clone();
            next.play(opponent, fact.line[1]).unwrap();
            named = next;
            if named.board().cell(fact.at) != Cell::Empty {
                deaths.push((&named, color));
            }
        }
        if fact.kind == FactKind::LeavesDead {
            deaths.push((&after, color));
        }
        if fact.kind == FactKind::MissesSave {
            deaths.push((game, opponent));
        }
        for (game, first) in deaths {
            let found = slowly(game, fact.at, first, owner, positions);
            assert_ne!(found, Found::Stays(MAX_ATTACKS), "{fact:?}, {first} first\n{}", game.board());
            self.deaths[usize::from(found != Found::Captured)] += 1;
        }
        if fact.kind != FactKind::MissesSave {
            return;
        }
        match slowly(lives, fact.at, opponent, owner.opponent(), positions) {
            Found::Captured => panic!("{fact:?}: captured\n{}", lives.board()),
            Found::Stays(attacks) => self.lives[attacks as usize] += 1,
        }
    }
}

impl Checked {
    /// Checks that, with the missing moves, the chain of the opponent is captured and the one that died is not.
    fn check_race(&mut self, after: Game, color: Color, fact: &MoveFact, death: &MoveFact, positions: u32) {
        assert_eq!(after.board().chain_len(fact.at), fact.stones);
        let by_two = fact.kind == FactKind::RaceLostByTwo;
        assert_eq!(by_two, death.kind == FactKind::LeavesDead, "without the last of them it dies");
        let [_, moves @ .., capturing] = fact.line.as_slice() else { panic!("{fact:?}") };
        let mut more = after;
        for &mv in moves {
            let mover = more.to_move();
            more.play(mover, mv).unwrap();
        }
        assert_eq!(more.to_move(), color);
        more.play(color, *capturing).unwrap();
        let opponent = color.opponent();
        if more.board().cell(fact.at) != Cell::Empty {
            let found = slowly(&more, fact.at, opponent, opponent, positions);
            assert_ne!(found, Found::Stays(MAX_ATTACKS), "{fact:?}\n{}", more.board());
            self.deaths[usize::from(found != Found::Captured)] += 1;
        }
        match slowly(&more, death.at, opponent, opponent, positions) {
            Found::Captured => panic!("{fact:?}: {death:?} nevertheless\n{}", more.board()),
            Found::Stays(attacks) => self.races[attacks as usize] += 1,
        }
    }
}

/// Checks all sentences about two moves and a pass in random positions, against every first choice. Equal sentences
/// about a position are checked once.
fn check(positions: std::ops::Range<usize>, most: u32) -> Checked {
    let mut checked = Checked::default();
    for position in positions {
        let mut state = position as u64 + 1;
        let game = random_game(&mut state, 4 + position % 3, 12 + position * 7 % 50);
        let color = game.to_move();
        let points = game.size().points().map(Move::Play);
        let legal: Vec<Move> = points.filter(|&mv| game.clone().play(color, mv).is_ok()).collect();
        let mut reader = LifeReader::new();
        let mut seen = HashSet::new();
        let moves = legal.iter().copied().skip(position % legal.len().max(1)).take(2);
        for mv in moves.chain([Move::Pass]) {
            for &best in &legal {
                let asked = Asked { game: &game, color, mv, best };
                let facts = reader.facts_of(&game, color, mv, best);
                for fact in &facts {
                    if !seen.insert((fact.kind, fact.at, fact.line.clone())) {
                        continue;
                    }
                    checked.check(&asked, &facts, fact, most);
                    let text = fact.text().english();
                    assert!(!text.contains('{') && text.contains(&fact.stones.to_string()), "{text}");
                }
            }
        }
    }
    checked
}

#[test]
fn no_sentence_about_life_is_false() {
    let checked = check(0..20, 2_000);
    let [.., kills, _, missed, saves, _, _] = checked.kinds;
    assert!(kills > 0 && missed > 0 && saves > 0, "{checked:?}");
}

#[test]
fn three_points_in_a_row() {
    let drawing = "
        . . . X O .
        X X X X O O
        O O O O O .
        . O . O . .";
    let board: Board = drawing.parse().unwrap();
    let [beside, middle, away] =
        [(0, 3), (1, 3), (5, 0)].map(|(column, row)| Move::Play(Point::new(column, row)));
    let facts = |color: Color, mv: Move, best: Move| {
        let game = Game::from_board(board, color, Rules::default(), 7.0);
        let facts = LifeReader::new().facts_of(&game, color, mv, best);
        let asked = Asked { game: &game, color, mv, best };
        for fact in &facts {
            Checked::default().check(&asked, &facts, fact, 100_000);
        }
        facts.iter().map(|fact| (fact.text().english(), fact.line.len() > 1)).collect::<Vec<_>>()
    };
    let text = |text: &str, has_reply: bool| (text.to_owned(), has_reply);
    let saves = text("B4 would have saved 5 stones (A3).", false);
    let kills = text("Now B4 kills 5 stones (A3).", true);
    assert_eq!(facts(Color::Black, away, middle), [kills, saves.clone()]);
    // A stone of Black's own in the wrong place.
    let dead = text("Now 6 stones (A3) are dead.", true);
    assert_eq!(facts(Color::Black, beside, middle), [dead, saves]);
    assert_eq!(facts(Color::White, away, middle), [text("B4 would have killed 5 stones (A3).", false)]);
    // Nothing is mentioned that the first choice does not change.
    assert_eq!(facts(Color::Black, away, beside), []);
    assert_eq!(facts(Color::White, away, beside), []);
    assert_eq!(facts(Color::Black, middle, away), []);
}

#[test]
fn races_by_one_move_and_by_two() {
    let drawing = "
        . X O . X .
        . X O . X .
        . X O . X .";
    let board: Board = drawing.parse().unwrap();
    let [own, race, away] = [0, 3, 5].map(|column| Move::Play(Point::new(column, 0)));
    let facts = |mv: Move, best: Move| {
        let game = Game::from_board(board, Color::Black, Rules::default(), 7.0);
        let facts = LifeReader::new().facts_of(&game, Color::Black, mv, best);
        for fact in &facts {
            Checked::default().check(
                &Asked { game: &game, color: Color::Black, mv, best },
                &facts,
                fact,
                100_000,
            );
        }
        facts.iter().map(|fact| fact.text().english()).collect::<Vec<_>>()
    };
    let saves = "D1 would have saved 3 stones (B1).";
    let by_one = "The race with 3 stones (C1) is lost by one move.";
    assert_eq!(facts(away, race), ["Now A2 kills 3 stones (B1).", by_one, saves]);
    let by_two = "The race with 3 stones (C1) is lost by two moves.";
    assert_eq!(facts(own, race), ["Now 4 stones (B1) are dead.", by_two, saves]);
}

/// Run it with `cargo test -p kosumi-board --release --lib -- --ignored no_sentence_about_life_is_false_in_1000`.
#[test]
#[ignore = "takes minutes"]
fn no_sentence_about_life_is_false_in_1000_positions() {
    let checked = check(0..1000, 50_000);
    assert!(checked.kinds[4..].iter().all(|&count| count >= 10), "every kind was checked: {checked:?}");
}

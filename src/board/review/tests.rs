//! Tests of reviews with an analyst that looks up every value in a table.

use super::*;
use kosumi_engine::Engine;
use kosumi_go::board::{Board, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Record, SgfErrorKind, Tree};
use kosumi_search::Limits;

fn main_line(text: &str) -> MainLine {
    let record = Record::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    MainLine::of_record(&record, Rules::default(), 0.5).unwrap()
}

/// Formats the steps as `node moves change (turn)`.
fn steps(text: &str) -> String {
    let line = |step: &Step| {
        let change = match &step.change {
            Change::SetUp(points) => {
                let sign = |stone: &Option<Color>| {
                    stone.map_or('-', |color| if color == Color::Black { 'X' } else { 'O' })
                };
                points
                    .iter()
                    .map(|(point, stone)| format!("{}{point}", sign(stone)))
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            Change::Move { color, mv, lifted } => {
                let lifted: String = lifted.iter().map(|point| format!(" takes {point}")).collect();
                format!("{color} {mv}{lifted}")
            }
        };
        format!("{} {} {change} ({})", step.node, step.moves, step.to_move)
    };
    main_line(text).steps().iter().map(line).collect::<Vec<_>>().join("; ")
}

#[test]
fn main_lines() {
    let rows = [
        ("nothing", "(;SZ[3])", "0 0  (Black)"),
        (
            "moves",
            "(;SZ[3];B[aa];W[];B[bb])",
            "0 0  (Black); 1 1 Black A3 (White); 2 2 White pass (Black); 3 3 Black B2 (White)",
        ),
        (
            "moves in the root",
            "(;SZ[3]B[aa]W[bb])",
            "0 0  (Black); 0 1 Black A3 (White); 0 2 White B2 (Black)",
        ),
        (
            "one colour twice",
            "(;SZ[3];B[aa];B[bb])",
            "0 0  (Black); 1 1 Black A3 (Black); 2 2 Black B2 (White)",
        ),
        ("White begins", "(;SZ[3];W[aa])", "0 0  (White); 1 1 White A3 (Black)"),
        ("a capture", "(;SZ[2]AB[aa]AW[ba];W[ab])", "0 0 XA2 OB2 (White); 1 1 White A1 takes A2 (Black)"),
        (
            "set-up later",
            "(;SZ[3];B[aa];AE[aa]AW[bb];W[cc])",
            "0 0  (Black); 1 1 Black A3 (White); 2 1 OB2 -A3 (White); 3 2 White C1 (Black)",
        ),
        (
            "set-up of what is there",
            "(;SZ[3];B[aa];AB[aa];B[cc])",
            "0 0  (Black); 1 1 Black A3 (Black); 3 2 Black C1 (White)",
        ),
        ("turns", "(;SZ[3]PL[W];B[aa];PL[B];C[x])", "0 0  (Black); 1 1 Black A3 (Black)"),
        ("a handicap", "(;SZ[9]HA[2];W[ee])", "0 0 XC3 XG7 (White); 1 1 White E5 (Black)"),
        ("what cannot be played", "(;SZ[3];B[aa];W[aa];B[bb])", "0 0  (Black); 1 1 Black A3 (White)"),
        ("one point", "(;SZ[1];B[];W[])", "0 0  (Black); 1 1 Black pass (White); 2 2 White pass (Black)"),
    ];
    for (name, text, expected) in rows {
        assert_eq!(steps(text), expected, "{name}: {text}");
    }
    let broken = main_line("(;SZ[3];B[aa];W[aa])");
    assert!(matches!(broken.warnings()[0].kind, SgfErrorKind::IllegalMove { number: 2, .. }));
}

#[test]
fn handicap_stones_that_are_moves_are_compensated_from_the_first_one_on() {
    let bonus = |text: &str| {
        let record = Record::parse(text.as_bytes()).unwrap();
        let rules = Rules::preset("chinese").unwrap().rules;
        let mut bonus = Vec::new();
        let line = MainLine::of_record(&record, rules, 0.5).unwrap();
        line.backwards(|_, game| bonus.push(game.white_bonus()));
        bonus
    };
    assert_eq!(bonus("(;SZ[9];B[ee];B[cc];W[gg])"), [2.0; 4]);
    assert_eq!(bonus("(;SZ[9]HA[2]AB[ee][cc];W[gg];B[gc])"), [2.0; 3]);
    assert_eq!(bonus("(;SZ[9];B[ee];W[cc];B[gg])"), [0.0; 4]);
}

#[test]
fn the_way_back_meets_every_position() {
    // Captures, a set-up in the middle, a ko, and two moves in a row by one colour.
    let text = "(;SZ[5]AB[ba][ab][cb]AW[ca][db];W[bb];B[cc];W[];B[dd];AW[ee]AE[dd];B[ed];W[aa]W[de])";
    let record = Record::parse(text.as_bytes()).unwrap();
    let mut forwards: Vec<Board> = Vec::new();
    let watch = |_: usize, game: &Game| forwards.push(*game.board());
    record.replay_watched(Rules::default(), 0.5, None, kosumi_go::sgf::Strictness::Tolerant, watch).unwrap();
    let line = MainLine::of_record(&record, Rules::default(), 0.5).unwrap();
    assert_eq!(line.steps().len(), forwards.len());
    let mut expected = (0..forwards.len()).rev();
    line.backwards(|index, game| {
        assert_eq!(Some(index), expected.next());
        assert_eq!(game.board().to_string(), forwards[index].to_string(), "step {index}");
        assert_eq!(game.to_move(), line.steps()[index].to_move, "step {index}");
    });
    assert_eq!(expected.next(), None);
}

/// Analyst with a table from the diagram of a position to Black's win rate, Black's lead in tenths of a point, and the
/// first choice. All numbers have the same error.
struct Table {
    rows: Vec<(&'static str, f32, f32, Move)>,
    error: f32,
    asked: Vec<String>,
    /// Difference between a second search and the first, and the number of second searches.
    scatter: f32,
    repeated: usize,
}

impl Analyst for Table {
    fn analyze(&mut self, game: &Game) -> PositionReview {
        self.asked.push(game.board().to_string().replace([' ', '\n'], ""));
        self.look_up(game)
    }

    fn analyze_afresh(&mut self, game: &Game) -> PositionReview {
        let mut analysis = self.look_up(game);
        self.repeated += 1;
        analysis.win_rate.mean += self.scatter;
        analysis.score.mean += 10.0 * self.scatter;
        analysis
    }
}

impl Table {
    fn look_up(&self, game: &Game) -> PositionReview {
        let drawing = game.board().to_string().replace([' ', '\n'], "");
        let &(_, win_rate, score, best) =
            self.rows.iter().find(|row| row.0 == drawing).unwrap_or_else(|| panic!("{drawing}"));
        let estimate = |mean| Estimate { mean, error: self.error };
        let candidate = Candidate {
            mv: best,
            visits: 10,
            win_rate: estimate(win_rate),
            score: estimate(score),
            variation: vec![best, Move::Pass],
        };
        PositionReview {
            to_move: game.to_move(),
            visits: 20,
            win_rate: estimate(win_rate),
            score: estimate(score),
            candidates: vec![candidate],
            ownership: vec![0.0; game.size().area()],
        }
    }
}

fn at(column: usize, row: usize) -> Move {
    Move::Play(Point::new(column, row))
}

/// Returns a table in which Black plays A1 instead of B1, and White then plays C1, the first choice. All searches
/// agree.
fn table(after_b1: f32, after_a1: f32, error: f32) -> Table {
    let rows = vec![
        ("...", after_b1, 0.0, at(1, 0)),
        (".X.", after_b1, 0.0, at(0, 0)),
        ("X..", after_a1, -1.5, at(2, 0)),
        ("X.O", after_a1, -1.5, at(1, 0)),
    ];
    Table { rows, error, asked: Vec::new(), scatter: 0.0, repeated: 0 }
}

fn judged(mut table: Table) -> (Review, Table) {
    let mut calls = Vec::new();
    let review =
        review(&main_line("(;SZ[3:1];B[aa];W[ca])"), &Scope::default(), &mut table, &mut |done, total| {
            calls.push((done, total));
        });
    assert_eq!(calls, (1..=6).map(|done| (done, 6)).collect::<Vec<_>>(), "three positions, twice each");
    (review, table)
}

/// Analyst that is interrupted in the search with this number, counted from 1.
struct Stopped {
    table: Table,
    in_search: usize,
}

impl Analyst for Stopped {
    fn analyze(&mut self, game: &Game) -> PositionReview {
        self.table.analyze(game)
    }

    fn analyze_afresh(&mut self, game: &Game) -> PositionReview {
        self.table.analyze_afresh(game)
    }

    fn is_interrupted(&self) -> bool {
        self.table.asked.len() >= self.in_search
    }
}

/// Checks that an interrupted search does not count, and that no move is judged by positions of two reviews.
#[test]
fn a_review_that_is_stopped_is_completed_by_a_shorter_one() {
    let line = main_line("(;SZ[3:1];B[aa];W[ca])");
    let (shorter, _) = judged(table(0.6, 0.5, 0.05));
    let stopped = |in_search| {
        let mut analyst = Stopped { table: table(0.65, 0.40, 0.03), in_search };
        review(&line, &Scope::default(), &mut analyst, &mut |_, _| {})
    };
    let known = |review: &Review| {
        [review.analyses.iter().flatten().count(), review.judgements.iter().flatten().count()]
    };
    // The searches are, in order: the last position; the one before it, which judges the move between them; the first
    // position, without the position after the first choice.
    let expected = [(1, [0, 0], None), (2, [1, 0], None), (3, [2, 1], Some(2)), (4, [3, 1], Some(2))];
    for (in_search, found, first) in expected {
        let review = stopped(in_search);
        assert_eq!((known(&review), review.first_judged(&line)), (found, first), "{in_search}");
        assert_eq!(review.is_complete, found[0] == 3);
        let loss = |review: &Review| review.judgements[1].as_ref().unwrap().loss.mean;
        let whole = review.clone().completed_by(&shorter, &line);
        if found[0] < 3 {
            assert!(whole.is_complete);
            assert_eq!(known(&whole), [3, 2], "{in_search}");
            // Black's move was judged by the shorter review, and the last position comes from the longer one.
            assert!((loss(&whole) - loss(&shorter)).abs() < 1e-6);
            let wanted = if found[0] > 0 { &review } else { &shorter };
            assert_eq!(whole.analyses[2], wanted.analyses[2]);
            assert_eq!(whole.players[Color::Black].moves, 1);
        }
    }
    let (whole, _) = judged(table(0.65, 0.40, 0.03));
    assert_eq!(whole.clone().completed_by(&shorter, &line), whole);
}

#[test]
fn losses_compare_two_searches_of_the_same_kind() {
    let (review, table) = judged(table(0.65, 0.40, 0.03));
    // From the last position to the first, and the first choice's own position.
    assert_eq!(table.asked, ["X.O", "X..", "...", ".X."]);
    let black = review.judgements[1].as_ref().unwrap();
    assert!(black.is_checked && !black.is_first_choice && !black.is_better);
    assert!((black.loss.mean - 0.25).abs() < 1e-6 && (black.loss.error - 0.03 * 2f32.sqrt()).abs() < 1e-6);
    assert!((black.score_loss.mean - 1.5).abs() < 1e-6);
    assert!((black.searched.loss.mean - 0.25).abs() < 1e-6);
    assert_eq!(black.class, Class::Blunder);
    assert_eq!(black.best.variation, [at(1, 0), at(0, 0), Move::Pass], "the longer look");
    let white = review.judgements[2].as_ref().unwrap();
    assert!(white.is_first_choice);
    assert_eq!((white.loss.mean, white.score_loss.mean, white.class), (0.0, 0.0, Class::Good));
    assert!(white.loss.error > 0.0 && white.score_loss.error > 0.0, "another move may be better");
    assert_eq!(review.worst, [1]);
    assert_eq!(review.judgements[0], None);
    let [black, white] = [Color::Black, Color::White].map(|color| &review.players[color]);
    assert_eq!((black.moves, black.first_choices, black.classes), (1, 0, [0, 0, 0, 1]));
    assert_eq!((white.moves, white.first_choices, white.classes), (1, 1, [1, 0, 0, 0]));
    assert!((black.mean_loss - 0.25).abs() < 1e-6 && white.mean_loss == 0.0 && white.accuracy == 1.0);
    assert!((black.accuracy - 2f32.powf(-2.5)).abs() < 1e-6);
    assert_eq!(black.curve.len(), 1);
    assert_eq!((black.curve[0].0, white.curve[0]), (1, (2, 1.0)));
}

/// Checks that the sentence about points needs two searches of equal length whose difference is surely above 0.
#[test]
fn points_are_named_if_the_interval_excludes_nothing() {
    let (review, _) = judged(table(0.65, 0.40, 0.03));
    let black = review.judgements[1].as_ref().unwrap();
    let sentence = |judgement: &Judgement| facts::searched_loss(at(0, 0), judgement).map(|it| it.english());
    let expected = "Searched equally long, A1 loses 1.5 points more than B1 (90 % interval: 1.4 to 1.6).";
    assert_eq!(sentence(black).as_deref(), Some(expected));
    let with_error = |error: f32| {
        let mut unsure = black.clone();
        unsure.searched.score_loss.error = error;
        sentence(&unsure).is_some()
    };
    // With an error of 0.468 the interval would begin at 0.
    assert_eq!((with_error(0.44), with_error(0.5)), (true, false));
    assert_eq!(sentence(&Judgement { is_checked: false, ..black.clone() }), None);
    assert_eq!(sentence(&Judgement { class: Class::Good, ..black.clone() }), None);
    assert_eq!(sentence(review.judgements[2].as_ref().unwrap()), None, "the first choice");
}

#[test]
fn chance_makes_no_blunders() {
    // An equal loss, but with hardly any simulations.
    let unsure = judged(table(0.65, 0.40, 0.15)).0;
    let judgement = unsure.judgements[1].as_ref().unwrap();
    assert_eq!((judgement.class, judgement.is_unclear), (Class::Good, true));
    assert_eq!((unsure.players[Color::Black].classes[0], unsure.players[Color::Black].unclear), (1, 1));
    assert!(unsure.worst.is_empty() && unsure.players[Color::Black].noise > 0.05);
    // The first choice looked better than it is, and a search of its own corrects this.
    let lucky = judged(table(0.42, 0.40, 0.01)).0;
    let judgement = lucky.judgements[1].as_ref().unwrap();
    assert_eq!((judgement.class, judgement.is_checked, judgement.is_unclear), (Class::Good, true, false));
    // The move that was played is the better one. No loss is negative.
    let found = judged(table(0.40, 0.55, 0.01)).0;
    let judgement = found.judgements[1].as_ref().unwrap();
    assert!(judgement.is_better && judgement.loss.mean == 0.0 && judgement.class == Class::Good);
    assert_eq!(found.players[Color::Black].better, 1);
}

/// Black has already lost, so the win rate hardly changes, and throws away 7.5 points against the first choice.
#[test]
fn a_lost_game_is_judged_by_points() {
    let lost = |after_b1: f32, after_a1: f32| {
        let rows = vec![
            ("...", 0.011, after_b1, at(1, 0)),
            (".X.", 0.011, after_b1, at(0, 0)),
            ("X..", 0.010, after_a1, at(2, 0)),
            ("X.O", 0.009, after_a1, at(1, 0)),
        ];
        judged(Table { rows, error: 0.004, asked: Vec::new(), scatter: 0.0, repeated: 0 })
    };
    let (review, table) = lost(-2.0, -9.5);
    assert!(table.asked.contains(&".X.".to_owned()), "the first choice has a search of its own");
    let judgement = review.judgements[1].as_ref().unwrap();
    assert_eq!((judgement.class, judgement.is_unclear), (Class::Mistake, false));
    assert!(judgement.loss.mean < 0.01 && (judgement.score_loss.mean - 7.5).abs() < 1e-6);
    assert_eq!(review.worst, [1]);
    let black = &review.players[Color::Black];
    assert_eq!(black.classes, [0, 0, 1, 0]);
    assert!((black.accuracy - 2f32.powf(-1.5)).abs() < 1e-6, "{}", black.accuracy);
    // Without a loss of points the move stays good.
    let (calm, _) = lost(-9.5, -9.5);
    assert_eq!(calm.players[Color::Black].classes, [1, 0, 0, 0]);
    assert!(calm.players[Color::Black].accuracy > 0.98);
}

/// Checks that a move that gains win rate, but surely loses points, is not called better.
#[test]
fn the_worse_class_rules_out_a_better_move() {
    let rows = vec![
        ("...", 0.40, 9.0, at(1, 0)),
        (".X.", 0.40, 9.0, at(0, 0)),
        ("X..", 0.55, 3.0, at(2, 0)),
        ("X.O", 0.55, 3.0, at(1, 0)),
    ];
    let (review, _) = judged(Table { rows, error: 0.01, asked: Vec::new(), scatter: 0.0, repeated: 0 });
    let judgement = review.judgements[1].as_ref().unwrap();
    assert_eq!((judgement.class, judgement.is_better), (Class::Mistake, false));
}

/// Checks that the displayed values do not contradict each other even if the searches do, and that the errors are
/// larger.
#[test]
fn shown_values_agree_with_the_losses() {
    let rows = vec![
        ("...", 0.8, 6.0, at(1, 0)),
        (".X.", 0.6, 4.0, at(0, 0)),
        ("X..", 0.40, -1.5, at(2, 0)),
        ("X.O", 0.30, -4.0, at(1, 0)),
    ];
    let review = judged(Table { rows, error: 0.03, asked: Vec::new(), scatter: 0.0, repeated: 0 }).0;
    let agreeing = judged(table(0.7, 0.4, 0.03)).0;
    for (index, sign) in [(1, 1.0), (2, -1.0)] {
        let judgement = review.judgements[index].as_ref().unwrap();
        let [before, after] = [index - 1, index].map(|index| review.analyses[index].as_ref().unwrap());
        let points = before.score.mean - sign * judgement.score_loss.mean - after.score.mean;
        let rate = before.win_rate.mean - sign * judgement.loss.mean - after.win_rate.mean;
        assert!(points.abs() <= 0.46 && rate.abs() <= 0.026, "{index}: {points} {rate}");
        let first = before.candidates[0].score.mean;
        let value = if judgement.is_first_choice { after.score.mean } else { before.score.mean };
        assert!((first - value).abs() < 1e-6, "the first choice is worth what the position is worth");
        let other = agreeing.judgements[index].as_ref().unwrap();
        assert!(judgement.score_loss.error > other.score_loss.error);
    }
    // The values of the searches themselves are kept.
    let searched = review.searched[0].as_ref().unwrap();
    assert_eq!((searched.score.mean, searched.win_rate.mean), (6.0, 0.8));
    let black = review.judgements[1].as_ref().unwrap();
    assert!((black.searched.score_loss.mean - 5.5).abs() < 1e-6);
    assert!((black.score_loss.mean - 5.5).abs() > 0.1 && (black.best.score.mean - 5.0).abs() < 1e-3);
}

#[test]
fn one_players_moves_are_judged() {
    let line = main_line("(;SZ[3:1];B[aa];W[ca])");
    for (player, judged) in [(Color::Black, [false, true, false]), (Color::White, [false, false, true])] {
        let scope = Scope { player: Some(player), ..Scope::default() };
        let mut table = table(0.65, 0.40, 0.03);
        let review = review(&line, &scope, &mut table, &mut |_, _| {});
        assert_eq!(review.judgements.iter().map(Option::is_some).collect::<Vec<_>>(), judged);
        assert_eq!(review.analyses.iter().flatten().count(), 3, "positions of both players are searched");
        assert_eq!(review.players[player].moves, 1);
        assert_eq!(review.players[player.opponent()].moves, 0);
    }
}

#[test]
fn parts_of_a_game_are_named() {
    let line = main_line("(;SZ[3:1];B[aa];W[ca])");
    let sentence = |from, to, player| {
        Scope { from, to, player, ..Scope::default() }.part(&line).map(|part| part.sentence())
    };
    assert_eq!(sentence(1, usize::MAX, None), None);
    assert_eq!(sentence(1, 2, None), None);
    assert_eq!(sentence(2, 99, None).unwrap(), "Reviewed in part: only moves 2 to 2 of 2.");
    assert_eq!(
        sentence(1, 1, Some(Color::White)).unwrap(),
        "Reviewed in part: only moves 1 to 1 of 2, only White’s moves."
    );
    assert_eq!(sentence(1, 2, Some(Color::Black)).unwrap(), "Reviewed in part: only Black’s moves.");
}

#[test]
fn repeated_searches_tell_how_sure_one_is() {
    let scattered = |scatter| judged(Table { scatter, ..table(0.65, 0.40, 0.03) });
    let (calm, asked) = scattered(0.0);
    assert_eq!((asked.repeated, calm.scatter), (3, Scatter { repeats: 3, ..Scatter::default() }));
    let (wild, _) = scattered(0.2);
    // Two searches that differ by 0.2 have a variance of 0.02 each, of which 0.03² is known.
    let beyond = (0.02f32 - 0.03 * 0.03).sqrt();
    assert!((wild.scatter.win_rate - beyond).abs() < 1e-6 && wild.scatter.score > 1.0);
    let [calm, wild] = [calm, wild].map(|review| review.judgements[1].clone().unwrap());
    assert!((calm.loss.mean - wild.loss.mean).abs() < 1e-6);
    assert!((wild.loss.error - 0.2).abs() < 1e-6, "{:?}", wild.loss);
    assert_eq!((calm.class, wild.class, wild.is_unclear), (Class::Blunder, Class::Good, true));
    assert!(wild.score_loss.error > calm.score_loss.error && wild.best.score.error > calm.best.score.error);
}

#[test]
fn searches_to_repeat_are_spread() {
    assert!(scatter::chosen(0).is_empty());
    assert_eq!(scatter::chosen(3), [0, 1, 2]);
    assert_eq!(scatter::chosen(20), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    let many = scatter::chosen(700);
    assert_eq!((many.len(), many[0], many[99]), (100, 3, 696));
}

#[test]
fn white_loses_when_black_gains() {
    let rows = vec![("...", 0.5, 0.0, at(1, 0)), (".O.", 0.5, 0.0, at(0, 0)), ("O..", 0.62, 2.0, at(2, 0))];
    let mut table = Table { rows, error: 0.001, asked: Vec::new(), scatter: 0.0, repeated: 0 };
    let review = review(&main_line("(;SZ[3:1];W[aa])"), &Scope::default(), &mut table, &mut |_, _| {});
    let judgement = review.judgements[1].as_ref().unwrap();
    assert!((judgement.loss.mean - 0.12).abs() < 1e-6 && (judgement.score_loss.mean - 2.0).abs() < 1e-6);
    assert_eq!(judgement.class, Class::Mistake);
    assert_eq!(review.players[Color::White].moves, 1);
}

#[test]
fn thresholds() {
    let table = Thresholds::default();
    let class = |mean, error| table.class(Estimate { mean, error }, Estimate::default());
    for (loss, expected) in [
        (0.0, Class::Good),
        (0.049, Class::Good),
        (0.05, Class::Inaccuracy),
        (0.1, Class::Mistake),
        (0.2, Class::Blunder),
        (1.0, Class::Blunder),
    ] {
        assert_eq!(class(loss, 0.0), expected, "{loss}");
    }
    assert_eq!((class(0.25, 0.19), class(0.24, 0.19)), (Class::Blunder, Class::Good));
    let by_points =
        |loss, mean, error| table.class(Estimate { mean: loss, error: 0.0 }, Estimate { mean, error });
    for (loss, points, error, expected) in [
        (0.0, 1.9, 0.0, Class::Good),
        (0.0, 2.0, 0.5, Class::Inaccuracy),
        (0.0, 5.0, 0.5, Class::Mistake),
        (0.0, 22.0, 3.3, Class::Blunder),
        (0.0, 22.0, 18.0, Class::Good),
        (0.06, 22.0, 18.0, Class::Inaccuracy),
        (0.06, 5.0, 0.5, Class::Mistake),
        (0.2, 0.0, 0.0, Class::Blunder),
    ] {
        assert_eq!(by_points(loss, points, error), expected, "{loss}, {points} ± {error}");
    }
    assert!(Thresholds::new(0.1, 0.05, 0.2).is_none() && Thresholds::new(0.0, 0.1, 0.2).is_none());
    assert!(Thresholds::new(0.1, 0.2, f32::NAN).is_none() && Thresholds::new(0.1, 0.2, 1.1).is_none());
}

#[test]
fn only_what_is_in_scope_is_searched() {
    let line = main_line("(;SZ[3:1];B[aa];W[ca])");
    let scope = |from, to| Scope { from, to, ..Scope::default() };
    for (from, to, asked, judged) in [
        (1, 1, vec!["X..", "..."], vec![1]),
        (2, 2, vec!["X.O", "X.."], vec![2]),
        (2, 99, vec!["X.O", "X.."], vec![2]),
        (9, 99, vec![], vec![]),
    ] {
        let mut table = table(0.4, 0.4, 0.01);
        (table.rows[0].1, table.rows[0].2) = (0.4, -1.5);
        let review = review(&line, &scope(from, to), &mut table, &mut |_, _| {});
        assert_eq!(table.asked, asked, "{from} to {to}");
        let judgements = review.judgements.iter().enumerate().filter(|(_, judgement)| judgement.is_some());
        assert_eq!(judgements.map(|(index, _)| index).collect::<Vec<_>>(), judged, "{from} to {to}");
        assert_eq!(review.analyses.iter().flatten().count(), asked.len());
    }
}

#[test]
fn the_end_under_rules_that_count_every_stone_is_exact() {
    let rules = Rules::preset("tromp-taylor").unwrap().rules;
    let record = Record::parse(b"(;SZ[3]KM[0.5]AB[ab][bb][cb];W[];B[])").unwrap();
    let line = MainLine::of_record(&record, rules, 7.5).unwrap();
    let settings = kosumi_engine::EngineSettings { threads: 1, memory_mebibytes: 4, ..Default::default() };
    let mut engine = Engine::new(settings);
    let limits = Limits::playouts(50);
    let mut analyst = EngineAnalyst { engine: &mut engine, limits, candidates: 3, interrupted: &|| false };
    let review = review(&line, &Scope::default(), &mut analyst, &mut |_, _| {});
    let last = review.analyses[2].as_ref().unwrap();
    assert_eq!((last.visits, last.win_rate, last.score.mean), (0, Estimate { mean: 1.0, error: 0.0 }, 8.5));
    assert_eq!(last.ownership, [1.0; 9]);
    let first = review.analyses[0].as_ref().unwrap();
    assert!(first.visits >= 50 && first.candidates.len() <= 3 && first.win_rate.mean > 0.5);
    assert!(
        first.candidates.iter().all(|candidate| candidate.visits > 0 && candidate.score.error.is_finite())
    );
}

#[test]
fn all_files_have_the_facts() {
    let text = "(;SZ[6:4]AB[da][ab][bb][cb][db]AW[ea][eb][fb][ac][bc][cc][dc][ec][bd][dd];B[fd];W[])";
    let (record, tree) = (Record::parse(text.as_bytes()).unwrap(), Tree::parse(text.as_bytes()).unwrap());
    let line = main_line(text);
    let rows = vec![
        ("...XO.XXXXOOOOOOO..O.O..", 0.9, 10.0, at(1, 3)),
        ("...XO.XXXXOOOOOOO..O.O.X", 0.1, -10.0, at(1, 3)),
        (".X.XO.XXXXOOOOOOO..O.O..", 0.9, 10.0, at(2, 0)),
    ];
    let mut table = Table { rows, error: 0.01, asked: Vec::new(), scatter: 0.0, repeated: 0 };
    let scope = Scope::default();
    let review = review(&line, &scope, &mut table, &mut |_, _| {});
    let parameters =
        ReviewParameters { limits: Limits::playouts(10), seed: 0, scope, are_rules_given: false };
    let facts = Facts::new(&tree, &record, &line, &parameters);
    let reviewed = Reviewed::new(tree, line, review, facts);
    let sentences = ["Now B4 kills 5 stones (A3).", "B4 would have saved 5 stones (A3)."];
    let document: serde_json::Value = serde_json::from_str(&json(&reviewed).unwrap()).unwrap();
    let found = document["positions"][1]["judgement"]["facts"].as_array().unwrap().clone();
    let of =
        |name: &str| found.iter().map(|fact| fact[name].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(
        (of("text"), of("kind"), of("at")),
        (
            sentences.map(str::to_owned).to_vec(),
            ["allows-kill", "misses-save"].map(str::to_owned).to_vec(),
            ["A3", "A3"].map(str::to_owned).to_vec(),
        )
    );
    assert_eq!((found[0]["stones"].as_u64(), &found[0]["line"][0]), (Some(5), &serde_json::json!("F1")));
    assert_eq!(found[1]["line"], serde_json::json!(["B4"]));
    let record = annotated(&reviewed).to_string();
    let page = page(&reviewed);
    for (sentence, kind) in sentences.iter().zip(["fact-allows-kill", "fact-misses-save"]) {
        assert!(record.contains(sentence), "{record}");
        assert!(page.contains(kind), "{kind}");
    }
}

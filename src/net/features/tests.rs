use super::*;
use crate::{GLOBAL_FEATURES, random};
use kosumi_go::board::{Point, Symmetry};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::PRESETS;

fn rules(name: &str) -> Rules {
    Rules::preset(name).unwrap_or_else(|| panic!("{name}")).rules
}

fn features(game: &Game) -> Input {
    let mut input = Input::zero(1, 1);
    Features::default().fill(&Line::new(game), &mut input);
    input
}

/// Draws a plane.
fn drawing(input: &Input, feature: usize) -> String {
    let row = |y: usize| {
        let symbol = |x: usize| match input.point(x, y)[feature] {
            0.0 => '.',
            1.0 => '1',
            _ => '?',
        };
        (0..input.width).map(symbol).collect::<String>()
    };
    (0..input.height).map(row).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(input: &Input, rows: &[(usize, &str)]) {
    for &(feature, expected) in rows {
        assert_eq!(
            drawing(input, feature),
            expected.split_whitespace().collect::<Vec<_>>().join("\n"),
            "{feature}"
        );
    }
}

fn empty(drawing: &str) -> String {
    drawing.replace(|c: char| !c.is_whitespace(), ".")
}

fn game(drawing: &str, to_move: Color, rules: Rules) -> Game {
    Game::from_board(drawing.parse().unwrap(), to_move, rules, 7.5)
}

/// Plays moves alternately: `A1` and so on, or `pass`.
fn play(game: &mut Game, moves: &str) {
    for text in moves.split_whitespace() {
        let mv = game.size().points().find(|point| point.to_string() == text).map_or(Move::Pass, Move::Play);
        assert_eq!(mv == Move::Pass, text == "pass", "{text}");
        let color = game.to_move();
        game.play(color, mv).unwrap_or_else(|error| panic!("{text}: {error}\n{}", game.board()));
    }
}

#[test]
fn stones_and_liberties() {
    let position = "
        . X O . .
        X X O O .
        O O . . .
        . . . . X";
    let rows = [
        (plane::ON_BOARD, "11111 11111 11111 11111"),
        (plane::OWN, "..1.. ..11. 11... ....."),
        (plane::OPPONENT, ".1... 11... ..... ....1"),
        (plane::ONE_LIBERTY, ".1... 11... ..... ....."),
        (plane::ONE_LIBERTY + 1, "..... ..... ..... ....1"),
        (plane::ONE_LIBERTY + 2, "..... ..... 11... ....."),
    ];
    check(&features(&game(position, Color::White, Rules::default())), &rows);
    let mut black = rows;
    (black[1].1, black[2].1) = (rows[2].1, rows[1].1);
    check(&features(&game(position, Color::Black, Rules::default())), &black);
}

#[test]
fn the_encore_is_never_shown() {
    let mut game = game(". X O .\n. X O .", Color::Black, rules("japanese"));
    play(&mut game, "A1 pass pass");
    let input = features(&game);
    for feature in [7, 8, plane::OWN_AREA, plane::OPPONENT_AREA, 20, 21] {
        check(&input, &[(feature, ".... ....")]);
    }
    assert_eq!(input.global[12..14], [0.0; 2]);
    assert_eq!(input.global[15..17], [0.0; 2]);
}

#[test]
fn ko_and_superko() {
    let ko = "
        . X O .
        X . X O
        . X O .";
    let banned = |rules: Rules, moves: &str| {
        let mut game = game(ko, Color::White, rules);
        play(&mut game, moves);
        drawing(&features(&game), plane::BANNED)
    };
    for name in ["japanese", "tromp-taylor", "aga"] {
        assert_eq!(banned(rules(name), ""), empty("....\n....\n...."));
        // White takes the ko, and Black may not retake it.
        assert_eq!(banned(rules(name), "B2"), "....\n..1.\n....", "{name}");
    }
    // After two passes only positional superko still forbids the move.
    assert_eq!(banned(rules("chinese"), "B2 pass pass"), empty("....\n....\n...."));
    assert_eq!(banned(rules("tromp-taylor"), "B2 pass pass"), "....\n..1.\n....");
    // Sending two, returning one: the position with one stone occurred before, with the opponent to move.
    let sending_two = |name: &str| {
        let position = "
            . O . X X O
            O X X X O .
            O . X . O O
            X X . O O .
            O O O O . O";
        let mut game = game(position, Color::Black, Rules { suicide: false, ..rules(name) });
        play(&mut game, "F4 pass D3 C5 A5");
        drawing(&features(&game), plane::BANNED)
    };
    assert_eq!(sending_two("tromp-taylor"), ".1....\n......\n......\n......\n......");
    assert_eq!(sending_two("aga"), "......\n......\n......\n......\n......");
}

#[test]
fn the_last_five_moves() {
    let size = BoardSize::new(5, 2).unwrap();
    let mut game = Game::new(size, rules("tromp-taylor"), 7.5);
    play(&mut game, "A1 B1 C1 D1 E1 E2");
    let input = features(&game);
    let rows = ["....1 .....", "..... ....1", "..... ...1.", "..... ..1..", "..... .1..."];
    for (back, row) in rows.into_iter().enumerate() {
        check(&input, &[(plane::LAST_MOVE + back, row)]);
    }
    assert_eq!(input.global[..5], [0.0; 5]);
    play(&mut game, "pass A2 pass D2");
    let input = features(&game);
    let rows = ["...1. .....", "..... .....", "1.... .....", "..... .....", "....1 ....."];
    for (back, row) in rows.into_iter().enumerate() {
        check(&input, &[(plane::LAST_MOVE + back, row)]);
    }
    assert_eq!(input.global[..5], [0.0, 1.0, 0.0, 1.0, 0.0]);
}

/// Returns the number of shown moves and whether a pass is shown to end the game.
fn shown(game: &Game) -> (usize, bool) {
    let input = features(game);
    let moves = (0..plane::LAST_MOVES)
        .filter(|back| {
            input.global[global::LAST_PASS + back] > 0.0
                || drawing(&input, plane::LAST_MOVE + back).contains('1')
        })
        .count();
    (moves, input.global[global::PASS_ENDS] > 0.0)
}

#[test]
fn history_ends_where_the_players_did_not_alternate() {
    let mut game = Game::new(BoardSize::square(5).unwrap(), rules("tromp-taylor"), 7.5);
    play(&mut game, "A1 B2 C3");
    game.play(Color::Black, Move::Play(Point::new(3, 3))).unwrap();
    assert_eq!(shown(&game), (1, false));
    play(&mut game, "E5 E4");
    assert_eq!(shown(&game), (3, false));
    game.set_to_move(Color::Black);
    assert_eq!(shown(&game), (0, false));
}

#[test]
fn shown_passes_depend_on_rules() {
    let shown_after = |name: &str, moves: &str| {
        let mut game = Game::new(BoardSize::square(5).unwrap(), rules(name), 7.5);
        play(&mut game, moves);
        shown(&game)
    };
    let rows = [
        // Without friendly passes, a pass may be the end.
        ("tromp-taylor", "A1 pass", (2, true)),
        ("cgos", "A1 pass", (2, true)),
        // The end is hidden, and also that it is near.
        ("chinese", "A1 pass", (0, false)),
        ("aga", "A1 B1 pass", (0, false)),
        ("stone-scoring", "A1 B1 pass", (0, false)),
        // Territory rules resolve disputes after the passes.
        ("japanese", "A1 pass", (2, true)),
        // The first pass takes the button.
        ("aga-button", "A1 pass", (2, false)),
        ("aga-button", "A1 pass pass", (0, false)),
        ("aga-button", "A1 pass B1 pass", (0, false)),
        ("aga-button", "A1 pass pass pass", (1, true)),
        // After the end of the game, only its last pass is shown.
        ("tromp-taylor", "A1 pass pass", (1, true)),
        ("chinese", "A1 pass pass", (1, true)),
        ("japanese", "A1 pass pass", (1, true)),
        ("chinese", "A1 pass pass pass", (1, true)),
        // The game went on.
        ("chinese", "A1 pass pass B1", (2, false)),
        ("japanese", "A1 pass pass B1 C1", (3, false)),
        ("aga-button", "pass pass A1 B1", (4, false)),
        ("aga-button", "pass pass pass A1 B1", (3, false)),
        // The pass is long ago.
        ("chinese", "pass A1 B1 C1", (4, false)),
    ];
    for (name, moves, expected) in rows {
        assert_eq!(shown_after(name, moves), expected, "{name}: {moves}");
    }
}

#[test]
fn passing_again_in_the_same_position_is_the_end_under_simple_ko() {
    let mut game = Game::new(BoardSize::new(3, 1).unwrap(), rules("chinese"), 7.5);
    play(&mut game, "pass");
    let line = Line::new(&game);
    assert!(!line.has_passed_here(Color::White));
    assert!(line.has_passed_here(Color::Black));
    // Black is to move in the same position, and there were not two passes in a row.
    let mut seen = Game::new(BoardSize::new(3, 1).unwrap(), rules("chinese"), 7.5);
    play(&mut seen, "pass pass");
    seen.set_to_move(Color::Black);
    assert!(pass_would_repeat(&Line::new(&seen)));
    let mut superko = Game::new(BoardSize::new(3, 1).unwrap(), rules("tromp-taylor"), 7.5);
    play(&mut superko, "pass pass");
    superko.set_to_move(Color::Black);
    assert!(!pass_would_repeat(&Line::new(&superko)));
}

#[test]
fn ladders_now_and_before() {
    let mut game = game(
        ". . . . .
         . . . . .
         . X . . .
         . X O . .
         . . X . .",
        Color::Black,
        rules("tromp-taylor"),
    );
    let input = features(&game);
    let none = ". . . . .".replace(' ', "");
    let none = [none.as_str(); 5].join("\n");
    let caught = "..... ..... ..... ..1.. .....";
    // Without a move, the current position replaces those before it.
    check(
        &input,
        &[
            (plane::CAUGHT, caught),
            (plane::CAUGHT_BEFORE, caught),
            (plane::CAUGHT_TWO_BEFORE, caught),
            (plane::LADDER_MOVE, "..... ..... ..... ...1. ....."),
        ],
    );
    // Black plays elsewhere, White breaks the ladder, Black plays on.
    play(&mut game, "A1");
    let input = features(&game);
    check(
        &input,
        &[
            (plane::CAUGHT, caught),
            (plane::CAUGHT_BEFORE, caught),
            (plane::CAUGHT_TWO_BEFORE, caught),
            // The caught chain is White's own.
            (plane::LADDER_MOVE, &none),
        ],
    );
    play(&mut game, "D4");
    let input = features(&game);
    check(
        &input,
        &[
            (plane::CAUGHT, &none),
            (plane::CAUGHT_BEFORE, caught),
            (plane::CAUGHT_TWO_BEFORE, caught),
            (plane::LADDER_MOVE, &none),
        ],
    );
    play(&mut game, "B5");
    let input = features(&game);
    check(
        &input,
        &[(plane::CAUGHT, &none), (plane::CAUGHT_BEFORE, &none), (plane::CAUGHT_TWO_BEFORE, caught)],
    );
    // Under friendly rules a pass hides the history and therefore the older ladders.
    let mut friendly = game.with_rules(rules("chinese"), 7.5);
    play(&mut friendly, "pass");
    check(&features(&friendly), &[(plane::CAUGHT_TWO_BEFORE, &none)]);
}

#[test]
fn areas() {
    let rows = [
        // Stones and the points that they surround, alive or not.
        (". X . O .", "aga", "11...", "...11"),
        // An empty board, and a single stone.
        ("...\n...", "aga", "...\n...", "...\n..."),
        ("..X\n...", "aga", "111\n111", "...\n..."),
        // A dead stone inside unconditional life, and a stone inside an area that is not unconditionally alive.
        (".O.X.X\nXXXXXX\n......", "aga", "111111\n111111\n111111", "......\n......\n......"),
        ("....\n.O..\n....\nXXXX", "aga", "....\n....\n....\n1111", "....\n.1..\n....\n...."),
        // The white stones surround a point of Black's unconditional territory.
        (".OX.X.X\nOXXXXXX\nXX.....", "aga", "1111111\n1111111\n1111111", ".......\n.......\n......."),
        // With a tax, both areas touch a neutral point, and their empty points do not count.
        (".X.O.", "stone-scoring", ".1...", "...1."),
        // Two independent areas. A chain in atari is not independent.
        ("..XO..\n..XO..", "stone-scoring", "111...\n111...", "...111\n...111"),
        (".XO..\nXXO..", "stone-scoring", ".1...\n11...", "..111\n..111"),
    ];
    for (position, name, own, opponent) in rows {
        let input = features(&game(position, Color::Black, rules(name)));
        check(&input, &[(plane::OWN_AREA, own), (plane::OPPONENT_AREA, opponent)]);
        let input = features(&game(position, Color::White, rules(name)));
        check(&input, &[(plane::OWN_AREA, opponent), (plane::OPPONENT_AREA, own)]);
        let input = features(&game(position, Color::White, rules("japanese")));
        check(&input, &[(plane::OWN_AREA, &empty(own)), (plane::OPPONENT_AREA, &empty(own))]);
    }
}

#[test]
fn globals_of_every_preset() {
    // Ko rule (two numbers), suicide, territory, taxes (two numbers).
    let expected = |name: &str| match name {
        "chinese-kgs" | "cgos" => [1.0, 0.5, 0.0, 0.0, 0.0, 0.0],
        "tromp-taylor" | "ing" => [1.0, 0.5, 1.0, 0.0, 0.0, 0.0],
        "chinese" => [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        "japanese" => [0.0, 0.0, 0.0, 1.0, 1.0, 0.0],
        "aga" | "aga-button" => [1.0, -0.5, 0.0, 0.0, 0.0, 0.0],
        "new-zealand" => [1.0, -0.5, 1.0, 0.0, 0.0, 0.0],
        "stone-scoring" => [0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
        "ancient-territory" => [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
        _ => panic!("no expected features for {name}"),
    };
    for preset in PRESETS {
        let name = preset.names[0];
        let game = Game::new(BoardSize::square(19).unwrap(), preset.rules, 7.5);
        let values = features(&game).global;
        assert_eq!(values[global::SUPERKO..=global::GROUP_TAX], expected(name), "{name}");
        assert_eq!(values[global::BUTTON], f32::from(u8::from(name == "aga-button")), "{name}");
        assert_eq!(values[global::KOMI], -7.5 / 20.0, "{name}");
        // −7.5 is half a point above −8 and one and a half above −9, which allows a draw on a board of odd area.
        let wave = if preset.rules.scoring == Scoring::Area { -0.5 } else { 0.0 };
        assert_eq!(values[global::KOMI_WAVE], wave, "{name}");
        let unused: Vec<usize> = vec![0, 1, 2, 3, 4, 12, 13, 14, 15, 16];
        assert!(unused.into_iter().all(|index| values[index] == 0.0), "{name}");
    }
    let natural = Rules { ko: KoRule::NaturalSituational, ..Rules::default() };
    let game = Game::new(BoardSize::square(9).unwrap(), natural, 7.5);
    assert_eq!(features(&game).global[global::SUPERKO..=global::SUPERKO_KIND], [1.0, -0.5]);
}

#[test]
fn komi_feature() {
    let komi = |game: &Game| features(game).global[global::KOMI] * 20.0;
    let size = BoardSize::square(9).unwrap();
    let near = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    let mut plain = Game::new(size, rules("chinese"), 6.5);
    near(komi(&plain), -6.5);
    play(&mut plain, "A1");
    near(komi(&plain), 6.5);
    // Handicap bonus: N points, N − 1 points, none.
    let stones = [Point::new(2, 2), Point::new(6, 6), Point::new(2, 6)];
    for (name, bonus) in [("chinese", 3.0), ("aga", 2.0), ("tromp-taylor", 0.0)] {
        let game = Game::new(size, rules(name), 0.5).with_handicap(&stones).unwrap();
        near(komi(&game), 0.5 + bonus);
    }
    // The three handicap stones are not territory.
    near(komi(&Game::new(size, rules("japanese"), 0.5).with_handicap(&stones).unwrap()), 3.5);
    // The button.
    let mut button = Game::new(size, rules("aga-button"), 7.0);
    play(&mut button, "A1 pass");
    near(komi(&button), -7.5);
    assert_eq!(features(&button).global[global::BUTTON], 0.0);
    let mut button = Game::new(size, rules("aga-button"), 7.0);
    play(&mut button, "pass");
    near(komi(&button), 6.5);
    // Under territory scoring every stone on the board costs a point, captured or not.
    let mut territory = Game::new(size, rules("japanese"), 6.5);
    play(&mut territory, "A2 A1 B1 pass C1");
    near(komi(&territory), 6.5 + 3.0 - 1.0);
    play(&mut territory, "J9");
    near(komi(&territory), -(6.5 + 3.0 - 2.0));
    // Komi is limited to the board plus twenty points.
    near(komi(&Game::new(size, rules("aga"), 1000.0)), -101.0);
    near(komi(&Game::new(size, rules("aga"), -1000.0)), 101.0);
}

#[test]
fn the_wave_of_komi() {
    // Odd komi allows a draw with area 81, even komi with area 80.
    let rows = [
        (-2.0, 0.0),
        (-1.75, -0.25),
        (-1.5, -0.5),
        (-1.25, -0.25),
        (-1.0, 0.0),
        (-0.75, 0.25),
        (-0.5, 0.5),
        (-0.25, 0.25),
        (0.0, 0.0),
        (0.25, -0.25),
        (0.5, -0.5),
        (0.75, -0.25),
        (1.0, 0.0),
        (1.25, 0.25),
        (1.5, 0.5),
        (1.75, 0.25),
        (2.0, 0.0),
        (7.5, 0.5),
        (6.5, -0.5),
        (7.0, 0.0),
    ];
    for (komi, wave) in rows {
        assert_eq!(komi_wave(81, komi), wave, "{komi}");
        assert_eq!(komi_wave(80, komi + 1.0), wave, "{komi}");
        assert_eq!(komi_wave(81, komi + 2.0), wave, "{komi}");
        assert_eq!(komi_wave(81, -komi), -wave, "{komi}");
    }
}

#[test]
fn legal_points_are_those_of_the_game() {
    let mut game = game(". X O .\nX . X O\n. X O .", Color::White, Rules::default());
    play(&mut game, "B2");
    let mut legal = Vec::new();
    legal_points(&Line::new(&game), &mut legal);
    for point in game.size().points() {
        let expected = game.check(Color::Black, Move::Play(point)).is_ok();
        assert_eq!(legal[index(game.size(), point)], expected, "{point}");
    }
}

/// Returns a game of random moves, including passes.
fn random_game(size: BoardSize, rules: Rules, rng: &mut Rng) -> Game {
    let mut game = Game::new(size, rules, rng.below(40) as f32 / 2.0 - 10.0);
    for _ in 0..rng.below(2 * size.area() as u32 + 2) {
        let color = game.to_move();
        let points = game.legal_points(color);
        let mv = match points.get(rng.below(points.len() as u32 + 1) as usize) {
            Some(&point) if rng.below(12) > 0 => Move::Play(point),
            _ => Move::Pass,
        };
        game.play(color, mv).unwrap();
    }
    game
}

/// Returns the image of a game under a symmetry, with colours exchanged if `swap`.
fn image(game: &Game, symmetry: Symmetry, swap: bool) -> Game {
    let size = game.size();
    let komi = if swap { -game.komi() } else { game.komi() };
    let mut image = Game::new(symmetry.image_size(size), game.rules(), komi);
    for record in game.records() {
        let color = if swap { record.color.opponent() } else { record.color };
        let mv = record.mv.point().map_or(Move::Pass, |point| Move::Play(symmetry.apply(size, point)));
        image.set_to_move(color);
        image.play(color, mv).unwrap();
    }
    if swap {
        // Only White gets a handicap bonus, whichever colour the stones have.
        let komi = -(game.komi() + game.white_bonus()) - image.white_bonus();
        image = image.with_rules(game.rules(), komi);
    }
    image.set_to_move(if swap { game.to_move().opponent() } else { game.to_move() });
    image
}

#[test]
fn symmetries_and_colours_and_lines() {
    let mut rng = Rng::new(22);
    let mut features = Features::default();
    let mut filled = |line: &Line<'_>| {
        let mut input = Input::zero(1, 1);
        features.fill(line, &mut input);
        input
    };
    for round in 0..400 {
        let size = BoardSize::new(1 + round % 7, 1 + round / 7 % 7).unwrap();
        let game = random_game(size, PRESETS[round % PRESETS.len()].rules, &mut rng);
        let input = filled(&Line::new(&game));
        for symmetry in Symmetry::ALL {
            let turned = filled(&Line::new(&image(&game, symmetry, false)));
            assert_eq!(turned.global, input.global);
            for point in size.points() {
                let to = symmetry.apply(size, point);
                let to = index(symmetry.image_size(size), to) * SPATIAL_FEATURES;
                let from = index(size, point) * SPATIAL_FEATURES;
                assert_eq!(
                    turned.spatial[to..to + SPATIAL_FEATURES],
                    input.spatial[from..from + SPATIAL_FEATURES],
                    "{symmetry:?} {point}\n{}",
                    game.board()
                );
            }
        }
        let swapped = image(&game, Symmetry::ALL[0], true);
        let other = filled(&Line::new(&swapped));
        for feature in 0..SPATIAL_FEATURES {
            assert_eq!(drawing(&other, feature), drawing(&input, feature), "{feature}\n{}", game.board());
        }
        assert_eq!(other.global, input.global, "\n{}", game.board());
        // The last moves of the game as a line on top of a shorter game.
        let mut shorter = game.clone();
        let moves: Vec<Move> = (0..rng.below(4)).filter_map(|_| Some(shorter.undo()?.mv)).collect();
        let mut line = Line::new(&shorter);
        moves.into_iter().rev().for_each(|mv| line.play(mv));
        assert!(filled(&line) == input, "\n{}", game.board());
    }
}

#[test]
fn pass_alive_with_suicide_setting() {
    // If White may commit suicide, the point of the white stone can become one that is not a liberty of Black's.
    let options =
        random::Options { version: 15, pass_alive_with_suicide: true, ..random::Options::default() };
    let with_suicide = random::network(&options).unwrap();
    let without = random::network(&random::Options { pass_alive_with_suicide: false, ..options }).unwrap();
    let drawn = |suicide: bool, network: &Network| {
        let rules = Rules { suicide, ..Rules::default() };
        let game = game("XX.XX.X\nX.O.XXX\nXX.XXXX\nXXXXXXX", Color::Black, rules);
        let mut input = Input::zero(1, 1);
        Features::for_network(network).fill(&Line::new(&game), &mut input);
        (drawing(&input, plane::OWN_AREA), input.global[global::SUICIDE])
    };
    let (legal, illegal) = (drawn(true, &without), drawn(false, &without));
    assert_ne!(legal.0, illegal.0, "the position must distinguish the settings");
    assert_eq!(
        drawn(false, &with_suicide),
        (legal.0.clone(), 0.0),
        "the feature of the rule does not change"
    );
    assert_eq!(drawn(true, &with_suicide), legal);
}

#[test]
fn inputs_are_cleared() {
    let mut rng = Rng::new(5);
    let mut features = Features::default();
    let mut input = Input::zero(1, 1);
    for side in [9, 3, 25, 1, 19, 5] {
        let game = random_game(BoardSize::square(side).unwrap(), Rules::default(), &mut rng);
        features.fill(&Line::new(&game), &mut input);
        assert_eq!(input, self::features(&game));
        assert_eq!(input.spatial.len(), side * side * SPATIAL_FEATURES);
        assert_eq!(input.global.len(), GLOBAL_FEATURES);
    }
}

/// Checks area without a tax against its definition: unconditional life first, then plain area.
#[test]
fn untaxed_area_is_plain_area_with_dead_stones_removed() {
    let mut rng = Rng::new(6);
    let mut area = Area::default();
    let mut overruled = 0;
    for round in 0..1500 {
        let size = BoardSize::new(3 + round % 4, 3 + round / 4 % 4).unwrap();
        let stones = size.points().filter_map(|point| match rng.below(20) {
            0..=9 => Some((point, Color::Black)),
            10..=13 => Some((point, Color::White)),
            _ => None,
        });
        let Ok(board) = Board::from_stones(size, stones.collect::<Vec<_>>()) else { continue };
        let suicide = round % 2 == 0;
        let found = area.compute(&board, suicide, Tax::None);
        let plain = score::area_owner(&board);
        let sure = Color::BOTH.map(|color| kosumi_go::safety::pass_alive(&board, color, suicide));
        for point in size.points() {
            let is_sure =
                |index: usize| sure[index].chains.contains(point) || sure[index].territory.contains(point);
            let owner = match (is_sure(0), is_sure(1)) {
                (true, true) => panic!("both alive at {point}\n{board}"),
                (true, false) => Some(Color::Black),
                (false, true) => Some(Color::White),
                (false, false) => plain[point],
            };
            overruled += usize::from(owner != plain[point]);
            for color in Color::BOTH {
                assert_eq!(found[color].contains(point), owner == Some(color), "{point}\n{board}");
            }
        }
    }
    assert!(overruled > 200, "{overruled}");
}

use super::{Ending, NoNetwork, NoiseSettings, PlayedGame, Player, Settings};
use crate::training::{Example, move_of};
use kosumi_go::board::{BoardSize, Color, Move};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_go::score::area_score;
use kosumi_net::input::index;
use kosumi_net::{Input, Network, SPATIAL_FEATURES, random};
use std::collections::HashSet;
use std::sync::Arc;

fn network() -> Arc<Network> {
    Arc::new(random::network(&random::Options::default()).expect("a network"))
}

fn settings(visits: u32, sizes: &[(usize, usize)]) -> Settings {
    let size = |&(columns, rows): &(usize, usize)| (BoardSize::new(columns, rows).expect("a size"), 1);
    Settings {
        visits,
        training_share: 500,
        off_policy: 300,
        tree: 2,
        sizes: sizes.iter().map(size).collect(),
        ..Settings::default()
    }
}

fn games(settings: &Settings, network: Option<Arc<Network>>, count: u32) -> Vec<PlayedGame> {
    let mut player = Player::new(settings.clone(), network).expect("a player");
    (0..count).map(|number| player.play(number).expect("finite")).collect()
}

/// Encodes stones and komi, which are enough to identify a position.
fn encode(game: &Game) -> Input {
    let size = game.size();
    let mut input = Input::zero(size.columns(), size.rows());
    for (point, color) in game.board().stones() {
        let feature = if color == game.to_move() { 1 } else { 2 };
        input.spatial[index(size, point) * SPATIAL_FEATURES + feature] = 1.0;
    }
    input.global[5] = game.komi() * -game.to_move().sign() as f32;
    input
}

fn examples(game: &PlayedGame) -> Vec<Example> {
    game.examples(&mut encode).expect("sound")
}

#[test]
fn a_game_follows_from_its_number() {
    for (visits, network) in [(0, Some(network())), (8, Some(network())), (20, None)] {
        let settings = settings(visits, &[(5, 5), (4, 6)]);
        let all = games(&settings, network.clone(), 6);
        // The game is played alone, and after another game.
        let mut player = Player::new(settings.clone(), network.clone()).expect("a player");
        for number in [4, 1] {
            assert_eq!(player.play(number).expect("finite"), all[number as usize], "{visits} visits");
        }
        assert!(all.windows(2).any(|pair| pair[0].turns != pair[1].turns));
        let other = games(&Settings { seed: 2, ..settings }, network, 6);
        assert_ne!(other, all);
    }
}

#[test]
fn games_end_by_the_rules_and_are_counted_by_them() {
    let rules = vec![Rules::preset("tromp-taylor").expect("rules").rules];
    let settings = Settings { rules, ..settings(20, &[(5, 5)]) };
    let mut ended = 0;
    for game in games(&settings, None, 8) {
        let played = game.game().expect("sound");
        let Some(ending) = &game.ending else { continue };
        ended += 1;
        assert!(played.is_over());
        let area = area_score(played.board());
        assert_eq!(ending.score, area as f32 - game.komi);
        let count = |letter: char| ending.owners.matches(letter).count() as i32;
        assert_eq!(count('#') - count('O'), area);
        assert_eq!(ending.owners.len(), 25);
    }
    assert!(ended >= 4, "{ended}");
}

#[test]
fn targets_are_from_the_perspective_of_the_side_to_move() {
    let settings = settings(20, &[(5, 4)]);
    let mut known = [0; 2];
    for game in games(&settings, None, 8) {
        let found = examples(&game);
        assert_eq!(found.len(), game.positions());
        let chosen = game.turns.iter().zip(0u16..).filter(|(turn, _)| turn.targets.is_some());
        let on_path = found.iter().filter(|example| example.targets.played.is_some());
        for (example, (turn, ply)) in on_path.clone().zip(chosen) {
            let targets = &example.targets;
            assert_eq!((example.ply, targets.played), (ply, Some(turn.mv)));
            let sign = if ply % 2 == 0 { 1.0 } else { -1.0 };
            assert_eq!(example.input.global[5], game.komi * -sign);
            let sum: f32 = targets.policy.iter().map(|&(_, share)| share).sum();
            let expected = turn.targets.as_ref().map(|found| found.value * sign);
            assert_eq!(targets.expected, expected);
            assert!((sum - 1.0).abs() < 1e-3 && targets.policy.is_sorted_by(|a, b| a.1 >= b.1));
            // Policies contain legal moves only.
            let mut before = Game::new(before_size(&game), before_rules(&game), game.komi);
            for turn in &game.turns[..usize::from(ply)] {
                let color = before.to_move();
                before.play(color, move_of(before.size(), turn.mv).expect("a move")).expect("legal");
            }
            for &(mv, _) in &targets.policy {
                let mv = move_of(before.size(), mv).expect("a move");
                assert_eq!(before.check(before.to_move(), mv), Ok(()));
            }
            match (&game.ending, ply >= game.opening) {
                (Some(ending), true) => {
                    known[0] += 1;
                    assert_eq!(targets.score, Some(ending.score * sign));
                    let won = if ending.score == 0.0 {
                        0.5
                    } else {
                        f32::from(u8::from(ending.score * sign > 0.0))
                    };
                    assert_eq!(targets.value, [won, 1.0 - won, 0.0]);
                    let own = targets.ownership.as_ref().expect("owners");
                    let black = game.ending.iter().flat_map(|ending| ending.owners.chars());
                    for (letter, &owner) in black.zip(own) {
                        let expected =
                            [('#', 127), ('O', -127), ('.', 0)].iter().find(|pair| pair.0 == letter);
                        assert_eq!(f32::from(owner), expected.expect("a letter").1 as f32 * sign);
                    }
                }
                _ => assert_eq!((targets.score, &targets.ownership), (None, &None)),
            }
        }
        for (example, off) in found.iter().filter(|e| e.targets.played.is_none()).zip(&game.off_policy) {
            known[1] += 1;
            assert_eq!(example.ply, off.ply);
            let odd = (usize::from(off.ply) + off.moves.len()) % 2 == 1;
            let win = (1.0 + if odd { -off.targets.value } else { off.targets.value }) / 2.0;
            assert!((example.targets.value[0] - win).abs() < 1e-6);
            assert_eq!((example.targets.score, &example.targets.ownership), (None, &None));
        }
    }
    assert!(known.iter().all(|&count| count > 5), "{known:?}");
}

fn before_size(game: &PlayedGame) -> BoardSize {
    BoardSize::new(game.size.0.into(), game.size.1.into()).expect("a size")
}

fn before_rules(game: &PlayedGame) -> Rules {
    Rules::preset(&game.rules).expect("rules").rules
}

#[test]
fn a_search_leaves_positions_of_its_tree() {
    let plain = Settings { off_policy: 0, tree: 0, ..settings(16, &[(5, 5)]) };
    let (mut kept, mut depths) = (0, [0; 2]);
    for game in games(&Settings { tree: 3, ..plain.clone() }, Some(network()), 6) {
        let searched: Vec<_> = (0u16..)
            .zip(&game.turns)
            .filter(|(_, turn)| turn.targets.is_some())
            .map(|(ply, _)| ply)
            .collect();
        for ply in &searched {
            let here: Vec<_> = game.off_policy.iter().filter(|turn| turn.ply == *ply).collect();
            let paths: HashSet<_> = here.iter().map(|turn| &turn.moves).collect();
            assert!(here.len() <= 3 && paths.len() == here.len(), "each once");
            kept += here.len();
            depths[0] += here.iter().filter(|turn| turn.moves.len() == 1).count();
            depths[1] += here.iter().filter(|turn| turn.moves.len() > 1).count();
        }
        assert!(
            game.off_policy
                .iter()
                .all(|turn| searched.contains(&turn.ply) && !turn.targets.policy.is_empty())
        );
        assert_eq!(examples(&game).len(), searched.len() + game.off_policy.len());
    }
    assert!(kept > 50 && depths.iter().all(|&count| count > 5), "{kept} {depths:?}");
    assert!(games(&plain, Some(network()), 2).iter().all(|game| game.off_policy.is_empty()));
}

#[test]
fn noise_changes_games_and_decided_games_get_fewer_visits() {
    let plain = NoiseSettings { weight: 0.0, forced: 0.0, ..NoiseSettings::default() };
    let base = Settings { off_policy: 0, noise: plain, soft_resign: 1.0, ..settings(24, &[(5, 5)]) };
    let base_games = games(&base, Some(network()), 4);
    for noise in [NoiseSettings { weight: 0.25, ..plain }, NoiseSettings { forced: 2.0, ..plain }] {
        assert_ne!(games(&Settings { noise, ..base.clone() }, Some(network()), 4), base_games, "{noise:?}");
    }
    // Playouts may have a value of 1, and 1 still disables soft resignation.
    let never = Settings { soft_resign: 1.0, tree: 0, off_policy: 0, ..settings(8, &[(5, 5)]) };
    let least = Settings { soft_resign: f32::INFINITY, ..never.clone() };
    assert_eq!(games(&never, None, 6), games(&least, None, 6));
    let first_targets = |soft_resign| {
        let settings = Settings { visits: 0, soft_resign, ..base.clone() };
        games(&settings, Some(network()), 4)
    };
    assert_eq!(first_targets(0.0), first_targets(1.0), "nothing is saved without a search");
    // All positions count as decided: so only the first turns have the full share of training positions.
    let soft = games(&Settings { soft_resign: 0.0, tree: 0, ..base.clone() }, Some(network()), 12);
    let late = soft.iter().flat_map(|game| game.turns.iter().skip(usize::from(game.opening) + 3));
    let (count, taken) =
        late.fold((0, 0), |(count, taken), turn| (count + 1, taken + u32::from(turn.targets.is_some())));
    assert!(count > 100 && taken * 8 < count, "{taken} of {count}, where half was asked for");
}

#[test]
fn boards_and_komi_are_spread_as_asked() {
    let sizes = [(3, 1), (5, 3)].map(|(side, share)| (BoardSize::square(side).expect("a size"), share));
    let settings = Settings { sizes: sizes.to_vec(), komi_spread: 2.0, ..Settings::default() };
    let mut rng = Rng::new(1);
    let drawn: Vec<_> = (0..4000).map(|_| settings.draw(&mut rng)).collect();
    let small = drawn.iter().filter(|(size, _)| size.area() == 9).count();
    assert!((900..1100).contains(&small), "{small}");
    for &rules in &settings.rules {
        assert!(drawn.iter().any(|drawn| drawn.1 == rules));
    }
    let komi: Vec<f32> = (0..4000).map(|_| settings.komi(7.2, 81, &mut rng)).collect();
    assert!(komi.iter().all(|komi| (2.0 * komi).fract() == 0.0 && komi.abs() <= 81.0));
    let near = komi.iter().filter(|komi| (**komi - 7.2).abs() <= 2.0).count();
    // Two thirds of nine tenths lie within one standard deviation. Rounding to half points blurs this slightly.
    assert!((2300..2800).contains(&near), "{near}");
    assert!(komi.iter().any(|komi| (komi - 7.2).abs() > 12.0));
}

#[test]
fn handicap_games_begin_with_stones_and_whites_move() {
    let settings = Settings { handicap: 600, ..settings(8, &[(9, 9), (7, 7), (5, 5)]) };
    let games = games(&settings, None, 24);
    let mut seen = [0; 3];
    for game in &games {
        let most = [(9, 9), (7, 4), (5, 0)].iter().find(|row| row.0 == game.size.0).expect("a size").1;
        assert!(game.handicap.len() <= most && game.handicap.len() != 1, "{:?}", game.handicap);
        let played = game.game().expect("sound");
        assert_eq!(played.start().stone_count(), game.handicap.len());
        if game.handicap.is_empty() {
            seen[0] += 1;
            continue;
        }
        seen[if game.komi == 0.5 { 1 } else { 2 }] += 1;
        assert_eq!(played.records()[0].color, Color::White);
        assert_eq!(played.handicap() as usize, game.handicap.len());
        // Shards are built from the log alone.
        let line = serde_json::to_string(game).expect("a line");
        let read: PlayedGame = serde_json::from_str(&line).expect("a game");
        assert_eq!(&read, game);
        assert_eq!(examples(&read).len(), game.positions());
        let damaged = PlayedGame { handicap: vec![game.handicap[0]; 2], ..game.clone() };
        assert!(damaged.game().is_err());
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn a_player_needs_a_network_or_a_search() {
    assert_eq!(Player::new(settings(0, &[(5, 5)]), None).err(), Some(NoNetwork));
}

#[test]
fn damaged_records_are_refused() {
    let settings = settings(8, &[(5, 5)]);
    let game = games(&settings, None, 1).remove(0);
    let damaged = |damage: &dyn Fn(&mut PlayedGame)| {
        let mut game = game.clone();
        damage(&mut game);
        game.examples(&mut encode).expect_err("damaged")
    };
    damaged(&|game| game.size.0 = 99);
    damaged(&|game| game.rules = "mahjong".into());
    damaged(&|game| game.turns[1].mv = game.turns[0].mv);
    damaged(&|game| game.turns[0].mv = 26);
    damaged(&|game| game.ending = Some(Ending { score: 1.0, owners: "#O".into() }));
    assert_eq!(game.game().expect("sound").records()[0].color, Color::Black);
    assert_ne!(game.game().expect("sound").records()[0].mv, Move::Pass);
}

use super::*;
use kosumi_go::board::Point;
use kosumi_go::rules::Rules;
use kosumi_net::random::{self, Options};
use kosumi_search::{Detail, Expectation, Limits, MoveAnalysis, Owners};

fn network(has_metadata_encoder: bool) -> Arc<Network> {
    let options = Options { version: 15, has_metadata_encoder, seed: 3, ..Options::default() };
    Arc::new(random::network(&options).unwrap())
}

fn game() -> Game {
    let mut game = Game::new(BoardSize::new(5, 4).unwrap(), Rules::default(), 6.5);
    for (color, column, row) in [(Color::Black, 2, 1), (Color::White, 1, 2), (Color::Black, 3, 3)] {
        game.play(color, Move::Play(Point::new(column, row))).unwrap();
    }
    game
}

fn with(change: impl FnOnce(&mut AnalystSettings)) -> AnalystSettings {
    let mut settings =
        AnalystSettings { limits: Limits { visits: Some(50), ..Limits::default() }, ..Default::default() };
    change(&mut settings);
    settings
}

fn analyze(analyst: &mut Analyst, game: &Game, settings: &AnalystSettings) -> Analysis {
    let question = Question {
        game,
        settings,
        restriction: &Restriction::NONE,
        detail: Detail { raw: true, ownership: true, moves_ownership: true },
        interrupted: &|| false,
        reports: None,
    };
    analyst.analyze(&question).expect("not interrupted")
}

fn analyst() -> Analyst {
    Analyst::new(network(false), None, with(|_| {}).network, 2, 4)
}

/// Searches a tree, so that the visits of nodes equal those of edges. Weights and corrections are off.
#[test]
fn the_root_is_the_mean_of_itself_and_its_moves() {
    let plain_of = |visits| {
        with(|it| {
            it.limits.visits = Some(visits);
            it.sharing = NodeSharing::Tree;
            it.search.value_weight_exponent = Some(0.0);
            it.search.use_noise_pruning = Some(false);
            it.search.use_uncertainty = Some(false);
            it.search.subtree_value_bias_factor = Some(0.0);
            it.search.static_score_utility_factor = Some(0.0);
            it.search.dynamic_score_utility_factor = Some(0.0);
        })
    };
    let analysis = analyze(&mut analyst(), &game(), &plain_of(50));
    assert_eq!(analysis.visits, 50);
    let visited = || searched(&analysis);
    assert_eq!(1 + visited().map(|it| it.edge_visits).sum::<u32>(), 50);
    assert!(visited().all(|it| it.visits == it.edge_visits && it.weight == it.edge_weight));
    let near = |found: f32, wanted: f32| assert!((found - wanted).abs() < 1e-4, "{found} {wanted}");
    let mean = |own: f32, of: &dyn Fn(&MoveAnalysis) -> f32| {
        let sum: f64 = visited().map(|it| f64::from(it.edge_visits) * f64::from(of(it))).sum();
        ((sum + f64::from(own)) / 50.0) as f32
    };
    let (root, raw) = (&analysis.root, analysis.raw.expect("a network"));
    near(root.lead, mean(raw.lead, &|it| it.expectation.lead));
    near(root.score_mean, mean(raw.score_mean, &|it| it.expectation.score_mean));
    near(root.no_result, mean(raw.no_result, &|it| it.expectation.no_result));
    near(root.win_rate, mean(raw.win_rate, &|it| it.expectation.win_rate));
    near(root.utility, 2.0 * root.win_rate - 1.0);
    let square = |mean: f32, stdev: f32| mean * mean + stdev * stdev;
    let of_move = |it: &MoveAnalysis| square(it.expectation.score_mean, it.expectation.score_stdev);
    let wanted = mean(square(raw.score_mean, raw.score_stdev), &of_move);
    assert!((square(root.score_mean, root.score_stdev) / wanted - 1.0).abs() < 1e-3);
    let owners = |it: &Expectation| it.owners.clone().expect("owners");
    let one = plain_of(1);
    let own = owners(&analyze(&mut analyst(), &game(), &one).root);
    let found = owners(&root.clone());
    for at in 0..analysis.size.area() {
        near(found.mean[at], mean(own.mean[at], &|it| owners(&it.expectation).mean[at]));
        let of_move = |it: &MoveAnalysis| {
            let Owners { mean, stdev } = owners(&it.expectation);
            square(mean[at], stdev[at])
        };
        near(square(found.mean[at], found.stdev[at]), mean(square(own.mean[at], own.stdev[at]), &of_move));
    }
    let sum: f32 = analysis.policy.iter().map(|&(_, prior)| prior).sum();
    near(sum, 1.0);
}

/// Returns the moves that were searched.
fn searched(analysis: &Analysis) -> impl Iterator<Item = &MoveAnalysis> {
    analysis.moves.iter().filter(|it| it.is_searched())
}

#[test]
fn one_visit_is_the_networks_evaluation_and_analyses_repeat() {
    let mut analyst = analyst();
    let one = with(|it| it.limits.visits = Some(1));
    let analysis = analyze(&mut analyst, &game(), &one);
    assert_eq!((analysis.visits, searched(&analysis).count()), (1, 0));
    let (root, raw) = (&analysis.root, analysis.raw.expect("a network"));
    for (found, wanted) in [
        (root.win_rate, raw.win_rate),
        (root.lead, raw.lead),
        (root.score_mean, raw.score_mean),
        (root.score_stdev, raw.score_stdev),
        (root.no_result, raw.no_result),
    ] {
        assert!((found - wanted).abs() < 1e-3, "{found} {wanted}");
    }
    assert!(root.owners.as_ref().is_some_and(|it| it.stdev.iter().all(|&it| it < 1e-2)));
    let [first, _, again] = [50, 20, 50]
        .map(|visits| analyze(&mut analyst, &game(), &with(|it| it.limits.visits = Some(visits))));
    assert_eq!(first.moves, again.moves);
    assert_eq!(first.root, again.root);
}

#[test]
fn a_finished_game_is_analysed_as_if_play_went_on() {
    let mut over = game();
    for color in [Color::White, Color::Black] {
        over.play(color, Move::Pass).unwrap();
    }
    let analysis = analyze(&mut analyst(), &over, &with(|_| {}));
    assert!(searched(&analysis).count() > 1 && analysis.visits == 50);
}

#[test]
fn settings_of_the_network_have_evaluators_of_their_own_but_not_without_end() {
    let mut analyst = analyst();
    let usual = analyze(&mut analyst, &game(), &with(|_| {}));
    for number in 1..=10 {
        let advantage = with(|it| it.network.black_doubling_advantage = number as f32 / 4.0);
        let advantaged = analyze(&mut analyst, &game(), &advantage);
        assert_ne!(advantaged.raw, usual.raw);
    }
    assert!(lock(&analyst.shared.evaluators).len() <= 1 + MAX_OTHER_EVALUATORS);
    assert_eq!(analyze(&mut analyst, &game(), &with(|_| {})).raw, usual.raw);
}

#[test]
fn temperature_and_width_change_what_is_looked_at_and_not_the_policy() {
    let mut analyst = analyst();
    let usual = analyze(&mut analyst, &game(), &with(|it| it.wide_root_noise = 0.0));
    let hot = analyze(&mut analyst, &game(), &with(|it| it.root_policy_temperature = 100.0));
    let wide = analyze(&mut analyst, &game(), &with(|it| it.wide_root_noise = 5.0));
    assert!(usual.policy == hot.policy && usual.policy == wide.policy);
    let spread = |it: &Analysis| it.moves.iter().map(|it| it.prior).fold(0.0, f32::max);
    assert!(spread(&hot) < spread(&usual));
    // The noise is random, but the same request gets the same result.
    let again = analyze(&mut analyst, &game(), &with(|it| it.wide_root_noise = 5.0));
    let visits = |it: &Analysis| it.moves.iter().map(|it| (it.mv, it.edge_visits)).collect::<Vec<_>>();
    assert_ne!(visits(&wide), visits(&usual));
    assert_eq!(visits(&wide), visits(&again));
}

#[test]
fn a_mirrored_game_is_broken_at_the_centre() {
    let size = BoardSize::square(9).unwrap();
    let mut mirror = Game::new(size, Rules::default(), 7.0);
    for index in 0..14 {
        mirror.play(Color::Black, Move::Play(Point::new(index % 9, index / 9))).unwrap();
        mirror.play(Color::White, Move::Play(Point::new(8 - index % 9, 8 - index / 9))).unwrap();
    }
    let mut analyst = analyst();
    let center = Move::Play(Point::new(4, 4));
    let mut visits = |wanted: bool| {
        let analysis = analyze(&mut analyst, &mirror, &with(|it| it.anti_mirror = wanted));
        let found = analysis.moves.iter().find(|it| it.mv == center);
        (found.map_or(0, |it| it.edge_visits), analysis.visits)
    };
    let ((without, _), (with, all)) = (visits(false), visits(true));
    assert!(10 * with >= 3 * all - 10 && with > 2 * without, "{with} and {without} of {all}");
}

#[test]
fn people_are_told_if_there_is_a_profile_and_looked_at_if_that_is_wanted() {
    let profile = "rank_5k".parse().ok();
    for (own, human) in [(network(false), Some(network(true))), (network(true), None)] {
        let mut analyst = Analyst::new(own, human, with(|_| {}).network, 2, 4);
        let unknown = analyze(&mut analyst, &game(), &with(|_| {}));
        assert!(unknown.human.is_none() && unknown.moves.iter().all(|it| it.human_prior.is_none()));
        let known = analyze(&mut analyst, &game(), &with(|it| it.network.profile = profile));
        let human = known.human.clone().expect("a prediction");
        let sum: f32 = human.policy.iter().map(|&(_, prior)| prior).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        assert!(known.moves.iter().all(|it| it.human_prior.is_some()));
        let likeliest = human.policy.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|&(mv, _)| mv);
        let explored = analyze(
            &mut analyst,
            &game(),
            &with(|it| {
                it.network.profile = profile;
                it.human.root_weightful = 0.9;
                it.human.cpuct_permanent = 2.0;
            }),
        );
        assert!(searched(&explored).any(|it| Some(it.mv) == likeliest));
        // The expected human moves below the root change the value, and it matters which side is expected to play them.
        let expecting = |analyst: &mut Analyst, own: f32, opponent: f32| {
            let settings = with(|it| {
                it.network.profile = profile;
                it.human.own.weightful = own;
                it.human.opponent.weightful = opponent;
                it.human.cpuct_permanent = 2.0;
            });
            format!("{:?}", analyze(analyst, &game(), &settings).root)
        };
        let found = [(0.0, 0.0), (0.9, 0.0), (0.0, 0.9)]
            .map(|(own, opponent)| expecting(&mut analyst, own, opponent));
        assert_eq!(found[0], format!("{:?}", known.root));
        assert!(found[0] != found[1] && found[1] != found[2] && found[0] != found[2], "{found:?}");
        assert_eq!(found[2], expecting(&mut analyst.clone(), 0.0, 0.9), "no chance is in it");
    }
}

#[test]
fn images_of_a_symmetric_position_are_copies() {
    let size = BoardSize::square(5).unwrap();
    let empty = Game::new(size, Rules::default(), 6.5);
    let analysis = analyze(&mut analyst(), &empty, &with(|_| {}));
    let copies = analysis.moves.iter().filter(|it| it.symmetry_of.is_some());
    assert!(copies.clone().count() > 0);
    for copy in copies {
        let original = analysis.moves.iter().find(|it| Some(it.mv) == copy.symmetry_of).unwrap();
        assert_eq!(original.edge_visits, copy.edge_visits);
        // Each copy has the original's ownership at the image of the point.
        let at = |it: &MoveAnalysis| {
            let point = it.mv.point().unwrap();
            let owners = it.expectation.owners.as_ref();
            owners.map(|owners| owners.mean[point.row() * size.columns() + point.column()])
        };
        assert_eq!(at(original), at(copy));
    }
    let mut hashes = |symmetry: Symmetry| {
        let mut game = empty.clone();
        game.play(Color::Black, Move::Play(symmetry.apply(size, Point::new(1, 3)))).unwrap();
        let analysis = analyze(&mut analyst(), &game, &with(|it| it.limits.visits = Some(1)));
        [analysis.hash, analysis.symmetric_hash]
    };
    let [first, other] = [Symmetry::ALL[0], Symmetry::ALL[5]].map(&mut hashes);
    assert!(first[1] == other[1] && first[0] != other[0]);
}

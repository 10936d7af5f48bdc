use super::*;
use crate::{Detail, Limits, Restriction, Search, SearchContext, SearchParams, SearchReport};
use kosumi_eval::{PlayoutSettings, Playouts};
use kosumi_go::board::Color;
use kosumi_go::game::Game;
use kosumi_go::playout::HeuristicPolicy;
use kosumi_go::rules::Rules;
use std::time::Duration;

const ALL: Detail = Detail { raw: true, ownership: true, moves_ownership: true };

/// Returns the report of a search by playouts of a position with White to move.
fn report() -> SearchReport {
    let size = BoardSize::new(5, 4).expect("a size");
    let mut game = Game::new(size, Rules::default(), 0.5);
    let corner = Move::Play(size.point(1, 1).expect("a point"));
    game.play(Color::Black, corner).expect("legal");
    let evaluator = Playouts::new(HeuristicPolicy::default(), PlayoutSettings::default());
    let mut search = Search::new(evaluator, SearchParams::for_playouts(size), 1, 1);
    let limits = Limits::playouts(400);
    let context = SearchContext { detail: ALL, ..SearchContext::new(&limits, &|| Duration::ZERO, &|| false) };
    search.run(&game, 1, &context)
}

fn analysis(report: &SearchReport) -> Analysis {
    Analysis::new(report, &Extras::default())
}

#[test]
fn fields_are_those_of_the_report() {
    let report = report();
    let it = analysis(&report);
    assert_eq!((it.perspective, it.to_move), (Color::Black, Color::White));
    assert_eq!((it.visits, it.playouts, it.weight), (400, 400, 400.0));
    assert_eq!((it.root.win_rate, it.root.utility), ((1.0 + report.value) / 2.0, report.value));
    assert_eq!((it.root.lead, it.root.score_mean), (report.score, report.score));
    let scatter = report.score_error * 20.0;
    assert!((it.root.score_stdev - scatter).abs() < 1e-3 * scatter && scatter > 0.0);
    assert!(it.raw.is_none() && it.human.is_none() && it.policy.is_empty());
    let best = it.best().expect("a move");
    assert_eq!(Some(best.mv), report.moves.first().map(|entry| entry.mv));
    assert_eq!((best.variation[0], best.variation_visits[0]), (best.mv, best.visits));
    assert_eq!(best.variation_edge_visits[0], best.edge_visits);
    let prior: f32 = it.moves.iter().map(|entry| entry.prior).sum();
    assert!((prior - 1.0).abs() < 1e-4, "{prior}");
    let found = it.root.owners.as_ref().expect("owners");
    for (point, (mean, stdev)) in it.size.points().zip(found.mean.iter().zip(&found.stdev)) {
        assert_eq!(*mean, report.ownership.mean(point));
        assert!((mean * mean + stdev * stdev - 1.0).abs() < 1e-4);
    }
    for entry in &it.moves {
        assert_eq!(entry.expectation.owners.is_some(), entry.visits > 0, "{entry:?}");
    }
}

#[test]
fn bounds_are_pessimistic_for_the_side_to_move() {
    let it = analysis(&report());
    for entry in it.moves.iter().filter(|entry| entry.is_searched()) {
        // White is to move, and the numbers are Black's.
        let radius = entry.utility_bound - entry.expectation.utility;
        assert!(radius > 0.0, "{entry:?}");
        let of_win_rate = entry.win_rate_bound - entry.expectation.win_rate;
        assert!((2.0 * of_win_rate - radius).abs() < 1e-5, "{entry:?}");
    }
    let mover = it.seen_by_mover();
    let searched = mover.moves.iter().filter(|entry| entry.is_searched());
    assert!(searched.clone().all(|entry| entry.win_rate_bound < entry.expectation.win_rate));
    assert!(searched.clone().all(|entry| entry.utility_bound < entry.expectation.utility));
}

#[test]
fn the_other_side_sees_the_opposite() {
    let black = analysis(&report());
    let white = black.clone().seen_by(Color::White);
    assert_eq!(white.perspective, Color::White);
    assert_eq!(white.clone().seen_by(Color::White), white, "nothing is turned twice");
    let pairs = std::iter::once((&black.root, &white.root))
        .chain(black.moves.iter().zip(&white.moves).map(|(a, b)| (&a.expectation, &b.expectation)));
    for (a, b) in pairs {
        assert_eq!(b.win_rate, 1.0 - a.win_rate);
        assert_eq!((b.utility, b.lead, b.score_mean), (-a.utility, -a.lead, -a.score_mean));
        assert_eq!(
            (b.score_stdev, b.no_result, b.win_rate_error),
            (a.score_stdev, a.no_result, a.win_rate_error)
        );
        let owners = |it: &Expectation| it.owners.clone().unwrap_or_default();
        assert!(owners(a).mean.iter().zip(&owners(b).mean).all(|(a, b)| *a == -*b));
        assert_eq!(owners(a).stdev, owners(b).stdev);
    }
    for (a, b) in black.moves.iter().zip(&white.moves) {
        assert_eq!((b.win_rate_bound, b.utility_bound), (1.0 - a.win_rate_bound, -a.utility_bound));
        assert_eq!((b.prior, b.weight, b.selection_value), (a.prior, a.weight, a.selection_value));
    }
}

#[test]
fn moves_come_in_order_and_forbidden_ones_not_at_all() {
    let report = report();
    let it = analysis(&report);
    let orders: Vec<usize> = it.moves.iter().map(|entry| entry.order).collect();
    assert_eq!(orders, (0..it.moves.len()).collect::<Vec<_>>());
    let values: Vec<f32> = it.moves.iter().map(|entry| entry.selection_value).collect();
    assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
    let best = it.best().expect("a move").mv;
    let restriction = Restriction::avoiding(Color::White, [best], 1);
    let without = Analysis::new(&report, &Extras { restriction: Some(&restriction), ..Extras::default() });
    assert_eq!(without.moves.len() + 1, it.moves.len());
    assert!(without.moves.iter().all(|entry| entry.mv != best));
    assert_eq!(without.best().map(|entry| entry.order), Some(0));
}

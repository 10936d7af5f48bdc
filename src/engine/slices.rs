//! Observed searches where the program has no threads: the search is interrupted for every report.

use super::SearchObserver;
use kosumi_go::game::Game;
use kosumi_go::rng::mix;
use kosumi_search::{Limits, SearchContext, SearchReport};
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs a search on this thread and interrupts it for every report. `run` searches one slice, whose number is counted
/// from 0, and continues from the statistics of the earlier slices.
pub(super) fn observe_in_slices(
    game: &Game,
    limits: &Limits,
    context: &SearchContext<'_>,
    observer: SearchObserver<'_>,
    mut run: impl FnMut(u64, &SearchContext<'_>) -> SearchReport,
) -> SearchReport {
    let (mut slice, mut playouts, mut next) = (0, 0u32, observer.every);
    loop {
        let limits =
            Limits { playouts: limits.playouts.map(|most| most.saturating_sub(playouts)), ..*limits };
        let is_due = AtomicBool::new(false);
        let interrupted = || {
            is_due.store((context.elapsed)() >= next, Ordering::Relaxed);
            is_due.load(Ordering::Relaxed) || (context.interrupted)()
        };
        let report = run(slice, &SearchContext { stop: &limits, interrupted: &interrupted, ..*context });
        playouts = playouts.saturating_add(report.playouts);
        let report = SearchReport { playouts, ..report };
        if !is_due.into_inner() || (context.interrupted)() {
            return report;
        }
        (observer.on_report)(game, &report);
        next = (context.elapsed)().saturating_add(observer.every);
        slice += 1;
    }
}

/// Returns the seed of a slice of a search. The first slice uses the seed of the search itself.
pub(super) fn slice_seed(seed: u64, slice: u64) -> u64 {
    if slice == 0 { seed } else { mix(seed ^ mix(slice)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, Engine, EngineSettings, SearchRequest};
    use kosumi_go::board::{BoardSize, Color};
    use kosumi_search::Search;
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    /// Returns a time that advances by a millisecond at each call.
    fn time() -> Duration {
        static READINGS: AtomicU64 = AtomicU64::new(0);
        Duration::from_millis(READINGS.fetch_add(1, Ordering::Relaxed))
    }

    fn engine() -> Engine {
        let settings = EngineSettings { threads: 1, memory_mebibytes: 8, ..EngineSettings::default() };
        let mut engine = Engine::new(settings).with_time_source(time);
        engine.set_size(BoardSize::square(7).expect("a size"));
        engine
    }

    #[test]
    fn every_report_is_delivered_and_all_simulations_count() {
        let engine = engine();
        let game = engine.game().clone();
        let mut search = Search::new(engine.search().evaluator().clone(), engine.search().params(), 8, 1);
        let (start, limits) = (time(), Limits::playouts(500));
        let elapsed = || time() - start;
        let context = SearchContext::new(&limits, &elapsed, &|| false);
        let mut seen = Vec::new();
        let mut on_report = |_: &Game, report: &SearchReport| seen.push(report.playouts);
        let observer = SearchObserver { every: Duration::from_millis(20), on_report: &mut on_report };
        let report = observe_in_slices(&game, &limits, &context, observer, |slice, context| {
            search.run(&game, slice_seed(1, slice), context)
        });
        assert_eq!((report.playouts, report.visits), (500, 500));
        assert!(
            seen.len() > 3 && seen.is_sorted() && seen.iter().all(|&playouts| playouts <= 500),
            "{seen:?}"
        );

        let stops = AtomicBool::new(false);
        let mut stop = |_: &Game, _: &SearchReport| stops.store(true, Ordering::Relaxed);
        let observer = SearchObserver { every: Duration::from_millis(20), on_report: &mut stop };
        let interrupted = || stops.load(Ordering::Relaxed);
        let limits = Limits::default();
        let context = SearchContext { stop: &limits, interrupted: &interrupted, ..context };
        let report = observe_in_slices(&game, &limits, &context, observer, |slice, context| {
            search.run(&game, slice_seed(1, slice), context)
        });
        assert!(report.visits > 500);
    }

    #[test]
    fn a_move_is_chosen_from_a_search_in_steps() {
        let mut engine = engine();
        for visits in [50, 100, 200] {
            let limits = Limits { visits: Some(visits), ..Limits::default() };
            let report = engine.search_for_move(Color::Black, &limits, SearchRequest::new(&|| false));
            assert_eq!(report.visits, visits);
        }
        let best = engine.last_report().expect("a report").best_move();
        engine.change_settings(EngineSettings { visits: Some(200), ..*engine.settings() });
        assert_eq!(engine.genmove(Color::Black, SearchRequest::new(&|| false)), Decision::Play(best));
        // Every search runs at least one simulation.
        let report = engine.last_report().expect("a report");
        assert!(report.playouts <= 1 && report.visits <= 201, "{report:?}");
    }

    #[test]
    fn time_for_a_move_is_measured_by_the_time_source() {
        let mut engine = engine();
        let move_time = Some(Duration::from_millis(100));
        engine.change_settings(EngineSettings { move_time, ..*engine.settings() });
        assert!(matches!(engine.genmove(Color::Black, SearchRequest::new(&|| false)), Decision::Play(_)));
        // The time is read at least once for every batch of 16 simulations.
        let playouts = engine.last_report().map_or(0, |report| report.playouts);
        assert!((1..=1600).contains(&playouts), "{playouts}");
    }
}

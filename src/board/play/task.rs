//! Tasks of an engine about a game. A task runs either to its end, or in slices for a caller that must handle other
//! events in between.

use super::strength::Level;
use super::tsumego::{PATIENCE, ProblemFound, ProblemTask};
use crate::review::PositionReview;
use kosumi_engine::time::TimeControl;
use kosumi_engine::{Decision, Engine, EngineSettings, SearchObserver, SearchRequest, TimeSource};
use kosumi_go::board::{ByColor, Color, PointSet};
use kosumi_go::game::Game;
use kosumi_search::{Analysis, Detail, Extras, Limits, SearchReport, SearchStats, StopRule};
use std::sync::Arc;
use std::time::Duration;

/// Number of moves in the reports on a position.
const CANDIDATES: usize = 8;
/// Value of the parameter `analysisWideRootNoise`, unless the user gave another one. Without this noise nearly all
/// visits go to one move, and the page has nothing to compare.
const WIDE_ROOT_NOISE: f32 = 0.04;
/// Interval between reports on a running search.
const EVERY: Duration = Duration::from_millis(120);

/// Task about a game.
#[derive(Clone, Debug)]
pub enum Task {
    /// Choose a move for the side to move.
    Choose {
        /// Strength.
        level: Level,
        /// Time control and each player's time left, with stones or periods.
        clock: Option<(TimeControl, ByColor<(Duration, u32)>)>,
    },
    /// Analyse the position and report at intervals.
    Study {
        /// Limits of the search.
        limits: Limits,
    },
    /// Search the position for a judgement and report at the end.
    Judge {
        /// Number of simulations.
        playouts: u32,
        /// Whether the search uses other random numbers, and no statistics of earlier searches.
        is_afresh: bool,
    },
    /// Find the dead stones.
    Settle,
    /// Read a problem with the solver, without the engine.
    Solve(ProblemTask),
}

impl Task {
    /// Returns the purpose of the engine that does this task.
    pub fn purpose(&self) -> EnginePurpose {
        match self {
            Task::Choose { level, .. } if level.bounds_visits() => EnginePurpose::Level,
            Task::Judge { .. } => EnginePurpose::Level,
            _ => EnginePurpose::Best,
        }
    }
}

/// Result from the engine.
#[derive(Clone, Debug)]
pub enum TaskResult {
    /// The chosen move, and the evaluation of the search if there was one.
    Chosen(Decision, Option<MoveEvaluation>),
    /// Analysis so far.
    Studied {
        /// The game at the analysed position.
        game: Box<Game>,
        /// Review of the position so far.
        analysis: Box<PositionReview>,
        /// Whether the analysis has ended.
        is_last: bool,
    },
    /// Dead stones.
    Settled(Box<PointSet>),
    /// Result of the solver.
    Solved(ProblemFound),
    /// The engine has crashed and was restarted. The task is lost.
    Crashed(String),
}

/// Black's win rate in `[0, 1]`, score in points, and visits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveEvaluation {
    /// Black's win rate.
    pub win_rate: f32,
    /// Black's lead.
    pub score: f32,
    /// Visits.
    pub visits: u32,
}

/// Purpose of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EnginePurpose {
    /// Playing as well as possible in a given time, and analysing positions.
    Best,
    /// Playing at a level that limits visits or is a human rank.
    Level,
}

/// Function that creates an engine for a purpose.
pub type MakeEngine = Arc<dyn Fn(EnginePurpose) -> Engine + Send + Sync>;

/// Engine with the settings that it was created with.
#[derive(Debug)]
pub struct ConfiguredEngine {
    engine: Engine,
    base: EngineSettings,
    /// Whether the latest task was a search for a judgement.
    has_judged: bool,
}

impl ConfiguredEngine {
    /// Wraps an engine. Every task starts from its present settings.
    pub fn new(engine: Engine) -> ConfiguredEngine {
        ConfiguredEngine { base: *engine.settings(), engine, has_judged: false }
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Changes the settings from which every task starts, and those of the task that is running in slices.
    pub fn change(&mut self, change: impl Fn(EngineSettings) -> EngineSettings) {
        self.base = change(self.base);
        let running = change(*self.engine.settings());
        self.engine.change_settings(running);
    }

    /// Carries out a task, unless it becomes unwanted. `send` receives the results.
    pub fn carry_out(
        &mut self,
        game: &Game,
        task: &Task,
        is_unwanted: &(dyn Fn() -> bool + Sync),
        send: &mut dyn FnMut(TaskResult),
    ) {
        self.prepare(game, task);
        let engine = &mut self.engine;
        match task {
            Task::Choose { .. } => {
                let searches = engine.searches();
                let chosen = choose(engine, game.to_move(), searches, is_unwanted);
                if !is_unwanted() {
                    send(chosen);
                }
            }
            Task::Study { limits } => {
                let mut on_report = |game: &Game, report: &SearchReport| {
                    if !is_unwanted() {
                        send(studied(game, report, false));
                    }
                };
                let observer = Some(SearchObserver { every: EVERY, on_report: &mut on_report });
                let request = SearchRequest { observer, ..study_request(is_unwanted) };
                let report = engine.analyze(game.to_move(), limits, request);
                if !is_unwanted() {
                    send(studied(game, report, true));
                }
            }
            Task::Judge { playouts, .. } => {
                let limits = Limits::playouts(*playouts);
                let report = engine.analyze(game.to_move(), &limits, study_request(is_unwanted));
                if !is_unwanted() {
                    send(studied(game, report, true));
                }
            }
            Task::Settle => {
                let settled = settle(engine);
                if !is_unwanted() {
                    send(settled);
                }
            }
            Task::Solve(task) => {
                let found = task.run(PATIENCE, is_unwanted);
                if !is_unwanted() {
                    send(TaskResult::Solved(found));
                }
            }
        }
    }

    /// Begins a task that [`TaskRun::advance`] carries out in slices.
    pub fn begin(&mut self, game: Game, task: Task) -> TaskRun {
        self.prepare(&game, &task);
        let limits = match &task {
            Task::Choose { .. } => self.engine.limits_for_move(game.to_move()),
            Task::Study { limits } => *limits,
            Task::Judge { playouts, .. } => Limits::playouts(*playouts),
            Task::Settle | Task::Solve(_) => Limits::default(),
        };
        TaskRun { searches: self.engine.searches(), game, task, limits, elapsed: Duration::ZERO, playouts: 0 }
    }

    /// Sets the game and the settings of the engine for a task.
    fn prepare(&mut self, game: &Game, task: &Task) {
        if matches!(task, Task::Solve(_)) {
            return;
        }
        let (engine, base) = (&mut self.engine, &self.base);
        let is_judged = matches!(task, Task::Judge { .. });
        if is_judged && !self.has_judged {
            // If some positions were searched longer before, the searches for judgements would be unequal.
            engine.forget();
        }
        self.has_judged = is_judged;
        follow(engine, game);
        match task {
            Task::Choose { level, clock } => {
                engine.change_settings(level.settings(base));
                engine.set_time_control(clock.map_or(TimeControl::None, |(control, _)| control));
                if let Some((_, left)) = clock {
                    for color in Color::BOTH {
                        engine.set_time_left(color, left[color].0, left[color].1);
                    }
                }
            }
            Task::Study { .. } => {
                let is_default = base.analysis_wide_root_noise == 0.0;
                let noise = if is_default { WIDE_ROOT_NOISE } else { base.analysis_wide_root_noise };
                engine.change_settings(EngineSettings { analysis_wide_root_noise: noise, ..*base });
            }
            Task::Judge { is_afresh, .. } => {
                engine.change_settings(*base);
                if *is_afresh {
                    engine.forget();
                    engine.set_seed(engine.seed().wrapping_add(1));
                }
            }
            Task::Settle | Task::Solve(_) => {}
        }
    }
}

/// Chooses a move. `searches` is the number of searches that the engine had made before the task.
fn choose(
    engine: &mut Engine,
    color: Color,
    searches: u64,
    is_unwanted: &(dyn Fn() -> bool + Sync),
) -> TaskResult {
    let decision = engine.choose(color, SearchRequest::new(is_unwanted));
    let analysis = engine.last_analysis().filter(|_| engine.searches() > searches);
    let evaluation = analysis.map(|it| it.seen_by(Color::Black)).map(|it| MoveEvaluation {
        win_rate: it.root.win_rate,
        score: it.root.lead,
        visits: it.visits,
    });
    TaskResult::Chosen(decision, evaluation)
}

fn studied(game: &Game, report: &SearchReport, is_last: bool) -> TaskResult {
    let found = Analysis::new(report, &Extras::default());
    let analysis = Box::new(PositionReview::new(found, CANDIDATES));
    TaskResult::Studied { game: Box::new(game.clone()), analysis, is_last }
}

fn study_request(is_unwanted: &(dyn Fn() -> bool + Sync)) -> SearchRequest<'_> {
    SearchRequest::analysis(is_unwanted, Detail { ownership: true, ..Detail::default() })
}

fn settle(engine: &mut Engine) -> TaskResult {
    TaskResult::Settled(Box::new(engine.final_status().dead))
}

/// Task that is carried out in slices. Between two slices the caller may drop it. As long as it is not dropped, the
/// engine must not be used for anything else.
#[derive(Debug)]
pub struct TaskRun {
    game: Game,
    task: Task,
    limits: Limits,
    /// Number of searches of the engine before the task.
    searches: u64,
    /// Total time of the searches of the task.
    elapsed: Duration,
    /// Total number of simulations of the searches of the task.
    playouts: u32,
}

impl TaskRun {
    /// Works on the task for about the interval between two reports. `send` receives the results. Returns whether the
    /// task has ended.
    ///
    /// Finding the dead stones takes one slice, however long it lasts. So does reading a problem, which is limited in
    /// nodes.
    pub fn advance(
        &mut self,
        engine: &mut ConfiguredEngine,
        time: TimeSource,
        send: &mut dyn FnMut(TaskResult),
    ) -> bool {
        let (engine, color) = (&mut engine.engine, self.game.to_move());
        match &self.task {
            Task::Choose { .. } => {
                // One visit is left for the search by which the move is chosen.
                let visits = self.limits.visits.map(|visits| visits.saturating_sub(1));
                let rest = Limits { visits, ..self.limits };
                let is_needed = visits != Some(0)
                    && !self.is_over(engine, &rest, time, |engine, limits| {
                        engine.search_for_move(color, limits, SearchRequest::new(&|| false))
                    });
                if is_needed {
                    return false;
                }
                if visits.is_none() {
                    engine.change_settings(EngineSettings { visits: Some(1), ..*engine.settings() });
                }
                send(choose(engine, color, self.searches, &|| false));
                true
            }
            Task::Study { .. } => {
                let limits = self.limits;
                let is_last = self.is_over(engine, &limits, time, |engine, limits| {
                    engine.analyze(color, limits, study_request(&|| false))
                });
                if let Some(report) = engine.last_report() {
                    send(studied(&self.game, report, is_last));
                }
                is_last
            }
            Task::Judge { .. } => {
                let limits = self.limits;
                let is_last = self.is_over(engine, &limits, time, |engine, limits| {
                    engine.analyze(color, limits, study_request(&|| false))
                });
                if let Some(report) = engine.last_report().filter(|_| is_last) {
                    send(studied(&self.game, report, true));
                }
                is_last
            }
            Task::Settle => {
                send(settle(engine));
                true
            }
            Task::Solve(task) => {
                send(TaskResult::Solved(task.run(1, &|| false)));
                true
            }
        }
    }

    /// Searches for one slice and returns whether the limits of the whole search are reached.
    fn is_over(
        &mut self,
        engine: &mut Engine,
        limits: &Limits,
        time: TimeSource,
        search: impl for<'a> FnOnce(&'a mut Engine, &Limits) -> &'a SearchReport,
    ) -> bool {
        let began = time();
        let slice = EVERY.min(limits.hard.unwrap_or(EVERY).saturating_sub(self.elapsed));
        let playouts = limits.playouts.map(|all| all.saturating_sub(self.playouts).max(1));
        let report = search(engine, &Limits { visits: limits.visits, playouts, ..Limits::time(slice) });
        self.elapsed += time().saturating_sub(began);
        self.playouts = self.playouts.saturating_add(report.playouts);
        let mut most: Vec<u32> = report.moves.iter().map(|entry| entry.visits).collect();
        most.sort_unstable_by(|a, b| b.cmp(a));
        let stats = SearchStats {
            visits: report.visits,
            playouts: self.playouts,
            elapsed: self.elapsed,
            best_two: [0, 1].map(|rank| most.get(rank).copied().unwrap_or(0)),
        };
        report.playouts == 0 || limits.should_stop(&stats)
    }
}

/// Updates the engine's game to `game`, by moves if possible, so that the engine keeps the statistics of earlier moves.
fn follow(engine: &mut Engine, game: &Game) {
    let own = engine.game();
    let is_same_game = own.size() == game.size()
        && own.rules() == game.rules()
        && own.komi() == game.komi()
        && own.start().key() == game.start().key()
        && own.start_to_move() == game.start_to_move()
        && own.handicap() == game.handicap();
    let common = own
        .records()
        .iter()
        .zip(game.records())
        .take_while(|(a, b)| (a.color, a.mv) == (b.color, b.mv))
        .count();
    let moves: Vec<_> = game.records()[common..].iter().map(|record| (record.color, record.mv)).collect();
    if is_same_game {
        while engine.game().records().len() > common && engine.undo() {}
        if engine.game().records().len() == common && engine.play_all(&moves).is_ok() {
            engine.set_to_move(game.to_move());
            return;
        }
    }
    engine.set_game(game.clone());
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::BoardSize;
    use kosumi_go::rules::Rules;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Returns a time that advances by a millisecond at each call.
    fn time() -> Duration {
        static READINGS: AtomicU64 = AtomicU64::new(0);
        Duration::from_millis(READINGS.fetch_add(1, Ordering::Relaxed))
    }

    /// Carries out a task in slices. Returns its results, and the number of slices.
    fn in_slices(task: Task) -> (Vec<TaskResult>, usize) {
        let settings = EngineSettings { threads: 1, memory_mebibytes: 8, ..EngineSettings::default() };
        let mut engine = ConfiguredEngine::new(Engine::new(settings).with_time_source(time));
        let game = Game::new(BoardSize::square(7).unwrap(), Rules::default(), 7.5);
        let mut run = engine.begin(game, task);
        let mut results = Vec::new();
        for slices in 1..1000 {
            if run.advance(&mut engine, time, &mut |result| results.push(result)) {
                return (results, slices);
            }
        }
        panic!("the task does not end");
    }

    #[test]
    fn levels_search_as_much_in_slices_as_at_once() {
        for (level, visits) in [("30k", 4), ("9k", 124), ("5d", 1040)] {
            let level = Level::named(level).unwrap();
            let (results, _) = in_slices(Task::Choose { level, clock: None });
            let [TaskResult::Chosen(Decision::Play(_), Some(evaluation))] = &results[..] else {
                panic!("{results:?}")
            };
            assert_eq!(evaluation.visits, visits, "{level:?}");
        }
    }

    #[test]
    fn a_level_with_a_time_takes_that_time() {
        let level = Level::named("seconds-1").unwrap();
        let began = time();
        let (results, slices) = in_slices(Task::Choose { level, clock: None });
        assert!(matches!(&results[..], [TaskResult::Chosen(Decision::Play(_), Some(_))]), "{results:?}");
        let passed = time() - began;
        assert!((Duration::from_secs(1)..Duration::from_millis(1500)).contains(&passed), "{passed:?}");
        assert!((5..=20).contains(&slices), "{slices}");
    }

    #[test]
    fn an_analysis_reports_after_every_slice_and_ends_at_its_limit() {
        let limits = Limits { visits: Some(2000), ..Limits::time(Duration::from_secs(1000)) };
        let (results, slices) = in_slices(Task::Study { limits });
        assert!(slices > 1 && results.len() == slices, "{slices}");
        let last = results.iter().map(|result| match result {
            TaskResult::Studied { analysis, is_last, .. } => (analysis.visits, *is_last),
            _ => panic!("{result:?}"),
        });
        let all: Vec<(u32, bool)> = last.collect();
        assert!(all.is_sorted() && all.last() == Some(&(2000, true)), "{all:?}");
        assert!(all[..slices - 1].iter().all(|&(_, is_last)| !is_last));
    }
}

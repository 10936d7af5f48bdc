//! Engine on a thread of its own. It works on one task at a time, and a newer task ends the previous one.

use super::strength::Level;
use crate::review::PositionReview;
use kosumi_engine::time::TimeControl;
use kosumi_engine::{Decision, Engine, EngineSettings, SearchObserver, SearchRequest};
use kosumi_go::board::{ByColor, Color, PointSet};
use kosumi_go::game::Game;
use kosumi_search::{Analysis, Detail, Extras, Limits, SearchReport};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// Stack size of the engine's thread, equal to that of a main thread.
const STACK_BYTES: usize = 8 << 20;
/// Number of moves in the reports on a position.
const CANDIDATES: usize = 8;
/// Value of the parameter `analysisWideRootNoise`, unless the user gave another one. Without it nearly all visits go to one
/// move, and the page has nothing to compare.
const WIDE_ROOT_NOISE: f32 = 0.04;
/// Interval of the reports on a running search.
const EVERY: Duration = Duration::from_millis(120);

/// Task about a game.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Choose a move for the side to move.
    Choose {
        level: &'static Level,
        /// Time control and each player's time left, with stones or periods.
        clock: Option<(TimeControl, ByColor<(Duration, u32)>)>,
    },
    /// Analyse the position and report at intervals.
    Study { limits: Limits },
    /// Find the dead stones.
    Settle,
}

impl Task {
    /// Purpose of the engine that does this task.
    fn purpose(&self) -> EnginePurpose {
        match self {
            Task::Choose { level, .. } if level.bounds_visits() => EnginePurpose::Level,
            _ => EnginePurpose::Best,
        }
    }
}

/// Result from the engine.
#[derive(Clone, Debug)]
pub(super) enum TaskResult {
    /// The chosen move, and the evaluation of the search if there was one.
    Chosen(Decision, Option<MoveEvaluation>),
    /// Analysis so far.
    Studied { game: Box<Game>, analysis: Box<PositionReview>, is_last: bool },
    /// Dead stones.
    Settled(Box<PointSet>),
    /// The engine has crashed and was restarted. The task is lost.
    Crashed(String),
}

/// Black's win rate in `[0, 1]`, score in points, and visits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct MoveEvaluation {
    pub(super) win_rate: f32,
    pub(super) score: f32,
    pub(super) visits: u32,
}

struct Job {
    number: u64,
    game: Game,
    task: Task,
}

/// Handle of the engine's thread.
#[derive(Debug)]
pub(super) struct EngineThread {
    jobs: Sender<Job>,
    /// Number of the current job. All other jobs end.
    wanted: Arc<AtomicU64>,
    last: u64,
}

/// Purpose of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EnginePurpose {
    /// Playing as well as possible in a given time, and analysing positions.
    Best,
    /// Playing at a level that limits visits or is a human rank.
    Level,
}

/// Function that creates an engine.
pub type MakeEngine = Arc<dyn Fn(EnginePurpose) -> Engine + Send + Sync>;

impl EngineThread {
    /// Starts the thread. `tell` is called with the number of the task and its result.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread cannot be started.
    pub(super) fn start(
        make: MakeEngine,
        tell: impl Fn(u64, TaskResult) + Send + 'static,
    ) -> std::io::Result<EngineThread> {
        let (jobs, to_do) = mpsc::channel();
        let wanted = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&wanted);
        let work = move || work(&make, &to_do, &theirs, &tell);
        thread::Builder::new().name("engine".to_owned()).stack_size(STACK_BYTES).spawn(work)?;
        Ok(EngineThread { jobs, wanted, last: 0 })
    }

    /// Starts a task in place of the previous one, and returns its number.
    pub(super) fn ask(&mut self, game: &Game, task: Task) -> u64 {
        self.last += 1;
        self.wanted.store(self.last, Ordering::SeqCst);
        // The thread lives at least as long as `self`, so sending cannot fail.
        let _ = self.jobs.send(Job { number: self.last, game: game.clone(), task });
        self.last
    }

    /// Ends the current task.
    pub(super) fn stop(&mut self) {
        self.last += 1;
        self.wanted.store(self.last, Ordering::SeqCst);
    }
}

fn work(make: &MakeEngine, jobs: &Receiver<Job>, wanted: &AtomicU64, tell: &dyn Fn(u64, TaskResult)) {
    let mut best = ConfiguredEngine::new(make, EnginePurpose::Best);
    // Created on first use.
    let mut of_levels = None;
    best.engine.warm_up()();
    for job in jobs {
        let is_unwanted = || wanted.load(Ordering::SeqCst) != job.number;
        if is_unwanted() {
            continue;
        }
        let tell = |finding| tell(job.number, finding);
        let purpose = job.task.purpose();
        let done = panic::catch_unwind(AssertUnwindSafe(|| {
            let engine = match purpose {
                EnginePurpose::Best => &mut best,
                EnginePurpose::Level => of_levels.get_or_insert_with(|| ConfiguredEngine::new(make, purpose)),
            };
            carry_out(&mut engine.engine, &engine.base, &job.game, &job.task, &is_unwanted, &tell);
        }));
        if let Err(panic) = done {
            // The state after a panic may be inconsistent.
            match purpose {
                EnginePurpose::Best => best = ConfiguredEngine::new(make, purpose),
                EnginePurpose::Level => of_levels = None,
            }
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            tell(TaskResult::Crashed(text.unwrap_or_default()));
        }
    }
}

/// Engine with the settings it was created with.
struct ConfiguredEngine {
    engine: Engine,
    base: EngineSettings,
}

impl ConfiguredEngine {
    fn new(make: &MakeEngine, purpose: EnginePurpose) -> ConfiguredEngine {
        let engine = make(purpose);
        ConfiguredEngine { base: *engine.settings(), engine }
    }
}

fn carry_out(
    engine: &mut Engine,
    base: &EngineSettings,
    game: &Game,
    task: &Task,
    is_unwanted: &(dyn Fn() -> bool + Sync),
    tell: &dyn Fn(TaskResult),
) {
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
            let searches = engine.searches();
            let decision = engine.choose(game.to_move(), SearchRequest::new(is_unwanted));
            let analysis = engine.last_analysis().filter(|_| engine.searches() > searches);
            let outlook = analysis.map(|it| it.seen_by(Color::Black)).map(|it| MoveEvaluation {
                win_rate: it.root.win_rate,
                score: it.root.lead,
                visits: it.visits,
            });
            if !is_unwanted() {
                tell(TaskResult::Chosen(decision, outlook));
            }
        }
        Task::Study { limits } => {
            let is_default = base.analysis_wide_root_noise == 0.0;
            let noise = if is_default { WIDE_ROOT_NOISE } else { base.analysis_wide_root_noise };
            engine.change_settings(EngineSettings { analysis_wide_root_noise: noise, ..*base });
            let studied = |game: &Game, report: &SearchReport, is_last| {
                let found = Analysis::new(report, &Extras::default());
                let analysis = Box::new(PositionReview::new(found, CANDIDATES));
                tell(TaskResult::Studied { game: Box::new(game.clone()), analysis, is_last });
            };
            let mut on_report = |game: &Game, report: &SearchReport| {
                if !is_unwanted() {
                    studied(game, report, false);
                }
            };
            let detail = Detail { ownership: true, ..Detail::default() };
            let observer = Some(SearchObserver { every: EVERY, on_report: &mut on_report });
            let request = SearchRequest { observer, ..SearchRequest::analysis(is_unwanted, detail) };
            let report = engine.analyze(game.to_move(), limits, request).clone();
            if !is_unwanted() {
                studied(game, &report, true);
            }
        }
        Task::Settle => {
            let status = engine.final_status();
            if !is_unwanted() {
                tell(TaskResult::Settled(Box::new(status.dead)));
            }
        }
    }
}

/// Updates the engine's game to `game`, by moves if possible, so that the engine keeps what it learned about earlier
/// moves.
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

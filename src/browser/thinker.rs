//! The engine at work, in a thread of its own: one task at a time, and a newer one ends the one before.

use super::strength::Level;
use crate::board::{ByColor, Color, PointSet};
use crate::engine::{Decision, Engine, EngineSettings, Observer, SearchRequest};
use crate::game::Game;
use crate::review::PositionReview;
use crate::search::{Analysis, Detail, Extras, Limits, SearchReport};
use crate::time::TimeControl;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// As the main thread of a program has it.
const STACK_BYTES: usize = 8 << 20;
/// Moves that are told of each position.
const CANDIDATES: usize = 8;
/// How often a page hears of a search that goes on.
const EVERY: Duration = Duration::from_millis(120);

/// What is to be done about a game.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Choose a move for the player on turn.
    Choose {
        level: &'static Level,
        /// How the game is timed, and what each player has left: time, and stones or periods.
        clock: Option<(TimeControl, ByColor<(Duration, u32)>)>,
    },
    /// Say what there is to know about the position, again and again.
    Study { limits: Limits },
    /// Say which stones are dead.
    Settle,
}

impl Task {
    /// Which engine does it.
    fn purpose(&self) -> Purpose {
        match self {
            Task::Choose { level, .. } if level.bounds_visits() => Purpose::Level,
            _ => Purpose::Best,
        }
    }
}

/// What the engine says.
#[derive(Clone, Debug)]
pub(super) enum Finding {
    /// The move, and what the search behind it thinks, if there was one.
    Chosen(Decision, Option<Outlook>),
    /// What is known so far.
    Studied { game: Box<Game>, analysis: Box<PositionReview>, is_last: bool },
    /// Dead stones.
    Settled(Box<PointSet>),
    /// It has crashed and begun anew; the task is lost.
    Crashed(String),
}

/// Black's win rate, in `[0, 1]`, and lead.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Outlook {
    pub(super) win_rate: f32,
    pub(super) score: f32,
    pub(super) visits: u32,
}

struct Job {
    number: u64,
    game: Game,
    task: Task,
}

/// The engine's thread.
#[derive(Debug)]
pub(super) struct Thinker {
    jobs: Sender<Job>,
    /// The number of the job that somebody wants; all others end.
    wanted: Arc<AtomicU64>,
    last: u64,
}

/// What an engine is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To play as well as it can in a time, and to study positions.
    Best,
    /// To play on a level that bounds visits or is a person's rank.
    Level,
}

/// Makes an engine.
pub type MakeEngine = Arc<dyn Fn(Purpose) -> Engine + Send + Sync>;

impl Thinker {
    /// Starts the thread. `tell` hears the number of the task and what was found.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub(super) fn start(
        make: MakeEngine,
        tell: impl Fn(u64, Finding) + Send + 'static,
    ) -> std::io::Result<Thinker> {
        let (jobs, to_do) = mpsc::channel();
        let wanted = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&wanted);
        let work = move || work(&make, &to_do, &theirs, &tell);
        thread::Builder::new().name("engine".to_owned()).stack_size(STACK_BYTES).spawn(work)?;
        Ok(Thinker { jobs, wanted, last: 0 })
    }

    /// Asks for something, instead of what was asked for before. Returns the number of the task.
    pub(super) fn ask(&mut self, game: &Game, task: Task) -> u64 {
        self.last += 1;
        self.wanted.store(self.last, Ordering::SeqCst);
        // The thread lives as long as this.
        let _ = self.jobs.send(Job { number: self.last, game: game.clone(), task });
        self.last
    }

    /// Ends what was asked for.
    pub(super) fn stop(&mut self) {
        self.last += 1;
        self.wanted.store(self.last, Ordering::SeqCst);
    }
}

fn work(make: &MakeEngine, jobs: &Receiver<Job>, wanted: &AtomicU64, tell: &dyn Fn(u64, Finding)) {
    let mut best = Player::new(make, Purpose::Best);
    // Made when somebody wants it.
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
                Purpose::Best => &mut best,
                Purpose::Level => of_levels.get_or_insert_with(|| Player::new(make, purpose)),
            };
            carry_out(&mut engine.engine, &engine.base, &job.game, &job.task, &is_unwanted, &tell);
        }));
        if let Err(panic) = done {
            // What it left behind may be wrong.
            match purpose {
                Purpose::Best => best = Player::new(make, purpose),
                Purpose::Level => of_levels = None,
            }
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            tell(Finding::Crashed(text.unwrap_or_default()));
        }
    }
}

/// An engine, and its settings as it was made.
struct Player {
    engine: Engine,
    base: EngineSettings,
}

impl Player {
    fn new(make: &MakeEngine, purpose: Purpose) -> Player {
        let engine = make(purpose);
        Player { base: *engine.settings(), engine }
    }
}

fn carry_out(
    engine: &mut Engine,
    base: &EngineSettings,
    game: &Game,
    task: &Task,
    is_unwanted: &(dyn Fn() -> bool + Sync),
    tell: &dyn Fn(Finding),
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
            let outlook = analysis.map(|it| it.seen_by(Color::Black)).map(|it| Outlook {
                win_rate: it.root.win_rate,
                score: it.root.lead,
                visits: it.visits,
            });
            if !is_unwanted() {
                tell(Finding::Chosen(decision, outlook));
            }
        }
        Task::Study { limits } => {
            engine.change_settings(*base);
            let studied = |game: &Game, report: &SearchReport, is_last| {
                let found = Analysis::new(report, &Extras::default());
                let analysis = Box::new(PositionReview::new(found, CANDIDATES));
                tell(Finding::Studied { game: Box::new(game.clone()), analysis, is_last });
            };
            let mut on_report = |game: &Game, report: &SearchReport| {
                if !is_unwanted() {
                    studied(game, report, false);
                }
            };
            let detail = Detail { ownership: true, ..Detail::default() };
            let observer = Some(Observer { every: EVERY, on_report: &mut on_report });
            let request = SearchRequest { observer, ..SearchRequest::analysis(is_unwanted, detail) };
            let report = engine.analyze(game.to_move(), limits, request).clone();
            if !is_unwanted() {
                studied(game, &report, true);
            }
        }
        Task::Settle => {
            let status = engine.final_status();
            if !is_unwanted() {
                tell(Finding::Settled(Box::new(status.dead)));
            }
        }
    }
}

/// Brings the engine's game to where this one is: by moves, if that is possible, so that the engine remembers what it
/// thought of the moves before.
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

//! Simulated engines: in this process, or behind the pipes of a simulated child process.

use super::super::control::Control;
use super::super::fixtures;
use super::super::link::EngineLink;
use super::super::openings::Source;
use super::super::record::Ending;
use super::process::SimulatedProcess;
use crate::commands::vertex_move;
use crate::players::{GtpPlayer, GtpResponse, PlayerError};
use crate::simulation;
use anyhow::bail;
use kosumi_go::board::{BoardSize, Color, Move};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_gtp::{Client, Vertex};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Frequencies at which an engine misbehaves, per thousand of its commands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FaultRates {
    does_not_start: u32,
    /// The engine refuses the board, so the game is annulled.
    refuses_board: u32,
    refuses_move: u32,
    pub(super) crashes: u32,
    pub(super) hangs: u32,
    thinks_long: u32,
    plays_anything: u32,
    answers_nonsense: u32,
    resigns: u32,
    /// The user ends the match while this engine works.
    stops: u32,
    aborts: u32,
    /// The process closes its output, but does not exit.
    pub(super) closes_output: u32,
    /// The process exits after a response.
    pub(super) exits_later: u32,
    /// The process writes without end instead of a response.
    pub(super) floods: u32,
    /// The process writes lines before a response.
    pub(super) chatters: u32,
    /// The process writes a response twice.
    pub(super) answers_twice: u32,
    /// The process writes hundreds of kilobytes in a response.
    pub(super) rambles: u32,
    /// The worker panics while the engine plays.
    panics: u32,
}

impl FaultRates {
    pub(super) fn draw(rng: &mut Rng) -> FaultRates {
        // Drawn from another generator, so that runs without panics are as they were.
        let panics = if Rng::new(rng.clone().next_u64()).chance(100) { 3 } else { 0 };
        let mut some = |most: u32| if rng.chance(300) { rng.below(most) } else { 0 };
        FaultRates {
            does_not_start: some(300),
            refuses_board: some(200),
            refuses_move: some(20),
            crashes: some(20),
            hangs: some(20),
            thinks_long: some(50),
            plays_anything: some(50),
            answers_nonsense: some(20),
            resigns: some(50),
            stops: some(3),
            aborts: some(3),
            closes_output: some(20),
            exits_later: some(20),
            floods: some(20),
            chatters: some(200),
            answers_twice: some(20),
            rambles: some(10),
            panics,
        }
    }
}

/// Misbehaviour of an engine, in the order of its effects: an engine that hangs may only lose on time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    Gone,
    Silent,
    Flood,
    Slow,
    Refuses,
    Illegal,
    InvalidResponse,
    /// From now on, the responses may be those of earlier commands.
    OutOfStep,
}

impl Fault {
    /// Returns whether a game may end in this way because of the fault.
    fn explains(self, ending: Ending) -> bool {
        use Ending as It;
        match self {
            Fault::Gone => ending == It::Crash,
            Fault::Silent | Fault::Slow => ending == It::Time,
            Fault::Flood => matches!(ending, It::Time | It::InvalidResponse),
            Fault::Refuses => ending == It::Refused,
            Fault::Illegal => ending == It::IllegalMove,
            Fault::InvalidResponse => ending == It::InvalidResponse,
            Fault::OutOfStep => ending.is_forfeit(),
        }
    }
}

/// What the engine that was used last has done.
#[derive(Clone, Debug, Default)]
struct Deeds {
    engine: u64,
    faults: Vec<Fault>,
    /// Fault after which the engine cannot answer any more, if it came while a game was played.
    last: Option<Fault>,
}

/// Source of simulated engines.
#[derive(Clone, Debug)]
pub(in super::super) struct SimulatedEngines(Arc<Origin>);

#[derive(Debug)]
struct Origin {
    seed: u64,
    are_processes: bool,
    started: AtomicU64,
    /// Fault rates of the engines in this run, and the control flags of its match.
    now: Mutex<(FaultRates, Arc<Control>)>,
    deeds: Mutex<Deeds>,
}

impl SimulatedEngines {
    pub(super) fn new(seed: u64, are_processes: bool) -> SimulatedEngines {
        let (started, now, deeds) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
        SimulatedEngines(Arc::new(Origin { seed, are_processes, started, now, deeds }))
    }

    pub(super) fn begin_run(&self, rates: FaultRates, control: &Arc<Control>) {
        *self.0.now.lock().unwrap_or_else(PoisonError::into_inner) = (rates, Arc::clone(control));
    }

    pub(in super::super) fn start(&self) -> anyhow::Result<EngineLink> {
        let number = 1 + self.0.started.fetch_add(1, Ordering::Relaxed);
        let mut rng = Rng::for_worker(self.0.seed, number as usize);
        let (rates, control) = self.0.now.lock().unwrap_or_else(PoisonError::into_inner).clone();
        simulation::pass(Duration::from_millis(rng.below(500).into()));
        if rng.chance(rates.does_not_start) {
            bail!("a simulated engine that does not start");
        }
        let size = BoardSize::square(5).expect("a size");
        let game = Game::new(size, fixtures::conditions(&[5], Source::None).rules, 0.0);
        let (engines, faults) = (self.clone(), Vec::new());
        let engine = SimulatedEngine {
            number,
            engines,
            rates,
            control,
            rng,
            game,
            is_playing: false,
            is_gone: false,
            faults,
        };
        Ok(if self.0.are_processes {
            EngineLink::Child(Box::new(Client::of_process(Box::new(SimulatedProcess::new(engine)))))
        } else {
            EngineLink::Local(Box::new(engine))
        })
    }

    /// Checks that the end of a game, which the engines that were used last have played, follows from what this engine
    /// has done. `has_lost` says whether it has lost by a forfeit, and `has_won` whether the other one has.
    pub(super) fn check_game(&self, ending: Ending, has_lost: bool, has_won: bool) {
        let deeds = self.0.deeds.lock().unwrap_or_else(PoisonError::into_inner);
        if has_lost {
            let is_explained = deeds.faults.iter().any(|fault| fault.explains(ending));
            assert!(is_explained, "{ending:?} of engine {} although {:?}", deeds.engine, deeds.faults);
        }
        // An engine that is out of step may seem to respond.
        if let Some(last) = deeds.last.filter(|_| !deeds.faults.contains(&Fault::OutOfStep)) {
            // Its time may have run out before.
            let is_late = ending == Ending::Time && deeds.faults.contains(&Fault::Slow);
            let is_right = !has_won && has_lost && (last.explains(ending) || is_late);
            assert!(is_right, "{ending:?} although engine {} ended by {last:?}", deeds.engine);
        }
    }
}

#[derive(Debug)]
pub(super) struct SimulatedEngine {
    number: u64,
    engines: SimulatedEngines,
    pub(super) rates: FaultRates,
    control: Arc<Control>,
    pub(super) rng: Rng,
    game: Game,
    /// Whether the present game has reached its first move.
    is_playing: bool,
    is_gone: bool,
    faults: Vec<Fault>,
}

impl SimulatedEngine {
    /// Notes the command that the engine carries out now.
    pub(super) fn begin(&mut self, command: &str) {
        if self.rng.chance(self.rates.stops) {
            self.control.stop.store(true, Ordering::Relaxed);
        }
        if self.rng.chance(self.rates.aborts) {
            self.control.abort.store(true, Ordering::Relaxed);
        }
        let name = command.split(' ').next().unwrap_or_default();
        self.is_playing = matches!(name, "genmove" | "play" | "time_left");
        self.report(None);
        if self.is_playing && self.rates.panics > 0 && self.rng.chance(self.rates.panics) {
            resume_unwind(Box::new("simulated"));
        }
    }

    /// Notes a fault, after which the engine may be unable to respond.
    pub(super) fn fail(&mut self, fault: Fault, is_last: bool) {
        self.faults.push(fault);
        self.report(Some(fault).filter(|_| is_last && self.is_playing));
    }

    fn report(&self, last: Option<Fault>) {
        let deeds = Deeds { engine: self.number, faults: self.faults.clone(), last };
        *self.engines.0.deeds.lock().unwrap_or_else(PoisonError::into_inner) = deeds;
    }

    /// Draws the time that a command takes.
    pub(super) fn draw_time(&mut self, command: &str) -> Duration {
        let is_slow = command.starts_with("genmove") && self.rng.chance(self.rates.thinks_long);
        if is_slow {
            self.fail(Fault::Slow, false);
        }
        Duration::from_millis(self.rng.below(if is_slow { 90_000 } else { 20 }).into())
    }

    pub(super) fn answer(&mut self, command: &str) -> GtpResponse {
        let refused = || GtpResponse::Failure("a simulated refusal".to_owned());
        let mut words = command.split(' ');
        let done = match (words.next().unwrap_or_default(), words.next(), words.next()) {
            ("name", ..) => "Simulated",
            ("version", ..) => "1",
            ("boardsize", Some(size), _) => {
                if self.rng.chance(self.rates.refuses_board) {
                    return refused();
                }
                let size = size.parse().ok().and_then(BoardSize::square).expect("a size");
                self.game = Game::new(size, self.game.rules(), 0.0);
                ""
            }
            ("play", Some(color), Some(vertex)) => {
                if self.rng.chance(self.rates.refuses_move) {
                    self.fail(Fault::Refuses, false);
                    return refused();
                }
                let vertex: Vertex = vertex.parse().expect("a vertex");
                let mv = vertex_move(self.game.size(), vertex).expect("on the board");
                let played = self.game.play(color_of(color), mv);
                let is_in_step = !self.faults.contains(&Fault::OutOfStep);
                assert!(played.is_ok() || !is_in_step, "the referee sends legal moves");
                ""
            }
            ("genmove", Some(color), _) => return GtpResponse::Success(self.choose(color_of(color))),
            ("final_score", ..) => return refused(),
            _ => "",
        };
        GtpResponse::Success(done.to_owned())
    }

    fn choose(&mut self, color: Color) -> String {
        let (rates, size) = (self.rates, self.game.size());
        if self.rng.chance(rates.answers_nonsense) {
            self.fail(Fault::InvalidResponse, true);
            return "?!".to_owned();
        }
        if self.rng.chance(rates.resigns) {
            return "resign".to_owned();
        }
        let anything = self.rng.chance(rates.plays_anything);
        if anything {
            self.fail(Fault::Illegal, false);
        }
        let is_long = self.game.records().len() > size.area();
        let tries = if is_long { 1 } else { 8 };
        for _ in 0..tries {
            let index = self.rng.below(size.area() as u32) as usize;
            let mv = Move::Play(size.points().nth(index).expect("a point"));
            if anything || self.game.check(color, mv).is_ok() {
                // An engine that plays anything does not notice that its move was illegal.
                let _ = self.game.play(color, mv);
                return mv.to_string();
            }
        }
        self.game.play(color, Move::Pass).expect("a pass is legal");
        Move::Pass.to_string()
    }
}

impl GtpPlayer for SimulatedEngine {
    fn send(&mut self, command: &str, timeout: Duration) -> Result<GtpResponse, PlayerError> {
        self.begin(command);
        if self.is_gone || self.rng.chance(self.rates.crashes) {
            self.is_gone = true;
            self.fail(Fault::Gone, true);
            return Err(PlayerError::Crashed("a simulated crash".to_owned()));
        }
        if self.rng.chance(self.rates.hangs) {
            self.is_gone = true;
            self.fail(Fault::Silent, true);
            simulation::pass(timeout);
            return Err(PlayerError::TimedOut);
        }
        let time = self.draw_time(command);
        simulation::pass(time.min(timeout));
        if time > timeout {
            self.is_gone = true;
            return Err(PlayerError::TimedOut);
        }
        Ok(self.answer(command))
    }
}

fn color_of(letter: &str) -> Color {
    if letter == "b" { Color::Black } else { Color::White }
}

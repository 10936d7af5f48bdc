//! A game and its engine, which answer requests in JSON.

use crate::gpu::GPU_THREADS;
use crate::request::{self, Refusal, Request, SearchTask, SignatureKind, Size, Turn};
use crate::response;
use kosumi_board::play::review_record;
use kosumi_board::review;
use kosumi_engine::{Decision, Engine, EngineSettings, SearchRequest, TimeSource, signature};
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Meta, Record};
use kosumi_net::{ArithmeticChoice, Input, Kernel, Network, Precision, Prepared, ReadError, Scratch};
use kosumi_search::{Analysis, Detail, Extras, Limits};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Settings of a session that cannot be changed later.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Memory of the search and the cache of evaluations together, in MiB.
    pub memory: usize,
    /// Number of search threads. Fewer work if the host has started fewer.
    pub threads: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Expected result of the engine's side, in `[-1, 1]`, below which it resigns; `None`: never.
    pub resign: Option<f32>,
    /// Name of the kernel; `None`: the fastest one.
    pub kernel: Option<String>,
    /// Name of the precision; `None`: the fastest one whose results hardly differ.
    pub precision: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { memory: 64, threads: 1, seed: 1, resign: Some(-0.9), kernel: None, precision: None }
    }
}

/// Reason why a session cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The options are not JSON or have a wrong type.
    #[error("the options are invalid: {0}")]
    Options(#[from] serde_json::Error),
    /// An option has an impossible value.
    #[error("{0}")]
    Value(String),
    /// The network cannot be read.
    #[error("the network cannot be read: {0}")]
    Network(#[from] ReadError),
}

/// Largest memory of a search, in MiB. WebAssembly has 4 GiB for everything.
const MAX_MEMORY: usize = 2048;

/// Largest number of search threads.
const MAX_THREADS: usize = 64;

/// A game and its engine.
#[derive(Debug)]
pub struct Session {
    engine: Engine,
    network: Option<Arc<Network>>,
    arithmetic: ArithmeticChoice,
    /// Number of search threads without a graphics card.
    threads: usize,
    time: TimeSource,
    progress: fn(usize, usize),
}

/// Returns the settings of an engine with these options.
pub(super) fn engine_settings(options: &Options) -> Result<EngineSettings, StartError> {
    if !(1..=MAX_MEMORY).contains(&options.memory) {
        return Err(StartError::Value(format!("memory: must be from 1 to {MAX_MEMORY} MiB")));
    }
    if !(1..=MAX_THREADS).contains(&options.threads) {
        return Err(StartError::Value(format!("threads: must be from 1 to {MAX_THREADS}")));
    }
    if options.resign.is_some_and(|resign| !(-1.0..=1.0).contains(&resign)) {
        return Err(StartError::Value("resign: must be from -1 to 1".to_owned()));
    }
    let arithmetic = choice(options.kernel.as_deref(), options.precision.as_deref())
        .map_err(|refusal| StartError::Value(refusal.0))?;
    let mut settings = EngineSettings {
        threads: options.threads,
        memory_mebibytes: options.memory,
        seed: options.seed,
        resign: options.resign,
        ..EngineSettings::default()
    };
    settings.network.arithmetic = arithmetic;
    // A graphics card takes part when it is ready.
    settings.network.use_device = false;
    Ok(settings)
}

/// Returns the settings with or without a graphics card, if one is attached to the network. `threads` is the number of
/// search threads without one.
pub(super) fn with_card(mut settings: EngineSettings, is_wanted: bool, threads: usize) -> EngineSettings {
    settings.network.use_device = is_wanted;
    settings.threads = if is_wanted { GPU_THREADS.max(threads) } else { threads };
    settings
}

impl Session {
    /// Starts a session with an empty board. `options` are [`Options`] as JSON. `network` is a network file. Without
    /// one, positions are evaluated by playouts.
    ///
    /// # Errors
    ///
    /// Returns an error if an option is invalid or the network cannot be read.
    pub fn start(options: &str, network: Option<&[u8]>, time: TimeSource) -> Result<Session, StartError> {
        let options: Options = serde_json::from_str(options)?;
        let settings = engine_settings(&options)?;
        let arithmetic = settings.network.arithmetic;
        let network = network.map(Network::read).transpose()?.map(Arc::new);
        let engine = Engine::with_network(settings, network.clone()).with_time_source(time);
        let threads = options.threads;
        Ok(Session { engine, network, arithmetic, threads, time, progress: |_, _| () })
    }

    /// Returns the network, if the session has one.
    pub fn shared_network(&self) -> Option<Arc<Network>> {
        self.network.clone()
    }

    /// Sets the function that gets the progress of reviews: positions done and total.
    #[must_use]
    pub fn with_progress(self, progress: fn(usize, usize)) -> Session {
        Session { progress, ..self }
    }

    /// Answers a request in JSON: `{"ok": …}`, or `{"error": "…"}` if the request is refused. A refused request changes
    /// nothing.
    pub fn answer(&mut self, request: &str) -> String {
        let answer = match serde_json::from_str(request) {
            Ok(request) => self.answer_request(request),
            Err(error) => Err(Refusal(format!("not a request: {error}"))),
        };
        let answer = match answer {
            Ok(value) => json!({ "ok": value }),
            Err(Refusal(reason)) => json!({ "error": reason }),
        };
        answer.to_string()
    }

    fn answer_request(&mut self, request: Request) -> Result<Value, Refusal> {
        match request {
            Request::SetPosition { size, rules, komi, handicap, moves, to_move } => {
                let rules = match rules {
                    Some(name) => rules_of_name(&name)?,
                    None => self.engine.game().rules(),
                };
                let komi = komi.unwrap_or(rules.usual_komi());
                let game = game(size.board_size()?, rules, komi, &handicap, &moves, to_move.as_deref())?;
                self.engine.set_rules(rules);
                self.engine.set_game(game);
                self.engine.forget();
                Ok(self.position())
            }
            Request::Play { color, vertex } => {
                let color = self.color(color.as_deref())?;
                let mv = request::vertex(self.engine.game().size(), &vertex)?;
                // The engine tolerates some illegal moves of game records.
                let refusal = |error| Refusal(format!("{vertex}: {error}"));
                self.engine.game().check(color, mv).map_err(refusal)?;
                self.engine.play(color, mv).map_err(refusal)?;
                Ok(self.position())
            }
            Request::Undo => match self.engine.undo() {
                true => Ok(self.position()),
                false => Err(Refusal::new("there is no move to take back")),
            },
            Request::Position => Ok(self.position()),
            Request::Search(task) => self.search(&task),
            Request::Choose { color } => {
                let color = self.color(color.as_deref())?;
                // The search is over. One visit is what a position without any search gets.
                let before = *self.engine.settings();
                self.engine.change_settings(EngineSettings { visits: Some(1), ..before });
                let decision = self.engine.genmove(color, SearchRequest::new(&|| false));
                self.engine.change_settings(before);
                let mv = match decision {
                    Decision::Play(mv) => response::vertex(mv),
                    Decision::Resign => "resign".to_owned(),
                };
                let analysis = self.engine.last_analysis().map(|analysis| response::analysis(&analysis));
                Ok(json!({ "move": mv, "analysis": analysis, "position": self.position() }))
            }
            Request::Score => {
                let status = self.engine.final_status();
                Ok(response::score(self.engine.game().size(), &status))
            }
            Request::Save => Ok(self.record().into()),
            Request::Load { record, moves } => {
                let record = parse(&record)?;
                // The engine names the move before which it stops.
                let up_to = moves.map(|count| count.saturating_add(1));
                let followed = self.engine.load(&record, up_to, false).map_err(Refusal::new)?;
                let notes: Vec<String> = followed.lines().collect();
                Ok(json!({ "position": self.position(), "notes": notes }))
            }
            Request::Restore { record } => {
                self.engine.restore(&parse(&record)?).map_err(Refusal::new)?;
                Ok(self.position())
            }
            Request::Review { record } => self.review(&record),
            Request::UseCard { is_wanted } => {
                self.network()?;
                self.engine.change_settings(with_card(*self.engine.settings(), is_wanted, self.threads));
                Ok(Value::Null)
            }
            Request::Signature { kind } => self.signature(kind),
            Request::Speed { size, milliseconds, kernel, precision } => {
                let network = self.network()?;
                let arithmetic = match (kernel, precision) {
                    (None, None) => self.arithmetic,
                    (kernel, precision) => choice(kernel.as_deref(), precision.as_deref())?,
                };
                self.speed(&network, size, request::time(milliseconds)?, arithmetic)
            }
        }
    }

    fn color(&self, text: Option<&str>) -> Result<Color, Refusal> {
        request::color(text, self.engine.game().to_move())
    }

    fn network(&self) -> Result<Arc<Network>, Refusal> {
        self.network.clone().ok_or_else(|| Refusal::new("the session has no network"))
    }

    fn record(&self) -> String {
        self.engine.record(kosumi_engine::CommentDetail::None, &Meta::default()).to_string()
    }

    /// Returns the position, and the record from which the game can be restored.
    fn position(&self) -> Value {
        let mut position = response::position(self.engine.game(), self.engine.result());
        position["record"] = self.record().into();
        position
    }

    fn search(&mut self, task: &SearchTask) -> Result<Value, Refusal> {
        let color = self.color(task.color.as_deref())?;
        let time = task.milliseconds.map(request::time).transpose()?;
        if task.visits.is_none() && task.simulations.is_none() && time.is_none() {
            return Err(Refusal::new("a search needs a limit: visits, simulations or milliseconds"));
        }
        let limits = Limits {
            visits: task.visits,
            playouts: task.simulations,
            ..time.map_or_else(Limits::default, Limits::time)
        };
        let detail = Detail { ownership: task.ownership, ..Detail::default() };
        let report = if task.for_move {
            let request = SearchRequest { detail, ..SearchRequest::new(&|| false) };
            self.engine.search_for_move(color, &limits, request)
        } else {
            self.engine.analyze(color, &limits, SearchRequest::analysis(&|| false, detail))
        };
        if !task.analysis {
            return Ok(json!({ "visits": report.visits, "simulations": report.playouts }));
        }
        Ok(response::analysis(&Analysis::new(report, &Extras::default())))
    }

    /// Reviews a record and returns the page of the review. The game stays as it is.
    fn review(&mut self, record: &str) -> Result<Value, Refusal> {
        parse(record)?;
        let game = self.engine.game().clone();
        let progress = self.progress;
        let reviewed = review_record(record.as_bytes(), &mut self.engine, &|| false, &mut |done, total| {
            progress(done, total)
        });
        self.engine.set_game(game);
        let reviewed = reviewed.ok_or_else(|| Refusal::new("the record has no game that can be reviewed"))?;
        Ok(review::page(&reviewed).into())
    }

    /// Returns a signature as text: JavaScript's numbers have only 53 bits.
    fn signature(&self, kind: SignatureKind) -> Result<Value, Refusal> {
        let signature = match kind {
            SignatureKind::Playouts => signature::by_playouts(),
            SignatureKind::Network => signature::by_network(self.network()?, Kernel::Portable),
            SignatureKind::Kernel => signature::by_network(self.network()?, self.kernel()?),
        };
        Ok(signature.to_string().into())
    }

    /// Returns the fastest kernel for 32 bits that the session may use.
    fn kernel(&self) -> Result<Kernel, Refusal> {
        let exact = ArithmeticChoice { precision: Some(Precision::F32), ..self.arithmetic };
        let first = exact.candidates().first().map(|arithmetic| arithmetic.kernel);
        first.ok_or_else(|| Refusal::new("the kernel does not compute in 32 bits"))
    }

    /// Measures evaluations per second, one position at a time.
    fn speed(
        &self,
        network: &Network,
        size: Size,
        time: Duration,
        arithmetic: ArithmeticChoice,
    ) -> Result<Value, Refusal> {
        let prepared = Prepared::fastest(network, arithmetic);
        let inputs: Vec<Input> = signature::inputs(size.board_size()?);
        let mut scratch = Scratch::default();
        let mut evaluate = |input: &Input| {
            prepared.evaluate(&[input], &mut scratch).map(|_| ()).map_err(|error| Refusal(error.to_string()))
        };
        // The first evaluation includes preparations, so it is not measured.
        evaluate(&inputs[0])?;
        let start = (self.time)();
        let mut count = 0u32;
        for input in inputs.iter().cycle() {
            evaluate(input)?;
            count += 1;
            let passed = (self.time)().saturating_sub(start);
            if passed >= time {
                let per_second = f64::from(count) / passed.as_secs_f64();
                return Ok(
                    json!({ "arithmetic": prepared.arithmetic().name(), "evaluationsPerSecond": per_second }),
                );
            }
        }
        Err(Refusal::new("there is no position to evaluate"))
    }
}

/// Reads the names of a kernel and a precision, which this module must support.
fn choice(kernel: Option<&str>, precision: Option<&str>) -> Result<ArithmeticChoice, Refusal> {
    let kernel = kernel.map(|name| name.parse::<Kernel>().map_err(Refusal::new)).transpose()?;
    let of_name = |name: &str| {
        let known = Precision::ALL.into_iter().find(|precision| precision.name() == name);
        known.ok_or_else(|| Refusal(format!("unknown precision {name:?}")))
    };
    let choice = ArithmeticChoice { kernel, precision: precision.map(of_name).transpose()? };
    match choice.candidates().is_empty() {
        true => Err(Refusal::new("this module does not support the kernel and the precision")),
        false => Ok(choice),
    }
}

fn rules_of_name(name: &str) -> Result<Rules, Refusal> {
    let preset = Rules::preset(name).map(|preset| preset.rules).or_else(|| Rules::parse(name));
    preset.ok_or_else(|| Refusal(format!("unknown rules {name:?}")))
}

fn parse(record: &str) -> Result<Record, Refusal> {
    Record::parse(record.as_bytes()).map_err(Refusal::new)
}

/// Returns the game after these moves.
fn game(
    size: BoardSize,
    rules: Rules,
    komi: f32,
    handicap: &[String],
    moves: &[Turn],
    to_move: Option<&str>,
) -> Result<Game, Refusal> {
    if !Rules::accepts_komi(komi.into()) || komi.abs() > size.area() as f32 {
        return Err(Refusal(format!("{komi} is not a komi for this board")));
    }
    let mut game = Game::new(size, rules, komi);
    if !handicap.is_empty() {
        let points = handicap.iter().map(|text| match request::vertex(size, text)? {
            Move::Play(point) => Ok(point),
            Move::Pass => Err(Refusal::new("a handicap stone cannot be a pass")),
        });
        let points: Vec<Point> = points.collect::<Result<_, _>>()?;
        game = game.with_handicap(&points).map_err(|error| Refusal(format!("handicap: {error}")))?;
    }
    for (index, turn) in moves.iter().enumerate() {
        let (color, text) = match turn {
            Turn::Next(text) => (game.to_move(), text),
            Turn::Of([color, text]) => (request::color(Some(color), game.to_move())?, text),
        };
        let mv = request::vertex(size, text)?;
        game.play(color, mv).map_err(|error| Refusal(format!("move {} at {text}: {error}", index + 1)))?;
    }
    game.set_to_move(request::color(to_move, game.to_move())?);
    Ok(game)
}

#[cfg(test)]
mod tests;

//! Other engines that speak GTP: each is a child process, with a thread that communicates with it.

use crate::panics::caught;
use crate::players::{ChildEngines, Engines, GtpPlayer, GtpResponse};
use crate::words::color_name;
use kosumi_engine::Decision;
use kosumi_go::board::{Color, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// Maximum time of an engine for a move.
const MOVE_TIME: Duration = Duration::from_secs(600);
/// Maximum time of an engine for other commands.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Maximum number of characters of an error message.
const MESSAGE_CHARACTERS: usize = 200;

/// Engine given on the command line.
#[derive(Debug)]
pub(super) struct ExternalEngine {
    jobs: Sender<(u64, Game)>,
}

impl ExternalEngine {
    /// Starts the thread. The engine itself is started when it is first needed. `send` is called with the number of the
    /// task, and with the move or an error message.
    ///
    /// # Errors
    ///
    /// Returns a message if the command line cannot be split or the thread cannot be started.
    pub(super) fn new(
        command_line: &str,
        send: impl Fn(u64, Result<Decision, String>) + Send + 'static,
    ) -> Result<ExternalEngine, String> {
        let program = ChildEngines::new(command_line)?;
        let (jobs, to_do) = mpsc::channel();
        let work = move || work(&program, &to_do, &send);
        thread::Builder::new().name("opponent".to_owned()).spawn(work).map_err(|error| error.to_string())?;
        Ok(ExternalEngine { jobs })
    }

    /// Requests a move of the side to move. Unless a later request follows, it is answered, even after a panic.
    pub(super) fn ask(&self, number: u64, game: &Game) {
        // The thread lives at least as long as `self`, so sending cannot fail.
        let _ = self.jobs.send((number, game.clone()));
    }
}

fn work(program: &dyn Engines, jobs: &Receiver<(u64, Game)>, send: &dyn Fn(u64, Result<Decision, String>)) {
    let mut running: Option<EngineSession> = None;
    while let Ok(mut job) = jobs.recv() {
        // Only the latest request matters.
        while let Ok(newer) = jobs.try_recv() {
            job = newer;
        }
        let (number, game) = job;
        let mut answer = Err(String::new());
        // An engine that has crashed is restarted once.
        for _ in 0..2 {
            let choose = || {
                let mut session = match running.take() {
                    Some(running) => running,
                    None => EngineSession { player: program.start(Path::new("."))?, game: None },
                };
                let decision = session.choose(&game)?;
                running = Some(session);
                Ok(decision)
            };
            answer = caught(choose).flatten();
            if answer.is_ok() {
                break;
            }
        }
        send(number, answer.map_err(|text| text.chars().take(MESSAGE_CHARACTERS).collect()));
    }
    if let Some(mut running) = running {
        running.player.quit();
    }
}

/// Running engine with the game on its board.
struct EngineSession {
    player: Box<dyn GtpPlayer>,
    game: Option<Game>,
}

impl EngineSession {
    /// Returns a move for the side to move. After an error the engine must not be used any more.
    fn choose(&mut self, game: &Game) -> Result<Decision, String> {
        self.follow(game)?;
        let color = game.to_move();
        let answer = self.send(&format!("genmove {}", color_name(color)), MOVE_TIME)?;
        if answer.eq_ignore_ascii_case("resign") {
            self.game = None;
            return Ok(Decision::Resign);
        }
        let size = game.size();
        let mv = if answer.eq_ignore_ascii_case("pass") {
            Move::Pass
        } else {
            let point = size.points().find(|point| point.to_string().eq_ignore_ascii_case(&answer));
            Move::Play(point.ok_or_else(|| format!("invalid move: {answer}"))?)
        };
        let mut after = game.clone();
        after.play(color, mv).map_err(|reason| format!("{mv}: {reason}"))?;
        self.game = Some(after);
        Ok(Decision::Play(mv))
    }

    /// Brings the engine's board to the position of `game`.
    fn follow(&mut self, game: &Game) -> Result<(), String> {
        let known = self.game.take().filter(|known| is_start_of(known, game));
        let count = known.as_ref().map_or(0, |known| known.records().len());
        if known.is_none() {
            self.set_up(game)?;
        }
        for record in &game.records()[count..] {
            self.send(&format!("play {} {}", color_name(record.color), record.mv), ANSWER_TIME)?;
        }
        Ok(())
    }

    fn set_up(&mut self, game: &Game) -> Result<(), String> {
        let size = game.size();
        if !size.is_square() {
            return Err("square boards only".to_owned());
        }
        self.send(&format!("boardsize {}", size.columns()), ANSWER_TIME)?;
        self.send("clear_board", ANSWER_TIME)?;
        self.send(&format!("komi {}", game.komi()), ANSWER_TIME)?;
        let rules: Rules = game.rules();
        // Few engines support this command. The others play by their own rules, and their illegal moves are refused
        // here.
        let _ = self.player.send(&format!("kata-set-rules {}", rules.code_name()), ANSWER_TIME);
        let start: Vec<_> = game.start().stones().collect();
        if game.handicap() > 0 && start.iter().all(|stone| stone.1 == Color::Black) && start.len() > 1 {
            let points: Vec<String> = start.iter().map(|stone| stone.0.to_string()).collect();
            self.send(&format!("set_free_handicap {}", points.join(" ")), ANSWER_TIME)?;
        } else {
            for (point, color) in start {
                self.send(&format!("play {} {point}", color_name(color)), ANSWER_TIME)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, command: &str, time: Duration) -> Result<String, String> {
        match self.player.send(command, time) {
            Ok(GtpResponse::Success(body)) => Ok(body.trim().to_owned()),
            Ok(GtpResponse::Failure(message)) => Err(format!("{command}: {message}")),
            Err(trouble) => Err(trouble.to_string()),
        }
    }
}

/// Returns whether `game` follows from `known` by moves alone.
fn is_start_of(known: &Game, game: &Game) -> bool {
    let count = known.records().len();
    known.size() == game.size()
        && known.rules() == game.rules()
        && known.komi() == game.komi()
        && known.start().key() == game.start().key()
        && count <= game.records().len()
        && known.records().iter().zip(game.records()).all(|(a, b)| (a.color, a.mv) == (b.color, b.mv))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::players::PlayerError;
    use kosumi_go::board::BoardSize;
    use std::panic::resume_unwind;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Engine whose `genmove` panics the given number of times, and then passes.
    struct Faulty(&'static AtomicU32);

    impl Engines for Faulty {
        fn start(&self, _: &Path) -> Result<Box<dyn GtpPlayer>, String> {
            Ok(Box::new(Faulty(self.0)))
        }
    }

    impl GtpPlayer for Faulty {
        fn send(&mut self, command: &str, _: Duration) -> Result<GtpResponse, PlayerError> {
            let one_less = |left: u32| left.checked_sub(1);
            let is_move = command.starts_with("genmove");
            if is_move && self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
                resume_unwind(Box::new("a faulty engine"));
            }
            Ok(GtpResponse::Success(if is_move { "pass" } else { "" }.to_owned()))
        }
    }

    #[test]
    fn a_request_is_answered_after_a_panic() {
        static PANICS: AtomicU32 = AtomicU32::new(3);
        let game = Game::new(BoardSize::square(5).unwrap(), Rules::default(), 0.5);
        let ((jobs, to_do), (sender, answers)) = (mpsc::channel(), mpsc::channel());
        let thread = thread::spawn(move || {
            work(&Faulty(&PANICS), &to_do, &|number, moved| sender.send((number, moved)).unwrap());
        });
        let ask = |number| {
            jobs.send((number, game.clone())).unwrap();
            answers.recv().unwrap()
        };
        assert_eq!(ask(1), (1, Err("a faulty engine".to_owned())));
        // An engine that has crashed is restarted once.
        assert_eq!(ask(2), (2, Ok(Decision::Play(Move::Pass))));
        drop(jobs);
        thread.join().unwrap();
    }
}

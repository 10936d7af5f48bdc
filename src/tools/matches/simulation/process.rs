//! Simulated child process: the engine behind the pipes of the real client ([`Client`](kosumi_gtp::Client)).
//!
//! Its output arrives in pieces. It ends in the middle of a response, never ends, has lines outside responses, or has a
//! response twice. The process crashes, hangs, closes its output without exiting, and exits after a response.

use super::engines::{Fault, SimulatedEngine};
use crate::players::GtpResponse;
use crate::simulation;
use kosumi_gtp::Process;
use std::collections::VecDeque;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// Time between two pieces of output without end.
const FLOOD_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct SimulatedProcess {
    engine: SimulatedEngine,
    /// Pieces of output with the times at which they arrive, in this order.
    output: VecDeque<(Duration, Vec<u8>)>,
    /// Text that is written again and again, and the time of the next piece.
    flood: Option<(Duration, Vec<u8>)>,
    is_silent: bool,
    /// Time by which all earlier commands are done.
    free: Duration,
    /// Time at which the output ends.
    end: Option<Duration>,
    /// Time at which the process exits.
    exit: Option<Duration>,
    stderr: Vec<String>,
}

impl SimulatedProcess {
    pub(super) fn new(engine: SimulatedEngine) -> SimulatedProcess {
        let (output, free, stderr) = (VecDeque::new(), simulation::now(), Vec::new());
        SimulatedProcess {
            engine,
            output,
            flood: None,
            is_silent: false,
            free,
            end: None,
            exit: None,
            stderr,
        }
    }

    /// Writes a text in pieces.
    fn write(&mut self, text: &[u8]) {
        let mut rest = text;
        while !rest.is_empty() {
            let rng = &mut self.engine.rng;
            let length = if rng.chance(700) { rest.len() } else { 1 + rng.below(rest.len() as u32) as usize };
            let (piece, later) = rest.split_at(length);
            self.output.push_back((self.free, piece.to_vec()));
            // The client looks for an abort of the match ten times a second, also in the middle of a line.
            let most = if rng.chance(100) { 250 } else { 3 };
            self.free += Duration::from_millis(rng.below(most).into());
            rest = later;
        }
    }

    /// Ends the process, after a part of what it was about to write.
    fn crash(&mut self, exits: bool) {
        self.engine.fail(Fault::Gone, true);
        let parts: [&[u8]; 4] = [b"", b"=", b"= D4\n", b"an error\xff\n"];
        let part = parts[self.engine.rng.below(4) as usize];
        self.write(part);
        self.end = Some(self.free);
        if exits {
            self.exit = Some(self.free + Duration::from_millis(self.engine.rng.below(800).into()));
        }
        // The end of a long message.
        self.stderr = vec!["x".repeat(4096); self.engine.rng.below(101) as usize];
    }

    /// Carries out a command.
    fn carry_out(&mut self, command: &str) {
        self.engine.begin(command);
        if self.end.is_some() || self.flood.is_some() {
            self.engine.fail(if self.end.is_some() { Fault::Gone } else { Fault::Flood }, true);
            return;
        }
        let rates = self.engine.rates;
        self.is_silent |= self.engine.rng.chance(rates.hangs);
        if self.is_silent {
            self.engine.fail(Fault::Silent, true);
            return;
        }
        self.free = self.free.max(simulation::now()) + self.engine.draw_time(command);
        if self.engine.rng.chance(rates.crashes) {
            return self.crash(true);
        }
        if self.engine.rng.chance(rates.closes_output) {
            return self.crash(false);
        }
        if self.engine.rng.chance(rates.floods) {
            self.engine.fail(Fault::Flood, true);
            let pieces: [&[u8]; 4] = [b"info\n", b"x", b"= \ninfo\n", b"\n"];
            let mut piece = pieces[self.engine.rng.below(4) as usize];
            if piece.starts_with(b"=") {
                self.write(b"= \n");
                piece = b"info\n";
            }
            self.flood = Some((self.free, piece.repeat(8000 / piece.len())));
            return;
        }
        if self.engine.rng.chance(rates.chatters) {
            let line = "chatter ".repeat(1 + self.engine.rng.below(3) as usize) + "\r\n\n";
            let lines = line.repeat(1 + self.engine.rng.below(4) as usize);
            self.write(lines.as_bytes());
        }
        // An engine that gives another name than before belongs to another match.
        let is_asked_who = matches!(command, "name" | "version");
        let rambles = self.engine.rng.chance(rates.rambles) && !is_asked_who;
        let (sign, mut text) = match self.engine.answer(command) {
            GtpResponse::Success(text) => ('=', text),
            GtpResponse::Failure(message) => ('?', message),
        };
        // A long response to a request for a move would be nonsense.
        if rambles && (sign == '?' || !command.starts_with("genmove")) {
            text += &" a long text".repeat(20_000);
        }
        let end = if self.engine.rng.chance(200) { "\r\n\r\n" } else { "\n\n" };
        let response = format!("{sign} {text}{end}");
        self.write(response.as_bytes());
        if self.engine.rng.chance(rates.answers_twice) && !is_asked_who && command != "list_commands" {
            self.engine.fail(Fault::OutOfStep, false);
            self.free += Duration::from_millis(self.engine.rng.below(40).into());
            self.write(response.as_bytes());
        }
        if self.engine.rng.chance(rates.exits_later) {
            self.engine.fail(Fault::Gone, false);
            (self.end, self.exit) = (Some(self.free), Some(self.free));
        }
    }
}

/// Lets time pass until this moment, which may already be over.
fn wait_until(time: Duration) {
    simulation::set_now(simulation::now().max(time));
}

impl Process for SimulatedProcess {
    fn write_line(&mut self, line: String) {
        if line == "quit" {
            self.engine.rng.chance(500).then(|| self.exit.get_or_insert(self.free));
        } else {
            self.carry_out(&line);
        }
    }

    fn close_input(&mut self) {}

    fn read(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<usize> {
        let until = simulation::now().saturating_add(wait);
        if let Some((time, piece)) = self.output.front_mut().filter(|it| it.0 <= until) {
            wait_until(*time);
            let count = piece.len().min(buffer.len());
            buffer[..count].copy_from_slice(&piece[..count]);
            piece.drain(..count);
            if piece.is_empty() {
                self.output.pop_front();
            }
            return Ok(count);
        }
        if self.output.is_empty() {
            if let Some((time, piece)) = self.flood.as_mut().filter(|it| it.0 <= until) {
                wait_until(*time);
                // The pipe holds no more than this piece, so the process waits for the reader.
                *time = simulation::now() + FLOOD_PAUSE;
                let count = piece.len().min(buffer.len());
                buffer[..count].copy_from_slice(&piece[..count]);
                return Ok(count);
            }
            if let Some(end) = self.end.filter(|&end| end <= until) {
                wait_until(end);
                return Ok(0);
            }
        }
        wait_until(until);
        Err(io::ErrorKind::TimedOut.into())
    }

    fn wait(&mut self, wait: Duration) -> io::Result<Option<ExitStatus>> {
        let until = simulation::now() + wait;
        let exit = self.exit.filter(|&exit| exit <= until);
        wait_until(exit.unwrap_or(until));
        Ok(exit.map(|_| ExitStatus::default()))
    }

    fn kill(&mut self) {
        self.exit.get_or_insert(simulation::now());
    }

    fn stderr_tail(&self, _: Duration) -> Vec<String> {
        self.stderr.clone()
    }

    fn id(&self) -> u32 {
        0
    }

    fn now(&self) -> Duration {
        simulation::now()
    }
}

//! GTP session: handles commands one after the other, and saves and logs each of them.

use super::autosave::Autosave;
use crate::commands::Commands;
use crate::words::unsigned_zero;
use kosumi_go::board::{BoardSize, Move};
use kosumi_gtp::{Command, Failure, Handler, InputWatch, Log, Response, Session};
use kosumi_search::{Analysis, Extras, SearchReport};
use std::time::Instant;

/// Commands with autosave and log.
#[derive(Debug)]
pub struct RecordedCommands {
    commands: Commands,
    autosave: Option<Autosave>,
    log: Option<Log>,
    has_responded: bool,
    /// Board size that the evaluator was last warmed up for.
    warmed_up: Option<BoardSize>,
}

impl RecordedCommands {
    /// Wraps commands with an optional autosave and an optional log.
    pub fn new(commands: Commands, autosave: Option<Autosave>, log: Option<Log>) -> RecordedCommands {
        RecordedCommands { commands, autosave, log, has_responded: false, warmed_up: None }
    }

    /// Warms up the evaluator on another thread, so that the first move of a session is as fast as the others. The next
    /// command does not wait for the thread.
    fn warm_up(&mut self) {
        let size = self.commands.engine().game().size();
        if self.warmed_up != Some(size) {
            self.warmed_up = Some(size);
            // Without a thread, the first move is merely slower.
            let thread = std::thread::Builder::new().name("warm-up".to_owned());
            let _ = thread.spawn(self.commands.engine().warm_up());
        }
    }
}

impl Handler for RecordedCommands {
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure> {
        if let Some(log) = &mut self.log {
            let id = command.id.map(|id| format!("{id} ")).unwrap_or_default();
            let words = [std::slice::from_ref(&command.name), command.arguments.as_slice()].concat();
            log.add(&format!("> {id}{}", words.join(" ")));
        }
        let start = Instant::now();
        let searches = self.commands.engine().searches();
        let answer = self.commands.handle(command, session);
        if let Some(autosave) = &mut self.autosave {
            let took = autosave.update(self.commands.engine());
            self.commands.engine_mut().add_delay(took);
        }
        if let Some(log) = &mut self.log {
            let engine = self.commands.engine();
            if let Some(report) = engine.last_report().filter(|_| engine.searches() > searches) {
                log.add(&format!("  {}", search_line(report)));
            }
            let text = answer.as_ref().map_or_else(
                |failure| format!("? {}", failure.message()),
                |response| format!("= {}", response.body()),
            );
            log.add(&format!("< {} ({:.3} s)", text.trim_end(), start.elapsed().as_secs_f64()));
        }
        self.has_responded = true;
        answer
    }

    fn idle(&mut self, watch: &InputWatch) {
        // The first response shows the controller that the program runs. Nothing may delay that response.
        if self.has_responded {
            self.warm_up();
        }
        let (start, searches) = (Instant::now(), self.commands.engine().searches());
        self.commands.idle(watch);
        if let Some(log) = &mut self.log
            && self.commands.engine().searches() > searches
        {
            log.add(&format!("  pondered for {:.3} s", start.elapsed().as_secs_f64()));
        }
    }
}

/// Formats the result of a search as one line, from the perspective of the side to move.
fn search_line(report: &SearchReport) -> String {
    let analysis = Analysis::new(report, &Extras::default()).seen_by_mover();
    let variation: Vec<String> = report.principal_variation().iter().take(12).map(Move::to_string).collect();
    format!(
        "{} {:.1} %, score {:+.1}, {} visits ({} new), depth {}, memory {:.0} %: {}",
        analysis.to_move,
        100.0 * analysis.root.win_rate,
        unsigned_zero(analysis.root.lead, 1),
        analysis.visits,
        analysis.playouts,
        analysis.depth,
        100.0 * report.usage.fullness(),
        variation.join(" "),
    )
}

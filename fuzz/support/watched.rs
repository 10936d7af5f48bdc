//! The whole engine behind GTP, with checks after each command: shared by the fuzz targets of sessions.

use kosumi_engine::{Engine, EngineSettings};
use kosumi_eval::PlayoutSettings;
use kosumi_gtp::{Command, Failure, Handler, Response, Session, serve};
use kosumi_tools::commands::Commands;
use std::io::Cursor;

/// The engine's commands with checks.
struct CheckedCommands(Commands);

impl Handler for CheckedCommands {
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure> {
        // No file is written, and none outside the working folder is read, whatever the input is.
        let writes = ["printsgf", "savesgf"].contains(&&*command.name) && !command.arguments.is_empty();
        if writes || command.arguments.iter().any(|argument| argument.contains(['/', '\\'])) {
            return Err(Failure::syntax_error());
        }
        let facts = |commands: &Commands| {
            let game = commands.engine().game();
            let board = game.board();
            (board.key(), board.size(), game.records().len(), game.rules(), game.komi().to_bits(), board.ko())
        };
        let before = facts(&self.0);
        let answer = self.0.handle(command, session);
        if answer.is_err() {
            assert_eq!(facts(&self.0), before, "refused, but something changed: {command}");
        }
        let board = self.0.engine().game().board();
        assert_eq!(board.key(), board.recomputed_key());
        answer
    }
}

/// Runs a session with this input, with the checks that hold for any input.
pub fn run(input: Vec<u8>) {
    // Few playouts suffice to reach all code. With the default number, ownership queries would take nearly all the
    // time.
    let playout = PlayoutSettings { ownership_playouts: 8, ..PlayoutSettings::default() };
    let settings = EngineSettings {
        threads: 1,
        memory_mebibytes: 1,
        playouts: Some(8),
        playout,
        ..EngineSettings::default()
    };
    let mut commands = CheckedCommands(Commands::new(Engine::new(settings)));
    let mut output = Vec::new();
    serve(Cursor::new(input), &mut output, &mut commands).expect("neither end fails");
    let output = String::from_utf8(output).expect("answers are text");
    assert!(!output.contains("\n\n\n"), "an empty line inside an answer");
    commands.0.engine().game().board().check_consistency();
}

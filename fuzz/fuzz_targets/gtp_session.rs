//! Any bytes, as a session with the whole engine: nothing panics, hangs or grows, every command is answered, a
//! refused command leaves the game as it was, and the board stays consistent.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run gtp_session -- -max_total_time=600 -detect_leaks=0 -dict=fuzz/gtp.dict
//! ```
#![no_main]

use kosumi::commands::Commands;
use kosumi::engine::{Engine, EngineSettings};
use kosumi_gtp::{Command, Failure, Handler, Response, Session, serve};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

/// The engine's commands, watched.
struct Watched(Commands);

impl Handler for Watched {
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure> {
        // No file outside the working folder is touched, whatever the input says.
        if command.arguments.iter().any(|argument| argument.contains(['/', '\\'])) {
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

fuzz_target!(|input: &[u8]| {
    // Longer inputs are slower, not different.
    let input = &input[..input.len().min(600)];
    let settings =
        EngineSettings { threads: 1, memory_mebibytes: 1, playouts: Some(8), ..EngineSettings::default() };
    let mut commands = Watched(Commands::new(Engine::new(settings)));
    let mut output = Vec::new();
    serve(Cursor::new(input.to_vec()), &mut output, &mut commands).expect("neither end fails");
    let output = String::from_utf8(output).expect("answers are text");
    assert!(!output.contains("\n\n\n"), "an empty line inside an answer");
    commands.0.engine().game().board().check_consistency();
});

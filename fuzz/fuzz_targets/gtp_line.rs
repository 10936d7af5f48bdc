//! Arbitrary bytes as the input of an engine: nothing panics, and every line that is neither blank nor a comment gets
//! exactly one response, with its id and without an empty line inside.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run gtp_line -- -max_total_time=60 -detect_leaks=0 -dict=fuzz/gtp.dict
//! ```
//!
//! Leak detection after each input is disabled, because the thread that reads the input may outlive `serve` by a moment
//! and would be reported. A real leak of memory or threads reaches the limits nevertheless.
#![no_main]

#[path = "../support/arguments.rs"]
mod arguments;

use std::io::Cursor;

use kosumi_gtp::{Command, Failure, Handler, Line, Response, Session, serve};
use libfuzzer_sys::fuzz_target;

/// An engine that answers with its arguments.
struct Echo;

impl Handler for Echo {
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure> {
        arguments::exercise(command);
        // Backslashes become line ends in the response, which cannot be sent in a command.
        let text = command.arguments().rest().replace('\\', "\n");
        match command.name.as_bytes().first() {
            Some(b'q') => session.quit(),
            Some(b's') => session.stream(&text)?,
            Some(b'f') => return Err(Failure::new(text)),
            _ => {}
        }
        Ok(text.into())
    }
}

fuzz_target!(|input: &[u8]| {
    let mut commands = input.split(|&byte| byte == b'\n').filter_map(|line| match Line::read(line) {
        Line::Text(text) => Some(Command::parse(&text)),
        Line::Blank | Line::Comment(_) => None,
    });
    let mut output = Vec::new();
    serve(Cursor::new(input.to_vec()), &mut output, &mut Echo).expect("neither end fails");
    let output = String::from_utf8(output).expect("answers are text");
    let mut rest = output.as_str();
    let mut quit = false;
    while let Some((answer, next)) = rest.split_once("\n\n") {
        assert!(!quit, "a response after the last one");
        let command = commands.next().expect("no answer without a command");
        let id = command.as_ref().map_or_else(|error| error.id(), |command| command.id);
        let id = id.map(|id| id.to_string()).unwrap_or_default();
        assert!(answer.starts_with(&format!("={id} ")) || answer.starts_with(&format!("?{id} ")));
        quit = command.is_ok_and(|command| command.name.starts_with('q'));
        rest = next;
    }
    assert_eq!(rest, "", "text after the last response");
    assert!(quit || commands.next().is_none(), "a command without an answer");
});

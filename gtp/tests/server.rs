//! Tests of whole sessions with a small engine.
#![allow(clippy::disallowed_methods, reason = "reads clocks")]

use std::io::{self, Cursor, Read, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use kosumi_gtp::{
    Command, Failure, Handler, InputWatch, Line, Response, Session, answer, serve, serve_until,
};
use proptest::prelude::*;

/// An engine with one command for each feature of the server.
#[derive(Default)]
struct Engine {
    watch: Option<InputWatch>,
}

impl Handler for Engine {
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure> {
        self.watch = Some(session.watch());
        let mut arguments = command.arguments();
        match command.name.as_str() {
            "echo" => Ok(arguments.rest().into()),
            "add" => {
                let sum = arguments.integer::<i32>()?.checked_add(arguments.integer()?);
                arguments.end()?;
                sum.map(|sum| sum.to_string().into()).ok_or_else(|| Failure::new("too much"))
            }
            "diagram" => Ok("\n  A B\n2 . .  \n\n1 . .\n".into()),
            "stream" => {
                session.stream("info one\n\ninfo two")?;
                session.stream("info three")?;
                Ok(arguments.rest().into())
            }
            "stream_failing" => {
                session.begin_stream()?;
                session.begin_stream()?;
                Err(Failure::new("lost"))
            }
            "analyze" => {
                session.begin_stream()?;
                while !session.input_pending() {
                    session.stream("info move D4")?;
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(Response::empty())
            }
            "genmove" => {
                let start = Instant::now();
                while !session.interrupted() && start.elapsed() < Duration::from_secs(20) {
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(if session.interrupted() { "interrupted" } else { "D4" }.into())
            }
            "interrupted" => Ok(session.interrupted().into()),
            "quit" => {
                session.quit();
                Ok(Response::empty())
            }
            _ => Err(Failure::unknown_command()),
        }
    }
}

fn session(input: &[u8]) -> String {
    let mut output = Vec::new();
    serve(Cursor::new(input.to_vec()), &mut output, &mut Engine::default()).unwrap();
    String::from_utf8(output).unwrap()
}

fn check(input: &str, expected: &str) {
    assert_eq!(session(input.as_bytes()), expected, "{input:?}");
}

#[test]
fn sessions() {
    check("", "");
    check("\n\r\n  \n# comment\n", "");
    check("echo a\n", "= a\n\n");
    check("echo a", "= a\n\n");
    check("1 echo a\r\n2 echo b\r\n", "=1 a\n\n=2 b\n\n");
    check("echo\n", "= \n\n");
    check("7 echo\n", "=7 \n\n");
    check("\techo\ta \t b # c\n", "= a b\n\n");
    check(
        "3 add 1 2\n4 add 1\n5 add 1 x\n6 add 1 2 3\n",
        "=3 3\n\n?4 syntax error\n\n?5 syntax error\n\n?6 syntax error\n\n",
    );
    check("add 2147483647 1\n", "? too much\n\n");
    check("9 nonsense\n", "?9 unknown command\n\n");
    check("12\n", "?12 syntax error\n\n");
    check("99999999999 echo\n", "? syntax error\n\n");
    check("2 diagram\n", "=2 \n  A B\n2 . .\n1 . .\n\n");
    check("quit\necho a\n", "= \n\n");
    check("5 quit", "=5 \n\n");
    check("echo a\nquit\n", "= a\n\n= \n\n");
}

#[test]
fn streams() {
    check("4 stream play D4\necho a\n", "=4 \ninfo one\ninfo two\ninfo three\nplay D4\n\n= a\n\n");
    check("stream\n", "= \ninfo one\ninfo two\ninfo three\n\n");
    check("stream_failing\n", "= \nlost\n\n");
}

#[test]
fn an_interrupt_applies_to_earlier_commands() {
    check("genmove\n# interrupt\ninterrupted\n", "= interrupted\n\n= false\n\n");
    check("genmove\ngenmove\n# interrupt\ninterrupted\n", "= interrupted\n\n= interrupted\n\n= false\n\n");
    check("# interrupt\ninterrupted\n", "= false\n\n");
    check("#interrupt\n1 interrupted\n# interruption\n", "=1 false\n\n");
    check("genmove\n  #\tinterrupt\r\n", "= interrupted\n\n");
}

/// An input that withholds its lines until the output has reached a length, like a controller that waits.
struct Dialogue {
    /// Number of output bytes to wait for, and the text to send then.
    turns: Vec<(usize, &'static str)>,
    output: Shared,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Dialogue {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.turns.is_empty() {
            return Ok(0);
        }
        let (length, text) = self.turns.remove(0);
        while self.output.len() < length {
            thread::sleep(Duration::from_millis(1));
        }
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}

fn dialogue(turns: &[(usize, &'static str)]) -> String {
    let output = Shared::default();
    let input = Dialogue { turns: turns.to_vec(), output: output.clone() };
    serve(input, output.clone(), &mut Engine::default()).unwrap();
    let bytes = output.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn any_line_and_the_end_of_the_input_stop_an_analysis() {
    for line in ["echo a\n", "\n", "# comment\n", "# interrupt\n"] {
        // The second turn waits for three lines of the analysis.
        let output = dialogue(&[(0, "analyze\n"), (41, line), (43, "echo b\n")]);
        let rest = output.strip_prefix("= \ninfo move D4\ninfo move D4\ninfo move D4\n").unwrap();
        let rest = rest.replace("info move D4\n", "");
        let expected = if line == "echo a\n" { "\n= a\n\n= b\n\n" } else { "\n= b\n\n" };
        assert_eq!(rest, expected, "{line:?}");
    }
    assert!(dialogue(&[(0, "analyze\n"), (41, "")]).ends_with("info move D4\n\n"));
}

#[test]
fn a_running_command_can_be_interrupted() {
    let start = Instant::now();
    assert_eq!(
        dialogue(&[(0, "echo a\n"), (5, "genmove\n"), (5, "# interrupt\n")]),
        "= a\n\n= interrupted\n\n"
    );
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn commands_are_abandoned_without_a_controller() {
    let output = Shared::default();
    let theirs = output.clone();
    let gone = move || {
        while theirs.len() < "= a\n\n".len() {
            thread::sleep(Duration::from_millis(1));
        }
    };
    let input = &b"echo a\ngenmove\ngenmove\n"[..];
    serve_until(input, output.clone(), &mut Engine::default(), gone).unwrap();
    let bytes = output.0.lock().unwrap().clone();
    // The first move may have been started.
    let rest = String::from_utf8(bytes).unwrap().strip_prefix("= a\n\n").map(str::to_owned).unwrap();
    assert!(["", "= interrupted\n\n"].contains(&rest.as_str()), "{rest}");
}

#[test]
fn many_commands_at_once_are_answered_in_order() {
    let input: String = (0..5000).map(|id| format!("{id} echo {id}\n")).collect();
    let expected: String = (0..5000).map(|id| format!("={id} {id}\n\n")).collect();
    check(&input, &expected);
}

#[test]
fn long_lines_are_refused() {
    let long = "x".repeat(kosumi_gtp::MAX_LINE_BYTES);
    check(&format!("5 echo {long}\necho a\n"), "?5 line too long\n\n= a\n\n");
    check(&format!("{long}{long}{long}"), "? line too long\n\n");
    check(&format!("#{long}\necho a # {long}\n"), "= a\n\n");
    check(&format!("{}echo a\n", " ".repeat(long.len())), "? line too long\n\n");
    let fits = "x".repeat(long.len() - "echo ".len());
    check(&format!("echo {fits}\n"), &format!("= {fits}\n\n"));
}

/// An output that fails after a number of writes.
struct Breaking(usize, io::ErrorKind);

impl Write for Breaking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(1).ok_or(self.1)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn only_a_broken_pipe_ends_without_an_error() {
    let run = |writes, kind| {
        let input = Cursor::new(b"echo a\nstream\necho b\n".to_vec());
        serve(input, Breaking(writes, kind), &mut Engine::default()).map_err(|error| error.kind())
    };
    for writes in 0..5 {
        assert_eq!(run(writes, io::ErrorKind::BrokenPipe), Ok(()));
        assert_eq!(run(writes, io::ErrorKind::StorageFull), Err(io::ErrorKind::StorageFull));
    }
    assert_eq!(run(5, io::ErrorKind::StorageFull), Ok(()));
}

/// An input that sends a command and then fails. The second field selects a panic instead of an error.
struct Failing(bool, bool);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0 {
            assert!(!self.1, "the input panics");
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.0 = true;
        buffer[..7].copy_from_slice(b"echo a\n");
        Ok(7)
    }
}

#[test]
fn an_input_that_fails_ends_the_session() {
    let mut output = Vec::new();
    let error = serve(Failing(false, false), &mut output, &mut Engine::default()).unwrap_err();
    assert_eq!((error.kind(), output.as_slice()), (io::ErrorKind::ConnectionReset, &b"= a\n\n"[..]));
    let mut output = Vec::new();
    serve(Failing(false, true), &mut output, &mut Engine::default()).unwrap();
    assert_eq!(output, b"= a\n\n");
}

#[test]
fn a_watch_outlives_its_session() {
    let mut engine = Engine::default();
    serve(&b"echo a\n"[..], io::sink(), &mut engine).unwrap();
    let watch = engine.watch.unwrap();
    assert!(watch.ended() && watch.input_pending() && !watch.interrupted());
}

#[test]
fn answer_equals_serve() {
    let (mut engine, watch) = (Engine::default(), InputWatch::default());
    let mut ask = |line: &str| answer(line, &mut engine, &watch);
    let body = |text: &str| Some(Ok(text.to_owned()));
    let failure = |text: &str| Some(Err(text.to_owned()));
    assert_eq!(ask("12 echo a  b # c\r\n"), body("a b"));
    assert_eq!(ask("diagram"), body("\n  A B\n2 . .\n1 . ."));
    assert_eq!(ask("stream end"), body("\ninfo one\ninfo two\ninfo three\nend"));
    assert_eq!(ask("add 1"), failure("syntax error"));
    assert_eq!(ask("nonsense"), failure("unknown command"));
    assert_eq!(ask("12"), failure("syntax error"));
    assert_eq!(ask(&"x".repeat(2_000_000)), failure("line too long"));
    assert_eq!((ask(" # x"), ask("")), (None, None));
    assert_eq!(ask("quit"), body(""));
    assert_eq!(ask("echo still here"), body("still here"));
}

#[test]
fn another_thread_can_interrupt() {
    let (mut engine, watch) = (Engine::default(), InputWatch::default());
    let theirs = watch.clone();
    let (started, has_started) = std::sync::mpsc::channel();
    let worker = thread::spawn(move || {
        assert_eq!(answer("interrupted", &mut engine, &theirs), Some(Ok("false".into())));
        started.send(()).unwrap();
        answer("genmove b", &mut engine, &theirs)
    });
    has_started.recv().unwrap();
    // An interruption before the command starts has no effect on it, so it is repeated.
    while !worker.is_finished() {
        watch.interrupt();
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(worker.join().unwrap(), Some(Ok("interrupted".into())));
}

fn check_any(input: &[u8]) -> Result<(), TestCaseError> {
    // Inputs with the waiting command are skipped, because at the end of the input it would wait for a long time.
    let lines = input.split(|&byte| byte == b'\n').map(Line::read);
    let commands: Vec<String> = lines
        .filter_map(|line| match line {
            Line::Text(text) => Some(text),
            Line::Blank | Line::Comment(_) => None,
        })
        .collect();
    let name = |text: &String| Command::parse(text).map_or_else(|_| String::new(), |command| command.name);
    prop_assume!(!commands.iter().any(|text| name(text) == "genmove"));
    let expected =
        commands.iter().position(|text| name(text) == "quit").map_or(commands.len(), |index| index + 1);

    let output = session(input);
    let mut rest = output.as_str();
    let mut answers = 0;
    while let Some((answer, next)) = rest.split_once("\n\n") {
        let id = Command::parse(&commands[answers]).map_or_else(|error| error.id(), |command| command.id);
        let id = id.map(|id| id.to_string()).unwrap_or_default();
        prop_assert!(
            answer.starts_with(&format!("={id} ")) || answer.starts_with(&format!("?{id} ")),
            "{answer:?}"
        );
        prop_assert!(!answer.starts_with('\n'));
        answers += 1;
        rest = next;
    }
    prop_assert_eq!(rest, "");
    prop_assert_eq!(answers, expected);
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes_are_answered(input: Vec<u8>) {
        check_any(&input)?;
    }

    #[test]
    fn any_commands_are_answered(
        lines in prop::collection::vec(
            "[0-9]{0,11} ?(echo|add|diagram|stream|analyze|interrupted|quit|#)( [a-z0-9#\\r\\t\\x07é-]{0,9}){0,3}", 0..20
        )
    ) {
        check_any(lines.join("\n").as_bytes())?;
    }
}

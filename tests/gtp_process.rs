//! The engine as a process: its behaviour when the controller closes its ends of the pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn start(options: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    command.args(["gtp", "--no-model", "--threads", "1", "--memory", "8", "--boardsize", "9"]);
    command.args(options.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the responses to these commands. The input ends right after the commands, or only after the responses.
fn answers(commands: &str, ends_at_once: bool) -> String {
    let mut engine = start("--playouts 2000");
    let mut input = engine.stdin.take().unwrap();
    let mut output = BufReader::new(engine.stdout.take().unwrap());
    input.write_all(commands.as_bytes()).unwrap();
    let mut answers = String::new();
    let mut open = Some(input).filter(|_| !ends_at_once);
    for _ in commands.lines() {
        // A response ends with an empty line.
        while output.read_line(&mut answers).unwrap() > 0 && !answers.ends_with("\n\n") {}
    }
    open.take();
    output.read_to_string(&mut answers).unwrap();
    assert!(engine.wait().unwrap().success());
    answers
}

#[test]
fn the_end_of_the_input_cuts_nothing_short() {
    let commands = "genmove b\ngenmove w\nshowboard\n";
    let at_once = answers(commands, true);
    assert!(at_once.contains("2 moves played"), "{at_once}");
    assert_eq!(at_once, answers(commands, false));
}

#[test]
fn an_orphan_ends_in_the_middle_of_a_search() {
    let mut engine = start("--time 300");
    let mut input = engine.stdin.take().unwrap();
    let mut output = BufReader::new(engine.stdout.take().unwrap());
    input.write_all(b"name\ngenmove b\ngenmove w\n").unwrap();
    let mut answer = String::new();
    output.read_line(&mut answer).unwrap();
    assert_eq!(answer, "= Kosumi\n");
    // The system closes the pipes of a killed controller.
    drop((input, output));
    // The standard library has no wait with a time limit. The limit only matters if the test fails.
    let start = Instant::now();
    while engine.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            engine.kill().unwrap();
            panic!("it thinks for nobody");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// A program that sets its end of a socket not to block does so for the engine, too, if both share the open file.
#[cfg(unix)]
#[test]
fn streams_that_do_not_block_end_nothing() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let analysis = |number| format!("{{\"id\":\"{number}\",\"action\":\"query_version\"}}\n");
    for (arguments, question, end) in [
        (
            "gtp --no-model",
            &(|number| format!("{number} list_commands\n")) as &dyn Fn(usize) -> String,
            "\n\n",
        ),
        ("analysis --network small", &analysis, "}\n"),
    ] {
        let (own, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        let output = Stdio::from(OwnedFd::from(theirs.try_clone().unwrap()));
        let mut engine = Command::new(env!("CARGO_BIN_EXE_kosumi"))
            .args(arguments.split(' '))
            .args(["--threads", "1", "--memory", "16"])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(output)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut input, mut output) = (own.try_clone().unwrap(), BufReader::new(own));
        let mut answer = String::new();
        let mut read = || {
            answer.clear();
            while output.read_line(&mut answer).unwrap() > 0 && !answer.ends_with(end) {}
            answer.clone()
        };
        // The engine has read everything, and waits for the next line.
        input.write_all(question(0).as_bytes()).unwrap();
        assert!(read().contains('0'), "{arguments}");
        // The answers to the other questions fill the socket before the first one is read.
        const QUESTIONS: usize = 3000;
        for number in 1..=QUESTIONS {
            input.write_all(question(number).as_bytes()).unwrap();
        }
        for number in 1..=QUESTIONS {
            let found = read();
            assert!(found.contains(&number.to_string()), "{arguments}, {number}: {found}");
        }
        input.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(engine.wait().unwrap().success());
    }
}

//! Tests of the client with engines that are short shell scripts.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "reads clocks")]

use std::process::Command;
use std::time::{Duration, Instant};

use kosumi_gtp::{Client, ClientError};

/// Timeout that suffices on a busy machine. A test that passes never waits for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Short timeout for responses that never come.
const IMPATIENCE: Duration = Duration::from_millis(200);

/// Starts an engine that runs `case` for each line. `$name` is the command and `$rest` its arguments.
fn engine(cases: &str) -> Client {
    shell(&format!(
        "while read -r name rest; do case \"$name\" in {cases}\n\
         quit) printf '= \\n\\n'; exit 0;;\n\
         *) printf '? unknown command\\n\\n';; esac; done; exit 3"
    ))
}

fn shell(script: &str) -> Client {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Client::spawn_command(command).unwrap()
}

#[test]
fn a_session() {
    let mut client = engine(
        "name) printf '= Shell\\r\\n\\r\\n';;\n\
         echo) printf '=%s\\n\\n' \"$rest\";;\n\
         showboard) printf '=\\n  A B\\n2 . .\\n1 . .\\n\\n';;",
    );
    assert_eq!(client.send("name", PATIENCE).unwrap(), "Shell");
    assert_eq!(client.send("echo a b # c\n", PATIENCE).unwrap(), "a b");
    assert_eq!(client.send("showboard", PATIENCE).unwrap(), "\n  A B\n2 . .\n1 . .");
    let Err(ClientError::Refused(message)) = client.send("nonsense", PATIENCE) else { panic!("not refused") };
    assert_eq!(message, "unknown command");
    assert_eq!(client.outstanding(), 0);
    assert!(client.quit(PATIENCE).unwrap().success());
    assert!(client.quit(PATIENCE).unwrap().success());
    assert!(matches!(client.send("name", PATIENCE), Err(ClientError::Io(_))));
}

#[test]
fn a_command_line() {
    let mut client =
        Client::spawn(r#"sh -c 'read -r line; printf "= <%s> %s\n\n" "$line" "$0"' "two words""#).unwrap();
    assert_eq!(client.send("name", PATIENCE).unwrap(), "<name> two words");
    for line in ["", "'", "/no/such/engine"] {
        assert!(matches!(Client::spawn(line), Err(ClientError::Io(_))), "{line:?}");
    }
}

#[test]
fn only_single_commands_are_sent() {
    let mut client = engine("a) printf '= a\\n\\n';;");
    for command in ["", "  ", "# comment", "a\nb", "a\n\n\nb", "12", "99999999999 a"] {
        let result = client.send(command, PATIENCE);
        assert!(matches!(result, Err(ClientError::Io(_))), "{command:?}: {result:?}");
    }
    assert_eq!(client.send("a", PATIENCE).unwrap(), "a");
    assert!(matches!(client.receive(PATIENCE), Err(ClientError::Io(_))));
}

#[test]
fn posted_commands_are_answered_in_order() {
    let mut client = engine("echo) printf '= %s\\n\\n' \"$rest\";;");
    for number in 0..100 {
        client.post(&format!("echo {number}")).unwrap();
    }
    assert_eq!(client.outstanding(), 100);
    assert_eq!(client.receive(PATIENCE).unwrap(), "0");
    // The responses before this one are kept.
    assert_eq!(client.send("echo x", PATIENCE).unwrap(), "x");
    assert_eq!(client.outstanding(), 99);
    for number in 1..100 {
        assert_eq!(client.receive(PATIENCE).unwrap(), number.to_string());
    }
    assert_eq!(client.outstanding(), 0);
}

#[test]
fn a_hang_is_a_timeout_and_drop_kills() {
    let start = Instant::now();
    let mut client = shell("exec sleep 1000");
    assert!(matches!(client.send("name", IMPATIENCE), Err(ClientError::TimedOut)));
    // More than the pipe can hold: writing must not block either.
    let long = format!("echo {}", "x".repeat(500_000));
    assert!(matches!(client.send(&long, IMPATIENCE), Err(ClientError::TimedOut)));
    assert!(matches!(client.quit(IMPATIENCE), Err(ClientError::TimedOut)));
    drop(shell("exec sleep 1000"));
    assert!(start.elapsed() < Duration::from_secs(100));
}

#[test]
fn a_late_response_is_dropped() {
    let mut client = engine("slow) sleep 1; printf '= late\\n\\n';;\necho) printf '= %s\\n\\n' \"$rest\";;");
    assert!(matches!(client.send("slow", IMPATIENCE), Err(ClientError::TimedOut)));
    assert_eq!(client.outstanding(), 0);
    assert_eq!(client.send("echo a", PATIENCE).unwrap(), "a");
    // After a timeout, a posted command can be waited for again.
    client.post("slow").unwrap();
    assert!(matches!(client.receive(Duration::ZERO), Err(ClientError::TimedOut)));
    assert_eq!(client.outstanding(), 1);
    assert_eq!(client.receive(Duration::MAX).unwrap(), "late");
}

#[test]
fn a_crash_is_reported_with_the_last_lines_of_stderr() {
    let mut client =
        engine("crash) echo 'first line' >&2; echo 'last words' >&2; exit 7;;\na) printf '= a\\n\\n';;");
    assert_eq!(client.send("a", PATIENCE).unwrap(), "a");
    for command in ["crash", "a"] {
        let error = client.send(command, PATIENCE).unwrap_err();
        assert!(error.to_string().contains("last words"), "{error}");
        let ClientError::Exited { status, stderr } = error else { panic!("{error}") };
        assert_eq!(status.unwrap().code(), Some(7));
        assert_eq!(stderr, ["first line", "last words"]);
    }
    assert_eq!(client.stderr_tail().len(), 2);
    assert_eq!(client.quit(PATIENCE).unwrap().code(), Some(7));
}

#[test]
fn the_last_response_of_an_exited_engine_is_received() {
    let mut client = shell("read -r line; printf '= a\\n\\n'; exit 1");
    client.post("name").unwrap();
    client.post("name").unwrap();
    assert_eq!(client.receive(PATIENCE).unwrap(), "a");
    assert!(matches!(client.receive(PATIENCE), Err(ClientError::Exited { .. })));
}

#[test]
fn garbage_is_collected_and_reported() {
    let mut client = engine(
        "a) printf 'Hello\\n\\n= a\\n\\n';;\n\
         prompt) echo 'GTP?';;",
    );
    assert_eq!(client.send("a", PATIENCE).unwrap(), "a");
    assert_eq!(client.take_garbage(), ["Hello"]);
    assert_eq!(client.take_garbage(), [""; 0]);
    let error = client.send("prompt", Duration::from_secs(2)).unwrap_err();
    let ClientError::Garbage(lines) = error else { panic!("{error}") };
    assert_eq!(lines, ["GTP?"]);

    let mut client = engine("flood) while :; do echo y; done;;");
    let error = client.send("flood", PATIENCE).unwrap_err();
    let ClientError::Garbage(lines) = error else { panic!("{error}") };
    assert_eq!(lines.len(), 1000);

    let mut client = shell("printf '= unasked\\n\\n'; read -r line; printf '= a\\n\\n'");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(client.send("a", PATIENCE).unwrap(), "a");
    assert!(client.take_garbage()[0].contains("unasked"));
}

#[test]
fn much_standard_error_does_not_block_the_engine() {
    let mut client = engine(
        "talk) i=0; while [ $i -lt 3000 ]; do echo 'a line that fills the pipe, again and again' >&2; i=$((i+1)); done
         printf '= done\\n\\n';;",
    );
    assert_eq!(client.send("talk", PATIENCE).unwrap(), "done");
    assert!(client.quit(PATIENCE).unwrap().success());
    assert_eq!(client.stderr_tail().len(), 100);
}

//! One window's WebSocket: texts in and out, within limits.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// Most bytes that a window may say at once: a record of a game is the longest.
pub(super) const MESSAGE_BYTES: usize = 2 << 20;
/// A window may say so much at once, …
const BURST: f64 = 100.0;
/// … and so often a second in the long run.
const RATE: f64 = 40.0;
/// A long text costs as much as several short ones: one for each so many bytes.
const COST_BYTES: f64 = 64.0 * 1024.0;
/// How often a window that says nothing is asked whether it is there.
const PING: Duration = Duration::from_secs(30);
/// A window that does not even answer that has gone.
const SILENCE: Duration = Duration::from_secs(80);
/// A window that takes nothing for so long has gone.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// A connection of which one side is read and the other written, each by a thread of its own. What is written is
/// collected until it is flushed, so that frames of the two threads do not mix.
struct Half {
    stream: TcpStream,
    collected: Vec<u8>,
    writing: Arc<Mutex<()>>,
}

impl Read for Half {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.collected.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = std::mem::take(&mut self.collected);
        self.stream.write_all(&bytes)
    }
}

/// How much may still be said, refilled as time passes.
struct Allowance {
    left: f64,
    at: Instant,
}

impl Allowance {
    fn new(now: Instant) -> Allowance {
        Allowance { left: BURST, at: now }
    }

    /// May so many bytes be said now?
    fn takes(&mut self, bytes: usize, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = now;
        self.left = (self.left + passed * RATE).min(BURST) - 1.0 - bytes as f64 / COST_BYTES;
        self.left >= 0.0
    }
}

/// Talks with a window until it leaves: hands on what it says, and tells it what `outgoing` has. `said` breaks when the
/// window is to be left.
pub(super) fn talk(
    stream: TcpStream,
    outgoing: Receiver<Arc<str>>,
    mut said: impl FnMut(&str) -> ControlFlow<()>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(WRITE_TIME))?;
    let writing = Arc::new(Mutex::new(()));
    let half = |stream: TcpStream| Half { stream, collected: Vec::new(), writing: Arc::clone(&writing) };
    let config = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_BYTES))
        .max_frame_size(Some(MESSAGE_BYTES))
        .write_buffer_size(0);
    let theirs = half(stream.try_clone()?);
    let writer = thread::Builder::new().name("window".to_owned()).spawn(move || {
        let mut socket = WebSocket::from_raw_socket(theirs, Role::Server, Some(config));
        let sent = write(&mut socket, &outgoing);
        // Whoever still reads is woken up.
        let _ = socket.get_ref().stream.shutdown(Shutdown::Both);
        sent
    })?;
    let mut socket = WebSocket::from_raw_socket(half(stream), Role::Server, Some(config));
    let mut allowance = Allowance::new(Instant::now());
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => {
                if !allowance.takes(text.len(), Instant::now()) || said(text.as_str()).is_break() {
                    break;
                }
            }
            // Pings are answered by the library, and count like all else.
            Ok(Message::Ping(data)) if allowance.takes(data.len(), Instant::now()) => {}
            Ok(Message::Pong(_)) => {}
            Ok(_) | Err(_) => break,
        }
    }
    let _ = socket.get_ref().stream.shutdown(Shutdown::Both);
    drop(socket);
    // The writer ends with its channel, which whoever called this closes, or with the connection.
    drop(writer);
    Ok(())
}

/// Sends until nothing is left to be sent, or nobody takes it.
fn write(socket: &mut WebSocket<Half>, outgoing: &Receiver<Arc<str>>) -> Result<(), tungstenite::Error> {
    loop {
        match outgoing.recv_timeout(PING) {
            Ok(text) => socket.send(Message::text(&*text))?,
            Err(RecvTimeoutError::Timeout) => socket.send(Message::Ping(Default::default()))?,
            Err(RecvTimeoutError::Disconnected) => return socket.close(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_may_say_so_much_and_no_more() {
        let begin = Instant::now();
        let mut allowance = Allowance::new(begin);
        let count = (0..1000).take_while(|_| allowance.takes(10, begin)).count();
        assert!((90..=100).contains(&count), "{count}");
        assert!(allowance.takes(10, begin + Duration::from_secs(1)), "later it may again");
        let mut allowance = Allowance::new(begin);
        let count = (0..1000).take_while(|_| allowance.takes(MESSAGE_BYTES, begin)).count();
        assert_eq!(count, 3, "long texts count for more");
    }
}

//! WebSocket of one window: text messages in both directions, within limits.

use crate::panics::caught;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// Maximum size of a message from a window, in bytes. Game records are the longest messages.
pub(super) const MESSAGE_BYTES: usize = 2 << 20;
/// Maximum number of messages that a window may send in a burst.
const BURST: f64 = 100.0;
/// Maximum number of messages that a window may send per second in the long run.
const RATE: f64 = 40.0;
/// Number of bytes of a message that count as another message.
const COST_BYTES: f64 = 64.0 * 1024.0;
/// Time without messages to a window after which a ping is sent.
const PING: Duration = Duration::from_secs(30);
/// Time without any message from a window after which it is considered closed. Pongs count as messages.
const SILENCE: Duration = Duration::from_secs(80);
/// Maximum time to send to a window.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// One of two handles of a connection: one thread reads, and another one writes. Written bytes are buffered until they
/// are flushed, so that frames of the two threads do not mix.
struct SocketHalf {
    stream: TcpStream,
    collected: Vec<u8>,
    writing: Arc<Mutex<()>>,
}

impl Read for SocketHalf {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for SocketHalf {
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

/// Rate limit: number of messages that a window may still send. It grows with time.
struct RateLimit {
    left: f64,
    at: Instant,
}

impl RateLimit {
    fn new(now: Instant) -> RateLimit {
        RateLimit { left: BURST, at: now }
    }

    /// Counts a message of this size. Returns whether it is within the limit.
    fn takes(&mut self, bytes: usize, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = now;
        self.left = (self.left + passed * RATE).min(BURST) - 1.0 - bytes as f64 / COST_BYTES;
        self.left >= 0.0
    }
}

/// Runs the connection of a window until it closes. Passes its messages to `receive`, and sends the messages of
/// `outgoing`. A break from `receive` closes the connection.
pub(super) fn run_connection(
    stream: TcpStream,
    outgoing: Receiver<Arc<str>>,
    mut receive: impl FnMut(&str) -> ControlFlow<()>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(WRITE_TIME))?;
    let writing = Arc::new(Mutex::new(()));
    let half =
        |stream: TcpStream| SocketHalf { stream, collected: Vec::new(), writing: Arc::clone(&writing) };
    let config = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_BYTES))
        .max_frame_size(Some(MESSAGE_BYTES))
        .write_buffer_size(0);
    let theirs = half(stream.try_clone()?);
    let writer = thread::Builder::new().name("window".to_owned()).spawn(move || {
        let mut socket = WebSocket::from_raw_socket(theirs, Role::Server, Some(config));
        let sent = caught(|| write(&mut socket, &outgoing));
        // Shutting down the stream wakes the reading thread.
        let _ = socket.get_ref().stream.shutdown(Shutdown::Both);
        sent
    })?;
    let mut socket = WebSocket::from_raw_socket(half(stream), Role::Server, Some(config));
    let mut allowance = RateLimit::new(Instant::now());
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => {
                if !allowance.takes(text.len(), Instant::now()) || receive(text.as_str()).is_break() {
                    break;
                }
            }
            // The library answers pings. They count towards the rate limit.
            Ok(Message::Ping(data)) if allowance.takes(data.len(), Instant::now()) => {}
            Ok(Message::Pong(_)) => {}
            Ok(_) | Err(_) => break,
        }
    }
    let _ = socket.get_ref().stream.shutdown(Shutdown::Both);
    drop(socket);
    // The writing thread ends when the caller closes its channel or when the connection ends.
    drop(writer);
    Ok(())
}

/// Sends messages until the channel closes or the connection fails.
fn write(
    socket: &mut WebSocket<SocketHalf>,
    outgoing: &Receiver<Arc<str>>,
) -> Result<(), tungstenite::Error> {
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
        let mut allowance = RateLimit::new(begin);
        let count = (0..1000).take_while(|_| allowance.takes(10, begin)).count();
        assert!((90..=100).contains(&count), "{count}");
        assert!(allowance.takes(10, begin + Duration::from_secs(1)), "later it may again");
        let mut allowance = RateLimit::new(begin);
        let count = (0..1000).take_while(|_| allowance.takes(MESSAGE_BYTES, begin)).count();
        assert_eq!(count, 3, "long texts count for more");
    }
}

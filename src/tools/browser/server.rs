//! HTTP server: sends pages, and opens a WebSocket for every window.

use super::guard::{Guard, Route};
use super::http::{self, Head, Resource, Status};
use super::pending::PendingConnections;
use super::socket;
use super::windows;
use crate::panics::caught;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::thread;
use std::time::Duration;

/// Maximum number of concurrent connections whose request has arrived. Further connections get the status "busy".
const CONNECTIONS: usize = 64;
/// Maximum number of connections whose request has not arrived yet. Beyond it, the connection that has waited longest
/// is closed in favour of a new one.
const PENDING_CONNECTIONS: usize = 32;
/// Maximum number of windows.
const WINDOWS: usize = 16;

/// Event of a window, for the thread that owns what the pages show.
pub(super) enum WindowEvent {
    /// A window was opened. The messages of the channel are sent to it.
    Joined(usize, SyncSender<Arc<str>>),
    /// A window sent a message.
    Received(usize, String),
    /// A window was closed.
    Left(usize),
}

/// Function that returns a page or a part of one, given the path after the token.
type FindResource = dyn Fn(&str) -> Option<Resource> + Send + Sync;

/// Pages that the server sends, and the receiver of the windows' events.
pub(super) struct Pages<E> {
    events: Sender<E>,
    resource: Box<FindResource>,
}

impl<E: From<WindowEvent>> Pages<E> {
    /// Creates pages. `resource` returns a page or a part of one, given the path after the token.
    pub(super) fn new(
        events: Sender<E>,
        resource: impl Fn(&str) -> Option<Resource> + Send + Sync + 'static,
    ) -> Pages<E> {
        Pages { events, resource: Box::new(resource) }
    }

    /// Sends an event. A break means that the receiver no longer exists.
    fn send(&self, event: WindowEvent) -> ControlFlow<()> {
        self.events.send(event.into()).map_or(ControlFlow::Break(()), ControlFlow::Continue)
    }

    /// Opens a window. The messages of the returned channel are sent to it. When that channel closes, the connection
    /// ends.
    fn open(&self, window: usize) -> Option<Receiver<Arc<str>>> {
        let (sender, receiver) = windows::channel();
        self.send(WindowEvent::Joined(window, sender)).is_continue().then_some(receiver)
    }
}

/// Listening server.
#[derive(Debug)]
pub(super) struct Server {
    listener: TcpListener,
    guard: Arc<Guard>,
    address: SocketAddr,
}

/// Guard that is counted as long as it exists.
struct CountGuard<'a>(&'a AtomicUsize);

impl<'a> CountGuard<'a> {
    fn new(count: &'a AtomicUsize, most: usize) -> Option<CountGuard<'a>> {
        let counted = CountGuard(count);
        (count.fetch_add(1, Ordering::SeqCst) < most).then_some(counted)
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

static OPEN: AtomicUsize = AtomicUsize::new(0);
static WINDOWS_OPEN: AtomicUsize = AtomicUsize::new(0);
static NUMBER: AtomicUsize = AtomicUsize::new(1);

/// Returns the error with the requested address and advice.
fn cannot_listen(address: SocketAddr, error: &io::Error) -> io::Error {
    let port = address.port();
    let text = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "port {port} is used by another program, perhaps by another Kosumi: end that program, or choose \
             another port with --port (0 for a free one)"
        ),
        io::ErrorKind::PermissionDenied => {
            format!(
                "port {port} requires special privileges: choose another port with --port (1024 or higher, or 0 for a free one)"
            )
        }
        _ => format!("cannot listen on {address}: {error}"),
    };
    io::Error::new(error.kind(), text)
}

impl Server {
    /// Listens on an address. Port 0 selects a free port.
    ///
    /// # Errors
    ///
    /// Returns an error if the address cannot be listened on.
    pub(super) fn new(address: SocketAddr, token: Option<String>) -> io::Result<Server> {
        let listener = TcpListener::bind(address).map_err(|error| cannot_listen(address, &error))?;
        let address = listener.local_addr()?;
        Ok(Server { listener, guard: Arc::new(Guard::new(address, token)?), address })
    }

    /// Returns the uRL of the start page.
    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.address, self.guard.start())
    }

    /// Returns a URL that leads to the start page and works once.
    pub(super) fn url_once(&self) -> String {
        format!("http://{}{}", self.address, self.guard.start_once())
    }

    /// Serves until the process ends.
    pub(super) fn serve<E: From<WindowEvent> + Send + 'static>(self, pages: Pages<E>) {
        let pages = Arc::new(pages);
        let pending = Arc::new(PendingConnections::new(PENDING_CONNECTIONS));
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else {
                // The limit of open files is reached: some connection must end before the next can be accepted.
                thread::park_timeout(Duration::from_millis(50));
                continue;
            };
            let (guard, pages, own) = (Arc::clone(&self.guard), Arc::clone(&pages), Arc::clone(&pending));
            // An error means that the client has disconnected.
            let (Ok(address), Ok(second)) = (stream.peer_addr(), stream.try_clone()) else { continue };
            let number = pending.enter(address.ip(), second);
            let started = thread::Builder::new().name("connection".to_owned()).spawn(move || {
                let mut stream = stream;
                // The connection must leave in any case: the list has another handle of it, which would keep it open.
                let head = caught(|| Head::read(&mut stream)).unwrap_or(Err(None));
                if own.leave(number) {
                    let _ = answer(stream, head, &guard, &*pages);
                }
            });
            // If no thread can be started, the connection ends.
            if started.is_err() {
                pending.leave(number);
            }
        }
    }
}

/// Answers one request.
fn answer<E: From<WindowEvent>>(
    mut stream: TcpStream,
    head: Result<Head, Option<Status>>,
    guard: &Guard,
    pages: &Pages<E>,
) -> io::Result<()> {
    let Some(_counted) = CountGuard::new(&OPEN, CONNECTIONS) else {
        return http::refuse(&mut stream, Status::Busy);
    };
    let head = match head {
        Ok(head) => head,
        Err(Some(status)) => return http::refuse(&mut stream, status),
        Err(None) => return Ok(()),
    };
    let place = match guard.admit(&head) {
        Ok(Route::To(place)) => place,
        Ok(Route::Through(start)) => return http::redirect(&mut stream, &start),
        Err(status) => return http::refuse(&mut stream, status),
    };
    if place == "socket" {
        return window(stream, &head, guard, pages);
    }
    match (pages.resource)(&place) {
        Some(resource) => http::send(&mut stream, &resource, head.method == "GET"),
        None => http::refuse(&mut stream, Status::NotFound),
    }
}

/// Runs the connection of a window.
fn window<E: From<WindowEvent>>(
    mut stream: TcpStream,
    head: &Head,
    guard: &Guard,
    pages: &Pages<E>,
) -> io::Result<()> {
    let accept = match guard.admit_socket(head) {
        Ok(accept) => accept,
        Err(status) => return http::refuse(&mut stream, status),
    };
    let Some(_counted) = CountGuard::new(&WINDOWS_OPEN, WINDOWS) else {
        return http::refuse(&mut stream, Status::Busy);
    };
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    let Some(outgoing) = pages.open(number) else { return http::refuse(&mut stream, Status::Busy) };
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    let result = stream.write_all(answer.as_bytes()).and_then(|()| {
        let receive = |text: &str| pages.send(WindowEvent::Received(number, text.to_owned()));
        caught(|| socket::run_connection(stream, outgoing, receive))
            .unwrap_or_else(|panic| Err(io::Error::other(panic)))
    });
    // The window's channel closes, and with it, even after a panic, the connection.
    let _ = pages.send(WindowEvent::Left(number));
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::mpsc;

    /// Checks that connections without a request do not keep other requests out, however many there are.
    #[test]
    fn half_open_connections_make_way() {
        let server = Server::new(([127, 0, 0, 1], 0).into(), Some("secret".to_owned())).unwrap();
        let address = server.address;
        let (events, _received) = mpsc::channel::<WindowEvent>();
        let page = Resource { kind: "text/plain", body: "here".to_owned(), policy: String::new() };
        thread::spawn(move || server.serve(Pages::new(events, move |_| Some(page.clone()))));
        let mut half_open = Vec::new();
        for _ in 0..5 * PENDING_CONNECTIONS {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET /secret/ HTTP/1.1\r\n").unwrap();
            half_open.push(stream);
        }
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET /secret/ HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("here"), "{answer}");
        // The connection that had waited longest was closed.
        assert!(matches!(half_open[0].read(&mut [0]), Ok(0) | Err(_)));
    }

    #[test]
    fn a_port_that_is_taken_is_named() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let error = Server::new(address, None).err().unwrap();
        let text = error.to_string();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(
            text.contains(&format!("port {} is used", address.port())) && text.contains("--port"),
            "{text}"
        );
    }
}

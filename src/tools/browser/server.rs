//! The server: connections in, pages out, and a WebSocket for every window.

use super::guard::{Guard, Way};
use super::http::{self, Head, Resource, Status};
use super::socket;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

/// Most connections at once; further ones are told to come back later.
const CONNECTIONS: usize = 64;
/// Most windows at once.
const WINDOWS: usize = 16;

/// What is served.
pub(super) trait Site: Send + Sync {
    /// A page or a part of one, by what follows the token in the address.
    fn resource(&self, place: &str) -> Option<Resource>;

    /// A window has opened. What comes out of the channel is sent to it; when the channel closes, it is left.
    fn join(&self, window: usize) -> Option<Receiver<Arc<str>>>;

    /// A window says something.
    fn said(&self, window: usize, text: &str) -> ControlFlow<()>;

    /// A window has closed.
    fn left(&self, window: usize);
}

/// A server that listens.
#[derive(Debug)]
pub(super) struct Server {
    listener: TcpListener,
    guard: Arc<Guard>,
    address: SocketAddr,
}

/// Counts as long as it lives.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize, most: usize) -> Option<Counted<'a>> {
        let counted = Counted(count);
        (count.fetch_add(1, Ordering::SeqCst) < most).then_some(counted)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

static OPEN: AtomicUsize = AtomicUsize::new(0);
static WINDOWS_OPEN: AtomicUsize = AtomicUsize::new(0);
static NUMBER: AtomicUsize = AtomicUsize::new(1);

/// The error with the address that was asked for, and with what to do about it.
fn cannot_listen(address: SocketAddr, error: &io::Error) -> io::Error {
    let port = address.port();
    let text = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "port {port} is used by another program, perhaps by another Kosumi: end it, or choose another port with --port, 0 for \
             any that is free"
        ),
        io::ErrorKind::PermissionDenied => {
            format!(
                "port {port} is not for ordinary users: choose another one with --port, from 1024 on or 0 for any that is free"
            )
        }
        _ => format!("cannot listen on {address}: {error}"),
    };
    io::Error::new(error.kind(), text)
}

impl Server {
    /// Listens on an address; port 0 is any that is free.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub(super) fn new(address: SocketAddr, token: Option<String>) -> io::Result<Server> {
        let listener = TcpListener::bind(address).map_err(|error| cannot_listen(address, &error))?;
        let address = listener.local_addr()?;
        Ok(Server { listener, guard: Arc::new(Guard::new(address, token)?), address })
    }

    /// Where the start page is.
    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.address, self.guard.start())
    }

    /// An address that leads to the start page once.
    pub(super) fn url_once(&self) -> String {
        format!("http://{}{}", self.address, self.guard.start_once())
    }

    /// Serves until the process ends.
    pub(super) fn serve(self, site: &Arc<impl Site + 'static>) {
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else {
                // No more files may be open: connections must end before the next can begin.
                thread::park_timeout(Duration::from_millis(50));
                continue;
            };
            let (guard, site) = (Arc::clone(&self.guard), Arc::clone(site));
            let Some(counted) = Counted::new(&OPEN, CONNECTIONS) else {
                let mut stream = stream;
                let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
                let _ = stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n");
                continue;
            };
            // If there is no thread for it, the connection ends.
            let _ = thread::Builder::new().name("connection".to_owned()).spawn(move || {
                let _counted = counted;
                // Whoever has gone away is told nothing.
                let _ = answer(stream, &guard, &*site);
            });
        }
    }
}

/// Answers one request.
fn answer(mut stream: TcpStream, guard: &Guard, site: &impl Site) -> io::Result<()> {
    let head = match Head::read(&mut stream) {
        Ok(head) => head,
        Err(Some(status)) => return http::refuse(&mut stream, status),
        Err(None) => return Ok(()),
    };
    let place = match guard.admit(&head) {
        Ok(Way::To(place)) => place,
        Ok(Way::Through(start)) => return http::redirect(&mut stream, &start),
        Err(status) => return http::refuse(&mut stream, status),
    };
    if place == "socket" {
        return window(stream, &head, guard, site);
    }
    match site.resource(&place) {
        Some(resource) => http::send(&mut stream, &resource, head.method == "GET"),
        None => http::refuse(&mut stream, Status::NotFound),
    }
}

/// Talks with a window.
fn window(mut stream: TcpStream, head: &Head, guard: &Guard, site: &impl Site) -> io::Result<()> {
    let accept = match guard.admit_socket(head) {
        Ok(accept) => accept,
        Err(status) => return http::refuse(&mut stream, status),
    };
    let Some(_counted) = Counted::new(&WINDOWS_OPEN, WINDOWS) else {
        return http::refuse(&mut stream, Status::Busy);
    };
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    let Some(outgoing) = site.join(number) else { return http::refuse(&mut stream, Status::Busy) };
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    let talked = stream
        .write_all(answer.as_bytes())
        .and_then(|()| socket::talk(stream, outgoing, |text| site.said(number, text)));
    site.left(number);
    talked
}

#[cfg(test)]
mod tests {
    use super::*;

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

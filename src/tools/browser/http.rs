//! Requests for pages, read within limits, and what is answered. The text is taken apart by `httparse`.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Most bytes of a request's head.
const HEAD_BYTES: usize = 16 << 10;
/// Most lines of it.
const HEADERS: usize = 64;
/// A head that is not complete after this time is not waited for.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// Whoever does not take an answer for so long has gone.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// The head of a request. What this server answers has no body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Head {
    /// `GET`, …
    pub(super) method: String,
    /// From the first `/` on.
    pub(super) target: String,
    headers: Vec<(String, String)>,
}

impl Head {
    /// The value of a header that is there once; `None` if it is missing, or there more than once, which no browser does.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| value.as_str());
        value.filter(|_| values.next().is_none())
    }

    /// Is there such a header?
    pub(super) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// A head out of these bytes; `None` if they are not all of it yet.
    ///
    /// # Errors
    /// If they are no request, or one with a body.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Head>, Status> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(Status::TooLarge);
            }
            Err(_) => return Err(Status::Bad),
        };
        if length != bytes.len() {
            // A body, or a second request before the answer to the first.
            return Err(Status::Bad);
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| Status::Bad);
        let mut found = Vec::new();
        for header in request.headers.iter() {
            found.push((header.name.to_owned(), text(header.value)?));
        }
        let (Some(method), Some(target)) = (request.method, request.path) else { return Err(Status::Bad) };
        let head = Head { method: method.to_owned(), target: target.to_owned(), headers: found };
        let is_empty = !head.has("content-length") || head.header("content-length") == Some("0");
        if head.has("transfer-encoding") || !is_empty {
            return Err(Status::Bad);
        }
        Ok(Some(head))
    }

    /// Reads a head from a connection.
    ///
    /// # Errors
    /// What to answer; nothing, if nobody is there.
    pub(super) fn read(stream: &mut TcpStream) -> Result<Head, Option<Status>> {
        let begin = Instant::now();
        let mut bytes = Vec::with_capacity(1 << 10);
        let mut buffer = [0; 2048];
        loop {
            let left = HEAD_TIME.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Err(Some(Status::TimedOut));
            }
            stream.set_read_timeout(Some(left)).map_err(|_| None)?;
            let room = buffer.len().min(HEAD_BYTES - bytes.len());
            match stream.read(&mut buffer[..room]) {
                Ok(0) => return Err(None),
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Err(Some(Status::TimedOut));
                }
                Err(_) => return Err(None),
            }
            if let Some(head) = Head::parse(&bytes).map_err(Some)? {
                return Ok(head);
            }
        }
    }
}

/// What an answer begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    Ok,
    /// To another place.
    Elsewhere,
    Bad,
    /// A page of another site asks, or another name leads here.
    Forbidden,
    /// No such page; also what is said to whoever does not know the token.
    NotFound,
    NotAllowed,
    TimedOut,
    TooLarge,
    /// Too many connections.
    Busy,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Status::Ok => "200 OK",
            Status::Elsewhere => "303 See Other",
            Status::Bad => "400 Bad Request",
            Status::Forbidden => "403 Forbidden",
            Status::NotFound => "404 Not Found",
            Status::NotAllowed => "405 Method Not Allowed",
            Status::TimedOut => "408 Request Timeout",
            Status::TooLarge => "431 Request Header Fields Too Large",
            Status::Busy => "503 Service Unavailable",
        }
    }
}

/// A page, or a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Resource {
    /// The type, as `text/html`; it is UTF-8 always.
    pub(super) kind: &'static str,
    /// What is sent.
    pub(super) body: String,
    /// What a page may load and do; see `Content-Security-Policy`.
    pub(super) policy: String,
}

/// No answer of this server may be kept, framed, taken for something else, or tell another site its address.
const HEADERS_OF_ALL: &str = "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n\
    X-Content-Type-Options: nosniff\r\nCross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n";
/// For answers that are no pages.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

/// Sends a page.
///
/// # Errors
/// If nobody takes it.
pub(super) fn send(stream: &mut TcpStream, resource: &Resource, with_body: bool) -> io::Result<()> {
    let Resource { kind, body, policy } = resource;
    let head = format!(
        "HTTP/1.1 {}\r\n{HEADERS_OF_ALL}Content-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         Content-Security-Policy: {policy}\r\n\r\n",
        Status::Ok.line(),
        body.len()
    );
    write_all(stream, &[head.as_bytes(), if with_body { body.as_bytes() } else { b"" }].concat())
}

/// Sends the browser to another place of this server.
///
/// # Errors
/// If nobody takes it.
pub(super) fn redirect(stream: &mut TcpStream, place: &str) -> io::Result<()> {
    let line = Status::Elsewhere.line();
    let head = format!(
        "HTTP/1.1 {line}\r\n{HEADERS_OF_ALL}Location: {place}\r\nContent-Length: 0\r\n\
         Content-Security-Policy: {NOTHING}\r\n\r\n"
    );
    write_all(stream, head.as_bytes())
}

/// Sends a refusal, and takes what the other side was still sending, so that it gets to read why.
///
/// # Errors
/// If nobody takes it.
pub(super) fn refuse(stream: &mut TcpStream, status: Status) -> io::Result<()> {
    let line = status.line();
    let head = format!(
        "HTTP/1.1 {line}\r\n{HEADERS_OF_ALL}Content-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Content-Security-Policy: {NOTHING}\r\n\r\n{line}",
        line.len()
    );
    write_all(stream, head.as_bytes())
}

fn write_all(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.set_write_timeout(Some(WRITE_TIME))?;
    stream.write_all(bytes)?;
    stream.flush()?;
    stream.shutdown(std::net::Shutdown::Write)?;
    // An end with unread bytes would reset the connection before the answer is read.
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut rest = [0; 1024];
    for _ in 0..16 {
        if !matches!(stream.read(&mut rest), Ok(1..)) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        let whole = b"GET /x?y HTTP/1.1\r\nHost: localhost:1\r\nA: 1\r\nA: 2\r\n\r\n";
        for length in 0..whole.len() {
            assert_eq!(Head::parse(&whole[..length]), Ok(None), "{length}");
        }
        let head = Head::parse(whole).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str()), ("GET", "/x?y"));
        assert_eq!(head.header("hOST"), Some("localhost:1"));
        assert_eq!(head.header("a"), None, "two values are none");
        assert!(head.has("A"));
    }

    #[test]
    fn what_is_no_plain_request_is_refused() {
        let bad = |text: &str| Head::parse(text.as_bytes()).unwrap_err();
        assert_eq!(bad("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"), Status::Bad);
        assert_eq!(bad("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n"), Status::Bad);
        assert_eq!(bad("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), Status::Bad);
        assert_eq!(bad("\0\0\0\0"), Status::Bad);
        assert_eq!(bad(&format!("GET / HTTP/1.1\r\nA: {}", "x".repeat(HEAD_BYTES))), Status::TooLarge);
        let many: String = (0..HEADERS + 1).map(|number| format!("A{number}: x\r\n")).collect();
        assert_eq!(bad(&format!("GET / HTTP/1.1\r\n{many}\r\n")), Status::TooLarge);
    }
}

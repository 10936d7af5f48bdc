//! HTTP requests, read within limits, and responses. `httparse` parses the requests.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum size of a request's head, in bytes.
const HEAD_BYTES: usize = 16 << 10;
/// Maximum number of headers.
const HEADERS: usize = 64;
/// Maximum time to receive a complete head.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// Maximum time to send a response.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// Head of a request. The server only handles requests without a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Head {
    /// Method, such as `GET`.
    pub(super) method: String,
    /// Request target, beginning with `/`.
    pub(super) target: String,
    headers: Vec<(String, String)>,
}

impl Head {
    /// Returns the value of a header that occurs once. Returns `None` if it is missing or occurs more than once, which
    /// no browser does.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| value.as_str());
        value.filter(|_| values.next().is_none())
    }

    /// Returns whether a header with this name exists.
    pub(super) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// Parses a head. Returns `None` if the head is incomplete.
    ///
    /// # Errors
    ///
    /// Returns the status of a refusal if the bytes are not a request, or if the request has a body.
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
            // The rest is a body, or a second request before the response to the first.
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
    ///
    /// Returns the status of a refusal, or `None` if the connection is closed.
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
            let space = buffer.len().min(HEAD_BYTES - bytes.len());
            match stream.read(&mut buffer[..space]) {
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

/// Status of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    Ok,
    /// Redirect to another path.
    Elsewhere,
    Bad,
    /// The request comes from a page of another site, or from another host name.
    Forbidden,
    /// No such page, or a wrong token.
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

/// Page or part of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Resource {
    /// Media type, such as `text/html`. The encoding is always UTF-8.
    pub(super) kind: &'static str,
    /// Content.
    pub(super) body: String,
    /// Value of `Content-Security-Policy`: what the page may load and do.
    pub(super) policy: String,
}

/// Headers of all responses. They forbid caching, framing, type sniffing, and sending the address to other sites.
const HEADERS_OF_ALL: &str = "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n\
    X-Content-Type-Options: nosniff\r\nCross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n";
/// Content security policy of responses that are not pages.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

/// Sends a page.
///
/// # Errors
///
/// Returns an error if the connection fails.
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

/// Sends a redirect to another path of this server.
///
/// # Errors
///
/// Returns an error if the connection fails.
pub(super) fn redirect(stream: &mut TcpStream, place: &str) -> io::Result<()> {
    let line = Status::Elsewhere.line();
    let head = format!(
        "HTTP/1.1 {line}\r\n{HEADERS_OF_ALL}Location: {place}\r\nContent-Length: 0\r\n\
         Content-Security-Policy: {NOTHING}\r\n\r\n"
    );
    write_all(stream, head.as_bytes())
}

/// Sends a refusal, and discards what the client is still sending so that it can read the refusal.
///
/// # Errors
///
/// Returns an error if the connection fails.
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
    // Closing with unread bytes would reset the connection before the client reads the response.
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

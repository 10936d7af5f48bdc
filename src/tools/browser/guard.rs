//! Access control of the server: only requests that know the secret address and come from this server's own pages are
//! served.
//!
//! There are three checks, each of which alone stops the pages of other sites. **The token**: every address contains
//! 128 random bits. **`Host`**: the browser must have used an IP address of this machine or `localhost`; a name that
//! another site owns and lets resolve to this machine (DNS rebinding) is refused. **`Origin`** and
//! **`Sec-Fetch-Site`**: the browser states which site's page sends the request, and only this server's own pages may.

use super::http::{Head, Status};
use data_encoding::HEXLOWER;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

/// Access control of a server.
#[derive(Debug)]
pub(super) struct Guard {
    token: String,
    port: u16,
    is_local: bool,
    /// One-time word that admits the browser when it starts. It replaces the token on the browser's command line, which
    /// every user of the machine can read.
    once: Mutex<Option<String>>,
}

/// Destination of an admitted request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Route {
    /// A resource: the path after the token and its `/`.
    To(String),
    /// A redirect to this path, which is the start page, because the one-time word was used.
    Through(String),
}

/// Number of bytes of a random word.
const WORD_BYTES: usize = 16;

/// Returns a random word in hexadecimal digits.
///
/// # Errors
///
/// Returns an error if the system provides no random numbers.
fn random_word() -> io::Result<String> {
    let mut bytes = [0; WORD_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(HEXLOWER.encode(&bytes))
}

/// Returns whether two texts are equal, in a time that does not depend on where they differ.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

impl Guard {
    /// Creates the access control of a server that listens on `address`. Generates a token unless one is given.
    ///
    /// # Errors
    ///
    /// Returns an error if the system provides no random numbers.
    pub(super) fn new(address: SocketAddr, token: Option<String>) -> io::Result<Guard> {
        let token = token.map_or_else(random_word, Ok)?;
        let once = Mutex::new(Some(random_word()?));
        Ok(Guard { token, port: address.port(), is_local: address.ip().is_loopback(), once })
    }

    /// Returns the path of the start page, which contains the token.
    pub(super) fn start(&self) -> String {
        format!("/{}/", self.token)
    }

    /// Returns the path that redirects to the start page, and works once.
    pub(super) fn start_once(&self) -> String {
        let once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        once.as_ref().map_or_else(|| self.start(), |word| format!("/once/{word}"))
    }

    /// Checks a request for a page and returns its destination.
    ///
    /// # Errors
    ///
    /// Returns the status of the refusal.
    pub(super) fn admit(&self, head: &Head) -> Result<Route, Status> {
        let host = head.header("host").filter(|host| self.is_own_host(host)).ok_or(Status::Forbidden)?;
        if !matches!(head.method.as_str(), "GET" | "HEAD") {
            return Err(Status::NotAllowed);
        }
        if head.has("origin") && head.header("origin") != Some(&format!("http://{host}")) {
            return Err(Status::Forbidden);
        }
        // The value is `none` if the user has typed the address, or if another program has opened it.
        let site = head.header("sec-fetch-site");
        if head.has("sec-fetch-site") && !matches!(site, Some("same-origin" | "none")) {
            return Err(Status::Forbidden);
        }
        let target = head.target.strip_prefix('/').ok_or(Status::NotFound)?;
        let (first, rest) = target.split_once('/').ok_or(Status::NotFound)?;
        if first == "once" {
            let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
            if once.as_ref().is_some_and(|word| is_same(word, rest)) {
                *once = None;
                return Ok(Route::Through(self.start()));
            }
        }
        if is_same(first, &self.token) { Ok(Route::To(rest.to_owned())) } else { Err(Status::NotFound) }
    }

    /// Checks a request for a WebSocket and returns the response to its key.
    ///
    /// # Errors
    ///
    /// Returns the status of the refusal.
    pub(super) fn admit_socket(&self, head: &Head) -> Result<String, Status> {
        let is = |name: &str, wanted: &str| {
            let words = head.header(name).unwrap_or_default().split(',');
            words.map(str::trim).any(|word| word.eq_ignore_ascii_case(wanted))
        };
        // Every browser sends the origin of a WebSocket. `admit` has checked that this origin is the server itself.
        if !head.has("origin") {
            return Err(Status::Forbidden);
        }
        let is_socket = head.method == "GET"
            && is("connection", "upgrade")
            && is("upgrade", "websocket")
            && head.header("sec-websocket-version") == Some("13");
        let key = head.header("sec-websocket-key").filter(|_| is_socket).ok_or(Status::Bad)?;
        Ok(tungstenite::handshake::derive_accept_key(key.as_bytes()))
    }

    /// Whether the host is an IP address of this machine or `localhost`, with the right port. Unlike a name, an IP
    /// address cannot be made to point here by another site.
    fn is_own_host(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else { return false };
        if port.parse() != Ok(self.port) {
            return false;
        }
        let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let number = name.parse::<IpAddr>();
        name == "localhost" || number.is_ok_and(|number| !self.is_local || number.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str) -> Guard {
        Guard::new(address.parse().unwrap(), Some("secret".to_owned())).unwrap()
    }

    fn head(target: &str, headers: &[&str]) -> Head {
        let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        Head::parse(format!("GET {target} HTTP/1.1\r\n{lines}\r\n").as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn only_the_address_itself_leads_in() {
        let guard = guard("127.0.0.1:4000");
        let to = |target: &str, headers: &[&str]| guard.admit(&head(target, headers));
        for host in ["127.0.0.1:4000", "localhost:4000", "[::1]:4000"] {
            let host = format!("Host: {host}");
            assert_eq!(to("/secret/x.js", &[&host]), Ok(Route::To("x.js".into())), "{host}");
            assert_eq!(to("/secret/", &[&host, "Sec-Fetch-Site: none"]), Ok(Route::To(String::new())));
            for target in
                ["/", "/secret", "/Secret/", "/secre/", "/secrets/", "//", "/once/", "*", "/../secret/"]
            {
                assert_eq!(to(target, &[&host]), Err(Status::NotFound), "{target}");
            }
        }
        for host in [
            "evil.example:4000",
            "127.0.0.1:4001",
            "127.0.0.1",
            "localhost.evil.example:4000",
            "192.168.0.1:4000",
        ] {
            assert_eq!(to("/secret/", &[&format!("Host: {host}")]), Err(Status::Forbidden), "{host}");
        }
        assert_eq!(to("/secret/", &[]), Err(Status::Forbidden));
        assert_eq!(to("/secret/", &["Host: localhost:4000", "Host: localhost:4000"]), Err(Status::Forbidden));
    }

    #[test]
    fn pages_of_other_sites_do_not() {
        let guard = guard("127.0.0.1:4000");
        let host = "Host: 127.0.0.1:4000";
        let with = |line: &str| guard.admit(&head("/secret/socket", &[host, line]));
        assert!(with("Origin: http://127.0.0.1:4000").is_ok());
        for line in [
            "Origin: http://evil.example",
            "Origin: https://127.0.0.1:4000",
            "Origin: http://localhost:4000",
            "Origin: null",
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: same-site",
        ] {
            assert_eq!(with(line), Err(Status::Forbidden), "{line}");
        }
        let socket = ["Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
        let origin = "Origin: http://127.0.0.1:4000";
        let asked = |lines: &[&str]| {
            guard.admit_socket(&head("/secret/socket", &[&[host], &socket[..], lines].concat()))
        };
        // Example from RFC 6455.
        assert_eq!(asked(&[key, origin]).unwrap(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(asked(&[key]), Err(Status::Forbidden), "a WebSocket without an origin");
        assert_eq!(asked(&[origin]), Err(Status::Bad));
    }

    #[test]
    fn the_one_time_word_works_once() {
        let guard = guard("127.0.0.1:4000");
        let once = guard.start_once();
        let go = || guard.admit(&head(&once, &["Host: localhost:4000"]));
        assert_eq!(go(), Ok(Route::Through("/secret/".into())));
        assert_eq!(go(), Err(Status::NotFound));
        assert_eq!(guard.start_once(), "/secret/");
    }

    #[test]
    fn tokens_are_random_and_long() {
        let [a, b] = [(), ()].map(|()| Guard::new("127.0.0.1:1".parse().unwrap(), None).unwrap().start());
        assert_eq!(a.len(), 2 + 2 * WORD_BYTES);
        assert_ne!(a, b);
    }

    #[test]
    fn a_server_for_other_machines_takes_numbers_and_no_names() {
        let guard = guard("0.0.0.0:4000");
        let to = |host: &str| guard.admit(&head("/secret/", &[&format!("Host: {host}")])).is_ok();
        assert!(to("192.168.0.7:4000") && !to("kosumi.example:4000"));
    }
}

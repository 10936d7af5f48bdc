//! Streams that another process may have set not to block.

use std::io::{self, Read, Write};
use std::thread;
use std::time::Duration;

/// Pause before the next attempt at an operation that would block.
const PAUSE: Duration = Duration::from_millis(10);

/// Stream that waits where the stream inside would block.
///
/// Whether a pipe, a socket or a terminal blocks is a property of the open file, and processes share open files. A
/// program that sets its own end not to block may therefore do the same to the standard input and output of an engine.
/// A plain read or write then fails with [`WouldBlock`](io::ErrorKind::WouldBlock), which would end the session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blocking<S>(pub S);

fn wait_while_blocked<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
            result => return result,
        }
    }
}

impl<S: Read> Read for Blocking<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        wait_while_blocked(|| self.0.read(buffer))
    }
}

impl<S: Write> Write for Blocking<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        wait_while_blocked(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        wait_while_blocked(|| self.0.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Stream whose operations have the given results, in order. `None` means that the operation would block.
    struct Scripted(VecDeque<Option<usize>>, Vec<u8>);

    impl Scripted {
        fn next(&mut self) -> io::Result<usize> {
            self.0.pop_front().expect("another operation").ok_or_else(|| io::ErrorKind::WouldBlock.into())
        }
    }

    impl Read for Scripted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.next()?;
            buffer[..count].copy_from_slice(&self.1[..count]);
            self.1.drain(..count);
            Ok(count)
        }
    }

    impl Write for Scripted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = self.next()?;
            self.1.extend(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.next().map(|_| ())
        }
    }

    #[test]
    fn operations_that_would_block_are_repeated() {
        let script = [None, Some(3), None, None, Some(2), Some(0)];
        let mut input = Blocking(Scripted(script.into(), b"name\n".to_vec()));
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        assert_eq!(text, "name\n");
        let script = [None, Some(4), None, Some(3), None, Some(0)];
        let mut output = Blocking(Scripted(script.into(), Vec::new()));
        output.write_all(b"= 1.0\n\n").unwrap();
        output.flush().unwrap();
        assert_eq!(output.0.1, b"= 1.0\n\n");
        assert!(output.0.0.is_empty());
    }
}

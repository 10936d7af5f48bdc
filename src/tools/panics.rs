//! Panics in threads for whose result somebody waits.
//!
//! Invariant: such a thread catches its panics and sends an error in place of the result. A thread that merely ended
//! would leave a client, a page or another thread waiting for ever. The panic hook has printed the panic to the standard
//! error by then.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`. If it panics, returns the message of the panic. What `work` was changing may then be inconsistent, so
/// the caller must replace it or not use it any more.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| message(&*panic))
}

/// Returns the message of a panic; an empty text if it has none.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    literal.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::resume_unwind;

    #[test]
    fn panics_have_messages() {
        assert_eq!(caught(|| 5), Ok(5));
        assert_eq!(caught(|| resume_unwind(Box::new("a literal"))), Err::<(), _>("a literal".to_owned()));
        assert_eq!(caught(|| resume_unwind(Box::new("text".to_owned()))), Err::<(), _>("text".to_owned()));
        assert_eq!(caught(|| resume_unwind(Box::new(5))), Err::<(), _>(String::new()));
    }
}

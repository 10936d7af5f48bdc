//! ^C, for commands that then stop with what they have.

use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Becomes true when ^C is pressed, which then no longer ends the program by itself.
///
/// # Errors
/// If the system does not tell.
pub(super) fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed)).context("cannot wait for ^C")?;
    Ok(flag)
}

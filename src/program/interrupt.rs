//! Handling of ^C by commands that stop early and keep their results.

use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Installs a signal handler, and returns the flag that ^C sets. After that, ^C does not end the process by itself.
///
/// # Errors
///
/// Returns an error if the signal handler cannot be installed.
pub(super) fn install_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed)).context("cannot wait for ^C")?;
    Ok(flag)
}

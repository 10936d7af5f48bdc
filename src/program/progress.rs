//! Progress on the standard error, if it is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};

/// Default template: a bar over the whole width, with a message and the time left.
pub(super) const WIDE: &str = "{wide_bar:.dim} {pos}/{len}  {msg}  {eta} left";

/// Creates a bar of the given length with a template of `indicatif`. The bar is hidden if the standard error is not a
/// terminal.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(4)
    } else {
        ProgressDrawTarget::hidden()
    };
    // Templates are checked when they are set. An invalid one is replaced by the library's default style.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(length), target).with_style(style)
}

/// Creates a spinner for work of unknown length, with a prefix, a message and the elapsed time.
pub(super) fn spinner() -> ProgressBar {
    let bar = bar(0, "{spinner} {prefix}  {msg}  {elapsed}");
    bar.enable_steady_tick(std::time::Duration::from_millis(250));
    bar
}

/// Creates a bar like [`bar`] for work of which an earlier run has done a part. That part is not used for estimating
/// the time left.
pub(super) fn bar_from(done: u64, length: u64, template: &str) -> ProgressBar {
    let bar = bar(length, template);
    bar.set_position(done);
    bar.reset_eta();
    bar
}

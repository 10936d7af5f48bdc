//! Progress on the standard error, where that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};

/// The usual look: a bar over the whole width, with a message and the time that is left.
pub(super) const WIDE: &str = "{wide_bar:.dim} {pos}/{len}  {msg}  {eta} left";

/// A bar of this length that looks like a template of `indicatif`; it is not drawn if the standard error is no
/// terminal.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(4)
    } else {
        ProgressDrawTarget::hidden()
    };
    // A template is checked when it is set; should one be wrong, the usual look of the library does.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(length), target).with_style(style)
}

/// A sign of life for work of unknown length: a prefix, a message and the time so far.
pub(super) fn spinner() -> ProgressBar {
    let bar = bar(0, "{spinner} {prefix}  {msg}  {elapsed}");
    bar.enable_steady_tick(std::time::Duration::from_millis(250));
    bar
}

/// The same for work of which a part was done by an earlier run, which took no time of this one.
pub(super) fn bar_from(done: u64, length: u64, template: &str) -> ProgressBar {
    let bar = bar(length, template);
    bar.set_position(done);
    bar.reset_eta();
    bar
}

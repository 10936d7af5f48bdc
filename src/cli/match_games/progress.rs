//! What a match shows while it is played: a line for every game on the standard output and, at a terminal, a bar on the
//! standard error.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};

#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A match of `games` games, of which some are over.
    pub(super) fn new(games: u32, over: usize) -> Progress {
        // Not a terminal: nothing is drawn.
        let bar = if io::stderr().is_terminal() {
            ProgressBar::with_draw_target(Some(u64::from(games)), ProgressDrawTarget::stderr_with_hz(4))
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{wide_bar:.dim} {pos}/{len}  {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_position(over as u64);
        // Games of an earlier run took no time of this one.
        bar.reset_eta();
        Progress { bar }
    }

    /// A game is over.
    pub(super) fn game(&self, line: &str, standing: &str, over: usize) -> anyhow::Result<()> {
        self.bar.set_position(over as u64);
        self.bar.set_message(standing.to_owned());
        if self.bar.is_hidden() { self.remark(&format!("{line}  |  {standing}")) } else { self.remark(line) }
    }

    /// Something else to say.
    pub(super) fn remark(&self, line: &str) -> anyhow::Result<()> {
        self.bar.suspend(|| {
            let mut out = io::stdout().lock();
            writeln!(out, "{line}")?;
            out.flush()
        })?;
        Ok(())
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

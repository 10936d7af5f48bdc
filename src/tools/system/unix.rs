//! Implementation for Linux, macOS and other Unix systems.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(used.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(used.tv_nsec).unwrap_or_default())
}

pub(super) fn wait_until_unread() {
    let output = io::stdout();
    loop {
        // Errors and hang-ups are reported even without requested events.
        let mut watched = [PollFd::new(&output, PollFlags::empty())];
        match poll(&mut watched, None) {
            Ok(1..) => return,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // The state of the output is unknown.
            Err(_) => super::wait_forever(),
        }
    }
}

pub(super) fn protect_from_interrupts(command: &mut Command) {
    // The terminal sends ^C to one process group only.
    command.process_group(0);
}

pub(super) fn survive_file_size_limit() {
    // A signal with a handler does not end the process, and child processes get the default again. The flag itself is
    // not used. If the handler cannot be installed, the signal ends the process as usual.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

pub(super) const fn has_own_console() -> bool {
    false
}

//! Services of the operating system that the standard library lacks.

#[cfg(unix)]
#[path = "unix.rs"]
mod here;
#[cfg(windows)]
#[path = "windows.rs"]
mod here;

use std::process::Command;
use std::time::Duration;

/// Returns the processor time that this process has used so far, over all threads.
#[must_use]
pub fn processor_time() -> Duration {
    here::processor_time()
}

/// Waits until the standard output has no reader. Without it, an engine would keep thinking after its controller was
/// killed. Never returns if the standard output is a file, or if its state is unknown.
pub fn wait_until_unread() {
    here::wait_until_unread();
}

/// Protects a child process from ^C. The terminal sends ^C to all processes of the foreground, but a program such as
/// `kosumi match` lets its engines finish.
pub fn protect_from_interrupts(command: &mut Command) {
    here::protect_from_interrupts(command);
}

/// Makes a write beyond the limit on the size of files (`ulimit -f`) fail with an error. Without it, the signal that
/// comes with the error ends the process. Child processes are not affected.
pub fn survive_file_size_limit() {
    here::survive_file_size_limit();
}

/// Whether the system opened a console window only for this process: on Windows, after a double click on the program.
/// The window closes when the process ends.
#[must_use]
pub fn has_own_console() -> bool {
    here::has_own_console()
}

/// Never returns.
fn wait_forever() -> ! {
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_increases_with_work() {
        let before = processor_time();
        let mut sum = 0_u64;
        // Ends because a busy process uses processor time, on every machine.
        while processor_time() == before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(processor_time() > before);
    }
}

//! Services of the operating system for which the standard library has no function.

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

/// Waits until the standard output has no reader. Without this, an engine would keep thinking after its controller was
/// killed. Never returns if the standard output is a file, or if its state is unknown.
pub fn wait_until_unread() {
    here::wait_until_unread();
}

/// Protects a child process from ^C. The terminal sends ^C to all foreground processes, but a program such as
/// `kosumi match` lets its engines finish.
pub fn protect_from_interrupts(command: &mut Command) {
    here::protect_from_interrupts(command);
}

/// Makes writes beyond the limit on the size of files (`ulimit -f`) fail with an error. Without this, the signal that
/// accompanies the error would end the process. Child processes are not affected.
pub fn survive_file_size_limit() {
    here::survive_file_size_limit();
}

/// Returns whether the system opened a console window only for this process. On Windows it does so after a double click
/// on the program, and the window closes when the process ends. Returns false on other systems.
#[must_use]
pub fn has_own_console() -> bool {
    here::has_own_console()
}

/// Waits for ever.
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
        // This loop ends because a busy process uses processor time on every machine.
        while processor_time() == before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(processor_time() > before);
    }
}

//! Implementation for Windows.

use std::io;
use std::mem::size_of;
use std::os::windows::io::AsRawHandle;
use std::os::windows::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_PIPE_CLOSING_STATE, FILE_PIPE_LOCAL_INFORMATION, FilePipeLocalInformation, NtQueryInformationFile,
};
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Console::GetConsoleProcessList;
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;
use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, GetCurrentProcess, GetProcessTimes};

/// Interval at which the standard output is checked. Windows has no call that waits until a pipe loses its reader.
const PERIOD: Duration = Duration::from_millis(200);

#[expect(unsafe_code, reason = "a call of the system")]
pub(super) fn processor_time() -> Duration {
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the pseudo handle of this process is always valid, and the four pointers are valid for writes.
    let is_known = unsafe {
        GetProcessTimes(GetCurrentProcess(), &raw mut created, &raw mut ended, &raw mut kernel, &raw mut user)
    };
    debug_assert_ne!(is_known, 0, "a process may always ask for its own times");
    duration(kernel) + duration(user)
}

/// Converts a duration as Windows represents it, in units of 100 ns.
fn duration(time: FILETIME) -> Duration {
    let units = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    Duration::from_micros(units / 10)
}

pub(super) fn wait_until_unread() {
    loop {
        match is_unread() {
            Some(true) => return,
            Some(false) => thread::sleep(PERIOD),
            None => super::wait_forever(),
        }
    }
}

/// Returns whether the reader of the standard output has closed it. Returns `None` if the standard output is not a
/// pipe.
#[expect(unsafe_code, reason = "a call of the system")]
fn is_unread() -> Option<bool> {
    let mut status = IO_STATUS_BLOCK::default();
    let mut pipe = FILE_PIPE_LOCAL_INFORMATION::default();
    let length = u32::try_from(size_of::<FILE_PIPE_LOCAL_INFORMATION>()).ok()?;
    let handle = io::stdout().as_raw_handle();
    // SAFETY: both pointers are valid for writes, and `length` is the size of the second. The system rejects a handle
    // that is not valid or is no pipe.
    let result = unsafe {
        NtQueryInformationFile(
            handle.cast(),
            &raw mut status,
            (&raw mut pipe).cast(),
            length,
            FilePipeLocalInformation,
        )
    };
    (result >= 0).then_some(pipe.NamedPipeState == FILE_PIPE_CLOSING_STATE)
}

pub(super) fn protect_from_interrupts(command: &mut Command) {
    // ^C does not reach process groups other than the one of the console.
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

pub(super) const fn survive_file_size_limit() {}

#[expect(unsafe_code, reason = "a call of the system")]
pub(super) fn has_own_console() -> bool {
    let mut processes = [0_u32; 2];
    let length = u32::try_from(processes.len()).unwrap_or_default();
    // SAFETY: the pointer is valid for writes of `length` numbers.
    let count = unsafe { GetConsoleProcessList(processes.as_mut_ptr(), length) };
    count == 1
}

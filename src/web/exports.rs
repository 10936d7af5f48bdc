//! Functions that the module exports to JavaScript.
//!
//! Texts and files are passed in memory that [`kosumi_allocate`] returns. The function that they are passed to frees
//! them. Responses stay valid until the next call.
//!
//! A panic ends the instance of the module, and its message can still be read. JavaScript then starts another instance
//! and restores the game.
#![allow(unsafe_code, reason = "memory is passed to and from JavaScript by address")]

pub mod gpu;

use crate::{Board, Session, StartError};
use kosumi_sync::HOST_THREADS;
use std::alloc::{Layout, alloc_zeroed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

#[link(wasm_import_module = "kosumi")]
unsafe extern "C" {
    /// Returns the time since any fixed point in the past, in milliseconds.
    safe fn now() -> f64;
    /// Reports the progress of a review: positions done and total.
    safe fn progress(done: f64, total: f64);
}

/// Receiver of requests: a session or a table.
enum Running {
    Session(Box<Session>),
    Board(Box<Board>),
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
static RESPONSE: Mutex<String> = Mutex::new(String::new());
/// Message of the panic that has ended the instance.
static FAULT: Mutex<String> = Mutex::new(String::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks and returns the receiver of requests.
///
/// # Panics
///
/// Panics if a request is being answered, because a function that the module called has called the module. Waiting
/// would never end.
fn lock_running() -> MutexGuard<'static, Option<Running>> {
    match RUNNING.try_lock() {
        Ok(running) => running,
        Err(TryLockError::Poisoned(error)) => error.into_inner(),
        Err(TryLockError::WouldBlock) => panic!("a request came while another one was being answered"),
    }
}

/// Converts a time of JavaScript in milliseconds. A time that is not a number counts as zero.
fn from_milliseconds(milliseconds: f64) -> Duration {
    Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default()
}

fn time() -> Duration {
    from_milliseconds(now())
}

/// Returns memory for `length` bytes, which must be passed to another function.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_allocate(length: usize) -> *mut u8 {
    let bytes = vec![0u8; length].into_boxed_slice();
    Box::into_raw(bytes).cast()
}

/// Takes back memory of [`kosumi_allocate`].
///
/// # Safety
///
/// `kosumi_allocate(length)` must have returned `start`, which must not have been passed to any function.
unsafe fn take(start: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: the memory was allocated as a boxed slice of this length.
    unsafe { Vec::from_raw_parts(start, length, length) }
}

/// Starts a session. Without a `network` its length is 0. The response is empty, or the reason why it cannot be
/// started.
///
/// # Safety
///
/// Both addresses must come from [`kosumi_allocate`] with their lengths, and must not have been passed to any function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kosumi_start(
    options: *mut u8,
    options_length: usize,
    network: *mut u8,
    network_length: usize,
) {
    // SAFETY: guaranteed by the caller.
    let (options, network) = unsafe { (take(options, options_length), take(network, network_length)) };
    let network = Some(&network[..]).filter(|network| !network.is_empty());
    begin(|| {
        let session = Session::start(&String::from_utf8_lossy(&options), network, time)?;
        gpu::offer(session.shared_network());
        Ok(Running::Session(Box::new(
            session.with_progress(|done, total| progress(done as f64, total as f64)),
        )))
    });
}

/// Starts a table. `session` is a text that identifies it among all. The response is that of [`kosumi_start`].
///
/// # Safety
///
/// As for [`kosumi_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kosumi_start_board(
    options: *mut u8,
    options_length: usize,
    session: *mut u8,
    session_length: usize,
) {
    // SAFETY: guaranteed by the caller.
    let (options, session) = unsafe { (take(options, options_length), take(session, session_length)) };
    begin(|| {
        let board =
            Board::start(&String::from_utf8_lossy(&options), &String::from_utf8_lossy(&session), time)?;
        Ok(Running::Board(Box::new(board)))
    });
}

/// Keeps the message of a panic for JavaScript. If a thread of the search panics, so does the calling one, and the
/// first message has the reason.
fn note_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let mut fault = lock(&FAULT);
        if fault.is_empty() {
            *fault = panic.to_string();
        }
    }));
}

fn begin(start: impl FnOnce() -> Result<Running, StartError>) {
    note_panics();
    let (running, message) = match start() {
        Ok(running) => (Some(running), String::new()),
        Err(error) => (None, error.to_string()),
    };
    *lock_running() = running;
    *lock(&RESPONSE) = message;
}

/// Gives the table a network; see [`Board::set_network`]. The response is empty, or the reason why it cannot be used.
///
/// # Safety
///
/// The address must come from [`kosumi_allocate`] with its length, and must not have been passed to any function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kosumi_network(network: *mut u8, length: usize, is_large: u32) {
    // SAFETY: guaranteed by the caller.
    let network = unsafe { take(network, length) };
    let message = match &mut *lock_running() {
        Some(Running::Board(board)) => match board.set_network(&network, is_large != 0) {
            Ok(network) => {
                if is_large != 0 {
                    gpu::offer(Some(network));
                }
                String::new()
            }
            Err(error) => error.to_string(),
        },
        _ => "no table has been started".to_owned(),
    };
    *lock(&RESPONSE) = message;
}

/// Answers a request; see [`Session::answer`] and [`Board::answer`].
///
/// # Safety
///
/// The address must come from [`kosumi_allocate`] with its length, and must not have been passed to any function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kosumi_request(request: *mut u8, length: usize) {
    // SAFETY: guaranteed by the caller.
    let request = unsafe { take(request, length) };
    let answer = match &mut *lock_running() {
        Some(Running::Session(session)) => session.answer(&String::from_utf8_lossy(&request)),
        Some(Running::Board(board)) => board.answer(&String::from_utf8_lossy(&request)),
        None => r#"{"error":"no session has been started"}"#.to_owned(),
    };
    *lock(&RESPONSE) = answer;
}

/// Returns the address of the latest response, in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_response() -> *const u8 {
    lock(&RESPONSE).as_ptr()
}

/// Returns the length of the latest response, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_response_length() -> usize {
    lock(&RESPONSE).len()
}

/// Returns the address of the message of the panic that has ended the instance.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_fault() -> *const u8 {
    lock(&FAULT).as_ptr()
}

/// Returns the length of the message of [`kosumi_fault`], in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_fault_length() -> usize {
    lock(&FAULT).len()
}

/// Alignment of the memory of a thread, in bytes. `instance.js` checks that the thread's variables need no more.
const THREAD_ALIGNMENT: usize = 64;

/// Stack size of a thread, in bytes: twice that of native threads, because the code is less compact. The stack lies
/// between other memory, so an overflow is not detected. Threads only run the search, which does not recurse.
const THREAD_STACK: usize = 4 << 20;

/// Returns the size of the stack of a thread, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_thread_stack() -> usize {
    THREAD_STACK
}

/// Returns memory for a thread: its stack, and after it `variables` bytes for its variables. The address is 0 if there
/// is not enough memory.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_thread_memory(variables: usize) -> *mut u8 {
    let size = THREAD_STACK.saturating_add(variables.max(1));
    let Ok(layout) = Layout::from_size_align(size, THREAD_ALIGNMENT) else { return std::ptr::null_mut() };
    // SAFETY: the size is not 0.
    unsafe { alloc_zeroed(layout) }
}

/// Makes the calling instance a thread of the search. It returns only by a trap. The instance must have a stack and
/// variables in memory of [`kosumi_thread_memory`].
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_thread() {
    HOST_THREADS.serve()
}

/// Records that a call of [`kosumi_thread`] has trapped.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_thread_failed() {
    HOST_THREADS.fail();
}

/// Returns the number of threads that wait for work.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_threads() -> usize {
    HOST_THREADS.waiting()
}

//! Functions for the worker with the graphics card. Only that worker calls them, so they have a response of their own.

use super::{from_milliseconds, lock, take, time};
use crate::gpu::{GPU_THREADS, WebGpu};
use kosumi_gpu::queued::QueuedDevice;
use kosumi_net::Network;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

#[link(wasm_import_module = "kosumi")]
unsafe extern "C" {
    /// Wakes the worker that waits for a change of the number at this address.
    safe fn wake(address: usize);
}

static GPU: Mutex<Option<Box<WebGpu>>> = Mutex::new(None);
/// The device of `GPU`. It can be marked as failed even if a panic has left `GPU` locked for ever.
static DEVICE: Mutex<Option<Arc<QueuedDevice>>> = Mutex::new(None);
/// Network of the table or the session, for [`kosumi_gpu_open`].
static NETWORK: Mutex<Option<Arc<Network>>> = Mutex::new(None);
static RESPONSE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// Number of times that positions have arrived. The worker waits for a change of it.
static ARRIVALS: AtomicI32 = AtomicI32::new(0);

/// Offers the network of a table or a session to the worker.
pub(super) fn offer(network: Option<Arc<Network>>) {
    *lock(&NETWORK) = network;
}

fn notify_worker() {
    ARRIVALS.fetch_add(1, Ordering::SeqCst);
    wake(ARRIVALS.as_ptr() as usize);
}

fn respond(bytes: Vec<u8>) {
    *lock(&RESPONSE) = bytes;
}

fn respond_with(result: Result<Value, String>) {
    let answer = match result {
        Ok(value) => json!({ "ok": value }),
        Err(reason) => json!({ "error": reason }),
    };
    respond(answer.to_string().into_bytes());
}

/// Prepares a network for the card; see [`WebGpu::open`]. With the length 0 it is the network of the table. The
/// response is JSON: `{"ok": description}` or `{"error": "…"}`.
///
/// # Safety
///
/// As for [`kosumi_start`](super::kosumi_start).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kosumi_gpu_open(
    network: *mut u8,
    network_length: usize,
    options: *mut u8,
    options_length: usize,
) {
    // SAFETY: guaranteed by the caller.
    let (network, options) = unsafe { (take(network, network_length), take(options, options_length)) };
    super::note_panics();
    let open = || {
        let network = match network.is_empty() {
            true => lock(&NETWORK).clone().ok_or("there is no network for the card")?,
            false => Arc::new(Network::read(&network[..]).map_err(|error| error.to_string())?),
        };
        let options = String::from_utf8_lossy(&options);
        let gpu = WebGpu::open(network, &options, time, notify_worker).map_err(|error| error.to_string())?;
        let description = gpu.description();
        *lock(&DEVICE) = Some(Arc::clone(gpu.device()));
        *lock(&GPU) = Some(Box::new(gpu));
        Ok(description)
    };
    respond_with(open());
}

/// Responds with the contents of a buffer that never change.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_contents(buffer: usize) {
    respond(lock(&GPU).as_ref().and_then(|gpu| gpu.contents(buffer)).unwrap_or_default());
}

/// Frees the weights, after all contents have been copied.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_forget_weights() {
    if let Some(gpu) = &mut *lock(&GPU) {
        gpu.forget_weights();
    }
    respond(Vec::new());
}

/// Responds with the message of the batch of a check.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_check_batch(which: usize) {
    respond(lock(&GPU).as_mut().and_then(|gpu| gpu.check_batch(which)).unwrap_or_default());
}

/// Compares the results of a check, which took this time, with the processor. The response is JSON: `{"ok":
/// differences}` or `{"error": "…"}`.
///
/// # Safety
///
/// As for [`kosumi_start`](super::kosumi_start).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kosumi_gpu_check(results: *mut u8, length: usize, which: usize, milliseconds: f64) {
    // SAFETY: guaranteed by the caller.
    let results = unsafe { take(results, length) };
    respond_with(match &mut *lock(&GPU) {
        Some(gpu) => gpu.check(which, &results, from_milliseconds(milliseconds)),
        None => Err("there is no card".to_owned()),
    });
}

/// Returns the number of search threads for a card, including the calling one.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_threads() -> usize {
    GPU_THREADS
}

/// Makes later engines with the network use the card.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_attach() {
    if let Some(gpu) = &*lock(&GPU) {
        gpu.attach();
    }
}

/// Returns the address of the number that changes when positions arrive.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_arrivals() -> *const i32 {
    ARRIVALS.as_ptr()
}

/// Responds with the message of the next batch, or with nothing if too few positions wait.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_take() {
    respond(lock(&GPU).as_mut().and_then(|gpu| gpu.take()).unwrap_or_default());
}

/// Takes the results of a batch, which took this time. The response is JSON: `{"ok": null}` or `{"error": "…"}`.
///
/// # Safety
///
/// As for [`kosumi_start`](super::kosumi_start).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kosumi_gpu_answer(
    results: *mut u8,
    length: usize,
    number: usize,
    milliseconds: f64,
) {
    // SAFETY: guaranteed by the caller.
    let results = unsafe { take(results, length) };
    respond_with(match &mut *lock(&GPU) {
        Some(gpu) => {
            gpu.answer(number as u64, &results, from_milliseconds(milliseconds)).map(|()| Value::Null)
        }
        None => Err("there is no card".to_owned()),
    });
}

/// Marks the card as failed.
///
/// # Safety
///
/// As for [`kosumi_start`](super::kosumi_start).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kosumi_gpu_fail(reason: *mut u8, length: usize) {
    // SAFETY: guaranteed by the caller.
    let reason = unsafe { take(reason, length) };
    if let Some(device) = &*lock(&DEVICE) {
        device.fail(&String::from_utf8_lossy(&reason));
    }
}

/// Responds, as functions of tables and sessions do, with the reason why the card has failed, or with nothing.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_failure() {
    let failure = lock(&DEVICE).as_ref().and_then(|device| device.failure());
    *lock(&super::RESPONSE) = failure.unwrap_or_default();
}

/// Returns the address of the response of the functions for the card.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_response() -> *const u8 {
    lock(&RESPONSE).as_ptr()
}

/// Returns the length of the response of [`kosumi_gpu_response`], in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn kosumi_gpu_response_length() -> usize {
    lock(&RESPONSE).len()
}

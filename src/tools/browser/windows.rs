//! Open windows and the messages to them.

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};

/// Maximum number of unsent messages of a window. A window that falls further behind is closed.
const MAX_QUEUE: usize = 256;

/// Open windows by number.
#[derive(Debug, Default)]
pub(super) struct Windows {
    open: BTreeMap<usize, SyncSender<Arc<str>>>,
}

/// Returns the two ends of a window's channel.
pub(super) fn channel() -> (SyncSender<Arc<str>>, Receiver<Arc<str>>) {
    mpsc::sync_channel(MAX_QUEUE)
}

impl Windows {
    /// Adds a window.
    pub(super) fn add(&mut self, window: usize, sender: SyncSender<Arc<str>>) {
        self.open.insert(window, sender);
    }

    /// Returns whether no window is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Removes a window, which closes its channel.
    pub(super) fn remove(&mut self, window: usize) {
        self.open.remove(&window);
    }

    /// Sends a message to one window. A window that does not read is removed. The page can reconnect, and then gets the
    /// whole state.
    pub(super) fn send(&mut self, window: usize, message: &Value) {
        self.send_text(window, &Arc::from(message.to_string()));
    }

    /// Sends a message to all windows.
    pub(super) fn send_to_all(&mut self, message: &Value) {
        let text: Arc<str> = Arc::from(message.to_string());
        for window in self.open.keys().copied().collect::<Vec<_>>() {
            self.send_text(window, &text);
        }
    }

    fn send_text(&mut self, window: usize, text: &Arc<str>) {
        let Some(sender) = self.open.get(&window) else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = sender.try_send(Arc::clone(text))
        {
            self.open.remove(&window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_takes_nothing_is_left() {
        let mut windows = Windows::default();
        let (sender, receiver) = channel();
        windows.add(1, sender);
        for number in 0..MAX_QUEUE + 1 {
            windows.send_to_all(&Value::from(number));
        }
        assert_eq!(receiver.iter().count(), MAX_QUEUE, "and then the channel closes");
        windows.send(1, &Value::Null);
    }
}

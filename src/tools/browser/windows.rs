//! The windows that are open, and what each of them is told.

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};

/// A window that has so many messages to come does not take them.
const WAITING_MOST: usize = 256;

/// The open windows, by number.
#[derive(Debug, Default)]
pub(super) struct Windows {
    open: BTreeMap<usize, SyncSender<Arc<str>>>,
}

/// The two ends of a window's channel.
pub(super) fn channel() -> (SyncSender<Arc<str>>, Receiver<Arc<str>>) {
    mpsc::sync_channel(WAITING_MOST)
}

impl Windows {
    /// Adds one.
    pub(super) fn add(&mut self, window: usize, sender: SyncSender<Arc<str>>) {
        self.open.insert(window, sender);
    }

    /// Is none open?
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes one away; its channel closes.
    pub(super) fn remove(&mut self, window: usize) {
        self.open.remove(&window);
    }

    /// Tells one window something. One that does not listen any more is left: it can come back and is told everything.
    pub(super) fn tell(&mut self, window: usize, message: &Value) {
        self.send(window, &Arc::from(message.to_string()));
    }

    /// Tells all windows.
    pub(super) fn tell_all(&mut self, message: &Value) {
        let text: Arc<str> = Arc::from(message.to_string());
        for window in self.open.keys().copied().collect::<Vec<_>>() {
            self.send(window, &text);
        }
    }

    fn send(&mut self, window: usize, text: &Arc<str>) {
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
        for number in 0..WAITING_MOST + 1 {
            windows.tell_all(&Value::from(number));
        }
        assert_eq!(receiver.iter().count(), WAITING_MOST, "and then the channel closes");
        windows.tell(1, &Value::Null);
    }
}

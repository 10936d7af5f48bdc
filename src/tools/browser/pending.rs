//! Connections whose request has not arrived yet.
//!
//! These connections have a limit of their own, so that they never keep requests out. When it is reached, a connection
//! is closed in favour of the new one: from the address that has the most of them, the one that has waited longest.

use std::collections::HashMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Connection that another thread reads from.
pub(super) trait Close {
    /// Closes the connection. The thread that reads from it sees its end as the end of the stream.
    fn close(&self);
}

impl Close for TcpStream {
    fn close(&self) {
        // Closing fails if the other side has already closed the connection, which does no harm.
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// Set of pending connections.
#[derive(Debug)]
pub(super) struct PendingConnections<C> {
    most: usize,
    state: Mutex<State<C>>,
}

#[derive(Debug)]
struct State<C> {
    entered: u64,
    /// Number, address and connection, in the order of their arrival.
    connections: Vec<(u64, IpAddr, C)>,
}

impl<C: Close> PendingConnections<C> {
    /// Creates an empty set of at most `most` connections.
    pub(super) fn new(most: usize) -> PendingConnections<C> {
        PendingConnections { most, state: Mutex::new(State { entered: 0, connections: Vec::new() }) }
    }

    fn state(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection from an address and returns its number. Closes another connection if there are too many.
    pub(super) fn enter(&self, address: IpAddr, connection: C) -> u64 {
        let mut state = self.state();
        if state.connections.len() >= self.most {
            let mut counts = HashMap::<IpAddr, usize>::new();
            state.connections.iter().for_each(|(_, address, _)| *counts.entry(*address).or_default() += 1);
            let largest = counts.values().copied().max().unwrap_or(0);
            let oldest = state.connections.iter().position(|(_, address, _)| counts[address] == largest);
            if let Some(oldest) = oldest {
                state.connections.remove(oldest).2.close();
            }
        }
        state.entered += 1;
        let number = state.entered;
        state.connections.push((number, address, connection));
        number
    }

    /// Removes a connection. Returns false if it was closed in favour of another one.
    pub(super) fn leave(&self, number: u64) -> bool {
        let mut state = self.state();
        let place = state.connections.iter().position(|&(other, ..)| other == number);
        place.map(|place| state.connections.remove(place)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    struct Named(char, Rc<RefCell<String>>);

    impl Close for Named {
        fn close(&self) {
            self.1.borrow_mut().push(self.0);
        }
    }

    #[test]
    fn the_longest_waiting_of_the_busiest_address_is_closed() {
        let closed = Rc::<RefCell<String>>::default();
        let pending = PendingConnections::new(4);
        let enter = |name, last| pending.enter([127, 0, 0, last].into(), Named(name, Rc::clone(&closed)));
        let a = enter('a', 1);
        let [b, c] = ['b', 'c'].map(|name| enter(name, 2));
        let d = enter('d', 3);
        assert_eq!(*closed.borrow(), "");
        let e = enter('e', 4);
        assert_eq!(*closed.borrow(), "b");
        // Each address now has one connection.
        let f = enter('f', 4);
        assert_eq!(*closed.borrow(), "ba");
        enter('g', 4);
        assert_eq!(*closed.borrow(), "bae");
        assert_eq!(
            [a, b, c, d, e, f].map(|number| pending.leave(number)),
            [false, false, true, true, false, true]
        );
        assert!(!pending.leave(f));
    }
}

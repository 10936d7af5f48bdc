//! Tests of the invariants that [`search`](super) and its parts state.

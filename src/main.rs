//! The `kosumi` binary.
fn main() {}

//! Kosumi, a Go engine.

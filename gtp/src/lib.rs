//! The Go Text Protocol (version 2, draft 2).

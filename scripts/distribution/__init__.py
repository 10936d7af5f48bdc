"""Release archives and packages of Kosumi; see docs/releasing.md."""

//! Binary `kosumi`; see [`kosumi::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    kosumi::main()
}

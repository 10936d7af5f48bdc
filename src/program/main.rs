//! Binary `kosumi`; see the [crate documentation](kosumi).

use std::process::ExitCode;

fn main() -> ExitCode {
    kosumi::main()
}

//! `rocescope`: see `rocescope --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rocescope::command::run(std::env::args_os())
}

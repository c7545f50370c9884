//! A bar on the terminal while long files are read.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Shorter input is read before a bar could be looked at, octets.
const LONG_BYTES: u64 = 64 << 20;

/// A bar over the octets of all files, on standard error; hidden where that is no terminal or the files are short.
///
/// The reader advances it with `inc` by octets read from the files (compressed ones as they lie on the disk), and the
/// caller clears it.
#[must_use]
pub fn bar(files: &[PathBuf]) -> ProgressBar {
    let length = files
        .iter()
        .filter_map(|file| std::fs::metadata(file).ok())
        .map(|file| file.len())
        .sum();
    if length < LONG_BYTES || !std::io::stderr().is_terminal() {
        return ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(5));
    match ProgressStyle::with_template(
        "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
    ) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

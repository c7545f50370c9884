//! Whole processes: how long they take, and how much memory they hold.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Wall time from start to exit. Output is thrown away.
pub(super) fn time(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let status = quiet(command)
        .status()
        .with_context(|| format!("cannot start {command:?}"))?;
    let elapsed = start.elapsed();
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(elapsed)
}

/// Peak resident memory in KiB, the last that /proc said before the exit. Reads it each millisecond, so not for timing.
pub(super) fn peak_memory_kib(command: &mut Command) -> Result<u64> {
    let mut child = quiet(command)
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let status_path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let exit = loop {
        if let Some(kib) = std::fs::read_to_string(&status_path)
            .ok()
            .and_then(|text| high_water_kib(&text))
        {
            peak = peak.max(kib);
        }
        if let Some(exit) = child.try_wait()? {
            break exit;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    if !exit.success() {
        bail!("{command:?} failed: {exit}");
    }
    Ok(peak)
}

fn quiet(command: &mut Command) -> &mut Command {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
}

/// The line `VmHWM:    1234 kB` of /proc/PID/status (proc(5)).
fn high_water_kib(status: &str) -> Option<u64> {
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Least, middle and greatest of some times.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    pub(super) least: Duration,
    pub(super) median: Duration,
    pub(super) greatest: Duration,
}

/// `None` where nothing was measured.
pub(super) fn spread(times: &[Duration]) -> Option<Spread> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    Some(Spread {
        least: *sorted.first()?,
        median: sorted[sorted.len() / 2],
        greatest: *sorted.last()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_process_is_seen() {
        assert_eq!(
            high_water_kib("Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t    1234 kB\n"),
            Some(1234)
        );
        assert!(peak_memory_kib(Command::new("sleep").arg("0.05")).unwrap() > 0);
        assert!(time(Command::new("sleep").arg("0.05")).unwrap() >= Duration::from_millis(50));
    }
}

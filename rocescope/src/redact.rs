//! `--redact`: addresses, paths and names become stand-ins that stay the same throughout one report.

mod names;
mod visit;

use names::Names;
use rocescope_core::report::Report;

/// Replaces every address, MAC, path and name in the report, also inside sentences.
///
/// IPv4 hosts become 198.18.0.1 and up (RFC 2544), IPv6 hosts 2001:db8::1 and up (RFC 3849) or fe80::1 and up where they
/// were link-local, IPv4-mapped GIDs the stand-in of their IPv4 host, LIDs 1 and up, MAC addresses 02:00:00:00:00:01
/// and up. Numbers are given in the order of the addresses, so that two reports of one input agree. QPNs, ports and times stay.
pub fn redact(report: &mut Report) {
    let mut names = Names::default();
    visit::learn(report, &mut names);
    visit::replace(report, &mut names);
    report.tool.redacted = true;
}

#[cfg(test)]
mod tests;

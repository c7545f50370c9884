//! Requests repeated without an answer: what `retry-exceeded` and `never-answered` share.

use super::{View, retry_exceeded, wording};
use crate::event::{Event, EventKind, Repair};
use crate::figure::{counted, duration};
use crate::report::{Finding, Severity};

/// Requests that were repeated and never answered.
pub(super) struct Unanswered<'a> {
    pub(super) repair: &'a Repair,
    /// Passes that no RNR NAK asked for.
    tries: u64,
    end: End,
    silence_ns: u64,
    silence_needed_ns: u64,
}

/// How the tries ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Silence, long enough to say that the requester gave up.
    Silence,
    /// CM closed the connection.
    Disconnected,
    /// The input ended first.
    InputEnded,
}

impl<'a> Unanswered<'a> {
    /// What `event` tells of it, where the rule of `retry-exceeded` is met.
    pub(super) fn of(event: &'a Event, view: &View<'_>) -> Option<Self> {
        let EventKind::Repaired(repair) = &event.kind else {
            return None;
        };
        // What ends a queue pair by a NAK, or waits for a receive to be posted, has its own finding.
        if !repair.open || view.fatal_nak().is_some() || view.pending_rnr().is_some() {
            return None;
        }
        let tries = repair.recovery.tries.saturating_sub(repair.tries.rnr);
        if tries < view.threshold(&retry_exceeded::DOC, "tries") {
            return None;
        }
        let factor = view.threshold(&retry_exceeded::DOC, "silence_gaps");
        let silence_needed_ns = repair.longest_gap_ns.saturating_mul(factor);
        let silence_ns = view.now().since(view.last_at().max(repair.last_try));
        let end = if view.disconnected().is_some_and(|at| at >= repair.last_try) {
            End::Disconnected
        } else if silence_ns >= silence_needed_ns.max(1) {
            End::Silence
        } else {
            End::InputEnded
        };
        Some(Self {
            repair,
            tries,
            end,
            silence_ns,
            silence_needed_ns,
        })
    }

    /// Fills in what both findings say alike; `answers` is what to say of answers.
    pub(super) fn tell(&self, finding: &mut Finding, view: &View<'_>, answers: &str) {
        let recovery = &self.repair.recovery;
        finding.count += self.tries;
        finding.first_ns = finding.first_ns.min(recovery.start_ns);
        finding.severity = match self.end {
            End::InputEnded => Severity::Warning,
            End::Silence | End::Disconnected => Severity::Critical,
        };
        let gaps: Vec<_> = recovery.gaps_ns.iter().map(|gap| duration(*gap)).collect();
        let after = gaps.get(..gaps.len().min(8)).unwrap_or_default().join(", ");
        let more = if gaps.len() > 8 { ", ..." } else { "" };
        let end = match self.end {
            End::Silence => format!("then silence for {}", duration(self.silence_ns)),
            End::Disconnected => "then the connection was closed (CM disconnect)".to_owned(),
            End::InputEnded => "still retrying when the capture ends".to_owned(),
        };
        let retries = view.cm().map_or_else(String::new, |cm| {
            format!(" (retry count {} by CM)", cm.retry_count)
        });
        finding.message = format!(
            "{}: PSN {} was sent again {}{retries} without an answer, {after}{more} apart, {end}; {answers}; {}",
            wording::whom(view),
            recovery.first_psn,
            counted(self.tries, "time", "times"),
            wording::acknowledged(view)
        );
        self.put_evidence(finding, view);
    }

    fn put_evidence(&self, finding: &mut Finding, view: &View<'_>) {
        let recovery = &self.repair.recovery;
        let gaps = recovery.gaps_ns.iter();
        finding
            .evidence
            .number("psn", recovery.first_psn)
            .number("tries", self.tries)
            .number(
                "tries_needed",
                view.threshold(&retry_exceeded::DOC, "tries"),
            )
            .numbers(
                "gaps_ns",
                gaps.map(|gap| i64::try_from(*gap).unwrap_or(i64::MAX))
                    .collect(),
            )
            .number("silence_ns", self.silence_ns)
            .number("silence_needed_ns", self.silence_needed_ns)
            .number("stalled_ns", recovery.stalled_ns);
        if let Some(cm) = view.cm() {
            finding
                .evidence
                .number("retry_count", cm.retry_count)
                .number("ack_timeout_ns", cm.ack_timeout_ns);
        }
        wording::put_whom(finding, view);
    }
}

//! The life of a finding: opened, updated, resolved. The report is the fold of these.

use super::{FindingDoc, rnr_storm, uc_gap};
use crate::Time;
use crate::report::{Confidence, EndedBy, Evidence, Finding, FrameRef, Severity, State, Subject};

/// Frames kept at either end of a finding.
const KEPT_FRAMES: usize = 8;

/// A finding under way.
#[derive(Clone, Debug)]
pub struct OpenFinding {
    finding: Finding,
    quiet_ns: u64,
    last_frames: std::collections::VecDeque<FrameRef>,
}

/// Names a subject: itself, its name inside the run, and that of its hosts.
pub(crate) type Naming<'a> = &'a dyn Fn() -> (Subject, String, String);

/// What detectors keep of one stream between its events.
#[derive(Clone, Default, Debug)]
pub(crate) struct States {
    pub(super) rnr_storm: rnr_storm::State,
    pub(super) uc_gap: uc_gap::State,
}

/// Findings of one subject that are under way, and those of all subjects that are over.
#[expect(
    missing_debug_implementations,
    reason = "holds a closure, lives for one event"
)]
pub struct Findings<'a> {
    /// Under way, of this subject.
    pub(crate) open: &'a mut Vec<OpenFinding>,
    /// Over, of all subjects.
    pub(crate) resolved: &'a mut Vec<Finding>,
    /// Ids of what was raised.
    pub(crate) raised: &'a mut Vec<&'static str>,
    /// What the detectors keep of this subject: made when first needed.
    pub(crate) states: &'a mut Option<Box<States>>,
    /// Whom it is about.
    pub(crate) subject: Naming<'a>,
}

impl Findings<'_> {
    /// New evidence for the finding of `doc`: opens it, or updates the open one. `update` sets count, message, evidence
    /// and, where it differs from the doc, severity and confidence; it is called once for each piece of evidence.
    pub fn raise(
        &mut self,
        doc: &'static FindingDoc,
        at: Time,
        frames: &[FrameRef],
        update: impl FnOnce(&mut Finding),
    ) {
        if !self.raised.contains(&doc.id) {
            self.raised.push(doc.id);
        }
        let open = self.open.iter().position(|open| open.finding.id == doc.id);
        let index = match open {
            Some(index)
                if doc.quiet_ns > 0
                    && at.since(Time(self.open[index].finding.last_ns)) > doc.quiet_ns =>
            {
                let old = self.open.swap_remove(index);
                self.resolved.push(old.close(EndedBy::Quiet));
                self.begin(doc, at)
            }
            Some(index) => index,
            None => self.begin(doc, at),
        };
        let open = &mut self.open[index];
        for frame in frames {
            open.add_frame(*frame);
        }
        open.finding.last_ns = open.finding.last_ns.max(at.0);
        open.finding.first_ns = open.finding.first_ns.min(at.0);
        update(&mut open.finding);
    }

    /// Changes the finding of `doc` where it is open; it is no new evidence.
    pub(super) fn revise(&mut self, doc: &'static FindingDoc, update: impl FnOnce(&mut Finding)) {
        if let Some(open) = self.open.iter_mut().find(|open| open.finding.id == doc.id) {
            update(&mut open.finding);
        }
    }

    /// What the detectors keep of this subject.
    pub(super) fn states(&mut self) -> &mut States {
        self.states.get_or_insert_default()
    }

    /// What a finding cost becomes known: no new evidence, so the open one is updated however long it was quiet. Where there
    /// is none, this is its first evidence.
    pub fn amend(
        &mut self,
        doc: &'static FindingDoc,
        at: Time,
        frames: &[FrameRef],
        update: impl FnOnce(&mut Finding),
    ) {
        let Some(open) = self.open.iter_mut().find(|open| open.finding.id == doc.id) else {
            self.raise(doc, at, frames, |finding| {
                finding.count = 1;
                update(finding);
            });
            return;
        };
        for frame in frames {
            open.add_frame(*frame);
        }
        open.finding.last_ns = open.finding.last_ns.max(at.0);
        update(&mut open.finding);
    }

    fn begin(&mut self, doc: &'static FindingDoc, at: Time) -> usize {
        self.open.push(OpenFinding {
            finding: begun(doc, at, (self.subject)()),
            quiet_ns: doc.quiet_ns,
            last_frames: std::collections::VecDeque::new(),
        });
        self.open.len() - 1
    }
}

/// A finding of which nothing is known yet but what it is and whom it is about.
pub(super) fn begun(
    doc: &'static FindingDoc,
    at: Time,
    (subject, name, hosts): (Subject, String, String),
) -> Finding {
    Finding {
        id: doc.id,
        severity: doc.severity,
        confidence: Confidence::High,
        subject,
        key: format!("{} {name}", doc.id),
        fingerprint: format!("{} {hosts}", doc.id),
        state: State::Open,
        ended_by: None,
        count: 0,
        first_ns: at.0,
        last_ns: at.0,
        frames: Vec::new(),
        message: String::new(),
        next_step: doc.what_to_do.first().copied().unwrap_or_default(),
        evidence: Evidence::default(),
    }
}

impl OpenFinding {
    fn add_frame(&mut self, frame: FrameRef) {
        if self.finding.frames.contains(&frame) || self.last_frames.contains(&frame) {
            return;
        }
        if self.finding.frames.len() < KEPT_FRAMES {
            self.finding.frames.push(frame);
            return;
        }
        if self.last_frames.len() == KEPT_FRAMES {
            self.last_frames.pop_front();
        }
        self.last_frames.push_back(frame);
    }

    /// Ends it.
    pub(crate) fn close(mut self, by: EndedBy) -> Finding {
        self.finding.frames.extend(self.last_frames);
        self.finding.state = State::Resolved;
        self.finding.ended_by = Some(by);
        self.finding
    }

    /// Ends it at `now` because its subject or the input ended, or quiet came first.
    pub(crate) fn end(self, now: Time, by: EndedBy) -> Finding {
        let quiet = self.quiet_ns > 0 && now.since(Time(self.finding.last_ns)) > self.quiet_ns;
        self.close(if quiet { EndedBy::Quiet } else { by })
    }
}

/// Severity of a finding never falls while it is open.
pub fn at_least(finding: &mut Finding, severity: Severity) {
    finding.severity = finding.severity.max(severity);
}

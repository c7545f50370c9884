//! NAKs (PSN sequence error): whom they answer, and where the packet they name was lost.

use super::answer::{Answer, PendingNak};
use super::pass::REORDER_NS;
use super::requester::Requester;
use crate::Time;
use crate::event::{Event, EventKind};
use crate::report::Where;
use rocescope_wire::{NakCode, Psn};

impl Requester {
    pub(super) fn on_sequence_nak(
        &mut self,
        answer: &Answer,
        advancing: bool,
        out: &mut Vec<Event>,
    ) {
        let of_rnr = self.rnr.as_ref().is_some_and(|rnr| rnr.psn == answer.psn);
        self.answers.places.advancing += u64::from(advancing);
        out.push(Event {
            at: answer.at,
            frame: answer.frame,
            kind: EventKind::Nak {
                code: NakCode::PsnSequenceError,
                psn: answer.psn,
                of_rnr,
            },
        });
        if of_rnr {
            self.answers.places.of_rnr += 1;
            return;
        }
        let place = self.place_of(answer.psn, answer.at);
        match place {
            Where::Before => self.answers.places.before += 1,
            Where::After => self.answers.places.after += 1,
            Where::Damaged => self.answers.places.damaged += 1,
            Where::Reordering => self.answers.places.reordering += 1,
            _ => self.answers.places.unknown += 1,
        }
        self.answers.last_nak = Some((answer.psn, answer.at));
        let nak = PendingNak {
            psn: answer.psn,
            at: answer.at,
            frame: answer.frame,
            place,
        };
        if !self.claim_pass(&nak) {
            let before = self.nak.replace(nak);
            if let Some(before) = before.filter(|before| answer.psn.since(before.psn) > 0) {
                self.keep_earlier(before);
            }
        }
    }

    /// A NAK that a later one overtook before anything was sent again: what it asked for came late, it was not lost.
    fn keep_earlier(&mut self, mut nak: PendingNak) {
        let places = &mut self.answers.places;
        let place = match nak.place {
            Where::Before => &mut places.before,
            Where::After => &mut places.after,
            Where::Damaged => &mut places.damaged,
            Where::Reordering => &mut places.reordering,
            _ => &mut places.unknown,
        };
        *place = place.saturating_sub(1);
        places.reordering += 1;
        nak.place = Where::Reordering;
        self.earlier_nak.get_or_insert(nak);
    }

    /// Where the packet that a NAK names was lost: what the cursor did the last time it went over it.
    fn place_of(&mut self, psn: Psn, at: Time) -> Where {
        if psn.since(self.high) > 0 || self.excused.contains(psn) {
            Where::Unknown
        } else if self.damaged.contains(psn) {
            Where::Damaged
        } else if self
            .last_late
            .is_some_and(|late| at.since(late) <= REORDER_NS)
        {
            Where::Reordering
        } else if self.was_skipped(psn) || self.repairing.just_repaired(psn, at) {
            Where::Before
        } else {
            Where::After
        }
    }
}

//! What a detector may look at.

use super::FindingDoc;
use crate::flow::cm::CmBook;
use crate::flow::stream::Stream;
use crate::flow::table::Table;
use crate::partition::subject_of;
use crate::report::{CmFacts, FrameRef, PairedBy, Subject};
use crate::settings::Settings;
use crate::{Address, Time};
use rocescope_wire::{NakCode, Psn, RnrTimer};

/// The stream an event belongs to, its other direction where known, and the thresholds in force.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) peer: Option<&'a Stream>,
    /// All streams of this part, for what the hosts sent each other besides.
    pub(crate) table: &'a Table,
    pub(crate) cm: &'a CmBook,
    pub(crate) settings: &'a Settings,
    /// Time of the input.
    pub(crate) now: Time,
}

impl View<'_> {
    /// The value in force of a threshold of `doc`.
    #[must_use]
    pub fn threshold(&self, doc: &'static FindingDoc, key: &'static str) -> u64 {
        self.settings.thresholds.get(doc, key)
    }

    /// Subject, name inside the run, name of the hosts.
    pub(crate) fn subject(&self) -> (Subject, String, String) {
        subject_of(self.stream, self.peer)
    }

    /// Time of the input: of its end where the stream is over.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Sender, receiver, and the receiver's QPN.
    #[must_use]
    pub fn ends(&self) -> (Address, Address, u32) {
        let key = &self.stream.key;
        (key.src, key.dst, key.dest_qpn.get())
    }

    /// Whether any packet from the receiver's host to the sender's is in the capture.
    #[must_use]
    pub fn reverse_visible(&self) -> bool {
        let key = &self.stream.key;
        self.peer.is_some() || self.table.any_between(key.dst, key.src)
    }

    /// What CM agreed on for this queue pair.
    #[must_use]
    pub fn cm(&self) -> Option<CmFacts> {
        let key = &self.stream.key;
        let conversation = self.cm.of(key.dst, key.dest_qpn);
        conversation.map(|conversation| conversation.facts)
    }

    /// Nothing is acknowledged or repaired: UC.
    #[must_use]
    pub fn is_unreliable(&self) -> bool {
        self.stream.requester.unreliable
    }

    /// Whole messages.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.stream.requester.messages.count
    }

    /// An RNR NAK after which nothing was sent again, nor acknowledged: PSN, timer, time, frame.
    #[must_use]
    pub fn pending_rnr(&self) -> Option<(Psn, RnrTimer, Time, FrameRef)> {
        let requester = &self.stream.requester;
        let rnr = requester.rnr.as_ref()?;
        let (psn, timer, at, frame) = requester.answers.last_rnr?;
        let acknowledged = requester.acked.is_some_and(|acked| acked.since(psn) >= 0);
        (rnr.psn == psn && !acknowledged).then_some((psn, timer, at, frame))
    }

    /// QPN of the sender.
    #[must_use]
    pub fn src_qpn(&self) -> Option<u32> {
        self.peer.map(|peer| peer.key.dest_qpn.get())
    }

    /// The pair is known.
    #[must_use]
    pub fn paired_by(&self) -> Option<PairedBy> {
        self.stream.paired_by
    }

    /// Answers to this stream's requests can be seen.
    #[must_use]
    pub fn answers_visible(&self) -> bool {
        self.stream.requester.paired
    }

    /// Packets of the other direction were seen: of the peer stream.
    #[must_use]
    pub fn peer_packets(&self) -> u64 {
        self.peer.map_or(0, Stream::packets)
    }

    /// Time of the stream's latest packet.
    #[must_use]
    pub fn last_at(&self) -> Time {
        self.stream.last_at
    }

    /// Time of the latest packet of either direction.
    #[must_use]
    pub fn last_seen(&self) -> Time {
        self.peer.map_or(self.stream.last_at, |peer| {
            peer.last_at.max(self.stream.last_at)
        })
    }

    /// Packets of the stream.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.stream.packets()
    }

    /// Request packets.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.stream.requester.counts.packets
    }

    /// Answers to this stream's requests.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.stream.requester.answers.count
    }

    /// Copies of requests, and how many of them the responder answered.
    #[must_use]
    pub fn copies(&self) -> (u64, u64) {
        let counts = &self.stream.requester.counts;
        (counts.mirror_duplicates, counts.copies_answered)
    }

    /// Copies of answers this stream carries.
    #[must_use]
    pub fn answer_copies(&self) -> u64 {
        self.stream.responder.mirror_duplicates
    }

    /// First and last copy of a packet on this stream: time and frame.
    #[must_use]
    pub fn copy_frames(&self) -> Option<[(Time, FrameRef); 2]> {
        self.stream.copy_frames
    }

    /// Answers beyond those asked for.
    #[must_use]
    pub fn extra_answers(&self) -> u64 {
        self.stream.requester.answers.extra
    }

    /// The NAK that ended the queue pair.
    #[must_use]
    pub fn fatal_nak(&self) -> Option<(NakCode, Psn)> {
        self.stream
            .requester
            .answers
            .fatal
            .map(|(code, psn, _, _)| (code, psn))
    }

    /// RNR NAKs in all.
    #[must_use]
    pub fn rnr_naks(&self) -> u64 {
        self.stream.requester.answers.rnr_naks
    }

    /// The highest PSN acknowledged.
    #[must_use]
    pub fn last_acknowledged(&self) -> Option<Psn> {
        self.stream.requester.acked
    }

    /// Highest PSN requested.
    #[must_use]
    pub fn highest_psn(&self) -> Psn {
        self.stream.requester.high
    }

    /// CM said the connection is over, and when.
    #[must_use]
    pub fn disconnected(&self) -> Option<Time> {
        self.stream
            .disconnected
            .or(self.peer.and_then(|peer| peer.disconnected))
    }

    /// UDP source port of the stream; 0 for RoCE v1.
    #[must_use]
    pub fn udp_source_port(&self) -> u16 {
        self.stream.udp_source_port
    }

    /// DSCP of the stream.
    #[must_use]
    pub fn dscp(&self) -> u8 {
        self.stream.dscp
    }

    /// Path MTU in octets, where known.
    #[must_use]
    pub fn pmtu(&self) -> Option<u32> {
        Some(self.stream.requester.pmtu).filter(|pmtu| *pmtu > 0)
    }

    /// UC messages broken.
    #[must_use]
    pub fn broken_messages(&self) -> u64 {
        self.stream.requester.messages.broken_count
    }

    /// Time of the latest answer.
    #[must_use]
    pub fn last_answer(&self) -> Option<Time> {
        self.stream.requester.answers.last_at
    }

    /// Whole frames could be checked: how many had a good ICRC.
    #[must_use]
    pub fn icrc_good(&self) -> u64 {
        self.stream.icrc[0]
    }
    /// Frames whose ICRC could not be checked.
    #[must_use]
    pub fn icrc_unverifiable(&self) -> u64 {
        self.stream.icrc[2]
    }
}

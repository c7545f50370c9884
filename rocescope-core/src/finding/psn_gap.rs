//! `psn-gap`: packets were sent that this tap did not see, and their receiver asked for them again.

use super::{Family, FindingDoc, Scope};
use crate::report::Severity;
use crate::time::SECOND_NS;

/// What `psn-gap` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "psn-gap",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "Request packets were lost between their sender and this tap. The PSNs stepped over them, and the \
              requester had to send them again.",
    rule: "The PSN of a stream steps forward over PSNs that no packet carried (a skip), and a NAK (PSN sequence error) \
           names one of them, or they are sent again. Skips inside a repair count like skips beyond the highest PSN. \
           Packets that turn up late are reordering, and packets that are acknowledged without ever being sent again \
           were missed by the capture: neither is counted here.",
    source: "IBTA Volume 1, chapter 9.7 (reliable service); Linux drivers/infiniband/sw/rxe/rxe_resp.c, check_psn.",
    causes: &[
        "a switch or a NIC in front of the tap dropped packets: a full queue without PFC, or a lossy priority",
        "a bad cable or transceiver: look for errors on the ports between sender and tap",
        "a rate limit or policy that does not know RoCE",
    ],
    what_to_do: &[
        "compare the drop and error counters of every port between the sender and this tap over the times named",
        "check that the packets' DSCP or PCP is mapped to a lossless priority on that path",
        "capture nearer to the sender: if the packets are there, the fault lies between the two taps",
    ],
    when_wrong: "A capture that loses packets itself shows the same steps; there the answers cover the missing PSNs and \
                 nothing is sent again, which is reported as capture-gap.",
};

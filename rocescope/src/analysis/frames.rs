//! `--frames`: one JSON object for each packet of the transport (`rocescope.frame/1`), written when its class is settled.

mod fields;

use rocescope_core::partition::{Class, PacketInput, Verdict};
use rocescope_core::report::FrameRef;
use rocescope_wire::RdOrDc;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// One packet and what it was taken for.
pub(super) struct Classified {
    frame: FrameRef,
    class: Option<&'static str>,
    row: Map<String, Value>,
}

impl Classified {
    pub(super) fn new(
        input: &PacketInput<'_>,
        verdict: Verdict,
        findings: &[&'static str],
        read_0x40_as: RdOrDc,
    ) -> Self {
        let mut row = fields::of(input, read_0x40_as);
        row.insert("findings".to_owned(), json!(findings));
        Self {
            frame: input.frame,
            class: class_of(verdict),
            row,
        }
    }
}

/// The word for a verdict; nothing while it is open.
fn class_of(verdict: Verdict) -> Option<&'static str> {
    Some(match verdict {
        Verdict::Undecodable => "undecodable",
        Verdict::SecondSighting => "second-sighting",
        Verdict::Damaged => "damaged",
        Verdict::Malformed => "malformed",
        Verdict::Request(class) => return request_class(class),
        Verdict::Answer => "answer",
        Verdict::AnswerCopy => "mirror-duplicate",
        Verdict::Other => "other",
    })
}

fn request_class(class: Class) -> Option<&'static str> {
    match class {
        Class::New => Some("new"),
        Class::Copy => Some("mirror-duplicate"),
        Class::Late => Some("reordered"),
        Class::Retransmission => Some("retransmission"),
        Class::Undecided => None,
    }
}

/// Where the lines go, and those that wait for an earlier one to be settled.
pub(super) struct Lines {
    out: BufWriter<Box<dyn Write>>,
    waiting: VecDeque<Classified>,
}

impl Lines {
    /// Opens `path`; `-` is standard output.
    ///
    /// # Errors
    /// Where the file cannot be made.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        use anyhow::Context;
        let out: Box<dyn Write> = if path == Path::new("-") {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path).with_context(|| format!("--frames {}", path.display()))?)
        };
        Ok(Self {
            out: BufWriter::new(out),
            waiting: VecDeque::new(),
        })
    }

    /// Takes in packets and late decisions; writes all that are settled, in the order of the input.
    pub(super) fn write(
        &mut self,
        packets: impl Iterator<Item = Classified>,
        decided: impl Iterator<Item = (FrameRef, Class)>,
    ) -> io::Result<()> {
        self.waiting.extend(packets);
        for (frame, class) in decided {
            if let Some(own) = self.waiting.iter_mut().find(|own| own.frame == frame) {
                own.class = request_class(class);
            }
        }
        while let Some(first) = self.waiting.pop_front_if(|own| own.class.is_some()) {
            self.line(first)?;
        }
        Ok(())
    }

    fn line(&mut self, mut packet: Classified) -> io::Result<()> {
        packet.row.insert(
            "class".to_owned(),
            json!(packet.class.unwrap_or("undecided")),
        );
        serde_json::to_writer(&mut self.out, &packet.row)?;
        self.out.write_all(b"\n")
    }

    /// The end: whatever still waits is written.
    pub(super) fn finish(mut self) -> io::Result<()> {
        while let Some(packet) = self.waiting.pop_front() {
            self.line(packet)?;
        }
        self.out.flush()
    }
}

//! The command line as typed: commands, flags and their help.

mod value;

use crate::fail_on::FailOn;
use crate::filter::Filter;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

pub use value::{Setting, TimeZoneName, unknown_finding};

/// Says which RDMA over Ethernet connection hurts, why, since when, and where the fault lies.
#[derive(Parser, Debug)]
#[command(
    name = "rocescope",
    version,
    max_term_width = 80,
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        rocescope analyze trace.pcapng              the verdict, what was not visible, and why\n  \
        rocescope analyze --format json trace.pcap  all of it for a program\n  \
        rocescope explain psn-gap                   what a finding means and what to do\n\n\
        Exit codes: 0 done, 1 something at or above --fail-on, 2 wrong usage or\n\
        unreadable input."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Read captures and say what is wrong, whose fault it is, and what could not be seen
    Analyze(Box<Analyze>),
    /// Tell all about a finding, or list the findings there are
    Explain(Explain),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  rocescope completions bash > /etc/bash_completion.d/rocescope"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    #[command(after_help = "Example:\n  rocescope man | man -l -")]
    Man,
    /// Print the JSON Schema of the report
    Schema,
    /// Walk over the records of a file and count them: the floor for measurements
    #[command(hide = true)]
    Walk {
        /// The file
        file: PathBuf,
    },
}

/// `rocescope analyze`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    rocescope analyze trace.pcapng\n  \
    rocescope analyze leaf1.pcap leaf2.pcap.gz      merged by time, one verdict\n  \
    tcpdump -i mirror0 -w - | rocescope analyze -\n  \
    rocescope analyze --filter 'src 10.0.0.1 and qpn 0x153' trace.pcap\n  \
    rocescope analyze --fail-on warning --format json -o report.json trace.pcap\n  \
    rocescope analyze --redact --format markdown trace.pcap        for a ticket\n\n\
    Filter terms: host, src, dst (address or CIDR), qpn (either end), dqpn, port\n\
    (UDP source port), vlan, priority, dscp, service, opcode, finding, severity\n\
    (at least); and, or, not, parentheses; numbers decimal or 0x. A filter chooses\n\
    what is listed. Totals and verdict are always of everything.\n\n\
    Exit codes: 0 done and nothing at or above --fail-on, 1 something was, 2 wrong\n\
    usage or an input that cannot be read (the others are still reported).")]
pub struct Analyze {
    /// Captures: pcap or pcapng, plain, gzip or zstd; `-` is standard input; several are merged by time
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,

    /// How the report is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// Where the report goes instead of standard output
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Exit with 1 if a finding is at least this severe, or has one of these ids: never, info, warning, critical, ID,...
    #[arg(long, value_name = "SEVERITY|FINDING[,...]", default_value = "never")]
    pub fail_on: FailOn,

    /// Threads; the report does not depend on it [default: the cores there are]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Check the ICRC of whole packets; off is faster, and damaged packets then look whole
    #[arg(long, value_enum, default_value_t = Switch::On, value_name = "on|off", hide_possible_values = true)]
    pub icrc: Switch,

    /// Streams kept at a time; the one not seen for longest leaves, and the report says so
    #[arg(long, value_name = "N", default_value_t = 262_144, value_parser = clap::value_parser!(u32).range(64..))]
    pub max_streams: u32,

    /// Choose which streams, connections and findings are listed
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<Filter>,

    /// Write one JSON object for each RoCE packet to this file; `-` is standard output
    #[arg(long, value_name = "PATH|-")]
    pub frames: Option<PathBuf>,

    /// Replace addresses, paths and names by stable stand-ins
    #[arg(long)]
    pub redact: bool,

    /// Time zone in which times print: utc, local, or Area/City
    #[arg(long, value_name = "utc|local|Area/City", default_value = "utc")]
    pub tz: TimeZoneName,

    /// Another UDP port that carries RoCE v2, besides 4791 (repeatable)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub udp_port: Vec<u16>,

    /// Another UDP port that carries VXLAN, besides 4789 (repeatable)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub vxlan_port: Vec<u16>,

    /// Change a threshold; `rocescope explain FINDING` names them (repeatable)
    #[arg(long, value_name = "FINDING.KEY=VALUE")]
    pub set: Vec<Setting>,

    /// Read opcodes 0x40 to 0x5f as reliable datagram (IBTA) or as NVIDIA's dynamically connected transport
    #[arg(long, value_enum, default_value_t = Family0x40::Rd, value_name = "rd|dc", hide_possible_values = true)]
    pub read_0x40_as: Family0x40,

    /// Colours: auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
}

/// `rocescope explain`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  rocescope explain            list all findings\n  rocescope explain psn-gap"
)]
pub struct Explain {
    /// The finding; all are listed without it
    pub id: Option<String>,

    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// How a report is written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people, 80 columns wide
    Text,
    /// For programs: one document, `rocescope.report/1`
    Json,
    /// For tickets and wikis
    Markdown,
}

/// On or off.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// Do it
    On,
    /// Do not
    Off,
}

/// What opcodes 0x40 to 0x5f are.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family0x40 {
    /// Reliable datagram, as IBTA has it
    Rd,
    /// Dynamically connected transport of NVIDIA
    Dc,
}

/// When to colour.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

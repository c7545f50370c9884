//! The filter: one grammar that chooses what is shown, after the analysis.
//!
//! ```text
//! filter     = any
//! any        = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" any ")" | term
//! term       = ("host" | "src" | "dst") ADDRESS[/PREFIX] | ("qpn" | "dqpn" | "port" | "vlan" | "priority" | "dscp") NUMBER
//!            | ("service" | "opcode" | "finding") WORD | "severity" ("info" | "warning" | "critical")
//! ```

mod network;
mod parse;
mod select;

pub use network::Network;
pub use parse::FilterError;

use rocescope_core::report::Severity;
use std::fmt;

/// A filter, parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Filter {
    /// Both.
    And(Box<Filter>, Box<Filter>),
    /// Either.
    Or(Box<Filter>, Box<Filter>),
    /// Not this.
    Not(Box<Filter>),
    /// One property.
    Term(Term),
}

/// One property of a stream or a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// Sender or receiver.
    Host(Network),
    /// Sender.
    Src(Network),
    /// Receiver.
    Dst(Network),
    /// Queue pair of either end.
    Qpn(u32),
    /// Queue pair of the receiver.
    Dqpn(u32),
    /// UDP source port.
    Port(u16),
    /// VID.
    Vlan(u16),
    /// PCP.
    Priority(u8),
    /// DSCP.
    Dscp(u8),
    /// Service of the connection, such as `tcp:4420` or its port alone.
    Service(String),
    /// At least one packet of that opcode, as the table of opcodes names it.
    Opcode(String),
    /// Id of a finding.
    Finding(String),
    /// At least that severe.
    Severity(Severity),
}

impl Filter {
    /// The ids of findings it names.
    #[must_use]
    pub fn findings(&self) -> Vec<&str> {
        match self {
            Self::And(left, right) | Self::Or(left, right) => {
                [left.findings(), right.findings()].concat()
            }
            Self::Not(inner) => inner.findings(),
            Self::Term(Term::Finding(id)) => vec![id],
            Self::Term(_) => Vec::new(),
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, Binding::Or)
    }
}

/// How tightly the place binds in which a filter prints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Not,
}

impl Filter {
    /// Chains lean to the left, so that the right side of an operator stands in parentheses when it is a chain itself.
    fn print(&self, f: &mut fmt::Formatter<'_>, place: Binding) -> fmt::Result {
        let (binding, word, left, right) = match self {
            Self::Or(left, right) => (Binding::Or, " or ", left, right),
            Self::And(left, right) => (Binding::And, " and ", left, right),
            Self::Not(inner) => {
                f.write_str("not ")?;
                return inner.print(f, Binding::Not);
            }
            Self::Term(term) => return write!(f, "{term}"),
        };
        let tighter = if binding == Binding::Or {
            Binding::And
        } else {
            Binding::Not
        };
        let enclosed = place > binding;
        f.write_str(if enclosed { "(" } else { "" })?;
        left.print(f, binding)?;
        f.write_str(word)?;
        right.print(f, tighter)?;
        f.write_str(if enclosed { ")" } else { "" })
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(network) => write!(f, "host {network}"),
            Self::Src(network) => write!(f, "src {network}"),
            Self::Dst(network) => write!(f, "dst {network}"),
            Self::Qpn(qpn) => write!(f, "qpn {qpn:#x}"),
            Self::Dqpn(qpn) => write!(f, "dqpn {qpn:#x}"),
            Self::Port(port) => write!(f, "port {port}"),
            Self::Vlan(vid) => write!(f, "vlan {vid}"),
            Self::Priority(pcp) => write!(f, "priority {pcp}"),
            Self::Dscp(dscp) => write!(f, "dscp {dscp}"),
            Self::Service(word) => write!(f, "service {word}"),
            Self::Opcode(word) => write!(f, "opcode {word}"),
            Self::Finding(word) => write!(f, "finding {word}"),
            Self::Severity(severity) => {
                write!(f, "severity {}", crate::report::severity_word(*severity))
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! From text to filter.

use super::{Filter, Network, Term};
use crate::fail_on;
use std::str::FromStr;
use thiserror::Error;

/// Nesting beyond this is refused rather than followed.
const DEEPEST: usize = 64;
/// So are more terms than this.
const MOST_TERMS: usize = 1_000;

const TERMS: &str =
    "host, src, dst, qpn, dqpn, port, vlan, priority, dscp, service, opcode, finding or severity";

/// Where a filter cannot be read, and what was expected there.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("at character {position}: expected {expected}, found {found}")]
pub struct FilterError {
    /// From 1; one behind the last character at the end.
    pub position: usize,
    /// What was expected.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut words = Words {
            text,
            at: 0,
            depth: 0,
            terms: 0,
        };
        let filter = words.any()?;
        match words.peek() {
            None => Ok(filter),
            Some(_) => Err(words.expected("and, or, or the end")),
        }
    }
}

/// The text from `at` on.
struct Words<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    terms: usize,
}

impl<'a> Words<'a> {
    fn any(&mut self) -> Result<Filter, FilterError> {
        let mut left = self.all()?;
        while self.take("or") {
            left = Filter::Or(Box::new(left), Box::new(self.all()?));
        }
        Ok(left)
    }

    fn all(&mut self) -> Result<Filter, FilterError> {
        let mut left = self.one()?;
        while self.take("and") {
            left = Filter::And(Box::new(left), Box::new(self.one()?));
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Filter, FilterError> {
        if self.depth >= DEEPEST {
            return Err(self.expected("fewer parentheses and nots inside each other"));
        }
        self.depth += 1;
        let filter = if self.take("not") {
            Filter::Not(Box::new(self.one()?))
        } else if self.take("(") {
            let inner = self.any()?;
            if !self.take(")") {
                return Err(self.expected("and, or, or )"));
            }
            inner
        } else {
            Filter::Term(self.term()?)
        };
        self.depth -= 1;
        Ok(filter)
    }

    fn term(&mut self) -> Result<Term, FilterError> {
        self.terms += 1;
        if self.terms > MOST_TERMS {
            return Err(self.expected("the end: a filter has at most 1,000 terms"));
        }
        let before = self.at;
        let name = self.next().unwrap_or_default();
        Ok(match name {
            "host" => Term::Host(self.network()?),
            "src" => Term::Src(self.network()?),
            "dst" => Term::Dst(self.network()?),
            "qpn" => Term::Qpn(self.number("a QPN (0 to 0xffffff)", 0xff_ffff)?),
            "dqpn" => Term::Dqpn(self.number("a QPN (0 to 0xffffff)", 0xff_ffff)?),
            "port" => Term::Port(self.small("a UDP port (0 to 65535)", u16::MAX)?),
            "vlan" => Term::Vlan(self.small("a VID (0 to 4095)", 4095)?),
            "priority" => Term::Priority(self.small("a PCP (0 to 7)", 7)?),
            "dscp" => Term::Dscp(self.small("a DSCP (0 to 63)", 63)?),
            "service" => Term::Service(self.word("a service, such as tcp:4420")?.to_owned()),
            "opcode" => Term::Opcode(
                self.word("an opcode, such as RC_SEND_FIRST")?
                    .to_ascii_uppercase(),
            ),
            "finding" => Term::Finding(self.word("a finding, such as psn-gap")?.to_owned()),
            "severity" => {
                Term::Severity(self.value("info, warning or critical", fail_on::severity)?)
            }
            _ => {
                self.at = before;
                return Err(self.expected(&format!("{TERMS}, not, or (")));
            }
        })
    }

    fn network(&mut self) -> Result<Network, FilterError> {
        self.value(
            "an address or a network, such as 192.0.2.0/24",
            Network::parse,
        )
    }

    fn small<T: Into<u32> + TryFrom<u32>>(
        &mut self,
        expected: &str,
        max: T,
    ) -> Result<T, FilterError> {
        let max = max.into();
        self.value(expected, |text| {
            number(text).filter(|value| *value <= max)?.try_into().ok()
        })
    }

    fn number(&mut self, expected: &str, max: u32) -> Result<u32, FilterError> {
        self.small(expected, max)
    }

    fn word(&mut self, expected: &str) -> Result<&'a str, FilterError> {
        self.value(expected, |text| {
            (text != "(" && text != ")").then_some(text)
        })
    }

    /// Takes the next word if it can be read; leaves the position at it otherwise.
    fn value<T>(
        &mut self,
        expected: &str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, FilterError> {
        let before = self.at;
        match self.next().and_then(read) {
            Some(value) => Ok(value),
            None => {
                self.at = before;
                Err(self.expected(expected))
            }
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let taken = self.peek() == Some(word);
        if taken {
            self.next();
        }
        taken
    }

    fn next(&mut self) -> Option<&'a str> {
        let (start, word) = self.ahead()?;
        self.at = start + word.len();
        Some(word)
    }

    fn peek(&self) -> Option<&'a str> {
        self.ahead().map(|(_, word)| word)
    }

    /// The next word and where it begins: a parenthesis, or anything up to a blank or a parenthesis.
    fn ahead(&self) -> Option<(usize, &'a str)> {
        let rest = self.text.get(self.at..)?;
        let word = rest.trim_start();
        let start = self.at + (rest.len() - word.len());
        let ends =
            |(_, letter): &(usize, char)| letter.is_whitespace() || matches!(letter, '(' | ')');
        let end = match word.char_indices().find(ends) {
            Some((0, letter)) => letter.len_utf8(),
            Some((index, _)) => index,
            None => word.len(),
        };
        word.get(..end)
            .filter(|word| !word.is_empty())
            .map(|word| (start, word))
    }

    fn expected(&self, expected: &str) -> FilterError {
        let (start, found) = match self.ahead() {
            Some((start, word)) => (start, format!("'{}'", crate::report::Untrusted(word))),
            None => (self.text.len(), "the end".to_owned()),
        };
        let position = self
            .text
            .get(..start)
            .map_or(start, |before| before.chars().count())
            + 1;
        FilterError {
            position,
            expected: expected.to_owned(),
            found,
        }
    }
}

/// A number, decimal or with 0x.
fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // Rust's own parser takes a sign.
    let only_digits = digits.chars().all(|digit| digit.is_digit(radix));
    only_digits
        .then(|| u32::from_str_radix(digits, radix).ok())
        .flatten()
}

//! Text that came from a file or the wire.

use std::fmt::{self, Write};

/// Text from a file or the wire, printed so that it can neither move the cursor, nor turn the line around, nor break it.
///
/// Control characters, line and paragraph separators, characters of bidirectional layout, and characters that print as
/// nothing come out as `\u{202e}`, and a backslash as two, so that the original can be told.
#[derive(Clone, Copy, Debug)]
pub struct Untrusted<'a>(pub &'a str);

impl fmt::Display for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '\\' => f.write_str("\\\\")?,
                _ if is_harmful(letter) => write!(f, "\\u{{{:x}}}", u32::from(letter))?,
                _ => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

impl Untrusted<'_> {
    /// As a Markdown code span, in which nothing is a link, a mention, markup or the border of a table cell.
    #[must_use]
    pub fn code_span(&self) -> String {
        let text = self.to_string().replace('|', "\\u{7c}");
        let longest = text
            .split(|letter| letter != '`')
            .map(str::len)
            .max()
            .unwrap_or(0);
        let fence = "`".repeat(longest + 1);
        // CommonMark takes one blank off each side if both are there; a span of nothing is none.
        if text.trim().is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) {
            format!("{fence} {text} {fence}")
        } else {
            format!("{fence}{text}{fence}")
        }
    }

    /// As Markdown prose: nothing in it is markup.
    #[must_use]
    pub fn prose(&self) -> String {
        let text = self.to_string();
        let mut out = String::with_capacity(text.len() + 8);
        for letter in text.chars() {
            match letter {
                // Forges look for mentions and issues in what is rendered, where a backslash is gone.
                '@' | '#' => {
                    out.push('`');
                    out.push(letter);
                    out.push('`');
                }
                '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '|' | '~' | '&'
                | '!' | '$' => {
                    out.push('\\');
                    out.push(letter);
                }
                _ => out.push(letter),
            }
        }
        // Bare addresses of web pages become links without any markup.
        out.replace("://", "\\://").replace("www.", "www\\.")
    }
}

/// Whether a character acts on the terminal or the layout instead of printing.
pub(super) fn is_harmful(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_spelled_out() {
        let hostile = "a\u{1b}[31mb\u{202e}c\nd\u{2028}e\u{85}f\r\tg\u{200b}h\\n\u{7f}\u{e0041}";
        let printed = Untrusted(hostile).to_string();
        assert_eq!(
            printed,
            "a\\u{1b}[31mb\\u{202e}c\\u{a}d\\u{2028}e\\u{85}f\\u{d}\\u{9}g\\u{200b}h\\\\n\\u{7f}\\u{e0041}"
        );
        assert!(!printed.chars().any(is_harmful));
    }

    #[test]
    fn what_prints_stays() {
        assert_eq!(
            Untrusted("Müller/скан 東京.pcap").to_string(),
            "Müller/скан 東京.pcap"
        );
    }

    #[test]
    fn a_code_span_cannot_be_left() {
        assert_eq!(Untrusted("a`b``c").code_span(), "```a`b``c```");
        assert_eq!(Untrusted("`").code_span(), "`` ` ``");
        assert_eq!(Untrusted("").code_span(), "`  `");
        assert_eq!(Untrusted("a|b").code_span(), "`a\\u{7c}b`");
    }

    #[test]
    fn prose_has_no_markup() {
        assert_eq!(
            Untrusted("[x](http://e.x) <b> @all *y* www.e.x").prose(),
            "\\[x\\](http\\://e.x) \\<b\\> `@`all \\*y\\* www\\.e.x"
        );
    }
}

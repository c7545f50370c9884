//! Lines of at most 80 columns.

/// Columns of a page.
pub(in crate::report) const WIDTH: usize = 80;
/// Columns of the labels at the left of the first screen and of findings.
const LABEL: usize = 9;
/// Columns of the questions of the verdict.
const QUESTION: usize = 13;

/// Colours, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paint {
    /// Escape sequences of ECMA-48.
    Colour,
    /// Plain text.
    Plain,
}

impl Paint {
    pub(in crate::report) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(in crate::report) fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    pub(in crate::report) fn yellow(self, text: &str) -> String {
        self.with("1;33", text)
    }

    pub(in crate::report) fn blue(self, text: &str) -> String {
        self.with("34", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        match self {
            Self::Colour if !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            _ => text.to_owned(),
        }
    }
}

/// A report as it grows.
pub(in crate::report) struct Page {
    out: String,
    paint: Paint,
}

impl Page {
    pub(in crate::report) fn new(paint: Paint) -> Self {
        Self {
            out: String::new(),
            paint,
        }
    }

    /// A page without colours.
    pub(in crate::report) fn plain() -> Self {
        Self::new(Paint::Plain)
    }

    pub(in crate::report) fn paint(&self) -> Paint {
        self.paint
    }

    pub(in crate::report) fn finish(self) -> String {
        self.out
    }

    /// A heading with a blank line before it.
    pub(in crate::report) fn heading(&mut self, title: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let painted = self.paint.bold(title);
        self.push(&painted);
    }

    /// A label at the left edge, painted, and text beside it.
    pub(in crate::report) fn item(&mut self, painted: String, label: &str, text: &str) {
        let blanks = " ".repeat((LABEL + 1).saturating_sub(label.chars().count()).max(1));
        self.hanging(
            &(painted + &blanks),
            label.chars().count() + blanks.len(),
            LABEL + 1,
            text,
        );
    }

    /// A label under an item or heading, and text beside it.
    pub(in crate::report) fn entry(&mut self, label: &str, text: &str) {
        self.labelled(label, LABEL, text);
    }

    /// A question of the verdict and its answer.
    pub(in crate::report) fn answer(&mut self, question: &str, text: &str) {
        self.labelled(question, QUESTION, text);
    }

    fn labelled(&mut self, label: &str, width: usize, text: &str) {
        let lead = format!("  {label:width$} ");
        self.hanging(&lead, lead.chars().count(), width + 3, text);
    }

    /// A point of a list.
    pub(in crate::report) fn bullet(&mut self, text: &str) {
        self.hanging("  - ", 4, 4, text);
    }

    /// A paragraph at the left edge.
    pub(in crate::report) fn line(&mut self, text: &str) {
        self.hanging("", 0, 2, text);
    }

    /// A paragraph under a heading.
    pub(in crate::report) fn indented(&mut self, text: &str) {
        self.hanging("  ", 2, 2, text);
    }

    /// A line that already fits.
    pub(in crate::report) fn push(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// Text behind a lead of that width; further lines begin at a column.
    fn hanging(&mut self, lead: &str, lead_width: usize, column: usize, text: &str) {
        let lines = wrap(
            text,
            WIDTH.saturating_sub(lead_width),
            WIDTH.saturating_sub(column),
        );
        for (index, line) in lines.iter().enumerate() {
            let lead = if index == 0 {
                lead.to_owned()
            } else {
                " ".repeat(column)
            };
            self.push(&(lead + line));
        }
    }
}

/// Cuts text at blanks, words that are too long anywhere.
fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let room = if lines.is_empty() { first } else { rest }.max(1);
            let blank = usize::from(used > 0);
            if used + blank + word.len() <= room {
                line.push_str(if used > 0 { " " } else { "" });
                line.extend(&word);
                used += blank + word.len();
                break;
            }
            if used == 0 {
                line.extend(word.drain(..room));
            }
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
    }
    if used > 0 || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7, 5), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh i", 3, 4), ["abc", "defg", "h i"]);
        assert_eq!(wrap("", 3, 4), [""]);
        assert_eq!(wrap("äöü äöü", 3, 3), ["äöü", "äöü"]);
    }

    #[test]
    fn colours_take_no_columns() {
        let mut page = Page::new(Paint::Colour);
        page.item(
            page.paint().red("CRITICAL"),
            "CRITICAL",
            &"word ".repeat(40),
        );
        for line in page
            .finish()
            .replace("\u{1b}[1;31m", "")
            .replace("\u{1b}[0m", "")
            .lines()
        {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}

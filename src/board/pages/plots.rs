//! Plots without scripts: histograms, and shares of a whole. Text keeps its size on any screen.

use super::texts::{Text, has_words, localized};
use crate::words::grouped;
use maud::{Markup, Render, html};

/// Approximate maximum number of columns with a label.
const MAX_LABELS: usize = 8;
/// Maximum number of parts of a whole. Beyond it, the smallest parts are merged.
const MAX_PARTS: usize = 6;

/// Style of plots.
pub(super) const STYLE: &str = include_str!("plots.css");

/// Histogram: columns with a label and a number each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Columns {
    title: String,
    columns: Vec<(String, u64)>,
}

impl Columns {
    /// Creates a histogram, with columns from left to right. `title` is the text for screen readers.
    pub fn new(title: &str, columns: impl IntoIterator<Item = (String, u64)>) -> Columns {
        Columns { title: title.to_owned(), columns: columns.into_iter().collect() }
    }

    /// Returns the number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    fn most(&self) -> u64 {
        self.columns.iter().map(|column| column.1).max().unwrap_or(0)
    }
}

/// Formats a share in `[0, 1]` for the style.
fn share(part: u64, whole: u64) -> String {
    format!("{:.4}", part as f64 / whole.max(1) as f64)
}

impl Render for Columns {
    fn render(&self) -> Markup {
        let (most, count) = (self.most(), self.columns.len());
        let step = count.div_ceil(MAX_LABELS).max(1);
        let middle = |index: usize| format!("--at:{:.4}", (index as f64 + 0.5) / count as f64);
        html! {
            div.columns role="img" aria-label=(self.title) {
                div.scale-y aria-hidden="true" { span { (grouped(most)) } span { "0" } }
                div.bars {
                    @for (label, number) in &self.columns {
                        i style={ "--share:" (share(*number, most)) } title={ (label) ": " (grouped(*number)) } {}
                    }
                }
                div.scale-x aria-hidden="true" {
                    @for (index, (label, _)) in self.columns.iter().enumerate().step_by(step) {
                        // A range is labelled with its lower end.
                        span style=(middle(index)) { (label.split('–').next().unwrap_or_default()) }
                    }
                }
            }
        }
    }
}

/// Shares of a whole as one bar, with a legend that contains the numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shares {
    title: String,
    parts: Vec<(String, u64)>,
    others: u64,
    /// Prefix of the names of parts in the table of texts, if they are looked up there.
    prefix: Option<&'static str>,
}

impl Shares {
    /// Creates the plot. The largest parts come first. The smallest parts are merged. `title` is the text for screen
    /// readers.
    pub fn new(title: &str, parts: impl IntoIterator<Item = (String, u64)>) -> Shares {
        let mut parts: Vec<(String, u64)> = parts.into_iter().filter(|part| part.1 > 0).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.1));
        let kept = if parts.len() > MAX_PARTS { MAX_PARTS - 1 } else { parts.len() };
        let others = parts.drain(kept..).map(|part| part.1).sum();
        Shares { title: title.to_owned(), parts, others, prefix: None }
    }

    /// Takes the names of parts from the table of texts, where it has an entry for `prefix` followed by the name.
    #[must_use]
    pub fn in_words(mut self, prefix: &'static str) -> Shares {
        self.prefix = Some(prefix);
        self
    }

    fn localized(&self, part: &str) -> Option<Text> {
        self.prefix.map(|prefix| format!("{prefix}{part}")).filter(|name| has_words(name)).map(localized)
    }

    /// Returns the number of parts.
    pub fn len(&self) -> usize {
        self.parts.len() + usize::from(self.others > 0)
    }

    /// Returns whether there are no parts.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn whole(&self) -> u64 {
        self.parts.iter().map(|part| part.1).sum::<u64>() + self.others
    }
}

impl Render for Shares {
    fn render(&self) -> Markup {
        let whole = self.whole();
        let percent = |part: u64| format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64);
        let others = localized("other-parts");
        let shown = |name: &String| match self.localized(name) {
            Some(words) => words.render(),
            None => html! { (name) },
        };
        let parts = self.parts.iter().map(|(name, part)| (shown(name), name.clone(), *part));
        let rest = (self.others > 0).then(|| (others.render(), others.english(), self.others));
        let parts: Vec<(Markup, String, u64)> = parts.chain(rest).collect();
        html! {
            div.shares {
                div.whole role="img" aria-label=(self.title) {
                    @for (index, (_, name, part)) in parts.iter().enumerate() {
                        i class={ "part-" (index) } style={ "--share:" (share(*part, whole)) } title={ (name) ": " (grouped(*part)) } {}
                    }
                }
                ul {
                    @for (index, (name, _, part)) in parts.iter().enumerate() {
                        li {
                            i class={ "part-" (index) } {}
                            span.name { (name) }
                            span.number { (grouped(*part)) }
                            span.number.faint { (percent(*part)) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(numbers: &[u64]) -> Vec<(String, u64)> {
        numbers.iter().enumerate().map(|(index, &number)| (format!("<{index}>"), number)).collect()
    }

    #[test]
    fn columns_are_as_high_as_their_numbers() {
        let text = Columns::new("a & b", parts(&[5, 0, 2000])).render().into_string();
        assert!(text.contains("aria-label=\"a &amp; b\"") && !text.contains("<0>"), "{text}");
        for share in ["0.0025", "0.0000", "1.0000"] {
            assert_eq!(text.matches(&format!("--share:{share}")).count(), 1, "{text}");
        }
        assert!(text.contains("<span>2,000</span>"), "{text}");
        let many = Columns::new("x", parts(&[1; 100])).render().into_string();
        assert!(many.matches("--at:").count() <= MAX_LABELS, "{many}");
        assert!(
            Columns::new("x", parts(&[0])).render().into_string().contains("0.0000"),
            "nothing is divided by 0"
        );
    }

    #[test]
    fn small_parts_are_put_together() {
        let shares = Shares::new("x", parts(&[1, 2, 3, 4, 5, 6, 7, 0]));
        assert_eq!((shares.parts.len(), shares.others, shares.whole()), (5, 3, 28));
        let text = shares.render().into_string();
        assert_eq!(text.matches("<li>").count(), 6, "{text}");
        assert!(text.contains("25.0 %") && text.contains("10.7 %"), "{text}");
        assert!(Shares::new("x", parts(&[0])).is_empty());
    }
}

//! Plots that are drawn without scripts: columns side by side, and the shares of a whole. Text keeps its size on any screen.

use super::texts::{Words, has_words, words};
use crate::words::grouped;
use maud::{Markup, Render, html};

/// About so many columns get a label.
const LABELS_MOST: usize = 8;
/// So many parts of a whole have a colour of their own; the rest is one part.
const PARTS_MOST: usize = 6;

/// The style of plots.
pub(super) const STYLE: &str = include_str!("plots.css");

/// Columns side by side, each with a label and a number: a histogram.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Columns {
    title: String,
    columns: Vec<(String, u64)>,
}

impl Columns {
    /// Columns from left to right. The title is what is read aloud instead of the picture.
    pub fn new(title: &str, columns: impl IntoIterator<Item = (String, u64)>) -> Columns {
        Columns { title: title.to_owned(), columns: columns.into_iter().collect() }
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    fn most(&self) -> u64 {
        self.columns.iter().map(|column| column.1).max().unwrap_or(0)
    }
}

/// A number from 0 to 1 for the style.
fn share(part: u64, whole: u64) -> String {
    format!("{:.4}", part as f64 / whole.max(1) as f64)
}

impl Render for Columns {
    fn render(&self) -> Markup {
        let (most, count) = (self.most(), self.columns.len());
        let step = count.div_ceil(LABELS_MOST).max(1);
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
                        // Of a range its beginning.
                        span style=(middle(index)) { (label.split('–').next().unwrap_or_default()) }
                    }
                }
            }
        }
    }
}

/// The parts of a whole as one bar, with a legend that has the numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shares {
    title: String,
    parts: Vec<(String, u64)>,
    others: u64,
    /// What stands before the names of parts in the table of texts, if they may be there.
    prefix: Option<&'static str>,
}

impl Shares {
    /// The largest parts first; small ones behind them are put together. The title is what is read aloud.
    pub fn new(title: &str, parts: impl IntoIterator<Item = (String, u64)>) -> Shares {
        let mut parts: Vec<(String, u64)> = parts.into_iter().filter(|part| part.1 > 0).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.1));
        let kept = if parts.len() > PARTS_MOST { PARTS_MOST - 1 } else { parts.len() };
        let others = parts.drain(kept..).map(|part| part.1).sum();
        Shares { title: title.to_owned(), parts, others, prefix: None }
    }

    /// Takes the words of parts from the table of texts, where they are there with this before their names.
    #[must_use]
    pub fn in_words(mut self, prefix: &'static str) -> Shares {
        self.prefix = Some(prefix);
        self
    }

    fn words(&self, part: &str) -> Option<Words> {
        self.prefix.map(|prefix| format!("{prefix}{part}")).filter(|name| has_words(name)).map(words)
    }

    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.parts.len() + usize::from(self.others > 0)
    }

    /// Are there no parts?
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
        let others = words("other-parts");
        let shown = |name: &String| match self.words(name) {
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
        assert!(many.matches("--at:").count() <= LABELS_MOST, "{many}");
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

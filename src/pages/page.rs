//! The shell of a page, and tables.

use std::fmt::{self, Write as _};

/// The style that all pages share.
const STYLE: &str = include_str!("style.css");

/// Text as it must be written in HTML and XML, in content and in attributes. Characters that XML 1.0 does not
/// allow at all are replaced by U+FFFD.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A page: head, style, and what has been added to it. Written out by [`Display`](fmt::Display).
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    head: String,
    style: String,
    body: String,
}

impl Page {
    /// An empty page with a title, which is also its heading.
    pub fn new(title: &str) -> Page {
        Page { title: escape(title), head: String::new(), style: STYLE.to_owned(), body: String::new() }
    }

    /// Adds an element to the head.
    pub fn head(&mut self, markup: &str) {
        let _ = writeln!(self.head, "{markup}");
    }

    /// Adds rules to the style, for what only this page has.
    pub fn style(&mut self, css: &str) {
        self.style.push_str(css);
    }

    /// Begins a section.
    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(text));
    }

    /// Adds a paragraph of plain text.
    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
    }

    /// Adds a piece of markup: a [`Table`], a [`Diagram`], or something of the caller's, who has escaped it.
    pub fn markup(&mut self, markup: impl fmt::Display) {
        let _ = writeln!(self.body, "{markup}");
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             {head}<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\
             </body>\n</html>\n",
            title = self.title,
            head = self.head,
            style = self.style,
            body = self.body,
        )
    }
}

/// A table: a heading and rows of cells, numbers to the right.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<String>,
    body: String,
}

/// One cell of a [`Table`].
#[derive(Clone, Debug)]
pub enum TableCell {
    /// Plain text, to the left.
    Text(String),
    /// A number with its unit, to the right.
    Number(String),
    /// Markup that the caller has escaped.
    Markup(String),
}

impl From<&str> for TableCell {
    fn from(text: &str) -> TableCell {
        TableCell::Text(text.to_owned())
    }
}

impl From<String> for TableCell {
    fn from(text: String) -> TableCell {
        TableCell::Text(text)
    }
}

impl TableCell {
    /// A number as it is to be shown.
    pub fn number(value: impl fmt::Display) -> TableCell {
        TableCell::Number(value.to_string())
    }
}

impl Table {
    /// A table with these columns. A column whose name begins with `#` is of numbers, and the sign is not shown.
    pub fn new(columns: &[&str]) -> Table {
        Table { head: columns.iter().map(|&name| name.to_owned()).collect(), body: String::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = TableCell>) {
        self.push("", cells);
    }

    /// Adds the row of sums.
    pub fn total(&mut self, cells: impl IntoIterator<Item = TableCell>) {
        self.push(" class=\"total\"", cells);
    }

    fn push(&mut self, class: &str, cells: impl IntoIterator<Item = TableCell>) {
        let _ = write!(self.body, "<tr{class}>");
        for cell in cells {
            let _ = match cell {
                TableCell::Text(text) => write!(self.body, "<td>{}</td>", escape(&text)),
                TableCell::Number(text) => write!(self.body, "<td class=\"number\">{}</td>", escape(&text)),
                TableCell::Markup(markup) => write!(self.body, "<td>{markup}</td>"),
            };
        }
        self.body.push_str("</tr>\n");
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<div class=\"table\"><table>\n<thead><tr>")?;
        for name in &self.head {
            match name.strip_prefix('#') {
                Some(name) => write!(f, "<th class=\"number\">{}</th>", escape(name.trim_start()))?,
                None => write!(f, "<th>{}</th>", escape(name))?,
            }
        }
        write!(f, "</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>", self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
        assert_eq!(escape("\x1b[1m\0é\n"), "\u{fffd}[1m\u{fffd}é\n");
        let mut page = Page::new("</title><script>");
        page.heading("<h>");
        page.paragraph("<p>");
        let mut table = Table::new(&["<c>", "# <n>"]);
        table.row(["<x>".into(), TableCell::number("<1>")]);
        page.markup(table);
        let text = page.to_string();
        for raw in ["<script>", "<h>", "<c>", "<n>", "<x>", "<1>"] {
            assert!(!text.contains(raw), "{raw} in {text}");
        }
    }

    #[test]
    fn a_table_keeps_numbers_to_the_right() {
        let mut table = Table::new(&["suite", "# tests"]);
        table.row(["ko".into(), TableCell::number(12)]);
        table.total(["all".into(), TableCell::number(12)]);
        let text = table.to_string();
        assert!(text.contains("<th>suite</th><th class=\"number\">tests</th>"), "{text}");
        assert!(text.contains("<tr><td>ko</td><td class=\"number\">12</td></tr>"), "{text}");
        assert!(text.contains("<tr class=\"total\"><td>all</td>"), "{text}");
    }

    #[test]
    fn a_page_needs_nothing_from_elsewhere() {
        let text = Page::new("x").to_string();
        for way_out in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!text.contains(way_out), "{way_out}");
        }
    }
}

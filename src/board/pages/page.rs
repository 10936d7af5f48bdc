//! Frame of a page, and tables.

use super::components;
use super::texts::{Text, english, localized};
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use std::fmt;

/// Common style of all pages.
const STYLE: &str = include_str!("style.css");
const SORT: &str = include_str!("sort.js");
const SORT_STYLE: &str = include_str!("sort.css");

/// Returns the common style, for pages that are built elsewhere.
pub const fn style() -> &'static str {
    STYLE
}

/// HTML page with head, style and body. [`Display`](fmt::Display) writes it.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    /// Text of the title; `None` if the title is a proper name.
    title_words: Option<Text>,
    /// Whether the reader can choose the language.
    has_languages: bool,
    /// Class of the body.
    class: Option<&'static str>,
    head: Vec<Markup>,
    style: String,
    /// Sources of the scripts that may run.
    scripts: Vec<String>,
    /// Further directives of the content security policy.
    policy_directives: String,
    body: Vec<Markup>,
}

impl Page {
    /// Creates an empty page with a title, which is also its heading.
    pub fn new(title: &str) -> Page {
        Page {
            title: title.to_owned(),
            title_words: None,
            has_languages: false,
            class: None,
            head: Vec::new(),
            style: STYLE.to_owned(),
            scripts: Vec::new(),
            policy_directives: String::new(),
            body: Vec::new(),
        }
    }

    /// Creates an empty page with a title from the table of texts.
    pub fn named(title: Text) -> Page {
        let mut page = Page::new(&title.english());
        page.title_words = Some(title);
        page
    }

    /// Adds a menu of languages. A script of the page must handle it (`takeLanguage`).
    pub fn enable_languages(&mut self) {
        self.has_languages = true;
    }

    /// Adds a menu of languages to a page without another script. Call it last.
    pub fn add_language_script(&mut self) {
        if self.has_languages {
            return;
        }
        let script = ["\n", components::texts(), components::LANGUAGE, "takeLanguage();\n"].concat();
        self.enable_languages();
        self.allow_script(&script);
        self.add(html! { script { (PreEscaped(script)) } });
    }

    /// Sets the class of the body, for the style of all pages of one kind.
    pub fn class(&mut self, class: &'static str) {
        self.class = Some(class);
    }

    /// Adds an element to the head of the document.
    pub fn head(&mut self, markup: Markup) {
        self.head.push(markup);
    }

    /// Lets the reader sort [sortable](Table::sortable) tables. Call it after
    /// [`add_language_script`](Page::add_language_script), whose language orders texts.
    pub fn add_sort_script(&mut self) {
        self.style(SORT_STYLE);
        self.allow_script(SORT);
        self.add(html! { script { (PreEscaped(SORT)) } });
    }

    /// Adds style rules for this page.
    pub fn style(&mut self, css: &str) {
        self.style.push_str(css);
    }

    /// Adds the style of [`Diagram`](super::Diagram).
    pub fn diagram_style(&mut self) {
        self.style(super::diagram::STYLE);
    }

    /// Adds the style of [`Columns`](super::Columns) and [`Shares`](super::Shares).
    pub fn plot_style(&mut self) {
        self.style(super::plots::STYLE);
    }

    /// Allows a script to run. The caller must also [add](Page::add) it. No other script can run.
    pub fn allow_script(&mut self, script: &str) {
        self.scripts.push(components::script_source(script));
    }

    /// Adds directives to the content security policy.
    pub fn allow(&mut self, directives: &str) {
        self.policy_directives.push_str("; ");
        self.policy_directives.push_str(directives);
    }

    /// Returns the content security policy. It forbids external resources and all scripts that were not allowed,
    /// whatever the page contains.
    pub fn policy(&self) -> String {
        let scripts = if self.scripts.is_empty() { "'none'".to_owned() } else { self.scripts.join(" ") };
        format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; base-uri 'none'; form-action 'none'{}",
            self.policy_directives
        )
    }

    /// Begins a section.
    pub fn heading(&mut self, text: &str) {
        self.add(html! { h2 { (text) } });
    }

    /// Begins a section whose heading is in the table of texts.
    pub fn heading_words(&mut self, heading: &Text) {
        self.add(
            html! { h2 data-text=(heading.name()) data-values=[heading.values()] { (heading.english()) } },
        );
    }

    /// Adds a paragraph of plain text.
    pub fn paragraph(&mut self, text: &str) {
        self.add(html! { p { (text) } });
    }

    /// Adds a [`Table`], a [`Diagram`](super::Diagram), or other markup.
    pub fn add(&mut self, part: impl Render) {
        self.body.push(part.render());
    }

    fn markup(&self) -> Markup {
        let line_end = PreEscaped("\n");
        let name = self.title_words.as_ref().map(Text::name);
        let values = self.title_words.as_ref().and_then(Text::values);
        html! {
            (DOCTYPE) (line_end)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(self.policy());
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    @for element in &self.head { (element) }
                    title data-text=[name] data-values=[&values] { (self.title) }
                    style { (PreEscaped(components::compact_style(&self.style))) }
                }
                (line_end)
                body class=[self.class] {
                    @if self.has_languages {
                        // The menu stays hidden without scripts.
                        label.language hidden="hidden" { span.hidden data-text="language" { (english("language")) } select #language {} }
                    }
                    h1 data-text=[name] data-values=[&values] { (self.title) } (line_end)
                    @for part in &self.body { (part) (line_end) }
                }
            }
            (line_end)
        }
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_controls(self.markup().into_string()))
    }
}

/// Replaces characters that XML 1.0 forbids by U+FFFD.
fn without_controls(text: String) -> String {
    let is_allowed = |character: char| {
        matches!(character, '\t' | '\n' | '\r')
            || !matches!(character, '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}')
    };
    if text.chars().all(is_allowed) {
        return text;
    }
    text.chars().map(|character| if is_allowed(character) { character } else { '\u{fffd}' }).collect()
}

/// Table with headings and rows of cells. Numbers are aligned right.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Column {
    heading: Markup,
    is_number: bool,
    first_order: Option<SortOrder>,
}

/// Order of the rows of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SortOrder {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

impl SortOrder {
    /// Returns the value of the attribute `aria-sort`.
    const fn name(self) -> &'static str {
        match self {
            SortOrder::Ascending => "ascending",
            SortOrder::Descending => "descending",
        }
    }
}

#[derive(Clone, Debug)]
struct Row {
    cells: Vec<TableCell>,
    is_total: bool,
}

/// Cell of a [`Table`].
#[derive(Clone, Debug)]
pub enum TableCell {
    /// Plain text, aligned left.
    Text(String),
    /// Number with its unit, aligned right.
    Number(String),
    /// Other markup.
    Markup(Markup),
    /// Another cell, with the number by which rows are sorted; rows with `None` stay at the end.
    Sorted(Box<TableCell>, Option<f32>),
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
    /// Creates a cell with a formatted number.
    pub fn number(value: impl fmt::Display) -> TableCell {
        TableCell::Number(value.to_string())
    }

    /// Returns the cell with the number by which rows are sorted. Without one, rows with this cell stay at the end.
    #[must_use]
    pub fn sorted_by(self, number: Option<f32>) -> TableCell {
        TableCell::Sorted(Box::new(self), number.filter(|number| number.is_finite()))
    }

    fn markup(&self, sort: Option<&str>) -> Markup {
        match self {
            TableCell::Text(text) => html! { td data-sort=[sort] { (text) } },
            TableCell::Number(text) => {
                let is_localized = text.contains(['.', ',']).then_some("");
                html! { td.number data-number=[is_localized] data-sort=[sort] { (text) } }
            }
            TableCell::Markup(markup) => html! { td data-sort=[sort] { (markup) } },
            TableCell::Sorted(cell, number) => {
                cell.markup(Some(&number.map_or_else(String::new, |number| number.to_string())))
            }
        }
    }
}

impl Render for TableCell {
    fn render(&self) -> Markup {
        self.markup(None)
    }
}

impl Table {
    /// Creates a table with these columns. A name that begins with `#` marks a column of numbers; the `#` is not shown.
    pub fn new(columns: &[&str]) -> Table {
        Table::with_headings(columns, |name| html! { (name) })
    }

    /// Creates a table whose headings are names in the table of texts. `#` marks columns of numbers. An empty name
    /// gives an empty heading. `values` are inserted into all headings that use them.
    pub fn named(columns: &[&str], values: &[(&'static str, &str)]) -> Table {
        Table::with_headings(columns, |name| {
            let takes = |key: &str| english(name).contains(&format!("{{{key}}}"));
            let taken = values.iter().filter(|value| takes(value.0));
            let heading = taken.fold(localized(name), |heading, &(key, value)| heading.with(key, value));
            html! { @if !name.is_empty() { (heading) } }
        })
    }

    fn with_headings(columns: &[&str], heading: impl Fn(&str) -> Markup) -> Table {
        let columns = columns.iter().map(|name| {
            let number = name.strip_prefix('#');
            let heading = heading(number.unwrap_or(name).trim_start());
            Column { heading, is_number: number.is_some(), first_order: None }
        });
        Table { columns: columns.collect(), rows: Vec::new() }
    }

    /// Makes columns sortable, each with the order of the first click on its header. The page needs
    /// [`Page::add_sort_script`]. Without scripts the rows keep their order.
    pub fn sortable(&mut self, columns: &[(usize, SortOrder)]) {
        for &(number, order) in columns {
            if let Some(column) = self.columns.get_mut(number) {
                column.first_order = Some(order);
            }
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = TableCell>) {
        self.rows.push(Row { cells: cells.into_iter().collect(), is_total: false });
    }

    /// Adds the row of totals.
    pub fn total(&mut self, cells: impl IntoIterator<Item = TableCell>) {
        self.rows.push(Row { cells: cells.into_iter().collect(), is_total: true });
    }
}

impl Render for Table {
    fn render(&self) -> Markup {
        html! {
            // The tab stop lets the keyboard scroll a table that is wider than its frame.
            div.table tabindex="0" {
                table {
                    thead {
                        tr {
                            @for column in &self.columns {
                                th class=[column.is_number.then_some("number")] data-sort-first=[column.first_order.map(SortOrder::name)] {
                                    (column.heading)
                                }
                            }
                        }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr class=[row.is_total.then_some("total")] { @for cell in &row.cells { (cell) } }
                            (PreEscaped("\n"))
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

    #[test]
    fn every_page_has_a_policy() {
        let mut page = Page::new("x");
        assert!(
            page.to_string().contains("default-src &#39;none&#39;")
                || page.to_string().contains("default-src 'none'")
        );
        assert!(page.policy().contains("script-src 'none'"));
        page.allow_script("alert(1)");
        assert!(page.policy().contains("script-src 'sha256-"));
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(without_controls("\x1b[1m\0é\n".into()), "\u{fffd}[1m\u{fffd}é\n");
        let mut page = Page::new("</title><script>");
        page.heading("<h>");
        page.paragraph("<p>\x07");
        let mut table = Table::new(&["<c>", "# <n>"]);
        table.row(["<x>".into(), TableCell::number("<1>")]);
        page.add(table);
        let text = page.to_string();
        for raw in ["<script>", "<h>", "<c>", "<n>", "<x>", "<1>", "\x07"] {
            assert!(!text.contains(raw), "{raw} in {text}");
        }
    }

    #[test]
    fn a_table_keeps_numbers_to_the_right() {
        let mut table = Table::new(&["suite", "# tests"]);
        table.row(["ko".into(), TableCell::number(12)]);
        table.total(["all".into(), TableCell::number(12)]);
        let text = table.render().into_string();
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

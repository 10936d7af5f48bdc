//! Tables as text for a terminal and as a page.

use super::blocks::Block;
use crate::pages::{Page, Table, TableCell};
use maud::html;
use std::io::{self, Write};

/// The longest bar on a terminal, in characters.
const BAR: f64 = 40.0;

/// For a terminal.
///
/// # Errors
/// If it cannot be written.
pub fn text(out: &mut dyn Write, blocks: &[Block]) -> io::Result<()> {
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", block.title)?;
        let names: Vec<&str> = block.columns.iter().map(|name| name.trim_start_matches(['#', ' '])).collect();
        let width = |column: usize| {
            let cells = block.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.chain(names.get(column).map(|name| name.chars().count())).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..names.len()).map(width).collect();
        let mut line = |cells: &[&str], bar: &str| {
            let mut text = String::from(" ");
            for ((cell, &width), column) in cells.iter().zip(&widths).zip(&block.columns) {
                text += &match column.starts_with('#') {
                    true => format!(" {cell:>width$} "),
                    false => format!(" {cell:<width$} "),
                };
            }
            writeln!(out, "{}", format!("{text} {bar}").trim_end())
        };
        if names.iter().any(|name| !name.is_empty()) {
            line(&names, "")?;
        }
        for (index, row) in block.rows.iter().enumerate() {
            let length = block.bars.get(index).map_or(0.0, |share| (share * BAR).ceil());
            line(&row.iter().map(String::as_str).collect::<Vec<_>>(), &"#".repeat(length as usize))?;
        }
        for remark in &block.remarks {
            writeln!(out, "  {remark}")?;
        }
    }
    Ok(())
}

/// The style of bars.
const STYLE: &str = "\
.bar { display: inline-block; width: calc(var(--share) * clamp(4rem, 22vw - 4rem, 13rem)); height: .8em; min-width: 1px;
  background: var(--link); border-radius: .15em; }
.blocks { columns: 2 30rem; column-gap: 1.2rem; margin-top: 1.2rem; }
.blocks .card { break-inside: avoid; margin-bottom: 1.2rem; padding: 1rem 1.1rem; } .blocks h2 { margin: 0 0 .5rem; font-size: 1.15rem; }
.blocks .table { background: none; } .blocks td:not(.number) { overflow-wrap: anywhere; }
td { white-space: normal; }
.number { white-space: nowrap; }
";

/// As a page.
pub fn page(title: &str, blocks: &[Block]) -> Page {
    let mut page = Page::new(title);
    page.style(STYLE);
    let mut cards = Vec::new();
    for block in blocks {
        let mut columns = block.columns.clone();
        if !block.bars.is_empty() {
            columns.push("");
        }
        let mut table = Table::new(&columns);
        for (index, row) in block.rows.iter().enumerate() {
            let cells = row.iter().zip(&block.columns).map(|(cell, column)| match column.starts_with('#') {
                true => TableCell::number(cell),
                false => cell.as_str().into(),
            });
            let bar = block.bars.get(index).map(|share| {
                // A share of what the window leaves, so that bars can be compared on a phone as well.
                let style = format!("--share: {share:.4}");
                TableCell::Markup(html! { span.bar style=(style) {} })
            });
            table.row(cells.chain(bar));
        }
        cards.push(html! {
            section.card {
                h2 { (block.title) }
                @if !block.rows.is_empty() { (table) }
                @for remark in &block.remarks { p { (remark) } }
            }
        });
    }
    page.add(html! { div.blocks { @for card in &cards { (card) } } });
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Block {
        Block {
            title: "Title".into(),
            columns: vec!["name", "# number"],
            rows: vec![vec!["<a>".into(), "1,000".into()], vec!["longer".into(), "1".into()]],
            bars: vec![1.0, 0.01],
            remarks: vec!["a remark".into()],
        }
    }

    #[test]
    fn columns_are_aligned() {
        let mut out = Vec::new();
        text(&mut out, &[block()]).unwrap();
        let expected = format!(
            "Title\n  name    number\n  <a>      1,000  {}\n  longer       1  #\n  a remark\n",
            "#".repeat(40)
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn pages_escape_what_files_say() {
        let page = page("a & b", &[block()]).to_string();
        assert!(page.contains("<td>&lt;a&gt;</td><td class=\"number\">1,000</td><td><span"), "{page}");
        assert!(page.contains("<h1>a &amp; b</h1>"));
    }
}

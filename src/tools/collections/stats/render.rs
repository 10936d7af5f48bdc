//! Rendering of tables as text for a terminal and as a page.

use super::blocks::StatsTable;
use super::plots::plots;
use super::totals::Stats;
use crate::pages::{Page, Table, TableCell, localized};
use maud::html;
use std::io::{self, Write};

/// Length of the longest bar on a terminal, in characters.
const BAR: f64 = 40.0;

/// Writes the tables as text for a terminal.
///
/// # Errors
///
/// Returns an error if writing fails.
pub fn text(out: &mut dyn Write, blocks: &[StatsTable]) -> io::Result<()> {
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

/// Style rules of this page, besides the common style.
const STYLE: &str = "\
.tiles { display: flex; flex-wrap: wrap; gap: .8rem 2.4rem; margin: .4rem 0 1.4rem; } .tiles div { display: grid; }
.tiles dd { margin: 0; font: 600 1.9rem/1.1 var(--serif); font-variant-numeric: tabular-nums; } .tiles dt { color: var(--faint); font-size: .9rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.2rem; }
.plots .card, .blocks .card { padding: 1rem 1.1rem; min-width: 0; } .plots .card h2, .blocks h2 { margin: 0 0 .7rem; font-size: 1.15rem; }
.plots .card p { margin: .6rem 0 0; font-size: .9rem; }
.players-plot { display: grid; grid-template-columns: minmax(4rem, 10rem) 1fr auto; gap: .35rem .8rem; align-items: center; }
.players-plot .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bar-line { display: flex; height: 1rem; } .bar-line i { width: calc(100% * var(--share)); }
i.won { background: var(--plot-1); } i.other { background: var(--line); } i.lost { background: var(--plot-4); }
p > i { display: inline-block; width: .8rem; height: .8rem; border-radius: .15rem; vertical-align: -.08em; margin-left: .6rem; } p > i:first-child { margin-left: 0; }
.blocks { columns: 2 30rem; column-gap: 1.2rem; }
.blocks .card { break-inside: avoid; margin-bottom: 1.2rem; }
.blocks table { width: 100%; } .blocks .table { background: none; } .blocks td:not(.number) { overflow-wrap: anywhere; }
td { white-space: normal; }
.number { white-space: nowrap; font-variant-numeric: tabular-nums; text-align: right; }
";

/// Builds a page with headline numbers, plots and all tables.
pub fn page(stats: &Stats, blocks: &[StatsTable]) -> Page {
    let mut page = Page::named(localized("game-records"));
    page.plot_style();
    page.style(STYLE);
    page.add(plots(stats));
    page.heading_words(&localized("all-tables"));
    let mut cards = Vec::new();
    for block in blocks {
        let mut table = Table::new(&block.columns);
        for row in &block.rows {
            let cells = row.iter().zip(&block.columns).map(|(cell, column)| match column.starts_with('#') {
                true => TableCell::number(cell),
                false => cell.as_str().into(),
            });
            table.row(cells);
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
    page.add_language_script();
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> StatsTable {
        StatsTable {
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
        let page = page(&Stats::default(), &[block()]).to_string();
        assert!(
            page.contains("<td>&lt;a&gt;</td><td class=\"number\" data-number=\"\">1,000</td>"),
            "{page}"
        );
        assert!(page.contains("Game records</h1>"));
    }
}

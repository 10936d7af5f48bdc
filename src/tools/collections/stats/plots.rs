//! Headline numbers and plots.

use super::blocks::median;
use super::counts::{Counts, MISSING, Player};
use super::totals::Stats;
use crate::pages::{Columns, Shares, Text, english, localized};
use crate::words::grouped;
use kosumi_go::sgf::facts::Rank;
use maud::{Markup, Render, html};
use std::collections::BTreeMap;

/// Approximate maximum number of columns of the histogram of game lengths.
const MAX_LENGTH_COLUMNS: u64 = 30;
/// Maximum number of years with a column each. More years are grouped by decades.
const MAX_YEAR_COLUMNS: usize = 60;
/// Number of players whose results are shown as bars.
const PLAYERS: usize = 8;

/// Returns the headline numbers and plots.
pub(super) fn plots(stats: &Stats) -> Markup {
    let plots: Vec<Markup> = [
        card(
            localized("moves-in-game"),
            lengths(stats),
            Some(localized("median").with("count", median(stats))),
        ),
        card(localized("years"), years(stats), without_value(&stats.years)),
        shares("winner", &stats.winners),
        shares("won-by", &stats.endings),
        shares("board-sizes", &stats.sizes),
        card(localized("ranks"), ranks(stats), without_value(&stats.ranks)),
        shares("komi", &stats.komi),
        card(localized("most-games"), players(stats), None),
    ]
    .into_iter()
    .flatten()
    .collect();
    html! {
        (tiles(stats))
        div.plots { @for plot in &plots { (plot) } }
    }
}

/// Renders the headline numbers with their captions.
fn tiles(stats: &Stats) -> Markup {
    let mean = stats.tally.moves as f64 / stats.games.max(1) as f64;
    let mut tiles = vec![
        ("count-games", grouped(stats.games)),
        ("count-moves", grouped(stats.tally.moves)),
        ("count-mean", format!("{mean:.1}")),
        ("count-players", grouped(stats.players.len() as u64)),
        ("count-unreadable", grouped(stats.unreadable.total)),
    ];
    if stats.duplicates.searched {
        tiles.push(("count-duplicates", grouped(stats.duplicates.same + stats.duplicates.turned)));
    }
    html! { dl.tiles { @for (name, number) in &tiles { div { dd { (number) } dt { (localized(*name)) } } } } }
}

fn card(title: Text, plot: Option<Markup>, note: Option<Text>) -> Option<Markup> {
    let plot = plot?;
    Some(html! {
        section.card { h2 { (title) } (plot) @if let Some(note) = note { p.faint { (note) } } }
    })
}

/// Returns a note about the number of games without the value, if there are any.
fn without_value(counts: &Counts) -> Option<Text> {
    let missing = counts.get(MISSING);
    (missing > 0).then(|| localized("without-value").with("count", grouped(missing)))
}

fn shares(title: &'static str, counts: &Counts) -> Option<Markup> {
    let known = counts.iter().filter(|&(name, _)| name != MISSING);
    let shares = Shares::new(english(title), known.map(|(name, count)| (name.to_owned(), count)));
    let shares = shares.in_words("part-");
    // A single part gives no useful plot, and the tables show it anyway.
    card(localized(title), (shares.len() > 1).then(|| shares.render()), without_value(counts))
}

/// Returns a round width of the bins that keeps their number small.
fn bin_width(most: u64) -> u64 {
    [1, 2, 5, 10, 20, 50, 100].into_iter().find(|width| most / width < MAX_LENGTH_COLUMNS).unwrap_or(200)
}

/// Plots the number of games by length, without gaps. The longest games share one column.
fn lengths(stats: &Stats) -> Option<Markup> {
    // The scale covers 999 of 1,000 games; outliers would compress the rest.
    let nearly_all = stats.games.saturating_sub(stats.games / 1000);
    let mut below = 0;
    let most = stats.lengths.iter().find(|&(_, games)| {
        below += games;
        below >= nearly_all
    });
    let (&most, _) = most?;
    let width = bin_width(most);
    let mut bins = vec![0; usize::try_from(most / width).ok()? + 1];
    let mut beyond = 0;
    for (&length, &games) in &stats.lengths {
        let bin = usize::try_from(length / width).ok().and_then(|bin| bins.get_mut(bin));
        *bin.unwrap_or(&mut beyond) += games;
    }
    let label = |bin: u64| match width {
        1 => bin.to_string(),
        _ => format!("{}–{}", bin * width, bin * width + width - 1),
    };
    let columns = (0..).zip(bins).map(|(bin, games)| (label(bin), games));
    let end = (beyond > 0).then(|| (format!("{}…", (most / width + 1) * width), beyond));
    Some(Columns::new(english("moves-in-game"), columns.chain(end)).render())
}

/// Plots the number of games by year, including years without games.
fn years(stats: &Stats) -> Option<Markup> {
    let by_year: BTreeMap<usize, u64> =
        stats.years.iter().filter_map(|(year, count)| Some((year.parse().ok()?, count))).collect();
    let (first, last) = (*by_year.keys().next()?, *by_year.keys().next_back()?);
    let width = if last - first < MAX_YEAR_COLUMNS { 1 } else { 10 };
    let columns = (first / width..=last / width).map(|bin| {
        let from = bin * width;
        let count = by_year.range(from..from + width).map(|(_, count)| count).sum();
        (if width == 1 { from.to_string() } else { format!("{from}s") }, count)
    });
    let columns = Columns::new(english("years"), columns);
    (columns.len() > 1).then(|| columns.render())
}

/// Plots the number of players by rank, from the weakest to the strongest.
fn ranks(stats: &Stats) -> Option<Markup> {
    let mut ranks: Vec<(Rank, u64)> =
        stats.ranks.iter().filter_map(|(name, count)| Some((Rank::parse(name)?, count))).collect();
    ranks.sort_unstable_by_key(|rank| rank.0);
    let columns =
        Columns::new(english("ranks"), ranks.into_iter().map(|(rank, count)| (rank.to_string(), count)));
    (columns.len() > 1).then(|| columns.render())
}

/// Plots the results of the players with the most games: games won, games without a winner, and games lost.
fn players(stats: &Stats) -> Option<Markup> {
    let players: Vec<(&str, Player)> = stats.players.by_games().into_iter().take(PLAYERS).collect();
    let most = players.first()?.1.games.max(1);
    let share = |games: u64| format!("--share:{:.4}", games as f64 / most as f64);
    Some(html! {
        div.players-plot {
            @for (name, player) in &players {
                @let others = player.games.saturating_sub(player.won + player.lost);
                span.name { (name) }
                span.bar-line {
                    i.won style=(share(player.won)) {} i.other style=(share(others)) {} i.lost style=(share(player.lost)) {}
                }
                span.number { (grouped(player.games)) }
            }
        }
        p.faint { i.won {} " " (localized("won")) " " i.other {} " " (localized("otherwise")) " " i.lost {} " " (localized("lost-games")) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(lengths: &[(u64, u64)], years: &[&str]) -> Stats {
        let mut stats = Stats { lengths: lengths.iter().copied().collect(), ..Stats::default() };
        stats.games = stats.lengths.values().sum();
        years.iter().for_each(|year| stats.years.add(year));
        stats
    }

    #[test]
    fn one_endless_game_does_not_hide_the_others() {
        let text = lengths(&stats(&[(200, 3000), (210, 1000), (90_000, 2)], &[])).unwrap().into_string();
        assert!(text.contains("title=\"200–209: 3,000\"") && text.contains("title=\"220…: 2\""), "{text}");
        assert!(text.contains("title=\"190–199: 0\""), "there are no gaps: {text}");
        assert!(text.matches("<i ").count() < 40, "{text}");
        assert!(lengths(&stats(&[], &[])).is_none());
        assert!(lengths(&stats(&[(0, 1)], &[])).is_some());
    }

    #[test]
    fn years_without_games_are_there_too() {
        let text = years(&stats(&[], &["1999", "2003", "2003", "(none)"])).unwrap().into_string();
        assert!(text.contains("title=\"2001: 0\"") && text.contains("title=\"2003: 2\""), "{text}");
        let old = years(&stats(&[], &["1700", "2003"])).unwrap().into_string();
        assert!(old.contains("title=\"1700s: 1\"") && old.contains("title=\"2000s: 1\""), "{old}");
        assert!(years(&stats(&[], &["(none)"])).is_none());
    }

    #[test]
    fn names_of_files_are_text() {
        let mut stats = stats(&[(3, 1)], &[]);
        stats.winners.add("<script>");
        stats.winners.add("Black");
        stats.players.add("<b>", Player { games: 3, black: 1, won: 2, lost: 0 });
        let text = plots(&stats).into_string();
        assert!(
            text.contains("data-text=\"part-Black\"")
                && text.contains("&lt;script&gt;")
                && text.contains("&lt;b&gt;"),
            "{text}"
        );
        assert!(!text.contains("<script>") && !text.contains("<b>"), "{text}");
    }
}

//! Pages about the reviews of many games: a table of all games, and a report for each player.

use super::games::{
    AccuracyInterval, GameEntry, Games, LOSS_SIZES, MoveEntry, PlayerReport, ReportPart, WorstMove,
};
use super::judge::Class;
use crate::pages::{Page, SortOrder, Table, TableCell, Text, components, localized};
use crate::words::{color_name, grouped};
use kosumi_go::board::Color;
use kosumi_go::sgf::facts::{Ending, GameResult, Winner};
use maud::{Markup, Render, html};

/// Styles of these pages only.
const STYLE: &str = "\
.headline { font-size: 1.25rem; margin: .4rem 0; max-width: none; }
.note { background: var(--panel); border-left: 3px solid var(--line); padding: .5rem .8rem; }
.faint { color: var(--faint); }
";

/// Maximum number of players who get a report.
pub const MAX_REPORTS: usize = 500;

/// Name of the index page.
pub const INDEX: &str = "index.html";

/// Returns the name of the file of a player's report.
fn report_file(number: usize) -> String {
    format!("player-{}.html", number + 1)
}

impl Games {
    /// Returns the names and contents of all pages. The names depend on the order of the players.
    pub fn pages(&self) -> Vec<(String, String)> {
        let reports = self.reports.iter().take(MAX_REPORTS).enumerate();
        let reports = reports.map(|(number, report)| (report_file(number), self.report(report)));
        [(INDEX.to_owned(), self.index())].into_iter().chain(reports).collect()
    }

    fn index(&self) -> String {
        let mut page = Page::named(localized("reviewed-games"));
        page.style(components::STYLE);
        page.style(STYLE);
        if self.left > 0 {
            page.add(html! { p.note { (localized("games-left").with("count", self.left)) } });
        }
        let mut games = Table::named(
            &["game", "black", "#accuracy", "white", "#accuracy", "result", "#moves", "worst-move"],
            &[],
        );
        let (up, down) = (SortOrder::Ascending, SortOrder::Descending);
        games.sortable(&[(0, up), (1, up), (2, down), (3, up), (4, down), (5, down), (6, down), (7, down)]);
        for entry in &self.entries {
            let player = |color: Color| {
                let player = entry.player(color);
                let words: Vec<&str> = player.name.iter().chain(&player.rank).map(String::as_str).collect();
                TableCell::from(words.join(" "))
            };
            let share = |color: Color| {
                let accuracy = entry.accuracy(color);
                TableCell::number(accuracy.map_or("–".to_owned(), percent)).sorted_by(accuracy)
            };
            games.row([
                TableCell::Markup(link(entry, None, html! { (entry_name(entry)) })),
                player(Color::Black),
                share(Color::Black),
                player(Color::White),
                share(Color::White),
                TableCell::from(entry.result.clone().unwrap_or_default())
                    .sorted_by(entry.result.as_deref().and_then(margin)),
                TableCell::number(entry.moves.len()).sorted_by(Some(entry.moves.len() as f32)),
                TableCell::Markup(
                    html! { @if let Some(worst) = entry.worst() { (move_link(entry, worst)) } },
                )
                .sorted_by(entry.worst().map(|worst| worst.points)),
            ]);
        }
        page.add(games);
        if !self.reports.is_empty() {
            page.heading_words(&localized("players"));
            let mut players = Table::named(
                &["players", "#count-games", "#moves", "#accuracy", "interval-90", "#points-a-move", ""],
                &[],
            );
            players.sortable(&[(0, up), (1, down), (2, down), (3, down), (5, down)]);
            for (number, report) in self.reports.iter().enumerate() {
                let name = TableCell::Markup(html! {
                    @if number < MAX_REPORTS { a href=(report_file(number)) { (report.name) } } @else { (report.name) }
                    @if !report.ranks.is_empty() { " " (report.ranks.join(", ")) }
                });
                let (all, accuracy) = (&report.all, report.all.accuracy);
                players.row([
                    name,
                    TableCell::number(all.games).sorted_by(Some(all.games as f32)),
                    TableCell::number(grouped(all.sums.moves as u64)).sorted_by(Some(all.sums.moves as f32)),
                    TableCell::number(accuracy.map_or("–".to_owned(), |it| percent(it.mean)))
                        .sorted_by(accuracy.map(|it| it.mean)),
                    TableCell::from(interval(accuracy)),
                    TableCell::number(all.sums.mean_points().map_or("–".to_owned(), points))
                        .sorted_by(all.sums.mean_points()),
                    TableCell::from(classes(all)),
                ]);
            }
            page.add(players);
            page.add(html! { p.faint { (localized("interval-is")) } });
        }
        if !self.failed.is_empty() {
            page.heading_words(&localized("not-reviewed"));
            let mut failed = Table::named(&["game", "remarks"], &[]);
            for it in &self.failed {
                failed.row([
                    TableCell::from(file_and_number(&it.file, it.game)),
                    TableCell::from(it.reason.as_str()),
                ]);
            }
            page.add(failed);
        }
        page.add_language_script();
        page.add_sort_script();
        page.to_string()
    }

    fn report(&self, report: &PlayerReport) -> String {
        let mut page = Page::named(localized("report-of").with("name", &report.name));
        page.style(components::STYLE);
        page.style(STYLE);
        let all = &report.all;
        page.add(html! {
            p { a href=(INDEX) { (localized("reviewed-games")) } @if !report.ranks.is_empty() { " · " (report.ranks.join(", ")) } }
            @if let Some(accuracy) = all.accuracy {
                p.headline {
                    b { (percent(accuracy.mean)) } " " (localized("accuracy"))
                    @if accuracy.interval.is_some() { " (" (localized("interval-90")) ": " (interval(all.accuracy)) ")" }
                    " · " (all.games) " " (localized("count-games")) " · " (grouped(all.sums.moves as u64)) " " (localized("count-moves"))
                }
            }
        });
        page.add(parts("stage-moves", &report.stages, |stage| localized(format!("stage-{stage}")).render()));
        page.heading_words(&localized("by-size"));
        page.add(parts("points-lost", &report.sizes, |least| size_name(*least).render()));
        page.heading_words(&localized("by-opponent"));
        page.add(parts("opponent-rank", &report.opponents, |rank| match rank {
            Some(rank) => html! { (rank) },
            None => localized("part-unknown").render(),
        }));
        page.add(html! { p.faint { (localized("interval-is")) } });
        page.heading_words(&localized("worst-moves"));
        if report.worst.is_empty() {
            page.add(html! { p.faint { (localized("no-worst")) } });
        } else {
            page.add(self.worst(&report.worst));
        }
        page.add_language_script();
        page.to_string()
    }

    fn worst(&self, worst: &[WorstMove]) -> Table {
        let mut table = Table::named(&["move", "first-choice", "#label-rate", "#points-lost", "game"], &[]);
        for WorstMove { entry, played } in worst {
            let entry = &self.entries[*entry];
            table.row([
                TableCell::Markup(move_link(entry, played)),
                TableCell::from(played.best.as_str()),
                TableCell::number(format_args!("−{:.1} %", 100.0 * played.loss)),
                TableCell::number(points(played.points)),
                TableCell::Markup(link(entry, None, html! { (entry_name(entry)) })),
            ]);
        }
        table
    }
}

/// Returns a table of the parts of a report.
fn parts<K>(heading: &str, parts: &[ReportPart<K>], name: impl Fn(&K) -> Markup) -> Table {
    let columns = [
        heading,
        "#count-games",
        "#moves",
        "#accuracy",
        "interval-90",
        "#points-lost",
        "#share-of-loss",
        "#points-a-move",
        "",
    ];
    let mut table = Table::named(&columns, &[]);
    for part in parts {
        table.row([
            TableCell::Markup(name(&part.of)),
            TableCell::number(part.games),
            TableCell::number(grouped(part.sums.moves as u64)),
            TableCell::number(part.accuracy.map_or("–".to_owned(), |it| percent(it.mean))),
            TableCell::from(interval(part.accuracy)),
            TableCell::number(points(part.sums.points)),
            TableCell::number(percent(part.share)),
            TableCell::number(part.sums.mean_points().map_or("–".to_owned(), points)),
            TableCell::from(classes(part)),
        ]);
    }
    table
}

/// Returns the name of the group of losses that begins at this loss.
fn size_name(least: f32) -> Text {
    let next = LOSS_SIZES.iter().copied().find(|&size| size > least);
    match next {
        Some(next) if least <= 0.0 => localized("loss-below").with("points", next),
        Some(next) => localized("loss-between").with("points", least).with("most", next),
        None => localized("loss-above").with("points", least),
    }
}

/// Margin, in points, that stands for a victory without a score when results are sorted.
const DECIDED: f32 = 10_000.0;

/// Returns Black's margin in points, by which results are sorted; `None` for a game without a result.
fn margin(result: &str) -> Option<f32> {
    let result = GameResult::parse(result)?;
    match (result.winner, result.ending) {
        (Winner::Player(color), Ending::Score(points)) => Some(color.sign() as f32 * points),
        (Winner::Player(color), _) => Some(color.sign() as f32 * DECIDED),
        (Winner::Draw, _) => Some(0.0),
        (Winner::Void | Winner::Unknown, _) => None,
    }
}

fn percent(share: f32) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn points(points: f32) -> String {
    format!("{points:.1}")
}

fn interval(accuracy: Option<AccuracyInterval>) -> String {
    let ends = accuracy.and_then(|it| it.interval);
    ends.map_or_else(String::new, |[low, high]| format!("{:.0}–{:.0} %", 100.0 * low, 100.0 * high))
}

/// Returns the numbers of inaccuracies, mistakes and blunders with their signs.
fn classes<K>(part: &ReportPart<K>) -> String {
    let bad = Class::ALL.into_iter().zip(part.sums.classes).skip(1);
    bad.map(|(class, count)| format!("{count} {}", class.sign())).collect::<Vec<_>>().join(" · ")
}

fn file_and_number(file: &str, game: u32) -> String {
    if game > 1 { format!("{file}, {game}") } else { file.to_owned() }
}

fn entry_name(entry: &GameEntry) -> String {
    file_and_number(&entry.file, entry.game)
}

/// Returns a link to a game's page, or to one of its positions. Returns the content itself if there is no page.
fn link(entry: &GameEntry, step: Option<usize>, content: Markup) -> Markup {
    match &entry.page {
        Some(page) => {
            let place = step.map_or_else(String::new, |step| format!("#{step}"));
            html! { a href={ (address(page)) (place) } { (content) } }
        }
        None => content,
    }
}

/// Returns the relative URL of a file, in which characters with a meaning in URLs are encoded.
fn address(file: &str) -> String {
    let mut text = String::new();
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_./".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn move_link(entry: &GameEntry, it: &MoveEntry) -> Markup {
    let color = if it.color == 'B' { Color::Black } else { Color::White };
    let sign = Class::ALL.get(it.class).map_or("", |class| class.sign());
    let content = html! {
        (it.number) " " span class={ "pip " (color_name(color)) } {} " " (it.mv) " " (sign)
    };
    html! { (link(entry, Some(it.step), content)) " −" (points(it.points)) }
}

#[cfg(test)]
mod tests {
    use super::super::games::FailedRecord;
    use super::super::games::tests::entry;
    use super::*;

    fn games() -> Games {
        let mut second = entry([("<Bob>", "2d"), ("Ann", "3k")], &[12.0, 0.1, 3.0, 0.0]);
        second.page = Some("a b/#1.review.html".to_owned());
        second.game = 2;
        let first = entry([("Ann", "3k"), ("<Bob>", "2d")], &[0.0, 6.0, 1.0]);
        let failed =
            FailedRecord { file: "broken.sgf".to_owned(), game: 1, reason: "no <record>".to_owned() };
        Games::new(vec![first, second], vec![failed], 3)
    }

    #[test]
    fn pages_link_to_games_and_positions() {
        let pages = games().pages();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["index.html", "player-1.html", "player-2.html"]);
        let index = &pages[0].1;
        for part in [
            "href=\"game.review.html#2\"",
            "href=\"a%20b/%231.review.html\"",
            "href=\"player-2.html\"",
            "broken.sgf",
            "no &lt;record&gt;",
            "game.sgf, 2",
            "Games that are not reviewed yet: 3.",
        ] {
            assert!(index.contains(part), "{part}");
        }
        assert!(!pages.iter().any(|(_, text)| text.contains("<Bob>")), "names are no markup");
        let bob = pages.iter().find(|(_, text)| {
            text.contains("<title data-text=\"report-of\"") && text.contains("Report: &lt;Bob")
        });
        let bob = &bob.unwrap().1;
        for part in
            ["href=\"a%20b/%231.review.html#1\"", "10 points and more", "2 to 5 points", "Opening", "3k"]
        {
            assert!(bob.contains(part), "{part}");
        }
        assert_eq!(games().pages(), pages, "the same games give the same pages");
    }

    #[test]
    fn rows_are_sorted_by_numbers() {
        assert_eq!(margin("B+R"), Some(DECIDED));
        assert_eq!((margin("W+2.5"), margin("Draw"), margin("Void")), (Some(-2.5), Some(0.0), None));
        let index = &games().pages()[0].1;
        for part in [
            "data-sort-first=\"ascending\"",
            "data-sort=\"12\"",
            "data-sort=\"10000\"",
            "function sortTables",
        ] {
            assert!(index.contains(part), "{part}");
        }
    }

    /// Checks the size of pages, most of which are the texts of all languages.
    #[test]
    fn pages_are_small() {
        let many: Vec<GameEntry> =
            (0..1000).map(|_| entry([("Ann", "3k"), ("Bob", "2d")], &[1.0; 2])).collect();
        let pages = Games::new(many, Vec::new(), 0).pages();
        assert!(pages[0].1.len() < 100_000 + 1000 * 500, "{}", pages[0].1.len());
        assert!(pages[1].1.len() < 100_000, "{}", pages[1].1.len());
    }

    #[test]
    fn a_folder_without_games_has_a_page() {
        let pages = Games::new(Vec::new(), Vec::new(), 0).pages();
        assert_eq!(pages.len(), 1);
    }
}

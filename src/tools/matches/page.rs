//! Results of a match as a page: tables, the score after each game, and all games.

use super::conditions::Conditions;
use super::files::file_name;
use super::game_board::GameBoard;
use super::plots::{lengths_plot, score_curve};
use super::record::{Ending, GameRecord};
use super::side::Side;
use super::summary::{Summary, Sums};
use crate::commands::vertex_move;
use crate::pages::{Diagram, Mark, Page, Table, TableCell, Text, Tone, ViewedGame, localized};
use crate::statistics::{Interval, Tally};
use crate::words::unsigned_zero;
use kosumi_go::board::{Board, Point};
use kosumi_go::game::Game;
use kosumi_gtp::Vertex;
use maud::{Render, html};
use std::fmt::Write as _;
use std::path::Path;

/// Styles of this page only.
const STYLE: &str = "\
.plot { display: block; width: 100%; height: auto; }
.plot text { font: 12px system-ui, sans-serif; fill: var(--faint); }
.plot .axis { stroke: var(--line); fill: none; }
.plot .even { stroke: var(--faint); stroke-dasharray: 4 4; fill: none; }
.plot .band { fill: var(--link); opacity: .18; }
.plot .curve { stroke: var(--link); stroke-width: 2; fill: none; }
.facts td { white-space: normal; vertical-align: top; overflow-wrap: anywhere; }
.facts td:first-child { color: var(--faint); white-space: nowrap; overflow-wrap: normal; }
.table + .table { margin-top: 1rem; }
@media (max-width: 40rem) { .plot text { font-size: 22px; } }
@media (min-width: 52rem) { .plot text { font-size: 9.5px; } }
@media (min-width: 70rem) { .plot text { font-size: 7.5px; } }
@media (min-width: 200rem) { .plot text { font-size: 7px; } }
.remarks { display: inline-block; min-width: min(14rem, 60vw); white-space: normal; overflow-wrap: anywhere; }
.headline { font-size: 1.25rem; margin: .4rem 0; max-width: none; }
";

/// Number of latest games whose final positions are drawn. It is limited to keep pages small.
const DIAGRAMS: usize = 12;

/// Returns the page. `records` is the folder of the SGF files as it should appear in links.
pub fn html(summary: &Summary, conditions: &Conditions, records: Option<&Path>) -> String {
    let mut page = Page::new(&title(summary, conditions));
    page.plot_style();
    page.diagram_style();
    page.style(STYLE);
    let rate = summary.all.all.rate();
    let names = names(summary, conditions);
    let headline = match rate {
        Some(rate) => localized("match-scores")
            .with("name", &names[0])
            .with("points", points(summary.all.all))
            .with("games", summary.all.all.games())
            .with("rate", percent(rate)),
        None => localized("no-games"),
    };
    page.add(html! { p.headline { (headline) } });
    if let Some(test) = &summary.test {
        page.paragraph(&format!("{test}."));
    }
    facts(&mut page, summary, conditions);
    results(&mut page, summary, &names);
    if summary.games.len() >= 2 {
        page.heading_words(&localized("score-curve"));
        page.add(html! { p { (localized("score-curve-is").with("name", &names[0])) } });
        page.add(score_curve(summary));
    }
    conduct(&mut page, summary, &names);
    lengths(&mut page, summary);
    viewer(&mut page, summary, conditions, &names);
    final_positions(&mut page, summary, conditions, &names);
    games(&mut page, summary, records, &names);
    page.add_language_script();
    page.to_string()
}

/// Returns the title of the page: the names of both engines.
fn title(summary: &Summary, conditions: &Conditions) -> String {
    let [a, b] = names(summary, conditions);
    format!("{a} – {b}")
}

/// Returns the engines' own names, or their command lines if the names are equal.
fn names(summary: &Summary, conditions: &Conditions) -> [String; 2] {
    let lines = conditions.contenders.each_ref().map(|contender| contender.text.as_str());
    let own = |index: usize| {
        let name = summary.names[index].as_str();
        name.strip_suffix(&format!(" ({})", lines[index])).unwrap_or(name)
    };
    let both = if own(0) == own(1) { lines } else { [own(0), own(1)] };
    both.map(short)
}

/// Shortens long command lines and names.
fn short(text: &str) -> String {
    const MAX_CHARACTERS: usize = 40;
    if text.chars().count() <= MAX_CHARACTERS {
        return text.to_owned();
    }
    text.chars().take(MAX_CHARACTERS - 1).chain(['…']).collect()
}

fn points(tally: Tally) -> String {
    let points = f64::from(tally.wins) + f64::from(tally.draws) / 2.0;
    points.to_string()
}

fn percent(rate: Interval) -> String {
    format!("{:.1} % ({:.1} to {:.1})", 100.0 * rate.value, 100.0 * rate.low, 100.0 * rate.high)
}

fn elo(rate: Interval) -> String {
    let elo = rate.elo();
    let text = |elo: f64| {
        if elo.is_finite() {
            format!("{:+.0}", unsigned_zero(elo, 0))
        } else if elo > 0.0 {
            "∞".to_owned()
        } else {
            "−∞".to_owned()
        }
    };
    format!("{} ({} to {})", text(elo.value), text(elo.low), text(elo.high)).replace('-', "−")
}

fn facts(page: &mut Page, summary: &Summary, conditions: &Conditions) {
    let settings = conditions.settings();
    let text = |key: &str| match &settings[key] {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => "none".to_owned(),
        value => value.to_string(),
    };
    let boards: Vec<String> =
        conditions.boards.iter().map(|board| format!("{}, komi {}", board.size_text(), board.komi)).collect();
    let mut rows = vec![
        ("first-engine", summary.names[0].clone()),
        ("second-engine", summary.names[1].clone()),
        ("boards", boards.join("; ")),
        ("rules", text("rules")),
        ("clock", text("time")),
        ("openings", text("openings")),
        ("seed", text("seed")),
    ];
    let dates: Vec<&str> = summary.games.values().map(|game| game.date.as_str()).collect();
    if let (Some(first), Some(last)) = (dates.iter().min(), dates.iter().max()) {
        rows.push(("games-begun", format!("{first} – {last}")));
    }
    page.add(html! {
        div.table tabindex="0" {
            table.facts { tbody { @for (name, text) in &rows { tr { td { (localized(*name)) } td { (text) } } } } }
        }
    });
}

fn results(page: &mut Page, summary: &Summary, names: &[String; 2]) {
    page.heading_words(&localized("results-of").with("name", &names[0]));
    let columns =
        ["", "#count-games", "#won", "#lost-games", "#drawn", "scores-of", "elo-of", "#count-moves"];
    let mut table = Table::named(&columns, &[]);
    let mut push = |name: TableCell, tally: Tally, sums: Option<&Sums>, is_total: bool| {
        let Some(rate) = tally.rate() else { return };
        let length = sums.map_or(String::new(), |sums| mean_length(sums, tally));
        let cells = [
            name,
            TableCell::number(tally.games()),
            TableCell::number(tally.wins),
            TableCell::number(tally.losses),
            TableCell::number(tally.draws),
            percent(rate).into(),
            elo(rate).into(),
            TableCell::number(length),
        ];
        if is_total { table.total(cells) } else { table.row(cells) }
    };
    if summary.boards.len() > 1 {
        for (size, sums) in &summary.boards {
            push(size.as_str().into(), sums.all, Some(sums), false);
        }
    }
    push(cell(&localized("as-black")), summary.all.as_black, None, false);
    push(cell(&localized("as-white")), summary.all.as_white, None, false);
    if summary.all.played_out != summary.all.all {
        push(cell(&localized("without-forfeits")), summary.all.played_out, None, false);
    }
    push(cell(&localized("all-games")), summary.all.all, Some(&summary.all), true);
    page.add(table);
    if let Some(rate) = summary.all.pairs.rate() {
        let mut table =
            Table::named(&["points-in-pair", "# 0", "# ½", "# 1", "# 1½", "# 2", "scores-of", "elo-of"], &[]);
        let counts = summary.all.pairs.0.map(TableCell::number);
        let cells = [cell(&localized("count-pairs").with("count", summary.all.pairs.count()))];
        table.row(cells.into_iter().chain(counts).chain([percent(rate).into(), elo(rate).into()]));
        page.add(table);
    }
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let stronger = localized("is-stronger")
        .with("name", &names[0])
        .with("games", percent(summary.all.all.superiority()))
        .with("pairs", percent(summary.all.pairs.superiority()));
    page.add(html! { p { (stronger) } });
}

/// Returns a table cell with a text.
fn cell(words: &Text) -> TableCell {
    TableCell::Markup(words.render())
}

fn mean_length(sums: &Sums, tally: Tally) -> String {
    format!("{:.1}", sums.moves as f64 / f64::from(tally.games().max(1)))
}

fn conduct(page: &mut Page, summary: &Summary, names: &[String; 2]) {
    page.heading_words(&localized("engines"));
    let columns = [
        "",
        "#seconds-a-move",
        "#slowest",
        "#over-the-clock",
        "#lag",
        "#resigned",
        "#forfeits",
        "kinds",
        "#other-scores",
        "#stray-lines",
    ];
    let mut table = Table::named(&columns, &[]);
    for side in Side::BOTH {
        let conduct = &summary.conduct[side as usize];
        let kinds = Ending::FORFEITS.iter().zip(conduct.forfeits).filter(|&(_, count)| count > 0);
        let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{} {count}", kind.name())).collect();
        table.row([
            names[side as usize].clone().into(),
            TableCell::number(format!("{:.3}", conduct.seconds_a_move())),
            TableCell::number(format!("{:.2} s", conduct.slowest)),
            TableCell::number(format!("{:.2} s", conduct.overstep)),
            TableCell::number(format!("{:.1} ms", 1000.0 * conduct.lag())),
            TableCell::number(conduct.resignations),
            TableCell::number(conduct.forfeits()),
            kinds.join(", ").into(),
            TableCell::number(conduct.other_scores),
            TableCell::number(conduct.stray_lines),
        ]);
    }
    page.add(table);
    let others = [
        (summary.cut_off, "games-cut-off"),
        (summary.disputed, "games-disputed"),
        (summary.annulled, "games-annulled"),
        (summary.repeats(), "games-repeated"),
    ];
    for (count, what) in others.into_iter().filter(|other| other.0 > 0) {
        page.add(html! { p { (localized(what).with("count", count)) } });
    }
}

/// Adds the distribution of game lengths as bars.
fn lengths(page: &mut Page, summary: &Summary) {
    let lengths: Vec<usize> = summary.games.values().map(|game| game.moves.len()).collect();
    let (Some(&least), Some(&most)) = (lengths.iter().min(), lengths.iter().max()) else { return };
    page.heading_words(&localized("game-lengths"));
    page.add(lengths_plot(&lengths));
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
    let all = localized("game-lengths-are").with("least", least).with("most", most);
    page.add(html! { p { (all.with("mean", format!("{mean:.1}"))) } });
}

/// Adds the final positions of the latest games.
fn final_positions(page: &mut Page, summary: &Summary, conditions: &Conditions, names: &[String; 2]) {
    page.heading_words(&localized("latest-games"));
    let latest = summary.games.values().rev().take(DIAGRAMS);
    let boards = latest.filter_map(|game| Some((game, final_board(game, conditions)?)));
    page.add(html! {
        div.cards {
            @for (game, (board, last)) in boards {
                @let title = format!("Game {}: {}", game.number, result(game, names));
                figure.card {
                    (final_diagram(&board, last, &title))
                    b { (title) } br;
                    small { (game.size) ", " (game.moves.len()) " moves, " (game.opening) }
                }
            }
        }
    });
}

fn final_diagram<'a>(board: &'a Board, last: Option<Point>, title: &str) -> Diagram<'a> {
    let diagram = Diagram::new(board, title);
    match last {
        Some(last) => diagram.mark(last, Mark::Circle, Tone::Neutral),
        None => diagram,
    }
}

/// Number of latest games in the viewer of the page.
const VIEWED: usize = 200;

fn viewer(page: &mut Page, summary: &Summary, conditions: &Conditions, names: &[String; 2]) {
    let latest = summary.games.values().rev().take(VIEWED);
    let games: Vec<ViewedGame> = latest
        .filter_map(|record| {
            let game = played(record, conditions)?;
            let moves = game.records().iter().map(|it| (it.color, it.mv, it.lifted.to_vec()));
            Some(ViewedGame {
                name: format!("Game {}: {}", record.number, result(record, names)),
                size: game.size(),
                start: game.start().stones().collect(),
                moves: moves.collect(),
            })
        })
        .collect();
    if !games.is_empty() {
        page.heading_words(&localized("go-through-games"));
        page.viewer(&games);
    }
}

/// Returns the final position of a game, and the point of the last stone.
fn final_board(record: &GameRecord, conditions: &Conditions) -> Option<(Board, Option<Point>)> {
    let game = played(record, conditions)?;
    let last = game.records().iter().rev().find_map(|record| record.mv.point());
    Some((*game.board(), last))
}

/// Replays a game.
fn played(record: &GameRecord, conditions: &Conditions) -> Option<Game> {
    let size = conditions.boards.iter().find(|board| board.size_text() == record.size)?.size;
    let mut game = GameBoard { size, komi: record.komi }.game(conditions.rules, record.handicap);
    for text in &record.moves {
        let mv = vertex_move(size, text.parse::<Vertex>().ok()?)?;
        game.play(game.to_move(), mv).ok()?;
    }
    Some(game)
}

fn result(game: &GameRecord, names: &[String; 2]) -> String {
    let winner = game.winner.map_or("draw".to_owned(), |winner| format!("{} wins", names[winner as usize]));
    format!("{}, {winner} by {}", game.result, game.ending.name())
}

fn games(page: &mut Page, summary: &Summary, records: Option<&Path>, names: &[String; 2]) {
    page.heading_words(&localized("games"));
    let columns = [
        "game-number",
        "board",
        "black",
        "result",
        "winner",
        "won-by",
        "#count-moves",
        "#seconds-of-first",
        "#seconds-of-second",
        "opening",
        "remarks",
    ];
    let values = [("first", names[0].as_str()), ("second", names[1].as_str())];
    let mut table = Table::named(&columns, &values);
    for game in summary.games.values() {
        let number = match records {
            Some(folder) => {
                let link = folder.join(file_name(game.number)).display().to_string().replace('\\', "/");
                TableCell::Markup(html! { a href=(encoded(&link)) { (game.number) } })
            }
            None => TableCell::number(game.number),
        };
        let mut remarks: Vec<String> = Vec::new();
        remarks.extend(Some(game.detail.clone()).filter(|detail| !detail.is_empty()));
        for side in Side::BOTH {
            if let Some(score) = game.final_scores[side as usize].as_ref().filter(|_| game.disputed_by(side))
            {
                remarks.push(format!("{} says {score}", names[side as usize]));
            }
        }
        table.row([
            number,
            game.size.clone().into(),
            names[game.black as usize].clone().into(),
            game.result.clone().into(),
            game.winner.map_or("draw".to_owned(), |side| names[side as usize].clone()).into(),
            game.ending.name().into(),
            TableCell::number(game.moves.len()),
            TableCell::number(format!("{:.1}", game.seconds[0])),
            TableCell::number(format!("{:.1}", game.seconds[1])),
            game.opening.clone().into(),
            TableCell::Markup(html! { @if !remarks.is_empty() { span.remarks { (remarks.join("; ")) } } }),
        ]);
    }
    page.add(table);
}

/// Encodes a path for a link: characters with a meaning in URLs are percent-encoded.
fn encoded(path: &str) -> String {
    path.bytes().fold(String::new(), |mut link, byte| {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            link.push(char::from(byte));
        } else {
            let _ = write!(link, "%{byte:02X}");
        }
        link
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::fixtures::{conditions, record};
    use crate::matches::openings::Source;

    fn summary(games: u32) -> (Summary, Conditions) {
        let conditions = conditions(&[9], Source::None);
        let mut summary = Summary::new(["<A>", "B"].map(str::to_owned), &conditions);
        for number in 1..=games {
            let detail = if number == 2 { "B, \"<b>\"".to_owned() } else { String::new() };
            summary.add(&GameRecord { detail, ..record(number) });
        }
        (summary, conditions)
    }

    /// Returns whether the page shows only finite numbers. Scripts do not count, because compressed texts may contain
    /// any letters.
    fn numbers_are_finite(page: &str) -> bool {
        page.split("<script").all(|part| {
            let shown = part.split_once("</script>").map_or(part, |(_, shown)| shown);
            !shown.contains("NaN") && !shown.contains("inf")
        })
    }

    #[test]
    fn a_page_of_games() {
        let (summary, conditions) = summary(30);
        let text = html(&summary, &conditions, Some(Path::new("my games/#1")));
        assert!(text.contains("<a href=\"my%20games/%231/game-0001.sgf\">1</a>"), "links");
        assert!(!text.contains("<A>") && !text.contains("\"<b>\""), "escaped");
        assert_eq!(text.matches("<svg class=\"diagram\"").count(), DIAGRAMS);
        assert_eq!(text.matches("<svg class=\"plot\"").count(), 1);
        assert_eq!(text.matches("<div class=\"bars\"").count(), 1);
        assert!(numbers_are_finite(&text), "numbers");
        for (open, close) in
            [("<svg", "</svg>"), ("<table", "</table>"), ("<tr", "</tr>"), ("<div", "</div>")]
        {
            assert_eq!(text.matches(open).count(), text.matches(close).count(), "{open}");
        }
    }

    #[test]
    fn the_title_says_who_played_whom() {
        let (mut summary, conditions) = summary(1);
        let [a, b] = conditions.contenders.each_ref().map(|contender| contender.text.clone());
        let mut of = |names: [&str; 2]| {
            summary.names = [format!("{} ({a})", names[0]), format!("{} ({b})", names[1])];
            title(&summary, &conditions)
        };
        assert_eq!(of(["Kosumi 0.1.0", "GNU Go 3.8"]), "Kosumi 0.1.0 – GNU Go 3.8");
        assert_eq!(of(["Kosumi 0.1.0", "Kosumi 0.1.0"]), format!("{a} – {b}"));
    }

    #[test]
    fn pages_of_few_games() {
        for games in 0..3 {
            let (summary, conditions) = summary(games);
            let text = html(&summary, &conditions, None);
            assert!(numbers_are_finite(&text) && text.ends_with("</html>\n"), "{games}");
        }
    }
}

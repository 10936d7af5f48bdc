//! Texts of the pages in all languages. `texts/` has a file for each language with the texts of all pages, and
//! `texts/board/` another one with the texts that only the page of `kosumi play` has. The markup contains the names of
//! texts, so that scripts can insert another language. Without scripts a page is in English.
//!
//! A page that is saved as a file contains English uncompressed, and the other languages compressed. The page of
//! `kosumi play` contains only English, and loads the chosen language from a file. The translations into languages
//! other than German have not been reviewed by a native speaker.

use data_encoding::BASE64;
use flate2::Compression;
use flate2::read::DeflateEncoder;
use maud::{Markup, Render, html};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Read;
use std::sync::LazyLock;

/// Tables of a language as JSON: the texts of all pages, and those of the board.
#[derive(Clone, Copy, Debug)]
struct Language {
    /// First two letters of the language's tags.
    code: &'static str,
    common: &'static str,
    board: &'static str,
}

macro_rules! language {
    ($code:literal) => {
        Language {
            code: $code,
            common: include_str!(concat!("texts/", $code, ".json")),
            board: include_str!(concat!("texts/board/", $code, ".json")),
        }
    };
}

const ENGLISH: Language = language!("en");

/// Languages other than English. Pages that are saved as files contain them compressed.
const OTHERS: [Language; 6] =
    [language!("de"), language!("es"), language!("fr"), language!("ja"), language!("ko"), language!("zh")];

static TABLE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    [ENGLISH.common, ENGLISH.board]
        .into_iter()
        .flat_map(|table| serde_json::from_str::<BTreeMap<_, _>>(table).unwrap_or_default())
        .collect()
});

impl Language {
    /// Returns one table with all texts.
    fn all(self) -> String {
        let (common, board) = (self.common.trim_end(), self.board.trim());
        let whole = common.strip_suffix('}').zip(board.strip_prefix('{'));
        whole.map_or_else(String::new, |(first, second)| format!("{},{second}", first.trim_end()))
    }

    /// Returns the name of the language in the language itself.
    fn name(self) -> String {
        let table: Map<String, Value> = serde_json::from_str(self.common).unwrap_or_default();
        table.get("language-name").and_then(Value::as_str).unwrap_or(self.code).to_owned()
    }
}

/// Returns the script that defines `TEXTS`, which has the table of English; `OTHERS`, the names of the other languages;
/// and `PACKED`, their compressed tables.
fn script(english: &str, packed: &str) -> String {
    let others: Map<String, Value> =
        OTHERS.iter().map(|language| (language.code.to_owned(), language.name().into())).collect();
    let (english, others) = (english.trim_end(), Value::Object(others));
    format!("const TEXTS = {{ en: {english} }};\nconst OTHERS = {others};\nconst PACKED = \"{packed}\";\n")
}

/// Texts that the pages of single reviews do not have: those of games that are played, of reports about many reviews,
/// of matches, of regression tests and of collections.
#[rustfmt::skip]
const NOT_OF_REVIEWS: [&str; 129] = [
    "moves", "refused-bad-settings", "more", "new", "help", "size", "handicap", "clock", "increment", "kosumi", "undo", "estimate", "resign",
    "thinking", "draw", "reviewed-games", "report-of", "worst-move", "interval-90", "by-size", "by-opponent",
    "opponent-rank", "share-of-loss", "points-lost", "points-a-move", "loss-below", "loss-between",
    "loss-above", "interval-is", "not-reviewed", "games-left", "refused-bad-link", "refused-link-too-long",
    "refused-game-open", "share", "link", "cannot-run", "lost", "last-move", "viewer-move",
    "viewer-start", "viewer-script", "other-parts", "game-records", "at-a-glance", "all-tables",
    "moves-in-game", "median", "years", "winner", "won-by", "board-sizes", "ranks", "most-games",
    "without-value", "won", "otherwise", "lost-games", "count-mean", "count-players", "count-unreadable",
    "count-duplicates", "match-scores", "no-games", "score-curve", "score-curve-is", "first-engine",
    "second-engine", "boards", "openings", "seed", "games-begun", "drawn", "scores-of", "elo-of", "as-black",
    "as-white", "without-forfeits", "all-games", "points-in-pair", "count-pairs", "is-stronger", "engines",
    "slowest", "over-the-clock", "lag", "resigned", "forfeits", "kinds", "other-scores", "stray-lines",
    "games-cut-off", "games-disputed", "games-repeated", "games-annulled", "game-lengths", "game-lengths-are",
    "latest-games", "go-through-games", "games", "game-number", "opening", "regression-of", "compared-with",
    "diagrams-are", "test", "command", "answer", "expected", "line-number", "setup-wrong", "engine-output",
    "passed-unexpectedly", "failed-as-known", "not-asked", "not-followed", "part-Black", "part-White",
    "part-draw", "part-void", "part-unknown", "part-other text", "part-resign", "part-score", "part-time",
    "part-forfeit", "results-of", "review-page", "remove",
];

/// Script with the texts of pages that are saved as files. For each of the other languages, `PACKED` has its texts in
/// the order of their names.
static OF_FILES: LazyLock<String> = LazyLock::new(|| script_of_files(&[]));

/// Script with the texts of pages of single reviews.
static OF_REVIEWS: LazyLock<String> = LazyLock::new(|| script_of_files(&NOT_OF_REVIEWS));

fn script_of_files(left_out: &[&str]) -> String {
    let table = |language: Language| -> BTreeMap<String, String> {
        let mut table: BTreeMap<String, String> = serde_json::from_str(language.common).unwrap_or_default();
        table.retain(|name, _| !left_out.contains(&name.as_str()));
        table
    };
    let values = |language: Language| -> Vec<String> { table(language).into_values().collect() };
    let all: BTreeMap<&str, Vec<String>> = OTHERS.into_iter().map(|it| (it.code, values(it))).collect();
    let text = serde_json::to_string(&all).unwrap_or_default();
    let mut bytes = Vec::new();
    let mut encoder = DeflateEncoder::new(text.as_bytes(), Compression::best());
    // Reading from memory does not fail.
    let _ = encoder.read_to_end(&mut bytes);
    let english = serde_json::to_string(&table(ENGLISH)).unwrap_or_default();
    script(&english, &BASE64.encode(&bytes))
}

/// Script with the texts of the page of `kosumi play`, which loads other languages from [`files`].
static OF_BOARD: LazyLock<String> = LazyLock::new(|| script(&ENGLISH.all(), ""));

/// Returns the script with the texts of pages that are saved as files: `TEXTS` and `OTHERS`.
pub(super) fn of_files() -> &'static str {
    &OF_FILES
}

/// Returns the script with the texts of the page of a review: `TEXTS` and `OTHERS`.
pub(super) fn of_reviews() -> &'static str {
    &OF_REVIEWS
}

/// Returns the script with the texts of the page of `kosumi play`: `TEXTS` and `OTHERS`.
pub(super) fn of_board() -> &'static str {
    &OF_BOARD
}

/// Returns the names and contents of the files from which the page of `kosumi play` loads languages.
pub fn files() -> impl Iterator<Item = (String, String)> {
    OTHERS.into_iter().map(|language| (format!("texts-{}.json", language.code), language.all()))
}

/// Returns the English text with this name, or the name itself if there is none.
pub fn english(name: &str) -> &str {
    TABLE.get(name).map_or(name, String::as_str)
}

/// Returns whether the table has a text of this name.
pub fn has_words(name: &str) -> bool {
    TABLE.contains_key(name)
}

/// Text of the table, with values for its placeholders in braces. [`Render`] writes an element that scripts can
/// translate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    name: String,
    values: BTreeMap<&'static str, String>,
}

/// Returns the text with this name, without values.
pub fn localized(name: impl Into<String>) -> Text {
    Text { name: name.into(), values: BTreeMap::new() }
}

impl Text {
    /// Sets the value of a placeholder.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Display) -> Text {
        self.values.insert(key, value.to_string());
        self
    }

    /// Returns the name of the text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the values, by the names of their placeholders.
    pub fn all_values(&self) -> &BTreeMap<&'static str, String> {
        &self.values
    }

    /// Returns the values as JSON, or `None` without values.
    pub fn values(&self) -> Option<String> {
        let json = || serde_json::to_string(&self.values).ok();
        if self.values.is_empty() { None } else { json() }
    }

    /// Returns the English text.
    pub fn english(&self) -> String {
        let put_in =
            |text: String, (key, value): (&&str, &String)| text.replace(&format!("{{{key}}}"), value);
        self.values.iter().fold(english(&self.name).to_owned(), put_in)
    }
}

impl Render for Text {
    fn render(&self) -> Markup {
        html! { span data-text=(self.name) data-values=[self.values()] { (self.english()) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the placeholders of a text, without their braces, sorted.
    fn braces(text: &str) -> Vec<&str> {
        let mut found: Vec<&str> =
            text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn every_language_has_every_text_with_the_same_values() {
        assert!(TABLE.len() > 400);
        let read = |table: &str| serde_json::from_str::<BTreeMap<String, String>>(table).unwrap();
        for language in OTHERS {
            for (table, english) in [(language.common, ENGLISH.common), (language.board, ENGLISH.board)] {
                let (table, english) = (read(table), read(english));
                assert_eq!(
                    table.keys().collect::<Vec<_>>(),
                    english.keys().collect::<Vec<_>>(),
                    "{}",
                    language.code
                );
                for (name, text) in &english {
                    assert_eq!(braces(text), braces(&table[name]), "{}: {name}", language.code);
                    assert!(!text.is_empty() && !table[name].is_empty(), "{}: {name}", language.code);
                }
            }
            assert_eq!(read(&language.all()).len(), TABLE.len());
        }
        assert_eq!(read(ENGLISH.common).len() + read(ENGLISH.board).len(), TABLE.len(), "no name twice");
    }

    #[test]
    fn pages_that_are_files_need_no_texts_of_the_board() {
        let board: BTreeMap<String, String> = serde_json::from_str(ENGLISH.board).unwrap();
        let files = [
            include_str!("viewer.js"),
            include_str!("language.js"),
            include_str!("packed.js"),
            include_str!("charts.js"),
            include_str!("records.js"),
            include_str!("board.js"),
            include_str!("sort.js"),
        ];
        let reviews = [include_str!("../review/page.js")].into_iter().chain(super::super::study::SCRIPTS);
        let reviews: Vec<&str> = reviews.chain(files.into_iter().skip(1)).collect();
        assert!(NOT_OF_REVIEWS.iter().all(|name| has_words(name)));
        for (scripts, names) in [(&files[..], &[][..]), (&reviews, &NOT_OF_REVIEWS)] {
            for name in board.keys().map(String::as_str).chain(names.iter().copied()) {
                for call in ["text(\"", "text(`", "? \"", ": \""] {
                    let named = format!("{call}{name}{}", if call.ends_with('`') { '`' } else { '"' });
                    assert!(scripts.iter().all(|script| !script.contains(&named)), "{name}");
                }
            }
        }
    }

    #[test]
    fn texts_can_stand_in_a_script_and_in_xml() {
        let scripts = [super::super::components::LANGUAGE, include_str!("sort.js")];
        for text in [of_files(), of_reviews(), of_board()].into_iter().chain(scripts) {
            assert!(!text.contains(['<', '&']));
        }
        assert!(!of_board().contains("Schwarz"), "the board loads German");
        assert_eq!(files().count(), 6);
        for (name, table) in files() {
            assert!(name.starts_with("texts-") && table.starts_with('{'), "{name}");
        }
    }

    #[test]
    fn values_are_put_in_and_kept_for_other_languages() {
        let words = localized("move-of").with("count", 3).with("all", "<9>");
        assert_eq!(words.english(), "Move 3 of <9>");
        let markup = words.render().into_string();
        assert!(markup.contains("data-text=\"move-of\""), "{markup}");
        assert!(markup.contains("&lt;9&gt;") && !markup.contains("<9>"), "{markup}");
        assert_eq!(english("no such text"), "no such text");
    }
}

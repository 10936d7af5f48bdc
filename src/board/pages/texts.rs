//! Texts of the pages in all languages: `texts/en.json`, and one file for each other language. Markup contains the
//! names of texts, so that scripts can insert another language. Without scripts a page is in English.

use maud::{Markup, Render, html};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::LazyLock;

const ENGLISH: &str = include_str!("texts/en.json");

/// Script with the table of all languages: `TEXTS`.
pub(super) const SCRIPT: &str = concat!(
    "const TEXTS = {\nen: ",
    include_str!("texts/en.json"),
    ",\nde: ",
    include_str!("texts/de.json"),
    "};\n"
);

static TABLE: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| serde_json::from_str(ENGLISH).unwrap_or_default());

/// Returns the English text of a name, or the name itself if there is none.
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

/// Returns the text of a name, without values.
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

    /// Returns the placeholders in braces, sorted.
    fn braces(text: &str) -> Vec<&str> {
        let mut found: Vec<&str> =
            text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn every_language_has_every_text_with_the_same_values() {
        let german: BTreeMap<String, String> = serde_json::from_str(include_str!("texts/de.json")).unwrap();
        assert!(TABLE.len() > 200);
        assert_eq!(TABLE.keys().collect::<Vec<_>>(), german.keys().collect::<Vec<_>>());
        for (name, text) in TABLE.iter() {
            assert_eq!(braces(text), braces(&german[name]), "{name}");
            assert!(!text.is_empty() && !german[name].is_empty(), "{name}");
        }
    }

    #[test]
    fn texts_can_stand_in_a_script_and_in_xml() {
        for text in [SCRIPT, super::super::components::LANGUAGE] {
            assert!(!text.contains(['<', '&']));
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

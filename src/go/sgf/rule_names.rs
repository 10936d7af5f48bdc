//! Parsing of `RU` as people and servers write it: in several languages, abbreviated, with additional words.

use super::values::half_width;
use crate::rules::{Preset, Rules};

/// Words that do not identify the rules.
const IGNORED_WORDS: &[&str] = &[
    "rule",
    "rules",
    "ruleset",
    "rulesets",
    "set",
    "scoring",
    "counting",
    "style",
    "go",
    "weiqi",
    "baduk",
    "igo",
    "official",
    "standard",
    "the",
    "of",
    "association",
    "regel",
    "regeln",
    "regle",
    "regles",
    "règle",
    "règles",
    "reglas",
    "regla",
    "regole",
    "regras",
    "правила",
    "го",
];

/// Words that do not identify the rules, in languages without blanks between words.
const IGNORED_SUBSTRINGS: &[&str] = &[
    "ルール",
    "规则集",
    "規定",
    "规定",
    "規則",
    "规则",
    "規約",
    "规约",
    "规",
    "規",
    "規程",
    "棋院",
    "围棋",
    "圍棋",
    "囲碁",
    "方式",
    "式",
    "制",
    "の",
    "바둑",
    "규칙",
    "규정",
    "룰",
    "식",
    "协会",
    "協会",
    "協會",
];

/// Rule sets and the words that name them.
const WORDS: &[(&str, &[&str])] = &[
    ("aga-button", &["agabutton", "button", "buttongo"]),
    ("chinese-kgs", &["chinesekgs", "kgschinese", "chineseogs", "ogschinese"]),
    ("cgos", &["cgos"]),
    ("tromp-taylor", &["tt", "tromp", "taylor", "tromptaylor", "taylortromp", "logical"]),
    ("ancient-territory", &["ancientterritory"]),
    ("stone-scoring", &["stone", "stones", "ancientarea", "ancientchinese", "oldchinese", "ancient"]),
    (
        "ing",
        &[
            "ing",
            "ings",
            "goe",
            "inggoe",
            "ingsst",
            "sst",
            "应氏",
            "應氏",
            "応氏",
            "应昌期",
            "應昌期",
            "计点",
            "計點",
            "응씨",
        ],
    ),
    (
        "new-zealand",
        &["nz", "newzealand", "nzgs", "新西兰", "新西蘭", "纽西兰", "紐西蘭", "ニュージーランド", "뉴질랜드"],
    ),
    (
        "aga",
        &[
            "aga",
            "american",
            "america",
            "us",
            "usa",
            "bga",
            "british",
            "french",
            "france",
            "ffg",
            "française",
            "francaise",
            "françaises",
            "francaises",
            "美国",
            "美國",
            "미국",
        ],
    ),
    (
        "korean",
        &[
            "korean",
            "korea",
            "kr",
            "kor",
            "ko",
            "kba",
            "韩国",
            "韓國",
            "韓国",
            "韩",
            "韓",
            "한국",
            "한",
            "koreanisch",
            "koreanische",
            "coréen",
            "coréenne",
            "coréennes",
            "coreen",
            "coreennes",
            "coreanas",
            "корейские",
            "корейский",
        ],
    ),
    (
        "japanese",
        &[
            "japanese",
            "japan",
            "jp",
            "jpn",
            "jap",
            "ja",
            "nihon",
            "nippon",
            "nihonkiin",
            "kiin",
            "日本",
            "日",
            "일본",
            "数目",
            "數目",
            "比目",
            "japanisch",
            "japanische",
            "japonais",
            "japonaise",
            "japonaises",
            "japonesas",
            "japonés",
            "japones",
            "giapponesi",
            "giapponese",
            "японские",
            "японский",
        ],
    ),
    (
        "chinese",
        &[
            "chinese",
            "china",
            "cn",
            "chn",
            "zh",
            "ch",
            "中国",
            "中國",
            "中",
            "중국",
            "数子",
            "數子",
            "chinesisch",
            "chinesische",
            "chinois",
            "chinoise",
            "chinoises",
            "chinas",
            "cinesi",
            "cinese",
            "китайские",
            "китайский",
        ],
    ),
    ("chinese", &["area", "面積", "面积", "surface"]),
    ("japanese", &["territory", "territorial", "territoire", "地"]),
];

/// Number of rows at the end that name a way of counting, which several rule sets share. They are ignored if a rule set
/// is named as well.
const COUNTING: usize = 2;

/// Returns the rules that a name or a code stands for.
pub(super) fn rules(text: &str) -> Option<Rules> {
    preset(text).map(|preset| preset.rules).or_else(|| Rules::parse(text))
}

/// Returns the named rule set that a name stands for.
pub(super) fn preset(text: &str) -> Option<&'static Preset> {
    if let Some(preset) = Rules::preset(text) {
        return Some(preset);
    }
    let plain: String = text.chars().map(half_width).collect::<String>().to_lowercase();
    let plain = IGNORED_SUBSTRINGS.iter().fold(plain, |text, filler| text.replace(filler, " "));
    let words = plain.split(|character: char| !character.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty() && !IGNORED_WORDS.contains(word)).collect();
    let whole = words.concat();
    Rules::preset(&whole).or_else(|| named(&[&whole])).or_else(|| named(&words))
}

/// Returns the rule set that the words name, if they name exactly one.
fn named(words: &[&str]) -> Option<&'static Preset> {
    let rows = |rows: &[(&'static str, &[&str])]| {
        let is_named =
            |names: &[&str]| words.iter().any(|word| names.iter().any(|name| is_name_in(name, word)));
        let named = rows.iter().filter(|(_, names)| is_named(names));
        let mut found: Vec<&str> = named.map(|&(name, _)| name).collect();
        if found.contains(&"aga-button") {
            found.retain(|&name| name != "aga");
        }
        found.dedup();
        found
    };
    let (sets, counting) = WORDS.split_at(WORDS.len() - COUNTING);
    let mut found = rows(sets);
    if found.is_empty() {
        found = rows(counting);
    }
    match found[..] {
        [only] => Rules::preset(only),
        _ => None,
    }
}

/// Returns whether a word contains this name. In texts without blanks between words, a name may be part of a longer
/// word.
fn is_name_in(name: &str, word: &str) -> bool {
    let is_without_blanks = name.chars().count() >= 2 && name.chars().all(|letter| letter >= '\u{3000}');
    word == name || is_without_blanks && word.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_they_are_in_files() {
        let rows: &[(&str, &[&str])] = &[
            (
                "japanese",
                &[
                    "Japanese",
                    "Japanese Rules",
                    "japanese rule",
                    "JP",
                    "Japan",
                    "JAPAN.",
                    "日本",
                    "日本ルール",
                    "日本规则",
                    "日本規則",
                    "日本棋院規約",
                    "日式规则",
                    "일본",
                    "일본룰",
                    "Territory",
                    "territory scoring",
                    "Jpn",
                    "Nihon Kiin",
                    "Japanese (1989)",
                    "ＪＡＰＡＮＥＳＥ",
                    "Japanisch",
                    "règles japonaises",
                    "japanese_rules",
                ],
            ),
            (
                "chinese",
                &[
                    "Chinese",
                    "Chinese Rules",
                    "chinese-rules",
                    "cn",
                    "CHN",
                    "China",
                    "中国",
                    "中国规则",
                    "中國規則",
                    "中国ルール",
                    "中國",
                    "中国围棋规则",
                    "中式",
                    "중국",
                    "중국규칙",
                    "Area",
                    "Area scoring",
                    "Chinese Area Scoring",
                    "Chinese Rules 2002",
                    "数子",
                ],
            ),
            (
                "japanese",
                &["Korean", "Korean Rules", "한국", "한국 룰", "한국식", "韓国", "韩国规则", "KR", "Korea"],
            ),
            ("aga", &["AGA", "AGA rules", "American", "BGA", "french rules", "aga-rules"]),
            ("aga-button", &["AGA (Button)", "AGA Button", "Button Go", "aga-button"]),
            (
                "tromp-taylor",
                &["TT", "Tromp/Taylor", "Tromp-Taylor", "Tromp Taylor rules", "tromptaylor", "Logical Rules"],
            ),
            (
                "ing",
                &[
                    "GOE",
                    "Ing",
                    "Ing Goe",
                    "Ing's SST Rules",
                    "应氏规则",
                    "應氏",
                    "응씨룰",
                    "应氏计点制",
                    "應氏計點制規則",
                ],
            ),
            (
                "new-zealand",
                &["NZ", "New Zealand", "New Zealand rules", "NewZealand", "ニュージーランドルール"],
            ),
            ("stone-scoring", &["Stone", "stone counting", "stone_scoring"]),
            ("chinese-kgs", &["Chinese-KGS", "KGS Chinese", "Chinese (OGS)"]),
            ("cgos", &["CGOS", "cgos rules"]),
        ];
        for (name, texts) in rows {
            let expected = Rules::preset(name).map(|preset| preset.rules);
            for text in *texts {
                assert_eq!(preset(text).map(|preset| preset.rules), expected, "{text}");
            }
        }
        for text in ["", "rules", "mahjong", "Japanese or Chinese", "6.5", "??", "ルール", "house rules"] {
            assert!(preset(text).is_none(), "{text}");
        }
        assert!(rules("koPOSITIONALscoreAREAtaxNONEsui0").is_some());
    }

    #[test]
    fn every_name_in_the_table_is_one_of_a_rule_set() {
        for (name, words) in WORDS {
            assert!(Rules::preset(name).is_some(), "{name}");
            let lower =
                |word: &&str| word.to_lowercase() == **word && word.chars().all(char::is_alphanumeric);
            assert!(words.iter().all(lower), "{name}");
        }
    }
}

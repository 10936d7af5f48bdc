//! Sessions of valid commands: the input bytes choose commands and arguments, most of them valid, so that games are
//! played, undone, saved, loaded and analysed. The checks are those of `gtp_session`.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run gtp_grammar -- -max_total_time=600 -detect_leaks=0
//! ```
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::fmt::Write;

#[path = "../support/watched.rs"]
mod watched;

/// Commands with the kinds of their arguments, one letter each: `c` colour, `v` vertex, `n` small number, `i` any
/// number, `k` komi, `s` size, `t` seconds, `r` rules, `p` a parameter with its value, `w` any word.
const COMMANDS: &[(&str, &str)] = &[
    ("boardsize", "s"),
    ("rectangular_boardsize", "ss"),
    ("clear_board", ""),
    ("komi", "k"),
    ("play", "cv"),
    ("genmove", "c"),
    ("reg_genmove", "c"),
    ("genmove_cleanup", "c"),
    ("kgs-genmove_cleanup", "c"),
    ("undo", ""),
    ("gg-undo", "n"),
    ("fixed_handicap", "n"),
    ("place_free_handicap", "n"),
    ("set_free_handicap", "vvv"),
    ("set_position", "cvcv"),
    ("set_random_seed", "i"),
    ("time_settings", "ttn"),
    ("kgs-time_settings", "wttn"),
    ("kata-time_settings", "wttn"),
    ("time_left", "ctn"),
    ("final_score", ""),
    ("final_status_list", "w"),
    ("final_status", "v"),
    ("kata-set-rules", "r"),
    ("kata-set-rule", "ww"),
    ("kata-get-rules", ""),
    ("kata-set-param", "p"),
    ("kata-get-param", "w"),
    ("showboard", ""),
    ("printsgf", ""),
    ("is_legal", "cv"),
    ("all_legal", "c"),
    ("list_stones", "c"),
    ("countlib", "v"),
    ("findlib", "v"),
    ("captures", "c"),
    ("lz-analyze", "cn"),
    ("kata-analyze", "cn"),
    ("lz-genmove_analyze", "cn"),
    ("kata-genmove_analyze", "cn"),
    ("kata-raw-nn", "n"),
    ("kata-search", "c"),
    ("analyze", "cn"),
    ("clear_cache", ""),
    ("stop", ""),
    ("gogui-play_sequence", "cvcvcv"),
    ("gogui-analyze_commands", ""),
    ("kosumi-help", ""),
    ("name", ""),
    ("list_commands", ""),
    ("cputime", ""),
    ("gomill-describe_engine", ""),
    ("gomill-explain_last_move", ""),
    ("kgs-rules", "w"),
    ("kgs-game_over", ""),
    ("play", "cv"),
    ("play", "cv"),
    ("play", "cv"),
];
const WORDS: &[&str] = &[
    "dead",
    "alive",
    "seki",
    "black_territory",
    "byoyomi",
    "canadian",
    "absolute",
    "none",
    "fischer",
    "japanese",
    "chinese",
    "aga",
    "ko",
    "suicide",
    "scoring",
    "tax",
    "SIMPLE",
    "TERRITORY",
    "AREA",
    "true",
    "false",
    "0",
    "-1",
    "maxVisits",
    "1e400",
    "ownership",
    "interval",
    "",
];
const RULES: &[&str] = &[
    "japanese",
    "tromp-taylor",
    "chinese",
    "aga-button",
    "stone-scoring",
    "new-zealand",
    "ancient-territory",
    "{\"ko\":\"SITUATIONAL\",\"scoring\":\"TERRITORY\",\"tax\":\"ALL\",\"suicide\":true,\"hasButton\":true}",
];
const SETTINGS: &[&str] = &[
    "maxVisits 3",
    "maxPlayouts 2",
    "strict true",
    "strict false",
    "sharing tree",
    "numSearchThreads 2",
    "ponderingEnabled true",
    "rank 9k",
    "captureDeadStones true",
    "wideRootNoise 1",
    "chosenMoveTemperature 2",
    "antiMirror true",
    "expandAfter 0",
    "rootPolicyTemperature 0.1",
    "cpuctExploration 1e30",
    "lcbStdevs -1",
];

/// Appends one argument of this kind, preceded by a blank.
fn argument(kind: u8, u: &mut Unstructured<'_>, line: &mut String) -> Result<()> {
    let any = |u: &mut Unstructured<'_>| u.int_in_range(-3..=400i32);
    let _ = match kind {
        b'c' => write!(line, " {}", u.choose(&["b", "w", "black", "White"])?),
        b'v' => match u.int_in_range(0..=19u8)? {
            0 => write!(line, " pass"),
            // Mostly on a board of five by five, so that stones meet.
            1 => write!(line, " {}{}", u.choose(&['A', 'J', 'T', 'I', 'Z'])?, any(u)?),
            _ => write!(line, " {}{}", u.choose(&['A', 'B', 'C', 'D', 'E'])?, u.int_in_range(1..=5u8)?),
        },
        b'n' => write!(line, " {}", u.int_in_range(0..=9u8)?),
        b'i' => write!(line, " {}", u.arbitrary::<i64>()?),
        b'k' => write!(line, " {}", f64::from(any(u)?) / 4.0 - 30.0),
        b's' => write!(line, " {}", u.choose(&[5, 4, 5, 3, 2, 1, 7, 5, 0, 25, 26])?),
        b't' => write!(line, " {}", u.choose(&["0", "1", "0.01", "10", "-1", "1e9"])?),
        b'r' => write!(line, " {}", u.choose(RULES)?),
        b'p' => write!(line, " {}", u.choose(SETTINGS)?),
        _ => write!(line, " {}", u.choose(WORDS)?),
    };
    Ok(())
}

fn session(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = "boardsize 5\n".to_owned();
    while !u.is_empty() && text.len() < 1500 {
        let (name, kinds) = u.choose(COMMANDS)?;
        text.push_str(name);
        for kind in kinds.bytes() {
            // Occasionally an argument is missing.
            if !u.ratio(1, 40)? {
                argument(kind, u, &mut text)?;
            }
        }
        text.push('\n');
    }
    Ok(text)
}

fuzz_target!(|input: &[u8]| {
    let mut bytes = Unstructured::new(&input[..input.len().min(400)]);
    if let Ok(text) = session(&mut bytes) {
        watched::run(text.into_bytes());
    }
});

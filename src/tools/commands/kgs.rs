//! Commands of the Go server KGS, about disputes over dead stones, the end of games, and chat.

use super::analyze::variation_text;
use super::play::decide;
use super::{CommandResult, Commands};
use crate::words::unsigned_zero;
use kosumi_engine::Engine;
use kosumi_gtp::{Arguments, Failure, Response, Session};
use kosumi_search::{Analysis, SearchReport};

pub(super) fn genmove_cleanup(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    decide(commands, arguments, session, Engine::genmove_cleanup)
}

/// Handles `kgs-game_over` and `cgos-gameover [result]`.
pub(super) fn game_over(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    // The server may resume the game, so nothing is cleared. The result is a single argument.
    commands.engine.end_game(arguments.optional_word());
    Ok(Response::empty())
}

/// Maximum length of a chat message. People do not read longer messages.
const CHAT_CHARACTERS: usize = 240;

/// Maximum number of moves of a variation in a chat message.
const CHAT_MOVES: usize = 8;

/// Topics of chat messages, by keywords.
const TOPICS: &[(&[&str], Topic)] = &[
    (&["help", "commands"], Topic::Help),
    (&["variation", "pv", "plan", "sequence"], Topic::Variation),
    (&["opinion", "score", "winrate", "win", "winning", "status", "estimate"], Topic::Opinion),
    (&["rules", "komi"], Topic::Rules),
    (&["hello", "hi", "hey", "onegai", "onegaishimasu"], Topic::Greeting),
    (&["thanks", "thank", "thx", "ty", "bye", "arigato"], Topic::Thanks),
];

#[derive(Clone, Copy)]
enum Topic {
    Greeting,
    Help,
    Opinion,
    Variation,
    Rules,
    Thanks,
}

/// Handles `kgs-chat game|private name message...`. Responds with one line of ASCII text.
pub(super) fn chat(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    match arguments.word()? {
        "game" | "private" => {}
        _ => return Err(Failure::syntax_error()),
    }
    let name = arguments.word()?;
    let message = arguments.rest().to_lowercase();
    let topic = topic(&message);
    let text = match topic {
        Some(Topic::Greeting) => format!("Hello {name}, I am {}. {HELP}", own_name()),
        Some(Topic::Opinion) => opinion(commands),
        Some(Topic::Variation) => plan(commands),
        Some(Topic::Rules) => {
            let game = commands.engine.game();
            format!("I play by {} rules, komi {}.", game.rules(), game.komi() + game.white_bonus())
        }
        Some(Topic::Thanks) => format!("Thank you, {name}."),
        Some(Topic::Help) | None => format!("I am {}. {HELP}", own_name()),
    };
    Ok(one_line(&text).into())
}

const HELP: &str = "Ask me for my opinion, for the variation I expect, or for the rules.";

fn own_name() -> String {
    format!("Kosumi {}, a program", env!("CARGO_PKG_VERSION"))
}

/// Returns the topic of the first keyword in a message, if there is one.
fn topic(message: &str) -> Option<Topic> {
    let words = message.split(|letter: char| !letter.is_alphanumeric());
    let of_word =
        |word: &str| TOPICS.iter().find(|(known, _)| known.contains(&word)).map(|&(_, topic)| topic);
    words.filter(|word| !word.is_empty()).find_map(of_word)
}

fn opinion(commands: &Commands) -> String {
    match commands.engine.last_analysis().map(Analysis::seen_by_mover) {
        None => "I have not thought about this game yet.".to_owned(),
        Some(Analysis { to_move, root, visits, .. }) => format!(
            "When I last thought, {to_move} had {:.0} % to win and a score of {:+.1}, after {visits} visits.",
            100.0 * root.win_rate,
            unsigned_zero(root.lead, 1),
        ),
    }
}

fn plan(commands: &Commands) -> String {
    let moves = commands.engine.last_report().map_or(&[][..], SearchReport::principal_variation);
    match moves {
        [] => "I have no plan yet.".to_owned(),
        _ => format!("I expected {}.", variation_text(&moves[..moves.len().min(CHAT_MOVES)])),
    }
}

/// Replaces non-ASCII characters and truncates the text, because the server may not transmit other messages.
fn one_line(text: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_graphic() || letter == ' ' { letter } else { '?' };
    text.chars().map(plain).take(CHAT_CHARACTERS).collect()
}

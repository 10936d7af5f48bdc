//! `--player`: the player whose moves are reviewed.

use anyhow::{Context, bail, ensure};
use kosumi_go::board::Color;
use kosumi_go::sgf::Record;

/// Returns a player's name in the form in which names are compared, which ignores case and extra spaces.
fn folded(name: &str) -> String {
    name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Returns the colour whose moves `--player` selects in a game. `player` is `black`, `white` or a player's name.
pub(super) fn wanted(player: Option<&str>, record: &Record) -> anyhow::Result<Option<Color>> {
    let Some(player) = player else { return Ok(None) };
    let wanted = folded(player);
    ensure!(!wanted.is_empty(), "--player is empty");
    let names = [(Color::Black, &record.black), (Color::White, &record.white)];
    let named = |name: &Option<String>| name.as_deref().is_some_and(|name| folded(name) == wanted);
    let found: Vec<Color> =
        names.into_iter().filter(|(_, name)| named(name)).map(|(color, _)| color).collect();
    match found[..] {
        [color] => return Ok(Some(color)),
        [_, _] => bail!("both players are called {player}: choose black or white"),
        _ => {}
    }
    let color = match wanted.as_str() {
        "black" => Some(Color::Black),
        "white" => Some(Color::White),
        _ => None,
    };
    let called = |name: &Option<String>| name.clone().unwrap_or_else(|| "without a name".to_owned());
    let players = || {
        let (black, white) = (called(&record.black), called(&record.white));
        format!("no player is called {player}: Black is {black}, White is {white}")
    };
    color.with_context(players).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_by_color_and_by_name() {
        let wanted = |player: &str, record: &str| {
            let record = Record::parse(record.as_bytes()).unwrap();
            wanted(Some(player), &record).map_err(|error| error.to_string())
        };
        let named = "(;SZ[5]PB[Ann  Lee]PW[Bob])";
        assert_eq!(wanted("black", named), Ok(Some(Color::Black)));
        assert_eq!(wanted("White", named), Ok(Some(Color::White)));
        assert_eq!(wanted("ann lee", named), Ok(Some(Color::Black)));
        assert_eq!(wanted(" BOB ", named), Ok(Some(Color::White)));
        assert_eq!(wanted("black", "(;SZ[5]PB[White]PW[Black])"), Ok(Some(Color::White)), "names come first");
        assert!(wanted("Carl", named).unwrap_err().contains("Black is Ann"));
        assert!(wanted("Carl", "(;SZ[5])").unwrap_err().contains("Black is without a name"));
        assert!(wanted("bob", "(;SZ[5]PB[Bob]PW[bob])").unwrap_err().contains("both players"));
        assert!(wanted("  ", named).unwrap_err().contains("empty"));
    }
}

//! `reg_genmove` for engines that lack it, such as KataGo.

use crate::players::{GtpPlayer, GtpResponse, PlayerError};
use std::time::Duration;

/// Response to a command of a suite.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) response: GtpResponse,
    /// Whether a move that should have been taken back may still be on the engine's board.
    pub(super) is_move_left: bool,
}

/// Sends a command. If the engine does not know `reg_genmove`, makes it play a move (`genmove`) and take it back
/// (`undo`).
///
/// # Errors
///
/// Returns an error if the engine crashes or does not respond within `timeout`.
pub(super) fn send(
    player: &mut dyn GtpPlayer,
    command: &str,
    timeout: Duration,
) -> Result<Answer, PlayerError> {
    let response = player.send(command, timeout)?;
    let (name, arguments) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    if name != "reg_genmove" || !is_unknown(&response) {
        return Ok(Answer { response, is_move_left: false });
    }
    let response = player.send(format!("genmove {arguments}").trim_end(), timeout)?;
    let is_played = match &response {
        // A resignation is not a move, so there is nothing to take back.
        GtpResponse::Success(vertex) => !vertex.eq_ignore_ascii_case("resign"),
        GtpResponse::Failure(_) => false,
    };
    let is_move_left = is_played && matches!(player.send("undo", timeout)?, GtpResponse::Failure(_));
    Ok(Answer { response, is_move_left })
}

/// Whether the response says that the engine does not know the command. The message is the one that the protocol
/// prescribes.
pub(super) fn is_unknown(response: &GtpResponse) -> bool {
    matches!(response, GtpResponse::Failure(message) if message.to_ascii_lowercase().contains("unknown command"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Engine that responds according to a list, and records the commands that it gets.
    #[derive(Debug)]
    struct Scripted {
        answers: Vec<(&'static str, Result<&'static str, &'static str>)>,
        asked: Vec<String>,
    }

    impl GtpPlayer for Scripted {
        fn send(&mut self, command: &str, _: Duration) -> Result<GtpResponse, PlayerError> {
            self.asked.push(command.to_owned());
            let found =
                self.answers.iter().find(|(name, _)| command.starts_with(name)).map(|(_, answer)| *answer);
            Ok(match found.unwrap_or(Err("unknown command")) {
                Ok(body) => GtpResponse::Success(body.to_owned()),
                Err(message) => GtpResponse::Failure(message.to_owned()),
            })
        }

        fn quit(&mut self) {}
    }

    fn ask(
        command: &str,
        answers: &[(&'static str, Result<&'static str, &'static str>)],
    ) -> (String, bool, String) {
        let mut player = Scripted { answers: answers.to_vec(), asked: Vec::new() };
        let Answer { response, is_move_left } = send(&mut player, command, Duration::MAX).unwrap();
        let (GtpResponse::Success(text) | GtpResponse::Failure(text)) = response;
        (text, is_move_left, player.asked.join(", "))
    }

    #[test]
    fn moves_are_played_and_taken_back_only_where_nothing_else_is_known() {
        let plays = [("genmove", Ok("D4")), ("undo", Ok(""))];
        assert_eq!(
            ask("reg_genmove b", &plays),
            ("D4".into(), false, "reg_genmove b, genmove b, undo".into())
        );
        let knows = [("reg_genmove", Ok("C3"))];
        assert_eq!(ask("reg_genmove b", &knows), ("C3".into(), false, "reg_genmove b".into()));
        let refuses = [("reg_genmove", Err("not now")), ("genmove", Ok("D4"))];
        assert_eq!(ask("reg_genmove b", &refuses).2, "reg_genmove b");
        assert_eq!(ask("owl_attack D4", &plays).2, "owl_attack D4");
        assert_eq!(ask("reg_genmove", &plays).2, "reg_genmove, genmove, undo");
    }

    #[test]
    fn a_resignation_is_not_taken_back_and_a_refused_undo_is_reported() {
        let resigns = [("genmove", Ok("resign")), ("undo", Ok(""))];
        assert_eq!(
            ask("reg_genmove w", &resigns),
            ("resign".into(), false, "reg_genmove w, genmove w".into())
        );
        let keeps = [("genmove", Ok("pass"))];
        assert_eq!(
            ask("reg_genmove w", &keeps),
            ("pass".into(), true, "reg_genmove w, genmove w, undo".into())
        );
        assert_eq!(
            ask("reg_genmove w", &[]),
            ("unknown command".into(), false, "reg_genmove w, genmove w".into())
        );
    }
}

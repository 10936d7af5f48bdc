//! Effects of commands on the state of an engine, by name.
//!
//! They are needed in three places: a suite may be [split](super::parts) only where the state is known, an engine that
//! was restarted after a crash is brought back to its state, and the board is followed for diagrams.

/// Effect of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// Replaces the position and its moves. Other settings may stay or change, depending on the engine (`loadsgf` may
    /// set komi and rules).
    Fresh,
    /// Changes the position; undone by the next `Fresh`.
    Position,
    /// Changes a setting that outlives the position: komi, rules, level, clocks, random seed.
    Parameter,
    /// Changes nothing.
    Nothing,
    /// Unknown.
    Unknown,
}

/// Queries, which change nothing.
#[rustfmt::skip]
const QUERIES: &[&str] = &[
    // GTP 2 and common extensions.
    "protocol_version", "name", "version", "known_command", "list_commands", "help", "echo", "cputime",
    "reg_genmove", "final_score", "final_status_list", "showboard", "get_komi", "get_handicap", "get_random_seed",
    "is_legal", "all_legal", "last_move", "move_history", "list_stones", "captures", "color", "kosumi-help",
    "kata-get-rules", "kata-get-param", "kata-raw-nn", "gogui-analyze_commands", "go_safe", "stop",
    // GNU Go: moves without playing them, reading, life and death, territory, internal counters.
    "restricted_genmove", "gg_genmove", "top_moves", "top_moves_black", "top_moves_white", "all_move_values",
    "move_reasons", "move_probabilities", "move_uncertainty", "query_boardsize", "query_orientation",
    "countlib", "findlib", "accuratelib", "accurate_approxlib", "is_surrounded", "surround_map", "does_surround",
    "attack", "defend", "attack_either", "defend_both", "does_attack", "does_defend", "ladder_attack",
    "connect", "disconnect", "break_in", "block_off", "connection", "tune_move_ordering_score",
    "owl_attack", "owl_defend", "owl_threaten_attack", "owl_threaten_defense", "owl_does_attack",
    "owl_does_defend", "owl_connection_defends", "owl_substantial", "defend_against",
    "analyze_semeai", "analyze_semeai_after_move", "tactical_analyze_semeai", "combination_attack",
    "combination_defend", "aa_confirm_safety", "unconditional_status", "eval_eye", "eye_data", "half_eye_data",
    "dragon_status", "dragon_data", "dragon_stones", "same_dragon", "worm_data", "worm_stones", "worm_cutstone",
    "final_status", "estimate_score", "experimental_score", "new_score", "initial_influence", "move_influence",
    "invariant_hash", "invariant_hash_for_moves",
    "get_life_node_counter", "get_owl_node_counter", "get_reading_node_counter", "get_trymove_counter",
    "get_connection_node_counter",
];

/// Commands whose effect outlives the position.
#[rustfmt::skip]
const PARAMETERS: &[&str] = &[
    "komi", "level", "set_random_seed", "advance_random_seed", "clear_cache",
    "time_settings", "kgs-time_settings", "kata-time_settings", "time_left", "kgs-rules",
    "increase_depths", "decrease_depths", "limit_search", "set_search_limit", "set_search_diamond",
    "pachi-setoption", "uct_param_search", "uct_param_player", "uct_param_policy", "uct_param_globalsearch",
    "uct_param_rootfilter", "book_load", "book_clear",
];

/// Prefixes of further commands whose effect outlives the position.
const PARAMETER_PREFIXES: &[&str] =
    &["kata-set-rule", "kata-set-param", "go_param", "go_rules", "reset_", "lz-setoption"];

/// Returns the effect of a command with this name.
pub(super) fn effect(name: &str) -> Effect {
    match name {
        "loadsgf" | "clear_board" | "boardsize" | "rectangular_boardsize" => Effect::Fresh,
        "play"
        | "undo"
        | "gg-undo"
        | "black"
        | "white"
        | "fixed_handicap"
        | "place_free_handicap"
        | "set_free_handicap"
        | "gogui-play_sequence"
        | "gogui-setup"
        | "gogui-setup_player" => Effect::Position,
        _ if QUERIES.contains(&name) => Effect::Nothing,
        _ if PARAMETERS.contains(&name) => Effect::Parameter,
        _ if PARAMETER_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) => Effect::Parameter,
        _ => Effect::Unknown,
    }
}

/// Whether a refusal of this command makes the stones wrong for what follows. Among commands of unknown effect, only
/// those known to move stones count: a refused `debuglevel` does no harm.
pub(super) fn moves_stones(name: &str) -> bool {
    matches!(effect(name), Effect::Fresh | Effect::Position)
        || matches!(
            name,
            "trymove" | "popgo" | "genmove" | "genmove_black" | "genmove_white" | "kgs-genmove_cleanup"
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::TABLE;

    #[test]
    fn our_own_commands_are_known() {
        // Commands that play a move, write, or end the session are left unknown on purpose.
        let unknown: Vec<&str> =
            TABLE.iter().map(|row| row.name).filter(|name| effect(name) == Effect::Unknown).collect();
        for name in ["genmove", "quit", "printsgf", "kgs-game_over"] {
            assert!(unknown.contains(&name), "{name}");
        }
        for name in ["loadsgf", "play", "undo", "komi", "kata-set-rules", "kata-set-rule", "reg_genmove"] {
            assert!(!unknown.contains(&name), "{name}");
        }
        assert!(moves_stones("genmove") && moves_stones("play") && !moves_stones("komi"));
    }
}

//! Commands of the Go Text Protocol: one table with one row per command.
//!
//! `list_commands`, `known_command` and the help text are derived from the table, so they always agree with the
//! commands that exist. Handlers are small: they read arguments, call the [`Engine`], and write text. All of them
//! follow these rules:
//!
//! - a refused command changes nothing (`tests/gtp_session.rs`);
//! - surplus arguments are ignored, as in other engines, because controllers send them;
//! - a well-formed vertex outside the board is an illegal move, not a syntax error.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod admin;
mod analyze;
mod chains;
mod clock;
mod gnugo;
mod gogui;
mod gomill;
mod graphics;
mod handicap;
mod kgs;
mod network;
mod parameters;
mod paths;
mod play;
mod reading;
mod record;
mod rules;
#[cfg(test)]
mod session_model;
mod setup;
mod show;
#[cfg(test)]
mod simulation;
mod status;
mod text;

pub use graphics::GraphicsKind;
pub use parameters::Setting;
pub use rules::{to_json as rules_json, with_rule};
pub use status::diagram;
pub use text::vertex_move;

use kosumi_engine::Engine;
use kosumi_go::board::BoardSize;
use kosumi_go::rules::Rules;
use kosumi_gtp::{Arguments, Command, Failure, Handler, InputWatch, Response, Session};
use kosumi_net::RankSetting;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Result of a handler.
type CommandResult = Result<Response, Failure>;

/// Handler of a command.
type Run = fn(&mut Commands, &mut Arguments<'_>, &mut Session<'_>) -> CommandResult;

/// Row of the table: one command.
#[derive(Clone, Copy, Debug)]
pub struct CommandRow {
    /// Name of the command.
    pub name: &'static str,
    run: Run,
    /// Arguments, optional ones in brackets.
    pub arguments: &'static str,
    /// Description in one line.
    pub about: &'static str,
}

/// All commands, by family.
#[rustfmt::skip]
pub const TABLE: &[CommandRow] = &[
    row("protocol_version", admin::protocol_version, "", "version of the protocol"),
    row("name", admin::name, "", "name of the engine"),
    row("version", admin::version, "", "version of the engine"),
    row("known_command", admin::known_command, "name", "1 if a command has this name, otherwise 0"),
    row("list_commands", admin::list_commands, "", "names of all commands"),
    row("help", admin::help, "[name]", "all commands with their arguments, or one of them"),
    row("kosumi-help", admin::help, "[name]", "all commands with their arguments, or one of them"),
    row("quit", admin::quit, "", "ends the session"),
    row("echo", admin::echo, "text...", "the text"),
    row("cputime", admin::cputime, "", "seconds of processor time used so far"),
    row("gomill-cpu_time", admin::cputime, "",
        "seconds of processor time used so far, under Gomill's name"),

    row("boardsize", setup::boardsize, "columns [rows]", "sets the board size and clears the board"),
    row("rectangular_boardsize", setup::boardsize, "columns rows", "sets the board size and clears the board"),
    row("clear_board", setup::clear_board, "", "clears the board; size, komi and rules stay"),
    row("query_boardsize", gnugo::query_boardsize, "", "the size of the board"),
    row("komi", setup::komi, "points", "points for White"),
    row("gogui-setup", gogui::setup, "[color vertex...]", "sets up stones of the initial position, on an empty board"),
    row("gogui-setup_player", gogui::setup_player, "color", "sets the side to move in the position that was set up"),
    row("set_position", gogui::set_position, "[color vertex...]", "starts a game with these stones on the board"),
    row("get_komi", setup::get_komi, "", "points for White"),
    row("fixed_handicap", handicap::fixed_handicap, "stones", "handicap stones at their usual points"),
    row("place_free_handicap", handicap::place_free_handicap, "stones",
        "handicap stones at points that the engine chooses"),
    row("set_free_handicap", handicap::set_free_handicap, "vertex vertex...", "handicap stones at these points"),
    row("get_handicap", handicap::get_handicap, "", "number of handicap stones"),

    row("play", play::play, "color vertex", "plays a move"),
    row("gogui-play_sequence", gogui::play_sequence, "[color vertex...]", "plays all these moves, or none"),
    row("genmove", play::genmove, "color", "chooses a move and plays it"),
    row("reg_genmove", play::reg_genmove, "color",
        "chooses a move and does not play it; the same position always gets the same move"),
    row("gg_genmove", play::gg_genmove, "color [seed]",
        "like reg_genmove, with a seed of its own for random numbers"),
    row("restricted_genmove", play::restricted_genmove, "color vertex...",
        "like reg_genmove, but chooses one of these moves"),
    row("undo", play::undo, "", "takes a move back"),
    row("gg-undo", play::gg_undo, "[moves]", "takes several moves back, or one"),
    row("black", play::play_black, "vertex", "plays a move of Black, as in version 1 of the protocol"),
    row("white", play::play_white, "vertex", "plays a move of White, as in version 1 of the protocol"),
    row("trymove", play::play, "color vertex", "plays a move that will be taken back, under GNU Go's name"),
    row("popgo", play::undo, "", "takes a move back, under GNU Go's name"),
    row("level", gnugo::level, "number",
        "strength from 0 to 10: below 10 a rank from 20k up, at 10 the strength that the program was started with"),
    row("increase_depths", play::change_depths, "",
        "accepted and without effect: reading is limited by nodes, not by depth"),
    row("decrease_depths", play::change_depths, "",
        "accepted and without effect: reading is limited by nodes, not by depth"),
    row("lz-analyze", analyze::lz_analyze, "[color] [interval] [key value...]",
        "analyses the position and reports at intervals until the next input line, in Leela Zero's format"),
    row("kata-analyze", analyze::kata_analyze, "[color] [interval] [key value...]",
        "like lz-analyze, in KataGo's format"),
    row("lz-genmove_analyze", analyze::lz_genmove_analyze, "[color] [interval] [key value...]",
        "like genmove, with reports during the search in Leela Zero's format"),
    row("kata-genmove_analyze", analyze::kata_genmove_analyze, "[color] [interval] [key value...]",
        "like genmove, with reports during the search in KataGo's format"),
    row("kata-search_analyze", analyze::kata_search_analyze, "[color] [interval] [key value...]",
        "like kata-genmove_analyze, but does not play the move"),
    row("kata-search_analyze_cancellable", analyze::kata_search_analyze_cancellable,
        "[color] [interval] [key value...]",
        "like kata-search_analyze, but the next line cancels it; the move is then cancelled"),
    row("kata-search", play::kata_search, "color", "like genmove, but does not play the move"),
    row("kata-search_cancellable", play::kata_search_cancellable, "color",
        "like kata-search, but the next line cancels it; the response is then cancelled"),
    row("cgos-genmove_analyze", analyze::cgos_genmove_analyze, "color",
        "like genmove, with a line of JSON for the spectators at CGOS"),
    row("kata-get-models", network::models, "", "the networks that are loaded, as JSON"),
    row("kata-raw-nn", network::raw, "[color] symmetry|all [optimism]",
        "the network's evaluation of the position, without a search"),
    row("kata-raw-human-nn", network::raw_human, "[color] symmetry|all",
        "the evaluation by the network of human play"),
    row("stop", analyze::stop, "",
        "ends an analysis, as any other line does"),
    row("set_random_seed", play::set_random_seed, "number",
        "sets the seed of all random numbers"),
    row("get_random_seed", play::get_random_seed, "",
        "the seed of all random numbers"),
    row("clear_cache", play::clear_cache, "",
        "discards everything that searches have learned"),
    row("kgs-genmove_cleanup", kgs::genmove_cleanup, "color",
        "like genmove, but does not pass before the opponent's dead stones are captured"),
    row("kgs-chat", kgs::chat, "game|private name text...",
        "answers a chat message"),
    row("kgs-game_over", kgs::game_over, "",
        "ends the game; the position stays"),
    row("cgos-gameover", kgs::game_over, "[result]",
        "ends the game with a result; the position stays"),

    row("time_settings", clock::time_settings, "main byo-yomi stones", "sets the time control, in seconds"),
    row("kgs-time_settings", clock::named_time_settings, "kind [numbers...]",
        "sets the time control: none, absolute, byoyomi or canadian, followed by seconds and numbers of periods or stones"),
    row("kata-time_settings", clock::named_time_settings, "kind [numbers...]",
        "like kgs-time_settings, and also fischer and fischer-capped"),
    row("kata-list_time_settings", clock::list_time_settings, "", "kinds of time control that kata-time_settings supports"),
    row("time_left", clock::time_left, "color seconds [stones]", "sets the time left on a player's clock"),

    row("kata-set-rules", rules::set_rules, "name|json", "sets the rules; komi and position stay"),
    row("kata-set-rule", rules::set_rule, "key value", "changes one of the rules"),
    row("kata-get-rules", rules::get_rules, "", "the rules, as JSON"),
    row("kgs-rules", rules::kgs_rules, "name", "sets the rules by their name at KGS"),

    row("showboard", status::showboard, "", "a diagram of the position"),
    row("is_legal", status::is_legal, "color vertex", "1 if the rules allow the move, otherwise 0"),
    row("all_legal", status::all_legal, "color", "all points where the rules allow a move"),
    row("last_move", status::last_move, "", "colour and vertex of the latest move"),
    row("move_history", status::move_history, "", "all moves, the latest first"),
    row("captures", gnugo::captures, "color", "number of stones that a player has captured"),
    row("list_stones", status::list_stones, "color", "all stones of a player"),
    row("final_status", show::final_status, "vertex",
        "alive, dead, seki, black_territory, white_territory or dame"),
    row("unconditional_status", show::unconditional_status, "vertex",
        "like final_status where the status is certain whatever is played, otherwise undecided"),
    row("attack", reading::attack, "vertex",
        "can the chain be captured? 0 no, 1 yes, 2 and 3 with a ko; and a move"),
    row("defend", reading::defend, "vertex", "can the chain be saved? As attack; PASS if nothing need be done"),
    row("does_attack", reading::does_attack, "vertex chain", "does this move capture the chain? A code as of attack"),
    row("does_defend", reading::does_defend, "vertex chain", "does this move save the chain? A code as of attack"),
    row("owl_attack", reading::owl_attack, "vertex",
        "can the group be killed, whatever is played in its region? As attack"),
    row("owl_defend", reading::owl_defend, "vertex", "can the group be saved? As defend"),
    row("owl_does_attack", reading::owl_does_attack, "vertex stone", "does this move kill the group? A code"),
    row("owl_does_defend", reading::owl_does_defend, "vertex stone", "does this move save the group? A code"),
    row("connect", reading::connect, "vertex vertex", "can the two chains be connected? As defend"),
    row("disconnect", reading::disconnect, "vertex vertex", "can the two chains be kept apart? As attack"),
    row("analyze_semeai", reading::analyze_semeai, "vertex vertex",
        "a race, the first group's owner to move: is it saved, is the other one captured, and a move"),
    row("dragon_status", reading::dragon_status, "vertex",
        "alive, dead, unknown, or critical with the moves that attack and defend"),
    row("same_dragon", reading::same_dragon, "vertex vertex",
        "1 if the two stones are connected whatever the opponent does, otherwise 0"),
    row("countlib", chains::countlib, "vertex", "number of liberties of the chain"),
    row("findlib", chains::findlib, "vertex", "liberties of the chain"),
    row("worm_stones", chains::worm_stones, "[vertex|color]", "stones of a chain, of a player's chains or of all"),
    row("worm_data", chains::worm_data, "[vertex|color]",
        "a table for each chain: size, liberties, attack and defence as of attack and defend"),
    row("dragon_stones", chains::dragon_stones, "[vertex|color]",
        "stones of the group that owl_attack reads, of a player's groups or of all"),
    row("dragon_data", chains::dragon_data, "vertex",
        "a table about the group: status, attack and defence as of owl_attack and owl_defend, chains"),
    row("eval_eye", chains::eval_eye, "vertex",
        "minimum and maximum number of eyes of an eye space, and the deciding moves; -1 outside of eye spaces"),
    row("attack_either", chains::attack_either, "vertex vertex", "can one of the two chains be captured? A code"),
    row("defend_both", chains::defend_both, "vertex vertex", "can both chains be saved? 1 or 0"),
    row("combination_attack", chains::combination_attack, "color",
        "a move that captures one of several chains, none of which can be captured by itself, or PASS"),
    row("estimate_score", show::estimate_score, "",
        "the expected score, with an upper and a lower bound from White's side"),
    row("final_score", status::final_score, "", "the result if the game ended here"),
    row("loadsgf", record::loadsgf, "file [move|vertex] [--partial]",
        "the position of a record before this move or the first one there, or its last one; with --partial as far \
         as it can be followed"),
    row("printsgf", record::printsgf, "[file] [remarks]",
        "the game as SGF, in the answer or to a file; remarks: none, brief (the usual) or variation"),
    row("savesgf", record::savesgf, "file [remarks]", "the game as SGF, to a file"),
    row("final_status_list", status::final_status_list, "status",
        "chains that are alive, dead or seki, or points of black_territory, white_territory or dame"),

    row("kosumi-ownership", show::ownership, "",
        "expected owner of every point, from 1 for Black to -1 for White"),
    row("kosumi-network_ownership", show::network_ownership, "",
        "expected owner of every point by the network alone, without a search"),
    row("kosumi-territory", show::territory, "", "picture: territory, dead stones and seki"),
    row("kosumi-life_and_death", show::life_and_death, "",
        "board of colors: green stones are certainly alive, red ones dead, yellow ones in seki; gray points are certain territory"),
    row("kosumi-priors", show::priors, "",
        "points with the prior probability of a move there, before any search, in thousandths"),
    row("heatmap", show::heatmap, "",
        "prior probability of every point as a board, and of passing, in thousandths"),
    row("kosumi-search", show::search, "[color]",
        "searches within the limits of a move without playing it, and responds with a picture"),
    row("kosumi-root", show::root, "",
        "picture: win rates of moves in the latest search"),
    row("kosumi-root_visits", show::root_visits, "",
        "board: visits of every move in the latest search"),
    row("kosumi-root_winrates", show::root_win_rates, "",
        "board: win rate of every move in the latest search"),
    row("kosumi-best_moves", show::best_moves, "",
        "points of the best moves of the latest search, with their rank"),
    row("top_moves", show::top_moves, "",
        "the best moves of the latest search, with their share of the visits"),
    row("top_moves_black", gnugo::top_moves_black, "",
        "searches for Black without playing a move, and responds with the best moves and their share of the visits"),
    row("top_moves_white", gnugo::top_moves_white, "", "like top_moves_black, for White"),
    row("kosumi-variation", show::variation, "[vertex]",
        "the principal variation of the latest search, or the one that begins with this move"),
    row("kosumi-statistics", show::statistics, "",
        "statistics of the latest search"),
    row("gomill-describe_engine", gomill::describe_engine, "", "name, version and settings, for people"),
    row("gomill-genmove_ex", gomill::genmove_ex, "[color [keyword...]]",
        "like genmove; with claim, the response may be a claim of a certain win. Without a colour: the keywords"),
    row("gomill-explain_last_move", gomill::explain_last_move, "",
        "summary of the latest search in one line"),
    row("kosumi-keys", show::keys, "", "hash keys of the position"),
    row("kosumi-superko_banned", show::superko_banned, "[color]",
        "points that superko alone forbids"),
    row("kosumi-liberties", show::liberties, "", "board: number of liberties of every stone"),

    row("gogui-analyze_commands", gogui::analyze_commands, "", "GoGui's analysis commands: type/label/command"),
    row("gogui-interrupt", gogui::interrupt, "",
        "does nothing; its presence announces that the line \"# interrupt\" ends a search"),
    row("gogui-title", gogui::title, "", "title of GoGui's window"),
    row("gogui-version", gogui::version, "[version]",
        "accepts GoGui's version, without effect"),
    row("kosumi-param", parameters::gogui, "[key value]", "shows all settings, or changes one"),
    row("kosumi-param_limits", parameters::dialog::<0>, "[key value]",
        "shows settings about time and limits, or changes one"),
    row("kosumi-param_playing", parameters::dialog::<1>, "[key value]",
        "shows settings about strength and the choice of moves, or changes one"),
    row("kosumi-param_human", parameters::dialog::<2>, "[key value]",
        "shows settings about a network of human play, or changes one"),
    row("kosumi-param_root", parameters::dialog::<3>, "[key value]",
        "shows settings about the root of a search, or changes one"),
    row("kosumi-param_exploration", parameters::dialog::<4>, "[key value]",
        "shows settings about the selection of moves in a search, or changes one"),
    row("kosumi-param_values", parameters::dialog::<5>, "[key value]",
        "shows settings about the values of positions, or changes one"),
    row("kosumi-param_network", parameters::dialog::<6>, "[key value]",
        "shows settings about the network, or changes one"),
    row("kosumi-param_playouts", parameters::dialog::<7>, "[key value]",
        "shows settings about playouts, or changes one"),
    row("kosumi-param_priors", parameters::dialog::<8>, "[key value]",
        "shows settings about priors without a network, or changes one"),
    row("kosumi-param_rules", parameters::gogui_rules, "[key value]", "shows the rules, or changes one"),
    row("kata-list-params", parameters::list, "", "names of all settings"),
    row("kata-get-param", parameters::get, "key", "a setting"),
    row("kata-set-param", parameters::set, "key value", "changes a setting"),
    row("kata-get-params", parameters::get_all, "", "all settings, as JSON"),
    row("kata-set-params", parameters::set_all, "json", "changes several settings, or none"),
];

const fn row(name: &'static str, run: Run, arguments: &'static str, about: &'static str) -> CommandRow {
    CommandRow { name, run, arguments, about }
}

/// Handler of GTP commands for one engine.
#[derive(Debug)]
pub struct Commands {
    engine: Engine,
    /// Folder to which relative file names refer.
    folder: PathBuf,
    /// GoGui's live graphics of searches.
    live_graphics: graphics::LiveGraphics,
    /// Receiver of notes that must not appear in a response.
    note: fn(&str),
    /// Rank that the program was started with.
    usual_rank: Option<RankSetting>,
    /// Function that returns the date for records of games that begin here, if it is known.
    today: fn() -> Option<String>,
    /// Responses to `name` and `version`.
    identity: (&'static str, Cow<'static, str>),
    /// Number of moves that changes of rules and komi may still replay.
    replays: usize,
    /// Watch on the input of the command that is being handled.
    watch: InputWatch,
}

/// Number of moves that changes of rules and komi may replay at first: which takes some seconds.
const REPLAYS_FIRST: usize = 1 << 22;

/// Number of moves by which each command raises the number that may still be replayed.
const REPLAYS_PER_COMMAND: usize = 1 << 6;

impl Commands {
    /// Creates a handler of commands for this engine.
    pub fn new(engine: Engine) -> Commands {
        Commands {
            usual_rank: engine.settings().rank,
            engine,
            folder: PathBuf::new(),
            live_graphics: graphics::LiveGraphics::default(),
            note: |_| {},
            today: || None,
            identity: ("Kosumi", Cow::Borrowed(env!("CARGO_PKG_VERSION"))),
            replays: REPLAYS_FIRST,
            watch: InputWatch::default(),
        }
    }

    /// Sets the rules of the game and of later games.
    fn change_rules(&mut self, rules: Rules) -> Result<(), Failure> {
        self.charge_replay(rules != self.engine.game().rules())?;
        self.engine.set_rules(rules);
        Ok(())
    }

    /// Sets the komi.
    fn change_komi(&mut self, komi: f32) -> Result<(), Failure> {
        self.charge_replay(komi.to_bits() != self.engine.game().komi().to_bits())?;
        self.engine.set_komi(komi);
        Ok(())
    }

    /// Deducts the replay of the game's moves that a change requires. Without this limit, the time of a session would
    /// grow with the square of its length.
    fn charge_replay(&mut self, is_change: bool) -> Result<(), Failure> {
        if is_change {
            let rest = self.replays.checked_sub(self.engine.game().records().len());
            self.replays = rest.ok_or_else(|| Failure::new("too many changes in a game of so many moves"))?;
        }
        Ok(())
    }

    /// Returns these commands with a receiver of notes that must not appear in a response. Each note is one line.
    #[must_use]
    pub fn with_notes(self, note: fn(&str)) -> Commands {
        Commands { note, ..self }
    }

    /// Returns these commands with a function that returns the date for the records that they write. Without it,
    /// records do not depend on the day.
    #[must_use]
    pub fn with_date(self, today: fn() -> Option<String>) -> Commands {
        Commands { today, ..self }
    }

    /// Returns these commands with another name and version. Some programs show all of an engine's output only if they
    /// recognise its name.
    #[must_use]
    pub fn with_identity(self, name: &'static str, version: impl Into<Cow<'static, str>>) -> Commands {
        Commands { identity: (name, version.into()), ..self }
    }

    /// Returns these commands with relative file names resolved in this folder instead of the process's working
    /// directory. Thus each of several engines in one process can have its own folder.
    #[must_use]
    pub fn in_folder(self, folder: &Path) -> Commands {
        Commands { folder: folder.to_owned(), ..self }
    }

    /// Returns these commands with GoGui's live graphics during searches for a move. A command can change `kind`.
    /// `sink` receives one picture per call. GoGui reads the pictures from the standard error.
    #[must_use]
    pub fn with_live_graphics(self, kind: GraphicsKind, sink: Box<dyn FnMut(&str) + Send>) -> Commands {
        Commands { live_graphics: graphics::LiveGraphics::new(kind, sink), ..self }
    }

    /// Returns the engine that carries out the commands.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns mutable access to the engine, for changes between commands.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    fn size(&self) -> BoardSize {
        self.engine.game().size()
    }
}

impl Handler for Commands {
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> CommandResult {
        let row = find(&command.name).ok_or_else(Failure::unknown_command)?;
        self.watch = session.watch();
        self.replays = REPLAYS_FIRST.min(self.replays + REPLAYS_PER_COMMAND);
        (row.run)(self, &mut command.arguments(), session)
    }

    fn idle(&mut self, watch: &InputWatch) {
        self.engine.ponder(&|| watch.input_pending());
    }
}

fn find(name: &str) -> Option<&'static CommandRow> {
    TABLE.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_engine::EngineSettings;
    use kosumi_gtp::answer;

    #[test]
    fn lizzie_and_its_successor_take_the_version() {
        let numbers: Vec<u32> =
            env!("CARGO_PKG_VERSION").split('.').map(|number| number.parse().unwrap()).collect();
        // Lizzie refuses engines below version 15. LizzieYzy draws the output of versions 17 and later.
        assert!(numbers[1] >= 17, "{numbers:?}");
    }

    /// Checks that changes of komi and rules replay few moves per command in the long run, and that a refused change
    /// changes nothing.
    #[test]
    fn changes_of_a_long_game_are_counted() {
        let settings = EngineSettings { threads: 1, memory_mebibytes: 1, ..EngineSettings::default() };
        let mut commands = Commands::new(Engine::new(settings));
        let mut run = |line: &str| {
            let (komi, rules) = (commands.engine.game().komi(), commands.engine.game().rules());
            let is_refused = answer(line, &mut commands, &InputWatch::default()).unwrap().is_err();
            let game = commands.engine.game();
            assert!(!is_refused || (game.komi(), game.rules()) == (komi, rules), "{line}");
            let is_change = (game.komi(), game.rules()) != (komi, rules);
            (is_refused, commands.replays, if is_change { game.records().len() } else { 0 })
        };
        (0..20_000).for_each(|_| assert!(!run("play b pass").0));
        let (mut refused, mut replayed) = (0, 0);
        for number in 0..1000 {
            let line = match number % 2 {
                0 => format!("komi {}", number / 2 % 50),
                _ => format!("kata-set-rules {}", ["japanese", "chinese"][number / 2 % 2]),
            };
            let (is_refused, left, moves) = run(&line);
            refused += usize::from(is_refused);
            replayed += moves;
            assert!(replayed + left <= REPLAYS_FIRST + (number + 1) * REPLAYS_PER_COMMAND);
        }
        assert!(refused > 500, "{refused}");
        // A change to the present value replays nothing.
        let komi = format!("komi {}", commands.engine.game().komi());
        assert!((0..100).all(|_| answer(&komi, &mut commands, &InputWatch::default()).unwrap().is_ok()));
    }

    #[test]
    fn names_are_unique_and_well_formed() {
        for (index, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..index].iter().all(|other| other.name != row.name), "{}", row.name);
            assert!(row.name.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-".contains(&byte)));
            assert!(!row.about.is_empty());
        }
    }
}

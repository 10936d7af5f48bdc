//! Parser of one line: a query, an action, or an error.
//!
//! Fields are checked in KataGo's order. The first fault ends a query with one error. Programs depend on the texts of
//! errors, so the texts are KataGo's.

use super::config::Config;
use super::json::{self, Fields};
use super::parameters;
use super::rules::{self, RequestedRules};
use super::settings::Settings;
use crate::commands::vertex_move;
use kosumi_go::board::{Board, BoardSize, Color, Move, Point, PointSet};
use kosumi_go::game::Game;
use kosumi_go::rules::{HandicapBonus, Rules};
use kosumi_search::Restriction;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

/// KataGo's message for such stones in its GTP command `set_position`. Its analysis engine accepts them instead, and
/// analyses a different position.
const ILLEGAL_STONES: &str = "Illegal stone placements - overlapping stones or stones with no liberties?";

/// Approximate size of a restriction in memory, in bytes.
const RESTRICTION: usize = 4096;

/// Maximum length of a query's name, in bytes. Each answer repeats the name.
const MAX_ID_BYTES: usize = 1 << 14;

/// Number of bytes of a faulty line that its answer repeats.
const MAX_SHOWN_BYTES: usize = 1 << 10;

/// Longest side of a board that networks support.
const MAX_SIDE: usize = 19;

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// A line of the input.
#[derive(Debug)]
pub(super) enum Line {
    /// An empty line.
    Blank,
    /// A line that cannot be read, with the response.
    Refused(Value),
    /// An action, with the object that it came in.
    Action(Object, Action),
    /// A query with its warnings. `None` if the query is faulty, in which case the last of the warnings is the error.
    Query(Vec<Value>, Option<Box<Query>>),
}

/// Action that is carried out at once.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Action {
    Version,
    Models,
    ClearCache,
    /// Cancels requests of one query or of all queries (`id`), for some turns or for all (`turns`).
    Terminate {
        id: Option<String>,
        turns: Option<HashSet<i64>>,
    },
}

/// Optional contents of an answer.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Include {
    pub(super) moves_ownership: bool,
    pub(super) moves_ownership_stdev: bool,
    pub(super) ownership: bool,
    pub(super) ownership_stdev: bool,
    pub(super) policy: bool,
    pub(super) variation_visits: bool,
    pub(super) no_result: bool,
}

/// Query: positions of a game to analyse.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) id: String,
    start: Start,
    moves: Vec<(Color, Move)>,
    /// Number of moves before each position, in ascending order, each with the position's priority.
    pub(super) turns: Vec<(usize, i64)>,
    pub(super) settings: Settings,
    pub(super) restriction: Restriction,
    pub(super) include: Include,
    /// Maximum number of moves of a variation after its first move.
    pub(super) variation: usize,
    pub(super) first_report: Option<Duration>,
    pub(super) report_every: Option<Duration>,
}

/// Position before the first move.
#[derive(Clone, Debug)]
struct Start {
    size: BoardSize,
    /// Stones of a legal position.
    stones: Vec<(Point, Color)>,
    player: Color,
    rules: Rules,
    komi: f32,
}

impl Query {
    /// Returns the game up to this number of moves.
    pub(super) fn game(&self, turn: usize) -> Game {
        let mut game = self.start.game();
        for &(color, mv) in &self.moves[..turn.min(self.moves.len())] {
            // The moves were checked when the query was read.
            let _ = game.play_tolerant(color, mv);
        }
        game
    }

    /// Returns the approximate size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Query>()
            + self.id.len()
            + size_of_val(&*self.start.stones)
            + size_of_val(&*self.moves)
            // The size of an entry in the queue.
            + self.turns.len() * 150
            + if self.restriction == Restriction::NONE { 0 } else { RESTRICTION }
    }
}

impl Start {
    fn game(&self) -> Game {
        // The stones were checked when the query was read. A board would take more memory than the list.
        let board = Board::from_stones(self.size, self.stones.iter().copied())
            .unwrap_or_else(|_| Board::new(self.size));
        let mut game = Game::from_board(board, self.player, self.rules, self.komi);
        if !self.stones.is_empty() {
            game.set_handicap(if has_handicap(&self.stones) { self.stones.len() as u32 } else { 0 });
        }
        game
    }
}

/// Returns whether there are two or more stones and all are Black's.
fn has_handicap(stones: &[(Point, Color)]) -> bool {
    stones.len() >= 2 && stones.iter().all(|&(_, color)| color == Color::Black)
}

/// Error in a field.
struct Fault {
    field: String,
    text: String,
}

fn fault<T>(field: &str, text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { field: field.to_owned(), text: text.into() })
}

/// Reads a line.
pub(super) fn read(line: &str, config: &Config, human: &HumanModels) -> Line {
    let line = line.trim();
    if line.is_empty() {
        return Line::Blank;
    }
    let refused = |text: String| Line::Refused(json!({ "error": text }));
    let not_json = |error: serde_json::Error| {
        refused(format!("{error} - could not parse input line as json request: {}", shown(line)))
    };
    if !line.starts_with('{') {
        return match json::value(line) {
            Ok(_) => refused(format!(
                "Request line was valid json but was not an object, ignoring: {}",
                shown(line)
            )),
            Err(error) => not_json(error),
        };
    }
    let fields = match json::fields(line, |name| FIELDS.contains(&name)) {
        Ok(fields) => fields,
        Err(error) => return not_json(error),
    };
    let object = &fields.known;
    let Some(id) = object.get("id").and_then(Value::as_str).map(str::to_owned) else {
        return refused("Request must have a string \"id\" field".to_owned());
    };
    if id.len() > MAX_ID_BYTES {
        return refused(format!("The \"id\" field must have at most {MAX_ID_BYTES} bytes"));
    }
    if let Some(action) = object.get("action").and_then(Value::as_str) {
        // The answer repeats all fields, so all must be built.
        let object = match json::value(line) {
            Ok(Value::Object(object)) => object,
            Ok(_) => Object::new(),
            Err(error) => return not_json(error),
        };
        return match action_of(action, &object) {
            Ok(Some(action)) => Line::Action(object, action),
            Ok(None) => refused(
                "'action' field must be 'query_version' or 'query_models' or 'clear_cache' or 'terminate' or \
                 'terminate_all'"
                    .to_owned(),
            ),
            Err(fault) => Line::Refused(error_about(&id, &fault)),
        };
    }
    let mut answers = Vec::new();
    match query(&id, &fields, config, human, &mut answers) {
        Ok(query) => Line::Query(answers, Some(Box::new(query))),
        Err(fault) => {
            answers.push(error_about(&id, &fault));
            Line::Query(answers, None)
        }
    }
}

/// Returns the beginning of a line, for a message.
fn shown(line: &str) -> Cow<'_, str> {
    match line.len() {
        0..=MAX_SHOWN_BYTES => line.into(),
        length => format!("{}… ({length} bytes)", &line[..line.floor_char_boundary(MAX_SHOWN_BYTES)]).into(),
    }
}

fn error_about(id: &str, fault: &Fault) -> Value {
    json!({ "error": fault.text, "field": fault.field, "id": id })
}

fn warning(id: &str, field: &str, text: impl Into<String>) -> Value {
    json!({ "warning": text.into(), "field": field, "id": id })
}

fn action_of(name: &str, object: &Object) -> Result<Option<Action>, Fault> {
    Ok(Some(match name {
        "query_version" => Action::Version,
        "query_models" => Action::Models,
        "clear_cache" => Action::ClearCache,
        "terminate" | "terminate_all" => {
            let id = match name {
                "terminate" => Some(match object.get("terminateId") {
                    Some(Value::String(id)) => id.clone(),
                    _ => {
                        return fault(
                            "terminateId",
                            "Requests for a terminate action must have a string \"terminateId\" field",
                        );
                    }
                }),
                _ => None,
            };
            let turns = match object.get("turnNumbers") {
                None => None,
                Some(value) => match integers(value) {
                    Some(turns) => Some(turns.into_iter().collect()),
                    None => {
                        return fault(
                            "turnNumbers",
                            "If provided, must be an array of integers indicating turns to terminate",
                        );
                    }
                },
            };
            Action::Terminate { id, turns }
        }
        _ => return Ok(None),
    }))
}

/// Information about networks that predict human play.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct HumanModels {
    /// Whether at least one of the loaded networks predicts human play.
    pub(super) is_there: bool,
    /// Names of all loaded networks.
    pub(super) names: String,
}

/// Names of the fields of queries and actions.
const FIELDS: &[&str] = &[
    "id",
    "action",
    "terminateId",
    "turnNumbers",
    "boardXSize",
    "boardYSize",
    "initialStones",
    "moves",
    "initialPlayer",
    "analyzeTurns",
    "rules",
    "komi",
    "whiteHandicapBonus",
    "maxVisits",
    "rootPolicyTemperature",
    "rootFpuReductionMax",
    "analysisPVLen",
    "includeOwnership",
    "includeOwnershipStdev",
    "includeMovesOwnership",
    "includeMovesOwnershipStdev",
    "includePolicy",
    "includePVVisits",
    "includeNoResultValue",
    "avoidMoves",
    "allowMoves",
    "overrideSettings",
    "reportDuringSearchEvery",
    "firstReportDuringSearchAfter",
    "priority",
    "priorities",
];

const UNUSED: &str = "Unexpected or unused field, do you have a typo? (set warnUnusedFields=false in the config to disable this warning)";

const RULES_FORM: &str = "Must specify rules string, such as \"chinese\" or \"tromp-taylor\", or a JSON object with detailed rules \
     parameters.";

fn query(
    id: &str,
    fields: &Fields,
    config: &Config,
    human: &HumanModels,
    answers: &mut Vec<Value>,
) -> Result<Query, Fault> {
    let object = &fields.known;
    let size = size(object)?;
    let stones = initial_stones(size, object)?;
    let moves: Vec<(Color, Move)> = match object.get("moves") {
        Some(value) => plays(size, "moves", value)?.into_iter().map(|(color, mv, _)| (color, mv)).collect(),
        None => return fault("moves", "Must specify an array of [player,location] pairs"),
    };
    let player = initial_player(object, &moves, &stones)?;
    let turns = turns(object, moves.len())?;
    let RequestedRules { rules, komi, warning: rules_warning } = terms(object)?;
    let (settings, variation) = settings(id, object, config, human, answers)?;
    let include = include(object)?;
    let report_every = time(object, "reportDuringSearchEvery")?;
    let first_report = time(object, "firstReportDuringSearchAfter")?;
    let priority = priority(object)?;
    let turns = turns.into_iter().map(|(turn, own)| (turn, own.or(priority).unwrap_or(0))).collect();
    let restriction = restriction(size, object)?;

    if let Some(text) = rules_warning {
        answers.push(warning(id, "rules", text));
    }
    if config.warns_unused {
        let unknown: BTreeSet<&String> = fields.unknown.iter().collect();
        answers.extend(unknown.into_iter().map(|field| warning(id, &shown(field), UNUSED)));
        if fields.more_unknown > 0 {
            let text = format!("{} more unexpected or unused fields", fields.more_unknown);
            answers.push(warning(id, "", text));
        }
    }
    let start = Start { size, stones, player, rules, komi };
    check_moves(&start, &moves)?;
    Ok(Query {
        id: id.to_owned(),
        start,
        moves,
        turns,
        settings,
        restriction,
        include,
        variation,
        first_report: first_report.or(report_every),
        report_every,
    })
}

fn size(object: &Object) -> Result<BoardSize, Fault> {
    let side = |field: &str| {
        let side = object.get(field).and_then(Value::as_u64).and_then(|side| usize::try_from(side).ok());
        match side.filter(|side| (2..=MAX_SIDE).contains(side)) {
            Some(side) => Ok(side),
            None => fault(field, format!("Must provide an integer from 2 to {MAX_SIDE}")),
        }
    };
    let (columns, rows) = (side("boardXSize")?, side("boardYSize")?);
    match BoardSize::new(columns, rows) {
        Some(size) => Ok(size),
        None => fault("boardXSize", format!("Must provide an integer from 2 to {MAX_SIDE}")),
    }
}

/// Reads the stones before the first move. No point may occur twice, and every chain must have a liberty.
fn initial_stones(size: BoardSize, object: &Object) -> Result<Vec<(Point, Color)>, Fault> {
    const FIELD: &str = "initialStones";
    let Some(value) = object.get(FIELD) else { return Ok(Vec::new()) };
    let (mut stones, mut named) = (Vec::new(), PointSet::EMPTY);
    for (color, mv, text) in plays(size, FIELD, value)? {
        let Move::Play(point) = mv else {
            return fault(FIELD, format!("Could not parse board location: {text}"));
        };
        if named.contains(point) {
            return fault(FIELD, ILLEGAL_STONES);
        }
        named.insert(point);
        stones.push((point, color));
    }
    // This visits every stone and every neighbour once.
    if Board::from_stones(size, stones.iter().copied()).is_err() {
        return fault(FIELD, ILLEGAL_STONES);
    }
    Ok(stones)
}

fn initial_player(
    object: &Object,
    moves: &[(Color, Move)],
    stones: &[(Point, Color)],
) -> Result<Color, Fault> {
    let Some(value) = object.get("initialPlayer") else {
        return Ok(match moves.first() {
            Some(&(color, _)) => color,
            None if has_handicap(stones) => Color::White,
            None => Color::Black,
        });
    };
    match value.as_str().and_then(player_of) {
        Some(player) => Ok(player),
        None => fault("initialPlayer", "Must be \"b\" or \"w\""),
    }
}

/// Reads rules and komi.
fn terms(object: &Object) -> Result<RequestedRules, Fault> {
    let mut wanted = match object.get("rules") {
        Some(value @ (Value::String(_) | Value::Object(_))) => match rules::read(value) {
            Some(wanted) => wanted,
            None => {
                let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                return fault("rules", format!("Could not parse rules: {shown}"));
            }
        },
        _ => return fault("rules", RULES_FORM),
    };
    if let Some(value) = object.get("komi") {
        match rules::half_points(value) {
            Some(komi) => wanted.komi = komi,
            None => return fault("komi", "Must be a integer or half-integer from -400.0 to 400.0"),
        }
    }
    if let Some(value) = object.get("whiteHandicapBonus") {
        let Some(text) = value.as_str() else { return fault("whiteHandicapBonus", "Must be a string") };
        wanted.rules.handicap_bonus = bonus(text)?;
    }
    Ok(wanted)
}

/// Reads the settings of the search, and the maximum number of moves of a variation after its first move.
fn settings(
    id: &str,
    object: &Object,
    config: &Config,
    human: &HumanModels,
    answers: &mut Vec<Value>,
) -> Result<(Settings, usize), Fault> {
    let mut settings = config.settings;
    if let Some(value) = object.get("overrideSettings") {
        let Some(overrides) = value.as_object() else {
            return fault("overrideSettings", "Must be an object");
        };
        settings = overridden(settings, overrides, config, human, id, answers)?;
    }
    let mut parameter = |field: &str| match object.get(field) {
        None => Ok(()),
        Some(value) => parameters::set_field(&mut settings, field, value).or_else(|text| fault(field, text)),
    };
    parameter("maxVisits")?;
    let variation = integer(object, "analysisPVLen", 1, 1000, "Must be an integer from 1 to 1000")?;
    let variation = variation.map_or(config.variation, |moves| moves as usize);
    parameter("rootFpuReductionMax")?;
    parameter("rootPolicyTemperature")?;
    Ok((settings, variation))
}

fn include(object: &Object) -> Result<Include, Fault> {
    let flag = |field: &str| match object.get(field) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => fault(field, "Must be a boolean"),
    };
    Ok(Include {
        moves_ownership: flag("includeMovesOwnership")?,
        moves_ownership_stdev: flag("includeMovesOwnershipStdev")?,
        ownership: flag("includeOwnership")?,
        ownership_stdev: flag("includeOwnershipStdev")?,
        policy: flag("includePolicy")?,
        variation_visits: flag("includePVVisits")?,
        no_result: flag("includeNoResultValue")?,
    })
}

fn time(object: &Object, field: &str) -> Result<Option<Duration>, Fault> {
    let seconds = real(object, field, 0.001, 1e6, "Must be number of seconds from 0.001 to 1000000.0")?;
    Ok(seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
}

fn priority(object: &Object) -> Result<Option<i64>, Fault> {
    const MAX_PRIORITY: i64 = (1 << 62) - 1;
    let priority =
        integer(object, "priority", -MAX_PRIORITY, MAX_PRIORITY, "Must be a number between -2^62 and 2^62")?;
    if priority.is_some() && object.contains_key("priorities") {
        return fault("priority", "Cannot specify both priority and priorities");
    }
    Ok(priority)
}

/// Checks that the moves can be played, as tolerantly as KataGo does.
fn check_moves(start: &Start, moves: &[(Color, Move)]) -> Result<(), Fault> {
    let mut game = start.game();
    for (number, &(color, mv)) in moves.iter().enumerate() {
        if game.play_tolerant(color, mv).is_err() {
            return fault("moves", format!("Illegal move {number}: {mv}"));
        }
    }
    Ok(())
}

fn bonus(text: &str) -> Result<HandicapBonus, Fault> {
    match rules::bonus(text) {
        Some(bonus) => Ok(bonus),
        None => fault("whiteHandicapBonus", format!("Invalid whiteHandicapBonus rule: {text}")),
    }
}

fn player_of(text: &str) -> Option<Color> {
    match text.to_ascii_lowercase().as_str() {
        "b" | "black" => Some(Color::Black),
        "w" | "white" => Some(Color::White),
        _ => None,
    }
}

/// Reads a vertex: in GTP's form, as `(x,y)` counted from 0 and from the top left, or as KataGo's other name for a
/// pass.
fn vertex(size: BoardSize, text: &str) -> Option<Move> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("pss") {
        return Some(Move::Pass);
    }
    let Some(pair) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return vertex_move(size, text.parse().ok()?);
    };
    // `usize::from_str` would accept a sign.
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    let (x, y) = pair.split_once(',')?;
    let row = size.rows().checked_sub(1usize.checked_add(number(y.trim())?)?)?;
    size.point(number(x.trim())?, row).map(Move::Play)
}

/// Reads a list of pairs of a player and a vertex. The text of the vertex is returned too, for errors.
fn plays(size: BoardSize, field: &str, value: &Value) -> Result<Vec<(Color, Move, String)>, Fault> {
    const FORM: &str = "Must be an array of pairs of the form: [\"b\" or \"w\", GTP board vertex]";
    let Some(list) = value.as_array() else { return fault(field, FORM) };
    let play = |entry: &Value| {
        let pair = entry.as_array().map(Vec::as_slice);
        let Some([Value::String(player), Value::String(place)]) = pair else { return fault(field, FORM) };
        let Some(color) = player_of(player) else {
            return fault(field, format!("Could not parse player: {player}"));
        };
        let Some(mv) = vertex(size, place) else {
            return fault(field, format!("Could not parse board location: {place}"));
        };
        Ok((color, mv, place.clone()))
    };
    list.iter().map(play).collect()
}

/// Reads a list of numbers and truncates them to integers, as KataGo does. Returns `None` if the value is not a list of
/// numbers.
fn integers(value: &Value) -> Option<Vec<i64>> {
    let whole = |entry: &Value| entry.as_i64().or_else(|| entry.as_f64().map(|number| number as i64));
    value.as_array()?.iter().map(whole).collect()
}

/// Returns the numbers of moves before the positions, in ascending order and each once, with the priority of the
/// position if it has one.
fn turns(object: &Object, moves: usize) -> Result<Vec<(usize, Option<i64>)>, Fault> {
    let numbers = match object.get("analyzeTurns") {
        None => None,
        Some(value) => match integers(value) {
            Some(numbers) => Some(numbers),
            None => {
                return fault(
                    "analyzeTurns",
                    "Must specify an array of integers indicating turns to analyze",
                );
            }
        },
    };
    if let Some(wrong) = numbers.iter().flatten().find(|&&turn| !(0..=moves as i64).contains(&turn)) {
        return fault("analyzeTurns", format!("Invalid turn number: {wrong}"));
    }
    let priorities = match (object.get("priorities"), &numbers) {
        (None, _) => None,
        (Some(_), None) => return fault("priorities", "Can only specify when also specifying analyzeTurns"),
        (Some(value), Some(numbers)) => match integers(value) {
            None => return fault("priorities", "Must specify an array of integers indicating priorities"),
            Some(list) if list.len() != numbers.len() => {
                return fault("priorities", "Must be of matching length to analyzeTurns");
            }
            Some(list) if list.iter().any(|it| it.unsigned_abs() >= 1 << 62) => {
                return fault("priorities", "Must be numbers between -2^62 and 2^62");
            }
            Some(list) => Some(list),
        },
    };
    let Some(numbers) = numbers else { return Ok(vec![(moves, None)]) };
    let priority = |index: usize| priorities.as_ref().map(|list| list[index]);
    let mut turns: Vec<_> =
        numbers.iter().enumerate().map(|(index, &turn)| (turn as usize, priority(index))).collect();
    turns.sort_by_key(|&(turn, _)| turn);
    turns.dedup_by_key(|&mut (turn, _)| turn);
    Ok(turns)
}

fn integer(object: &Object, field: &str, least: i64, most: i64, text: &str) -> Result<Option<i64>, Fault> {
    match object.get(field) {
        None => Ok(None),
        Some(value) => match value.as_i64().filter(|value| (least..=most).contains(value)) {
            Some(value) => Ok(Some(value)),
            None => fault(field, text),
        },
    }
}

fn real(object: &Object, field: &str, least: f64, most: f64, text: &str) -> Result<Option<f64>, Fault> {
    match object.get(field) {
        None => Ok(None),
        Some(value) => match value.as_f64().filter(|value| (least..=most).contains(value)) {
            Some(value) => Ok(Some(value)),
            None => fault(field, text),
        },
    }
}

fn overridden(
    usual: Settings,
    overrides: &Object,
    config: &Config,
    human: &HumanModels,
    id: &str,
    answers: &mut Vec<Value>,
) -> Result<Settings, Fault> {
    let mut settings = usual;
    let mut unknown = Vec::new();
    for (key, value) in overrides {
        let text = match value {
            Value::String(text) => text.clone(),
            _ => value.to_string(),
        };
        match parameters::find(key) {
            Some(parameter) => {
                if let Err(why) = parameter.set(&mut settings, &text) {
                    return fault("overrideSettings", format!("Could not set settings: {why}"));
                }
            }
            None if config.has(key) => {}
            None => unknown.push(key.as_str()),
        }
    }
    if settings.engine.network.profile.is_some() && !human.is_there {
        let text = format!(
            "Could not set settings: WARNING: humanSLProfile is specified as config param but model(s) don't use it: {}\n",
            human.names
        );
        return fault("overrideSettings", text);
    }
    if !unknown.is_empty() {
        let text = format!("Unknown config params: {}", unknown.join(","));
        answers.push(warning(id, "overrideSettings", text));
    }
    Ok(settings)
}

fn restriction(size: BoardSize, object: &Object) -> Result<Restriction, Fault> {
    let mut restriction = Restriction::NONE;
    if object.contains_key("allowMoves") && object.contains_key("avoidMoves") {
        return fault("allowMoves", "Cannot specify both allowMoves and avoidMoves");
    }
    if let Some(value) = object.get("avoidMoves") {
        for rule in move_rules(size, "avoidMoves", value)? {
            restriction.avoid(rule.color, rule.moves, rule.until);
        }
    }
    if let Some(value) = object.get("allowMoves") {
        let rules = move_rules(size, "allowMoves", value)?;
        if rules.len() > 2 {
            return fault("allowMoves", "Currently only allowed to specify at most one entry per player");
        }
        if let [first, second] = &rules[..]
            && first.color == second.color
        {
            return fault("allowMoves", "Cannot specify allowMoves more than once for the same player");
        }
        for rule in rules {
            restriction.allow(rule.color, rule.moves, rule.until);
        }
    }
    Ok(restriction)
}

/// Entry of the field `avoidMoves` or `allowMoves`.
struct MoveRule {
    color: Color,
    moves: Vec<Move>,
    /// Depth, counted from 0, below which the rule holds.
    until: usize,
}

fn move_rules(size: BoardSize, field: &str, value: &Value) -> Result<Vec<MoveRule>, Fault> {
    const FORM: &str = "Must be a list of dicts with subfields 'player', 'moves', 'untilDepth'";
    let Some(list) = value.as_array() else { return fault(field, FORM) };
    let rule = |entry: &Value| {
        let parts = |name: &str| entry.as_object().and_then(|entry| entry.get(name));
        let (Some(player), Some(moves), Some(until)) = (parts("player"), parts("moves"), parts("untilDepth"))
        else {
            return fault(field, FORM);
        };
        let Some(color) = player.as_str().and_then(player_of) else {
            return fault("player", "Must be \"b\" or \"w\"");
        };
        let Some(moves) = moves.as_array() else { return fault("moves", "Must be an array of strings") };
        let is_move =
            |place: &&Value| !place.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case("resign"));
        // Programs written for Leela Zero list `resign`. It is skipped, because a search does not resign.
        let moves = moves.iter().filter(is_move).map(|place| match place {
            Value::String(text) => match vertex(size, text) {
                Some(mv) => Ok(mv),
                None => fault("moves", format!("Could not parse board location: {text}")),
            },
            _ => fault("moves", "Must be an array of strings"),
        });
        let moves = moves.collect::<Result<_, _>>()?;
        match until.as_i64().filter(|until| (1..=1_000_000_000).contains(until)) {
            Some(until) => Ok(MoveRule { color, moves, until: until as usize }),
            None => fault("untilDepth", "Must be a positive integer"),
        }
    };
    list.iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Line {
        read(line, &Config::default(), &HumanModels { is_there: false, names: "net".to_owned() })
    }

    fn accepted(line: &str) -> Box<Query> {
        match parse(line) {
            Line::Query(answers, Some(query)) if answers.is_empty() => query,
            other => panic!("{line}: {other:?}"),
        }
    }

    const NINE: &str = r#""boardXSize":9,"boardYSize":9,"rules":"chinese""#;

    #[test]
    fn vertices() {
        let size = BoardSize::new(19, 19).unwrap();
        let at = |column, row| Some(Move::Play(size.point(column, row).unwrap()));
        assert_eq!(vertex(size, "a1"), at(0, 0));
        assert_eq!(vertex(size, "T19"), at(18, 18));
        assert_eq!(vertex(size, "J5"), at(8, 4));
        assert_eq!(vertex(size, "(0,13)"), at(0, 5));
        assert_eq!(vertex(size, "Pss"), Some(Move::Pass));
        for text in
            ["I5", "U1", "A0", "A20", "A", "", "é1", "(0,19)", "(0,-1)", "(0)", "A+1", "AA1", "1A", "5"]
        {
            assert_eq!(vertex(size, text), None, "{text}");
        }
    }

    #[test]
    fn who_moves_first() {
        let to_move = |rest: &str| accepted(&format!(r#"{{"id":"x",{NINE},{rest}}}"#)).game(0).to_move();
        assert_eq!(to_move(r#""moves":[]"#), Color::Black);
        assert_eq!(to_move(r#""moves":[["W","C3"]]"#), Color::White);
        assert_eq!(to_move(r#""moves":[],"initialStones":[["B","C3"],["b","D4"]]"#), Color::White);
        assert_eq!(to_move(r#""moves":[],"initialStones":[["B","C3"]]"#), Color::Black);
        assert_eq!(to_move(r#""moves":[],"initialPlayer":"WHITE""#), Color::White);
    }

    #[test]
    fn handicap_stones_are_compensated() {
        let bonus = |rest: &str| accepted(&format!(r#"{{"id":"x",{NINE},{rest}}}"#)).game(9).white_bonus();
        assert_eq!(bonus(r#""moves":[],"initialStones":[["B","C3"],["b","D4"]]"#), 2.0);
        assert_eq!(bonus(r#""moves":[],"initialStones":[["B","C3"],["W","D4"]]"#), 0.0);
        assert_eq!(bonus(r#""moves":[["B","C3"],["B","D4"],["B","E5"]]"#), 3.0);
        assert_eq!(
            bonus(r#""moves":[],"whiteHandicapBonus":"N-1","initialStones":[["B","C3"],["b","D4"]]"#),
            1.0
        );
    }

    /// Returns the field and the text of the only response.
    fn refused(rest: &str) -> (String, String) {
        let line = format!(r#"{{"id":"x",{NINE},{rest}}}"#);
        let Line::Query(answers, None) = parse(&line) else { panic!("{line}") };
        let [answer] = &answers[..] else { panic!("{answers:?}") };
        let text = |field: &str| answer[field].as_str().unwrap().to_owned();
        (text("field"), text("error"))
    }

    #[test]
    fn contradictory_stones_are_refused() {
        for stones in [
            // A point is named twice, for both colours or for one.
            r#"["B","C3"],["W","C3"]"#,
            r#"["W","C3"],["B","D4"],["B","(2,6)"]"#,
            r#"["B","C3"],["B","C3"]"#,
            // Chains without liberties, of one stone and of two.
            r#"["W","A2"],["W","B1"],["B","A1"]"#,
            r#"["B","A1"],["B","B1"],["W","A2"],["W","B2"],["W","C1"]"#,
        ] {
            let (field, text) = refused(&format!(r#""moves":[],"initialStones":[{stones}]"#));
            assert_eq!((field.as_str(), text.as_str()), ("initialStones", ILLEGAL_STONES), "{stones}");
        }
        let stones = r#""initialStones":[["W","A2"],["W","B1"],["B","E5"]]"#;
        assert_eq!(
            accepted(&format!(r#"{{"id":"x",{NINE},"moves":[],{stones}}}"#)).game(0).board().stone_count(),
            3
        );
    }

    #[test]
    fn resigning_is_no_move_to_avoid() {
        let rule =
            |place: &str| format!(r#""avoidMoves":[{{"player":"B","moves":[{place}],"untilDepth":1}}]"#);
        let query = accepted(&format!(r#"{{"id":"x",{NINE},"moves":[],{}}}"#, rule(r#""pass","Resign""#)));
        let forbidden: Vec<_> = query.restriction.forbidden().collect();
        assert_eq!(forbidden, [(Color::Black, Move::Pass, 1)]);
    }

    #[test]
    fn turns_are_rising_and_each_is_once() {
        let moves = r#""moves":[["B","E5"],["W","C3"],["B","D3"]]"#;
        let turns = |rest: &str| accepted(&format!(r#"{{"id":"x",{NINE},{moves}{rest}}}"#)).turns.clone();
        assert_eq!(turns(""), [(3, 0)]);
        assert_eq!(turns(r#","priority":-5"#), [(3, -5)]);
        assert_eq!(turns(r#","analyzeTurns":[3,1,0,1],"priorities":[1,9,5,2]"#), [(0, 5), (1, 9), (3, 1)]);
        assert!(turns(r#","analyzeTurns":[]"#).is_empty());
    }

    /// Checks that the size of the answers does not grow with the product of two parts of a line.
    #[test]
    fn answers_to_a_hostile_line_are_short() {
        let fields: String = (0..16_000).map(|number| format!(",\"{number}\":0")).collect();
        let line = |id: &str| format!(r#"{{"id":"{id}",{NINE},"moves":[]{fields}}}"#);
        let Line::Query(answers, Some(_)) = parse(&line(&"x".repeat(MAX_ID_BYTES))) else { panic!() };
        assert_eq!(answers.len(), json::MAX_UNKNOWN_FIELDS + 1);
        assert!(answers[json::MAX_UNKNOWN_FIELDS]["warning"].as_str().unwrap().starts_with("15980 more"));
        assert!(matches!(parse(&line(&"x".repeat(MAX_ID_BYTES + 1))), Line::Refused(_)));
        for line in [format!("[{}0]", "0,".repeat(100_000)), "x".repeat(100_000), "é".repeat(100_000)] {
            let Line::Refused(answer) = parse(&line) else { panic!() };
            assert!(answer.to_string().len() < 3 * MAX_SHOWN_BYTES, "{answer}");
        }
    }

    #[test]
    fn warnings_come_before_the_error() {
        let line = format!(r#"{{"id":"x",{NINE},"moves":[["B","E5"],["W","E5"]],"foo":1,"bar":2}}"#);
        let Line::Query(answers, None) = parse(&line) else { panic!() };
        let fields: Vec<_> = answers.iter().map(|answer| answer["field"].as_str().unwrap()).collect();
        assert_eq!(fields, ["bar", "foo", "moves"]);
        assert_eq!(answers[2]["error"], "Illegal move 1: E5");
    }
}

//! Data that outlives the program: a game as a page stores it, and as a record.

use super::{GameTable, NodeResults, Phase, Refusal};
use crate::play::message::{ClockSettings, GameDetails, KnownNumbers, PlayerKind, RestoredGame, parse_place};
use crate::play::strength::name_in_records;
use crate::play::task::MoveEvaluation;
use crate::play::tree::MAX_MOVES;
use crate::review::{HEADING, place, without_ours};
use crate::words::color_letter;
use kosumi_engine::time::{Clock, TimeControl, seconds};
use kosumi_go::board::{ByColor, Color};
use kosumi_go::score::format_score;
use kosumi_go::sgf::{NodeId, Tree};
use std::time::Duration;

impl GameTable {
    /// Loads a game that a page has stored. If the page does not know the clocks, they are lost.
    pub(in crate::play) fn restore(
        &mut self,
        remembered: &RestoredGame,
        now: Duration,
    ) -> Result<(), Refusal> {
        let mut table = self.clone();
        // This program wrote the record, so any faults were already in the record that was loaded.
        table.load(remembered.text.as_bytes(), true)?;
        table.studied_from = None;
        if let Some(details) = &remembered.details {
            table.restore_details(details)?;
        }
        let is_study = table.is_study();
        table.go(table.tree.root(), Duration::ZERO);
        // Moves of the line that the record lacks were played after the record was sent.
        table.studied_from.get_or_insert(table.head);
        for place in remembered.line.iter().take(MAX_MOVES) {
            let children = table.tree.children(table.head);
            if let Some(number) = place.strip_prefix('=') {
                let number: usize = number.parse().map_err(|_| Refusal::BadMessage)?;
                table.go(*children.get(number).ok_or(Refusal::BadMessage)?, Duration::ZERO);
                continue;
            }
            let mv = parse_place(table.game.size(), place).ok_or(Refusal::OffBoard)?;
            let is_move = |&child: &NodeId| table.tree.played(child).is_some_and(|it| it.1 == mv);
            match children.into_iter().find(is_move) {
                Some(child) => table.go(child, Duration::ZERO),
                None => table.play(mv, Duration::ZERO)?,
            }
        }
        if !is_study {
            table.studied_from = None;
        }
        match &remembered.result {
            Some(result) if table.phase_at_head() == Phase::Over(result.clone()) => {}
            Some(result) => table.end(result.clone()),
            None => {
                let ending = table.endings.remove(&table.head);
                table.phase = table.phase_at_head();
                // A record may name the result of a game whose dead stones can still be marked.
                if let Some(result) = ending.filter(|_| table.game.is_over()) {
                    table.endings.insert(table.head, result);
                }
            }
        }
        table.seat(remembered.black.clone(), remembered.white.clone())?;
        table.turn_began = None;
        table.start_clock(now);
        *self = table;
        Ok(())
    }

    /// Restores the details that a record does not contain.
    pub(super) fn restore_details(&mut self, details: &GameDetails) -> Result<(), Refusal> {
        let bad = Refusal::BadMessage;
        let clock = Clock::new(details.clock.control().ok_or(bad)?);
        self.clocks = ByColor::new(clock, clock);
        for (color, &(left, periods)) in Color::BOTH.into_iter().zip(&details.left) {
            if clock.control() != TimeControl::None {
                self.clocks[color].set_time_left(seconds(left), periods);
            }
        }
        let node = |number: usize| self.tree.node(number).ok_or(bad);
        self.studied_from = details.studied_from.map(node).transpose()?;
        let endings = details.endings.iter().map(|(number, result)| Ok((node(*number)?, result.clone())));
        self.endings = endings.collect::<Result<_, Refusal>>()?;
        let evaluation = |it: (f32, f32, u32)| MoveEvaluation { win_rate: it.0, score: it.1, visits: it.2 };
        let known = details.known.iter().map(|it| {
            let known = NodeResults {
                analysed: it.analysed.map(evaluation),
                outlook: it.outlook.map(evaluation),
                judged: it.judged.clone(),
            };
            Ok((node(it.node)?, known))
        });
        self.results = known.collect::<Result<_, Refusal>>()?;
        self.is_paused = details.paused;
        for &(number, letter) in &details.turns {
            let node = self.tree.node(number).ok_or(bad)?;
            let color = Color::BOTH.into_iter().find(|&color| color_letter(color) == letter).ok_or(bad)?;
            self.tree.set_to_move(node, color);
        }
        *self.game = self.tree.game_at(self.head);
        Ok(())
    }

    /// Returns everything that [`restore`](GameTable::restore) needs.
    pub(in crate::play) fn remembered(&self, date: Option<String>, now: Duration) -> RestoredGame {
        let size = self.game.size();
        let left = |color: Color| {
            let (left, periods) = self.time_left(now).map_or((Duration::ZERO, 0), |(_, left)| left[color]);
            (left.as_secs_f64(), periods)
        };
        let evaluation = |it: &MoveEvaluation| (it.win_rate, it.score, it.visits);
        // Nodes are numbered anew, in the order of the record.
        let numbers = self.tree.numbers();
        let number = |id: NodeId| numbers.get(id.number()).copied().flatten();
        let known = self.results.iter().filter_map(|(&id, it)| {
            Some(KnownNumbers {
                node: number(id)?,
                analysed: it.analysed.as_ref().map(evaluation),
                outlook: it.outlook.as_ref().map(evaluation),
                judged: it.judged.clone(),
            })
        });
        let path = self.tree.path(self.head).unwrap_or_default();
        let place_of = |pair: &[NodeId]| {
            let children = self.tree.children(pair[0]);
            let point = |id: NodeId| self.tree.played(id).map(|it| it.1);
            match point(pair[1]) {
                Some(mv) if children.iter().find(|&&child| point(child) == Some(mv)) == Some(&pair[1]) => {
                    place(size, mv)
                }
                _ => format!("={}", children.iter().position(|&child| child == pair[1]).unwrap_or(0)),
            }
        };
        let mut tree = self.tree.record().clone();
        self.put_facts(&mut tree, &self.names, date);
        RestoredGame {
            text: tree.to_string(),
            line: path.windows(2).map(place_of).collect(),
            result: match &self.phase {
                Phase::Over(result) => Some(result.clone()),
                _ => None,
            },
            black: self.seats[Color::Black].clone(),
            white: self.seats[Color::White].clone(),
            details: Some(GameDetails {
                clock: ClockSettings::of(self.clocks[Color::Black].control()),
                left: Color::BOTH.map(left),
                paused: self.is_paused,
                // If its node was removed, the game continues where the study mode ends.
                studied_from: self.studied_from.and_then(|id| number(id).or(number(self.head))),
                endings: self
                    .endings
                    .iter()
                    .filter_map(|(&id, result)| Some((number(id)?, result.clone())))
                    .collect(),
                known: known.collect(),
                turns: self
                    .tree
                    .turns()
                    .into_iter()
                    .filter_map(|(id, color)| Some((number(id)?, color_letter(color))))
                    .collect(),
            }),
        }
    }

    /// Returns a player's name for records.
    pub(super) fn name(&self, color: Color, engines: &[String]) -> Option<String> {
        let of_seat = match &self.seats[color] {
            PlayerKind::Person => None,
            PlayerKind::Kosumi { level } => {
                Some(format!("Kosumi {} ({})", env!("CARGO_PKG_VERSION"), name_in_records(level)))
            }
            PlayerKind::Engine { number } => engines.get(*number).cloned(),
        };
        self.names[color].clone().or(of_seat)
    }

    /// Returns the record with all variations, comments and marks, and with the results of the engine. `date` is used
    /// for games that began here.
    pub(in crate::play) fn record(&self, engines: &[String], date: Option<String>) -> Tree {
        let mut tree = self.tree.record().clone();
        let names = ByColor::new(self.name(Color::Black, engines), self.name(Color::White, engines));
        self.put_facts(&mut tree, &names, date);
        for (&id, known) in &self.results {
            let outlook = known.outlook.map(|it| {
                let lead = format_score((it.score * 10.0).round() / 10.0);
                format!("B {:.1} %, {lead}, {} visits", 100.0 * it.win_rate, it.visits)
            });
            let judged = known.judged.as_ref().map(|it| it.text.clone()).filter(|text| !text.is_empty());
            let lines: Vec<String> = outlook.into_iter().chain(judged).collect();
            if !lines.is_empty() {
                let own = tree.node(id).text("C").map(|text| without_ours(&text)).unwrap_or_default();
                let gap = if own.is_empty() { "" } else { "\n\n" };
                tree.at(id).comment(&format!("{own}{gap}{HEADING}\n{}", lines.join("\n")));
            }
        }
        tree
    }

    /// Writes the facts about the game into the root of its record.
    pub(super) fn put_facts(&self, tree: &mut Tree, names: &ByColor<Option<String>>, date: Option<String>) {
        let root = tree.root();
        let main = self.tree.path(self.tree.end_of(root)).unwrap_or_default();
        let result = main.iter().rev().find_map(|id| self.endings.get(id));
        let date = self.date.clone().or(date);
        let facts = [
            ("PB", names[Color::Black].as_ref()),
            ("PW", names[Color::White].as_ref()),
            ("RE", result),
            ("DT", date.as_ref()),
        ];
        for (name, fact) in facts {
            tree.at(root).line(name, fact.map_or("", String::as_str));
        }
        let control = self.clocks[Color::Black].control();
        if control != TimeControl::None {
            let main = control.main_time().unwrap_or_default().as_secs_f64();
            let overtime = control.overtime_text().unwrap_or_default();
            tree.at(root).number("TM", main).line("OT", &overtime);
        }
    }
}

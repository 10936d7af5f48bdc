//! The annotated record: the tree of the file, with a comment for each move, better lines as variations, and marks.
//!
//! Everything in the file stays, except the additions of an earlier review, so a reviewed file can be reviewed again.
//! The additions are recognised by the line [`HEADING`] in comments and by the names of variations.

use super::analysis::PositionReview;
use super::explain::MoveFact;
use super::facts::{Facts, explanation, lead, percent, searched_loss, sentence, vertices, win_rate};
use super::judge::{Class, Judgement};
use super::main_line::{Change, Step};
use super::reviewed::Reviewed;
use crate::words::{grouped, unsigned_zero};
use kosumi_go::board::{Color, Move};
use kosumi_go::sgf::{Mark, MoveAnnotation as Verdict, NodeId, Tree};
use std::collections::BTreeMap;

/// Line that separates a comment of the file from the review's.
pub(crate) const HEADING: &str = "— Kosumi —";
/// Prefix of the name of the first node of the review's variations.
pub(super) const VARIATION: &str = "Kosumi:";
/// Name of the first node of a line that shows a fact.
const CAPTURE: &str = "Kosumi: capture";
/// Maximum number of moves of a variation.
const VARIATION_MOVES: usize = 12;

/// Returns the record with the results of the review.
pub fn annotated(reviewed: &Reviewed) -> Tree {
    let mut tree = reviewed.tree.clone();
    let line = tree.main_line();
    clean(&mut tree, &line);
    let root = tree.root();
    tree.at(root).line("FF", "4").line("GM", "1").line("AP", concat!("Kosumi:", env!("CARGO_PKG_VERSION")));
    let mut texts: Vec<String> = vec![String::new(); line.len()];
    texts[0] = summary(reviewed);
    let explanations = reviewed.explanations();
    for (index, step) in reviewed.line.steps().iter().enumerate() {
        let Some(&id) = line.get(step.node) else { continue };
        if let Some(analysis) = &reviewed.review.analyses[index] {
            put_values(&mut tree, id, analysis);
        }
        let text = describe(reviewed, explanations, index);
        if !text.is_empty() {
            let before = &mut texts[step.node];
            if !before.is_empty() {
                before.push_str("\n\n");
            }
            before.push_str(&text);
        }
        if let (Some(judgement), Change::Move { color, .. }) =
            (&reviewed.review.judgements[index], &step.change)
        {
            put_verdict(&mut tree, id, judgement);
            // If one node contains several moves, only the first of them can have a variation beside it.
            let is_alone = index > 0 && reviewed.line.steps()[index - 1].node < step.node;
            if is_alone && judgement.class > Class::Good {
                put_variation(&mut tree, line[step.node - 1], id, *color, judgement);
            }
        }
    }
    // These lines share their first moves with the better lines, which have all been added by now.
    for (&index, facts) in explanations {
        put_facts(&mut tree, &line, reviewed.line.steps(), index, facts);
    }
    for (&id, text) in line.iter().zip(&texts).filter(|(_, text)| !text.is_empty()) {
        let own = tree.node(id).text("C").map_or(String::new(), |comment| format!("{comment}\n\n"));
        tree.at(id).comment(&format!("{own}{HEADING}\n{text}"));
    }
    tree
}

/// Results for a position outside the game, after moves that a user tried.
#[derive(Clone, PartialEq, Debug)]
pub struct TriedPosition {
    /// Step of the main line that the moves follow.
    pub step: usize,
    /// The moves.
    pub line: Vec<Move>,
    /// Review of the position after the moves.
    pub analysis: PositionReview,
}

/// Returns the record with the results of the review, and with the tried moves as variations.
pub fn annotated_with(reviewed: &Reviewed, tried: impl IntoIterator<Item = TriedPosition>) -> Tree {
    let mut tree = annotated(reviewed);
    let line = tree.main_line();
    let steps = reviewed.line.steps();
    for it in tried {
        // Variations can only follow the last step of a node.
        let Some(step) = steps.get(it.step) else { continue };
        let is_last = steps.get(it.step + 1).is_none_or(|next| next.node > step.node);
        let Some(&start) = line.get(step.node).filter(|_| is_last) else { continue };
        let (mut last, mut color) = (start, step.to_move);
        for &mv in &it.line {
            last = continue_with(&mut tree, last, color, mv);
            color = color.opponent();
        }
        let text = format!(
            "{HEADING}\nTried: {}, {}, {} simulations.",
            win_rate(it.analysis.win_rate),
            lead(it.analysis.score.mean),
            grouped(it.analysis.visits.into())
        );
        if !line.contains(&last) && !tree.node(last).has("C") {
            tree.at(last).comment(&text);
            put_values(&mut tree, last, &it.analysis);
        }
    }
    tree
}

/// Returns the child of a node that plays this move. Adds it if there is none.
fn continue_with(tree: &mut Tree, node: NodeId, color: Color, mv: Move) -> NodeId {
    let name = if color == Color::Black { "B" } else { "W" };
    let is_move = |&child: &NodeId| tree.node(child).has(name) && tree.played(child) == Some(mv);
    let known = tree.node(node).children().iter().copied().find(is_move);
    known.unwrap_or_else(|| {
        let child = tree.add(node);
        tree.at(child).play(color, mv);
        child
    })
}

/// Returns a comment without the additions of an earlier review.
pub(crate) fn without_ours(comment: &str) -> String {
    let own: Vec<&str> = comment.lines().take_while(|&text| text != HEADING).collect();
    own.join("\n").trim().to_owned()
}

/// Removes the additions of an earlier review.
fn clean(tree: &mut Tree, line: &[NodeId]) {
    for (number, &id) in line.iter().enumerate() {
        let has_ours = |tree: &Tree, id: NodeId| {
            tree.node(id).text("C").is_some_and(|comment| comment.lines().any(|text| text == HEADING))
        };
        let is_reviewed = has_ours(tree, id);
        if is_reviewed {
            let comment = tree.node(id).text("C").unwrap_or_default();
            let mut node = tree.at(id).comment(&without_ours(&comment));
            for name in ["V", "SBKV", "SBKS", "HO", "BM", "DO", "TE"] {
                node = node.remove(name);
            }
        }
        let Some(&parent) = number.checked_sub(1).and_then(|before| line.get(before)) else { continue };
        let is_ours = |tree: &Tree, child: NodeId| {
            let is_named = tree.node(child).text("N").is_some_and(|name| name.starts_with(VARIATION));
            child != id && is_named && (is_reviewed || has_ours(tree, child))
        };
        let ours: Vec<NodeId> =
            tree.node(parent).children().iter().copied().filter(|&child| is_ours(tree, child)).collect();
        for child in ours {
            // Lines that show facts are not marked.
            let is_marked = tree.node(child).text("N").is_none_or(|name| name != CAPTURE);
            let marked = tree.played(child).and_then(Move::point).filter(|_| is_marked);
            tree.remove_child(parent, child);
            if let Some(point) = marked {
                tree.at(id).unmark(point, Mark::Triangle);
            }
        }
    }
}

fn put_values(tree: &mut Tree, id: NodeId, analysis: &PositionReview) {
    let rounded = |number: f32, unit: f64| unsigned_zero((f64::from(number) * unit).round(), 0) / unit;
    let score = rounded(analysis.score.mean, 10.0);
    // Sabaki draws its curves from SBKV, Black's win rate in per cent, and SBKS, Black's lead.
    tree.at(id)
        .value(score)
        .number("SBKV", rounded(100.0 * analysis.win_rate.mean, 100.0))
        .number("SBKS", score);
}

fn put_verdict(tree: &mut Tree, id: NodeId, judgement: &Judgement) {
    let node = tree.at(id);
    match judgement.class {
        Class::Blunder => node.judge(Verdict::VeryBad).hotspot(2),
        Class::Mistake => node.judge(Verdict::Bad).hotspot(1),
        Class::Inaccuracy => node.judge(Verdict::Doubtful),
        Class::Good if judgement.is_better => node.judge(Verdict::Good),
        // The file's own judgement of the move is kept.
        Class::Good => node,
    };
}

/// Adds the better line beside the move `id`, and marks its first move on the board.
fn put_variation(tree: &mut Tree, parent: NodeId, id: NodeId, color: Color, judgement: &Judgement) {
    let best = &judgement.best;
    let (mut last, mut mover) = (parent, color);
    for (number, &mv) in best.variation.iter().take(VARIATION_MOVES).enumerate() {
        last = tree.add(last);
        let node = tree.at(last).play(mover, mv);
        if number == 0 {
            let text = format!(
                "{HEADING}\nInstead of the move played: {}, {}, {} simulations.",
                win_rate(best.win_rate),
                lead(best.score.mean),
                grouped(best.visits.into())
            );
            node.name(&format!("{VARIATION} better")).comment(&text);
        }
        mover = mover.opponent();
    }
    if let Some(point) = best.mv.point() {
        tree.at(id).mark(point, Mark::Triangle);
    }
}

/// Adds the lines of the facts about the move that led to a step. A line that the move allows follows the move, and a
/// line that it misses is a variation beside the move.
fn put_facts(tree: &mut Tree, line: &[NodeId], steps: &[Step], index: usize, facts: &[MoveFact]) {
    let Some(step) = steps.get(index) else { return };
    let (Some(&id), Change::Move { color, .. }) = (line.get(step.node), &step.change) else { return };
    // A node with several steps has no place for the line, and after the last move the line would continue the game.
    let is_first = index > 0 && steps[index - 1].node < step.node;
    let is_followed = steps.get(index + 1).is_some_and(|next| next.node > step.node);
    for fact in facts {
        let text = fact.text().english();
        if fact.kind.follows_move() && is_followed {
            put_line(tree, id, color.opponent(), &fact.line[1..], &text);
        } else if !fact.kind.follows_move() && is_first {
            put_line(tree, line[step.node - 1], *color, &fact.line, &text);
        }
    }
}

/// Adds a line with a comment as a variation. The line shares its first moves with the review's other variations, and
/// the comment is at the node where it leaves them. A line that already exists gets no second comment.
fn put_line(tree: &mut Tree, start: NodeId, color: Color, moves: &[Move], text: &str) {
    let (mut last, mut mover, mut is_new) = (start, color, false);
    for &mv in moves {
        let is_shared = |&child: &NodeId| {
            let node = tree.node(child);
            let is_ours = last != start || node.text("N").is_some_and(|name| name.starts_with(VARIATION));
            let name = if mover == Color::Black { "B" } else { "W" };
            is_ours && node.has(name) && tree.played(child) == Some(mv)
        };
        let known = tree.node(last).children().iter().copied().find(is_shared);
        last = known.unwrap_or_else(|| {
            let child = tree.add(last);
            let node = tree.at(child).play(mover, mv);
            if !is_new {
                node.name(CAPTURE).comment(&format!("{HEADING}\n{text}"));
                is_new = true;
            }
            child
        });
        mover = mover.opponent();
    }
}

/// Returns the comment on a position and the move that led to it.
fn describe(reviewed: &Reviewed, explanations: &BTreeMap<usize, Vec<MoveFact>>, index: usize) -> String {
    let mut lines = Vec::new();
    if let Some(judgement) = &reviewed.review.judgements[index] {
        lines.push(format!("{}.", sentence(&reviewed.line, index, judgement)));
        if judgement.class > Class::Good {
            lines.push(format!("Line: {}", vertices(&judgement.best.variation)));
        }
        if let Change::Move { mv, .. } = reviewed.line.steps()[index].change {
            lines.extend(searched_loss(mv, judgement).map(|text| text.english()));
        }
        for fact in explanations.get(&index).into_iter().flatten() {
            lines.push(format!("{} Line: {}", fact.text().english(), vertices(&fact.line)));
        }
    }
    if let Some(analysis) = &reviewed.review.analyses[index] {
        let to_move = reviewed.line.steps()[index].to_move;
        lines.push(format!("Black wins {}, {}.", percent(analysis.win_rate), lead(analysis.score.mean)));
        if let Some(best) = analysis.best() {
            lines.push(format!("{to_move} to move; first choice {}.", best.mv));
        }
    }
    lines.join("\n")
}

/// Returns the comment on the whole game, for its root.
fn summary(reviewed: &Reviewed) -> String {
    let Facts { effort, thresholds, rules, komi, warnings, .. } = &reviewed.facts;
    let mut lines = vec![format!(
        "Reviewed by Kosumi {}, {effort} (rules {rules}, komi {komi}).",
        env!("CARGO_PKG_VERSION")
    )];
    lines.extend(reviewed.facts.part.map(|part| part.sentence()));
    for color in Color::BOTH {
        let player = &reviewed.review.players[color];
        let [_, inaccuracies, mistakes, blunders] = player.classes;
        if player.moves == 0 {
            lines.push(format!("{color}: no move was reviewed."));
            continue;
        }
        lines.push(format!(
            "{color}: {} moves, {} of them the first choice; {inaccuracies} inaccuracies, {mistakes} mistakes, \
             {blunders} blunders; mean loss {:.1} % and {:.1} points; accuracy {:.0} %.",
            player.moves,
            player.first_choices,
            100.0 * player.mean_loss,
            player.mean_score_loss,
            100.0 * player.accuracy,
        ));
    }
    let (classes, error) = explanation(thresholds, &reviewed.review.scatter);
    lines.push(classes.english());
    lines.extend(error.map(|error| error.english()));
    lines.extend(warnings.iter().map(|warning| format!("Note: {warning}.")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::Point;

    #[test]
    fn lines_of_facts_share_moves_and_are_removed_again() {
        let text = "(;SZ[9];B[ee]C[mine];W[ef](;B[aa]TR[bb];W[bb])(;B[cc]N[mine];W[bb]))";
        let mut tree = Tree::parse(text.as_bytes()).unwrap();
        let original = tree.to_string();
        let line = tree.main_line();
        let at = |column: usize, row: usize| Move::Play(Point::new(column, row));
        let moves = [at(2, 2), at(3, 3), at(4, 4)];
        // A variation of the record itself is not continued.
        put_line(&mut tree, line[2], Color::Black, &moves, "a fact");
        assert_eq!(tree.node(line[2]).children().len(), 3);
        put_line(&mut tree, line[2], Color::Black, &moves, "the same again");
        assert_eq!(tree.to_string().matches("the same again").count(), 0);
        // Another line leaves this one after two moves.
        put_line(&mut tree, line[2], Color::Black, &[moves[0], moves[1], at(0, 8)], "another fact");
        assert_eq!(tree.node(line[2]).children().len(), 3);
        assert_eq!(tree.to_string().matches(CAPTURE).count(), 2);
        put_line(&mut tree, line[3], Color::White, &[at(5, 5)], "after the move");
        assert_eq!(tree.node(line[3]).children().len(), 2);
        assert_eq!(tree.main_line(), line, "the game is as it was");
        clean(&mut tree, &line);
        assert_eq!(tree.to_string(), original, "nothing is left");
    }
}

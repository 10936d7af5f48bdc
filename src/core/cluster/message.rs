//! What ranks tell each other.

use super::wire::{Malformed, Reader, Writer};
use crate::board::{BoardSize, Color, Key, Move};
use crate::eval::{Evaluation, NetworkSettings, Ownership, Prior, ShorttermErrors, View};
use crate::search::node::{Face, Means, Results};
use crate::search::worker::Counters;
use crate::search::{Choice, Formula, MoveRule, PuctParams, Restriction, RootParams, SearchParams, TableUse};

/// The task of a [`Caller`] that is not another node but the control of the search, on rank 0.
pub(crate) const CONTROL: u32 = u32::MAX;

/// Who is told what has become of visits: a task of a rank, and the place of the edge that the visits came by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    pub(crate) rank: u32,
    pub(crate) task: u32,
    pub(crate) edge: u16,
}

/// The way from the root to a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Path {
    pub(crate) moves: Vec<Move>,
    /// Of the keys of the nodes before each move, the root's first, the lower halves: a descent that comes back to one of
    /// them ends.
    pub(crate) keys: Vec<u64>,
}

impl Path {
    /// The way on by a move from the node of this key.
    pub(crate) fn and(&self, key: Key, mv: Move) -> Path {
        let mut longer = Path {
            moves: Vec::with_capacity(self.moves.len() + 1),
            keys: Vec::with_capacity(self.keys.len() + 1),
        };
        longer.moves.extend_from_slice(&self.moves);
        longer.keys.extend_from_slice(&self.keys);
        longer.moves.push(mv);
        longer.keys.push(key.0 as u64);
        longer
    }

    pub(crate) fn has(&self, key: Key) -> bool {
        self.keys.contains(&(key.0 as u64))
    }
}

/// Visits on their way to a node.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Visit {
    pub(crate) caller: Caller,
    pub(crate) count: u32,
    pub(crate) key: Key,
    /// The kind of the last move if the edge is new, see `search::bias`.
    pub(crate) kind: Option<u32>,
    /// Has nobody gone by this edge before?
    pub(crate) is_new: bool,
    pub(crate) path: Path,
}

/// What has become of visits that were sent to a node: some are done, some were given up, others may still be on the way.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Done {
    pub(crate) task: u32,
    pub(crate) edge: u16,
    pub(crate) done: u32,
    pub(crate) cancelled: u32,
    pub(crate) results: Results,
    pub(crate) face: Face,
}

/// The same for the control: what has become of visits of the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RootDone {
    pub(crate) done: u32,
    pub(crate) cancelled: u32,
    /// Visits of the root, and of its two most visited moves, but for those that may not be looked at.
    pub(crate) visits: u32,
    pub(crate) best_two: [u32; 2],
}

/// What a network says of a position, with its moves.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Assessment {
    pub(crate) evaluation: Evaluation,
    pub(crate) moves: Vec<(Move, Prior)>,
}

/// What a rank knows of an edge: move, prior, visits, and the node it leads to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct EdgeView {
    pub(crate) mv: Move,
    pub(crate) prior: Prior,
    pub(crate) visits: u32,
    pub(crate) child: Option<(Key, Face)>,
}

/// All that a search needs to begin.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Begin {
    /// The game as SGF.
    pub(crate) game: String,
    pub(crate) is_tree: bool,
    pub(crate) key: Key,
    pub(crate) params: SearchParams,
    /// How networks are asked; nothing where there are none.
    pub(crate) network: Option<NetworkSettings>,
    /// Is one good move wanted? Then some moves of the root are left out, see `RootParams`.
    pub(crate) for_play: bool,
    /// Black's expected score at the root, around which points are measured.
    pub(crate) score: f32,
    pub(crate) seed: u64,
    pub(crate) restriction: Restriction,
    /// Is what was learned to be forgotten?
    pub(crate) clear: bool,
    /// Does the first rank keep all nodes?
    pub(crate) is_central: bool,
}

/// What a rank has counted in a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ended {
    pub(crate) counters: Counters,
    pub(crate) ownership: Ownership,
    pub(crate) usage: [u64; 5],
}

impl Ended {
    pub(crate) fn new(counters: Counters, ownership: Ownership, usage: TableUse) -> Ended {
        let TableUse { nodes, node_capacity, edges, edge_capacity, bytes } = usage;
        let usage = [nodes, node_capacity, edges, edge_capacity, bytes].map(|number| number as u64);
        Ended { counters, ownership, usage }
    }
}

/// A message from one rank to another.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// A search begins.
    Begin(Box<Begin>),
    Visit(Visit),
    Done(Done),
    RootDone(RootDone),
    /// The visits have come to a position that has no node because the table of its rank is full. It was evaluated, and
    /// the evaluations count for the node before it.
    Beyond {
        task: u32,
        edge: u16,
        count: u32,
        evaluation: Evaluation,
    },
    /// A position is to be evaluated for a rank that keeps its node.
    Evaluate {
        job: u32,
        moves: Vec<Move>,
    },
    /// What came of it; nothing if the search was stopped first, or a move was illegal.
    Evaluated {
        job: u32,
        assessment: Option<Assessment>,
    },
    /// Evaluations that have not begun are to be given up.
    Stop,
    /// The root is to be shown to the control.
    Show,
    Shown {
        face: Face,
        edges: Vec<EdgeView>,
        /// The moves that were left out, and what the probabilities of the others were multiplied by.
        pruned: Vec<Move>,
        scale: f32,
    },
    /// The most visited moves from the node of this key on are to be added.
    Follow {
        slot: u16,
        key: Key,
        steps: Vec<EdgeView>,
    },
    Followed {
        slot: u16,
        steps: Vec<EdgeView>,
    },
    /// The search is over.
    End,
    Ended(Box<Ended>),
    /// There are no more searches.
    Quit,
    /// Something went wrong where there is nobody to be told.
    Failed(String),
    /// The control asks whether a rank is there.
    Ping,
    /// It is.
    Pong,
}

impl Message {
    /// Adds the message to a packet. `size` is that of the board.
    pub(crate) fn write(&self, size: BoardSize, out: &mut Writer) {
        match self {
            Message::Begin(begin) => {
                out.u8(0);
                begin.write(out);
            }
            Message::Visit(visit) => {
                out.u8(1);
                visit.write(out);
            }
            Message::Done(done) => {
                out.u8(2);
                out.u32(done.task);
                out.u16(done.edge);
                out.u32(done.done);
                out.u32(done.cancelled);
                out.i64(done.results.scores);
                out.u64(done.results.squares);
                write_face(&done.face, out);
            }
            Message::RootDone(it) => {
                out.u8(3);
                [it.done, it.cancelled, it.visits, it.best_two[0], it.best_two[1]]
                    .iter()
                    .for_each(|&it| out.u32(it));
            }
            Message::Beyond { task, edge, count, evaluation } => {
                out.u8(4);
                out.u32(*task);
                out.u16(*edge);
                out.u32(*count);
                write_evaluation(evaluation, out);
            }
            Message::Evaluate { job, moves } => {
                out.u8(5);
                out.u32(*job);
                out.list(moves, |out, &mv| out.mv(mv));
            }
            Message::Evaluated { job, assessment } => {
                out.u8(6);
                out.u32(*job);
                out.flag(assessment.is_some());
                if let Some(Assessment { evaluation, moves }) = assessment {
                    write_evaluation(evaluation, out);
                    out.list(moves, |out, &(mv, prior)| {
                        out.mv(mv);
                        out.prior(prior);
                    });
                }
            }
            Message::Stop => out.u8(7),
            Message::Show => out.u8(8),
            Message::Shown { face, edges, pruned, scale } => {
                out.u8(9);
                write_face(face, out);
                out.list(edges, |out, edge| edge.write(out));
                out.list(pruned, |out, &mv| out.mv(mv));
                out.f32(*scale);
            }
            Message::Follow { slot, key, steps } => {
                out.u8(10);
                out.u16(*slot);
                out.key(*key);
                out.list(steps, |out, step| step.write(out));
            }
            Message::Followed { slot, steps } => {
                out.u8(11);
                out.u16(*slot);
                out.list(steps, |out, step| step.write(out));
            }
            Message::End => out.u8(12),
            Message::Ended(ended) => {
                out.u8(13);
                ended.write(size, out);
            }
            Message::Quit => out.u8(14),
            Message::Failed(why) => {
                out.u8(15);
                out.text(why);
            }
            Message::Ping => out.u8(16),
            Message::Pong => out.u8(17),
        }
    }

    /// Reads the next message of a packet.
    pub(crate) fn read(size: BoardSize, from: &mut Reader<'_>) -> Result<Message, Malformed> {
        Ok(match from.u8()? {
            0 => Message::Begin(Box::new(Begin::read(from)?)),
            1 => Message::Visit(Visit::read(from)?),
            2 => Message::Done(Done {
                task: from.u32()?,
                edge: from.u16()?,
                done: from.u32()?,
                cancelled: from.u32()?,
                results: Results { scores: from.i64()?, squares: from.u64()? },
                face: read_face(from)?,
            }),
            3 => Message::RootDone(RootDone {
                done: from.u32()?,
                cancelled: from.u32()?,
                visits: from.u32()?,
                best_two: [from.u32()?, from.u32()?],
            }),
            4 => Message::Beyond {
                task: from.u32()?,
                edge: from.u16()?,
                count: from.u32()?,
                evaluation: read_evaluation(from)?,
            },
            5 => Message::Evaluate { job: from.u32()?, moves: from.list(Reader::mv)? },
            6 => {
                let job = from.u32()?;
                let assessment = match from.flag()? {
                    true => Some(Assessment {
                        evaluation: read_evaluation(from)?,
                        moves: from.list(|from| Ok((from.mv()?, from.prior()?)))?,
                    }),
                    false => None,
                };
                Message::Evaluated { job, assessment }
            }
            7 => Message::Stop,
            8 => Message::Show,
            9 => Message::Shown {
                face: read_face(from)?,
                edges: from.list(EdgeView::read)?,
                pruned: from.list(Reader::mv)?,
                scale: from.f32()?,
            },
            10 => Message::Follow { slot: from.u16()?, key: from.key()?, steps: from.list(EdgeView::read)? },
            11 => Message::Followed { slot: from.u16()?, steps: from.list(EdgeView::read)? },
            12 => Message::End,
            13 => Message::Ended(Box::new(Ended::read(size, from)?)),
            14 => Message::Quit,
            15 => Message::Failed(from.text()?),
            16 => Message::Ping,
            17 => Message::Pong,
            _ => return Err(Malformed),
        })
    }
}

impl Visit {
    fn write(&self, out: &mut Writer) {
        let Caller { rank, task, edge } = self.caller;
        out.u32(rank);
        out.u32(task);
        out.u16(edge);
        out.u32(self.count);
        out.key(self.key);
        out.u32(self.kind.map_or(0, |kind| kind + 1));
        out.flag(self.is_new);
        out.list(&self.path.moves, |out, &mv| out.mv(mv));
        out.list(&self.path.keys, |out, &key| out.u64(key));
    }

    fn read(from: &mut Reader<'_>) -> Result<Visit, Malformed> {
        Ok(Visit {
            caller: Caller { rank: from.u32()?, task: from.u32()?, edge: from.u16()? },
            count: from.u32()?,
            key: from.key()?,
            kind: from.u32()?.checked_sub(1),
            is_new: from.flag()?,
            path: Path { moves: from.list(Reader::mv)?, keys: from.list(Reader::u64)? },
        })
    }
}

impl EdgeView {
    fn write(&self, out: &mut Writer) {
        out.mv(self.mv);
        out.prior(self.prior);
        out.u32(self.visits);
        out.flag(self.child.is_some());
        if let Some((key, face)) = &self.child {
            out.key(*key);
            write_face(face, out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<EdgeView, Malformed> {
        Ok(EdgeView {
            mv: from.mv()?,
            prior: from.prior()?,
            visits: from.u32()?,
            child: match from.flag()? {
                true => Some((from.key()?, read_face(from)?)),
                false => None,
            },
        })
    }
}

fn write_face(face: &Face, out: &mut Writer) {
    let Face { visits, scores, squares, own_utility, means } = *face;
    let Means { result, utility, utility_square, score, weight, weight_square } = means;
    out.u32(visits);
    out.i64(scores);
    out.u64(squares);
    [own_utility, result, utility, utility_square, score, weight, weight_square]
        .iter()
        .for_each(|&number| out.f32(number));
}

fn read_face(from: &mut Reader<'_>) -> Result<Face, Malformed> {
    Ok(Face {
        visits: from.u32()?,
        scores: from.i64()?,
        squares: from.u64()?,
        own_utility: from.f32()?,
        means: Means {
            result: from.f32()?,
            utility: from.f32()?,
            utility_square: from.f32()?,
            score: from.f32()?,
            weight: from.f32()?,
            weight_square: from.f32()?,
        },
    })
}

fn write_evaluation(evaluation: &Evaluation, out: &mut Writer) {
    let Evaluation { value, score, score_mean, score_deviation, errors } = *evaluation;
    [value, score, score_mean, score_deviation].iter().for_each(|&number| out.f32(number));
    out.flag(errors.is_some());
    if let Some(ShorttermErrors { value, score }) = errors {
        out.f32(value);
        out.f32(score);
    }
}

fn read_evaluation(from: &mut Reader<'_>) -> Result<Evaluation, Malformed> {
    Ok(Evaluation {
        value: from.f32()?,
        score: from.f32()?,
        score_mean: from.f32()?,
        score_deviation: from.f32()?,
        errors: match from.flag()? {
            true => Some(ShorttermErrors { value: from.f32()?, score: from.f32()? }),
            false => None,
        },
    })
}

impl Begin {
    fn write(&self, out: &mut Writer) {
        out.text(&self.game);
        out.flag(self.is_tree);
        out.key(self.key);
        write_params(&self.params, out);
        out.flag(self.network.is_some());
        if let Some(network) = &self.network {
            write_network(network, out);
        }
        out.flag(self.for_play);
        out.f32(self.score);
        out.u64(self.seed);
        for rules in [&self.restriction.avoid, &self.restriction.allow] {
            out.list(rules, |out, rule| {
                out.flag(rule.color == Color::Black);
                out.u32(u32::try_from(rule.until).unwrap_or(u32::MAX));
                out.list(&rule.moves, |out, &mv| out.mv(mv));
            });
        }
        out.flag(self.clear);
        out.flag(self.is_central);
    }

    fn read(from: &mut Reader<'_>) -> Result<Begin, Malformed> {
        let rule = |from: &mut Reader<'_>| {
            Ok(MoveRule {
                color: if from.flag()? { Color::Black } else { Color::White },
                until: from.u32()? as usize,
                moves: from.list(Reader::mv)?,
            })
        };
        Ok(Begin {
            game: from.text()?,
            is_tree: from.flag()?,
            key: from.key()?,
            params: read_params(from)?,
            network: if from.flag()? { Some(read_network(from)?) } else { None },
            for_play: from.flag()?,
            score: from.f32()?,
            seed: from.u64()?,
            restriction: Restriction { avoid: from.list(rule)?, allow: from.list(rule)? },
            clear: from.flag()?,
            is_central: from.flag()?,
        })
    }
}

/// The arithmetic is each rank's own: machines differ in what they compute fastest.
fn write_network(settings: &NetworkSettings, out: &mut Writer) {
    let NetworkSettings {
        view,
        share_symmetric,
        arithmetic: _,
        policy_optimism,
        root_policy_optimism,
        policy_temperature,
        root_symmetries,
        profile,
        ignore_pre_root_history,
        black_doubling_advantage,
        pass_alive_with_suicide,
    } = settings;
    out.flag(*view == View::Varied);
    out.flag(*share_symmetric);
    for number in [policy_optimism, root_policy_optimism, policy_temperature, black_doubling_advantage] {
        out.f32(*number);
    }
    out.u8(*root_symmetries);
    out.flag(*ignore_pre_root_history);
    out.u8(pass_alive_with_suicide.map_or(2, u8::from));
    out.text(&profile.map(|profile| profile.to_string()).unwrap_or_default());
}

fn read_network(from: &mut Reader<'_>) -> Result<NetworkSettings, Malformed> {
    let view = if from.flag()? { View::Varied } else { View::Plain };
    let share_symmetric = from.flag()?;
    let [policy_optimism, root_policy_optimism, policy_temperature, black_doubling_advantage] =
        [from.f32()?, from.f32()?, from.f32()?, from.f32()?];
    let root_symmetries = from.u8()?;
    let ignore_pre_root_history = from.flag()?;
    let pass_alive_with_suicide = match from.u8()? {
        0 => Some(false),
        1 => Some(true),
        2 => None,
        _ => return Err(Malformed),
    };
    let profile = match from.text()?.as_str() {
        "" => None,
        text => Some(text.parse().map_err(|_| Malformed)?),
    };
    Ok(NetworkSettings {
        view,
        share_symmetric,
        arithmetic: NetworkSettings::default().arithmetic,
        policy_optimism,
        root_policy_optimism,
        policy_temperature,
        root_symmetries,
        profile,
        ignore_pre_root_history,
        black_doubling_advantage,
        pass_alive_with_suicide,
    })
}

/// The numbers of a formula for networks, in a fixed order.
fn floats(puct: &mut PuctParams) -> [&mut f32; 20] {
    [
        &mut puct.cpuct_exploration,
        &mut puct.cpuct_exploration_log,
        &mut puct.cpuct_exploration_base,
        &mut puct.cpuct_utility_stdev_prior,
        &mut puct.cpuct_utility_stdev_prior_weight,
        &mut puct.cpuct_utility_stdev_scale,
        &mut puct.fpu_reduction_max,
        &mut puct.root_fpu_reduction_max,
        &mut puct.fpu_parent_weight_by_visited_policy_pow,
        &mut puct.value_weight_exponent,
        &mut puct.noise_prune_utility_scale,
        &mut puct.static_score_utility_factor,
        &mut puct.dynamic_score_utility_factor,
        &mut puct.dynamic_score_center_zero_weight,
        &mut puct.dynamic_score_center_scale,
        &mut puct.uncertainty_coeff,
        &mut puct.uncertainty_exponent,
        &mut puct.uncertainty_max_weight,
        &mut puct.subtree_value_bias_factor,
        &mut puct.subtree_value_bias_weight_exponent,
    ]
}

fn flags(puct: &mut PuctParams) -> [&mut bool; 3] {
    [&mut puct.fpu_parent_weight_by_visited_policy, &mut puct.use_noise_pruning, &mut puct.use_uncertainty]
}

/// Only searches with networks are spread, so other formulas are written as the usual one for networks.
fn write_params(params: &SearchParams, out: &mut Writer) {
    out.u32(params.expand_after);
    out.f32(params.virtual_losses);
    out.f32(params.choice.lcb_stdevs);
    out.f32(params.choice.min_visit_prop_for_lcb);
    let mut puct = match params.formula {
        Formula::Puct(puct) => puct,
        Formula::Rave(_) => PuctParams::default(),
    };
    floats(&mut puct).into_iter().for_each(|number| out.f32(*number));
    out.f32(puct.subtree_value_bias_free_prop);
    flags(&mut puct).into_iter().for_each(|flag| out.flag(*flag));
    let RootParams { symmetry_pruning, prune_useless_moves, policy_temperature, policy_temperature_early } =
        params.root;
    out.flag(symmetry_pruning);
    out.flag(prune_useless_moves);
    out.f32(policy_temperature);
    out.f32(policy_temperature_early);
}

fn read_params(from: &mut Reader<'_>) -> Result<SearchParams, Malformed> {
    let (expand_after, virtual_losses) = (from.u32()?, from.f32()?);
    let choice = Choice { lcb_stdevs: from.f32()?, min_visit_prop_for_lcb: from.f32()? };
    let mut puct = PuctParams::default();
    for number in floats(&mut puct) {
        *number = from.f32()?;
    }
    puct.subtree_value_bias_free_prop = from.f32()?;
    for flag in flags(&mut puct) {
        *flag = from.flag()?;
    }
    let root = RootParams {
        symmetry_pruning: from.flag()?,
        prune_useless_moves: from.flag()?,
        policy_temperature: from.f32()?,
        policy_temperature_early: from.f32()?,
    };
    Ok(SearchParams { expand_after, virtual_losses, formula: Formula::Puct(puct), choice, root })
}

impl Ended {
    fn write(&self, size: BoardSize, out: &mut Writer) {
        let Counters { playouts, score_sum, score_square_sum, cycles, transpositions, depth, waits } =
            self.counters;
        [playouts, cycles, transpositions, depth, waits].iter().for_each(|&number| out.u32(number));
        out.f64(score_sum);
        out.f64(score_square_sum);
        self.usage.iter().for_each(|&number| out.u64(number));
        let (sums, unit, count) = self.ownership.to_parts(size);
        out.list(&sums, |out, &sum| out.i32(sum));
        out.i32(unit);
        out.u32(count);
    }

    fn read(size: BoardSize, from: &mut Reader<'_>) -> Result<Ended, Malformed> {
        let [playouts, cycles, transpositions, depth, waits] =
            [from.u32()?, from.u32()?, from.u32()?, from.u32()?, from.u32()?];
        let (score_sum, score_square_sum) = (from.f64()?, from.f64()?);
        let counters =
            Counters { playouts, score_sum, score_square_sum, cycles, transpositions, depth, waits };
        let usage = [from.u64()?, from.u64()?, from.u64()?, from.u64()?, from.u64()?];
        let sums = from.list(Reader::i32)?;
        let ownership = Ownership::from_parts(size, &sums, from.i32()?, from.u32()?).ok_or(Malformed)?;
        Ok(Ended { counters, ownership, usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Point;

    fn params() -> SearchParams {
        let puct = PuctParams {
            cpuct_exploration: 1.5,
            cpuct_exploration_log: 2.5,
            cpuct_exploration_base: 3.5,
            cpuct_utility_stdev_prior: 4.5,
            cpuct_utility_stdev_prior_weight: 5.5,
            cpuct_utility_stdev_scale: 6.5,
            fpu_reduction_max: 7.5,
            root_fpu_reduction_max: 8.5,
            fpu_parent_weight_by_visited_policy: false,
            fpu_parent_weight_by_visited_policy_pow: 9.5,
            value_weight_exponent: 10.5,
            use_noise_pruning: false,
            noise_prune_utility_scale: 11.5,
            static_score_utility_factor: 12.5,
            dynamic_score_utility_factor: 13.5,
            dynamic_score_center_zero_weight: 14.5,
            dynamic_score_center_scale: 15.5,
            use_uncertainty: false,
            uncertainty_coeff: 16.5,
            uncertainty_exponent: 17.5,
            uncertainty_max_weight: 18.5,
            subtree_value_bias_factor: 19.5,
            subtree_value_bias_weight_exponent: 20.5,
            subtree_value_bias_free_prop: 21.5,
        };
        let choice = Choice { lcb_stdevs: 22.5, min_visit_prop_for_lcb: 23.5 };
        let root = RootParams {
            symmetry_pruning: false,
            prune_useless_moves: true,
            policy_temperature: 24.5,
            policy_temperature_early: 25.5,
        };
        SearchParams { expand_after: 3, virtual_losses: 0.5, formula: Formula::Puct(puct), choice, root }
    }

    fn messages(size: BoardSize) -> Vec<Message> {
        let (mv, key) = (Move::Play(Point::new(2, 3)), Key(0x0123_4567_89ab_cdef_1122_3344_5566_7788));
        let means = Means {
            result: 0.1,
            utility: 0.2,
            utility_square: 0.3,
            score: 0.4,
            weight: 0.5,
            weight_square: 0.6,
        };
        let face = Face { visits: 7, scores: -8, squares: 9, own_utility: 0.7, means };
        let edge = EdgeView {
            mv,
            prior: Prior::Probability(0.25),
            visits: 5,
            child: Some((Key(u128::from(u64::MAX) + 5), face)),
        };
        let errors = Some(ShorttermErrors { value: 0.5, score: 6.0 });
        let evaluation = Evaluation { value: 0.1, score: 2.0, score_mean: 3.0, score_deviation: 4.0, errors };
        let rule = MoveRule { color: Color::White, moves: vec![mv, Move::Pass], until: 3 };
        let mut ownership = Ownership::default();
        ownership.add_expected(size, &vec![-3; size.area()]);
        let counters = Counters {
            playouts: 1,
            score_sum: 2.5,
            score_square_sum: 3.5,
            cycles: 4,
            transpositions: 5,
            depth: 6,
            waits: 7,
        };
        let usage = TableUse { nodes: 1, node_capacity: 2, edges: 3, edge_capacity: 4, bytes: 5 };
        let path = Path::default().and(key, mv).and(Key(3), Move::Pass);
        vec![
            Message::Begin(Box::new(Begin {
                game: "(;SZ[9]C[ä])".into(),
                is_tree: true,
                key,
                params: params(),
                network: Some(NetworkSettings {
                    view: View::Plain,
                    share_symmetric: false,
                    policy_optimism: 0.1,
                    root_policy_optimism: 0.3,
                    policy_temperature: 0.9,
                    root_symmetries: 5,
                    profile: Some("rank_3k_5d".parse().expect("a profile")),
                    ignore_pre_root_history: true,
                    black_doubling_advantage: -1.5,
                    pass_alive_with_suicide: Some(true),
                    ..NetworkSettings::default()
                }),
                for_play: true,
                score: -3.5,
                seed: 99,
                restriction: Restriction { avoid: vec![rule.clone()], allow: vec![rule] },
                clear: true,
                is_central: false,
            })),
            Message::Visit(Visit {
                caller: Caller { rank: 3, task: CONTROL, edge: 5 },
                count: 6,
                key,
                kind: Some(0),
                is_new: true,
                path,
            }),
            Message::Done(Done {
                task: 1,
                edge: 2,
                done: 3,
                cancelled: 4,
                results: Results { scores: -5, squares: 6 },
                face,
            }),
            Message::RootDone(RootDone { done: 1, cancelled: 2, visits: 3, best_two: [4, 5] }),
            Message::Beyond { task: 1, edge: 2, count: 3, evaluation },
            Message::Evaluate { job: 7, moves: vec![mv, Move::Pass] },
            Message::Evaluated {
                job: 7,
                assessment: Some(Assessment { evaluation, moves: vec![(mv, Prior::Probability(0.5))] }),
            },
            Message::Evaluated { job: 8, assessment: None },
            Message::Stop,
            Message::Show,
            Message::Shown {
                face,
                edges: vec![edge.clone(), EdgeView { child: None, ..edge.clone() }],
                pruned: vec![mv],
                scale: 1.25,
            },
            Message::Follow { slot: 1, key, steps: vec![edge.clone()] },
            Message::Followed { slot: 2, steps: vec![edge] },
            Message::End,
            Message::Ended(Box::new(Ended::new(counters, ownership, usage))),
            Message::Quit,
            Message::Failed("why".into()),
            Message::Ping,
            Message::Pong,
        ]
    }

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let size = BoardSize::square(9).expect("a size");
        let sent = messages(size);
        let mut out = Writer::default();
        sent.iter().for_each(|message| message.write(size, &mut out));
        let bytes = out.into_bytes();
        let mut reader = Reader::new(&bytes);
        for message in &sent {
            let read = Message::read(size, &mut reader).expect("a message");
            assert_eq!(format!("{read:?}"), format!("{message:?}"));
        }
        assert!(reader.is_empty());
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let size = BoardSize::square(9).expect("a size");
        for message in messages(size) {
            let mut out = Writer::default();
            message.write(size, &mut out);
            let bytes = out.into_bytes();
            // Every shorter packet lacks something.
            for len in 0..bytes.len() {
                assert_eq!(
                    Message::read(size, &mut Reader::new(&bytes[..len])).err(),
                    Some(Malformed),
                    "{message:?}"
                );
            }
        }
        assert!(Message::read(size, &mut Reader::new(&[200])).is_err());
        // Nothing that could come makes it fail otherwise.
        let mut rng = crate::rng::Rng::new(1);
        for _ in 0..20_000 {
            let mut bytes = vec![rng.below(18) as u8];
            bytes.extend(
                (0..rng.below(120))
                    .map(|_| if rng.chance(500) { rng.below(4) } else { rng.below(256) } as u8),
            );
            let _ = Message::read(size, &mut Reader::new(&bytes));
        }
        // A list of four thousand million moves, and a move that no board has.
        assert!(Message::read(size, &mut Reader::new(&[5, 0, 0, 0, 0, 255, 255, 255, 255])).is_err());
        assert!(Message::read(size, &mut Reader::new(&[5, 0, 0, 0, 0, 1, 0, 0, 0, 255, 255])).is_err());
    }
}

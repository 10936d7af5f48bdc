//! What ranks tell each other.

use super::audit::Audit;
use super::wire::{Malformed, Reader, Wire, Writer, wire};
use crate::board::{BoardSize, Color, Key, Move};
use crate::eval::{Evaluation, NetworkSettings, Ownership, Prior, ShorttermErrors, View};
use crate::net::Profile;
use crate::search::counters::Counters;
use crate::search::node::{Face, Means};
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
    /// As [`Ownership::to_parts`] has them.
    owners: Vec<i32>,
    unit: i32,
    count: u32,
    pub(crate) usage: [u64; 5],
    /// Nothing in builds without assertions.
    pub(crate) audit: Audit,
}

impl Ended {
    pub(crate) fn new(
        counters: Counters,
        size: BoardSize,
        ownership: &Ownership,
        usage: TableUse,
        audit: Audit,
    ) -> Ended {
        let TableUse { nodes, node_capacity, edges, edge_capacity, bytes } = usage;
        let usage = [nodes, node_capacity, edges, edge_capacity, bytes].map(|number| number as u64);
        let (owners, unit, count) = ownership.to_parts(size);
        Ended { counters, owners, unit, count, usage, audit }
    }

    /// Whose the points were found to be; `None` if that is not of a board of this size.
    pub(crate) fn ownership(&self, size: BoardSize) -> Option<Ownership> {
        Ownership::from_parts(size, &self.owners, self.unit, self.count)
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
    /// A packet with nothing else in it.
    pub(crate) fn to_packet(&self) -> Vec<u8> {
        let mut packet = Writer::default();
        self.write(&mut packet);
        packet.into_bytes()
    }
}

/// Messages are written as their number and their parts, in this order.
macro_rules! messages {
    ($($number:literal $name:ident $(($part:ident))? $({ $($field:ident),* })?,)*) => {
        impl Wire for Message {
            fn write(&self, out: &mut Writer) {
                match self {
                    $(Message::$name $(($part))? $({ $($field),* })? => {
                        let number: u8 = $number;
                        number.write(out);
                        $($part.write(out);)?
                        $($($field.write(out);)*)?
                    })*
                }
            }

            fn read(from: &mut Reader<'_>) -> Result<Message, Malformed> {
                Ok(match u8::read(from)? {
                    $($number => {
                        $(let $part = Wire::read(from)?;)?
                        $($(let $field = Wire::read(from)?;)*)?
                        Message::$name $(($part))? $({ $($field),* })?
                    })*
                    _ => return Err(Malformed),
                })
            }
        }
    };
}

messages! {
    0 Begin(begin),
    1 Visit(visit),
    2 Done(done),
    3 RootDone(done),
    4 Beyond { task, edge, count, evaluation },
    5 Evaluate { job, moves },
    6 Evaluated { job, assessment },
    7 Stop,
    8 Show,
    9 Shown { face, edges, pruned, scale },
    10 Follow { slot, key, steps },
    11 Followed { slot, steps },
    12 End,
    13 Ended(ended),
    14 Quit,
    15 Failed(why),
    16 Ping,
    17 Pong,
}

wire! {
    Caller { rank, task, edge }
    Path { moves, keys }
    Visit { caller, count, key, kind, is_new, path }
    Done { task, edge, done, cancelled, face }
    RootDone { done, cancelled, visits, best_two }
    Face { visits, own_utility, means }
    Means { result, utility, utility_square, score, score_square, lead, no_result, weight, weight_square }
    Evaluation { value, score, score_mean, score_deviation, no_result, errors }
    ShorttermErrors { value, score }
    Assessment { evaluation, moves }
    EdgeView { mv, prior, visits, child }
    Begin { game, is_tree, key, params, network, for_play, score, seed, restriction, clear, is_central }
    Restriction { avoid, allow }
    MoveRule { color, moves, until }
    // The arithmetic is each rank's own: machines differ in what they compute fastest.
    NetworkSettings {
        view, share_symmetric, policy_optimism, root_policy_optimism, policy_temperature, root_symmetries, profile,
        ignore_pre_root_history, black_doubling_advantage, pass_alive_with_suicide; arithmetic
    }
    // A rank has one worker.
    SearchParams { expand_after, virtual_losses, formula, choice, root; descents_at_once }
    Choice { lcb_stdevs, min_visit_prop_for_lcb }
    RootParams { symmetry_pruning, prune_useless_moves, policy_temperature, policy_temperature_early }
    PuctParams {
        cpuct_exploration, cpuct_exploration_log, cpuct_exploration_base, cpuct_utility_stdev_prior,
        cpuct_utility_stdev_prior_weight, cpuct_utility_stdev_scale, fpu_reduction_max, root_fpu_reduction_max,
        fpu_parent_weight_by_visited_policy, fpu_parent_weight_by_visited_policy_pow, fpu_reduction_per_halving,
        value_weight_exponent,
        use_noise_pruning, noise_prune_utility_scale, static_score_utility_factor, dynamic_score_utility_factor,
        dynamic_score_center_zero_weight, dynamic_score_center_scale, use_uncertainty, uncertainty_coeff,
        uncertainty_exponent, uncertainty_max_weight, subtree_value_bias_factor, subtree_value_bias_weight_exponent,
        subtree_value_bias_free_prop
    }
    Counters { playouts, score_sum, score_square_sum, cycles, transpositions, depth, waits }
    Ended { counters, owners, unit, count, usage, audit }
    Audit { in_flight, uneven, kept, sent, kept_by_key, sent_by_key }
}

/// Only searches with networks are spread, so other formulas are written as the usual one for networks.
impl Wire for Formula {
    fn write(&self, out: &mut Writer) {
        match self {
            Formula::Puct(puct) => puct.write(out),
            Formula::Rave(_) => PuctParams::default().write(out),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Formula, Malformed> {
        PuctParams::read(from).map(Formula::Puct)
    }
}

impl Wire for View {
    fn write(&self, out: &mut Writer) {
        (*self == View::Varied).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<View, Malformed> {
        Ok(if bool::read(from)? { View::Varied } else { View::Plain })
    }
}

impl Wire for Color {
    fn write(&self, out: &mut Writer) {
        (*self == Color::Black).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Color, Malformed> {
        Ok(if bool::read(from)? { Color::Black } else { Color::White })
    }
}

impl Wire for Profile {
    fn write(&self, out: &mut Writer) {
        self.to_string().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Profile, Malformed> {
        String::read(from)?.parse().map_err(|_| Malformed)
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
            fpu_reduction_per_halving: 9.75,
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
        let formula = Formula::Puct(puct);
        SearchParams { expand_after: 3, virtual_losses: 0.5, descents_at_once: None, formula, choice, root }
    }

    fn messages(size: BoardSize) -> Vec<Message> {
        let (mv, key) = (Move::Play(Point::new(2, 3)), Key(0x0123_4567_89ab_cdef_1122_3344_5566_7788));
        let means = Means {
            result: 0.1,
            utility: 0.2,
            utility_square: 0.3,
            score: 0.4,
            score_square: 0.45,
            lead: 0.46,
            no_result: 0.47,
            weight: 0.5,
            weight_square: 0.6,
        };
        let face = Face { visits: 7, own_utility: 0.7, means };
        let edge = EdgeView {
            mv,
            prior: Prior::Probability(0.25),
            visits: 5,
            child: Some((Key(u128::from(u64::MAX) + 5), face)),
        };
        let errors = Some(ShorttermErrors { value: 0.5, score: 6.0 });
        let evaluation = Evaluation {
            value: 0.1,
            score: 2.0,
            score_mean: 3.0,
            score_deviation: 4.0,
            no_result: 0.5,
            errors,
        };
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
            Message::Done(Done { task: 1, edge: 2, done: 3, cancelled: 4, face }),
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
            Message::Ended(Box::new(Ended::new(
                counters,
                size,
                &ownership,
                usage,
                Audit { kept: 9, ..Audit::default() },
            ))),
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
        sent.iter().for_each(|message| message.write(&mut out));
        let bytes = out.into_bytes();
        let mut reader = Reader::new(&bytes);
        for message in &sent {
            let read = Message::read(&mut reader).expect("a message");
            assert_eq!(format!("{read:?}"), format!("{message:?}"));
        }
        assert!(reader.is_empty());
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let size = BoardSize::square(9).expect("a size");
        for message in messages(size) {
            let mut out = Writer::default();
            message.write(&mut out);
            let bytes = out.into_bytes();
            // Every shorter packet lacks something.
            for len in 0..bytes.len() {
                assert_eq!(
                    Message::read(&mut Reader::new(&bytes[..len])).err(),
                    Some(Malformed),
                    "{message:?}"
                );
            }
        }
        assert!(Message::read(&mut Reader::new(&[200])).is_err());
        // Nothing that could come makes it fail otherwise.
        let mut rng = crate::rng::Rng::new(1);
        for _ in 0..20_000 {
            let mut bytes = vec![rng.below(18) as u8];
            bytes.extend(
                (0..rng.below(120))
                    .map(|_| if rng.chance(500) { rng.below(4) } else { rng.below(256) } as u8),
            );
            let _ = Message::read(&mut Reader::new(&bytes));
        }
        // A list of four thousand million moves, and a move that no board has.
        assert!(Message::read(&mut Reader::new(&[5, 0, 0, 0, 0, 255, 255, 255, 255])).is_err());
        assert!(Message::read(&mut Reader::new(&[5, 0, 0, 0, 0, 1, 0, 0, 0, 255, 255])).is_err());
    }
}

//! Messages between ranks.

use super::audit::Audit;
use super::wire::{Malformed, Reader, Wire, Writer, wire};
use kosumi_eval::{Evaluation, NetworkSettings, NetworkView, Ownership, Prior, ShorttermErrors};
use kosumi_go::board::{BoardSize, Color, Key, Move};
use kosumi_net::Profile;
use kosumi_search::counters::Counters;
use kosumi_search::node::{Means, NodeStatistics};
use kosumi_search::params::CONSTANTS;
use kosumi_search::registry::Value;
use kosumi_search::{Formula, PuctParams, Restriction, SearchParams, TableUse};

/// Value of [`ReplyTo::task`] for the control of the search, on rank 0, instead of another node.
pub(crate) const CONTROL: u32 = u32::MAX;

/// Receiver of the results of visits: a task of a rank, and the index of the edge that the visits followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReplyTo {
    pub(crate) rank: u32,
    pub(crate) task: u32,
    pub(crate) edge: u16,
}

/// Path from the root to a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Path {
    pub(crate) moves: Vec<Move>,
    /// Lower halves of the keys of the nodes before each move, the root's first. A descent that returns to one of them
    /// ends.
    pub(crate) keys: Vec<u64>,
}

impl Path {
    /// Returns the path extended by a move from the node of this key.
    pub(crate) fn extended(&self, key: Key, mv: Move) -> Path {
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

/// Visits that travel to a node.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Visit {
    pub(crate) caller: ReplyTo,
    pub(crate) count: u32,
    pub(crate) key: Key,
    /// Kind of the last move if the edge is new, see `search::bias`.
    pub(crate) kind: Option<u32>,
    /// Whether these are the first visits of the edge.
    pub(crate) is_new: bool,
    pub(crate) path: Path,
}

/// Results of visits that were sent to a node: some are done, some were cancelled, and others may still be in progress.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct VisitResults {
    pub(crate) task: u32,
    pub(crate) edge: u16,
    pub(crate) done: u32,
    pub(crate) cancelled: u32,
    pub(crate) statistics: NodeStatistics,
}

/// Results of visits of the root, for the control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RootDone {
    pub(crate) done: u32,
    pub(crate) cancelled: u32,
    /// Visits of the root and of its two most visited moves, except those of moves that may not be searched.
    pub(crate) visits: u32,
    pub(crate) best_two: [u32; 2],
}

/// Evaluation of a position by a network, with its moves.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PositionEvaluation {
    pub(crate) evaluation: Evaluation,
    pub(crate) moves: Vec<(Move, Prior)>,
}

/// Data of an edge: move, prior, visits, and child node.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct EdgeView {
    pub(crate) mv: Move,
    pub(crate) prior: Prior,
    pub(crate) visits: u32,
    pub(crate) child: Option<(Key, NodeStatistics)>,
}

/// Parameters of a search.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Begin {
    /// The game as SGF.
    pub(crate) game: String,
    pub(crate) is_tree: bool,
    pub(crate) key: Key,
    pub(crate) params: SearchParams,
    /// Settings of the network; `None` for evaluators without one.
    pub(crate) network: Option<NetworkSettings>,
    /// Whether the search serves to find one good move. If so, some moves of the root are left out, see `RootParams`.
    pub(crate) for_play: bool,
    /// Black's expected score at the root, the centre of the utility scale.
    pub(crate) score: f32,
    pub(crate) seed: u64,
    pub(crate) restriction: Restriction,
    /// Whether to discard all statistics first.
    pub(crate) clear: bool,
    /// Whether the first rank stores all nodes.
    pub(crate) is_central: bool,
}

/// Counters and statistics of a rank at the end of a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ended {
    pub(crate) counters: Counters,
    /// In the format of [`Ownership::to_parts`].
    owners: Vec<i32>,
    unit: i32,
    count: u32,
    pub(crate) usage: [u64; 5],
    /// Empty in builds without assertions.
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

    /// Returns the ownership; `None` if it does not fit a board of this size.
    pub(crate) fn ownership(&self, size: BoardSize) -> Option<Ownership> {
        Ownership::from_parts(size, &self.owners, self.unit, self.count)
    }
}

/// A message from one rank to another.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// Begins a search.
    Begin(Box<Begin>),
    Visit(Visit),
    Done(VisitResults),
    RootDone(RootDone),
    /// Visits have reached a position without a node, because the table of its rank is full. The position was
    /// evaluated, and the evaluations count for the node before it.
    Beyond {
        task: u32,
        edge: u16,
        count: u32,
        evaluation: Evaluation,
    },
    /// Requests the evaluation of a position for the rank that stores its node.
    Evaluate {
        job: u32,
        moves: Vec<Move>,
    },
    /// Result of a requested evaluation; `None` if the search was stopped before it, or if a move was illegal.
    Evaluated {
        job: u32,
        assessment: Option<PositionEvaluation>,
    },
    /// Cancels evaluations that have not begun.
    Stop,
    /// Requests the root's data for the control.
    Show,
    Shown {
        statistics: NodeStatistics,
        edges: Vec<EdgeView>,
        /// Moves that were left out, and the factor of the other moves' probabilities.
        pruned: Vec<Move>,
        scale: f32,
    },
    /// Requests the most visited moves from the node of this key on, to be appended to `steps`.
    Follow {
        slot: u16,
        key: Key,
        steps: Vec<EdgeView>,
    },
    Followed {
        slot: u16,
        steps: Vec<EdgeView>,
    },
    /// Ends the search.
    End,
    Ended(Box<Ended>),
    /// Ends the ranks: no more searches follow.
    Quit,
    /// Reports an error of a rank outside a search.
    Failed(String),
    /// Asks a rank for a sign of life.
    Ping,
    /// Answers a [`Ping`](Message::Ping).
    Pong,
}

impl Message {
    /// Returns a packet that contains only this message.
    pub(crate) fn to_packet(&self) -> Vec<u8> {
        let mut packet = Writer::default();
        self.write(&mut packet);
        packet.into_bytes()
    }
}

/// A message is written as its number, followed by its parts in this order.
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
    9 Shown { statistics, edges, pruned, scale },
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
    ReplyTo { rank, task, edge }
    Path { moves, keys }
    Visit { caller, count, key, kind, is_new, path }
    VisitResults { task, edge, done, cancelled, statistics }
    RootDone { done, cancelled, visits, best_two }
    NodeStatistics { visits, own_utility, means }
    Means { result, utility, utility_square, score, score_square, lead, no_result, weight, weight_square }
    Evaluation { value, score, score_mean, score_deviation, no_result, errors }
    ShorttermErrors { value, score }
    PositionEvaluation { evaluation, moves }
    EdgeView { mv, prior, visits, child }
    Begin { game, is_tree, key, params, network, for_play, score, seed, restriction, clear, is_central }
    // Each rank chooses its own arithmetic, because machines differ in which one is fastest.
    NetworkSettings {
        view, share_symmetric, policy_optimism, root_policy_optimism, policy_temperature, root_views, profile,
        ignore_pre_root_history, use_device, black_doubling_advantage, pass_alive_with_suicide; arithmetic
    }
    Counters { playouts, score_sum, score_square_sum, cycles, transpositions, depth, waits }
    Ended { counters, owners, unit, count, usage, audit }
    Audit { in_flight, inconsistent, kept, sent, kept_by_key, sent_by_key }
}

/// Writes all constants of the registry that a search with a network has, in the order of the registry. A rank has one
/// worker, so `descents_at_once` is not sent. Only searches with networks are distributed: the parameters of other
/// searches are written with the usual formula for networks.
impl Wire for SearchParams {
    fn write(&self, out: &mut Writer) {
        let formula = match self.formula {
            Formula::Puct(puct) => Formula::Puct(puct),
            Formula::Rave(_) => Formula::Puct(PuctParams::default()),
        };
        let params = SearchParams { formula, ..*self };
        for value in CONSTANTS.iter().filter_map(|constant| (constant.get)(&params)) {
            match value {
                Value::Real(value) => value.write(out),
                Value::Count(value) => value.write(out),
                Value::Flag(value) => value.write(out),
                other => unreachable!("the search has no constant of this type: {other:?}"),
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<SearchParams, Malformed> {
        let mut params = SearchParams::for_network();
        for constant in CONSTANTS {
            let value = match (constant.get)(&params) {
                Some(Value::Real(_)) => Value::Real(f32::read(from)?),
                Some(Value::Count(_)) => Value::Count(u64::read(from)?),
                Some(Value::Flag(_)) => Value::Flag(bool::read(from)?),
                _ => continue,
            };
            if !constant.spec.admits(value) {
                return Err(Malformed);
            }
            (constant.set)(&mut params, value).ok_or(Malformed)?;
        }
        Ok(params)
    }
}

impl Wire for NetworkView {
    fn write(&self, out: &mut Writer) {
        (*self == NetworkView::Varied).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<NetworkView, Malformed> {
        Ok(if bool::read(from)? { NetworkView::Varied } else { NetworkView::Plain })
    }
}

impl Wire for Restriction {
    fn write(&self, out: &mut Writer) {
        let forbidden: Vec<_> = self.forbidden().map(|(color, mv, until)| ((color, mv), until)).collect();
        forbidden.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Restriction, Malformed> {
        let mut restriction = Restriction::NONE;
        for ((color, mv), until) in Vec::<((Color, Move), usize)>::read(from)? {
            restriction.avoid(color, [mv], until);
        }
        Ok(restriction)
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
    use kosumi_go::board::Point;
    use kosumi_search::registry::Kind;

    /// Returns a value of a constant that differs from this one and is within its bounds.
    fn other(kind: Kind, value: Value) -> Value {
        match (kind, value) {
            (Kind::Real(least, most), Value::Real(usual)) => {
                let middle = least + (most - least) / 3.0;
                Value::Real(if middle == usual { most } else { middle })
            }
            (Kind::Count(least, most), Value::Count(usual)) => {
                Value::Count(if usual == most { least } else { most })
            }
            (Kind::Flag, Value::Flag(usual)) => Value::Flag(!usual),
            other => panic!("{other:?}"),
        }
    }

    /// Returns parameters that all differ from the usual ones.
    fn params() -> SearchParams {
        let mut params = SearchParams::for_network();
        for constant in CONSTANTS {
            if let Some(usual) = (constant.get)(&params) {
                (constant.set)(&mut params, other(constant.spec.kind, usual)).expect(constant.spec.name);
                assert_ne!((constant.get)(&params), Some(usual), "{}", constant.spec.name);
            }
        }
        params
    }

    #[test]
    fn constants_that_are_out_of_bounds_are_refused() {
        let packet = |params: SearchParams| {
            let mut out = Writer::default();
            params.write(&mut out);
            out.into_bytes()
        };
        let read = |params| SearchParams::read(&mut Reader::new(&packet(params)));
        assert_eq!(read(params()), Ok(params()));
        for constant in CONSTANTS {
            let wrong = match constant.spec.kind {
                Kind::Real(_, most) => [Value::Real(most * 2.0 + 1.0), Value::Real(f32::NAN)],
                Kind::Count(_, most) => [Value::Count(most + 1), Value::Count(0)],
                _ => continue,
            };
            for wrong in wrong {
                let mut params = params();
                if (constant.set)(&mut params, wrong).is_some() {
                    assert_eq!(read(params), Err(Malformed), "{} {wrong:?}", constant.spec.name);
                }
            }
        }
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
        let statistics = NodeStatistics { visits: 7, own_utility: 0.7, means };
        let edge = EdgeView {
            mv,
            prior: Prior::Probability(0.25),
            visits: 5,
            child: Some((Key(u128::from(u64::MAX) + 5), statistics)),
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
        let mut restriction = Restriction::avoiding(Color::White, [mv, Move::Pass], 3);
        restriction.allow(Color::Black, [mv], 5);
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
        let path = Path::default().extended(key, mv).extended(Key(3), Move::Pass);
        vec![
            Message::Begin(Box::new(Begin {
                game: "(;SZ[9]C[ä])".into(),
                is_tree: true,
                key,
                params: params(),
                network: Some(NetworkSettings {
                    view: NetworkView::Plain,
                    share_symmetric: false,
                    policy_optimism: 0.1,
                    root_policy_optimism: 0.3,
                    policy_temperature: 0.9,
                    root_views: 5,
                    profile: Some("rank_3k_5d".parse().expect("a profile")),
                    ignore_pre_root_history: true,
                    black_doubling_advantage: -1.5,
                    use_device: false,
                    pass_alive_with_suicide: Some(true),
                    ..NetworkSettings::default()
                }),
                for_play: true,
                score: -3.5,
                seed: 99,
                restriction,
                clear: true,
                is_central: false,
            })),
            Message::Visit(Visit {
                caller: ReplyTo { rank: 3, task: CONTROL, edge: 5 },
                count: 6,
                key,
                kind: Some(0),
                is_new: true,
                path,
            }),
            Message::Done(VisitResults { task: 1, edge: 2, done: 3, cancelled: 4, statistics }),
            Message::RootDone(RootDone { done: 1, cancelled: 2, visits: 3, best_two: [4, 5] }),
            Message::Beyond { task: 1, edge: 2, count: 3, evaluation },
            Message::Evaluate { job: 7, moves: vec![mv, Move::Pass] },
            Message::Evaluated {
                job: 7,
                assessment: Some(PositionEvaluation {
                    evaluation,
                    moves: vec![(mv, Prior::Probability(0.5))],
                }),
            },
            Message::Evaluated { job: 8, assessment: None },
            Message::Stop,
            Message::Show,
            Message::Shown {
                statistics,
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
    fn malformed_messages_are_errors() {
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
        // Random packets must not cause a panic.
        let mut rng = kosumi_go::rng::Rng::new(1);
        for _ in 0..20_000 {
            let mut bytes = vec![rng.below(18) as u8];
            bytes.extend(
                (0..rng.below(120))
                    .map(|_| if rng.chance(500) { rng.below(4) } else { rng.below(256) } as u8),
            );
            let _ = Message::read(&mut Reader::new(&bytes));
        }
        // A list of four billion moves, and a move that is on no board.
        assert!(Message::read(&mut Reader::new(&[5, 0, 0, 0, 0, 255, 255, 255, 255])).is_err());
        assert!(Message::read(&mut Reader::new(&[5, 0, 0, 0, 0, 1, 0, 0, 0, 255, 255])).is_err());
    }
}

//! Model checking (loom): all interleavings of a few workers on shared lock-free state, in small cases.
//!
//! Run by `scripts/models`. Memory is modelled as weakly ordered: a read may return any value that the orderings in the
//! code allow, not only the latest one as on the machine that runs the tests. For each model, `tests/faults` has a
//! mistake that the model finds.

use super::bias::{BiasTable, Kind};
use super::node::{Node, NodeId, VALUE_ONE};
use super::params::PuctParams;
use super::progress::{LoopSettings, Progress};
use super::table::{NodeTable, StoredMoves};
use super::utility::UtilityScale;
use super::valuation::Valuation;
use kosumi_eval::{Evaluation, Prior};
use kosumi_go::board::{BoardSize, Color, Key, Move};
use kosumi_sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use std::sync::Arc;

/// Work of one thread.
type Work = Box<dyn FnOnce() + Send>;

/// Checks all interleavings with at most three preemptions; nearly all faults need one or two. `run` is called for each
/// value of `turn`, see [`run_concurrently`].
fn check(run: impl Fn(usize) + Clone + Send + Sync + 'static) {
    for turn in 0..3 {
        let run = run.clone();
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || run(turn));
    }
}

/// Runs all closures concurrently. `turn` selects the one that starts on the calling thread. The model checker compares
/// each access to a variable only with the preceding access, so some interleavings occur only with a different starting
/// order.
fn run_concurrently<const N: usize>(turn: usize, mut work: [Work; N]) {
    work.rotate_left(turn % N);
    let mut work: Vec<Work> = work.into();
    let here = work.pop();
    let others: Vec<_> = work.into_iter().map(thread::spawn).collect();
    here.expect("work")();
    for other in others {
        other.join().expect("a worker");
    }
}

fn table(nodes: usize, edges: usize) -> Arc<NodeTable> {
    Arc::new(NodeTable::of_sizes(StoredMoves::Likely, nodes, edges, 2).expect("memory"))
}

/// Returns a key whose halves both contain the number. All keys begin at the same slot.
fn key(number: u128) -> Key {
    Key(number << 70 | number)
}

fn moves(count: u16) -> Vec<(Move, Prior)> {
    let points = BoardSize::square(3).expect("size").points().take(count.into()).enumerate();
    points.map(|(place, point)| (Move::Play(point), Prior::Probability(0.5 / (1 + place) as f32))).collect()
}

fn inserted(table: &NodeTable, number: u128) -> NodeId {
    table.find_or_insert(key(number)).expect("the table has space")
}

#[test]
fn found_slot_has_its_key() {
    check(|turn| {
        let table = table(3, 0);
        let (first, second) = (Arc::clone(&table), Arc::clone(&table));
        run_concurrently(
            turn,
            [
                Box::new(move || assert!(first.node(inserted(&first, 1)).has_key(key(1)))),
                Box::new(move || assert!(second.node(inserted(&second, 2)).has_key(key(2)))),
            ],
        );
        assert_ne!(table.find(key(1)), table.find(key(2)));
    });
}

#[test]
fn a_key_has_one_node() {
    check(|turn| {
        let table = table(3, 0);
        // A lock of the standard library is invisible to the model, so it orders nothing.
        let found = Arc::new(std::sync::Mutex::new(Vec::new()));
        let insert = || {
            let (table, found) = (Arc::clone(&table), Arc::clone(&found));
            Box::new(move || {
                let here = inserted(&table, 1);
                found.lock().expect("lock").push(here);
            }) as Work
        };
        run_concurrently(turn, [insert(), insert()]);
        let found = found.lock().expect("lock");
        assert_eq!(found[0], found[1]);
        assert_eq!(table.find(key(1)), Some(found[0]));
    });
}

#[test]
fn last_node_is_allocated_once() {
    check(|turn| {
        let table = table(1, 0);
        let insert = |number: u128| {
            let table = Arc::clone(&table);
            Box::new(move || {
                table.find_or_insert(key(number));
            }) as Work
        };
        run_concurrently(turn, [insert(1), insert(2)]);
        let found = [1, 2].map(|number| table.find(key(number)).is_some());
        assert!(found[0] != found[1], "exactly one insertion succeeds");
        assert_eq!(table.node_count(), 1);
    });
}

#[test]
fn published_moves_are_complete() {
    check(|turn| {
        let table = table(1, 3);
        let id = inserted(&table, 1);
        let (first, second) = (Arc::clone(&table), Arc::clone(&table));
        let all = moves(2);
        let expand = |table: Arc<NodeTable>, all: Vec<(Move, Prior)>| {
            Box::new(move || table.expand(id, true, || &all)) as Work
        };
        run_concurrently(
            turn,
            [
                expand(first, all.clone()),
                // Only one of them does it: the table has no space for the moves of both.
                expand(second, all.clone()),
                Box::new({
                    let table = Arc::clone(&table);
                    let all = all.clone();
                    move || {
                        let seen: Vec<Move> = table.edges(table.node(id)).map(|edge| edge.mv()).collect();
                        let expected: Vec<Move> = all.iter().map(|(mv, _)| *mv).collect();
                        assert!(seen.is_empty() || seen == expected, "{seen:?}");
                    }
                }),
            ],
        );
        assert_eq!(table.edges(table.node(id)).count(), 2);
    });
}

#[test]
fn published_later_run_is_complete() {
    check(|turn| {
        let table = table(1, 5);
        let id = inserted(&table, 1);
        let all = moves(3);
        table.expand(id, false, || &all);
        assert_eq!(table.edges(table.node(id)).count(), 1);
        let expected: Vec<Move> = all.iter().map(|(mv, _)| *mv).collect();
        let (first, second) = (Arc::clone(&table), Arc::clone(&table));
        let other = all.clone();
        run_concurrently(
            turn,
            [
                Box::new(move || {
                    first.extend(id, true, || &other);
                }),
                Box::new(move || {
                    second.extend(id, true, || &all);
                }),
                Box::new({
                    let (table, expected) = (Arc::clone(&table), expected.clone());
                    move || {
                        let seen: Vec<Move> = table.edges(table.node(id)).map(|edge| edge.mv()).collect();
                        assert!(seen == expected[..1] || seen == expected, "{seen:?}");
                    }
                }),
            ],
        );
        let seen: Vec<Move> = table.edges(table.node(id)).map(|edge| edge.mv()).collect();
        assert_eq!(seen, expected, "each move once");
    });
}

#[test]
fn published_child_is_complete() {
    check(|turn| {
        let table = table(2, 2);
        let (parent, all) = (inserted(&table, 1), moves(1));
        table.expand(parent, true, || &all);
        let other = Arc::clone(&table);
        let descent = move || {
            let edge = other.edges(other.node(parent)).next().expect("an edge");
            let child = inserted(&other, 2);
            other.node(child).add_own(VALUE_ONE / 2);
            edge.set_child(Some(child));
        };
        let look = move || {
            let edge = table.edges(table.node(parent)).next().expect("an edge");
            if let Some(child) = edge.child() {
                assert!(table.node(child).has_key(key(2)));
                assert_eq!(table.node(child).sums(), (i64::from(VALUE_ONE / 2), 1));
            }
        };
        run_concurrently(turn, [Box::new(descent), Box::new(look)]);
    });
}

#[test]
fn sums_are_exact() {
    check(|turn| {
        let table = table(1, 2);
        let (id, all) = (inserted(&table, 1), moves(1));
        table.expand(id, true, || &all);
        let update = |value: i32, visits: u32| {
            let table = Arc::clone(&table);
            Box::new(move || {
                let edge = table.edges(table.node(id)).next().expect("an edge");
                table.node(id).update_edge(&edge, value, visits);
            }) as Work
        };
        let own = Arc::clone(&table);
        run_concurrently(
            turn,
            [update(1_000, 1), update(-300, 1), Box::new(move || own.node(id).add_own(7))],
        );
        let (visits, seen_value) =
            table.edges(table.node(id)).next().expect("an edge").visits_and_seen_value();
        assert_eq!(visits, 2);
        assert_eq!(table.node(id).sums(), (7 + 2 * i64::from(seen_value), 3));
    });
}

#[test]
fn leaf_is_evaluated_once_without_deadlock() {
    check(|turn| {
        let table = table(1, 2);
        let id = inserted(&table, 1);
        let work = || {
            let (table, all) = (Arc::clone(&table), moves(1));
            Box::new(move || {
                let node = table.node(id);
                // A descent behaves like this: it continues if there are moves, and a worker that has waited checks
                // again.
                while table.edges(node).is_empty() {
                    if let Some(_claim) = table.claim_or_wait(id)
                        && node.own_visits() == 0
                    {
                        node.add_own(1);
                        table.expand(id, true, || &all);
                    }
                }
                assert_eq!(node.sums(), (1, 1), "the result is visible");
            }) as Work
        };
        run_concurrently(turn, [work(), work()]);
    });
}

#[test]
fn released_node_can_be_claimed_again() {
    check(|turn| {
        let table = table(1, 0);
        let id = inserted(&table, 1);
        let work = || {
            let table = Arc::clone(&table);
            Box::new(move || {
                // At the end of a game, every descent evaluates the node, one after the other.
                let claim = loop {
                    if let Some(claim) = table.claim_or_wait(id) {
                        break claim;
                    }
                };
                // The increment is not atomic: two workers at a time would lose one.
                let node = table.node(id);
                node.mark.store(node.mark.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                drop(claim);
            }) as Work
        };
        run_concurrently(turn, [work(), work()]);
        assert_eq!(table.node(id).mark.load(Ordering::Relaxed), 2);
    });
}

fn plain() -> PuctParams {
    let plain = PuctParams::default();
    PuctParams {
        value_weight_exponent: 0.0,
        use_noise_pruning: false,
        subtree_value_bias_factor: 0.0,
        ..plain
    }
}

#[test]
fn means_include_the_last_visit() {
    check(|turn| {
        let table = table(2, 2);
        let (root, child, all) = (inserted(&table, 1), inserted(&table, 2), moves(1));
        table.expand(root, true, || &all);
        let bias = Arc::new(BiasTable::new());
        let visit = |is_first: bool| {
            let (table, bias) = (Arc::clone(&table), Arc::clone(&bias));
            Box::new(move || {
                let params = plain();
                let scale = UtilityScale::new(&params, 9, 0.0);
                let valuation = Valuation { table: &table, bias: &bias, params, scale };
                let edge = table.edges(table.node(root)).next().expect("an edge");
                if is_first {
                    let found = Evaluation::plain(0.5, 1.0);
                    valuation.evaluated(table.node(child), Color::White, &found, &mut Vec::new());
                    edge.set_child(Some(child));
                }
                table.node(root).count_visit(&edge);
                valuation.refresh(table.node(root), Color::Black, &mut Vec::new());
            }) as Work
        };
        visit(true)();
        run_concurrently(turn, [visit(false), visit(false)]);
        assert_eq!(table.node(root).means().weight, 3.0);
        assert_eq!(table.node(root).refreshing.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn bias_sums_equal_contributions() {
    check(|turn| {
        let table = table(2, 0);
        let bias = Arc::new(BiasTable::new());
        let ids = [inserted(&table, 1), inserted(&table, 2)];
        let note = |id: NodeId, difference: f32| {
            let (table, bias) = (Arc::clone(&table), Arc::clone(&bias));
            Box::new(move || {
                let node: &Node = table.node(id);
                BiasTable::assign_kind(node, Some(Kind::of_number(1)));
                bias.record(node, difference, 1.0);
                bias.record(node, 2.0 * difference, 2.0);
            }) as Work
        };
        run_concurrently(turn, [note(ids[0], 0.5), note(ids[1], -0.25)]);
        let parts = ids.map(|id| BiasTable::contribution(table.node(id)).expect("tied"));
        let sums = bias.sums();
        assert_eq!(sums, vec![(1, parts[0].1 + parts[1].1, parts[0].2 + parts[1].2)]);
    });
}

fn loop_settings(max_batch: u32) -> LoopSettings {
    LoopSettings { max_batch, waits: true }
}

#[test]
fn one_stop_ends_all_workers() {
    check(|turn| {
        let progress = Arc::new(Progress::default());
        let begun = Arc::new(AtomicU32::new(0));
        let work = |sees_end: bool| {
            let (progress, begun) = (Arc::clone(&progress), Arc::clone(&begun));
            Box::new(move || {
                let mut own = 0;
                let is_over = |_: &u32| {
                    // The worker without the stop condition continues until the other one stops the search.
                    thread::yield_now();
                    sees_end
                };
                progress.simulate(loop_settings(2), &mut own, |_| false, |own| *own += 1, is_over, |_| {});
                assert!(own >= 1, "the first simulation is always run");
                begun.fetch_add(own, Ordering::Relaxed);
            }) as Work
        };
        run_concurrently(turn, [work(true), work(false)]);
        assert_eq!(
            begun.load(Ordering::Relaxed),
            progress.playouts.load(Ordering::Relaxed),
            "all are counted"
        );
    });
}

#[test]
fn simulation_count_is_exact() {
    check(|turn| {
        const MAX_PLAYOUTS: u32 = 3;
        let progress = Arc::new(Progress::default());
        let work = || {
            let progress = Arc::clone(&progress);
            Box::new(move || {
                progress.simulate(
                    loop_settings(16),
                    &mut (),
                    |begun| begun >= MAX_PLAYOUTS,
                    |()| {},
                    |()| false,
                    |()| {},
                );
            }) as Work
        };
        run_concurrently(turn, [work(), work()]);
        assert_eq!(progress.playouts.load(Ordering::Relaxed), MAX_PLAYOUTS);
    });
}

#[test]
fn turn_limit_holds_and_all_workers_end() {
    check(|turn| {
        const MAX_PLAYOUTS: u32 = 3;
        let progress = Arc::new(Progress::new(0, Some(1)));
        let at_it = Arc::new(AtomicU32::new(0));
        let work = || {
            let (progress, at_it) = (Arc::clone(&progress), Arc::clone(&at_it));
            Box::new(move || {
                let simulate = |_: &mut ()| {
                    assert_eq!(at_it.fetch_add(1, Ordering::Relaxed), 0, "one at a time");
                    at_it.fetch_sub(1, Ordering::Relaxed);
                };
                progress.simulate(
                    loop_settings(1),
                    &mut (),
                    |begun| begun >= MAX_PLAYOUTS,
                    simulate,
                    |()| false,
                    |()| {},
                );
            }) as Work
        };
        run_concurrently(turn, [work(), work()]);
        assert_eq!(progress.playouts.load(Ordering::Relaxed), MAX_PLAYOUTS);
    });
}

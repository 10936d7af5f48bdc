//! The node table: nodes and edges in two stores of fixed size, and a hash index over the nodes.
//!
//! During a search nothing is ever replaced or moved: nodes and edges are handed out one after the other, slots
//! of the index are claimed by compare-and-swap, and when a store is full the search goes on without new nodes.
//! CITE: Coulom, "A lockless hash table for Monte-Carlo tree search" (computer-go list, 2008).
//!
//! **Moves.** By playouts any move may be the next to be followed, and all-moves-as-first says something about every one: a
//! node gets all its moves at once. With probabilities the next new move is always the likeliest one without visits,
//! and most positions are left before a third move has been looked at. So a node gets its likeliest moves first, sorted, and
//! a longer run of the next ones when these have been visited; the answer of the network that they come from is kept
//! elsewhere ([`cache`](crate::eval::cache)). Runs are never moved while a search goes on:
//!
//! ```text
//!   node ──▶ header, 8 edges ──▶ header, 16 edges ──▶ header, 32 edges …
//! ```
//!
//! Between searches [`NodeTable::collect`] keeps what can be reached from the new root and slides it together.
//!
//! The memory is reserved once, zeroed by the operating system page by page as it is used.

use super::node::{EXPANDING, Edge, EdgeId, FRESH, Header, Node, NodeId, Rave};
use crate::board::{Key, Move, Point};
use crate::eval::Prior;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Blanks, Condvar, Mutex, blank, blanks, get, set};
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;
use std::sync::PoisonError;

/// More memory than node numbers of 32 bits could use.
const MEBIBYTES_MAX: usize = 1 << 20;

/// Which moves of a node are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storing {
    /// All of them, with their RAVE games.
    All,
    /// The likeliest ones, and more when they are needed.
    Likely,
}

/// Moves of a node that are stored first, if not all are.
const FIRST_RUN: usize = if cfg!(loom) { 1 } else { 8 };

/// Places where workers wait.
const WAITING: usize = if cfg!(loom) { 1 } else { 16 };

/// Nodes, edges and the index. See the [module documentation](self).
pub struct NodeTable {
    storing: Storing,
    nodes: Blanks<Node>,
    edges: Blanks<Edge>,
    /// One for each edge, or none.
    raves: Blanks<Rave>,
    /// Node numbers plus one, 0 for free; a power of two of them.
    index: Blanks<AtomicU32>,
    nodes_used: AtomicU32,
    edges_used: AtomicU32,
    /// Where workers wait for nodes that others have claimed; nodes share them.
    waiting: [(Mutex<()>, Condvar); WAITING],
}

/// A node that is being evaluated, or whose moves are being created, by one worker alone. It is released in the end,
/// also by a panic.
pub(super) struct Claim<'t> {
    table: &'t NodeTable,
    id: NodeId,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if self.table.node(self.id).release() {
            // Whoever has said that he waits holds the lock until he does.
            let (lock, bell) = self.table.waiting(self.id);
            let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
            bell.notify_all();
        }
    }
}

impl fmt::Debug for NodeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeTable({}/{} nodes)", self.node_count(), self.nodes.len())
    }
}

/// How much of its store a table uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableUse {
    /// Nodes in use.
    pub nodes: usize,
    /// Nodes there is room for.
    pub node_capacity: usize,
    /// Edges in use, with one slot per expanded node for bookkeeping.
    pub edges: usize,
    /// Edges there is room for.
    pub edge_capacity: usize,
    /// Bytes of nodes, edges and index that are in use.
    pub bytes: usize,
}

impl TableUse {
    /// The fuller store's share, in `[0, 1]`.
    pub fn fullness(&self) -> f32 {
        let share = |used: usize, all: usize| used as f32 / all.max(1) as f32;
        share(self.nodes, self.node_capacity).max(share(self.edges, self.edge_capacity))
    }
}

impl NodeTable {
    /// A table that never takes more than `mebibytes` (at least 1); less if the system does not have as much.
    ///
    /// If all moves are stored, a quarter goes to nodes and index, the rest to edges: about one node in `expand_after`
    /// has edges, and then as many as there are legal moves. If not, a little less than half: a node has ten edges or so.
    pub fn new(mebibytes: usize, storing: Storing) -> NodeTable {
        let mut mebibytes = mebibytes.clamp(1, MEBIBYTES_MAX);
        loop {
            if let Some(table) = NodeTable::try_new(mebibytes, storing) {
                return table;
            }
            // One MiB has been had for everything else that is running, so this ends.
            mebibytes = (mebibytes / 2).max(1);
        }
    }

    fn try_new(mebibytes: usize, storing: Storing) -> Option<NodeTable> {
        let bytes = mebibytes << 20;
        let (for_nodes, per_edge) = match storing {
            Storing::All => (bytes / 4, size_of::<Edge>() + size_of::<Rave>()),
            Storing::Likely => (bytes / 20 * 9, size_of::<Edge>()),
        };
        let nodes = (for_nodes / (size_of::<Node>() + 8)).min(1 << 31);
        let slots = (2 * nodes).next_power_of_two() / 2;
        let left = bytes - nodes * size_of::<Node>() - slots * size_of::<AtomicU32>();
        let edges = (left / per_edge).min(u32::MAX as usize - 1);
        NodeTable::of_sizes(storing, nodes, edges, slots)
    }

    /// A table with room for so many nodes (at least one) and edges, and an index with so many slots, a power of two.
    pub(super) fn of_sizes(storing: Storing, nodes: usize, edges: usize, slots: usize) -> Option<NodeTable> {
        let raves = if storing == Storing::All { edges } else { 0 };
        Some(NodeTable {
            storing,
            nodes: blanks(nodes.max(1))?,
            edges: blanks(edges)?,
            raves: blanks(raves)?,
            index: blanks(slots.max(1))?,
            nodes_used: AtomicU32::new(0),
            edges_used: AtomicU32::new(0),
            waiting: Default::default(),
        })
    }

    /// Which moves of a node are stored.
    pub fn storing(&self) -> Storing {
        self.storing
    }

    /// Bytes reserved.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>()
            + self.edges.len() * size_of::<Edge>()
            + self.raves.len() * size_of::<Rave>()
            + self.index.len() * size_of::<AtomicU32>()
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        (self.nodes_used.load(Ordering::Relaxed) as usize).min(self.nodes.len())
    }

    /// How full the stores are.
    pub fn usage(&self) -> TableUse {
        let nodes = self.node_count();
        let edges = (self.edges_used.load(Ordering::Relaxed) as usize).min(self.edges.len());
        let raves = if self.storing == Storing::All { edges } else { 0 };
        TableUse {
            nodes,
            node_capacity: self.nodes.len(),
            edges,
            edge_capacity: self.edges.len(),
            bytes: nodes * (size_of::<Node>() + size_of::<AtomicU32>())
                + edges * size_of::<Edge>()
                + raves * size_of::<Rave>(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let usage = self.usage();
        // Only what was used must be zeroed again; the rest still is.
        for node in &mut self.nodes[..usage.nodes] {
            *node = blank();
        }
        for slot in self.index.iter_mut() {
            set(slot, 0);
        }
        set(&mut self.nodes_used, 0);
        set(&mut self.edges_used, 0);
    }

    /// Forgets everything, and inserts a node with this key. Every table has room for one node.
    pub fn begin_with(&mut self, key: Key) -> NodeId {
        self.clear();
        self.nodes[0].set_key(key);
        let slot = self.slot_of(key);
        set(&mut self.index[slot], 1);
        set(&mut self.nodes_used, 1);
        0
    }

    /// A node by its number.
    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The edges of a node that are stored, none before it is expanded; in the order of their priors, unless all are.
    #[inline]
    pub fn edges(&self, node: &Node) -> Edges<'_> {
        match node.expansion.load(Ordering::Acquire) {
            FRESH | EXPANDING => Edges { all: &self.edges, at: 0, end: 0, header: 0 },
            len => {
                let first = node.first_edge.load(Ordering::Relaxed);
                Edges { all: &self.edges, at: first, end: first + len, header: first - 1 }
            }
        }
    }

    /// The edges of a node by their places, where all of them were stored at once.
    #[inline]
    pub(crate) fn all_edges(&self, node: &Node) -> &[Edge] {
        debug_assert!(self.last_run(node).1.is_none_or(|header| header.next == 0 && header.left == 0));
        match node.expansion.load(Ordering::Acquire) {
            FRESH | EXPANDING => &[],
            len => {
                let first = node.first_edge.load(Ordering::Relaxed) as usize;
                &self.edges[first..first + len as usize]
            }
        }
    }

    /// An edge by its number.
    #[inline]
    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id as usize]
    }

    /// What all-moves-as-first says of an edge; `None` if nothing is kept about that.
    #[inline]
    pub fn rave(&self, id: EdgeId) -> Option<&Rave> {
        self.raves.get(id as usize)
    }

    /// Are all moves of an expanded node stored?
    pub fn is_complete(&self, node: &Node) -> bool {
        let (_, header) = self.last_run(node);
        header.is_some_and(|header| header.left == 0)
    }

    /// The header of a node's last run, its place first; `None` if the node has no moves.
    fn last_run(&self, node: &Node) -> (EdgeId, Option<Header>) {
        if let FRESH | EXPANDING = node.expansion.load(Ordering::Acquire) {
            return (0, None);
        }
        let mut at = node.first_edge.load(Ordering::Relaxed) - 1;
        loop {
            let header = self.edge(at).header();
            if header.next == 0 {
                return (at, Some(header));
            }
            at = header.next - 1;
        }
    }

    fn slot_of(&self, key: Key) -> usize {
        (key.0 >> 64) as usize & (self.index.len() - 1)
    }

    /// The node of a key, if there is one.
    pub fn find(&self, key: Key) -> Option<NodeId> {
        let mut slot = self.slot_of(key);
        for _ in 0..self.index.len() {
            let id = self.index[slot].load(Ordering::Acquire).checked_sub(1)?;
            if self.node(id).has_key(key) {
                return Some(id);
            }
            slot = (slot + 1) & (self.index.len() - 1);
        }
        None
    }

    /// The node of a key, made if there is none; `None` if there is none and no room for it.
    pub fn find_or_insert(&self, key: Key) -> Option<NodeId> {
        let mut fresh = None;
        let mut slot = self.slot_of(key);
        for _ in 0..self.index.len() {
            let mut id = self.index[slot].load(Ordering::Acquire);
            if id == 0 {
                let new = match fresh {
                    Some(new) => new,
                    None => self.take_node(key)?,
                };
                // Release: whoever finds the slot sees the key.
                match self.index[slot].compare_exchange(0, new + 1, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return Some(new),
                    Err(now) => {
                        // Somebody was faster. If it was for the same key, our node is lost until the next
                        // collection, which happens about once in a million times.
                        fresh = Some(new);
                        id = now;
                    }
                }
            }
            if self.node(id - 1).has_key(key) {
                return Some(id - 1);
            }
            slot = (slot + 1) & (self.index.len() - 1);
        }
        None
    }

    fn take_node(&self, key: Key) -> Option<NodeId> {
        let id = take(&self.nodes_used, 1, self.nodes.len())?;
        self.node(id).set_key(key);
        Some(id)
    }

    /// Claims a node. If another worker has done so, waits until he has released it, and claims nothing.
    ///
    /// Who holds a claim must not wait for another one.
    pub(super) fn claim_or_wait(&self, id: NodeId) -> Option<Claim<'_>> {
        let node = self.node(id);
        if node.claim() {
            return Some(Claim { table: self, id });
        }
        let (lock, bell) = self.waiting(id);
        let mut held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        while node.await_release() {
            held = bell.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn waiting(&self, id: NodeId) -> &(Mutex<()>, Condvar) {
        &self.waiting[id as usize % self.waiting.len()]
    }

    /// Gives a node its moves: all of them if that is wanted or if this table stores all, or else the likeliest. Only one
    /// worker gets to do it; for the others, and when there is no room, nothing happens. `moves` is called by that
    /// worker only.
    pub fn expand<'m>(&self, id: NodeId, wants_all: bool, moves: impl FnOnce() -> &'m [(Move, Prior)]) {
        let node = self.node(id);
        // Relaxed: the edges are published by the store below, nothing is read through this one.
        let claim = node.expansion.compare_exchange(FRESH, EXPANDING, Ordering::Relaxed, Ordering::Relaxed);
        if claim.is_err() {
            return;
        }
        let moves = moves();
        let run = match self.storing {
            Storing::All => self.store_run(id, moves.len(), moves.iter().copied(), 0),
            Storing::Likely => {
                let most = if wants_all { moves.len() } else { FIRST_RUN };
                self.store_likeliest(id, moves.iter().map(sort_key).collect(), most)
            }
        };
        let state = run.map_or(FRESH, |(first, len)| {
            node.first_edge.store(first, Ordering::Relaxed);
            len
        });
        node.expansion.store(state, Ordering::Release);
    }

    /// Gives a node that has moves, but not all, the next likeliest ones, or all that are left. `moves` are all of them.
    /// As for [`expand`](NodeTable::expand), one worker gets to do it. Says whether the node has more moves now.
    pub fn extend<'m>(
        &self,
        id: NodeId,
        wants_all: bool,
        moves: impl FnOnce() -> &'m [(Move, Prior)],
    ) -> bool {
        let node = self.node(id);
        if !node.begin_extending() {
            return false;
        }
        let is_longer = self.extend_claimed(id, wants_all, moves);
        node.end_extending();
        is_longer
    }

    fn extend_claimed<'m>(
        &self,
        id: NodeId,
        wants_all: bool,
        moves: impl FnOnce() -> &'m [(Move, Prior)],
    ) -> bool {
        let node = self.node(id);
        let (last, header) = self.last_run(node);
        let Some(header) = header.filter(|header| header.left > 0) else { return false };
        let most = if wants_all { usize::MAX } else { 2 * header.len as usize };
        let needed = most.min(header.left.into()) + 1;
        if self.edges_used.load(Ordering::Relaxed) as usize + needed > self.edges.len() {
            return false;
        }
        let known: SmallVec<[Move; 64]> = self.edges(node).map(|edge| edge.mv()).collect();
        let others = moves().iter().filter(|(mv, _)| !known.contains(mv));
        let run = self.store_likeliest(id, others.map(sort_key).collect(), most);
        match run {
            Some((first, _)) => self.edge(last).append_run(first),
            // The answer has been forgotten, and a new one has fewer moves.
            None => self.edge(last).nothing_is_left(),
        }
        run.is_some()
    }

    /// Stores the `most` likeliest of some moves, sorted. Where they begin and how many there are.
    fn store_likeliest(&self, owner: NodeId, mut keys: Keys, most: usize) -> Option<(EdgeId, u32)> {
        let most = most.min(keys.len());
        if most < keys.len() {
            keys.select_nth_unstable(most);
        }
        keys[..most].sort_unstable();
        self.store_run(owner, most, keys[..most].iter().map(|&key| of_sort_key(key)), keys.len() - most)
    }

    /// Stores moves behind a header. Where they begin and how many there are; `None` if there are none or no room.
    fn store_run(
        &self,
        owner: NodeId,
        len: usize,
        moves: impl Iterator<Item = (Move, Prior)>,
        left: usize,
    ) -> Option<(EdgeId, u32)> {
        if len == 0 {
            return None;
        }
        // One slot before the edges says whose they are: garbage collection walks the store by it.
        let at = take(&self.edges_used, len + 1, self.edges.len())?;
        let (first, len) = (at + 1, len as u32);
        self.edge(at).set_header(Header { owner, len, next: 0, left: left as u16 });
        for (edge, (mv, prior)) in (first..first + len).zip(moves) {
            self.edge(edge).set(mv, prior);
            if let Some(rave) = self.rave(edge) {
                rave.clear();
            }
        }
        Some((first, len))
    }

    /// Keeps the nodes that can be reached from `root` and slides them together; everything else is forgotten.
    /// Returns the root's new number.
    ///
    /// Takes time in the order of the memory in use, and no memory but one number for each node of a frontier, and two
    /// for each run of edges that has a next one.
    pub fn collect(&mut self, root: NodeId) -> NodeId {
        self.mark_reachable(root);
        let used = self.usage();
        // Where each node goes; marks become new numbers plus one.
        let mut next = 0;
        for node in &mut self.nodes[..used.nodes] {
            if get(&mut node.mark) != 0 {
                next += 1;
                set(&mut node.mark, next);
            }
        }
        self.slide_edges(used.edges);
        let new_root = self.nodes[root as usize].mark.load(Ordering::Relaxed) - 1;
        self.slide_nodes(used.nodes);
        self.rebuild_index();
        new_root
    }

    fn mark_reachable(&mut self, root: NodeId) {
        let mut frontier = vec![root];
        self.nodes[root as usize].mark.store(1, Ordering::Relaxed);
        while let Some(id) = frontier.pop() {
            for edge in self.edges(self.node(id)) {
                if let Some(child) = edge.child()
                    && self.node(child).mark.swap(1, Ordering::Relaxed) == 0
                {
                    frontier.push(child);
                }
            }
        }
    }

    /// Moves the edges of marked nodes to the front of their store, children renumbered.
    fn slide_edges(&mut self, used: usize) {
        // Where the header went whose next run begins at a place. A later run of a node lies behind the earlier ones.
        let mut before: HashMap<EdgeId, EdgeId> = HashMap::new();
        let (mut from, mut to) = (0, 0);
        while from < used {
            let header = self.edges[from].header();
            let len = header.len as usize;
            let mark = self.nodes[header.owner as usize].mark.load(Ordering::Relaxed);
            if mark != 0 {
                let first = to as EdgeId + 1;
                match before.remove(&(from as EdgeId + 1)) {
                    Some(earlier) => self.edges[earlier as usize].append_run(first),
                    None => self.nodes[header.owner as usize].first_edge.store(first, Ordering::Relaxed),
                }
                if header.next != 0 {
                    before.insert(header.next, to as EdgeId);
                }
                self.edges[to].set_header(Header { owner: mark - 1, next: 0, ..header });
                for offset in 1..=len {
                    let edge = &self.edges[to + offset];
                    edge.copy_from(&self.edges[from + offset]);
                    if let Some(child) = edge.child() {
                        edge.set_child(
                            self.nodes[child as usize].mark.load(Ordering::Relaxed).checked_sub(1),
                        );
                    }
                    if !self.raves.is_empty() {
                        self.raves[to + offset].copy_from(&self.raves[from + offset]);
                    }
                }
                to += len + 1;
            }
            from += len + 1;
        }
        set(&mut self.edges_used, to as u32);
    }

    fn slide_nodes(&mut self, used: usize) {
        let mut kept = 0;
        for from in 0..used {
            if get(&mut self.nodes[from].mark) != 0 {
                set(&mut self.nodes[from].mark, 0);
                self.nodes.swap(kept, from);
                kept += 1;
            }
        }
        for node in &mut self.nodes[kept..used] {
            *node = blank();
        }
        set(&mut self.nodes_used, kept as u32);
    }

    fn rebuild_index(&mut self) {
        for slot in self.index.iter_mut() {
            set(slot, 0);
        }
        for id in 0..self.node_count() {
            let mut slot = self.slot_of(self.nodes[id].key());
            while get(&mut self.index[slot]) != 0 {
                slot = (slot + 1) & (self.index.len() - 1);
            }
            set(&mut self.index[slot], id as u32 + 1);
        }
    }
}

/// Moves as numbers: the likelier, the smaller, equally likely ones in the order of [`Edge::order`].
type Keys = SmallVec<[u32; 512]>;

fn sort_key(&(mv, prior): &(Move, Prior)) -> u32 {
    let order = mv.point().map_or(0, |point| point.index() as u16).wrapping_sub(1);
    u32::from(!prior.pack()) << 16 | u32::from(order)
}

fn of_sort_key(key: u32) -> (Move, Prior) {
    let mv = match (key as u16).wrapping_add(1) {
        0 => Move::Pass,
        index => Move::Play(Point::from_index(index)),
    };
    (mv, Prior::unpack(!((key >> 16) as u16)))
}

/// An edge with its number.
#[derive(Clone, Copy, Debug)]
pub struct EdgeRef<'t> {
    /// Its number in the table.
    pub id: EdgeId,
    edge: &'t Edge,
}

impl Deref for EdgeRef<'_> {
    type Target = Edge;

    #[inline]
    fn deref(&self) -> &Edge {
        self.edge
    }
}

/// The edges of a node, run after run.
#[derive(Clone, Copy, Debug)]
pub struct Edges<'t> {
    all: &'t [Edge],
    at: EdgeId,
    end: EdgeId,
    header: EdgeId,
}

impl Edges<'_> {
    /// Are there none?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }
}

impl<'t> Iterator for Edges<'t> {
    type Item = EdgeRef<'t>;

    #[inline]
    fn next(&mut self) -> Option<EdgeRef<'t>> {
        if self.at == self.end {
            if self.is_empty() {
                return None;
            }
            let next = self.all[self.header as usize].header().next;
            if next == 0 {
                return None;
            }
            self.header = next - 1;
            (self.at, self.end) = (next, next + self.all[self.header as usize].header().len);
        }
        let id = self.at;
        self.at += 1;
        Some(EdgeRef { id, edge: &self.all[id as usize] })
    }
}

/// Takes `count` entries from a store of `capacity`; the number of the first, or `None` if they do not fit.
fn take(used: &AtomicU32, count: usize, capacity: usize) -> Option<u32> {
    let mut old = used.load(Ordering::Relaxed);
    loop {
        let new = old as usize + count;
        if new > capacity {
            return None;
        }
        match used.compare_exchange_weak(old, new as u32, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(old),
            Err(now) => old = now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_table_has_room_for_a_root() {
        for (nodes, slots) in [(0, 0), (1, 1), (3, 4)] {
            let mut table = NodeTable::of_sizes(Storing::Likely, nodes, 2, slots).expect("memory");
            for key in 1..9 {
                table.find_or_insert(Key(key << 64));
                let root = table.begin_with(Key(key << 100 | key));
                assert!(table.node(root).has_key(Key(key << 100 | key)));
                assert_eq!(table.find(Key(key << 100 | key)), Some(root));
                assert_eq!((table.node_count(), table.find(Key(key << 64))), (1, None));
            }
        }
    }
}

//! The node table: nodes and edges in two stores of fixed size, and a hash index of the nodes.
//!
//! During a search nothing is replaced or moved. Nodes and edges are allocated one after another, slots of the index
//! are claimed by compare-and-swap, and when a store is full the search continues without new nodes.
//! CITE: Coulom, "A lockless hash table for Monte-Carlo tree search" (computer-go list, 2008).
//!
//! **Moves.** With playouts, any move may be the next one to be selected, and all-moves-as-first has statistics about
//! every move, so a node gets all its moves at once. With probabilities, the next new move is always the likeliest
//! unvisited one, and in most positions no more than two moves are ever visited. A node then gets its likeliest moves
//! first, sorted, and a longer run of the next ones when these have been visited. The network's output from which they
//! come is stored elsewhere ([`cache`](kosumi_eval::cache)). Runs never move during a search:
//!
//! ```text
//!   node ──▶ header, 8 edges ──▶ header, 16 edges ──▶ header, 32 edges …
//! ```
//!
//! Between searches, [`NodeTable::collect`] keeps the nodes that are reachable from the new root and compacts them.
//!
//! The memory is reserved once. The operating system zeroes it page by page on first use.

use super::node::{EXPANDING, Edge, EdgeId, FRESH, Header, HeaderSlot, Node, NodeId, Rave};
use hashbrown::HashMap;
use kosumi_eval::Prior;
use kosumi_go::board::{Key, Move, Point};
use kosumi_sync::atomic::{AtomicU32, Ordering};
use kosumi_sync::{Condvar, Mutex, ZeroedSlice, get, set, zeroed, zeroed_slice};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;
use std::sync::PoisonError;

/// Largest size of a table, in MiB: more than node numbers of 32 bits can use, or half of the addresses of 32 bits.
const MAX_MEBIBYTES: usize = if usize::BITS > 32 { 1 << 20 } else { 2048 };

/// Selection of the moves of a node that are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoredMoves {
    /// All of them, with their RAVE games.
    All,
    /// The likeliest ones, and more when they are needed.
    Likely,
}

/// Number of moves of a node that are stored first, if not all are.
const FIRST_RUN: usize = if cfg!(loom) { 1 } else { 8 };

/// Number of pairs of a lock and a condition variable on which workers wait.
const WAIT_LOCKS: usize = if cfg!(loom) { 1 } else { 16 };

/// Nodes, edges and the index. See the [module documentation](self).
pub struct NodeTable {
    storing: StoredMoves,
    nodes: ZeroedSlice<Node>,
    edges: ZeroedSlice<Edge>,
    /// RAVE statistics, one for each edge; empty if the table stores none.
    raves: ZeroedSlice<Rave>,
    /// Node numbers plus one, 0 for a free slot. The length is a power of two.
    index: ZeroedSlice<AtomicU32>,
    nodes_used: AtomicU32,
    edges_used: AtomicU32,
    /// Locks and condition variables on which workers wait for nodes that others have claimed. Nodes share them.
    waiting: [(Mutex<()>, Condvar); WAIT_LOCKS],
}

/// A worker's exclusive right to evaluate a node or to create its moves. It is released on drop, also during a panic.
pub(super) struct Claim<'t> {
    table: &'t NodeTable,
    id: NodeId,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if self.table.node(self.id).release() {
            // A worker that has marked the node as awaited holds the lock until it waits.
            let (lock, condvar) = self.table.waiting(self.id);
            let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
            condvar.notify_all();
        }
    }
}

impl fmt::Debug for NodeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeTable({}/{} nodes)", self.node_count(), self.nodes.len())
    }
}

/// Usage of the stores of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableUse {
    /// Number of nodes in use.
    pub nodes: usize,
    /// Largest number of nodes.
    pub node_capacity: usize,
    /// Number of edges in use, including one header slot per run of edges.
    pub edges: usize,
    /// Largest number of edges.
    pub edge_capacity: usize,
    /// Bytes of nodes, edges and index that are in use.
    pub bytes: usize,
}

impl TableUse {
    /// Returns the used share of the fuller store, in `[0, 1]`.
    pub fn fullness(&self) -> f32 {
        let share = |used: usize, all: usize| used as f32 / all.max(1) as f32;
        share(self.nodes, self.node_capacity).max(share(self.edges, self.edge_capacity))
    }
}

impl NodeTable {
    /// Creates a table of at most `mebibytes` MiB (at least 1), or of less if the system does not provide that much.
    ///
    /// If all moves are stored, a quarter goes to nodes and index and the rest to edges: about one node in
    /// `expand_after` has edges, one for each legal move. Otherwise a little less than half goes to nodes and index: a
    /// node then has about ten edges.
    pub fn new(mebibytes: usize, storing: StoredMoves) -> NodeTable {
        let mut mebibytes = mebibytes.clamp(1, MAX_MEBIBYTES);
        loop {
            if let Some(table) = NodeTable::try_new(mebibytes, storing) {
                return table;
            }
            if mebibytes == 1 {
                std::alloc::handle_alloc_error(std::alloc::Layout::new::<Node>());
            }
            mebibytes /= 2;
        }
    }

    fn try_new(mebibytes: usize, storing: StoredMoves) -> Option<NodeTable> {
        let bytes = mebibytes << 20;
        let (for_nodes, per_edge) = match storing {
            StoredMoves::All => (bytes / 4, size_of::<Edge>() + size_of::<Rave>()),
            StoredMoves::Likely => (bytes / 20 * 9, size_of::<Edge>()),
        };
        let nodes = (for_nodes / (size_of::<Node>() + 8)).min(1 << 31);
        let slots = (2 * nodes).next_power_of_two() / 2;
        let left = bytes - nodes * size_of::<Node>() - slots * size_of::<AtomicU32>();
        let edges = (left / per_edge).min(u32::MAX as usize - 1);
        NodeTable::of_sizes(storing, nodes, edges, slots)
    }

    /// Creates a table of these capacities, with an index of `slots` slots, a power of two.
    pub(super) fn of_sizes(
        storing: StoredMoves,
        nodes: usize,
        edges: usize,
        slots: usize,
    ) -> Option<NodeTable> {
        let raves = if storing == StoredMoves::All { edges } else { 0 };
        Some(NodeTable {
            storing,
            nodes: zeroed_slice(nodes.max(1))?,
            edges: zeroed_slice(edges)?,
            raves: zeroed_slice(raves)?,
            index: zeroed_slice(slots.max(1))?,
            nodes_used: AtomicU32::new(0),
            edges_used: AtomicU32::new(0),
            waiting: Default::default(),
        })
    }

    /// Returns which moves of a node are stored.
    pub fn stored_moves(&self) -> StoredMoves {
        self.storing
    }

    /// Returns the number of bytes reserved.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>()
            + self.edges.len() * size_of::<Edge>()
            + self.raves.len() * size_of::<Rave>()
            + self.index.len() * size_of::<AtomicU32>()
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        (self.nodes_used.load(Ordering::Relaxed) as usize).min(self.nodes.len())
    }

    /// Returns the usage of the stores.
    pub fn usage(&self) -> TableUse {
        let nodes = self.node_count();
        let edges = (self.edges_used.load(Ordering::Relaxed) as usize).min(self.edges.len());
        let raves = if self.storing == StoredMoves::All { edges } else { 0 };
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

    /// Removes all nodes and edges.
    pub fn clear(&mut self) {
        let usage = self.usage();
        // Only used entries must be zeroed again; the rest is still zero.
        for node in &mut self.nodes[..usage.nodes] {
            *node = zeroed();
        }
        for slot in self.index.iter_mut() {
            set(slot, 0);
        }
        set(&mut self.nodes_used, 0);
        set(&mut self.edges_used, 0);
    }

    /// Discards all nodes, and inserts a node with this key. Every table has space for one node.
    pub fn begin_with(&mut self, key: Key) -> NodeId {
        self.clear();
        self.nodes[0].set_key(key);
        let slot = self.slot_of(key);
        set(&mut self.index[slot], 1);
        set(&mut self.nodes_used, 1);
        NodeId(0)
    }

    /// Returns the numbers of all nodes.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.node_count() as u32).map(NodeId)
    }

    /// Returns a node by its number.
    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Iterates over the stored edges of a node; none before it is expanded. They are in the order of their priors,
    /// unless all moves are stored at once.
    #[inline]
    pub fn edges(&self, node: &Node) -> Edges<'_> {
        match node.expansion.load(Ordering::Acquire) {
            FRESH | EXPANDING => Edges { all: &self.edges, at: 0, end: 0, first: EdgeId(0) },
            len => {
                let first = node.first_edge.load(Ordering::Relaxed);
                Edges { all: &self.edges, at: first, end: first + len, first: EdgeId(first) }
            }
        }
    }

    /// Returns the edges of a node as a slice. All of them must have been stored at once.
    #[inline]
    pub fn all_edges(&self, node: &Node) -> &[Edge] {
        debug_assert!(
            self.last_run(node).is_none_or(|(_, header)| header.next.is_none() && header.left == 0)
        );
        match node.expansion.load(Ordering::Acquire) {
            FRESH | EXPANDING => &[],
            len => {
                let first = node.first_edge.load(Ordering::Relaxed) as usize;
                &self.edges[first..first + len as usize]
            }
        }
    }

    /// Returns an edge by its number.
    #[inline]
    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }

    /// Returns the all-moves-as-first statistics of an edge; `None` if the table has none.
    #[inline]
    pub fn rave(&self, id: EdgeId) -> Option<&Rave> {
        self.raves.get(id.index())
    }

    /// Returns whether all moves of an expanded node are stored.
    pub fn is_complete(&self, node: &Node) -> bool {
        self.last_run(node).is_some_and(|(_, header)| header.left == 0)
    }

    /// Returns the header of a node's last run, as a slot and as it was read; `None` if the node has no moves.
    fn last_run(&self, node: &Node) -> Option<(HeaderSlot<'_>, Header)> {
        if let FRESH | EXPANDING = node.expansion.load(Ordering::Acquire) {
            return None;
        }
        let mut first = EdgeId(node.first_edge.load(Ordering::Relaxed));
        loop {
            let slot = header_of(&self.edges, first);
            let header = slot.read();
            match header.next {
                None => return Some((slot, header)),
                Some(next) => first = next,
            }
        }
    }

    fn slot_of(&self, key: Key) -> usize {
        (key.0 >> 64) as usize & (self.index.len() - 1)
    }

    /// Returns the node of a key, if it exists.
    pub fn find(&self, key: Key) -> Option<NodeId> {
        let mut slot = self.slot_of(key);
        for _ in 0..self.index.len() {
            let id = self.index[slot].load(Ordering::Acquire).checked_sub(1).map(NodeId)?;
            if self.node(id).has_key(key) {
                return Some(id);
            }
            slot = (slot + 1) & (self.index.len() - 1);
        }
        None
    }

    /// Returns the node of a key, and creates it if it does not exist; `None` if the table is full.
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
                // Release: a thread that finds the slot sees the key.
                match self.index[slot].compare_exchange(0, new.0 + 1, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return Some(new),
                    Err(now) => {
                        // Another worker was faster. If it inserted the same key, this node is lost until the next
                        // collection. That happens about once in a million times.
                        fresh = Some(new);
                        id = now;
                    }
                }
            }
            let known = NodeId(id - 1);
            if self.node(known).has_key(key) {
                return Some(known);
            }
            slot = (slot + 1) & (self.index.len() - 1);
        }
        None
    }

    fn take_node(&self, key: Key) -> Option<NodeId> {
        let id = NodeId(take(&self.nodes_used, 1, self.nodes.len())?);
        self.node(id).set_key(key);
        Some(id)
    }

    /// Claims a node. If another worker holds the claim, waits until that worker releases it, and claims nothing.
    ///
    /// A worker that holds a claim must not wait for another one.
    pub(super) fn claim_or_wait(&self, id: NodeId) -> Option<Claim<'_>> {
        let node = self.node(id);
        if node.claim() {
            return Some(Claim { table: self, id });
        }
        let (lock, condvar) = self.waiting(id);
        let mut held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        while node.mark_awaited() {
            held = condvar.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn waiting(&self, id: NodeId) -> &(Mutex<()>, Condvar) {
        &self.waiting[id.index() % self.waiting.len()]
    }

    /// Gives a node its moves: all of them if `wants_all` or if this table stores all, otherwise the likeliest. Only
    /// one worker does this, and only that worker calls `moves`. For other workers, and when the table is full, nothing
    /// happens.
    pub fn expand<'m>(&self, id: NodeId, wants_all: bool, moves: impl FnOnce() -> &'m [(Move, Prior)]) {
        let node = self.node(id);
        // Relaxed: the edges are published by the store below; nothing is read through this access.
        let claim = node.expansion.compare_exchange(FRESH, EXPANDING, Ordering::Relaxed, Ordering::Relaxed);
        if claim.is_err() {
            return;
        }
        let moves = moves();
        let run = match self.storing {
            StoredMoves::All => self.store_run(id, moves.len(), moves.iter().copied(), 0),
            StoredMoves::Likely => {
                let most = if wants_all { moves.len() } else { FIRST_RUN };
                self.store_likeliest(id, moves.iter().map(sort_key).collect(), most)
            }
        };
        let state = run.map_or(FRESH, |(first, len)| {
            node.first_edge.store(first.0, Ordering::Relaxed);
            len
        });
        node.expansion.store(state, Ordering::Release);
    }

    /// Gives a node with some of its moves the next likeliest ones, or all that are left. `moves` must return all moves
    /// of the node. Only one worker does it, as with [`expand`](NodeTable::expand). Returns whether the node has more
    /// moves now.
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
        let Some((last, header)) = self.last_run(node).filter(|(_, header)| header.left > 0) else {
            return false;
        };
        let most = if wants_all { usize::MAX } else { 2 * header.len as usize };
        let needed = most.min(header.left.into()) + 1;
        if self.edges_used.load(Ordering::Relaxed) as usize + needed > self.edges.len() {
            return false;
        }
        let known: SmallVec<[Move; 64]> = self.edges(node).map(|edge| edge.mv()).collect();
        let others = moves().iter().filter(|(mv, _)| !known.contains(mv));
        let run = self.store_likeliest(id, others.map(sort_key).collect(), most);
        match run {
            Some((first, _)) => last.append_run(first),
            // The evaluation was dropped from the cache, and the new one has fewer moves.
            None => last.set_complete(),
        }
        run.is_some()
    }

    /// Stores the `most` likeliest of some moves, sorted. Returns the number of the first edge and the number of edges.
    fn store_likeliest(&self, owner: NodeId, mut keys: Keys, most: usize) -> Option<(EdgeId, u32)> {
        let most = most.min(keys.len());
        if most < keys.len() {
            keys.select_nth_unstable(most);
        }
        keys[..most].sort_unstable();
        self.store_run(owner, most, keys[..most].iter().map(|&key| of_sort_key(key)), keys.len() - most)
    }

    /// Stores moves after a header. Returns the number of the first edge and the number of edges; `None` if there are
    /// no moves or the table is full.
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
        // The slot before the edges holds their owner and number: garbage collection walks the store by these headers.
        let at = take(&self.edges_used, len + 1, self.edges.len())?;
        let (first, len) = (at + 1, len as u32);
        HeaderSlot::write(&self.edges[at as usize], Header { owner, len, next: None, left: left as u16 });
        for (edge, (mv, prior)) in (first..first + len).map(EdgeId).zip(moves) {
            self.edge(edge).set(mv, prior);
            if let Some(rave) = self.rave(edge) {
                rave.clear();
            }
        }
        Some((EdgeId(first), len))
    }

    /// Keeps the nodes that are reachable from `root`, compacts them and discards all others. Returns the root's new
    /// number.
    ///
    /// The time is proportional to the memory in use. The extra memory is one number for each node of a frontier, and
    /// two for each run of edges that has a next one.
    pub fn collect(&mut self, root: NodeId) -> NodeId {
        self.mark_reachable(root);
        let used = self.usage();
        // New numbers: marks become the new number plus one.
        let mut next = 0;
        for node in &mut self.nodes[..used.nodes] {
            if get(&mut node.mark) != 0 {
                next += 1;
                set(&mut node.mark, next);
            }
        }
        self.compact_edges(used.edges);
        let new_root = NodeId(self.nodes[root.index()].mark.load(Ordering::Relaxed) - 1);
        self.slide_nodes(used.nodes);
        self.rebuild_index();
        new_root
    }

    fn mark_reachable(&mut self, root: NodeId) {
        let mut frontier = vec![root];
        self.nodes[root.index()].mark.store(1, Ordering::Relaxed);
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

    /// Moves the edges of marked nodes to the front of their store and renumbers their children.
    fn compact_edges(&mut self, used: usize) {
        // Indices of headers after compaction, by the start of the run that follows each. A later run of a node is
        // stored after the earlier ones.
        let mut before: HashMap<EdgeId, usize> = HashMap::new();
        let (mut from, mut to) = (0, 0);
        while from < used {
            let header = HeaderSlot::of(&self.edges[from]).read();
            let len = header.len as usize;
            let mark = self.nodes[header.owner.index()].mark.load(Ordering::Relaxed);
            if mark != 0 {
                let first = EdgeId(to as u32 + 1);
                match before.remove(&EdgeId(from as u32 + 1)) {
                    Some(earlier) => HeaderSlot::of(&self.edges[earlier]).append_run(first),
                    None => self.nodes[header.owner.index()].first_edge.store(first.0, Ordering::Relaxed),
                }
                if let Some(next) = header.next {
                    before.insert(next, to);
                }
                let moved = Header { owner: NodeId(mark - 1), next: None, ..header };
                HeaderSlot::write(&self.edges[to], moved);
                for offset in 1..=len {
                    let edge = &self.edges[to + offset];
                    edge.copy_from(&self.edges[from + offset]);
                    if let Some(child) = edge.child() {
                        let mark = self.nodes[child.index()].mark.load(Ordering::Relaxed);
                        edge.set_child(mark.checked_sub(1).map(NodeId));
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
            *node = zeroed();
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

/// Moves as sort keys: likelier moves have smaller keys, and equally likely moves are in the order of [`Edge::order`].
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
    /// Number of the edge in the table.
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

/// Iterator over the edges of a node, run after run.
#[derive(Clone, Copy, Debug)]
pub struct Edges<'t> {
    all: &'t [Edge],
    /// Index of the next edge.
    at: u32,
    /// Index one past the last edge of the run; 0 if there are no edges.
    end: u32,
    /// First edge of the run.
    first: EdgeId,
}

impl Edges<'_> {
    /// Returns whether the node has no edges.
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
            self.first = header_of(self.all, self.first).read().next?;
            (self.at, self.end) = (self.first.0, self.first.0 + header_of(self.all, self.first).read().len);
        }
        let id = EdgeId(self.at);
        self.at += 1;
        Some(EdgeRef { id, edge: &self.all[id.index()] })
    }
}

/// Returns the header of the run that starts with this edge.
#[inline]
fn header_of(edges: &[Edge], first: EdgeId) -> HeaderSlot<'_> {
    HeaderSlot::of(&edges[first.index() - 1])
}

/// Takes `count` entries from a store of `capacity`. Returns the number of the first, or `None` if they do not fit.
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
            let mut table = NodeTable::of_sizes(StoredMoves::Likely, nodes, 2, slots).expect("memory");
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

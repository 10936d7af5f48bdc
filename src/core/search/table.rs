//! The node table: nodes and edges in two stores of fixed size, and a hash index over the nodes.
//!
//! During a search nothing is ever replaced or moved: nodes and edges are handed out one after the other, slots
//! of the index are claimed by compare-and-swap, and when a store is full the search goes on without new nodes.
//! CITE: Coulom, "A lockless hash table for Monte-Carlo tree search" (computer-go list, 2008).
//!
//! Between searches [`NodeTable::collect`] keeps what can be reached from the new root and slides it together.
//!
//! The memory is reserved once, zeroed by the operating system page by page as it is used.

use super::node::{EXPANDING, Edge, FRESH, Node, NodeId};
use crate::board::{Key, Move};
use crate::eval::Prior;
use bytemuck::allocation::try_zeroed_slice_box;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// More memory than node numbers of 32 bits could use.
const MEBIBYTES_MAX: usize = 1 << 20;

/// Nodes, edges and the index. See the [module documentation](self).
pub struct NodeTable {
    nodes: Box<[Node]>,
    edges: Box<[Edge]>,
    /// Node numbers plus one, 0 for free; a power of two of them.
    index: Box<[AtomicU32]>,
    nodes_used: AtomicU32,
    edges_used: AtomicU32,
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
    /// A quarter goes to nodes and index, the rest to edges: about one node in `expand_after` has edges, and
    /// then as many as there are legal moves.
    pub fn new(mebibytes: usize) -> NodeTable {
        let mut mebibytes = mebibytes.clamp(1, MEBIBYTES_MAX);
        loop {
            if let Some(table) = NodeTable::try_new(mebibytes) {
                return table;
            }
            // One MiB has been had for everything else that is running, so this ends.
            mebibytes = (mebibytes / 2).max(1);
        }
    }

    fn try_new(mebibytes: usize) -> Option<NodeTable> {
        let bytes = mebibytes << 20;
        let nodes = (bytes / 4 / (size_of::<Node>() + 8)).min(1 << 31);
        let slots = (2 * nodes).next_power_of_two() / 2;
        let left = bytes - nodes * size_of::<Node>() - slots * size_of::<AtomicU32>();
        let edges = (left / size_of::<Edge>()).min(u32::MAX as usize - 1);
        Some(NodeTable {
            nodes: try_zeroed_slice_box(nodes).ok()?,
            edges: try_zeroed_slice_box(edges).ok()?,
            index: try_zeroed_slice_box(slots).ok()?,
            nodes_used: AtomicU32::new(0),
            edges_used: AtomicU32::new(0),
        })
    }

    /// Bytes reserved.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>()
            + self.edges.len() * size_of::<Edge>()
            + self.index.len() * size_of::<AtomicU32>()
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        (self.nodes_used.load(Ordering::Relaxed) as usize).min(self.nodes.len())
    }

    /// How full the stores are.
    pub fn usage(&self) -> TableUse {
        TableUse {
            nodes: self.node_count(),
            node_capacity: self.nodes.len(),
            edges: (self.edges_used.load(Ordering::Relaxed) as usize).min(self.edges.len()),
            edge_capacity: self.edges.len(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let usage = self.usage();
        // Only what was used must be zeroed again; the rest still is.
        for node in &mut self.nodes[..usage.nodes] {
            *node = bytemuck::Zeroable::zeroed();
        }
        for slot in &mut self.index {
            *slot.get_mut() = 0;
        }
        *self.nodes_used.get_mut() = 0;
        *self.edges_used.get_mut() = 0;
    }

    /// A node by its number.
    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The edges of a node, none before it is expanded.
    #[inline]
    pub fn edges(&self, node: &Node) -> &[Edge] {
        match node.expansion.load(Ordering::Acquire) {
            FRESH | EXPANDING => &[],
            len => {
                let first = node.first_edge.load(Ordering::Relaxed) as usize;
                &self.edges[first..first + len as usize]
            }
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

    /// Gives a node its moves. Only one worker gets to do it; for the others, and when there is no room, nothing
    /// happens. `moves` is called by that worker only.
    pub fn expand<'m>(&self, id: NodeId, moves: impl FnOnce() -> &'m [(Move, Prior)]) {
        let node = self.node(id);
        // Relaxed: the edges are published by the store below, nothing is read through this one.
        let claim = node.expansion.compare_exchange(FRESH, EXPANDING, Ordering::Relaxed, Ordering::Relaxed);
        if claim.is_err() {
            return;
        }
        let moves = moves();
        let len = moves.len();
        // One slot before the edges says whose they are: garbage collection walks the store by it.
        let room = take(&self.edges_used, len + 1, self.edges.len());
        let state = match room {
            Some(first) if len > 0 => {
                self.edges[first as usize].set_header(id, len as u32);
                for (edge, &(mv, prior)) in self.edges[first as usize + 1..].iter().zip(moves) {
                    edge.set(mv, prior);
                }
                node.first_edge.store(first + 1, Ordering::Relaxed);
                len as u32
            }
            _ => FRESH,
        };
        node.expansion.store(state, Ordering::Release);
    }

    /// Keeps the nodes that can be reached from `root` and slides them together; everything else is forgotten.
    /// Returns the root's new number.
    ///
    /// Takes time in the order of the memory in use, and no memory but one number for each node of a frontier.
    pub fn collect(&mut self, root: NodeId) -> NodeId {
        self.mark_reachable(root);
        let used = self.usage();
        // Where each node goes; marks become new numbers plus one.
        let mut next = 0;
        for node in &mut self.nodes[..used.nodes] {
            if *node.mark.get_mut() != 0 {
                next += 1;
                *node.mark.get_mut() = next;
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
        let (mut from, mut to) = (0, 0);
        while from < used {
            let (owner, len) = self.edges[from].header();
            let len = len as usize;
            if len == 0 {
                // A block that did not fit into the store any more: nothing lies behind it.
                break;
            }
            let new_owner = self.nodes[owner as usize].mark.load(Ordering::Relaxed);
            if new_owner != 0 {
                self.edges[to].set_header(new_owner - 1, len as u32);
                for offset in 1..=len {
                    let edge = &self.edges[to + offset];
                    edge.copy_from(&self.edges[from + offset]);
                    if let Some(child) = edge.child() {
                        edge.set_child(
                            self.nodes[child as usize].mark.load(Ordering::Relaxed).checked_sub(1),
                        );
                    }
                }
                self.nodes[owner as usize].first_edge.store(to as u32 + 1, Ordering::Relaxed);
                to += len + 1;
            }
            from += len + 1;
        }
        *self.edges_used.get_mut() = to as u32;
    }

    fn slide_nodes(&mut self, used: usize) {
        let mut kept = 0;
        for from in 0..used {
            if *self.nodes[from].mark.get_mut() != 0 {
                *self.nodes[from].mark.get_mut() = 0;
                self.nodes.swap(kept, from);
                kept += 1;
            }
        }
        for node in &mut self.nodes[kept..used] {
            *node = bytemuck::Zeroable::zeroed();
        }
        *self.nodes_used.get_mut() = kept as u32;
    }

    fn rebuild_index(&mut self) {
        for slot in &mut self.index {
            *slot.get_mut() = 0;
        }
        for id in 0..self.node_count() {
            let mut slot = self.slot_of(self.nodes[id].key());
            while *self.index[slot].get_mut() != 0 {
                slot = (slot + 1) & (self.index.len() - 1);
            }
            *self.index[slot].get_mut() = id as u32 + 1;
        }
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

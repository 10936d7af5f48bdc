//! Detection of lost or invented visits in a search over ranks: every rank counts, and rank 0 compares. Only builds
//! with assertions do this, after every search.

use kosumi_go::board::Key;
use kosumi_go::rng::mix;
use kosumi_search::NodeTable;
use kosumi_search::node::Edge;

/// Sums over the table of a rank, or over those of all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Audit {
    /// Number of visits that are still in progress.
    pub(crate) in_flight: u64,
    /// Number of nodes whose visits differ from the sum of their evaluations and edge visits, and of stand-ins with
    /// edges or evaluations.
    pub(crate) inconsistent: u64,
    /// Summed visits of all nodes, on the ranks that store them.
    pub(crate) kept: u64,
    /// Summed visits of all edges that have a child node.
    pub(crate) sent: u64,
    /// Sums like `kept` and `sent`, with each node's visits multiplied by a hash of its key. They agree only if every
    /// node does.
    pub(crate) kept_by_key: u64,
    pub(crate) sent_by_key: u64,
}

/// Returns the contribution of `visits` visits of a node to the sums by key.
fn by_key(key: Key, visits: u64) -> u64 {
    mix(key.0 as u64).wrapping_mul(visits)
}

impl Audit {
    /// Counts a table. `is_home` returns whether a node belongs to this rank.
    pub(crate) fn of(table: &NodeTable, is_home: impl Fn(Key) -> bool) -> Audit {
        let mut audit = Audit::default();
        for id in table.ids() {
            let node = table.node(id);
            let edges = table.all_edges(node);
            audit.in_flight += u64::from(node.in_flight());
            let visits = u64::from(node.visits());
            if is_home(node.key()) {
                let through: u64 = edges.iter().map(|edge| u64::from(edge.visits())).sum();
                audit.inconsistent += u64::from(visits != u64::from(node.own_visits()) + through);
                audit.kept += visits;
                audit.kept_by_key = audit.kept_by_key.wrapping_add(by_key(node.key(), visits));
            } else {
                audit.inconsistent += u64::from(!edges.is_empty() || node.own_visits() > 0);
            }
            for (child, visits) in edges.iter().filter_map(|edge: &Edge| Some((edge.child()?, edge.visits())))
            {
                audit.sent += u64::from(visits);
                let sent = by_key(table.node(child).key(), visits.into());
                audit.sent_by_key = audit.sent_by_key.wrapping_add(sent);
            }
        }
        audit
    }

    pub(crate) fn add(&mut self, other: &Audit) {
        self.in_flight += other.in_flight;
        self.inconsistent += other.inconsistent;
        self.kept += other.kept;
        self.sent += other.sent;
        self.kept_by_key = self.kept_by_key.wrapping_add(other.kept_by_key);
        self.sent_by_key = self.sent_by_key.wrapping_add(other.sent_by_key);
    }
}

/// Record, on rank 0, of the visits of all searches since the tables were empty.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VisitLedger {
    /// Visits of roots, which followed no edge.
    begun: u64,
    begun_by_key: u64,
    /// Visits that returned to a node of their own path: they count at the edge and not at the node.
    cycles: u64,
}

impl VisitLedger {
    /// Records a search: its root, its visits, and the visits that returned to a node of their own path.
    pub(crate) fn note(&mut self, root: Key, visits: u32, cycles: u32) {
        self.begun += u64::from(visits);
        self.begun_by_key = self.begun_by_key.wrapping_add(by_key(root, visits.into()));
        self.cycles += u64::from(cycles);
    }

    /// Checks the sums of all ranks.
    ///
    /// # Errors
    ///
    /// Returns a description if a visit is lost, in progress, or counted twice.
    pub(crate) fn check(&self, all: &Audit) -> Result<(), String> {
        let is_even = all.in_flight == 0 && all.inconsistent == 0;
        let is_complete = all.kept + self.cycles == all.sent + self.begun;
        // After a cycle, the node to which the path returned is unknown.
        let is_each = self.cycles > 0 || all.kept_by_key == all.sent_by_key.wrapping_add(self.begun_by_key);
        if is_even && is_complete && is_each { Ok(()) } else { Err(format!("{all:?} and {self:?}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lost_visit_is_found() {
        let (root, child) = (Key(1 << 70 | 5), Key(77));
        let mut ledger = VisitLedger::default();
        ledger.note(root, 10, 0);
        let good = Audit {
            kept: 16,
            sent: 6,
            kept_by_key: by_key(root, 10).wrapping_add(by_key(child, 6)),
            sent_by_key: by_key(child, 6),
            ..Audit::default()
        };
        assert_eq!(ledger.check(&good), Ok(()));
        for bad in [
            Audit { in_flight: 1, ..good },
            Audit { inconsistent: 1, ..good },
            Audit { kept: 17, ..good },
            Audit { sent: 5, ..good },
            // One node has a visit too many, another one too few.
            Audit { kept_by_key: by_key(root, 11).wrapping_add(by_key(child, 5)), ..good },
        ] {
            assert!(ledger.check(&bad).is_err(), "{bad:?}");
        }
        ledger.note(root, 0, 1);
        assert_eq!(ledger.check(&Audit { sent: 7, ..good }), Ok(()));
        assert!(ledger.check(&good).is_err());
    }
}

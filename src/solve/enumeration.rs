//! Independent solver for tests: it enumerates all reachable positions and finds, from the end backwards, those in
//! which the prover can force the goal. It uses no path, no table and no proof numbers. Under simple ko with cycles
//! that the prover loses, it is exact by definition.

use super::bits::Bits;
use super::goal::Goal;
use super::window::{NO_POINT, Position, UNLIMITED, Window};
use std::collections::HashMap;

type Key<B> = ([B; 2], bool, u16, u8, [u8; 2]);

fn key<B: Bits>(position: &Position<B>) -> Key<B> {
    (
        position.stones,
        position.to_move == kosumi_go::board::Color::Black,
        position.ko,
        position.passes,
        position.threats,
    )
}

/// Returns whether the prover forces the goal; `None` if more than `most` positions are reachable.
pub(super) fn forces<B: Bits>(
    window: &Window<B>,
    goal: &Goal<B>,
    root: &Position<B>,
    most: usize,
    settled: impl Fn(&Position<B>) -> Option<bool>,
) -> Option<bool> {
    let mut numbers: HashMap<Key<B>, usize> = HashMap::from([(key(root), 0)]);
    let mut positions = vec![*root];
    // Successors of each position; `won` and `lost` record whether the prover has certainly won or lost.
    let mut behind: Vec<Vec<usize>> = Vec::new();
    let mut won: Vec<bool> = vec![false];
    let mut lost: Vec<bool> = vec![false];
    let mut next = 0;
    while next < positions.len() {
        let position = positions[next];
        let mut here = Vec::new();
        if !won[next] && !lost[next] {
            let mover = position.to_move as usize;
            let mut after = Vec::new();
            if goal.ends_by_passes() || position.to_move != goal.prover {
                after.push(window.pass(&position));
            }
            if position.ko != NO_POINT && position.threats[mover] > 0 {
                let mut without = Position { ko: NO_POINT, passes: 0, ..position };
                without.threats[mover] -= u8::from(without.threats[mover] != UNLIMITED);
                after.push(without);
            }
            for index in (window.empties(&position) & window.playable).each() {
                if u32::from(position.ko) != index {
                    after.extend(window.place(&position, index).map(|placed| placed.after));
                }
            }
            for position in after {
                let number = *numbers.entry(key(&position)).or_insert_with(|| {
                    positions.push(position);
                    let settled = settled(&position);
                    won.push(settled == Some(true));
                    lost.push(settled == Some(false));
                    positions.len() - 1
                });
                here.push(number);
            }
        }
        behind.push(here);
        next += 1;
        if positions.len() > most {
            return None;
        }
    }
    loop {
        let mut changed = false;
        for number in (0..positions.len()).rev() {
            if won[number] || lost[number] {
                continue;
            }
            let mut moves = behind[number].iter();
            let wins = if positions[number].to_move == goal.prover {
                moves.any(|&next| won[next])
            } else {
                moves.all(|&next| won[next])
            };
            if wins {
                won[number] = true;
                changed = true;
            }
        }
        if !changed {
            return Some(won[0]);
        }
    }
}

//! placeholder until merge
use crate::board::*;
/// Tromp-Taylor
pub fn area_score(b: &Board) -> i32 {
    crate::playout::final_area(b)
}

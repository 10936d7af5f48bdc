//! Arbitrary bytes as a collection of game records: every record is read or rejected, independently of the division of
//! the stream. A game that was read has a consistent board and survives a round trip through a file.
//!
//! ```text
//! mkdir -p fuzz/corpus/sgf && find sgf-tests -name '*.sgf' -size -4k -exec cp {} fuzz/corpus/sgf \;
//! RUSTC_BOOTSTRAP=1 cargo fuzz run sgf -- -max_total_time=600 -detect_leaks=0 -dict=fuzz/sgf.dict
//! ```
#![no_main]

use kosumi_go::rules::Rules;
use kosumi_go::sgf::collection::{CollectionPiece, RECORD_LIMIT, Splitter};
use kosumi_go::sgf::{Meta, Record, Strictness, Tree, write};
use libfuzzer_sys::fuzz_target;

/// Returns the records of a stream that is pushed in pieces of `piece` bytes.
fn records(bytes: &[u8], piece: usize) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    let mut keep = |piece: CollectionPiece<'_>| {
        if let CollectionPiece::Record(record) = piece {
            found.push((record.offset, record.bytes.to_vec()));
        }
    };
    let mut splitter = Splitter::new(RECORD_LIMIT);
    for part in bytes.chunks(piece) {
        splitter.push(part, &mut keep);
    }
    splitter.finish(&mut keep);
    found
}

fuzz_target!(|bytes: &[u8]| {
    let whole = records(bytes, bytes.len().max(1));
    assert_eq!(whole, records(bytes, 7), "pieces of the stream");
    for (_, bytes) in &whole {
        read(bytes);
    }
    // Bytes that the splitter does not accept as a record may still be one for a reader of single files.
    read(bytes);
});

fn read(bytes: &[u8]) {
    if let Ok(tree) = Tree::parse(bytes) {
        let text = tree.to_string();
        let again = Tree::parse(text.as_bytes()).expect("what was written can be read");
        assert_eq!(again.to_string(), text);
    }
    let Ok(record) = Record::parse(bytes) else { return };
    let up_to = Some(bytes.len() % 7);
    for strictness in [Strictness::Strict, Strictness::Tolerant] {
        let _ = record.replay(Rules::default(), 7.5, up_to, strictness);
    }
    let game = record.game(Rules::default(), 7.5, None).expect("what was read leads to a game");
    game.board().check_consistency();
    let again = write(&game, &Meta::default());
    let again = Record::parse(again.as_bytes()).expect("what was written can be read");
    let again = again.game(Rules::default(), 7.5, None).expect("what was read leads to a game");
    assert_eq!(again.board().key(), game.board().key());
    assert_eq!(again.handicap(), game.handicap());
}

//! What holds for every command that was read: what the targets of lines have in common.

use kosumi_gtp::Command;

/// A command is read again as it was written; its arguments are read as everything that they could be, and what was read
/// is written so that it reads the same.
pub fn exercise(command: &Command) {
    assert_eq!(Command::parse(&command.to_string()).as_ref(), Ok(command));
    let mut arguments = command.arguments();
    while let Some(word) = arguments.peek() {
        let _ = arguments.clone().boolean();
        let _ = arguments.clone().integer::<u8>();
        let _ = arguments.clone().integer::<i64>();
        let _ = arguments.clone().vertices();
        if let Ok(number) = arguments.clone().float() {
            assert!(number.is_finite());
        }
        if let Ok(color) = arguments.clone().color() {
            assert_eq!(color.to_string().parse(), Ok(color));
        }
        if let Ok(vertex) = arguments.clone().vertex() {
            assert_eq!(vertex.to_string().parse(), Ok(vertex));
        }
        assert_eq!(arguments.word(), Ok(word));
    }
    assert_eq!(arguments.end(), Ok(()));
}

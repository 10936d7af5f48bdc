//! Checks that hold for every command: shared by the fuzz targets of lines.

use kosumi_gtp::Command;

/// Checks that a command survives a round trip through text, and reads its arguments as every possible kind. Values
/// that are read survive a round trip as well.
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

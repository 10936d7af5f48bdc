//! The error of all functions that parse the arguments of a command.

/// Fault of an argument. As a [`Failure`](crate::Failure) it becomes `syntax error`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum ArgumentError {
    /// No further argument is left.
    #[error("an argument is missing")]
    Missing,
    /// The argument is not an integer, or does not fit the type.
    #[error("not an integer in range")]
    NotAnInteger,
    /// The argument is not a number, or not a finite one.
    #[error("not a number")]
    NotANumber,
    /// The argument is neither `true` nor `false`.
    #[error("neither true nor false")]
    NotABoolean,
    /// The argument is neither black nor white.
    #[error("not a color")]
    NotAColor,
    /// The argument is neither a vertex nor a pass.
    #[error("not a vertex")]
    NotAVertex,
    /// The command has more arguments than it accepts.
    #[error("too many arguments")]
    TooMany,
}

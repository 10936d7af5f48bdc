//! What is wrong with an argument: the error of everything that is read from the words behind a command.

/// What is wrong with an argument. As a [`Failure`](crate::Failure) it becomes `syntax error`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum ArgumentError {
    /// There is no further argument.
    #[error("an argument is missing")]
    Missing,
    /// Not an integer, or one that does not fit the type.
    #[error("not an acceptable integer")]
    NotAnInteger,
    /// Not a number, or not a finite one.
    #[error("not a number")]
    NotANumber,
    /// Neither `true` nor `false`.
    #[error("neither true nor false")]
    NotABoolean,
    /// Neither black nor white.
    #[error("not a color")]
    NotAColor,
    /// Neither a vertex nor a pass.
    #[error("not a vertex")]
    NotAVertex,
    /// There are more arguments than the command takes.
    #[error("there are too many arguments")]
    TooMany,
}

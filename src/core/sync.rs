//! The atomics and locks of what workers share, and memory for it: those of the standard library, or with
//! `RUSTFLAGS="--cfg loom"` those of a model checker, which runs small cases in every order in which threads may run and
//! with every value that weakly ordered memory may give them (`search/models.rs`, `scripts/models`).

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic};

use atomic::{AtomicU32, Ordering};

/// What has no value yet: all zero.
#[cfg(not(loom))]
pub(crate) trait Blank: bytemuck::Zeroable {}
#[cfg(not(loom))]
impl<T: bytemuck::Zeroable> Blank for T {}

/// What has no value yet: all zero. The model checker's atomics have more than their value.
#[cfg(loom)]
pub(crate) trait Blank: Default {}
#[cfg(loom)]
impl<T: Default> Blank for T {}

/// A blank value.
pub(crate) fn blank<T: Blank>() -> T {
    #[cfg(not(loom))]
    return T::zeroed();
    #[cfg(loom)]
    return T::default();
}

/// So many blank values, or `None` if the system has no memory for them. It is zeroed by the operating system page by page
/// as it is used.
pub(crate) fn blanks<T: Blank>(count: usize) -> Option<Box<[T]>> {
    #[cfg(not(loom))]
    return bytemuck::allocation::try_zeroed_slice_box(count).ok();
    #[cfg(loom)]
    return Some((0..count).map(|_| T::default()).collect());
}

/// Sets a number that nobody else sees now.
#[inline]
pub(crate) fn set(number: &mut AtomicU32, value: u32) {
    // Relaxed: what comes after sees it by whatever lets others see the number at all.
    number.store(value, Ordering::Relaxed);
}

/// A number that nobody else changes now.
#[inline]
pub(crate) fn get(number: &mut AtomicU32) -> u32 {
    number.load(Ordering::Relaxed)
}

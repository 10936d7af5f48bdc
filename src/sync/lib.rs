//! The atomics and locks of what workers share, and memory for it: those of the standard library, or with
//! `RUSTFLAGS="--cfg loom"` those of a model checker, which runs small cases in every order in which threads may run and
//! with every value that weakly ordered memory may give them (`search/models.rs`, `scripts/models`).

#[cfg(loom)]
pub use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub use std::sync::{Condvar, Mutex, MutexGuard, atomic};

use atomic::{AtomicU32, Ordering};
#[cfg(not(loom))]
use std::marker::PhantomData;

/// What has no value yet: all zero.
#[cfg(not(loom))]
pub trait Blank: bytemuck::Zeroable {}
#[cfg(not(loom))]
impl<T: bytemuck::Zeroable> Blank for T {}

/// What has no value yet: all zero. The model checker's atomics have more than their value.
#[cfg(loom)]
pub trait Blank: Default {}
#[cfg(loom)]
impl<T: Default> Blank for T {}

/// A blank value.
pub fn blank<T: Blank>() -> T {
    #[cfg(not(loom))]
    return T::zeroed();
    #[cfg(loom)]
    return T::default();
}

/// So many blank values.
#[cfg(loom)]
pub type Blanks<T> = Box<[T]>;

/// So many blank values, in memory that the operating system zeroes page by page as it is used.
///
/// A boxed slice does not do that for all types: Unix has no function for zeroed memory at multiples of more than 16 bytes, so
/// the standard library writes zeros into all of it, which takes a second for a large table and memory that may never be used.
#[cfg(not(loom))]
pub struct Blanks<T> {
    /// Never read or written as bytes.
    memory: Box<[atomic::AtomicU8]>,
    /// The byte at which the values begin.
    first: usize,
    count: usize,
    values: PhantomData<T>,
}

/// So many blank values, or `None` if the system has no memory for them.
#[cfg(loom)]
pub fn blanks<T: Blank>(count: usize) -> Option<Blanks<T>> {
    Some((0..count).map(|_| T::default()).collect())
}

/// So many blank values, or `None` if the system has no memory for them.
#[cfg(not(loom))]
pub fn blanks<T: Blank>(count: usize) -> Option<Blanks<T>> {
    const { assert!(!std::mem::needs_drop::<T>(), "nothing drops the values") };
    let bytes = count.checked_mul(size_of::<T>())?.checked_add(align_of::<T>() - 1)?;
    let memory = bytemuck::allocation::try_zeroed_slice_box::<atomic::AtomicU8>(bytes).ok()?;
    let first = memory.as_ptr().align_offset(align_of::<T>());
    Some(Blanks { memory, first, count, values: PhantomData })
}

#[cfg(not(loom))]
impl<T> std::fmt::Debug for Blanks<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blanks").field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(not(loom))]
#[expect(unsafe_code, reason = "bytes become values at a place that the allocator does not choose")]
impl<T: Blank> std::ops::Deref for Blanks<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `blanks` has made room for so many values behind `first`, where they are aligned, and zeros are values of the
        // type. The bytes are atomics, so values with atomics in them may change here. They live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(self.first).cast::<T>(), self.count) }
    }
}

#[cfg(not(loom))]
#[expect(unsafe_code, reason = "as above")]
impl<T: Blank> std::ops::DerefMut for Blanks<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and nobody else has a reference to any of them.
        unsafe {
            std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().add(self.first).cast::<T>(), self.count)
        }
    }
}

/// Sets a number that nobody else sees now.
#[inline]
pub fn set(number: &mut AtomicU32, value: u32) {
    // Relaxed: what comes after sees it by whatever lets others see the number at all.
    number.store(value, Ordering::Relaxed);
}

/// A number that nobody else changes now.
#[inline]
pub fn get(number: &mut AtomicU32) -> u32 {
    number.load(Ordering::Relaxed)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// As large as two lines of a processor's cache, as a node of the search.
    #[derive(bytemuck::Zeroable)]
    #[repr(C, align(64))]
    struct Aligned([AtomicU32; 32]);

    #[test]
    fn blanks_are_aligned_zeros_that_can_be_changed() {
        for count in [0, 1, 2, 1000] {
            let mut blanks = blanks::<Aligned>(count).unwrap();
            assert_eq!(blanks.len(), count);
            assert_eq!(blanks.as_ptr().align_offset(64), 0);
            assert!(
                blanks.iter().all(|value| value.0.iter().all(|number| number.load(Ordering::Relaxed) == 0))
            );
            for (index, value) in blanks.iter().enumerate() {
                value.0[31].store(index as u32, Ordering::Relaxed);
            }
            for (index, value) in blanks.iter_mut().enumerate() {
                assert_eq!(get(&mut value.0[31]), index as u32);
                *value = blank();
            }
            assert!(blanks.iter().all(|value| value.0[31].load(Ordering::Relaxed) == 0));
        }
    }

    #[test]
    fn too_many_blanks_are_none() {
        assert!(blanks::<Aligned>(usize::MAX).is_none());
        assert!(blanks::<Aligned>(usize::MAX / 128).is_none());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn blanks_take_no_memory_before_they_are_used() {
        let pages = || {
            let memory = std::fs::read_to_string("/proc/self/statm").unwrap();
            memory.split(' ').nth(1).unwrap().parse::<usize>().unwrap()
        };
        let before = pages();
        let blanks = blanks::<Aligned>((2 << 30) / 128).expect("address space");
        blanks[1000].0[0].store(1, Ordering::Relaxed);
        // Other tests take some meanwhile, but not half of it. A page has at least 4 KiB.
        assert!(pages().saturating_sub(before) < (1 << 30) / 4096);
    }
}

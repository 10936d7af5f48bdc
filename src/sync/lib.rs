#![doc = include_str!("README.md")]
//!
//! Atomics, locks and zeroed memory for state that workers share.
//!
//! The types come from the standard library, or, with `RUSTFLAGS="--cfg loom"`, from the model checker loom. loom runs
//! small cases in every interleaving of the threads and with every value that weakly ordered memory may yield
//! (`search/models.rs`, `scripts/models`).

#[cfg(not(loom))]
mod host_threads;

#[cfg(not(loom))]
pub use host_threads::HostThreads;
#[cfg(loom)]
pub use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub use std::sync::{Condvar, Mutex, MutexGuard, atomic};

use atomic::{AtomicU32, Ordering};

#[cfg(not(loom))]
use std::marker::PhantomData;

/// Whether the program can start threads. The standard library cannot in WebAssembly, where only [`HOST_THREADS`] work
/// beside the calling thread.
pub const HAS_THREADS: bool = cfg!(not(target_family = "wasm"));

/// Threads that the host of a WebAssembly module has started. Without shared memory there are none.
#[cfg(not(loom))]
pub static HOST_THREADS: HostThreads = HostThreads::new();

/// A type whose initial value is all zeros.
#[cfg(not(loom))]
pub trait ZeroInit: bytemuck::Zeroable {}
#[cfg(not(loom))]
impl<T: bytemuck::Zeroable> ZeroInit for T {}

/// A type whose initial value is all zeros. Under loom, it is the default value, because loom's atomics hold more state
/// than their value.
#[cfg(loom)]
pub trait ZeroInit: Default {}
#[cfg(loom)]
impl<T: Default> ZeroInit for T {}

/// Returns the initial value.
pub fn zeroed<T: ZeroInit>() -> T {
    #[cfg(not(loom))]
    return T::zeroed();
    #[cfg(loom)]
    return T::default();
}

/// A slice of values that begin as zeros.
#[cfg(loom)]
pub type ZeroedSlice<T> = Box<[T]>;

/// A slice of values that begin as zeros, in memory that the operating system zeroes page by page when it is first
/// used.
///
/// A boxed slice does not guarantee this for all types. Unix has no function for zeroed memory with an alignment of
/// more than 16 bytes, so the standard library writes zeros into the whole allocation. For a large table this takes a
/// second and commits memory that may never be used.
#[cfg(not(loom))]
pub struct ZeroedSlice<T> {
    /// The allocation. Its bytes are never accessed as bytes.
    memory: Box<[atomic::AtomicU8]>,
    /// Offset of the first value, in bytes.
    first: usize,
    count: usize,
    values: PhantomData<T>,
}

/// Allocates `count` zero values. Returns `None` if the system does not have enough memory.
#[cfg(loom)]
pub fn zeroed_slice<T: ZeroInit>(count: usize) -> Option<ZeroedSlice<T>> {
    Some((0..count).map(|_| T::default()).collect())
}

/// Allocates `count` zero values. Returns `None` if the system does not have enough memory.
#[cfg(not(loom))]
pub fn zeroed_slice<T: ZeroInit>(count: usize) -> Option<ZeroedSlice<T>> {
    const { assert!(!std::mem::needs_drop::<T>(), "nothing drops the values") };
    let bytes = count.checked_mul(size_of::<T>())?.checked_add(align_of::<T>() - 1)?;
    let memory = bytemuck::allocation::try_zeroed_slice_box::<atomic::AtomicU8>(bytes).ok()?;
    let first = memory.as_ptr().align_offset(align_of::<T>());
    Some(ZeroedSlice { memory, first, count, values: PhantomData })
}

#[cfg(not(loom))]
impl<T> std::fmt::Debug for ZeroedSlice<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ZeroedSlice").field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(not(loom))]
#[expect(unsafe_code, reason = "the values are placed at an aligned offset inside a byte buffer")]
impl<T: ZeroInit> std::ops::Deref for ZeroedSlice<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `zeroed_slice` has allocated space for `count` values from the byte `first` on, where they are
        // aligned, and all zeros is a valid value of `T`. The bytes are atomics, so values that contain atomics may
        // change behind a shared reference. The memory lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(self.first).cast::<T>(), self.count) }
    }
}

#[cfg(not(loom))]
#[expect(unsafe_code, reason = "as above")]
impl<T: ZeroInit> std::ops::DerefMut for ZeroedSlice<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`. `&mut self` guarantees that no other reference to a value exists.
        unsafe {
            std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().add(self.first).cast::<T>(), self.count)
        }
    }
}

/// Sets a value that no other thread can access now.
#[inline]
pub fn set(number: &mut AtomicU32, value: u32) {
    // Relaxed: the operation that later makes the value accessible to other threads also orders this store.
    number.store(value, Ordering::Relaxed);
}

/// Returns a value that no other thread changes now.
#[inline]
pub fn get(number: &mut AtomicU32) -> u32 {
    number.load(Ordering::Relaxed)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// As large as two cache lines of a processor, like a node of the search.
    #[derive(bytemuck::Zeroable)]
    #[repr(C, align(64))]
    struct Aligned([AtomicU32; 32]);

    #[test]
    fn zeroed_values_are_aligned_and_can_be_changed() {
        for count in [0, 1, 2, 1000] {
            let mut zeroed_slice = zeroed_slice::<Aligned>(count).unwrap();
            assert_eq!(zeroed_slice.len(), count);
            assert_eq!(zeroed_slice.as_ptr().align_offset(64), 0);
            assert!(
                zeroed_slice
                    .iter()
                    .all(|value| value.0.iter().all(|number| number.load(Ordering::Relaxed) == 0))
            );
            for (index, value) in zeroed_slice.iter().enumerate() {
                value.0[31].store(index as u32, Ordering::Relaxed);
            }
            for (index, value) in zeroed_slice.iter_mut().enumerate() {
                assert_eq!(get(&mut value.0[31]), index as u32);
                *value = zeroed();
            }
            assert!(zeroed_slice.iter().all(|value| value.0[31].load(Ordering::Relaxed) == 0));
        }
    }

    #[test]
    fn too_large_allocations_return_none() {
        assert!(zeroed_slice::<Aligned>(usize::MAX).is_none());
        assert!(zeroed_slice::<Aligned>(usize::MAX / 128).is_none());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn zeroed_memory_is_committed_lazily() {
        let zeroed_slice = zeroed_slice::<Aligned>((2 << 30) / 128).expect("address space");
        zeroed_slice[1000].0[0].store(1, Ordering::Relaxed);
        // A huge page may have up to 512 MiB.
        let share = committed_share(&zeroed_slice);
        assert!(share > 0.0 && share < 0.5, "{share}");
    }

    /// Returns the share of the pages of these values that the system has committed. The pages of other allocations,
    /// and so other tests, make no difference.
    #[cfg(target_os = "linux")]
    fn committed_share(values: &[Aligned]) -> f64 {
        use std::os::unix::fs::FileExt;
        /// Key of the page size in the auxiliary vector.
        const PAGE_SIZE: usize = 6;
        /// Bits of an entry of the page map: the page is in memory, or in the swap space.
        const COMMITTED: u64 = 0b11 << 62;
        let words: Vec<usize> = std::fs::read("/proc/self/auxv")
            .unwrap()
            .chunks_exact(size_of::<usize>())
            .map(|word| usize::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        let page = words.chunks_exact(2).find(|pair| pair[0] == PAGE_SIZE).unwrap()[1];
        let range = values.as_ptr_range();
        let (first, end) = (range.start as usize / page, (range.end as usize).div_ceil(page));
        let mut entries = vec![0; 8 * (end - first)];
        let map = std::fs::File::open("/proc/self/pagemap").unwrap();
        map.read_exact_at(&mut entries, 8 * first as u64).unwrap();
        let committed = entries
            .chunks_exact(8)
            .filter(|entry| u64::from_ne_bytes((*entry).try_into().unwrap()) & COMMITTED != 0);
        committed.count() as f64 / (end - first) as f64
    }
}

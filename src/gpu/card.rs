//! Graphics cards of this machine, and a connection to one of them.

use crate::GpuError;
use crate::cache::{self, Cache};
use crate::program::MatrixUnits;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Programming interfaces through which cards are searched for.
const BACKENDS: wgpu::Backends = wgpu::Backends::PRIMARY;

/// Card, or a software driver that behaves like one.
#[derive(Clone)]
pub struct Card {
    adapter: wgpu::Adapter,
    info: wgpu::AdapterInfo,
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Card").field(&self.name()).finish()
    }
}

/// Returns all cards on which networks can be computed, in the driver's order. A card that several programming
/// interfaces offer is listed once.
pub fn cards() -> Vec<Card> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = BACKENDS;
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(BACKENDS));
    let mut cards: Vec<Card> =
        adapters.into_iter().map(|adapter| Card { info: adapter.get_info(), adapter }).collect();
    let found: Vec<_> = cards.iter().map(Card::identity).collect();
    cards.retain(|card| {
        let (interface, model) = card.identity();
        !found.iter().any(|&(other, same)| same == model && other < interface)
    });
    cards
}

impl Card {
    /// Returns the name that the driver states.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// Returns how preferable the interface is (less is better), and the model of the card, of which a machine may have
    /// several.
    fn identity(&self) -> (u8, (u32, u32)) {
        let interface = match self.info.backend {
            wgpu::Backend::Vulkan => 0,
            wgpu::Backend::Metal => 1,
            _ => 2,
        };
        (interface, (self.info.vendor, self.info.device))
    }

    /// Returns the name with the programming interface.
    pub fn title(&self) -> String {
        format!("{} ({})", self.name(), self.interface())
    }

    /// Returns a name for files about this card with this driver.
    pub(crate) fn key(&self) -> String {
        let identity = (self.identity(), self.name(), self.driver(), self.interface());
        format!("{:016x}", cache::hash(identity))
    }

    /// Returns the name and version of the driver.
    pub fn driver(&self) -> String {
        [&self.info.driver, &self.info.driver_info].map(|it| it.trim()).join(" ").trim().to_owned()
    }

    /// Returns the name of the programming interface: Vulkan, Metal or DirectX 12.
    pub fn interface(&self) -> &'static str {
        match self.info.backend {
            wgpu::Backend::Vulkan => "Vulkan",
            wgpu::Backend::Metal => "Metal",
            wgpu::Backend::Dx12 => "DirectX 12",
            _ => "other",
        }
    }

    /// Returns the kind of the card for display.
    pub fn kind(&self) -> &'static str {
        match self.info.device_type {
            wgpu::DeviceType::DiscreteGpu => "card",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "unknown",
        }
    }

    /// Returns whether the processor only imitates a card.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// Returns whether the card can compute with numbers that are stored in 16 bits.
    pub fn has_half(&self) -> bool {
        self.adapter.features().contains(wgpu::Features::SHADER_F16)
    }

    /// Returns whether the driver hands out compiled shaders, so that a later start need not compile them again. Other
    /// drivers keep them themselves, or not at all.
    pub fn can_keep_shaders(&self) -> bool {
        self.adapter.features().contains(wgpu::Features::PIPELINE_CACHE)
    }

    /// Returns the matrix units that the shaders can use: they multiply 16-bit numbers and add the products up in 32
    /// bits, and the number of threads that use a unit together is known.
    pub(crate) fn matrix_units(&self) -> Option<MatrixUnits> {
        let has_feature = self.adapter.features().contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
        let subgroup = self.info.subgroup_min_size as usize;
        let is_known = self.info.subgroup_max_size as usize == subgroup;
        if !has_feature || !self.has_half() || !is_known || ![8, 16, 32, 64].contains(&subgroup) {
            return None;
        }
        let all = self.adapter.cooperative_matrix_properties();
        let has = |side: usize| {
            all.iter().any(|it| {
                [it.m_size, it.n_size, it.k_size] == [side as u32; 3]
                    && it.ab_type == wgpu::CooperativeScalarType::F16
                    && it.cr_type == wgpu::CooperativeScalarType::F32
            })
        };
        [16, 8].into_iter().find(|&side| has(side)).map(|side| MatrixUnits { side, subgroup })
    }

    /// Returns the sizes and types of the matrices that the card multiplies with matrix units.
    pub fn matrices(&self) -> Vec<String> {
        let each = self.adapter.cooperative_matrix_properties().into_iter();
        each.map(|it| format!("{}x{}x{} {:?}/{:?}", it.m_size, it.n_size, it.k_size, it.ab_type, it.cr_type))
            .collect()
    }

    /// Returns how promising the card is; less is better.
    pub fn order(&self) -> u8 {
        match self.info.device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::VirtualGpu => 1,
            wgpu::DeviceType::IntegratedGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        }
    }

    /// Connects to the card. Shaders in `cache` are not compiled again, if the driver permits that.
    #[allow(unsafe_code)]
    pub(crate) fn open(
        &self,
        half: bool,
        uses_matrix_units: bool,
        cache: Option<&Cache>,
    ) -> Result<Connection, GpuError> {
        let limits = self.adapter.limits();
        let mut features = if half { wgpu::Features::SHADER_F16 } else { wgpu::Features::empty() };
        let cache = cache.filter(|_| self.can_keep_shaders());
        if cache.is_some() {
            features |= wgpu::Features::PIPELINE_CACHE;
        }
        let mut experimental_features = wgpu::ExperimentalFeatures::disabled();
        if uses_matrix_units {
            features |= wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
            // SAFETY: the shaders that use the feature only read and write the memory of their workgroup, within its
            // bounds. Their results are compared with those of ordinary instructions before they are used.
            experimental_features = unsafe { wgpu::ExperimentalFeatures::enabled() };
        }
        let (device, queue) = pollster::block_on(self.adapter.request_device(&wgpu::DeviceDescriptor {
            label: None,
            required_features: features,
            required_limits: limits.clone(),
            experimental_features,
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        }))
        .map_err(|error| GpuError::Device(error.to_string()))?;
        let faults = Arc::new(Faults::default());
        let lost = Arc::clone(&faults);
        device.set_device_lost_callback(move |_, text| lost.add(&format!("the device is lost: {text}")));
        let wrong = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| wrong.add(&error.to_string())));
        let shaders = cache.map(|cache| shader_cache(&device, cache));
        Ok(Connection { device, queue, limits, shaders, faults })
    }
}

/// Returns a cache of shaders with the contents of a file, if there is one.
#[allow(unsafe_code)]
fn shader_cache(device: &wgpu::Device, cache: &Cache) -> wgpu::PipelineCache {
    let data = cache.shaders();
    let descriptor = wgpu::PipelineCacheDescriptor { label: None, data: data.as_deref(), fallback: true };
    // SAFETY: only `Cache::keep_shaders` writes the file, with what `get_data` has returned, and under a name that
    // identifies the card and the driver. wgpu and the driver check its header and discard a file that is not theirs.
    unsafe { device.create_pipeline_cache(&descriptor) }
}

/// First error of a device.
#[derive(Debug, Default)]
struct Faults {
    has_any: AtomicBool,
    first: Mutex<String>,
}

impl Faults {
    fn add(&self, text: &str) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_empty() {
            *first = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        self.has_any.store(true, Ordering::Release);
    }
}

/// Connection to a card.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) limits: wgpu::Limits,
    /// Compiled shaders, if they can be kept.
    pub(crate) shaders: Option<wgpu::PipelineCache>,
    faults: Arc<Faults>,
}

impl Connection {
    /// Returns the first error that the device has had, if any.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        if !self.faults.has_any.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(GpuError::Device(self.faults.first.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }

    /// Waits until a submission is finished and its callbacks have been called, but not longer than `patience`.
    pub(crate) fn wait(&self, submission: wgpu::SubmissionIndex, patience: Duration) -> Result<(), GpuError> {
        let poll = wgpu::PollType::Wait { submission_index: Some(submission), timeout: Some(patience) };
        self.device.poll(poll).map_err(|error| match error {
            wgpu::PollError::Timeout => {
                GpuError::Device(format!("no answer within {:.1} s", patience.as_secs_f64()))
            }
            error => GpuError::Device(error.to_string()),
        })?;
        self.check()
    }

    /// Calls the callbacks of finished submissions.
    pub(crate) fn poll(&self) -> Result<(), GpuError> {
        self.device.poll(wgpu::PollType::Poll).map_err(|error| GpuError::Device(error.to_string()))?;
        self.check()
    }
}

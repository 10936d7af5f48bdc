//! Graphics cards of this machine, and a connection to one of them.

use crate::GpuError;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Programming interfaces that cards are looked for through.
const BACKENDS: wgpu::Backends = wgpu::Backends::PRIMARY;

/// Time after which a card that has not finished a batch counts as lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// Time for software drivers, which are thousands of times slower.
const PATIENCE_WITH_SOFTWARE: Duration = Duration::from_secs(300);

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

/// Returns all cards that networks can be computed on, in the driver's order.
pub fn cards() -> Vec<Card> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = BACKENDS;
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(BACKENDS));
    adapters.into_iter().map(|adapter| Card { info: adapter.get_info(), adapter }).collect()
}

impl Card {
    /// Returns the name that the driver states.
    pub fn name(&self) -> &str {
        &self.info.name
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

    /// Returns the sizes and types of the matrices that the card multiplies with special units. They are listed, but
    /// no shader uses them so far.
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

    /// Connects to the card.
    pub(crate) fn open(&self, half: bool) -> Result<Connection, GpuError> {
        let limits = self.adapter.limits();
        let features = if half { wgpu::Features::SHADER_F16 } else { wgpu::Features::empty() };
        let (device, queue) = pollster::block_on(self.adapter.request_device(&wgpu::DeviceDescriptor {
            label: None,
            required_features: features,
            required_limits: limits.clone(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        }))
        .map_err(|error| GpuError::Device(error.to_string()))?;
        let faults = Arc::new(Faults::default());
        let lost = Arc::clone(&faults);
        device.set_device_lost_callback(move |_, text| lost.add(&format!("the device is lost: {text}")));
        let wrong = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| wrong.add(&error.to_string())));
        let patience = if self.is_software() { PATIENCE_WITH_SOFTWARE } else { PATIENCE };
        Ok(Connection { device, queue, limits, faults, patience })
    }
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
    faults: Arc<Faults>,
    patience: Duration,
}

impl Connection {
    /// Returns the first error that the device has had, if any.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        if !self.faults.has_any.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(GpuError::Device(self.faults.first.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }

    /// Waits until a submission is finished and its callbacks have been called.
    pub(crate) fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<(), GpuError> {
        let poll = wgpu::PollType::Wait { submission_index: Some(submission), timeout: Some(self.patience) };
        self.device.poll(poll).map_err(|error| GpuError::Device(error.to_string()))?;
        self.check()
    }

    /// Calls the callbacks of what is finished.
    pub(crate) fn look(&self) -> Result<(), GpuError> {
        self.device.poll(wgpu::PollType::Poll).map_err(|error| GpuError::Device(error.to_string()))?;
        self.check()
    }
}

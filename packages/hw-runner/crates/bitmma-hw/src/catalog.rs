//! Names of the catalog's devices, from the name that a driver gives.

use crate::kernel::Arch;

/// Words of the driver's name (split at anything but letters and digits, lower case) that must all be there.
const DEVICES: [(&[&str], &str); 22] = [
    (&["v100"], "v100"),
    (&["t4"], "t4"),
    (&["a100"], "a100"),
    (&["a30"], "a30"),
    (&["a2"], "a2"),
    (&["l40s"], "l40s"),
    (&["rtx", "4060"], "rtx4060"),
    (&["rtx", "1000", "ada"], "rtx1000"),
    (&["h100"], "h100"),
    (&["h200"], "h200"),
    (&["b200"], "b200"),
    (&["rtx", "pro", "6000", "blackwell"], "rtx-pro-6000"),
    (&["rtx", "5090"], "rtx50"),
    (&["rtx", "5080"], "rtx50"),
    (&["rtx", "5070"], "rtx50"),
    (&["rtx", "5060"], "rtx50"),
    (&["mi100"], "mi100"),
    (&["mi210"], "mi210"),
    (&["mi250x"], "mi250x"),
    (&["mi250"], "mi250"),
    (&["mi300a"], "mi300a"),
    (&["mi300x"], "mi300x"),
];

/// The catalog's device id, or the architecture's name where the catalog has no such device.
pub fn device_id(name: &str, arch: &Arch) -> String {
    let words: Vec<String> = name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase).collect();
    // SXM boards write the memory into the same word on some drivers (V100-SXM2-16GB), the model never.
    DEVICES
        .iter()
        .find(|(needed, _)| needed.iter().all(|n| words.iter().any(|w| w == n)))
        .map_or_else(|| arch.to_string(), |(_, id)| (*id).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_drivers() {
        let id = |name: &str| device_id(name, &Arch::Sm(90));
        assert_eq!(id("Tesla V100-SXM2-16GB"), "v100");
        assert_eq!(id("NVIDIA H100 80GB HBM3"), "h100");
        assert_eq!(id("NVIDIA H200"), "h200");
        assert_eq!(id("NVIDIA A100-SXM4-40GB"), "a100");
        assert_eq!(id("NVIDIA GeForce RTX 4060"), "rtx4060");
        assert_eq!(id("NVIDIA RTX PRO 6000 Blackwell Server Edition"), "rtx-pro-6000");
        assert_eq!(id("AMD Instinct MI300X"), "mi300x");
        // A neighbour is not taken for the device.
        assert_eq!(id("NVIDIA GH200 480GB"), "sm_90");
        assert_eq!(id("NVIDIA A10"), "sm_90");
    }
}

//! One file a member of the datapath union, named as in every engine.

#[path = "cdna3-odd-even.rs"]
pub mod cdna3_odd_even;
#[path = "cdna3-window.rs"]
pub mod cdna3_window;
pub mod exact;
#[path = "fused-window.rs"]
pub mod fused_window;
pub mod integer;
#[path = "late-window.rs"]
pub mod late_window;
pub mod pairwise;
#[path = "scaled-groups.rs"]
pub mod scaled_groups;
#[path = "scaled-window.rs"]
pub mod scaled_window;
#[path = "sequential-fma.rs"]
pub mod sequential_fma;
#[path = "split-window.rs"]
pub mod split_window;

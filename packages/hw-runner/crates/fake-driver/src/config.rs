//! What the fake machine is: `BITMMA_FAKE`, comma-separated `key=value`.
//!
//! gpu=NAME, sm=90, gfx=gfx942, devices=1, fault=(init|load|launch|sync|hang|hang-init|memory), after=N (launches
//! before the fault), corrupt=N (every N-th case: one output element of the last lane is changed),
//! lazy=1 (launches of 1,000 cases or more do nothing),
//! weigh=1 (where c is 1024, the product of position k counts k + 1 times, so that an answer tells where the
//! hardware saw it),
//! row-swap=1 (rows 0 and 1 of D change places, row 0's c staying, as a wrong row mapping would),
//! k-swap=1 (the instruction takes A's first two k positions the other way round, as a wrong layout would).

use std::collections::HashMap;
use std::sync::OnceLock;

pub struct Config {
    values: HashMap<String, String>,
}

impl Config {
    pub fn get() -> &'static Config {
        static CONFIG: OnceLock<Config> = OnceLock::new();
        CONFIG.get_or_init(|| {
            let text = std::env::var("BITMMA_FAKE").unwrap_or_default();
            let values = text
                .split(',')
                .filter_map(|pair| pair.split_once('='))
                .map(|(k, v)| (k.trim().to_string(), v.trim().to_string()))
                .collect();
            Config { values }
        })
    }

    pub fn text(&self, key: &str, default: &'static str) -> &str {
        self.values.get(key).map_or(default, String::as_str)
    }

    pub fn number(&self, key: &str, default: u64) -> u64 {
        self.values.get(key).and_then(|v| v.parse().ok()).unwrap_or(default)
    }

    /// Whether this fault strikes at the given launch (counted from 0).
    pub fn fault(&self, name: &str, launch: u64) -> bool {
        self.text("fault", "") == name && launch >= self.number("after", 0)
    }
}

/// A driver call that never returns.
pub fn hang() -> ! {
    loop {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

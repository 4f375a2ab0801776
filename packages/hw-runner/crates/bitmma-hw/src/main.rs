use bitmma_hw::commands::options::{Options, USAGE};
use bitmma_hw::commands::{gemm, inspect, record, serve};
use bitmma_hw::error::{Error, Result};

fn run() -> Result<()> {
    let Some(options) = Options::parse(std::env::args_os().skip(1))? else {
        print!("{USAGE}");
        return Ok(());
    };
    match options.command.as_str() {
        "record" => record::record(&options),
        "gemm" => gemm::gemm(&options),
        "serve" => serve::serve(&options),
        "probe" => inspect::probe(&options),
        "list" => inspect::list(&options),
        "kernel" => inspect::source(&options),
        "kernels" => inspect::kernels(&options),
        "layout" => inspect::layout(&options),
        other => Err(Error::Input(format!("unknown command {other}; bitmma-hw --help lists them"))),
    }
}

fn main() {
    let code = match run() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("bitmma-hw: {error}");
            error.exit_code()
        }
    };
    // A hung driver call may still hold a thread: do not wait for it.
    std::process::exit(code);
}

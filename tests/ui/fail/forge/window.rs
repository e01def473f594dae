use webhook_core::Window;

const NEVER_STALE: Window = Window {
    past_secs: u32::MAX,
    future_secs: u32::MAX,
};

fn main() {
    let _ = NEVER_STALE;
}

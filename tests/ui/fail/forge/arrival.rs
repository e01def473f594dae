use webhook_core::Arrival;

fn forge(unix_secs: i64) -> Arrival {
    Arrival(unix_secs)
}

fn main() {
    let _ = forge;
}

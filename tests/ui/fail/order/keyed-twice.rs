use webhook_core::{Arrival, Judged, Keyring, Rejection};

fn key(judged: Judged<'_>, keys: &Keyring, now: Arrival) -> Result<(), Rejection> {
    let _first = judged.keyed(keys, now, 1024)?;
    let _second = judged.keyed(keys, now, 1024)?;
    Ok(())
}

fn main() {
    let _ = key;
}

use webhook_core::Claimed;

fn forge(other: Claimed) -> Claimed {
    Claimed {
        data: Default::default(),
        ..other
    }
}

fn main() {
    let _ = forge;
}

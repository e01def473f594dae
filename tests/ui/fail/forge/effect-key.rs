use webhook_core::EffectKey;

fn forge(text: String) -> EffectKey {
    EffectKey(text)
}

fn main() {
    let _ = forge;
}

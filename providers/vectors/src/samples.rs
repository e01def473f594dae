//! Keys of the right kind for each provider.

use webhook_core::SecretFormat;

/// Three keys that can sign, as a user of `format` would configure them: the newest, an older one and a stranger's.
///
/// # Panics
///
/// For a format that nobody added here.
pub(crate) fn signing_keys(format: SecretFormat) -> [&'static str; 3] {
    match format {
        SecretFormat::Base64 { .. }
        | SecretFormat::StandardWebhooks
        | SecretFormat::Text { .. } => [
            "whsec_dGhlLW5ldy1zZWNyZXQtMDAwMDAwMDE=",
            "whsec_dGhlLW9sZC1zZWNyZXQtMDAwMDAwMDE=",
            "whsec_b2Ytc29tZWJvZHktZWxzZS0wMDAx",
        ],
        SecretFormat::Ed25519Hex => [
            "MC4CAQAwBQYDK2VwBCIEID6fjO1i8uwdCON29gUSUylMMwLn8qFqX7tM3HztPoec",
            "MC4CAQAwBQYDK2VwBCIEIC3akEOWFpIOP0s6Eiv8f5cAmr/xRnEG8iGkcgCdxCa+",
            "MC4CAQAwBQYDK2VwBCIEINHAJ/Z4KRuInH1nL8xCh3M42ea/WeYhg4kECXuXJbNN",
        ],
        SecretFormat::P256Spki => [
            "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgojhbJsuAeWh89NXnuLWpNMhdZypdyyNljqRtjYPxJU2hRANCAATWJQ3oxRVmpMtLs2jUkXrqWq0FjlPgwJNvq55poMw9yhn3dPa2Ocdi7t8jM9IDZVx/nidJbliJ7EUI72da5L+F",
            "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbS0EPnezbZmPgB6PZ7UI4a/fLr0sVS2WsUDZjphQDCqhRANCAAQqQzKjt0hzmVs2X0IJn6FVegpU2VXGHP/UtDFItE0Zvjs79V2ZR8MRt/MT6WujFJ7N9I2HSE9pwRoQBnCrIIZb",
            "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtA07dRYJm1R641DR+WWrCPeddj92rkR4TU0D4uOM5f2hRANCAARgza7tHbuHUAzWNyK+gEruBozDbVOniZcJp8hyB9F8X0ZvBdn3/nCdQiVin09m5QNRRRSIDN+fRQkUf049U6qo",
        ],
        other => panic!("no keys of {other:?}"),
    }
}

//! Help, lists, keys, completions, and what cannot be used.

use crate::run::{Folder, webhook};

#[test]
fn exit_codes_stand_in_the_help() {
    let help = webhook(["--help"]).run().code(0).text();
    for code in ["  0  ", "  1  ", "  2  ", "  3  "] {
        assert!(help.contains(code), "{help}");
    }
    for command in [
        "completions",
        "events",
        "inbox",
        "keys",
        "listen",
        "send",
        "sign",
        "verify",
    ] {
        assert!(help.contains(command), "{command}");
        webhook([command, "--help"]).run().code(0);
    }
    assert!(
        webhook(["send", "--help"])
            .run()
            .text()
            .contains("Examples:")
    );
}

#[test]
fn completions_are_written_for_three_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = webhook(["completions", shell]).run().code(0).text();
        assert!(
            script.contains("webhook") && script.contains("verify"),
            "{shell}"
        );
    }
}

#[test]
fn every_provider_is_listed_with_its_events() {
    let all = webhook(["events", "--json"]).run().code(0).json();
    for name in webhook_fixtures::names() {
        assert!(!all[name].as_array().unwrap().is_empty(), "{name}");
    }
    let stripe = webhook(["events", "stripe", "--json"]).run().code(0).json();
    assert_eq!(stripe["window_secs"], 300);
}

#[test]
fn what_cannot_be_used_is_said_and_ends_with_2() {
    let folder = Folder::new();
    for (call, words) in [
        (
            webhook(["sign", "strype"]).secret("whsec_0123456789abcdef"),
            "stripe",
        ),
        (
            webhook(["sign", "stripe", "nothing.such"]).secret("whsec_0123456789abcdef"),
            "invoice.paid",
        ),
        (webhook(["sign", "stripe"]), "--secret-env"),
        (
            webhook(["sign", "stripe", "--secret-env", "NOT_SET_ANYWHERE"]),
            "NOT_SET_ANYWHERE is not set",
        ),
        (
            webhook(["sign", "stripe", "--secret-file"]).arg(folder.path("none")),
            "No such file",
        ),
        (webhook(["sign", "stripe"]).secret("short"), "shorter than"),
        (
            webhook(["sign", "stripe", "--set", "/nowhere/at/all=1"])
                .secret("whsec_0123456789abcdef"),
            "/nowhere/at/all",
        ),
        (
            webhook(["sign", "stripe", "--at", "noon"]).secret("whsec_0123456789abcdef"),
            "a distance from now",
        ),
        (
            webhook(["send", "stripe"]).secret("whsec_0123456789abcdef"),
            "--url is missing",
        ),
        (webhook(["inbox", "ls"]), "--ledger is missing"),
        (webhook(["inbox", "--ledger", "mysql://x", "ls"]), "sqlite:"),
    ] {
        let ended = call.run().code(2);
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
        assert!(
            !ended.err.contains("0123456789abcdef"),
            "a secret: {}",
            ended.err
        );
    }
    let ended = webhook(["sign", "strype", "--json"])
        .secret("whsec_0123456789abcdef")
        .run()
        .code(2);
    assert_eq!(ended.json()["exit"], 2);
}

#[test]
fn what_is_not_there_ends_with_3() {
    let folder = Folder::new();
    let missing = format!("sqlite://{}", folder.path("none.db"));
    let ended = webhook(["inbox", "ls", "--ledger", &missing]).run().code(3);
    assert!(ended.err.contains("there is no file"), "{}", ended.err);
    assert!(!std::path::Path::new(&folder.path("none.db")).exists());
    // Port 9 is nobody's on a loopback.
    let url = "http://127.0.0.1:9/";
    let ended = webhook(["send", "stripe", "--url", url])
        .secret("whsec_0123456789abcdef")
        .run()
        .code(3);
    assert!(ended.err.contains("cannot connect"), "{}", ended.err);
}

#[test]
fn a_new_key_is_good_and_a_bad_one_is_named() {
    for name in webhook_fixtures::names() {
        let new = webhook(["keys", "new", name]).run();
        if new.code == 2 {
            assert!(new.err.contains("public key"), "{name}: {}", new.err);
            continue;
        }
        let secret = new.code(0).text();
        let other = webhook(["keys", "new", name]).run().text();
        assert_ne!(secret, other, "{name}");
        let checked = webhook(["keys", "check", name, "--json"])
            .secret(secret.trim())
            .run()
            .code(0);
        assert_eq!(checked.json()["short"], 0, "{name}");
        assert!(!checked.text().contains(secret.trim()), "{name}");
    }
    let bad = webhook(["keys", "check", "standard"])
        .secret("whsec_not base64!")
        .run()
        .code(1);
    assert!(bad.text().contains("base64"), "{}", bad.text());
}

#[test]
fn secrets_come_from_files_and_standard_input_without_their_line_end() {
    let folder = Folder::new();
    let secret = "whsec_only-for-tests-0123456789";
    let fingerprint =
        |call: crate::run::Call| call.run().code(0).json()["keys"][0]["fingerprint"].clone();
    let check = || webhook(["keys", "check", "stripe", "--json"]);
    let expected = fingerprint(check().secret(secret));
    let file = folder.file("key", format!("{secret}\n"));
    assert_eq!(
        fingerprint(check().arg("--secret-file").arg(file)),
        expected
    );
    assert_eq!(
        fingerprint(
            check()
                .arg("--secret-file")
                .arg("-")
                .stdin(secret.as_bytes())
        ),
        expected
    );
    // On the command line it works, and is warned of.
    let ended = check().arg("--secret").arg(secret).run().code(0);
    assert!(ended.err.contains("warning") && !ended.err.contains(secret));
}

#[test]
fn colour_is_for_terminals_or_by_order() {
    let call = || webhook(["events", "stripe"]);
    assert!(!call().run().text().contains('\u{1b}'));
    assert!(
        call()
            .arg("--color")
            .arg("always")
            .run()
            .text()
            .contains('\u{1b}')
    );
    assert!(
        !call()
            .arg("--color")
            .arg("never")
            .run()
            .text()
            .contains('\u{1b}')
    );
}

//! The text that is signed: names and values, a line each.

/// The members of a signed text. Nothing else of a body is known to be AWS's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Members<'t> {
    pub(crate) message: &'t str,
    pub(crate) id: &'t str,
    pub(crate) subject: Option<&'t str>,
    pub(crate) subscribe_url: Option<&'t str>,
    pub(crate) timestamp: &'t str,
    pub(crate) token: Option<&'t str>,
    pub(crate) topic: &'t str,
    pub(crate) kind: &'t str,
}

impl<'t> Members<'t> {
    /// Read a signed text: from its end, as the message that comes first may hold whatever it likes.
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        let mut rest = text.strip_suffix('\n')?;
        let kind = last(&mut rest, "Type")?;
        let topic = last(&mut rest, "TopicArn")?;
        let token = last(&mut rest, "Token");
        let timestamp = last(&mut rest, "Timestamp")?;
        let subscribe_url = last(&mut rest, "SubscribeURL");
        let subject = last(&mut rest, "Subject");
        let id = last(&mut rest, "MessageId")?;
        Some(Self {
            message: rest.strip_prefix("Message\n")?,
            id,
            subject,
            subscribe_url,
            timestamp,
            token,
            topic,
            kind,
        })
    }
}

/// Take the last two lines off `rest`, if they are this name and its value.
fn last<'t>(rest: &mut &'t str, name: &str) -> Option<&'t str> {
    let (before, value) = rest.rsplit_once('\n')?;
    let before = before.strip_suffix(name)?.strip_suffix('\n')?;
    *rest = before;
    Some(value)
}

/// A UUID in lower case.
pub(crate) fn is_message_id(text: &str) -> bool {
    let lens = [8, 4, 4, 4, 12];
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let groups = text.split('-');
    groups.clone().count() == lens.len()
        && groups
            .zip(lens)
            .all(|(group, len)| group.len() == len && group.bytes().all(is_digit))
}

/// One line: no control character.
pub(crate) fn is_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324";

    fn text(message: &str, subject: &str) -> String {
        format!(
            "Message\n{message}\nMessageId\n{ID}\n{subject}Timestamp\n2025\nTopicArn\narn\nType\nNotification\n"
        )
    }

    /// Whatever a message holds, it ends where it ended.
    #[test]
    fn a_message_cannot_move_its_border() {
        let inner = text("inner", "Subject\nforged\n");
        for message in [
            "",
            "\n",
            "a\nMessageId\nb",
            "MessageId\n",
            "Subject\nx",
            &inner,
        ] {
            for subject in ["", "Subject\ns\n", "Subject\n\n", "Subject\nMessageId\n"] {
                let text = text(message, subject);
                let members = Members::read(&text).unwrap();
                assert_eq!((members.message, members.id), (message, ID));
                let expected = subject.strip_prefix("Subject\n");
                assert_eq!(
                    members.subject,
                    expected.and_then(|rest| rest.strip_suffix('\n'))
                );
            }
        }
    }

    #[test]
    fn what_is_no_signed_text_is_none() {
        let good = text("a", "");
        for (old, new) in [
            ("Message\n", "message\n"),
            ("Type", "Typ"),
            ("MessageId", "Id"),
            ("Notification\n", "Notification"),
        ] {
            assert_eq!(Members::read(&good.replacen(old, new, 1)), None, "{new}");
        }
        for cut in 0..good.len() {
            assert_eq!(Members::read(&good[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn message_ids_are_of_one_spelling() {
        assert!(is_message_id(ID));
        for bad in [
            "",
            "22b80b92",
            &ID.to_uppercase(),
            &ID[1..],
            &format!("{ID}-"),
            &ID.replace('-', ""),
        ] {
            assert!(!is_message_id(bad), "{bad}");
        }
    }
}

//! CRC-32 as in IEEE 802.3 and ISO 3309: polynomial 0xedb88320, reflected. A checksum against noise, and no digest.

/// A checksum under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Crc32 {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let [low, ..] = self.0.to_le_bytes();
            let entry = TABLE.get(usize::from(low ^ byte)).copied();
            self.0 = (self.0 >> 8) ^ entry.unwrap_or_default();
        }
    }

    pub(crate) fn finish(self) -> u32 {
        !self.0
    }
}

/// What each byte does to the checksum.
static TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut rest: &mut [u32] = &mut table;
    let mut byte = 0;
    while let [entry, others @ ..] = rest {
        let mut value: u32 = byte;
        let mut bit = 0;
        while bit < 8 {
            value = (value >> 1) ^ (0xedb8_8320 & (value & 1).wrapping_neg());
            bit += 1;
        }
        *entry = value;
        byte += 1;
        rest = others;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_check_value_comes_out_whatever_the_pieces() {
        for len in 1..=9 {
            let mut crc = Crc32::default();
            b"123456789".chunks(len).for_each(|piece| crc.update(piece));
            assert_eq!(crc.finish(), 0xcbf4_3926);
        }
        assert_eq!(Crc32::default().finish(), 0);
    }
}

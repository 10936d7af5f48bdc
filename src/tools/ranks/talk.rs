//! Messages between ranks about pieces. Each message is one packet.

/// Message about pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Talk {
    /// The rank works on this number of pieces at a time.
    Ready(u32),
    /// The rank is alive.
    Alive,
    /// Piece for a rank, with its contents if the number does not determine them.
    Piece(u32, Vec<u8>),
    /// Result of a piece.
    Done(u32, Vec<u8>),
    /// Notification about a piece in work.
    Note(Vec<u8>),
    /// The rank cannot continue.
    Failed(String),
    /// There are no more pieces.
    End,
}

impl Talk {
    pub(super) fn to_packet(&self) -> Vec<u8> {
        let (kind, number, rest): (u8, u32, &[u8]) = match self {
            Talk::Ready(slots) => (0, *slots, &[]),
            Talk::Alive => (1, 0, &[]),
            Talk::Piece(piece, contents) => (2, *piece, contents),
            Talk::Done(piece, found) => (3, *piece, found),
            Talk::Note(note) => (4, 0, note),
            Talk::Failed(why) => (5, 0, why.as_bytes()),
            Talk::End => (6, 0, &[]),
        };
        let mut packet = Vec::with_capacity(5 + rest.len());
        packet.push(kind);
        packet.extend_from_slice(&number.to_le_bytes());
        packet.extend_from_slice(rest);
        packet
    }

    /// Parses a packet. Returns `None` if it is no valid message.
    pub(super) fn from_packet(packet: &[u8]) -> Option<Talk> {
        let (&kind, rest) = packet.split_first()?;
        let (number, rest) = rest.split_first_chunk()?;
        let number = u32::from_le_bytes(*number);
        let talk = match kind {
            0 => Talk::Ready(number),
            1 => Talk::Alive,
            2 => Talk::Piece(number, rest.to_vec()),
            3 => Talk::Done(number, rest.to_vec()),
            4 => Talk::Note(rest.to_vec()),
            5 => Talk::Failed(String::from_utf8_lossy(rest).into_owned()),
            6 => Talk::End,
            _ => return None,
        };
        Some(talk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let messages = [
            Talk::Ready(3),
            Talk::Alive,
            Talk::Piece(70_000, vec![]),
            Talk::Piece(7, vec![4, 5]),
            Talk::Done(5, vec![1, 2, 3]),
            Talk::Note(vec![]),
            Talk::Failed("so".to_owned()),
            Talk::End,
        ];
        for message in messages {
            let packet = message.to_packet();
            assert_eq!(Talk::from_packet(&packet).as_ref(), Some(&message));
            assert_eq!(Talk::from_packet(&packet[..4]), None);
        }
        assert_eq!(Talk::from_packet(&[7, 0, 0, 0, 0]), None);
    }
}

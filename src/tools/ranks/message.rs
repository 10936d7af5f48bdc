//! Messages between ranks about pieces. Each message is one packet.

/// Message about pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Message {
    /// The rank works on this number of pieces at a time.
    Ready(u32),
    /// The rank is alive.
    Alive,
    /// Piece for a rank, with its contents if the number does not determine them.
    Piece(u32, Vec<u8>),
    /// Result of a piece.
    Done(u32, Vec<u8>),
    /// Notification about a piece that is being worked on.
    Note(Vec<u8>),
    /// The rank cannot continue.
    Failed(String),
    /// There are no more pieces.
    End,
}

impl Message {
    pub(super) fn to_packet(&self) -> Vec<u8> {
        let (kind, number, rest): (u8, u32, &[u8]) = match self {
            Message::Ready(slots) => (0, *slots, &[]),
            Message::Alive => (1, 0, &[]),
            Message::Piece(piece, contents) => (2, *piece, contents),
            Message::Done(piece, found) => (3, *piece, found),
            Message::Note(note) => (4, 0, note),
            Message::Failed(why) => (5, 0, why.as_bytes()),
            Message::End => (6, 0, &[]),
        };
        let mut packet = Vec::with_capacity(5 + rest.len());
        packet.push(kind);
        packet.extend_from_slice(&number.to_le_bytes());
        packet.extend_from_slice(rest);
        packet
    }

    /// Parses a packet. Returns `None` if it is not a valid message.
    pub(super) fn from_packet(packet: &[u8]) -> Option<Message> {
        let (&kind, rest) = packet.split_first()?;
        let (number, rest) = rest.split_first_chunk()?;
        let number = u32::from_le_bytes(*number);
        let message = match kind {
            0 => Message::Ready(number),
            1 => Message::Alive,
            2 => Message::Piece(number, rest.to_vec()),
            3 => Message::Done(number, rest.to_vec()),
            4 => Message::Note(rest.to_vec()),
            5 => Message::Failed(String::from_utf8_lossy(rest).into_owned()),
            6 => Message::End,
            _ => return None,
        };
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let messages = [
            Message::Ready(3),
            Message::Alive,
            Message::Piece(70_000, vec![]),
            Message::Piece(7, vec![4, 5]),
            Message::Done(5, vec![1, 2, 3]),
            Message::Note(vec![]),
            Message::Failed("so".to_owned()),
            Message::End,
        ];
        for message in messages {
            let packet = message.to_packet();
            assert_eq!(Message::from_packet(&packet).as_ref(), Some(&message));
            assert_eq!(Message::from_packet(&packet[..4]), None);
        }
        assert_eq!(Message::from_packet(&[7, 0, 0, 0, 0]), None);
    }
}

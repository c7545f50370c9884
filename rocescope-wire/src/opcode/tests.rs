use super::*;

#[test]
fn names_are_unique_and_carry_their_transport() {
    for (at, info) in Opcode::all().chain(Opcode::all_dc()).enumerate() {
        assert!(info.name.starts_with(info.transport.name()), "{info:?}");
        let same = Opcode::all()
            .chain(Opcode::all_dc())
            .skip(at + 1)
            .find(|other| other.name == info.name);
        assert_eq!(same, None, "two rows are named alike");
    }
    assert_eq!(Opcode::all().count(), 25 + 12 + 23 + 2 + 1 + 23);
    assert_eq!(Opcode::all_dc().count(), 23);
}

#[test]
fn codes_are_where_they_are_looked_up() {
    for code in 0..=255 {
        if let Some(info) = Opcode(code).info() {
            assert_eq!(info.code, code);
        }
        if let Some(info) = Opcode(code).info_as(RdOrDc::Dc) {
            assert_eq!(info.code, code);
            assert_eq!(
                info.transport == Transport::Dc,
                (0x40..0x60).contains(&code)
            );
        }
    }
}

#[test]
fn transport_is_in_the_top_bits() {
    for info in Opcode::all() {
        let base = match info.transport {
            Transport::Rc => 0x00,
            Transport::Uc => 0x20,
            Transport::Rd | Transport::Dc => 0x40,
            Transport::Ud => 0x60,
            Transport::Cnp => 0x80,
            Transport::Xrc => 0xa0,
        };
        assert_eq!(info.code & 0xe0, base, "{}", info.name);
    }
}

#[test]
fn rows_say_what_the_standard_says() {
    let info = |opcode: Opcode| opcode.info().expect("in the table");
    assert_eq!(info(Opcode::RC_ATOMIC_ACKNOWLEDGE).headers_len(), 4 + 8);
    assert_eq!(info(Opcode::RC_COMPARE_SWAP).headers_len(), 28);
    assert_eq!(
        info(Opcode::RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE).headers_len(),
        16 + 4
    );
    assert_eq!(info(Opcode::RC_FLUSH).headers_len(), 4 + 16);
    assert_eq!(info(Opcode::RD_RDMA_WRITE_FIRST).headers_len(), 4 + 8 + 16);
    assert_eq!(info(Opcode::RD_ACKNOWLEDGE).headers_len(), 4 + 4);
    assert_eq!(info(Opcode::XRC_RDMA_READ_REQUEST).headers_len(), 4 + 16);
    assert_eq!(info(Opcode::XRC_RDMA_READ_RESPONSE_ONLY).headers_len(), 4);
    assert_eq!(
        info(Opcode::UD_SEND_ONLY_WITH_IMMEDIATE).headers_len(),
        8 + 4
    );
    assert_eq!(
        info(Opcode::RC_SEND_LAST_WITH_INVALIDATE).headers,
        Headers::IETH
    );
    assert_eq!(info(Opcode::CNP).role, Role::Notification);
    assert_eq!(info(Opcode::CNP).payload(), Payload::Exactly(16));
    assert_eq!(
        info(Opcode::RC_RDMA_READ_RESPONSE_LAST).role,
        Role::Response
    );
    assert_eq!(info(Opcode::RC_ATOMIC_WRITE).role, Role::Request);
    assert!(info(Opcode::RC_SEND_FIRST).part.begins() && !info(Opcode::RC_SEND_FIRST).part.ends());
    assert_eq!(Opcode(0x15).info(), None);
    assert_eq!(Opcode(0x80).info(), None);
    assert_eq!(Opcode(0xff).info(), None);
}

#[test]
fn headers_stand_in_order() {
    let both = Headers::RDETH
        .union(Headers::DETH)
        .union(Headers::RETH)
        .union(Headers::IMM_DT);
    assert_eq!(both.offset_of(Headers::RDETH), 0);
    assert_eq!(both.offset_of(Headers::DETH), 4);
    assert_eq!(both.offset_of(Headers::RETH), 12);
    assert_eq!(both.offset_of(Headers::IMM_DT), 28);
    assert_eq!(both.len(), 32);
    assert!(both.contains(Headers::RETH) && !both.contains(Headers::AETH));
}

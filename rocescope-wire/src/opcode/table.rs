//! The rows of the opcode table.

use super::{Headers, Opcode, OpcodeInfo, Operation, Part, Transport};

/// One row: code, name, transport, operation, part, headers in their order on the wire. Gives a table indexed by the
/// opcode's low bits, and a constant of `Opcode` for each row.
macro_rules! opcodes {
    ($(#[$about:meta])* $table:ident: $entries:literal;
     $($code:literal $name:ident $transport:ident $operation:ident $part:ident [$($header:ident)*];)+) => {
        $(#[$about])*
        pub(super) static $table: [Option<OpcodeInfo>; $entries] = {
            let mut table = [const { None }; $entries];
            $(
                assert!(table[$code % $entries].is_none(), "an opcode has two rows");
                table[$code % $entries] = Some(OpcodeInfo::new(
                    $code,
                    stringify!($name),
                    Transport::$transport,
                    Operation::$operation,
                    Part::$part,
                    Headers::EMPTY$(.union(Headers::$header))*,
                ));
            )+
            table
        };

        #[allow(missing_docs, reason = "the name is the one of the standard's table")]
        impl Opcode {
            $(pub const $name: Self = Self($code);)+
        }
    };
}

opcodes! {
    /// As IBTA assigns them.
    IBTA: 256;
    0x00 RC_SEND_FIRST Rc Send First [];
    0x01 RC_SEND_MIDDLE Rc Send Middle [];
    0x02 RC_SEND_LAST Rc Send Last [];
    0x03 RC_SEND_LAST_WITH_IMMEDIATE Rc Send Last [IMM_DT];
    0x04 RC_SEND_ONLY Rc Send Only [];
    0x05 RC_SEND_ONLY_WITH_IMMEDIATE Rc Send Only [IMM_DT];
    0x06 RC_RDMA_WRITE_FIRST Rc RdmaWrite First [RETH];
    0x07 RC_RDMA_WRITE_MIDDLE Rc RdmaWrite Middle [];
    0x08 RC_RDMA_WRITE_LAST Rc RdmaWrite Last [];
    0x09 RC_RDMA_WRITE_LAST_WITH_IMMEDIATE Rc RdmaWrite Last [IMM_DT];
    0x0a RC_RDMA_WRITE_ONLY Rc RdmaWrite Only [RETH];
    0x0b RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE Rc RdmaWrite Only [RETH IMM_DT];
    0x0c RC_RDMA_READ_REQUEST Rc RdmaReadRequest Only [RETH];
    0x0d RC_RDMA_READ_RESPONSE_FIRST Rc RdmaReadResponse First [AETH];
    0x0e RC_RDMA_READ_RESPONSE_MIDDLE Rc RdmaReadResponse Middle [];
    0x0f RC_RDMA_READ_RESPONSE_LAST Rc RdmaReadResponse Last [AETH];
    0x10 RC_RDMA_READ_RESPONSE_ONLY Rc RdmaReadResponse Only [AETH];
    0x11 RC_ACKNOWLEDGE Rc Acknowledge Only [AETH];
    0x12 RC_ATOMIC_ACKNOWLEDGE Rc AtomicAcknowledge Only [AETH ATOMIC_ACK_ETH];
    0x13 RC_COMPARE_SWAP Rc CompareSwap Only [ATOMIC_ETH];
    0x14 RC_FETCH_ADD Rc FetchAdd Only [ATOMIC_ETH];
    0x16 RC_SEND_LAST_WITH_INVALIDATE Rc Send Last [IETH];
    0x17 RC_SEND_ONLY_WITH_INVALIDATE Rc Send Only [IETH];
    0x1c RC_FLUSH Rc Flush Only [FETH RETH];
    0x1d RC_ATOMIC_WRITE Rc AtomicWrite Only [RETH];
    0x20 UC_SEND_FIRST Uc Send First [];
    0x21 UC_SEND_MIDDLE Uc Send Middle [];
    0x22 UC_SEND_LAST Uc Send Last [];
    0x23 UC_SEND_LAST_WITH_IMMEDIATE Uc Send Last [IMM_DT];
    0x24 UC_SEND_ONLY Uc Send Only [];
    0x25 UC_SEND_ONLY_WITH_IMMEDIATE Uc Send Only [IMM_DT];
    0x26 UC_RDMA_WRITE_FIRST Uc RdmaWrite First [RETH];
    0x27 UC_RDMA_WRITE_MIDDLE Uc RdmaWrite Middle [];
    0x28 UC_RDMA_WRITE_LAST Uc RdmaWrite Last [];
    0x29 UC_RDMA_WRITE_LAST_WITH_IMMEDIATE Uc RdmaWrite Last [IMM_DT];
    0x2a UC_RDMA_WRITE_ONLY Uc RdmaWrite Only [RETH];
    0x2b UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE Uc RdmaWrite Only [RETH IMM_DT];
    0x40 RD_SEND_FIRST Rd Send First [RDETH DETH];
    0x41 RD_SEND_MIDDLE Rd Send Middle [RDETH DETH];
    0x42 RD_SEND_LAST Rd Send Last [RDETH DETH];
    0x43 RD_SEND_LAST_WITH_IMMEDIATE Rd Send Last [RDETH DETH IMM_DT];
    0x44 RD_SEND_ONLY Rd Send Only [RDETH DETH];
    0x45 RD_SEND_ONLY_WITH_IMMEDIATE Rd Send Only [RDETH DETH IMM_DT];
    0x46 RD_RDMA_WRITE_FIRST Rd RdmaWrite First [RDETH DETH RETH];
    0x47 RD_RDMA_WRITE_MIDDLE Rd RdmaWrite Middle [RDETH DETH];
    0x48 RD_RDMA_WRITE_LAST Rd RdmaWrite Last [RDETH DETH];
    0x49 RD_RDMA_WRITE_LAST_WITH_IMMEDIATE Rd RdmaWrite Last [RDETH DETH IMM_DT];
    0x4a RD_RDMA_WRITE_ONLY Rd RdmaWrite Only [RDETH DETH RETH];
    0x4b RD_RDMA_WRITE_ONLY_WITH_IMMEDIATE Rd RdmaWrite Only [RDETH DETH RETH IMM_DT];
    0x4c RD_RDMA_READ_REQUEST Rd RdmaReadRequest Only [RDETH DETH RETH];
    0x4d RD_RDMA_READ_RESPONSE_FIRST Rd RdmaReadResponse First [RDETH AETH];
    0x4e RD_RDMA_READ_RESPONSE_MIDDLE Rd RdmaReadResponse Middle [RDETH];
    0x4f RD_RDMA_READ_RESPONSE_LAST Rd RdmaReadResponse Last [RDETH AETH];
    0x50 RD_RDMA_READ_RESPONSE_ONLY Rd RdmaReadResponse Only [RDETH AETH];
    0x51 RD_ACKNOWLEDGE Rd Acknowledge Only [RDETH AETH];
    0x52 RD_ATOMIC_ACKNOWLEDGE Rd AtomicAcknowledge Only [RDETH AETH ATOMIC_ACK_ETH];
    0x53 RD_COMPARE_SWAP Rd CompareSwap Only [RDETH DETH ATOMIC_ETH];
    0x54 RD_FETCH_ADD Rd FetchAdd Only [RDETH DETH ATOMIC_ETH];
    0x55 RD_RESYNC Rd Resync Only [RDETH DETH];
    0x5c RD_FLUSH Rd Flush Only [RDETH FETH RETH];
    0x64 UD_SEND_ONLY Ud Send Only [DETH];
    0x65 UD_SEND_ONLY_WITH_IMMEDIATE Ud Send Only [DETH IMM_DT];
    0x81 CNP Cnp Cnp Only [];
    0xa0 XRC_SEND_FIRST Xrc Send First [XRCETH];
    0xa1 XRC_SEND_MIDDLE Xrc Send Middle [XRCETH];
    0xa2 XRC_SEND_LAST Xrc Send Last [XRCETH];
    0xa3 XRC_SEND_LAST_WITH_IMMEDIATE Xrc Send Last [XRCETH IMM_DT];
    0xa4 XRC_SEND_ONLY Xrc Send Only [XRCETH];
    0xa5 XRC_SEND_ONLY_WITH_IMMEDIATE Xrc Send Only [XRCETH IMM_DT];
    0xa6 XRC_RDMA_WRITE_FIRST Xrc RdmaWrite First [XRCETH RETH];
    0xa7 XRC_RDMA_WRITE_MIDDLE Xrc RdmaWrite Middle [XRCETH];
    0xa8 XRC_RDMA_WRITE_LAST Xrc RdmaWrite Last [XRCETH];
    0xa9 XRC_RDMA_WRITE_LAST_WITH_IMMEDIATE Xrc RdmaWrite Last [XRCETH IMM_DT];
    0xaa XRC_RDMA_WRITE_ONLY Xrc RdmaWrite Only [XRCETH RETH];
    0xab XRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE Xrc RdmaWrite Only [XRCETH RETH IMM_DT];
    0xac XRC_RDMA_READ_REQUEST Xrc RdmaReadRequest Only [XRCETH RETH];
    0xad XRC_RDMA_READ_RESPONSE_FIRST Xrc RdmaReadResponse First [AETH];
    0xae XRC_RDMA_READ_RESPONSE_MIDDLE Xrc RdmaReadResponse Middle [];
    0xaf XRC_RDMA_READ_RESPONSE_LAST Xrc RdmaReadResponse Last [AETH];
    0xb0 XRC_RDMA_READ_RESPONSE_ONLY Xrc RdmaReadResponse Only [AETH];
    0xb1 XRC_ACKNOWLEDGE Xrc Acknowledge Only [AETH];
    0xb2 XRC_ATOMIC_ACKNOWLEDGE Xrc AtomicAcknowledge Only [AETH ATOMIC_ACK_ETH];
    0xb3 XRC_COMPARE_SWAP Xrc CompareSwap Only [XRCETH ATOMIC_ETH];
    0xb4 XRC_FETCH_ADD Xrc FetchAdd Only [XRCETH ATOMIC_ETH];
    0xb6 XRC_SEND_LAST_WITH_INVALIDATE Xrc Send Last [XRCETH IETH];
    0xb7 XRC_SEND_ONLY_WITH_INVALIDATE Xrc Send Only [XRCETH IETH];
}

opcodes! {
    /// 0x40-0x5F as NVIDIA's Dynamically Connected transport: the operations of RC behind an extra header
    /// (Wireshark's packet-infiniband.c reads them so; NVIDIA publishes no layout).
    DC: 32;
    0x40 DC_SEND_FIRST Dc Send First [DCETH];
    0x41 DC_SEND_MIDDLE Dc Send Middle [DCETH];
    0x42 DC_SEND_LAST Dc Send Last [DCETH];
    0x43 DC_SEND_LAST_WITH_IMMEDIATE Dc Send Last [DCETH IMM_DT];
    0x44 DC_SEND_ONLY Dc Send Only [DCETH];
    0x45 DC_SEND_ONLY_WITH_IMMEDIATE Dc Send Only [DCETH IMM_DT];
    0x46 DC_RDMA_WRITE_FIRST Dc RdmaWrite First [DCETH RETH];
    0x47 DC_RDMA_WRITE_MIDDLE Dc RdmaWrite Middle [DCETH];
    0x48 DC_RDMA_WRITE_LAST Dc RdmaWrite Last [DCETH];
    0x49 DC_RDMA_WRITE_LAST_WITH_IMMEDIATE Dc RdmaWrite Last [DCETH IMM_DT];
    0x4a DC_RDMA_WRITE_ONLY Dc RdmaWrite Only [DCETH RETH];
    0x4b DC_RDMA_WRITE_ONLY_WITH_IMMEDIATE Dc RdmaWrite Only [DCETH RETH IMM_DT];
    0x4c DC_RDMA_READ_REQUEST Dc RdmaReadRequest Only [DCETH RETH];
    0x4d DC_RDMA_READ_RESPONSE_FIRST Dc RdmaReadResponse First [DCETH AETH];
    0x4e DC_RDMA_READ_RESPONSE_MIDDLE Dc RdmaReadResponse Middle [DCETH];
    0x4f DC_RDMA_READ_RESPONSE_LAST Dc RdmaReadResponse Last [DCETH AETH];
    0x50 DC_RDMA_READ_RESPONSE_ONLY Dc RdmaReadResponse Only [DCETH AETH];
    0x51 DC_ACKNOWLEDGE Dc Acknowledge Only [DCETH AETH];
    0x52 DC_ATOMIC_ACKNOWLEDGE Dc AtomicAcknowledge Only [DCETH AETH ATOMIC_ACK_ETH];
    0x53 DC_COMPARE_SWAP Dc CompareSwap Only [DCETH ATOMIC_ETH];
    0x54 DC_FETCH_ADD Dc FetchAdd Only [DCETH ATOMIC_ETH];
    0x56 DC_SEND_LAST_WITH_INVALIDATE Dc Send Last [DCETH IETH];
    0x57 DC_SEND_ONLY_WITH_INVALIDATE Dc Send Only [DCETH IETH];
}

//! Files that are cut, damaged or hostile.

use super::*;

#[test]
fn a_cut_file_is_read_up_to_the_cut() {
    let pcap = as_pcap(ByteOrder::LittleEndian, false)[..2_000].to_vec();
    for whole in [
        pcap.clone(),
        small_pcapng(ByteOrder::LittleEndian),
        small_pcapng(ByteOrder::BigEndian),
    ] {
        let wanted = essence(&read(&whole));
        for cut in 4..whole.len() {
            let read = read(&whole[..cut]);
            let got = essence(&read);
            assert_eq!(got, wanted[..got.len()], "cut at {cut}");
            let at = read.facts.truncated_at;
            assert!(
                at.is_none() || at == Some(cut as u64),
                "cut at {cut}: {at:?}"
            );
            assert_eq!(
                at.is_some(),
                !read
                    .facts
                    .problems()
                    .iter()
                    .all(|line| !line.contains("breaks off"))
            );
        }
    }
}

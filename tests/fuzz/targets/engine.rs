#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| rocescope_fuzz::engine(octets));

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (vestal_readers::named("vtrace").read)(bytes);
});

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (vestal_readers::named("csv_trace").read)(bytes);
});

use super::*;

#[test]
fn cpus_are_listed_as_the_kernel_does() {
    assert_eq!(cpu_list("0-2,5\n"), Some(vec![0, 1, 2, 5]));
    assert_eq!(cpu_list("3"), Some(vec![3]));
    assert_eq!(cpu_list("\n"), Some(vec![]));
    assert_eq!(cpu_list("(null)\n"), Some(vec![]));
    assert_eq!(cpu_list("2,0-3"), Some(vec![0, 1, 2, 3]));
    for text in [
        "3-1",
        "a",
        "1-",
        "-1",
        "1,,2",
        "0-99999999999999999999",
        "0-70000",
    ] {
        assert_eq!(cpu_list(text), None, "{text}");
    }
}

#[test]
fn the_model_of_preemption_is_found_where_it_stands() {
    use Preemption::{Dynamic, Full, Lazy, None as Never, RealTime, Voluntary};
    for (text, model) in [
        ("#1 SMP PREEMPT_RT Debian 6.12.6-1", RealTime),
        ("#1 SMP PREEMPT_DYNAMIC @0", Dynamic),
        ("#1 SMP PREEMPT Tue Jan 7", Full),
        ("#58-Ubuntu SMP Mon Feb 3", Voluntary),
    ] {
        assert_eq!(preemption_of_version(text), Some(model), "{text}");
    }
    assert_eq!(preemption_of_version("PREEMPT_RT"), None);
    for (text, model) in [
        ("none voluntary (full) lazy\n", Some(Full)),
        ("(none) voluntary full", Some(Never)),
        ("none voluntary full (lazy)", Some(Lazy)),
        ("none voluntary full", None),
        ("(rubbish)", None),
        ("(", None),
    ] {
        assert_eq!(preemption_in_force(text), model, "{text}");
    }
    let line = "quiet preempt=none console=ttyS0 preempt=full\n";
    assert_eq!(preemption_of_command_line(line), Some(Full));
    assert_eq!(preemption_of_command_line("quiet nopreempt=full"), None);
    let configuration =
        "# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y\n";
    assert_eq!(preemption_of_configuration(configuration), Some(Voluntary));
    assert_eq!(preemption_of_configuration(""), None);
}

#[test]
fn limits_and_status_are_read_by_name() {
    let text = "\
Limit                     Soft Limit           Hard Limit           Units
Max locked memory         8388608              unlimited            bytes
Max realtime priority     95                   99
";
    let read = limits(text).unwrap();
    assert_eq!(
        (read.priority, read.locked_bytes),
        (Some(95), Some(8_388_608))
    );
    let unlimited = text.replace("8388608  ", "unlimited");
    assert_eq!(limits(&unlimited).unwrap().locked_bytes, None);
    assert_eq!(limits("Max locked memory  1 1 bytes\n"), None);
    assert_eq!(limits(&text.replace("95", "x")), None);

    let text =
        "Name:\tcat\nVmSize:\t    3060 kB\nCapEff:\t0000000000804000\nCpus_allowed_list:\t0-1,4\n";
    let read = status(text).unwrap();
    assert_eq!(read.capabilities, 1 << 23 | 1 << 14);
    assert_eq!(read.address_space, 3060 * 1024);
    assert_eq!(read.cpus, [0, 1, 4]);
    for (from, to) in [
        ("3060", "x"),
        ("0000000000804000", "g"),
        ("0-1,4", "4-1"),
        ("VmSize", "Vm"),
    ] {
        assert_eq!(status(&text.replace(from, to)), None, "{to}");
    }
    assert_eq!(status(&text.replace("3060", "18446744073709551615")), None);
}

#[test]
fn time_that_a_hypervisor_took_is_a_share_of_all() {
    let text = "cpu  1 2 3\ncpu0 10 0 10 70 0 5 5 0 9 9\ncpu1 10 0 10 60 0 5 5 10 9 9\ncpu11 1 1 1 1 1 1 1 1\n";
    assert_eq!(stolen_ppm(text, 0), Some(0));
    assert_eq!(stolen_ppm(text, 1), Some(100_000));
    assert_eq!(stolen_ppm(text, 11), Some(125_000));
    assert_eq!(stolen_ppm(text, 2), None);
    assert_eq!(stolen_ppm("cpu0 0 0 0 0 0 0 0 0", 0), None);
    assert_eq!(stolen_ppm("cpu0 1 2", 0), None);
    let most = format!("cpu0 0 0 0 0 0 0 0 {}", u64::MAX);
    assert_eq!(stolen_ppm(&most, 0), Some(1_000_000));
}

#[test]
fn words_and_lines_are_what_they_say() {
    assert_eq!(word("performance\n").as_deref(), Some("performance"));
    for text in ["", "two words", "\u{1}", &"x".repeat(65)] {
        assert_eq!(word(text), None, "{text:?}");
    }
    assert_eq!(line("Amazon EC2\n").as_deref(), Some("Amazon EC2"));
    assert_eq!(
        line("a\u{1b}[31m"),
        None,
        "nothing that a terminal would obey"
    );
    assert_eq!(
        hypervisor_flag("processor : 0\nflags\t\t: fpu hypervisor\n"),
        Some(true)
    );
    assert_eq!(hypervisor_flag("flags : fpu hypervisors"), Some(false));
    assert_eq!(hypervisor_flag("Features : fp"), None);
    assert_eq!(throttling(950_000, 0), None);
    assert_eq!(throttling(-1, 1_000_000).unwrap().runtime_us, -1);
}

mod arbitrary {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever stands in a file: an answer or none, and no panic.
        #[test]
        fn no_text_makes_a_parser_panic(text in "(?s).{0,200}|[0-9,-]{0,40}|[a-z=() \n]{0,60}") {
            let _ = (number(&text), word(&text), line(&text), cpu_list(&text), limits(&text));
            let _ = (status(&text), hypervisor_flag(&text), stolen_ppm(&text, 0));
            let _ = (preemption_of_version(&text), preemption_in_force(&text));
            let _ = (preemption_of_command_line(&text), preemption_of_configuration(&text));
            let rows = format!("VmSize: {text}\nCapEff: {text}\nCpus_allowed_list: {text}\ncpu0 {text}");
            let _ = (status(&rows), stolen_ppm(&rows, 0));
        }
    }
}

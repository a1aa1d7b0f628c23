#!/usr/bin/env bash
# The test of scripts/hygiene.sh: plants each violation in a clean little tree and expects it found.
#
# Ends with a line in the form of cargo's test programs. Forbidden words are put together from
# halves, so that this file passes the check it tests.
set -uo pipefail

hygiene="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/hygiene.sh"
tree="$(mktemp -d)" || exit 3
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

# A tree without findings, in which everything that is allowed stands close to what is not.
clean_tree() {
    rm -rf "$tree"
    mkdir -p "$tree"/{scripts,docs/adr,crates/{core,sim,cli,linux}/src,crates/sys/src,crates/sim/tests/reference}
    cd "$tree" || exit 3
    git init -q .
    echo mit >LICENSE-MIT
    echo apache >LICENSE-APACHE
    printf '[workspace.lints.clippy]\nprint_stdout = "warn"\n' >Cargo.toml
    printf '[workspace.dependencies]\nvestal-core = { path = "x" }\nlibm = "1"\n' >>Cargo.toml
    echo '| `libm` | logarithms |' >docs/adr/0002-dependencies.md
    for crate in core sim cli linux; do
        printf '[package]\nname = "x"\nlicense.workspace = true\n[dependencies]\n' >"crates/$crate/Cargo.toml"
        [ "$crate" = core ] || printf 'vestal-core.workspace = true\n' >>"crates/$crate/Cargo.toml"
        printf '[dev-dependencies]\nproptest = "1"\n[lints]\nworkspace = true\n' >>"crates/$crate/Cargo.toml"
        printf '//! A crate.\n' >"crates/$crate/src/lib.rs"
    done
    printf 'vestal-analysis.workspace = true\n' >crates/sim/dev && sed -i '/proptest/r crates/sim/dev' crates/sim/Cargo.toml
    rm crates/sim/dev
    echo 'pub fn f() { unsafe { g() } }' >crates/sys/src/time.rs
    printf '// unsafe println!\n#![forbid(unsafe_code)]\nconst KIND: &str = "unsafe";\n' >crates/core/src/lib.rs
    printf 'fn f() {}\n#[cfg(test)]\nmod tests { fn g() { println!("x"); } }\n' >crates/sim/src/lib.rs
    echo 'fn main() { println!("x"); }' >crates/cli/src/main.rs
    printf '//! Not vestal_core::engine.\nuse vestal_core::model::Task;\nuse vestal_core::time::{Instant, Service};\n' \
        >crates/sim/tests/reference/mod.rs
    printf '# Page\n[here](docs/page.md#part), [there](https://example.org/x), `[no](link.md)`\n```\n[no](link.md)\n```\n' >README.md
    echo '# Part, see [home](../README.md) and the network''s work/ directory' >docs/page.md
    mkdir -p crates/policy/src/policies
    printf 'static ABOUT: About = About {\n    name: "zss",\n};\nconst TESTS: &[&str] = &["zss"];\n' \
        >crates/policy/src/policies/zss.rs
    printf '// who == "zss"\nconst DEMO: &str = "zss";\n#[cfg(test)]\nmod tests { fn f(name: &str) { name == "zss" } }\n' \
        >crates/sim/src/names.rs
    # Ten files know an item of hub/core.rs, through a re-export; an eleventh only another one, and what all share.
    mkdir -p crates/linux/src/{hub,words}
    printf 'mod core;\nmod other;\npub(crate) use core::Core;\npub(crate) use other::{Other, One as Two};\n' >crates/linux/src/hub/mod.rs
    echo 'pub struct Core;' >crates/linux/src/hub/core.rs
    printf 'pub struct Other;\npub struct One;\n' >crates/linux/src/hub/other.rs
    echo 'pub struct Bell;' >crates/linux/src/words/bell.rs
    for spoke in 1 2 3 4 5 6 7 8 9 10; do
        printf 'use crate::words::bell::Bell;\nuse crate::{\n    hub::Core,\n};\n' >"crates/linux/src/spoke$spoke.rs"
    done
    printf 'use crate::{hub::{Other, Two}, words::bell::Bell};\n#[cfg(test)]\nmod tests { use crate::hub::Core; }\n' \
        >crates/linux/src/spoke11.rs
    # A word that has its row, one that is somebody else's, and one of a test.
    printf 'pub(crate) struct Latest {\n    word: AtomicU64,\n}\n' >crates/linux/src/words/latest.rs
    printf 'struct Shared<'"'"'a> {\n    pub(crate) mode: Latest,\n    all: &'"'"'a Latest,\n}\n#[cfg(test)]\nstruct Seen {\n    seen: Latest,\n}\n' \
        >crates/linux/src/shared.rs
    echo '| `mode` (`Latest`) | the manager |' >docs/linux-words.md
    seq 601 >docs/long.md
    echo 'docs/long.md a table of numbers' >scripts/long-files.txt
}

verdict() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n%s\n' "$2" "$output"
    fi
}

# expect WHAT PATTERN: exactly one finding, which begins with `file:line` as given.
expect() {
    output="$(bash "$hygiene" "$tree")"
    [ $? = 1 ] && grep -qE "^$2" <<<"$output" && grep -q ' 1 findings$' <<<"$output"
    verdict $? "$1"
    clean_tree
}

clean_tree
output="$(bash "$hygiene" "$tree")"
verdict $? "the clean tree has no finding"

rm LICENSE-MIT
expect "a missing licence text" 'LICENSE-MIT:1:'
sed -i /license/d crates/sim/Cargo.toml
expect "a crate without licence" 'crates/sim/Cargo\.toml:1:'

for trace in '/wo''rk/main' '/fa''rm/x' '/tmp/w''t/x' 'sha''red/design' 'algor''ithms.md' \
    'cla''ude' 'Anthro''pic' 'Chat''GPT' 'Copi''lot' 'an LL''M' 'Co-Auth''ored-By: x' 'iss''ue #3'; do
    printf 'first\nsee %s\n' "$trace" >docs/trace.md
    expect "the trace $trace" 'docs/trace\.md:2:'
done

for word in 'TO''DO' 'FIX''ME: x' 'to''do!()' 'unimple''mented!()' '#[ig''nore = "slow"]' '#[ig''nore]'; do
    printf '\n%s\n' "$word" >crates/sim/src/later.rs
    expect "work put off with $word" 'crates/sim/src/later\.rs:2:'
done

for code in 'let x = unsafe { f() };' 'unsafe fn f() {}' 'pub unsafe trait T {}' 'f("a", unsafe { g("b") }) // c'; do
    printf '\n\n%s\n' "$code" >crates/linux/src/lib.rs
    expect "outside sys: $code" 'crates/linux/src/lib\.rs:3:'
done

seq 601 | sed 's/^/\/\/ /' >crates/sim/src/long.rs
expect "a file of 601 lines" 'crates/sim/src/long\.rs:601:'
echo docs/long.md >scripts/long-files.txt
output="$(bash "$hygiene" "$tree")"
[ $? = 1 ] && grep -q '^scripts/long-files\.txt:1:.*no reason' <<<"$output"
verdict $? "a long file without a reason"
clean_tree
seq 10 >docs/long.md
expect "a reason for a file that is short" 'scripts/long-files\.txt:1:'

for import in 'use vestal_core::scheduler::Plan;' 'use vestal_core::Task;' 'use vestal_core::{model::Task, engine};' \
    'use vestal_core as core;' 'type T = (vestal_core::model::Task, vestal_core::plan::Plan);' \
    'use vestal_core::models::X;' 'use vestal_sim::engine::run;' 'use crate::engine::run;' 'use super::super::engine;'; do
    printf '%s\n' "$import" >>crates/sim/tests/reference/mod.rs
    expect "the reference writes $import" 'crates/sim/tests/reference/mod\.rs:4:'
done

for import in 'use std::sync::Mutex;' 'let now = std::time::Instant::now();' '#![cfg(target_os = "linux")]' '#[cfg(unix)]'; do
    mkdir -p crates/account/src
    printf '%s\n' "$import" >crates/account/src/judge.rs
    expect "the account writes $import" 'crates/account/src/judge\.rs:1:'
done
for import in 'use crate::task::Task;' 'use vestal_core::JobId;'; do
    mkdir -p crates/linux/src/words
    printf '%s\n' "$import" >crates/linux/src/words/bell.rs
    expect "a word writes $import" 'crates/linux/src/words/bell\.rs:1:'
done

sed -i 's/^\[dependencies\]/&\nlibm = "1"/' crates/core/Cargo.toml
expect "core with a dependency" 'crates/core/Cargo\.toml:5:'
sed -i 's/^\[dependencies\]/&\nvestal-analysis.workspace = true/' crates/sim/Cargo.toml
expect "the simulator knows the analysis" 'crates/sim/Cargo\.toml:5:'
printf '[dependencies.vestal-workload]\npath = "../workload"\n' >>crates/linux/Cargo.toml
expect "a dependency as a table of its own" 'crates/linux/Cargo\.toml:10:'
printf "[target.'cfg(unix)'.dependencies]\nvestal-sim.workspace = true\n" >>crates/linux/Cargo.toml
expect "a dependency of one target" 'crates/linux/Cargo\.toml:11:'
mkdir crates/new && cp crates/sim/Cargo.toml crates/new
expect "a crate without a rule" 'crates/new/Cargo\.toml:1:'
mkdir -p examples/own-policy && cp crates/sim/Cargo.toml examples/own-policy
sed -i 's/^\[dependencies\]/&\nvestal-linux.workspace = true/' examples/own-policy/Cargo.toml
expect "an example that knows the Linux world" 'examples/own-policy/Cargo\.toml:5:'

printf 'use crate::b::B;\n' >crates/sim/src/a.rs
printf '#[cfg(test)]\nuse crate::a::A;\n' >crates/sim/src/b.rs
mkdir crates/sim/src/c && printf 'use crate::{d::D, a::A};\n' >crates/sim/src/c/deep.rs
printf 'fn f() { crate::c::g() } // crate::a\n' >crates/sim/src/d.rs
expect "modules that know each other" 'crates/sim/src/lib\.rs:1:'
for import in 'use crate::hub::Core;' 'fn f() -> crate::hub::core::Core { todo() }' 'use crate::{words::bell::Bell, hub::{self, Core as C}};'; do
    printf '%s\n' "$import" >>crates/linux/src/spoke11.rs && sed -i /tests/d crates/linux/src/spoke11.rs
    sed -i '/cfg(test)/d' crates/linux/src/spoke11.rs
    expect "an eleventh file writes $import" 'crates/linux/src/hub/core\.rs:1: 11 files'
done
# Beyond items that are there for tests alone, of which each of these hides what comes after it.
for item in 'use crate::hub::Core;' 'mod model;' 'mod tests { fn f() {} }' 'fn f(\n    x: u8,\n) {\n    g();\n}' \
    '#[expect(\n    dead_code,\n    reason = "x"\n)]\nimpl S {\n    fn f() {}\n}' 'const LONG: &str =\n    "x";' \
    'impl<T> Trait\n    for S<T>\nwhere\n    T: Copy,\n{\n    fn f() {}\n}'; do
    printf 'use crate::b::B;\n' >crates/sim/src/a.rs
    printf "#[cfg(test)]\n$item\nuse crate::a::A;\n" >crates/sim/src/b.rs
    expect "modules that know each other behind $item" 'crates/sim/src/lib\.rs:1:'
done
# A file inside of a module that knows the module, which knows the file; what that imported itself is nobody's.
mkdir -p crates/linux/src/knot
printf 'mod deep;\nuse crate::hub::Other;\nuse deep::Deep;\npub struct Knot;\n' >crates/linux/src/knot/mod.rs
printf 'use super::Other;\npub struct Deep;\n' >crates/linux/src/knot/deep.rs
output="$(bash "$hygiene" "$tree")"
verdict $? "a file that knows what its module imports"
printf 'use super::{Knot, Other};\npub struct Deep;\n' >crates/linux/src/knot/deep.rs
expect "files that know each other" 'crates/linux/src/lib\.rs:1: files that know each other: knot'

for field in 'pub(crate) beat: Latest,' 'beat: Box<[AtomicBool]>,' 'beat: Arc<Mutex<u8>>,'; do
    printf 'struct Cpu {\n    name: String,\n    %s\n}\n' "$field" >>crates/linux/src/shared.rs
    expect "a word without a row: $field" 'crates/linux/src/shared\.rs:11: threads share beat'
done
printf 'struct Cpu {\n    beat: Latest,\n}\n' >>crates/linux/src/shared.rs
echo '| `mode` | of whom `beat` is told |' >>docs/linux-words.md
expect "a word that a row names, and has none" 'crates/linux/src/shared\.rs:10: threads share beat'
for word in 'static COUNT: AtomicUsize = AtomicUsize::new(0);' 'pub struct COUNT(AtomicU32);'; do
    printf '%s\n' "$word" >crates/sys/src/count.rs
    expect "a word without a row: $word" 'crates/sys/src/count\.rs:1: threads share COUNT'
done

printf 'match kind {\n    Enforcement::Adaptive => 1,\n}\n' >crates/sim/src/kind.rs
printf 'fn f() { Enforcement::of(x) } // TaskOrder::FixedPriority\n#[cfg(test)]\nmod tests { use Enforcement::Static; }\n' >crates/sim/src/fine.rs
expect "a world that matches on a kind of policy" 'crates/sim/src/kind\.rs:2:'
for compare in 'if name == "zss" {' 'if "zss" != *name {' '    "zss" => 1,' '    "rms" | "zss" => 1,' \
    'matches!(name, "zss")' 'name.starts_with("zss")'; do
    printf '%s\n' "$compare" >crates/sim/src/kind.rs
    expect "who compares a name: $compare" 'crates/sim/src/kind\.rs:1:'
done

echo 'toml = "1"' >>Cargo.toml
expect "a dependency without a reason" 'Cargo\.toml:6:'

for print in 'fn f() { println!("x"); }' 'fn f() { eprint!("x"); }' 'fn f() { dbg!(1); }' \
    '#![allow(clippy::print_stdout)]'; do
    printf '%s\n' "$print" >crates/sim/src/print.rs
    expect "below the cli: $print" 'crates/sim/src/print\.rs:1:'
done
sed -i '/^\[lints\]/,$d' crates/sim/Cargo.toml
expect "a crate without the workspace's lints" 'crates/sim/Cargo\.toml:1:'
sed -i /print_stdout/d Cargo.toml
expect "the print lint switched off" 'Cargo\.toml:1:'

for link in '[a](gone.md)' '[a](docs/gone.md#x "title")' '![a](/docs/gone.svg)' '[a]: docs/gone.md'; do
    printf '\n%s\n' "$link" >>README.md
    expect "the link $link" 'README\.md:7:'
done

word=ok
[ "$failed" = 0 ] || word=FAILED
printf 'test result: %s. %d passed; %d failed; hygiene.sh\n' "$word" "$passed" "$failed"
[ "$failed" = 0 ]

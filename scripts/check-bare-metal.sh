#!/usr/bin/env bash
# The core on a microcontroller: the image links for a Cortex-M3 without a panic path, and replaying
# recorded facts in QEMU (mps2-an385) gives the same plans as on this host. And vestal-hsf: an image with
# every call for six servers with six tasks each has no panic path either, and at most 8 KB of code. The library for C,
# linked with what a system calls, has none either, and at most 9 KB.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

package=crates/kernel/replay
target=thumbv7m-none-eabi
toolchain=$(toolchain_for "$target") || die 3 "rustup target add $target, then try again"
work=$PWD/target/bare-metal
mkdir -p "$work"

host=$(cargo run --locked --quiet --release --manifest-path "$package/Cargo.toml" \
  --target-dir "$work/host" --features record --bin record -- "$work/recording.bin")
# shellcheck disable=SC2086
VESTAL_RECORDING="$work/recording.bin" cargo $toolchain build --locked --quiet --release \
  --manifest-path "$package/Cargo.toml" --target-dir "$work/image" --target "$target" --bin image
image=$work/image/$target/release/image

# no_panic_path IMAGE: symbols of the panic machinery in a linked image mean that some path may panic.
no_panic_path() {
  if strings -a "$1" | grep -E 'core9panicking|panic_fmt|panic_bounds_check' | sort -u | head -n 5 | grep .; then
    echo "the image has a panic path (symbols above)" >&2
    exit 1
  fi
}
no_panic_path "$image"
echo "image: $(stat -c %s "$image") bytes with symbols, no panic path"

# -icount with sleep=off makes the run repeat exactly; the image ends by itself within a second.
guest=$(timeout 60 qemu-system-arm -M mps2-an385 -nographic -monitor none -serial none \
  -semihosting-config enable=on,target=native,userspace=on -icount shift=7,sleep=off \
  -kernel "$image" 2>&1) || { echo "the image failed: $guest" >&2; exit 1; }
echo "host:  $host"
echo "guest: $guest"
if [ "$host" != "$guest" ]; then
  echo "the plans differ between host and microcontroller" >&2
  exit 1
fi
echo "the same plans on both"

# shellcheck disable=SC2086
cargo $toolchain build --locked --quiet --release --manifest-path crates/kernel/footprint/Cargo.toml \
  --target-dir "$work/footprint" --target "$target"
footprint=$work/footprint/$target/release/vestal-footprint
no_panic_path "$footprint"
code=$(size "$footprint" | awk 'NR == 2 { print $1 + $2 }')
echo "hsf:   $code bytes of code and constants, no panic path"
if [ "$code" -gt 8192 ]; then
  echo "vestal-hsf is larger than 8 KB" >&2
  exit 1
fi

# shellcheck disable=SC2086
cargo $toolchain build --locked --quiet --release --manifest-path crates/kernel/c/Cargo.toml \
  --target-dir "$work/c" --target "$target"
# Those of the header but what only tests ask: the stopwatch, the invariants, the size.
mapfile -t calls < <(grep -oE '^[a-z0-9_]+ hsf_[a-z_]+\(' crates/kernel/c/include/vestal_hsf.h |
  sed -E 's/.* (hsf_[a-z_]+)\(/--undefined=\1/' | grep -vE 'stopwatch|is_sound|ram')
# shellcheck disable=SC2086
linker=$(find "$(rustc $toolchain --print sysroot)" -name rust-lld -print -quit)
"$linker" -flavor gnu --gc-sections -e hsf_tick "${calls[@]}" "$work/c/$target/release/libvestal_hsf_c.a" -o "$work/library"
no_panic_path "$work/library"
code=$(size "$work/library" | awk 'NR == 2 { print $1 + $2 }')
echo "hsf for C: $code bytes of code and constants, no panic path"
if [ "$code" -gt 9216 ]; then
  echo "vestal-hsf for C is larger than 9 KB" >&2
  exit 1
fi
echo "test result: ok. 4 passed; 0 failed;"

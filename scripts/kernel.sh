# What the scripts about the kernel on bare metal share; sourced after lib.sh, never run.
#
# Sets WORK, CRATE and the boards, and defines `verdict`, `cargo_for`, `images`, `emulator`, `runs` and `runs_twice`.
# shellcheck shell=bash

readonly CRATE=crates/kernel/rtos
WORK="$(realpath -m "${CARGO_TARGET_DIR:-target}")/kernel"
readonly WORK
# Words of the emulator are read apart at blanks, and its options at commas.
case "$WORK" in *[[:space:],]*) die 3 "the target directory may have no blank and no comma in its path: $WORK" ;; esac

# board  target  QEMU
readonly BOARDS='
mps2-an385  thumbv7m-none-eabi          qemu-system-arm
lm3s6965evb thumbv7m-none-eabi          qemu-system-arm
virt        riscv32imac-unknown-none-elf qemu-system-riscv32
'
readonly IMAGES=(figures judged checks bench isolation)
passed=0 failed=0

# verdict CODE WHAT
verdict() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
        say "ok      $2"
    else
        failed=$((failed + 1))
        say "FAILED  $2"
    fi
}

target_of() { awk -v board="$1" '$1 == board { print $2 }' <<<"$BOARDS"; }
qemu_of() { awk -v board="$1" '$1 == board { print $3 }' <<<"$BOARDS"; }

# cargo_for BOARD FOLDER COMMAND [OPTION...]: cargo with a toolchain that can build for the board, in $WORK/build/FOLDER. What is fresh cargo does
# not put in its place again, so that each board has a folder of its own. What is compiled piece by piece takes other instructions.
cargo_for() {
    local board="$1" folder="$2" command="$3" target toolchain
    shift 3
    target="$(target_of "$board")"
    toolchain="$(toolchain_for "$target")" || return
    # shellcheck disable=SC2086
    VESTAL_BOARD="${board#virt}" CARGO_INCREMENTAL=0 cargo $toolchain "$command" --locked --quiet --release --features image \
        --target "$target" --target-dir "$WORK/build/$folder" "$@"
}

# images BOARD [CRATE [NAME [IMAGE...]]]: these, or all of $IMAGES, in $WORK/NAME.
images() {
    local board="$1" crate="${2:-$CRATE}" name="${3:-$1}" folder="$1" image all=("${@:4}") only=()
    # Copies with a fault are new each time, and may share one.
    [ "$crate" = "$CRATE" ] || folder="wrong-$1"
    for image in "${all[@]}"; do only+=(--bin "$image"); done
    [ "${#all[@]}" -gt 0 ] || all=("${IMAGES[@]}")
    cargo_for "$board" "$folder" build --manifest-path "$crate/Cargo.toml" "${only[@]}" || return
    mkdir -p "$WORK/$name"
    for image in "${all[@]}"; do
        cp "$WORK/build/$folder/$(target_of "$board")/release/$image" "$WORK/$name/$image" || return
    done
}

# emulator BOARD IMAGE: the words that run it, bounded, but for what its arguments are. With `icount` a run repeats exactly, and
# with sleep=off nobody waits for a tick.
emulator() {
    local machine=(-M "$1")
    [ "$1" = virt ] && machine=(-M virt -bios none)
    printf '%s ' timeout -k 5 60 "$(qemu_of "$1")" "${machine[@]}" -display none -monitor none -serial none \
        -chardev stdio,id=out -icount shift=7,sleep=off -kernel "$2" \
        -semihosting-config enable=on,target=native,chardev=out
}

# runs BOARD IMAGE ARGUMENT: what the image prints.
runs() {
    local words
    read -ra words <<<"$(emulator "$1" "$2")"
    words[-1]+=",arg=$3"
    "${words[@]}" </dev/null
}

# runs_twice BOARD IMAGE ARGUMENT OUTPUT OTHER-OUTPUT: two runs beside each other, which do not notice; whether both end well.
runs_twice() {
    local other again
    runs "$1" "$2" "$3" >"$5" &
    other=$!
    runs "$1" "$2" "$3" >"$4"
    again=$?
    wait "$other" && [ "$again" = 0 ]
}

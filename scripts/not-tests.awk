# Leaves out of Rust what is there for tests alone: each item with #[cfg(test)], and goes on behind it. To be put before a program that
# reads the rest, which may see nothing of the first lines of a file:
#
#     awk -f not-tests.awk -f PROGRAM FILE...

FNR == 1 { test_follows = in_attribute = in_test = 0 }
in_test {
    if (substr($0, 1, length(test_indent)) == test_indent && substr($0, length(test_indent) + 1) ~ /^(}|\]|\);)/) in_test = 0
    next
}
/^ *#\[cfg\((all\()?test/ { test_indent = $0; sub(/#.*/, "", test_indent); test_follows = 1; next }
test_follows && in_attribute { if (/\]$/) in_attribute = 0; next }
test_follows && /^ *#\[/ { in_attribute = !/\]$/; next }
test_follows && /^ *(\/\/|$)/ { next }
# An item without a bracket ends where a line ends in a semicolon or a comma; else it ends where one begins with its indentation and a closing bracket.
test_follows && /[;,}]$/ { test_follows = 0; next }
test_follows && /[{(\[]$/ { test_follows = 0; in_test = 1; next }
test_follows { next }

# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Checks layout (.clang-format) and names (.clang-tidy). Other versions of these programs lay code
# out differently, so only version 14 is used. If it is not installed, the closing table says "not
# run".

# Lists the tracked sources, or all sources if this is no checkout.
sources() {
    git ls-files '*.cpp' '*.h' '*.cu' '*.cuh' '*.comp' '*.glsl' '*.c' ':!tests/data' 2>/dev/null ||
        find include src shaders tools tests -path tests/data -prune -o -type f \
            \( -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.comp' -o -name '*.glsl' \
            -o -name '*.c' \) -print
}

version_14() { # PROGRAM: prints the name of its version 14
    local name
    for name in "$1-14" "$1"; do
        if command -v "$name" >/dev/null && [[ $("$name" --version) == *"version 14."* ]]; then
            echo "$name"
            return 0
        fi
    done
    return 1
}

formatted() { # CLANG_FORMAT
    sources | xargs -r "$1" --dry-run -Werror # skips what a file marks as "clang-format off"
}

# Private data members are named m_name. This only looks at lines of declarations after "private:",
# which .clang-format indents by four more columns. clang-tidy, in `check`, understands the code and
# checks all other names.
private_members() {
    sources | xargs -r awk '
        FNR == 1 { private = 0 }
        {
            match($0, /^ */)
            indent = RLENGTH
        }
        /^ *private:/ {
            private = 1
            level = indent
            next
        }
        private && NF != 0 && indent <= level && !/^#/ { private = 0 }
        !private || indent != level + 4 { next }
        {
            line = $0
            sub(/\/\/.*/, "", line)
        }
        line ~ /^ *(using|friend|static|struct|class|enum|union|template|typedef|extern|return|@)/ { next }
        line !~ /[;=]|[A-Za-z0-9_>\]]\{/ { next }
        {
            sub(/[;={].*/, "", line) # keep only the first of several members
            gsub(/<[^;]*>/, "", line)
            gsub(/\[[^]]*\]/, "", line)
            sub(/,.*/, "", line)
            sub(/ +$/, "", line)
            if (line ~ /[()]/ || line !~ /[A-Za-z0-9_*&] *[ *&][A-Za-z_][A-Za-z0-9_]*$/) next
            name = line
            sub(/.*[ *&]/, "", name)
            if (name !~ /^m_[a-z]/) {
                printf "%s:%d: private member %s is not m_name\n", FILENAME, FNR, name
                bad = 1
            }
        }
        END { exit bad }'
}

# Files stay below 700 lines. Functions of the host have at most 100 lines; their braces are lines
# of their own, because .clang-format puts them there.
lengths() {
    sources | xargs -r awk '
        FNR == 1 {
            delete begin
            isHost = FILENAME ~ /\.(cpp|h|c)$/
        }
        FNR == 701 {
            printf "%s: more than 700 lines\n", FILENAME
            bad = 1
        }
        isHost && /^ *\{$/ {
            match($0, /^ */)
            begin[RLENGTH] = before ~ /\)( const| noexcept| override| final)*$/ && before !~ /^ *(if|for|while|switch|else)/ ? FNR : 0
        }
        isHost && /^ *\}$/ {
            match($0, /^ */)
            if (begin[RLENGTH] != 0 && FNR - begin[RLENGTH] > 101) {
                printf "%s:%d: a function of %d lines\n", FILENAME, begin[RLENGTH], FNR - begin[RLENGTH] - 1
                bad = 1
            }
            begin[RLENGTH] = 0
        }
        { before = $0 }
        END { exit bad }'
}

# A macro that unrolls a loop (shaders/lib/loops.glsl) must stand on a line of its own, and in
# braces if the loop belongs to an `if` or to another loop. Otherwise clang-format indents the
# loop's body wrongly.
loop_bodies() {
    sources | grep -E '\.(comp|glsl)$' | xargs -r awk '
        function refuse(why) {
            printf "%s:%d: %s\n", FILENAME, FNR, why
            bad = 1
        }
        FNR == 1 { before = "" }
        /\[\[(dont_)?unroll\]\]/ && FILENAME !~ /loops\.glsl$/ { refuse("an attribute; loops.glsl has a macro for it") }
        /SLUICE_(DONT_)?UNROLL[ \t]+[^ \t\\]/ && !/#define/ { refuse("the loop stands on the line of its macro") }
        /^ *SLUICE_(DONT_)?UNROLL/ && before !~ /^ *#/ && before ~ /(\)|else) *\\?$/ {
            refuse("braces are missing around the loop")
        }
        { before = $0 }
        END { exit bad }'
}

check_style() {
    local program
    if program=$(version_14 clang-format); then
        step clang-format formatted "$program"
    else
        not_run clang-format layout "no clang-format 14"
    fi
    step private-members private_members
    step lengths lengths
    step loop-bodies loop_bodies
}

# Checks all names in C++ that this build compiles. The generated headers must have been built.
tidied() { # CLANG_TIDY
    sed -n 's/.*"file": "\(.*\)".*/\1/p' build/release/compile_commands.json |
        grep -E "^$root/(src|tools|tests)/.*\.cpp$" | sort -u |
        xargs -r -n 1 -P "$jobs" "$1" -p build/release --extra-arg=-w --quiet
}

check_names() {
    local program
    if program=$(version_14 clang-tidy); then
        step clang-tidy tidied "$program"
    else
        not_run clang-tidy names "no clang-tidy 14"
    fi
}

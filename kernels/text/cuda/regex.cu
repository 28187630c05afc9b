// Runs automata of regular expressions on strings. search.go of internal/text/regex is the
// same search in Go.
#include "strings.cuh"

// Automaton is the tables of a regex.Program, and a replacement.
//go:layout automatonLayout
struct Automaton {
    const u8 *ascii, *kinds; // of the characters below 128
    const u32 *transitions;
    const u16 *work;
    const u32 *range_starts;
    const u8 *range_classes;
    const u32 *parts; // of the replacement, three words each
    const u8 *literals;
    u32 stride, states, ranges, part_count, per_thread;
    u32 starts[4]; // by the kind of the character before
};

static constexpr u32 dead = 0, accepting = 1, other = 0, edge = 1;
static constexpr u32 none = 0xffffffff, fresh = 0xffff;
static constexpr u32 most_registers = 128; // MostRegisters in compile.go

// longest is the length of a row from which on it has no matches: positions have 32 bits.
static constexpr u64 longest = 0xfffffff0;

DEVICE u32 class_of(const Automaton &a, u32 character) {
    u32 low = 0, high = a.ranges;
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (a.range_starts[middle] <= character)
            low = middle;
        else
            high = middle;
    }
    return a.range_classes[low];
}

// shared_words are the classes of the characters below 128, and then the transitions of
// each state by class as the places of the next state's.
extern __shared__ u32 shared_words[];

// load_bytes returns the bytes at an aligned address in a word. Bytes beyond the data are
// not read.
DEVICE u64 load_bytes(const Strings &s, const u8 *at) {
    if (at >= s.data && at + 8 <= s.data + s.extent)
        return *(const u64 *)at;
    u64 word = 0;
    for (u32 i = 0; i < 8; i++)
        if (at + i >= s.data && at + i < s.data + s.extent)
            word |= (u64)at[i] << 8 * i;
    return word;
}

// matches_shared reports whether a row has a match. classes and table are in shared
// memory.
DEVICE bool matches_shared(const Automaton &a, const Strings &s, const Row &row, const u8 *classes, const u16 *table) {
    const u8 *at = row.begin, *const end = row.begin + row.length;
    const u32 stride = a.stride;
    u32 state = a.starts[edge] * stride;
    while (at < end && state > stride) {
        const u32 skip = (u64)at & 7;
        u64 word = load_bytes(s, at - skip) >> 8 * skip;
        u32 count = 8 - skip;
        if (end - at < count)
            count = end - at;
        const u64 high = word & 0x8080808080808080 & ~0ull >> (64 - 8 * count);
        if (high == 0 && count == 8) {
#pragma unroll
            for (u32 i = 0; i < 8; i++)
                state = table[state + classes[(u8)(word >> 8 * i)]];
            at += 8;
            continue;
        }
        if (high != 0)
            count = __builtin_ctzll(high) / 8;
        for (u32 i = 0; i < count; i++, word >>= 8)
            state = table[state + classes[(u8)word]];
        at += count;
        if (high != 0) {
            const Character c = decode(at, end - at);
            state = table[state + class_of(a, c.value)];
            at += c.width;
        }
    }
    return table[state + stride - 1] == stride;
}

// matches_global is matches_shared for an automaton that does not fit there.
DEVICE bool matches_global(const Automaton &a, const Row &row) {
    const u8 *at = row.begin, *const end = row.begin + row.length;
    u32 state = a.starts[edge];
    while (at < end && state > accepting) {
        const Character c = decode(at, end - at);
        const u32 class_ = c.value < 0x80 ? a.ascii[c.value] : class_of(a, c.value);
        state = a.transitions[state * a.stride + class_];
        at += c.width;
    }
    return a.transitions[state * a.stride + a.stride - 1] == accepting;
}

// regex_matches writes whether each row has a match. If shared is not 0, the tables are
// copied to shared memory.
KERNEL LAUNCH_BOUNDS(256) regex_matches(u32 *out, u32 *out_valid, Strings s, Automaton a, u32 shared) {
    u8 *const classes = (u8 *)shared_words;
    u16 *const table = (u16 *)(shared_words + 32);
    if (shared != 0) {
        for (u32 i = thread_in_block(); i < 128; i += threads_per_block())
            classes[i] = a.ascii[i];
        for (u32 i = thread_in_block(); i < a.states * a.stride; i += threads_per_block())
            table[i] = a.transitions[i] * a.stride;
        synchronize_block();
    }
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (s.capacity + 63) / 64 * 64; i += step) {
        const Row row = row_of(s, rows, i);
        bool matches = false;
        if (row.valid && row.length < longest)
            matches = shared != 0 ? matches_shared(a, s, row, classes, table) : matches_global(a, row);
        const u32 word = ballot(matches), valid = ballot(row.valid);
        if (lane_in_warp() == 0) {
            out[i / warp_threads] = word;
            if (out_valid != nullptr)
                out_valid[i / warp_threads] = valid;
        }
    }
}

// Search is the registers of a search and its latest match.
struct Search {
    u32 registers[most_registers];
    u32 match[most_registers + 1];
};

// run_work does the work of a transition at a position: see regex/work.go. It reports
// whether a thread matches.
DEVICE bool run_work(const Automaton &a, Search &search, u32 place, u32 at) {
    const u16 *words = a.work + place;
    const u32 match = *words++;
    if (match != 0) {
        const u16 *sets = words; // 16 registers in each
        words += (a.per_thread + 15) / 16;
        search.match[1] = at;
        for (u32 k = 0; k < a.per_thread; k++)
            search.match[k == 0 ? 0 : k + 1] = (sets[k / 16] >> k % 16 & 1) != 0 ? at : match == fresh ? none : search.registers[(match - 1) * a.per_thread + k];
    }
    u32 n = *words++;
    for (; n > 0; n--, words += 2)
        search.registers[words[0]] = search.registers[words[1]];
    for (n = *words++; n > 0; n--)
        search.registers[*words++] = at;
    for (n = *words++; n > 0; n--)
        search.registers[*words++] = none;
    return match != 0;
}

// find finds the first match from a position on.
DEVICE bool find(const Automaton &a, const Row &row, u32 from, Search &search) {
    u32 kind = edge;
    if (from > 0) {
        const u32 before = row.begin[from - 1];
        kind = before < 0x80 ? a.kinds[before] : other;
    }
    u32 state = a.starts[kind], at = from;
    bool found = false;
    for (;;) {
        u32 class_ = a.stride - 1, width = 0; // the end of the text
        if (at < row.length) {
            const Character c = decode(row.begin + at, row.length - at);
            class_ = c.value < 0x80 ? a.ascii[c.value] : class_of(a, c.value);
            width = c.width;
        }
        const u32 transition = a.transitions[state * a.stride + class_];
        if (transition >> 16 != 0)
            found |= run_work(a, search, transition >> 16, at);
        state = transition & 0xffff;
        if (state == dead)
            return found;
        at += width;
    }
}

DEVICE u32 width_at(const Row &row, u32 at) { return at < row.length ? decode(row.begin + at, row.length - at).width : 1; }

// The results of regex_search. The numbers are those of regex.go.
static constexpr u32 search_find = 0, search_count = 1, search_extract = 2;

// regex_search writes for each row the number of the character at which the first match
// begins, from 1, or 0; the number of matches; or the place and the length of a group, which
// is null without a match.
KERNEL LAUNCH_BOUNDS(256) regex_search(i64 *out, i64 *lengths, u32 *out_valid, Strings s, Automaton a, u32 what, u32 group) {
    Search search;
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (s.capacity + 63) / 64 * 64; i += step) {
        const Row row = row_of(s, rows, i);
        const bool searched = row.valid && row.length < longest;
        i64 result = 0, length = 0;
        u32 at = 0, previous = none;
        while (searched && at <= row.length && find(a, row, at, search)) {
            const u32 end = search.match[1];
            result += end != at || search.match[0] != previous;
            if (what != search_count)
                break;
            at = end != at ? end : at + width_at(row, at);
            previous = end;
        }
        bool valid = row.valid;
        if (what == search_find && result != 0) {
            for (u32 k = 0; k < search.match[0]; k++)
                result += (row.begin[k] & 0xc0) != 0x80;
        } else if (what == search_extract) {
            valid = result != 0 && search.match[group] != none;
            result = valid ? row.begin - s.data + search.match[group] : 0;
            length = valid ? search.match[group + 1] - search.match[group] : 0;
        }
        const u32 word = ballot(valid);
        if (lane_in_warp() == 0 && out_valid != nullptr)
            out_valid[i / warp_threads] = word;
        if (i < s.capacity) {
            out[i] = result;
            if (lengths != nullptr)
                lengths[i] = length;
        }
    }
}

// copy copies bytes, or only counts them without a destination.
DEVICE u64 copy(u8 *to, u64 behind, const u8 *from, u64 length) {
    if (to != nullptr)
        for (u64 i = 0; i < length; i++)
            to[behind + i] = from[i];
    return length;
}

// regex_replace replaces the matches. Without a destination it writes only the lengths of
// the results; with one, ends are the places behind the results.
KERNEL LAUNCH_BOUNDS(256) regex_replace(u8 *to, i64 *lengths, const i64 *ends, Strings s, Automaton a) {
    Search search;
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < s.capacity; i += step) {
        const Row row = row_of(s, rows, i);
        u8 *const out = to == nullptr ? nullptr : to + (i == 0 ? 0 : ends[i - 1]);
        u64 length = 0;
        u32 at = 0, behind = 0;
        while (row.valid && row.length < longest && at <= row.length && find(a, row, at, search)) {
            const u32 from = search.match[0], end = search.match[1];
            length += copy(out, length, row.begin + behind, from - behind);
            for (u32 k = 0; k < a.part_count && (end > behind || from == 0); k++) {
                const u32 *const part = a.parts + 3 * k;
                const u8 *bytes = a.literals + part[1];
                u32 count = part[2];
                if (part[0] == 0) { // the part is a group
                    const u32 first = search.match[part[1]];
                    if (first == none)
                        continue;
                    bytes = row.begin + first, count = search.match[part[1] + 1] - first;
                }
                length += copy(out, length, bytes, count);
            }
            behind = end;
            const u32 next = at + width_at(row, at);
            at = next > end ? next : end;
        }
        if (row.valid)
            length += copy(out, length, row.begin + behind, row.length - behind);
        if (to == nullptr)
            lengths[i] = length;
    }
}

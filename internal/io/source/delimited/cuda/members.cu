// JSON lines: the members of objects as tokens, and the values of tokens.
//
// A line is an object, because JSON has no line ends within strings. A thread walks over a line and notes the token of
// each member that is read. Lines that a column cannot have, nested values, and names with escapes are faults.
#include "texts.cuh"

static constexpr u32 member_rows = 64, member_threads = 128;

enum Kind : u32 { missing, null_value, false_value, true_value, number_value, string_value };

// A token is the place of a value, its length, whether it has escapes, and its kind.
static constexpr u32 length_shift = 32, escaped_shift = 59, kind_shift = 60;

static constexpr u32 longest_token = (1u << (escaped_shift - length_shift)) - 1;

// Members are the names of the members.
//go:layout membersLayout
struct Members {
    const u8 *names;
    const u32 *places; // of each name, and of the end of the last one
    const u32 *slots;  // the column of each member, or none
    u32 count;         // 64 at most
    u32 known;         // whether there are no other members
};

// Line is the rest of a line.
struct Line {
    const u8 *bytes;
    u32 at, end; // places behind the first byte

    // next returns the next byte, or 0 at the end.
    METHOD u8 next() const { return at < end ? bytes[at] : 0; }
    METHOD u8 next_solid() {
        while (at < end && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\r'))
            at++;
        return next();
    }
    METHOD bool take(u8 c) {
        if (next() != c)
            return false;
        at++;
        return true;
    }
    METHOD bool word(const char *text, u32 length) {
        if (end - at < length)
            return false;
        for (u32 i = 0; i < length; i++)
            if (bytes[at + i] != (u8)text[i])
                return false;
        at += length;
        return true;
    }
    METHOD bool digits() {
        const u32 begin = at;
        while (at < end && (u32)(bytes[at] - '0') <= 9)
            at++;
        return at > begin;
    }
    METHOD bool number() {
        take('-');
        if (word("Infinity", 8))
            return true;
        const bool zero = next() == '0';
        const u32 whole = at;
        bool ok = digits() && (!zero || at == whole + 1);
        if (take('.'))
            ok = digits() && ok;
        if ((next() | 0x20) == 'e') {
            at++;
            if (!take('+'))
                take('-');
            ok = digits() && ok;
        }
        return ok;
    }
    METHOD bool escape() {
        at++;
        const u8 c = next();
        at++;
        if (c != 'u')
            return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't';
        for (u32 i = 0; i < 4; i++, at++) {
            const u8 digit = next();
            if ((u32)(digit - '0') > 9 && (u32)((digit | 0x20) - 'a') > 5)
                return false;
        }
        return true;
    }
    // string reads a string behind its first quote.
    METHOD bool string(bool &escaped) {
        escaped = false;
        while (at < end) {
            const u8 c = bytes[at];
            if (c == '"') {
                at++;
                return true;
            }
            if (c < ' ')
                return false;
            if (c == '\\') {
                escaped = true;
                if (!escape())
                    return false;
            } else {
                at++;
            }
        }
        return false;
    }
    // value reads a value and returns its token, or 0 for other text.
    METHOD u64 value() {
        u32 begin = at, kind = missing, behind = 0;
        bool escaped = false;
        switch (next_solid()) {
        case '"':
            begin = ++at;
            kind = string(escaped) ? string_value : missing;
            behind = 1;
            break;
        case 'n':
            begin = at, kind = word("null", 4) ? null_value : missing;
            break;
        case 't':
            begin = at, kind = word("true", 4) ? true_value : missing;
            break;
        case 'f':
            begin = at, kind = word("false", 5) ? false_value : missing;
            break;
        case 'N':
            begin = at, kind = word("NaN", 3) ? number_value : missing;
            break;
        case 'I':
            begin = at, kind = word("Infinity", 8) ? number_value : missing;
            break;
        default:
            begin = at, kind = number() ? number_value : missing;
        }
        const u32 length = at - begin - behind;
        if (kind == missing || length > longest_token)
            return 0;
        return begin | (u64)length << length_shift | (u64)escaped << escaped_shift | (u64)kind << kind_shift;
    }
};

// find_member returns the number of a name, which usually is the next one, or none.
DEVICE u32 find_member(const Members &members, const u8 *name, u32 length, u32 next) {
    for (u32 i = 0; i < members.count; i++) {
        u32 number = next + i;
        if (number >= members.count)
            number = next < members.count ? number - members.count : i;
        const u32 begin = members.places[number];
        if (members.places[number + 1] - begin != length)
            continue;
        bool equal = true;
        for (u32 k = 0; equal && k < length; k++)
            equal = members.names[begin + k] == name[k];
        if (equal)
            return number;
    }
    return none;
}

// walk writes the tokens of a line of which the first byte is at origin, and returns false for a line with a fault. Column
// c has its token of the row at c · rows + row.
DEVICE bool walk(Line line, u32 origin, const Members &members, u64 *tokens, u64 rows, u64 row) {
    u64 seen = 0;
    if (line.next_solid() != '{')
        return false;
    line.at++;
    for (u32 next = 0;; next++) {
        const u8 c = line.next_solid();
        if (c == '}')
            break;
        if (next > 0) {
            if (c != ',')
                return false;
            line.at++;
        }
        if (line.next_solid() != '"')
            return false;
        const u32 begin = ++line.at;
        bool escaped;
        if (!line.string(escaped) || escaped)
            return false;
        const u32 number = find_member(members, line.bytes + begin, line.at - 1 - begin, next);
        if (line.next_solid() != ':')
            return false;
        line.at++;
        const u64 token = line.value();
        if (token == 0)
            return false;
        if (number == none) {
            if (members.known != 0)
                return false;
            continue;
        }
        if ((seen >> number & 1) != 0)
            return false;
        seen |= 1ull << number;
        if (const u32 slot = members.slots[number]; slot != none)
            tokens[slot * rows + row] = token + origin;
    }
    line.at++;
    line.next_solid();
    for (u32 number = 0; number < members.count; number++)
        if (const u32 slot = members.slots[number]; slot != none && (seen >> number & 1) == 0)
            tokens[slot * rows + row] = 0;
    return line.at == line.end;
}

// find_members writes the tokens of all lines, a block for each tile.
KERNEL LAUNCH_BOUNDS(128) find_members(u64 *tokens, Outcome *outcome, const u32 *ends, Text text, Members members) {
    __shared__ Piece shared[most_staged / sizeof(Piece)];
    if ((outcome->faults & ~bad_value) != 0)
        return;
    const Rows rows = stage<member_rows, member_threads>(shared, text, ends);
    const u32 own = thread_in_block();
    if (own >= rows.count)
        return;
    const u32 row = rows.first + own;
    const u32 origin = rows.begin_of(row);
    if (!walk(Line{rows.at(origin), 0, ends[row] - origin}, origin, members, tokens, text.rows, row))
        fault(outcome, bad_value);
}

// Character is a character of a string.
struct Character {
    u32 bytes; // in UTF-8, the first one in the lowest byte
    u32 count; // of bytes
    u32 taken; // bytes of the text
};

// code_unit returns the number of an escape with u, or 0 if there is no such escape.
DEVICE u32 code_unit(const u8 *at, u32 left) {
    if (left < 6 || at[0] != '\\' || at[1] != 'u')
        return 0;
    u32 unit = 0;
    for (u32 i = 2; i < 6; i++) {
        const u32 digit = at[i] - '0';
        unit = unit << 4 | (digit <= 9 ? digit : (at[i] | 0x20) - 'a' + 10);
    }
    return unit;
}

// character_of returns the next character of a string. Surrogates without their other half are U+FFFD.
DEVICE Character character_of(const u8 *at, u32 left) {
    if (*at != '\\')
        return {*at, 1, 1};
    switch (at[1]) {
    case 'b':
        return {'\b', 1, 2};
    case 'f':
        return {'\f', 1, 2};
    case 'n':
        return {'\n', 1, 2};
    case 'r':
        return {'\r', 1, 2};
    case 't':
        return {'\t', 1, 2};
    case 'u':
        break;
    default:
        return {at[1], 1, 2};
    }
    u32 code = code_unit(at, left), taken = 6;
    if (code - 0xd800 < 0x800) {
        const u32 low = code < 0xdc00 ? code_unit(at + 6, left - 6) : 0;
        if (low - 0xdc00 < 0x400)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), taken = 12;
        else
            code = 0xfffd;
    }
    if (code < 0x80)
        return {code, 1, taken};
    if (code < 0x800)
        return {(0xc0 | code >> 6) | (0x80 | (code & 63)) << 8, 2, taken};
    if (code < 0x10000)
        return {(0xe0 | code >> 12) | (0x80 | (code >> 6 & 63)) << 8 | (0x80 | (code & 63)) << 16, 3, taken};
    return {(0xf0 | code >> 18) | (0x80 | (code >> 12 & 63)) << 8 | (0x80 | (code >> 6 & 63)) << 16 | (0x80 | (code & 63)) << 24, 4, taken};
}

// Tokens finds the cells of a tile.
struct Tokens {
    const Rows &line;
    const u64 *tokens;
    u64 rows;

    METHOD Cell cell(const Column &column, u32 index, u32 row) const {
        const u64 token = tokens[index * rows + row];
        const u32 kind = token >> kind_shift;
        const bool escaped = (token >> escaped_shift & 1) != 0;
        if (kind <= null_value)
            return {{nullptr, 0, false}, false, false, false};
        bool wrong = column.form == boolean;
        if (kind == true_value || kind == false_value)
            wrong = !wrong;
        wrong = wrong || escaped && column.form != text_form;
        return {{line.at((u32)token), (u32)(token >> length_shift) & longest_token, escaped}, !wrong, wrong, kind == number_value};
    }
    METHOD u32 length(const Field &field) const {
        u32 length = field.length;
        if (field.quoted)
            for (u32 i = 0; i < field.length;) {
                const Character c = character_of(field.at + i, field.length - i);
                i += c.taken;
                length -= c.taken - c.count;
            }
        return length;
    }
    METHOD void copy(u64 to, const Field &field) const {
        for (u32 i = 0; i < field.length;) {
            Character c = {field.at[i], 1, 1};
            if (field.quoted)
                c = character_of(field.at + i, field.length - i);
            i += c.taken;
            for (; c.count > 0; c.count--, c.bytes >>= 8)
                store<u8>(to++, (u8)c.bytes);
        }
    }
};

// parse_members writes the values of tokens and the lengths of their texts, a block for each tile.
KERNEL LAUNCH_BOUNDS(128) parse_members(const Column *columns, Result *results, u32 count, Outcome *outcome, const u32 *ends, Text text, const u64 *tokens, Powers powers) {
    __shared__ Piece shared[most_staged / sizeof(Piece)];
    __shared__ u32 faults;
    if (thread_in_block() == 0)
        faults = outcome->faults; // other blocks note faults
    synchronize_block();
    if (faults != 0)
        return;
    const Rows rows = stage<member_rows, member_threads>(shared, text, ends);
    parse_tile<member_rows, member_threads>(columns, results, count, outcome, rows, Tokens{rows, tokens, text.rows}, powers);
}

// write_strings writes the texts of tokens and their offsets, a block for each tile.
KERNEL LAUNCH_BOUNDS(128) write_strings(const Column *columns, u32 count, const u32 *ends, Text text, const u64 *tokens) {
    __shared__ Piece shared[most_staged / sizeof(Piece)];
    const Rows rows = stage<member_rows, member_threads>(shared, text, ends);
    copy_tile<member_rows, member_threads>(columns, count, text.rows, rows, Tokens{rows, tokens, text.rows});
}

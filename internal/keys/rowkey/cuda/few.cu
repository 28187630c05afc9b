// The kernel that sorts few rows by all of their words and tails.
#include "leaf.cuh"

// few_rows is the most rows that one block sorts.
//go:layout
static constexpr u32 few_rows = 2048;
static constexpr u32 few_threads = few_rows / 2;

// most_few_pieces and most_few_tails are the most pieces, one for each word that has a part of
// them, and the most tails of few rows.
//go:layout
static constexpr u32 most_few_pieces = 12;
//go:layout
static constexpr u32 most_few_tails = 4;

// FewPiece is a piece of a word, of which the word has the bits of the mask.
//go:layout fewPieceLayout words
struct FewPiece {
    Piece piece;
    u64 to, mask; // the number of the word
};

// FewTail is a tail and its prefix, the last bits of the word before it.
//go:layout fewTailLayout words
struct FewTail {
    Texts texts;
    u64 words; // number of words before the tail
    i64 sign;  // −1 if the order descends, otherwise 1
    u64 skip;  // bytes or ranks that the prefix holds whole
    u64 bits, flip;
    u64 prefix; // 1 if the words have the prefix
    i64 left;   // the shift of the prefix into its word
};

// Few are the words and tails of rows, in the order in which they are compared.
//go:layout fewLayout words
struct Few {
    u64 words, pieces, tails;
    FewPiece piece[most_few_pieces];
    FewTail tail[most_few_tails];

    // word returns a word of a row.
    METHOD u64 word(u64 row, u64 number) const {
        u64 sum = 0;
        for (u32 i = 0; i < pieces; i++)
            if (piece[i].to == number) {
                const u64 rows[1] = {row};
                u64 words[1] = {0};
                piece[i].piece.add(rows, words);
                sum |= words[0] & piece[i].mask;
            }
        for (u32 i = 0; i < tails; i++) {
            const FewTail &t = tail[i];
            if (!t.prefix || t.words != number + 1 || !t.texts.is_valid(row))
                continue;
            const u64 first = t.texts.word(t.texts.span(row), 0) >> 64 - t.bits ^ t.flip;
            sum |= t.left >= 0 ? first << t.left : first >> -t.left;
        }
        return sum;
    }
};

// Sorter compares rows by their numbers in the list.
struct Sorter {
    const Rows &rows;
    const Few &few;
    const u64 *firsts; // the first words
    const u32 *runs;   // sorted before the words, or null
    const u64 *words;  // the other words, n of each
    u64 n;

    // before reports whether a comes before b. Numbers from n on come last, and equal rows by number.
    METHOD bool before(u32 a, u32 b) const {
        if (a >= n || b >= n)
            return a < b;
        if (runs != nullptr && runs[a] != runs[b])
            return runs[a] < runs[b];
        u64 word = 0;
        for (u32 i = 0; i < few.tails; i++) {
            for (; word < few.tail[i].words; word++)
                if (of(a, word) != of(b, word))
                    return of(a, word) < of(b, word);
            const FewTail &t = few.tail[i];
            const i32 order = compare(t.texts, rows[a], t.texts, rows[b], t.skip);
            if (order != 0)
                return t.sign * order < 0;
        }
        for (; word < few.words; word++)
            if (of(a, word) != of(b, word))
                return of(a, word) < of(b, word);
        return a < b;
    }

    METHOD u64 of(u32 number, u64 word) const { return word == 0 ? firsts[number] : words[(word - 1) * n + number]; }
};

// rowkey_sort_few writes the rows in order to their slots, by bitonic merges of one block (K. Batcher,
// Sorting networks and their applications, 1968). Equal rows keep their order. runs, which
// ascend, are compared before all words. words has the space of all words but the first.
KERNEL LAUNCH_BOUNDS(few_threads) rowkey_sort_few(u32 *order, Rows rows, const u32 *runs, const u32 *slots, u64 *words, Few few) {
    __shared__ u64 firsts[few_rows];
    __shared__ u32 items[few_rows], shared_runs[few_rows];
    const u32 n = rows.count(), thread = thread_in_block(), threads = threads_per_block();
    u32 size = 2;
    while (size < n)
        size *= 2;
    for (u32 i = thread; i < size; i += threads) {
        items[i] = i;
        if (i >= n)
            continue;
        if (runs != nullptr)
            shared_runs[i] = runs[i];
        for (u64 word = 0; word < few.words; word++)
            *(word == 0 ? &firsts[i] : &words[(word - 1) * n + i]) = few.word(rows[i], word);
    }
    synchronize_block();
    const Sorter sorter = {rows, few, firsts, runs != nullptr ? shared_runs : nullptr, words, n};
    for (u32 run = 2; run <= size; run *= 2)
        for (u32 distance = run / 2; distance > 0; distance /= 2) {
            for (u32 pair = thread; pair < size / 2; pair += threads) {
                const u32 low = pair / distance * distance * 2 + pair % distance, high = low + distance;
                const u32 a = items[low], b = items[high];
                if (sorter.before(b, a) == ((low & run) == 0)) {
                    items[low] = b;
                    items[high] = a;
                }
            }
            synchronize_block();
        }
    for (u32 i = thread; i < n; i += threads)
        order[slots != nullptr ? slots[i] : i] = rows[items[i]];
}

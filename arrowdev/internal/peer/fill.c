//go:build cgo && unix && !(386 || arm || mips || mipsle)

// Fills columns with random rows.

#include <string.h>

#include "make.h"

static bool *nulls(struct peer_arena *arena, const struct peer_type *type, int64_t total,
                   const struct peer_options *options, uint64_t *random) {
  switch (type->layout.kind) {
    case PEER_NULL:
    case PEER_SPARSE:
    case PEER_DENSE:
    case PEER_RUNS:
      return NULL;
    default:;
  }
  if (!type->nullable || options->nulls == PEER_NO_NULLS) return NULL;
  bool *null = peer_take(arena, (size_t)total);
  for (int64_t i = 0; i < total; i++) null[i] = options->nulls == PEER_ALL_NULLS || peer_below(random, 4) == 0;
  return null;
}

static void fill_binary(struct peer_arena *arena, struct peer_column *column, uint64_t *random) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz \xc3\xa4\xe2\x82\xac";  // ä and €
  const int64_t longest = 30;
  column->bytes = peer_take(arena, (size_t)((column->total + 1) * (longest + 4)));
  int64_t at = peer_below(random, 4);
  memset(column->bytes, 'x', (size_t)at);
  for (int64_t i = 0; i < column->total; i++) {
    int64_t length = peer_below(random, 3) == 0 ? peer_below(random, longest) : peer_below(random, 14);
    column->start[i] = at;
    for (int64_t end = at + length; at < end;) {
      if (!column->type->layout.utf8) {
        column->bytes[at++] = (uint8_t)peer_random(random);
        continue;
      }
      int64_t which = peer_below(random, 29);
      if (which < 27) column->bytes[at++] = (uint8_t)letters[which];
      if (which == 27) memcpy(column->bytes + at, letters + 27, 2), at += 2;
      if (which == 28) memcpy(column->bytes + at, letters + 29, 3), at += 3;
    }
    column->count[i] = at - column->start[i];
  }
  column->n_bytes = at;
}

// fill_lists draws the lists and returns the number of rows that the child needs.
static int64_t fill_lists(struct peer_column *column, uint64_t *random) {
  int64_t at = column->total > 0 ? peer_below(random, 3) : 0;
  for (int64_t i = 0; i < column->total; i++) {
    column->start[i] = at;
    at += column->count[i] = peer_below(random, 5);
  }
  return at;
}

static int64_t fill_list_views(struct peer_column *column, uint64_t *random) {
  int64_t rows = column->total == 0 ? 0 : column->total + peer_below(random, 6);
  for (int64_t i = 0; i < column->total; i++) {
    column->count[i] = peer_below(random, rows < 4 ? rows + 1 : 5);
    column->start[i] = peer_below(random, rows - column->count[i] + 1);
  }
  return rows;
}

static void fill_union(struct peer_column *column, int64_t *rows, uint64_t *random) {
  for (int64_t i = 0; i < column->total; i++) {
    int64_t child = column->which[i] = peer_below(random, column->type->n);
    column->start[i] = column->type->layout.kind == PEER_DENSE ? rows[child]++ : i;
  }
}

static void fill_runs(struct peer_arena *arena, struct peer_column *column, const struct peer_options *options,
                      uint64_t *random) {
  int64_t *ends = peer_take(arena, (size_t)(column->total + 1) * sizeof *ends), runs = 0;
  for (int64_t i = 0; i < column->total; runs++) {
    int64_t end = i + 1 + peer_below(random, 5);
    for (; i < end && i < column->total; i++) column->start[i] = runs;
    ends[runs] = end;
  }
  struct peer_column *run_ends = &column->children[0];
  peer_fill(arena, run_ends, &column->type->children[0], runs, 1, options, random);
  for (int64_t k = 0; k < run_ends->total; k++) {
    // Run ends outside the array are valid too, but do not belong to it.
    int64_t shown = k - run_ends->base, end = shown < 0 ? 0 : shown < runs ? ends[shown] : 0;
    memcpy(run_ends->fixed + k * run_ends->type->layout.width, &end, (size_t)run_ends->type->layout.width);
  }
  peer_fill(arena, &column->children[1], &column->type->children[1], runs, 1, options, random);
}

static void fill_dictionary(struct peer_arena *arena, struct peer_column *column, const struct peer_options *options,
                            uint64_t *random) {
  int64_t rows = column->total > 0 ? 1 + peer_below(random, 8) : peer_below(random, 3);
  column->dictionary = peer_take(arena, sizeof *column->dictionary);
  peer_fill(arena, column->dictionary, column->type->dictionary, rows, 1, options, random);
  int64_t width = column->type->layout.width;
  for (int64_t i = 0; i < column->total; i++) {
    column->start[i] = peer_below(random, rows);
    memcpy(column->fixed + i * width, &column->start[i], (size_t)width);  // little endian
    if (column->null != NULL && column->null[i] && options->quirks & PEER_GARBAGE)
      memset(column->fixed + i * width, 0x7e, (size_t)width);
  }
}

void peer_fill(struct peer_arena *arena, struct peer_column *column, const struct peer_type *type, int64_t length,
               int depth, const struct peer_options *options, uint64_t *random) {
  column->type = type;
  column->length = length;
  column->base = depth == 0 ? options->ahead : peer_below(random, options->children_ahead + 1);
  int64_t behind = depth == 0 ? options->behind : peer_below(random, options->children_behind + 1);
  int64_t total = column->total = column->base + length + behind;
  column->null = nulls(arena, type, total, options, random);
  column->start = peer_take(arena, (size_t)total * sizeof *column->start);
  column->count = peer_take(arena, (size_t)total * sizeof *column->count);
  column->which = peer_take(arena, (size_t)total * sizeof *column->which);
  column->children = peer_take(arena, (size_t)type->n * sizeof *column->children);
  int64_t rows[128] = {0}, bytes = total * (type->layout.kind == PEER_FIXED ? type->layout.width : 1);
  for (int64_t k = 0; k < type->n; k++) rows[k] = total;
  switch (type->layout.kind) {
    case PEER_NULL:
      return;
    case PEER_BOOL:
    case PEER_FIXED:
      column->fixed = peer_take(arena, (size_t)bytes);
      for (int64_t i = 0; i < bytes; i++) column->fixed[i] = (uint8_t)peer_random(random);
      if (type->dictionary != NULL) fill_dictionary(arena, column, options, random);
      return;
    case PEER_BINARY:
    case PEER_VIEW:
      fill_binary(arena, column, random);
      return;
    case PEER_LIST:
    case PEER_MAP:
      rows[0] = fill_lists(column, random);
      break;
    case PEER_LIST_VIEW:
      rows[0] = fill_list_views(column, random);
      break;
    case PEER_FIXED_LIST:
      rows[0] = total * type->layout.width;
      for (int64_t i = 0; i < total; i++) column->start[i] = i * type->layout.width;
      for (int64_t i = 0; i < total; i++) column->count[i] = type->layout.width;
      break;
    case PEER_DENSE:
      memset(rows, 0, sizeof rows);
      // fallthrough
    case PEER_SPARSE:
      fill_union(column, rows, random);
      break;
    case PEER_RUNS:
      fill_runs(arena, column, options, random);
      return;
    case PEER_STRUCT:
      break;
  }
  for (int64_t k = 0; k < type->n; k++)
    peer_fill(arena, &column->children[k], &type->children[k], rows[k], depth + 1, options, random);
}

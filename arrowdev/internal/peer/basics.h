//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The common parts of the producer and the consumer: a growing string, an arena, parsed
// format strings, and random numbers.
#ifndef PEER_BASICS_H
#define PEER_BASICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A growing string, terminated once anything was added.
struct peer_text {
  char *bytes;
  size_t length, capacity;
};

void peer_add(struct peer_text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void peer_add_hex(struct peer_text *, const uint8_t *, int64_t);
void peer_add_quoted(struct peer_text *, const uint8_t *, int64_t);
void peer_text_free(struct peer_text *);

// Memory that is freed together. It begins as zeros.
struct peer_arena {
  struct peer_arena_block *blocks;
};

void *peer_take(struct peer_arena *, size_t bytes);
void peer_arena_free(struct peer_arena *);

// allocate and zeroed end the process without memory, because they serve tests only.
void *peer_zeroed(size_t bytes);
char *peer_duplicate(const char *, size_t);

uint64_t peer_random(uint64_t *state);
int64_t peer_below(uint64_t *state, int64_t bound);

enum peer_kind {
  PEER_NULL,
  PEER_BOOL,
  PEER_FIXED,
  PEER_BINARY,
  PEER_VIEW,
  PEER_LIST,
  PEER_LIST_VIEW,
  PEER_FIXED_LIST,
  PEER_STRUCT,
  PEER_MAP,
  PEER_SPARSE,
  PEER_DENSE,
  PEER_RUNS,
};

// A parsed format string.
struct peer_layout {
  enum peer_kind kind;
  // Bytes of a value or of an offset, elements of a fixed-size list.
  int64_t width;
  // The natural alignment of a fixed value.
  int64_t alignment;
  bool utf8, integer, is_signed;
  int n_ids;
  int8_t ids[128];
};

// peer_layout_of returns 0, or -1 if the format is not in the standard.
int peer_layout_of(const char *format, struct peer_layout *);

#endif

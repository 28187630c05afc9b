//go:build cgo && unix && !(386 || arm || mips || mipsle)

// What the producer and the consumer share: a string that grows, an arena, what a
// format string says, and random numbers.
#ifndef PEER_BASICS_H
#define PEER_BASICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A string that grows, always terminated once anything was added.
struct peer_text {
  char *bytes;
  size_t length, capacity;
};

void peer_add(struct peer_text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void peer_add_hex(struct peer_text *, const uint8_t *, int64_t);
void peer_add_quoted(struct peer_text *, const uint8_t *, int64_t);
void peer_text_free(struct peer_text *);

// Memory that is given back all at once. It begins as zeros.
struct peer_arena {
  struct peer_arena_block *blocks;
};

void *peer_take(struct peer_arena *, size_t bytes);
void peer_arena_free(struct peer_arena *);

// allocate and zeroed end the process where there is no memory: tests only.
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

// What a format string says.
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

// peer_layout_of returns 0, or -1 where the format is none of the standard.
int peer_layout_of(const char *format, struct peer_layout *);

#endif

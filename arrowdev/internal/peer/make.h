//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The producer's columns, from which it makes buffers.
#ifndef PEER_MAKE_H
#define PEER_MAKE_H

#include "peer.h"

struct peer_type {
  char *format, *name;
  bool nullable;
  struct peer_layout layout;
  int64_t n;
  struct peer_type *children, *dictionary;
};

// peer_type_of parses a type; NULL if it is not valid.
struct peer_type *peer_type_of(struct peer_arena *, const char *);

// The rows of a column; the array shows those from base on. The meaning of a row:
// fixed: width bytes at row * width. binary: count bytes at start. lists: count rows of
// the child from start on. unions: child number which, row start of it. dictionaries:
// row start of the dictionary. runs: row start of the values.
struct peer_column {
  const struct peer_type *type;
  int64_t base, length, total;
  bool *null;
  uint8_t *fixed, *bytes;
  int64_t n_bytes;
  int64_t *start, *count, *which;
  struct peer_column *children, *dictionary;
};

void peer_fill(struct peer_arena *, struct peer_column *, const struct peer_type *, int64_t length, int depth,
               const struct peer_options *, uint64_t *random);
// peer_render adds row i of the shown rows.
void peer_render(const struct peer_column *, int64_t i, struct peer_text *);

void peer_write_schema(const struct peer_type *, unsigned quirks, struct ArrowSchema *);
void peer_write_array(const struct peer_column *, const struct peer_options *, uint64_t *random, struct ArrowArray *);

// The owner of a released struct, found by its private data.
struct peer_owner *peer_own_schema(struct ArrowSchema *);
struct peer_owner *peer_own_array(struct ArrowArray *);
// peer_own allocates memory that the owner frees when it is released.
void *peer_own(struct peer_owner *, size_t bytes, size_t alignment, size_t shift);
// peer_own_buffer makes buffer i of an array a copy of the bytes.
void peer_own_buffer(struct ArrowArray *, int64_t i, const void *bytes, int64_t size, int64_t alignment,
                     unsigned quirks, bool on_host);

void peer_count(int64_t *counter, int64_t by);
extern struct peer_counts peer_book;

#endif
